/* loop.c - the loop contract.

   A pass:

     1  before    budget left?  while_?  delay (not before the first), memory mode
     2  body      any node
     3  after     score; history and best are updated; iteration_end; the listener
     4  rules     loop_rules.c: asked in the order of its table, first hit wins
     5  go on     with what `next` gave, else with the output

   Exactly one reason ends a loop.  A rule that is a callback is a question to the shell; one that
   is a node runs as a child, and takes as long as it takes.  A decision (delay, iteration_start,
   step_start of a rule's node, loop_end) means that all rules before it have said no, so after a
   crash nothing that was answered is asked again.

   Machines are loops whose body is chosen by an edge: `target` is the state to run, and the rule
   `next` asks the edges. */
#include "run/loop.h"

#include "base/buf.h"
#include "data/value.h"
#include "flow/flow.h"
#include "flow/verdict.h"
#include "run/budget.h"
#include "run/detect.h"
#include "run/kinds.h"
#include "run/limits.h"
#include "run/mend.h"
#include "run/must_hold.h"
#include "run/pass_text.h"
#include "run/stop.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define FAILURE_DELAY_MOST 60000     // milliseconds

/* ---- ends ---------------------------------------------------------------------------------------- */

/* Files are told in Zenflow's words, with what was waited for. */
static enum plan fail_at_cap(struct run *run, const struct act *act, struct rondo_event *ev)
{
    const struct node_loop *def = &limits_of(run, act->node)->loop;
    bool judged = loop_role(act, ROLE_JUDGE), both = def->until && judged;
    if (act->node->flow && !loop_is_machine(act))
        return decide_fail(run, act, RONDO_ELIMIT, ev, "loop '%s' exhausted %lld iterations: %s%s%s",
                           act->node->name, (long long)def->cap, def->until ? "until" : "",
                           both ? " and " : "",
                           judged ? "untilAgent never held" : def->until ? " never held" : "it never ended");
    return decide_fail(run, act, RONDO_ELIMIT, ev, "%s '%s' reached its cap of %lld passes",
                       rondo_kind_text(act->node->kind), act->node->name, (long long)def->cap);
}

/* loop_end was applied: how the step ends follows from the reason. */
static enum plan end_step(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    if (act->close == CLOSE_TIMEOUT)
        return decide_late(run, act, ev);
    if (l->reason == RONDO_REASON_CANCELLED || (act->close && act->close != CLOSE_BUDGET))
        return decide(act, RONDO_EV_STEP_CANCELLED, ev);
    if (l->reason == RONDO_REASON_FAILED)
        return decide_fail(run, act, l->code, ev, "%s", l->error ? l->error : "failed");
    if (loop_is_detector(l->reason) && act->node->loop.stall_action == RONDO_ACTION_FAIL)
        return decide_fail(run, act, RONDO_ESTALLED, ev, "loop '%s' is %s after %u passes",
                           act->node->name, rondo_reason_text(l->reason), l->history.count);
    if (must_hold_fails(act, l->reason))
        return decide_fail(run, act, RONDO_EUNMET, ev, "loop '%s' ended by %s after %u passes, and what it is to reach "
                           "does not hold", act->node->name, rondo_reason_text(l->reason), l->history.count);
    if (l->reason == RONDO_REASON_MAX_ITERATIONS && act->node->loop.on_max == RONDO_FAIL)
        return fail_at_cap(run, act, ev);
    if (act->close == CLOSE_BUDGET)
        decide_spent(run, act, ev);
    else
        decide(act, RONDO_EV_STEP_END, ev);
    if (act->node->flow && act->node->loop.output_mode == RONDO_OUTPUT_CUMULATIVE && !(ev->flags & EF_VALUE))
        loop_say_all(act, ev);
    return PLAN_DECIDE;
}

/* ---- 1 before ------------------------------------------------------------------------------------ */

static void keep_given(struct run *run, struct act *act, const struct rondo_event *ev)
{
    if (!(ev->flags & EF_VALUE))
        return;
    run_drop(run, act->loop->given);
    act->loop->given = ev->value;
}

