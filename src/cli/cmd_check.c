/* cmd_check.c - rondo check: are these files what they should be?

   They are workflows: what is wrong with one is told on stderr with the line it is about; with --json
   each file is an object on stdout, one a line.

   With --schema the files are JSON values and are checked by that schema.  Problems go to stderr,
   one a line, as "file: place: what"; with --json they go to stdout as objects, one a line. */
#include "base/buf.h"
#include "cli/commands.h"
#include "cli/flow_name.h"
#include "cli/given.h"
#include "cli/problems.h"
#include "cli/show.h"
#include "data/schema.h"
#include "engine/flow_files.h"
#include "io/file.h"

#include <stdio.h>
#include <string.h>

#define VALUE_MAX ((size_t)1 << 30)

struct check_args {
    const char *schema;
    bool asserts_formats;
    bool as_json;
};

/* Takes it. */
static void print_line(json_t *line)
{
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
}

/* A line about a file, and the place in it or "".  Names of files need not be text. */
static void complain(const struct check_args *args, const char *file, const char *at,
                     const char *schema_at, const char *message)
{
    auto_buf struct buf name = { 0 }, clean = { 0 };
    show_line(&name, file, strlen(file));
    show_line(&clean, message, strlen(message));
    if (!args->as_json) {
        fprintf(stderr, "%s: %s\n", buf_text(&name), buf_text(&clean));
        return;
    }
    print_line(json_pack("{s:s, s:s, s:s, s:s}", "file", buf_text(&name), "path", at, "rule", schema_at, "message",
                         buf_text(&clean)));
}

static json_t *value_read(const struct check_args *args, const char *path)
{
    rondo_error err = { 0 };
    auto_buf struct buf message = { 0 };
    json_t *json = given_json(path, VALUE_MAX, GIVEN_LARGE | GIVEN_NUL, &err);
    if (json)
        return json;
    if (err.line)
        buf_printf(&message, "line %d, column %d: %s", err.line, err.column, err.message);
    else
        buf_puts(&message, file_reason(err.message, given_name(path)));
    complain(args, path, "", "", buf_text(&message));
    return NULL;
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
    json_t *value = value_read(args, path);
    if (!value)
        return EXIT_INVALID;
    int rc = schema_check_all(schema, value, on_problem, &to, &err);
    if (rc < 0 && rc != RONDO_ESCHEMA)
        complain(args, path, err.path, "", err.message);
    json_decref(value);
    return rc < 0 ? EXIT_INVALID : EXIT_OK;
}

static int files_check(const struct check_args *args, const struct texts *files)
{
    rondo_error err;
    struct reporting to = { args, args->schema };
    struct schema_options how = { .assert_formats = args->asserts_formats,
                                  .report = on_problem, .user = &to };
    json_t *doc = value_read(args, args->schema);
    struct schema *schema = doc ? schema_compile(doc, &how, &err) : NULL;
    int status = schema ? EXIT_OK : EXIT_INVALID;
    for (uint32_t i = 0; i < files->count && schema; i++) {
        int rc = file_check(args, schema, files->list[i]);
        status = rc ? rc : status;
    }
    schema_unref(schema);
    json_decref(doc);
    return status;
}

/* ---- workflows ------------------------------------------------------------------------------------ */

static json_t *diags_json(const struct diags *diags, bool warnings)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < diags->count; i++)
        if (diags->list[i].is_warning == warnings)
            json_array_append_new(list, diag_json(&diags->list[i]));
    return list;
}

static void print_json(const char *path, const struct flow *flow, const struct diags *diags)
{
    auto_buf struct buf name = { 0 };
    show_line(&name, path, strlen(path));
    json_t *line = json_pack("{s:s, s:b}", "file", buf_text(&name), "valid", flow != NULL);
    if (flow) {
        json_object_set_new(line, "name", json_string(flow->name));
        json_object_set_new(line, "dialect", json_string(flow->dialect == FLOW_V1 ? "v1" : "rondo"));
        json_object_set_new(line, "steps", json_integer(flow->scope->count));
        json_object_set_new(line, "order", flow_order_json(flow));
    }
    json_object_set_new(line, "errors", diags_json(diags, false));
    json_object_set_new(line, "warnings", diags_json(diags, true));
    if (diags_left_out(diags))
        json_object_set_new(line, "more", json_integer(diags_left_out(diags)));
    print_line(line);
}

static int workflow_check(const struct cmdline *line, const char *given)
{
    const struct check_args *args = line->options;
    auto_buf struct buf path = { 0 };
    struct diags diags = { 0 };
    bool is_found = flow_name_find(given, &path, &diags);
    struct flow *flow = is_found ? flows_open(buf_text(&path), true, NULL, &diags) : NULL;
    int status = flow ? EXIT_OK : EXIT_INVALID;
    if (args->as_json)
        print_json(is_found ? buf_text(&path) : given, flow, &diags);
    else
        problems_show(line, &diags, true);
    flow_unref(flow);
    diags_clear(&diags);
    return status;
}

static int workflows_check(const struct cmdline *line)
{
    int status = EXIT_OK;
    for (uint32_t i = 0; i < line->args.count; i++) {
        int rc = workflow_check(line, line->args.list[i]);
        status = rc ? rc : status;
    }
    return status;
}

static int cmd_check(const struct cmdline *line)
{
    const struct check_args *args = line->options;
    if (args->schema)
        return files_check(args, &line->args);
    if (args->asserts_formats)
        return usage_error(line->command, "--formats needs --schema");
    return workflows_check(line);
}

// clang-format off
static const struct option options[] = {
    { "schema", 0, OPT_TEXT, OPTION_AT(struct check_args, schema), "FILE",
      .help = "the files are JSON values: check them by this JSON Schema" },
    { "formats", 0, OPT_FLAG, OPTION_AT(struct check_args, asserts_formats),
      .help = "require texts to follow their `format`" },
    { "json", 0, OPT_FLAG, OPTION_AT(struct check_args, as_json),
      .help = "answers as JSON objects on stdout, one a line" },
    { NULL }
};
// clang-format on

const struct cmd command_check = {
    .name = "check",
    .args = "FILE...",
    .min_args = 1,
    .max_args = ARGS_ANY,
    .summary = "check workflow files, or values against a JSON Schema",
    .options = options,
    .size = sizeof(struct check_args),
    .run = cmd_check,
};
