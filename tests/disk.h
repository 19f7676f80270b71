/* disk.h - what a disk may hold when the power goes, given the calls that a shim wrote down.

   What was written before a file's last sync is there.  Of what came later any part may be: any of the writes, in
   any order, each of them whole or only some of its sectors (512 bytes) or pages (4 KiB); a file may have got its
   new size without the bytes. */
#ifndef DISK_H
#define DISK_H

#include "base/buf.h"
#include "shim.h"

struct disk {
    struct disk_file {
        bool exists;       // durably
        struct buf synced; // what is there for sure
        struct shim_op *later; // what was done since, in its order
        uint32_t count, cap;
    } files[SHIM_FILES];
    uint64_t random; // where the chances come from
};

enum disk_loss {
    DISK_KILLED,  // only the process went: everything is there
    DISK_HALF,    // it went in the midst of its last write
    DISK_NOTHING, // of what came later
    DISK_PREFIX,  // the first ones of what came later
    DISK_SOME,    // any of them
    DISK_TORN,    // any of them, in pieces
    DISK_SHUFFLED // any of them, in pieces, in any order, and sizes without bytes
};

/* As it is in a folder now; there are no calls yet. */
void disk_load(struct disk *disk, const char *path);
void disk_clear(struct disk *disk);

/* The next call; notes are ignored. */
void disk_apply(struct disk *disk, const struct shim_op *op);

/* The files, as they may be, at path and path-wal; everything else there is removed. */
void disk_write(struct disk *disk, enum disk_loss loss, const char *path);

uint32_t disk_chance(struct disk *disk, uint32_t of); // 0 <= it < of

#endif
