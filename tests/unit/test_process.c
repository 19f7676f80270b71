/* test_process.c - children: what they say, how they end, and that nothing of them stays. */
#define _GNU_SOURCE // terminals
#include "test.h"

#include "base/mem.h"
#include "io/guard.h"
#include "io/orphan.h"
#include "io/process.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* What became of one child. */
struct child {
    struct process *process;
    int ended, shows, status, signal;
    bool timed_out;
    size_t len, errors_len;
    uint64_t dropped, errors_dropped;
    char output[200], errors[PROCESS_TAIL + 1], shown[200], tail[PROCESS_TAIL + 1];
    bool is_tail_cut, was_silent;
    char first, last; // of the output
};

static struct loop *loop;

static void open_loop(void)
{
    rondo_error err;
    CHECK(loop_open(&loop, &err) == 0);
}

static void on_output(struct process *process, void *user)
{
    struct child *child = user;
    size_t len;
    const char *output = process_output(process, &len);
    CHECK(!child->ended);
    if (!child->shows++) // the first
        snprintf(child->shown, sizeof child->shown, "%.*s", (int)MIN(len, 100), output);
}

static void on_end(struct process *process, void *user)
{
    struct child *child = user;
    const char *output = process_output(process, &child->len);
    snprintf(child->output, sizeof child->output, "%.*s", (int)MIN(child->len, 199), output);
    child->first = child->len ? output[0] : '\0';
    child->last = child->len ? output[child->len - 1] : '\0';
    auto_buf struct buf tail = { 0 };
    child->is_tail_cut = process_put_tail(process, &tail);
    snprintf(child->tail, sizeof child->tail, "%s", buf_text(&tail));
    output = process_errors(process, &child->errors_len);
    snprintf(child->errors, sizeof child->errors, "%s", output);
    child->status = process_status(process);
    child->signal = process_signal(process);
    child->timed_out = process_timed_out(process);
    child->was_silent = process_was_silent(process);
    child->dropped = process_dropped(process);
    child->errors_dropped = process_errors_dropped(process);
    child->ended++;
}

static const char *const plain_env[] = { "PATH=/usr/local/bin:/usr/bin:/bin", NULL };

static int start(struct child *child, struct process_spec spec, rondo_error *err)
{
    memset(child, 0, sizeof *child);
    spec.env = spec.env ? spec.env : plain_env;
    spec.max_output = spec.max_output ? spec.max_output : 1 << 20;
    spec.on_end = on_end;
    spec.user = child;
    return process_start(loop, &spec, &child->process, err);
}

static void start_shell(struct child *child, const char *text, struct process_spec spec)
{
    rondo_error err;
    const char *const argv[] = { "/bin/sh", "-c", text, NULL };
    spec.argv = argv;
    if (start(child, spec, &err) < 0)
        FAIL("%s", err.message);
    CHECK(!child->ended);
}

static void finish(struct child *child)
{
    while (!child->ended)
        loop_wait(loop, INT64_MAX);
    CHECK_INT(child->ended, 1);
}

static void shell(struct child *child, const char *text, struct process_spec spec)
{
    start_shell(child, text, spec);
    finish(child);
}

#define SHELL(child, text, ...) shell(child, text, (struct process_spec){ .grace_ms = -1, __VA_ARGS__ })

