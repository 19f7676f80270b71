/* run.c - the run: lists of activations, planning, and what the shell is to do. */
#include "run/run.h"

#include "run/act.h"
#include "run/asks.h"
#include "run/budget.h"
#include "run/coordinator.h"
#include "run/each.h"
#include "run/encore.h"
#include "run/errand.h"
#include "run/graph.h"
#include "run/kinds.h"
#include "run/limits.h"
#include "run/loop.h"
#include "run/mail.h"
#include "run/mend.h"
#include "run/reserve.h"
#include "run/stop.h"

#include <stdlib.h>
#include <string.h>

void slots_push(struct slot_list *list, uint32_t slot)
{
    if (UNLIKELY(list->count == list->cap)) {
        uint32_t cap = list->cap ? list->cap * 2 : 8;
        uint32_t *slots = mem_alloc(cap * sizeof *slots);
        for (uint32_t i = 0; i < list->count; i++)
            slots[i] = list->slots[(list->head + i) & (list->cap - 1)];
        mem_free(list->slots);
        *list = (struct slot_list){ slots, 0, list->count, cap };
    }
    list->slots[(list->head + list->count++) & (list->cap - 1)] = slot; // cap is a power of two
}

uint32_t slots_pop(struct slot_list *list)
{
    uint32_t slot = list->slots[list->head];
    list->head = (list->head + 1) & (list->cap - 1);
    list->count--;
    return slot;
}

void run_init(struct run *run, rondo_node *node)
{
    run->holder = node_holder(node);
}

/* What only cost memory stays for the next run in this place. */
void run_clear(struct run *run)
{
    for (uint32_t i = 0; i < run->act_count; i++)
        if (run->acts[i]->state != ACT_FREE)
            act_free(run, run->acts[i]);
    run_settle(run);
    for (uint32_t i = 0; i < run->act_made; i++)
        run->acts[i]->dirty = run->acts[i]->starved = false;
    json_decref(run->question.value);
    mem_free(run->question.error);
    json_decref(run->input);
    json_decref(run->old_inputs);
    json_decref(run->state);
    memory_clear(&run->memory);
    mail_clear(&run->mail);
    encores_clear(&run->encores);
    mem_free(run->held_loops);
    mem_free(run->limited);
    mem_free(run->past_limits);
    mem_free(run->past_budgets);
    json_decref(run->within);
    json_decref(run->changed);
    mem_free(run->session);
    mem_free(run->summary);
    json_decref(run->always);
    mem_free(run->cancel_why);
    *run = (struct run){ .acts = run->acts, .act_made = run->act_made, .act_cap = run->act_cap,
                         .dirty = { run->dirty.slots, 0, 0, run->dirty.cap },
                         .starved = { run->starved.slots, 0, 0, run->starved.cap },
                         .commands = run->commands, .command_cap = run->command_cap,
                         .reserves = run->reserves, .reserve_cap = run->reserve_cap,
                         .counts = run->counts, .count_cap = run->count_cap,
                         .dropped = run->dropped, .drop_cap = run->drop_cap };
}

void run_free(struct run *run)
{
    run_clear(run);
    for (uint32_t i = 0; i < run->act_made; i++)
        mem_free(run->acts[i]);
    mem_free(run->acts);
    mem_free(run->dirty.slots);
    mem_free(run->starved.slots);
    mem_free(run->commands);
    mem_free(run->counts);
    mem_free(run->reserves);
    mem_free(run->dropped);
}

void run_settle(struct run *run)
{
    for (uint32_t i = 0; i < run->drop_count; i++)
        json_decref(run->dropped[i]);
    run->drop_count = 0;
    memory_settle(&run->memory);
}

struct act *run_loop_around(struct run *run, const struct act *act, bool eaches)
{
    while (act->slot && !(eaches && act->node->is_file)) { // actions stay in their file
        act = run_act(run, act->parent);
        if (eaches && node_is_leaf(act->node)) // and in the call that an agent has made
            return NULL;
        if (act->slot && (node_is_loop(act->node) || (eaches && act->node->kind == RONDO_KIND_EACH)))
            return (struct act *)act;
    }
    return NULL;
}

