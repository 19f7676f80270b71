/* kid.c - children of containers: starting them, trying them again, knowing when they are done.

   Every container, whatever its kind, treats its children alike: `when` is asked, a leaf waits for
   a free place, its input is checked against its schema, and a failure is tried again as its retry
   says.  Containers only decide which child, and when. */
#include "base/buf.h"
#include "base/hash.h"
#include "run/act.h"
#include "run/budget.h"
#include "run/each.h"
#include "run/errand.h"
#include "run/limits.h"
#include "run/loop.h"
#include "run/stop.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct kid *kid_get(struct run *run, struct act *parent, uint32_t child, uint32_t ordinal)
{
    if (parent->node->kind == RONDO_KIND_EACH)
        return each_kid(parent, ordinal);
    return errand_can(parent->node) ? errand_kid(parent, child, ordinal) : &parent->kids[child];
}

struct kid *act_kid(struct run *run, const struct act *act)
{
    struct act *parent = run_act(run, act->parent);
    if (parent->node->kind == RONDO_KIND_EACH)
        return &parent->each->open[act->kid].kid;
    return kid_get(run, parent, act->kid, act->ordinal);
}

enum plan decide(const struct act *act, int type, struct rondo_event *ev)
{
    *ev = (struct rondo_event){ .type = (uint8_t)type, .act = act->slot };
    return PLAN_DECIDE;
}

json_t *error_value(struct run *run, const struct act *act, int code, const char *message)
{
    auto_buf struct buf path = { 0 };
    path_put_act(&path, run, act);
    json_t *error = json_object();
    json_object_set_new(error, "code", json_integer(code));
    size_t len = strlen(message);
    json_t *text = json_string(message);
    for (size_t cut = 1; !text && cut <= MIN(len, 3); cut++)
        text = json_stringn(message, len - cut); // it was cut in the middle of a character
    json_object_set_new(error, "message", text ? text : json_string("(not UTF-8)"));
    json_object_set_new(error, "path", json_stringn(path.data ? path.data : "", path.len));
    return error;
}

enum plan decide_fail(struct run *run, const struct act *act, int code, struct rondo_event *ev,
                      const char *fmt, ...)
{
    char message[ERROR_TEXT_MAX];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    decide(act, RONDO_EV_STEP_FAILED, ev);
    ev->flags = EF_VALUE | EF_MINE;
    ev->value = error_value(run, act, code, message);
    return PLAN_DECIDE;
}

int64_t act_limit_ms(const struct run *run, const struct act *act)
{
    return act->is_long ? act->node->call_ms : limits_of(run, act->node)->opts.timeout_ms;
}

enum plan decide_late(struct run *run, const struct act *act, struct rondo_event *ev)
{
    return decide_fail(run, act, RONDO_ETIME, ev, "timed out after %lld ms", (long long)act_limit_ms(run, act));
}

static bool has_output(struct run *run, struct act *act)
{
    struct result res = { 0 };
    if (node_is_leaf(act->node))
        return false; // it was cut
    if (node_is_loop(act->node))
        return history_good(&act->loop->history) != NULL;
    act->kind->project(run, act, &res);
    bool says = result_says(&res);
    result_clear(run, &res);
    return says;
}

enum plan decide_spent(struct run *run, struct act *act, struct rondo_event *ev)
{
    const struct sent_back *sent = act_kid(run, act)->sent;
    decide(act, RONDO_EV_STEP_END, ev);
    if (!sent || !sent->feedback || has_output(run, act))
        return PLAN_DECIDE;
    ev->flags = EF_VALUE | (sent->content ? EF_FULL : 0);
    ev->value = sent->content ? json_pack("{s:s, s:O*}", "content", sent->content, "result", sent->value)
                              : json_incref(sent->value ? sent->value : json_null());
    return PLAN_DECIDE;
}

enum plan decide_fail_with(struct run *run, const struct act *act, const struct result *child,
                           struct rondo_event *ev)
{
    int code = child->more ? child->more->code : RONDO_EFAILED;
    const char *error = child->more && child->more->error ? child->more->error : "cancelled";
    decide_fail(run, act, code ? code : RONDO_EFAILED, ev, "%s", error);
    ev->flags &= (uint16_t)~EF_MINE;
    return PLAN_DECIDE;
}

