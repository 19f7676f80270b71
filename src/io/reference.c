/* reference.c - see reference.h. */
#include "io/reference.h"

#include "io/tempdir.h"

#include <stdlib.h>
#include <string.h>

#define FILE_MAX (64 * 1024)

static bool is_reference(const char *text)
{
    return strncmp(text, "env:", 4) == 0 || strncmp(text, "file:", 5) == 0;
}

const char *reference_in(const char *text)
{
    const char *blank = strrchr(text, ' '), *word = is_reference(text) || !blank ? text : blank + 1;
    return is_reference(word) ? word : NULL;
}

int reference_env(const char *name, struct buf *out, rondo_error *err)
{
    const char *value = getenv(name);
    if (!value)
        return err_set(err, RONDO_EINVAL, "the variable '%s' is not set", name);
    buf_puts(out, value);
    return 0;
}

int reference_file(const char *path, const char *folder, struct buf *out, rondo_error *err)
{
    auto_buf struct buf full = { 0 };
    size_t start = out->len;
    if (*path != '/' && folder)
        buf_printf(&full, "%s/", folder);
    buf_puts(&full, path);
    if (tempdir_read(buf_text(&full), FILE_MAX, out, err) < 0)
        return err->code;
    while (out->len > start && (out->data[out->len - 1] == '\n' || out->data[out->len - 1] == '\r'))
        out->len--;
    if (out->len > start && memchr(out->data + start, '\0', out->len - start))
        return err_set(err, RONDO_EINVAL, "'%s' has a NUL byte in it", path);
    return 0;
}

int reference_read(const char *reference, const char *folder, struct buf *out, rondo_error *err)
{
    if (strncmp(reference, "env:", 4) == 0 && reference[4])
        return reference_env(reference + 4, out, err);
    if (strncmp(reference, "file:", 5) == 0 && reference[5])
        return reference_file(reference + 5, folder, out, err);
    return err_set(err, RONDO_EINVAL, "expected env:NAME or file:PATH"); // not quoted: it may be the secret
}
