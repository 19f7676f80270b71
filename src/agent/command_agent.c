/* command_agent.c - agents that are commands.

   The prompt is the standard input, the standard output is the content; $RONDO_REPLY may say more.
   A call is set up while its task is here (arguments, environment, files), and lives on as a struct
   command until its process has ended.  Then it tells the task's token what came of it: the steps
   there are a chain, and the first that does not like what it sees fails the step.

   A command in a worktree of its own (isolated.c) is over only when that is gone: what came of it is
   kept until then.

   When the result is no longer wanted the process is cancelled; by the time it has ended, run and
   workflow may be gone, and nothing of them is touched any more. */
#include "agent/call.h"

#include "agent/surroundings.h"
#include "base/arena.h"
#include "data/secret.h"
#include "data/value.h"
#include "io/process.h"
#include "io/reference.h"
#include "io/tempdir.h"
#include "io/within.h"
#include "store/places.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define OUTPUT_DEFAULT (1024 * 1024)
#define REPLY_MAX      (16 * 1024 * 1024)
#define VARIABLE_MAX   (32 * 1024) // of the values that may be large: then they are only in the context
#define SHOW_MS        50          // partial output is not shown more often
#define TEMPORARY      75          // the exit status of programs that say: try again (EX_TEMPFAIL)

/* A call whose process is at work. */
struct errand {
    rondo_later later;
    const struct flow_step *step; // not to be touched once is_unwanted
    struct process *process; // NULL once it has ended
    struct isolated *own;    // its worktree; NULL
    const struct secrets *secrets; // the run's: as step
    char *reply, *context, *inbox; // paths of its files
    char *box;             // a folder of its own, when it is confined; NULL
    size_t shown; // of the output, in bytes as they came
    bool is_unwanted;
    bool is_overdue; // because the time of its step was over
    json_t *answer; // what came of it; NULL: why it failed
    struct buf why;
    struct buf said; // what was on its standard output, if it failed
    struct buf hint; // to be told if it fails
    int code;
};

/* ---- the environment -------------------------------------------------------------------------------- */

/* What a call is made of, while its task is here. */
struct setup {
    rondo_task *task;
    const struct flow_step *step;
    const struct flow_agent *agent;
    struct see see;
    struct arena arena;
    struct secrets *secrets;
    const struct isolated *own;
    const char *cwd;
    const char **argv;
    const char **env;
    uint32_t env_count, env_cap;
};

/* A later one of the same name replaces the earlier. */
static void put_pair(struct setup *setup, const char *pair)
{
    size_t len = strcspn(pair, "=") + 1;
    uint32_t at = 0;
    while (at < setup->env_count && strncmp(setup->env[at], pair, len) != 0)
        at++;
    if (at == setup->env_count) {
        mem_grow(&setup->env, &setup->env_cap, setup->env_count + 1, sizeof *setup->env);
        setup->env[++setup->env_count] = NULL;
    }
    setup->env[at] = pair;
}

static void put_variable(struct setup *setup, const char *name, const char *value)
{
    size_t n = strlen(name), len = strlen(value);
    char *pair = arena_alloc(&setup->arena, n + len + 2);
    memcpy(pair, name, n);
    pair[n] = '=';
    memcpy(pair + n + 1, value, len + 1);
    put_pair(setup, pair);
}

static void put_passed(struct setup *setup)
{
    mem_grow(&setup->env, &setup->env_cap, 0, sizeof *setup->env);
    setup->env[0] = NULL;
    for (char **at = environ; at && *at; at++)
        if (surroundings_pass(setup->agent, *at))
            put_pair(setup, *at);
    surroundings_add_secrets(setup->agent, setup->secrets);
}

/* A text with its holes filled, in the arena.  What comes from a hole may have a NUL in it, which no
   argument can have. */
static const char *fill(struct setup *setup, const struct flow_text *text, rondo_error *err)
{
    auto_buf struct buf out = { 0 };
    if (see_fill(&setup->see, text, &out, err) < 0)
        return NULL;
    if (out.len && memchr(out.data, '\0', out.len)) {
        err_set(err, RONDO_EINVAL, "a value with a NUL byte cannot be given to a command");
        return NULL;
    }
    return arena_dup(&setup->arena, out.data ? out.data : "", out.len);
}