/* Before the next pass: longer after each failed one in a row, unless the loop says how long. */
static int64_t delay_of(const struct act *act)
{
    const struct node_loop *def = &act->node->loop;
    uint32_t more = MIN(act->loop->failures, 16) - 1;
    if (def->delay_ms || !act->loop->failures || !def->failure_delay_ms)
        return def->delay_ms;
    return MIN(def->failure_delay_ms << more, MAX(def->failure_delay_ms, FAILURE_DELAY_MOST));
}

static enum plan plan_before(struct run *run, struct act *act, struct rondo_event *ev)
{
    int spent = act->node->has_budget ? budget_reason(run, act) : 0;
    if (spent)
        return loop_end_with(act, spent, ev);
    struct act *around = budget_spent_loop(run, run_act(run, act->parent));
    if (UNLIKELY(around))
        return decide_close(around, CLOSE_BUDGET, (uint8_t)budget_reason(run, around), ev);
    if (act->node->loop.while_) {
        if (must_ask(run, act, ASK_WHILE, 0))
            return PLAN_ASK;
        if (run->question.yes < 0)
            return loop_end_failed(act, RONDO_EFAILED, "while", run->question.error, ev);
        if (run->question.yes == 0)
            return loop_end_with(act, RONDO_REASON_WHILE, ev);
    }
    int64_t delay_ms = act->loop->history.count ? delay_of(act) : 0;
    act->loop->phase = LOOP_READY;
    if (!delay_ms)
        return PLAN_IDLE;
    decide(act, RONDO_EV_DELAY, ev);
    ev->num = run->now_ns + delay_ms * MS;
    return loop_with_given(act, ev);
}

/* What the body of earlier passes left in memory, as far as the mode does not want it. */
static bool must_trim(const struct run *run, const struct act *act, uint32_t *ret_keep)
{
    const struct node_loop *def = &act->node->loop;
    *ret_keep = def->memory_mode == RONDO_WINDOW ? (uint32_t)def->memory_window : 0;
    return act->loop->history.count && def->memory_mode != RONDO_ACCUMULATE &&
           memory_has_more(&run->memory, act->start_seq, *ret_keep);
}

/* The next input when `next` did not give one: the output of the pass; if it had none, its own input;
   after a failed pass the last good output. */
static json_t *carried_input(struct act *act, uint64_t *ret_seq)
{
    struct loop_act *l = act->loop;
    struct pass *last = history_last(&l->history), *good = history_good(&l->history);
    if (last && last != good && last->status == RONDO_STATUS_COMPLETED) {
        *ret_seq = l->input_seq;
        return l->input;
    }
    *ret_seq = good ? good->out.seq : act->input_seq;
    return good ? good->out.value : act->input;
}

static enum plan plan_ready(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    uint32_t keep;
    if (must_trim(run, act, &keep)) {
        decide(act, RONDO_EV_MEMORY_TRIM, ev);
        ev->num = keep;
        return loop_with_given(act, ev);
    }
    decide(act, RONDO_EV_ITERATION_START, ev);
    ev->ordinal = l->history.count;
    ev->child = loop_is_machine(act) ? l->target : ROLE_BODY;
    if (l->given) {
        ev->flags = EF_VALUE;
        ev->value = TAKE(l->given);
        return PLAN_DECIDE;
    }
    carried_input(act, &ev->ref);
    ev->flags = ev->ref ? EF_REF : 0;
    return PLAN_DECIDE;
}

/* ---- 2 body, 3 after ------------------------------------------------------------------------------- */

static enum plan plan_body(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct kid *kid = loop_body(act);
    uint32_t child = (uint32_t)(kid - act->kids), pass = act->loop->history.count;
    enum plan what = PLAN_IDLE;
    if (kid->state == KID_NEW && (act->loop->broke || act->loop->continued))
        kid->state = KID_ENDED; // closed before it began
    if (UNLIKELY(run->mail.box_count) && kid->state == KID_NEW && mail_plan_pass(run, act, ev) == PLAN_DECIDE)
        return PLAN_DECIDE;
    if (kid->state == KID_NEW) {
        run->planned = true; // nothing follows until it ends
        return kid_start(run, act, child, pass, kid, NULL, ev);
    }
    if (!kid_is_settled(run, act, child, pass, kid, ev, &what))
        return what;
    act->loop->phase = LOOP_SCORE;
    return PLAN_IDLE;
}

