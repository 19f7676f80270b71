/* build_loop.c - loops and machines: the rules about their rules. */
#include "base/mem.h"
#include "base/spec.h"
#include "flow/build.h"

#include <string.h>

#define FAILURES_DEFAULT 3 // in a row

static void check_one_of(rondo_node *node, const char *rule, bool callback, const void *other)
{
    if (callback && other)
        build_refuse(node, "%s is given both as a callback and as a node", rule);
}

/* The loop ends by something: a rule, a limit, or an agent inside that may break. */
static bool can_end(const rondo_node *node, const rondo_loop_spec *spec)
{
    const rondo_budget *b = &spec->options.budget;
    if (spec->until || spec->until_node || spec->judge || spec->next || spec->next_node ||
        spec->while_ || spec->patience || spec->stall_repeats || spec->options.timeout_ms ||
        b->time_ms || b->tokens || b->cost_nano || b->calls)
        return true;
    for (uint32_t i = 0; i < node->count; i++)
        if (node->children[i].node &&
            (node->children[i].node->kind == RONDO_KIND_AGENT || can_end(node->children[i].node, spec)))
            return true;
    return false;
}

static int64_t cap_of(const rondo_loop_spec *spec)
{
    if (spec->max_iterations)
        return spec->max_iterations;
    return spec->next || spec->next_node ? LOOP_CAP_NEXT : LOOP_CAP_DEFAULT;
}

static void check_cap(rondo_node *node, const rondo_loop_spec *spec)
{
    if (spec->max_iterations < RONDO_UNBOUNDED)
        build_refuse(node, "max_iterations must be at least 1, got %d", spec->max_iterations);
    if (spec->max_iterations == RONDO_UNBOUNDED && !can_end(node, spec))
        build_refuse(node, "is unbounded and has no way to end: give it until, judge, next, while_, "
                           "a budget, or an agent that breaks");
    build_check_range(node, "on_max", spec->on_max, RONDO_RETURN_LAST, RONDO_FLAG);
}

static void check_memory(rondo_node *node, const rondo_loop_spec *spec)
{
    build_check_range(node, "memory_mode", spec->memory_mode, RONDO_ACCUMULATE, RONDO_WINDOW);
    if (spec->memory_mode == RONDO_WINDOW && spec->memory_window < 1)
        build_refuse(node, "RONDO_WINDOW needs a memory_window of at least 1, got %d",
                     spec->memory_window);
    if (spec->memory_mode != RONDO_WINDOW && spec->memory_window)
        build_refuse(node, "memory_window %d is only for memory_mode RONDO_WINDOW",
                     spec->memory_window);
}

static void check_output(rondo_node *node, const rondo_loop_spec *spec)
{
    bool scored = spec->score || spec->score_node;
    build_check_range(node, "output_mode", spec->output_mode, 0, RONDO_OUTPUT_CUMULATIVE);
    build_check_output(node, spec->body, spec->output);
    if (spec->output_mode == RONDO_OUTPUT_BEST && !scored)
        build_refuse(node, "output_mode RONDO_OUTPUT_BEST needs a score or score_node");
    if (spec->patience && !scored)
        build_refuse(node, "patience %d needs a score or score_node", spec->patience);
    if (spec->max_history && spec->output_mode == RONDO_OUTPUT_CUMULATIVE)
        build_refuse(node, "max_history %d does not go with cumulative output", spec->max_history);
    build_check_range(node, "max_history", spec->max_history, 0, INT32_MAX);
}

static void check_detectors(rondo_node *node, const rondo_loop_spec *spec)
{
    build_check_range(node, "patience", spec->patience, 0, INT32_MAX);
    build_check_range(node, "oscillation", spec->oscillation, 0, OSCILLATION_MAX);
    build_check_range(node, "stall_repeats", spec->stall_repeats, 0, INT32_MAX);
    build_check_range(node, "stall_action", spec->stall_action, 0, RONDO_ACTION_NUDGE);
    if (spec->stall_repeats == 1)
        build_refuse(node, "stall_repeats must be at least 2, got 1");
    if (spec->oscillation == 1)
        build_refuse(node, "oscillation must be at least 2, got 1");
    if (!(spec->min_gain >= 0))
        build_refuse(node, "min_gain must be at least 0, got %g", spec->min_gain);
}

static void check_loop(rondo_node *node, const rondo_loop_spec *spec)
{
    check_one_of(node, "until", spec->until, spec->until_node);
    check_one_of(node, "next", spec->next, spec->next_node);
    check_one_of(node, "score", spec->score, spec->score_node);
    check_cap(node, spec);
    check_memory(node, spec);
    check_output(node, spec);
    check_detectors(node, spec);
    build_check_range(node, "feedback", spec->feedback, 0, RONDO_FEEDBACK_OFF);
    build_check_range(node, "on_error", spec->on_error, 0, RONDO_ERROR_CONTINUES);
    build_check_range(node, "max_failures", spec->max_failures, 0, INT32_MAX);
    build_check_range(node, "delay_ms", spec->delay_ms, 0, TIME_MAX_MS);
}

static struct node_loop loop_from(const rondo_loop_spec *spec)
{
    bool cap_fails = !spec->max_iterations && (spec->next || spec->next_node);
    return (struct node_loop){
        .while_ = spec->while_, .until = spec->until, .next = spec->next, .score = spec->score,
        .listener = spec->listener, .user = spec->user, .cap = cap_of(spec),
        .delay_ms = spec->delay_ms, .on_max = cap_fails ? RONDO_FAIL : spec->on_max,
        .output_mode = spec->output_mode, .memory_mode = spec->memory_mode,
        .memory_window = spec->memory_window, .feedback = spec->feedback,
        .patience = spec->patience, .stall_repeats = spec->stall_repeats,
        .oscillation = spec->oscillation, .stall_action = spec->stall_action,
        .on_error = spec->on_error,
        .max_failures = spec->max_failures ? spec->max_failures : FAILURES_DEFAULT,
        .max_misjudged = spec->max_failures ? spec->max_failures : FAILURES_DEFAULT,
        .max_history = spec->max_history, .min_gain = spec->min_gain,
        .output = mem_strdup(spec->output), .compat_adk = spec->compat_adk,
    };
}

