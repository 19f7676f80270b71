/* file.c - reading whole files.

   The size is looked at before reading and counted while reading, because a file may grow meanwhile
   and a pipe has no size.  Whether a file is within a folder is decided by where it really is: first by
   resolving its path, then once more by asking the system what was opened, so that a link that is
   changed in between gains nothing. */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CHUNK 65536

static int fail(rondo_error *err)
{
    int code = errno == ENOENT || errno == ENOTDIR ? RONDO_ENOTFOUND : RONDO_EFAILED;
    return err_set(err, code, "%s", strerror(errno));
}

static int too_large(size_t max, rondo_error *err)
{
    return err_set(err, RONDO_ELIMIT, "the file has more than %zu bytes", max);
}

/* ---- reading -------------------------------------------------------------------------------------- */

static int check_kind(int fd, bool is_regular, size_t max, rondo_error *err)
{
    struct stat st;
    if (fstat(fd, &st) < 0)
        return fail(err);
    if (S_ISDIR(st.st_mode))
        return err_set(err, RONDO_EFAILED, "this is a folder, not a file");
    if (is_regular && !S_ISREG(st.st_mode))
        return err_set(err, RONDO_EFAILED, "this is not a regular file");
    if (S_ISREG(st.st_mode) && (uint64_t)st.st_size > max)
        return too_large(max, err);
    return 0;
}

static int read_all(int fd, size_t max, struct buf *out, rondo_error *err)
{
    for (;;) {
        buf_reserve(out, CHUNK);
        ssize_t n = read(fd, out->data + out->len, CHUNK);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail(err);
        out->len += (size_t)n;
        if (out->len > max)
            return too_large(max, err);
        if (n == 0)
            return 0;
    }
}

int file_read(const char *path, size_t max, struct buf *out, rondo_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    int fd = is_stdin ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail(err);
    int rc = check_kind(fd, false, max, err);
    rc = rc < 0 ? rc : read_all(fd, max, out, err);
    if (!is_stdin)
        close(fd);
    return rc;
}

/* ---- within a folder -------------------------------------------------------------------------------- */

static bool is_within(const char *folder, const char *path)
{
    size_t len = strlen(folder);
    if (strcmp(folder, "/") == 0)
        return path[0] == '/';
    return strncmp(folder, path, len) == 0 && path[len] == '/';
}

static int leaves(const char *path, rondo_error *err)
{
    return err_set(err, RONDO_EINVAL, "'%.200s' leads out of the workflow's folder", path);
}

/* Where the path really leads: the caller's; NULL with err. */
static char *resolve(const char *folder, const char *path, rondo_error *err)
{
    auto_buf struct buf joined = { 0 };
    char real[PATH_MAX];
    if (path[0] == '/')
        buf_puts(&joined, path);
    else
        buf_printf(&joined, "%s/%s", folder, path);
    if (!realpath(buf_text(&joined), real)) {
        fail(err);
        return NULL;
    }
    return mem_strdup(real);
}

/* Whether what was opened is what was resolved; true where the system cannot tell. */
static bool is_still(int fd, const char *path)
{
    char link[64], real[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, real, sizeof real);
    return len < 0 || ((size_t)len == strlen(path) && memcmp(real, path, (size_t)len) == 0);
}

static int read_resolved(const char *real, const char *path, size_t max, struct buf *out, rondo_error *err)
{
    int fd = open(real, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return fail(err);
    int rc = is_still(fd, real) ? check_kind(fd, true, max, err) : leaves(path, err);
    rc = rc < 0 ? rc : read_all(fd, max, out, err);
    close(fd);
    return rc;
}

/* A path that climbs out is told so even if there is nothing where it leads. */
static bool climbs_out(const char *path)
{
    int depth = 0;
    for (const char *at = path; at; at = strchr(at, '/')) {
        at += *at == '/';
        if (strncmp(at, "..", 2) == 0 && (at[2] == '/' || !at[2]))
            depth--;
        else if (*at && *at != '/' && !(*at == '.' && (at[1] == '/' || !at[1])))
            depth++;
        if (depth < 0)
            return true;
    }
    return false;
}

int file_read_in(const char *folder, const char *path, size_t max, struct buf *out, char **ret_path,
                 rondo_error *err)
{
    if (!*path || (path[0] == '/' ? !is_within(folder, path) : climbs_out(path)))
        return leaves(path, err);
    auto_free char *real = resolve(folder, path, err);
    if (!real)
        return err->code;
    int rc = is_within(folder, real) ? read_resolved(real, path, max, out, err) : leaves(path, err);
    if (rc == 0 && ret_path)
        *ret_path = TAKE(real);
    return rc;
}

char *file_folder(const char *path, rondo_error *err)
{
    char real[PATH_MAX];
    bool is_here = strcmp(path, "-") == 0;
    if (!realpath(is_here ? "." : path, real)) {
        fail(err);
        return NULL;
    }
    char *slash = is_here ? NULL : strrchr(real, '/');
    if (slash)
        slash[slash == real] = '\0';
    return mem_strdup(real);
}
