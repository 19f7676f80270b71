/* fuzz_schema.c - a schema and a value from anywhere: no crash, no hang, no contradiction.

   The input is the text of a schema, a line "---", and the text of a value.  Compiling and checking
   for one problem and for all of them have to agree, and an example has to fit its schema.

   Built with -fsanitize=fuzzer it is a libFuzzer target; with -DFUZZ_REPLAY it has a main() that
   runs the files and folders it is given. */
#define _GNU_SOURCE   // memmem
#include "data/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static json_t *parse(const char *text, size_t len)
{
    json_error_t why;
    json_t *json = json_loadb(text, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!json)
        json = json_loadb(text, len, JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &why);
    return json;
}

static void require(bool holds, const char *what)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_schema: %s\n", what);
    abort();
}

static void count_problem(const struct schema_problem *problem, void *user)
{
    ++*(unsigned *)user;
    require(problem->value_at && problem->schema_at && *problem->message,
            "a problem without a text");
}

static void check_value(const struct schema *schema, json_t *value)
{
    rondo_error err = { 0 };
    unsigned problems = 0;
    int once = schema_check(schema, value, &err);
    require(once == 0 || *err.message, "an error without a message");
    int all = schema_check_all(schema, value, count_problem, &problems, &err);
    require(once == all, "two checks, two answers");
    require(once == RONDO_ESCHEMA || problems == 0, "problems of a value that fits");
}

/* Who hears all problems is refused what others are, and is told the same first one. */
static void check_refusal(json_t *doc, struct schema_options options, const rondo_error *first)
{
    rondo_error err = { 0 };
    unsigned problems = 0;
    options.report = count_problem;
    options.user = &problems;
    struct schema *schema = schema_compile(doc, &options, &err);
    require(!schema == !!*first->message, "two schemas of one text");
    require(schema || (strcmp(err.message, first->message) == 0 && err.code == first->code),
            "another first problem");
    require(!schema == (problems > 0) && problems <= 100, "problems of a schema");
    schema_unref(schema);
}

static void check_example(const struct schema *schema, uint64_t seed)
{
    rondo_error err;
    json_t *example = schema_example(schema, seed);
    if (!example)
        return;
    require(schema_check(schema, example, &err) == 0, "an example that does not fit");
    json_decref(example);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data, *rule = memmem(text, size, "\n---\n", 5);
    size_t len = rule ? (size_t)(rule - text) : size;
    struct schema_options options = {
        .draft = size & 1 ? SCHEMA_2020_12 : SCHEMA_DRAFT_07,
        .assert_formats = true,
        .assert_content = true,
        .max_steps = 200000,
        .max_depth = 300,
        .max_schemas = 2000,
        .max_nesting = 100,
    };
    rondo_error err = { 0 };
    json_t *doc = parse(text, len);
    json_t *value = rule ? parse(rule + 5, size - len - 5) : json_null();
    struct schema *schema = doc ? schema_compile(doc, &options, &err) : NULL;
    require(!doc || schema || *err.message, "no schema and no message");
    if (doc)
        check_refusal(doc, options, &err);
    if (schema && value)
        check_value(schema, value);
    if (schema)
        check_example(schema, size);
    schema_unref(schema);
    json_decref(doc);
    json_decref(value);
    return 0;
}

#ifdef FUZZ_REPLAY
#include <dirent.h>

static int replayed;

static void replay_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    size_t size = 0;
    if (!file)
        return;
    FILE *copy = open_memstream(&bytes, &size);
    for (int c; (c = getc(file)) != EOF;)
        putc(c, copy);
    fclose(copy);
    fclose(file);
    LLVMFuzzerTestOneInput((const uint8_t *)bytes, size);
    free(bytes);
    replayed++;
}

static void replay(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0)
        replay_file(path);
    for (int i = 0; i < count; i++) {
        char inner[4096];
        snprintf(inner, sizeof inner, "%s/%s", path, entries[i]->d_name);
        if (entries[i]->d_name[0] != '.')
            replay(inner);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        replay(argv[i]);
    printf("%d passed, 0 failed\n", replayed);
    return 0;
}
#endif
