/* admit.c - may an event from a log be applied to the run as it is?

   A log comes from outside: its bytes may be whole and its words still be wrong.  run_apply() trusts
   what it is given, so everything it relies on is asked here first, one question per type of event.
   Events of a living run are never asked: the planner makes only what fits. */
#include "run/act.h"
#include "run/anew.h"
#include "run/asks.h"
#include "run/each.h"
#include "run/encore.h"
#include "run/errand.h"
#include "run/limits.h"
#include "run/loop.h"
#include "run/reopen.h"
#include "run/reserve.h"
#include "run/review.h"
#include "run/seen.h"

static struct act *live(struct run *run, uint32_t slot)
{
    return slot < run->act_count && run->acts[slot]->state != ACT_FREE ? run->acts[slot] : NULL;
}

static bool has_object(const struct rondo_event *ev)
{
    return ev->flags & EF_VALUE && json_is_object(ev->value);
}

static bool is_time(int64_t ns)
{
    return ns >= 0 && (uint64_t)ns <= TIME_MAX_NS;
}

/* The nodes of rules look at a pass that has ended; all others are a part of one. */
static bool has_turn(const struct act *loop, uint32_t child)
{
    bool is_rule = !loop_is_machine(loop) && child != ROLE_BODY && child != ROLE_SCORE;
    return is_rule ? loop->loop->phase == LOOP_RULES
                   : loop->loop->phase == LOOP_BODY || loop->loop->phase == LOOP_SCORE;
}

/* The place of a child that an event names; *ret_kid is NULL for an item that has not begun. */
static bool names_child(struct run *run, const struct rondo_event *ev, struct kid **ret_kid)
{
    struct act *parent = live(run, ev->parent);
    if (!parent || ev->child >= parent->node->count || !parent->node->children[ev->child].node)
        return false;
    if (node_is_loop(parent->node) && !has_turn(parent, ev->child))
        return false;
    if (node_is_leaf(parent->node))
        return (*ret_kid = errand_kid(parent, ev->child, ev->ordinal)) != NULL;
    if (parent->node->kind == RONDO_KIND_EACH) {
        *ret_kid = each_kid(parent, ev->ordinal);
        return ev->ordinal < parent->each->count && (*ret_kid || !parent->each->results[ev->ordinal].status);
    }
    *ret_kid = parent->kids ? &parent->kids[ev->child] : NULL;
    return *ret_kid != NULL;
}

/* A slot that is kept is free again when the child starts anew that it was kept for. */
static bool is_held_for(struct run *run, const struct rondo_event *ev)
{
    const struct act *act = run->acts[ev->act];
    return act->parent == ev->parent && act->child == ev->child && act->ordinal == ev->ordinal;
}

static bool admits_start(struct run *run, const struct rondo_event *ev)
{
    struct kid *kid;
    bool slot_is_free = ev->act == run->act_count || (ev->act < run->act_count && !live(run, ev->act));
    if (slot_is_free && ev->act < run->act_count && run->acts[ev->act]->is_held)
        slot_is_free = is_held_for(run, ev);
    if (!ev->act || !slot_is_free || !names_child(run, ev, &kid))
        return false;
    if (kid ? kid->state != KID_NEW || kid->attempt != ev->attempt : ev->attempt != 0)
        return false;
    if (!ev->parent && ev->child >= ENCORE_FIRST && !encore_admits(run, ev))
        return false;
    const rondo_node *node = run_act(run, ev->parent)->node->children[ev->child].node;
    bool skilled = node->kind == RONDO_KIND_AGENT && node->agent.skill_count;
    return !skilled || ev->code < node->agent.skill_count || ev->code == SKILL_OPEN;
}

static bool admits_unstarted(struct run *run, const struct rondo_event *ev)
{
    struct kid *kid;
    if (!names_child(run, ev, &kid) || (ev->type == RONDO_EV_STEP_FAILED && !has_object(ev)))
        return false;
    if (kid && kid->asked & KID_UNTOLD)
        return ev->type == RONDO_EV_STEP_FAILED && kid->attempt == ev->attempt;
    return kid ? kid->state == KID_NEW || kid->state == KID_BACKOFF : ev->attempt == 0;
}

