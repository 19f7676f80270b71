/* openai_responses.c - OpenAI's Responses: a list of items in, a list of items out.

   Nothing is kept at the server (store: false).  So reasoning comes encrypted, as an item of its own that
   is wanted back in its place among the others; when there is one, all items of the answer are echoed.
   Ids of items that are only ours are left out: the server would look for them where it kept nothing. */
#include "model/api.h"
#include "model/openai_tools.h"
#include "model/strict.h"

#include "base/hash.h"
#include "data/value.h"

#include <string.h>

#define ITEMS_MAX 10000

/* ---- what is said ----------------------------------------------------------------------------------------- */

static json_t *text_part(const char *type, const char *text)
{
    return json_pack("{s:s, s:o}", "type", type, "text", message_text(text, strlen(text)));
}

static json_t *media_part(const json_t *part)
{
    auto_buf struct buf url = { 0 };
    const json_t *image = json_object_get(part, "image"), *file = json_object_get(part, "file");
    const char *name = api_text(file, "name");
    api_put_data_url(&url, image ? image : file);
    if (image)
        return json_pack("{s:s, s:s}", "type", "input_image", "image_url", buf_text(&url));
    return json_pack("{s:s, s:s, s:s}", "type", "input_file", "filename", *name ? name : "file.pdf", "file_data",
                     buf_text(&url));
}

/* A text as it is, parts as a list; for users and for results. */
static json_t *content_value(const json_t *content)
{
    json_t *parts, *part;
    size_t i;
    if (json_is_string(content))
        return json_incref((json_t *)content);
    parts = json_array();
    json_array_foreach(content, i, part)
        json_array_append_new(parts, json_object_get(part, "text") ? text_part("input_text", api_text(part, "text"))
                                                                   : media_part(part));
    return parts;
}

static json_t *call_item(const json_t *call)
{
    auto_buf struct buf arguments = { 0 };
    const json_t *value = json_object_get(call, "arguments");
    if (value)
        value_put_json(&arguments, value);
    return json_pack("{s:s, s:O, s:O, s:s}", "type", "function_call", "call_id", json_object_get(call, "id"), "name",
                     json_object_get(call, "name"), "arguments", value ? buf_text(&arguments) : "{}");
}

static void add_answer(json_t *items, const json_t *message)
{
    const json_t *calls = json_object_get(message, "calls");
    json_t *call, *echo = json_object_get(json_object_get(message, "echo"), api_openai_responses.name);
    const char *text = api_text(message, "content");
    size_t i;
    if (json_array_size(echo)) {
        json_array_extend(items, echo);
        return;
    }
    if (*text)
        json_array_append_new(items, json_pack("{s:s, s:s, s:[o]}", "type", "message", "role", "assistant", "content",
                                               text_part("output_text", text)));
    json_array_foreach(calls, i, call)
        json_array_append_new(items, call_item(call));
}

static void add_message(json_t *items, const json_t *message)
{
    const char *role = api_text(message, "role");
    const json_t *content = json_object_get(message, "content");
    if (strcmp(role, "assistant") == 0)
        add_answer(items, message);
    else if (strcmp(role, "tool") == 0)
        json_array_append_new(items, json_pack("{s:s, s:O, s:o}", "type", "function_call_output", "call_id",
                                               json_object_get(message, "call"), "output", content_value(content)));
    else
        json_array_append_new(items, json_pack("{s:s, s:o}", "role", "user", "content", content_value(content)));
}

/* ---- the request ------------------------------------------------------------------------------------------ */

static json_t *tool_row(const struct inquiry *inquiry, const json_t *tool)
{
    json_t *row = json_pack("{s:s}", "type", "function"), *parameters = json_object_get(tool, "parameters");
    json_object_set(row, "name", json_object_get(tool, "name"));
    json_object_set(row, "description", json_object_get(tool, "description"));
    json_object_set(row, "parameters", parameters);
    bool is_strict = !(inquiry->manners & MANNER_NO_STRICT) && strict_takes(parameters);
    json_object_set_new(row, "strict", json_boolean(is_strict));
    return row;
}

