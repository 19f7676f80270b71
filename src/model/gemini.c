/* gemini.c - Google's Gemini, generateContent.

   A content is a list of parts.  Parts may have a signature of the thoughts that led to them; such parts
   are wanted back as they were, so an answer that has any is echoed part by part.  Texts come in many parts
   of a stream and are one part afterwards.

   A 429 of this server always speaks of plan and billing; whether it is a matter of seconds or of a day is
   in its details. */
#define _GNU_SOURCE // strcasestr
#include "model/api.h"
#include "model/place.h"

#include "data/duration.h"
#include "data/value.h"

#include <string.h>

#define PARTS_MAX 1000000

/* Takes the place of a signature on calls that another model made. */
#define NO_SIGNATURE "skip_thought_signature_validator"

/* ---- what is said ----------------------------------------------------------------------------------------- */

static json_t *text_part(const char *text)
{
    return json_pack("{s:o}", "text", message_text(text, strlen(text)));
}

static json_t *media_part(const json_t *part)
{
    const json_t *image = json_object_get(part, "image"), *media = image ? image : json_object_get(part, "file");
    return json_pack("{s:{s:s, s:s}}", "inlineData", "mimeType", api_text(media, "type"), "data",
                     api_text(media, "data"));
}

static void add_content(json_t *parts, const json_t *content)
{
    size_t i;
    json_t *part;
    if (json_string_length(content))
        json_array_append_new(parts, text_part(json_string_value(content)));
    json_array_foreach(content, i, part)
        json_array_append_new(parts, json_object_get(part, "text") ? text_part(api_text(part, "text"))
                                                                   : media_part(part));
}

/* The id that the server gave to the n-th call of the answer; NULL: none, and then none is told back. */
static json_t *served_id(const json_t *echo, size_t n)
{
    size_t i, calls = 0;
    json_t *part;
    json_array_foreach(echo, i, part) {
        const json_t *call = json_object_get(part, "functionCall");
        if (call && calls++ == n)
            return json_object_get(call, "id");
    }
    return NULL;
}

static json_t *call_part(const struct inquiry *inquiry, const json_t *call, bool is_first)
{
    json_t *arguments = json_object_get(call, "arguments");
    json_t *part = json_pack("{s:{s:O, s:o}}", "functionCall", "name", json_object_get(call, "name"), "args",
                             arguments ? json_incref(arguments) : json_object());
    bool is_old = strncmp(inquiry->model, "gemini-1", 8) == 0 || strncmp(inquiry->model, "gemini-2", 8) == 0;
    if (is_first && !is_old)
        json_object_set_new(part, "thoughtSignature", json_string(NO_SIGNATURE));
    return part;
}

static void add_answer(const struct inquiry *inquiry, json_t *parts, const json_t *message)
{
    const json_t *calls = json_object_get(message, "calls");
    json_t *call, *echo = json_object_get(json_object_get(message, "echo"), api_gemini.name);
    size_t i;
    if (json_array_size(echo)) {
        json_array_extend(parts, echo);
        return;
    }
    add_content(parts, json_object_get(message, "content"));
    json_array_foreach(calls, i, call)
        json_array_append_new(parts, call_part(inquiry, call, i == 0));
}

/* A result is an object here: { result: TEXT } or { error: TEXT }, with media beside it. */
static void add_result(json_t *parts, const json_t *message, const json_t *id)
{
    auto_buf struct buf text = { 0 };
    const json_t *content = json_object_get(message, "content");
    const char *key = json_is_true(json_object_get(message, "error")) ? "error" : "result";
    json_t *part;
    size_t i;
    message_put_text(&text, content);
    json_t *response = json_pack("{s:O, s:{s:o}}", "name", json_object_get(message, "name"), "response", key,
                                 message_text(buf_text(&text), text.len));
    if (id)
        json_object_set(response, "id", (json_t *)id);
    json_array_append_new(parts, json_pack("{s:o}", "functionResponse", response));
    json_array_foreach(content, i, part)
        if (!json_object_get(part, "text"))
            json_array_append_new(parts, media_part(part));
}

/* Neighbours of one role are one content: all results of a turn have to come together. */
static json_t *parts_for(json_t *list, const char *role)
{
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    if (!last || strcmp(api_text(last, "role"), role) != 0)
        json_array_append_new(list, last = json_pack("{s:s, s:[]}", "role", role, "parts"));
    return json_object_get(last, "parts");
}

