/* test_bubble.c - inside of bubblewrap children are what they are elsewhere: how they end, what they say and hear.
   What does not get out of it is in test_escape.c, what stays of it in test_survivors.c. */
#define _GNU_SOURCE // pipe2
#include "test.h"

#include "base/buf.h"
#include "io/bubble.h"
#include "io/process.h"
#include "io/tempdir.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

__attribute__((constructor)) static void be_offered(int argc, char **argv)
{
    bubble_offer(argc, argv);
}

struct child {
    struct process *process;
    bool ended, timed_out;
    int status, signal;
    struct buf output, errors;
};

static struct loop *loop;
static struct sandbox *sandbox;
static char *folder;
static struct child child;

static void on_data(struct process *process, const char *bytes, size_t len, void *user)
{
    buf_put(&child.output, bytes, len);
}

static void on_end(struct process *process, void *user)
{
    size_t len;
    const char *text = process_output(process, &len);
    buf_put(&child.output, text, len);
    text = process_errors(process, &len);
    buf_put(&child.errors, text, len);
    child.status = process_status(process);
    child.signal = process_signal(process);
    child.timed_out = process_timed_out(process);
    child.ended = true;
}

static void confine(const char *to)
{
    rondo_error err;
    const char *const write[] = { to };
    const struct sandbox_spec spec = { .write = write, .write_count = 1, .strict = true };
    CHECK(sandbox_open(&spec, &sandbox, &err) == 0);
}

static void set_up(void)
{
    rondo_error err;
    if (!sandbox_can_be(&err) || !bubble_find(&err))
        SKIP(err.message);
    folder = tempdir_make(&err);
    CHECK(loop_open(&loop, &err) == 0);
    confine(folder);
}

static void tear_down(void)
{
    sandbox_close(sandbox);
    loop_close(loop);
    tempdir_remove(folder);
    mem_free(folder);
    buf_free(&child.output);
    buf_free(&child.errors);
}

static void start(const char *const *argv, struct process_spec spec)
{
    static const char *const env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", NULL };
    rondo_error err;
    buf_clear(&child.output);
    buf_clear(&child.errors);
    child.ended = false;
    spec.argv = argv;
    spec.env = env;
    spec.cwd = folder;
    spec.max_output = 1 << 24;
    spec.sandbox = sandbox;
    spec.on_end = on_end;
    if (process_start(loop, &spec, &child.process, &err) < 0)
        FAIL("%s", err.message);
}

static void finish(void)
{
    while (!child.ended)
        loop_wait(loop, INT64_MAX);
}

static void start_shell(const char *text, struct process_spec spec)
{
    const char *const argv[] = { "/bin/sh", "-c", text, NULL };
    start(argv, spec);
}

#define SHELL(text, ...) (start_shell(text, (struct process_spec){ .grace_ms = -1, __VA_ARGS__ }), finish())

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- how they end --------------------------------------------------------------------------------------- */

TEST(a_status_and_a_signal_are_told_apart)
{
    set_up();
    SHELL("echo out; echo err >&2; exit 137");
    CHECK_INT(child.status, 137);
    CHECK_INT(child.signal, 0);
    CHECK_STR(buf_text(&child.output), "out\n");
    CHECK_STR(buf_text(&child.errors), "err\n");
    SHELL("kill -SEGV $$");
    CHECK_INT(child.signal, SIGSEGV);
    CHECK_INT(child.status, -1);
    SHELL("true");
    CHECK_INT(child.status, 0);
    tear_down();
}

TEST(a_command_that_cannot_be_executed_says_why)
{
    set_up();
    auto_buf struct buf path = { 0 };
    rondo_error err;
    buf_printf(&path, "%s/broken", folder);
    CHECK(tempdir_write(buf_text(&path), "#!/no/such/thing\n", 17, &err) == 0 && chmod(buf_text(&path), 0700) == 0);
    const char *const argv[] = { buf_text(&path), NULL };
    start(argv, (struct process_spec){ 0 });
    finish();
    CHECK_INT(child.status, 127);
    CHECK(strstr(buf_text(&child.errors), "No such file"));
    tear_down();
}

static void cancel_when_ready(void)
{
    while (!child.output.len)
        loop_wait(loop, INT64_MAX);
    process_cancel(child.process, -1);
    finish();
}

TEST(a_cancel_lets_it_say_good_bye)
{
    set_up();
    start_shell("trap 'echo bye; exit 3' TERM; echo hi; while :; do sleep 0.05; done",
                (struct process_spec){ .on_data = on_data, .grace_ms = 60 * 1000 });
    cancel_when_ready();
    CHECK_INT(child.status, 3);
    CHECK_STR(buf_text(&child.output), "hi\nbye\n");
    start_shell("echo hi; while :; do sleep 0.05; done", (struct process_spec){ .on_data = on_data, .grace_ms = -1 });
    cancel_when_ready();
    CHECK_INT(child.signal, SIGTERM);
    tear_down();
}

/* It may come before the command has begun. */
TEST(a_timeout_ends_it_in_bubblewrap)
{
    set_up();
    SHELL("while :; do sleep 0.05; done", .timeout_ms = 200);
    CHECK(child.timed_out);
    CHECK(child.signal == SIGTERM || child.signal == SIGKILL);
    tear_down();
}