static void set_schema(const struct inquiry *inquiry, json_t *body)
{
    if (!inquiry->schema)
        return;
    bool is_strict = !(inquiry->manners & MANNER_NO_STRICT) && strict_takes(inquiry->schema);
    json_t *format = inquiry->manners & MANNER_NO_SCHEMA
                         ? json_pack("{s:s}", "type", "json_object")
                         : json_pack("{s:s, s:s, s:O, s:b}", "type", "json_schema", "name", "result", "schema",
                                     inquiry->schema, "strict", is_strict);
    json_object_set_new(body, "text", json_pack("{s:o}", "format", format));
}

/* Encrypted reasoning may only be asked of models that have any. */
static bool is_reasoner(const char *model)
{
    static const char *const beginnings[] = { "o1", "o3", "o4", "gpt-5", "gpt-6", "codex" };
    for (size_t i = 0; i < COUNT(beginnings); i++)
        if (strncmp(model, beginnings[i], strlen(beginnings[i])) == 0)
            return !strstr(model, "chat");
    return false;
}

static void set_reasoning(const struct inquiry *inquiry, json_t *body)
{
    if (inquiry->manners & MANNER_NO_EFFORT)
        return;
    if (inquiry->effort)
        json_object_set_new(body, "reasoning", json_pack("{s:s}", "effort", inquiry->effort));
    if (inquiry->effort || is_reasoner(inquiry->model))
        json_object_set_new(body, "include", json_pack("[s]", "reasoning.encrypted_content"));
}

static void set_sampling(const struct inquiry *inquiry, json_t *body)
{
    if (inquiry->max_tokens)
        json_object_set_new(body, "max_output_tokens", json_integer(inquiry->max_tokens));
    if (inquiry->manners & MANNER_NO_SAMPLING)
        return;
    api_set_number(body, "temperature", inquiry->temperature);
    api_set_number(body, "top_p", inquiry->top_p);
}

static void put(const struct inquiry *inquiry, struct wire *wire)
{
    auto_buf struct buf system = { 0 };
    json_t *items = json_array(), *message;
    json_t *body = json_pack("{s:s, s:o, s:b}", "model", inquiry->model, "input", items, "store", 0);
    size_t i;
    json_array_foreach(inquiry->messages, i, message)
        add_message(items, message);
    api_put_system(&system, inquiry, inquiry->schema && (inquiry->manners & MANNER_NO_SCHEMA));
    api_set_text(body, "instructions", buf_text(&system));
    openai_set_tools(inquiry, body, tool_row, NULL);
    set_schema(inquiry, body);
    set_reasoning(inquiry, body);
    set_sampling(inquiry, body);
    if (inquiry->stream)
        json_object_set_new(body, "stream", json_true());
    buf_puts(&wire->path, "/responses");
    api_send(wire, body);
}

/* ---- the answer ------------------------------------------------------------------------------------------- */

static void read_usage(struct answer *answer, const json_t *usage)
{
    struct token_count *tokens = &answer->tokens;
    const json_t *in = json_object_get(usage, "input_tokens_details");
    if (api_count(usage, "input_tokens") < 0)
        return;
    tokens->input = api_count(usage, "input_tokens");
    tokens->output = MAX(api_count(usage, "output_tokens"), 0);
    tokens->cache_read = api_count(in, "cached_tokens");
    tokens->cache_write = api_count(in, "cache_write_tokens");
    tokens->reasoning = api_count(json_object_get(usage, "output_tokens_details"), "reasoning_tokens");
}

/* What the server wants back of an item. */
static json_t *kept_item(const json_t *item)
{
    static const struct {
        const char *type, *keys[5];
    } rows[] = {
        { "reasoning", { "id", "summary", "content", "encrypted_content" } },
        { "message", { "role", "content", "phase" } },
        { "function_call", { "call_id", "name", "arguments" } },
    };
    json_t *kept = json_object();
    const char *type = api_text(item, "type");
    for (size_t i = 0; i < COUNT(rows); i++)
        for (size_t k = 0; strcmp(type, rows[i].type) == 0 && rows[i].keys[k]; k++) {
            json_t *value = json_object_get(item, rows[i].keys[k]);
            json_object_set_new(kept, "type", json_string(type));
            if (value && !json_is_null(value))
                json_object_set(kept, rows[i].keys[k], value);
        }
    return kept;
}

