/* build_graph.c - graphs: dependencies by name, checked when built.

   Steps may be declared in any order; a cycle is told as the walk that closes it. */
#include "base/buf.h"
#include "flow/build.h"
#include "flow/flow.h"

#include <string.h>

static void take_deps(rondo_node *node, uint32_t at, const char *const *names)
{
    struct node_child *child = &node->children[at];
    size_t n = 0;
    while (names && names[n])
        n++;
    child->deps = n ? mem_zalloc(n * sizeof *child->deps) : NULL;
    for (size_t i = 0; i < n; i++) {
        int64_t dep = node_child_index(node, names[i]);
        if (dep < 0)
            build_refuse(node, "step '%s' depends on unknown step '%s'", child->name, names[i]);
        else if (dep == at)
            build_refuse(node, "step '%s' depends on itself", child->name);
        if (!build_is_good(node))
            return;
        child->deps[child->dep_count++] = (uint32_t)dep;
        node->children[dep].user_count++;
    }
}

static void add_dep(rondo_node *node, struct node_child *child, uint32_t dep)
{
    child->deps[child->dep_count++] = dep;
    node->children[dep].user_count++;
}

/* The steps of a file, whose names were looked up when it was loaded.  Reviewers are children behind
   the steps; who depends on a step also waits for its reviewer.  reviewers: by step, 0 for none. */
static void take_known_deps(rondo_node *node, const struct flow_scope *scope, const uint32_t *reviewers)
{
    for (uint32_t i = 0; i < node->count; i++) {
        struct node_child *child = &node->children[i];
        const struct flow_step *step = i < scope->count ? scope->steps[i] : NULL;
        uint32_t count = step ? step->depends_count : 1;
        child->deps = count ? mem_zalloc(2 * count * sizeof *child->deps) : NULL;
        if (child->review)
            add_dep(node, child, child->review->of);
        for (uint32_t d = 0; step && d < count; d++) {
            add_dep(node, child, step->deps[d]);
            if (reviewers[step->deps[d]])
                add_dep(node, child, reviewers[step->deps[d]]);
        }
    }
}

static void take_file_deps(rondo_node *node, const struct flow_scope *scope)
{
    auto_free uint32_t *reviewers = mem_zalloc((scope->count + 1) * sizeof *reviewers);
    for (uint32_t i = scope->count; i < node->count; i++)
        reviewers[node->children[i].review->of] = i;
    take_known_deps(node, scope, reviewers);
}

/* Children behind the steps of a file look at one of them each, in the order of the steps. */
static void take_reviews(rondo_node *node, const struct flow_scope *scope)
{
    uint32_t at = scope->count;
    for (uint32_t i = 0; i < scope->count && at < node->count; i++) {
        const struct flow_review *review = scope->steps[i]->review;
        if (!review)
            continue;
        node->children[at].review = mem_alloc(sizeof *node->children[at].review);
        *node->children[at++].review = (struct node_review){ i, review->max_retries,
                                                             review->max_predecessor_retries,
                                                             review->on_exhausted };
    }
}

/* The same edges seen from the other end. */
static void link_users(rondo_node *node)
{
    for (uint32_t i = 0; i < node->count; i++) {
        node->children[i].users = mem_zalloc((node->children[i].user_count + 1) * sizeof(uint32_t));
        node->children[i].user_count = 0;
    }
    for (uint32_t i = 0; i < node->count; i++)
        for (uint32_t d = 0; d < node->children[i].dep_count; d++) {
            struct node_child *dep = &node->children[node->children[i].deps[d]];
            dep->users[dep->user_count++] = i;
        }
}

static const struct flow_agent *agent_at(const rondo_node *node, const struct flow_scope *scope, uint32_t i)
{
    const struct node_review *review = node->children[i].review;
    return review ? scope->steps[review->of]->review->reviewer->agent : scope->steps[i]->agent;
}

static int schedule_of(const struct flow *flow)
{
    static const char *const names[] = { [SCHEDULE_ORDER] = "dependency-first",
                                         [SCHEDULE_ROUND] = "round-robin",
                                         [SCHEDULE_LEAST_BUSY] = "least-busy" };
    for (size_t i = 0; flow->scheduler && i < COUNT(names); i++)
        if (strcmp(flow->scheduler, names[i]) == 0)
            return (int)i;
    return SCHEDULE_ORDER;
}

