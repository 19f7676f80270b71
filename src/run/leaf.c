/* leaf.c - agents and gates: what ends when the outside says so. */
#include "run/errand.h"
#include "run/kinds.h"

/* An agent at work: its result comes from the shell.  What may have been done by a process that died,
   and must not be done twice, is a question to people. */
static enum plan agent_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (UNLIKELY(act->drains || act->warns))
        return (enum plan)mail_plan_drain(run, act, ev);
    if (UNLIKELY(act->off_ns) && act->off_ns <= run->now_ns)
        return decide_close(act, CLOSE_CANCEL, 0, ev); // it does not hear
    if (LIKELY(!act_is_unknown(run, act)))
        return act->errands ? errand_plan(run, act, ev) : PLAN_IDLE;
    if (must_ask(run, act, ASK_TEXT, 0))
        return PLAN_ASK;
    decide(act, RONDO_EV_GATE_WAITING, ev);
    ev->flags = EF_VALUE;
    ev->value = TAKE(run->question.value);
    return PLAN_DECIDE;
}

/* What the shell has to wind down, as a process, is told to end and then waited for. */
static bool must_linger(struct run *run, struct act *act)
{
    if (!act->revoked)
        run_command(run, CMD_REVOKE, act);
    act->revoked = true;
    return act->lingers && !act_is_hurried(run, act);
}

static enum plan decide_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (act->close == CLOSE_BUDGET && act->node->has_budget && !run_act(run, act->parent)->close) {
        decide_spent(run, act, ev); // its own time is over
        ev->flags |= EF_VALUE;
        ev->value = ev->value ? ev->value : json_null();
        return PLAN_DECIDE;
    }
    if (act->close == CLOSE_TIMEOUT)
        return decide_late(run, act, ev);
    return decide(act, RONDO_EV_STEP_CANCELLED, ev);
}

static enum plan leaf_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    bool was_late = act->wound_down;
    if (UNLIKELY(errand_can(act->node) && act->errands) && act_is_awaited(run, act))
        return errand_plan(run, act, ev);
    if (act_is_awaited(run, act) || must_linger(run, act) || act->open) {
        act->wound_down &= act->open != 0;
        return PLAN_IDLE;
    }
    act->wound_down = false;
    decide_closed(run, act, ev);
    ev->flags |= was_late ? EF_LATE : 0;
    return PLAN_DECIDE;
}

static void leaf_project(struct run *run, struct act *act, struct result *ret)
{
}

const struct kind agent_kind = { .plan = agent_plan, .closed = leaf_closed, .project = leaf_project,
                                 .child_ended = errand_ended, .child_input = container_input, .free = errand_free };

/* A gate says once that it waits; the answer is kept in notes until the step ends with it. */
static enum plan gate_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (act->notes) {
        decide(act, RONDO_EV_STEP_END, ev);
        ev->flags = EF_VALUE;
        ev->value = json_incref(json_object_get(act->notes, "value"));
        return PLAN_DECIDE;
    }
    if (act->state == ACT_WAITING)
        return PLAN_IDLE;
    if (act->tries) // the time is over and there is no answer to take
        return decide_fail(run, act, RONDO_ETIME, ev, "nobody answered within %lld ms",
                           (long long)act->node->gate.timeout_ms);
    if (act->node->gate.text && must_ask(run, act, ASK_TEXT, 0))
        return PLAN_ASK;
    if (act->node->gate.text && run->question.yes < 0)
        return decide_fail(run, act, RONDO_EFAILED, ev, "ask: %s",
                           run->question.error ? run->question.error : "failed");
    decide(act, RONDO_EV_GATE_WAITING, ev);
    ev->flags = EF_VALUE;
    ev->value = act->node->gate.text ? TAKE(run->question.value) : json_string(act->node->gate.ask);
    return PLAN_DECIDE;
}

const struct kind gate_kind = { .plan = gate_plan, .closed = leaf_closed, .project = leaf_project };
