/* graph.c - steps that start when what they depend on has ended.

   `waiting` counts the dependencies of each step that have not ended; a step whose count is 0 is
   put on the ready list.  A step with `run_on` but without dependencies waits for all ordinary
   steps, which are those without `run_on` that do not wait for such a step in turn: its count is 1
   until they have ended.  Once a step may not run (its dependency failed), it
   ends without having started and counts as cut off, so that the effect reaches its dependents. */
#include "base/buf.h"
#include "run/act.h"
#include "run/graph.h"
#include "run/kinds.h"
#include "run/review.h"

#include "data/value.h"

#include <assert.h>

static bool has_run_on(const struct act *act, uint32_t i)
{
    return act->node->children[i].node->opts.run_on != RONDO_ON_SUCCESS;
}

bool graph_is_ordinary(const struct act *act, uint32_t i)
{
    return !has_run_on(act, i) && !act->node->children[i].is_late;
}

static bool waits_for_all(const struct act *act, uint32_t i)
{
    return has_run_on(act, i) && !act->node->children[i].dep_count;
}

static void make_ready(struct act *act, uint32_t i)
{
    if (act->graph->waiting[i] && --act->graph->waiting[i] == 0)
        slots_push(&act->graph->ready, i);
}

static void ready_late_ones(struct act *act)
{
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (waits_for_all(act, i))
            make_ready(act, i);
}

static void graph_open(struct run *run, struct act *act)
{
    container_open(run, act);
    act->graph = mem_zalloc(sizeof *act->graph);
    act->graph->waiting = mem_zalloc(act->kid_count * sizeof *act->graph->waiting);
    for (uint32_t i = 0; i < act->kid_count; i++) {
        act->graph->waiting[i] = act->node->children[i].dep_count + 1;
        act->graph->ordinary_left += graph_is_ordinary(act, i);
        if (act->node->children[i].review && !act->graph->reviews)
            act->graph->reviews = mem_zalloc(act->kid_count * sizeof *act->graph->reviews);
    }
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (!waits_for_all(act, i))
            make_ready(act, i);
    if (!act->graph->ordinary_left)
        ready_late_ones(act);
}

static void graph_free(struct run *run, struct act *act)
{
    for (uint32_t i = 0; act->graph->reviews && i < act->node->count; i++)
        mem_free(act->graph->reviews[i].predecessor_retries);
    mem_free(act->graph->waiting);
    mem_free(act->graph->reviews);
    mem_free(act->graph->ready.slots);
    mem_free(act->graph);
}

/* A failure that may still be tried again has not ended the step; the others free what waits. */
void graph_settle(struct act *act, uint32_t i)
{
    const struct node_child *child = &act->node->children[i];
    act->settled++;
    act->kids[i].asked |= KID_SEEN;
    for (uint32_t k = 0; k < child->user_count; k++)
        make_ready(act, child->users[k]);
    if (graph_is_ordinary(act, i) && --act->graph->ordinary_left == 0)
        ready_late_ones(act);
}

static void graph_child_ended(struct run *run, struct act *act, struct kid *kid, uint32_t child,
                              uint32_t ordinal)
{
    bool decides = act->node->children[child].review && kid->res.status == RONDO_STATUS_COMPLETED;
    if (kid->res.status == RONDO_STATUS_FAILED || decides)
        act->attention++;
    else
        graph_settle(act, child);
}

uint32_t graph_unsettled(const struct act *act, uint32_t i)
{
    const struct node_child *child = &act->node->children[i];
    uint32_t n = 0;
    for (uint32_t d = 0; d < child->dep_count; d++)
        n += !(act->kids[child->deps[d]].asked & KID_SEEN);
    return n;
}

static bool is_cut(const struct kid *kid)
{
    return kid->res.status == RONDO_STATUS_FAILED || kid->res.status == RONDO_STATUS_CANCELLED ||
           kid->res.flags & RES_CUT;
}

static bool is_any_cut(const struct act *act, uint32_t i)
{
    const struct node_child *child = &act->node->children[i];
    for (uint32_t d = 0; d < child->dep_count; d++)
        if (is_cut(&act->kids[child->deps[d]]))
            return true;
    for (uint32_t k = 0; k < act->kid_count && waits_for_all(act, i); k++)
        if (graph_is_ordinary(act, k) && is_cut(&act->kids[k]))
            return true;
    return false;
}

