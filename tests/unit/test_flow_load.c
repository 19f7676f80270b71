/* test_flow_load.c - what becomes of a workflow file: defaults, made steps, order, and damage.

   What is said about wrong files is in tests/flow; see test_flow_text.c. */
#include "agents.h"
#include "test.h"

#include "base/buf.h"
#include "flow/fields.h"
#include "flow/flow.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct diags diags;

/* The one file that there is beside another one. */
static int read_beside(void *user, const char *folder, const char *path, size_t max, struct buf *out, char **ret_folder,
                       rondo_error *err)
{
    if (strcmp(path, "f") != 0)
        return err_set(err, RONDO_ENOTFOUND, "%s: No such file", path);
    buf_puts(out, "name: f\nsteps: [{ id: a }]\n");
    *ret_folder = mem_strdup(folder);
    return 0;
}

static const struct flow_files beside = { .read = read_beside };

static struct flow *try_text(const char *text, size_t len, const char *name)
{
    struct flow_load how = { .is_lenient = true, .files = &beside, .folder = "." };
    struct source *source = source_new(name, text, len);
    diags_clear(&diags);
    struct flow *flow = flow_load(source, &how, &diags);
    source_unref(source);
    return flow;
}

static struct flow *load(const char *text)
{
    struct flow *flow = try_text(text, strlen(text), "test.yaml");
    if (!flow)
        FAIL("%s", diags.count ? diags.list[0].message : "nothing is said");
    return flow;
}

static struct flow_step *step_named(const struct flow_scope *scope, const char *id)
{
    for (uint32_t i = 0; i < scope->count; i++)
        if (strcmp(scope->steps[i]->id, id) == 0)
            return scope->steps[i];
    FAIL("there is no step %s", id);
}

static struct flow_step *step_of(const struct flow *flow, const char *id)
{
    return step_named(flow->scope, id);
}

#define AGENTS                                                                                          \
    "agents:\n"                                                                                         \
    "  w: { description: d, script: [x] }\n"                                                            \
    "  j: { script: [{ result: { done: true } }],\n"                                                    \
    "       resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } } }\n"

/* ---- order ----------------------------------------------------------------------------------------- */

static void check_order(const char *text, const char *expected)
{
    struct flow *flow = load(text);
    json_t *order = flow_order_json(flow);
    struct buf got = { 0 };
    size_t i;
    json_t *id;
    json_array_foreach(order, i, id) buf_printf(&got, "%s%s", i ? " " : "", json_string_value(id));
    CHECK_STR(buf_text(&got), expected);
    buf_free(&got);
    json_decref(order);
    flow_unref(flow);
}

/* ZF-P02 */
TEST(the_order_is_kahns_with_a_queue_in_the_order_of_the_file)
{
    check_order("name: a\nsteps: [{id: c, dependsOn: [a]}, {id: a}, {id: b}, {id: d, dependsOn: [b, c]}]", "a b c d");
    check_order("name: a\nsteps: [{id: a}, {id: e, dependsOn: [c]}, {id: b, dependsOn: [a]}, {id: c, dependsOn: [a]}, "
                "{id: d, dependsOn: [b]}]", "a b c d e");
}

TEST(in_a_sequence_each_step_waits_for_the_one_before)
{
    struct flow *flow = load("rondo: 1\nname: a\norder: sequence\n" AGENTS
                             "steps: [{id: a, agent: w}, {id: b, agent: w}, {id: c, agent: w, dependsOn: [a]}]");
    CHECK(!step_of(flow, "a")->takes_previous);
    CHECK(step_of(flow, "b")->takes_previous);
    CHECK_INT(step_of(flow, "b")->depends_count, 1);
    CHECK_STR(step_of(flow, "b")->depends_on[0], "a");
    CHECK_INT(step_of(flow, "c")->depends_count, 2);
    CHECK_INT(step_of(flow, "c")->deps[1], 1);
    flow_unref(flow);
}

/* ---- agents ---------------------------------------------------------------------------------------- */

TEST(an_agent_is_what_its_keys_say)
{
    struct flow *flow = load("rondo: 1\nname: a\noptions: { agent: c }\nagents:\n"
                             "  m: { description: Writes. }\n"
                             "  c: { run: [echo, '${input}'], env: { A: b, S: 'env:X' } }\n"
                             "  s: { script: [x], effects: once }\n  f: { function: g, memory: false }\n"
                             "steps: [{ id: a, instructions: i }, { id: b, agent: m }]");
    struct flow_agent **a = flow->agents;
    CHECK_INT(a[0]->kind, AGENT_MODEL);
    CHECK_STR(a[0]->description.text, "Writes.");
    CHECK(!a[0]->prompt.text);
    CHECK(isnan(a[0]->temperature));
    CHECK_INT(a[0]->effects, RONDO_IDEMPOTENT);
    CHECK_INT(a[1]->kind, AGENT_COMMAND);
    CHECK_INT(a[1]->argc, 2);
    CHECK(a[1]->argv[1].pieces && !a[1]->argv[0].pieces);
    CHECK_INT(a[1]->env[0].kind, ENV_TEXT);
    CHECK_INT(a[1]->env[1].kind, ENV_FROM_ENV);
    CHECK_STR(a[1]->env[1].from, "X");
    CHECK_INT(a[2]->effects, RONDO_ONCE);
    CHECK_STR(a[3]->memory, "");
    CHECK_PTR(step_of(flow, "a")->agent, a[1]);
    CHECK_PTR(step_of(flow, "b")->agent, a[0]);
    flow_unref(flow);
}

