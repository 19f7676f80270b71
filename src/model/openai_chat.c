/* openai_chat.c - Chat Completions: OpenAI's older API, which nearly every other server speaks too.

   Servers differ in what they take (enum manner) and in how they answer.  So the reader takes every form
   that is in use: calls in pieces or whole, with and without index and id, arguments as text or as an
   object, reasoning beside the content under two names or inside it, usage at the end or on the way. */
#include "model/api.h"
#include "model/openai_tools.h"
#include "model/strict.h"

#include "base/hash.h"
#include "data/value.h"

#include <string.h>

/* ---- what is said ----------------------------------------------------------------------------------------- */

static json_t *text_part(const char *text)
{
    return json_pack("{s:s, s:o}", "type", "text", "text", message_text(text, strlen(text)));
}

static json_t *media_part(const json_t *part)
{
    auto_buf struct buf url = { 0 };
    const json_t *image = json_object_get(part, "image"), *file = json_object_get(part, "file");
    const char *name = api_text(file, "name");
    api_put_data_url(&url, image ? image : file);
    if (image)
        return json_pack("{s:s, s:{s:s}}", "type", "image_url", "image_url", "url", buf_text(&url));
    return json_pack("{s:s, s:{s:s, s:s}}", "type", "file", "file", "filename", *name ? name : "file.pdf",
                     "file_data", buf_text(&url));
}

/* Adds the images and files of a content. */
static void add_media(json_t *parts, const json_t *content)
{
    size_t i;
    json_t *part;
    json_array_foreach(content, i, part)
        if (!json_object_get(part, "text"))
            json_array_append_new(parts, media_part(part));
}

static json_t *user_content(const json_t *content)
{
    json_t *parts = json_array(), *part;
    size_t i;
    if (json_is_string(content)) {
        json_decref(parts);
        return json_incref((json_t *)content);
    }
    json_array_foreach(content, i, part)
        json_array_append_new(parts, json_object_get(part, "text") ? text_part(api_text(part, "text"))
                                                                   : media_part(part));
    return parts;
}