/* The graph's own abort leaves room for steps that run on failure; a cancel or a limit does not. */
static bool is_cut_short(const struct act *act)
{
    return act->close && !act_is_aborted(act);
}

/* May it start?  Else the type of event that ends it. */
static int verdict(const struct act *act, uint32_t i)
{
    int run_on = act->node->children[i].node->opts.run_on;
    const struct node_review *review = act->node->children[i].review;
    if (review && act->kids[review->of].res.status == RONDO_STATUS_SKIPPED)
        return RONDO_EV_STEP_SKIPPED; // there is nothing to look at
    bool cut = run_on != RONDO_ON_ALWAYS && is_any_cut(act, i);
    if (run_on == RONDO_ON_FAILURE)
        return cut && !is_cut_short(act) ? 0 : RONDO_EV_STEP_SKIPPED;
    if (run_on == RONDO_ON_SUCCESS && act->close)
        return RONDO_EV_STEP_CANCELLED;
    if (!cut)
        return 0;
    return act->node->mode == RONDO_SKIP_DEPENDENTS ? RONDO_EV_STEP_SKIPPED : RONDO_EV_STEP_CANCELLED;
}

static bool is_ready(const struct act *act, uint32_t i)
{
    return act->kids[i].state == KID_NEW && !act->graph->waiting[i];
}

/* How far a lane is from having its turn. */
static uint32_t distance(const struct act *act, uint32_t lane)
{
    uint32_t lanes = act->node->graph.lanes, last = act->graph->last;
    return last ? (lane + lanes - act->node->children[last - 1].lane - 1) % lanes : lane;
}

/* The rank of each lane: the lowest comes first. */
static void rank_lanes(struct run *run, const struct act *act, uint32_t *ranks)
{
    for (uint32_t lane = 0; lane < act->node->graph.lanes; lane++)
        ranks[lane] = act->node->graph.schedule == SCHEDULE_ROUND ? distance(act, lane) : 0;
    if (act->node->graph.schedule != SCHEDULE_LEAST_BUSY)
        return;
    for (uint32_t slot = act->first_child; slot; slot = run_act(run, slot)->next_sibling)
        ranks[act->node->children[run_act(run, slot)->child].lane]++;
}

/* The step to be started next.  It follows from the state alone, so it is the same one until it starts. */
static uint32_t pick_ready(struct run *run, const struct act *act)
{
    const struct slot_list *ready = &act->graph->ready;
    uint32_t best = ready->slots[ready->head];
    if (LIKELY(!act->node->graph.schedule))
        return best;
    auto_free uint32_t *ranks = mem_alloc((act->node->graph.lanes + 1) * sizeof *ranks);
    rank_lanes(run, act, ranks);
    for (uint32_t k = 1; k < ready->count; k++) {
        uint32_t i = ready->slots[(ready->head + k) % ready->cap];
        if (is_ready(act, i) && ranks[act->node->children[i].lane] < ranks[act->node->children[best].lane])
            best = i;
    }
    return best;
}

static enum plan start_ready(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct slot_list *ready = &act->graph->ready;
    while (ready->count) {
        if (!is_ready(act, ready->slots[ready->head])) {
            slots_pop(ready);
            continue;
        }
        uint32_t i = pick_ready(run, act);
        struct kid *kid = &act->kids[i];
        int end = verdict(act, i);
        if (end) {
            decide_unstarted(act, i, 0, kid, end, NULL, ev);
            bool needless = has_run_on(act, i) || act->node->children[i].review;
            ev->flags |= needless ? EF_MINE : 0;
            return PLAN_DECIDE;
        }
        if (container_is_full(act))
            return PLAN_IDLE;
        return kid_start(run, act, i, 0, kid, review_input(act, i), ev);
    }
    return PLAN_IDLE;
}

/* A step that had completed and was failed by its review, or for want of one. */
static enum plan tell_rejected(struct run *run, struct act *act, uint32_t i, struct rondo_event *ev)
{
    const struct outcome *more = act->kids[i].res.more;
    if (act->node->mode == RONDO_ABORT && !act->close)
        return decide_close(act, CLOSE_SIBLING, 0, ev);
    assert(more && more->error);
    decide_unstarted(act, i, 0, &act->kids[i], RONDO_EV_STEP_FAILED,
                     error_value(run, act, more->code, more->error), ev);
    ev->flags |= EF_MINE;
    return PLAN_DECIDE;
}