static int64_t now_ms(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void nap(int ms)
{
    usleep((useconds_t)ms * 1000);
}

/* Is a process of that number there, and not just waiting to be buried? */
static bool is_alive(long pid)
{
    char path[64], line[300] = "";
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *file = fopen(path, "r");
    if (!file)
        return false;
    if (!fgets(line, sizeof line, file))
        line[0] = '\0';
    fclose(file);
    const char *at = strrchr(line, ')');
    return at && at[2] != 'Z' && at[2] != 'X';
}

/* A number that a child has written into a file; waits for it. */
static long read_pid(const char *path)
{
    for (int i = 0; i < 2000; i++, nap(5)) {
        long pid = 0;
        char newline = 0;
        FILE *file = fopen(path, "r");
        if (!file)
            continue;
        int n = fscanf(file, "%ld%c", &pid, &newline);
        fclose(file);
        if (n == 2)
            return pid;
    }
    FAIL("no number in %s", path);
}

static bool is_gone_soon(long pid)
{
    for (int i = 0; i < 1000; i++, nap(5))
        if (!is_alive(pid))
            return true;
    return false;
}

static void own_folder(void)
{
    char folder[] = "/tmp/rondo-test-XXXXXX";
    CHECK(mkdtemp(folder) != NULL);
    CHECK(chdir(folder) == 0);
}

static void leave_folder(void)
{
    char here[200], command[300];
    CHECK(getcwd(here, sizeof here) != NULL);
    CHECK(chdir("/") == 0 && strncmp(here, "/tmp/rondo-test-", 16) == 0);
    snprintf(command, sizeof command, "rm -rf %s", here);
    CHECK(system(command) == 0);
}

/* ---- saying ------------------------------------------------------------------------------------------ */

TEST(output_errors_and_status_come_back)
{
    struct child child;
    open_loop();
    SHELL(&child, "echo out; echo err >&2; exit 3");
    CHECK_STR(child.output, "out\n");
    CHECK_STR(child.errors, "err\n");
    CHECK_INT(child.status, 3);
    CHECK_INT(child.signal, 0);
    loop_close(loop);
}

TEST(a_signal_is_told_apart_from_a_status)
{
    struct child child;
    open_loop();
    SHELL(&child, "kill -9 $$");
    CHECK_INT(child.signal, SIGKILL);
    CHECK_INT(child.status, -1);
    loop_close(loop);
}

TEST(input_arrives_and_ends)
{
    struct child child;
    open_loop();
    SHELL(&child, "cat; echo done", .input = "hello ", .input_len = 6);
    CHECK_STR(child.output, "hello done\n");
    SHELL(&child, "cat; echo empty");
    CHECK_STR(child.output, "empty\n");
    loop_close(loop);
}

TEST(input_and_output_larger_than_any_pipe)
{
    struct child child;
    size_t len = 20 << 20;
    char *big = malloc(len);
    open_loop();
    memset(big, 'x', len);
    big[0] = 'a';
    big[len - 1] = 'z';
    SHELL(&child, "exec cat", .input = big, .input_len = len, .max_output = len);
    CHECK_UINT(child.len, len);
    CHECK(child.first == 'a' && child.last == 'z');
    CHECK_UINT(child.dropped, 0);
    free(big);
    loop_close(loop);
}

TEST(input_that_is_not_read_harms_nobody)
{
    struct child child;
    size_t len = 4 << 20;
    char *big = calloc(1, len);
    open_loop();
    signal(SIGPIPE, SIG_DFL);
    SHELL(&child, "exec <&-; sleep 0.1; echo fine", .input = big, .input_len = len);
    CHECK_STR(child.output, "fine\n");
    SHELL(&child, "exit 0", .input = big, .input_len = len);
    CHECK_INT(child.status, 0);
    free(big);
    loop_close(loop);
}

TEST(a_flood_is_drained_and_counted)
{
    struct child child;
    open_loop();
    SHELL(&child, "head -c 5000000 /dev/zero; echo end >&2", .max_output = 1000);
    CHECK_UINT(child.len, 1000);
    CHECK_UINT(child.dropped, 4999000);
    CHECK_STR(child.errors, "end\n");
    CHECK_INT(child.status, 0);
    loop_close(loop);
}

TEST(of_the_output_the_tail_is_kept_beside_its_beginning)
{
    struct child child;
    open_loop();
    SHELL(&child, "printf 0123456789", .max_output = 4, .max_tail = 8);
    CHECK_STR(child.output, "0123");
    CHECK_STR(child.tail, "23456789");
    CHECK(child.is_tail_cut);
    SHELL(&child, "printf 0123456789", .max_output = 1, .max_tail = 8);
    CHECK_STR(child.tail, "23456789");
    CHECK(child.is_tail_cut);
    SHELL(&child, "printf 01234567", .max_output = 100, .max_tail = 8);
    CHECK_STR(child.tail, "01234567");
    CHECK(!child.is_tail_cut);
    SHELL(&child, "printf 01234567", .max_output = 5, .max_tail = 8);
    CHECK_STR(child.tail, "01234567");
    CHECK(!child.is_tail_cut);
    SHELL(&child, ":", .max_tail = 8);
    CHECK_STR(child.tail, "");
    CHECK(!child.is_tail_cut);
    loop_close(loop);
}

TEST(of_errors_the_tail_is_kept)
{
    struct child child;
    open_loop();
    SHELL(&child, "head -c 100000 /dev/zero | tr '\\0' e >&2; printf last >&2");
    CHECK_UINT(child.errors_len, PROCESS_TAIL);
    CHECK_UINT(child.errors_dropped, 100004 - PROCESS_TAIL);
    CHECK_STR(child.errors + PROCESS_TAIL - 6, "eelast");
    loop_close(loop);
}

TEST(output_is_shown_while_it_comes)
{
    struct child child;
    open_loop();
    SHELL(&child, "echo one; sleep 0.2; echo two", .on_output = on_output, .show_ms = 20);
    CHECK(child.shows >= 1);
    CHECK_STR(child.shown, "one\n");
    CHECK_STR(child.output, "one\ntwo\n");
    SHELL(&child, "for i in 1 2 3 4 5 6 7 8 9; do echo $i; done", .on_output = on_output,
          .show_ms = 60000);
    CHECK_INT(child.shows, 0); // over before it was time
    loop_close(loop);
}

/* ---- surroundings ------------------------------------------------------------------------------------- */

TEST(a_child_has_only_the_environment_it_was_given)
{
    struct child child;
    const char *const env[] = { "PATH=/usr/bin:/bin", "A=1", NULL };
    open_loop();
    setenv("SECRET_OF_OURS", "x", 1);
    SHELL(&child, "env | grep -v -e ^PWD= -e ^_= -e ^SHLVL= -e ^" GUARD_VARIABLE "= | sort",
          .env = env);
    CHECK_STR(child.output, "A=1\nPATH=/usr/bin:/bin\n");
    loop_close(loop);
}

TEST(a_child_has_its_folder_and_no_files_of_ours)
{
    struct child child;
    open_loop();
    CHECK(open("/dev/null", O_RDONLY) >= 0); // not closed on exec
    SHELL(&child, "pwd; ls /proc/self/fd | wc -l", .cwd = "/usr");
    CHECK_STR(child.output, "/usr\n4\n"); // ls has one open for the folder
    loop_close(loop);
}

TEST(a_child_has_default_signals_whatever_ours_are)
{
    struct child child;
    sigset_t all;
    open_loop();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL);
    SHELL(&child, "awk '/^SigBlk|^SigIgn/ { print $2 }' /proc/self/status");
    char *rest;
    CHECK(strtoull(child.output, &rest, 16) == 0);
    CHECK((strtoull(rest, NULL, 16) & 0x7fffffff) == 0); // 32 and 33 are libc's, and may be inherited
    loop_close(loop);
}

