/* cmd_eval.c - rondo eval EXPR [--data FILE|-]: the value of an expression, as JSON.

   The members of the data are the expression's variables.  With no data there are none. */
#include "cli/cmd_eval.h"

#include "cel/cel.h"
#include "io/tzfile.h"

#include <stdio.h>
#include <string.h>

enum { EVAL_FAILED = 1, EVAL_WRONG = 2 };

struct command {
    const char *expression, *data;
};

static const char usage[] = "usage: rondo eval EXPR [--data FILE|-]\n";

static bool read_arguments(int argc, char **argv, struct command *c)
{
    for (int i = 1; i < argc; i++) {
        bool is_option = strncmp(argv[i], "--data", 6) == 0;
        if (is_option && argv[i][6] == '=')
            c->data = argv[i] + 7;
        else if (is_option && argv[i][6] == '\0' && i + 1 < argc)
            c->data = argv[++i];
        else if (!c->expression && !(is_option && argv[i][6] == '\0'))
            c->expression = argv[i];
        else
            return false;
    }
    return c->expression;
}

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
        return tell(text, &err, EVAL_FAILED);
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
        return tell(text, &err, EVAL_WRONG);
    if (cel_eval(program, env, &value, &err) < 0)
        return tell(text, &err, EVAL_FAILED);
    return print_value(text, value);
}

int cmd_eval(int argc, char **argv)
{
    struct command c = { NULL, NULL };
    if (!read_arguments(argc, argv, &c)) {
        fputs(usage, stderr);
        return EVAL_WRONG;
    }
    json_t *data = read_data(c.data);
    if (!data)
        return EVAL_WRONG;
    struct tzfile *zones = tzfile_new(NULL);
    struct cel_env env = { .resolve = cel_resolve_json,
                           .user = data,
                           .scratch = cel_scratch_new(),
                           .zone = tzfile_get,
                           .zone_user = zones };
    int code = evaluate(c.expression, data, &env);
    cel_scratch_free(env.scratch);
    tzfile_free(zones);
    json_decref(data);
    return code;
}
