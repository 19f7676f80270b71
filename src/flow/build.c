/* build.c - from specs to nodes: the simple kinds, and what all constructors share. */
#include "flow/build.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/spec.h"
#include "data/fit.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define NAME_MAX_LEN 200

bool build_copy_spec(void *ours, size_t our_size, const void *given)
{
    rondo_error err;
    return given && spec_copy(ours, our_size, given, "", "", &err) == 0;
}

void build_refuse(rondo_node *node, const char *fmt, ...)
{
    va_list args;
    if (node->bad)
        return;
    node->bad = mem_zalloc(sizeof *node->bad);
    va_start(args, fmt);
    vsnprintf(node->bad->message, sizeof node->bad->message, fmt, args);
    va_end(args);
    node->bad->code = RONDO_EINVAL;
    snprintf(node->bad->path, sizeof node->bad->path, "%s", rondo_node_name(node));
    err_in(node->bad, "%s '%s'", rondo_kind_text(node->kind), rondo_node_name(node));
}

bool build_is_good(const rondo_node *node)
{
    return !node->bad;
}

void build_check_range(rondo_node *node, const char *field, int64_t value, int64_t min, int64_t max)
{
    if (value < min)
        build_refuse(node, "%s must be at least %lld, got %lld", field, (long long)min,
                     (long long)value);
    else if (value > max)
        build_refuse(node, "%s must be at most %lld, got %lld", field, (long long)max,
                     (long long)value);
}

void build_check_output(rondo_node *node, const rondo_node *body, const char *output)
{
    if (output && body && build_is_good(node) && node_child_index(body, output) < 0 && strcmp(body->name, output))
        build_refuse(node, "output names '%s', which is no step of the body", output);
}

static void check_fraction(rondo_node *node, const char *field, double value, double max)
{
    if (!(value >= 0 && value <= max))
        build_refuse(node, "%s must be between 0 and %g, got %g", field, max, value);
}

