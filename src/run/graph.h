/* graph.h - the state of a graph between its steps. */
#ifndef RONDO_GRAPH_CORE_H
#define RONDO_GRAPH_CORE_H

#include "run/act.h"

/* How often the step that a reviewer looks at was sent back, and what it depends on. */
struct review_count {
    uint16_t retries;
    uint16_t *predecessor_retries; // of each dependency of that step; NULL: none yet, owned
    bool was_unclear; // the reviewer was asked again about what it looks at
};

struct graph_act {
    uint32_t *waiting; // dependencies of each step that have not ended
    struct slot_list ready; // children, in the order in which they became ready
    uint32_t last; // child that was started last, from 1; 0: none
    uint32_t ordinary_left; // ordinary steps that have not ended
    struct review_count *reviews; // by child; NULL when nothing is reviewed
    bool no_output; // what a file says it returns cannot be said, and that was told
};

/* Does a step that waits for all ordinary steps wait for this one? */
bool graph_is_ordinary(const struct act *act, uint32_t i);

/* A step has ended for good: frees what waits for it. */
void graph_settle(struct act *act, uint32_t i);

/* How many of those that a step depends on have not. */
uint32_t graph_unsettled(const struct act *act, uint32_t i);

/* Did a step fail, and another one that runs on failure see to it? */
bool graph_is_handled(const struct act *act, uint32_t i);

/* A file that is an agent, and is about to complete (ev): a text that is too long is cut, and what it came to goes into
   memory and into the state around it first, each by an event of its own, which takes the place of *ev. */
enum plan graph_leave_behind(struct run *run, struct act *act, struct rondo_event *ev);

#endif