TEST(what_was_read_as_a_text_is_one_where_it_stays_json)
{
    struct flow *flow = load("rondo: 1\nname: x\n"
                             "models: { 7: { provider: ollama, model: 1.50, fallback: [8], limits: { rpm: 5 } },"
                             "          8: { provider: ollama, model: true } }\n"
                             "mcpServers: { s: { command: x, args: [1, a], env: { N: 0x10 } } }\n"
                             "agents: { a: { script: [{ content: 1.0, result: 1.0, usage: { prompt: 2 } }, 010] } }\n"
                             "steps: [{ id: s, agent: a }]\n");
    CHECK_STR(json_text(flow->models),
              "{\"7\":{\"fallback\":[\"8\"],\"limits\":{\"rpm\":5},\"model\":\"1.50\",\"provider\":\"ollama\"},"
              "\"8\":{\"model\":\"true\",\"provider\":\"ollama\"}}");
    CHECK_STR(json_text(flow->mcp_servers),
              "{\"s\":{\"args\":[\"1\",\"a\"],\"command\":\"x\",\"env\":{\"N\":\"0x10\"}}}");
    CHECK_STR(json_text(flow->agents[0]->script),
              "[{\"content\":\"1.0\",\"result\":1.0,\"usage\":{\"prompt\":2}},\"010\"]");
    flow_unref(flow);
}

TEST(an_empty_list_of_tools_is_not_the_same_as_none)
{
    struct flow *flow = load("name: a\nagents: { a: { description: d, tools: [] }, b: { description: d } }\n"
                             "steps: [{ id: s }]");
    CHECK(flow->agents[0]->has_tools && !flow->agents[1]->has_tools);
    flow_unref(flow);
}

/* ---- loops ----------------------------------------------------------------------------------------- */

static struct flow_loop *loop_with(struct flow **flow, const char *keys)
{
    struct buf text = { 0 };
    buf_printf(&text, "rondo: 1\nname: a\n" AGENTS "steps:\n  - { id: l, agent: w, loop: { %s } }\n", keys);
    *flow = load(buf_text(&text));
    buf_free(&text);
    return step_of(*flow, "l")->loop;
}

TEST(what_reaching_the_cap_means_depends_on_what_was_wanted)
{
    static const struct {
        const char *keys;
        int on_max;
    } cases[] = {
        { "maxIterations: 2", RONDO_RETURN_LAST },
        { "maxIterations: 2, until: 'false'", RONDO_FAIL },
        { "maxIterations: 2, untilAgent: j", RONDO_FAIL },
        { "maxIterations: 2, next: '1'", RONDO_FAIL },
        { "maxIterations: 2, until: 'false', outputMode: best, score: '1'", RONDO_RETURN_LAST },
        { "maxIterations: 2, until: 'false', onMaxIterations: flag", RONDO_FLAG },
        { "maxIterations: 2, outputMode: best, score: '1', onMaxIterations: fail", RONDO_FAIL },
        { "maxIterations: 2, while: 'true'", RONDO_RETURN_LAST },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct flow *flow;
        CHECK_INT(loop_with(&flow, cases[i].keys)->on_max, cases[i].on_max);
        flow_unref(flow);
    }
}

TEST(while_and_unbounded_have_no_cap)
{
    struct flow *flow;
    CHECK_INT(loop_with(&flow, "while: 'iteration < 3'")->max_iterations, RONDO_UNBOUNDED);
    flow_unref(flow);
    CHECK_INT(loop_with(&flow, "unbounded: true, until: 'true'")->max_iterations, RONDO_UNBOUNDED);
    flow_unref(flow);
    CHECK_INT(loop_with(&flow, "while: 'true', maxIterations: 7")->max_iterations, 7);
    flow_unref(flow);
}

TEST(a_judge_is_a_step_in_the_scope_of_its_loop)
{
    struct flow *flow;
    struct flow_loop *loop = loop_with(&flow, "maxIterations: 2, untilAgent: j, stall: {}");
    CHECK_STR(loop->judge->id, "judge");
    CHECK_INT(loop->judge->part, AS_JUDGE);
    CHECK_PTR(loop->judge->agent, flow->agents[1]);
    CHECK_PTR(loop->judge->scope, loop->scope);
    CHECK_PTR(loop->scope->up, flow->scope);
    CHECK_PTR(loop->scope->owner, step_of(flow, "l"));
    CHECK_INT(loop->stall_repeats, 3);
    flow_unref(flow);
}

