/* each.h - the state of an each: which items are open, and what the others came to. */
#ifndef RONDO_EACH_H
#define RONDO_EACH_H

#include "run/run.h"

struct open_item {
    uint32_t ordinal;
    struct kid kid;
};

/* An item that has not begun is only a number, one that is done is one result. */
struct each_act {
    json_t *items; // owned, an array; NULL until known
    uint64_t items_seq;
    uint32_t count, next, failed, completed;
    struct result *results; // of all items
    struct open_item *open;
    uint32_t open_count, open_cap;
    struct kid fresh; // the next item, while questions about its start are asked
    uint32_t again; // open items that were put back and have not started; counted down late
    bool broke, escalated;
    bool from_end; // of those the last in the list start first, so that items at work stay together behind them
    bool ended; // loop_end was told
    bool untold; // it has the items of an earlier attempt, and they are still to be told
    int code;   // why there are no items
    char *error;
};

/* The record of an open item; it is made when the item begins. */
struct kid *each_kid(struct act *act, uint32_t ordinal);
struct kid *each_begin(struct act *act, uint32_t ordinal);

/* An item that has ended is put back to where it had not started, as another attempt.  The record of that is good until
   the next item is put back or begins. */
struct kid *each_put_back(struct act *act, uint32_t ordinal, uint16_t attempt);

void each_set_items(struct run *run, struct act *act, json_t *items, uint64_t seq); // takes items

/* What an item came to is what the step did that `output` names; without an output of its own, nothing. */
void each_choose(struct run *run, const struct act *each, const struct act *item, struct result *res);

/* loop_end: called by run_apply(). */
void each_apply_end(struct run *run, struct act *act, struct rondo_event *ev);

#endif