static void check_options(rondo_node *node)
{
    const rondo_options *o = &node->opts;
    const struct {
        const char *field;
        int64_t value, max;
    } rows[] = {
        { "retry.attempts", o->retry.attempts, ATTEMPTS_MAX },
        { "retry.delay_ms", o->retry.delay_ms, TIME_MAX_MS },
        { "retry.max_delay_ms", o->retry.max_delay_ms, TIME_MAX_MS },
        { "timeout_ms", o->timeout_ms, TIME_MAX_MS },
        { "budget.time_ms", o->budget.time_ms, TIME_MAX_MS },
        { "budget.tokens", o->budget.tokens, AMOUNT_MAX },
        { "budget.cost_nano", o->budget.cost_nano, AMOUNT_MAX },
        { "budget.calls", o->budget.calls, AMOUNT_MAX },
        { "max_concurrency", node->max_concurrency, INT32_MAX },
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        build_check_range(node, rows[i].field, rows[i].value, 0, rows[i].max);
    build_check_range(node, "run_on", o->run_on, RONDO_ON_SUCCESS, RONDO_ON_ALWAYS);
    check_fraction(node, "retry.jitter", o->retry.jitter, 1);
    check_fraction(node, "retry.factor", o->retry.factor, 1000);
}

struct schema *build_schema(rondo_node *node, const char *field, const char *text, json_t **ret_doc)
{
    json_error_t error;
    rondo_error why;
    if (!text)
        return NULL;
    json_t *doc = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    struct schema *schema = doc ? schema_compile(doc, NULL, &why) : NULL;
    if (!doc)
        build_refuse(node, "%s is not JSON: %s (line %d, column %d)", field, error.text, error.line,
                     error.column);
    else if (!schema)
        build_refuse(node, "%s: %s", field, why.message);
    if (ret_doc)
        *ret_doc = doc;
    else
        json_decref(doc);
    return schema;
}

rondo_node *build_node(int kind, const char *name, const rondo_options *opts)
{
    rondo_node *node = mem_zalloc(sizeof *node);
    node->kind = kind;
    node->refs = 1;
    node->anonymous = !name;
    node->name = mem_strdup(name ? name : rondo_kind_text(kind));
    node->opts = *opts;
    node->input_schema = build_schema(node, "input_schema", opts->input_schema, &node->input_doc);
    node->output_schema = build_schema(node, "output_schema", opts->output_schema,
                                       &node->output_doc);
    node->opts.input_schema = node->opts.output_schema = NULL;
    return node;
}

rondo_node *build_without_spec(int kind, const void *given)
{
    static const char *const macros[] = {
        [RONDO_KIND_AGENT] = "RONDO_AGENT",       [RONDO_KIND_SEQUENCE] = "RONDO_SEQUENCE_SPEC",
        [RONDO_KIND_BRANCH] = "RONDO_BRANCH",     [RONDO_KIND_PARALLEL] = "RONDO_PARALLEL_SPEC",
        [RONDO_KIND_FORUM] = "RONDO_FORUM",       [RONDO_KIND_GRAPH] = "RONDO_GRAPH",
        [RONDO_KIND_LOOP] = "RONDO_LOOP",         [RONDO_KIND_EACH] = "RONDO_EACH",
        [RONDO_KIND_MACHINE] = "RONDO_MACHINE",   [RONDO_KIND_GATE] = "RONDO_GATE",
    };
    size_t size;
    rondo_error err = { .message = "there is no spec" };
    rondo_node *node = build_node(kind, NULL, &(rondo_options){ { 0 } });
    spec_copy(&size, sizeof size, given, "the spec", macros[kind], &err);
    build_refuse(node, "%s", err.message);
    return node;
}

void build_children(rondo_node *node, size_t count)
{
    if (count > NODE_COUNT_MAX)
        build_refuse(node, "has %zu children, at most %d are possible", count, NODE_COUNT_MAX);
    node->count = (uint32_t)MIN(count, NODE_COUNT_MAX);
    node->children = mem_zalloc(MAX(node->count, 1u) * sizeof *node->children);
}

/* A broken child breaks its container; the path grows from the inside out. */
static void adopt_error(rondo_node *node, const rondo_node *child)
{
    if (node->bad)
        return;
    node->bad = mem_alloc(sizeof *node->bad);
    *node->bad = *child->bad;
    char path[sizeof node->bad->path * 2 + 256];
    snprintf(path, sizeof path, "%.250s.%s", node->name, child->bad->path);
    path[sizeof node->bad->path - 1] = '\0';
    memcpy(node->bad->path, path, sizeof node->bad->path);
}

void build_take(rondo_node *node, uint32_t at, rondo_node *child, const char *name)
{
    if (at >= node->count) { // beyond NODE_COUNT_MAX: refused already
        rondo_node_unref(child);
        return;
    }
    if (!child) {
        build_refuse(node, "child %u is NULL", at + 1);
        return;
    }
    node->children[at].node = child;
    node->children[at].name = mem_strdup(name ? name : child->name);
    if (child->bad)
        adopt_error(node, child);
}

static bool is_name(const char *name)
{
    if (!*name || strlen(name) > NAME_MAX_LEN)
        return false;
    for (; *name; name++)
        if (!isalnum((unsigned char)*name) && !strchr("-_", *name) && !((unsigned char)*name & 0x80))
            return false;
    return true;
}

static bool is_repeat(const struct node_child *a, const struct node_child *b)
{
    size_t len = b->name ? strlen(b->name) : 0;
    bool same = a->node && b->node &&
                (a->node == b->node || (a->node->anonymous && b->node->anonymous) ||
                 (a->node->step && b->node->step)); // an agent that a file names twice
    return same && strncmp(a->name, b->name, len) == 0 &&
           (a->name[len] == '\0' || a->name[len] == '#');
}

/* One node in several places of a container, and several nodes without a name, are told apart by
   "#2"; different nodes that were given one name would make two results answer to it. */
static void number_repeats(rondo_node *node)
{
    for (uint32_t i = 1; i < node->count; i++) {
        uint32_t same = 1;
        for (uint32_t k = 0; k < i && node->count <= 1000; k++)
            same += is_repeat(&node->children[k], &node->children[i]);
        if (same == 1)
            continue;
        char *name = mem_alloc(strlen(node->children[i].name) + 16);
        snprintf(name, strlen(node->children[i].name) + 16, "%s#%u", node->children[i].name, same);
        mem_free(node->children[i].name);
        node->children[i].name = name;
    }
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_duplicates(rondo_node *node)
{
    auto_free const char **names = mem_alloc((node->count + 1) * sizeof *names);
    uint32_t n = 0;
    for (uint32_t i = 0; i < node->count; i++)
        if (node->children[i].node && node->children[i].name)
            names[n++] = node->children[i].name;
    qsort(names, n, sizeof *names, by_name);
    for (uint32_t i = 1; i < n; i++)
        if (*names[i] && strcmp(names[i - 1], names[i]) == 0)
            build_refuse(node, "two children are named '%s'", names[i]);
}

void build_check_names(rondo_node *node)
{
    if (!is_name(node->name))
        build_refuse(node, "a name is made of letters, digits, '-' and '_', got '%s'", node->name);
    for (uint32_t i = 0; i < node->count; i++) {
        const char *name = node->children[i].name;
        bool reviews = node->children[i].review; // "x.review"
        if (node->children[i].node && *name && !reviews && !is_name(name))
            build_refuse(node, "a name is made of letters, digits, '-' and '_', got '%s'", name);
    }
    number_repeats(node);
    check_duplicates(node);
}

static bool has_path(const rondo_node *node, const char *path);

static bool is_on_path(const struct node_child *child, const char *path)
{
    size_t len = child->node ? strlen(child->name) : 0;
    if (!child->node || strncmp(path, child->name, len) != 0)
        return false;
    if (len && path[len] != '.')
        return !path[len];
    return has_path(child->node, path + len + (len != 0));
}

/* Is there something at that path below?  Where numbers stand before names no made child is. */
static bool has_path(const rondo_node *node, const char *path)
{
    bool is_numbered = node_is_leaf(node) || node_is_loop(node) || node->kind == RONDO_KIND_EACH;
    uint32_t i = node->kind == RONDO_KIND_FORUM ? node->forum.members : 0;
    while (!is_numbered && i < node->count && !is_on_path(&node->children[i], path))
        i++;
    return !is_numbered && i < node->count;
}

static bool is_met(const rondo_node *node, uint32_t at)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (i != at && is_on_path(&node->children[i], node->children[at].name))
            return true;
    return false;
}

void build_name_apart(rondo_node *node, uint32_t at)
{
    auto_free char *name = mem_strdup(node->children[at].name);
    for (unsigned n = 2; name && is_met(node, at); n++) {
        char *apart = mem_alloc(strlen(name) + 16);
        snprintf(apart, strlen(name) + 16, "%s#%u", name, n);
        mem_free(node->children[at].name);
        node->children[at].name = apart;
    }
}

static uint64_t text_hash(uint64_t hash, const char *text)
{
    return hash_bytes(hash, text ? text : "", text ? strlen(text) : 0);
}

/* What a stored log must agree with: shape, names and limits, not texts for people. */
static uint64_t node_hash(const rondo_node *node)
{
    uint64_t hash = text_hash((uint64_t)node->kind, node->name);
    struct node_limit limits[NODE_LIMITS];
    node_limits(node, limits);
    for (size_t i = 0; i < NODE_LIMITS; i++)
        hash = hash_add(hash, (uint64_t)limits[i].value);
    for (uint32_t i = 0; i < node->count; i++) {
        const struct node_child *child = &node->children[i];
        hash = hash_add(text_hash(hash, child->name), child->node ? child->node->hash : 0);
        for (uint32_t d = 0; d < child->dep_count; d++)
            hash = hash_add(hash, child->deps[d]);
    }
    for (uint32_t i = 0; i < node->edge_count; i++)
        hash = hash_add(hash_add(hash, node->edges[i].from), node->edges[i].to);
    return hash;
}

rondo_node *build_finish(rondo_node *node)
{
    check_options(node);
    for (uint32_t i = 0; i < node->count; i++)
        if (node->children[i].node)
            node->depth = MAX(node->depth, node->children[i].node->depth + 1);
    if (node->depth > NODE_DEPTH_MAX)
        build_refuse(node, "containers are nested more than %d deep", NODE_DEPTH_MAX);
    const rondo_budget *b = &node->opts.budget;
    node->has_budget = b->time_ms || b->tokens || b->cost_nano || b->calls;
    node->hash = node_hash(node);
    return node;
}

void build_limit_calls(rondo_node *node, int64_t ms)
{
    node->call_ms = ms;
    node->hash = node_hash(node);
}

static size_t count_nodes(rondo_node *const *nodes)
{
    size_t n = 0;
    while (nodes && nodes[n])
        n++;
    return n;
}

static void take_all(rondo_node *node, rondo_node *const *children, const char *what)
{
    size_t n = count_nodes(children);
    build_children(node, n);
    for (size_t i = 0; i < n; i++)
        build_take(node, (uint32_t)MIN(i, UINT32_MAX), children[i], NULL);
    if (!n)
        build_refuse(node, "has no %s", what);
}

static void take_skills(rondo_node *node, const rondo_agent *agent)
{
    struct node_agent *a = &node->agent;
    a->skill_count = (uint32_t)MIN(agent->skill_count, 1000);
    a->skills = mem_zalloc((a->skill_count + 1) * sizeof *a->skills);
    for (uint32_t i = 0; i < a->skill_count; i++) {
        const rondo_skill *given = &agent->skills[i];
        struct node_skill *skill = &a->skills[i];
        skill->name = mem_strdup(given->name ? given->name : "");
        skill->description = mem_strdup(given->description);
        skill->input = build_schema(node, "a skill's input_schema", given->input_schema, NULL);
        skill->output = build_schema(node, "a skill's output_schema", given->output_schema, NULL);
        skill->run = given->run;
        skill->user = given->user;
        if (!*skill->name)
            build_refuse(node, "skill %u has no name", i + 1);
        if (!given->run)
            build_refuse(node, "skill '%s' has no function", skill->name);
        for (uint32_t k = 0; k < i; k++)
            if (strcmp(a->skills[k].name, skill->name) == 0)
                build_refuse(node, "two skills are named '%s'", skill->name);
    }
}

rondo_node *rondo_agent_node(const rondo_agent *given)
{
    rondo_agent spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_AGENT, given);
    rondo_node *node = build_node(RONDO_KIND_AGENT, spec.name ? spec.name : "", &spec.options);
    node->description = mem_strdup(spec.description);
    node->agent = (struct node_agent){ .run = spec.run, .user = spec.user, .select = spec.select,
                                       .effects = spec.effects, .memory = mem_strdup(spec.memory),
                                       .output_key = mem_strdup(spec.output_key) };
    build_check_names(node);
    take_skills(node, &spec);
    if (!spec.run && !spec.skill_count)
        build_refuse(node, "has neither a function nor skills");
    if (spec.run && spec.skill_count)
        build_refuse(node, "has a function and skills; give one of them");
    build_check_range(node, "effects", spec.effects, RONDO_IDEMPOTENT, RONDO_ONCE);
    return build_finish(node);
}

