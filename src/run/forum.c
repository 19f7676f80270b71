/* forum.c - members speak in rounds, then the captain decides.

   A member may also end it before that, where the definition lets it: what it said is what comes out.

   Kids 0 .. members-1 are the members of the present round; what was said in earlier rounds is in
   the transcript (notes), which grows by one round when the next one begins. */
#include "run/kinds.h"

/* { name, round, output } for every member that answered, in declaration order, with the content where
   that is not the output. */
static void add_round(json_t *contributions, const struct act *act, uint32_t round)
{
    for (uint32_t i = 0; i < act->node->forum.members; i++) {
        const struct kid *kid = &act->kids[i];
        if (kid->res.status != RONDO_STATUS_COMPLETED)
            continue;
        json_t *said = json_object();
        json_object_set_new(said, "name", json_string(act->node->children[i].name));
        json_object_set_new(said, "round", json_integer(round + 1));
        json_object_set(said, "output", kid->res.value);
        if (kid->res.more && kid->res.more->content)
            json_object_set_new(said, "content", json_string(kid->res.more->content));
        json_array_append_new(contributions, said);
    }
}

static json_t *all_said(const struct act *act, bool with_this_round)
{
    json_t *all = act->notes ? json_copy(act->notes) : json_array();
    if (with_this_round)
        add_round(all, act, act->tries);
    return all;
}

static bool is_told(const struct act *act, uint32_t child, uint32_t round)
{
    if (child == act->node->forum.members)
        return act->node->mode != RONDO_SHOW_NOBODY;
    return act->node->mode == RONDO_SHOW_ALL && round > 0;
}

json_t *forum_told(const struct act *act, uint32_t child, uint32_t round)
{
    return is_told(act, child, round) ? all_said(act, child == act->node->forum.members) : json_array();
}

/* What was said goes with the input.  Not in files: there the input is the forum's throughout, and prompts and
   expressions ask for the rest by forum_told(). */
static json_t *told_input(const struct act *act, uint32_t child)
{
    if (act->node->flow || !is_told(act, child, act->tries))
        return NULL;
    json_t *ret = json_object();
    json_object_set(ret, "input", act->input);
    json_object_set_new(ret, "contributions", forum_told(act, child, act->tries));
    return ret;
}

static enum plan start_members(struct run *run, struct act *act, struct rondo_event *ev)
{
    for (; act->next < act->node->forum.members; act->next++) {
        struct kid *kid = &act->kids[act->next];
        if (kid->state != KID_NEW)
            continue;
        return kid_start(run, act, act->next, act->tries, kid, told_input(act, act->next), ev);
    }
    return PLAN_IDLE;
}

/* PLAN_IDLE and *ret_left == 0: all have answered or failed for good. */
static enum plan watch_members(struct run *run, struct act *act, struct rondo_event *ev,
                               uint32_t *ret_left, const struct kid **ret_failed)
{
    enum plan what;
    *ret_left = 0;
    *ret_failed = NULL;
    for (uint32_t i = 0; i < act->node->forum.members; i++) {
        struct kid *kid = &act->kids[i];
        if (kid->state == KID_NEW) // to be tried again
            act->next = MIN(act->next, i);
        bool settled = kid_is_settled(run, act, i, act->tries, kid, ev, &what);
        if (!settled && what != PLAN_IDLE)
            return what;
        *ret_left += !settled;
        if (settled && !result_went_well(&kid->res) && !*ret_failed)
            *ret_failed = kid; // or it was cut by the coordinator
    }
    return PLAN_IDLE;
}

static uint32_t count_answers(const struct act *act)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < act->node->forum.members; i++)
        n += act->kids[i].res.status == RONDO_STATUS_COMPLETED;
    return n;
}

static enum plan captain_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    uint32_t captain = act->node->forum.members;
    struct kid *kid = &act->kids[captain];
    enum plan what;
    if (kid->state == KID_NEW)
        return kid_start(run, act, captain, 0, kid, told_input(act, captain), ev);
    if (!kid_is_settled(run, act, captain, 0, kid, ev, &what))
        return what;
    if (!result_went_well(&kid->res))
        return decide_fail_with(run, act, &kid->res, ev);
    return decide(act, RONDO_EV_STEP_END, ev);
}

/* A member has ended it (won): the others are not wanted any more. */
static enum plan return_early(struct act *act, struct rondo_event *ev)
{
    return act->open ? decide_close(act, CLOSE_SIBLING, 0, ev) : decide(act, RONDO_EV_STEP_END, ev);
}

static enum plan forum_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    return act->close == CLOSE_SIBLING && act->won ? decide(act, RONDO_EV_STEP_END, ev) : PLAN_IDLE;
}

static enum plan forum_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    uint32_t left;
    const struct kid *failed;
    if (UNLIKELY(act->won))
        return return_early(act, ev);
    enum plan what = watch_members(run, act, ev, &left, &failed);
    if (what != PLAN_IDLE)
        return what;
    if (left)
        return start_members(run, act, ev);
    if (count_answers(act) < act->node->forum.quorum && failed)
        return decide_fail_with(run, act, &failed->res, ev);
    if (act->tries + 1u < act->node->forum.rounds) { // the next round
        decide(act, RONDO_EV_CHOICE, ev);
        ev->child = act->tries + 1u;
        return PLAN_DECIDE;
    }
    return captain_plan(run, act, ev);
}

/* Members that failed are no harm as long as enough others could have answered. */
static const struct result *forum_failure(const struct act *act)
{
    const struct kid *captain = &act->kids[act->node->forum.members];
    uint32_t failed = 0;
    if (result_has_failed(&captain->res))
        return &captain->res;
    for (uint32_t i = 0; i < act->node->forum.members; i++)
        failed += result_has_failed(&act->kids[i].res);
    return act->node->forum.members - failed < act->node->forum.quorum ? container_failure(act) : NULL;
}

static void forum_project(struct run *run, struct act *act, struct result *ret)
{
    if (act->kids)
        project_kid(&act->kids[act->won ? act->won - 1 : act->node->forum.members], ret);
}

const struct kind forum_kind = {
    .open = container_open, .plan = forum_plan, .closed = forum_closed, .failure = forum_failure,
    .project = forum_project, .child_input = container_input,
};

void forum_next_round(struct run *run, struct act *act, uint32_t round)
{
    if (!act->notes)
        act->notes = json_array();
    add_round(act->notes, act, round - 1);
    act_release(run, act);
    for (uint32_t i = 0; i < act->node->forum.members; i++)
        kid_reset(run, &act->kids[i]);
    act->tries = (uint8_t)round;
    act->next = 0;
}
