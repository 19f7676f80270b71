/* apply.c - run_apply(): what every event does to a run.

   The one place where state changes because of an event.  It runs when an event is new and again
   whenever a log is replayed, so it looks at nothing but the run and the event. */
#include "data/value.h"
#include "flow/flow.h"
#include "run/act.h"
#include "run/anew.h"
#include "run/actions.h"
#include "run/asks.h"
#include "run/budget.h"
#include "run/coordinator.h"
#include "run/each.h"
#include "run/encore.h"
#include "run/errand.h"
#include "run/graph.h"
#include "run/inherit.h"
#include "run/kinds.h"
#include "run/limits.h"
#include "run/loop.h"
#include "run/mend.h"
#include "run/reopen.h"
#include "run/reserve.h"
#include "run/review.h"
#include "run/seen.h"
#include "run/stop.h"
#include "run/usage.h"

#include <stdio.h>
#include <string.h>

#define CLEANUP_MS 30000

/* ---- starts ---------------------------------------------------------------------------------------- */

/* Values come from logs too: what is out of reason counts as nothing. */
static int64_t number_in(const json_t *object, const char *key, int64_t max)
{
    int64_t n = json_integer_value(json_object_get(object, key));
    return n >= 0 && n <= max ? n : 0;
}

static int64_t amount_in(const json_t *object, const char *key)
{
    return number_in(object, key, INT64_MAX / 1024);
}

static int64_t ms_in(const json_t *object, const char *key)
{
    return number_in(object, key, (int64_t)(TIME_MAX_NS / MS));
}

/* A call that was refused may fit into a larger budget. */
static void forgive_run(struct run *run, const rondo_budget *before)
{
    struct act *holder = run->act_count ? run_act(run, 0) : NULL;
    int reason = holder && holder->ledger ? holder->ledger->refused : 0;
    int64_t limit = budget_limit(&run->budget, reason);
    if (reason && (!limit || limit > budget_limit(before, reason)))
        budget_forgive(holder);
}

void run_read_limits(struct run *run, const json_t *value)
{
    const rondo_budget before = run->budget;
    if (json_object_get(value, "timeoutMs"))
        run->timeout_ns = ms_in(value, "timeoutMs") * MS;
    if (json_object_get(value, "budgetMs"))
        run->budget.time_ms = ms_in(value, "budgetMs");
    if (json_object_get(value, "budgetTokens"))
        run->budget.tokens = amount_in(value, "budgetTokens");
    if (json_object_get(value, "budgetNano"))
        run->budget.cost_nano = amount_in(value, "budgetNano");
    if (json_object_get(value, "budgetCalls"))
        run->budget.calls = amount_in(value, "budgetCalls");
    limits_keep_budget(run, &before);
    forgive_run(run, &before);
}

/* The settings of a run are part of its log, so that a recovered run keeps them. */
static void read_settings(struct run *run, const json_t *value)
{
    run->max_busy = (uint32_t)number_in(value, "maxConcurrency", INT32_MAX);
    if (json_object_get(value, "cleanupMs"))
        run->cleanup_ns = ms_in(value, "cleanupMs") * MS;
    run->on_unknown = (int)number_in(value, "onUnknown", RONDO_UNKNOWN_ASK);
    run->within = json_incref(json_object_get(value, "within"));
    run->migrated = (uint64_t)json_integer_value(json_object_get(value, "migrated"));
    run->changed = json_incref(json_object_get(value, "changed"));
    limits_read_was(run, json_object_get(value, "was"));
    run_read_limits(run, value);
}

/* What the session held when the run began is part of its log: replay asks no store.  A run without one may
   begin with what another's held. */
static void begin_session(struct run *run, json_t *value)
{
    const char *name = json_string_value(json_object_get(value, "session"));
    if (name)
        run->session = mem_strdup(name);
    memory_begin(&run->memory, json_object_get(value, "memory"));
}

static void apply_workflow_start(struct run *run, struct rondo_event *ev)
{
    json_t *state = json_object_get(ev->value, "state");
    run->seed = (uint64_t)ev->num;
    run->input = json_incref(json_object_get(ev->value, "input"));
    if (!run->input)
        run->input = json_null();
    run->cleanup_ns = CLEANUP_MS * MS;
    if (json_object_size(ev->value) > (json_object_get(ev->value, "input") != NULL))
        read_settings(run, ev->value);
    if (json_is_object(state))
        run->state = json_copy(state);
    begin_session(run, ev->value);
    struct act *act = act_open(run, 0, run->holder);
    act->input = run->input;
    act->input_seq = ev->seq;
    act->kind->open(run, act);
    run_touch(run, act);
    run_drop(run, ev->value);
}

static void link_child(struct run *run, struct act *parent, struct act *act)
{
    act->next_sibling = parent->first_child;
    if (parent->first_child)
        run_act(run, parent->first_child)->prev_sibling = act->slot;
    parent->first_child = act->slot;
    parent->open++;
}

static void unlink_child(struct run *run, struct act *parent, struct act *act)
{
    if (act->prev_sibling)
        run_act(run, act->prev_sibling)->next_sibling = act->next_sibling;
    else
        parent->first_child = act->next_sibling;
    if (act->next_sibling)
        run_act(run, act->next_sibling)->prev_sibling = act->prev_sibling;
    parent->open--;
}

static uint32_t place_kid(struct run *run, struct act *parent, const struct rondo_event *ev)
{
    struct kid *kid;
    if (parent->node->kind != RONDO_KIND_EACH)
        return ev->child;
    kid = ev->attempt ? each_kid(parent, ev->ordinal) : NULL;
    if (!kid)
        kid = each_begin(parent, ev->ordinal);
    return (uint32_t)((struct open_item *)((char *)kid - offsetof(struct open_item, kid)) -
                      parent->each->open);
}