TEST(a_child_is_a_group_of_its_own)
{
    struct child child;
    open_loop();
    SHELL(&child, "set -- $(sed 's/.*) //' /proc/$$/stat); test $3 = $$ && echo own");
    CHECK_STR(child.output, "own\n");
    loop_close(loop);
}

/* With a terminal of ours, a child has none: it fails at once instead of asking.  1: there is no
   terminal to try with. */
static int try_terminal(int master)
{
    struct child child;
    setsid();
    int slave = open(ptsname(master), O_RDWR), tty = open("/dev/tty", O_RDWR); // becomes ours
    if (slave < 0 || tty < 0)
        return 1;
    open_loop();
    SHELL(&child, "if (exec </dev/tty) 2>/dev/null; then echo terminal; else echo none; fi");
    loop_close(loop);
    bool still_ours = isatty(tty) && tcgetpgrp(tty) == getpgrp();
    return strcmp(child.output, "none\n") != 0 ? 2 : still_ours ? 0 : 3;
}

static void ignore(int signal)
{
    (void)signal;
}

static void signal_group(pid_t group)
{
    setpgid(0, 0);
    while (kill(-group, SIGTERM) == 0)
        usleep(20);
    _exit(0);
}

/* timeout(1) signals us and then our group, in which a child is until it has one of its own. */
TEST(a_signal_to_our_group_is_not_for_a_child_that_is_just_started)
{
    struct child child;
    signal(SIGTERM, ignore);
    setpgid(0, 0);
    pid_t us = getpid(), sender = fork();
    if (sender == 0)
        signal_group(us);
    open_loop();
    for (int i = 0; i < 300; i++) {
        SHELL(&child, "true");
        CHECK_INT(child.signal, 0);
    }
    loop_close(loop);
    kill(sender, SIGKILL);
    waitpid(sender, NULL, 0);
}