static enum plan look_at_failures(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what;
    for (uint32_t i = 0; act->attention && i < act->kid_count; i++) {
        struct kid *kid = &act->kids[i];
        if (UNLIKELY(kid->asked & KID_UNTOLD))
            return tell_rejected(run, act, i, ev);
        if (kid->state == KID_NEW && kid->attempt > kid->base && !act->close && !container_is_full(act))
            return kid_start(run, act, i, 0, kid, NULL, ev);
        if (kid->state != KID_ENDED || kid->asked & KID_SEEN)
            continue;
        if (act->node->children[i].review && kid->res.status == RONDO_STATUS_COMPLETED)
            return review_plan(run, act, i, ev);
        if (kid->res.status != RONDO_STATUS_FAILED)
            continue;
        if (!kid_is_settled(run, act, i, 0, kid, ev, &what)) {
            if (what != PLAN_IDLE)
                return what;
            continue;
        }
        if (act->node->children[i].review && result_has_failed(&kid->res))
            return review_plan(run, act, i, ev);
        act->attention--;
        graph_settle(act, i);
        if (act->node->mode == RONDO_ABORT && !act->close)
            return decide_close(act, CLOSE_SIBLING, 0, ev);
    }
    return PLAN_IDLE;
}

/* Where a graph stands follows from its steps: who has ended for good, who waits for whom. */
static void graph_recount(struct act *act)
{
    struct graph_act *graph = act->graph;
    act->settled = act->attention = graph->ordinary_left = graph->ready.count = 0;
    graph->no_output = false;
    for (uint32_t i = 0; i < act->kid_count; i++) {
        const struct kid *kid = &act->kids[i];
        bool is_seen = kid->state == KID_ENDED && kid->asked & KID_SEEN;
        act->settled += is_seen;
        graph->ordinary_left += graph_is_ordinary(act, i) && !is_seen;
        act->attention += (kid->state == KID_ENDED && !is_seen) || (kid->state == KID_NEW && kid->attempt > kid->base);
    }
    for (uint32_t i = 0; i < act->kid_count; i++) {
        graph->waiting[i] = 0;
        if (act->kids[i].state != KID_NEW)
            continue;
        graph->waiting[i] = waits_for_all(act, i) ? graph->ordinary_left != 0 : graph_unsettled(act, i);
        if (!graph->waiting[i])
            slots_push(&graph->ready, i);
    }
}

static bool has_completed(const void *user, uint32_t i)
{
    const struct act *act = user;
    return act->kids[i].res.status == RONDO_STATUS_COMPLETED;
}

bool graph_is_handled(const struct act *act, uint32_t i)
{
    return node_is_handled(act->node, i, has_completed, act);
}

/* What it is about to give: `ev` says so, or it follows from the steps; new. */
static json_t *output_of(struct run *run, struct act *act, const struct rondo_event *ev)
{
    struct result res = { 0 };
    if (ev->flags & EF_VALUE)
        return json_incref(ev->flags & EF_FULL ? json_object_get(ev->value, "result") : ev->value);
    act->kind->project(run, act, &res);
    json_t *value = res.value ? json_incref(res.value) : json_null();
    result_clear(run, &res);
    return value;
}

/* The text that it gives beside its output, or else that; new, NULL: nothing. */
static json_t *content_of(struct run *run, struct act *act, const struct rondo_event *ev)
{
    struct result res = { 0 };
    if (ev->flags & EF_VALUE)
        return json_incref(ev->flags & EF_FULL ? json_object_get(ev->value, "content") : ev->value);
    act->kind->project(run, act, &res);
    const char *text = res.more ? res.more->content : NULL;
    json_t *content = text && *text ? json_string(text) : json_incref(res.value);
    result_clear(run, &res);
    return content;
}

/* A text that is too long is cut; a result is not. */
static void cut_content(struct run *run, struct act *act, struct rondo_event *ev)
{
    auto_json json_t *content = content_of(run, act, ev), *output = output_of(run, act, ev);
    size_t max = (size_t)act->node->max_output;
    bool is_text = json_equal(content, output) || json_is_null(output);
    if (json_string_length(content) <= max || (is_text && act->node->output_schema))
        return;
    json_decref(ev->flags & EF_VALUE ? ev->value : NULL);
    ev->flags = (uint16_t)((ev->flags & ~EF_FULL) | EF_VALUE | (is_text ? 0 : EF_FULL));
    ev->value = is_text ? value_cut(content, max)
                        : json_pack("{s:o, s:O}", "content", value_cut(content, max), "result", output);
}

