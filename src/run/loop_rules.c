/* loop_rules.c - the stop rules: step 4 of the loop contract.

   Every rule is a function that passes, asks, or says what follows; the table has them in the order
   of the contract, and the first one that hits ends the loop.  `rule` of the loop's state is the one
   to be asked next: a decision that is read back from a log (the start of a rule's node, a detector)
   sets it, so nothing that was answered is asked again. */
#include "run/loop.h"

#include "base/buf.h"
#include "data/value.h"
#include "flow/flow.h"
#include "run/act.h"
#include "run/budget.h"
#include "run/detect.h"
#include "run/limits.h"

#include <stdio.h>
#include <string.h>

/* ---- ends ---------------------------------------------------------------------------------------- */

enum plan loop_end_with(const struct act *act, int reason, struct rondo_event *ev)
{
    decide(act, RONDO_EV_LOOP_END, ev);
    ev->code = (uint8_t)reason;
    ev->ordinal = act->loop->history.count;
    ev->flags = act->loop->escalated ? EF_ESCALATE : 0;
    return PLAN_DECIDE;
}

enum plan loop_end_failed(struct act *act, int code, const char *rule, const char *why,
                            struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    char text[640];
    uint32_t pass = l->history.count;
    size_t len = strlen(rule);
    if (why && strncmp(why, rule, len) == 0 && strncmp(why + len, ": ", 2) == 0)
        why += len + 2; // expressions of files say themselves which they are
    snprintf(text, sizeof text, "%s of %s '%s' failed in pass %u: %s", rule, rondo_kind_text(act->node->kind),
             act->node->name, pass ? pass : 1, why ? why : "no reason given");
    loop_end_with(act, RONDO_REASON_FAILED, ev);
    ev->flags |= EF_VALUE;
    ev->value = json_pack("{s:i, s:s}", "code", code, "message", text);
    if (!ev->value)
        ev->value = json_pack("{s:i, s:s}", "code", code, "message", rule);
    return PLAN_DECIDE;
}

enum plan loop_with_given(const struct act *act, struct rondo_event *ev)
{
    if (act->loop->given) {
        ev->flags |= EF_VALUE;
        ev->value = json_incref(act->loop->given);
    }
    return PLAN_DECIDE;
}

bool loop_run_role(struct run *run, struct act *act, enum role role, struct rondo_event *ev,
                          enum plan *ret)
{
    struct kid *kid = &act->kids[role];
    uint32_t pass = act->loop->history.count - (role == ROLE_SCORE ? 0 : 1);
    if (kid->state == KID_NEW) {
        *ret = kid_start(run, act, role, pass, kid, NULL, ev);
        return false;
    }
    return kid_is_settled(run, act, role, pass, kid, ev, ret);
}

/* ---- one by one ------------------------------------------------------------------------------------ */

/* A rule that does not hit says RULE_PASS, and the next one is asked. */
enum { RULE_PASS = PLAN_ASK + 1 };

/* After a failed pass, or one that was cut short by continue, only limits are asked. */
static bool is_asked(const struct act *act)
{
    return !act->loop->continued && history_last(&act->loop->history)->status == RONDO_STATUS_COMPLETED;
}

static bool goes_on(const struct act *act)
{
    return act->node->loop.on_error == RONDO_ERROR_CONTINUES;
}

/* What was to be reached may be there although the pass failed. */
static bool asks_until(const struct act *act)
{
    bool asks_failed = goes_on(act) && act->node->loop.until_after_failure;
    bool has_failed = history_last(&act->loop->history)->status == RONDO_STATUS_FAILED;
    return is_asked(act) || (asks_failed && has_failed && !act->loop->continued);
}

static int rule_listen(struct run *run, struct act *act, struct rondo_event *ev)
{
    bool good = history_last(&act->loop->history)->status == RONDO_STATUS_COMPLETED;
    if (act->node->loop.listener && good && must_ask(run, act, ASK_LISTEN, 0))
        return PLAN_ASK;
    return RULE_PASS;
}

