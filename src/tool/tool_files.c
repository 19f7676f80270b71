/* tool_files.c - the tools read, write and edit: text files of the workspace.

   Models choose the paths, so everything goes through the workspace (io/workspace.h).  An answer says what
   the model needs for its next call: where to read on, which lines look like what it was looking for. */
#define _GNU_SOURCE // memmem
#include "cel/base64.h"
#include "data/media.h"
#include "data/secret.h"
#include "data/utf8.h"
#include "io/workspace.h"
#include "tool/builtins.h"

#include <string.h>

#define READ_MAX    (20 * 1024 * 1024)
#define EDIT_MAX    (10 * 1024 * 1024)
#define IMAGE_MAX   (5 * 1024 * 1024)
#define LINES_SHOWN 2000
#define LINE_SHOWN  2000 // bytes of one
#define NEAR_SHOWN  5
#define NEAR_BYTES  200

static bool has_files(struct tool_call *call)
{
    if (!call->place->workspace)
        tool_fail(call, "there is no folder to work in");
    return call->place->workspace != NULL;
}

/* ---- read -------------------------------------------------------------------------------------------- */

static void show_image(struct tool_call *call, const char *type, const struct buf *bytes)
{
    size_t len = base64_size(bytes->len);
    if (bytes->len > IMAGE_MAX) {
        tool_fail(call, "the image has %zu bytes, and at most %d can be shown", bytes->len, IMAGE_MAX);
        return;
    }
    auto_free char *text = mem_alloc(len + 1);
    base64_write(text, bytes->data, bytes->len);
    tool_finish_parts(call, json_pack("[{s{ss so}}]", "image", "type", type, "data", json_stringn_nocheck(text, len)));
}

static void put_line(struct buf *out, const struct tool_call *call, const char *line, size_t len, int64_t number)
{
    if (tool_flag(call, "numbers"))
        buf_printf(out, "%6lld\t", (long long)number);
    size_t shown = secrets_put_first(call->place->secrets, out, line, len, LINE_SHOWN);
    if (shown < len)
        buf_printf(out, "...[%zu bytes more in this line]", len - shown);
    buf_putc(out, '\n');
}

/* Lines from `first` on, as many as fit; which these were is said when they are not all. */
static void show_lines(struct tool_call *call, const struct buf *text, int64_t first, int64_t limit)
{
    auto_buf struct buf out = { 0 };
    const char *at = text->data, *end = text->data + text->len;
    int64_t number = 0, last = 0;
    for (const char *stop; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        if (++number < first || number >= first + limit || out.len > TOOL_OUTPUT_MAX - 4 * LINE_SHOWN)
            continue;
        put_line(&out, call, at, (size_t)(stop - at), number);
        last = number;
    }
    if (!last)
        tool_fail(call, "the file has only %lld lines", (long long)number);
    else if (first > 1 || last < number)
        buf_printf(&out, "[lines %lld to %lld of %lld%s]\n", (long long)first, (long long)last, (long long)number,
                   last < number ? "; read on with offset" : "");
    if (last)
        tool_finish(call, buf_text(&out), out.len);
}

void tool_read(struct tool_call *call)
{
    auto_buf struct buf text = { 0 };
    const char *path = tool_text(call, "path"), *type = media_type(path);
    rondo_error err;
    if (!has_files(call))
        return;
    if (workspace_read(call->place->workspace, path, READ_MAX, &text, &err) < 0)
        tool_fail(call, "%s", err.message);
    else if (type && media_is_image(type))
        show_image(call, type, &text);
    else if (!text.len)
        tool_finish(call, "[the file is empty]", strlen("[the file is empty]"));
    else if (memchr(text.data, '\0', text.len) || !utf8_is_valid(text.data, text.len))
        tool_fail(call, "%s is not a text in UTF-8 (%zu bytes)", path, text.len);
    else
        show_lines(call, &text, tool_number(call, "offset", 1), tool_number(call, "limit", LINES_SHOWN));
}

/* ---- write ------------------------------------------------------------------------------------------- */

static void say_done(struct tool_call *call, const char *what, size_t bytes)
{
    auto_buf struct buf out = { 0 };
    buf_printf(&out, "%s (%zu bytes)", what, bytes);
    tool_finish(call, buf_text(&out), out.len);
}

void tool_write(struct tool_call *call)
{
    const char *path = tool_text(call, "path"), *content = tool_text(call, "content");
    size_t len = json_string_length(json_object_get(call->arguments, "content"));
    bool is_new;
    rondo_error err;
    if (!has_files(call))
        return;
    if (workspace_write(call->place->workspace, path, content, len, &is_new, &err) < 0)
        tool_fail(call, "%s", err.message);
    else
        say_done(call, is_new ? "made" : "replaced", len);
}