static int put_text(struct setup *setup, const struct flow_env *env, rondo_error *err)
{
    const char *value = fill(setup, &env->text, err);
    if (!value)
        return err->code;
    put_variable(setup, env->name, value);
    return 0;
}

static int put_ours(struct setup *setup, const struct flow_env *env, rondo_error *err)
{
    const char *value = getenv(env->name);
    if (value)
        put_variable(setup, env->name, value);
    return 0;
}

static int put_secret(struct setup *setup, const struct flow_env *env, int rc, struct buf *value)
{
    if (rc < 0)
        return rc;
    secrets_add(setup->secrets, buf_text(value), value->len);
    put_variable(setup, env->name, value->data);
    return 0;
}

static int put_from_env(struct setup *setup, const struct flow_env *env, rondo_error *err)
{
    auto_buf struct buf value = { 0 };
    return put_secret(setup, env, reference_env(env->from, &value, err), &value);
}

static int put_from_file(struct setup *setup, const struct flow_env *env, rondo_error *err)
{
    auto_buf struct buf value = { 0 };
    return put_secret(setup, env, reference_file(env->from, setup->step->flow->workdir, &value, err), &value);
}

static int (*const put_env[])(struct setup *setup, const struct flow_env *env, rondo_error *err) = {
    [ENV_PASS] = put_ours,
    [ENV_TEXT] = put_text,
    [ENV_FROM_ENV] = put_from_env,
    [ENV_FROM_FILE] = put_from_file,
};

static int put_listed(struct setup *setup, rondo_error *err)
{
    for (uint32_t i = 0; i < setup->agent->env_count; i++) {
        const struct flow_env *env = &setup->agent->env[i];
        if (put_env[env->kind](setup, env, err) < 0)
            return err_in(err, "env '%s'", env->name);
    }
    return 0;
}

/* ---- what rondo says -------------------------------------------------------------------------------- */

/* Large values are in the context; here they would be too much for the system. */
static void put_small(struct setup *setup, const char *name, struct buf *text)
{
    if (text->len < VARIABLE_MAX && !memchr(buf_text(text), '\0', text->len))
        put_variable(setup, name, arena_dup(&setup->arena, buf_text(text), text->len));
}

static void put_item(struct setup *setup)
{
    auto_buf struct buf text = { 0 };
    const json_t *item = rondo_task_item(setup->task);
    value_put_content(&text, item);
    if (item) // an empty one is one, too
        put_small(setup, "RONDO_ITEM", &text);
}

/* The advice or the failure, then the judge's words. */
static void put_feedback(struct setup *setup, const json_t *feedback)
{
    auto_buf struct buf text = { 0 };
    const char *judge = json_string_value(json_object_get(feedback, "judge"));
    value_put_content(&text, json_object_get(feedback, "text"));
    if (judge && *judge)
        buf_printf(&text, "%s%s", text.len ? "\n\n" : "", judge);
    if (text.len)
        put_small(setup, "RONDO_FEEDBACK", &text);
}

static int put_context(struct setup *setup, const char *path, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    auto_json json_t *all = see_everything(&setup->see);
    value_put_json(&text, all);
    put_feedback(setup, json_object_get(all, "feedback"));
    return tempdir_write(path, text.data, text.len, err);
}

static int make_path(struct setup *setup, const char *file, char **ret, rondo_error *err)
{
    auto_buf struct buf path = { 0 };
    if (process_path(task_loop(setup->task), file, &path, err) < 0)
        return err->code;
    *ret = buf_take(&path);
    return 0;
}

/* Who is confined gets a folder to write to: for its reply, and for whatever it needs. */
static int put_box(struct setup *setup, struct errand *errand, rondo_error *err)
{
    auto_buf struct buf reply = { 0 };
    if (make_path(setup, "box", &errand->box, err) < 0 || tempdir_make_at(errand->box, err) < 0)
        return err->code;
    buf_printf(&reply, "%s/reply.json", errand->box);
    errand->reply = buf_take(&reply);
    put_variable(setup, "TMPDIR", errand->box);
    return 0;
}

/* A message a line. */
static int put_inbox(struct setup *setup, const char *path, rondo_error *err)
{
    auto_buf struct buf lines = { 0 };
    json_t *message;
    size_t i;
    json_array_foreach(rondo_task_inbox(setup->task), i, message) {
        value_put_json(&lines, message);
        buf_putc(&lines, '\n');
    }
    return tempdir_write(path, lines.data ? lines.data : "", lines.len, err);
}