bool loop_pass_failed(const struct run *run, const struct act *act)
{
    struct loop_act *l = act->loop;
    if (history_last(&l->history)->status == RONDO_STATUS_COMPLETED)
        return false;
    return !goes_on(act) || l->failures >= (uint32_t)limits_of(run, act->node)->loop.max_failures;
}

enum plan loop_end_of_pass(const struct act *act, struct rondo_event *ev)
{
    const struct outcome *more = history_last(&act->loop->history)->out.more;
    loop_end_with(act, RONDO_REASON_FAILED, ev);
    const char *why = more && more->error ? more->error : "the body was cancelled";
    ev->flags |= EF_VALUE;
    ev->value = json_pack("{s:i, s:s}", "code", more && more->code ? more->code : RONDO_EFAILED,
                          "message", why);
    return PLAN_DECIDE;
}

static int rule_failed(struct run *run, struct act *act, struct rondo_event *ev)
{
    return !goes_on(act) && loop_pass_failed(run, act) ? (int)loop_end_of_pass(act, ev) : RULE_PASS;
}

static int rule_failures(struct run *run, struct act *act, struct rondo_event *ev)
{
    return loop_pass_failed(run, act) ? (int)loop_end_of_pass(act, ev) : RULE_PASS;
}

static int rule_break(struct run *run, struct act *act, struct rondo_event *ev)
{
    return act->loop->broke ? (int)loop_end_with(act, RONDO_REASON_BREAK, ev) : RULE_PASS;
}

/* Files: nothing goes on with a score that could not be told.  Callbacks are heard again after the next pass. */
static bool must_score(const struct act *act)
{
    return act->node->flow && act->node->loop.score;
}

static int rule_score(struct run *run, struct act *act, struct rondo_event *ev)
{
    const struct loop_act *l = act->loop;
    return l->unscored ? (int)loop_end_failed(act, RONDO_EFAILED, "score", l->error, ev) : RULE_PASS;
}

static int rule_until(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (!act->node->loop.until || !asks_until(act))
        return RULE_PASS;
    if (must_ask(run, act, ASK_UNTIL, 0))
        return PLAN_ASK;
    if (run->question.yes < 0)
        return (int)loop_end_failed(act, RONDO_EFAILED, "until", run->question.error, ev);
    return run->question.yes ? (int)loop_end_with(act, RONDO_REASON_UNTIL, ev) : RULE_PASS;
}

/* true, or an object whose `done` is true: 1; the opposite: 0; anything else: -1. */
static int is_done(const json_t *value)
{
    if (json_is_object(value))
        value = json_object_get(value, "done");
    if (json_is_boolean(value))
        return json_is_true(value);
    return !value || json_is_null(value) ? 0 : -1;
}

/* The node of a rule may break its loop, too: that comes before what it says. */
static bool has_broken(const struct act *act, struct rondo_event *ev)
{
    return act->loop->broke && loop_end_with(act, RONDO_REASON_BREAK, ev) == PLAN_DECIDE;
}

static int rule_until_node(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what;
    if (!loop_role(act, ROLE_UNTIL) || !is_asked(act))
        return RULE_PASS;
    if (!loop_run_role(run, act, ROLE_UNTIL, ev, &what))
        return (int)what;
    if (has_broken(act, ev))
        return PLAN_DECIDE;
    const struct result *res = &act->kids[ROLE_UNTIL].res;
    if (res->status == RONDO_STATUS_FAILED)
        return (int)loop_end_failed(act, res->more->code, "until", res->more->error, ev);
    int done = is_done(res->value);
    if (done < 0)
        return (int)loop_end_failed(act, RONDO_EINVAL, "until", "expected true, false or { done }", ev);
    return done ? (int)loop_end_with(act, RONDO_REASON_UNTIL, ev) : RULE_PASS;
}