enum plan graph_leave_behind(struct run *run, struct act *act, struct rondo_event *ev)
{
    const char *memory = act->left & LEFT_MEMORY ? NULL : act->node->memory;
    const char *key = act->left & LEFT_STATE ? NULL : act->node->output_key;
    if (UNLIKELY(act->node->max_output))
        cut_content(run, act, ev);
    if (LIKELY(!memory && !key))
        return PLAN_DECIDE;
    auto_json json_t *content = content_of(run, act, ev);
    if (value_is_empty(content))
        return PLAN_DECIDE;
    json_decref(ev->flags & EF_VALUE ? ev->value : NULL);
    decide(act, memory ? RONDO_EV_MEMORY : RONDO_EV_STATE, ev);
    ev->flags = EF_VALUE;
    ev->value = memory ? json_pack("{s:s, s:O}", "scope", memory, "entry", content) : json_pack("{s:O}", key, content);
    return PLAN_DECIDE;
}

/* A workflow that is an agent keeps to the agent's schema. */
static enum plan end_checked(struct run *run, struct act *act, struct rondo_event *ev)
{
    rondo_error err;
    if (LIKELY(!act->node->output_schema))
        return graph_leave_behind(run, act, ev);
    auto_json json_t *output = output_of(run, act, ev);
    if (schema_check(act->node->output_schema, output, &err) == 0)
        return graph_leave_behind(run, act, ev);
    json_decref(ev->value);
    return decide_fail(run, act, err.code, ev, "output: %s", err.message);
}

/* Everything that ran; new. */
static json_t *inner_steps(struct run *run, const struct act *act)
{
    auto_buf struct buf path = { 0 };
    path_put_act_id(&path, run, act);
    return kids_json(act->kids, act->kid_count, act->node, buf_text(&path));
}

static const struct result *last_completed(const struct act *act)
{
    for (uint32_t i = act->kid_count; i-- > 0;)
        if (node_child_is_step(&act->node->children[i]) && act->kids[i].res.status == RONDO_STATUS_COMPLETED)
            return &act->kids[i].res;
    return NULL;
}

/* Zenflow's form of an included file: what it returns, which is the content and result of the last completed step
   unless it says so itself, and beside the members of that result `innerSteps`. */
static void say_all(struct run *run, const struct act *act, const struct result *res, struct rondo_event *ev)
{
    auto_buf struct buf text = { 0 };
    json_t *both = json_object();
    json_t *result = res && json_is_object(res->value) ? json_copy(res->value) : json_object();
    if (res) {
        result_put_content(&text, res);
        json_object_set_new(both, "content", json_stringn(text.data ? text.data : "", text.len));
    }
    json_object_set_new(result, "innerSteps", inner_steps(run, act));
    json_object_set_new(both, "result", result);
    ev->flags = EF_VALUE | EF_FULL;
    ev->value = both;
}

static void say_output(struct run *run, const struct act *act, json_t *output, struct rondo_event *ev) // takes
{
    if (act->node->shows_all) {
        say_all(run, act, &(struct result){ .value = output }, ev);
        json_decref(output);
        return;
    }
    ev->flags = EF_VALUE;
    ev->value = output;
}

/* A text or null alone would be content: where a schema takes it as the result it is both. */
static void tell_result(struct rondo_event *ev)
{
    if (!json_is_string(ev->value) && !json_is_null(ev->value))
        return;
    json_t *content = json_is_null(ev->value) ? json_string("null") : json_incref(ev->value);
    ev->flags |= EF_FULL;
    ev->value = json_pack("{s:o, s:o}", "content", content, "result", ev->value);
}

/* What the file says it returns. */
static enum plan end_with_output(struct run *run, struct act *act, struct rondo_event *ev)
{
    if (must_ask(run, act, ASK_OUTPUT, 0))
        return PLAN_ASK;
    if (run->question.yes < 0)
        return decide_fail(run, act, RONDO_EFAILED, ev, "%s",
                           run->question.error ? run->question.error : "failed");
    decide(act, RONDO_EV_STEP_END, ev);
    say_output(run, act, run->question.value ? TAKE(run->question.value) : json_null(), ev);
    if (UNLIKELY(act->node->output_schema))
        tell_result(ev);
    return end_checked(run, act, ev);
}

