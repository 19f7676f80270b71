/* talks.h - runs in a test's store (stores.h) that are only values: an event each, in a record each. */
#ifndef TALKS_H
#define TALKS_H

#include "stores.h"

extern rondo_error talk_err;

void must(int rc); // else the test fails with talk_err

/* Appends one more event with this value. */
void talk_append(struct journal *journal, json_t *value);

/* How many events there are; whether the last one has this value. */
uint64_t talk_count(struct journal *journal);
void talk_check(struct journal *journal, json_t *value);

/* Bytes that the store's files have. */
int64_t talk_file_size(void);

/* Text of that length, the same for the same seed; new. */
json_t *talk_text(size_t len, uint64_t seed);

#endif
