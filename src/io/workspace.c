/* workspace.c - see workspace.h.

   Everything begins with resolve(): a descriptor of what a path means below a root.  openat2() does that;
   the walk does the same by hand: it holds every folder on its way open, so that `..` goes back to where it
   came from and not to wherever that folder is by now, and reads links itself.

   No file is opened for reading before find_protection() has seen where it is.  Opening and closing a store would
   release the locks that this process has on it.

   A file is written beside its place and renamed onto it, in a folder that is held open: links that appear
   meanwhile are replaced, not followed. */
#define _GNU_SOURCE // O_PATH
#include "io/workspace.h"

#include "io/file.h"
#include "io/protected.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TRIES     64  // somebody renames folders while we resolve
#define LINKS_MAX 40  // in one path
#define DEPTH_MAX 256 // folders held open by the walk

enum { OPENAT2 = 437 };

struct open_how {
    uint64_t flags, mode, resolve;
};

#define NO_MAGICLINKS 0x02
#define BENEATH       0x08

struct root {
    int fd;
    bool writable;
    char *given, *real; // absolute; links resolved
};

struct workspace {
    struct root *roots; // the first is the folder
    uint32_t count, cap;
    bool walks;
    const struct protected_stores *stores; // borrowed; NULL
};

/* Beside the system's errors: the path leads to something that is protected. */
enum { IS_HIDDEN = 1 << 20, IS_READ_ONLY };

/* ---- walking ------------------------------------------------------------------------------------------ */

struct walk {
    int fds[DEPTH_MAX]; // the first is the root's
    int depth, links;
    char path[2 * WORKSPACE_PATH_MAX]; // what is still to go
};

/* The next name of the path, which loses it. */
static bool take_name(struct walk *walk, char name[NAME_MAX + 2])
{
    size_t skip = strspn(walk->path, "/"), len = strcspn(walk->path + skip, "/");
    size_t kept = MIN(len, NAME_MAX + 1);
    memcpy(name, walk->path + skip, kept);
    name[kept] = '\0';
    memmove(walk->path, walk->path + skip + len, strlen(walk->path + skip + len) + 1);
    return len > 0;
}

/* A link's text goes before the rest of the path. */
static int follow(struct walk *walk, const char *name)
{
    char target[WORKSPACE_PATH_MAX];
    ssize_t len = readlinkat(walk->fds[walk->depth], name, target, sizeof target);
    size_t rest = strlen(walk->path);
    if (len < 0)
        return -errno;
    if (!len || target[0] == '/')
        return -EXDEV;
    if (++walk->links > LINKS_MAX)
        return -ELOOP;
    if ((size_t)len + rest >= sizeof walk->path)
        return -ENAMETOOLONG;
    memmove(walk->path + len, walk->path, rest + 1); // which begins with a slash, if there is any
    memcpy(walk->path, target, (size_t)len);
    return 0;
}

static bool is_last(const struct walk *walk)
{
    return !walk->path[strspn(walk->path, "/")];
}

static int climb(struct walk *walk)
{
    if (!walk->depth)
        return -EXDEV;
    close(walk->fds[walk->depth--]);
    return 0;
}

/* One folder further in; or a link is followed. */
static int descend(struct walk *walk, const char *name)
{
    if (strlen(name) > NAME_MAX || walk->depth + 1 >= DEPTH_MAX)
        return -ENAMETOOLONG;
    int fd = openat(walk->fds[walk->depth], name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) {
        int error = errno;
        int rc = error == ENOTDIR || error == ELOOP ? follow(walk, name) : -error;
        return rc == -EINVAL ? -ENOTDIR : rc; // it is no link
    }
    walk->fds[++walk->depth] = fd;
    return 0;
}

