/* branch.c - the first case that holds.  The choice is an event, so it is made once. */
#include "run/kinds.h"

static enum plan choose(struct run *run, struct act *act, struct rondo_event *ev)
{
    for (; act->next < act->kid_count; act->next++) {
        const struct node_child *child = &act->node->children[act->next];
        if (child->when) {
            if (must_ask(run, act, ASK_CASE, act->next))
                return PLAN_ASK;
            if (run->question.yes < 0)
                return decide_fail(run, act, RONDO_EFAILED, ev, "case '%s': %s", child->name,
                                   run->question.error ? run->question.error : "failed");
            if (run->question.yes == 0)
                continue;
        }
        decide(act, RONDO_EV_CHOICE, ev);
        ev->child = act->next;
        return PLAN_DECIDE;
    }
    return decide_fail(run, act, RONDO_EINVAL, ev, "no case holds and there is no `%s`",
                       act->node->step ? "else" : "otherwise");
}

/* tries is 1 once the choice was made; next is then the chosen child. */
static enum plan branch_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what;
    if (!act->tries)
        return choose(run, act, ev);
    struct kid *kid = &act->kids[act->next];
    if (kid->state == KID_NEW)
        return kid_start(run, act, act->next, 0, kid, NULL, ev);
    if (!kid_is_settled(run, act, act->next, 0, kid, ev, &what))
        return what;
    if (!result_went_well(&kid->res))
        return decide_fail_with(run, act, &kid->res, ev);
    return decide(act, RONDO_EV_STEP_END, ev);
}

static void branch_project(struct run *run, struct act *act, struct result *ret)
{
    if (act->tries)
        project_kid(&act->kids[act->next], ret);
}

const struct kind branch_kind = {
    .open = container_open, .plan = branch_plan, .failure = container_failure, .project = branch_project,
    .child_input = container_input,
};