static int put_files(struct setup *setup, struct errand *errand, rondo_error *err)
{
    int rc = setup->agent->has_sandbox ? put_box(setup, errand, err)
                                       : make_path(setup, "reply.json", &errand->reply, err);
    if (rc < 0 || make_path(setup, "context.json", &errand->context, err) < 0 ||
        make_path(setup, "inbox.jsonl", &errand->inbox, err) < 0)
        return err->code;
    put_variable(setup, "RONDO_REPLY", errand->reply);
    put_variable(setup, "RONDO_CONTEXT", errand->context);
    put_variable(setup, "RONDO_INBOX", errand->inbox);
    return put_inbox(setup, errand->inbox, err) < 0 ? err->code : put_context(setup, errand->context, err);
}

static void put_list(struct setup *setup, const char *name, const json_t *list)
{
    auto_buf struct buf text = { 0 };
    value_put_json(&text, list);
    put_small(setup, name, &text);
}

/* What it is a part of: runs, and stores. */
static void put_around(struct setup *setup)
{
    auto_json json_t *within = within_of(setup->see.run_id, setup->see.run->within), *stores = places_told();
    put_list(setup, WITHIN_VARIABLE, within);
    if (json_array_size(stores))
        put_list(setup, PLACES_VARIABLE, stores);
}

static int put_own(struct setup *setup, struct errand *errand, rondo_error *err)
{
    char number[24];
    int64_t pass = rondo_task_pass(setup->task);
    const char *path = rondo_task_path(setup->task);
    put_variable(setup, "RONDO_RUN", setup->see.run_id);
    put_around(setup);
    put_variable(setup, "RONDO_PATH", path);
    put_variable(setup, "RONDO_KEY", rondo_task_key(setup->task));
    snprintf(number, sizeof number, "%lld", (long long)MAX(pass, 0)); // without a loop there is one pass
    put_variable(setup, "RONDO_PASS", number);
    if (setup->agent->skill_count)
        put_variable(setup, "RONDO_SKILL", rondo_task_skill(setup->task));
    put_item(setup);
    return put_files(setup, errand, err);
}

/* ---- arguments and folder --------------------------------------------------------------------------- */

static int put_arguments(struct setup *setup, rondo_error *err)
{
    const struct flow_agent *agent = setup->agent;
    uint32_t argc = agent->shell ? 3 : agent->argc;
    setup->argv = arena_zalloc(&setup->arena, (argc + 1) * sizeof *setup->argv);
    if (agent->shell) {
        setup->argv[0] = "/bin/sh";
        setup->argv[1] = "-c";
        setup->argv[2] = agent->shell;
        return 0;
    }
    for (uint32_t i = 0; i < argc; i++) {
        setup->argv[i] = i ? fill(setup, &agent->argv[i], err) : agent->argv[i].text;
        if (!setup->argv[i])
            return err_in(err, "run: word %u", i + 1);
    }
    return 0;
}

/* A path as seen from base, which may be NULL. */
static void put_place(struct buf *out, const char *base, const char *path)
{
    bool is_inside = base && *path != '/';
    buf_printf(out, "%s%s%s", is_inside ? base : "", is_inside && *path ? "/" : "", path);
}

/* A path as seen from where commands run; NULL for "" when that is nowhere in particular. */
static const char *place(struct setup *setup, const char *path)
{
    auto_buf struct buf full = { 0 };
    put_place(&full, setup->own ? isolated_folder(setup->own) : call_folder(task_env(setup->task), setup->step), path);
    return full.len ? arena_dup(&setup->arena, full.data, full.len) : NULL;
}

static int put_folder(struct setup *setup, rondo_error *err)
{
    const char *own = setup->agent->cwd.text ? fill(setup, &setup->agent->cwd, err) : "";
    if (!own)
        return err_in(err, "cwd");
    setup->cwd = place(setup, own);
    return 0;
}

/* ---- output as it comes ----------------------------------------------------------------------------- */

/* Else it may end in the middle of a secret. */
static bool has_whole_output(const struct errand *errand)
{
    return process_ended_itself(errand->process) && !process_dropped(errand->process);
}

