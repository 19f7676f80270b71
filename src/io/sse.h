/* sse.h - server-sent events: bytes in, events out.

   Feed what arrives, cut anywhere; events come out as the standard (WHATWG HTML, "server-sent events")
   has them: lines end in CR, LF or CRLF, a leading byte order mark and comments are skipped, data lines are joined by
   LF, an id with a NUL does not count, an event without data is none.  Bytes are handed on as they are:
   whether they are UTF-8 is for whoever reads the data.  An event that lies whole in the bytes that were fed
   is not copied. */
#ifndef RONDO_SSE_H
#define RONDO_SSE_H

#include "base/buf.h"
#include "base/error.h"

#define SSE_LINE_MAX  (16u << 20) // where nothing else is said
#define SSE_EVENT_MAX (32u << 20)

/* Borrowed for the callback.  No NUL is behind them. */
struct sse_event {
    const char *type, *data, *id; // type: "message" when the stream has none; id: the last one so far, or ""
    size_t type_len, data_len, id_len;
};

/* In the owner's storage; the fields are sse.c's. */
struct sse {
    bool (*on_event)(const struct sse_event *event, void *user);
    void *user;
    size_t line_max, event_max;
    struct buf line;       // what is there of a line whose end has not come
    struct buf type, data; // of the event so far
    struct buf id;
    int64_t retry_ms;
    uint8_t bom;           // bytes of the byte order mark seen; past that, 3
    bool has_data, after_cr, failed;
    const char *type_at, *data_at; // where they lie while they have not been copied
    size_t type_len, data_len;
};

/* on_event returns whether to go on: after a false nothing is looked at any more, so that the callback may
   have cleared or freed the parser.  Limits of 0: those above. */
void sse_init(struct sse *sse, size_t line_max, size_t event_max,
              bool (*on_event)(const struct sse_event *event, void *user), void *user);
void sse_clear(struct sse *sse); // gives the memory back; to be initialised again

/* RONDO_ELIMIT for a line or event that is too long; then the parser takes nothing more. */
int sse_feed(struct sse *sse, const char *bytes, size_t len, rondo_error *err);

/* The stream is over.  An event whose blank line never came does not count by the standard, but servers
   forget it: this hands it out.  Do not call it for streams that were cut. */
int sse_end(struct sse *sse, rondo_error *err);

int64_t sse_retry_ms(const struct sse *sse); // what the stream asked for last; -1: nothing

/* The same as text: is the type NAME? */
bool sse_is(const struct sse_event *event, const char *type);

#endif