static bool is_around(struct run *run, const struct act *act, uint32_t slot)
{
    while (act->slot && act->parent != slot)
        act = run_act(run, act->parent);
    return act->slot != 0;
}

static bool admits_actions(struct run *run, const struct act *act, const struct rondo_event *ev)
{
    struct act *loop = ev->flags & EF_BREAK ? live(run, ev->parent) : NULL;
    if (!(ev->flags & EF_BREAK))
        return true;
    if (loop && loop->slot && loop->node->kind == RONDO_KIND_FORUM)
        return loop->node->forum.early_return && act->parent == loop->slot && act->child < loop->node->forum.members;
    return loop && loop->slot && (node_is_loop(loop->node) || loop->node->kind == RONDO_KIND_EACH) &&
           is_around(run, act, loop->slot);
}

/* A leaf ends with its value, a container with what follows from its children. */
static bool admits_end(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (ev->flags & EF_UNSTARTED)
        return admits_unstarted(run, ev);
    if (!act || !act->slot || act->open || !admits_actions(run, act, ev))
        return false;
    if (ev->type == RONDO_EV_STEP_FAILED)
        return has_object(ev);
    bool says = ev->flags & EF_VALUE && (!(ev->flags & EF_FULL) || json_is_object(ev->value));
    if (ev->type == RONDO_EV_STEP_END)
        return says || (!(ev->flags & EF_VALUE) && !node_is_leaf(act->node));
    return !(ev->flags & EF_VALUE) || (says && (act->node->is_file || act->node->kind == RONDO_KIND_EACH));
}

static bool admits_loop_end(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    bool is_each = act && act->node->kind == RONDO_KIND_EACH;
    if (!act || act->open || (is_each ? act->each->ended : !node_is_loop(act->node)))
        return false;
    return ev->code < REASON_COUNT && (!(ev->flags & EF_VALUE) || has_object(ev));
}

/* A limit may come before the next try of a body that has failed. */
static bool has_body_ended(const struct act *loop)
{
    const struct kid *kid = loop_body(loop);
    return kid->state == KID_ENDED || (loop->close && kid->res.status);
}

static bool admits_pass(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (!act || !node_is_loop(act->node) || act->open)
        return false;
    if (ev->ordinal != act->loop->history.count)
        return false;
    if (ev->type == RONDO_EV_ITERATION_END)
        return ev->code <= RONDO_STATUS_PARTIAL && has_body_ended(act) && act->loop->phase != LOOP_RULES &&
               act->loop->phase != LOOP_ENDED;
    return ev->child < act->node->count && act->node->children[ev->child].node;
}

static bool admits_loop(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (!act || !node_is_loop(act->node))
        return false;
    if (ev->type == RONDO_EV_MEMORY_TRIM)
        return ev->num >= 0 && ev->num <= UINT32_MAX;
    return ev->type != RONDO_EV_DELAY || (act->state == ACT_RUNNING && is_time(ev->num));
}

/* A loop between two passes, or an agent that has nothing to do for a while. */
static bool admits_delay(struct run *run, const struct rondo_event *ev)
{
    const struct act *act = live(run, ev->act);
    if (!act || act->node->kind != RONDO_KIND_AGENT)
        return admits_loop(run, ev);
    return act->state == ACT_RUNNING && !act->is_idle && ev->num > 0 && is_time(ev->num);
}

static bool admits_retry(struct run *run, const struct rondo_event *ev)
{
    struct kid *kid;
    return names_child(run, ev, &kid) && kid && kid->state == KID_ENDED && is_time(ev->num) &&
           kid->res.status == RONDO_STATUS_FAILED && ev->attempt == kid->attempt + 1;
}

static bool lacks_output(struct run *run, const struct rondo_event *ev)
{
    const struct act *act = live(run, ev->act);
    return act && act->node->kind == RONDO_KIND_GRAPH && act->node->output && !act->open;
}