TEST(a_timeout_is_of_the_whole_loop_and_the_default_of_each_pass_without_one)
{
    struct flow *flow = load("rondo: 1\nname: a\noptions: { stepTimeout: 5s }\n"
                             "agents: { w: { script: [x] }, slow: { script: [x], timeout: 9s }, "
                             "j: { script: [x], resultSchema: { required: [done], "
                             "properties: { done: { type: boolean } } } } }\n"
                             "steps:\n"
                             "  - { id: plain, agent: w }\n  - { id: own, agent: w, timeout: 1.5s }\n"
                             "  - { id: none, agent: w, timeout: 0s }\n  - { id: agents, agent: slow }\n"
                             "  - { id: loop, agent: w, timeout: 1m, loop: { maxIterations: 2, untilAgent: j } }\n"
                             "  - { id: inner, agent: w, loop: { maxIterations: 2, timeout: 0s } }\n"
                             "  - { id: passes, agent: w, loop: { maxIterations: 2 } }\n"
                             "  - { id: group, steps: [{ id: x, agent: w }] }\n  - { id: gate, gate: { ask: x } }\n");
    CHECK_INT(step_of(flow, "plain")->timeout_ms, 5000);
    CHECK_INT(step_of(flow, "own")->timeout_ms, 1500);
    CHECK_INT(step_of(flow, "none")->timeout_ms, 0);
    CHECK_INT(step_of(flow, "agents")->timeout_ms, 0); // the agent's own is for each call
    CHECK_INT(step_of(flow, "loop")->timeout_ms, 0);
    CHECK_INT(step_of(flow, "inner")->timeout_ms, 0);
    CHECK_INT(step_of(flow, "passes")->timeout_ms, 5000);
    CHECK_INT(step_of(flow, "passes")->loop->timeout_ms, 0);
    CHECK_INT(step_of(flow, "loop")->loop->timeout_ms, 60000);
    CHECK_INT(step_of(flow, "loop")->loop->judge->timeout_ms, 5000);
    CHECK_INT(step_of(flow, "group")->timeout_ms, 0);
    CHECK_INT(step_named(step_of(flow, "group")->inner, "x")->timeout_ms, 5000);
    CHECK_INT(step_of(flow, "gate")->timeout_ms, 0);
    flow_unref(flow);
}

TEST(retries_are_attempts_after_the_first)
{
    struct flow *flow = load("name: a\nsteps: [{ id: a, retries: 2 }, { id: b }, { id: c, maxRetries: 0 }]");
    CHECK_INT(step_of(flow, "a")->retry.attempts, 3);
    CHECK_INT(step_of(flow, "b")->retry.attempts, 0);
    CHECK_INT(step_of(flow, "b")->max_retries, -1);
    CHECK_INT(step_of(flow, "c")->max_retries, 0);
    flow_unref(flow);
}

/* ---- bodies ---------------------------------------------------------------------------------------- */

TEST(agents_that_are_named_become_steps)
{
    struct flow *flow = load("rondo: 1\nname: a\n" AGENTS "steps:\n"
                             "  - { id: p, parallel: { agents: [w, j, w, w] } }\n"
                             "  - { id: f, forum: { captain: j, members: [w, w], rounds: 2 } }\n"
                             "  - { id: r, agent: w, review: { agent: j } }\n");
    const struct flow_scope *p = step_of(flow, "p")->inner, *f = step_of(flow, "f")->inner;
    CHECK_INT(p->count, 4);
    CHECK_STR(p->steps[0]->id, "w");
    CHECK_STR(p->steps[2]->id, "w#2");
    CHECK_STR(p->steps[3]->id, "w#3");
    CHECK_INT(p->kind, SCOPE_PARALLEL);
    CHECK_INT(f->count, 3);
    CHECK_STR(f->steps[1]->id, "w#2");
    CHECK_STR(f->steps[2]->id, "captain");
    CHECK_INT(f->steps[2]->part, AS_CAPTAIN);
    CHECK_INT(f->steps[2]->index, 2);
    CHECK_STR(step_of(flow, "r")->review->reviewer->id, "review");
    CHECK_INT(step_of(flow, "r")->review->max_retries, 2);
    flow_unref(flow);
}

TEST(cases_of_a_branch_are_called_after_what_they_do)
{
    struct flow *flow = load("rondo: 1\nname: a\n" AGENTS "steps:\n  - id: b\n    branch:\n"
                             "      - { when: 'true', agent: w }\n      - { when: 'true', agent: w }\n"
                             "      - { when: 'true', name: named, agent: w }\n"
                             "      - { when: 'true', instructions: i }\n"
                             "      - { when: 'true', steps: [{ id: x, agent: w }] }\n"
                             "      - { else: { agent: j } }\n");
    static const char *const names[] = { "w", "w#2", "named", "case", "steps", "else" };
    const struct flow_step *branch = step_of(flow, "b");
    CHECK_INT(branch->case_count, COUNT(names));
    for (size_t i = 0; i < COUNT(names); i++) {
        CHECK_STR(branch->cases[i].name, names[i]);
        CHECK_PTR(branch->cases[i].step, branch->inner->steps[i]);
        CHECK_INT(branch->cases[i].when.program != NULL, i + 1 < COUNT(names));
    }
    flow_unref(flow);
}

TEST(a_loop_around_a_body_is_between_its_scope_and_the_outer_one)
{
    struct flow *flow = load("rondo: 1\nname: a\n" AGENTS "steps:\n"
                             "  - { id: l, loop: { maxIterations: 2 },\n"
                             "      steps: [{ id: x, agent: w, instructions: '${iteration}' }] }\n");
    const struct flow_step *l = step_of(flow, "l");
    CHECK_INT(l->body, BODY_STEPS);
    CHECK_PTR(l->inner->up, l->loop->scope);
    CHECK_INT(l->loop->scope->count, 0);
    CHECK_INT(l->loop->scope->kind, SCOPE_LOOP);
    flow_unref(flow);
}