/* ---- edit -------------------------------------------------------------------------------------------- */

struct change {
    struct buf old, new; // with the line ends of the file
    size_t count;        // where the old one was
};

static const char *find(const char *text, size_t len, const struct buf *what)
{
    return what->len <= len ? memmem(text, len, what->data, what->len) : NULL;
}

static size_t count_of(const struct buf *text, const struct buf *what)
{
    size_t count = 0;
    const char *at = text->data, *end = text->data + text->len;
    while ((at = find(at, (size_t)(end - at), what))) {
        at += what->len;
        count++;
    }
    return count;
}

static void put_crlf(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\n' && !(i && text[i - 1] == '\r'))
            buf_putc(out, '\r');
        buf_putc(out, text[i]);
    }
}

static void take_text(struct buf *out, const struct tool_call *call, const char *key, bool crlf)
{
    const json_t *value = json_object_get(call->arguments, key);
    buf_clear(out);
    if (crlf)
        put_crlf(out, json_string_value(value), json_string_length(value));
    else
        buf_put(out, json_string_value(value), json_string_length(value));
}

/* Models write line ends as \n, whatever the file has. */
static void find_change(struct change *change, const struct tool_call *call, const struct buf *text)
{
    take_text(&change->old, call, "old", false);
    take_text(&change->new, call, "new", false);
    change->count = count_of(text, &change->old);
    if (change->count || !memmem(text->data ? text->data : "", text->len, "\r\n", 2))
        return;
    take_text(&change->old, call, "old", true);
    take_text(&change->new, call, "new", true);
    change->count = count_of(text, &change->old);
}

static void put_changed(struct buf *out, const struct buf *text, const struct change *change)
{
    const char *at = text->data, *end = text->data + text->len, *found;
    while ((found = find(at, (size_t)(end - at), &change->old))) {
        buf_put(out, at, (size_t)(found - at));
        buf_put(out, change->new.data ? change->new.data : "", change->new.len);
        at = found + change->old.len;
    }
    buf_put(out, at, (size_t)(end - at));
}

/* The first line of what was looked for, without the blanks around it. */
static void first_line(const struct buf *old, const char **ret, size_t *ret_len)
{
    const char *at = old->data, *end = old->data + old->len;
    while (at < end && strchr(" \t\r\n", *at))
        at++;
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    stop = stop ? stop : end;
    while (stop > at && strchr(" \t\r", stop[-1]))
        stop--;
    *ret = at;
    *ret_len = (size_t)(stop - at);
}

static void say_missing(struct tool_call *call, const struct buf *text, const struct buf *old)
{
    auto_buf struct buf out = { 0 };
    const char *want, *at = text->data ? text->data : "", *end = at + text->len;
    size_t len, shown = 0, number = 0;
    first_line(old, &want, &len);
    for (const char *stop; len && at < end && shown < NEAR_SHOWN; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        number++;
        if (!memmem(at, (size_t)(stop - at), want, len))
            continue;
        shown++;
        buf_printf(&out, "\n%6zu\t", number);
        secrets_put_first(call->place->secrets, &out, at, (size_t)(stop - at), NEAR_BYTES);
    }
    tool_fail(call, "the old text is not in the file%s%s", shown ? "; lines that have the beginning of it:" : "",
              buf_text(&out));
}

static void apply(struct tool_call *call, const struct buf *text, const struct change *change)
{
    auto_buf struct buf out = { 0 };
    rondo_error err;
    put_changed(&out, text, change);
    const char *path = tool_text(call, "path"), *bytes = out.data ? out.data : "";
    if (workspace_write(call->place->workspace, path, bytes, out.len, NULL, &err) < 0)
        tool_fail(call, "%s", err.message);
    else
        say_done(call, change->count > 1 ? "replaced everywhere" : "replaced", out.len);
}

void tool_edit(struct tool_call *call)
{
    auto_buf struct buf text = { 0 };
    struct change change = { 0 };
    rondo_error err;
    if (!has_files(call))
        return;
    if (workspace_read(call->place->workspace, tool_text(call, "path"), EDIT_MAX, &text, &err) < 0) {
        tool_fail(call, "%s", err.message);
        return;
    }
    find_change(&change, call, &text);
    if (!change.count)
        say_missing(call, &text, &change.old);
    else if (change.count > 1 && !tool_flag(call, "replace_all"))
        tool_fail(call, "the old text is in the file %zu times: give more of what is around it, or set replace_all",
                  change.count);
    else
        apply(call, &text, &change);
    buf_free(&change.old);
    buf_free(&change.new);
}