struct act *run_file_around(struct run *run, const struct act *act)
{
    while (act->slot && !act->node->is_file) {
        act = run_act(run, act->parent);
        if (node_is_leaf(act->node)) // an agent has called it
            return NULL;
    }
    return act->slot && act->parent ? (struct act *)act : NULL;
}

json_t **run_state_at(struct run *run, const struct act *act)
{
    for (; act->slot; act = run_act(run, act->parent))
        if (act->node->is_file && act->parent)
            return &((struct act *)act)->own_state;
    return &run->state;
}

void run_set_state(struct run *run, json_t **state, json_t *delta)
{
    const char *key;
    json_t *value;
    if (!*state)
        *state = json_object();
    json_object_foreach(delta, key, value) {
        run_drop(run, json_incref(json_object_get(*state, key)));
        if (json_is_null(value))
            json_object_del(*state, key);
        else
            json_object_set(*state, key, value);
    }
}

const struct result *run_result(struct run *run)
{
    return &run->acts[0]->kids[0].res;
}

/* Siblings that have ended, then the steps around the container, and so on outwards. */
const struct result *run_visible(struct run *run, const struct act *act, const char *name)
{
    while (act->slot) {
        act = run_act(run, act->parent);
        for (uint32_t i = 0; i < act->kid_count; i++) {
            const struct node_child *child = &act->node->children[i];
            const struct kid *kid = &act->kids[i];
            if (!child->node || !kid->res.status)
                continue;
            if (strcmp(child->name, name) == 0)
                return &kid->res;
            const struct result *inner = child->node->anonymous ? result_step(&kid->res, name) : NULL;
            if (inner)
                return inner;
        }
    }
    return NULL;
}

/* ---- commands ------------------------------------------------------------------------------------ */

static struct run_command *push_command(struct run *run)
{
    mem_grow(&run->commands, &run->command_cap, run->command_count, sizeof *run->commands);
    return &run->commands[run->command_count++];
}

void run_command(struct run *run, enum command_type type, const struct act *act)
{
    *push_command(run) = (struct run_command){ .type = (uint8_t)type, .act = act->slot, .gen = act->gen,
                                           .token = act->token };
}

APART void run_answer(struct run *run, const struct act *act, uint32_t number, uint8_t type, uint8_t reason)
{
    *push_command(run) = (struct run_command){ .type = CMD_ANSWER, .act = act->slot, .gen = act->gen,
                                               .token = act->token, .child = number, .ordinal = type,
                                               .reason = reason };
}

/* num of the event is a number of the shell's; 0: nobody waits.  Errands are answered when they are done. */
static APART void answer(struct run *run, const struct rondo_event *ev, uint8_t reason)
{
    const struct act *act = run_act(run, ev->act);
    if (ev->num && !(ev->type == RONDO_EV_NOTE && errand_is(act, ev->value)))
        run_answer(run, act, (uint32_t)ev->num, ev->type, reason);
}

static void answer_ask(struct run *run, const struct act *act, uint32_t number)
{
    *push_command(run) = (struct run_command){ .type = CMD_ANSWER, .act = act->slot, .gen = act->gen,
                                               .token = act->token, .child = ASKS_MAX + number,
                                               .ordinal = RONDO_EV_GATE_ANSWERED };
}

void run_timer(struct run *run, enum timer timer, const struct act *act, uint32_t child,
               uint32_t ordinal, int64_t due_ns)
{
    *push_command(run) = (struct run_command){ .type = CMD_TIMER, .timer = (uint8_t)timer,
                                           .act = act->slot, .gen = act->gen, .child = child,
                                           .ordinal = ordinal, .due_ns = due_ns };
}

