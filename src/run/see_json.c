/* see_json.c - what expressions see, as data: for maps that are asked for as a whole, and for commands. */
#include "run/see.h"

#include "data/value.h"
#include "run/act.h"
#include "run/budget.h"
#include "run/each.h"
#include "run/loop.h"
#include "run/pass_text.h"

#include <string.h>

static void put(json_t *object, const char *key, json_t *value) // NULL: left out
{
    if (value)
        json_object_set_new(object, key, value);
}

static json_t *content_json(const struct result *res)
{
    auto_buf struct buf text = { 0 };
    if (res->status == RONDO_STATUS_COMPLETED || res->status == RONDO_STATUS_FAILED)
        result_put_content(&text, res);
    json_t *content = json_stringn(text.data ? text.data : "", text.len);
    return content ? content : json_string("");
}

json_t *see_usage_json(const rondo_usage *usage)
{
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:f, s:I, s:I}", "prompt",
                     (json_int_t)usage->input_tokens, "completion", (json_int_t)usage->output_tokens, "total",
                     (json_int_t)(usage->input_tokens + usage->output_tokens), "reasoning",
                     (json_int_t)usage->reasoning_tokens, "cacheRead", (json_int_t)usage->cache_read_tokens,
                     "cacheWrite", (json_int_t)usage->cache_write_tokens, "cost",
                     (double)usage->cost_nano / 1e9, "calls", (json_int_t)usage->calls, "unpriced",
                     (json_int_t)usage->unpriced);
}

/* ---- results ------------------------------------------------------------------------------------------ */

/* What is inside: the steps of a container, or of the pass that a loop shows.  The nameless are looked
   through. */
static void put_inner(struct see *see, json_t *steps, const struct outcome *more)
{
    for (uint32_t i = 0; i < more->step_count; i++) {
        const struct node_child *child = &more->steps_of->children[i];
        const struct result *res = outcome_kid(more, i);
        if (!child->node || !node_child_is_step(child) || !res->status)
            continue;
        bool is_reviewed = child->node->step && child->node->step->review;
        if (!child->node->anonymous || *child->name)
            json_object_set_new(steps, child->name, see_result_json(see, res, is_reviewed));
        else if (res->more)
            put_inner(see, steps, res->more);
    }
    if (!more->step_count && more->body.more)
        put_inner(see, steps, more->body.more);
}

json_t *see_inner_json(struct see *see, const struct outcome *more)
{
    auto_json json_t *steps = json_object();
    put_inner(see, steps, more);
    return json_object_size(steps) ? TAKE(steps) : NULL;
}

static void put_loop(struct see *see, json_t *object, const struct outcome *more)
{
    put(object, "passes", json_integer(more->passes));
    if (more->best >= 0)
        put(object, "score", json_real(more->score));
    if (more->history && more->history->best_pass >= 0)
        put(object, "best", see_pass_json(&more->history->best, more->history->best_pass));
    if (more->history && see)
        put(object, "history", see_history_json(see, NULL, more));
}

static void put_more(struct see *see, json_t *object, const struct outcome *more, bool is_reviewed)
{
    bool is_loop = more->steps_of && node_is_loop(more->steps_of);
    put(object, "error", json_string(more->error ? more->error : ""));
    put(object, "reason", json_string(rondo_reason_text(more->reason)));
    put(object, "escalated", json_boolean(more->escalated));
    put(object, "usage", see_usage_json(ledger_spent(more->ledger)));
    put(object, "by", more->by ? json_string(more->by) : NULL);
    if (is_loop || is_reviewed || more->capped)
        put(object, "capped", json_boolean(more->capped));
    if (is_loop)
        put_loop(see, object, more);
    else if (more->steps_of && more->steps_of->kind == RONDO_KIND_EACH)
        put(object, "passes", json_integer(more->passes));
    put(object, "steps", see_inner_json(see, more));
}