/* Ids that came from elsewhere, for servers that take only their own kind; the same for a call and its result. */
static json_t *call_id(const struct inquiry *inquiry, const char *id)
{
    static const char digits[] = "0123456789abcdefghijklmnopqrstuvwxyz";
    char made[9];
    if (!(inquiry->manners & MANNER_SHORT_IDS) ||
        (strlen(id) == 9 && strspn(id, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == 9))
        return json_string(id);
    uint64_t hash = hash_bytes(9, id, strlen(id));
    for (size_t i = 0; i < sizeof made; i++, hash /= 36)
        made[i] = digits[hash % 36];
    return json_stringn(made, sizeof made);
}

/* Arguments that were no JSON go back as an empty object: servers refuse to read what is none. */
static json_t *call_part(const struct inquiry *inquiry, const json_t *call, const json_t *extra)
{
    auto_buf struct buf arguments = { 0 };
    const json_t *value = json_object_get(call, "arguments");
    if (value)
        value_put_json(&arguments, value);
    json_t *part = json_pack("{s:o, s:s, s:{s:O, s:s}}", "id", call_id(inquiry, api_text(call, "id")), "type",
                             "function", "function", "name", json_object_get(call, "name"), "arguments",
                             value ? buf_text(&arguments) : "{}");
    if (json_is_object(extra))
        json_object_set(part, "extra_content", (json_t *)extra);
    return part;
}

static void set_calls(const struct inquiry *inquiry, json_t *out, const json_t *message, const json_t *echo)
{
    const json_t *calls = json_object_get(message, "calls"), *extra = json_object_get(echo, "extra");
    json_t *list = json_array(), *call;
    size_t i;
    json_array_foreach(calls, i, call)
        json_array_append_new(list, call_part(inquiry, call, json_array_get(extra, i)));
    if (json_array_size(list))
        json_object_set(out, "tool_calls", list);
    json_decref(list);
}

/* Models that think between calls want their thoughts back, under the name that they gave them.  Those of
   earlier turns are of no use any more, and some servers refuse them. */
static void set_thinking(json_t *out, const json_t *message, const json_t *echo, bool is_past)
{
    const char *key = api_text(echo, "thinking");
    const json_t *details = json_object_get(echo, "reasoning_details");
    if (*key && !is_past && json_object_get(message, "calls"))
        json_object_set(out, key, json_object_get(message, "thinking"));
    if (details)
        json_object_set(out, "reasoning_details", (json_t *)details);
}

static json_t *assistant_message(const struct inquiry *inquiry, const json_t *message, bool is_past)
{
    const json_t *echo = json_object_get(json_object_get(message, "echo"), api_openai_chat.name);
    json_t *out = json_pack("{s:s}", "role", "assistant");
    json_object_set(out, "content", json_object_get(message, "content"));
    set_thinking(out, message, echo, is_past);
    set_calls(inquiry, out, message, echo);
    return out;
}

static json_t *tool_message(const struct inquiry *inquiry, const json_t *message)
{
    auto_buf struct buf text = { 0 };
    message_put_text(&text, json_object_get(message, "content"));
    return json_pack("{s:s, s:o, s:o}", "role", "tool", "tool_call_id",
                     call_id(inquiry, api_text(message, "call")), "content",
                     message_text(buf_text(&text), text.len));
}

/* Results are texts here; their images follow behind all of them, as if the user had sent them. */
static void add_shown(json_t *list, json_t **shown)
{
    if (!json_array_size(*shown))
        return;
    json_array_insert_new(*shown, 0, text_part("(what the tools above have shown)"));
    json_array_append_new(list, json_pack("{s:s, s:o}", "role", "user", "content", *shown));
    *shown = json_array();
}

/* Is there a message of the user's behind this place? */
static bool is_past(const struct inquiry *inquiry, size_t place)
{
    for (size_t i = json_array_size(inquiry->messages); i-- > place + 1;)
        if (strcmp(api_text(json_array_get(inquiry->messages, i), "role"), "user") == 0)
            return true;
    return false;
}

static void add_message(const struct inquiry *inquiry, json_t *list, size_t place, json_t **shown)
{
    const json_t *message = json_array_get(inquiry->messages, place), *content = json_object_get(message, "content");
    const char *role = api_text(message, "role");
    if (strcmp(role, "tool") == 0) {
        json_array_append_new(list, tool_message(inquiry, message));
        add_media(*shown, content);
        return;
    }
    add_shown(list, shown);
    json_array_append_new(list, strcmp(role, "assistant") == 0
                                    ? assistant_message(inquiry, message, is_past(inquiry, place))
                                    : json_pack("{s:s, s:o}", "role", "user", "content", user_content(content)));
}

static json_t *all_messages(const struct inquiry *inquiry)
{
    auto_buf struct buf system = { 0 };
    json_t *list = json_array(), *shown = json_array();
    api_put_system(&system, inquiry, inquiry->schema && (inquiry->manners & MANNER_NO_SCHEMA));
    if (system.len)
        json_array_append_new(list, json_pack("{s:s, s:o}", "role", "system", "content",
                                              message_text(buf_text(&system), system.len)));
    for (size_t i = 0; i < json_array_size(inquiry->messages); i++)
        add_message(inquiry, list, i, &shown);
    add_shown(list, &shown);
    json_decref(shown);
    return list;
}

/* ---- the request ------------------------------------------------------------------------------------------ */

static json_t *tool_row(const struct inquiry *inquiry, const json_t *tool)
{
    json_t *function = json_object(), *parameters = json_object_get(tool, "parameters");
    json_object_set(function, "name", json_object_get(tool, "name"));
    json_object_set(function, "description", json_object_get(tool, "description"));
    json_object_set(function, "parameters", parameters);
    if (!(inquiry->manners & MANNER_NO_STRICT) && strict_takes(parameters))
        json_object_set_new(function, "strict", json_true());
    return json_pack("{s:s, s:o}", "type", "function", "function", function);
}

static void set_schema(const struct inquiry *inquiry, json_t *body)
{
    if (!inquiry->schema)
        return;
    if (inquiry->manners & MANNER_NO_SCHEMA) {
        json_object_set_new(body, "response_format", json_pack("{s:s}", "type", "json_object"));
        return;
    }
    json_t *format = json_pack("{s:s, s:O}", "name", "result", "schema", inquiry->schema);
    if (!(inquiry->manners & MANNER_NO_STRICT) && strict_takes(inquiry->schema))
        json_object_set_new(format, "strict", json_true());
    json_object_set_new(body, "response_format", json_pack("{s:s, s:o}", "type", "json_schema", "json_schema", format));
}

static void set_sampling(const struct inquiry *inquiry, json_t *body)
{
    const char *limit = inquiry->manners & MANNER_OLD_LIMIT ? "max_tokens" : "max_completion_tokens";
    if (inquiry->max_tokens)
        json_object_set_new(body, limit, json_integer(inquiry->max_tokens));
    if (!(inquiry->manners & MANNER_NO_SAMPLING)) {
        api_set_number(body, "temperature", inquiry->temperature);
        api_set_number(body, "top_p", inquiry->top_p);
    }
    if (!(inquiry->manners & MANNER_NO_EFFORT))
        api_set_text(body, "reasoning_effort", inquiry->effort);
}

static void put(const struct inquiry *inquiry, struct wire *wire)
{
    json_t *body = json_pack("{s:s, s:o}", "model", inquiry->model, "messages", all_messages(inquiry));
    openai_set_tools(inquiry, body, tool_row, "function");
    set_schema(inquiry, body);
    set_sampling(inquiry, body);
    if (inquiry->stream) {
        json_object_set_new(body, "stream", json_true());
        if (!(inquiry->manners & MANNER_NO_STREAM_OPTIONS))
            json_object_set_new(body, "stream_options", json_pack("{s:b}", "include_usage", 1));
    }
    buf_puts(&wire->path, "/chat/completions");
    api_send(wire, body);
}

/* ---- the answer ------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int stop;
} stops[] = {
    { "stop", STOP_END },           { "tool_calls", STOP_CALLS },       { "function_call", STOP_CALLS },
    { "length", STOP_LENGTH },      { "model_length", STOP_LENGTH },    { "max_tokens", STOP_LENGTH },
    { "content_filter", STOP_REFUSED }, { "refusal", STOP_REFUSED },    { "safety", STOP_REFUSED },
};

static void set_stop(struct answer *answer, const char *word)
{
    int stop = STOP_END;
    for (size_t i = 0; i < COUNT(stops); i++)
        if (strcmp(word, stops[i].word) == 0)
            stop = stops[i].stop;
    if (answer->stop != STOP_REFUSED) // the words of a refusal have come before
        answer_set_stop(answer, stop == STOP_CALLS ? STOP_END : stop);
}

/* Cached tokens are part of the prompt.  Reasoning is part of the completion, except where the total shows
   that it is not (xAI, and Google's form of this API). */
static void read_usage(struct answer *answer, const json_t *usage)
{
    struct token_count *tokens = &answer->tokens;
    const json_t *in = json_object_get(usage, "prompt_tokens_details");
    const json_t *out = json_object_get(usage, "completion_tokens_details");
    if (api_count(usage, "prompt_tokens") < 0)
        return;
    int64_t cached = api_count(in, "cached_tokens"), total = api_count(usage, "total_tokens");
    tokens->input = api_count(usage, "prompt_tokens");
    tokens->output = MAX(api_count(usage, "completion_tokens"), 0);
    tokens->cache_read = cached >= 0 ? cached : api_count(usage, "prompt_cache_hit_tokens");
    tokens->cache_write = api_count(in, "cache_write_tokens");
    tokens->reasoning = api_count(out, "reasoning_tokens");
    if (tokens->reasoning > 0 && total == tokens->input + tokens->output + tokens->reasoning)
        tokens->output += tokens->reasoning;
}

static json_t *own_echo(struct answer *answer)
{
    if (!answer->echo)
        answer->echo = json_object();
    return answer->echo;
}

/* A content that is a list has texts and thoughts in it (Mistral). */
static int read_part(struct answer *answer, const json_t *part, rondo_error *err)
{
    const json_t *thoughts = json_object_get(part, "thinking");
    json_t *thought;
    size_t i;
    if (json_is_string(thoughts))
        return api_add_thinking(answer, thoughts, err);
    json_array_foreach(thoughts, i, thought)
        if (api_add_thinking(answer, json_object_get(thought, "text"), err) < 0)
            return err->code;
    return api_add_text(answer, json_object_get(part, "text"), err);
}

static int read_content(struct answer *answer, const json_t *content, rondo_error *err)
{
    json_t *part;
    size_t i;
    json_array_foreach(content, i, part)
        if (read_part(answer, part, err) < 0)
            return err->code;
    return api_add_text(answer, content, err);
}

static int read_thinking(struct answer *answer, const json_t *delta, rondo_error *err)
{
    static const char *const keys[] = { "reasoning_content", "reasoning" };
    for (size_t i = 0; i < COUNT(keys); i++) {
        const json_t *text = json_object_get(delta, keys[i]);
        if (!json_string_length(text))
            continue;
        json_object_set_new(own_echo(answer), "thinking", json_string(keys[i]));
        return api_add_thinking(answer, text, err);
    }
    return 0;
}

/* Details of the reasoning come in pieces and are wanted back whole, so they wait in answer->own. */
static int read_details(struct answer *answer, const json_t *details, rondo_error *err)
{
    json_t *piece;
    size_t i;
    json_array_foreach(details, i, piece) {
        if (answer_add_json(answer, piece, err) < 0)
            return err->code;
        if (!answer->own)
            answer->own = json_array();
        json_array_append(answer->own, piece);
    }
    return 0;
}

/* Pieces of one detail have the same type and index and come one after the other. */
static bool joins(const json_t *first, const json_t *piece)
{
    return json_object_get(piece, "index") &&
           json_equal(json_object_get(first, "index"), json_object_get(piece, "index")) &&
           json_equal(json_object_get(first, "type"), json_object_get(piece, "type"));
}

/* The pieces from `from` up to `to` as one: texts are put together, of all else the last counts. */
static json_t *join(const json_t *pieces, size_t from, size_t to)
{
    static const char *const texts[] = { "text", "summary", "data" };
    json_t *whole = json_object();
    for (size_t i = from; i < to; i++)
        json_object_update(whole, json_array_get(pieces, i));
    for (size_t k = 0; k < COUNT(texts); k++) {
        auto_buf struct buf text = { 0 };
        for (size_t i = from; i < to; i++)
            buf_puts(&text, api_text(json_array_get(pieces, i), texts[k]));
        if (text.len)
            json_object_set_new(whole, texts[k], message_text(text.data, text.len));
    }
    return whole;
}

static void settle_details(struct answer *answer)
{
    json_t *list = json_array();
    for (size_t from = 0, to, count = json_array_size(answer->own); from < count; from = to) {
        for (to = from + 1; to < count && joins(json_array_get(answer->own, from), json_array_get(answer->own, to));)
            to++;
        json_array_append_new(list, join(answer->own, from, to));
    }
    if (json_array_size(list))
        json_object_set(own_echo(answer), "reasoning_details", list);
    json_decref(list);
}

/* Which call a piece belongs to.  Without an index an id or a name begins a new one; with one, another id
   does, for servers that count all whole calls as number 0.  A whole message has no pieces. */
static struct answer_call *find_call(struct answer *answer, const json_t *piece, bool is_whole, rondo_error *err)
{
    const char *id = api_text(piece, "id"), *name = api_text(json_object_get(piece, "function"), "name");
    int64_t index = api_count(piece, "index");
    struct answer_call *last = answer->call_count ? &answer->calls[answer->call_count - 1] : NULL;
    struct answer_call *call = index < 0 ? last : answer_call_find(answer, (uint32_t)index);
    bool is_other = call && *id && call->id && strcmp(id, call->id) != 0 && *name;
    bool is_next = index < 0 && *name && (is_whole || !(call && *id && call->id && strcmp(id, call->id) == 0));
    if (call && !is_other && !is_next)
        return call;
    return answer_call_new(answer, index < 0 ? UINT32_MAX : (uint32_t)index, err);
}

static int keep_extra(struct answer *answer, const struct answer_call *call, const json_t *extra, rondo_error *err)
{
    json_t *list;
    if (!json_is_object(extra))
        return 0;
    if (answer_add_json(answer, extra, err) < 0)
        return err->code;
    if (!(list = json_object_get(own_echo(answer), "extra")))
        json_object_set_new(answer->echo, "extra", list = json_array());
    size_t place = (size_t)(call - answer->calls);
    while (json_array_size(list) <= place)
        json_array_append_new(list, json_null());
    json_array_set(list, place, (json_t *)extra);
    return 0;
}

static int read_call(struct answer *answer, const json_t *piece, bool is_whole, rondo_error *err)
{
    const json_t *function = json_object_get(piece, "function"), *given = json_object_get(function, "arguments");
    struct answer_call *call = find_call(answer, piece, is_whole, err);
    if (!call || keep_extra(answer, call, json_object_get(piece, "extra_content"), err) < 0)
        return err->code;
    answer_call_set(call, api_text(piece, "id"), call->name ? "" : api_text(function, "name"));
    return answer_call_give(answer, call, given, err);
}

static int read_calls(struct answer *answer, const json_t *calls, bool is_whole, rondo_error *err)
{
    json_t *piece;
    size_t i;
    json_array_foreach(calls, i, piece)
        if (read_call(answer, piece, is_whole, err) < 0)
            return err->code;
    return 0;
}

/* A whole message and a piece of one look alike. */
static int read_delta(struct answer *answer, const json_t *delta, bool is_whole, rondo_error *err)
{
    const json_t *refusal = json_object_get(delta, "refusal");
    if (read_thinking(answer, delta, err) < 0 || read_content(answer, json_object_get(delta, "content"), err) < 0 ||
        read_details(answer, json_object_get(delta, "reasoning_details"), err) < 0 ||
        read_calls(answer, json_object_get(delta, "tool_calls"), is_whole, err) < 0 ||
        api_add_text(answer, refusal, err) < 0)
        return err->code;
    if (json_string_length(refusal))
        answer_set_stop(answer, STOP_REFUSED);
    return 0;
}

static int read_choice(struct answer *answer, const json_t *choice, struct refusal *refusal, rondo_error *err)
{
    const json_t *message = json_object_get(choice, "message"), *delta = json_object_get(choice, "delta");
    const char *finish = api_text(choice, "finish_reason");
    if (read_delta(answer, message ? message : delta, message != NULL, err) < 0)
        return err->code;
    if (strcmp(finish, "error") == 0 || strcmp(finish, "insufficient_system_resource") == 0) {
        refusal_judge(refusal, 0, finish, "", "the answer was broken off");
        return refusal_fail(refusal, err);
    }
    if (*finish) {
        set_stop(answer, finish);
        settle_details(answer);
    }
    return 0;
}

/* A chunk of a stream, or the whole. */
static int read_some(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    const json_t *error = json_object_get(body, "error"), *usage = json_object_get(body, "usage");
    const json_t *choice = json_array_get(json_object_get(body, "choices"), 0);
    if (error && !json_is_null(error)) {
        refusal_read(refusal, 0, body);
        return refusal_fail(refusal, err);
    }
    answer_set_id(answer, api_text(body, "id"), api_text(body, "model"));
    read_usage(answer, json_is_object(usage) ? usage : json_object_get(json_object_get(body, "x_groq"), "usage"));
    return choice ? read_choice(answer, choice, refusal, err) : 0;
}

static int hear(struct answer *answer, const char *event, const char *data, size_t len, struct refusal *refusal,
                rondo_error *err)
{
    if (len == 6 && memcmp(data, "[DONE]", 6) == 0) {
        answer->is_done = true;
        return 0;
    }
    auto_json json_t *body = api_parse(answer->secrets, data, len, err);
    return body ? read_some(answer, body, refusal, err) : err->code;
}

static int read_whole(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    if (read_some(answer, body, refusal, err) < 0)
        return err->code;
    if (!json_is_object(json_object_get(json_array_get(json_object_get(body, "choices"), 0), "message")))
        return err_set(err, RONDO_EPARSE, "the server's answer has no message in it");
    if (answer->stop == STOP_NONE)
        answer_set_stop(answer, STOP_END);
    settle_details(answer);
    answer->is_done = true;
    return 0;
}

static void refuse(int status, const json_t *body, struct refusal *ret)
{
    refusal_read(ret, status, body);
}

const struct api api_openai_chat = {
    .name = "openai-chat",
    .accept = "text/event-stream",
    .put = put,
    .hear = hear,
    .read = read_whole,
    .refuse = refuse,
};
