/* mcp_result.c - what a server's answer to a call is to a model.

   Texts, images and PDFs become parts of a message (model/message.h); of everything else the model is told
   that it is there.  Annotations say nothing that we would act on. */
#include "tool/mcp_tool.h"

#include "data/secret.h"
#include "data/value.h"

#include <stdio.h>
#include <string.h>

#define PARTS_MAX 1000 // of one result

static const char *text_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) ? json_string_value(value) : "";
}

static json_t *text_part(const char *text, size_t len)
{
    return json_pack("{s:o}", "text", json_stringn(text, len));
}

static bool is_base64(const json_t *data)
{
    size_t len = json_string_length(data);
    const char *text = len ? json_string_value(data) : "";
    size_t body = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/");
    return len && len % 4 == 0 && len - body <= 2 && strspn(text + body, "=") == len - body;
}

/* Bytes that a model may be able to look at; else a word about them. */
static json_t *media_part(const char *type, json_t *data, const char *name)
{
    const char *kind = strncmp(type, "image/", 6) == 0 ? "image" : strcmp(type, "application/pdf") == 0 ? "file" : NULL;
    if (!is_base64(data))
        return json_pack("{s:s}", "text", "[left out: bytes that are no base64]");
    if (!kind)
        return json_pack("{s:o}", "text", json_sprintf("[left out: %zu bytes of %s]",
                         json_string_length(data) / 4 * 3, *type ? type : "an unknown kind"));
    json_t *media = json_pack("{s:s, s:O}", "type", type, "data", data);
    if (*name)
        json_object_set_new(media, "name", json_string(name));
    return json_pack("{s:o}", kind, media);
}

/* ---- kinds of content ---------------------------------------------------------------------------------- */

static json_t *read_text(const json_t *item)
{
    const json_t *text = json_object_get(item, "text");
    return text_part(text_of(item, "text"), json_string_length(text));
}

static json_t *read_media(const json_t *item)
{
    return media_part(text_of(item, "mimeType"), json_object_get(item, "data"), "");
}

static json_t *read_resource(const json_t *item)
{
    auto_buf struct buf out = { 0 };
    const json_t *resource = json_object_get(item, "resource"), *text = json_object_get(resource, "text");
    const char *uri = text_of(resource, "uri");
    if (!json_is_string(text))
        return media_part(text_of(resource, "mimeType"), json_object_get(resource, "blob"), uri);
    if (*uri)
        buf_printf(&out, "[%s]\n", uri);
    buf_put(&out, json_string_value(text), json_string_length(text));
    return text_part(out.data ? out.data : "", out.len);
}

static json_t *read_link(const json_t *item)
{
    auto_buf struct buf out = { 0 };
    const char *name = text_of(item, "name"), *about = text_of(item, "description");
    buf_printf(&out, "[%s%s%s]", name, *name ? ": " : "", text_of(item, "uri"));
    if (*about)
        buf_printf(&out, " %s", about);
    return text_part(out.data, out.len);
}

static const struct {
    const char *type;
    json_t *(*read)(const json_t *item);
} kinds[] = {
    { "text", read_text },         { "image", read_media },        { "audio", read_media },
    { "resource", read_resource }, { "resource_link", read_link },
};

static json_t *part_of(const json_t *item)
{
    const char *type = text_of(item, "type");
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strcmp(type, kinds[i].type) == 0)
            return kinds[i].read(item);
    return json_pack("{s:o}", "text", json_sprintf("[left out: content of the unknown type '%s']", type));
}

/* ---- the whole ----------------------------------------------------------------------------------------- */

static json_t *parts_of(const json_t *result)
{
    size_t i;
    const json_t *structured = json_object_get(result, "structuredContent");
    const json_t *content = json_object_get(result, "content");
    size_t count = json_array_size(content);
    json_t *parts = json_array();
    for (i = 0; i < MIN(count, PARTS_MAX); i++)
        json_array_append_new(parts, part_of(json_array_get(content, i)));
    if (count > PARTS_MAX)
        json_array_append_new(parts, json_pack("{s:o}", "text", json_sprintf("[left out: %zu more parts]",
                              count - PARTS_MAX)));
    if (!json_array_size(parts) && structured) {
        auto_buf struct buf text = { 0 };
        value_put_json(&text, structured);
        json_array_append_new(parts, text_part(text.data, text.len));
    }
    return parts;
}

/* A single text is the content itself. */
static void finish(struct tool_call *call, json_t *parts, bool is_error)
{
    const json_t *text = json_object_get(json_array_get(parts, 0), "text");
    size_t count = json_array_size(parts);
    if (!is_error && (count == 0 || (count == 1 && text))) {
        tool_finish(call, count ? json_string_value(text) : "", json_string_length(text));
        json_decref(parts);
    } else if (is_error) {
        tool_fail_parts(call, parts);
    } else {
        tool_finish_parts(call, parts);
    }
}

void mcp_tool_finish(const struct mcp_tool *tool, struct tool_call *call, json_t *result)
{
    rondo_error err = { 0 };
    json_t *structured = json_object_get(result, "structuredContent");
    bool is_error = json_is_true(json_object_get(result, "isError"));
    if (!is_error && structured && tool->output && schema_check(tool->output, structured, &err) < 0) {
        auto_buf struct buf why = { 0 };
        secrets_put_about(call->place ? call->place->secrets : NULL, &why, err.message, structured);
        tool_fail(call, "what '%s' returned does not fit its outputSchema: %s", tool->name, buf_text(&why));
        return;
    }
    finish(call, parts_of(result), is_error);
}