/* Did the pass that is ending go well?  One that was closed by break or continue did. */
static int pass_status(const struct act *act)
{
    int status = loop_body(act)->res.status;
    if (act->loop->broke || act->loop->continued)
        return RONDO_STATUS_COMPLETED;
    return status == RONDO_STATUS_SKIPPED ? RONDO_STATUS_COMPLETED : status;
}

static enum plan end_pass(struct act *act, double score, struct rondo_event *ev)
{
    decide(act, RONDO_EV_ITERATION_END, ev);
    ev->ordinal = act->loop->history.count;
    ev->code = (uint8_t)pass_status(act);
    if (isfinite(score)) {
        ev->flags |= EF_SCORED;
        ev->score = score;
    }
    return PLAN_DECIDE;
}

static enum plan plan_score(struct run *run, struct act *act, struct rondo_event *ev)
{
    const struct node_loop *def = &act->node->loop;
    struct loop_act *l = act->loop;
    bool asked = !l->broke && !l->continued && !l->unscored &&
                 pass_status(act) == RONDO_STATUS_COMPLETED;
    enum plan what;
    if (!asked || (!def->score && !loop_role(act, ROLE_SCORE)))
        return end_pass(act, NAN, ev);
    if (def->score) {
        if (must_ask(run, act, ASK_SCORE, 0))
            return PLAN_ASK;
        if (run->question.yes >= 0)
            return end_pass(act, run->question.number, ev);
        decide(act, RONDO_EV_RULE_FAILED, ev);
        ev->child = ROLE_SCORE;
        ev->flags = EF_VALUE;
        ev->value = json_string(run->question.error ? run->question.error : "score failed");
        return PLAN_DECIDE;
    }
    if (!loop_run_role(run, act, ROLE_SCORE, ev, &what))
        return what;
    return end_pass(act, verdict_score(act->kids[ROLE_SCORE].res.value), ev);
}

/* ---- the kind ---------------------------------------------------------------------------------------- */

static enum plan plan_waiting(struct run *run, struct act *act, struct rondo_event *ev)
{
    return PLAN_IDLE;
}

static enum plan (*const phases[])(struct run *, struct act *, struct rondo_event *) = {
    [LOOP_BEFORE] = plan_before, [LOOP_READY] = plan_ready, [LOOP_DELAY] = plan_waiting,
    [LOOP_BODY] = plan_body,     [LOOP_SCORE] = plan_score, [LOOP_RULES] = loop_plan_rules,
    [LOOP_ENDED] = end_step,
};

/* A phase that has nothing to say but is over hands on to the next one. */
static enum plan loop_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    for (;;) {
        uint8_t phase = act->loop->phase;
        if (UNLIKELY(run->stops) && stop_holds_loop(run, act))
            return stop_plan_loop(act, ev);
        enum plan what = phases[phase](run, act, ev);
        if (what != PLAN_IDLE || act->loop->phase == phase)
            return what;
    }
}

/* What the body came to is paid for, and a failure is one, whatever the budget says. */
static bool is_pass_paid(const struct act *act)
{
    const struct kid *kid = loop_body(act);
    if (act->loop->phase != LOOP_BODY && act->loop->phase != LOOP_SCORE)
        return false;
    return kid->res.status == RONDO_STATUS_COMPLETED || result_has_failed(&kid->res);
}

/* A pass that a budget or the loop's timeout cut is asked nothing. */
static enum plan limit_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (is_pass_paid(act))
        return end_pass(act, NAN, ev);
    if (act->close == CLOSE_BUDGET && act->loop->phase == LOOP_RULES && loop_pass_failed(run, act))
        return loop_end_of_pass(act, ev);
    return loop_end_with(act, act->reason, ev);
}

/* Everything inside has ended: why the loop does, then the step. */
static enum plan loop_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (act->loop->phase == LOOP_ENDED)
        return end_step(run, act, ev);
    if (act->close == CLOSE_BUDGET || act->close == CLOSE_TIMEOUT)
        return limit_closed(run, act, ev);
    return loop_end_with(act, act->reason ? act->reason : RONDO_REASON_CANCELLED, ev);
}

