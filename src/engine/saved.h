/* saved.h - a run as bytes: what rondo_run_save() gives and rondo_run_recover() takes.

       magic    6 bytes  the last one is the version
       hash     8 bytes  of the definition
       id       varint length, bytes
       shape    varint length, bytes; not in version 1
       record   varint length, 8 bytes of sum, bytes; any number of them

   Every sum covers its record and the sum before it, the first one all of the header.  Before version 3 the first one
   covered only the definition's hash and shape. */
#ifndef RONDO_SAVED_H
#define RONDO_SAVED_H

#include "base/buf.h"
#include "store/journal.h"

struct saved {
    uint64_t hash;
    char *id;
    struct buf shape; // of the definition (flow/shape.h); empty in version 1
    struct journal *journal; // in memory
};

#define auto_saved __attribute__((cleanup(saved_clear)))

void saved_clear(struct saved *saved);

/* RONDO_ESTORE says after which event the bytes are damaged.  Records are not looked into. */
int saved_read(const void *log, size_t len, struct saved *ret, rondo_error *err);

/* The same definition? RONDO_EMISMATCH, with the first node that differs. */
int saved_check(const struct saved *saved, rondo_node *node, rondo_error *err);

/* The records of a journal up to and including event `last`, which may be in the middle of one. */
int saved_put(struct buf *out, struct journal *journal, rondo_node *node, const char *id, uint64_t last,
              rondo_error *err);

#endif
