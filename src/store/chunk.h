/* chunk.h - records side by side: how chunks are laid out, and how the log is gathered into them.

   In a chunk each record, as it is kept (kept.h), stands behind its length (varint) and the run's sum up to
   and including it (four bytes, least first).  The sum of a run's records is one CRC-32C over all of their
   bytes, so a record vouches for everything before it. */
#ifndef RONDO_CHUNK_H
#define RONDO_CHUNK_H

#include "store/db.h"

#define CHUNK_MAX    (64u << 10)  // a chunk ends behind the record that reaches this
#define CHUNK_SMALL  (16u << 10)  // a run's last chunk grows while it is smaller
#define RECORD_MAX   (512u << 20)
#define LOG_MAX      16384        // rows, at which the log is gathered
#define LOG_BYTES    (8u << 20)   // or so many bytes

/* What a row's `sum` is: the sum, and above it a checksum of the row's other numbers (a: `at` of the log, `count`
   of a chunk). */
int64_t chunk_stamp(int64_t a, int64_t run, uint64_t first, uint32_t sum);

/* One record inside of a chunk. */
struct chunk_record {
    const char *bytes;
    size_t len;
    uint32_t count; // of events
    uint32_t sum;
};

/* The record at *at, which moves behind it; false at the end, and where the bytes make no sense: then *at is
   not end. */
bool chunk_next(const char **at, const char *end, struct chunk_record *ret);
void chunk_put(struct buf *buf, const struct chunk_record *record);

/* Are these bytes whole records whose sums fit?  *next is their first event and becomes the one behind them (or the
   one that is damaged), *sum the sum before them and becomes that of all. */
bool chunk_verify(const char *bytes, size_t len, uint64_t *next, uint32_t *sum);

/* Learns where the log begins and ends; inside of a batch. */
int chunk_find_log(struct store *store, rondo_error *err);

/* The row that a log begins with: nobody's. */
int chunk_begin_log(struct store *store, int64_t at, rondo_error *err);

/* Gathers the log into chunks, in the batch.  RONDO_ESTORE when a row of it is damaged. */
int chunk_gather(struct store *store, rondo_error *err);

/* The same in a batch of its own, when the log has become long and nothing is in the way. */
void chunk_gather_if_long(struct store *store);

#endif
