/* reserve.h - calls that are paid for before they are made.

   An agent that is about to call a model says what the call may cost at most (reserve).  The planner *grants*
   it when every budget around the agent has room for it beside what was spent, is held and was lost; then it is
   held.  A call that does not fit waits as long as other calls are held under that budget, for they may turn
   out cheaper, and is *refused* when there is none: then the budget's owner ends with that reason.  The agent
   *settles* its call with what it really cost.

   Calls are looked at in the order in which they came.  One that waits for room in a budget keeps all that
   come after it from taking that room, however small they are; what has its room elsewhere goes on.

   What is held when a process dies, or when its step ends without having settled it, is lost. */
#ifndef RONDO_RESERVE_H
#define RONDO_RESERVE_H

#include "run/run.h"

/* One call; owned by the run.  The agent's number for it is unique in its activation. */
struct reserve {
    uint32_t act;
    int64_t number;
    rondo_usage most;
    bool held;
};

/* NULL: there is none. */
struct reserve *reserve_find(const struct run *run, uint32_t act, int64_t number);

bool reserve_is_held(const struct run *run, uint32_t act, int64_t number);

/* What the events do; those about a call that is not there do nothing. */
void reserve_ask(struct run *run, const struct act *act, int64_t number, const rondo_usage *most);
void reserve_grant(struct run *run, struct act *act, int64_t number);
void reserve_refuse(struct run *run, struct act *act, int64_t number, struct act *owner, int reason);
void reserve_settle(struct run *run, struct act *act, int64_t number, const rondo_usage *real);

void reserve_end(struct run *run, struct act *act); // its step ends
void reserve_lose(struct run *run);                 // the process died: all of them
void reserve_forget(struct run *run);               // they were another run's

/* The next grant or refusal. */
enum plan reserve_plan(struct run *run, struct rondo_event *ev);

#endif
