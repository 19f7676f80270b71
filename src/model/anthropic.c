/* anthropic.c - Anthropic's Messages.

   A message is a list of blocks.  Thoughts are signed and wanted back exactly as they were, in their places
   among texts and calls; so while an answer comes in, answer->own lists its blocks, with where each begins
   in the answer's texts, and at the end the blocks are put together for the echo if there were thoughts.

   Everything up to a mark (cache_control) is kept by the server for a while and then costs a tenth.  Marks
   are set behind the tools, the system text, and the last message of the user's and the one before: where the
   last request ended, and where the next one begins to differ. */
#include "model/api.h"
#include "model/strict.h"

#include "data/value.h"

#include <math.h>
#include <string.h>

#define TOKENS_DEFAULT 16384 // of an answer: the API wants a number
#define BUDGET_MIN     1024  // of thoughts
#define BLOCKS_MAX     10000
#define SIGNATURE_MAX  (1 << 20)

/* What models are like whose names begin so.  Newer ones are like the last row. */
static const struct family {
    const char *beginning;
    int max_tokens;  // when nobody says
    enum { THINKS_NOT, THINKS_BY_BUDGET, THINKS_AS_IT_LIKES } thinks;
} families[] = {
    { "claude-3-7", TOKENS_DEFAULT, THINKS_BY_BUDGET },
    { "claude-3-5", 8192, THINKS_NOT },
    { "claude-3", 4096, THINKS_NOT },
    { "claude-opus-4-6", TOKENS_DEFAULT, THINKS_AS_IT_LIKES },
    { "claude-opus-4-7", TOKENS_DEFAULT, THINKS_AS_IT_LIKES },
    { "claude-opus-4-8", TOKENS_DEFAULT, THINKS_AS_IT_LIKES },
    { "claude-sonnet-4-6", TOKENS_DEFAULT, THINKS_AS_IT_LIKES },
    { "claude-opus-4", TOKENS_DEFAULT, THINKS_BY_BUDGET },
    { "claude-sonnet-4", TOKENS_DEFAULT, THINKS_BY_BUDGET },
    { "claude-haiku-4", TOKENS_DEFAULT, THINKS_BY_BUDGET },
    { "", TOKENS_DEFAULT, THINKS_AS_IT_LIKES },
};

static const struct family *family_of(const char *model)
{
    size_t i = 0;
    while (strncmp(model, families[i].beginning, strlen(families[i].beginning)) != 0)
        i++;
    return &families[i];
}

/* ---- what is said ----------------------------------------------------------------------------------------- */

static json_t *text_block(const char *text, size_t len)
{
    return json_pack("{s:s, s:o}", "type", "text", "text", message_text(text, len));
}

static json_t *media_block(const json_t *part)
{
    const json_t *image = json_object_get(part, "image"), *file = json_object_get(part, "file");
    const json_t *media = image ? image : file;
    json_t *block = json_pack("{s:s, s:{s:s, s:s, s:s}}", "type", image ? "image" : "document", "source", "type",
                              "base64", "media_type", api_text(media, "type"), "data", api_text(media, "data"));
    if (file)
        api_set_text(block, "title", api_text(file, "name"));
    return block;
}

/* Empty texts are refused. */
static void add_content(json_t *blocks, const json_t *content)
{
    size_t i;
    json_t *part;
    if (json_string_length(content))
        json_array_append_new(blocks, text_block(json_string_value(content), json_string_length(content)));
    json_array_foreach(content, i, part) {
        const json_t *text = json_object_get(part, "text");
        if (json_string_length(text))
            json_array_append_new(blocks, text_block(json_string_value(text), json_string_length(text)));
        else if (!text)
            json_array_append_new(blocks, media_block(part));
    }
}

