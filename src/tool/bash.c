/* bash.c - the tool bash: a command that a model chose, confined.

   It runs in the workspace, which it may change; of the rest of the machine it sees programs and little else,
   and it has no network unless the user allowed it (io/sandbox.h).  Stores and settings of git in the workspace
   are protected (io/protected.h).  Where that cannot be enforced, nothing is run.

   Errors and output are one text, as on a terminal; of a long one the middle is left out. */
#include "data/secret.h"
#include "io/process.h"
#include "io/protected.h"
#include "io/tempdir.h"
#include "tool/builtins.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEPT_MAX   (4 * 1024 * 1024)
#define HEAD_SHOWN (64 * 1024)
#define TAIL_SHOWN (128 * 1024)
#define TIMEOUT_S  30

struct errand {
    struct tool_call *call;
    struct process *process;
    char *box;   // a folder of its own: HOME and TMPDIR
    char *empty; // a file without bytes
    struct protected protected;
};

/* ---- the end ----------------------------------------------------------------------------------------- */

static void errand_free(struct errand *errand)
{
    protected_clear(&errand->protected);
    tempdir_remove(errand->box);
    tempdir_unlink(errand->empty);
    mem_free(errand->empty);
    mem_free(errand->box);
    mem_free(errand);
}

static void put_output(struct buf *out, const struct tool_call *call, const struct process *process)
{
    size_t len;
    const char *text = process_output(process, &len);
    const struct secrets *secrets = call->place->secrets;
    uint64_t dropped = process_dropped(process);
    bool is_whole = process_ended_itself(process) && !dropped;
    if (len <= HEAD_SHOWN + TAIL_SHOWN) {
        secrets_put(secrets, out, text, len, is_whole);
    } else {
        auto_buf struct buf end = { 0 };
        size_t head = secrets_put_first(secrets, out, text, len, HEAD_SHOWN);
        size_t tail = secrets_put_last(secrets, &end, text, len, TAIL_SHOWN, is_whole);
        buf_printf(out, "\n[... %zu bytes left out ...]\n", len - MIN(len, head + tail));
        buf_put(out, end.data, end.len);
    }
    if (dropped)
        buf_printf(out, "\n[... and %llu bytes more, which were not kept]", (unsigned long long)dropped);
}

static void put_status(struct buf *out, const struct tool_call *call, const struct process *process)
{
    if (out->len && out->data[out->len - 1] != '\n')
        buf_putc(out, '\n');
    if (process_timed_out(process))
        buf_printf(out, "[stopped after %lld s]", (long long)tool_number(call, "timeout_seconds", TIMEOUT_S));
    else if (process_overran(process))
        buf_printf(out, "[stopped: more than %zu processes at once]", (size_t)SANDBOX_LIMITS.processes);
    else if (process_signal(process))
        buf_printf(out, "[ended by signal %d, %s]", process_signal(process), strsignal(process_signal(process)));
    else
        buf_printf(out, "[exit status %d]", process_status(process));
}

static void on_end(struct process *process, void *user)
{
    struct errand *errand = user;
    struct tool_call *call = errand->call;
    auto_buf struct buf out = { 0 };
    put_output(&out, call, process);
    put_status(&out, call, process);
    call->own = NULL;
    errand_free(errand);
    tool_finish(call, buf_text(&out), out.len);
}

void tool_bash_cancel(struct tool_call *call)
{
    struct errand *errand = call->own;
    if (errand)
        process_cancel(errand->process, -1);
}

/* ---- the beginning ----------------------------------------------------------------------------------- */

#define VARIABLES_MAX 12

struct environment {
    char *list[VARIABLES_MAX];
    uint32_t count;
};

static void put_variable(struct environment *env, const char *name, const char *value)
{
    auto_buf struct buf pair = { 0 };
    if (!value)
        return;
    buf_printf(&pair, "%s=%s", name, value);
    env->list[env->count++] = buf_take(&pair);
}

