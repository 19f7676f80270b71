/* past.h - what has happened in a run, in the words of its definition: which steps have begun, which of them may begin
   once more, and where a fork would have to begin for the others.

   Paths here are those of definitions ("refine.draft": no passes, items or attempts), as drift.h has them:

       past_read(engine, node, journal, failed_items, &past, &err);
       drift_allows(&drift, &past_for_drift(&past)); */
#ifndef RONDO_PAST_H
#define RONDO_PAST_H

#include "base/error.h"
#include "flow/drift.h"
#include "store/journal.h"

#include <jansson.h>

/* All zero is one in which nothing has happened; clear it. */
struct past {
    json_t *steps; // by path: index in list
    struct past_step *list;
    uint32_t count, cap;
    json_t *changed; // by an earlier migration, after which nobody has taken the run up (migrate.h); NULL
};

#define auto_past __attribute__((cleanup(past_clear)))

void past_clear(struct past *past);

/* node: the definition that the log belongs to.  A run that has ended is looked at as if it were taken up again;
   failed_items: only its failed items are (mend.h). */
int past_read(rondo_engine *engine, rondo_node *node, struct journal *journal, bool failed_items, struct past *ret,
              rondo_error *err);

/* Has it started in any pass, or was it skipped because its condition did not hold?  One that never began
   because another step failed is only mentioned.  past is a struct past. */
bool past_started(const char *path, void *past);
bool past_mentioned(const char *path, void *past);

/* May it begin again, is it under way, or neither?  An enum drift_standing. */
int past_standing(const char *path, void *past);

/* Has it begun where it would begin next, so that what it waits for has been decided? */
bool past_is_placed(const char *path, void *past);

struct drift_past past_for_drift(struct past *past);

/* The place at which a fork begins before what stands in the way of this change, for --at, and the event there; false:
   there is none. */
bool past_put_fork(const struct past *past, const struct drift_change *change, struct buf *out, uint64_t *ret_seq);

#endif
