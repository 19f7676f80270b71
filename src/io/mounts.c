/* mounts.c - see mounts.h.

   A copy of each folder is taken while it can be written to, then all mounts become read-only at once, and the
   copies are put where they were taken.  Protected places in them are covered last. */
#define _GNU_SOURCE // unshare flags
#include "io/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CHILD __attribute__((noinline, no_sanitize("address", "thread", "undefined")))

enum { OPEN_TREE = 428, MOVE_MOUNT = 429, MOUNT_SETATTR = 442 };

#define TREE_COPY      1u
#define WITH_ALL_BELOW 0x8000u // AT_RECURSIVE
#define OF_EMPTY       0x1000u // AT_EMPTY_PATH
#define FROM_EMPTY     4u      // MOVE_MOUNT_F_EMPTY_PATH
#define READ_ONLY      1u      // MOUNT_ATTR_RDONLY
#define PATH_LEN       4096

struct attributes {
    uint64_t set, clear, propagation, users;
};

void mounts_init(struct mounts *mounts)
{
    *mounts = (struct mounts){ 0 };
    snprintf(mounts->users, sizeof mounts->users, "%u %u 1", geteuid(), geteuid());
    snprintf(mounts->groups, sizeof mounts->groups, "%u %u 1", getegid(), getegid());
}

bool mounts_add(struct mounts *mounts, const char *path)
{
    if (mounts->count == MOUNTS_WRITE)
        return false;
    mounts->write[mounts->count++] = path;
    return true;
}

static CHILD int write_text(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    ssize_t n = write(fd, text, strlen(text));
    int error = n < 0 ? errno : 0;
    close(fd);
    return error;
}

/* A new user namespace makes a process unreadable for others, and with it us, whose memory this is. */
static CHILD int enter_users(const struct mounts *mounts)
{
    int dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
        return errno;
    prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0);
    write_text("/proc/self/setgroups", "deny");
    int error = write_text("/proc/self/uid_map", mounts->users);
    return error ? error : write_text("/proc/self/gid_map", mounts->groups);
}

static CHILD int enter_namespace(const struct mounts *mounts, bool *ret_users)
{
    if (unshare(CLONE_NEWNS) == 0)
        return 0;
    int error = enter_users(mounts);
    *ret_users = !error;
    return error;
}

static CHILD int make_read_only(void)
{
    struct attributes attributes = { .set = READ_ONLY };
    return syscall(MOUNT_SETATTR, AT_FDCWD, "/", WITH_ALL_BELOW, &attributes, sizeof attributes) < 0 ? errno : 0;
}

/* Programs in them that are setuid run as the user who starts them. */
static CHILD int copy_folders(const struct mounts *mounts, int copies[MOUNTS_WRITE])
{
    struct attributes attributes = { .set = 2 }; // MOUNT_ATTR_NOSUID
    for (size_t i = 0; i < mounts->count; i++) {
        copies[i] = (int)syscall(OPEN_TREE, AT_FDCWD, mounts->write[i], TREE_COPY | O_CLOEXEC | WITH_ALL_BELOW);
        if (copies[i] < 0 || syscall(MOUNT_SETATTR, copies[i], "", OF_EMPTY | WITH_ALL_BELOW, &attributes,
                                     sizeof attributes) < 0)
            return errno;
    }
    return 0;
}

static CHILD int put_folders(const struct mounts *mounts, const int copies[MOUNTS_WRITE])
{
    for (size_t i = 0; i < mounts->count; i++)
        if (syscall(MOVE_MOUNT, copies[i], "", AT_FDCWD, mounts->write[i], FROM_EMPTY) < 0)
            return errno;
    return 0;
}

/* An empty file covers a file, an empty folder a folder.  A place that only has to stay is mounted on itself. */
static CHILD int cover_place(const struct protected_place *place, const char *empty)
{
    struct attributes attributes = { .set = READ_ONLY };
    bool hides = place->how == PROTECTED_HIDDEN;
    if (hides && place->is_folder)
        return mount("hidden", place->path, "tmpfs", MS_RDONLY | MS_NOSUID | MS_NODEV, "mode=755") < 0 ? errno : 0;
    int copy = (int)syscall(OPEN_TREE, AT_FDCWD, hides ? empty : place->path,
                            TREE_COPY | O_CLOEXEC | (hides ? 0 : WITH_ALL_BELOW));
    if (copy < 0)
        return errno;
    if (place->how != PROTECTED_PLACE &&
        syscall(MOUNT_SETATTR, copy, "", OF_EMPTY | (hides ? 0 : WITH_ALL_BELOW), &attributes, sizeof attributes) < 0)
        return errno;
    return syscall(MOVE_MOUNT, copy, "", AT_FDCWD, place->path, FROM_EMPTY) < 0 ? errno : 0;
}

static CHILD int cover_places(const struct protected *protected)
{
    int error = 0;
    for (uint32_t i = 0; protected && i < protected->count && !error; i++)
        error = cover_place(&protected->list[i], protected->empty);
    return error;
}

/* Memory that processes share by name: many programs want it, and nobody's but their own. */
static CHILD bool make_shared(void)
{
    return mount("shm", MOUNTS_SHARED, "tmpfs", MS_NOSUID | MS_NODEV, "size=256m,mode=1777") == 0;
}

CHILD int mounts_enter(const struct mounts *mounts, struct mounts_view *ret)
{
    int copies[MOUNTS_WRITE];
    char cwd[PATH_LEN];
    ret->users = ret->shared = false;
    int error = enter_namespace(mounts, &ret->users);
    if (!error && (syscall(SYS_getcwd, cwd, sizeof cwd) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0))
        error = errno;
    if (!error)
        error = copy_folders(mounts, copies);
    if (!error)
        error = make_read_only(); // all or none
    if (error)
        return -error;
    if ((error = put_folders(mounts, copies)) || (error = cover_places(mounts->protected)))
        return error;
    ret->shared = make_shared();
    return chdir(cwd) < 0 ? errno : 0; // where we were is below what is there now
}