/* In a row, what one gives the next must be able to take. */
static void check_fits(rondo_node *node)
{
    for (uint32_t i = 1; i < node->count; i++) {
        const rondo_node *a = node->children[i - 1].node, *b = node->children[i].node;
        if (a->output_doc && b->input_doc && !fit_can_meet(a->output_doc, b->input_doc))
            build_refuse(node, "the output of '%s' cannot be the input of '%s': their types differ",
                         a->name, b->name);
    }
}

rondo_node *rondo_sequence(const rondo_sequence_spec *given)
{
    rondo_sequence_spec spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_SEQUENCE, given);
    rondo_node *node = build_node(RONDO_KIND_SEQUENCE, spec.name, &spec.options);
    take_all(node, spec.children, "children");
    if (build_is_good(node)) {
        build_check_names(node);
        check_fits(node);
    }
    return build_finish(node);
}

rondo_node *rondo_parallel(const rondo_parallel_spec *given)
{
    rondo_parallel_spec spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_PARALLEL, given);
    rondo_node *node = build_node(RONDO_KIND_PARALLEL, spec.name, &spec.options);
    take_all(node, spec.children, "children");
    node->mode = spec.mode;
    node->max_concurrency = spec.max_concurrency;
    if (build_is_good(node))
        build_check_names(node);
    build_check_range(node, "mode", spec.mode, RONDO_FAIL_FAST, RONDO_FIRST);
    return build_finish(node);
}