TEST(who_is_deaf_is_killed)
{
    set_up();
    start_shell("trap '' TERM; echo ready; (setsid sh -c 'trap \"\" TERM; while :; do sleep 0.05; done' &); "
                "while :; do sleep 0.05; done", (struct process_spec){ .on_data = on_data, .grace_ms = 100 });
    cancel_when_ready();
    CHECK_INT(child.signal, SIGKILL);
    tear_down();
}

/* The first process takes everybody with it, whatever they would rather. */
TEST(what_is_left_behind_ends_at_once)
{
    set_up();
    int64_t before = now_ms();
    SHELL("(trap '' TERM HUP; sleep 1000) & setsid sleep 1000 & exit 5");
    CHECK_INT(child.status, 5);
    CHECK(now_ms() - before < 60 * 1000);
    tear_down();
}

/* ---- what they hear --------------------------------------------------------------------------------------- */

TEST(input_and_output_larger_than_any_pipe_in_bubblewrap)
{
    set_up();
    auto_buf struct buf text = { 0 };
    while (text.len < 3 << 20)
        buf_printf(&text, "line %zu\n", text.len);
    SHELL("cat", .input = text.data, .input_len = text.len);
    CHECK(child.output.len == text.len && memcmp(child.output.data, text.data, text.len) == 0);
    tear_down();
}

TEST(a_child_to_talk_with)
{
    set_up();
    rondo_error err;
    start_shell("while read -r line; do echo \"<$line>\"; done; echo end",
                (struct process_spec){ .on_data = on_data, .grace_ms = -1 });
    for (int i = 1; i <= 3; i++) {
        CHECK(process_send(child.process, "word\n", 5, &err) == 0);
        while (child.output.len < (size_t)i * 7)
            loop_wait(loop, INT64_MAX);
    }
    process_finish(child.process, 60 * 1000);
    finish();
    CHECK_STR(buf_text(&child.output), "<word>\n<word>\n<word>\nend\n");
    CHECK_INT(child.status, 0);
    tear_down();
}

TEST(a_child_has_default_signals_and_no_files_of_ours)
{
    set_up();
    unsigned long long blocked, ignored;
    SHELL("exec grep -E '^Sig(Blk|Ign)' /proc/self/status");
    CHECK_INT(sscanf(buf_text(&child.output), "SigBlk: %llx SigIgn: %llx", &blocked, &ignored), 2);
    CHECK_UINT(blocked, 0);
    CHECK_UINT(ignored & ~(3ull << 31), 0); // 32 and 33 are the C library's own, and as we got them
    SHELL("exec ls /proc/self/fd");
    CHECK_STR(buf_text(&child.output), "0\n1\n2\n3\n"); // the last is its own
    tear_down();
}

/* ---- what is not there -------------------------------------------------------------------------------------- */

TEST(there_is_nobody_else)
{
    set_up();
    char variable[64];
    snprintf(variable, sizeof variable, "kill -0 %d", getpid());
    SHELL("echo $$");
    CHECK_STR(buf_text(&child.output), "2\n"); // the step is the first
    SHELL(variable);
    CHECK(child.status != 0);
    tear_down();
}

TEST(many_share_a_sandbox)
{
    set_up();
    for (int i = 0; i < 20; i++) {
        SHELL("echo mine >/dev/shm/x; cat /dev/shm/x; head -n 1 /proc/meminfo >/dev/null || echo no; exit 9");
        CHECK_INT(child.status, 9);
        CHECK_STR(buf_text(&child.output), "mine\n");
    }
    tear_down();
}

/* ---- one that does not work ---------------------------------------------------------------------------------- */

static void use_broken(const char *text)
{
    rondo_error err;
    auto_buf struct buf path = { 0 };
    buf_printf(&path, "%s/bwrap", folder);
    CHECK(tempdir_write(buf_text(&path), text, strlen(text), &err) == 0 && chmod(buf_text(&path), 0700) == 0);
    bubble_look_at(buf_text(&path));
    CHECK_NULL(bubble_find(&err));
    CHECK_NULL(bubble_find(&err)); // it is not tried again
    CHECK(strstr(err.message, "does not work here: sorry"));
}

/* Confined it is all the same: the folder around is not written to. */
static void check_plain(void)
{
    auto_buf struct buf box = { 0 };
    sandbox_close(sandbox);
    buf_printf(&box, "%s/box", folder);
    mkdir(buf_text(&box), 0700);
    confine(buf_text(&box));
    SHELL("echo x >box/y && cat box/y; echo x >y; cat bwrap; kill -KILL $$");
    CHECK_STR(buf_text(&child.output), "x\n");
    CHECK_INT(child.signal, SIGKILL);
}

TEST(a_broken_bwrap_is_not_used)
{
    static const char *const broken[] = {
        "#!/bin/sh\necho sorry >&2; exit 1\n",
        "#!/bin/sh\necho sorry >&2; exit 7\n", // as if the command had run
        "#!/bin/sh\necho sorry >&2; kill -KILL $$\n",
        // as if there was nothing to confine
        "#!/bin/sh\necho sorry >&2; while [ \"$1\" != -- ]; do shift; done; shift; exec 3>&- \"$@\"\n",
    };
    for (size_t i = 0; i < COUNT(broken); i++) {
        bubble_look_at(NULL);
        set_up();
        use_broken(broken[i]);
        check_plain();
        tear_down();
    }
}

TEST(one_that_is_not_there_is_not_used)
{
    rondo_error err;
    bubble_look_at("/no/such/bwrap");
    CHECK_NULL(bubble_find(&err));
    CHECK(strstr(err.message, "/no/such/bwrap"));
}
