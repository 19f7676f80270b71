/* cmd_eval.c - rondo eval: the value of an expression, as JSON.

   The members of the data are the expression's variables.  With no data there are none; with a stored
   run they are what expressions of its workflow see when it ends, or when a loop of it does. */
#include "cli/commands.h"

#include "cel/cel.h"
#include "cli/given.h"
#include "cli/running.h"
#include "cli/show.h"
#include "cli/store_path.h"
#include "engine/shell.h"
#include "flow/bind.h"
#include "flow/diag.h"
#include "flow/scope.h"
#include "io/tzfile.h"
#include "run/enter.h"

#include <stdio.h>
#include <string.h>

#define DATA_MAX   (1024 * 1024 * 1024)
#define ERRORS_MAX 20   // that are told of one expression
#define NAMES_MAX  1000 // of the data, for the search of the nearest

struct eval_options {
    const char *data, *run, *at, *store;
    int64_t pass;
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
    rondo_error err = { 0 };
    if (!path)
        return json_object();
    json_t *data = given_json(path, DATA_MAX, 0, &err);
    if (json_is_object(data))
        return data;
    if (data)
        command_fail(command, "the data has to be a JSON object");
    else if (err.line)
        command_fail(command, "%s:%d:%d: %s", given_name(path), err.line, err.column, err.message);
    else
        command_fail(command, "--data: %s", err.message);
    json_decref(data);
    return NULL;
}

/* ---- variables --------------------------------------------------------------------------- */

/* An expression being compiled: what its names mean comes first, for the hooks of runs. */
struct compiling {
    struct binding binding; // its hint is used for data, too
    json_t *data;           // NULL: a run's
    const char *text;
    uint32_t errors; // that were told
};

static void suggest_variable(struct compiling *c, const char *name)
{
    const char *keys[NAMES_MAX], *key;
    json_t *value;
    size_t count = 0;
    json_object_foreach(c->data, key, value)
        if (count < NAMES_MAX)
            keys[count++] = key;
    const char *near = diag_nearest(name, keys, count);
    c->binding.bad_len = 1;
    if (near)
        snprintf(c->binding.hint, sizeof c->binding.hint, "did you mean '%.200s'?", near);
    else
        snprintf(c->binding.hint, sizeof c->binding.hint, "%s",
                 count ? "" : "there are no variables; --data FILE gives some");
}

static int bind(void *user, const struct cel_name *path, size_t count, const char **ret_type,
                uintptr_t *ret_token, rondo_error *err)
{
    struct compiling *c = user;
    if (json_object_get(c->data, path[0].text))
        return 1;
    suggest_variable(c, path[0].text);
    return 0;
}

