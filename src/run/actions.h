/* actions.h - what agents do to the loops around them: break, continue, escalate. */
#ifndef RONDO_ACTIONS_H
#define RONDO_ACTIONS_H

#include "run/run.h"

struct act;

/* The actions that came with the result of act, which is still linked. */
void actions_apply(struct run *run, struct act *act, struct rondo_event *ev);

#endif
