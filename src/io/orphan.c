/* orphan.c - see orphan.h.

   The system tells who our children are, for each of our threads.  Whoever among them was not
   started by us came by adoption. */
#include "io/orphan.h"

#include "base/buf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define INHERITED_MAX 64
#define PIECE         4096

/* Process-wide, because so is adoption. */
static atomic_bool wanted, adopts;
static atomic_int sharers;
static pid_t inherited[INHERITED_MAX]; // children from before we were this program
static size_t inherited_count;

static bool read_file(const char *path, struct buf *out)
{
    ssize_t n = 1;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    while (n > 0) {
        buf_reserve(out, PIECE);
        n = read(fd, out->data + out->len, PIECE);
        out->len += (size_t)MAX(n, 0);
    }
    close(fd);
    return n == 0;
}

/* The children of all threads as "17 18 23 ", NUL-terminated; false when the system does not say. */
static bool read_children(struct buf *out)
{
    char path[64];
    DIR *tasks = opendir("/proc/self/task");
    bool good = tasks != NULL;
    for (struct dirent *task; tasks && (task = readdir(tasks));) {
        if (task->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/children", task->d_name);
        good = read_file(path, out) && good;
    }
    if (tasks)
        closedir(tasks);
    buf_text(out);
    return good;
}

void orphan_adopt(void)
{
    atomic_store(&wanted, true);
}

void orphan_begin(void)
{
    auto_buf struct buf children = { 0 };
    if (!atomic_exchange(&wanted, false))
        return;
    if (prctl(PR_SET_CHILD_SUBREAPER, 1) < 0 || !read_children(&children))
        return;
    for (char *at = children.data; *at && inherited_count < INHERITED_MAX; at += strspn(at, " "))
        inherited[inherited_count++] = (pid_t)strtol(at, &at, 10);
    atomic_store(&adopts, true);
}

bool orphan_is_wanted(void)
{
    return atomic_load(&adopts);
}

void orphan_share(int change)
{
    atomic_fetch_add(&sharers, change);
}

bool orphan_are_ours(void)
{
    return atomic_load(&adopts) && atomic_load(&sharers) == 1;
}

static bool is_inherited(pid_t pid)
{
    for (size_t i = 0; i < inherited_count; i++)
        if (inherited[i] == pid)
            return true;
    return false;
}

void orphan_each(bool (*is_known)(pid_t pid, void *user), void (*visit)(pid_t pid, void *user), void *user)
{
    auto_buf struct buf children = { 0 };
    if (!read_children(&children))
        return;
    for (char *at = children.data; *at; at += strspn(at, " ")) {
        pid_t pid = (pid_t)strtol(at, &at, 10);
        if (pid <= 0 || is_known(pid, user) || is_inherited(pid))
            continue;
        if (waitpid(pid, NULL, WNOHANG) == 0)
            visit(pid, user);
    }
}