static void loop_open(struct run *run, struct act *act)
{
    int keep = act->node->loop.max_history;
    container_open(run, act);
    act->loop = mem_zalloc(sizeof *act->loop);
    act->loop->target = act->node->start;
    act->loop->gain_from = -INFINITY;
    if (loop_is_machine(act))
        act->loop->counts = mem_zalloc(act->kid_count * sizeof *act->loop->counts);
    history_init(&act->loop->history, keep && keep < HISTORY_KEEP ? (uint32_t)keep : HISTORY_KEEP);
    if (act->node->loop.output_mode == RONDO_OUTPUT_CUMULATIVE)
        act->loop->history.keep = UINT32_MAX; // all of it is the output
    detect_open(run, act);
    act->loop->rules = loop_rules_of(act);
}

static void state_free(struct run *run, struct loop_act *l)
{
    if (UNLIKELY(l->before))
        state_free(run, l->before);
    history_clear(run, &l->history);
    json_decref(l->given);
    if (l->owns_input)
        run_drop(run, l->input);
    run_drop(run, l->previous);
    mem_free(l->counts);
    mem_free(l->hashes);
    mem_free(l->judge);
    mem_free(l->error);
    mem_free(l);
}

static void forget_before(struct run *run, struct loop_act *l)
{
    if (UNLIKELY(l->before))
        state_free(run, TAKE(l->before));
}

static void loop_free(struct run *run, struct act *act)
{
    state_free(run, act->loop);
}

static struct loop_act *state_copy(const struct run *run, const struct act *act)
{
    const struct loop_act *l = act->loop;
    struct loop_act *copy = mem_zalloc(sizeof *copy);
    *copy = *l;
    history_copy(&copy->history, &l->history);
    detect_copy(run, copy, act);
    if (l->counts)
        copy->counts = (void *)mem_dup(l->counts, act->node->count * sizeof *l->counts);
    copy->previous = json_incref(l->previous);
    copy->input = json_incref(l->input);
    copy->owns_input = true;
    copy->given = NULL;
    copy->judge = copy->error = NULL;
    return copy;
}

/* What it was before its last pass ended; mend_keep() asks only when that is known. */
static void loop_copy(struct act *to, const struct act *from)
{
    to->loop = TAKE(from->loop->before);
}

void loop_rewind(struct run *run, struct act *act)
{
    struct loop_act *l = act->loop, *before = l->before;
    if (before) {
        l->before = NULL;
        state_free(run, l);
        act->loop = l = before;
    }
    l->phase = LOOP_READY;
    l->history.seq_count = l->history.count; // it begins once more
    l->history.keep = UINT32_MAX; // its events alone do not say what it comes to
    if (l->history.count && !l->given)
        l->given = json_incref(l->input);
}

/* Body: the input of the pass.  Rules: what the pass came to. */
static json_t *loop_input(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                          uint64_t *ret_seq)
{
    const struct result *out = NULL;
    if (!loop_is_machine(act) && child != ROLE_BODY)
        out = loop_pass_output(act);
    *ret_seq = out ? out->seq : act->loop->input_seq;
    return out ? out->value : act->loop->input;
}

/* Files show what was said about every pass; the best one may be this, and have had nothing to share until now. */
static void note_judge(struct history *history, const char *said)
{
    struct outcome *more = result_more(&history_last(history)->out);
    mem_free(more->judge);
    more->judge = mem_strdup(said);
    if (history->best_pass != (int64_t)history->count - 1 || history->best.out.more)
        return;
    history->best.out.more = more;
    more->refs++;
}

static void loop_child_ended(struct run *run, struct act *act, struct kid *kid, uint32_t child,
                             uint32_t ordinal)
{
    struct loop_act *l = act->loop;
    if (loop_is_machine(act) || child != ROLE_JUDGE)
        return;
    l->misjudged = kid->res.status == RONDO_STATUS_FAILED ? l->misjudged + 1 : 0;
    auto_buf struct buf text = { 0 };
    result_put_content(&text, &kid->res);
    if (kid->res.status == RONDO_STATUS_FAILED)
        judge_put_failure(&text, kid->res.more ? kid->res.more->error : NULL);
    if (text.len || kid->res.status == RONDO_STATUS_COMPLETED) {
        mem_free(l->judge);
        l->judge = buf_take(&text);
    }
    if (act->node->flow && l->judge)
        note_judge(&l->history, l->judge);
}