int64_t run_timeout_at(const struct run *run)
{
    const struct act *holder = run->act_count ? run->acts[0] : NULL;
    return holder && run->timeout_ns ? holder->start_ns + run->timeout_ns + run->idle_ns - holder->idle_ns : INT64_MAX;
}

/* Limits of time begin with the activation, as that of one call; those of a step are shared by all its attempts. */
static void start_timers(struct run *run, struct act *act)
{
    const rondo_options *opts = &limits_of(run, act->node)->opts;
    if (act->slot && opts->timeout_ms) {
        int64_t end_ns = act_kid(run, act)->first_ns + opts->timeout_ms * MS;
        run_timer(run, TIMER_TIMEOUT, act, 0, 0, end_ns + run->idle_ns);
    }
    if (act->node->call_ms)
        run_timer(run, TIMER_CALL, act, 0, 0, act->call_ns + act->node->call_ms * MS + run->idle_ns);
    if (!act->slot && run->timeout_ns)
        run_timer(run, TIMER_TIMEOUT, act, 0, 0, run_timeout_at(run));
    if (budget_of(run, act)->time_ms)
        run_timer(run, TIMER_BUDGET, act, 0, 0, budget_end_ns(run, act));
}

/* A wait for the next try ends with the step's time at the latest. */
static int64_t backoff_end_ns(const struct run *run, const struct act *act, uint32_t child,
                              const struct kid *kid)
{
    int64_t timeout_ms = limits_of(run, act->node->children[child].node)->opts.timeout_ms;
    int64_t end_ns = kid->first_ns + timeout_ms * MS + run->idle_ns;
    return timeout_ms ? MIN(kid->due_ns, end_ns) : kid->due_ns;
}

/* Whoever hears that it is called off has some time to end. */
static void time_off(struct run *run, const struct act *act)
{
    if (act->off_ns > run->now_ns)
        run_timer(run, TIMER_CALLED_OFF, act, 0, 0, act->off_ns);
}

/* Has a cancel, an abort or a limit left something to be done?  What is paid for may come in: of the limits around some
   steps only that of time hurries them. */
static bool cleans_up(const struct act *act)
{
    bool is_late = act->close == CLOSE_TIMEOUT || (act->close == CLOSE_BUDGET && act->reason == RONDO_REASON_TIME);
    return act->slot ? act_is_aborted(act) || (is_late && !node_is_leaf(act->node)) : act->close;
}

/* That is not done for ever. */
static void time_cleanup(struct run *run, const struct act *act)
{
    if (cleans_up(act) && !act_is_hurried(run, act))
        run_timer(run, TIMER_CLEANUP, act, 0, 0, run->now_ns + run->cleanup_ns);
}

/* Old timers are refused when they come too early. */
static void time_limits(struct run *run, const struct rondo_event *ev)
{
    const char *path = json_string_value(json_object_get(ev->value, "path"));
    const rondo_node *node = *path ? limits_node(run, path) : run->holder;
    for (uint32_t slot = 0; slot < run->act_count; slot++)
        if (run->acts[slot]->state != ACT_FREE && !run->acts[slot]->close && run->acts[slot]->node == node)
            start_timers(run, run->acts[slot]);
}

