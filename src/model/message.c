/* message.c - making, checking and measuring conversations. */
#include "model/message.h"

#include "data/utf8.h"
#include "data/value.h"

#include <string.h>

#define IMAGE_TOKENS  1600  // what the dearest of the servers count for one at most
#define PAGE_BYTES    20000 // of a document, roughly, with a picture of the page
#define PAGE_TOKENS   3000
#define AROUND_TOKENS 48    // what templates put around a conversation
#define TOOLS_TOKENS  400   // how tools are called is told to models at some length

json_t *message_text(const char *bytes, size_t len)
{
    auto_buf struct buf clean = { 0 };
    json_t *text = memchr(bytes, '\0', len) ? NULL : json_stringn(bytes, len);
    uint32_t code;
    if (text)
        return text;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = utf8_decode(bytes + i, len - i, &code);
        buf_put(&clean, n && code ? bytes + i : "\xef\xbf\xbd", n && code ? n : 3);
    }
    return json_stringn(buf_text(&clean), clean.len);
}

json_t *message_user(const char *text, size_t len)
{
    return json_pack("{s:s, s:o}", "role", "user", "content", message_text(text, len));
}

json_t *message_tool(const json_t *call, json_t *content, bool is_error)
{
    json_t *message = json_pack("{s:s, s:O, s:O, s:o}", "role", "tool", "call", json_object_get(call, "id"), "name",
                                json_object_get(call, "name"), "content", content);
    if (is_error)
        json_object_set_new(message, "error", json_true());
    return message;
}

void message_put_text(struct buf *out, const json_t *content)
{
    size_t i, before = out->len;
    json_t *part;
    if (json_is_string(content))
        buf_put(out, json_string_value(content), json_string_length(content));
    json_array_foreach(content, i, part) {
        const json_t *text = json_object_get(part, "text");
        if (!json_is_string(text))
            continue;
        if (out->len > before)
            buf_putc(out, '\n');
        buf_put(out, json_string_value(text), json_string_length(text));
    }
}

/* ---- checking --------------------------------------------------------------------------------------------- */

static bool has_text(const json_t *object, const char *key)
{
    return json_is_string(json_object_get(object, key));
}

static bool is_media(const json_t *media)
{
    return json_is_object(media) && has_text(media, "type") && has_text(media, "data");
}

static int check_content(const json_t *content, rondo_error *err)
{
    size_t i;
    json_t *part;
    if (!json_is_string(content) && !json_is_array(content))
        return err_set(err, RONDO_EINVAL, "its content is neither a text nor a list");
    json_array_foreach(content, i, part)
        if (!has_text(part, "text") && !is_media(json_object_get(part, "image")) &&
            !is_media(json_object_get(part, "file")))
            return err_set(err, RONDO_EINVAL, "part %zu is no text, image or file", i);
    return 0;
}

static int check_calls(const json_t *calls, rondo_error *err)
{
    size_t i;
    json_t *call;
    if (calls && !json_is_array(calls))
        return err_set(err, RONDO_EINVAL, "its calls are no list");
    json_array_foreach(calls, i, call)
        if (!has_text(call, "id") || !has_text(call, "name") ||
            (!json_is_object(json_object_get(call, "arguments")) && !has_text(call, "raw")))
            return err_set(err, RONDO_EINVAL, "call %zu has no id, name or arguments", i);
    return 0;
}

/* Calls that wait for their results: those of *calls from *next on. */
struct waiting {
    const json_t *calls;
    size_t next;
};

static int check_tool(const json_t *message, struct waiting *waiting, rondo_error *err)
{
    const json_t *call = json_array_get(waiting->calls, waiting->next++), *id = json_object_get(call, "id");
    if (!call || !has_text(message, "name") || !json_equal(id, json_object_get(message, "call")))
        return err_set(err, RONDO_EINVAL, "a result that belongs to no call, or is out of order");
    return check_content(json_object_get(message, "content"), err);
}

static int check_message(const json_t *message, struct waiting *waiting, rondo_error *err)
{
    const json_t *role = json_object_get(message, "role"), *content = json_object_get(message, "content");
    const char *word = json_is_string(role) ? json_string_value(role) : "";
    if (strcmp(word, "tool") == 0)
        return check_tool(message, waiting, err);
    if (waiting->next < json_array_size(waiting->calls))
        return err_set(err, RONDO_EINVAL, "the calls before it have no results");
    waiting->calls = NULL;
    waiting->next = 0;
    if (strcmp(word, "user") == 0)
        return check_content(content, err);
    if (strcmp(word, "assistant") != 0)
        return err_set(err, RONDO_EINVAL, "its role is '%.40s'", word);
    if (!json_is_string(content))
        return err_set(err, RONDO_EINVAL, "its content is no text");
    waiting->calls = json_object_get(message, "calls");
    return check_calls(waiting->calls, err);
}

int message_check_all(const json_t *messages, rondo_error *err)
{
    struct waiting waiting = { NULL, 0 };
    size_t i;
    json_t *message;
    if (!json_is_array(messages))
        return err_set(err, RONDO_EINVAL, "expected a list of messages");
    json_array_foreach(messages, i, message)
        if (check_message(message, &waiting, err) < 0)
            return err_in(err, "message %zu", i);
    return 0;
}

/* ---- measuring -------------------------------------------------------------------------------------------- */

/* In sixths of a token: a letter two, because words have four letters a token in English and fewer
   elsewhere; figures and signs five, because some cut them all apart; bytes of other scripts three. */
static int64_t weigh(const char *text, size_t len)
{
    int64_t sixths = 0;
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == ' ';
        sixths += is_letter ? 2 : c < 0x80 ? 5 : 3;
    }
    return sixths;
}

static int64_t weigh_json(const json_t *value)
{
    auto_buf struct buf text = { 0 };
    if (!value)
        return 0;
    value_put_json(&text, value);
    return weigh(text.data, text.len);
}

static int64_t weigh_part(const json_t *part)
{
    const json_t *file = json_object_get(part, "file"), *text = json_object_get(part, "text");
    if (json_object_get(part, "image"))
        return IMAGE_TOKENS * 6;
    if (file)
        return (1 + (int64_t)json_string_length(json_object_get(file, "data")) / PAGE_BYTES) * PAGE_TOKENS * 6;
    return weigh(json_is_string(text) ? json_string_value(text) : "", json_string_length(text));
}

static int64_t weigh_message(const json_t *message)
{
    static const char *const rest[] = { "thinking", "calls", "echo" };
    const json_t *content = json_object_get(message, "content");
    int64_t sixths = 8 * 6; // what stands around it
    size_t i;
    json_t *part;
    if (json_is_string(content))
        sixths += weigh(json_string_value(content), json_string_length(content));
    json_array_foreach(content, i, part)
        sixths += weigh_part(part);
    for (i = 0; i < COUNT(rest); i++)
        sixths += weigh_json(json_object_get(message, rest[i]));
    return sixths;
}

int64_t message_estimate(const json_t *messages, const char *system, const json_t *tools)
{
    int64_t sixths = AROUND_TOKENS * 6 + weigh(system, strlen(system)) + weigh_json(tools);
    if (json_array_size(tools))
        sixths += TOOLS_TOKENS * 6;
    size_t i;
    json_t *message;
    json_array_foreach(messages, i, message)
        sixths += weigh_message(message);
    return sixths / 6 + 1;
}
