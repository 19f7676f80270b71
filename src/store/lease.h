/* lease.h - who drives a run.

   A process that drives runs has a row in the table `driver`; a run names it, and a number (the fence) that
   grows whenever somebody takes the run.  A driver is dead when its process is, if that can be seen from here,
   else when it has not been heard of for LEASE_NS. */
#ifndef RONDO_LEASE_H
#define RONDO_LEASE_H

#include "store/db.h"

#define LEASE_NS       (30 * INT64_C(1000000000))
#define LEASE_RENEW_NS (10 * INT64_C(1000000000))

/* Our row, made in the batch when there is none. */
int lease_driver(struct store *store, int64_t *ret, rondo_error *err);

/* Who drives a run, for people: "pid 4711 on host since 12:01"; empty: nobody that lives. */
int lease_holder(struct store *store, int64_t run, struct buf *ret, rondo_error *err);

/* Takes the run's lease, in the batch: its new fence, or RONDO_EBUSY naming who has it. */
int lease_take(struct store *store, int64_t run, const char *id, int64_t *ret_fence, rondo_error *err);

/* Is it still ours?  RONDO_EBUSY naming who has it when not. */
int lease_check(struct store *store, int64_t run, const char *id, int64_t fence, rondo_error *err);

/* Gives it back, in the batch, if it is still ours. */
int lease_release(struct store *store, int64_t run, int64_t fence, rondo_error *err);

/* Writes into the batch that we live, when it is time to. */
int lease_keep(struct store *store, rondo_error *err);
void lease_end_batch(struct store *store, bool lost);

/* We drive nothing any more. */
void lease_leave(struct store *store);

/* Rows of processes that are dead and hold nothing; in the batch. */
int lease_bury(struct store *store, rondo_error *err);

#endif
