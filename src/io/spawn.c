/* spawn.c - starting a program: clone and exec.

   The child borrows our memory until it has become another program, as with vfork(): nothing is
   copied, and it can leave word of what went wrong in a variable of ours, while we are stopped.  For
   that it must touch nothing else and call nothing but the system.  Our signals are blocked
   meanwhile, so that no handler of ours runs inside of it.

   The child makes a group of its own.  A signal to our group that comes before that waits in the child as well:
   it was for us, and the child drops it. */
#define _GNU_SOURCE // clone
#include "io/spawn.h"

#include "base/mem.h"
#include "io/bubble.h"
#include "io/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define STACK_SIZE 32768
#define SEARCH     "/usr/local/bin:/usr/bin:/bin"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD 0x00001000
#endif

/* The child writes what it was doing, and with what outcome. */
enum stage { IN_FOLDER = 1, IN_SANDBOX, IN_EXEC };

struct birth {
    const struct spawn *spawn;
    const char *path;        // what is executed: the command, or what confines it
    const char *const *argv;
    int fate; // to be written to; -1: none
    pid_t parent;
    volatile int failed; // enum stage, or 0
    volatile int error;
};

/* ---- the child ----------------------------------------------------------------------------------- */

#define CHILD __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

static CHILD void reset_signals(void)
{
    struct sigaction plain = { .sa_handler = SIG_DFL };
    sigset_t none;
    for (int i = 1; i < NSIG; i++)
        sigaction(i, &plain, NULL);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A group of its own, so that a Ctrl-C is ours to deal with, and no terminal, so that nobody stops to
   ask for a password.  Not a session of its own: the scheduler takes that for somebody else's work, and
   on a busy machine lets it wait. */
static CHILD void leave_terminal(void)
{
    sigset_t all;
    setpgid(0, 0);
    sigfillset(&all);
    while (sigtimedwait(&all, NULL, &(struct timespec){ 0 }) > 0)
        ; // drops what was sent to our group
    int tty = open("/dev/tty", O_RDWR | O_NOCTTY);
    if (tty >= 0)
        ioctl(tty, TIOCNOTTY);
}

static CHILD void give_up(struct birth *birth, enum stage stage, int error)
{
    birth->error = error;
    birth->failed = stage;
    syscall(SYS_exit_group, 127);
}

static CHILD int be_child(void *at)
{
    struct birth *birth = at;
    const struct spawn *spawn = birth->spawn;
    leave_terminal();
    for (int i = 0; i < 3; i++)
        dup2(spawn->files[i], i);
    if (spawn->cwd && chdir(spawn->cwd) < 0)
        give_up(birth, IN_FOLDER, errno);
    guard_mark(spawn->mark);
    int error = spawn->sandbox ? sandbox_enter(spawn->sandbox, birth->fate) : 0;
    if (error)
        give_up(birth, IN_SANDBOX, error);
    if (spawn->dies_with_us)
        prctl(PR_SET_PDEATHSIG, SIGKILL); // a new user namespace forgets it
    syscall(SYS_close_range, birth->fate < 0 ? 3u : (unsigned)BUBBLE_END, ~0u, 0u);
    reset_signals();
    if (birth->fate >= 0)
        signal(SIGTERM, SIG_IGN); // is for the command, and bwrap would not wait for what it does then
    if (!spawn->dies_with_us || getppid() == birth->parent)
        execve(birth->path, (char *const *)birth->argv, (char *const *)spawn->env);
    give_up(birth, IN_EXEC, errno);
    return 0;
}

/* ---- us -------------------------------------------------------------------------------------------- */

static int fail_folder(const struct spawn *spawn, int error, rondo_error *err)
{
    return err_set(err, RONDO_EFAILED, "command '%s' cannot run in folder '%s': %s", spawn->name,
                   spawn->cwd, strerror(error));
}

static int fail_exec(const struct spawn *spawn, int error, rondo_error *err)
{
    struct stat st;
    const char *why = strerror(error);
    if (error == E2BIG)
        why = "its arguments and environment are too large";
    else if (error == ENOENT && stat(spawn->path, &st) == 0)
        why = "the interpreter in its first line is not there";
    else if (error == ENOEXEC)
        why = "it is neither a program nor a script that begins with #!";
    return err_set(err, RONDO_EFAILED, "command '%s' cannot be executed: %s", spawn->name, why);
}

static int fail_sandbox(const struct spawn *spawn, int error, rondo_error *err)
{
    return err_set(err, RONDO_EFAILED, "command '%s' cannot be confined: %s", spawn->name, strerror(error));
}

static int (*const fail_at[])(const struct spawn *spawn, int error, rondo_error *err) = {
    [IN_FOLDER] = fail_folder,
    [IN_SANDBOX] = fail_sandbox,
    [IN_EXEC] = fail_exec,
};

/* Errors are those of the child, or in *ret_error when there is none. */
static bool bear(struct birth *birth, struct spawned *ret, int *ret_error)
{
    _Alignas(16) char stack[STACK_SIZE];
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    ret->pid = clone(be_child, stack + sizeof stack, CLONE_VM | CLONE_VFORK | CLONE_PIDFD | SIGCHLD, birth, &ret->exit);
    *ret_error = errno;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return ret->pid > 0 && !birth->failed;
}

static int explain_birth(const struct birth *birth, const struct spawned *child, int error, rondo_error *err)
{
    if (child->pid < 0)
        return err_set(err, RONDO_ERETRY, "command '%s' cannot be started: %s", birth->spawn->name, strerror(error));
    waitpid(child->pid, NULL, 0);
    close(child->exit);
    return fail_at[birth->failed](birth->spawn, birth->error, err);
}

int spawn_start(const struct spawn *spawn, struct spawned *ret, rondo_error *err)
{
    auto_free const char **wrapped = sandbox_argv(spawn->sandbox, spawn->path, spawn->argv);
    struct birth birth = { .spawn = spawn, .parent = getpid(), .path = wrapped ? wrapped[0] : spawn->path,
                           .argv = wrapped ? wrapped : spawn->argv, .fate = -1 };
    struct spawned child = { .exit = -1, .fate = -1 };
    int fate[2] = { -1, -1 }, error;
    if (wrapped && pipe2(fate, O_CLOEXEC | O_NONBLOCK) < 0)
        return err_set(err, RONDO_ERETRY, "command '%s' cannot be started: %s", spawn->name, strerror(errno));
    birth.fate = fate[1];
    child.fate = fate[0];
    bool lives = bear(&birth, &child, &error);
    if (fate[1] >= 0)
        close(fate[1]);
    if (lives) {
        *ret = child;
        return 0;
    }
    if (fate[0] >= 0)
        close(fate[0]);
    return explain_birth(&birth, &child, error, err);
}

bool spawn_fate(int fate, int *ret_status)
{
    int status;
    if (fate < 0 || read(fate, &status, sizeof status) != sizeof status)
        return false;
    *ret_status = status;
    return true;
}

/* ---- finding -------------------------------------------------------------------------------------------- */

/* 0 when out is a file that can be executed, else the reason: ENOEXEC when it only lacks permission. */
static int look_at(struct buf *out)
{
    struct stat st;
    if (stat(buf_text(out), &st) < 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return access(out->data, X_OK) == 0 ? 0 : errno == EACCES ? ENOEXEC : errno;
}

static void put_path(struct buf *out, const char *cwd, const char *folder, size_t len, const char *name)
{
    buf_clear(out);
    if (cwd && (len ? *folder : *name) != '/')
        buf_printf(out, "%s/", cwd);
    if (len)
        buf_printf(out, "%.*s/", (int)len, folder);
    buf_puts(out, name);
}

static int explain(const char *name, int why, rondo_error *err)
{
    if (why == ENOENT || why == ENOTDIR)
        return err_set(err, RONDO_ENOTFOUND, "command '%s' not found", name);
    if (why == EISDIR)
        return err_set(err, RONDO_EFAILED, "command '%s' is a folder", name);
    if (why == ENOEXEC)
        return err_set(err, RONDO_EFAILED, "command '%s' is not executable", name);
    return err_set(err, RONDO_EFAILED, "command '%s' cannot be executed: %s", name, strerror(why));
}

int spawn_find(const char *name, const char *search, const char *cwd, struct buf *out, rondo_error *err)
{
    int why = ENOENT;
    if (!*name)
        return err_set(err, RONDO_EINVAL, "the command has no name");
    if (strchr(name, '/')) {
        put_path(out, cwd, "", 0, name);
        why = look_at(out);
        return why ? explain(name, why, err) : 0;
    }
    for (const char *at = search ? search : SEARCH, *end; at; at = *end ? end + 1 : NULL) {
        end = strchrnul(at, ':');
        put_path(out, cwd, at, (size_t)(end - at), name);
        int bad = look_at(out);
        if (!bad)
            return 0;
        if (bad == ENOEXEC)
            why = bad; // there is one, but it may not be used
    }
    return explain(name, why, err);
}
