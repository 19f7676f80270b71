/* drift_text.c - differences between two versions of a workflow, for people.

   Each change is a piece of a unified diff in which every key is a line or, when its value has several, a
   block:

       @@ refine.draft: changed @@
       -loop.maxIterations: 5
       +loop.maxIterations: 9
        agent.prompt: |
          You are a writer.
       -  Be short.
       +  Be brief.
       @@ polish: added @@
       +agent: writer */
#include "flow/drift.h"

#include "base/buf.h"
#include "data/lines.h"
#include "data/utf8.h"
#include "data/value.h"

#include <string.h>

#define CONTEXT   3
#define LINE_MAX  100 // longest JSON on one line

/* Where lines go; lines of a block are indented by two. */
struct page {
    struct buf *out;
    bool colour, is_block;
};

static const char *colour_of(const struct page *page, enum line_mark mark)
{
    if (!page->colour)
        return "";
    switch (mark) {
    case LINE_OLD: return "\33[31m";
    case LINE_NEW: return "\33[32m";
    case LINE_GAP: return "\33[36m";
    case LINE_SAME: break;
    }
    return "";
}

/* Text from outside does nothing to a terminal. */
static void put_safe(struct buf *out, const char *text, size_t len)
{
    uint32_t c;
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = utf8_decode(text + i, len - i, &c);
        bool is_bad = !n || (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
                      (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
        if (is_bad)
            buf_putc(out, '?');
        else
            buf_put(out, text + i, n);
    }
}

static void put_line(void *user, enum line_mark mark, const char *line, size_t len)
{
    const struct page *page = user;
    const char *colour = colour_of(page, mark);
    buf_puts(page->out, colour);
    if (mark == LINE_GAP) {
        buf_puts(page->out, "   ...");
    } else {
        buf_putc(page->out, (char)mark);
        buf_puts(page->out, page->is_block ? "  " : "");
        put_safe(page->out, line, len);
    }
    buf_puts(page->out, *colour ? "\33[0m\n" : "\n");
}

/* ---- values -------------------------------------------------------------------------------------------- */

static int put_chunk(const char *bytes, size_t len, void *out)
{
    buf_put(out, bytes, len);
    return 0;
}

/* A text as it is; anything else as JSON, on several lines when it is long. */
static void put_value(struct buf *out, const json_t *value)
{
    size_t start = out->len;
    if (json_is_string(value)) {
        buf_put(out, json_string_value(value), json_string_length(value));
        return;
    }
    value_put_json(out, value);
    if (out->len - start <= LINE_MAX)
        return;
    out->len = start;
    json_dump_callback(value, put_chunk, out, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_ENCODE_ANY);
}

static bool has_lines(const struct buf *text)
{
    return text->len && memchr(text->data, '\n', text->len);
}

/* "key: value", or "key: |" with the lines below. */
static void put_whole(struct page *page, enum line_mark mark, const char *key, struct buf *value)
{
    auto_buf struct buf line = { 0 };
    buf_printf(&line, "%s: ", key);
    if (!has_lines(value)) {
        buf_put(&line, buf_text(value), value->len);
        put_line(page, mark, line.data, line.len);
        return;
    }
    buf_putc(&line, '|');
    put_line(page, mark, line.data, line.len);
    page->is_block = true;
    for (const char *at = buf_text(value), *end = at + value->len; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((stop ? stop : end) - at);
        put_line(page, mark, at, len);
        at += len + 1;
    }
    page->is_block = false;
}

static void put_both(struct page *page, const char *key, struct buf *old, struct buf *value)
{
    auto_buf struct buf line = { 0 };
    size_t before = page->out->len;
    buf_printf(&line, "%s: |", key);
    put_line(page, LINE_SAME, line.data, line.len);
    page->is_block = true;
    size_t start = page->out->len;
    lines_diff(buf_text(old), old->len, buf_text(value), value->len, CONTEXT, put_line, page);
    page->is_block = false;
    if (page->out->len != start)
        return;
    page->out->len = before; // they differ only in how they end
    put_whole(page, LINE_OLD, key, old);
    put_whole(page, LINE_NEW, key, value);
}

static void put_key(struct page *page, const json_t *entry)
{
    const char *key = json_string_value(json_object_get(entry, "key"));
    const json_t *old = json_object_get(entry, "old"), *value = json_object_get(entry, "new");
    auto_buf struct buf before = { 0 }, after = { 0 }, line = { 0 };
    if (old)
        put_value(&before, old);
    if (value)
        put_value(&after, value);
    if (old && value && (has_lines(&before) && has_lines(&after))) {
        put_both(page, key, &before, &after);
        return;
    }
    if (old)
        put_whole(page, LINE_OLD, key, &before);
    if (value)
        put_whole(page, LINE_NEW, key, &after);
    if (!old && !value) { // there was no room for it
        buf_printf(&line, "%s: ...", key);
        put_line(page, LINE_SAME, line.data, line.len);
    }
}

/* ---- changes ------------------------------------------------------------------------------------------- */

static void put_change(struct page *page, const struct drift_change *change)
{
    const char *colour = colour_of(page, LINE_GAP);
    buf_printf(page->out, "%s@@ %s: %s%s%s @@%s\n", colour, *change->path ? change->path : "(the file)",
               drift_kind_text(change->kind), change->why ? ", but " : "", change->why ? change->why : "",
               *colour ? "\33[0m" : "");
    for (size_t i = 0; i < json_array_size(change->keys); i++)
        put_key(page, json_array_get(change->keys, i));
}

void drift_put(struct buf *out, const struct drift *drift, bool only_refused, bool colour)
{
    struct page page = { .out = out, .colour = colour };
    for (uint32_t i = 0; i < drift->count; i++)
        if (!only_refused || drift->list[i].why)
            put_change(&page, &drift->list[i]);
}
