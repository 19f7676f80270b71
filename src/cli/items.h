/* items.h - the items of a forEach, and what came of each: `rondo history` of one. */
#ifndef RONDO_ITEMS_H
#define RONDO_ITEMS_H

#include "cli/rows.h"

#include <jansson.h>

/* All zero but for the first two, which are borrowed. */
struct items {
    const char *loop; // its path
    const char *step; // of each item; NULL: the item as a whole
    const rondo_node *node; // the loop's, once it has begun; NULL
    json_t *list; // by number: { item, value, status, output, content, error, durationMs, usage }
    json_t *values; // of the items, by number; owned, NULL
};

/* To be called with every event of the run, in order.  row: what the rows, which have seen the event, have of it;
   NULL. */
void items_event(struct items *items, const rondo_event *event, const struct row *row);
void items_clear(struct items *items);

#endif
