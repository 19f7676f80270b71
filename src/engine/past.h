/* past.h - what has happened in a run, in the words of its definition: which steps have started, and where
   nothing will start any more.

   Paths here are those of definitions ("refine.draft": no passes, items or attempts), as drift.h has them:

       past_read(engine, node, journal, &past, &err);
       drift_allows(&drift, &(struct drift_past){ past_started, past_ended, past_mentioned, &past }); */
#ifndef RONDO_PAST_H
#define RONDO_PAST_H

#include "base/error.h"
#include "store/journal.h"

#include <jansson.h>

/* All zero is one in which nothing has happened; clear it. */
struct past {
    json_t *steps; // by path: how far it is
};

#define auto_past __attribute__((cleanup(past_clear)))

void past_clear(struct past *past);

/* node: the definition that the log belongs to. */
int past_read(rondo_engine *engine, rondo_node *node, struct journal *journal, struct past *ret,
              rondo_error *err);

/* Has it started in any pass, or was it skipped because its condition did not hold?  One that never began
   because another step failed is only mentioned.  past is a struct past. */
bool past_started(const char *path, void *past);
bool past_mentioned(const char *path, void *past);

/* Has it completed, and is there nothing around it that may start it once more? */
bool past_ended(const char *path, void *past);

#endif