enum plan decide_close(const struct act *act, enum close why, uint8_t reason, struct rondo_event *ev)
{
    decide(act, RONDO_EV_CANCEL, ev);
    ev->code = (uint8_t)why;
    ev->ordinal = reason;
    return PLAN_DECIDE;
}

enum plan decide_unstarted(const struct act *act, uint32_t child, uint32_t ordinal,
                           const struct kid *kid, int type, json_t *value, struct rondo_event *ev)
{
    *ev = (struct rondo_event){ .type = (uint8_t)type, .parent = act->slot, .child = child,
                                .ordinal = ordinal, .attempt = kid->attempt,
                                .flags = EF_UNSTARTED, .value = value };
    if (value)
        ev->flags |= EF_VALUE;
    return PLAN_DECIDE;
}

bool must_ask(struct run *run, const struct act *act, enum ask what, uint32_t child)
{
    struct question *q = &run->question;
    if (q->answered && q->what == what && q->act == act->slot && q->child == child) {
        q->answered = false; // an answer is used once
        return false;
    }
    if (UNLIKELY(q->value || q->error)) {
        json_decref(q->value);
        mem_free(q->error);
        q->value = NULL;
        q->error = NULL;
    }
    q->what = what;
    q->act = act->slot;
    q->child = child;
    q->kid = NULL;
    q->number = NAN;
    return true;
}

/* A failure of the question itself, or of what it was asked for, before the step could start. */
static enum plan refuse_start(struct run *run, const struct act *act, uint32_t child, uint32_t ordinal,
                              const struct kid *kid, struct rondo_event *ev, const char *what,
                              const char *why, int code)
{
    char message[600];
    json_t *error;
    snprintf(message, sizeof message, "%s%s%s", what, *what ? ": " : "", why ? why : "failed");
    error = error_value(run, act, code, message);
    return decide_unstarted(act, child, ordinal, kid, RONDO_EV_STEP_FAILED, error, ev);
}

static enum plan decide_start(struct run *run, const struct act *act, uint32_t child, uint32_t ordinal,
                              const struct kid *kid, json_t *given, uint64_t ref,
                              struct rondo_event *ev)
{
    *ev = (struct rondo_event){ .type = RONDO_EV_STEP_START, .act = act_next_slot(run),
                                .parent = act->slot, .child = child, .ordinal = ordinal,
                                .attempt = kid->attempt, .code = (uint8_t)kid->res.skill,
                                .value = given };
    if (given) {
        ev->flags = EF_VALUE;
    } else if (ref) {
        ev->flags = EF_REF;
        ev->ref = ref;
    }
    return PLAN_DECIDE;
}

/* First come, first served: who did not find a place before comes before everybody else. */
static bool has_place(const struct run *run, const struct act *act, const rondo_node *node)
{
    if (LIKELY(!run->max_busy) || node->kind != RONDO_KIND_AGENT)
        return true;
    return run->busy < run->max_busy && (act->fed || !run->starved.count);
}

static void starve(struct run *run, struct act *act)
{
    if (act->starved)
        return;
    act->starved = true;
    slots_push(&run->starved, act->slot);
}

/* A question about a child that has not started. */
static bool must_ask_about(struct run *run, struct act *act, enum ask what, uint32_t child,
                           uint32_t ordinal, const struct kid *kid)
{
    uint64_t seq;
    if (!must_ask(run, act, what, child))
        return false;
    run->question.kid = kid;
    run->question.input = kid->given ? kid->given
                                     : act->kind->child_input(run, act, child, ordinal, &seq);
    return true;
}

/* Expressions of files say themselves which they are. */
static const char *asker(const struct act *act, const char *what)
{
    return act->node->flow ? "" : what;
}