/* In the rondo dialect a judge that only ever fails ends the loop. */
static bool is_misjudged(const struct act *act)
{
    const struct flow *flow = act->node->flow;
    return flow && flow->dialect == FLOW_RONDO &&
           act->loop->misjudged >= (uint32_t)act->node->loop.max_misjudged;
}

/* A judge that fails or babbles has not said that it is done. */
static int rule_judge(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what;
    if (!loop_role(act, ROLE_JUDGE) || !is_asked(act))
        return RULE_PASS;
    if (!loop_run_role(run, act, ROLE_JUDGE, ev, &what))
        return (int)what;
    if (has_broken(act, ev))
        return PLAN_DECIDE;
    const struct result *res = &act->kids[ROLE_JUDGE].res;
    if (res->status == RONDO_STATUS_FAILED && is_misjudged(act))
        return (int)loop_end_failed(act, res->more->code, "untilAgent", res->more->error, ev);
    bool done = res->status == RONDO_STATUS_COMPLETED && is_done(res->value) > 0;
    return done ? (int)loop_end_with(act, RONDO_REASON_JUDGE, ev) : RULE_PASS;
}

static int next_is(struct act *act, json_t *value, struct rondo_event *ev)
{
    if (!value || json_is_null(value)) {
        json_decref(value);
        return (int)loop_end_with(act, RONDO_REASON_NEXT, ev);
    }
    json_decref(act->loop->given);
    act->loop->given = value;
    return RULE_PASS;
}

static int rule_next(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what;
    if (!is_asked(act))
        return RULE_PASS;
    if (act->node->loop.next) {
        if (must_ask(run, act, ASK_NEXT, 0))
            return PLAN_ASK;
        if (run->question.yes < 0)
            return (int)loop_end_failed(act, RONDO_EFAILED, "next", run->question.error, ev);
        return next_is(act, TAKE(run->question.value), ev);
    }
    if (!loop_role(act, ROLE_NEXT))
        return RULE_PASS;
    if (!loop_run_role(run, act, ROLE_NEXT, ev, &what))
        return (int)what;
    if (has_broken(act, ev))
        return PLAN_DECIDE;
    const struct result *res = &act->kids[ROLE_NEXT].res;
    if (res->status == RONDO_STATUS_FAILED)
        return (int)loop_end_failed(act, res->more->code, "next", res->more->error, ev);
    return next_is(act, json_incref(res->value), ev);
}

static int no_edge(struct act *act, struct rondo_event *ev)
{
    auto_buf struct buf text = { 0 }, out = { 0 };
    const struct result *res = loop_pass_output(act);
    const char *end = act->node->step ? "end" : RONDO_END; // as its author writes it
    value_put_content(&out, res->value);
    buf_printf(&text, "no edge leaves state '%s' for output '%.*s'; candidates:",
               act->node->children[act->loop->target].name, (int)MIN(out.len, 200), buf_text(&out));
    for (uint32_t i = 0; i < act->node->edge_count; i++) {
        const struct node_edge *edge = &act->node->edges[i];
        if (edge->from == act->loop->target)
            buf_printf(&text, " %s", edge->to == act->node->count ? end : act->node->children[edge->to].name);
    }
    return (int)loop_end_failed(act, RONDO_EINVAL, "edges", buf_text(&text), ev);
}

/* next: the edge to be asked, counted in act->next while they are asked. */
static int rule_edges(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (!loop_is_machine(act) || !is_asked(act))
        return RULE_PASS;
    for (; act->next < act->node->edge_count; act->next++) {
        const struct node_edge *edge = &act->node->edges[act->next];
        if (edge->from != act->loop->target)
            continue;
        if (edge->when && must_ask(run, act, ASK_EDGE, act->next))
            return PLAN_ASK;
        if (edge->when && run->question.yes < 0)
            return (int)loop_end_failed(act, RONDO_EFAILED, "an edge", run->question.error, ev);
        if (edge->when && run->question.yes == 0)
            continue;
        if (edge->to == act->node->count)
            return (int)loop_end_with(act, RONDO_REASON_NEXT, ev);
        act->loop->target = edge->to;
        return RULE_PASS;
    }
    return no_edge(act, ev);
}