/* What a new attempt inherits from the one before: why it failed, and what it has cost. */
static void carry_over(const struct run *run, struct act *act, const struct kid *kid)
{
    act->failure = mem_strdup(kid->res.more->error);
    act->ledger = ledger_carry(kid->res.more->ledger);
    budget_go_on(run, act, kid);
}

/* Somebody takes up a run again, perhaps without knowing what a step failed of, or that it has completed and begins
   anew.  That person has not said that this is to be done twice. */
static bool is_doubtful(const struct act *act, const struct kid *kid)
{
    if (act->node->kind != RONDO_KIND_AGENT || kid->base != act->attempt)
        return false;
    if (kid->reopened && kid->res.more && kid->res.more->did)
        return true;
    if (act->node->agent.effects != RONDO_ONCE)
        return false;
    return act->redone || (kid->reopened && kid->res.more && kid->res.more->code == RONDO_EUNKNOWN);
}

/* Who was cancelled with its run, and is taken up with it, goes on where it was, as after a crash. */
static void go_on(struct run *run, struct act *act, const struct outcome *before)
{
    budget_renew(run, act);
    act->notes = json_incref(before->notes);
    act->letters = json_incref(before->letters);
    act->did = json_incref(before->did);
}

static void start_kid(struct run *run, struct act *act, struct kid *kid)
{
    act->redone = kid->anew || run_act(run, act->parent)->redone;
    act->in_doubt = is_doubtful(act, kid);
    if (act->attempt && kid->res.more)
        carry_over(run, act, kid);
    if (UNLIKELY(kid->reopened) && kid->base == act->attempt && kid->res.more)
        go_on(run, act, kid->res.more);
    if (UNLIKELY(kid->sent))
        act->before = json_incref(kid->sent->value);
    else if (UNLIKELY(kid->base) && kid->base == act->attempt)
        act->before = json_incref(kid->res.value);
    result_clear(run, &kid->res);
    kid->state = KID_OPEN;
    kid->act = act->slot;
    kid->attempt = act->attempt;
    kid->asked = 0;
    kid->anew = false;
    if (act->attempt == kid->base)
        kid->first_ns = run_driven_ns(run);
}

static void set_input(struct run *run, struct act *act, struct act *parent, struct rondo_event *ev)
{
    act->owns_input = ev->flags & EF_VALUE;
    act->input_seq = ev->seq;
    act->input = ev->value;
    if (!act->owns_input)
        act->input = parent->kind->child_input(run, parent, ev->child, ev->ordinal, &act->input_seq);
    if (parent->node->kind == RONDO_KIND_EACH)
        act->input_seq = ev->seq; // it says which item
    ev->value = act->input;
}

/* A child that failed needs its parent's attention; while it waits for its next try, or runs, not. */
static void shift_attention(struct act *parent, int by)
{
    int kind = parent->node->kind;
    if (kind == RONDO_KIND_PARALLEL || kind == RONDO_KIND_GRAPH || kind == RONDO_KIND_EACH)
        parent->attention = (uint32_t)((int)parent->attention + by);
}

/* Is this a try after a failure, and not the first one? */
static bool is_retry(struct run *run, struct act *parent, const struct rondo_event *ev)
{
    const struct kid *kid = ev->attempt ? kid_get(run, parent, ev->child, ev->ordinal) : NULL;
    return kid && ev->attempt > kid->base;
}

static uint32_t count_call(struct run *run, const void *what)
{
    uint32_t i = 0;
    while (i < run->count_count && run->counts[i].what != what)
        i++;
    if (i == run->count_count) {
        mem_grow(&run->counts, &run->count_cap, run->count_count, sizeof *run->counts);
        run->counts[run->count_count++] = (struct call_count){ .what = what };
    }
    return run->counts[i].calls++;
}

/* Counted here, so that a log gives the same numbers: a scripted agent answers by them. */
static void count_calls(struct run *run, struct act *act)
{
    const struct flow_step *step = act->node->step;
    act->step_call = count_call(run, step);
    act->agent_call = step->agent ? count_call(run, step->agent) : 0;
}

/* Far from what every start does, which is a tenth slower when this stands between. */
static __attribute__((noinline, cold)) bool begin_mended(struct run *run, struct act *act)
{
    struct kid *kid = act_kid(run, act);
    bool is_mended = kid->mends && mend_begin(run, act);
    kid->mends = false;
    return is_mended;
}

/* It begins with nothing, or with what an earlier attempt has left for it. */
static void open_kind(struct run *run, struct act *parent, struct act *act)
{
    bool is_mended = UNLIKELY(run->has_mended) && begin_mended(run, act);
    if (UNLIKELY(parent->kept))
        mend_forget_kid(run, parent, act->child, act->ordinal);
    if (!is_mended && act->kind->open)
        act->kind->open(run, act);
}

/* What it hears from the start, and what has waited for it. */
static void start_mail(struct run *run, struct act *act)
{
    bool is_agent = act->node->kind == RONDO_KIND_AGENT;
    if (is_agent && run->mail.has_passes)
        mail_join_pass(run, act);
    if (run->mail.box_count && (is_agent || node_is_loop(act->node)))
        mail_begin(run, act);
}

