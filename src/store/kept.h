/* kept.h - records as they are kept: long parts of them are elsewhere, each only once.

   A conversation that every step of a run hands on would be stored again with each of them.  So a
   record is cut into pieces (data/pieces.h), and a piece is given to a keeper, who says a number for
   it: the same for the same bytes.  Texts of the events' values are cut by themselves, so that one
   that comes again at another place is found again.  What is kept of the record is then:

       0           1 byte   no record begins with it
       count       varint   of events, as the record says it
       sum         4 bytes  CRC-32C of the record, least first
       length      varint   of the record
       then by turns, up to the end:
       bytes       varint   how many, and the bytes themselves
       piece       varint   its number

   Records without long parts are kept as they are.  The sum covers the pieces: whoever protects what is
   kept from damage has protected everything. */
#ifndef RONDO_KEPT_H
#define RONDO_KEPT_H

#include "base/buf.h"
#include "base/error.h"

struct keeper {
    /* The number of these bytes, from 1 on; or a negative error. */
    int64_t (*put)(void *user, const char *bytes, size_t len, rondo_error *err);
    /* Puts the bytes of a number into out; an error when there are none. */
    int (*get)(void *user, uint64_t num, struct buf *out, rondo_error *err);
    void *user;
};

/* Puts a record into out as it is kept. */
int kept_put(const struct keeper *keeper, const char *record, size_t len, struct buf *out,
             rondo_error *err);

/* The record again, in out.  RONDO_ESTORE when something of it is damaged or it has more than `most` bytes;
   one that is kept as it is is not looked at. */
int kept_get(const struct keeper *keeper, const char *kept, size_t len, size_t most, struct buf *out,
             rondo_error *err);

/* How many events it says to have: 0 when it is no record. */
uint32_t kept_count(const char *kept, size_t len);

/* Whether it has to go through kept_get() at all. */
static inline bool kept_has_pieces(const char *kept, size_t len)
{
    return len && !kept[0];
}

/* The numbers in it, one after the other: *at begins as NULL.  0 at the end, or where it is damaged. */
uint64_t kept_next(const char *kept, size_t len, const char **at);

#endif