/* ---- applying ------------------------------------------------------------------------------------------ */

static void reset_rule_kids(struct run *run, struct act *act)
{
    for (uint32_t i = 1; !loop_is_machine(act) && i < act->kid_count; i++)
        kid_reset(run, &act->kids[i]);
}

static void visit(struct run *run, struct act *act, struct kid *kid)
{
    struct loop_act *l = act->loop;
    run_drop(run, l->previous);
    l->previous = TAKE(kid->res.value);
    l->visits = l->counts[l->target]++;
}

static void set_pass_input(struct run *run, struct act *act, const struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    json_t *old = l->owns_input ? l->input : NULL;
    uint64_t seq = ev->seq;
    struct pass *last = history_last(&l->history);
    json_t *input = ev->value;
    if (LIKELY(ev->flags & EF_REF && last && ev->ref == last->out.seq && pass_is_shown(last))) {
        seq = ev->ref; // the usual case: the output of the pass before
        input = last->out.value;
    } else if (!(ev->flags & EF_VALUE)) {
        input = carried_input(act, &seq);
    }
    l->input_seq = seq;
    if (input == old && !(ev->flags & EF_VALUE)) // else `next` gave the same one back, and a second reference
        return;
    l->input = input;
    l->owns_input = ev->flags & EF_VALUE;
    run_drop(run, old);
}

/* What was kept of the pass before. */
static void forget_ended(struct run *run, struct act *act)
{
    mend_forget(run, act);
    forget_before(run, act->loop);
}

static void apply_iteration_start(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    set_pass_input(run, act, ev);
    if (UNLIKELY(act->held))
        act_release(run, act);
    run_drop(run, TAKE(l->given));
    run_drop(run, TAKE(act->letters)); // of the pass before
    l->target = loop_is_machine(act) ? ev->child : 0;
    l->phase = LOOP_BODY;
    l->broke = l->continued = l->unscored = false;
    l->changed = false;
    l->looks = 0;
    l->pass_seq = ev->seq;
    l->pass_ns = run->now_ns;
    history_begin(&l->history, ev->seq);
    struct kid *kid = loop_body(act);
    if (LIKELY(!kid->mends)) {
        forget_ended(run, act);
        if (loop_is_machine(act))
            visit(run, act, kid);
        kid_reset(run, kid);
    }
    reset_rule_kids(run, act);
    ev->value = l->input;
}

/* With `output`, that step's value takes the place of the body's; before the pass has its place in the history, where
   an earlier one may have that value. */
static void name_output(struct run *run, struct act *act, struct result *body)
{
    const struct result *named = loop_project_pass(act, body);
    if (named == body)
        return;
    const char *content = named->more ? named->more->content : NULL;
    char *text = content ? mem_strdup(content) : NULL;
    run_drop(run, body->value);
    body->value = json_incref(named->value);
    body->seq = named->seq;
    mem_free(body->more->content);
    body->more->content = text;
}

/* The body's result becomes the pass's. */
static void take_pass_result(struct act *act, struct result *out)
{
    struct kid *kid = loop_body(act);
    *out = kid->res;
    kid->res = (struct result){ 0 };
    if (UNLIKELY(loop_is_machine(act)))
        kid->res = result_share(out); // the next visit to this state sees it
    kid->state = KID_ENDED;
}

/* A loop inside of a pass that is one of many keeps its result and its best pass.  Its history is not to be seen from
   there, and the journal has that. */
static void slim(struct run *run, struct result *res)
{
    struct outcome *more = res->more;
    for (uint32_t i = 0; more && i < more->step_count; i++)
        slim(run, &more->steps[i].res);
    if (!more || !more->history)
        return;
    history_shrink(run, more->history);
    slim(run, &more->body);
}

