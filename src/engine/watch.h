/* watch.h - comparing what was there before an agent's work with what is there after it, for loops with a watcher
   (run/seen.h). */
#ifndef RONDO_WATCH_H
#define RONDO_WATCH_H

#include "engine/shell.h"

/* An agent is about to be called.  True: not yet, there is a look first.  When the marks are in the journal the agent
   is invoked once more. */
bool watch_begin(rondo_run *run, struct act *act);

/* Does this event wait until the work of its agent has been compared?  Then it is taken. */
bool watch_keeps(rondo_run *run, const struct rondo_event *ev);

/* The same for the end of a cancelled agent. */
bool watch_delays(rondo_run *run, uint32_t slot, uint32_t gen);

/* Nothing of this run is compared any more. */
void watch_forget(rondo_run *run);

#endif
