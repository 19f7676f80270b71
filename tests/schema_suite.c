/* schema_suite.c - runs files of the public JSON Schema test suite.

   Usage: schema_suite [--draft 2020-12|7] [--format] [--remotes DIR] [--metaschema DIR] PATH...

   A PATH is a file of the suite, or a folder whose .json files are run.  What is under the
   remotes folder is known as http://localhost:1234/..., what is under the metaschema folder by
   the $id it has.  One line is printed for each failure, and at the end "N passed, M failed".
   With --examples each schema is also asked for an example, which has to fit.  What fits also has to be what the schema
   says of values before there are any (data/prospect.h). */
#include "data/schema.h"
#include "prospects.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define REMOTE_URI "http://localhost:1234/"
#define MAX_SOURCES 512

static struct schema_source sources[MAX_SOURCES];
static struct schema_options options = { .sources = sources };
static bool tries_examples;
static int passed, failed, examples, no_example;

static json_t *read_json(const char *path)
{
    json_error_t why;
    size_t flags = JSON_DECODE_ANY | JSON_ALLOW_NUL;
    json_t *doc = json_load_file(path, flags, &why);
    if (!doc)   // optional/bignum.json has integers beyond 64 bits
        doc = json_load_file(path, flags | JSON_DECODE_INT_AS_REAL, &why);
    if (!doc) {
        fprintf(stderr, "%s:%d: %s\n", path, why.line, why.text);
        exit(2);
    }
    return doc;
}

static bool is_json_file(const char *name)
{
    size_t len = strlen(name);
    return len > 5 && strcmp(name + len - 5, ".json") == 0;
}

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Calls back for the .json files of a folder, in order; below it too if deep. */
static void each_file(const char *folder, bool deep, void (*call)(const char *path, void *user),
                      void *user)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (entries[i]->d_name[0] == '.')
            ;
        else if (is_folder(path) && deep)
            each_file(path, deep, call, user);
        else if (is_json_file(entries[i]->d_name))
            call(path, user);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

static void add_source(char *uri, json_t *doc)
{
    if (options.source_count == MAX_SOURCES)
        exit(2);
    sources[options.source_count++] = (struct schema_source){ uri, doc };
}

static void add_remote(const char *path, void *user)
{
    const char *folder = user;
    char uri[4096];
    snprintf(uri, sizeof uri, REMOTE_URI "%s", path + strlen(folder) + 1);
    add_source(strdup(uri), read_json(path));
}

static void add_meta(const char *path, void *user)
{
    add_source(NULL, read_json(path));
}

/* Schemas that no test fits may have no example. */
static bool has_valid_test(json_t *tests)
{
    size_t i;
    json_t *test;
    json_array_foreach(tests, i, test)
        if (json_is_true(json_object_get(test, "valid")))
            return true;
    return false;
}

static void check_example(const char *path, const char *group, const struct schema *schema,
                          json_t *tests)
{
    rondo_error err;
    json_t *example = schema_example(schema, 0);
    if (!example && has_valid_test(tests)) {
        no_example++;
        printf("note %s: %s: no example found\n", path, group);
    }
    if (!example)
        return;
    examples++;
    if (schema_check(schema, example, &err) < 0) {
        failed++;
        printf("FAIL %s: %s: the example does not fit: %s\n", path, group, err.message);
    }
    json_decref(example);
}

/* Whatever fits was possible. */
static bool was_possible(const struct schema *schema, json_t *value)
{
    auto_arena struct arena arena = { 0 };
    return takes_in(&arena, prospect_of_schema(&arena, schema), value);
}

static void run_test(const char *path, const char *group, const struct schema *schema,
                     json_t *test)
{
    rondo_error err = { 0 };
    bool expected = json_is_true(json_object_get(test, "valid"));
    int rc = schema_check(schema, json_object_get(test, "data"), &err);
    bool is_right = rc == (expected ? 0 : RONDO_ESCHEMA);
    if (is_right && (rc < 0 || was_possible(schema, json_object_get(test, "data")))) {
        passed++;
        return;
    }
    failed++;
    if (is_right)
        snprintf(err.message, sizeof err.message, ", and yet ruled out before");
    printf("FAIL %s: %s: %s: expected %s, got %s%s\n", path, group,
           json_string_value(json_object_get(test, "description")),
           expected ? "valid" : "invalid", rc ? "" : "valid", err.message);
}

static void run_group(const char *path, json_t *group)
{
    rondo_error err;
    json_t *tests = json_object_get(group, "tests");
    const char *name = json_string_value(json_object_get(group, "description"));
    struct schema *schema = schema_compile(json_object_get(group, "schema"), &options, &err);
    if (!schema) {
        failed += (int)json_array_size(tests);
        printf("FAIL %s: %s: does not compile: %s\n", path, name, err.message);
        return;
    }
    for (size_t i = 0; i < json_array_size(tests); i++)
        run_test(path, name, schema, json_array_get(tests, i));
    if (tries_examples)
        check_example(path, name, schema, tests);
    schema_unref(schema);
}

static void run_file(const char *path, void *user)
{
    json_t *groups = read_json(path);
    for (size_t i = 0; i < json_array_size(groups); i++)
        run_group(path, json_array_get(groups, i));
    json_decref(groups);
}

static void usage(void)
{
    fprintf(stderr, "usage: schema_suite [--draft 2020-12|7] [--format] [--examples]\n"
                    "                    [--remotes DIR] [--metaschema DIR] PATH...\n");
    exit(2);
}

static char **read_options(char **arg)
{
    for (; *arg && strncmp(*arg, "--", 2) == 0; arg++) {
        if (strcmp(*arg, "--format") == 0)
            options.assert_formats = true;
        else if (strcmp(*arg, "--examples") == 0)
            tries_examples = true;
        else if (!arg[1])
            usage();
        else if (strcmp(*arg, "--draft") == 0 && strcmp(arg[1], "7") == 0)
            options.draft = SCHEMA_DRAFT_07, arg++;
        else if (strcmp(*arg, "--draft") == 0 && strcmp(arg[1], "2020-12") == 0)
            options.draft = SCHEMA_2020_12, arg++;
        else if (strcmp(*arg, "--remotes") == 0)
            arg++, each_file(*arg, true, add_remote, *arg);
        else if (strcmp(*arg, "--metaschema") == 0)
            each_file(*++arg, true, add_meta, NULL);
        else
            usage();
    }
    options.assert_content = options.draft == SCHEMA_DRAFT_07;
    return arg;
}

int main(int argc, char **argv)
{
    char **paths = read_options(argv + 1);
    if (!*paths)
        usage();
    for (; *paths; paths++) {
        if (is_folder(*paths))
            each_file(*paths, false, run_file, NULL);
        else
            run_file(*paths, NULL);
    }
    for (size_t i = 0; i < options.source_count; i++) {
        free((char *)sources[i].uri);
        json_decref(sources[i].doc);
    }
    if (tries_examples)
        printf("%d examples, none found for %d schemas that values fit\n", examples,
               no_example);
    printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
