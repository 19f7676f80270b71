/* inherit.h - the event with which a fork begins to be a run of its own.

   A fork has the events of its parent up to some point, and then run_forked.  From there on it may have
   other inputs and another state.  What its parent has spent is shown apart, and everything that is open
   has its whole budget and time again. */
#ifndef RONDO_INHERIT_H
#define RONDO_INHERIT_H

#include "run/run.h"

/* value: { from: the parent's id, seq: its last event that both have, input: the run's, whole (absent: as
   it was), state: final values, null removes, migrated: see migrate.h }; num: how long nobody drove it. */
void inherit_apply(struct run *run, struct rondo_event *ev);

/* How long something took in this run: what was open when it was forked goes on since then. */
int64_t inherit_length_ns(const struct run *run, int64_t start_ns, int64_t end_ns);

#endif
