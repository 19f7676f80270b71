/* ndjson.c - see ndjson.h. */
#include "io/ndjson.h"

#include <string.h>

void ndjson_init(struct ndjson *ndjson, size_t line_max,
                 bool (*on_line)(const char *line, size_t len, void *user), void *user)
{
    *ndjson = (struct ndjson){ .on_line = on_line, .user = user,
                               .line_max = line_max ? line_max : NDJSON_LINE_MAX };
}

void ndjson_clear(struct ndjson *ndjson)
{
    buf_free(&ndjson->line);
}

static int refuse(struct ndjson *ndjson, rondo_error *err)
{
    ndjson->failed = true;
    return err_set(err, RONDO_ELIMIT, "expected lines of at most %zu bytes", ndjson->line_max);
}

static bool is_blank(const char *line, size_t len)
{
    while (len && (line[len - 1] == ' ' || line[len - 1] == '\t'))
        len--;
    return !len;
}

/* Whether to go on. */
static bool take_line(struct ndjson *ndjson, const char *line, size_t len)
{
    if (!ndjson->begun && len >= 3 && memcmp(line, "\xef\xbb\xbf", 3) == 0) {
        line += 3;
        len -= 3;
    }
    ndjson->begun = true;
    if (len && line[len - 1] == '\r')
        len--;
    return is_blank(line, len) || ndjson->on_line(line, len, ndjson->user);
}

static int keep(struct ndjson *ndjson, const char *bytes, size_t len, rondo_error *err)
{
    if (len > ndjson->line_max - MIN(ndjson->line.len, ndjson->line_max))
        return refuse(ndjson, err);
    buf_put(&ndjson->line, bytes, len);
    return 0;
}

int ndjson_feed(struct ndjson *ndjson, const char *bytes, size_t len, rondo_error *err)
{
    if (ndjson->failed)
        return err_set(err, RONDO_ESTATE, "the lines were given up before");
    const char *end = bytes + len;
    for (const char *stop; len && (stop = memchr(bytes, '\n', (size_t)(end - bytes))); bytes = stop + 1) {
        size_t n = (size_t)(stop - bytes);
        if (ndjson->line.len) {
            if (keep(ndjson, bytes, n, err) < 0)
                return err->code;
            if (!take_line(ndjson, ndjson->line.data, ndjson->line.len))
                return 0;
            buf_clear(&ndjson->line);
        } else {
            if (n > ndjson->line_max)
                return refuse(ndjson, err);
            if (!take_line(ndjson, bytes, n))
                return 0;
        }
        if (stop + 1 == end)
            return 0;
    }
    return keep(ndjson, bytes, (size_t)(end - bytes), err);
}

int ndjson_end(struct ndjson *ndjson, rondo_error *err)
{
    if (ndjson->failed)
        return err_set(err, RONDO_ESTATE, "the lines were given up before");
    if (ndjson->line.len && take_line(ndjson, ndjson->line.data, ndjson->line.len))
        buf_clear(&ndjson->line);
    return 0;
}
