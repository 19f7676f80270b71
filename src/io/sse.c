/* sse.c - see sse.h.

   Lines are found by memchr() and looked at where they lie.  What an event has so far is borrowed from the
   bytes being fed; it is copied only when a second data line has to be joined to the first, or when
   the bytes end before the event does. */
#include "io/sse.h"

#include <string.h>

static const char mark[] = "\xef\xbb\xbf";

void sse_init(struct sse *sse, size_t line_max, size_t event_max,
              bool (*on_event)(const struct sse_event *event, void *user), void *user)
{
    *sse = (struct sse){ .on_event = on_event, .user = user, .retry_ms = -1,
                         .line_max = line_max ? line_max : SSE_LINE_MAX,
                         .event_max = event_max ? event_max : SSE_EVENT_MAX };
}

void sse_clear(struct sse *sse)
{
    buf_free(&sse->line);
    buf_free(&sse->type);
    buf_free(&sse->data);
    buf_free(&sse->id);
}

int64_t sse_retry_ms(const struct sse *sse)
{
    return sse->retry_ms;
}

bool sse_is(const struct sse_event *event, const char *type)
{
    return event->type_len == strlen(type) && memcmp(event->type, type, event->type_len) == 0;
}

static int refuse(struct sse *sse, const char *what, size_t max, rondo_error *err)
{
    sse->failed = true;
    return err_set(err, RONDO_ELIMIT, "expected %s of at most %zu bytes in the event stream", what, max);
}

/* ---- the event so far ------------------------------------------------------------------------------- */

/* A text that is borrowed (at), copied (in buf, at is NULL), or not there (len 0). */
static void settle(struct buf *buf, const char **at, size_t len)
{
    if (!*at)
        return;
    buf_clear(buf);
    buf_put(buf, *at, len);
    *at = NULL;
}

static void settle_all(struct sse *sse)
{
    settle(&sse->type, &sse->type_at, sse->type_len);
    settle(&sse->data, &sse->data_at, sse->data_len);
}

static void reset_event(struct sse *sse)
{
    sse->has_data = false;
    sse->type_at = sse->data_at = NULL;
    sse->type_len = sse->data_len = 0;
}

/* Whether to go on. */
static bool dispatch(struct sse *sse)
{
    if (sse->has_data) {
        struct sse_event event = {
            .type = sse->type_at ? sse->type_at : sse->type.data, .type_len = sse->type_len,
            .data = sse->data_at ? sse->data_at : sse->data.data, .data_len = sse->data_len,
            .id = sse->id.len ? sse->id.data : "", .id_len = sse->id.len,
        };
        if (!event.type_len) {
            event.type = "message";
            event.type_len = 7;
        }
        if (!event.data_len)
            event.data = "";
        if (!sse->on_event(&event, sse->user))
            return false;
    }
    reset_event(sse);
    return true;
}

/* ---- fields ------------------------------------------------------------------------------------------- */

static void on_type(struct sse *sse, const char *value, size_t len)
{
    sse->type_at = value;
    sse->type_len = len;
}

static void on_data(struct sse *sse, const char *value, size_t len)
{
    if (!sse->has_data) {
        sse->has_data = true;
        sse->data_at = value;
        sse->data_len = len;
        return;
    }
    settle(&sse->data, &sse->data_at, sse->data_len);
    sse->data.len = sse->data_len;
    buf_putc(&sse->data, '\n');
    buf_put(&sse->data, value, len);
    sse->data_len = sse->data.len;
}

static void on_id(struct sse *sse, const char *value, size_t len)
{
    if (len && memchr(value, '\0', len))
        return;
    buf_clear(&sse->id);
    buf_put(&sse->id, value, len);
}

static void on_retry(struct sse *sse, const char *value, size_t len)
{
    int64_t ms = 0;
    for (size_t i = 0; i < len; i++) {
        if (value[i] < '0' || value[i] > '9' || ms > INT64_MAX / 100)
            return;
        ms = ms * 10 + (value[i] - '0');
    }
    if (len)
        sse->retry_ms = ms;
}

static const struct field {
    const char *name;
    size_t len;
    void (*on)(struct sse *sse, const char *value, size_t len);
} fields[] = {
    { "data", 4, on_data }, { "event", 5, on_type }, { "id", 2, on_id }, { "retry", 5, on_retry },
};

