/* killer.c - a library to be preloaded: it kills its process at one of the writes to the store.

   The program under test is the ordinary one and knows nothing of this.  All writes to files of a store, all
   syncs and truncations of them are counted; at number RONDO_KILL_AT the process ends itself with SIGKILL:
   before the call, in the middle of it (half of the bytes are written) or after it, as RONDO_KILL_HOW says.
   With RONDO_KILL_COUNT=FILE the count is written there when the process ends by itself. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))
#define COUNT(list) (sizeof(list) / sizeof *(list))

enum how { BEFORE, HALF, AFTER };

static atomic_long calls;
static long kill_at;
static enum how how;
static pid_t self;

__attribute__((constructor)) static void prepare(void)
{
    const char *at = getenv("RONDO_KILL_AT"), *way = getenv("RONDO_KILL_HOW");
    kill_at = at ? atol(at) : 0;
    how = !way || strcmp(way, "before") == 0 ? BEFORE : strcmp(way, "half") == 0 ? HALF : AFTER;
    self = getpid();
}

/* Children that were forked have copies of all this: only the process itself counts. */
__attribute__((destructor)) static void tell(void)
{
    const char *file = getenv("RONDO_KILL_COUNT");
    FILE *out = file && getpid() == self ? fopen(file, "w") : NULL;
    if (out) {
        fprintf(out, "%ld\n", atomic_load(&calls));
        fclose(out);
    }
}

/* A file of a store; looked up every time, because numbers of files are used again. */
static bool is_stored(int fd)
{
    static const char *const ends[] = { ".db", ".db-wal", ".db-shm", ".db-journal" };
    char link[32], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path);
    for (size_t i = 0; i < COUNT(ends); i++) {
        size_t n = strlen(ends[i]);
        if (len >= (ssize_t)n && memcmp(path + len - n, ends[i], n) == 0)
            return true;
    }
    return false;
}

static void die(void)
{
    kill(getpid(), SIGKILL);
    for (;;)
        pause();
}

/* Is this the call to die at? */
static bool is_last(int fd)
{
    if (!kill_at && !getenv("RONDO_KILL_COUNT"))
        return false;
    return getpid() == self && is_stored(fd) && atomic_fetch_add(&calls, 1) + 1 == kill_at;
}

static ssize_t put(int fd, const void *bytes, size_t len, off64_t at)
{
    return at < 0 ? syscall(SYS_write, fd, bytes, len) : syscall(SYS_pwrite64, fd, bytes, len, at);
}

static ssize_t put_or_die(int fd, const void *bytes, size_t len, off64_t at)
{
    if (!is_last(fd))
        return put(fd, bytes, len, at);
    if (how != BEFORE)
        put(fd, bytes, how == HALF ? len / 2 : len, at);
    die();
    return -1;
}

EXPORT ssize_t write(int fd, const void *bytes, size_t len)
{
    return put_or_die(fd, bytes, len, -1);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    return put_or_die(fd, bytes, len, at);
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
    return put_or_die(fd, bytes, len, at);
}

/* What has no middle happens or does not. */
static int do_or_die(int fd, long number, long arg)
{
    bool last = is_last(fd);
    if (last && how == BEFORE)
        die();
    int rc = (int)syscall(number, fd, arg);
    if (last)
        die();
    return rc;
}

EXPORT int fdatasync(int fd)
{
    return do_or_die(fd, SYS_fdatasync, 0);
}

EXPORT int fsync(int fd)
{
    return do_or_die(fd, SYS_fsync, 0);
}

EXPORT int ftruncate(int fd, off_t len)
{
    return do_or_die(fd, SYS_ftruncate, len);
}

EXPORT int ftruncate64(int fd, off64_t len)
{
    return do_or_die(fd, SYS_ftruncate, len);
}
