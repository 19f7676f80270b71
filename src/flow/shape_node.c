/* shape_node.c - from the shape of a definition back to nodes, for those who look at its runs.

   Applying a log needs no function: what they said is in it.  It needs kinds, names, places and limits, and how a
   container makes a result of those of its children; a row of the table below for each such mode. */
#include "flow/shape.h"

#include "data/value.h"
#include "flow/build.h"

#include <stddef.h>
#include <string.h>

#define KIND(kind) (1u << RONDO_KIND_##kind)
#define PASSES     (KIND(LOOP) | KIND(MACHINE))

static const struct mode {
    const char *name;
    unsigned kinds;
    size_t at;
    bool is_bool;
    int max; // of what a stranger may say
} modes[] = {
#define AT(member) offsetof(rondo_node, member)
    { "on_max", PASSES, AT(loop.on_max), false, 10 },
    { "output_mode", PASSES, AT(loop.output_mode), false, 10 },
    { "memory_mode", PASSES, AT(loop.memory_mode), false, 10 },
    { "memory_window", PASSES, AT(loop.memory_window), false, INT32_MAX },
    { "max_history", PASSES, AT(loop.max_history), false, INT32_MAX },
    { "on_error", PASSES, AT(loop.on_error), false, 10 },
    { "max_failures", PASSES, AT(loop.max_failures), false, INT32_MAX },
    { "patience", PASSES, AT(loop.patience), false, INT32_MAX },
    { "stall_repeats", PASSES, AT(loop.stall_repeats), false, INT32_MAX },
    { "oscillation", PASSES, AT(loop.oscillation), false, OSCILLATION_MAX },
    { "stall_action", PASSES, AT(loop.stall_action), false, 10 },
    { "compat_adk", PASSES, AT(loop.compat_adk), true, 1 },
    { "must_hold", PASSES, AT(loop.must_hold), true, 1 },
    { "start", KIND(MACHINE), AT(start), false, NODE_COUNT_MAX },
    { "items_output", KIND(EACH), AT(each.output_mode), false, 10 },
    { "members", KIND(FORUM), AT(forum.members), false, NODE_COUNT_MAX },
    { "rounds", KIND(FORUM), AT(forum.rounds), false, INT32_MAX },
    { "quorum", KIND(FORUM), AT(forum.quorum), false, NODE_COUNT_MAX },
    { "early_return", KIND(FORUM), AT(forum.early_return), true, 1 },
#undef AT
};

static bool has_mode(const rondo_node *node, const struct mode *mode)
{
    return mode->kinds >> node->kind & 1;
}

/* The step whose output counts; NULL for kinds that have none. */
static char **output_of(rondo_node *node)
{
    return node_is_loop(node) ? &node->loop.output : node->kind == RONDO_KIND_EACH ? &node->each.output : NULL;
}

void shape_put_modes(struct buf *out, const rondo_node *node)
{
    const char *before = ",\"modes\":{";
    char **output = output_of((rondo_node *)node);
    for (size_t i = 0; i < COUNT(modes); i++) {
        const char *at = (const char *)node + modes[i].at;
        int value = !has_mode(node, &modes[i]) ? 0 : modes[i].is_bool ? *(const bool *)at : *(const int *)at;
        if (!value)
            continue;
        buf_printf(out, "%s\"%s\":%d", before, modes[i].name, value);
        before = ",";
    }
    buf_puts(out, *before == ',' && !before[1] ? "}" : "");
    if (output && *output) {
        buf_puts(out, ",\"output\":");
        buf_put_json_string(out, *output, strlen(*output));
    }
}

/* ---- functions that are never called ------------------------------------------------------------------- */

static int no_predicate(rondo_context *context, void *user)
{
    return -1;
}

static rondo_value *no_producer(rondo_context *context, void *user)
{
    return NULL;
}

static double no_scorer(rondo_context *context, void *user)
{
    return 0;
}

static const char *no_selector(const rondo_value *input, void *user)
{
    return NULL;
}

/* Names as put_asks() writes them. */
static void take_ask(rondo_node *node, const char *name)
{
    bool is_loop = node_is_loop(node);
    if (strcmp(name, "when") == 0)
        node->opts.when = no_predicate;
    else if (strcmp(name, "retry.on") == 0)
        node->opts.retry.on = no_predicate;
    else if (is_loop && strcmp(name, "while") == 0)
        node->loop.while_ = no_predicate;
    else if (is_loop && strcmp(name, "until") == 0)
        node->loop.until = no_predicate;
    else if (is_loop && strcmp(name, "next") == 0)
        node->loop.next = no_producer;
    else if (is_loop && strcmp(name, "score") == 0)
        node->loop.score = no_scorer;
    else if (node->kind == RONDO_KIND_EACH && strcmp(name, "items") == 0)
        node->each.items = no_producer;
    else if (node->kind == RONDO_KIND_AGENT && strcmp(name, "select") == 0)
        node->agent.select = no_selector;
}

