/* cmd_check.c - rondo check: are these files what they should be?

   With --schema the files are JSON values and are checked by that schema.  Problems go to stderr,
   one a line, as "file: place: what"; with --json they go to stdout as objects, one a line. */
#include "cli/cmd_check.h"

#include "base/buf.h"
#include "data/schema.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { EXIT_FINE = 0, EXIT_INVALID = 2, EXIT_USAGE = 3 };

struct check_args {
    const char *schema;
    bool asserts_formats;
    bool as_json;
    char **files;
    int count;
};

static const struct {
    const char *name, *value, *help;
} flags[] = {
    { "--schema", "FILE", "check JSON values by this JSON Schema" },
    { "--formats", NULL, "require texts to follow their `format`" },
    { "--json", NULL, "problems as JSON objects on stdout, one a line" },
};

static int usage(const char *what, const char *arg)
{
    if (what)
        fprintf(stderr, "rondo check: %s '%s'\n", what, arg);
    fprintf(stderr,
            "usage: rondo check --schema SCHEMA.json [--formats] [--json] VALUE.json...\n");
    for (size_t i = 0; i < COUNT(flags); i++)
        fprintf(stderr, "  %s %-*s  %s\n", flags[i].name, (int)(16 - strlen(flags[i].name)),
                flags[i].value ? flags[i].value : "", flags[i].help);
    return EXIT_USAGE;
}

static int args_read(struct check_args *args, int argc, char **argv)
{
    int i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (strcmp(argv[i], "--json") == 0)
            args->as_json = true;
        else if (strcmp(argv[i], "--formats") == 0)
            args->asserts_formats = true;
        else if (strcmp(argv[i], "--schema") == 0 && i + 1 < argc)
            args->schema = argv[++i];
        else
            return usage("unknown or incomplete option", argv[i]);
    }
    args->files = argv + i;
    args->count = argc - i;
    if (!args->schema || !args->count)
        return usage(NULL, NULL);
    return 0;
}

/* A line about a file, and the place in it or "". */
static void complain(const struct check_args *args, const char *file, const char *at,
                     const char *schema_at, const char *message)
{
    if (!args->as_json) {
        fprintf(stderr, "%s: %s\n", file, message);
        return;
    }
    json_t *line = json_pack("{s:s, s:s, s:s, s:s}", "file", file, "path", at, "rule",
                             schema_at, "message", message);
    if (line)
        json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
}

static bool bytes_read(struct buf *out, const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
    if (!file)
        return false;
    for (size_t n = 1; n > 0; out->len += n) {
        buf_reserve(out, 65536);
        n = fread(out->data + out->len, 1, 65536, file);
    }
    bool ok = !ferror(file);
    if (file != stdin)
        fclose(file);
    return ok;
}

/* Integers beyond 64 bits are read as doubles, and then all are. */
static json_t *text_parse(const struct buf *text, json_error_t *why)
{
    json_error_t again;
    size_t how = JSON_DECODE_ANY | JSON_ALLOW_NUL | JSON_REJECT_DUPLICATES;
    json_t *json = json_loadb(text->data, text->len, how, why);
    if (!json && json_error_code(why) == json_error_numeric_overflow)
        json = json_loadb(text->data, text->len, how | JSON_DECODE_INT_AS_REAL, &again);
    return json;
}

static json_t *file_read(const struct check_args *args, const char *path)
{
    json_error_t why;
    auto_buf struct buf text = { 0 }, message = { 0 };
    if (!bytes_read(&text, path)) {
        complain(args, path, "", "", strerror(errno));
        return NULL;
    }
    json_t *json = text_parse(&text, &why);
    if (!json) {
        buf_printf(&message, "line %d, column %d: %s", why.line, why.column, why.text);
        complain(args, path, "", "", buf_text(&message));
    }
    return json;
}

struct reporting {
    const struct check_args *args;
    const char *file;
};

static void on_problem(const struct schema_problem *problem, void *user)
{
    const struct reporting *to = user;
    complain(to->args, to->file, problem->value_at, problem->schema_at, problem->message);
}

static int file_check(const struct check_args *args, const struct schema *schema,
                      const char *path)
{
    rondo_error err;
    struct reporting to = { args, path };
    json_t *value = file_read(args, path);
    if (!value)
        return EXIT_INVALID;
    int rc = schema_check_all(schema, value, on_problem, &to, &err);
    if (rc < 0 && rc != RONDO_ESCHEMA)
        complain(args, path, err.path, "", err.message);
    json_decref(value);
    return rc < 0 ? EXIT_INVALID : EXIT_FINE;
}

static int files_check(const struct check_args *args)
{
    rondo_error err;
    struct schema_options options = { .assert_formats = args->asserts_formats };
    json_t *doc = file_read(args, args->schema);
    struct schema *schema = doc ? schema_compile(doc, &options, &err) : NULL;
    if (doc && !schema)
        complain(args, args->schema, err.path, "", err.message);
    int status = schema ? EXIT_FINE : EXIT_INVALID;
    for (int i = 0; i < args->count && schema; i++) {
        int rc = file_check(args, schema, args->files[i]);
        status = rc ? rc : status;
    }
    schema_unref(schema);
    json_decref(doc);
    return status;
}

int cmd_check(int argc, char **argv)
{
    struct check_args args = { 0 };
    int status = args_read(&args, argc, argv);
    return status ? status : files_check(&args);
}
