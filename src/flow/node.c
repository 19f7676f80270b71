/* node.c - the life of definitions, and looking at them. */
#include "flow/node.h"

#include "base/buf.h"
#include "base/mem.h"
#include "flow/flow.h"

#include <string.h>

static void child_clear(struct node_child *child)
{
    rondo_node_unref(child->node);
    mem_free(child->name);
    mem_free(child->deps);
    mem_free(child->users);
    mem_free(child->review);
}

static void agent_clear(struct node_agent *agent)
{
    for (uint32_t i = 0; i < agent->skill_count; i++) {
        mem_free(agent->skills[i].name);
        mem_free(agent->skills[i].description);
        schema_unref(agent->skills[i].input);
        schema_unref(agent->skills[i].output);
    }
    mem_free(agent->skills);
    mem_free(agent->memory);
    mem_free(agent->output_key);
}

static void gate_clear(rondo_node *node)
{
    mem_free(node->gate.ask);
    schema_unref(node->gate.schema);
    json_decref(node->gate.answer);
}

static void node_free(rondo_node *node)
{
    if (node->kind == RONDO_KIND_AGENT)
        agent_clear(&node->agent);
    if (node_is_loop(node))
        mem_free(node->loop.output);
    if (node->kind == RONDO_KIND_EACH)
        mem_free(node->each.output);
    if (node->kind == RONDO_KIND_GATE)
        gate_clear(node);
    for (uint32_t i = 0; i < node->count && node->kind != KIND_HOLDER; i++)
        child_clear(&node->children[i]);
    for (uint32_t i = HOLDER_OWN; i < node->count && node->kind == KIND_HOLDER; i++)
        mem_free(node->children[i].name);
    if (node->holder)
        node_free(node->holder);
    rondo_node_unref(node->coordinator);
    mem_free(node->children);
    mem_free(node->shape);
    mem_free(node->edges);
    mem_free(node->name);
    mem_free(node->description);
    mem_free(node->bad);
    schema_unref(node->input_schema);
    schema_unref(node->agent_schema);
    schema_unref(node->output_schema);
    json_decref(node->input_doc);
    json_decref(node->output_doc);
    flow_unref(node->flow);
    mem_free(node);
}

rondo_node *rondo_node_ref(rondo_node *node)
{
    if (node)
        __atomic_add_fetch(&node->refs, 1, __ATOMIC_RELAXED);
    return node;
}

void rondo_node_unref(rondo_node *node)
{
    if (node && __atomic_sub_fetch(&node->refs, 1, __ATOMIC_ACQ_REL) == 0)
        node_free(node);
}

int rondo_node_check(const rondo_node *node, rondo_error *err)
{
    if (!node)
        return err ? err_set(err, RONDO_EINVAL, "there is no node") : RONDO_EINVAL;
    if (node->bad && err)
        *err = *node->bad;
    return node->bad ? node->bad->code : 0;
}

/* Of files only models have conversations. */
static bool has_encores(const rondo_node *node)
{
    const struct flow_step *step = node->step;
    bool is_model = !step || (step->body == BODY_AGENT && (!step->agent || step->agent->kind == AGENT_MODEL));
    return node->kind == RONDO_KIND_AGENT && is_model;
}

/* Every such agent of the definition, by its names from the root down. */
static void add_encores(rondo_node *holder, uint32_t *cap, struct node_child child, struct buf *names)
{
    size_t len = names->len;
    if (!child.node)
        return;
    if (*child.name)
        buf_printf(names, "%s%s", len ? "." : "", child.name);
    if (has_encores(child.node)) {
        mem_grow(&holder->children, cap, holder->count, sizeof *holder->children);
        holder->children[holder->count++] = (struct node_child){ .node = child.node,
                                                                 .name = mem_strdup(buf_text(names)) };
    }
    for (uint32_t i = 0; i < child.node->count; i++)
        add_encores(holder, cap, child.node->children[i], names);
    names->len = len;
}

static rondo_node *make_holder(rondo_node *node)
{
    rondo_node *holder = mem_zalloc(sizeof *holder);
    uint32_t cap = HOLDER_OWN;
    auto_buf struct buf names = { 0 };
    holder->kind = KIND_HOLDER;
    holder->children = mem_zalloc(HOLDER_OWN * sizeof *holder->children);
    holder->children[0] = (struct node_child){ .node = node, .name = node->anonymous ? "" : node->name };
    holder->count = 1;
    if (!node->coordinator)
        return holder;
    holder->children[holder->count++] = (struct node_child){ .node = node->coordinator, .name = "coordinator" };
    add_encores(holder, &cap, holder->children[0], &names);
    return holder;
}

