/* difference.c - see difference.h. */
#include "agent/difference.h"

#include "data/utf8.h"
#include "data/value.h"

#include <string.h>

#define LINE_SHOWN 160 // bytes of a line
#define LINE_LEAD  60  // of those before the first difference

/* ---- lines ------------------------------------------------------------------------------------------ */

/* As much of a line as shows where it differs. */
static void put_line(struct buf *out, char sign, const char *line, size_t len, size_t column)
{
    size_t from = column > LINE_LEAD && len > LINE_SHOWN ? utf8_fit(line, len, column - LINE_LEAD) : 0;
    size_t shown = utf8_fit(line + from, len - from, LINE_SHOWN);
    buf_printf(out, "\n  %c %s", sign, from ? "..." : "");
    buf_put(out, line + from, shown);
    if (from + shown < len)
        buf_puts(out, "...");
}

static size_t line_len(const char *at, const char *end)
{
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    return (size_t)((stop ? stop : end) - at);
}

/* A text that is over, where the other has another line, is NULL. */
static void put_lines(struct buf *out, const char *was, size_t was_len, const char *is, size_t is_len)
{
    size_t column = 0;
    while (was && is && column < was_len && column < is_len && was[column] == is[column])
        column++;
    put_line(out, '-', was ? was : "(the end)", was ? was_len : 9, column);
    put_line(out, '+', is ? is : "(the end)", is ? is_len : 9, column);
}

/* The next line; NULL behind the last. */
static const char *next_line(const char *at, size_t len, const char *end)
{
    return at + len < end ? at + len + 1 : NULL;
}

static void put_texts(struct buf *out, const char *what, const json_t *was, const json_t *is)
{
    const char *a = json_string_value(was), *a_end = a + json_string_length(was);
    const char *b = json_string_value(is), *b_end = b + json_string_length(is);
    for (long line = 1;; line++) {
        size_t n = a ? line_len(a, a_end) : 0, m = b ? line_len(b, b_end) : 0;
        if (!a || !b || n != m || memcmp(a, b, n) != 0) {
            buf_printf(out, "%s, line %ld", what, line);
            put_lines(out, a, n, b, m);
            return;
        }
        a = next_line(a, n, a_end);
        b = next_line(b, m, b_end);
    }
}

/* ---- values ----------------------------------------------------------------------------------------- */

static void put_values(struct buf *out, const char *what, const json_t *was, const json_t *is)
{
    auto_buf struct buf a = { 0 }, b = { 0 };
    if (was)
        value_put_json(&a, was);
    if (is)
        value_put_json(&b, is);
    const char *x = was ? buf_text(&a) : "(nothing)", *y = is ? buf_text(&b) : "(nothing)";
    buf_puts(out, what);
    put_lines(out, x, strlen(x), y, strlen(y));
}

static bool put_member(struct buf *out, const char *what, const char *key, const json_t *was, const json_t *is)
{
    auto_buf struct buf name = { 0 };
    buf_printf(&name, "%s.%s", what, key);
    return difference_put(out, buf_text(&name), was, is);
}

/* First what was there, then what is new. */
static bool put_objects(struct buf *out, const char *what, json_t *was, json_t *is)
{
    const char *key;
    json_t *value;
    json_object_foreach(was, key, value)
        if (put_member(out, what, key, value, json_object_get(is, key)))
            return true;
    json_object_foreach(is, key, value)
        if (!json_object_get(was, key))
            return put_member(out, what, key, NULL, value);
    return false;
}

static bool put_lists(struct buf *out, const char *what, const json_t *was, const json_t *is)
{
    size_t n = MAX(json_array_size(was), json_array_size(is));
    for (size_t i = 0; i < n; i++) {
        auto_buf struct buf name = { 0 };
        buf_printf(&name, "%s[%zu]", what, i);
        if (difference_put(out, buf_text(&name), json_array_get(was, i), json_array_get(is, i)))
            return true;
    }
    return false;
}

bool difference_put(struct buf *out, const char *what, const json_t *was, const json_t *is)
{
    if (json_equal(was, is) || (!was && !is))
        return false;
    if (json_is_object(was) && json_is_object(is))
        return put_objects(out, what, (json_t *)was, (json_t *)is);
    if (json_is_array(was) && json_is_array(is))
        return put_lists(out, what, was, is);
    if (json_is_string(was) && json_is_string(is))
        put_texts(out, what, was, is);
    else
        put_values(out, what, was, is);
    return true;
}