/* The questions before a start, in order: may it, with what, and as what.  PLAN_IDLE: all said. */
static enum plan ask_first(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                           struct kid *kid, struct rondo_event *ev)
{
    const struct node_child *def = &act->node->children[child];
    struct question *q = &run->question;
    if (def->node->opts.when && !(kid->asked & ASKED_WHEN)) {
        if (must_ask_about(run, act, ASK_WHEN, child, ordinal, kid))
            return PLAN_ASK;
        if (q->yes < 0)
            return refuse_start(run, act, child, ordinal, kid, ev, asker(act, "when"), q->error,
                                RONDO_EFAILED);
        if (q->yes == 0) {
            decide_unstarted(act, child, ordinal, kid, RONDO_EV_STEP_SKIPPED, NULL, ev);
            ev->flags |= EF_MINE;
            return PLAN_DECIDE;
        }
        kid->asked |= ASKED_WHEN;
    }
    if (def->input && !kid->given) {
        if (must_ask_about(run, act, ASK_INPUT, child, ordinal, kid))
            return PLAN_ASK;
        if (q->yes < 0)
            return refuse_start(run, act, child, ordinal, kid, ev, asker(act, "input"), q->error,
                                RONDO_EFAILED);
        kid->given = q->value ? TAKE(q->value) : json_null();
    }
    if (def->node->kind == RONDO_KIND_AGENT && def->node->agent.skill_count &&
        !(kid->asked & ASKED_SKILL)) {
        if (must_ask_about(run, act, ASK_SKILL, child, ordinal, kid))
            return PLAN_ASK;
        if (q->yes < 0)
            return refuse_start(run, act, child, ordinal, kid, ev, "skills", q->error, RONDO_EINVAL);
        kid->res.skill = (uint16_t)q->number;
        kid->asked |= ASKED_SKILL;
    }
    return PLAN_IDLE;
}

static bool has_questions(const struct node_child *def)
{
    return def->node->opts.when || def->input ||
           (def->node->kind == RONDO_KIND_AGENT && def->node->agent.skill_count);
}

static enum plan fail_overdue(struct run *run, const struct act *act, uint32_t child, uint32_t ordinal,
                              const struct kid *kid, struct rondo_event *ev)
{
    char text[64];
    snprintf(text, sizeof text, "timed out after %lld ms",
             (long long)limits_of(run, act->node->children[child].node)->opts.timeout_ms);
    refuse_start(run, act, child, ordinal, kid, ev, "", text, RONDO_ETIME);
    ev->flags |= EF_MINE;
    return PLAN_DECIDE;
}

/* The loop around whose budget leaves no room for this child; NULL.  Rules of that very loop are still asked, steps
   that clean up still run, and what an agent has others do is part of its own work. */
static struct act *find_spent_loop(struct run *run, struct act *act, const rondo_node *node)
{
    if (!act->slot || node->opts.run_on == RONDO_ON_ALWAYS || node_is_leaf(act->node))
        return NULL;
    return budget_spent_loop(run, run_act(run, act->parent));
}

static int check_input(const rondo_node *node, json_t *input, rondo_error *err)
{
    int rc = schema_check(node->input_schema, input, err);
    return rc == 0 && node->agent_schema ? schema_check(node->agent_schema, input, err) : rc;
}

enum plan kid_start(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                    struct kid *kid, json_t *given, struct rondo_event *ev)
{
    const struct node_child *def = &act->node->children[child];
    uint64_t ref = 0;
    rondo_error err;
    if (UNLIKELY(kid->asked & KID_OVERDUE))
        return fail_overdue(run, act, child, ordinal, kid, ev);
    if (given) {
        run_drop(run, kid->given);
        kid->given = given;
    }
    if (UNLIKELY(run->stops) && stop_holds(run, act))
        return PLAN_IDLE;
    if (UNLIKELY(has_questions(def))) {
        enum plan first = ask_first(run, act, child, ordinal, kid, ev);
        if (first != PLAN_IDLE)
            return first;
    }
    struct act *spent = find_spent_loop(run, act, def->node);
    if (UNLIKELY(spent))
        return decide_close(spent, CLOSE_BUDGET, (uint8_t)budget_reason(run, spent), ev);
    if (UNLIKELY(!has_place(run, act, def->node))) {
        starve(run, act);
        return PLAN_IDLE;
    }
    act->fed = false;
    json_t *input = kid->given ? kid->given : act->kind->child_input(run, act, child, ordinal, &ref);
    if (UNLIKELY(def->node->input_schema) && check_input(def->node, input, &err) < 0)
        return refuse_start(run, act, child, ordinal, kid, ev, "input", err.message, RONDO_ESCHEMA);
    return decide_start(run, act, child, ordinal, kid, TAKE(kid->given), ref, ev);
}

