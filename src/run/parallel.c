/* parallel.c - children at the same time, with the same input; outputs in declaration order.

   With fail-fast the first failure closes the node, with first the first success does; `closed`
   then tells from the children's results which of the two it was. */
#include "run/kinds.h"

static const struct kid *find_status(const struct act *act, int status)
{
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (act->kids[i].res.status == status)
            return &act->kids[i];
    return NULL;
}

/* The one that decided is the first in time, not in declaration order. */
static const struct kid *find_first(const struct act *act, int status)
{
    uint32_t place = status == RONDO_STATUS_FAILED ? act->lost : act->won;
    const struct kid *first = place ? &act->kids[place - 1] : NULL;
    return first && first->res.status == status ? first : find_status(act, status);
}

static enum plan parallel_end(struct run *run, struct act *act, struct rondo_event *ev)
{
    const struct kid *failed = find_first(act, RONDO_STATUS_FAILED);
    bool good = find_status(act, RONDO_STATUS_COMPLETED) || !failed;
    if (act->node->mode == RONDO_FAIL_FAST ? !failed : good)
        return decide(act, RONDO_EV_STEP_END, ev);
    return decide_fail_with(run, act, &failed->res, ev);
}

/* A success may be the first one; a failure always matters. */
static bool is_telling(const struct act *act, const struct kid *kid)
{
    return kid->res.status == RONDO_STATUS_FAILED ||
           (act->node->mode == RONDO_FIRST && kid->res.status == RONDO_STATUS_COMPLETED);
}

/* Most ends are only counted.  A failure may be tried again, and a success may be the first. */
static void parallel_child_ended(struct run *run, struct act *act, struct kid *kid, uint32_t child,
                                 uint32_t ordinal)
{
    if (kid->res.status == RONDO_STATUS_COMPLETED && !act->won)
        act->won = child + 1;
    if (kid->res.status == RONDO_STATUS_FAILED && !act->lost)
        act->lost = child + 1;
    if (is_telling(act, kid))
        act->attention++;
    else
        act->settled++;
}

static void parallel_recount(struct act *act)
{
    act->settled = act->attention = act->lost = act->next = 0;
    for (uint32_t i = 0; i < act->kid_count; i++) {
        const struct kid *kid = &act->kids[i];
        bool tells = kid->state == KID_ENDED && is_telling(act, kid);
        bool is_seen = kid->asked & KID_SEEN;
        act->settled += kid->state == KID_ENDED && (!tells || is_seen);
        act->attention += (tells && !is_seen) || (kid->state == KID_NEW && kid->attempt > kid->base);
    }
    if (act->won && act->kids[act->won - 1].state == KID_NEW)
        act->won = 0;
}

/* PLAN_IDLE: go on looking at the other children. */
static enum plan look_at(struct run *run, struct act *act, uint32_t i, struct rondo_event *ev)
{
    struct kid *kid = &act->kids[i];
    int mode = act->node->mode;
    enum plan what;
    if (kid->state == KID_NEW && kid->attempt) // to be tried again
        return container_is_full(act) ? PLAN_IDLE : kid_start(run, act, i, 0, kid, NULL, ev);
    if (kid->state != KID_ENDED || kid->asked & KID_SEEN)
        return PLAN_IDLE;
    if (!kid_is_settled(run, act, i, 0, kid, ev, &what))
        return what;
    if ((mode == RONDO_FAIL_FAST && kid->res.status == RONDO_STATUS_FAILED) ||
        (mode == RONDO_FIRST && kid->res.status == RONDO_STATUS_COMPLETED))
        return decide_close(act, CLOSE_SIBLING, 0, ev);
    if (kid->res.status == RONDO_STATUS_FAILED) {
        kid->asked |= KID_SEEN;
        act->attention--;
        act->settled++;
    }
    return PLAN_IDLE;
}

static enum plan start_more(struct run *run, struct act *act, struct rondo_event *ev)
{
    for (; act->next < act->kid_count && !container_is_full(act); act->next++) {
        struct kid *kid = &act->kids[act->next];
        if (kid->state == KID_NEW)
            return kid_start(run, act, act->next, 0, kid, NULL, ev); // comes back here
    }
    return PLAN_IDLE;
}

static enum plan parallel_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what = PLAN_IDLE;
    for (uint32_t i = 0; act->attention && i < act->kid_count && what == PLAN_IDLE; i++)
        what = look_at(run, act, i, ev);
    if (what == PLAN_IDLE)
        what = start_more(run, act, ev);
    if (what != PLAN_IDLE || act->settled < act->kid_count)
        return what;
    return parallel_end(run, act, ev);
}

static enum plan parallel_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    return act->close == CLOSE_SIBLING && act->kids ? parallel_end(run, act, ev) : PLAN_IDLE;
}

static const struct result *parallel_failure(const struct act *act)
{
    bool is_enough = act->node->mode != RONDO_FAIL_FAST && find_status(act, RONDO_STATUS_COMPLETED);
    return is_enough ? NULL : container_failure(act);
}

static void parallel_project(struct run *run, struct act *act, struct result *ret)
{
    if (act->node->mode == RONDO_FIRST) {
        const struct kid *winner = find_first(act, RONDO_STATUS_COMPLETED);
        if (winner)
            project_kid(winner, ret);
        return;
    }
    bool is_mute = act->close;
    ret->value = json_array();
    for (uint32_t i = 0; i < act->kid_count; i++) {
        json_t *value = result_is_kept(&act->kids[i].res) ? act->kids[i].res.value : NULL;
        is_mute &= !result_gives(&act->kids[i].res);
        json_array_append_new(ret->value, value ? json_incref(value) : json_null());
    }
    ret->flags |= is_mute ? RES_MUTE : 0;
}

const struct kind parallel_kind = {
    .open = container_open, .plan = parallel_plan, .closed = parallel_closed, .failure = parallel_failure,
    .child_ended = parallel_child_ended, .project = parallel_project, .child_input = container_input,
    .recount = parallel_recount,
};