static void take_more(rondo_node *node, const rondo_loop_spec *spec)
{
    rondo_more_options more;
    rondo_error err;
    if (SPEC_COPY(more, spec->more, "`more`", RONDO_MORE_OPTIONS, &err) < 0)
        build_refuse(node, "%s", err.message);
    build_check_range(node, "failure_delay_ms", more.failure_delay_ms, 0, TIME_MAX_MS);
    if (more.must_hold && !spec->until && !spec->until_node && !spec->judge)
        build_refuse(node, "must_hold needs until, until_node or judge");
    node->loop.must_hold = more.must_hold;
    node->loop.until_after_failure = more.until_after_failure;
    node->loop.failure_delay_ms = more.failure_delay_ms;
}

rondo_node *rondo_loop(const rondo_loop_spec *given)
{
    rondo_loop_spec spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_LOOP, given);
    rondo_node *node = build_node(RONDO_KIND_LOOP, spec.name ? spec.name : "", &spec.options);
    rondo_node *const roles[ROLE_COUNT] = { spec.body, spec.until_node, spec.judge, spec.next_node,
                                            spec.score_node };
    static const char *const names[ROLE_COUNT] = { NULL, "until", "judge", "next", "score" };
    uint32_t count = ROLE_COUNT;
    while (count > 1 && !roles[count - 1])
        count--;
    build_children(node, count);
    for (uint32_t i = 0; i < count; i++)
        if (roles[i])
            build_take(node, i, roles[i], i == ROLE_BODY && roles[i]->anonymous ? "" : names[i]);
    node->loop = loop_from(&spec);
    build_check_names(node);
    for (uint32_t i = ROLE_BODY + 1; i < count; i++)
        build_name_apart(node, i);
    if (!spec.body)
        build_refuse(node, "has no body");
    take_more(node, &spec);
    if (build_is_good(node))
        check_loop(node, &spec);
    return build_finish(node);
}

static int64_t state_index(const rondo_node *node, const char *name)
{
    return name ? node_child_index(node, name) : -1;
}

static void take_edges(rondo_node *node, const rondo_machine_spec *spec)
{
    node->edges = mem_zalloc((spec->edge_count + 1) * sizeof *node->edges);
    for (size_t i = 0; i < spec->edge_count; i++) {
        const rondo_edge *e = &spec->edges[i];
        int64_t from = state_index(node, e->from), to = state_index(node, e->to);
        bool ends = e->to && strcmp(e->to, RONDO_END) == 0;
        if (e->from && strcmp(e->from, RONDO_END) == 0)
            build_refuse(node, "an edge starts at the end");
        else if (from < 0)
            build_refuse(node, "edge %zu starts at unknown state '%s'", i + 1, e->from ? e->from : "");
        if (to < 0 && !ends)
            build_refuse(node, "edge %zu leads to unknown state '%s'", i + 1, e->to ? e->to : "");
        node->edges[node->edge_count++] = (struct node_edge){
            .from = (uint32_t)MAX(from, 0), .to = ends ? node->count : (uint32_t)MAX(to, 0),
            .when = e->when, .user = e->user };
    }
}

static void check_states(rondo_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        bool leaves = false;
        for (uint32_t k = 0; k < node->edge_count; k++)
            leaves = leaves || node->edges[k].from == i;
        if (!leaves && node->children[i].name)
            build_refuse(node, "state '%s' has no edge that leaves it", node->children[i].name);
    }
}

rondo_node *rondo_machine(const rondo_machine_spec *given)
{
    rondo_machine_spec spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_MACHINE, given);
    rondo_node *node = build_node(RONDO_KIND_MACHINE, spec.name ? spec.name : "", &spec.options);
    build_children(node, spec.state_count);
    for (size_t i = 0; i < spec.state_count; i++) {
        const rondo_state *state = &spec.states[i];
        build_take(node, (uint32_t)i, state->node, state->name);
        if (i < node->count)
            node->children[i].no_feedback = state->no_feedback;
        if (!state->name || !*state->name || strcmp(state->name, RONDO_END) == 0)
            build_refuse(node, "state %zu needs a name of its own, got '%s'", i + 1,
                         state->name ? state->name : "");
    }
    if (!spec.state_count)
        build_refuse(node, "has no states");
    build_check_names(node);
    node->loop = (struct node_loop){ .cap = spec.max_steps ? spec.max_steps : MACHINE_CAP,
                                     .on_max = spec.on_max, .feedback = spec.feedback,
                                     .max_failures = 3 };
    build_check_range(node, "max_steps", spec.max_steps, 0, INT32_MAX);
    build_check_range(node, "on_max", spec.on_max, RONDO_RETURN_LAST, RONDO_FLAG);
    build_check_range(node, "feedback", spec.feedback, 0, RONDO_FEEDBACK_OFF);
    if (build_is_good(node)) {
        int64_t start = state_index(node, spec.start);
        if (start < 0)
            build_refuse(node, "start names unknown state '%s'", spec.start ? spec.start : "");
        node->start = (uint32_t)MAX(start, 0);
        take_edges(node, &spec);
        check_states(node);
    }
    return build_finish(node);
}