static int keep_item(struct answer *answer, const json_t *item, rondo_error *err)
{
    json_t *kept = kept_item(item);
    if (!answer->own)
        answer->own = json_array();
    json_array_append_new(answer->own, kept); // an empty one if it is of no known type
    if (json_array_size(answer->own) > ITEMS_MAX)
        return err_set(err, RONDO_ELIMIT, "the answer has more than %d items", ITEMS_MAX);
    return answer_add_json(answer, kept, err);
}

static void settle_echo(struct answer *answer)
{
    bool is_needed = false;
    json_t *echo = json_array(), *item;
    size_t i;
    json_array_foreach(answer->own, i, item) {
        is_needed |= json_string_length(json_object_get(item, "encrypted_content")) > 0;
        if (json_object_size(item))
            json_array_append(echo, item);
    }
    json_decref(answer->echo);
    answer->echo = is_needed ? json_incref(echo) : NULL;
    json_decref(echo);
}

/* Texts of a list of parts, each of them { type, text } or { type, refusal }. */
static int add_parts(struct answer *answer, const json_t *parts, bool is_thinking, rondo_error *err)
{
    size_t i;
    json_t *part;
    json_array_foreach(parts, i, part) {
        const json_t *text = json_object_get(part, "text"), *refusal = json_object_get(part, "refusal");
        int rc = is_thinking ? api_add_thinking(answer, text, err)
                             : api_add_text(answer, refusal ? refusal : text, err);
        if (rc < 0)
            return rc;
        if (refusal)
            answer_set_stop(answer, STOP_REFUSED);
    }
    return 0;
}

static int add_call(struct answer *answer, uint32_t key, const json_t *item, rondo_error *err)
{
    const json_t *arguments = json_object_get(item, "arguments");
    struct answer_call *call = answer_call_at(answer, key, err);
    if (!call)
        return err->code;
    answer_call_set(call, api_text(item, "call_id"), api_text(item, "name"));
    return call->arguments.len || call->value ? 0 : answer_call_give(answer, call, arguments, err);
}

/* An item that is there as a whole; what of it has come in pieces before is not added again. */
static int add_item(struct answer *answer, uint32_t key, const json_t *item, bool has_text, bool has_thinking,
                    rondo_error *err)
{
    const char *type = api_text(item, "type");
    if (strcmp(type, "function_call") == 0 && add_call(answer, key, item, err) < 0)
        return err->code;
    if (strcmp(type, "message") == 0 && !has_text &&
        add_parts(answer, json_object_get(item, "content"), false, err) < 0)
        return err->code;
    if (strcmp(type, "reasoning") == 0 && !has_thinking &&
        (add_parts(answer, json_object_get(item, "summary"), true, err) < 0 ||
         add_parts(answer, json_object_get(item, "content"), true, err) < 0))
        return err->code;
    return keep_item(answer, item, err);
}

static int fail(const json_t *body, struct refusal *refusal, rondo_error *err)
{
    refusal_read(refusal, 0, body);
    return refusal_fail(refusal, err);
}

static void set_stop(struct answer *answer, const json_t *response)
{
    const char *why = api_text(json_object_get(response, "incomplete_details"), "reason");
    if (strcmp(api_text(response, "status"), "incomplete") == 0)
        answer_set_stop(answer, strcmp(why, "content_filter") == 0 ? STOP_REFUSED : STOP_LENGTH);
    else if (answer->stop != STOP_REFUSED)
        answer_set_stop(answer, STOP_END);
    settle_echo(answer);
    answer->is_done = true;
}

static int read_output(struct answer *answer, const json_t *response, rondo_error *err)
{
    const json_t *output = json_object_get(response, "output");
    json_t *item;
    size_t i;
    json_array_foreach(output, i, item)
        if (add_item(answer, (uint32_t)i, item, false, false, err) < 0)
            return err->code;
    return 0;
}

static int read_whole(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    const json_t *error = json_object_get(body, "error");
    if ((error && !json_is_null(error)) || strcmp(api_text(body, "status"), "failed") == 0)
        return fail(body, refusal, err);
    if (!api_list(body, "output"))
        return err_set(err, RONDO_EPARSE, "the server's answer has no output in it");
    if (read_output(answer, body, err) < 0)
        return err->code;
    answer_set_id(answer, api_text(body, "id"), api_text(body, "model"));
    read_usage(answer, json_object_get(body, "usage"));
    set_stop(answer, body);
    return 0;
}