static bool admits_rule_failed(struct run *run, const struct rondo_event *ev)
{
    struct kid *kid;
    if (!json_is_string(ev->value))
        return false;
    if (!(ev->flags & EF_UNSTARTED))
        return admits_loop(run, ev) || lacks_output(run, ev);
    return names_child(run, ev, &kid) && kid && kid->state == KID_ENDED && kid->res.status == RONDO_STATUS_FAILED;
}

static bool admits_backoff(struct run *run, const struct act *act, const struct rondo_event *ev)
{
    struct rondo_event place = { .parent = act->slot, .child = ev->child, .ordinal = ev->ordinal };
    struct kid *kid;
    return names_child(run, &place, &kid) && kid && kid->state == KID_BACKOFF && kid->attempt;
}

static bool admits_timer(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (!act)
        return false;
    switch ((enum timer)ev->code) {
    case TIMER_DELAY: return act->pause_ns || (node_is_loop(act->node) && act->state == ACT_WAITING);
    case TIMER_GATE: return act->node->kind == RONDO_KIND_GATE && act->state == ACT_WAITING && !act->tries;
    case TIMER_BACKOFF: return admits_backoff(run, act, ev);
    case TIMER_TIMEOUT:
    case TIMER_CALL:
    case TIMER_BUDGET:
    case TIMER_CLEANUP: return true;
    case TIMER_CALLED_OFF: return act->off_ns != 0;
    }
    return false;
}

static bool admits_gate(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (!act || !node_is_leaf(act->node))
        return false;
    if (act->node->kind == RONDO_KIND_AGENT && asks_number(ev->value))
        return asks_admit(act, ev->value, ev->type == RONDO_EV_GATE_ANSWERED);
    if (ev->type == RONDO_EV_GATE_WAITING)
        return act->state == ACT_RUNNING && ev->value;
    return act->state == ACT_WAITING && act->wait_ns && has_object(ev) && json_object_get(ev->value, "value");
}

static bool admits_choice(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (!act || act->open || !act->kids)
        return false;
    if (act->node->kind == RONDO_KIND_FORUM)
        return ev->child == act->tries + 1u && ev->child < act->node->forum.rounds;
    return act->node->kind == RONDO_KIND_BRANCH && !act->tries && ev->child < act->node->count;
}

static bool admits_items(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (!act || act->node->kind != RONDO_KIND_EACH || !(ev->flags & EF_VALUE) || !json_is_array(ev->value))
        return false;
    return act->each->untold ? json_array_size(ev->value) == act->each->count : !act->each->items;
}

/* State, memory, costs: an object about an activation that lives. */
static bool admits_object(struct run *run, const struct rondo_event *ev)
{
    return live(run, ev->act) && has_object(ev);
}

static bool admits_reserve(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (!act || act->node->kind != RONDO_KIND_AGENT || !has_object(ev) || ev->num <= 0 || ev->num > UINT32_MAX)
        return false;
    const struct reserve *reserve = reserve_find(run, ev->act, ev->num);
    return ev->type == RONDO_EV_RESERVE ? !reserve : reserve && reserve->held;
}

/* The owner of a budget that refuses is around the agent, or itself. */
static bool admits_reserved(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act), *owner;
    const struct reserve *reserve = act ? reserve_find(run, ev->act, ev->num) : NULL;
    if (!reserve || reserve->held || ev->type == RONDO_EV_GRANTED)
        return reserve && !reserve->held;
    owner = live(run, ev->ordinal);
    return owner && (owner == act || is_around(run, act, owner->slot)) && ev->code &&
           ev->code < REASON_COUNT;
}

static bool admits_note(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    return act && act->node->kind == RONDO_KIND_AGENT && ev->value;
}

static bool admits_sent(struct run *run, const struct rondo_event *ev)
{
    return live(run, ev->act) && ev->flags & EF_VALUE && mail_is_message(ev->value);
}

static bool admits_dropped(struct run *run, const struct rondo_event *ev)
{
    return has_object(ev) && ev->num > 0 && mail_has(run, (uint64_t)ev->num) && ev->code &&
           ev->code < MAIL_REASON_END;
}

