/* limiter.h - how much may be asked of one model at a time: a line, and a book of the last minute.

   Pure: time is given.  Whoever wants to ask stands in line with a ticket; limiter_next() lets the first of
   the line go as soon as all limits hold with it, and nobody overtakes, so that large requests are not
   starved by small ones.  A ticket that comes back after a failed try has its old place.

   A minute is any minute: what was sent is forgotten LIMITER_WINDOW_MS later, not at the full minute.
   Input counts from the moment of asking.  How much a model will write is not known before, and when its
   server counts it neither: so the most that it may be is held until the answer is there, and what it was
   counts from then on.  Whichever way a server counts, no minute of its has more than was allowed. */
#ifndef RONDO_LIMITER_H
#define RONDO_LIMITER_H

#include "base/mem.h"

/* A minute, and what networks may do to the distance of two requests. */
#define LIMITER_WINDOW_MS (60000 + 1000)

/* One request: in its owner's storage, all zero at first. */
struct ticket {
    struct ticket *prev, *next; // in line
    uint64_t order;             // the place; 0: has never stood in line
    int64_t input, output;      // tokens, at most
    uint64_t entry;             // its input in the book
    bool is_in_line, is_out;    // waiting; let go, and not settled yet
    bool is_booked;             // there is such an entry
};

/* What happened when, oldest first: a ring. */
struct meter {
    struct {
        int64_t at_ms, amount;
    } *entries;
    uint32_t cap;
    uint64_t first, end; // numbers of entries; [first, end) are there
    int64_t sum;
};

/* In its owner's storage; all zero, then the limits; 0: no limit. */
struct limiter {
    int64_t rpm, tpm, concurrency;
    struct ticket *head, *tail;
    uint64_t orders;
    struct meter requests, tokens;
    int64_t held;   // output of those that are out
    int64_t out;    // how many are
    int64_t pause_ms; // nobody goes before then
};

void limiter_clear(struct limiter *limiter);

/* Stands in line, with at most so many tokens.  One request that is larger than the limit for a minute
   goes when it is alone. */
void limiter_join(struct limiter *limiter, struct ticket *ticket, int64_t input, int64_t output);
void limiter_leave(struct limiter *limiter, struct ticket *ticket); // fine when not in line

/* The next that may go; it is out then.  NULL: nobody, and *ret_due_ms is when to ask again (INT64_MAX: not
   before something else happens). */
struct ticket *limiter_next(struct limiter *limiter, int64_t now_ms, int64_t *ret_due_ms);

/* The answer is there, or will not come.  input and output: what it really was; -1: not known, so the
   estimate stands; 0 for what was never sent. */
void limiter_settle(struct limiter *limiter, struct ticket *ticket, int64_t now_ms, int64_t input, int64_t output);

/* The server wants peace until then; never shortens a pause. */
void limiter_pause(struct limiter *limiter, int64_t until_ms);

#endif