/* The longest key at the path that the text begins with, so that steps.run-tests is one. */
static size_t longest_key(void *user, const struct cel_name *path, size_t count,
                          const char *text, size_t len)
{
    json_t *at = ((struct compiling *)user)->data, *value;
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

static int tell(const char *text, const rondo_error *err, const char *hint, int code)
{
    auto_buf struct buf line = { 0 };
    auto_free char *caret = cel_caret(text, strlen(text), err);
    if (err->line)
        buf_printf(&line, "%d:%d: %s\n%s", err->line, err->column, err->message, caret);
    else
        buf_puts(&line, err->message);
    while (line.len && line.data[line.len - 1] == '\n')
        line.len--;
    if (hint && *hint)
        buf_printf(&line, "\n%s", hint);
    say(&line);
    return code;
}

static int print_value(const char *text, struct cel_val value)
{
    rondo_error err;
    json_t *json = cel_val_to_json(value, &err);
    if (!json)
        return tell(text, &err, NULL, EXIT_FAILED);
    json_dumpf(json, stdout, JSON_ENCODE_ANY | JSON_COMPACT);
    putchar('\n');
    json_decref(json);
    return 0;
}

/* Hook of CEL: one of the errors of an expression. */
static bool take_error(void *compiling, const rondo_error *err)
{
    struct compiling *c = compiling;
    const char *near = scope_nearest_function(err->message);
    if (near)
        snprintf(c->binding.hint, sizeof c->binding.hint, "did you mean '%.200s'?", near);
    tell(c->text, err, near || c->binding.bad_len ? c->binding.hint : NULL, EXIT_INVALID);
    c->binding.bad_len = 0; // the next one has its own
    return ++c->errors < ERRORS_MAX;
}

/* Once more, to find the others.  Not at first: the hook finds fault with texts that may never be read. */
static int tell_errors(const struct cel_options *options, const rondo_error *first)
{
    struct compiling *c = options->user;
    struct cel_options all = *options;
    rondo_error err;
    all.forgives = take_error;
    c->binding.bad_len = 0;
    cel_program_free(cel_compile(c->text, strlen(c->text), &all, &err));
    if (!c->errors) // it is not even CEL
        take_error(c, first);
    return EXIT_INVALID;
}

static int evaluate(const struct cel_options *options, const struct cel_env *env)
{
    const char *text = ((struct compiling *)options->user)->text;
    struct cel_val value;
    rondo_error err;
    auto_cel struct cel_program *program = cel_compile(text, strlen(text), options, &err);
    if (!program)
        return tell_errors(options, &err);
    if (cel_eval(program, env, &value, &err) < 0)
        return tell(text, &err, NULL, EXIT_FAILED);
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
    struct compiling c = { .data = data, .text = line->args.list[0] };
    int code = evaluate(&(struct cel_options){ .bind = bind, .hyphen = longest_key, .user = &c }, &env);
    cel_scratch_free(env.scratch);
    tzfile_free(zones);
    json_decref(data);
    return code;
}

/* ---- stored runs ------------------------------------------------------------------------- */

/* In a loop, its rules are what looks: they see the pass that ended last. */
static int evaluate_in(struct running *r, struct act *act)
{
    bool is_loop = node_is_loop(act->node);
    struct compiling c = { .text = r->line->args.list[0],
                           .binding = { .place = { .scope = (struct flow_scope *)act->node->scope,
                                                   .allows = is_loop ? ALLOW_PASS : ALLOW_NONE } } };
    struct see see;
    eyes_of(r->run, act, &see);
    see.loop_now = is_loop ? act : NULL;
    struct cel_env env = { .resolve = see_resolve, .user = &see, .scratch = see.scratch, .zone = see.zone,
                           .zone_user = see.zone_user };
    int code = evaluate(&(struct cel_options){ .bind = bind_path, .hyphen = bind_hyphen, .user = &c }, &env);
    see_clear(&see);
    return code;
}

/* As the rules of a loop saw it after one of its passes. */
static int evaluate_then(struct running *r)
{
    const struct eval_options *options = r->line->options;
    rondo_error err;
    int64_t count;
    struct act *act = look_then(r->run, options->at, options->pass - 1, &count, &err);
    if (act)
        return evaluate_in(r, act);
    if (err.code != RONDO_ENOTFOUND)
        return running_fail(r, &err);
    if (count < 0)
        return command_fail(r->line->command, "run %s has no loop '%s' that has begun", r->id, options->at);
    return command_fail(r->line->command, "--pass %lld: '%s' has %lld pass%s that %s ended", (long long)options->pass,
                        options->at, (long long)count, count == 1 ? "" : "es", count == 1 ? "has" : "have");
}

static int evaluate_there(struct running *r)
{
    const struct eval_options *options = r->line->options;
    if (options->pass)
        return evaluate_then(r);
    struct act *act = enter_path(&r->run->core, options->at ? options->at : "");
    if (act && act->node->scope)
        return evaluate_in(r, act);
    if (!options->at)
        return command_fail(r->line->command, "run %s has not done anything yet", r->shown_id);
    return command_fail(r->line->command, "run %s has no loop or group '%s' that can be looked into", r->shown_id,
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
    if (options->pass && !options->at)
        return usage_error(line->command, "--pass is one of a loop: --at is missing");
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
    { "pass", 0, OPT_LIMIT, OPTION_AT(struct eval_options, pass), "N",
      .help = "with --at: as it was after this pass of the loop, counted from 1" },
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
             "  rondo eval 'history.map(p, p.score)' --run r3f2 --at refine\n"
             "  rondo eval 'score >= 8 && iteration > 0' --run r3f2 --at refine --pass 2",
    .options = options,
    .size = sizeof(struct eval_options),
    .run = cmd_eval,
};