/* ---- streams ---------------------------------------------------------------------------------------------- */

#define HEAR(name) \
    static int name(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)

/* An item's place, or for servers that do not tell it (llama.cpp) its id as a number. */
static uint32_t key_of(const json_t *body)
{
    int64_t index = api_count(body, "output_index");
    const char *id = api_text(body, "item_id");
    if (index >= 0)
        return (uint32_t)index;
    if (!*id)
        id = api_text(json_object_get(body, "item"), "id");
    return (uint32_t)hash_bytes(0, id, strlen(id));
}

HEAR(hear_begin)
{
    const json_t *response = json_object_get(body, "response");
    answer_set_id(answer, api_text(response, "id"), api_text(response, "model"));
    return 0;
}

HEAR(hear_text)
{
    return api_add_text(answer, json_object_get(body, "delta"), err);
}

HEAR(hear_refusal)
{
    answer_set_stop(answer, STOP_REFUSED);
    return api_add_text(answer, json_object_get(body, "delta"), err);
}

HEAR(hear_thinking)
{
    return api_add_thinking(answer, json_object_get(body, "delta"), err);
}

/* Calls are made when they begin, so that they are in their order. */
HEAR(hear_added)
{
    const json_t *item = json_object_get(body, "item");
    if (strcmp(api_text(item, "type"), "function_call") != 0)
        return 0;
    struct answer_call *call = answer_call_at(answer, key_of(body), err);
    if (!call)
        return err->code;
    answer_call_set(call, api_text(item, "call_id"), api_text(item, "name"));
    return 0;
}

HEAR(hear_arguments)
{
    struct answer_call *call = answer_call_at(answer, key_of(body), err);
    return call ? answer_call_give(answer, call, json_object_get(body, "delta"), err) : err->code;
}

HEAR(hear_item)
{
    return add_item(answer, key_of(body), json_object_get(body, "item"), answer->text.len > 0, answer->thinking.len > 0,
                    err);
}

/* Servers that tell nothing of items on the way have them all at the end. */
HEAR(hear_end)
{
    const json_t *response = json_object_get(body, "response");
    if (!answer->own && !answer->text.len && !answer->call_count && read_output(answer, response, err) < 0)
        return err->code;
    hear_begin(answer, body, refusal, err);
    read_usage(answer, json_object_get(response, "usage"));
    set_stop(answer, response);
    return 0;
}

HEAR(hear_failure)
{
    const json_t *response = json_object_get(body, "response");
    read_usage(answer, json_object_get(response, "usage"));
    return fail(response ? response : body, refusal, err);
}

static const struct {
    const char *type;
    int (*hear)(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err);
} events[] = {
    { "response.output_text.delta", hear_text },
    { "response.function_call_arguments.delta", hear_arguments },
    { "response.reasoning_summary_text.delta", hear_thinking },
    { "response.reasoning_text.delta", hear_thinking },
    { "response.refusal.delta", hear_refusal },
    { "response.output_item.added", hear_added },
    { "response.output_item.done", hear_item },
    { "response.created", hear_begin },
    { "response.completed", hear_end },
    { "response.incomplete", hear_end },
    { "response.failed", hear_failure },
    { "error", hear_failure },
};

static int hear(struct answer *answer, const char *event, const char *data, size_t len, struct refusal *refusal,
                rondo_error *err)
{
    if (len == 6 && memcmp(data, "[DONE]", 6) == 0) // some add it
        return 0;
    auto_json json_t *body = api_parse(answer->secrets, data, len, err);
    const char *type = api_text(body, "type");
    if (!body)
        return err->code;
    if (!*type)
        type = event;
    for (size_t i = 0; i < COUNT(events); i++)
        if (strcmp(type, events[i].type) == 0)
            return events[i].hear(answer, body, refusal, err);
    return *type || !json_object_get(body, "error") ? 0 : fail(body, refusal, err);
}

static void refuse(int status, const json_t *body, struct refusal *ret)
{
    refusal_read(ret, status, body);
}

const struct api api_openai_responses = {
    .name = "openai-responses",
    .accept = "text/event-stream",
    .put = put,
    .hear = hear,
    .read = read_whole,
    .refuse = refuse,
};
