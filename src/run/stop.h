/* stop.h - stopping a run between passes, so that it can be resumed as if nothing had happened.

   Somebody asks (stop_asked).  From then on nothing begins outside of passes: no step, and no pass of a loop that is in
   no other loop.  Passes at work go on to their end, with all that is in them; so does an agent outside of loops.  A
   loop that would begin its next pass says instead that it does not (loop_paused).  When nothing is at work any more,
   the run has stopped: it has not ended, and run_resumed is all it takes to go on.

   A container that is closing is not held: its steps that clean up run.  A cancel or a limit ends the run as ever. */
#ifndef RONDO_STOP_H
#define RONDO_STOP_H

#include "run/run.h"

/* run_apply() calls stop_ask() for stop_asked, and stop_over() for run_resumed and run_reopened. */
void stop_ask(struct run *run, struct rondo_event *ev);
void stop_over(struct run *run);

/* Is a run that was asked to stop to begin nothing in this container? */
bool stop_holds(struct run *run, const struct act *act);

/* Is this loop between two passes, and to stay there? */
bool stop_holds_loop(struct run *run, const struct act *act);
enum plan stop_plan_loop(const struct act *act, struct rondo_event *ev);

/* Is nothing at work any more? */
bool run_has_stopped(struct run *run);

/* The first loop in no other one that is at work, from this slot on; NULL: there is none. */
struct act *stop_loop(struct run *run, uint32_t from);

#endif
