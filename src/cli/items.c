/* items.c - the items of a forEach, from the events of its run.

   An item has a path, "each[3]", and so has what is in it, "each[3].draft"; of several tries the last one counts. */
#include "cli/items.h"

#include "flow/node.h"
#include "run/act.h"
#include "run/event.h"
#include "run/usage.h"

#include <stdlib.h>
#include <string.h>

#define PENDING "pending"

static json_t *new_item(const struct items *items, size_t number, const char *status)
{
    return json_pack("{s:I, s:O*, s:s}", "item", (json_int_t)number, "value", json_array_get(items->values, number),
                     "status", status);
}

static void reach(struct items *items, size_t count)
{
    for (size_t i = json_array_size(items->list); i < count; i++)
        json_array_append_new(items->list, new_item(items, i, PENDING));
}

/* The number of the item that a path means, -1 when it means none.  A loop that is named without an attempt has the
   items of all of them. */
static int64_t number_of(const struct items *items, const char *event_path)
{
    auto_buf struct buf id = { 0 };
    path_put_id(&id, event_path);
    const char *path = strchr(items->loop, '~') ? event_path : buf_text(&id);
    size_t len = strlen(items->loop), name = items->step ? strlen(items->step) : 0;
    char *at;
    if (strncmp(path, items->loop, len) != 0 || path[len] != '[')
        return -1;
    int64_t number = strtoll(path + len + 1, &at, 10);
    at += *at == ']';
    at += *at == '~' ? 1 + strspn(at + 1, "0123456789") : 0;
    if (items->step && (*at != '.' || strncmp(at + 1, items->step, name) != 0))
        return -1;
    at += items->step ? 1 + name : 0;
    return !*at || *at == '~' ? number : -1;
}

/* Items that have not begun by the end of the loop never will. */
static void close_items(struct items *items)
{
    size_t i;
    json_t *item;
    json_array_foreach(items->list, i, item)
        if (strcmp(json_string_value(json_object_get(item, "status")), PENDING) == 0)
            json_object_set_new(item, "status", json_string(rondo_status_text(RONDO_STATUS_CANCELLED)));
}

static void on_loop(struct items *items, const rondo_event *ev, const struct row *row)
{
    const rondo_node *node = rondo_event_node(ev);
    if (!node || node->kind != RONDO_KIND_EACH || !path_is_of(rondo_event_path(ev), items->loop))
        return;
    bool goes_on = items->list && row && row->goes_on;
    if (rondo_event_type(ev) == RONDO_EV_STEP_START && !goes_on) { // once more: as if it had never begun
        items_clear(items);
        items->node = node;
        items->list = json_array();
    }
    if (rondo_event_type(ev) == RONDO_EV_ITEMS && items->list) {
        json_decref(items->values);
        items->values = json_incref(rondo_event_value(ev));
        reach(items, json_array_size(items->values));
    }
    if (rondo_event_type(ev) == RONDO_EV_LOOP_END)
        close_items(items);
}

static void note_row(json_t *item, const struct row *row)
{
    if (row->first_ns)
        json_object_set_new(item, "durationMs", json_integer(row_elapsed_ns(row, row->end_ns) / 1000000));
    json_object_set_new(item, "usage", usage_value(&row->usage));
}

static void on_end(json_t *item, const rondo_event *ev)
{
    int status = ev->flags & EF_KEPT ? RONDO_STATUS_COMPLETED : rondo_event_status(ev); // an action ended it
    json_object_set_new(item, "status", json_string(rondo_status_text(status)));
    if (status == RONDO_STATUS_COMPLETED) {
        json_object_set_new(item, "content", json_string(rondo_event_text(ev)));
        json_object_set(item, "output", rondo_event_value(ev) ? rondo_event_value(ev) : json_null());
    } else if (status == RONDO_STATUS_FAILED) {
        json_object_set_new(item, "error", json_string(rondo_event_text(ev)));
    }
}

void items_event(struct items *items, const rondo_event *ev, const struct row *row)
{
    int type = rondo_event_type(ev);
    bool begins = type == RONDO_EV_STEP_START;
    bool ends = type >= RONDO_EV_STEP_END && type <= RONDO_EV_STEP_CANCELLED;
    if (begins || type == RONDO_EV_ITEMS || type == RONDO_EV_LOOP_END)
        on_loop(items, ev, row);
    int64_t number = items->list && (begins || ends) ? number_of(items, rondo_event_path(ev)) : -1;
    if (number < 0)
        return;
    reach(items, (size_t)number + 1);
    json_t *item = new_item(items, (size_t)number, rondo_status_text(RONDO_STATUS_RUNNING));
    json_array_set_new(items->list, (size_t)number, item);
    if (ends)
        on_end(item, ev);
    if (ends && row)
        note_row(item, row);
}

void items_clear(struct items *items)
{
    json_decref(items->list);
    json_decref(items->values);
    items->list = items->values = NULL;
    items->node = NULL;
}
