/* file.c - files on the disk: read whole, bounded, and inside a folder when they have to be.

   "Inside" is decided on the resolved path, and the file is opened by that path without following a
   link at its end; then the system is asked what was opened, so that a link that is swapped in between
   leads nowhere. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int fail(rondo_error *err, const char *path, int code)
{
    int ours = code == ENOENT || code == ENOTDIR ? RONDO_ENOTFOUND : RONDO_EFAILED;
    return err_set(err, ours, "%s: %s", path, strerror(code));
}

const char *file_reason(const char *message, const char *name)
{
    size_t len = strlen(name);
    return strncmp(message, name, len) == 0 && strncmp(message + len, ": ", 2) == 0 ? message + len + 2 : message;
}

int file_read_fd(int fd, const char *name, size_t max, struct buf *out, rondo_error *err)
{
    size_t start = out->len;
    for (;;) {
        buf_reserve(out, 65536);
        ssize_t n = read(fd, out->data + out->len, 65536);
        if (n < 0 && errno == EAGAIN) // whoever gave it to us does not want to wait; we do
            poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
        else if (n < 0 && errno == EBADF)
            return err_set(err, RONDO_EFAILED, "%s: it is closed", name);
        else if (n < 0 && errno != EINTR)
            return fail(err, name, errno);
        if (n < 0)
            continue;
        if (n == 0)
            return 0;
        out->len += (size_t)n;
        if (out->len - start > max)
            return err_set(err, RONDO_ELIMIT, "%s: larger than %zu bytes", name, max);
    }
}

/* Whether what was opened without following a link is what its path says; true where the system cannot
   tell. */
static bool is_still(int fd, const char *path)
{
    char link[64], real[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, real, sizeof real);
    return len < 0 || ((size_t)len == strlen(path) && memcmp(real, path, (size_t)len) == 0);
}

/* What is not a file in the usual sense could be endless, or wait for ever. */
static int check_kind(int fd, const char *path, bool allows_pipe, size_t max, rondo_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return fail(err, path, errno);
    if (S_ISDIR(st.st_mode))
        return fail(err, path, EISDIR);
    if (!S_ISREG(st.st_mode) && !(allows_pipe && S_ISFIFO(st.st_mode)))
        return err_set(err, RONDO_EFAILED, "%s: not a regular file", path);
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
        return err_set(err, RONDO_ELIMIT, "%s: larger than %zu bytes", path, max);
    return 0;
}

static int read_path(const char *path, int flags, const char *name, size_t max, struct buf *out,
                     rondo_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | flags);
    if (fd < 0)
        return fail(err, name, errno);
    bool is_bound = flags & O_NOFOLLOW;
    int rc = check_kind(fd, name, !is_bound, max, err);
    if (rc == 0 && is_bound && !is_still(fd, path))
        rc = err_set(err, RONDO_EINVAL, "%s: leaves the folder of the workflow", name);
    if (rc == 0)
        rc = file_read_fd(fd, name, max, out, err);
    close(fd);
    return rc;
}

int file_read(const char *path, size_t max, struct buf *out, rondo_error *err)
{
    return read_path(path, 0, path, max, out, err);
}

/* Messages speak of the name that the user knows. */
static char *resolve(const char *path, const char *name, rondo_error *err)
{
    char resolved[PATH_MAX];
    if (!realpath(path, resolved)) {
        fail(err, name, errno);
        return NULL;
    }
    return mem_strdup(resolved);
}

char *file_resolve(const char *path, rondo_error *err)
{
    return resolve(path, path, err);
}

/* Up to the last slash; "/" stays. */
static char *cut_name(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash)
        slash[slash == path] = '\0';
    return path;
}

bool file_is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

char *file_folder_of(const char *path, rondo_error *err)
{
    char *resolved = file_resolve(path, err);
    return resolved ? cut_name(resolved) : NULL;
}

bool file_is_below(const char *path, const char *folder)
{
    size_t len = strlen(folder);
    if (len == 1)
        return path[1] != '\0'; // "/"
    return strncmp(folder, path, len) == 0 && path[len] == '/';
}

