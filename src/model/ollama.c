/* ollama.c - Ollama's own API: lines of JSON, the last one says that it is done.

   Calls have no ids, and arguments are objects.  Which tool is called cannot be demanded: where one has to
   be, the others are not offered.

   What does not fit the context is cut off by the server without a word, and its context is small unless
   somebody says otherwise.  So a conversation that may not fit asks for as much as it needs, in steps of two,
   because the server loads the model anew for each. */
#include "model/api.h"

#include "data/value.h"

#include <string.h>

#define CONTEXT_DEFAULT 4096
#define CONTEXT_MAX     262144
#define ANSWER_TOKENS   1024 // room for the answer when nobody says how long it may be

/* ---- what is said ----------------------------------------------------------------------------------------- */

/* Only images can be shown; of other files at least the name is told. */
static void set_content(json_t *out, const json_t *content)
{
    auto_buf struct buf text = { 0 };
    json_t *images = json_array(), *part;
    size_t i;
    message_put_text(&text, content);
    json_array_foreach(content, i, part) {
        const json_t *image = json_object_get(part, "image"), *file = json_object_get(part, "file");
        if (image)
            json_array_append(images, json_object_get(image, "data"));
        if (file)
            buf_printf(&text, "\n(the file `%.200s` cannot be shown to this model)", api_text(file, "name"));
    }
    json_object_set_new(out, "content", message_text(buf_text(&text), text.len));
    if (json_array_size(images))
        json_object_set(out, "images", images);
    json_decref(images);
}

static void set_calls(json_t *out, const json_t *calls)
{
    json_t *list = json_array(), *call;
    size_t i;
    json_array_foreach(calls, i, call) {
        json_t *arguments = json_object_get(call, "arguments");
        json_array_append_new(list, json_pack("{s:{s:O, s:o}}", "function", "name", json_object_get(call, "name"),
                                              "arguments", arguments ? json_incref(arguments) : json_object()));
    }
    if (json_array_size(list))
        json_object_set(out, "tool_calls", list);
    json_decref(list);
}

static json_t *one_message(const json_t *message)
{
    json_t *out = json_object(), *thinking = json_object_get(message, "thinking");
    json_object_set(out, "role", json_object_get(message, "role"));
    set_content(out, json_object_get(message, "content"));
    set_calls(out, json_object_get(message, "calls"));
    if (thinking)
        json_object_set(out, "thinking", thinking);
    if (strcmp(api_text(message, "role"), "tool") == 0)
        json_object_set(out, "tool_name", json_object_get(message, "name"));
    return out;
}

static json_t *all_messages(const struct inquiry *inquiry)
{
    auto_buf struct buf system = { 0 };
    json_t *list = json_array(), *message;
    size_t i;
    api_put_system(&system, inquiry, inquiry->schema && (inquiry->manners & MANNER_NO_SCHEMA));
    if (system.len)
        json_array_append_new(list, json_pack("{s:s, s:o}", "role", "system", "content",
                                              message_text(buf_text(&system), system.len)));
    json_array_foreach(inquiry->messages, i, message)
        json_array_append_new(list, one_message(message));
    return list;
}

/* ---- the request ------------------------------------------------------------------------------------------ */

static void set_tools(const struct inquiry *inquiry, json_t *body)
{
    json_t *list = json_array(), *tool;
    size_t i;
    json_array_foreach(inquiry->tools, i, tool)
        if (inquiry->choice != CHOICE_NONE &&
            (inquiry->choice != CHOICE_TOOL || strcmp(api_text(tool, "name"), inquiry->tool) == 0))
            json_array_append_new(list, json_pack("{s:s, s:O}", "type", "function", "function", tool));
    if (json_array_size(list))
        json_object_set(body, "tools", list);
    json_decref(list);
}

static int64_t needed_context(const struct inquiry *inquiry)
{
    int64_t tokens = message_estimate(inquiry->messages, inquiry->system, inquiry->tools);
    int64_t need = tokens + (inquiry->max_tokens ? inquiry->max_tokens : ANSWER_TOKENS), context = CONTEXT_DEFAULT;
    while (context < need && context < CONTEXT_MAX)
        context *= 2;
    return context;
}

