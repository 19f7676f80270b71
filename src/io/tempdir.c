/* tempdir.c - see tempdir.h. */
#include "io/tempdir.h"

#include "io/remove.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *tempdir_make(rondo_error *err)
{
    const char *base = getenv("TMPDIR");
    struct buf path = { 0 };
    buf_printf(&path, "%s/rondo-XXXXXX", base && *base == '/' ? base : "/tmp");
    buf_text(&path);
    if (mkdtemp(path.data))
        return buf_take(&path);
    err_set(err, RONDO_EFAILED, "no temporary folder '%s': %s", path.data, strerror(errno));
    buf_free(&path);
    return NULL;
}

int tempdir_make_at(const char *path, rondo_error *err)
{
    return mkdir(path, 0700) == 0 ? 0 : err_set(err, RONDO_EFAILED, "'%s': %s", path, strerror(errno));
}

bool tempdir_exists(const char *folder)
{
    return access(folder, W_OK) == 0;
}

void tempdir_unlink(const char *path)
{
    if (path)
        unlink(path);
}

int tempdir_write(const char *path, const void *bytes, size_t len, rondo_error *err)
{
    const char *at = bytes;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    ssize_t n = fd < 0 ? -1 : 0;
    while (n >= 0 && len) {
        n = write(fd, at, len);
        if (n < 0 && errno == EINTR)
            n = 0;
        at += MAX(n, 0);
        len -= (size_t)MAX(n, 0);
    }
    int error = errno;
    if (fd >= 0)
        close(fd);
    return n < 0 ? err_set(err, RONDO_EFAILED, "'%s': %s", path, strerror(error)) : 0;
}

int tempdir_read(const char *path, size_t max, struct buf *out, rondo_error *err)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return err_set(err, errno == ENOENT ? RONDO_ENOTFOUND : RONDO_EFAILED, "'%s': %s", path,
                       strerror(errno));
    ssize_t n = 1;
    size_t before = out->len;
    while (n > 0 && out->len - before <= max) {
        buf_reserve(out, 16384);
        n = read(fd, out->data + out->len, 16384);
        out->len += (size_t)MAX(n, 0);
        if (n < 0 && errno == EINTR)
            n = 1;
    }
    int error = errno;
    close(fd);
    if (n < 0)
        return err_set(err, RONDO_EFAILED, "'%s': %s", path, strerror(error));
    if (out->len - before > max)
        return err_set(err, RONDO_ELIMIT, "'%s' has more than %zu bytes", path, max);
    return 0;
}

void tempdir_remove(const char *folder)
{
    if (folder)
        remove_folder(folder);
}
