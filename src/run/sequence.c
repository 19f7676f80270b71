/* sequence.c - one child after the other, each with the output of the one before. */
#include "run/kinds.h"

/* The nearest completed child before `child`, or the nearest that says something; what only signalled or
   was skipped hands on what it got itself. */
static const struct kid *last_output(const struct act *act, uint32_t child, bool says)
{
    while (child-- > 0) {
        const struct kid *kid = &act->kids[child];
        if (result_has_output(&kid->res) && !(says && value_is_empty(kid->res.value)))
            return kid;
    }
    return NULL;
}

static json_t *sequence_input(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                              uint64_t *ret_seq)
{
    const struct kid *before = last_output(act, child, false);
    if (!before)
        return container_input(run, act, child, ordinal, ret_seq);
    *ret_seq = before->res.seq;
    return before->res.value;
}

static enum plan sequence_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what;
    for (; act->next < act->kid_count; act->next++) {
        struct kid *kid = &act->kids[act->next];
        if (kid->state == KID_NEW)
            return kid_start(run, act, act->next, 0, kid, NULL, ev);
        if (!kid_is_settled(run, act, act->next, 0, kid, ev, &what))
            return what;
        if (!result_went_well(&kid->res))
            return decide_fail_with(run, act, &kid->res, ev);
    }
    return decide(act, RONDO_EV_STEP_END, ev);
}

static void sequence_project(struct run *run, struct act *act, struct result *ret)
{
    bool is_cut = act->close == CLOSE_BUDGET; // then what there is counts, and nothing is not much
    const struct kid *last = last_output(act, act->kid_count, is_cut);
    if (last)
        project_kid(last, ret);
}

static void sequence_recount(struct act *act)
{
    act->next = 0; // those that are done are passed over
}

const struct kind sequence_kind = {
    .open = container_open, .plan = sequence_plan, .failure = container_failure, .project = sequence_project,
    .child_input = sequence_input, .recount = sequence_recount,
};
