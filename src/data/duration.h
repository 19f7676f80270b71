/* duration.h - lengths of time as people write them: 30s, 1h30m, 1.5s. */
#ifndef RONDO_DURATION_H
#define RONDO_DURATION_H

#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>

/* Hours, minutes, seconds, in that order, each at most once.  Unless is_plain, also milliseconds
   (ms) and fractions (1.5s).  What is_plain may be as long as Go can count, some 292 years, and then means the
   73 years that are the most here.  0, or an error with a sentence that quotes the text: RONDO_EPARSE when it is no
   duration, RONDO_ELIMIT when it is too long. */
int duration_parse(const char *text, bool is_plain, int64_t *ret_ms, rondo_error *err);

/* As a file may have it: a whole number of the largest unit. */
void duration_put(struct buf *out, int64_t ms);

#endif
