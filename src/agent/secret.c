/* secret.c - see secret.h. */
#include "agent/secret.h"

#include "data/utf8.h"
#include "io/tempdir.h"

#include <string.h>

#define LINE_MIN    8 // lines of a secret that are secrets themselves
#define FILE_MAX    (64 * 1024)
#define REPLACEMENT "\xef\xbf\xbd"

static void add_one(struct secrets *secrets, const char *text, size_t len)
{
    uint32_t at = 0;
    if (len < SECRET_MIN)
        return;
    while (at < secrets->count && secrets->list[at].len > len)
        at++;
    mem_grow(&secrets->list, &secrets->cap, secrets->count, sizeof *secrets->list);
    memmove(secrets->list + at + 1, secrets->list + at, (secrets->count - at) * sizeof *secrets->list);
    secrets->list[at] = (struct secret){ mem_dup(text, len), len };
    secrets->count++;
}

static void add_forms(struct secrets *secrets, const char *text, size_t len)
{
    auto_buf struct buf json = { 0 };
    add_one(secrets, text, len);
    buf_put_json_string(&json, text, len);
    if (json.len != len + 2)
        add_one(secrets, json.data + 1, json.len - 2);
}

void secrets_add(struct secrets *secrets, const char *text, size_t len)
{
    const char *end = text + len, *at = text, *stop;
    add_forms(secrets, text, len);
    if (!memchr(text, '\n', len))
        return;
    for (; at < end; at = stop + 1) {
        stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        size_t line = (size_t)(stop - at);
        if (line && at[line - 1] == '\r')
            line--;
        if (line >= LINE_MIN)
            add_forms(secrets, at, line);
    }
}

void secrets_clear(struct secrets *secrets)
{
    for (uint32_t i = 0; i < secrets->count; i++)
        mem_free(secrets->list[i].text);
    mem_free(secrets->list);
    *secrets = (struct secrets){ 0 };
}

int secret_read(const char *folder, const char *path, struct buf *out, rondo_error *err)
{
    auto_buf struct buf full = { 0 };
    if (*path != '/' && folder)
        buf_printf(&full, "%s/", folder);
    buf_puts(&full, path);
    if (tempdir_read(buf_text(&full), FILE_MAX, out, err) < 0)
        return err->code;
    while (out->len && (out->data[out->len - 1] == '\n' || out->data[out->len - 1] == '\r'))
        out->len--;
    if (out->len && memchr(out->data, '\0', out->len))
        return err_set(err, RONDO_EINVAL, "'%s' has a NUL byte in it", path);
    return 0;
}

/* The length of the secret that the text begins with; 0 for none.  *ret_half: it may begin with one. */
static size_t match(const struct secrets *secrets, const char *text, size_t len, bool *ret_half)
{
    for (uint32_t i = 0; i < secrets->count; i++) {
        const struct secret *secret = &secrets->list[i];
        if (memcmp(secret->text, text, MIN(secret->len, len)) != 0)
            continue;
        if (secret->len <= len)
            return secret->len;
        *ret_half = true;
    }
    return 0;
}

/* Bytes that could become a character if more came. */
static bool is_half_character(const char *text, size_t len)
{
    uint8_t first = (uint8_t)text[0];
    size_t wanted = first >= 0xf0 && first <= 0xf4 ? 4 : first >= 0xe0 ? 3 : first >= 0xc2 ? 2 : 0;
    if (first > 0xf4 || len >= wanted)
        return false;
    for (size_t i = 1; i < len; i++)
        if (((uint8_t)text[i] & 0xc0) != 0x80)
            return false;
    return true;
}

size_t secrets_put(const struct secrets *secrets, struct buf *out, const char *text, size_t len,
                   bool is_end)
{
    size_t at = 0;
    buf_reserve(out, len);
    while (at < len) {
        bool half = false;
        uint32_t code;
        size_t n = secrets->count ? match(secrets, text + at, len - at, &half) : 0;
        if (half && !is_end)
            break; // it may become a longer one
        if (n) {
            buf_puts(out, SECRET_MARK);
            at += n;
            continue;
        }
        n = utf8_decode(text + at, len - at, &code);
        if (n && code) {
            buf_put(out, text + at, n);
        } else if (!n && !is_end && is_half_character(text + at, len - at)) {
            break;
        } else {
            buf_puts(out, REPLACEMENT);
            n = 1;
        }
        at += n;
    }
    return at;
}