static bool climbs(const char *path)
{
    int depth = 0;
    for (const char *at = path; *at;) {
        size_t len = strcspn(at, "/");
        if (len == 2 && at[0] == '.' && at[1] == '.')
            depth--;
        else if (len && !(len == 1 && at[0] == '.'))
            depth++;
        if (depth < 0)
            return true;
        at += len + (at[len] == '/');
    }
    return false;
}

static int resolve_inside(const char *folder, const char *path, char **ret, rondo_error *err)
{
    auto_buf struct buf joined = { 0 };
    auto_free char *home = NULL, *resolved = NULL;
    if (!*path)
        return err_set(err, RONDO_EINVAL, "the path is empty");
    if (*path == '/' || climbs(path)) // said without looking, so that nothing is told of what is there
        return err_set(err, RONDO_EINVAL, "%s: leaves the folder of the workflow", path);
    buf_printf(&joined, "%s/%s", folder, path);
    if (!(home = file_resolve(folder, err)) || !(resolved = resolve(buf_text(&joined), path, err)))
        return err->code;
    if (!file_is_below(resolved, home))
        return err_set(err, RONDO_EINVAL, "%s: leaves the folder of the workflow", path);
    *ret = TAKE(resolved);
    return 0;
}

int file_find_inside(const char *folder, const char *path, rondo_error *err)
{
    auto_free char *resolved = NULL;
    struct stat st;
    if (resolve_inside(folder, path, &resolved, err) < 0)
        return err->code;
    if (stat(resolved, &st) == 0 && !S_ISREG(st.st_mode))
        return err_set(err, RONDO_EFAILED, "%s: %s", path,
                       S_ISDIR(st.st_mode) ? "this is a folder" : "not a regular file");
    return 0;
}

int file_read_inside(const char *folder, const char *path, size_t max, struct buf *out,
                     char **ret_folder, rondo_error *err)
{
    auto_free char *resolved = NULL;
    if (resolve_inside(folder, path, &resolved, err) < 0)
        return err->code;
    int rc = read_path(resolved, O_NOFOLLOW | O_NONBLOCK, path, max, out, err);
    if (rc == 0 && ret_folder)
        *ret_folder = cut_name(TAKE(resolved));
    return rc;
}

static int make_folder(const char *path, mode_t mode, rondo_error *err)
{
    return mkdir(path, mode) < 0 && errno != EEXIST ? fail(err, path, errno) : 0;
}

/* Those in front of the last name. */
static int make_parents(const char *path, mode_t mode, rondo_error *err)
{
    auto_free char *copy = mem_strdup(path);
    for (char *at = *copy ? strchr(copy + 1, '/') : NULL; at; at = strchr(at + 1, '/')) {
        *at = '\0';
        if (make_folder(copy, mode, err) < 0)
            return err->code;
        *at = '/';
    }
    return 0;
}

static int make_folders(const char *path, rondo_error *err)
{
    return make_parents(path, 0777, err) < 0 ? err->code : make_folder(path, 0777, err);
}

int file_make_around(const char *path, rondo_error *err)
{
    return make_parents(path, 0700, err);
}

static int write_all(int fd, const char *bytes, size_t len)
{
    while (len) {
        ssize_t n = write(fd, bytes, len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -errno;
        bytes += n;
        len -= (size_t)n;
    }
    return 0;
}

int file_write_fd(int fd, const char *name, const char *bytes, size_t len, rondo_error *err)
{
    int rc = write_all(fd, bytes, len);
    return rc < 0 ? fail(err, name, -rc) : 0;
}

int file_write(const char *folder, const char *name, const char *bytes, size_t len, rondo_error *err)
{
    auto_buf struct buf path = { 0 };
    if (make_folders(folder, err) < 0)
        return err->code;
    buf_printf(&path, "%s/%s", folder, name);
    int fd = open(buf_text(&path), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return fail(err, buf_text(&path), errno);
    int rc = write_all(fd, bytes, len);
    if (close(fd) < 0 && rc == 0)
        rc = -errno;
    return rc < 0 ? fail(err, buf_text(&path), -rc) : 0;
}