static void apply_step_start(struct run *run, struct rondo_event *ev)
{
    struct act *parent = run_act(run, ev->parent);
    if (UNLIKELY(ev->attempt) && is_retry(run, parent, ev))
        shift_attention(parent, -1);
    if (UNLIKELY(parent->held))
        act_release_kid(run, parent, ev->child, ev->ordinal);
    struct act *act = act_open(run, ev->act, parent->node->children[ev->child].node);
    act->parent = ev->parent;
    act->child = ev->child;
    act->ordinal = ev->ordinal;
    act->attempt = ev->attempt;
    act->skill = ev->code;
    set_input(run, act, parent, ev);
    act->kid = place_kid(run, parent, ev);
    start_kid(run, act, act_kid(run, act));
    link_child(run, parent, act);
    open_kind(run, parent, act);
    if (act->node->kind == RONDO_KIND_AGENT)
        run->busy++;
    if (act->node->kind != RONDO_KIND_AGENT || act->in_doubt)
        run_touch(run, act);
    if (UNLIKELY(act->node->step) && node_is_leaf(act->node))
        count_calls(run, act);
    if (UNLIKELY(encore_is(act)))
        encore_begin(run, act);
    else if (UNLIKELY(run->mail.box_count || run->mail.has_passes))
        start_mail(run, act);
    if (UNLIKELY(!ev->parent && ev->child == 1))
        coordinator_begin(run, act);
    if (node_is_loop(parent->node))
        loop_apply(run, parent, ev);
    else if (parent->node->kind == RONDO_KIND_GRAPH)
        parent->graph->last = ev->child + 1;
}

/* ---- ends ------------------------------------------------------------------------------------------ */

static const uint8_t end_status[] = {
    [RONDO_EV_STEP_END] = RONDO_STATUS_COMPLETED,
    [RONDO_EV_STEP_FAILED] = RONDO_STATUS_FAILED,
    [RONDO_EV_STEP_SKIPPED] = RONDO_STATUS_SKIPPED,
    [RONDO_EV_STEP_CANCELLED] = RONDO_STATUS_CANCELLED,
};

static void set_error(struct result *res, int code, const char *message)
{
    struct outcome *more = result_more(res);
    more->code = code;
    mem_free(more->error);
    more->error = mem_strdup(message);
}

static void note_error(struct run *run, struct result *res, json_t *error)
{
    const char *message = json_string_value(json_object_get(error, "message"));
    set_error(res, (int)json_integer_value(json_object_get(error, "code")), message ? message : "failed");
}

/* A leaf's own output; content and result may come apart. */
static void take_value(struct run *run, struct rondo_event *ev, struct result *res)
{
    if (!(ev->flags & EF_VALUE))
        return;
    if (ev->type == RONDO_EV_STEP_FAILED) {
        note_error(run, res, ev->value);
        run_drop(run, ev->value);
        return;
    }
    res->seq = ev->seq;
    if (!(ev->flags & EF_FULL)) {
        res->value = ev->value;
        return;
    }
    const char *content = json_string_value(json_object_get(ev->value, "content"));
    res->value = json_incref(json_object_get(ev->value, "result"));
    result_more(res)->content = mem_strdup(content ? content : "");
    run_drop(run, ev->value); // the event keeps both: it is not yet in the journal
}

/* What a judge had said before it failed. */
static void note_said(const struct rondo_event *ev, struct result *res)
{
    const char *said = json_string_value(json_object_get(ev->value, "said"));
    if (said)
        result_more(res)->content = mem_strdup(said);
}

/* Who answered a gate. */
static void note_answer(const struct act *act, struct result *res)
{
    const char *by = json_string_value(json_object_get(act->notes, "by"));
    result_more(res)->is_answer = true;
    if (by)
        result_more(res)->by = mem_strdup(by);
}

/* Containers show the results of their children; a loop or each has its own way. */
static void take_steps(struct act *act, struct result *res)
{
    if (!act->kids || act->node->kind == RONDO_KIND_LOOP) // a machine shows its states
        return;
    struct outcome *more = result_more(res);
    more->steps = TAKE(act->kids);
    more->step_count = act->kid_count;
    more->steps_of = act->node;
    act->kid_count = 0;
}

/* What a container said it came to takes the place of what follows from its children. */
static void take_said(struct run *run, struct rondo_event *ev, struct result *res)
{
    run_drop(run, TAKE(res->value));
    if (res->more)
        mem_free(TAKE(res->more->content));
    take_value(run, ev, res);
}

/* A file that failed may say all the same what it returns. */
static void take_part(struct run *run, const struct rondo_event *ev, struct result *res)
{
    json_t *said = json_object_get(ev->value, "output");
    if (!said)
        return;
    run_drop(run, res->value);
    res->value = json_incref(said);
    res->seq = ev->seq; // beside why it failed
    mem_free(TAKE(res->more->content));
}

/* The value of a container follows from its children: the event only says whose it is. */
static void derive_value(struct run *run, struct act *act, struct rondo_event *ev, struct result *res)
{
    const struct act *parent = run_act(run, act->parent);
    act->kind->project(run, act, res);
    take_steps(act, res);
    if (UNLIKELY(parent->node->kind == RONDO_KIND_EACH && parent->node->each.output))
        each_choose(run, parent, act, res);
    if (UNLIKELY(act->escalated))
        result_more(res)->escalated = true;
    if (act->close == CLOSE_BUDGET && res->more && ev->type == RONDO_EV_STEP_END)
        res->more->reason = act->reason;
    if (ev->type == RONDO_EV_STEP_FAILED) {
        take_part(run, ev, res);
        return;
    }
    if (ev->flags & EF_VALUE) {
        take_said(run, ev, res);
        return;
    }
    ev->value = res->value;
    if (res->seq) {
        ev->flags |= EF_REF;
        ev->ref = res->seq;
    } else if (res->value) {
        ev->flags |= EF_COMPOSED;
        res->seq = ev->seq;
    }
}

