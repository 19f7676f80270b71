/* limits.h - limits that were changed while the run goes on (`limits_changed`).

   A definition never changes.  A node whose limits were changed has a copy of itself here, with the new ones; whoever
   looks at a limit asks limits_of().  The value of the event:

       path      of the definition, as "refine" or "outer.inner"; "" for the whole run
       limits    { maxIterations, maxFailures, patience, stallRepeats, timeoutMs, budgetMs, budgetTokens, budgetNano,
                 budgetCalls }, those that change; of the run the last five
       over      those of them that no longer count, { NAME: SEQ }: after that event the run has moved to a definition
                 that says something else (engine/migrate.h); left out when there are none

   What a definition said before the run moved to the present one is for those who look back: `was` of workflow_start
   and of run_forked, [{ path, upto, limits }...], the oldest definition first.  upto is the last event that it was
   for. */
#ifndef RONDO_LIMITS_H
#define RONDO_LIMITS_H

#include "run/run.h"

struct limited {
    const rondo_node *node;
    rondo_node changed; // shares all that it points to
    uint64_t seq;       // of the event since which it counts; a later one for the same node takes its place
};

const rondo_node *limits_find_changed(const struct run *run, const rondo_node *node);

/* What a node had from one event to another. */
struct past_limit {
    const rondo_node *node;
    uint32_t row; // in limits.c
    uint64_t from, upto;
    int64_t value;
};

struct past_budget {
    uint64_t upto; // the last event that it was for
    rondo_budget budget;
};

/* The run's, when this event happened.  It has another one from now on. */
const rondo_budget *limits_budget_at(const struct run *run, uint64_t seq);
void limits_keep_budget(struct run *run, const rondo_budget *before);

/* The node as far as its limits are concerned. */
static inline const rondo_node *limits_of(const struct run *run, const rondo_node *node)
{
    return LIKELY(!run->limited_count) ? node : limits_find_changed(run, node);
}

/* As they were when this event happened: for those who look back.  room: for what is returned. */
const rondo_node *limits_at(const struct run *run, const rondo_node *node, uint64_t seq, rondo_node *room);

/* Rows of `was` for what `old` says otherwise than `now` (both are holders), are added to the list. */
void limits_add_was(json_t *list, const rondo_node *old, const rondo_node *now, uint64_t upto);

/* A run begins with these rows, or goes on as a fork, in which what its parent had later does not count. */
void limits_read_was(struct run *run, const json_t *list);
void limits_cut_was(struct run *run, uint64_t seq);

/* The node with this path in the definition of the run; NULL. */
const rondo_node *limits_node(const struct run *run, const char *path);
const rondo_node *limits_node_in(const rondo_node *holder, const char *path);

/* What a node says itself; 0: nothing. */
int64_t limits_value(const rondo_node *node, const char *key);

/* Can a node, or the run (NULL), have these limits?  RONDO_EINVAL says which it has not, or what is wrong with one. */
int limits_check(const struct run *run, const rondo_node *node, const json_t *limits, rondo_error *err);

/* Is one of them used up by an activation that is open?  RONDO_ESTATE says which. */
int limits_check_left(struct run *run, const rondo_node *node, const json_t *limits, rondo_error *err);

bool limits_admits(struct run *run, const struct rondo_event *ev);
void limits_apply(struct run *run, struct rondo_event *ev);

#endif