static bool admits_drain(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    bool can_hear = act && (act->node->kind == RONDO_KIND_AGENT || node_is_loop(act->node));
    return can_hear && ev->flags & EF_REF && mail_is_next(run, act, ev->ref);
}

static bool admits_notice(struct run *run, const struct rondo_event *ev)
{
    return live(run, ev->act) && ev->flags & EF_VALUE && mail_is_message(ev->value);
}

static bool admits_queued(struct run *run, const struct rondo_event *ev)
{
    return has_object(ev) && mail_is_queued(run, (uint64_t)ev->num);
}

static bool admits_warning(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    return act && act->warns;
}

static bool admits_idle(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    return act && act->node->kind == RONDO_KIND_AGENT;
}

static bool admits_message(struct run *run, const struct rondo_event *ev)
{
    return live(run, ev->act) && ev->value;
}

static bool admits_cancel(struct run *run, const struct rondo_event *ev)
{
    return live(run, ev->act) && ev->code > CLOSE_NONE && ev->code < CLOSE_COUNT;
}

static bool admits_stop(struct run *run, const struct rondo_event *ev)
{
    return !ev->act && ev->flags & EF_VALUE && json_is_string(ev->value);
}

/* Of a machine, it says which state comes next. */
static bool admits_paused(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    return act && node_is_loop(act->node) && act->loop->phase != LOOP_BODY && act->loop->phase != LOOP_SCORE &&
           act->loop->phase != LOOP_ENDED && ev->child < act->kid_count;
}

static bool admits_run_end(struct run *run, const struct rondo_event *ev)
{
    return !run->acts[0]->open && ev->code > RONDO_STATUS_RUNNING && ev->code <= RONDO_STATUS_PARTIAL;
}

static bool admits_resumed(struct run *run, const struct rondo_event *ev)
{
    return is_time(ev->num) && is_time(run->idle_ns + ev->num) && (!(ev->flags & EF_VALUE) || has_object(ev)) &&
           anew_admits(run, ev);
}

static bool admits_forked(struct run *run, const struct rondo_event *ev)
{
    const json_t *state = json_object_get(ev->value, "state");
    return admits_resumed(run, ev) && has_object(ev) && (!state || json_is_object(state));
}

static bool admits_review(struct run *run, const struct rondo_event *ev)
{
    struct act *act = live(run, ev->act);
    if (!act || act->node->kind != RONDO_KIND_GRAPH || ev->child >= act->kid_count ||
        ev->ordinal >= act->kid_count || !act->node->children[ev->child].review)
        return false;
    if (act->kids[act->node->children[ev->child].review->of].state != KID_ENDED)
        return false;
    return act->kids[ev->child].state == KID_ENDED && !(act->kids[ev->child].asked & KID_SEEN) &&
           act->kids[ev->ordinal].state == KID_ENDED && act->attention && ev->code >= REVIEW_APPROVE &&
           ev->code <= REVIEW_FAILED && (!ev->value || json_is_string(ev->value));
}