/* What a decision means for the world; derived from the event and the state, never stored. */
static void command_for(struct run *run, const struct rondo_event *ev)
{
    struct act *act;
    switch (ev->type) {
    case RONDO_EV_STEP_START:
        act = run_act(run, ev->act);
        if (act->node->kind == RONDO_KIND_AGENT && !act->in_doubt && !act->is_idle)
            run_command(run, CMD_INVOKE, act);
        if (act->node->opts.timeout_ms || act->node->call_ms || act->node->opts.budget.time_ms)
            start_timers(run, act);
        break;
    case RONDO_EV_DELAY:
        run_timer(run, TIMER_DELAY, run_act(run, ev->act), 0, 0, ev->num);
        break;
    case RONDO_EV_RETRY:
        act = run_act(run, ev->parent);
        if (ev->num > ev->time_ns)
            run_timer(run, TIMER_BACKOFF, act, ev->child, ev->ordinal,
                      backoff_end_ns(run, act, ev->child, kid_get(run, act, ev->child, ev->ordinal)));
        break;
    case RONDO_EV_GATE_WAITING:
        act = run_act(run, ev->act);
        if (act->node->kind == RONDO_KIND_GATE && act->node->gate.timeout_ms)
            run_timer(run, TIMER_GATE, act, 0, 0, ev->time_ns + act->node->gate.timeout_ms * MS);
        break;
    case RONDO_EV_GATE_ANSWERED: // the shell does what was said
        act = run_act(run, ev->act);
        if (asks_number(ev->value))
            answer_ask(run, act, asks_number(ev->value));
        else if (act->node->kind == RONDO_KIND_AGENT)
            run_command(run, CMD_INVOKE, act);
        break;
    case RONDO_EV_FILES_SEEN:
        act = run_act(run, ev->act);
        if (act->seen && !act->close) // what was there before it is noted, and it may begin
            run_command(run, CMD_INVOKE, act);
        break;
    case RONDO_EV_AGENT_WAKE:
        if (!(ev->flags & EF_TOLD)) // it rested
            run_command(run, CMD_INVOKE, run_act(run, ev->act));
        answer(run, ev, 0);
        break;
    case RONDO_EV_NOTE:
    case RONDO_EV_GRANTED: answer(run, ev, 0); break;
    case RONDO_EV_MESSAGE_SENT:
        answer(run, ev, run->mail.outcome);
        if (UNLIKELY(run->mail.off))
            time_off(run, run_act(run, run->mail.off));
        break;
    case RONDO_EV_REFUSED: answer(run, ev, ev->code); break;
    case RONDO_EV_REOPENED:
        if (json_object_get(ev->value, "goesOn")) // run_resumed follows
            break;
        // fall through
    case RONDO_EV_RESUMED: run_derive_commands(run); break;
    case RONDO_EV_LIMITS: time_limits(run, ev); break;
    case RONDO_EV_WORKFLOW_START: start_timers(run, run_act(run, 0)); break;
    case RONDO_EV_TIMER: // it may be a limit
    case RONDO_EV_CANCEL: time_cleanup(run, run_act(run, ev->act)); break;
    default: break;
    }
}

static void derive_kid(struct run *run, struct act *act, struct kid *kid, uint32_t child,
                       uint32_t ordinal)
{
    if (kid->state == KID_BACKOFF)
        run_timer(run, TIMER_BACKOFF, act, child, ordinal, backoff_end_ns(run, act, child, kid));
}

/* The rest of a wait, never longer than all of it: the clock may have been set back. */
static void resume_wait(struct run *run, enum timer timer, struct act *act, int64_t due_ns,
                        int64_t length_ms)
{
    run_timer(run, timer, act, 0, 0, MIN(due_ns, run->now_ns + length_ms * MS));
}

static int by_start(const void *a, const void *b)
{
    const struct act *left = *(struct act *const *)a, *right = *(struct act *const *)b;
    return left->start_seq < right->start_seq ? -1 : left->start_seq > right->start_seq;
}

static bool is_taken_up(const struct run *run, const struct act *act)
{
    return act->state != ACT_FREE && act->in_flight && !act->wait_ns && !act->is_idle && !act_is_unknown(run, act);
}

/* Agents that were at work begin again in the order in which they had begun. */
static void invoke_again(struct run *run)
{
    struct act **acts = mem_alloc(run->act_count * sizeof *acts);
    uint32_t count = 0;
    for (uint32_t slot = 0; slot < run->act_count; slot++)
        if (is_taken_up(run, run->acts[slot]))
            acts[count++] = run->acts[slot];
    qsort(acts, count, sizeof *acts, by_start);
    for (uint32_t i = 0; i < count; i++)
        run_command(run, CMD_INVOKE, acts[i]);
    mem_free(acts);
}

