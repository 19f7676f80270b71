/* runlog.h - the journal of one run in a store: chunks, the log behind them, and what was appended last.

   Events are found by their number alone: other processes may gather the log at any time, so no place in the
   file means anything for long. */
#ifndef RONDO_RUNLOG_H
#define RONDO_RUNLOG_H

#include "store/chunk.h"
#include "store/db.h"

/* Records of a run that are in memory, side by side as in a chunk. */
struct window {
    struct buf bytes;
    uint64_t first, next; // events: from, up to but without
    uint32_t sum;         // of everything up to its end
    uint32_t serial;      // never the same for other contents
    uint32_t used;        // when it was last asked for something
};

#define WINDOWS 4 // so that whoever reads on and looks back now and then does not load everything again and again

/* How far the log has been read for a run: all rows up to `at` have been seen. */
struct log_mark {
    int64_t run, at;
    uint64_t next; // the run's next event
    uint32_t sum;
};

/* Whose records a run has: from the last one with upto >= seq. */
struct runlog_owner {
    int64_t run;
    uint64_t upto;
};

struct runlog {
    struct journal base;
    struct store *store;
    int64_t num;
    char *id;
    bool drives; // we hold its lease, with this fence
    bool replaced; // in this batch, by another journal of the same run
    bool lost;   // a batch that it had a part in, or the lease
    int64_t fence;
    uint32_t written;  // store->written when the lease was last looked at
    uint64_t next;     // event; only when we drive it
    uint32_t sum;      // of everything before
    struct window tail;   // what we appended last, up to next
    struct window windows[WINDOWS]; // what was read back
    struct window *window;          // the one that is being loaded
    struct buf whole;     // a record with long parts, as it was read or is to be written
    uint32_t serials, uses;
    struct log_mark mark;   // where reading the log has come to
    struct log_mark *marks; // and places from where it can go on, of the run's own records
    uint32_t mark_count, mark_cap;
    struct runlog_owner *owners; // itself, its parent, ...
    uint32_t owner_count;
    struct runlog *prev, *after; // all of the store
    struct runlog *next_in_batch;
    bool in_batch;
    struct store_run about; // what store_about() has returned; its texts are in `texts`
    struct buf texts, definition;
};

/* A journal of the run with this number.  With a fence it is driven by us, and its end is looked for.  NULL with
   err filled in. */
struct runlog *runlog_open(struct store *store, int64_t num, const char *id, int64_t fence, rondo_error *err);

/* Of a run that was made just now, in the batch: it goes on with event next, sum is that of all before. */
struct runlog *runlog_new(struct store *store, int64_t num, const char *id, uint64_t next, uint32_t sum,
                          rondo_error *err);

/* NULL when the journal is not one of a store. */
struct runlog *runlog_of(struct journal *journal);

/* Before something about the run is written: opens the batch and makes sure that the run is still ours. */
int runlog_join_batch(struct runlog *log, rondo_error *err);
void runlog_leave_batch(struct runlog *log, bool lost); // the first of store->batch

/* The sum of all records up to and including event seq, which has to end one: RONDO_EINVAL otherwise. */
int runlog_sum_at(struct runlog *log, uint64_t seq, uint32_t *ret, rondo_error *err);

#endif
