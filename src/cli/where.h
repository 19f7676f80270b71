/* where.h - where something is in a run, in the words of people.

   Paths count from 0, as expressions do: "each[16].draft", "refine.1.draft~1".  They are for what is typed.
   People read "each [17] in/f7.txt, draft" and "refine pass 2, draft, try 2". */
#ifndef RONDO_WHERE_H
#define RONDO_WHERE_H

#include "cli/rows.h"

#define WHERE_ITEM_WIDTH 40 // columns of the value of an item

/* "[17] in/f7.txt"; of an object its id, name, title, path or file.  value: NULL when nobody knows it. */
void where_put_item(struct buf *out, int64_t number, const json_t *value);

/* The row and all that it is in. */
void where_put(struct buf *out, const struct row *row);

/* The path of a pass that somebody counts from 1; the loop's own where that is 0. */
void where_put_pass(struct buf *out, const char *loop, int64_t pass);

#endif
