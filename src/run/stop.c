/* stop.c - see stop.h. */
#include "run/stop.h"

#include "run/act.h"
#include "run/loop.h"

void stop_ask(struct run *run, struct rondo_event *ev)
{
    run->stops = true;
    for (uint32_t slot = 1; slot < run->act_count; slot++)
        if (run->acts[slot]->state != ACT_FREE && node_is_loop(run->acts[slot]->node))
            run_touch(run, run->acts[slot]); // it may wait for its next pass
    run_drop(run, ev->value);
}

void stop_over(struct run *run)
{
    for (uint32_t slot = 1; run->stops && slot < run->act_count; slot++)
        if (run->acts[slot]->state != ACT_FREE && node_is_loop(run->acts[slot]->node))
            run->acts[slot]->loop->paused = false;
    run->stops = false;
}

bool stop_holds(struct run *run, const struct act *act)
{
    if (!run->stops)
        return false;
    for (;; act = run_act(run, act->parent)) {
        if (act->close || node_is_loop(act->node) || node_is_leaf(act->node)) // what an agent has others do is its own
            return false;
        if (!act->slot)
            return true;
    }
}

static bool is_outermost(struct run *run, const struct act *act)
{
    for (uint32_t slot = act->parent; slot; slot = run_act(run, slot)->parent)
        if (node_is_loop(run_act(run, slot)->node))
            return false;
    return true;
}

bool stop_holds_loop(struct run *run, const struct act *act)
{
    bool is_between = act->loop->phase <= LOOP_DELAY;
    return is_between && !act->close && stop_holds(run, run_act(run, act->parent));
}

enum plan stop_plan_loop(const struct act *act, struct rondo_event *ev)
{
    if (act->loop->paused)
        return PLAN_IDLE;
    decide(act, RONDO_EV_LOOP_PAUSED, ev);
    ev->ordinal = act->loop->history.count;
    ev->child = loop_is_machine(act) ? act->loop->target : ROLE_BODY;
    return loop_with_given(act, ev);
}

/* An agent that waits for a person or for a quota can go on with that in another process. */
static bool is_at_work(struct run *run, const struct act *act)
{
    if (act->state == ACT_FREE)
        return false;
    if (node_is_loop(act->node) && is_outermost(run, act))
        return !act->loop->paused;
    return act->close || (act->asking && !act->rests);
}

bool run_has_stopped(struct run *run)
{
    if (LIKELY(!run->stops) || run->status || run->acts[0]->close)
        return false;
    if (run->dirty.count || run->command_count || run->busy)
        return false;
    for (uint32_t slot = 1; slot < run->act_count; slot++)
        if (is_at_work(run, run->acts[slot]))
            return false;
    return true;
}

struct act *stop_loop(struct run *run, uint32_t from)
{
    for (uint32_t slot = MAX(from, 1); slot < run->act_count; slot++) {
        struct act *act = run->acts[slot];
        if (act->state != ACT_FREE && node_is_loop(act->node) && !act->close && is_outermost(run, act))
            return act;
    }
    return NULL;
}