json_t *see_result_json(struct see *see, const struct result *res, bool is_reviewed)
{
    static const struct outcome none = { .best = -1 };
    json_t *object = json_object();
    put(object, "status", json_string(rondo_status_text(res->status)));
    put(object, "content", content_json(res));
    put(object, "result", json_incref(see_result_value(res)));
    put_more(see, object, res->more ? res->more : &none, is_reviewed);
    return object;
}

/* ---- passes -------------------------------------------------------------------------------------------- */

json_t *see_pass_json(const struct pass *pass, int64_t number)
{
    json_t *object = json_object(), *steps = json_object();
    const struct outcome *more = pass->out.more;
    put(object, "pass", json_integer(number));
    put(object, "status", json_string(rondo_status_text(pass->status)));
    put(object, "content", content_json(&pass->out));
    put(object, "result", json_incref(see_result_value(&pass->out)));
    put(object, "score", pass->scored ? json_real(pass->score) : NULL);
    put(object, "judge", more && more->judge ? json_string(more->judge) : NULL);
    put(object, "error", more && more->error ? json_string(more->error) : NULL);
    if (pass->state)
        put(steps, pass->state, see_result_json(NULL, &pass->out, false));
    else if (more)
        put_inner(NULL, steps, more);
    put(object, "steps", steps);
    return object;
}

static json_t *one_pass(struct see *see, struct act *loop, const struct outcome *ended,
                        struct history *history, int64_t number)
{
    const struct pass *pass = history_get(history, number);
    json_t *old = NULL;
    if (pass)
        return see_pass_json(pass, number);
    if (number == history->best_pass)
        return see_pass_json(&history->best, number);
    if (see->old_pass)
        old = see->old_pass(see->user, loop, ended, number);
    return old ? old : json_null();
}

json_t *see_history_json(struct see *see, struct act *loop, const struct outcome *ended)
{
    struct history *history = loop ? &loop->loop->history : ended->history;
    json_t *list = json_array();
    for (int64_t p = 0; history && p < history->count; p++)
        json_array_append_new(list, one_pass(see, loop, ended, history, p));
    return list;
}

/* ---- feedback ------------------------------------------------------------------------------------------ */

/* The output of the same step in the pass before; borrowed. */
static json_t *previous_of(const struct see *see, const struct act *loop)
{
    const struct act *act = see->act;
    struct pass *last = history_last(&loop->loop->history);
    if (loop_is_machine(loop)) // the same state, at its last visit
        return loop->loop->previous;
    if (!last || act == loop || act->parent == loop->slot || !act->node->step)
        return last ? last->out.value : NULL;
    const struct result *res = loop_own_result(see->run, loop, act, &last->out);
    return res ? res->value : NULL;
}

/* What the file says the next pass shall hear; else the usual sentence. */
static void put_feedback_text(struct buf *out, struct see *see, struct act *loop)
{
    const struct flow_step *step = loop->node->step;
    bool is_given = step && step->loop && step->loop->feedback.text && loop->node->kind == RONDO_KIND_LOOP;
    auto_buf struct buf text = { 0 };
    rondo_error err;
    if (see->is_nested) { // the text itself asks: whoever has it filled in puts the note of a nudge behind it
        loop_put_usual(out, see->run, loop);
        return;
    }
    if (is_given) { // an evaluation may be under way: it has its own scratch
        struct see inner = *see;
        inner.made = inner.steps = NULL;
        inner.is_nested = true;
        inner.loop_now = loop;
        inner.scratch = cel_scratch_new();
        is_given = see_fill(&inner, &step->loop->feedback, &text, &err) == 0;
        see_clear(&inner);
        cel_scratch_free(inner.scratch);
    }
    if (is_given) {
        loop_put_nudge(&text, loop);
    } else {
        buf_clear(&text);
        loop_put_advice(&text, see->run, loop);
    }
    buf_put(out, text.data, text.len);
}

static bool is_heard(const struct act *loop)
{
    const struct loop_act *l = loop->loop;
    if (loop_is_machine(loop) && (loop->node->children[l->target].no_feedback || !l->visits))
        return false;
    return l->history.count && loop->node->loop.feedback != RONDO_FEEDBACK_OFF;
}

