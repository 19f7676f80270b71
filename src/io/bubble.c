/* bubble.c - see bubble.h.

   bwrap is taken from the system's folders and from nowhere else, and only when nobody but root can change it.
   It is never run with privileges of its own: a bwrap that needs them is one that does not work here. */
#define _GNU_SOURCE // close_range
#include "io/bubble.h"

#include "base/mem.h"
#include "io/pipes.h"
#include "io/sandbox.h"
#include "io/spawn.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PROGRAM    "/proc/self/fd/4" // BUBBLE_PROGRAM
#define WORD       "--inside-of-bubblewrap"
#define TRY_MS     10000
#define TRY_STATUS 7
#define SAID_MAX   160

static bool offered;

/* ---- the step ----------------------------------------------------------------------------------------------- */

static void reset_signals(void)
{
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        signal(i, SIG_DFL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void be_command(char **argv)
{
    int error = sandbox_step(BUBBLE_RULES);
    syscall(SYS_close_range, (unsigned)BUBBLE_RULES, ~0u, 0u);
    reset_signals();
    if (!error) {
        execv(argv[0], argv + 1);
        error = errno;
    }
    dprintf(STDERR_FILENO, "rondo: %s: %s\n", argv[1], strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

/* The first process of a namespace buries everybody, and takes all others with it when it ends. */
static void be_step(char **argv)
{
    int status = 0;
    prctl(PR_SET_DUMPABLE, 0);
    pid_t pid = fork(), ended;
    if (pid == 0)
        be_command(argv);
    for (int fd = 0; fd < BUBBLE_FATE; fd++)
        close(fd);
    do
        ended = wait(&status);
    while (pid > 0 && ended != pid && (ended > 0 || errno == EINTR));
    if (pid < 0 || ended != pid || write(BUBBLE_FATE, &status, sizeof status) != sizeof status)
        _exit(125);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
}

void bubble_offer(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[0], PROGRAM) && !strcmp(argv[1], WORD))
        be_step(argv + 2);
    offered = true;
}

/* ---- arguments ---------------------------------------------------------------------------------------------- */

/* No session of its own: see spawn.c.  The terminal was left before, and cannot be typed into. */
static const char *const options[] = {
    "--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--as-pid-1",
    "--die-with-parent", "--cap-drop", "ALL", "--seccomp", "5", "--ro-bind", "/", "/", "--proc", "/proc", "--dev",
    "/dev", "--size", "268435456", "--tmpfs", MOUNTS_SHARED,
};

#define OTHERS 8 // bwrap, --unshare-net, --, the step's four, NULL

static size_t put_words(const char **list, size_t n, const char *option, const char *from, const char *to)
{
    list[n++] = option;
    if (from)
        list[n++] = from;
    list[n++] = to;
    return n;
}

/* As mounts.c does it. */
static size_t put_place(const char **list, size_t n, const struct protected_place *place, const char *empty)
{
    if (place->how == PROTECTED_PLACE)
        return put_words(list, n, "--bind", place->path, place->path);
    if (place->how == PROTECTED_READ_ONLY)
        return put_words(list, n, "--ro-bind", place->path, place->path);
    if (!place->is_folder)
        return put_words(list, n, "--ro-bind", empty, place->path);
    n = put_words(list, n, "--tmpfs", NULL, place->path);
    return put_words(list, n, "--remount-ro", NULL, place->path);
}

#define PLACE_WORDS 4

const char **bubble_argv(const char *bwrap, const struct mounts *mounts, bool network, const char *path,
                         const char *const *argv)
{
    size_t count = 0, n = 0, places = mounts->protected ? mounts->protected->count : 0;
    while (argv[count])
        count++;
    const char **list =
        mem_alloc((COUNT(options) + 3 * mounts->count + PLACE_WORDS * places + count + OTHERS) * sizeof *list);
    list[n++] = bwrap;
    for (size_t i = 0; i < COUNT(options); i++)
        list[n++] = options[i];
    if (!network)
        list[n++] = "--unshare-net";
    for (size_t i = 0; i < mounts->count; i++)
        n = put_words(list, n, "--bind", mounts->write[i], mounts->write[i]);
    for (size_t i = 0; i < places; i++)
        n = put_place(list, n, &mounts->protected->list[i], mounts->protected->empty);
    list[n++] = "--";
    list[n++] = PROGRAM;
    list[n++] = WORD;
    list[n++] = path;
    memcpy(list + n, argv, (count + 1) * sizeof *list);
    return list;
}

/* ---- trying ------------------------------------------------------------------------------------------------- */

/* What it said, on one line. */
static int blame(const char *bwrap, int fd, rondo_error *err)
{
    char said[SAID_MAX];
    ssize_t len = read(fd, said, sizeof said - 1);
    said[len > 0 ? len : 0] = '\0';
    said[strcspn(said, "\r\n\033")] = '\0';
    return err_set(err, RONDO_EFAILED, "'%s' does not work here%s%s", bwrap, *said ? ": " : "", said);
}

/* The whole way, with a command of which we know how it ends. */
static int try_in(const char *bwrap, const struct sandbox *sandbox, struct pipes *pipes, rondo_error *err)
{
    static const char *const argv[] = { "/bin/sh", "-c", "exit 7", NULL }, *const env[] = { NULL };
    struct spawn spawn = { .path = argv[0], .name = bwrap, .argv = argv, .env = env, .cwd = "/", .sandbox = sandbox };
    struct spawned child;
    int status = 0;
    memcpy(spawn.files, pipes->theirs, sizeof spawn.files);
    if (spawn_start(&spawn, &child, err) < 0)
        return err->code;
    struct pollfd ended = { .fd = child.exit, .events = POLLIN };
    while (poll(&ended, 1, TRY_MS) < 0 && errno == EINTR)
        ;
    if (!ended.revents)
        kill(child.pid, SIGKILL);
    while (waitpid(child.pid, &status, 0) < 0 && errno == EINTR)
        ;
    bool works = WIFEXITED(status) && WEXITSTATUS(status) == TRY_STATUS && spawn_fate(child.fate, &status) &&
                 WIFEXITED(status) && WEXITSTATUS(status) == TRY_STATUS;
    close(child.exit);
    close(child.fate);
    return works ? 0 : blame(bwrap, pipes->ours[2], err);
}

int bubble_try(const char *bwrap, rondo_error *err)
{
    struct sandbox *sandbox = NULL;
    struct pipes pipes;
    if (!offered)
        return err_set(err, RONDO_ESTATE, "this program cannot be started again");
    if (sandbox_open(&(struct sandbox_spec){ .strict = true, .bwrap = bwrap }, &sandbox, err) < 0)
        return err->code;
    int rc = pipes_open(&pipes, err);
    if (rc == 0) {
        rc = try_in(bwrap, sandbox, &pipes, err);
        pipes_close(&pipes);
    }
    sandbox_close(sandbox);
    return rc;
}

/* ---- finding ------------------------------------------------------------------------------------------------ */

static const char *const places[] = { "/usr/bin/bwrap", "/usr/local/bin/bwrap" };

/* What was found; under the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool looked;
static const char *only, *found;
static rondo_error reason;

static bool is_trusted(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == 0 && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

static void look(void)
{
    err_set(&reason, RONDO_ENOTFOUND, "bubblewrap is not installed");
    for (size_t i = 0; i < COUNT(places) && !found; i++)
        if (!only && is_trusted(places[i]) && bubble_try(places[i], &reason) == 0)
            found = places[i];
    if (only && bubble_try(only, &reason) == 0)
        found = only;
}

const char *bubble_find(rondo_error *err)
{
    pthread_mutex_lock(&lock);
    if (!looked)
        look();
    looked = true;
    if (!found)
        *err = reason;
    pthread_mutex_unlock(&lock);
    return found;
}

void bubble_look_at(const char *bwrap)
{
    only = bwrap;
    found = NULL;
    looked = false;
}