TEST(budgets_and_durations_are_read_exactly)
{
    struct flow *flow = load("rondo: 1\nname: a\nbudget: { cost: 0.1, tokens: 123456789012345, time: 0.001s }\n"
                             "steps: [{ id: a, instructions: i, timeout: 1h0.5m2.5s3ms }]");
    CHECK_INT(flow->budget.cost_nano, 100000000);
    CHECK_INT(flow->budget.tokens, 123456789012345);
    CHECK_INT(flow->budget.time_ms, 1);
    CHECK_INT(step_of(flow, "a")->timeout_ms, 3600000 + 30000 + 2503);
    flow_unref(flow);
}

/* ---- damage ---------------------------------------------------------------------------------------- */

/* Whatever is said has a place in the file. */
static void check_places(const struct source *source, const char *what)
{
    if (!diags.errors)
        FAIL("%s: nothing is said", what);
    for (uint32_t i = 0; i < diags.count; i++) {
        const struct diag *d = &diags.list[i];
        struct buf out = { 0 };
        diag_put(&out, d, i % 2);
        if (!d->line || !d->column || !*d->message || d->line > source->line_count + 1)
            FAIL("%s: %u:%u %s", what, (unsigned)d->line, (unsigned)d->column, d->message);
        buf_free(&out);
    }
}

static void try_damaged(const struct buf *text, const char *what)
{
    struct source *source = source_new("damaged.yaml", text->data, text->len);
    struct flow *flow = try_text(text->data, text->len, "damaged.yaml");
    if (!flow)
        check_places(source, what);
    flow_unref(flow);
    source_unref(source);
}

/* The text with a part of it replaced. */
static void replaced(struct buf *out, const struct source *source, size_t from, size_t to, const char *by)
{
    buf_clear(out);
    buf_put(out, source->text, from);
    buf_puts(out, by);
    buf_put(out, source->text + to, source->len - to);
}

static bool said_unknown(const char *key)
{
    for (uint32_t i = 0; i < diags.count; i++)
        if (strncmp(diags.list[i].message, "unknown key `", 13) == 0 &&
            strncmp(diags.list[i].message + 13, key, strlen(key)) == 0)
            return diags.list[i].hint != NULL;
    return true; // it is a name, or a key of something free
}

static void damage_map(const struct source *source, const struct doc_val *val, struct buf *text)
{
    static const char *const values[] = { "[1]", "[{}]", "{ a: b }", "-12", "''", "text",
                                          "true", "null", "1e400", "[", "&a" };
    for (uint32_t i = 0; i < val->count; i++) {
        const struct doc_val *item = val->items[i], *key = val->kind == DOC_MAP ? val->keys[i] : item;
        size_t end = item->offset + item->len;
        if (val->kind == DOC_MAP && key->text_len > 3) { // renamed
            replaced(text, source, key->offset + key->len, key->offset + key->len, "x");
            try_damaged(text, key->text);
            if (!said_unknown(key->text))
                FAIL("%s:%u: nothing is suggested for %sx", source->name, (unsigned)key->line, key->text);
        }
        replaced(text, source, key->offset, end, ""); // dropped
        try_damaged(text, key->text);
        for (size_t k = 0; k < COUNT(values); k++) {
            replaced(text, source, item->offset, end, values[k]);
            try_damaged(text, key->text);
        }
        damage_map(source, item, text);
    }
}

static void damage_bytes(const struct source *source, struct buf *text)
{
    for (size_t at = 0; at < source->len; at += 7) {
        replaced(text, source, at, source->len, "");
        try_damaged(text, "cut off");
        replaced(text, source, at, at + 1, at % 2 ? "\x01" : "{");
        try_damaged(text, "another byte");
    }
}

static int is_yaml(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".yaml") == 0;
}

static void read_whole(const char *path, struct buf *out)
{
    FILE *file = fopen(path, "rb");
    CHECK(file);
    buf_reserve(out, 1 << 20);
    out->len = fread(out->data, 1, 1 << 20, file);
    fclose(file);
}

static void each_in(const char *folder, void (*run)(const char *path))
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_yaml, alphasort);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        run(path);
        free(entries[i]);
    }
    free(entries);
}

static void each_example(void (*run)(const char *path))
{
    each_in("examples", run);
    each_in("examples/models", run);
}

static void damage_example(const char *path)
{
    struct buf whole = { 0 }, text = { 0 };
    rondo_error err;
    read_whole(path, &whole);
    struct source *source = source_new(path, whole.data, whole.len);
    struct doc *doc = doc_read_yaml(source, NULL, &err);
    CHECK(doc);
    damage_map(source, doc->root, &text);
    damage_bytes(source, &text);
    doc_free(doc);
    source_unref(source);
    buf_free(&whole);
    buf_free(&text);
}

TEST(damaged_examples_are_refused_with_a_place_or_make_sense)
{
    each_example(damage_example);
    diags_clear(&diags);
}

