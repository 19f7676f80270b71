/* picture_run.c - what happened in a run, on the picture of its plan.

   The rows of the run are walked, and beside them the picture: a row is the node with its name.  Rows
   that the picture does not draw (nameless containers, the body of a loop, items) stand for what is in
   them.  Where several rows are one node, the items of an each, the one that matters most is shown. */
#include "cli/picture.h"
#include "cli/view.h"

#include <string.h>

const char *picture_fill(int state)
{
    static const char *const fills[] = {
        [ROW_PENDING] = "#ffffff",  [ROW_RUNNING] = "#cfe8fc", [ROW_ASKING] = "#fff3bf",
        [ROW_RETRYING] = "#fff3bf", [ROW_DONE] = "#d3f2d9",    [ROW_FAILED] = "#f9d0d0",
        [ROW_SKIPPED] = "#eeeeee",  [ROW_CANCELLED] = "#ffe3c2",
    };
    return fills[state];
}

static int weight(int state)
{
    static const int weights[] = {
        [ROW_PENDING] = 0,  [ROW_SKIPPED] = 1, [ROW_DONE] = 2,   [ROW_CANCELLED] = 3,
        [ROW_RUNNING] = 4, [ROW_RETRYING] = 5, [ROW_FAILED] = 6, [ROW_ASKING] = 7,
    };
    return weights[state];
}

static void put_outcome(struct buf *out, const struct row *row)
{
    buf_puts(out, row_state_text(row->state));
    if (row->first_ns && row->end_ns) {
        buf_putc(out, ' ');
        view_put_time(out, row_elapsed_ns(row, row->end_ns));
    }
    if (row->attempt)
        buf_printf(out, row_is_encore(row) ? ", resume %u" : ", try %u", row->attempt + !row_is_encore(row));
    if (row_is_loop(row) && row->passes) {
        buf_puts(out, ", ");
        view_put_passes(out, row->passes, row->reason);
    }
    if (row->items)
        buf_printf(out, ", %llu of %llu items", (unsigned long long)row->done,
                   (unsigned long long)row->items);
}

static void add_row(struct arena *arena, struct pic_node *node, const struct row *row)
{
    auto_buf struct buf text = { 0 };
    if (weight(row->state) <= weight(node->state))
        return;
    put_outcome(&text, row);
    node->state = row->state;
    node->outcome = arena_dup(arena, text.data, text.len);
}

static struct pic_node *find_node(const struct picture *picture, const char *id)
{
    for (uint32_t i = 0; i < picture->count; i++)
        if (picture->nodes[i].id && strcmp(picture->nodes[i].id, id) == 0)
            return &picture->nodes[i];
    return NULL;
}

static bool is_body(const struct row *row)
{
    return row->up->node->kind == RONDO_KIND_LOOP && row->place == ROLE_BODY;
}

static void add_rows(struct arena *arena, struct picture *picture, const struct row *up)
{
    for (uint32_t i = 0; i < up->kid_count; i++) {
        const struct row *row = up->kids[i];
        if (row && (!row_is_seen(row) || row->is_item || is_body(row))) {
            add_rows(arena, picture, row);
            continue;
        }
        struct pic_node *node = row && up->node->kind != RONDO_KIND_LOOP ? find_node(picture, row->name) : NULL;
        if (!node)
            continue; // a rule of a loop
        add_row(arena, node, row);
        if (node->inside)
            add_rows(arena, node->inside, row);
    }
}

/* What has not been touched by the run: it may still be, unless what it is in has ended. */
static void add_untouched(struct picture *picture, bool has_ended)
{
    for (uint32_t i = 0; i < picture->count; i++) {
        struct pic_node *node = &picture->nodes[i];
        if (node->id && node->state == ROW_PENDING) {
            node->state = has_ended ? ROW_SKIPPED : ROW_PENDING;
            node->outcome = row_state_text(node->state);
        }
        if (node->inside)
            add_untouched(node->inside, node->id ? node->state >= ROW_DONE : has_ended);
    }
}

void picture_add_run(struct arena *arena, struct picture *picture, const struct rows *rows)
{
    add_rows(arena, picture, rows->root);
    add_untouched(picture, rows->end_ns);
}
