/* planner.h - a goal becomes a workflow: a model writes it, the loader checks it, and what is wrong with it goes back
   to the model, three times at most.

   Planning is a workflow, too: a loop of a model that drafts and a function that checks, in memory. */
#ifndef RONDO_PLANNER_H
#define RONDO_PLANNER_H

#include "cli/running.h"

struct planner {
    struct running *r;
    char *folder;      // of the plan
    struct flow *flow; // the plan, once there is one
    int tries;
    rondo_usage usage; // what planning has cost
    rondo_usage lost;  // and what of requests that were cut nobody knows
};

/* An enum exit_code; everything is said.  Clear it in any case. */
int planner_run(struct planner *planner, const char *goal, size_t len);
void planner_clear(struct planner *planner);

#endif