/* The last name of the path, with flags; -EAGAIN when it was a link and there is more to walk. */
static int arrive(struct walk *walk, const char *name, int flags)
{
    struct stat st;
    int here = walk->fds[walk->depth];
    if (strlen(name) > NAME_MAX)
        return -ENAMETOOLONG;
    if (fstatat(here, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
        return -errno;
    if (S_ISLNK(st.st_mode)) {
        int rc = follow(walk, name);
        return rc < 0 ? rc : -EAGAIN;
    }
    int fd = openat(here, name, flags | O_NOFOLLOW | O_CLOEXEC);
    return fd < 0 ? -errno : fd; // ELOOP: it has become a link meanwhile
}

static bool is_dots(const char *name)
{
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static int walk_on(struct walk *walk, int flags)
{
    char name[NAME_MAX + 2];
    while (take_name(walk, name)) {
        int rc = strcmp(name, ".") == 0 ? 0 : strcmp(name, "..") == 0 ? climb(walk) : 1;
        bool ends = rc == 1 && is_last(walk) && !strchr(walk->path, '/');
        if (ends && (rc = arrive(walk, name, flags)) != -EAGAIN)
            return rc;
        if (rc == 1)
            rc = descend(walk, name);
        if (rc < 0 && rc != -EAGAIN)
            return rc;
    }
    int fd = openat(walk->fds[walk->depth], ".", flags | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

static int resolve_walking(int root, const char *path, int flags)
{
    struct walk walk = { .fds = { root } };
    if (strlen(path) >= WORKSPACE_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(walk.path, path, strlen(path) + 1);
    int rc = walk_on(&walk, flags);
    while (walk.depth)
        close(walk.fds[walk.depth--]);
    return rc;
}

/* ---- resolving ---------------------------------------------------------------------------------------- */

static int resolve_quickly(int root, const char *path, int flags)
{
    struct open_how how = { .flags = (uint64_t)(flags | O_CLOEXEC), .resolve = BENEATH | NO_MAGICLINKS };
    long fd = -1;
    errno = EAGAIN;
    for (int i = 0; i < TRIES && fd < 0 && (errno == EAGAIN || errno == EINTR); i++)
        fd = syscall(OPENAT2, root, path, &how, sizeof how);
    return fd < 0 ? -errno : (int)fd;
}

bool workspace_is_quick(void)
{
    struct open_how how = { .flags = O_PATH | O_CLOEXEC, .resolve = BENEATH };
    long fd = syscall(OPENAT2, AT_FDCWD, ".", &how, sizeof how);
    if (fd >= 0)
        close((int)fd);
    return fd >= 0 || errno != ENOSYS;
}

/* A descriptor, or a negative errno. */
static int resolve(const struct workspace *ws, const struct root *root, const char *path, int flags)
{
    int rc = ws->walks ? -ENOSYS : resolve_quickly(root->fd, path, flags);
    if (rc == -ENOSYS || rc == -EAGAIN)
        rc = resolve_walking(root->fd, path, flags);
    return rc;
}

/* ---- what is protected ---------------------------------------------------------------------------------- */

#define SELF_PATH 40

static void name_self(char path[SELF_PATH], int fd)
{
    snprintf(path, SELF_PATH, "/proc/self/fd/%d", fd);
}

/* How a file is protected, or a negative errno.  It is open as fd, or, with a name, in the folder that is. */
static int find_protection(const struct workspace *ws, int fd, const char *name)
{
    char self[SELF_PATH], path[2 * WORKSPACE_PATH_MAX];
    struct stat st;
    name_self(self, fd);
    ssize_t len = readlink(self, path, sizeof path - NAME_MAX - 2);
    if (len < 0 || fstatat(fd, name ? name : "", &st, AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
        st = (struct stat){ 0 };
    if (len < 0)
        return -errno;
    snprintf(path + len, NAME_MAX + 2, "%s%s", name ? "/" : "", name ? name : "");
    return protected_look(ws->stores, path, &st);
}

/* 0, or a negative error. */
static int check_place(const struct workspace *ws, int fd, const char *name, bool writes)
{
    int how = find_protection(ws, fd, name);
    if (how < 0)
        return how;
    return how == PROTECTED_HIDDEN ? -IS_HIDDEN : how && writes ? -IS_READ_ONLY : 0;
}

/* Opens the path, unless it is hidden. */
static int resolve_checked(const struct workspace *ws, const struct root *root, const char *path, int flags)
{
    char self[SELF_PATH];
    int fd = resolve(ws, root, path, O_PATH | (flags & O_DIRECTORY));
    int rc = fd < 0 ? fd : check_place(ws, fd, NULL, false);
    if (rc < 0 || flags & O_PATH) {
        if (rc < 0 && fd >= 0)
            close(fd);
        return rc < 0 ? rc : fd;
    }
    name_self(self, fd);
    rc = open(self, flags | O_CLOEXEC);
    rc = rc < 0 ? -errno : rc;
    close(fd);
    return rc;
}

/* ---- paths -------------------------------------------------------------------------------------------- */

static int fail(rondo_error *err, const char *path, int error)
{
    switch (error) {
    case EXDEV:
        return err_set(err, RONDO_EINVAL, "'%s' leads out of the folder", path);
    case ENOENT:
        return err_set(err, RONDO_ENOTFOUND, "'%s': there is no such file or folder", path);
    case ELOOP:
        return err_set(err, RONDO_EINVAL, "'%s': a link that is not followed", path);
    case ENAMETOOLONG:
        return err_set(err, RONDO_EINVAL, "the path is too long: '%.60s...'", path);
    case IS_HIDDEN:
        return err_set(err, RONDO_EINVAL, "'%s' belongs to a store of rondo, which is out of reach", path);
    case IS_READ_ONLY:
        return err_set(err, RONDO_EINVAL, "'%s' is only read here: programs outside follow its settings", path);
    case ENXIO: // a socket, or a device without a driver
        return err_set(err, RONDO_EINVAL, "'%s' is not a regular file", path);
    default:
        return err_set(err, error == ENOTDIR ? RONDO_ENOTFOUND : RONDO_EFAILED, "'%s': %s", path,
                       strerror(error));
    }
}

int workspace_check(const char *path, size_t len, rondo_error *err)
{
    if (!len)
        return err_set(err, RONDO_EINVAL, "the path is empty");
    if (len >= WORKSPACE_PATH_MAX)
        return err_set(err, RONDO_EINVAL, "the path is too long: %zu bytes", len);
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)path[i] < 0x20 || path[i] == 0x7f)
            return err_set(err, RONDO_EINVAL, "the path has a control character in it (byte %zu)", i + 1);
    if (path[0] == '~' && (len == 1 || path[1] == '/'))
        return err_set(err, RONDO_EINVAL, "'%s': '~' means nothing here; give a path inside of the folder", path);
    return 0;
}

/* What is left of an absolute path behind the root; NULL when it is not inside. */
static const char *behind(const char *root, const char *path)
{
    size_t len = strlen(root);
    len -= len == 1; // "/"
    if (strncmp(root, path, len) != 0 || (path[len] && path[len] != '/'))
        return NULL;
    path += len + strspn(path + len, "/");
    return *path ? path : ".";
}

/* The root that a path belongs to, and the path from there. */
static const struct root *find_root(const struct workspace *ws, const char *path, const char **ret,
                                    rondo_error *err)
{
    if (workspace_check(path, strlen(path), err) < 0)
        return NULL;
    *ret = path;
    if (*path != '/')
        return &ws->roots[0];
    for (uint32_t i = 0; i < ws->count; i++)
        if ((*ret = behind(ws->roots[i].given, path)) || (*ret = behind(ws->roots[i].real, path)))
            return &ws->roots[i];
    fail(err, path, EXDEV);
    return NULL;
}

static int open_at(struct workspace *ws, const char *path, int flags, int *ret_fd, rondo_error *err)
{
    const char *rest;
    const struct root *root = find_root(ws, path, &rest, err);
    if (!root)
        return err->code;
    int fd = resolve_checked(ws, root, rest, flags);
    if (fd < 0)
        return fail(err, path, -fd);
    *ret_fd = fd;
    return 0;
}

/* ---- roots -------------------------------------------------------------------------------------------- */

static char *absolute(const char *path)
{
    auto_buf struct buf full = { 0 };
    char cwd[WORKSPACE_PATH_MAX];
    if (*path != '/' && getcwd(cwd, sizeof cwd))
        buf_printf(&full, "%s/", cwd);
    buf_puts(&full, path);
    while (full.len > 1 && full.data[full.len - 1] == '/')
        full.len--;
    return buf_take(&full);
}

int workspace_add(struct workspace *ws, const char *path, bool writable, rondo_error *err)
{
    auto_free char *real = file_resolve(path, err);
    int fd = real ? open(real, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd < 0)
        return real ? fail(err, path, errno) : err->code;
    mem_grow(&ws->roots, &ws->cap, ws->count, sizeof *ws->roots);
    ws->roots[ws->count++] = (struct root){ fd, writable, absolute(path), TAKE(real) };
    return 0;
}

int workspace_open(const char *path, struct workspace **ret, rondo_error *err)
{
    struct workspace *ws = mem_zalloc(sizeof *ws);
    if (workspace_add(ws, path, true, err) < 0) {
        workspace_close(ws);
        return err->code;
    }
    *ret = ws;
    return 0;
}

void workspace_close(struct workspace *ws)
{
    for (uint32_t i = 0; ws && i < ws->count; i++) {
        close(ws->roots[i].fd);
        mem_free(ws->roots[i].given);
        mem_free(ws->roots[i].real);
    }
    if (ws)
        mem_free(ws->roots);
    mem_free(ws);
}

const char *workspace_folder(const struct workspace *ws)
{
    return ws->roots[0].real;
}

void workspace_walk(struct workspace *ws)
{
    ws->walks = true;
}

void workspace_protect(struct workspace *ws, const struct protected_stores *stores)
{
    ws->stores = stores;
}

/* ---- looking ------------------------------------------------------------------------------------------ */

static struct workspace_entry entry_of(const struct stat *st, const char *name)
{
    return (struct workspace_entry){
        .name = name,
        .kind = S_ISREG(st->st_mode)   ? WORKSPACE_FILE
                : S_ISDIR(st->st_mode) ? WORKSPACE_FOLDER
                : S_ISLNK(st->st_mode) ? WORKSPACE_LINK
                                       : WORKSPACE_OTHER,
        .mode = st->st_mode & 07777,
        .size = (uint64_t)st->st_size,
        .changed_ns = st->st_mtim.tv_sec * 1000000000ll + st->st_mtim.tv_nsec,
    };
}

int workspace_stat(struct workspace *ws, const char *path, struct workspace_entry *ret, rondo_error *err)
{
    struct stat st;
    int fd = -1;
    if (open_at(ws, path, O_PATH, &fd, err) < 0)
        return err->code;
    int rc = fstat(fd, &st);
    close(fd);
    if (rc < 0)
        return fail(err, path, errno);
    *ret = entry_of(&st, NULL);
    return 0;
}

/* What is not a file in the usual sense could be endless, or wait for ever. */
static int check_file(int fd, const char *path, struct stat *st, rondo_error *err)
{
    if (fstat(fd, st) < 0)
        return fail(err, path, errno);
    if (S_ISDIR(st->st_mode))
        return err_set(err, RONDO_EINVAL, "'%s' is a folder", path);
    if (!S_ISREG(st->st_mode))
        return err_set(err, RONDO_EINVAL, "'%s' is not a regular file", path);
    return 0;
}

int workspace_open_file(struct workspace *ws, const char *path, int *ret_fd, struct workspace_entry *entry,
                        rondo_error *err)
{
    struct stat st;
    int fd = -1;
    if (open_at(ws, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, &fd, err) < 0)
        return err->code;
    if (check_file(fd, path, &st, err) < 0) {
        close(fd);
        return err->code;
    }
    if (entry)
        *entry = entry_of(&st, NULL);
    *ret_fd = fd;
    return 0;
}

int workspace_read(struct workspace *ws, const char *path, size_t max, struct buf *out, rondo_error *err)
{
    struct workspace_entry entry = { 0 };
    int fd = -1;
    if (workspace_open_file(ws, path, &fd, &entry, err) < 0)
        return err->code;
    int rc = entry.size > max ? err_set(err, RONDO_ELIMIT, "'%s': larger than %zu bytes", path, max)
                              : file_read_fd(fd, path, max, out, err);
    close(fd);
    return rc;
}

/* ---- lists -------------------------------------------------------------------------------------------- */

struct names {
    char **list;
    uint32_t count, cap;
};

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int read_names(DIR *dir, const char *path, size_t max, struct names *names, rondo_error *err)
{
    struct dirent *entry;
    while ((errno = 0, entry = readdir(dir))) {
        if (is_dots(entry->d_name))
            continue;
        if (names->count >= max)
            return err_set(err, RONDO_ELIMIT, "'%s' has more than %zu entries", path, max);
        mem_grow(&names->list, &names->cap, names->count, sizeof *names->list);
        names->list[names->count++] = mem_strdup(entry->d_name);
    }
    if (errno)
        return fail(err, path, errno);
    if (names->count)
        qsort(names->list, names->count, sizeof *names->list, by_name);
    return 0;
}

static void visit_names(int fd, const struct names *names,
                        bool (*visit)(const struct workspace_entry *entry, void *user), void *user)
{
    struct stat st;
    for (uint32_t i = 0; i < names->count; i++) {
        if (fstatat(fd, names->list[i], &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue; // gone meanwhile
        struct workspace_entry entry = entry_of(&st, names->list[i]);
        if (!visit(&entry, user))
            return;
    }
}

int workspace_list(struct workspace *ws, const char *path, size_t max,
                   bool (*visit)(const struct workspace_entry *entry, void *user), void *user,
                   rondo_error *err)
{
    struct names names = { 0 };
    int fd = -1;
    if (open_at(ws, path, O_RDONLY | O_DIRECTORY, &fd, err) < 0)
        return err->code;
    DIR *dir = fdopendir(fd);
    if (!dir) {
        close(fd);
        return fail(err, path, errno);
    }
    int rc = read_names(dir, path, max, &names, err);
    if (rc == 0)
        visit_names(fd, &names, visit, user);
    for (uint32_t i = 0; i < names.count; i++)
        mem_free(names.list[i]);
    mem_free(names.list);
    closedir(dir);
    return rc;
}

/* ---- writing ------------------------------------------------------------------------------------------ */

/* Where a file is to be: an open folder, and a name in it that is no link. */
struct target {
    const struct root *root;
    int folder;
    char name[NAME_MAX + 1];
};

/* The folder of a path that is in the buffer, made if need be. */
static int open_folder(struct workspace *ws, const struct root *root, char *path)
{
    int fd = fcntl(root->fd, F_DUPFD_CLOEXEC, 3), next;
    for (char *at = path; fd >= 0 && (at = strchr(at, '/')); at += strspn(at, "/")) {
        char *name = memrchr(path, '/', (size_t)(at - path));
        *at = '\0';
        next = resolve(ws, root, path, O_PATH | O_DIRECTORY);
        int rc = next == -ENOENT ? check_place(ws, fd, name ? name + 1 : path, true) : 0;
        if (rc < 0)
            next = rc;
        else if (next == -ENOENT && mkdirat(fd, name ? name + 1 : path, 0700) < 0 && errno != EEXIST)
            next = -errno;
        else if (next == -ENOENT)
            next = resolve(ws, root, path, O_PATH | O_DIRECTORY);
        *at = '/';
        close(fd);
        fd = next;
    }
    return fd;
}

/* "a//b///c" to "a/b/c": names are looked for between single slashes. */
static void squeeze(char *path)
{
    char *to = path;
    for (const char *at = path; *at; at++)
        if (*at != '/' || to == path || to[-1] != '/')
            *to++ = *at;
    *to = '\0';
}

/* The link's text takes the place of its name.  0 when there was none, 1 when it was followed. */
static int follow_last(int folder, const char *name, char path[2 * WORKSPACE_PATH_MAX])
{
    char text[WORKSPACE_PATH_MAX];
    ssize_t len = readlinkat(folder, name, text, sizeof text - 1);
    if (len < 0)
        return errno == EINVAL || errno == ENOENT ? 0 : -errno;
    if (!len || text[0] == '/')
        return -EXDEV;
    size_t at = strlen(path) - strlen(name);
    if (at + (size_t)len >= WORKSPACE_PATH_MAX)
        return -ENAMETOOLONG;
    memcpy(path + at, text, (size_t)len);
    path[at + (size_t)len] = '\0';
    return 1;
}

/* 0, or a negative errno; the folder is the caller's. */
static int find_target(struct workspace *ws, struct target *target, const char *rest)
{
    char path[2 * WORKSPACE_PATH_MAX];
    memcpy(path, rest, strlen(rest) + 1);
    for (int links = 0; links <= LINKS_MAX; links++) {
        squeeze(path);
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        if (!*name || is_dots(name))
            return -EISDIR;
        if (strlen(name) > NAME_MAX)
            return -ENAMETOOLONG;
        int folder = open_folder(ws, target->root, path);
        if (folder < 0)
            return folder;
        memcpy(target->name, name, strlen(name) + 1);
        target->folder = folder;
        int rc = follow_last(folder, target->name, path);
        if (rc == 0)
            rc = check_place(ws, folder, target->name, true);
        if (rc == 0)
            return 0;
        close(folder);
        if (rc < 0)
            return rc;
    }
    return -ELOOP;
}

/* What is there already: its permissions stay.  False when it cannot be replaced. */
static bool look_at_old(const struct target *target, struct stat *st, bool *ret_made)
{
    *ret_made = fstatat(target->folder, target->name, st, AT_SYMLINK_NOFOLLOW) < 0;
    return *ret_made ? errno == ENOENT : S_ISREG(st->st_mode);
}

static int make_beside(const struct target *target, char name[40])
{
    uint64_t chance;
    if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
        return -1;
    snprintf(name, 40, ".rondo-%016llx", (unsigned long long)chance);
    return openat(target->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static int replace(const struct target *target, const struct stat *old, const char *path, const void *bytes,
                   size_t len, rondo_error *err)
{
    char beside[40];
    int fd = make_beside(target, beside);
    if (fd < 0)
        return fail(err, path, errno);
    int rc = file_write_fd(fd, path, bytes, len, err);
    if (rc == 0 && old && fchown(fd, old->st_uid, old->st_gid) < 0)
        rc = 0; // not ours to say
    if (rc == 0 && old && fchmod(fd, old->st_mode & 0777) < 0)
        rc = fail(err, path, errno);
    if (close(fd) < 0 && rc == 0)
        rc = fail(err, path, errno);
    if (rc == 0 && renameat(target->folder, beside, target->folder, target->name) < 0)
        rc = fail(err, path, errno);
    if (rc < 0)
        unlinkat(target->folder, beside, 0);
    return rc;
}

int workspace_write(struct workspace *ws, const char *path, const void *bytes, size_t len, bool *ret_made,
                    rondo_error *err)
{
    const char *rest;
    struct stat old;
    bool made;
    struct target target = { .root = find_root(ws, path, &rest, err) };
    if (!target.root)
        return err->code;
    if (!target.root->writable)
        return err_set(err, RONDO_EINVAL, "'%s' is in a folder that is only read", path);
    int rc = find_target(ws, &target, rest);
    if (rc < 0)
        return rc == -EISDIR ? err_set(err, RONDO_EINVAL, "'%s' is a folder", path) : fail(err, path, -rc);
    if (look_at_old(&target, &old, &made))
        rc = replace(&target, made ? NULL : &old, path, bytes, len, err);
    else
        rc = err_set(err, RONDO_EINVAL, "'%s' is %s", path,
                     S_ISDIR(old.st_mode) ? "a folder" : "not a regular file");
    close(target.folder);
    if (rc == 0 && ret_made)
        *ret_made = made;
    return rc;
}