static void show(struct errand *errand, bool is_end)
{
    auto_buf struct buf text = { 0 };
    size_t len;
    const char *output = process_output(errand->process, &len);
    errand->shown += secrets_put(errand->secrets, &text, output + errand->shown,
                                  len - errand->shown, is_end && has_whole_output(errand));
    if (text.len)
        rondo_later_emit(errand->later, &(rondo_emit){ RONDO_EMIT, .content = buf_text(&text),
                                                        .partial = true });
}

static void on_output(struct process *process, void *user)
{
    struct errand *errand = user;
    if (!errand->is_unwanted)
        show(errand, false);
}

/* ---- the end: failures ------------------------------------------------------------------------------ */

/* The tail of what was written, behind a colon and without the blanks around it.  Bytes that are no text become longer
   when they are masked. */
static void put_tail(const struct errand *errand, struct buf *out, const char *written, size_t len, bool is_cut)
{
    auto_buf struct buf masked = { 0 }, text = { 0 };
    bool is_whole = process_ended_itself(errand->process);
    is_cut |= secrets_put_last(errand->secrets, &masked, written, len, PROCESS_TAIL, is_whole) < len;
    is_cut |= secrets_put_last(NULL, &text, buf_text(&masked), masked.len, PROCESS_TAIL, true) < masked.len;
    while (text.len && isspace((unsigned char)text.data[text.len - 1]))
        text.len--;
    const char *at = buf_text(&text);
    at += strspn(at, " \t\r\n");
    if (*at)
        buf_printf(out, ": %s%s", is_cut ? "..." : "", at);
}

/* Which of the two it is goes without saying if there is only one. */
static void put_tails(const struct errand *errand, struct buf *out)
{
    auto_buf struct buf output = { 0 }, tail = { 0 };
    size_t before = out->len, len;
    const char *errors = process_errors(errand->process, &len);
    put_tail(errand, out, errors, len, process_errors_dropped(errand->process));
    bool is_cut = process_put_tail(errand->process, &output);
    put_tail(errand, &tail, buf_text(&output), output.len, is_cut);
    if (tail.len)
        buf_printf(out, "%s%s", out->len > before ? "\nstandard output" : "", buf_text(&tail));
}

static int say_failed(struct errand *errand, int code, const char *why)
{
    buf_puts(&errand->why, why);
    put_tails(errand, &errand->why);
    buf_printf(&errand->why, "%s%s", errand->hint.len ? "\n" : "", buf_text(&errand->hint));
    return errand->code = code;
}

static int say_late(struct errand *errand, const char *what, int64_t ms)
{
    char why[160];
    bool is_whole = ms % 1000 == 0;
    snprintf(why, sizeof why, "%s %lld %s", what, (long long)(is_whole ? ms / 1000 : ms), is_whole ? "s" : "ms");
    return say_failed(errand, RONDO_ETIME, why);
}

/* 0, or it has failed. */
static int check_end(struct errand *errand)
{
    char why[160];
    int status = process_status(errand->process), signal = process_signal(errand->process);
    if (process_timed_out(errand->process))
        return say_late(errand, "timed out after", flow_step_command_ms(errand->step));
    if (process_was_silent(errand->process))
        return say_late(errand, "printed nothing for", errand->step->agent->idle_ms);
    if (signal) {
        snprintf(why, sizeof why, "ended by signal %d (%s)", signal, strsignal(signal));
        return say_failed(errand, RONDO_EFAILED, why);
    }
    if (status < 0)
        return say_failed(errand, RONDO_EFAILED, "ended, but somebody else took its exit status");
    snprintf(why, sizeof why, "exit status %d", status);
    return status ? say_failed(errand, status == TEMPORARY ? RONDO_ERETRY : RONDO_EFAILED, why) : 0;
}

static int fail_with(struct errand *errand, const rondo_error *err)
{
    buf_puts(&errand->why, err->message);
    return errand->code = err->code;
}

/* ---- the end: results ------------------------------------------------------------------------------- */

static size_t max_output(const struct flow_agent *agent)
{
    return agent->max_output > 0 ? (size_t)agent->max_output : OUTPUT_DEFAULT;
}

