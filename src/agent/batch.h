/* batch.h - the tool calls of one answer: permitted, made all at once, and answered in their order.

   Nothing is made before the note that it begins is in the log for good.  Of calls that a crash cut off, those
   that may be made again are; of the others (class `once`) nobody knows whether they have acted, and the policy
   of the run says what follows. */
#ifndef RONDO_BATCH_H
#define RONDO_BATCH_H

#include "agent/talk.h"

struct batch;

struct batch *batch_new(struct talk *talk, json_t *message); // an assistant's, with calls
void batch_free(struct batch *batch); // nothing is open; NULL is fine

void batch_recall(struct batch *batch, const json_t *note); // begin or result

/* Makes what has no result yet; done(user) when everything has one, or everything was cancelled.  It may come
   before this returns. */
void batch_run(struct batch *batch, void (*done)(void *user), void *user);
bool batch_is_open(const struct batch *batch); // between the two
bool batch_is_parked(const struct batch *batch); // it does nothing but wait for people
void batch_cancel(struct batch *batch);        // done() still comes, at once if nothing has to be waited for

bool batch_failed(const struct batch *batch); // a call's outcome is unknown, and the policy is to fail

/* One message of role tool for each call; the remark, unless NULL, stands behind the last result. */
void batch_put_messages(const struct batch *batch, json_t *messages, const char *remark);

/* Of the calls and of what came of them: the same for the same. */
uint64_t batch_hash(const struct batch *batch);

#endif