rondo_node *rondo_branch(const rondo_branch_spec *given)
{
    rondo_branch_spec spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_BRANCH, given);
    rondo_node *node = build_node(RONDO_KIND_BRANCH, spec.name, &spec.options);
    build_children(node, spec.case_count + (spec.otherwise != NULL));
    for (size_t i = 0; i < spec.case_count; i++) {
        build_take(node, (uint32_t)i, spec.cases[i].node, spec.cases[i].name);
        if (i >= node->count)
            continue;
        node->children[i].when = spec.cases[i].when;
        node->children[i].when_user = spec.cases[i].user;
        if (!spec.cases[i].when)
            build_refuse(node, "case %zu has no predicate; the last resort is `otherwise`", i + 1);
    }
    if (spec.otherwise)
        build_take(node, (uint32_t)spec.case_count, spec.otherwise, NULL);
    if (!spec.case_count)
        build_refuse(node, "has no cases");
    if (build_is_good(node))
        build_check_names(node);
    return build_finish(node);
}

rondo_node *rondo_forum(const rondo_forum_spec *given)
{
    rondo_forum_spec spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_FORUM, given);
    rondo_node *node = build_node(RONDO_KIND_FORUM, spec.name, &spec.options);
    size_t members = count_nodes(spec.members);
    build_children(node, members + 1);
    for (size_t i = 0; i < members; i++)
        build_take(node, (uint32_t)i, spec.members[i], NULL);
    if (spec.captain)
        build_take(node, (uint32_t)members, spec.captain, "captain");
    else
        build_refuse(node, "has no captain");
    if (!members)
        build_refuse(node, "has no members");
    node->mode = spec.show;
    node->forum.early_return = spec.early_return;
    node->forum.members = (uint32_t)MIN(members, NODE_COUNT_MAX);
    node->forum.rounds = spec.rounds > 0 ? (uint32_t)spec.rounds : 1;
    node->forum.quorum = spec.quorum > 0 ? (uint32_t)spec.quorum : node->forum.members;
    build_check_range(node, "rounds", spec.rounds, 0, 200);
    build_check_range(node, "quorum", spec.quorum, 0, (int64_t)members);
    build_check_range(node, "show", spec.show, RONDO_SHOW_ALL, RONDO_SHOW_NOBODY);
    if (build_is_good(node))
        build_check_names(node);
    return build_finish(node);
}

