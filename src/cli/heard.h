/* heard.h - messages to a loop, and what became of each: `rondo history` of one. */
#ifndef RONDO_HEARD_H
#define RONDO_HEARD_H

#include "rondo.h"

#include "base/buf.h"

#include <jansson.h>

/* All zero but for the first, which is borrowed. */
struct heard {
    const char *loop; // its path
    json_t *list;     // in the order in which they were sent: { seq, from, text } and, when it is known, { pass } or
                      // { why } of one that was not delivered
    json_t *open;     // those to this run that nothing has come of yet, { seq: { from, text, to } }
};

/* To be called with every event of the run, in order. */
void heard_event(struct heard *heard, const rondo_event *event);

/* What a pass has heard, a list of { from, text }; new. */
json_t *heard_in(const struct heard *heard, int64_t pass);

/* Appends to waits what was sent to the loop and is still in the run's inbox in the store (store_inbox()): the driver
   has not read it yet. */
void heard_add_kept(const struct heard *heard, const json_t *kept, json_t *waits);

/* Lines for people.  heard_put_pass(): what a pass has heard.  heard_put_rest(), when `count` passes have ended: what
   the pass at work has heard, what no pass has heard, and what waits.  `waits` are the messages for the next pass, as
   they were sent. */
void heard_put_pass(struct buf *out, const struct heard *heard, int64_t pass);
void heard_put_rest(struct buf *out, const struct heard *heard, int64_t count, const json_t *waits);
void heard_clear(struct heard *heard);

#endif
