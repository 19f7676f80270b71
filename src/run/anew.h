/* anew.h - attempts that were cut off, of steps whose work was changed since then.

   A run that has moved to another definition (engine/migrate.h) has the paths of steps whose work is another now,
   in `changed` of workflow_start.  An attempt of such a step that was cut off, by a crash or a cancel, does not go on
   where it was: what it has noted belongs to other work.  When the run is next taken up it ends, and the next attempt
   begins without notes.  What it has cost stays.

   The events that take a run up say which: run_resumed has `anew`, rows of [slot, effects] of those that were under
   way, and rows of `kids` of run_reopened have the effects as a fifth.  Effects are texts, what earlier attempts did of
   class `once`.  When there are any, a person is asked before the step begins anew. */
#ifndef RONDO_ANEW_H
#define RONDO_ANEW_H

#include "run/run.h"

/* Is this the path of a step of the definition whose work is another now, and nobody has taken the run up since? */
bool anew_is(const struct run *run, const char *path);

/* The attempt of a row of run_resumed; NULL: there is none. */
struct act *anew_find(struct run *run, const json_t *row);

bool anew_admits(struct run *run, const struct rondo_event *ev);

/* The run has been taken up by this event. */
void anew_done(struct run *run, const struct rondo_event *ev);

#endif