/* What was written, less the line breaks at its end, as a shell would take it. */
static int take_output(struct errand *errand, struct buf *out, rondo_error *err)
{
    size_t len;
    const char *output = process_output(errand->process, &len);
    uint64_t dropped = process_dropped(errand->process);
    if (dropped && errand->step->agent->result_schema.doc)
        return err_set(err, RONDO_ELIMIT,
                       "its output has %llu bytes, more than maxOutput (%zu), and cannot be read as a result",
                       (unsigned long long)(len + dropped), len);
    secrets_put(errand->secrets, out, output, len, has_whole_output(errand));
    if (dropped) {
        buf_printf(out, VALUE_CUT_NOTE, len, (unsigned long long)(len + dropped));
        return 0;
    }
    while (out->len && (out->data[out->len - 1] == '\n' || out->data[out->len - 1] == '\r'))
        out->len--;
    return 0;
}

static json_t *parse(const char *text, size_t len, json_error_t *error)
{
    return json_loadb(text, len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, error);
}

/* A text without secrets is JSON, or was before they were taken out of its numbers.  What is said to be wrong is wrong
   with the text that may be seen. */
static json_t *parse_hidden(const char *text, size_t len, const char *softly, size_t soft_len, json_error_t *error)
{
    json_error_t other;
    json_t *value = parse(text, len, error);
    return value ? value : parse(softly, soft_len, &other);
}

/* What was printed as JSON, with short secrets left in the digits of its numbers: to be parsed, and not to be seen. */
static void put_softly(struct errand *errand, struct buf *out)
{
    size_t len;
    const char *output = process_output(errand->process, &len);
    secrets_put_json(errand->secrets, out, output, len);
    while (out->len && (out->data[out->len - 1] == '\n' || out->data[out->len - 1] == '\r'))
        out->len--;
}

/* All of it is JSON, or its last line is; then *ret_content is what is before that line, if anything. */
static json_t *find_result(struct errand *errand, struct buf *output, size_t *ret_content, rondo_error *err)
{
    json_error_t error;
    auto_buf struct buf soft = { 0 };
    put_softly(errand, &soft);
    const char *text = buf_text(output), *line = strrchr(text, '\n'), *soft_line = strrchr(buf_text(&soft), '\n');
    json_t *result = parse_hidden(text, output->len, buf_text(&soft), soft.len, &error);
    *ret_content = output->len;
    if (result || !line) {
        if (!result)
            err_set(err, RONDO_EPARSE, "expected JSON on standard output, because of resultSchema: %s",
                    output->len ? error.text : "there is none");
        return result;
    }
    soft_line = soft_line ? soft_line : buf_text(&soft) - 1;
    result = parse_hidden(line + 1, strlen(line + 1), soft_line + 1, strlen(soft_line + 1), &error);
    *ret_content = (size_t)(line - text);
    while (*ret_content && isspace((unsigned char)text[*ret_content - 1]))
        --*ret_content;
    if (!result)
        err_set(err, RONDO_EPARSE,
                "expected JSON on standard output or in its last line, because of resultSchema: %s",
                error.text);
    return result;
}

/* The object in $RONDO_REPLY; NULL without an error (code 0) when there is none. */
static json_t *read_reply(struct errand *errand, rondo_error *err)
{
    auto_buf struct buf bytes = { 0 }, text = { 0 }, soft = { 0 };
    json_error_t error;
    err->code = 0;
    int rc = tempdir_read(errand->reply, REPLY_MAX, &bytes, err);
    if (rc == RONDO_ENOTFOUND || (rc == 0 && !bytes.len)) {
        err->code = 0;
        return NULL;
    }
    if (rc < 0) {
        err_in(err, "RONDO_REPLY");
        return NULL;
    }
    secrets_put(errand->secrets, &text, bytes.data, bytes.len, true);
    secrets_put_json(errand->secrets, &soft, bytes.data, bytes.len);
    json_t *reply = parse_hidden(text.data, text.len, soft.data, soft.len, &error);
    bool deep = value_is_deep(reply);
    if (reply && json_is_object(reply) && !deep)
        return secrets_clean(errand->secrets, reply, true); // some were not seen: JSON can escape every character
    err_set(err, RONDO_EPARSE, "RONDO_REPLY: expected a JSON object, got %s",
            deep ? "one that is nested too deep" : reply ? "another value" : error.text);
    json_decref(reply);
    return NULL;
}

static bool has(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value && !json_is_null(value);
}