static void set_options(const struct inquiry *inquiry, json_t *body)
{
    json_t *options = json_object();
    int64_t context = needed_context(inquiry);
    if (context > CONTEXT_DEFAULT)
        json_object_set_new(options, "num_ctx", json_integer(context));
    if (inquiry->max_tokens)
        json_object_set_new(options, "num_predict", json_integer(inquiry->max_tokens));
    if (!(inquiry->manners & MANNER_NO_SAMPLING)) {
        api_set_number(options, "temperature", inquiry->temperature);
        api_set_number(options, "top_p", inquiry->top_p);
    }
    if (json_object_size(options))
        json_object_set(body, "options", options);
    json_decref(options);
}

static const struct {
    const char *effort, *word; // NULL: not at all
} efforts[] = {
    { "none", NULL },     { "minimal", "low" }, { "low", "low" }, { "medium", "medium" },
    { "high", "high" },   { "xhigh", "high" },  { "max", "max" },
};

static void set_thinking(const struct inquiry *inquiry, json_t *body)
{
    if (!inquiry->effort || (inquiry->manners & MANNER_NO_EFFORT))
        return;
    for (size_t i = 0; i < COUNT(efforts); i++)
        if (strcmp(inquiry->effort, efforts[i].effort) == 0)
            json_object_set_new(body, "think", efforts[i].word ? json_string(efforts[i].word) : json_false());
}

static void put(const struct inquiry *inquiry, struct wire *wire)
{
    json_t *body = json_pack("{s:s, s:o, s:b}", "model", inquiry->model, "messages", all_messages(inquiry), "stream",
                             inquiry->stream);
    set_tools(inquiry, body);
    set_options(inquiry, body);
    set_thinking(inquiry, body);
    if (inquiry->schema && (inquiry->manners & MANNER_NO_SCHEMA))
        json_object_set_new(body, "format", json_string("json"));
    else if (inquiry->schema)
        json_object_set(body, "format", (json_t *)inquiry->schema);
    buf_puts(&wire->path, "/api/chat");
    api_send(wire, body);
}

/* ---- the answer ------------------------------------------------------------------------------------------- */

static int read_calls(struct answer *answer, const json_t *calls, rondo_error *err)
{
    json_t *given;
    size_t i;
    json_array_foreach(calls, i, given) {
        const json_t *function = json_object_get(given, "function");
        struct answer_call *call = answer_call_new(answer, answer->call_count, err);
        if (!call)
            return err->code;
        answer_call_set(call, api_text(given, "id"), api_text(function, "name"));
        if (answer_call_give(answer, call, json_object_get(function, "arguments"), err) < 0)
            return err->code;
    }
    return 0;
}

static void read_end(struct answer *answer, const json_t *body)
{
    answer->tokens.input = api_count(body, "prompt_eval_count");
    answer->tokens.output = api_count(body, "eval_count");
    answer_set_stop(answer, strcmp(api_text(body, "done_reason"), "length") == 0 ? STOP_LENGTH : STOP_END);
    answer->is_done = true;
}

/* A line of a stream, or the whole. */
static int read_some(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    const json_t *message = json_object_get(body, "message");
    if (json_object_get(body, "error")) {
        refusal_read(refusal, 0, body);
        return refusal_fail(refusal, err);
    }
    answer_set_id(answer, "", api_text(body, "model"));
    if (api_add_thinking(answer, json_object_get(message, "thinking"), err) < 0 ||
        api_add_text(answer, json_object_get(message, "content"), err) < 0 ||
        read_calls(answer, json_object_get(message, "tool_calls"), err) < 0)
        return err->code;
    if (json_is_true(json_object_get(body, "done")))
        read_end(answer, body);
    return 0;
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
    if (!json_is_object(json_object_get(body, "message")))
        return err_set(err, RONDO_EPARSE, "the server's answer has no message in it");
    if (!answer->is_done)
        read_end(answer, body);
    return 0;
}

static void refuse(int status, const json_t *body, struct refusal *ret)
{
    refusal_read(ret, status, body);
}

const struct api api_ollama = {
    .name = "ollama",
    .is_ndjson = true,
    .accept = "application/x-ndjson",
    .put = put,
    .hear = hear,
    .read = read_whole,
    .refuse = refuse,
};