TEST(a_child_has_no_terminal)
{
    int master = posix_openpt(O_RDWR | O_NOCTTY), status;
    if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
        SKIP("no terminals here");
    pid_t pid = fork();
    if (pid == 0)
        _exit(try_terminal(master));
    CHECK(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    if (WEXITSTATUS(status) == 1)
        SKIP("no terminals here");
    CHECK_INT(WEXITSTATUS(status), 0);
}

TEST(works_when_our_standard_descriptors_are_closed)
{
    struct child child;
    close(0);
    open_loop();
    SHELL(&child, "cat; echo err >&2; echo out", .input = "in ", .input_len = 3);
    CHECK_STR(child.output, "in out\n");
    CHECK_STR(child.errors, "err\n");
    loop_close(loop);
}

/* ---- commands that cannot be ---------------------------------------------------------------------------- */

static const char *refused(const char *name, const char *cwd)
{
    static rondo_error err;
    struct child child;
    const char *const argv[] = { name, NULL };
    int rc = start(&child, (struct process_spec){ .argv = argv, .cwd = cwd }, &err);
    CHECK(rc < 0 && rc == err.code);
    CHECK_INT(child.ended, 0);
    CHECK_UINT(process_count(loop), 0);
    return err.message;
}

static void write_file(const char *path, const char *text, int mode)
{
    FILE *file = fopen(path, "w");
    CHECK(file != NULL);
    fputs(text, file);
    fclose(file);
    CHECK(chmod(path, (mode_t)mode) == 0);
}

TEST(a_command_that_cannot_be_started_says_why)
{
    open_loop();
    own_folder();
    write_file("plain", "hello", 0644);
    write_file("odd", "#!/no/such/interpreter\n", 0755);
    write_file("text", "hello", 0755);
    CHECK_STR(refused("no-such-command", NULL), "command 'no-such-command' not found");
    CHECK_STR(refused("./no-such-command", NULL), "command './no-such-command' not found");
    CHECK_STR(refused("./plain", NULL), "command './plain' is not executable");
    CHECK_STR(refused("./plain/x", NULL), "command './plain/x' not found");
    CHECK_STR(refused("/usr", NULL), "command '/usr' is a folder");
    CHECK_STR(refused("", NULL), "the command has no name");
    CHECK_STR(refused("./odd", NULL),
              "command './odd' cannot be executed: the interpreter in its first line is not there");
    CHECK_STR(refused("./text", NULL),
              "command './text' cannot be executed: it is neither a program nor a script that begins with #!");
    CHECK_STR(refused("true", "/no/such/folder"),
              "command 'true' cannot run in folder '/no/such/folder': No such file or directory");
    leave_folder();
    loop_close(loop);
}

TEST(a_relative_command_is_seen_from_its_folder)
{
    struct child child;
    rondo_error err;
    const char *const argv[] = { "./bin/hello", "x y", NULL };
    char here[200];
    open_loop();
    own_folder();
    CHECK(mkdir("sub", 0755) == 0 && mkdir("sub/bin", 0755) == 0);
    write_file("sub/bin/hello", "#!/bin/sh\necho \"$1|$(pwd)\"\n", 0755);
    CHECK(getcwd(here, sizeof here) != NULL);
    strcat(here, "/sub");
    CHECK(start(&child, (struct process_spec){ .argv = argv, .cwd = here }, &err) == 0);
    finish(&child);
    CHECK(strncmp(child.output, "x y|", 4) == 0 && strncmp(child.output + 4, here, strlen(here)) == 0);
    leave_folder();
    loop_close(loop);
}

TEST(too_large_an_argument_says_so)
{
    struct child child;
    rondo_error err;
    char *big = malloc(300000);
    memset(big, 'x', 299999);
    big[299999] = '\0';
    open_loop();
    const char *const argv[] = { "true", big, NULL };
    CHECK(start(&child, (struct process_spec){ .argv = argv }, &err) < 0);
    CHECK_STR(err.message, "command 'true' cannot be executed: its arguments and environment are too large");
    free(big);
    loop_close(loop);
}

/* Descriptors below 1024 are few when each child takes four. */
TEST(without_descriptors_there_is_an_error_and_no_leak)
{
    struct child child;
    rondo_error err;
    const char *const argv[] = { "true", NULL };
    open_loop();
    SHELL(&child, "true");
    int before = dup(0);
    close(before);
    for (int room = 0; room < 9; room++) {
        struct rlimit limit = { (rlim_t)(before + room), 1024 };
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        if (start(&child, (struct process_spec){ .argv = argv }, &err) == 0)
            finish(&child);
        else
            CHECK(err.message[0] != '\0');
        limit.rlim_cur = 1024;
        CHECK(setrlimit(RLIMIT_NOFILE, &limit) == 0);
        int after = dup(0);
        close(after);
        CHECK_INT(after, before);
    }
    loop_close(loop);
}

/* ---- ending -------------------------------------------------------------------------------------------------- */

TEST(a_cancel_ends_a_child_that_listens)
{
    struct child child;
    open_loop();
    start_shell(&child, "trap 'echo bye; exit 7' TERM; echo up; while :; do sleep 0.01; done",
                (struct process_spec){ .grace_ms = 60000, .on_output = on_output });
    while (!child.shows)
        loop_wait(loop, INT64_MAX);
    process_cancel(child.process, -1);
    process_cancel(child.process, -1); // once more changes nothing
    finish(&child);
    CHECK_INT(child.status, 7);
    CHECK_STR(child.output, "up\nbye\n");
    loop_close(loop);
}

TEST(a_cancel_kills_a_child_that_does_not_listen)
{
    struct child child;
    open_loop();
    start_shell(&child, "trap '' TERM; echo up; while :; do sleep 0.05; done",
                (struct process_spec){ .grace_ms = 60000, .on_output = on_output });
    while (!child.shows)
        loop_wait(loop, INT64_MAX);
    process_cancel(child.process, 50); // sooner than the spec says
    finish(&child);
    CHECK_INT(child.signal, SIGKILL);
    loop_close(loop);
}

TEST(a_stopped_child_ends_too)
{
    struct child child;
    open_loop();
    start_shell(&child, "echo up; kill -STOP $$; sleep 100",
                (struct process_spec){ .grace_ms = 60000, .on_output = on_output });
    while (!child.shows)
        loop_wait(loop, INT64_MAX);
    nap(20);
    process_cancel(child.process, -1);
    finish(&child);
    CHECK_INT(child.signal, SIGTERM);
    loop_close(loop);
}

TEST(a_timeout_cancels_and_says_so)
{
    struct child child;
    open_loop();
    SHELL(&child, "echo part; sleep 100", .timeout_ms = 50);
    CHECK(child.timed_out);
    CHECK_STR(child.output, "part\n");
    CHECK_INT(child.signal, SIGTERM);
    SHELL(&child, "exit 4", .timeout_ms = 60000);
    CHECK(!child.timed_out);
    loop_close(loop);
}

TEST(silence_cancels_and_says_so)
{
    struct child child;
    open_loop();
    SHELL(&child, "echo part; sleep 100", .idle_ms = 100);
    CHECK(child.was_silent && !child.timed_out);
    CHECK_STR(child.output, "part\n");
    CHECK_INT(child.signal, SIGTERM);
    SHELL(&child, "sleep 100", .idle_ms = 100);
    CHECK(child.was_silent);
    SHELL(&child, "for i in 1 2 3 4 5 6 7 8; do sleep 0.1; echo $i >&$((i % 2 + 1)); done; exit 4", .idle_ms = 500);
    CHECK(!child.was_silent);
    CHECK_INT(child.status, 4);
    SHELL(&child, "while :; do echo x; sleep 0.01; done", .idle_ms = 200, .timeout_ms = 400);
    CHECK(!child.was_silent && child.timed_out);
    loop_close(loop);
}

TEST(no_grace_means_no_grace)
{
    struct child child;
    open_loop();
    shell(&child, "trap '' TERM; sleep 100 & wait; wait",
          (struct process_spec){ .timeout_ms = 50, .grace_ms = 0 });
    CHECK(child.timed_out);
    CHECK_INT(child.signal, SIGKILL);
    loop_close(loop);
}

/* ---- nobody stays ---------------------------------------------------------------------------------------------- */

TEST(what_the_leader_leaves_in_its_group_is_ended)
{
    struct child child;
    open_loop();
    own_folder();
    SHELL(&child, "sleep 1000 & echo $! >pid; echo done");
    CHECK_STR(child.output, "done\n");
    CHECK_INT(child.status, 0);
    CHECK(!is_alive(read_pid("pid")));
    leave_folder();
    loop_close(loop);
}

TEST(a_grandchild_that_ignores_the_end_is_killed)
{
    struct child child;
    open_loop();
    own_folder();
    shell(&child, "sh -c 'trap \"\" TERM; echo $$ >pid; while :; do sleep 0.01; done' &"
                  "while ! [ -s pid ]; do sleep 0.01; done; echo done",
          (struct process_spec){ .grace_ms = 100 });
    CHECK_STR(child.output, "done\n");
    CHECK(!is_alive(read_pid("pid")));
    leave_folder();
    loop_close(loop);
}

TEST(what_a_grandchild_says_when_told_to_end_is_heard)
{
    struct child child;
    open_loop();
    own_folder();
    shell(&child, "sh -c 'trap \"echo late; exit\" TERM; echo $$ >pid; while :; do sleep 0.01; done' &"
                  "while ! [ -s pid ]; do sleep 0.01; done; echo done",
          (struct process_spec){ .grace_ms = 60000 });
    CHECK_STR(child.output, "done\nlate\n");
    leave_folder();
    loop_close(loop);
}

static void setsid_grandchild(bool adopt, const char *how)
{
    struct child child;
    char text[400];
    if (adopt)
        orphan_adopt();
    open_loop();
    own_folder();
    /* No exec behind the pid: while one is under way a process has no environment to be known by. */
    snprintf(text, sizeof text, "%s sh -c 'echo $$ >pid; while :; do sleep 1000; done' >/dev/null 2>&1 &"
             "while ! [ -s pid ]; do sleep 0.01; done; echo done", how);
    SHELL(&child, text);
    CHECK_STR(child.output, "done\n");
    long pid = read_pid("pid");
    if (adopt)
        CHECK(!is_alive(pid)); // before the end was told
    while (!adopt && is_alive(pid))
        loop_wait(loop, INT64_MAX); // a little later
    leave_folder();
    loop_close(loop);
    CHECK(!is_alive(pid));
}

TEST(a_grandchild_with_a_session_of_its_own_ends_too)
{
    setsid_grandchild(false, "setsid");
}

TEST(an_adopted_grandchild_ends_before_its_step)
{
    setsid_grandchild(true, "setsid");
}

TEST(a_grandchild_that_holds_the_pipe_does_not_hold_us)
{
    struct child child;
    open_loop();
    own_folder();
    int64_t before = now_ms();
    SHELL(&child, "setsid sh -c 'echo $$ >pid; exec sleep 1000' &"
                  "while ! [ -s pid ]; do sleep 0.01; done; echo done");
    CHECK_STR(child.output, "done\n");
    CHECK(now_ms() - before < 60000);
    long pid = read_pid("pid");
    loop_close(loop);
    CHECK(!is_alive(pid));
    leave_folder();
}

TEST(a_cancel_reaches_grandchildren_in_other_sessions)
{
    struct child child;
    open_loop();
    own_folder();
    start_shell(&child, "setsid sh -c 'echo $$ >pid; exec sleep 1000' & sleep 1000",
                (struct process_spec){ .grace_ms = -1 });
    long pid = read_pid("pid");
    process_cancel(child.process, -1);
    finish(&child);
    CHECK(!is_alive(pid));
    leave_folder();
    loop_close(loop);
}

/* Without environment there is no mark: only adoption finds it, at the end. */
TEST(an_unmarked_orphan_ends_with_the_loop)
{
    struct child child;
    orphan_adopt();
    open_loop();
    own_folder();
    SHELL(&child, "env -i setsid sh -c 'echo $$ >pid; exec sleep 1000' >/dev/null 2>&1 &"
                  "while ! [ -s pid ]; do sleep 0.01; done");
    long pid = read_pid("pid");
    leave_folder();
    loop_close(loop);
    CHECK(!is_alive(pid));
}

TEST(children_from_before_are_left_alone)
{
    struct child child;
    pid_t old = fork();
    if (old == 0) {
        pause();
        _exit(0);
    }
    orphan_adopt();
    open_loop();
    SHELL(&child, "true");
    loop_close(loop);
    CHECK_INT(waitpid(old, NULL, WNOHANG), 0);
    kill(old, SIGKILL);
    CHECK_INT(waitpid(old, NULL, 0), old);
}

/* Others may wait for all their children: the guard is none of those, and a status that somebody
   took is not made up. */
TEST(a_wait_for_anything_is_not_disturbed)
{
    struct child child;
    open_loop();
    SHELL(&child, "true");
    CHECK(waitpid(-1, NULL, 0) < 0 && errno == ECHILD);
    start_shell(&child, "exit 5", (struct process_spec){ .grace_ms = -1 });
    CHECK(waitpid(-1, NULL, 0) > 0);
    finish(&child);
    CHECK_INT(child.status, -1);
    CHECK_INT(child.signal, 0);
    loop_close(loop);
}

TEST(closing_the_loop_ends_everything_first)
{
    struct child children[5];
    long pids[5];
    char text[200], name[20];
    open_loop();
    own_folder();
    for (int i = 0; i < 5; i++) {
        snprintf(text, sizeof text, "sleep 1000 & echo $! >pid%d; wait", i);
        start_shell(&children[i], text, (struct process_spec){ .grace_ms = -1 });
    }
    for (int i = 0; i < 5; i++) {
        snprintf(name, sizeof name, "pid%d", i);
        pids[i] = read_pid(name);
    }
    CHECK_UINT(process_count(loop), 5);
    loop_close(loop);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(children[i].ended, 1);
        CHECK(!is_alive(pids[i]));
    }
    leave_folder();
}