static enum plan tell_no_output(const struct run *run, const struct act *act, struct rondo_event *ev)
{
    decide(act, RONDO_EV_RULE_FAILED, ev);
    ev->flags = EF_VALUE;
    ev->value = json_string(run->question.error ? run->question.error : "output failed");
    return PLAN_DECIDE;
}

/* A run of which something completed is partial, and what the file says it returns goes with the
   failure; when that cannot be said, this is told and the usual output takes its place. */
static enum plan end_partly(struct run *run, struct act *act, const struct result *failed,
                            struct rondo_event *ev)
{
    bool is_asked = act->node->output && !act->parent && run->completed && !act->graph->no_output;
    if (is_asked && must_ask(run, act, ASK_OUTPUT, 0))
        return PLAN_ASK;
    if (is_asked && run->question.yes < 0)
        return tell_no_output(run, act, ev);
    decide_fail_with(run, act, failed, ev);
    if (is_asked && run->question.value)
        json_object_set_new(ev->value, "output", TAKE(run->question.value));
    return PLAN_DECIDE;
}

/* What a limit has cut off still says what it returns, if that can be said.  Here, too, it is told if not.  It has what
   there is, which nobody has promised: no schema is asked. */
static enum plan end_cut(struct run *run, struct act *act, int type, struct rondo_event *ev)
{
    bool is_asked = act->node->output && !act->graph->no_output;
    if (is_asked && must_ask(run, act, ASK_OUTPUT, 0))
        return PLAN_ASK;
    if (is_asked && run->question.yes < 0)
        return tell_no_output(run, act, ev);
    decide(act, type, ev);
    if (is_asked && run->question.value)
        say_output(run, act, TAKE(run->question.value), ev);
    else if (act->node->shows_all)
        say_all(run, act, last_completed(act), ev);
    return type == RONDO_EV_STEP_END ? graph_leave_behind(run, act, ev) : PLAN_DECIDE;
}

static bool is_temporary(const struct result *res)
{
    return res->more && res->more->code == RONDO_ERETRY;
}

/* What it failed of: the first failure that nobody has seen to.  That trying again may help is only said when it may
   help with all of them. */
static const struct result *find_failure(const struct act *act)
{
    const struct result *found = NULL;
    for (uint32_t i = 0; i < act->kid_count; i++) {
        const struct result *res = &act->kids[i].res;
        if (res->status != RONDO_STATUS_FAILED || graph_is_handled(act, i))
            continue;
        if (!is_temporary(res))
            return res;
        found = found ? found : res;
    }
    return found;
}

static enum plan graph_end(struct run *run, struct act *act, struct rondo_event *ev)
{
    const struct result *failure = find_failure(act);
    if (failure)
        return end_partly(run, act, failure, ev);
    if (act->node->output)
        return end_with_output(run, act, ev);
    decide(act, RONDO_EV_STEP_END, ev);
    if (act->node->shows_all)
        say_all(run, act, last_completed(act), ev);
    return end_checked(run, act, ev);
}

static enum plan graph_plan(struct run *run, struct act *act, struct rondo_event *ev)
{
    enum plan what = look_at_failures(run, act, ev);
    if (what == PLAN_IDLE)
        what = start_ready(run, act, ev);
    if (what != PLAN_IDLE || act->settled < act->kid_count)
        return what;
    return graph_end(run, act, ev);
}

/* A step that cannot start any more.  One whose next try a budget leaves no room for has failed. */
static enum plan end_unstarted(struct run *run, struct act *act, uint32_t i, struct rondo_event *ev)
{
    const struct kid *kid = &act->kids[i];
    const struct outcome *more = kid->res.more;
    if (act->close != CLOSE_BUDGET || !result_has_failed(&kid->res) || !more || !more->error)
        return decide_unstarted(act, i, 0, kid, RONDO_EV_STEP_CANCELLED, NULL, ev);
    decide_unstarted(act, i, 0, kid, RONDO_EV_STEP_FAILED, error_value(run, act, more->code, more->error), ev);
    ev->flags |= EF_MINE;
    return PLAN_DECIDE;
}