/* Nothing of ours but what programs need to find each other and to speak the user's language. */
static void fill_environment(struct environment *env, const char *box)
{
    static const char *const passed[] = { "LANG", "LC_ALL", "LC_CTYPE", "TZ", "USER" };
    put_variable(env, "PATH", getenv("PATH") ? getenv("PATH") : "/usr/local/bin:/usr/bin:/bin");
    put_variable(env, "HOME", box);
    put_variable(env, "TMPDIR", box);
    put_variable(env, "TERM", "dumb");
    for (size_t i = 0; i < COUNT(passed); i++)
        put_variable(env, passed[i], getenv(passed[i]));
}

static int make_box(struct tool_call *call, struct errand *errand, rondo_error *err)
{
    auto_buf struct buf path = { 0 }, empty = { 0 };
    if (process_path(call->place->loop, "box", &path, err) < 0 ||
        process_path(call->place->loop, "empty", &empty, err) < 0)
        return err->code;
    errand->box = buf_take(&path);
    errand->empty = buf_take(&empty);
    return tempdir_make_at(errand->box, err) < 0 ? err->code : tempdir_write(errand->empty, "", 0, err);
}

/* In a worktree that we made, a command may commit: git writes to two places of the repository, and reads the rest. */
static int open_sandbox(struct tool_call *call, const struct errand *errand, struct sandbox **ret, rondo_error *err)
{
    const struct tool_place *place = call->place;
    auto_buf struct buf objects = { 0 };
    buf_printf(&objects, "%s/objects", place->common ? place->common : "");
    const char *write[] = { place->folder, errand->box, place->git, buf_text(&objects) };
    struct sandbox_spec spec = { .write = write, .write_count = place->git ? 4 : 2, .read = &place->common,
                                 .read_count = place->git != NULL, .strict = true, .network = place->network,
                                 .path = getenv("PATH"), .protected = &errand->protected };
    return sandbox_open(&spec, ret, err);
}

static int confine(struct tool_call *call, struct errand *errand, struct sandbox **ret, rondo_error *err)
{
    const struct tool_place *place = call->place;
    if (!sandbox_can_be(err))
        return err_in(err, "commands cannot be confined on this machine, so none is run");
    struct protected_spec spec = { place->folder, place->stores, place->git, sandbox_has_view(),
                                   errand->empty };
    if (protected_find(&errand->protected, &spec, err) < 0 || open_sandbox(call, errand, ret, err) < 0)
        return err_in(err, "no command is run");
    return 0;
}

static const char *shell(void)
{
    return access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
}

static int launch(struct tool_call *call, struct errand *errand, const struct sandbox *sandbox,
                  const struct environment *env, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "exec 2>&1\n%s", tool_text(call, "command"));
    const char *const argv[] = { shell(), "-c", buf_text(&text), NULL };
    return process_start(call->place->loop,
                         &(struct process_spec){ .argv = argv, .env = (const char *const *)env->list,
                                                 .cwd = call->place->folder, .max_output = KEPT_MAX,
                                                 .timeout_ms = 1000 * tool_number(call, "timeout_seconds", TIMEOUT_S),
                                                 .grace_ms = -1, .max_processes = SANDBOX_LIMITS.processes,
                                                 .sandbox = sandbox, .on_end = on_end, .user = errand },
                         &errand->process, err);
}

void tool_bash(struct tool_call *call)
{
    struct errand *errand = mem_zalloc(sizeof *errand);
    struct environment env = { 0 };
    struct sandbox *sandbox = NULL;
    rondo_error err;
    errand->call = call;
    int rc = make_box(call, errand, &err);
    if (rc == 0)
        rc = confine(call, errand, &sandbox, &err);
    if (rc == 0) {
        fill_environment(&env, errand->box);
        rc = launch(call, errand, sandbox, &env, &err);
    }
    sandbox_close(sandbox);
    for (uint32_t i = 0; i < env.count; i++)
        mem_free(env.list[i]);
    if (rc == 0) {
        call->own = errand;
        return;
    }
    errand_free(errand);
    tool_fail(call, "%s", err.message);
}