/* We are killed without warning: leader, group and those who left it end all the same. */
static void die_with_children(bool adopt)
{
    struct child child;
    own_folder();
    pid_t us = fork();
    if (us == 0) {
        if (adopt)
            orphan_adopt();
        open_loop();
        auto_buf struct buf path = { 0 };
        rondo_error err;
        setenv("TMPDIR", getcwd((char[200]){ 0 }, 200), 1);
        CHECK(process_path(loop, "file", &path, &err) == 0);
        write_file(buf_text(&path), "x", 0600);
        start_shell(&child, "setsid sh -c 'echo $$ >far; exec sleep 1000' & sleep 1000 & echo $! >near;"
                            "echo $$ >leader; wait", (struct process_spec){ .grace_ms = -1 });
        for (;;)
            loop_wait(loop, INT64_MAX);
    }
    long far = read_pid("far"), near = read_pid("near"), leader = read_pid("leader");
    CHECK(is_alive(far) && is_alive(near) && is_alive(leader));
    kill(us, SIGKILL);
    CHECK_INT(waitpid(us, NULL, 0), us);
    CHECK(is_gone_soon(leader) && is_gone_soon(near) && is_gone_soon(far));
    for (int i = 0; i < 1000 && system("ls -d rondo-* >/dev/null 2>&1") == 0; i++)
        nap(5);
    CHECK(system("ls -d rondo-* >/dev/null 2>&1") != 0); // files that were shared are gone
    leave_folder();
}