/* ---- the JSON Schema ------------------------------------------------------------------------------- */

TEST(the_json_schema_in_docs_is_that_of_the_tables)
{
    json_t *made = fields_schema(), *stored = json_load_file("docs/rondo.schema.json", 0, NULL);
    if (!json_equal(made, stored))
        FAIL("docs/rondo.schema.json is old: make docs/rondo.schema.json");
    json_decref(made);
    json_decref(stored);
}

static struct schema *schema;

static void check_example(const char *path)
{
    struct buf whole = { 0 };
    rondo_error err;
    read_whole(path, &whole);
    struct source *source = source_new(path, whole.data, whole.len);
    struct doc *doc = doc_read_yaml(source, NULL, &err);
    CHECK(doc);
    if (schema_check(schema, doc_json(doc, doc->root), &err) < 0)
        FAIL("%s: %s", path, err.message);
    doc_free(doc);
    source_unref(source);
    buf_free(&whole);
}

TEST(the_json_schema_accepts_the_examples)
{
    json_t *doc = fields_schema();
    rondo_error err;
    schema = schema_compile(doc, NULL, &err);
    if (!schema)
        FAIL("%s: %s", err.path, err.message);
    each_example(check_example);
    schema_unref(schema);
    json_decref(doc);
}

TEST(for_the_json_schema_and_the_loader_null_is_nothing)
{
    static const char *const texts[] = {
        "rondo: 1\nname: a\ndescription:\nversion:\noptions: { timeout: , onStepFailure: }\nagents: { w: }\n"
        "steps: [{ id: a, agent: w, dependsOn: , condition: , runOn: , loop: , retries: , with: , timeout: }]",
        "name: a\nincludes:\nagents: { w: { description: d, tools: , temperature: , resultSchema: } }\n"
        "steps: [{ id: a, agent: w, dependsOn: , loop: { maxIterations: 1, until: , outputMode: , steps: } }]",
    };
    json_t *doc = fields_schema();
    rondo_error err;
    struct schema *rules = schema_compile(doc, NULL, &err);
    for (size_t i = 0; i < COUNT(texts); i++) {
        struct flow *flow = load(texts[i]);
        if (schema_check(rules, doc_json(flow->doc, flow->doc->root), &err) < 0)
            FAIL("%s: %s", err.path, err.message);
        flow_unref(flow);
    }
    schema_unref(rules);
    json_decref(doc);
}

TEST(scalars_of_servers_and_models_are_the_texts_that_they_are_wanted_as)
{
    struct flow *flow = load("rondo: 1\nname: a\nsteps: [{ id: a, instructions: x }]\n"
                             "mcpServers: { s: { command: 1.0, args: [80, true], env: { A: 5 } } }\n"
                             "models: { m: { provider: ollama, model: 3, maxTokens: 5 } }\n");
    char *servers = json_dumps(flow->mcp_servers, JSON_COMPACT), *models = json_dumps(flow->models, JSON_COMPACT);
    CHECK_STR(servers, "{\"s\":{\"command\":\"1.0\",\"args\":[\"80\",\"true\"],\"env\":{\"A\":\"5\"}}}");
    CHECK_STR(models, "{\"m\":{\"provider\":\"ollama\",\"model\":\"3\",\"maxTokens\":5}}");
    free(servers);
    free(models);
    flow_unref(flow);
}