void run_derive_commands(struct run *run)
{
    for (uint32_t slot = 0; slot < run->act_count; slot++) {
        struct act *act = run->acts[slot];
        if (act->state == ACT_FREE)
            continue;
        run_touch(run, act);
        start_timers(run, act);
        time_cleanup(run, act);
        act->in_flight = act->node->kind == RONDO_KIND_AGENT;
        if (act->node->kind == RONDO_KIND_GATE && act->state == ACT_WAITING && act->node->gate.timeout_ms &&
            !act->tries)
            resume_wait(run, TIMER_GATE, act, act->wait_ns + act->node->gate.timeout_ms * MS,
                        act->node->gate.timeout_ms);
        if (act->off_ns)
            time_off(run, act);
        if (node_is_loop(act->node) && act->loop->phase == LOOP_DELAY)
            resume_wait(run, TIMER_DELAY, act, act->wait_ns, act->node->loop.delay_ms);
        if (act->pause_ns)
            run_timer(run, TIMER_DELAY, act, 0, 0, act->pause_ns);
        for (uint32_t i = 0; i < act->kid_count; i++)
            derive_kid(run, act, &act->kids[i], i, 0);
        for (uint32_t i = 0; act->node->kind == RONDO_KIND_EACH && i < act->each->open_count; i++)
            derive_kid(run, act, &act->each->open[i].kid, 0, act->each->open[i].ordinal);
    }
    invoke_again(run);
}

static bool waits_for_time(const struct act *act)
{
    if (act->pause_ns || (node_is_loop(act->node) && act->loop->phase == LOOP_DELAY))
        return true;
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (act->kids[i].state == KID_BACKOFF)
            return true;
    for (uint32_t i = 0; act->node->kind == RONDO_KIND_EACH && i < act->each->open_count; i++)
        if (act->each->open[i].kid.state == KID_BACKOFF)
            return true;
    return false;
}

/* An agent that has asked may do other things while it waits for the answer. */
static bool works_on(const struct act *act)
{
    return act->asking && !act->rests;
}

bool run_waits_for_people(const struct run *run)
{
    if (!run->gates || run->status || run->dirty.count || run->command_count)
        return false;
    if (run->busy)
        return false;
    for (uint32_t slot = 0; slot < run->act_count; slot++)
        if (run->acts[slot]->state != ACT_FREE && (works_on(run->acts[slot]) || waits_for_time(run->acts[slot])))
            return false;
    return true;
}

bool run_is_left(struct run *run)
{
    return run_has_stopped(run) || (run->overdue && run_waits_for_people(run));
}

/* ---- planning ------------------------------------------------------------------------------------ */

/* Everything inside has ended, or the kind still has something to start. */
static enum plan plan_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    const struct kind *kind = act->kind;
    bool early = act->node->kind == RONDO_KIND_GRAPH || node_is_leaf(act->node);
    if (act->open && !early)
        return PLAN_IDLE;
    enum plan what = kind->closed ? kind->closed(run, act, ev) : PLAN_IDLE;
    if (UNLIKELY(what == PLAN_WAIT))
        return PLAN_IDLE;
    if (what != PLAN_IDLE || act->open || node_is_leaf(act->node))
        return what;
    if (act->close == CLOSE_TIMEOUT)
        return decide_late(run, act, ev);
    if (act->close != CLOSE_BUDGET)
        return decide(act, RONDO_EV_STEP_CANCELLED, ev);
    const struct result *failure = kind->failure ? kind->failure(act) : NULL;
    if (failure)
        return decide_fail_with(run, act, failure, ev);
    decide_spent(run, act, ev);
    return graph_leave_behind(run, act, ev);
}

/* A container whose budget is used up ends with what it has; a loop sees to that itself when its pass is over or
   something is to start in it (kid_start()), unless a call in it was refused. */
static inline bool must_stop(const struct run *run, const struct act *act)
{
    return (act->node->has_budget || !act->slot) && !node_is_leaf(act->node) && budget_reason(run, act) &&
           (!node_is_loop(act->node) || (act->ledger && act->ledger->refused));
}