#define DELAY_MAX_MS 60000 // unless somebody says another

/* delay * factor^(tries - 1), at most max_delay, times 1 - jitter .. 1 + jitter: the same numbers
   for the same run and path, however often it is planned. */
static int64_t backoff_ns(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                          const struct kid *kid)
{
    const rondo_retry *retry = &act->node->children[child].node->opts.retry;
    double factor = retry->factor > 0 ? retry->factor : 2;
    double max = (double)(retry->max_delay_ms ? retry->max_delay_ms : MAX(DELAY_MAX_MS, retry->delay_ms));
    double delay = MIN((double)retry->delay_ms * pow(factor, kid->attempt - kid->base), max);
    auto_buf struct buf path = { 0 };
    struct place place = { act->node, act->slot, child, ordinal, kid->attempt };
    path_put(&path, path_find_act, run, &place);
    uint64_t hash = hash_bytes(run->seed, path.data ? path.data : "", path.len);
    double chance = (double)(hash >> 11) / (double)(1ull << 53); // 0 .. 1
    return (int64_t)(delay * (1 + retry->jitter * (2 * chance - 1)) * MS);
}

static bool is_out_of_time(const struct run *run, const rondo_node *node, const struct kid *kid)
{
    int64_t timeout_ms = limits_of(run, node)->opts.timeout_ms;
    return timeout_ms && run_driven_ns(run) - kid->first_ns >= timeout_ms * MS;
}

/* An agent that says so of its own failure is not asked again; nor is one that may already have done what must not be
   done twice. */
static bool is_final(const rondo_node *node, const struct result *res)
{
    int code = node->kind == RONDO_KIND_AGENT && res->more ? res->more->code : 0;
    return code == RONDO_EFINAL || (code == RONDO_EUNKNOWN && node->agent.effects == RONDO_ONCE);
}

/* A wait that would take the rest of its budget is not begun. */
static bool may_retry(struct run *run, struct act *act, uint32_t child, uint32_t ordinal, const struct kid *kid)
{
    const rondo_node *node = act->node->children[child].node;
    return kid->res.status == RONDO_STATUS_FAILED && !act->close &&
           kid->attempt - kid->base + 1 < node->opts.retry.attempts && !(kid->res.flags & RES_NO_RETRY) &&
           !is_out_of_time(run, node, kid) && !is_final(node, &kid->res) &&
           budget_allows_again(run, act, node, kid, backoff_ns(run, act, child, ordinal, kid));
}

/* `retry.on` could not be answered: that is told, and there is no further try. */
static enum plan tell_no_retry(struct run *run, const struct act *act, uint32_t child, uint32_t ordinal,
                               const struct kid *kid, struct rondo_event *ev)
{
    auto_buf struct buf why = { 0 };
    buf_printf(&why, "retry.%s%s", act->node->flow ? "" : "on: ", // expressions of files say what they are
               run->question.error ? run->question.error : "failed");
    return decide_unstarted(act, child, ordinal, kid, RONDO_EV_RULE_FAILED, json_stringn(why.data, why.len), ev);
}

bool kid_is_settled(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                    struct kid *kid, struct rondo_event *ev, enum plan *ret)
{
    const rondo_node *node = act->node->children[child].node;
    *ret = PLAN_IDLE;
    if (kid->state != KID_ENDED)
        return false;
    if (!may_retry(run, act, child, ordinal, kid))
        return true;
    if (node->opts.retry.on) {
        if (must_ask_about(run, act, ASK_RETRY, child, ordinal, kid)) {
            *ret = PLAN_ASK;
            return false;
        }
        if (run->question.yes < 0) {
            *ret = tell_no_retry(run, act, child, ordinal, kid, ev);
            return false;
        }
        if (run->question.yes == 0) {
            kid->res.flags |= RES_NO_RETRY;
            return true;
        }
    }
    *ev = (struct rondo_event){ .type = RONDO_EV_RETRY, .parent = act->slot, .child = child,
                                .ordinal = ordinal, .attempt = (uint16_t)(kid->attempt + 1),
                                .num = run->now_ns + backoff_ns(run, act, child, ordinal, kid) };
    *ret = PLAN_DECIDE;
    return false;
}