/* Which budget ended a leaf: its own time, or one that had no room for its next call.  Work that was let finish
   after a budget around it was used up has ended by itself. */
static void note_limit(const struct act *act, const struct rondo_event *ev, struct result *res)
{
    bool is_time = act->close == CLOSE_BUDGET && !(ev->flags & EF_TOLD);
    int reason = is_time ? act->reason : act->ledger ? act->ledger->refused : 0;
    if (reason && ev->type == RONDO_EV_STEP_END)
        result_more(res)->reason = (uint8_t)reason;
}

static void note_usage(const struct run *run, struct act *act, struct result *res)
{
    budget_end_try(run, act);
    if (!act->ledger && !res->more)
        return;
    struct outcome *more = result_more(res);
    more->start_ns = run->now_ns - act_elapsed_ns(run, act); // without the time in which nobody drove the run
    more->end_ns = run->now_ns;
    if (act->ledger) {
        res->flags |= act->ledger->is_short ? RES_SHORT : 0;
        mem_free(more->ledger);
        more->ledger = TAKE(act->ledger);
    }
}

/* An item that was closed by continue has completed with what it has. */
static void forgive_item(const struct act *parent, const struct act *act, struct result *res,
                         struct rondo_event *ev)
{
    if (parent->node->kind != RONDO_KIND_EACH || act->close != CLOSE_CONTINUE)
        return;
    res->status = RONDO_STATUS_COMPLETED;
    ev->flags |= EF_KEPT;
}

/* Who reads a list of outputs from a log, and there alone it is not written down, is told which of them count. */
static void keep_listed(const struct act *parent, const struct result *res, struct rondo_event *ev)
{
    const rondo_node *node = parent->node;
    bool is_list = node->kind == RONDO_KIND_PARALLEL || (node->kind == RONDO_KIND_EACH && !node->flow);
    ev->flags |= is_list && res->flags & RES_BROKE ? EF_KEPT : 0;
}

/* What must not be done twice was done: whatever begins anew around it asks first (mend.h). */
static void note_effects(struct act *parent, const struct act *act, struct result *res)
{
    bool is_once = act->node->kind == RONDO_KIND_AGENT && act->node->agent.effects == RONDO_ONCE;
    int code = res->more ? res->more->code : 0;
    if (!act->did_once && !(is_once && (res->status == RONDO_STATUS_COMPLETED || code == RONDO_EUNKNOWN)))
        return;
    result_more(res)->did_once = true;
    parent->did_once = true;
}

static void end_kid(struct run *run, struct act *parent, struct kid *kid, uint32_t child,
                    uint32_t ordinal)
{
    const struct kind *kind = parent->kind;
    kid->state = KID_ENDED;
    kid->act = 0;
    run->completed += kid->res.status == RONDO_STATUS_COMPLETED && act_counts(parent, child);
    if (kind->child_ended)
        kind->child_ended(run, parent, kid, child, ordinal);
    run_touch(run, parent);
}

/* A leaf waits for an answer, or no longer does.  An agent that waits is not at work. */
static void begin_wait(struct run *run, struct act *act, int64_t now_ns)
{
    bool was = act_takes_place(act);
    act->wait_ns = now_ns;
    act->pause_ns = 0;
    act_recount(run, act, was);
    run->gates++;
    run->gate_moves++;
}

/* What the time of a gate has come to. */
enum { GATE_OVERDUE = 1, GATE_WAS_OVERDUE };

static void end_wait(struct run *run, struct act *act)
{
    bool exits = act->node->kind == RONDO_KIND_GATE && act->node->gate.exits, was = act_takes_place(act);
    act->wait_ns = 0;
    act_recount(run, act, was);
    run->gates--;
    run->gate_moves++;
    run->overdue -= exits && act->tries == GATE_OVERDUE;
}

/* What all tries have cost so far stays. */
static void clear_result(struct run *run, struct result *res)
{
    struct ledger *ledger = res->more ? ledger_carry(res->more->ledger) : NULL;
    result_clear(run, res);
    if (ledger)
        result_more(res)->ledger = ledger;
}

/* A failure that follows from a review, which has set it already. */
static void apply_told(struct run *run, struct act *parent, struct kid *kid, struct rondo_event *ev)
{
    kid->asked &= (uint8_t)~KID_UNTOLD;
    parent->attention--;
    run_drop(run, ev->value);
    run_touch(run, parent);
}

/* Its time was over before its next try: what the last one came to stays, but for why it failed. */
static void end_overdue(const struct run *run, struct kid *kid)
{
    struct outcome *more = result_more(&kid->res);
    more->reason = more->reason ? RONDO_REASON_TIME : 0; // a loop's
    more->end_ns = run->now_ns;
    kid->res.flags = RES_NO_RETRY;
    kid->asked &= (uint8_t)~KID_OVERDUE;
}

static void end_unbegun(struct run *run, struct kid *kid)
{
    clear_result(run, &kid->res);
    kid->res.flags = RES_NO_RETRY | RES_UNBEGUN;
}

