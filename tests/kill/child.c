/* child.c - processes that the harness starts, kills and outlives.

   The harness is the reaper of everything below it.  So it can tell when a killed program and all that the program
   had started are gone, which is when the next one may begin, and it notices who does not go. */
#define _GNU_SOURCE
#include "kill/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ENV_MAX    256
#define SURVIVE_MS 20000 // longer than any guard needs, shorter than what is left to sleep for good

extern char **environ;

bool child_has_company;

static struct buf preload, at, how;
static double started_ms;

void child_give_up(const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    fputs("kills: ", stderr);
    vfprintf(stderr, fmt, args);
    fputc('\n', stderr);
    va_end(args);
    exit(2);
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void pause_us(long us)
{
    struct timespec left = { us / 1000000, us % 1000000 * 1000 };
    while (nanosleep(&left, &left) < 0 && errno == EINTR)
        continue;
}

void child_prepare(const char *killer)
{
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0)
        child_give_up("cannot be a reaper: %s", strerror(errno));
    buf_printf(&preload, "LD_PRELOAD=%s", killer);
}

/* Everything that this process has, and how to die. */
static void make_env(char **env, const struct doom *doom)
{
    size_t n = 0;
    for (char **e = environ; *e && n < ENV_MAX - 4; e++)
        env[n++] = *e;
    if (doom && doom->at) {
        buf_clear(&at);
        buf_clear(&how);
        buf_printf(&at, "RONDO_KILL_AT=%ld", doom->at);
        buf_printf(&how, "RONDO_KILL_HOW=%s", doom->how);
        env[n++] = (char *)buf_text(&at);
        env[n++] = (char *)buf_text(&how);
    }
    if ((doom && doom->at) || getenv("RONDO_KILL_COUNT"))
        env[n++] = (char *)buf_text(&preload);
    env[n] = NULL;
}

pid_t child_start(const char *const argv[], const struct doom *doom, const char *out, const char *err)
{
    char *env[ENV_MAX];
    posix_spawn_file_actions_t files;
    pid_t pid;
    make_env(env, doom);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, 1, out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&files, 2, err, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    started_ms = now_ms();
    int rc = posix_spawn(&pid, argv[0], &files, NULL, (char *const *)argv, env);
    posix_spawn_file_actions_destroy(&files);
    if (rc)
        child_give_up("%s: %s", argv[0], strerror(rc));
    return pid;
}

static void put_stamp(char stamp[STAMP_SIZE])
{
    struct timespec now;
    struct tm tm;
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    size_t len = strftime(stamp, STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &tm);
    snprintf(stamp + len, STAMP_SIZE - len, ".%09ldZ", now.tv_nsec % 1000000000);
}

static struct child_end end_of(int status)
{
    struct child_end end = { .ms = now_ms() - started_ms };
    end.killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    end.code = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    put_stamp(end.stamp);
    return end;
}

static pid_t wait_for(pid_t pid, int *ret_status)
{
    while ((pid = waitpid(pid, ret_status, 0)) < 0)
        if (errno != EINTR)
            child_give_up("waitpid: %s", strerror(errno));
    return pid;
}

struct child_end child_wait(pid_t pid)
{
    int status;
    wait_for(pid, &status);
    return end_of(status);
}

struct child_end child_wait_any(const pid_t *pids, int count)
{
    for (;;) {
        int status;
        pid_t pid = wait_for(-1, &status);
        for (int i = 0; i < count; i++)
            if (pids[i] == pid)
                return end_of(status);
    }
}

void child_wait_for_rest(void)
{
    double since_ms = now_ms();
    for (;;) {
        pid_t pid = waitpid(-1, NULL, WNOHANG);
        if (pid < 0 && errno == ECHILD)
            return;
        if (pid == 0 && now_ms() - since_ms > SURVIVE_MS)
            child_give_up("FAIL a process that the program had started survives it");
        if (pid == 0)
            pause_us(200);
    }
}

struct child_end child_run(const char *const argv[], const struct doom *doom, const char *out, const char *err)
{
    pid_t pid = child_start(argv, doom, out, err);
    if (doom && doom->after_us) {
        pause_us(doom->after_us);
        kill(pid, SIGKILL);
    }
    struct child_end end = child_wait(pid);
    if (!child_has_company)
        child_wait_for_rest();
    return end;
}

bool child_read(const char *path, struct buf *ret)
{
    char part[65536];
    buf_clear(ret);
    FILE *in = fopen(path, "r");
    if (!in)
        return false;
    for (size_t n; (n = fread(part, 1, sizeof part, in)) > 0;)
        buf_put(ret, part, n);
    fclose(in);
    return true;
}
