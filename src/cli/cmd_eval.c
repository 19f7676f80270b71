/* cmd_eval.c - rondo eval: the value of an expression, as JSON.

   The members of the data are the expression's variables.  With no data there are none; with a stored
   run they are what expressions of its workflow see when it ends, or when a loop of it does. */
#include "cli/commands.h"

#include "cel/cel.h"
#include "cli/running.h"
#include "cli/show.h"
#include "cli/store_path.h"
#include "engine/shell.h"
#include "flow/bind.h"
#include "flow/scope.h"
#include "io/file.h"
#include "io/tzfile.h"
#include "run/enter.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DATA_MAX (1024 * 1024 * 1024)

struct eval_options {
    const char *data, *run, *at, *store;
};

/* Expressions and names of files come from outside: what is said of them is clean. */
static void say(struct buf *text)
{
    auto_buf struct buf clean = { 0 };
    show_lines(&clean, buf_text(text), text->len);
    fprintf(stderr, "rondo eval: %s\n", buf_text(&clean));
}

static json_t *read_data(const struct cmd *command, const char *path)
{
    auto_buf struct buf text = { 0 };
    json_error_t why;
    rondo_error err;
    if (!path)
        return json_object();
    bool is_stdin = strcmp(path, "-") == 0;
    const char *name = is_stdin ? "standard input" : path;
    if ((is_stdin ? file_read_fd(STDIN_FILENO, name, DATA_MAX, &text, &err)
                  : file_read(path, DATA_MAX, &text, &err)) < 0) {
        command_fail(command, "--data: %s", err.message);
        return NULL;
    }
    json_t *data = json_loadb(buf_text(&text), text.len, 0, &why);
    if (!data)
        command_fail(command, "%s:%d:%d: %s", name, why.line, why.column, why.text);
    if (json_is_object(data))
        return data;
    if (data)
        command_fail(command, "the data has to be a JSON object");
    json_decref(data);
    return NULL;
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
    auto_buf struct buf line = { 0 };
    auto_free char *caret = cel_caret(text, strlen(text), err);
    if (err->line)
        buf_printf(&line, "%d:%d: %s\n%s", err->line, err->column, err->message, caret);
    else
        buf_puts(&line, err->message);
    while (line.len && line.data[line.len - 1] == '\n')
        line.len--;
    say(&line);
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

static int evaluate(const char *text, const struct cel_options *options, const struct cel_env *env)
{
    struct cel_val value;
    rondo_error err;
    auto_cel struct cel_program *program = cel_compile(text, strlen(text), options, &err);
    if (!program)
        return tell(text, &err, EXIT_INVALID);
    if (cel_eval(program, env, &value, &err) < 0)
        return tell(text, &err, EXIT_FAILED);
    return print_value(text, value);
}

static int evaluate_data(const struct cmdline *line)
{
    const struct eval_options *options = line->options;
    json_t *data = read_data(line->command, options->data);
    if (!data)
        return EXIT_INVALID;
    struct tzfile *zones = tzfile_new(NULL);
    struct cel_env env = { .resolve = cel_resolve_json,
                           .user = data,
                           .scratch = cel_scratch_new(),
                           .zone = tzfile_get,
                           .zone_user = zones };
    struct cel_options names = { .bind = bind, .hyphen = longest_key, .user = data };
    int code = evaluate(line->args.list[0], &names, &env);
    cel_scratch_free(env.scratch);
    tzfile_free(zones);
    json_decref(data);
    return code;
}

/* ---- stored runs ------------------------------------------------------------------------- */

static void tell_hint(const char *hint)
{
    auto_buf struct buf clean = { 0 };
    show_lines(&clean, hint, strlen(hint));
    fprintf(stderr, "%s\n", buf_text(&clean));
}

/* In a loop, its rules are what looks: they see the pass that ended last. */
static int evaluate_in(struct running *r, struct act *act)
{
    bool is_loop = node_is_loop(act->node);
    struct binding names = { .place = { .scope = (struct flow_scope *)act->node->scope,
                                        .allows = is_loop ? ALLOW_PASS : ALLOW_NONE } };
    struct cel_options options = { .bind = bind_path, .hyphen = bind_hyphen, .user = &names };
    struct see see;
    eyes_of(r->run, act, &see);
    see.loop_now = is_loop ? act : NULL;
    struct cel_env env = { .resolve = see_resolve, .user = &see, .scratch = see.scratch, .zone = see.zone,
                           .zone_user = see.zone_user };
    int code = evaluate(r->line->args.list[0], &options, &env);
    if (code == EXIT_INVALID && *names.hint)
        tell_hint(names.hint);
    see_clear(&see);
    return code;
}

static int evaluate_there(struct running *r)
{
    const struct eval_options *options = r->line->options;
    struct act *act = enter_path(&r->run->core, options->at ? options->at : "");
    if (act && act->node->scope)
        return evaluate_in(r, act);
    if (!options->at)
        return command_fail(r->line->command, "run %s has not done anything yet", r->id);
    return command_fail(r->line->command, "run %s has no loop or group '%s' that can be looked into", r->id,
                        options->at);
}

static int evaluate_run(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, running_look, evaluate_there };
    const struct eval_options *options = line->options;
    struct run_args args = { .store = options->store };
    struct running r = { .line = line, .args = &args, .command = "eval", .file = options->run,
                         .only_looks = true };
    return running_go(&r, stages, COUNT(stages));
}

static int cmd_eval(const struct cmdline *line)
{
    const struct eval_options *options = line->options;
    if (options->run && options->data)
        return usage_error(line->command, "--run and --data: variables can come from one only");
    if (options->at && !options->run)
        return usage_error(line->command, "--at is a place in a run: --run is missing");
    return options->run ? evaluate_run(line) : evaluate_data(line);
}

// clang-format off
static const struct option options[] = {
    { "data", 'd', OPT_TEXT, OPTION_AT(struct eval_options, data), "FILE",
      .help = "a JSON object whose members are the variables; '-' is standard input" },
    { "run", 0, OPT_TEXT, OPTION_AT(struct eval_options, run), "RUN",
      .help = "a stored run: what expressions of its workflow see in the end" },
    { "at", 0, OPT_TEXT, OPTION_AT(struct eval_options, at), "PATH",
      .help = "inside a loop or group of that run, with its history, best, iteration" },
    STORE_OPTION(struct eval_options),
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
             "  rondo eval 'steps.review.score >= 8' --data run.json\n"
             "  rondo eval 'steps.refine.passes' --run r3f2\n"
             "  rondo eval 'history.map(p, p.score)' --run r3f2 --at refine",
    .options = options,
    .size = sizeof(struct eval_options),
    .run = cmd_eval,
};
