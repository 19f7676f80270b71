/* codec.h - events as bytes: the records of the journal.

   One record holds the events of one turn:

       count   varint   how many
       time    8 bytes  nanoseconds since 1970, little endian, the same for all of them
       event   ...      type (1 byte), flags (varint), then the fields that the type has

   seq is not stored: events are numbered without gaps, and the journal knows its first one. */
#ifndef RONDO_CODEC_H
#define RONDO_CODEC_H

#include "base/buf.h"
#include "run/event.h"

/* Writes those events that have a seq; stored says how many that are. */
void codec_put_record(struct buf *buf, const struct rondo_event *events, uint32_t count,
                      uint32_t stored, int64_t time_ns);

/* The part of a record up to and including event `last`, as a record of its own. */
void codec_put_part(struct buf *buf, const char *record, size_t len, uint64_t first, uint64_t last);

/* Reading one record.  at moves; values are built only when asked for. */
struct codec {
    const char *at, *end;
    uint32_t left; // events not yet read
    int64_t time_ns;
    uint64_t seq; // of the next event
    const char *value; // where the last event's value begins, if it had one; it ends at `at`
};

/* False when the bytes are no record. */
bool codec_open(struct codec *codec, const char *bytes, size_t len, uint64_t first_seq);

/* The next event: 1, 0 at the end of the record, -1 when the bytes are damaged.  With values, an
   event that has one comes with a new reference in ev->value; without, it is skipped. */
int codec_next(struct codec *codec, struct rondo_event *ev, bool values);

#endif
