/* wal.h - whether everything that was committed into a WAL can still be read.

   SQLite reads a WAL up to the first frame that does not fit its checksum and takes the rest for something
   that was never finished.  After kill -9 and power cuts that is what it is.  But when a bit of it has changed
   since, everything behind that place would be gone without a word; so it is looked at here: from where SQLite's
   own reading has come to, because whoever opens a store has just had all of that read and checked. */
#ifndef RONDO_WAL_H
#define RONDO_WAL_H

#include <stdbool.h>
#include <stdint.h>

enum wal_state {
    WAL_WHOLE,  // or there is none
    WAL_TORN,   // a commit has left a mark, but cannot be read
    WAL_FOREIGN // its header is damaged, and behind it are frames of its own, which nobody can read
};

struct wal_found {
    uint64_t offset; // where what can be read ends
    bool has_header; // that can be read: then the following is known
    uint32_t salt;   // its own number: one higher than that of the WAL before it,
    uint32_t times;  // that it was begun anew; 0: it was made, and its number is a random one
    bool is_other;   // for the caller: it does not belong to its file
};

/* What SQLite has read of a WAL: so many frames, which end with these sums.  0 frames: nothing is known. */
struct wal_read {
    uint32_t frames;
    uint32_t salts[2], sums[2];
};

/* From the two copies of the head of a WAL's index in shared memory, each of WAL_INDEX_HEAD bytes. */
#define WAL_INDEX_HEAD 48
struct wal_read wal_index_read(const char heads[2 * WAL_INDEX_HEAD]);

/* Only reads.  Somebody who writes meanwhile may make it look torn. */
enum wal_state wal_look(const char *path, const struct wal_read *read, struct wal_found *ret);

/* Only its header: ret->offset says nothing. */
void wal_look_at_header(const char *path, struct wal_found *ret);

#endif
