/* must_hold.h - loops whose goal has to be reached (`mustHold`).

   Such a loop fails when it ends before its `until` holds.  The run remembers how each of them ended last, because a
   budget that is used up after all of them held takes nothing away. */
#ifndef RONDO_MUST_HOLD_H
#define RONDO_MUST_HOLD_H

#include "run/run.h"

/* Called when a loop has ended. */
void must_hold_end(struct run *run, const struct act *act, int reason);

/* Does this end fail the loop? */
bool must_hold_fails(const struct act *act, int reason);

/* Are there such loops in the definition, and did each of them hold when it last ended? */
bool must_hold_all(const struct run *run);

#endif
