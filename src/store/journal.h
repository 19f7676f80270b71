/* journal.h - where the events of a run are kept: an append-only list of records.

   A record is what codec.h says: the events of one turn.  append is all or nothing, and what was
   appended is what a reader sees.  Stores fill in the table of functions; the core and the shell
   know only this interface. */
#ifndef RONDO_JOURNAL_H
#define RONDO_JOURNAL_H

#include "base/error.h"

struct journal;

/* A place between two records. */
struct journal_pos {
    uint32_t segment, offset;
    uint64_t seq; // of the first event of the record there
};

struct journal_ops {
    int (*append)(struct journal *journal, const char *record, size_t len, uint64_t first_seq,
                  uint32_t count, rondo_error *err);
    /* The record at pos, which then moves behind it: 1, 0 at the end, or an error (RONDO_ESTORE) that says
       which event is damaged.  Borrowed until the next append or read. */
    int (*read)(struct journal *journal, struct journal_pos *pos, const char **ret, size_t *ret_len,
                rondo_error *err);
    /* The record that holds event seq; false when there is none. */
    bool (*seek)(struct journal *journal, uint64_t seq, struct journal_pos *ret);
    void (*clear)(struct journal *journal); // forgets everything
    void (*close)(struct journal *journal);
    /* What was appended, by all journals of the same store, becomes durable: all of it or nothing.  NULL:
       appending is enough. */
    int (*commit)(struct journal *journal, rondo_error *err);
};

struct journal {
    const struct journal_ops *ops;
};

/* A journal in memory: gone with the process, and with close. */
struct journal *journal_in_memory(void);

#endif