/* The event comes first, then what it leads to; one nudge only. */
static int rule_detect(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    int reason = detect(run, act);
    if (!reason)
        return RULE_PASS;
    bool nudge = loop_is_detector(reason) && act->node->loop.stall_action == RONDO_ACTION_NUDGE &&
                 !l->nudged;
    if (l->tripped != reason) {
        decide(act, RONDO_EV_DETECTOR, ev);
        ev->code = (uint8_t)reason;
        ev->flags = nudge ? EF_NUDGE : 0;
        return loop_with_given(act, ev);
    }
    return (int)loop_end_with(act, reason, ev);
}

static int rule_budget(struct run *run, struct act *act, struct rondo_event *ev)
{
    int reason = budget_reason(run, act);
    return reason ? (int)loop_end_with(act, reason, ev) : RULE_PASS;
}

static int rule_cap(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (act->loop->history.count < limits_of(run, act->node)->loop.cap)
        return RULE_PASS;
    return (int)loop_end_with(act, RONDO_REASON_MAX_ITERATIONS, ev);
}

/* ---- all of them ------------------------------------------------------------------------------------ */

static int (*const rules[RULE_COUNT])(struct run *, struct act *, struct rondo_event *) = {
    [RULE_LISTEN] = rule_listen,         [RULE_BREAK] = rule_break,   [RULE_FAILED] = rule_failed,
    [RULE_SCORE] = rule_score,           [RULE_UNTIL] = rule_until,   [RULE_FAILURES] = rule_failures,
    [RULE_UNTIL_NODE] = rule_until_node,
    [RULE_JUDGE] = rule_judge,           [RULE_NEXT] = rule_next,     [RULE_EDGES] = rule_edges,
    [RULE_DETECT] = rule_detect,         [RULE_BUDGET] = rule_budget, [RULE_CAP] = rule_cap,
};

uint16_t loop_rules_of(const struct act *act)
{
    const struct node_loop *def = &act->node->loop;
    const bool can_hit[RULE_COUNT] = {
        [RULE_LISTEN] = def->listener,
        [RULE_BREAK] = true,
        [RULE_FAILED] = true,
        [RULE_SCORE] = must_score(act),
        [RULE_UNTIL] = def->until,
        [RULE_FAILURES] = goes_on(act),
        [RULE_UNTIL_NODE] = loop_role(act, ROLE_UNTIL),
        [RULE_JUDGE] = loop_role(act, ROLE_JUDGE),
        [RULE_NEXT] = def->next || loop_role(act, ROLE_NEXT),
        [RULE_EDGES] = loop_is_machine(act),
        [RULE_DETECT] = def->stall_repeats || def->oscillation || def->patience,
        [RULE_BUDGET] = act->node->has_budget,
        [RULE_CAP] = def->cap != RONDO_UNBOUNDED,
    };
    uint16_t mask = 0;
    for (int i = 0; i < RULE_COUNT; i++)
        mask |= (uint16_t)(can_hit[i] << i);
    return mask;
}

uint8_t loop_rule_of(uint32_t role)
{
    static const uint8_t places[ROLE_COUNT] = { [ROLE_UNTIL] = RULE_UNTIL_NODE,
                                                [ROLE_JUDGE] = RULE_JUDGE, [ROLE_NEXT] = RULE_NEXT };
    return places[role];
}

enum plan loop_plan_rules(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    for (; l->rules >> l->rule; l->rule++) {
        l->rule += (uint8_t)__builtin_ctz(l->rules >> l->rule); // the next one that can hit
        int what = rules[l->rule](run, act, ev);
        if (what != RULE_PASS)
            return (enum plan)what;
    }
    l->phase = LOOP_BEFORE;
    return PLAN_IDLE;
}