/* A piece of a file, and whether it is right. */
static const struct {
    bool is_v1, is_good;
    const char *text;
} pieces[] = {
    { false, true, "steps: [{ id: a, agent: w, retries: 3.0, maxRetries: 1e1 }]" },
    { false, false, "steps: [{ id: a, agent: w, retries: 3.5 }]" },
    { false, false, "steps: [{ id: a, agent: w, maxRetries: 1e20 }]" },
    { false, true, "steps: [{ id: a, agent: w, retries: 65534 }]" },
    { false, false, "steps: [{ id: a, agent: w, retries: 65535 }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 1e20 } }]" },
    { false, false, "agents: { w: { run: '' } }" },
    { false, false, "agents: { w: { run: ['', a] } }" },
    { false, true, "agents: { w: { run: [a, ''] } }" },
    { false, false, "agents: { w: { run: a, env: [''] } }" },
    { false, false, "agents: { w: { run: a, env: ['A=B'] } }" },
    { false, false, "agents: { w: { run: a, env: { '': a } } }" },
    { false, false, "mcpServers: { s: { command: a, env: { '': a } } }" },
    { false, false, "agents: { w: { script: [{ cancel: [''] }] } }" },
    { false, false, "agents: { w: { script: [{ messages: [{ to: a, text: ' ' }] }] } }" },
    { false, true, "budget: { tokens: 1e6, calls: 10.0 }" },
    { false, true, "agents: { w: { run: [1, true], env: { A: null, B: 1, C: true } } }" },
    { false, true, "agents: { w: { run: true, memory: 2024, outputKey: 5 } }" },
    { false, false, "agents: { w: { run: x, memory: true } }" },
    { false, true, "agents: { w: { script: [5, x], skills: { a: { description: 5 } } } }" },
    { false, false, "mcpServers: { s: null }" },
    { false, false, "mcpServers: { s: {} }" },
    { false, false, "mcpServers: { s: { url: 'http://a/', args: [a] } }" },
    { false, false, "mcpServers: { s: { command: a, headers: { a: b } } }" },
    { false, true, "mcpServers: { s: { command: a, args: [1], env: { A: 1 } } }" },
    { false, false, "steps: [{ id: a, set: {} }]" },
    { false, true, "steps: [{ id: a, set: { x: 1 } }]" },
    { false, true, "steps: [{ id: a, agent: w, instructions: 5, model: openai/x }]" },
    { false, true, "steps: [{ id: a, branch: [{ when: true, agent: w }] }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, feedback: 5 } }]" },
    { false, true, "options: { isolation: 5, store: 7 }" },
    { true, true, "description: 12" },
    { true, true, "steps: [{ id: a, agent: w, retries: 70000, loop: { maxIterations: 9223372036854775807 } }]" },
    { true, false, "steps: [{ id: a, agent: w, retries: 1e20 }]" },
    { true, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 1e20 } }]" },
    { true, false, "options: { maxConcurrency: 9223372036854775808 }" },
    { true, true, "includes: { a: 5 }" },
    { true, true, "steps: [{ id: a, agent: w, condition: true, instructions: 5, model: 5 }]" },
    { true, false, "agents: { w: { description: '' } }" },
    { true, true, "agents: { w: { description: 5, tools: [1], maxTurns: 2.0 } }" },
    { true, false, "agents: { w: { description: null } }" },
    { false, false, "agents: { w: { script: [{ actions: { break: '' } }] } }" },
    { false, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, outputMode: best, score: 1 } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, outputMode: best } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, patience: 2 } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, score: 1, minGain: 1 } }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, score: 1, patience: 2, minGain: 1 } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, onItemFailure: stop } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, memoryMode: window } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, memoryWindow: 2 } }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, memoryMode: window, memoryWindow: 2 } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, outputMode: cumulative, maxHistory: 2 } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, unbounded: true } }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, unbounded: false } }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { forEach: [1], outputMode: cumulative, delay: 0s } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { forEach: [1], delay: 1s } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { forEach: [1], outputMode: finalStep } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { forEach: [1], feedback: true } }]" },
    { false, true, "steps: [{ id: a, gate: { ask: x, onTimeout: fail } }]" },
    { false, true, "steps: [{ id: a, gate: { ask: x, onTimeout: { answer: 1 }, timeout: 1s } }]" },
    { false, false, "steps: [{ id: a, gate: { ask: x, onTimeout: exit } }]" },
    { false, false, "steps: [{ id: a, gate: { ask: x, onTimeout: { answer: 1 }, timeout: 0s } }]" },
    { false, true, "models: { m: { provider: openai, model: x, baseUrl: 'http://a/v1' } }" },
    { false, false, "models: { m: { provider: openai, model: x, baseUrl: 'ftp://a' } }" },
    { false, false, "models: { m: { provider: openai, model: x, baseUrl: 5 } }" },
    { false, false, "mcpServers: { s: { url: a } }" },
    { false, true, "models: { m: { provider: openai, model: x, baseUrl: ~ } }" },
    { false, true, "steps: [{ id: a, gate: { ask: x, onTimeout: ~ } }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, minGain: ~, patience: ~, outputMode: ~, "
                   "memoryMode: ~, memoryWindow: ~, onItemFailure: ~, maxHistory: ~ } }]" },
    /* null rules nothing out, and is nothing that is needed */
    { false, true, "steps: [{ id: a, agent: w, include: ~, steps: ~, parallel: ~, branch: ~, forum: ~, gate: ~, "
                   "set: ~, machine: ~ }]" },
    { false, true, "steps: [{ id: a, include: f, agent: ~, instructions: ~, contextFiles: ~, model: ~ }]" },
    { false, true, "steps: [{ id: a, agent: w, retries: 1, retry: ~ }, { id: b, agent: w, retries: ~, retry: "
                   "{ attempts: 2 } }]" },
    { false, false, "steps: [{ id: a, agent: w, retries: 1, retry: { attempts: 2 } }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { forEach: [1], maxIterations: ~, until: ~, untilAgent: ~, "
                   "while: ~, next: ~, unbounded: ~, score: ~, scoreAgent: ~, patience: ~, stall: ~ } }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, forEach: ~ } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { maxIterations: ~ } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { forEach: ~ } }]" },
    { false, false, "steps: [{ id: a, agent: w, loop: { forEach: [1], maxIterations: 2 } }]" },
    { false, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, score: '1', scoreAgent: ~ } }]" },
    { false, true, "steps: [{ id: a, parallel: { agents: [w], steps: ~ } }]" },
    { false, false, "steps: [{ id: a, parallel: { agents: ~, steps: ~ } }]" },
    { false, true, "steps: [{ id: a, agent: w, review: { agent: w, gate: ~ } }]" },
    { false, false, "steps: [{ id: a, agent: w, review: { agent: ~ } }]" },
    { false, true, "steps: [{ id: a, branch: [{ when: true, agent: w, set: ~ }, { else: { agent: w, gate: ~ } }] }]" },
    { false, true, "agents: { w: { run: a, model: ~, script: ~, workflow: ~, function: ~ } }" },
    { false, false, "agents: { w: { run: a, function: f } }" },
    { false, true, "mcpServers: { s: { url: 'http://a/', command: ~, args: ~, env: ~, cwd: ~ } }" },
    { false, true, "mcpServers: { s: { command: a, url: ~, headers: ~ } }" },
    { true, true, "steps: [{ id: a, agent: w, include: ~ }]" },
    { true, true, "steps: [{ id: a, include: f, agent: ~, instructions: ~, loop: ~, condition: ~, contextFiles: ~, "
                  "model: ~ }]" },
    { true, false, "steps: [{ id: a, include: f, agent: w }]" },
    { true, true, "steps: [{ id: a, agent: w, loop: { maxIterations: 2, forEach: ~ } }]" },
    { true, true, "steps: [{ id: a, agent: w, loop: { forEach: [1], maxIterations: ~, until: ~, untilAgent: ~, "
                  "delay: ~ } }]" },
    { true, false, "steps: [{ id: a, agent: w, loop: { forEach: ~, maxIterations: ~ } }]" },
    { true, true, "steps: [{ id: a, loop: { maxIterations: 2, steps: [{ id: b, agent: w, loop: ~ }] } }]" },
    /* names of steps: strict in v1, but not in loops */
    { true, false, "steps: [{ id: A }]" },
    { true, true, "steps: [{ id: a, loop: { maxIterations: 2, steps: [{ id: B }] } }]" },
    { false, true, "steps: [{ id: A, agent: w }]" },
};