/* ---- reading ---------------------------------------------------------------------------------------------- */

static int64_t number_at(const json_t *object, const char *key, int64_t max)
{
    int64_t n = json_integer_value(json_object_get(object, key));
    return n < 0 ? 0 : MIN(n, max);
}

static int kind_of(const json_t *one)
{
    const char *text = json_string_value(json_object_get(one, "kind"));
    for (int kind = RONDO_KIND_INVALID + 1; text && kind < 32; kind++)
        if (strcmp(rondo_kind_text(kind), text) == 0)
            return kind;
    return RONDO_KIND_INVALID;
}

static void take_limits(rondo_node *node, const json_t *limits)
{
    rondo_options *o = &node->opts;
    o->retry.attempts = (int)number_at(limits, "retry.attempts", ATTEMPTS_MAX);
    o->timeout_ms = number_at(limits, "timeout_ms", TIME_MAX_MS);
    o->budget = (rondo_budget){ number_at(limits, "budget.time_ms", TIME_MAX_MS),
                                number_at(limits, "budget.tokens", AMOUNT_MAX),
                                number_at(limits, "budget.cost_nano", AMOUNT_MAX),
                                number_at(limits, "budget.calls", AMOUNT_MAX) };
    o->run_on = (int)number_at(limits, "run_on", RONDO_ON_ALWAYS);
    node->mode = (int)number_at(limits, "mode", 10);
    node->max_concurrency = (int)number_at(limits, "max_concurrency", INT32_MAX);
    node->call_ms = number_at(limits, "call_ms", TIME_MAX_MS);
    if (!node_is_loop(node))
        return;
    bool is_unbounded = json_integer_value(json_object_get(limits, "max_iterations")) < 0;
    node->loop.cap = is_unbounded ? RONDO_UNBOUNDED : number_at(limits, "max_iterations", INT32_MAX);
}

static void take_skills(rondo_node *node, const json_t *names)
{
    size_t count = node->kind == RONDO_KIND_AGENT ? json_array_size(names) : 0;
    node->agent.skills = count ? mem_zalloc(count * sizeof *node->agent.skills) : NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        node->agent.skills[node->agent.skill_count++].name = mem_strdup(name ? name : "");
    }
}

/* The name without the path of what is around it. */
static const char *own_name(const json_t *one, const json_t *around)
{
    const char *path = json_string_value(json_object_get(one, "path"));
    const char *up = json_string_value(json_object_get(around, "path"));
    size_t len = up ? strlen(up) : 0;
    if (!path || !up || strncmp(path, up, len) != 0)
        return NULL;
    return path + len + (len && path[len] == '.');
}

static rondo_node *make(const json_t *one, const char *name)
{
    int kind = kind_of(one);
    size_t i;
    json_t *ask;
    rondo_node *node = build_node(kind, name && *name ? name : NULL, &(rondo_options){ { 0 } });
    if (kind == RONDO_KIND_INVALID)
        return node;
    take_limits(node, json_object_get(one, "limits"));
    for (i = 0; i < COUNT(modes); i++) {
        char *at = (char *)node + modes[i].at;
        int value = (int)number_at(json_object_get(one, "modes"), modes[i].name, modes[i].max);
        if (has_mode(node, &modes[i]) && modes[i].is_bool)
            *(bool *)at = value;
        else if (has_mode(node, &modes[i]))
            *(int *)at = value;
    }
    const char *output = json_string_value(json_object_get(one, "output"));
    if (output && output_of(node))
        *output_of(node) = mem_strdup(output);
    json_array_foreach(json_object_get(one, "asks"), i, ask)
        if (json_is_string(ask))
            take_ask(node, json_string_value(ask));
    if (kind == RONDO_KIND_AGENT)
        take_skills(node, json_object_get(one, "skills"));
    return node;
}