static json_t *all_contents(const struct inquiry *inquiry)
{
    json_t *list = json_array(), *message;
    const json_t *echo = NULL;
    size_t i, results = 0;
    json_array_foreach(inquiry->messages, i, message) {
        const char *role = api_text(message, "role");
        if (strcmp(role, "tool") == 0) {
            add_result(parts_for(list, "user"), message, served_id(echo, results++));
            continue;
        }
        if (strcmp(role, "assistant") == 0)
            add_answer(inquiry, parts_for(list, "model"), message);
        else
            add_content(parts_for(list, "user"), json_object_get(message, "content"));
        echo = json_object_get(json_object_get(message, "echo"), api_gemini.name);
        results = 0;
    }
    for (i = json_array_size(list); i-- > 0;)
        if (!json_array_size(json_object_get(json_array_get(list, i), "parts")))
            json_array_remove(list, i);
    return list;
}

/* ---- the request ------------------------------------------------------------------------------------------ */

static json_t *choice_value(const struct inquiry *inquiry)
{
    static const char *const modes[] = { "AUTO", "NONE", "ANY", "ANY" };
    json_t *config = json_pack("{s:s}", "mode", modes[inquiry->choice]);
    if (inquiry->choice == CHOICE_TOOL)
        json_object_set_new(config, "allowedFunctionNames", json_pack("[s]", inquiry->tool));
    return json_pack("{s:o}", "functionCallingConfig", config);
}

static void set_tools(const struct inquiry *inquiry, json_t *body)
{
    json_t *list = api_tools(inquiry, "parametersJsonSchema");
    if (json_array_size(list)) {
        json_object_set_new(body, "tools", json_pack("[{s:O}]", "functionDeclarations", list));
        if (inquiry->choice != CHOICE_AUTO)
            json_object_set_new(body, "toolConfig", choice_value(inquiry));
    }
    json_decref(list);
}

/* Models of the second series take a number of tokens, later ones a word. */
static const struct {
    const char *effort, *level;
    int budget;
} efforts[] = {
    { "none", "minimal", 0 },    { "minimal", "minimal", 1024 }, { "low", "low", 1024 }, { "medium", "medium", 8192 },
    { "high", "high", 24576 },   { "xhigh", "high", 24576 },     { "max", "high", 24576 },
};

static void set_thinking(const struct inquiry *inquiry, json_t *config)
{
    size_t i = 0;
    while (i < COUNT(efforts) && inquiry->effort && strcmp(inquiry->effort, efforts[i].effort) != 0)
        i++;
    if (!inquiry->effort || i == COUNT(efforts) || (inquiry->manners & MANNER_NO_EFFORT))
        return;
    json_t *thinking = strncmp(inquiry->model, "gemini-2", 8) == 0
                           ? json_pack("{s:i}", "thinkingBudget", efforts[i].budget)
                           : json_pack("{s:s}", "thinkingLevel", efforts[i].level);
    if (i > 0)
        json_object_set_new(thinking, "includeThoughts", json_true());
    json_object_set_new(config, "thinkingConfig", thinking);
}

static bool is_schema_sent(const struct inquiry *inquiry)
{
    return inquiry->schema && !(inquiry->manners & MANNER_NO_SCHEMA);
}

static json_t *generation_config(const struct inquiry *inquiry)
{
    json_t *config = json_object();
    if (inquiry->max_tokens)
        json_object_set_new(config, "maxOutputTokens", json_integer(inquiry->max_tokens));
    if (!(inquiry->manners & MANNER_NO_SAMPLING)) {
        api_set_number(config, "temperature", inquiry->temperature);
        api_set_number(config, "topP", inquiry->top_p);
    }
    if (is_schema_sent(inquiry)) {
        json_object_set_new(config, "responseMimeType", json_string("application/json"));
        json_object_set(config, "responseJsonSchema", (json_t *)inquiry->schema);
    }
    set_thinking(inquiry, config);
    return config;
}

/* Models may be called by their full name. */
static void put_path(struct buf *out, const struct inquiry *inquiry)
{
    buf_puts(out, strchr(inquiry->model, '/') ? "/v1beta/" : "/v1beta/models/");
    place_put_name(out, inquiry->model);
    buf_puts(out, inquiry->stream ? ":streamGenerateContent?alt=sse" : ":generateContent");
}

