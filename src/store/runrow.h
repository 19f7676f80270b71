/* runrow.h - the rows of the table `run`. */
#ifndef RONDO_RUNROW_H
#define RONDO_RUNROW_H

#include "store/db.h"

/* The number of the run whose id begins with `id`: RONDO_ENOTFOUND (with the nearest), RONDO_EINVAL when it
   could be several.  ret_id, if wanted, is the whole one. */
int runrow_find(struct store *store, const char *id, int64_t *ret, struct buf *ret_id, rondo_error *err);

/* A new row, in the batch: its number.  It is driven by us, its fence is 1, and it has no records but those
   that it shares with its parent (run->parent, run->fork_seq), whose sum is fork_sum. */
int runrow_add(struct store *store, const struct store_run *run, uint32_t fork_sum, const char *definition,
               size_t len, int64_t *ret, rondo_error *err);

/* Where a run's records are. */
struct extent {
    int64_t parent; // its parent's
    uint64_t fork_seq;  // up to here,
    uint64_t chunk_seq; // its chunks up to here,
    uint32_t chunk_sum; // with this sum,
    uint64_t last_seq;  // and the log at least up to here
};

/* 1, 0 when there is no such run; RONDO_ESTORE when the row is damaged.  id: its id, if it has to be this one. */
int runrow_extent(struct store *store, int64_t run, const char *id, struct extent *ret, rondo_error *err);

/* The log was gathered: the chunks now go up to chunk_seq. */
int runrow_extend(struct store *store, int64_t run, const struct extent *extent, rondo_error *err);

/* RONDO_ESTORE: "event 7 of run 'x' is damaged: why". */
int runrow_damaged(struct store *store, int64_t run, uint64_t seq, const char *why, rondo_error *err);

/* Makes nobody's of a row: it is found no more, and goes with its records when no fork needs them. */
int runrow_disown(struct store *store, int64_t run, rondo_error *err);

/* Deletes rows that are nobody's and that no fork needs, with their chunks; the log has to be gathered. */
int runrow_bury(struct store *store, rondo_error *err);

#endif