rondo_node *rondo_each(const rondo_each_spec *given)
{
    rondo_each_spec spec;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_EACH, given);
    rondo_node *node = build_node(RONDO_KIND_EACH, spec.name ? spec.name : "", &spec.options);
    build_children(node, 1);
    if (spec.body)
        build_take(node, 0, spec.body, spec.body->anonymous ? "" : NULL);
    else
        build_refuse(node, "has no body");
    node->each.items = spec.items;
    node->each.user = spec.user;
    node->each.output_mode = spec.output_mode;
    node->each.output = mem_strdup(spec.output);
    node->max_concurrency = spec.max_concurrency;
    node->mode = spec.on_item_failure;
    if (spec.output_mode != RONDO_OUTPUT_LAST && spec.output_mode != RONDO_OUTPUT_CUMULATIVE)
        build_refuse(node, "output_mode of an each is last or cumulative, got %d", spec.output_mode);
    build_check_range(node, "on_item_failure", spec.on_item_failure, 0, RONDO_ERROR_CONTINUES);
    build_check_names(node);
    build_check_output(node, spec.body, spec.output);
    return build_finish(node);
}

rondo_node *rondo_gate(const rondo_gate_spec *given)
{
    rondo_gate_spec spec;
    rondo_error err;
    if (!BUILD_SPEC(spec, given))
        return build_without_spec(RONDO_KIND_GATE, given);
    rondo_node *node = build_node(RONDO_KIND_GATE, spec.name ? spec.name : "", &spec.options);
    node->gate.ask = mem_strdup(spec.ask ? spec.ask : "");
    node->gate.schema = build_schema(node, "schema", spec.schema, NULL);
    node->gate.timeout_ms = spec.timeout_ms;
    build_check_names(node);
    build_check_range(node, "timeout_ms", spec.timeout_ms, 0, TIME_MAX_MS);
    if (spec.on_timeout) {
        node->gate.answer = json_loads(spec.on_timeout, JSON_DECODE_ANY, NULL);
        if (!node->gate.answer)
            build_refuse(node, "on_timeout is not JSON: '%s'", spec.on_timeout);
        else if (node->gate.schema && schema_check(node->gate.schema, node->gate.answer, &err) < 0)
            build_refuse(node, "on_timeout does not fit the schema: %s", err.message);
        if (!spec.timeout_ms)
            build_refuse(node, "on_timeout needs a timeout_ms");
    }
    node->gate.exits = spec.exit_on_timeout;
    if (spec.exit_on_timeout && (spec.on_timeout || !spec.timeout_ms))
        build_refuse(node, "exit_on_timeout needs a timeout_ms, and no on_timeout");
    return build_finish(node);
}