static void put(const struct inquiry *inquiry, struct wire *wire)
{
    auto_buf struct buf system = { 0 };
    json_t *body = json_pack("{s:o}", "contents", all_contents(inquiry)), *config = generation_config(inquiry);
    api_put_system(&system, inquiry, inquiry->schema && !is_schema_sent(inquiry));
    if (system.len)
        json_object_set_new(body, "systemInstruction", json_pack("{s:[o]}", "parts", text_part(buf_text(&system))));
    set_tools(inquiry, body);
    if (json_object_size(config))
        json_object_set(body, "generationConfig", config);
    json_decref(config);
    put_path(&wire->path, inquiry);
    api_send(wire, body);
}

/* ---- the answer ------------------------------------------------------------------------------------------- */

/* Thoughts are output, though not among the candidates. */
static void read_usage(struct answer *answer, const json_t *usage)
{
    struct token_count *tokens = &answer->tokens;
    int64_t prompt = api_count(usage, "promptTokenCount"), thoughts = api_count(usage, "thoughtsTokenCount");
    if (prompt < 0)
        return;
    tokens->input = prompt + MAX(api_count(usage, "toolUsePromptTokenCount"), 0);
    tokens->output = MAX(api_count(usage, "candidatesTokenCount"), 0) + MAX(thoughts, 0);
    tokens->cache_read = api_count(usage, "cachedContentTokenCount");
    tokens->reasoning = thoughts;
}

static const struct {
    const char *word;
    int stop;
} stops[] = {
    { "MAX_TOKENS", STOP_LENGTH },
    { "SAFETY", STOP_REFUSED },
    { "RECITATION", STOP_REFUSED },
    { "LANGUAGE", STOP_REFUSED },
    { "BLOCKLIST", STOP_REFUSED },
    { "PROHIBITED_CONTENT", STOP_REFUSED },
    { "SPII", STOP_REFUSED },
    { "IMAGE_SAFETY", STOP_REFUSED },
};

static bool is_signed(const json_t *part)
{
    return json_string_length(json_object_get(part, "thoughtSignature")) > 0;
}

static bool is_plain_text(const json_t *part)
{
    return part && json_is_string(json_object_get(part, "text")) && !is_signed(part) &&
           !json_is_true(json_object_get(part, "thought"));
}

/* Texts that follow each other, put together. */
static json_t *join(const json_t *parts, size_t from, size_t to)
{
    auto_buf struct buf text = { 0 };
    for (size_t i = from; i < to; i++)
        buf_puts(&text, api_text(json_array_get(parts, i), "text"));
    return text_part(buf_text(&text));
}

/* Only needed when something in it is the server's own: a signature, or the id of a call. */
static void settle_echo(struct answer *answer)
{
    json_t *echo = json_array(), *part;
    bool is_needed = false;
    size_t i, to;
    for (i = 0; (part = json_array_get(answer->own, i)); i = to) {
        for (to = i; is_plain_text(json_array_get(answer->own, to));)
            to++;
        if (to > i)
            json_array_append_new(echo, join(answer->own, i, to));
        else if (to++ == i && (is_signed(part) || json_object_get(part, "functionCall")))
            json_array_append(echo, part);
        is_needed |= is_signed(part) || json_object_get(json_object_get(part, "functionCall"), "id");
    }
    json_decref(answer->echo);
    answer->echo = is_needed ? json_incref(echo) : NULL;
    json_decref(echo);
}

static int set_stop(struct answer *answer, const char *word, struct refusal *refusal, rondo_error *err)
{
    int stop = STOP_END;
    for (size_t i = 0; i < COUNT(stops); i++)
        if (strcmp(word, stops[i].word) == 0)
            stop = stops[i].stop;
    if (strcmp(word, "MALFORMED_FUNCTION_CALL") == 0 || strcmp(word, "UNEXPECTED_TOOL_CALL") == 0) {
        refusal_judge(refusal, 0, "", "", "the model's call of a tool made no sense to the server");
        refusal->trouble = TROUBLE_ANSWER;
        return refusal_fail(refusal, err);
    }
    answer_set_stop(answer, stop);
    settle_echo(answer);
    return 0;
}