TEST(children_do_not_survive_our_death)
{
    die_with_children(false);
}

TEST(adopted_children_do_not_survive_our_death)
{
    die_with_children(true);
}

/* ---- many -------------------------------------------------------------------------------------------------------- */

static void a_hundred_at_once(void)
{
    static struct child children[100];
    char text[100], wanted[20];
    open_loop();
    for (int i = 0; i < 100; i++) {
        snprintf(text, sizeof text, "cat; sleep 0.0%d; echo %d; exit %d", i % 10, i, i);
        start_shell(&children[i], text,
                    (struct process_spec){ .grace_ms = -1, .input = "in\n", .input_len = 3 });
    }
    for (int i = 0; i < 100; i++) {
        finish(&children[i]);
        snprintf(wanted, sizeof wanted, "in\n%d\n", i);
        CHECK_STR(children[i].output, wanted);
        CHECK_INT(children[i].status, i);
    }
    CHECK_UINT(process_count(loop), 0);
    loop_close(loop);
}

TEST(a_hundred_children_at_once)
{
    a_hundred_at_once();
}

TEST(a_hundred_adopting_children_at_once)
{
    orphan_adopt();
    a_hundred_at_once();
}

/* A child that ends may be followed by another from within the callback. */
static void start_next(struct process *process, void *user)
{
    int *left = user;
    rondo_error err;
    const char *const argv[] = { "true", NULL };
    if (--*left > 0)
        CHECK(process_start(loop, &(struct process_spec){ .argv = argv, .env = plain_env,
                                                          .on_end = start_next, .user = left },
                            &process, &err) == 0);
}

TEST(the_end_of_one_may_start_the_next)
{
    struct process *process;
    rondo_error err;
    int left = 50;
    const char *const argv[] = { "true", NULL };
    open_loop();
    CHECK(process_start(loop, &(struct process_spec){ .argv = argv, .env = plain_env,
                                                      .on_end = start_next, .user = &left },
                        &process, &err) == 0);
    while (left)
        loop_wait(loop, INT64_MAX);
    loop_close(loop);
}

TEST(a_loop_without_children_closes)
{
    open_loop();
    process_kill_all(loop);
    CHECK_UINT(process_count(loop), 0);
    loop_close(loop);
}