static void apply_iteration_end(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    if (UNLIKELY(act->kept)) {
        forget_before(run, l);
        l->before = state_copy(run, act);
    }
    if (UNLIKELY(act->node->loop.output))
        name_output(run, act, &loop_body(act)->res);
    struct pass *pass = history_place(run, &l->history);
    take_pass_result(act, &pass->out);
    pass->start_seq = l->pass_seq;
    pass->start_ns = l->pass_ns;
    pass->end_ns = run->now_ns;
    pass->status = ev->code;
    pass->scored = ev->flags & EF_SCORED;
    pass->score = pass->scored ? ev->score : 0;
    pass->state = UNLIKELY(loop_is_machine(act)) ? act->node->children[l->target].name : NULL;
    if (pass->out.more && l->history.keep > HISTORY_KEEP)
        slim(run, &pass->out);
    if (pass->status == RONDO_STATUS_COMPLETED && pass->out.status != RONDO_STATUS_SKIPPED)
        pass->out.status = RONDO_STATUS_COMPLETED;
    if (pass->status == RONDO_STATUS_COMPLETED) { // a failed pass has nothing to show
        ev->value = pass->out.value;
        ev->back = pass->out.seq ? (uint32_t)(ev->seq - pass->out.seq) : 0;
    }
    if (UNLIKELY(!pass_is_shown(pass)) && !l->owns_input && l->input) {
        json_incref(l->input); // it may be the next input, and its pass may be forgotten by then
        l->owns_input = true;
    }
    l->failures = pass->status == RONDO_STATUS_COMPLETED ? 0 : l->failures + 1;
    if (l->rules & 1 << RULE_DETECT)
        detect_pass(run, act, pass);
    history_note(run, &l->history, pass);
    l->phase = LOOP_RULES;
    l->rule = 0;
    l->tripped = 0;
    act->next = 0;
    mem_free(TAKE(l->judge));
}

static void apply_loop_end(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    l->reason = ev->code;
    l->phase = LOOP_ENDED;
    if (UNLIKELY(run->mail.box_count))
        mail_end(run, act);
    must_hold_end(run, act, ev->code);
    if (!(ev->flags & EF_VALUE))
        return;
    l->code = (int)json_integer_value(json_object_get(ev->value, "code"));
    const char *message = json_string_value(json_object_get(ev->value, "message"));
    mem_free(l->error);
    l->error = mem_strdup(message ? message : "failed");
    run_drop(run, ev->value);
}

/* All rules have said that there is another pass: what of that no event has told is told by this one. */
static void apply_paused(struct run *run, struct act *act, const struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    if (l->phase > LOOP_DELAY)
        l->phase = LOOP_BEFORE;
    if (loop_is_machine(act))
        l->target = ev->child;
    l->paused = true;
    keep_given(run, act, ev);
}

/* The pass has no score; what follows from that is a rule's to say. */
static void apply_rule_failed(struct act *act, const struct rondo_event *ev)
{
    mem_free(act->loop->error);
    act->loop->error = mem_strdup(json_string_value(ev->value));
    act->loop->unscored = true;
}

void loop_apply(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct loop_act *l = act->loop;
    switch (ev->type) {
    case RONDO_EV_ITERATION_START: apply_iteration_start(run, act, ev); break;
    case RONDO_EV_ITERATION_END: apply_iteration_end(run, act, ev); break;
    case RONDO_EV_LOOP_END: apply_loop_end(run, act, ev); break;
    case RONDO_EV_DELAY:
        l->phase = LOOP_DELAY;
        keep_given(run, act, ev);
        break;
    case RONDO_EV_TIMER: l->phase = LOOP_READY; break;
    case RONDO_EV_LOOP_PAUSED: apply_paused(run, act, ev); break;
    case RONDO_EV_MEMORY_TRIM:
        l->phase = LOOP_READY;
        keep_given(run, act, ev);
        break;
    case RONDO_EV_DETECTOR:
        l->tripped = ev->code;
        l->rule = RULE_DETECT;
        keep_given(run, act, ev);
        if (ev->flags & EF_NUDGE) {
            l->nudged = true;
            l->nudge_pass = l->history.count;
            detect_forget(act);
        }
        break;
    case RONDO_EV_RULE_FAILED: apply_rule_failed(act, ev); break;
    case RONDO_EV_STEP_START: // of a rule's node
        if (l->phase == LOOP_RULES)
            l->rule = loop_rule_of(ev->child);
        break;
    default: break;
    }
}

const struct kind loop_kind = {
    .open = loop_open, .plan = loop_plan, .closed = loop_closed, .child_ended = loop_child_ended,
    .project = loop_project, .child_input = loop_input, .free = loop_free,
    .copy = loop_copy,
};