static int read_part(struct answer *answer, json_t *part, rondo_error *err)
{
    const json_t *text = json_object_get(part, "text"), *given = json_object_get(part, "functionCall");
    if (!answer->own)
        answer->own = json_array();
    json_array_append(answer->own, part);
    if (json_array_size(answer->own) > PARTS_MAX)
        return err_set(err, RONDO_ELIMIT, "the answer has more than %d parts", PARTS_MAX);
    if (json_is_true(json_object_get(part, "thought")))
        return api_add_thinking(answer, text, err);
    if (!given)
        return api_add_text(answer, text, err);
    struct answer_call *call = answer_call_new(answer, answer->call_count, err);
    if (!call || answer_add_json(answer, part, err) < 0)
        return err->code;
    answer_call_set(call, api_text(given, "id"), api_text(given, "name"));
    return answer_call_give(answer, call, json_object_get(given, "args"), err);
}

static int read_candidate(struct answer *answer, const json_t *candidate, struct refusal *refusal, rondo_error *err)
{
    const json_t *parts = json_object_get(json_object_get(candidate, "content"), "parts");
    const char *finish = api_text(candidate, "finishReason");
    json_t *part;
    size_t i;
    json_array_foreach(parts, i, part)
        if (read_part(answer, part, err) < 0)
            return err->code;
    return *finish ? set_stop(answer, finish, refusal, err) : 0;
}

static void refuse(int status, const json_t *body, struct refusal *ret);

static int read_some(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    const json_t *candidate = json_array_get(json_object_get(body, "candidates"), 0);
    if (json_object_get(body, "error")) {
        refuse(0, body, refusal);
        return refusal_fail(refusal, err);
    }
    answer_set_id(answer, api_text(body, "responseId"), api_text(body, "modelVersion"));
    read_usage(answer, json_object_get(body, "usageMetadata"));
    if (*api_text(json_object_get(body, "promptFeedback"), "blockReason"))
        answer_set_stop(answer, STOP_REFUSED);
    return candidate ? read_candidate(answer, candidate, refusal, err) : 0;
}

static int hear(struct answer *answer, const char *event, const char *data, size_t len, struct refusal *refusal,
                rondo_error *err)
{
    auto_json json_t *body = api_parse(answer->secrets, data, len, err);
    return body ? read_some(answer, body, refusal, err) : err->code;
}

static int read_whole(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    if (read_some(answer, body, refusal, err) < 0)
        return err->code;
    if (answer->stop == STOP_NONE && !api_list(body, "candidates"))
        return err_set(err, RONDO_EPARSE, "the server's answer has no candidates in it");
    answer->is_done = true;
    return answer->stop == STOP_NONE ? set_stop(answer, "STOP", refusal, err) : 0;
}

/* ---- errors ----------------------------------------------------------------------------------------------- */

static void read_detail(const json_t *detail, struct refusal *ret)
{
    const char *delay = api_text(detail, "retryDelay");
    const json_t *violations = json_object_get(detail, "violations");
    json_t *violation;
    rondo_error err;
    size_t i;
    if (*delay && duration_parse(delay, false, &ret->delay_ms, &err) < 0)
        ret->delay_ms = -1;
    json_array_foreach(violations, i, violation)
        if (strcasestr(api_text(violation, "quotaId"), "perday") && ret->trouble != TROUBLE_MONEY)
            ret->trouble = TROUBLE_QUOTA;
}

static void refuse(int status, const json_t *body, struct refusal *ret)
{
    const json_t *first = json_is_array(body) ? json_array_get(body, 0) : body;
    const json_t *error = json_object_get(first, "error");
    const json_t *details = json_object_get(error, "details");
    const char *message = api_text(error, "message");
    json_t *detail;
    size_t i;
    refusal_read(ret, status, body);
    if (ret->trouble == TROUBLE_MONEY && strcasestr(message, "check your plan and billing"))
        ret->trouble = TROUBLE_THROTTLE;
    json_array_foreach(details, i, detail)
        read_detail(detail, ret);
}

const struct api api_gemini = {
    .name = "gemini",
    .accept = "text/event-stream",
    .put = put,
    .hear = hear,
    .read = read_whole,
    .refuse = refuse,
};
