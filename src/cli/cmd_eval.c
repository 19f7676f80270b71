/* cmd_eval.c - rondo eval: the value of an expression, as JSON.

   The members of the data are the expression's variables.  With no data there are none. */
#include "cli/commands.h"

#include "cel/cel.h"
#include "io/tzfile.h"

#include <stdio.h>
#include <string.h>

struct eval_options {
    const char *data;
};

static json_t *read_data(const char *path)
{
    json_error_t why;
    if (!path)
        return json_object();
    bool is_stdin = strcmp(path, "-") == 0;
    json_t *data = is_stdin ? json_loadf(stdin, 0, &why) : json_load_file(path, 0, &why);
    if (!data)
        fprintf(stderr, "rondo eval: %s:%d:%d: %s\n", is_stdin ? "standard input" : path,
                why.line, why.column, why.text);
    else if (!json_is_object(data)) {
        fprintf(stderr, "rondo eval: the data has to be a JSON object\n");
        json_decref(data);
        data = NULL;
    }
    return data;
}

/* ---- variables --------------------------------------------------------------------------- */

static int bind(void *user, const struct cel_name *path, size_t count, const char **ret_type,
                uintptr_t *ret_token, rondo_error *err)
{
    return json_object_get(user, path[0].text) != NULL;
}

/* The longest key at the path that the text begins with, so that steps.run-tests is one. */
static size_t longest_key(void *user, const struct cel_name *path, size_t count,
                          const char *text, size_t len)
{
    json_t *at = user, *value;
    const char *key;
    size_t best = 0;
    for (size_t i = 0; i < count; i++)
        at = json_object_get(at, path[i].text);
    json_object_foreach(at, key, value)
    {
        size_t n = strlen(key);
        if (n > best && n <= len && memcmp(key, text, n) == 0)
            best = n;
    }
    return best;
}

/* ---- answers ----------------------------------------------------------------------------- */

static int tell(const char *text, const rondo_error *err, int code)
{
    char *caret = cel_caret(text, strlen(text), err);
    if (err->line)
        fprintf(stderr, "rondo eval: %d:%d: %s\n%s", err->line, err->column, err->message,
                caret);
    else
        fprintf(stderr, "rondo eval: %s\n", err->message);
    mem_free(caret);
    return code;
}

static int print_value(const char *text, struct cel_val value)
{
    rondo_error err;
    json_t *json = cel_val_to_json(value, &err);
    if (!json)
        return tell(text, &err, EXIT_FAILED);
    json_dumpf(json, stdout, JSON_ENCODE_ANY | JSON_COMPACT);
    putchar('\n');
    json_decref(json);
    return 0;
}

static int evaluate(const char *text, json_t *data, const struct cel_env *env)
{
    struct cel_options options = { .bind = bind, .hyphen = longest_key, .user = data };
    struct cel_val value;
    rondo_error err;
    auto_cel struct cel_program *program = cel_compile(text, strlen(text), &options, &err);
    if (!program)
        return tell(text, &err, EXIT_INVALID);
    if (cel_eval(program, env, &value, &err) < 0)
        return tell(text, &err, EXIT_FAILED);
    return print_value(text, value);
}

static int cmd_eval(const struct cmdline *line)
{
    const struct eval_options *options = line->options;
    json_t *data = read_data(options->data);
    if (!data)
        return EXIT_INVALID;
    struct tzfile *zones = tzfile_new(NULL);
    struct cel_env env = { .resolve = cel_resolve_json,
                           .user = data,
                           .scratch = cel_scratch_new(),
                           .zone = tzfile_get,
                           .zone_user = zones };
    int code = evaluate(line->args.list[0], data, &env);
    cel_scratch_free(env.scratch);
    tzfile_free(zones);
    json_decref(data);
    return code;
}

// clang-format off
static const struct option options[] = {
    { "data", 'd', OPT_TEXT, OPTION_AT(struct eval_options, data), "FILE",
      .help = "a JSON object whose members are the variables; '-' is standard input" },
    { NULL }
};
// clang-format on

const struct cmd command_eval = {
    .name = "eval",
    .args = "EXPR",
    .min_args = 1,
    .max_args = 1,
    .summary = "evaluate a CEL expression",
    .about = "Prints the value as JSON. An error of the evaluation exits with 1, an expression\n"
             "that is wrong, or data that cannot be read, with 2.\n"
             "\n"
             "  rondo eval 'steps.review.score >= 8' --data run.json",
    .options = options,
    .size = sizeof(struct eval_options),
    .run = cmd_eval,
};