static void take_deps(rondo_node *graph, uint32_t at, const json_t *names)
{
    struct node_child *child = &graph->children[at];
    size_t count = json_array_size(names);
    child->deps = count ? mem_zalloc(count * sizeof *child->deps) : NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(names, i));
        int64_t dep = name ? node_child_index(graph, name) : -1;
        if (dep < 0 || dep == at)
            continue;
        struct node_child *of = &graph->children[dep];
        child->deps[child->dep_count++] = (uint32_t)dep;
        of->users = mem_realloc(of->users, (of->user_count + 1) * sizeof *of->users);
        of->users[of->user_count++] = at;
    }
}

/* Children that have to be there, and are. */
static bool is_whole(const rondo_node *node)
{
    uint32_t least = node_is_leaf(node) ? 0 : node->kind == RONDO_KIND_FORUM ? node->forum.members + 1 : 1;
    if (node->kind == RONDO_KIND_LOOP && node->count > ROLE_COUNT)
        return false;
    if (node->count < least || (node->kind == RONDO_KIND_MACHINE && node->start >= node->count))
        return false;
    for (uint32_t i = 0; i < (node->kind == RONDO_KIND_LOOP ? MIN(node->count, 1) : node->count); i++)
        if (!node->children[i].node)
            return false;
    return node->kind != RONDO_KIND_FORUM || node->forum.rounds;
}

/* Which child of which node each one is; false when that cannot be. */
static bool find_places(const json_t *nodes, uint32_t *in, uint32_t *counts)
{
    for (size_t i = 1; i < json_array_size(nodes); i++) {
        const json_t *one = json_array_get(nodes, i);
        const json_t *up = json_object_get(one, "in"), *at = json_object_get(one, "at");
        if (!json_is_integer(up) || !json_is_integer(at) || json_integer_value(up) < 0 ||
            json_integer_value(up) >= (json_int_t)i || json_integer_value(at) < 0 ||
            json_integer_value(at) >= SHAPE_NODES_MAX)
            return false;
        in[i] = (uint32_t)json_integer_value(up);
        counts[in[i]] = MAX(counts[in[i]], (uint32_t)json_integer_value(at) + 1);
    }
    return true;
}

/* Of all, outer before inner; those that could not be given to what is around them are let go of. */
static rondo_node *put_together(const json_t *nodes, const uint32_t *in, const uint32_t *counts)
{
    size_t count = json_array_size(nodes);
    auto_free rondo_node **made = mem_zalloc(count * sizeof *made);
    bool is_good = true;
    for (size_t i = 0; i < count; i++) {
        const json_t *one = json_array_get(nodes, i);
        const char *name = i ? own_name(one, json_array_get(nodes, in[i]))
                             : json_string_value(json_object_get(one, "name"));
        uint32_t at = (uint32_t)json_integer_value(json_object_get(one, "at"));
        rondo_node *up = i ? made[in[i]] : NULL;
        is_good = is_good && name && kind_of(one) != RONDO_KIND_INVALID && (!up || !up->children[at].node);
        if (!is_good)
            break;
        made[i] = make(one, json_is_true(json_object_get(one, "nameless")) ? NULL : name);
        is_good = !(node_is_leaf(made[i]) && counts[i]);
        build_children(made[i], counts[i]);
        if (up)
            build_take(up, at, made[i], name);
    }
    for (size_t i = count; i-- && is_good;) {
        const json_t *one = json_array_get(nodes, i);
        is_good = is_whole(made[i]);
        if (i && made[in[i]]->kind == RONDO_KIND_GRAPH)
            take_deps(made[in[i]], (uint32_t)json_integer_value(json_object_get(one, "at")),
                      json_object_get(one, "after"));
        build_finish(made[i]);
    }
    if (!is_good) {
        rondo_node_unref(made[0]);
        return NULL;
    }
    return made[0];
}

rondo_node *shape_node(const char *text, size_t len, rondo_error *err)
{
    auto_json json_t *shape = json_loadb(text, len, 0, NULL);
    const json_t *nodes = json_object_get(shape, "nodes");
    size_t count = json_array_size(nodes);
    rondo_node *node = NULL;
    if (json_object_get(shape, "more") || count > SHAPE_NODES_MAX) {
        err_set(err, RONDO_ESTATE, "its definition is too large: only the program that made it can look at it");
        return NULL;
    }
    auto_free uint32_t *in = mem_zalloc((count + 1) * sizeof *in);
    auto_free uint32_t *counts = mem_zalloc((count + 1) * sizeof *counts);
    if (count && find_places(nodes, in, counts))
        node = put_together(nodes, in, counts);
    if (!node)
        err_set(err, RONDO_ESTATE, "an older version kept it, without what is needed to show it");
    return node;
}