/* Lanes are numbered as their agents are first named; steps without an agent share one. */
static void take_lanes(rondo_node *node, const struct flow_scope *scope)
{
    auto_free const struct flow_agent **agents = mem_alloc(node->count * sizeof *agents);
    node->graph.schedule = schedule_of(scope->flow);
    for (uint32_t i = 0; node->graph.schedule && i < node->count; i++) {
        uint32_t lane = 0;
        agents[node->graph.lanes] = agent_at(node, scope, i);
        while (agents[lane] != agents[node->graph.lanes])
            lane++;
        node->children[i].lane = lane;
        node->graph.lanes += lane == node->graph.lanes;
    }
}

enum mark { UNSEEN, ON_WALK, FINE };

/* Depth first along dependencies with an explicit stack (graphs may be long chains). */
static void find_cycle(rondo_node *node, uint32_t from, uint8_t *marks, uint32_t *stack, uint32_t *next)
{
    uint32_t depth = 0;
    stack[0] = from;
    next[0] = 0;
    marks[from] = ON_WALK;
    for (;;) {
        const struct node_child *at = &node->children[stack[depth]];
        if (next[depth] == at->dep_count) {
            marks[stack[depth]] = FINE;
            if (depth-- == 0)
                return;
            continue;
        }
        uint32_t dep = at->deps[next[depth]++];
        if (marks[dep] == ON_WALK) {
            auto_buf struct buf walk = { 0 };
            uint32_t i = 0;
            while (stack[i] != dep)
                i++;
            for (; i <= depth; i++)
                buf_printf(&walk, "%s -> ", node->children[stack[i]].name);
            build_refuse(node, "steps wait for each other: %s%s", buf_text(&walk),
                         node->children[dep].name);
            return;
        }
        if (marks[dep] == UNSEEN) {
            marks[dep] = ON_WALK;
            stack[++depth] = dep;
            next[depth] = 0;
        }
    }
}

static void check_cycles(rondo_node *node)
{
    auto_free uint8_t *marks = mem_zalloc(node->count + 1);
    auto_free uint32_t *stack = mem_alloc((node->count + 1) * sizeof *stack);
    auto_free uint32_t *next = mem_alloc((node->count + 1) * sizeof *next);
    for (uint32_t i = 0; i < node->count && build_is_good(node); i++)
        if (marks[i] == UNSEEN)
            find_cycle(node, i, marks, stack, next);
}

/* A step with run_on and no dependencies waits for all ordinary steps.  Those that wait for it come even
   later: they are no ordinary ones, or each would wait for the other. */
static void mark_late_steps(rondo_node *node)
{
    auto_free uint32_t *late = mem_alloc((node->count + 1) * sizeof *late);
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->count; i++)
        if (node->children[i].node->opts.run_on != RONDO_ON_SUCCESS && !node->children[i].dep_count)
            late[count++] = i;
    for (uint32_t at = 0; at < count; at++) {
        struct node_child *child = &node->children[late[at]];
        child->is_late = true;
        for (uint32_t u = 0; u < child->user_count; u++) {
            struct node_child *user = &node->children[child->users[u]];
            if (!user->is_late)
                late[count++] = child->users[u];
            user->is_late = true;
        }
    }
}

rondo_node *build_graph_of(const rondo_graph_spec *given, const struct flow_scope *scope)
{
    rondo_graph_spec spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_GRAPH, given);
    rondo_node *node = build_node(RONDO_KIND_GRAPH, spec.name, &spec.options);
    build_children(node, spec.step_count);
    for (size_t i = 0; i < spec.step_count; i++) {
        build_take(node, (uint32_t)i, spec.steps[i].node, spec.steps[i].name);
        if (i < node->count) {
            node->children[i].input = spec.steps[i].input;
            node->children[i].user = spec.steps[i].user;
        }
    }
    node->mode = spec.on_failure;
    node->max_concurrency = spec.max_concurrency;
    if (!spec.step_count)
        build_refuse(node, "has no steps");
    build_check_range(node, "on_failure", spec.on_failure, RONDO_CASCADE, RONDO_ABORT);
    if (scope && build_is_good(node))
        take_reviews(node, scope);
    if (build_is_good(node))
        build_check_names(node);
    for (uint32_t i = 0; i < node->count; i++)
        if (node->children[i].review)
            build_name_apart(node, i);
    for (uint32_t i = 0; !scope && i < node->count && build_is_good(node); i++)
        take_deps(node, i, spec.steps[i].depends_on);
    if (scope && build_is_good(node))
        take_file_deps(node, scope);
    if (scope && build_is_good(node))
        take_lanes(node, scope);
    if (build_is_good(node))
        link_users(node);
    if (build_is_good(node))
        check_cycles(node);
    if (build_is_good(node))
        mark_late_steps(node);
    return build_finish(node);
}

rondo_node *rondo_graph(const rondo_graph_spec *spec)
{
    return build_graph_of(spec, NULL);
}