/* Not a blank one.  Comments, and fields that nobody knows, find no row. */
static void take_field(struct sse *sse, const char *line, size_t len)
{
    for (const struct field *field = fields; field < fields + COUNT(fields); field++) {
        if (len < field->len || memcmp(line, field->name, field->len) != 0 ||
            (len > field->len && line[field->len] != ':'))
            continue;
        size_t skip = MIN(len, field->len + 1);
        if (skip < len && line[skip] == ' ')
            skip++;
        field->on(sse, line + skip, len - skip);
        return;
    }
}

/* ---- lines --------------------------------------------------------------------------------------------- */

/* Whether to go on; *rc says why not. */
static bool take_line(struct sse *sse, const char *line, size_t len, int *rc, rondo_error *err)
{
    if (!len)
        return dispatch(sse);
    if (UNLIKELY(len > sse->line_max)) {
        *rc = refuse(sse, "lines", sse->line_max, err);
        return false;
    }
    take_field(sse, line, len);
    if (LIKELY(sse->data_len <= sse->event_max))
        return true;
    *rc = refuse(sse, "events", sse->event_max, err);
    return false;
}

/* A line that came in several pieces, the last of which is given. */
static bool take_pieces(struct sse *sse, const char *bytes, size_t len, int *rc, rondo_error *err)
{
    if (len > sse->line_max - MIN(sse->line.len, sse->line_max)) {
        *rc = refuse(sse, "lines", sse->line_max, err);
        return false;
    }
    buf_put(&sse->line, bytes, len);
    if (!take_line(sse, sse->line.data, sse->line.len, rc, err))
        return false;
    settle_all(sse);
    buf_clear(&sse->line);
    return true;
}

/* The end of a line that has not come yet. */
static int keep(struct sse *sse, const char *bytes, size_t len, rondo_error *err)
{
    settle_all(sse);
    if (len > sse->line_max - MIN(sse->line.len, sse->line_max))
        return refuse(sse, "lines", sse->line_max, err);
    buf_put(&sse->line, bytes, len);
    return 0;
}

/* Where the next LF and the next CR are; behind the last ones, where the bytes end. */
struct ends {
    const char *lf, *cr;
};

static inline const char *find(const char *known, const char *at, const char *end, char c)
{
    if (known >= at)
        return known;
    known = memchr(at, c, (size_t)(end - at));
    return known ? known : end;
}

static inline const char *line_end(struct ends *ends, const char *at, const char *end)
{
    ends->lf = find(ends->lf, at, end, '\n');
    ends->cr = find(ends->cr, at, end, '\r');
    return MIN(ends->lf, ends->cr);
}

/* What looked like a byte order mark and was none belongs to the first line. */
static const char *skip_mark(struct sse *sse, const char *at, const char *end)
{
    while (at < end && sse->bom < 3) {
        if (*at != mark[sse->bom]) {
            buf_put(&sse->line, mark, sse->bom);
            sse->bom = 3;
            break;
        }
        at++;
        sse->bom++;
    }
    return at;
}

int sse_feed(struct sse *sse, const char *bytes, size_t len, rondo_error *err)
{
    if (sse->failed)
        return err_set(err, RONDO_ESTATE, "the event stream was given up before");
    if (!len)
        return 0;
    const char *end = bytes + len, *at = skip_mark(sse, bytes, end);
    struct ends ends = { NULL, NULL };
    int rc = 0;
    while (at < end) {
        if (sse->after_cr) {
            sse->after_cr = false;
            if (*at == '\n') {
                at++;
                continue;
            }
        }
        const char *stop = line_end(&ends, at, end);
        if (stop == end)
            break;
        bool is_cr = *stop == '\r';
        if (UNLIKELY(sse->line.len) ? !take_pieces(sse, at, (size_t)(stop - at), &rc, err)
                                    : !take_line(sse, at, (size_t)(stop - at), &rc, err))
            return rc;
        sse->after_cr = is_cr;
        at = stop + 1;
    }
    return keep(sse, at, (size_t)(end - at), err);
}

int sse_end(struct sse *sse, rondo_error *err)
{
    int rc = 0;
    if (sse->failed)
        return err_set(err, RONDO_ESTATE, "the event stream was given up before");
    if (sse->line.len && !take_pieces(sse, "", 0, &rc, err))
        return rc;
    dispatch(sse);
    return 0;
}
