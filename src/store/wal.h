/* wal.h - whether everything that was committed into a WAL can still be read.

   SQLite reads a WAL up to the first frame that does not fit its checksum and takes the rest for something
   that was never finished.  After kill -9 and power cuts that is what it is.  But when a bit of it has changed
   since, everything behind that place would be gone without a word; so it is looked at here. */
#ifndef RONDO_WAL_H
#define RONDO_WAL_H

#include <stdint.h>

enum wal_state {
    WAL_WHOLE,  // or there is none
    WAL_TORN,   // a commit has left a mark, but cannot be read
    WAL_FOREIGN // its header is damaged: nothing of it can be read
};

/* Only reads; ret_offset: where what can be read ends.  Somebody who writes meanwhile may make it look torn. */
enum wal_state wal_look(const char *path, uint64_t *ret_offset);

#endif