static enum plan plan_act(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (UNLIKELY(act->close))
        return plan_closed(run, act, ev);
    if (UNLIKELY(must_stop(run, act)))
        return decide_close(act, CLOSE_BUDGET, (uint8_t)budget_reason(run, act), ev);
    return act->kind->plan(run, act, ev);
}

/* What somebody reads back from a log has to be in it. */
static APART enum plan plan_mended(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what = plan_act(run, act, ev);
    if (what == PLAN_DECIDE && ev->type == RONDO_EV_STEP_END && ev->act == act->slot &&
        !(ev->flags & (EF_VALUE | EF_UNSTARTED)))
        mend_say(run, act, ev);
    return what;
}

static bool has_free_place(const struct run *run)
{
    return !run->max_busy || run->busy < run->max_busy;
}

/* Containers that had no place for a leaf come back in the order in which they came. */
static void feed_starved(struct run *run)
{
    while (run->starved.count && has_free_place(run) && !run->dirty.count) {
        struct act *act = run_act(run, slots_pop(&run->starved));
        act->starved = false;
        if (act->state == ACT_FREE)
            continue;
        act->fed = true;
        run_touch(run, act);
    }
}

void run_touch_first(struct run *run, struct act *act)
{
    struct slot_list *list = &run->dirty;
    uint32_t at = 0, mask;
    run_touch(run, act);
    mask = list->cap - 1;
    while (list->slots[(list->head + at) & mask] != act->slot)
        at++;
    for (; at; at--)
        list->slots[(list->head + at) & mask] = list->slots[(list->head + at - 1) & mask];
    list->slots[list->head] = act->slot;
}

/* Takes the first activation off the list. */
static void done_planning(struct run *run, struct act *act)
{
    act->dirty = act->fed = false;
    slots_pop(&run->dirty);
}

/* Calls are looked at when nothing else is to be decided; then the coordinator may wake up. */
static APART enum plan plan_last(struct run *run, struct rondo_event *ev)
{
    enum plan what = PLAN_IDLE;
    if (run->status)
        return PLAN_IDLE;
    if (run->reserve_at < run->reserve_count)
        what = reserve_plan(run, ev);
    if (what == PLAN_IDLE)
        what = coordinator_plan_wake(run, ev);
    ev->time_ns = run->now_ns;
    return what;
}

enum plan run_plan(struct run *run, struct rondo_event *ev)
{
    if (UNLIKELY(run->mail.refused.count) && !run->status)
        return (enum plan)mail_plan_drop(run, ev);
    if (UNLIKELY(run->mail.queued.count || run->mail.replies.count) && !run->status)
        return (enum plan)mail_plan_reply(run, ev);
    if (UNLIKELY(run->mail.notices.count) && !run->status)
        return coordinator_plan_notice(run, ev);
    for (;;) {
        if (UNLIKELY(!run->dirty.count && run->starved.count))
            feed_starved(run);
        if (!run->dirty.count || UNLIKELY(run->status))
            return LIKELY(run->reserve_at >= run->reserve_count && !run->coordinator) ? PLAN_IDLE
                                                                                      : plan_last(run, ev);
        struct act *act = run_act(run, run->dirty.slots[run->dirty.head]);
        run->planned = false;
        enum plan what = act->state == ACT_FREE      ? PLAN_IDLE
                         : UNLIKELY(act->mended) ? plan_mended(run, act, ev)
                                                 : plan_act(run, act, ev);
        if (what == PLAN_IDLE) {
            done_planning(run, act);
            continue;
        }
        if (what == PLAN_DECIDE && run->planned)
            done_planning(run, act);
        ev->time_ns = run->now_ns;
        return what;
    }
}

void run_tell(struct run *run)
{
    run->question.answered = true;
}

/* ---- what the shell would like to apply ------------------------------------------------------------ */

