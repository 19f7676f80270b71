/* kinds.c - the table of node kinds, and the kind that nobody sees.

   The holder is the invisible container of a run's root, so that retries, timeouts and failures of
   the root work as everywhere else.  Its end is the end of the run. */
#include "run/kinds.h"

#include "run/coordinator.h"
#include "run/encore.h"

#include <assert.h>

void container_open(struct run *run, struct act *act)
{
    act->kid_count = act->node->count;
    act->kids = mem_zalloc(act->kid_count * sizeof *act->kids);
}

json_t *container_input(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                        uint64_t *ret_seq)
{
    *ret_seq = act->input_seq;
    return act->input;
}

bool container_is_full(const struct act *act)
{
    return act->node->max_concurrency && act->open >= (uint32_t)act->node->max_concurrency;
}

const struct result *container_failure(const struct act *act)
{
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (result_has_failed(&act->kids[i].res))
            return &act->kids[i].res;
    return NULL;
}

void project_kid(const struct kid *kid, struct result *ret)
{
    const struct outcome *more = kid->res.more;
    ret->value = json_incref(kid->res.value);
    ret->seq = kid->res.seq;
    ret->flags |= kid->res.flags & RES_MUTE;
    if (UNLIKELY(more && more->content))
        result_more(ret)->content = mem_strdup(more->content);
}

static enum plan holder_end(struct run *run, struct act *act, struct rondo_event *ev)
{
    const struct result *res = &act->kids[0].res;
    if (UNLIKELY(run->mail.count))
        return (enum plan)mail_plan_end(run, ev);
    decide(act, RONDO_EV_WORKFLOW_END, ev);
    ev->code = run->cancelled ? RONDO_STATUS_CANCELLED : res->status;
    if (act->close == CLOSE_TIMEOUT)
        ev->code = RONDO_STATUS_FAILED;
    if (act->close == CLOSE_BUDGET && !result_has_failed(res))
        ev->code = RONDO_STATUS_COMPLETED;
    if (ev->code == RONDO_STATUS_FAILED && act->node->children[0].node->kind == RONDO_KIND_GRAPH &&
        run->completed)
        ev->code = RONDO_STATUS_PARTIAL;
    if (res->seq) {
        ev->flags |= EF_REF;
        ev->ref = res->seq;
    }
    return PLAN_DECIDE;
}

static void holder_open(struct run *run, struct act *act)
{
    container_open(run, act);
    encore_open(act);
}

static enum plan holder_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct kid *kid = &act->kids[0];
    enum plan what;
    if (UNLIKELY(run->encores.count) && (what = encore_plan(run, act, ev)) != PLAN_IDLE)
        return what;
    if (UNLIKELY(act->kid_count > 1) && act->kids[1].state == KID_NEW)
        return kid_start(run, act, 1, 0, &act->kids[1], NULL, ev);
    if (kid->state == KID_NEW)
        return kid_start(run, act, 0, 0, kid, NULL, ev);
    if (!kid_is_settled(run, act, 0, 0, kid, ev, &what))
        return what;
    if (UNLIKELY(run->encores.count) && encore_is_pending(run))
        return PLAN_IDLE;
    if (UNLIKELY(run->coordinator) && !coordinator_is_through(run, ev, &what))
        return what;
    return holder_end(run, act, ev);
}

static void holder_project(struct run *run, struct act *act, struct result *ret)
{
    project_kid(&act->kids[0], ret);
}

static const struct kind holder_kind = {
    .open = holder_open, .plan = holder_plan, .closed = holder_end, .project = holder_project,
    .child_input = container_input,
};

static const struct kind *const kinds[] = {
    [RONDO_KIND_AGENT] = &agent_kind,       [RONDO_KIND_GATE] = &gate_kind,
    [RONDO_KIND_SEQUENCE] = &sequence_kind, [RONDO_KIND_PARALLEL] = &parallel_kind,
    [RONDO_KIND_BRANCH] = &branch_kind,     [RONDO_KIND_FORUM] = &forum_kind,
    [RONDO_KIND_GRAPH] = &graph_kind,       [RONDO_KIND_LOOP] = &loop_kind,
    [RONDO_KIND_EACH] = &each_kind,         [RONDO_KIND_MACHINE] = &loop_kind,
};

const struct kind *kind_of(const rondo_node *node)
{
    return node->kind == KIND_HOLDER ? &holder_kind : kinds[node->kind];
}