/* null is one if it may be. */
static bool has_result(const struct errand *errand, const json_t *reply)
{
    rondo_error err;
    json_t *result = json_object_get(reply, "result");
    const struct schema *schema = errand->step->agent->result_schema.rules;
    return has(reply, "result") || (result && schema && schema_check(schema, result, &err) == 0);
}

/* What the reply does not say comes from the output. */
static int complete_reply(struct errand *errand, json_t *reply, struct buf *output, rondo_error *err)
{
    size_t content = output->len;
    if (has(reply, "fail"))
        return 0;
    if (has(reply, "content"))
        json_object_set_new(reply, "content",
                            value_cut(json_object_get(reply, "content"), max_output(errand->step->agent)));
    if (errand->step->agent->result_schema.doc && !has_result(errand, reply)) {
        json_t *result = find_result(errand, output, &content, err);
        if (!result)
            return err->code;
        json_object_set_new(reply, "result", result);
    }
    if (!has(reply, "content") && (content || !json_object_get(reply, "result")))
        json_object_set_new(reply, "content", json_stringn(output->len ? output->data : "", content));
    return 0;
}

/* What came of it: a reply, or why there is none. */
static int conclude(struct errand *errand)
{
    struct buf *output = &errand->said;
    rondo_error err;
    bool has_ended_well = check_end(errand) == 0;
    if (take_output(errand, output, &err) < 0 && has_ended_well)
        return fail_with(errand, &err);
    if (!has_ended_well)
        return errand->code;
    errand->answer = read_reply(errand, &err);
    if (!errand->answer && err.code)
        return fail_with(errand, &err);
    if (!errand->answer)
        errand->answer = json_object();
    return complete_reply(errand, errand->answer, output, &err) < 0 ? fail_with(errand, &err) : 0;
}

static void errand_free(struct errand *errand)
{
    tempdir_unlink(errand->context);
    tempdir_unlink(errand->inbox);
    tempdir_unlink(errand->reply);
    tempdir_remove(errand->box);
    mem_free(errand->box);
    mem_free(errand->context);
    mem_free(errand->inbox);
    mem_free(errand->reply);
    json_decref(errand->answer);
    buf_free(&errand->why);
    buf_free(&errand->said);
    buf_free(&errand->hint);
    mem_free(errand);
}

/* The time of its step is over: what it had printed is told. */
static void conclude_late(struct errand *errand, int64_t limit_ms)
{
    char why[80];
    rondo_error err;
    snprintf(why, sizeof why, "timed out after %lld ms", (long long)limit_ms);
    say_failed(errand, RONDO_ETIME, why);
    take_output(errand, &errand->said, &err);
    errand->is_overdue = true;
}

static void finish(struct errand *errand)
{
    if (errand->is_overdue)
        later_fail_overdue(errand->later, buf_text(&errand->why), buf_text(&errand->said));
    else if (errand->is_unwanted)
        rondo_later_fail(errand->later, RONDO_ECANCELLED, "cancelled"); // the token is given back
    else if (errand->code)
        later_fail_saying(errand->later, errand->code, buf_text(&errand->why), buf_text(&errand->said));
    else
        reply_finish(&(struct addressee){ .later = errand->later }, errand->step, errand->answer);
    errand_free(errand);
}

/* Work that nobody will see has failed, whatever it says itself. */
static void on_left(const rondo_error *err, void *user)
{
    struct errand *errand = user;
    if (err && !errand->code)
        fail_with(errand, err);
    finish(errand);
}

static void leave(struct errand *errand)
{
    if (errand->own)
        isolated_end(errand->own, on_left, errand);
    else
        finish(errand);
}

static void on_end(struct process *process, void *user)
{
    struct errand *errand = user;
    int64_t limit_ms = errand->is_unwanted ? later_overdue_ms(errand->later) : 0;
    if (!errand->is_unwanted && errand->shown)
        show(errand, true);
    if (!errand->is_unwanted)
        conclude(errand);
    else if (limit_ms)
        conclude_late(errand, limit_ms);
    errand->process = NULL;
    leave(errand);
}

static void on_cancel(void *user)
{
    struct errand *errand = user;
    errand->is_unwanted = true;
    if (errand->own)
        isolated_hurry(errand->own);
    if (errand->process)
        process_cancel(errand->process, -1);
}

/* ---- the beginning ---------------------------------------------------------------------------------- */

