/* shim.h - a layer under SQLite that sees every call to a file: it writes them down, or lets one fail.

   What is written down lies in memory that a child process shares, so a child can be the one who writes,
   and its parent the one who reads what would have been on the disk at any moment (disk.h). */
#ifndef SHIM_H
#define SHIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From now on SQLite's files go through here.  Before the first store is opened. */
void shim_install(void);

/* ---- writing down ------------------------------------------------------------------------------------ */

enum shim_kind { SHIM_WRITE, SHIM_TRUNCATE, SHIM_SYNC, SHIM_DELETE, SHIM_NOTE };
enum shim_file { SHIM_DB, SHIM_WAL, SHIM_FILES };

/* One call.  bytes: what was written, or what was noted. */
struct shim_op {
    enum shim_kind kind;
    enum shim_file file;
    uint64_t offset; // truncate: the new size
    size_t len;
    const char *bytes;
};

/* Calls are written down from here on, also those of children that are forked meanwhile, until this process
   stops; the old ones are forgotten. */
void shim_record(void);
void shim_stop(void);

/* Something that is to be found among the calls. */
void shim_note(const void *bytes, size_t len);

/* The call at *at, which then moves on; false at the end.  *at begins with 0. */
bool shim_next(size_t *at, struct shim_op *ret);

/* ---- failing ------------------------------------------------------------------------------------------ */

enum shim_fault {
    SHIM_FULL,        // a write: ENOSPC
    SHIM_WRITE_ERROR, // a write: EIO
    SHIM_SHORT,       // a write: only half of it arrives, then ENOSPC
    SHIM_READ_ERROR,  // a read: EIO
    SHIM_SYNC_ERROR,  // a sync: EIO
    SHIM_NO_OPEN,     // opening a file: EMFILE, EACCES
    SHIM_NO_LOCK,     // a lock of the file, or in the shared memory beside it: somebody else has it
    SHIM_NO_MAP,      // shared memory: ENOMEM, EIO
    SHIM_CUT_ERROR,   // truncating, deleting, asking for the size: EIO
    SHIM_FAULTS
};
extern const char *const shim_fault_names[SHIM_FAULTS];

/* The nth call (from 1) that can fail so does, once, or with `lasting` all from then on; nth 0: none does.
   How many there were since. */
void shim_fail(enum shim_fault fault, uint64_t nth, bool lasting);
uint64_t shim_calls(void);

#endif
