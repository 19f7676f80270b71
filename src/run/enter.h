/* enter.h - going into what has ended, to see what its expressions saw last.

   When a container ends, its activation goes, and what was in it becomes part of its result.  Here that
   moves back into an activation, so that run/see.h finds it where it always does.  The results are
   emptied by this: it is for a run that is only looked at, and will not go on. */
#ifndef RONDO_ENTER_H
#define RONDO_ENTER_H

#include "run/run.h"

/* What the run is about: the outermost container.  NULL when it has not started, or never had anything in it. */
struct act *enter_root(struct run *run);

/* A container by the names of steps, as "refine" or "group.refine": in loops around it, the pass that counts.
   NULL when it has not started, is no container, or nothing of what was in it is left. */
struct act *enter_path(struct run *run, const char *path);

#endif