static bool (*const admits[64])(struct run *, const struct rondo_event *) = {
    [RONDO_EV_WORKFLOW_END] = admits_run_end,    [RONDO_EV_STEP_START] = admits_start,
    [RONDO_EV_STEP_END] = admits_end,            [RONDO_EV_STEP_FAILED] = admits_end,
    [RONDO_EV_STEP_SKIPPED] = admits_end,        [RONDO_EV_STEP_CANCELLED] = admits_end,
    [RONDO_EV_ITERATION_START] = admits_pass,    [RONDO_EV_ITERATION_END] = admits_pass,
    [RONDO_EV_LOOP_END] = admits_loop_end,       [RONDO_EV_RETRY] = admits_retry,
    [RONDO_EV_MESSAGE] = admits_message,         [RONDO_EV_STATE] = admits_object,
    [RONDO_EV_MEMORY] = admits_object,           [RONDO_EV_MEMORY_TRIM] = admits_loop,
    [RONDO_EV_GATE_WAITING] = admits_gate,       [RONDO_EV_GATE_ANSWERED] = admits_gate,
    [RONDO_EV_DETECTOR] = admits_loop,           [RONDO_EV_BUDGET] = admits_object,
    [RONDO_EV_CANCEL] = admits_cancel,           [RONDO_EV_DELAY] = admits_delay,
    [RONDO_EV_TIMER] = admits_timer,             [RONDO_EV_ITEMS] = admits_items,
    [RONDO_EV_NOTE] = admits_note,               [RONDO_EV_RESUMED] = admits_resumed,
    [RONDO_EV_CHOICE] = admits_choice,           [RONDO_EV_RULE_FAILED] = admits_rule_failed,
    [RONDO_EV_REVIEW] = admits_review,           [RONDO_EV_REOPENED] = reopen_admits,
    [RONDO_EV_FORKED] = admits_forked,           [RONDO_EV_RESERVE] = admits_reserve,
    [RONDO_EV_GRANTED] = admits_reserved,        [RONDO_EV_REFUSED] = admits_reserved,
    [RONDO_EV_SETTLED] = admits_reserve,         [RONDO_EV_MESSAGE_SENT] = admits_sent,
    [RONDO_EV_MESSAGE_DROPPED] = admits_dropped, [RONDO_EV_INBOX_DRAIN] = admits_drain,
    [RONDO_EV_AGENT_WAKE] = admits_idle,         [RONDO_EV_AGENT_IDLE] = admits_idle,
    [RONDO_EV_WAKE_WARNING] = admits_warning,    [RONDO_EV_COORDINATOR_INBOX] = admits_notice,
    [RONDO_EV_RESUME_QUEUED] = admits_queued,    [RONDO_EV_LIMITS] = limits_admits,
    [RONDO_EV_STOP_ASKED] = admits_stop,         [RONDO_EV_LOOP_PAUSED] = admits_paused,
    [RONDO_EV_FILES_SEEN] = seen_admits,
};

#define BIT(type) (1ull << RONDO_EV_##type)

/* Values only where they are taken, and one way of having one at a time. */
static bool has_right_flags(const struct rondo_event *ev)
{
    static const uint64_t valued =
        BIT(WORKFLOW_START) | BIT(STEP_START) | BIT(STEP_END) | BIT(STEP_FAILED) | BIT(STEP_CANCELLED) |
        BIT(ITERATION_START) | BIT(LOOP_END) | BIT(MESSAGE) | BIT(STATE) | BIT(MEMORY) |
        BIT(MEMORY_TRIM) | BIT(GATE_WAITING) | BIT(GATE_ANSWERED) | BIT(DETECTOR) | BIT(BUDGET) |
        BIT(CANCEL) | BIT(DELAY) | BIT(ITEMS) | BIT(NOTE) | BIT(RULE_FAILED) |
        BIT(REVIEW) | BIT(RESUMED) | BIT(REOPENED) | BIT(FORKED) | BIT(RESERVE) | BIT(SETTLED) |
        BIT(MESSAGE_SENT) | BIT(MESSAGE_DROPPED) | BIT(AGENT_IDLE) | BIT(COORDINATOR_INBOX) |
        BIT(RESUME_QUEUED) | BIT(LIMITS) | BIT(STOP_ASKED) | BIT(LOOP_PAUSED) | BIT(FILES_SEEN);
    if (ev->flags & EF_VALUE && (!(valued >> ev->type & 1) || ev->flags & (EF_REF | EF_COMPOSED)))
        return false;
    bool can_be_full = ev->type == RONDO_EV_STEP_END || ev->type == RONDO_EV_STEP_CANCELLED;
    if (ev->flags & EF_FULL && (!can_be_full || !has_object(ev)))
        return false;
    return !(ev->flags & EF_SCORED) || (ev->type == RONDO_EV_ITERATION_END && !(ev->flags & EF_REF));
}

bool run_can_apply(struct run *run, const struct rondo_event *ev)
{
    if (!has_right_flags(ev))
        return false;
    if (ev->type == RONDO_EV_WORKFLOW_START)
        return !run->act_count && has_object(ev);
    return run->act_count && !run->status && admits[ev->type] && admits[ev->type](run, ev);
}
