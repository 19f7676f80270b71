/* where.c - see where.h. */
#include "cli/where.h"

#include "cli/show.h"
#include "data/value.h"

#include <string.h>

/* What people call an object. */
static const json_t *name_of(const json_t *value)
{
    static const char *const keys[] = { "id", "name", "title", "path", "file" };
    for (size_t i = 0; i < COUNT(keys); i++) {
        const json_t *name = json_object_get(value, keys[i]);
        if (json_is_string(name) || json_is_integer(name))
            return name;
    }
    return value;
}

void where_put_item(struct buf *out, int64_t number, const json_t *value)
{
    auto_buf struct buf text = { 0 }, clean = { 0 };
    buf_printf(out, "[%lld]", (long long)number + 1);
    if (!value)
        return;
    value_put_content(&text, name_of(value));
    show_line(&clean, buf_text(&text), MIN(text.len, WHERE_ITEM_WIDTH * 8));
    buf_puts(out, clean.len ? " " : "");
    show_cut(out, buf_text(&clean), clean.len, WHERE_ITEM_WIDTH, true);
}

static void put_name(struct buf *out, const struct row *row)
{
    bool is_call = row_is_call(row);
    if (row->is_item && !is_call)
        where_put_item(out, row->ordinal, row_item(row));
    else
        show_line(out, row->name, strlen(row->name));
    if (is_call)
        buf_printf(out, " call %u", row->ordinal + 1);
}

static void put_attempt(struct buf *out, const struct row *row)
{
    if (row->attempt)
        buf_printf(out, row_is_encore(row) ? ", resume %u" : ", try %u", row->attempt + !row_is_encore(row));
}

/* Passes belong to the loop, though the row that is about one is in it. */
void where_put(struct buf *out, const struct row *row)
{
    const struct row *up = row->up;
    if (!up)
        return;
    where_put(out, up);
    int64_t pass = row->of_pass >= 0 ? row->of_pass : up->pass;
    if (row_is_loop(up) && pass >= 0)
        buf_printf(out, "%spass %lld", out->len ? " " : "", (long long)pass + 1);
    if (!row_is_seen(row)) {
        put_attempt(out, row);
        return;
    }
    bool is_of_each = row->is_item && !row_is_call(row);
    buf_puts(out, !out->len ? "" : is_of_each ? " " : ", ");
    put_name(out, row);
    put_attempt(out, row);
}

void where_put_pass(struct buf *out, const char *loop, int64_t pass)
{
    buf_puts(out, loop);
    if (pass)
        buf_printf(out, ".%lld", (long long)pass - 1);
}