/* Words of the loop, then of a review, then why the try before failed. */
static json_t *all_said(struct see *see, struct act *loop, const struct tries *tries)
{
    auto_buf struct buf text = { 0 };
    if (loop && is_heard(loop))
        put_feedback_text(&text, see, loop);
    else if (loop)
        loop_put_nudge(&text, loop);
    tries_put(&text, tries);
    json_t *value = json_stringn(text.data ? text.data : "", text.len);
    return value ? value : json_string("");
}

/* What the loop's own text is about is the pass before, whichever try of this one is told it. */
static struct tries tries_seen(const struct see *see)
{
    bool is_try = node_is_leaf(see->act->node) && !see->loop_now;
    return is_try ? act_tries(see->run, see->act) : (struct tries){ 0 };
}

/* What it gave before it was sent back, else in the pass before; else what that gave which was sent back around it.
   Borrowed. */
static json_t *seen_before(const struct see *see, const struct act *loop, const struct tries *tries)
{
    if (!see->loop_now && see->act->before && node_is_leaf(see->act->node))
        return see->act->before;
    if (loop && is_heard(loop))
        return previous_of(see, loop);
    return tries->sent ? tries->sent->value : NULL;
}

static int64_t attempt_of(const struct see *see, const struct act *loop, const struct tries *tries)
{
    if (!see->loop_now && see->act->attempt && node_is_leaf(see->act->node))
        return see->act->attempt;
    if (loop && is_heard(loop))
        return loop_is_machine(loop) ? loop->loop->visits : loop->loop->history.count;
    return tries->attempt;
}

json_t *see_feedback_json(struct see *see)
{
    struct act *loop = see_loop(see);
    struct tries tries = tries_seen(see);
    json_t *object = json_object(), *previous = seen_before(see, loop, &tries);
    const char *judge = loop && is_heard(loop) ? loop->loop->judge : NULL;
    put(object, "text", all_said(see, loop, &tries));
    put(object, "previous", previous ? json_incref(previous) : json_null());
    put(object, "judge", json_string(judge ? judge : ""));
    put(object, "attempt", json_integer(attempt_of(see, loop, &tries)));
    return object;
}

/* ---- everything ------------------------------------------------------------------------------------------ */

static void add_steps(struct see *see, json_t *steps, const struct flow_scope *scope, bool with_history)
{
    for (uint32_t i = 0; scope && i < scope->count; i++) {
        const struct flow_step *step = scope->steps[i];
        const struct result *res = json_object_get(steps, step->id) ? NULL : see_result(see, scope, i);
        put(steps, step->id, res ? see_result_json(with_history ? see : NULL, res, step->review) : NULL);
    }
}

json_t *see_steps_json(struct see *see, bool with_history)
{
    json_t *steps = json_object();
    for (struct act *act = see->act; act && act->slot; act = run_act(see->run, act->parent)) {
        add_steps(see, steps, act->node->scope, with_history);
        if (act->node->is_file)
            break;
    }
    return steps;
}

json_t *see_everything(struct see *see)
{
    uint32_t ordinal = 0;
    const struct act *each = see_each(see, &ordinal);
    json_t *all = json_object(), *state = *run_state_at(see->run, see->act);
    json_t *input = see->kid ? see->input : see->act->input;
    put(all, "input", input ? json_incref(input) : json_null());
    if (each) {
        put(all, "item", json_incref(json_array_get(each->each->items, ordinal)));
        put(all, "index", json_integer(ordinal));
    }
    put(all, "inputs", see_inputs_json(see));
    state = state ? json_copy(state) : json_object();
    json_object_update(state, see->delta);
    put(all, "state", state);
    put(all, "feedback", see_feedback_json(see));
    if (see->act->letters)
        put(all, "inbox", json_copy(see->act->letters));
    put(all, "contributions", see_contributions_json(see));
    put(all, "steps", see_steps_json(see, false));
    return all;
}