/* A limit was raised since the timer was set: another timer is set for it. */
static bool is_early(struct run *run, const struct act *act, int timer)
{
    int64_t timeout_ms = limits_of(run, act->node)->opts.timeout_ms;
    if (timer == TIMER_BUDGET)
        return budget_of(run, act)->time_ms && budget_end_ns(run, act) > run->now_ns;
    if (timer != TIMER_TIMEOUT)
        return false;
    int64_t end_ns = act->slot ? act_kid(run, act)->first_ns + timeout_ms * MS + run->idle_ns : run_timeout_at(run);
    return end_ns > run->now_ns;
}

static bool accepts_timer(struct run *run, struct act *act, const struct rondo_event *ev)
{
    const struct kid *kid;
    switch (ev->code) {
    case TIMER_DELAY:
        return !act->close && (act->pause_ns || (node_is_loop(act->node) && act->loop->phase == LOOP_DELAY));
    case TIMER_GATE: return act->state == ACT_WAITING && !act->close && !act->tries;
    case TIMER_BACKOFF:
        kid = kid_get(run, act, ev->child, ev->back);
        return kid && kid->state == KID_BACKOFF && !act->close;
    case TIMER_CLEANUP: return act->close && !act_is_hurried(run, act);
    default: return !act->close && !(run->has_new_limits && is_early(run, act, ev->code));
    }
}

bool run_accepts(struct run *run, const struct rondo_event *ev)
{
    if (run->status || !run->act_count)
        return false;
    if (ev->type == RONDO_EV_STOP_ASKED)
        return !run_act(run, 0)->close;
    if (ev->type == RONDO_EV_CANCEL || (!ev->act && ev->type == RONDO_EV_MESSAGE_SENT) ||
        (!ev->act && ev->type == RONDO_EV_BUDGET)) // to the whole run
        return true;
    struct act *act = run_find_act(run, ev->act, ev->ordinal);
    if (!act)
        return false;
    if (ev->type == RONDO_EV_TIMER)
        return accepts_timer(run, act, ev);
    if (ev->type == RONDO_EV_DELAY)
        return !act->close && !act->pause_ns;
    if (ev->type == RONDO_EV_GATE_ANSWERED)
        return asks_number(ev->value) ? asks_open(act, asks_number(ev->value)) != NULL : act->state == ACT_WAITING;
    if (ev->type == RONDO_EV_MESSAGE_SENT) // what becomes of it is decided, and told
        return true;
    if (ev->type == RONDO_EV_FILES_SEEN) // how it is now, also of what is being cancelled
        return !act->close || act->seen;
    if (ev->type == RONDO_EV_SETTLED) // what was spent was spent
        return reserve_is_held(run, act->slot, ev->num);
    if (ev->type == RONDO_EV_STEP_FAILED && act_is_overdue(run, act)) // what it had said until then
        return json_integer_value(json_object_get(ev->value, "code")) == RONDO_ETIME;
    return !act->close || act_is_awaited(run, act);
}

void run_decide(struct run *run, struct rondo_event *ev)
{
    static const uint64_t commanding = 1ull << RONDO_EV_STEP_START | 1ull << RONDO_EV_DELAY |
                                       1ull << RONDO_EV_RETRY | 1ull << RONDO_EV_GATE_WAITING |
                                       1ull << RONDO_EV_RESUMED | 1ull << RONDO_EV_REOPENED |
                                       1ull << RONDO_EV_WORKFLOW_START |
                                       1ull << RONDO_EV_CANCEL | 1ull << RONDO_EV_TIMER |
                                       1ull << RONDO_EV_GATE_ANSWERED | 1ull << RONDO_EV_NOTE |
                                       1ull << RONDO_EV_GRANTED | 1ull << RONDO_EV_REFUSED |
                                       1ull << RONDO_EV_MESSAGE_SENT | 1ull << RONDO_EV_AGENT_WAKE |
                                       1ull << RONDO_EV_LIMITS | 1ull << RONDO_EV_FILES_SEEN;
    run_apply(run, ev);
    if (commanding >> ev->type & 1)
        command_for(run, ev);
}