static void apply_unstarted(struct run *run, struct rondo_event *ev)
{
    struct act *parent = run_act(run, ev->parent);
    uint32_t place = place_kid(run, parent, ev);
    struct kid *kid = parent->node->kind == RONDO_KIND_EACH ? &parent->each->open[place].kid
                                                            : kid_get(run, parent, place, ev->ordinal);
    if (UNLIKELY(kid->asked & KID_UNTOLD)) {
        apply_told(run, parent, kid, ev);
        return;
    }
    if (ev->attempt > kid->base && kid->state == KID_NEW)
        shift_attention(parent, -1);
    if (UNLIKELY(kid->asked & KID_OVERDUE))
        end_overdue(run, kid);
    else
        end_unbegun(run, kid);
    kid->res.status = end_status[ev->type];
    kid->res.attempt = ev->attempt;
    if (parent->node->kind == RONDO_KIND_GRAPH && !(ev->flags & EF_MINE))
        kid->res.flags |= RES_CUT;
    if (ev->flags & EF_VALUE)
        note_error(run, &kid->res, ev->value);
    run_drop(run, ev->value);
    end_kid(run, parent, kid, ev->child, ev->ordinal);
}

/* Containers that did not get to their end are taken up again when the run is (reopen.h).  An each that
   may have a million failed items keeps none of them: they begin from the start. */
static bool may_come_back(const struct act *parent, const struct act *act, int status)
{
    if (UNLIKELY(coordinator_is_place(act)))
        return status != RONDO_STATUS_FAILED; // then it begins anew
    if (node_is_leaf(act->node) || node_is_leaf(parent->node) || act->close == CLOSE_BREAK ||
        act->close == CLOSE_CONTINUE)
        return false;
    if (status == RONDO_STATUS_COMPLETED)
        return act->close == CLOSE_BUDGET && parent->close;
    return status != RONDO_STATUS_FAILED || parent->node->kind != RONDO_KIND_EACH ||
           parent->node->mode == RONDO_ERROR_FAILS;
}

static void keep_notes(struct act *act, struct result *res)
{
    struct outcome *more = result_more(res);
    more->notes = TAKE(act->notes);
    more->letters = TAKE(act->letters);
}

static void apply_step_end(struct run *run, struct rondo_event *ev)
{
    if (ev->flags & EF_UNSTARTED) {
        apply_unstarted(run, ev);
        return;
    }
    struct act *act = run_act(run, ev->act), *parent = run_act(run, act->parent);
    struct kid *kid = act_kid(run, act);
    if (UNLIKELY(run->mends))
        mend_keep(run, act);
    struct result res = { .status = end_status[ev->type], .skill = act->skill, .attempt = act->attempt };
    if (node_is_leaf(act->node) || ev->type == RONDO_EV_STEP_FAILED)
        take_value(run, ev, &res);
    if (!node_is_leaf(act->node))
        derive_value(run, act, ev, &res);
    else if (act->node->kind == RONDO_KIND_GATE)
        note_answer(act, &res);
    else if (UNLIKELY(ev->type == RONDO_EV_STEP_FAILED))
        note_said(ev, &res);
    if (UNLIKELY(act->close || act->ledger) && node_is_leaf(act->node))
        note_limit(act, ev, &res);
    if (ev->flags & (EF_BREAK | EF_CONTINUE | EF_ESCALATE)) {
        res.flags |= RES_SIGNAL;
        actions_apply(run, act, ev);
    }
    if (UNLIKELY(act->close == CLOSE_BREAK || act->close == CLOSE_CONTINUE) && act->has_acted)
        res.flags |= RES_BROKE;
    if (UNLIKELY(act->wait_ns) && node_is_leaf(act->node))
        end_wait(run, act); // closed while it waited
    if (UNLIKELY(act->asking))
        asks_end(run, act);
    if (UNLIKELY(run->reserve_count))
        reserve_end(run, act);
    if (UNLIKELY(run->mail.box_count))
        mail_end(run, act);
    note_usage(run, act, &res);
    bool is_encore = encore_is(act);
    if (UNLIKELY(encore_can(run)) && act->node->kind == RONDO_KIND_AGENT)
        encore_keep(run, act, &res);
    if (UNLIKELY(act->notes) && res.status == RONDO_STATUS_CANCELLED && act->node->kind == RONDO_KIND_AGENT)
        keep_notes(act, &res);
    note_effects(parent, act, &res);
    forgive_item(parent, act, &res, ev);
    keep_listed(parent, &res, ev);
    act_move(act, ON_END);
    run->busy -= act_takes_place(act);
    act->pause_ns = 0;
    if (UNLIKELY(coordinator_is(run, act)))
        coordinator_end(run);
    kid->res = res;
    unlink_child(run, parent, act);
    uint32_t child = act->child, ordinal = act->ordinal;
    if (UNLIKELY(may_come_back(parent, act, res.status)))
        act_hold(run, parent, act);
    else
        act_free(run, act);
    end_kid(run, parent, kid, child, ordinal);
    if (UNLIKELY(is_encore))
        encore_end(run, kid);
}

static void note_timeout(const struct run *run, struct result *res)
{
    char text[64];
    snprintf(text, sizeof text, "the run timed out after %lld ms", (long long)(run->timeout_ns / MS));
    set_error(res, RONDO_ETIME, text);
}

static void apply_workflow_end(struct run *run, struct rondo_event *ev)
{
    const char *key;
    json_t *value;
    void *next;
    struct act *holder = run_act(run, 0);
    run->status = ev->code;
    run->end_reason = holder->close == CLOSE_BUDGET || holder->close == CLOSE_TIMEOUT ? holder->reason : 0;
    if (holder->close == CLOSE_TIMEOUT)
        note_timeout(run, &holder->kids[0].res);
    ev->value = holder->kids[0].res.value;
    json_object_foreach_safe(run->state, next, key, value) // NULL is empty
        if (strncmp(key, "temp:", 5) == 0)
            json_object_del(run->state, key);
}

