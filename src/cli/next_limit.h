/* next_limit.h - larger limits for a run that its limits have ended, as options of `rondo resume`. */
#ifndef RONDO_NEXT_LIMIT_H
#define RONDO_NEXT_LIMIT_H

#include "base/buf.h"
#include "rondo.h"

struct rows;

/* Adds " --limit refine:maxIterations=20" for each limit that has ended the run, or made a loop of it fail: with
   them it goes on, and without them it would end in the same way.  Each is twice what was used. */
void next_limit_put(struct buf *out, rondo_run *run, const struct rows *rows);

#endif
