/* coordinator.h - the agent that is told what happens in a run, and may speak to its steps.

   It is an activation beside the root (child 1 of the holder) that rests whenever it has nothing to do: when its
   function returns, it is idle (agent_idle), and mail wakes it up (agent_wake), as soon as nothing else follows.  What
   happens is told it by messages that the planner decides (coordinator_inbox_message); its notes stay, so a model's
   conversation goes on.  The run ends when the root has ended and the coordinator has read all of it. */
#ifndef RONDO_COORDINATOR_H
#define RONDO_COORDINATOR_H

#include "run/run.h"

#define NOTICE_BYTES 2048 // of an output that it is told

/* The activation; NULL: there is none, or it has ended. */
static inline struct act *coordinator_of(struct run *run)
{
    return run->coordinator ? run->acts[run->coordinator] : NULL;
}

static inline bool coordinator_is(const struct run *run, const struct act *act)
{
    return act->slot && act->slot == run->coordinator;
}

/* The same, also of one that has ended. */
static inline bool coordinator_is_place(const struct act *act)
{
    return act->slot && !act->parent && act->child == 1;
}

/* Starts with the run; ends without work, or fails. */
void coordinator_begin(struct run *run, struct act *act);
void coordinator_end(struct run *run);
void coordinator_rest(struct run *run, struct act *act);

/* An event that it may be told of.  Ends are seen before they are applied, all others behind that. */
void coordinator_see(struct run *run, const struct rondo_event *ev);
void coordinator_notice(struct run *run, struct rondo_event *ev); // coordinator_inbox_message

enum plan coordinator_plan_notice(struct run *run, struct rondo_event *ev); // there is one
enum plan coordinator_plan_wake(struct run *run, struct rondo_event *ev);

/* The root has ended: true when the coordinator is through, else *ret says what follows. */
bool coordinator_is_through(struct run *run, struct rondo_event *ev, enum plan *ret);

#endif