rondo_node *node_holder(rondo_node *node)
{
    rondo_node *none = NULL, *holder = __atomic_load_n(&node->holder, __ATOMIC_ACQUIRE);
    if (holder)
        return holder;
    holder = make_holder(node);
    if (__atomic_compare_exchange_n(&node->holder, &none, holder, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return holder;
    node_free(holder); // another thread was first
    return none;
}

void node_limits(const rondo_node *node, struct node_limit *ret)
{
    const rondo_options *o = &node->opts;
    const struct node_limit limits[NODE_LIMITS] = {
        { "retry.attempts", o->retry.attempts },
        { "timeout_ms", o->timeout_ms },
        { "budget.time_ms", o->budget.time_ms },
        { "budget.tokens", o->budget.tokens },
        { "budget.cost_nano", o->budget.cost_nano },
        { "budget.calls", o->budget.calls },
        { "run_on", o->run_on },
        { "mode", node->mode }, // of failures, of a parallel, of items, what a forum shows
        { "max_concurrency", node->max_concurrency },
        { "max_iterations", node_is_loop(node) ? node->loop.cap : 0 },
        { "call_ms", node->call_ms },
    };
    memcpy(ret, limits, sizeof limits);
}

bool node_is_handled(const rondo_node *graph, uint32_t child, bool (*has_completed)(const void *user, uint32_t child),
                     const void *user)
{
    const struct node_child *failed = &graph->children[child];
    for (uint32_t k = 0; k < failed->user_count; k++) {
        uint32_t by = failed->users[k];
        if (graph->children[by].node->opts.run_on == RONDO_ON_FAILURE && has_completed(user, by))
            return true;
    }
    return false;
}

int64_t node_child_index(const rondo_node *node, const char *name)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (node->children[i].node && strcmp(node->children[i].name, name) == 0)
            return i;
    return -1;
}

static const char *const kind_texts[] = {
    [RONDO_KIND_INVALID] = "invalid",   [RONDO_KIND_AGENT] = "agent",
    [RONDO_KIND_SEQUENCE] = "sequence", [RONDO_KIND_PARALLEL] = "parallel",
    [RONDO_KIND_BRANCH] = "branch",     [RONDO_KIND_FORUM] = "forum",
    [RONDO_KIND_GRAPH] = "graph",       [RONDO_KIND_LOOP] = "loop",
    [RONDO_KIND_EACH] = "each",         [RONDO_KIND_MACHINE] = "machine",
    [RONDO_KIND_GATE] = "gate",
};

const char *rondo_kind_text(int kind)
{
    return kind >= 0 && (size_t)kind < COUNT(kind_texts) ? kind_texts[kind] : "unknown";
}

int rondo_node_kind(const rondo_node *node)
{
    return !node || node->bad ? RONDO_KIND_INVALID : node->kind;
}

const char *rondo_node_name(const rondo_node *node)
{
    return node && node->name ? node->name : "";
}

const char *rondo_node_description(const rondo_node *node)
{
    return node && node->description ? node->description : "";
}

int64_t rondo_node_limit(const rondo_node *node, int limit)
{
    if (!node)
        return 0;
    switch ((enum rondo_limit)limit) {
    case RONDO_LIMIT_ITERATIONS: return node_is_loop(node) ? node->loop.cap : 0;
    case RONDO_LIMIT_CONCURRENCY: return node->max_concurrency;
    case RONDO_LIMIT_ATTEMPTS: return node->opts.retry.attempts;
    case RONDO_LIMIT_TIMEOUT_MS: return node->opts.timeout_ms;
    case RONDO_LIMIT_TIME_MS: return node->opts.budget.time_ms;
    case RONDO_LIMIT_TOKENS: return node->opts.budget.tokens;
    case RONDO_LIMIT_COST_NANO: return node->opts.budget.cost_nano;
    case RONDO_LIMIT_CALLS: return node->opts.budget.calls;
    }
    return 0;
}

/* Roles that a loop does not have are no children to the outside. */
static const struct node_child *nth_child(const rondo_node *node, size_t n)
{
    for (uint32_t i = 0; node && i < node->count; i++)
        if (node->children[i].node && n-- == 0)
            return &node->children[i];
    return NULL;
}

size_t rondo_node_count(const rondo_node *node)
{
    size_t n = 0;
    for (uint32_t i = 0; node && i < node->count; i++)
        n += node->children[i].node != NULL;
    return n;
}

const rondo_node *rondo_node_child(const rondo_node *node, size_t i)
{
    const struct node_child *child = nth_child(node, i);
    return child ? child->node : NULL;
}

const char *rondo_node_child_name(const rondo_node *node, size_t i)
{
    const struct node_child *child = nth_child(node, i);
    return child ? child->name : "";
}

const rondo_node *rondo_node_find(const rondo_node *node, const char *name)
{
    const rondo_node *found = NULL;
    if (!node || !name)
        return NULL;
    if (node->name && strcmp(node->name, name) == 0)
        return node;
    for (uint32_t i = 0; i < node->count && !found; i++)
        if (node->children[i].node)
            found = rondo_node_find(node->children[i].node, name);
    return found;
}