/* ---- the rest -------------------------------------------------------------------------------------- */

static void apply_retry(struct run *run, struct rondo_event *ev)
{
    struct act *parent = run_act(run, ev->parent);
    struct kid *kid = kid_get(run, parent, ev->child, ev->ordinal);
    act_release_kid(run, parent, ev->child, ev->ordinal);
    kid->attempt = ev->attempt;
    kid->asked = ASKED_WHEN; // it may start: that was asked before the first try
    kid->due_ns = ev->num;
    kid->state = ev->num > ev->time_ns ? KID_BACKOFF : KID_NEW;
    if (kid->state == KID_BACKOFF)
        shift_attention(parent, -1);
    run_touch(run, parent);
}

/* The next try; or, when the time of all tries is over before that, it fails instead of starting. */
static void end_backoff(struct run *run, struct act *act, const struct rondo_event *ev)
{
    struct kid *kid = kid_get(run, act, ev->child, ev->ordinal);
    shift_attention(act, 1);
    kid->state = KID_NEW;
    if (ev->time_ns < kid->due_ns)
        kid->asked |= KID_OVERDUE;
}

/* The time of a gate is over: it goes on, with an answer or without, or stays as it is. */
static void end_patience(struct run *run, struct act *act)
{
    if (act->node->gate.exits) {
        act->tries = GATE_OVERDUE;
        run->overdue++;
        return;
    }
    end_wait(run, act);
    act_move(act, ON_RESUME);
    act->tries = GATE_OVERDUE;
    if (act->node->gate.answer)
        act->notes = json_pack("{s:O, s:s}", "value", act->node->gate.answer, "by", "timeout");
}

static void apply_timer(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    switch ((enum timer)ev->code) {
    case TIMER_DELAY:
        act_unpause(run, act);
        if (node_is_leaf(act->node))
            break;
        act_move(act, ON_RESUME);
        loop_apply(run, act, ev);
        break;
    case TIMER_BACKOFF: end_backoff(run, act, ev); break;
    case TIMER_CALL:
        act->is_long = !act->close;
        act_close(run, act, CLOSE_TIMEOUT, RONDO_REASON_TIME, false);
        break;
    case TIMER_TIMEOUT: act_close(run, act, CLOSE_TIMEOUT, RONDO_REASON_TIME, false); break;
    case TIMER_BUDGET: act_close(run, act, CLOSE_BUDGET, RONDO_REASON_TIME, false); break;
    case TIMER_CLEANUP:
        act->hurried = true;
        run->forced |= !act->slot;
        act_close(run, act, act->close, act->reason, false); // what the run ends for stays what it was
        break;
    case TIMER_GATE: end_patience(run, act); break;
    case TIMER_CALLED_OFF: act_close(run, act, CLOSE_CANCEL, 0, false); break;
    }
    run_touch(run, act);
}

static void apply_delay(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    if (node_is_leaf(act->node)) {
        bool was = act_takes_place(act);
        act->pause_ns = ev->num;
        act_recount(run, act, was);
        return;
    }
    act_move(act, ON_WAIT);
    act->wait_ns = ev->num;
    loop_apply(run, act, ev);
}

static void apply_loop(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    loop_apply(run, act, ev);
    run_touch(run, act);
}

static void apply_loop_end(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    if (act->node->kind != RONDO_KIND_EACH) {
        apply_loop(run, ev);
        return;
    }
    each_apply_end(run, act, ev);
    run_touch(run, act);
}

/* A loop could not be scored; or nobody can say whether a step that failed is to be tried again, or what a file
   returns of which something failed. */
static void apply_rule_failed(struct run *run, struct rondo_event *ev)
{
    bool is_retry = ev->flags & EF_UNSTARTED;
    struct act *act = run_act(run, is_retry ? ev->parent : ev->act);
    if (is_retry)
        kid_get(run, act, ev->child, ev->ordinal)->res.flags |= RES_NO_RETRY;
    else if (act->node->kind == RONDO_KIND_GRAPH)
        act->graph->no_output = true;
    else
        loop_apply(run, act, ev);
    run_drop(run, ev->value);
    run_touch(run, act);
}

/* What a file leaves behind is for the file around it. */
static void apply_state(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    json_t **state = run_state_at(run, node_is_leaf(act->node) ? act : run_act(run, act->parent));
    act->left |= LEFT_STATE;
    if (state != &run->state)
        ev->flags |= EF_INNER;
    run_set_state(run, state, ev->value);
    run_drop(run, ev->value);
}

/* The loops around an activation by the seq of their start: innermost last does not matter. */
static uint64_t *loops_around(struct run *run, const struct act *act, uint32_t *ret_count)
{
    uint64_t *seqs = NULL;
    uint32_t cap = 0, count = 0;
    while ((act = run_loop_around(run, act, false))) {
        mem_grow(&seqs, &cap, count, sizeof *seqs);
        seqs[count++] = act->start_seq;
    }
    *ret_count = count;
    return seqs;
}

static void apply_memory(struct run *run, struct rondo_event *ev)
{
    uint32_t count;
    const char *scope = json_string_value(json_object_get(ev->value, "scope"));
    json_t *entry = json_object_get(ev->value, "entry");
    if (scope && entry) {
        struct act *act = run_act(run, ev->act);
        uint64_t *loops = loops_around(run, act, &count);
        memory_add(&run->memory, scope,
                   &(struct memory_entry){ json_incref(entry), ev->seq, act->start_seq, loops, count });
        act->left |= LEFT_MEMORY;
    }
    run_drop(run, ev->value);
}