static const struct result *graph_failure(const struct act *act)
{
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (result_has_failed(&act->kids[i].res) && !graph_is_handled(act, i))
            return &act->kids[i].res;
    return NULL;
}

/* The time of the run is its own: others that are cut off have nothing more to say. */
static enum plan graph_cut(struct run *run, struct act *act, struct rondo_event *ev)
{
    bool is_late = !act->parent && run_act(run, 0)->close == CLOSE_TIMEOUT && run->completed;
    const struct result *failure = act->close == CLOSE_BUDGET ? graph_failure(act) : NULL;
    if (!(act->node->output || act->node->shows_all) || (act->close != CLOSE_BUDGET && !is_late))
        return PLAN_IDLE;
    return failure ? end_partly(run, act, failure, ev)
                   : end_cut(run, act, is_late ? RONDO_EV_STEP_CANCELLED : RONDO_EV_STEP_END, ev);
}

/* After a cancel, an abort or a limit only `run_on: always` steps still start, and everything that
   waits ends; a second cancel, or the end of the time for that, ends those too.  Who is still ready when
   nothing follows has only found no place yet. */
static enum plan graph_closed(struct run *run, struct act *act, struct rondo_event *ev)
{
    bool is_left = act->settled < act->kid_count || act->attention, has_time = is_left && !act_is_hurried(run, act);
    enum plan what = PLAN_IDLE;
    if (has_time) {
        what = look_at_failures(run, act, ev);
        if (what == PLAN_IDLE)
            what = start_ready(run, act, ev);
    }
    if (what != PLAN_IDLE || act->open)
        return what;
    if (has_time && act->graph->ready.count)
        return PLAN_WAIT;
    for (uint32_t i = 0; is_left && i < act->kid_count; i++)
        if (act->kids[i].state == KID_NEW || act->kids[i].state == KID_BACKOFF)
            return end_unstarted(run, act, i, ev);
    return act_is_aborted(act) ? graph_end(run, act, ev) : graph_cut(run, act, ev);
}

/* Does a step depend on it?  Who only looks at it does not count. */
static bool is_depended_on(const struct act *act, uint32_t i)
{
    const struct node_child *child = &act->node->children[i];
    for (uint32_t k = 0; k < child->user_count; k++)
        if (!act->node->children[child->users[k]].review)
            return true;
    return false;
}

/* The steps of a group or of a loop, in a file: what completed last is what they give.  Of a whole file or of a graph
   made in C that is a step which says something, and which nobody else works on.  Where a budget came in between,
   who would have worked on it did not get to it: then it is the last one that says something. */
static bool can_be_output(const struct act *act, uint32_t i)
{
    bool is_part = act->node->scope && !act->node->is_file, is_cut = act->close == CLOSE_BUDGET;
    const struct result *res = &act->kids[i].res;
    if (!node_child_is_step(&act->node->children[i]))
        return false;
    if (res->flags & (RES_SIGNAL | RES_BROKE) && is_part)
        return result_has_output(res);
    if (res->status != RONDO_STATUS_COMPLETED)
        return false;
    if (is_part && !is_cut)
        return true;
    return result_says(res) && (is_cut || !is_depended_on(act, i));
}

static void graph_project(struct run *run, struct act *act, struct result *ret)
{
    for (uint32_t i = act->kid_count; i-- > 0;)
        if (can_be_output(act, i)) {
            project_kid(&act->kids[i], ret);
            return;
        }
}

static void graph_copy(struct act *to, const struct act *from)
{
    const struct graph_act *graph = from->graph;
    to->graph = mem_zalloc(sizeof *to->graph);
    to->graph->waiting = mem_zalloc(from->kid_count * sizeof *graph->waiting);
    to->graph->last = graph->last;
    if (!graph->reviews)
        return;
    to->graph->reviews = mem_zalloc(from->kid_count * sizeof *graph->reviews);
    for (uint32_t i = 0; i < from->kid_count; i++)
        to->graph->reviews[i].retries = graph->reviews[i].retries;
}

const struct kind graph_kind = {
    .open = graph_open, .plan = graph_plan, .closed = graph_closed, .failure = graph_failure,
    .child_ended = graph_child_ended, .project = graph_project, .child_input = container_input,
    .free = graph_free, .recount = graph_recount, .copy = graph_copy,
};
