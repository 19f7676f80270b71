/* test.c - runs the tests of one program.

   Usage: test_x [--list] [--no-fork] [PART]...

   Runs the tests whose name contains one of the parts, or all.  Each is forked into its own
   process group with its output in a temporary file, which is shown only if it fails.  The
   last line is the sum.  With --no-fork tests run in this process, and the first check that
   does not hold aborts it, which is where a debugger wants to be. */

#include "test.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HANG_S 600
#else
#define HANG_S 300   // only ends what hangs; no test is meant to come near it
#endif

enum { EXIT_FAIL = 101, EXIT_SKIP = 102 };   // a sanitizer's or the tested code's are others

static struct test *first, **last = &first;
static bool in_this_process;
static jmp_buf skipped_here;

void test_add(struct test *t)
{
    *last = t;
    last = &t->next;
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    fflush(NULL);
    if (in_this_process)
        abort();
    _exit(EXIT_FAIL);
}

void test_skip(const char *file, int line, const char *why)
{
    fprintf(stderr, "%s:%d: %s\n", file, line, why);
    fflush(NULL);
    if (in_this_process)
        longjmp(skipped_here, 1);
    _exit(EXIT_SKIP);
}

void test_int(const char *file, int line, const char *text, intmax_t is, intmax_t want)
{
    if (is != want)
        test_fail(file, line, "%s is %jd, expected %jd", text, is, want);
}

void test_uint(const char *file, int line, const char *text, uintmax_t is, uintmax_t want)
{
    if (is != want)
        test_fail(file, line, "%s is %ju, expected %ju", text, is, want);
}

void test_str(const char *file, int line, const char *text, const char *is, const char *want)
{
    if (is == want || (is && want && strcmp(is, want) == 0))
        return;
    const char *q = is ? "\"" : "", *p = want ? "\"" : "";
    test_fail(file, line, "%s is\n  %s%s%s, expected\n  %s%s%s", text, q, is ? is : "NULL", q,
              p, want ? want : "NULL", p);
}

void test_ptr(const char *file, int line, const char *text, const void *is, const void *want)
{
    if (is != want)
        test_fail(file, line, "%s is %p, expected %p", text, is, want);
}

void test_mem(const char *file, int line, const char *text, const void *is, const void *want,
              size_t len)
{
    const unsigned char *a = is, *b = want;
    for (size_t i = 0; i < len; i++)
        if (a[i] != b[i])
            test_fail(file, line, "%s: byte %zu of %zu is 0x%02x, expected 0x%02x", text, i,
                      len, a[i], b[i]);
}

void test_near(const char *file, int line, const char *text, double is, double want, double off)
{
    if (!(fabs(is - want) <= off))
        test_fail(file, line, "%s is %.17g, expected %.17g within %g", text, is, want, off);
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Waits for the child, at most HANG_S.  SIGCHLD is blocked, so that it cannot slip by
   between asking and sleeping.  Returns false if the child had to be killed. */
static bool child_wait(pid_t pid, int *status)
{
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    double end = now_s() + HANG_S;
    while (waitpid(pid, status, WNOHANG) == 0) {
        double left = end - now_s();
        if (left <= 0) {
            kill(-pid, SIGKILL);
            waitpid(pid, status, 0);
            return false;
        }
        sigtimedwait(&chld, NULL, &(struct timespec){ (time_t)left + 1, 0 });
    }
    kill(-pid, SIGKILL);   // whatever the test left running
    return true;
}

static void child_run(const struct test *t, int out)
{
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    close(out);
    signal(SIGINT, SIG_DFL);   // a shell's background jobs come with these ignored
    signal(SIGQUIT, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    t->run();
    exit(0);   // not _exit: the leak checker runs at exit
}

static int run_forked(const struct test *t)
{
    FILE *out = tmpfile();
    if (!out) {
        perror("tmpfile");
        exit(2);
    }
    fflush(NULL);
    pid_t pid = fork();
    if (pid < 0) {
        perror("fork");
        exit(2);
    }
    if (pid == 0)
        child_run(t, fileno(out));
    setpgid(pid, pid);

    int status = 0;
    bool ended = child_wait(pid, &status);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    if (code != 0) {
        printf("%s %s\n", code == EXIT_SKIP ? "skip" : "FAIL", t->name);
        rewind(out);
        char buf[4096];
        for (size_t n; (n = fread(buf, 1, sizeof buf, out)) > 0;)
            fwrite(buf, 1, n, stdout);
        if (!ended)
            printf("%s: killed: still running after %d s\n", t->file, HANG_S);
        else if (code < 0)
            printf("%s: died: %s\n", t->file, strsignal(WTERMSIG(status)));
        else if (code != EXIT_FAIL && code != EXIT_SKIP)
            printf("%s: exit status %d\n", t->file, code);
    }
    fclose(out);
    return code;
}

static int run_here(const struct test *t)
{
    printf("%s\n", t->name);
    if (setjmp(skipped_here))
        return EXIT_SKIP;
    t->run();
    return 0;
}

static bool wanted(const struct test *t, char **parts)
{
    if (!*parts)
        return true;
    for (; *parts; parts++)
        if (strstr(t->name, *parts))
            return true;
    return false;
}

int main(int argc, char **argv)
{
    bool list = false;
    char **parts = argv + 1;
    for (; *parts && strncmp(*parts, "--", 2) == 0; parts++) {
        if (strcmp(*parts, "--list") == 0) {
            list = true;
        } else if (strcmp(*parts, "--no-fork") == 0) {
            in_this_process = true;
        } else {
            fprintf(stderr, "usage: %s [--list] [--no-fork] [PART]...\n", argv[0]);
            return 2;
        }
    }
    sigset_t chld;
    sigemptyset(&chld);
    sigaddset(&chld, SIGCHLD);
    if (!in_this_process)
        sigprocmask(SIG_BLOCK, &chld, NULL);

    int passed = 0, failed = 0, skipped = 0;
    for (struct test *t = first; t; t = t->next) {
        if (!wanted(t, parts))
            continue;
        if (list) {
            puts(t->name);
            continue;
        }
        int code = in_this_process ? run_here(t) : run_forked(t);
        ++*(code == 0 ? &passed : code == EXIT_SKIP ? &skipped : &failed);
    }
    if (list)
        return 0;
    printf("%d passed, %d failed", passed, failed);
    if (skipped)
        printf(", %d skipped", skipped);
    putchar('\n');
    return failed > 0;
}