static void apply_memory_trim(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    memory_trim(&run->memory, act->start_seq, (uint32_t)ev->num);
    loop_apply(run, act, ev);
    run_touch(run, act);
}

static void apply_budget(struct run *run, struct rondo_event *ev)
{
    rondo_usage usage = usage_from(ev->value);
    budget_spend(run, run_act(run, ev->act), &usage);
    run_drop(run, ev->value);
}

static void apply_reserve(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    rondo_usage usage = usage_from(ev->value);
    if (ev->type == RONDO_EV_RESERVE)
        reserve_ask(run, act, ev->num, &usage);
    else
        reserve_settle(run, act, ev->num, &usage);
    run_drop(run, ev->value);
}

static void apply_reserved(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    if (ev->type == RONDO_EV_GRANTED)
        reserve_grant(run, act, ev->num);
    else
        reserve_refuse(run, act, ev->num, run_act(run, ev->ordinal), ev->code);
}

static void apply_note(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    json_t *old = act->notes;
    act->notes = old ? json_copy(old) : json_array(); // the old list may be in use
    run_drop(run, old);
    json_array_append(act->notes, ev->value);
    if (UNLIKELY(act->node->count) && errand_is(act, ev->value))
        errand_add(run, act, ev->value, ev->num);
    run_drop(run, ev->value);
}

static void apply_cancel(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    if (ev->code == CLOSE_CANCEL && !ev->act) {
        run->forced = run->cancelled; // the second one insists
        run->cancelled = true;
        if (!run->cancel_why && json_is_string(ev->value))
            run->cancel_why = mem_strdup(json_string_value(ev->value));
    }
    /* What is paid for may come in, as long as it is not time that has run out. */
    bool gently = ev->code == CLOSE_BUDGET && ev->ordinal != RONDO_REASON_TIME;
    act_close(run, act, (enum close)ev->code, (uint8_t)ev->ordinal, gently);
    run_drop(run, ev->value);
}

/* An agent keeps its notes: what was said about it is kept apart. */
static void apply_gate(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    json_t **answer = act->node->kind == RONDO_KIND_AGENT ? &act->answer : &act->notes;
    if (act->node->kind == RONDO_KIND_AGENT && asks_number(ev->value)) { // it stays at work
        (ev->type == RONDO_EV_GATE_WAITING ? asks_add : asks_answer)(run, act, ev->value);
        return;
    }
    if (ev->type == RONDO_EV_GATE_WAITING) {
        act_move(act, ON_WAIT);
        begin_wait(run, act, ev->time_ns);
        run_drop(run, TAKE(*answer));
        run_drop(run, ev->value);
        return;
    }
    act_move(act, ON_RESUME);
    end_wait(run, act);
    act->in_flight = act->in_doubt = false;
    *answer = ev->value;
    run_touch(run, act);
}

static void apply_items(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    each_set_items(run, act, ev->value, ev->seq);
    run_touch(run, act);
}

static void apply_choice(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    if (act->node->kind == RONDO_KIND_FORUM) {
        forum_next_round(run, act, ev->child);
    } else {
        act->next = ev->child;
        act->tries = 1;
    }
    run_touch(run, act);
}

/* Whoever goes on with a run waits for its gates again. */
static void wait_anew(struct run *run)
{
    for (uint32_t i = 1; i < run->act_count && run->overdue; i++) {
        struct act *act = run->acts[i];
        if (act->state == ACT_FREE || act->node->kind != RONDO_KIND_GATE || act->tries != GATE_OVERDUE)
            continue;
        act->tries = GATE_WAS_OVERDUE;
        run->overdue--;
    }
}

/* What it had begun is not gone on with.  What a crash left of class `once` is not known to have ended. */
static void cut_off(struct run *run, struct act *act, const struct rondo_event *ev)
{
    bool is_once = act->node->kind == RONDO_KIND_AGENT && act->node->agent.effects == RONDO_ONCE;
    struct rondo_event end = { .type = RONDO_EV_STEP_CANCELLED, .act = act->slot, .seq = ev->seq,
                               .time_ns = ev->time_ns };
    while (act->first_child)
        cut_off(run, run_act(run, act->first_child), ev);
    if (is_once) {
        end.type = RONDO_EV_STEP_FAILED;
        end.flags = EF_VALUE;
        end.value = error_value(run, act, RONDO_EUNKNOWN, "was under way when the process died");
    }
    apply_step_end(run, &end);
}

/* Rows of [slot, effects]: see anew.h. */
static void begin_anew(struct run *run, const struct rondo_event *ev)
{
    json_t *row;
    size_t i;
    json_array_foreach(json_object_get(ev->value, "anew"), i, row) {
        struct act *act = anew_find(run, row);
        if (!act) // it was inside of one before, or is not in a pass that is read back (old_pass.c)
            continue;
        struct act *parent = run_act(run, act->parent);
        uint32_t child = act->child, ordinal = act->ordinal;
        uint16_t next = act->attempt == UINT16_MAX ? act->attempt : (uint16_t)(act->attempt + 1);
        cut_off(run, act, ev);
        reopen_put_back(run, parent, child, ordinal, next, json_array_get(row, 1));
    }
}

/* num: how long nobody drove the run.  Agents that were at work start again, and what they had put
   into memory so far they will put there once more. */
