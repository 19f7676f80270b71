/* remove.c - see remove.h.  Nothing but system calls, because the guard (guard.c) uses it, too. */
#define _GNU_SOURCE // O_PATH, dirent64
#include "io/remove.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH_MAX 64 // folders in folders

/* "/proc/self/fd/N": chmod() of a descriptor that was opened for nothing else. */
static void make_ours(long fd)
{
    char path[32] = "/proc/self/fd/", digits[20];
    size_t at = sizeof "/proc/self/fd/" - 1, count = 0;
    do
        digits[count++] = (char)('0' + fd % 10);
    while (fd /= 10);
    while (count)
        path[at++] = digits[--count];
    syscall(SYS_fchmodat, AT_FDCWD, path, 0700);
}

/* A command may have taken all permissions from the folder, even for reading. */
static long open_folder(long parent, const char *name)
{
    long fd = syscall(SYS_openat, parent, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    make_ours(fd);
    long opened = syscall(SYS_openat, fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    syscall(SYS_close, fd);
    return opened;
}

static bool remove_in(long parent, const char *name, int depth);

/* What is in a folder.  Removing may disturb the listing, so it is read until nothing more goes. */
static void empty_folder(long fd, int depth)
{
    _Alignas(8) char list[1024];
    for (bool again = true; again;) {
        again = false;
        syscall(SYS_lseek, fd, 0, SEEK_SET);
        for (long len; (len = syscall(SYS_getdents64, fd, list, sizeof list)) > 0;) {
            for (long at = 0; at < len;) {
                const struct dirent64 *entry = (const void *)(list + at);
                again = remove_in(fd, entry->d_name, depth) || again;
                at += entry->d_reclen;
            }
        }
    }
}

/* Did it go?  Links are removed, not followed. */
static bool remove_in(long parent, const char *name, int depth)
{
    if (name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2])))
        return false;
    if (syscall(SYS_unlinkat, parent, name, 0) == 0 || syscall(SYS_unlinkat, parent, name, AT_REMOVEDIR) == 0)
        return true;
    long fd = depth < DEPTH_MAX ? open_folder(parent, name) : -1;
    if (fd < 0)
        return false;
    empty_folder(fd, depth + 1);
    syscall(SYS_close, fd);
    return syscall(SYS_unlinkat, parent, name, AT_REMOVEDIR) == 0;
}

void remove_folder(const char *path)
{
    remove_in(AT_FDCWD, path, 0);
}