TEST(the_json_schema_knows_how_long_texts_of_v1_can_be)
{
    struct buf text = { 0 };
    rondo_error err;
    json_t *doc = fields_schema();
    struct schema *rules = schema_compile(doc, NULL, &err);
    for (int len = 2000; len <= 2001; len++) {
        buf_clear(&text);
        buf_printf(&text, "name: a\nsteps: [{ id: a, instructions: x%0*d }]", len - 1, 1);
        struct source *source = source_new("long", buf_text(&text), text.len);
        struct doc *values = doc_read_yaml(source, NULL, &err);
        CHECK((schema_check(rules, doc_json(values, values->root), &err) == 0) == (len == 2000));
        doc_free(values);
        source_unref(source);
    }
    buf_free(&text);
    schema_unref(rules);
    json_decref(doc);
}

TEST(the_json_schema_and_the_loader_agree)
{
    json_t *doc = fields_schema();
    rondo_error err;
    struct schema *rules = schema_compile(doc, NULL, &err);
    for (size_t i = 0; i < COUNT(pieces); i++) {
        struct buf text = { 0 };
        buf_printf(&text, "name: 12\n%s%s\n", pieces[i].is_v1 ? "" : "rondo: 1.0\n", pieces[i].text);
        if (strncmp(pieces[i].text, "agents", 6) != 0)
            buf_puts(&text, "agents: { w: { description: d } }\n");
        if (strncmp(pieces[i].text, "steps", 5) != 0)
            buf_puts(&text, "steps: [{ id: a, agent: w }]\n");
        struct source *source = source_new("piece", buf_text(&text), text.len);
        struct doc *values = doc_read_yaml(source, NULL, &err);
        struct flow *flow = try_text(buf_text(&text), text.len, "piece.yaml");
        bool is_good = schema_check(rules, doc_json(values, values->root), &err) == 0;
        if (!flow == pieces[i].is_good || is_good != pieces[i].is_good)
            FAIL("%s: the loader says %d, the schema %d", pieces[i].text, !!flow, is_good);
        flow_unref(flow);
        diags_clear(&diags);
        doc_free(values);
        source_unref(source);
        buf_free(&text);
    }
    schema_unref(rules);
    json_decref(doc);
}

/* ---- many things ----------------------------------------------------------------------------------- */

TEST(more_mistakes_than_are_kept_are_counted)
{
    struct buf text = { 0 };
    buf_puts(&text, "rondo: 1\nname: a\nsteps:\n");
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "  - { id: a%d, agent: x, dependsOn: [b%d] }\n", i, i);
    CHECK_NULL(try_text(buf_text(&text), text.len, "many.yaml"));
    CHECK_INT(diags.count, DIAG_MAX);
    CHECK_INT(diags.errors, 10000);
    buf_free(&text);
    diags_clear(&diags);
}

TEST(ten_thousand_steps_are_put_in_order)
{
    struct buf text = { 0 };
    buf_puts(&text, "rondo: 1\nname: a\nagents: { w: { script: [x] } }\nsteps:\n  - { id: s-0, agent: w }\n");
    for (int i = 1; i < 10000; i++)
        buf_printf(&text,
                   "  - { id: s-%d, agent: w, dependsOn: [s-%d], condition: steps.s-%d.status == 'completed' }\n",
                   i, i - 1, i / 2);
    struct flow *flow = load(buf_text(&text));
    for (uint32_t i = 0; i < 10000; i++)
        CHECK_UINT(flow->scope->order[i], i);
    flow_unref(flow);
    buf_free(&text);
}