static int prepare(struct setup *setup, struct errand *errand, rondo_error *err)
{
    put_passed(setup);
    if (put_arguments(setup, err) < 0 || put_folder(setup, err) < 0 || put_listed(setup, err) < 0)
        return err->code;
    surroundings_put_hint(&errand->hint, setup->env);
    return put_own(setup, errand, err);
}

static int open_sandbox(struct setup *setup, struct errand *errand, struct sandbox **ret, rondo_error *err)
{
    const struct flow_agent *agent = setup->agent;
    uint32_t count = agent->sandbox_write_count;
    const char **write = arena_alloc(&setup->arena, (count + 1) * sizeof *write);
    for (uint32_t i = 0; i < count; i++) {
        write[i] = place(setup, agent->sandbox_write[i]);
        write[i] = write[i] ? write[i] : ".";
    }
    write[count] = errand->box;
    return sandbox_open(&(struct sandbox_spec){ write, count + 1, agent->sandbox_network }, ret, err);
}

static int start(struct setup *setup, struct errand *errand, const char *prompt, size_t len,
                 rondo_error *err)
{
    const struct flow_agent *agent = setup->agent;
    struct sandbox *sandbox = NULL;
    if (prepare(setup, errand, err) < 0 ||
        (agent->has_sandbox && open_sandbox(setup, errand, &sandbox, err) < 0))
        return err->code;
    int rc = process_start(task_loop(setup->task),
                         &(struct process_spec){
                             .argv = setup->argv, .env = setup->env, .cwd = setup->cwd,
                             .input = prompt, .input_len = len,
                             .max_output = max_output(agent),
                             .max_tail = PROCESS_TAIL + setup->secrets->longest,
                             .timeout_ms = flow_step_command_ms(setup->step),
                             .idle_ms = agent->idle_ms,
                             .grace_ms = agent->grace_ms,
                             .on_output = on_output, .show_ms = SHOW_MS,
                             .on_end = on_end, .user = errand, .sandbox = sandbox },
                         &errand->process, err);
    sandbox_close(sandbox);
    return rc;
}

static void refuse(rondo_task *task, struct errand *errand, const rondo_error *err)
{
    if (errand->own) {
        errand->later = rondo_task_defer(task);
        fail_with(errand, err);
        leave(errand);
        return;
    }
    rondo_task_fail(task, err->code, "%s", err->message);
    errand_free(errand);
}

void command_run(rondo_task *task, const struct flow_step *step, const char *prompt, size_t len,
                 struct isolated *own)
{
    struct errand *errand = mem_zalloc(sizeof *errand);
    struct setup setup = { .task = task, .step = step, .agent = step->agent, .own = own,
                           .secrets = task_secrets(task) };
    rondo_error err;
    errand->step = step;
    errand->own = own;
    errand->secrets = setup.secrets;
    task_see(task, &setup.see);
    int rc = command_can_run(step, task_env(task), &err);
    if (rc < 0)
        agent_blame(step, &err);
    else
        rc = start(&setup, errand, prompt, len, &err);
    if (rc == 0) {
        errand->later = rondo_task_defer(task);
        task_on_cancel(task, on_cancel, errand);
    } else {
        refuse(task, errand, &err);
    }
    see_clear(&setup.see);
    mem_free(setup.env);
    arena_free(&setup.arena);
}

/* In a worktree there is what git has. */
static int find_writes(const struct flow_step *step, const struct call_env *env, rondo_error *err)
{
    const struct flow_agent *agent = step->agent;
    if (flow_isolates(step->flow) || !flow_step_comes_first(step) || !flow_step_is_certain(step))
        return 0;
    for (uint32_t i = 0; i < agent->sandbox_write_count; i++) {
        auto_buf struct buf path = { 0 };
        put_place(&path, call_folder(env, step), agent->sandbox_write[i]);
        if (access(path.len ? buf_text(&path) : ".", F_OK) < 0)
            return err_set(err, RONDO_EINVAL, "sandbox: '%s' cannot be written to: %s", buf_text(&path),
                           strerror(errno));
    }
    return 0;
}

int command_can_run(const struct flow_step *step, const struct call_env *env, rondo_error *err)
{
    rondo_error why;
    if (!step->agent->has_sandbox || sandbox_can_be(&why))
        return find_writes(step, env, err);
    return err_set(err, RONDO_EINVAL, "it asks for a sandbox, which cannot be enforced here: %s", why.message);
}