static void apply_resumed(struct run *run, struct rondo_event *ev)
{
    run->idle_ns += ev->num;
    run_drop(run, ev->value);
    wait_anew(run);
    stop_over(run);
    reserve_lose(run);
    if (UNLIKELY(json_object_get(ev->value, "anew")))
        begin_anew(run, ev);
    anew_done(run, ev);
    for (uint32_t i = 1; i < run->act_count && run->memory.count; i++)
        if (run->acts[i]->state != ACT_FREE && run->acts[i]->node->kind == RONDO_KIND_AGENT)
            memory_forget(&run->memory, run->acts[i]->start_seq);
}

static void note_summary(struct run *run, const json_t *value)
{
    const char *what = json_string_value(json_object_get(json_object_get(value, "data"), "coordinator"));
    const char *text = json_string_value(json_object_get(value, "content"));
    if (!what || strcmp(what, "synthesis") != 0)
        return;
    mem_free(run->summary);
    run->summary = mem_strdup(text ? text : "");
}

/* An agent's own event is only told; its state delta and its actions are events of their own.  What an
   each has to say it says once. */
static void apply_message(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    if (UNLIKELY(act->node->kind == RONDO_KIND_EACH)) {
        act->tries = 1;
        run_touch(run, act);
    }
    if (UNLIKELY(coordinator_is(run, act)))
        note_summary(run, ev->value);
    run_drop(run, ev->value);
}

/* Of a step it is only told; the coordinator rests. */
static void apply_idle(struct run *run, struct rondo_event *ev)
{
    if (coordinator_is(run, run_act(run, ev->act)) && !run_act(run, ev->act)->is_idle)
        coordinator_rest(run, run_act(run, ev->act));
    run_drop(run, ev->flags & EF_VALUE ? ev->value : NULL);
}

static void (*const appliers[64])(struct run *, struct rondo_event *) = {
    [RONDO_EV_WORKFLOW_START] = apply_workflow_start,
    [RONDO_EV_WORKFLOW_END] = apply_workflow_end,
    [RONDO_EV_STEP_START] = apply_step_start,
    [RONDO_EV_STEP_END] = apply_step_end,
    [RONDO_EV_STEP_FAILED] = apply_step_end,
    [RONDO_EV_STEP_SKIPPED] = apply_step_end,
    [RONDO_EV_STEP_CANCELLED] = apply_step_end,
    [RONDO_EV_ITERATION_START] = apply_loop,
    [RONDO_EV_ITERATION_END] = apply_loop,
    [RONDO_EV_LOOP_END] = apply_loop_end,
    [RONDO_EV_RETRY] = apply_retry,
    [RONDO_EV_MESSAGE] = apply_message,
    [RONDO_EV_STATE] = apply_state,
    [RONDO_EV_MEMORY] = apply_memory,
    [RONDO_EV_MEMORY_TRIM] = apply_memory_trim,
    [RONDO_EV_GATE_WAITING] = apply_gate,
    [RONDO_EV_GATE_ANSWERED] = apply_gate,
    [RONDO_EV_DETECTOR] = apply_loop,
    [RONDO_EV_BUDGET] = apply_budget,
    [RONDO_EV_CANCEL] = apply_cancel,
    [RONDO_EV_DELAY] = apply_delay,
    [RONDO_EV_TIMER] = apply_timer,
    [RONDO_EV_ITEMS] = apply_items,
    [RONDO_EV_NOTE] = apply_note,
    [RONDO_EV_RESUMED] = apply_resumed,
    [RONDO_EV_CHOICE] = apply_choice,
    [RONDO_EV_RULE_FAILED] = apply_rule_failed,
    [RONDO_EV_REVIEW] = review_apply,
    [RONDO_EV_REOPENED] = reopen_apply,
    [RONDO_EV_LIMITS] = limits_apply,
    [RONDO_EV_FORKED] = inherit_apply,
    [RONDO_EV_RESERVE] = apply_reserve,
    [RONDO_EV_GRANTED] = apply_reserved,
    [RONDO_EV_REFUSED] = apply_reserved,
    [RONDO_EV_SETTLED] = apply_reserve,
    [RONDO_EV_MESSAGE_SENT] = mail_send,
    [RONDO_EV_MESSAGE_DROPPED] = mail_drop,
    [RONDO_EV_INBOX_DRAIN] = mail_drain,
    [RONDO_EV_AGENT_WAKE] = mail_wake,
    [RONDO_EV_AGENT_IDLE] = apply_idle,
    [RONDO_EV_WAKE_WARNING] = mail_warn,
    [RONDO_EV_COORDINATOR_INBOX] = coordinator_notice,
    [RONDO_EV_RESUME_QUEUED] = mail_tell_queued,
    [RONDO_EV_STOP_ASKED] = stop_ask,
    [RONDO_EV_LOOP_PAUSED] = apply_loop,
    [RONDO_EV_FILES_SEEN] = seen_apply,
};

/* What the coordinator is told of as long as there is somebody who ends. */
#define BIT(type) (1ull << RONDO_EV_##type)
#define ENDS (BIT(STEP_END) | BIT(STEP_FAILED) | BIT(STEP_SKIPPED) | BIT(STEP_CANCELLED) | BIT(ITERATION_END))

void run_apply(struct run *run, struct rondo_event *ev)
{
    ev->run = run;
    ev->seq = ++run->seq;
    run->now_ns = ev->time_ns;
    if (UNLIKELY(run->coordinator) && ENDS >> ev->type & 1)
        coordinator_see(run, ev);
    appliers[ev->type](run, ev);
    if (UNLIKELY(run->coordinator) && ev->type == RONDO_EV_STEP_START)
        coordinator_see(run, ev);
}