TEST(steps_cannot_be_nested_without_end)
{
    struct buf text = { 0 };
    buf_puts(&text, "rondo: 1\nname: a\nsteps: ");
    for (int i = 0; i < 60; i++)
        buf_puts(&text, "[{ id: a, steps: ");
    buf_puts(&text, "[{ id: b, instructions: i }]");
    for (int i = 0; i < 60; i++)
        buf_puts(&text, "}]");
    CHECK_NULL(try_text(buf_text(&text), text.len, "deep.yaml"));
    CHECK(strstr(diags.list[0].message, "nested"));
    buf_free(&text);
    diags_clear(&diags);
}

TEST(aliases_cannot_multiply_steps_without_end)
{
    struct buf text = { 0 };
    buf_puts(&text, "rondo: 1\nname: a\ninputs:\n  x:\n    default:\n      - &l0 [{ id: s, instructions: i }]\n");
    for (int n = 1; n < 19; n++)
        buf_printf(&text, "      - &l%d [{ id: a, steps: *l%d }, { id: b, steps: *l%d }]\n", n, n - 1, n - 1);
    buf_puts(&text, "steps: *l18\n");
    CHECK_NULL(try_text(buf_text(&text), text.len, "alias.yaml"));
    CHECK(strstr(diags.list[0].message, "more than"));
    CHECK(diags.list[0].line > 0);
    buf_free(&text);
    diags_clear(&diags);
}

/* ---- files that are made to take long ---------------------------------------------------------------- */

static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Names that are nearly the same, in thousands, and as many that are not among them. */
#define THOUSANDS 6000
#define NAME      "abcdefghabcdefghabcdefghabcdefghabcdefgh"
#define OTHER     "abcdefgiabcdefgiabcdefgiabcdefgiabcdefgi"

static const struct {
    const char *one_head, *one, *other_head, *other;
} masses[] = {
    { AGENTS, "", "steps:\n", "  - { id: s%d, set: { " NAME "%d: 'state." OTHER "%d' } }\n" },
    { AGENTS "inputs:\n", "  " NAME "%d: {}\n", "steps:\n", "  - { id: s%d, set: { a: inputs." OTHER "%d } }\n" },
    { "agents: { m: { model: openai/x, resultSchema: { additionalProperties: false, properties: {\n",
      "    " NAME "%d: {},\n", "  } } } }\nsteps:\n  - { id: a, agent: m }\n",
      "  - { id: s%d, dependsOn: [a], set: { a: steps.a.result." OTHER "%d } }\n" },
};

TEST(the_nearest_of_thousands_of_names_is_not_looked_for_without_end)
{
    for (size_t m = 0; m < COUNT(masses); m++) {
        struct buf text = { 0 };
        buf_printf(&text, "rondo: 1\nname: a\n%s", masses[m].one_head);
        for (int i = 0; i < THOUSANDS; i++)
            buf_printf(&text, masses[m].one, i);
        buf_puts(&text, masses[m].other_head);
        for (int i = 0; i < THOUSANDS; i++)
            buf_printf(&text, masses[m].other, i, i, i);
        double start = cpu_s();
        flow_unref(try_text(buf_text(&text), text.len, "mass.yaml"));
        CHECK(diags.errors + diags.warnings > DIAG_MAX);
        CHECK(cpu_s() - start < 3);
        buf_free(&text);
    }
    diags_clear(&diags);
}

TEST(of_many_patterns_that_never_end_only_some_are_tried)
{
    struct buf text = { 0 };
    buf_puts(&text, "rondo: 1\nname: a\nagents: { w: { script: [x] } }\nsteps: [{ id: a, agent: w }]\ninputs:\n");
    for (int i = 0; i < 2000; i++)
        buf_printf(&text, "  i%d: { pattern: '^(a+)+$', default: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! }\n", i);
    CHECK_NULL(try_text(buf_text(&text), text.len, "patterns.yaml"));
    CHECK(diags.errors > 10);
    CHECK(diags.errors < 500);
    CHECK(strstr(diags.list[0].message, "a pattern takes too long on this text"));
    buf_free(&text);
    diags_clear(&diags);
}

/* ---- near names --------------------------------------------------------------------------------------- */

/* The slow way: all cells. */
static size_t edits_of(const char *a, const char *b)
{
    size_t cells[20][20], n = strlen(a), m = strlen(b);
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            size_t best = i && j ? MIN(cells[i - 1][j], cells[i][j - 1]) + 1 : i + j;
            if (i && j)
                best = MIN(best, cells[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, cells[i - 2][j - 2] + 1);
            cells[i][j] = best;
        }
    return cells[n][m];
}

/* "x", then the bits of n behind the first as letters, then more. */
static void spell(char text[20], unsigned n)
{
    char *at = text;
    *at++ = 'x';
    for (; n > 1; n /= 2)
        *at++ = n & 1 ? 'a' : 'b';
    strcpy(at, "klmnopqrs");
}

TEST(a_name_is_near_when_few_edits_make_it_another_one)
{
    char a[20], b[20];
    for (unsigned i = 1; i < 128; i++)
        for (unsigned k = 1; k < 128; k++) {
            spell(a, i);
            spell(b, k);
            size_t edits = edits_of(a, b);
            CHECK_INT(diag_nearest(a, &(const char *){ b }, 1) != NULL, edits <= 3);
            CHECK_INT(diag_is_slip(a, b), edits <= 1);
        }
}