/* Ids of other servers may have signs that are not taken here. */
static json_t *call_id(const char *id)
{
    auto_buf struct buf clean = { 0 };
    for (; *id; id++)
        buf_putc(&clean, strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", *id) ? *id : '_');
    return json_string(buf_text(&clean));
}

static void add_answer(json_t *blocks, const json_t *message)
{
    const json_t *calls = json_object_get(message, "calls");
    json_t *call, *echo = json_object_get(json_object_get(message, "echo"), api_anthropic.name);
    size_t i;
    if (json_array_size(echo)) {
        json_array_extend(blocks, echo);
        return;
    }
    add_content(blocks, json_object_get(message, "content"));
    json_array_foreach(calls, i, call) {
        json_t *input = json_object_get(call, "arguments");
        json_array_append_new(blocks, json_pack("{s:s, s:o, s:O, s:o}", "type", "tool_use", "id",
                                                call_id(api_text(call, "id")), "name", json_object_get(call, "name"),
                                                "input", input ? json_incref(input) : json_object()));
    }
}

static void add_result(json_t *blocks, const json_t *message)
{
    json_t *content = json_array();
    json_t *block = json_pack("{s:s, s:o}", "type", "tool_result", "tool_use_id", call_id(api_text(message, "call")));
    add_content(content, json_object_get(message, "content"));
    if (json_array_size(content))
        json_object_set(block, "content", content);
    json_decref(content);
    if (json_is_true(json_object_get(message, "error")))
        json_object_set_new(block, "is_error", json_true());
    json_array_append_new(blocks, block);
}

/* All results of a turn have to be in the one message that follows it, so neighbours become one. */
static json_t *blocks_for(json_t *list, const char *role)
{
    json_t *last = json_array_get(list, json_array_size(list) - 1);
    if (!last || strcmp(api_text(last, "role"), role) != 0)
        json_array_append_new(list, last = json_pack("{s:s, s:[]}", "role", role, "content"));
    return json_object_get(last, "content");
}

static void add_message(json_t *list, const json_t *message)
{
    const char *role = api_text(message, "role");
    if (strcmp(role, "assistant") == 0)
        add_answer(blocks_for(list, "assistant"), message);
    else if (strcmp(role, "tool") == 0)
        add_result(blocks_for(list, "user"), message);
    else
        add_content(blocks_for(list, "user"), json_object_get(message, "content"));
}

/* A copy, because blocks of an echo are not ours to change. */
static void mark_last(json_t *list)
{
    size_t count = json_array_size(list);
    json_t *last = json_copy(json_array_get(list, count - 1));
    if (!last)
        return;
    json_object_set_new(last, "cache_control", json_pack("{s:s}", "type", "ephemeral"));
    json_array_set_new(list, count - 1, last);
}

static void mark_messages(json_t *list)
{
    int marks = 0;
    for (size_t i = json_array_size(list); i-- > 0 && marks < 2;) {
        const json_t *message = json_array_get(list, i);
        if (strcmp(api_text(message, "role"), "user") != 0)
            continue;
        mark_last(json_object_get(message, "content"));
        marks++;
    }
}

static json_t *all_messages(const struct inquiry *inquiry)
{
    json_t *list = json_array(), *message;
    size_t i;
    json_array_foreach(inquiry->messages, i, message)
        add_message(list, message);
    for (i = json_array_size(list); i-- > 0;)
        if (!json_array_size(json_object_get(json_array_get(list, i), "content")))
            json_array_remove(list, i);
    mark_messages(list);
    return list;
}

/* ---- the request ------------------------------------------------------------------------------------------ */

static bool is_schema_sent(const struct inquiry *inquiry)
{
    return inquiry->schema && !(inquiry->manners & MANNER_NO_SCHEMA) && strict_is_plain(inquiry->schema);
}

static void set_system(const struct inquiry *inquiry, json_t *body)
{
    auto_buf struct buf text = { 0 };
    api_put_system(&text, inquiry, inquiry->schema && !is_schema_sent(inquiry));
    if (!text.len)
        return;
    json_t *blocks = json_pack("[o]", text_block(buf_text(&text), text.len));
    mark_last(blocks);
    json_object_set_new(body, "system", blocks);
}

static json_t *choice_value(const struct inquiry *inquiry)
{
    static const char *const words[] = { "auto", "none", "any", "tool" };
    json_t *choice = json_pack("{s:s}", "type", words[inquiry->choice]);
    if (inquiry->choice == CHOICE_TOOL)
        json_object_set_new(choice, "name", json_string(inquiry->tool));
    return choice;
}

static void set_tools(const struct inquiry *inquiry, json_t *body)
{
    json_t *list = api_tools(inquiry, "input_schema");
    mark_last(list);
    if (json_array_size(list)) {
        json_object_set(body, "tools", list);
        if (inquiry->choice != CHOICE_AUTO)
            json_object_set_new(body, "tool_choice", choice_value(inquiry));
    }
    json_decref(list);
}

/* Whoever is forced to call a tool may not think before.  And within one turn thinking cannot begin late:
   when another server made the calls that were just answered, the turn has no thoughts to go on from. */
static bool may_think(const struct inquiry *inquiry)
{
    size_t count = json_array_size(inquiry->messages);
    const json_t *message = json_array_get(inquiry->messages, count - 1);
    if (!inquiry->effort || (inquiry->manners & MANNER_NO_EFFORT) || inquiry->choice > CHOICE_NONE)
        return false;
    while (count && strcmp(api_text(message, "role"), "tool") == 0)
        message = json_array_get(inquiry->messages, --count - 1);
    return strcmp(api_text(message, "role"), "assistant") != 0 ||
           json_object_get(json_object_get(message, "echo"), api_anthropic.name);
}

static const struct {
    const char *effort, *word;
    int budget;
} efforts[] = {
    { "minimal", "low", 1024 }, { "low", "low", 1024 },      { "medium", "medium", 4096 },
    { "high", "high", 16384 },  { "xhigh", "xhigh", 24576 }, { "max", "max", 32000 },
};

/* Returns the longest answer: thoughts count as part of it. */
static int64_t set_thinking(const struct inquiry *inquiry, json_t *body, json_t *config)
{
    const struct family *family = family_of(inquiry->model);
    int64_t max = inquiry->max_tokens ? inquiry->max_tokens : family->max_tokens;
    size_t i = 0;
    while (i < COUNT(efforts) && inquiry->effort && strcmp(inquiry->effort, efforts[i].effort) != 0)
        i++;
    if (!may_think(inquiry) || i == COUNT(efforts) || family->thinks == THINKS_NOT)
        return max;
    if (family->thinks == THINKS_AS_IT_LIKES) {
        json_object_set_new(body, "thinking", json_pack("{s:s}", "type", "adaptive"));
        json_object_set_new(config, "effort", json_string(efforts[i].word));
        return inquiry->max_tokens ? max : max * 2;
    }
    int64_t budget = inquiry->max_tokens ? MIN(efforts[i].budget, max - 1) : efforts[i].budget;
    if (budget < BUDGET_MIN)
        return max;
    json_object_set_new(body, "thinking", json_pack("{s:s, s:I}", "type", "enabled", "budget_tokens",
                                                    (json_int_t)budget));
    return inquiry->max_tokens ? max : max + budget;
}

/* Only one of the two is taken, and neither beside thoughts. */
static void set_sampling(const struct inquiry *inquiry, json_t *body)
{
    if (json_object_get(body, "thinking") || (inquiry->manners & MANNER_NO_SAMPLING))
        return;
    if (!isnan(inquiry->temperature))
        api_set_number(body, "temperature", MIN(inquiry->temperature, 1));
    else
        api_set_number(body, "top_p", inquiry->top_p);
}

static void put(const struct inquiry *inquiry, struct wire *wire)
{
    json_t *body = json_pack("{s:s, s:o}", "model", inquiry->model, "messages", all_messages(inquiry));
    json_t *config = json_object();
    set_system(inquiry, body);
    set_tools(inquiry, body);
    json_object_set_new(body, "max_tokens", json_integer(set_thinking(inquiry, body, config)));
    set_sampling(inquiry, body);
    if (is_schema_sent(inquiry))
        json_object_set_new(config, "format",
                            json_pack("{s:s, s:O}", "type", "json_schema", "schema", inquiry->schema));
    if (json_object_size(config))
        json_object_set(body, "output_config", config);
    json_decref(config);
    if (inquiry->stream)
        json_object_set_new(body, "stream", json_true());
    buf_puts(&wire->path, "/v1/messages");
    buf_puts(&wire->headers, "anthropic-version: 2023-06-01\n");
    if (strcmp(api_text(json_object_get(body, "thinking"), "type"), "enabled") == 0 && inquiry->tools)
        buf_puts(&wire->headers, "anthropic-beta: interleaved-thinking-2025-05-14\n");
    api_send(wire, body);
}

/* ---- the answer ------------------------------------------------------------------------------------------- */

static const struct {
    const char *word;
    int stop;
} stops[] = {
    { "max_tokens", STOP_LENGTH }, { "model_context_window_exceeded", STOP_LENGTH },
    { "refusal", STOP_REFUSED },   { "pause_turn", STOP_PAUSED },
};

/* What came from the cache and what was put there is not in input_tokens.  Later figures are of all so far. */
static void read_usage(struct answer *answer, const json_t *usage)
{
    struct token_count *tokens = &answer->tokens;
    int64_t input = api_count(usage, "input_tokens"), output = api_count(usage, "output_tokens");
    if (input >= 0) {
        tokens->cache_read = api_count(usage, "cache_read_input_tokens");
        tokens->cache_write = api_count(usage, "cache_creation_input_tokens");
        tokens->input = input + MAX(tokens->cache_read, 0) + MAX(tokens->cache_write, 0);
    }
    if (output >= 0)
        tokens->output = output;
}

/* Where the block's text is in those of the answer. */
static json_t *slice(const struct buf *from, const json_t *entry)
{
    size_t start = (size_t)json_integer_value(json_object_get(entry, "from"));
    size_t end = (size_t)json_integer_value(json_object_get(entry, "to"));
    return start < end && end <= from->len ? message_text(from->data + start, end - start) : json_string("");
}

static json_t *call_block(const json_t *calls, const json_t *entry)
{
    const json_t *call = json_array_get(calls, (size_t)json_integer_value(json_object_get(entry, "place")));
    json_t *input = json_object_get(call, "arguments");
    return json_pack("{s:s, s:O, s:O, s:o}", "type", "tool_use", "id", json_object_get(call, "id"), "name",
                     json_object_get(call, "name"), "input", input ? json_incref(input) : json_object());
}

static json_t *whole_block(const struct answer *answer, const json_t *calls, size_t i)
{
    const json_t *entry = json_array_get(answer->own, i);
    const char *type = api_text(entry, "type");
    if (strcmp(type, "tool_use") == 0)
        return call_block(calls, entry);
    if (strcmp(type, "text") == 0)
        return json_pack("{s:s, s:o}", "type", type, "text", slice(&answer->text, entry));
    if (strcmp(type, "thinking") == 0)
        return json_pack("{s:s, s:o, s:s}", "type", type, "thinking", slice(&answer->thinking, entry), "signature",
                         api_text(entry, "signature"));
    return json_pack("{s:s, s:s}", "type", type, "data", api_text(entry, "data"));
}

/* The last block of the list is through. */
static void end_block(struct answer *answer)
{
    json_t *last = json_array_get(answer->own, json_array_size(answer->own) - 1);
    const struct buf *text = strcmp(api_text(last, "type"), "text") == 0 ? &answer->text : &answer->thinking;
    if (last)
        json_object_set_new(last, "to", json_integer((json_int_t)text->len));
}

static void settle_echo(struct answer *answer)
{
    end_block(answer);
    auto_json json_t *message = answer_message(answer, "");
    bool has_thoughts = false;
    json_t *echo = json_array();
    for (size_t i = 0; i < json_array_size(answer->own); i++) {
        const char *type = api_text(json_array_get(answer->own, i), "type");
        json_t *block = whole_block(answer, json_object_get(message, "calls"), i);
        has_thoughts |= strcmp(type, "thinking") == 0 || strcmp(type, "redacted_thinking") == 0;
        if (strcmp(type, "text") != 0 || *api_text(block, "text"))
            json_array_append(echo, block);
        json_decref(block);
    }
    json_decref(answer->echo);
    answer->echo = has_thoughts ? json_incref(echo) : NULL;
    json_decref(echo);
}

static void set_stop(struct answer *answer, const char *word)
{
    int stop = STOP_END;
    for (size_t i = 0; i < COUNT(stops); i++)
        if (strcmp(word, stops[i].word) == 0)
            stop = stops[i].stop;
    answer_set_stop(answer, stop);
    settle_echo(answer);
}

static int list_block(struct answer *answer, int64_t index, const char *type, size_t from, const json_t *block,
                      rondo_error *err)
{
    json_t *entry = json_pack("{s:s, s:I, s:I}", "type", type, "index", (json_int_t)index, "from", (json_int_t)from);
    api_set_text(entry, "signature", api_text(block, "signature"));
    api_set_text(entry, "data", api_text(block, "data"));
    end_block(answer);
    if (!answer->own)
        answer->own = json_array();
    json_array_append_new(answer->own, entry);
    if (json_array_size(answer->own) > BLOCKS_MAX)
        return err_set(err, RONDO_ELIMIT, "the answer has more than %d blocks", BLOCKS_MAX);
    return answer_add_json(answer, entry, err);
}

static int begin_call(struct answer *answer, int64_t index, const json_t *block, rondo_error *err)
{
    struct answer_call *call = answer_call_new(answer, (uint32_t)index, err);
    const json_t *input = json_object_get(block, "input");
    if (!call || list_block(answer, index, "tool_use", 0, NULL, err) < 0)
        return err->code;
    json_t *entry = json_array_get(answer->own, json_array_size(answer->own) - 1);
    json_object_set_new(entry, "place", json_integer(answer->call_count - 1));
    answer_call_set(call, api_text(block, "id"), api_text(block, "name"));
    return json_object_size(input) ? answer_call_give(answer, call, input, err) : 0;
}

/* A block begins, or is there as a whole.  Types that are not known are left out. */
static int begin_block(struct answer *answer, int64_t index, const json_t *block, rondo_error *err)
{
    const char *type = api_text(block, "type");
    if (strcmp(type, "tool_use") == 0)
        return begin_call(answer, index, block, err);
    if (strcmp(type, "redacted_thinking") == 0)
        return list_block(answer, index, type, 0, block, err);
    if (strcmp(type, "text") == 0)
        return list_block(answer, index, type, answer->text.len, block, err) < 0
                   ? err->code : api_add_text(answer, json_object_get(block, "text"), err);
    if (strcmp(type, "thinking") == 0)
        return list_block(answer, index, type, answer->thinking.len, block, err) < 0
                   ? err->code : api_add_thinking(answer, json_object_get(block, "thinking"), err);
    return 0;
}

static int add_signature(struct answer *answer, const char *more, rondo_error *err)
{
    json_t *last = json_array_get(answer->own, json_array_size(answer->own) - 1);
    auto_buf struct buf both = { 0 };
    if (strcmp(api_text(last, "type"), "thinking") != 0)
        return 0;
    buf_printf(&both, "%s%s", api_text(last, "signature"), more);
    if (both.len > SIGNATURE_MAX)
        return err_set(err, RONDO_ELIMIT, "the signature of a thought has more than %d bytes", SIGNATURE_MAX);
    json_object_set_new(last, "signature", json_string(buf_text(&both)));
    return 0;
}

static int hear_delta(struct answer *answer, int64_t index, const json_t *delta, rondo_error *err)
{
    const char *type = api_text(delta, "type");
    struct answer_call *call = answer_call_find(answer, (uint32_t)index);
    if (strcmp(type, "text_delta") == 0)
        return api_add_text(answer, json_object_get(delta, "text"), err);
    if (strcmp(type, "thinking_delta") == 0)
        return api_add_thinking(answer, json_object_get(delta, "thinking"), err);
    if (strcmp(type, "signature_delta") == 0)
        return add_signature(answer, api_text(delta, "signature"), err);
    if (strcmp(type, "input_json_delta") == 0 && call)
        return answer_call_give(answer, call, json_object_get(delta, "partial_json"), err);
    return 0;
}

static int hear_start(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    const json_t *message = json_object_get(body, "message");
    answer_set_id(answer, api_text(message, "id"), api_text(message, "model"));
    read_usage(answer, json_object_get(message, "usage"));
    return 0;
}

static int hear_block(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    return begin_block(answer, api_count(body, "index"), json_object_get(body, "content_block"), err);
}

static int hear_piece(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    return hear_delta(answer, api_count(body, "index"), json_object_get(body, "delta"), err);
}

static int hear_end(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    const char *stop = api_text(json_object_get(body, "delta"), "stop_reason");
    read_usage(answer, json_object_get(body, "usage"));
    if (*stop)
        set_stop(answer, stop);
    return 0;
}

static int hear_stop(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    if (answer->stop == STOP_NONE)
        set_stop(answer, "end_turn");
    answer->is_done = true;
    return 0;
}

static int hear_error(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    refusal_read(refusal, 0, body);
    return refusal_fail(refusal, err);
}

static const struct {
    const char *type;
    int (*hear)(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err);
} events[] = {
    { "message_start", hear_start },       { "content_block_start", hear_block },
    { "content_block_delta", hear_piece }, { "message_delta", hear_end },
    { "message_stop", hear_stop },         { "error", hear_error },
};

static int hear(struct answer *answer, const char *event, const char *data, size_t len, struct refusal *refusal,
                rondo_error *err)
{
    auto_json json_t *body = api_parse(answer->secrets, data, len, err);
    const char *type = strcmp(event, "error") == 0 ? event : api_text(body, "type"); // llama.cpp's are not wrapped
    if (!body)
        return err->code;
    for (size_t i = 0; i < COUNT(events); i++)
        if (strcmp(type, events[i].type) == 0)
            return events[i].hear(answer, body, refusal, err);
    return 0;
}

static int read_whole(struct answer *answer, const json_t *body, struct refusal *refusal, rondo_error *err)
{
    const json_t *content = json_object_get(body, "content");
    const char *stop = api_text(body, "stop_reason");
    json_t *block;
    size_t i;
    if (strcmp(api_text(body, "type"), "error") == 0)
        return hear_error(answer, body, refusal, err);
    if (!json_is_array(content))
        return err_set(err, RONDO_EPARSE, "the server's answer has no content in it");
    json_array_foreach(content, i, block)
        if (begin_block(answer, (int64_t)i, block, err) < 0)
            return err->code;
    answer_set_id(answer, api_text(body, "id"), api_text(body, "model"));
    read_usage(answer, json_object_get(body, "usage"));
    set_stop(answer, stop);
    answer->is_done = true;
    return 0;
}

static void refuse(int status, const json_t *body, struct refusal *ret)
{
    refusal_read(ret, status, body);
}

const struct api api_anthropic = {
    .name = "anthropic",
    .accept = "text/event-stream",
    .put = put,
    .hear = hear,
    .read = read_whole,
    .refuse = refuse,
};
