/* failer.c - a library to be preloaded: one call to a file of a store fails.

   The program under test is the ordinary one and knows nothing of this.  Calls of one kind (RONDO_FAIL_HOW: full,
   short, sync, open, read) to files of a store are counted; number RONDO_FAIL_AT fails, once, and the file
   RONDO_FAIL_MARK says that it came to that. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

static atomic_long calls;
static long fail_at;
static const char *how, *mark;
static pid_t self;

__attribute__((constructor)) static void prepare(void)
{
    const char *at = getenv("RONDO_FAIL_AT");
    fail_at = at ? atol(at) : 0;
    how = getenv("RONDO_FAIL_HOW");
    mark = getenv("RONDO_FAIL_MARK");
    self = getpid();
}

static bool is_stored(const char *path)
{
    const char *name = strrchr(path, '/');
    return strstr(name ? name : path, ".db") != NULL;
}

static bool is_turn(const char *kind, int error)
{
    if (!how || strcmp(how, kind) != 0 || getpid() != self || atomic_fetch_add(&calls, 1) + 1 != fail_at)
        return false;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, mark, O_WRONLY | O_CREAT, 0600);
    syscall(SYS_close, fd);
    errno = error;
    return true;
}

static bool fails(int fd, const char *kind, int error)
{
    char link[40] = "/proc/self/fd/", digits[12], path[4096];
    int at = 0, n = fd;
    do
        digits[at++] = (char)('0' + n % 10);
    while ((n /= 10));
    for (size_t len = strlen(link); at; len++)
        link[len] = digits[--at];
    ssize_t len = readlink(link, path, sizeof path - 1);
    path[len < 0 ? 0 : len] = '\0';
    return is_stored(path) && is_turn(kind, error);
}

static ssize_t put(int fd, const void *bytes, size_t len, off64_t at)
{
    if (fails(fd, "full", ENOSPC))
        return -1;
    if (fails(fd, "short", 0)) // whoever asks again gets the error
        fail_at = (len /= 2, atomic_load(&calls) + 1);
    return at < 0 ? syscall(SYS_write, fd, bytes, len) : syscall(SYS_pwrite64, fd, bytes, len, at);
}

EXPORT ssize_t write(int fd, const void *bytes, size_t len)
{
    return put(fd, bytes, len, -1);
}

EXPORT ssize_t pwrite(int fd, const void *bytes, size_t len, off_t at)
{
    return put(fd, bytes, len, at);
}

EXPORT ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t at)
{
    return put(fd, bytes, len, at);
}

EXPORT ssize_t pread64(int fd, void *bytes, size_t len, off64_t at)
{
    return fails(fd, "read", EIO) ? -1 : syscall(SYS_pread64, fd, bytes, len, at);
}

EXPORT ssize_t pread(int fd, void *bytes, size_t len, off_t at)
{
    return pread64(fd, bytes, len, at);
}

EXPORT int fdatasync(int fd)
{
    return fails(fd, "sync", EIO) ? -1 : (int)syscall(SYS_fdatasync, fd);
}

EXPORT int fsync(int fd)
{
    return fails(fd, "sync", EIO) ? -1 : (int)syscall(SYS_fsync, fd);
}

static int open_or_fail(const char *path, int flags, int mode)
{
    if (is_stored(path) && is_turn("open", EMFILE))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

EXPORT int open(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    return open_or_fail(path, flags, mode);
}

EXPORT int open64(const char *path, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    int mode = va_arg(args, int);
    va_end(args);
    return open_or_fail(path, flags, mode);
}
