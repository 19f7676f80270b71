/* spec.h - structs of rondo.h that begin with their size.

   The size says how much of the struct a program knows.  A program that was built with an older header has a shorter
   one, and what it lacks is zero. */
#ifndef RONDO_SPEC_H
#define RONDO_SPEC_H

#include "rondo.h"

#define SPEC_SIZE_MAX 65536 // more is no size, but something else that stands there

/* Zeroes ours and copies what was given; NULL gives nothing, and all is zero.  RONDO_EINVAL: the size is wrong.  The
   message then says so of `what`, and which macro it begins with: "the options", "RONDO_RUN". */
int spec_copy(void *ours, size_t our_size, const void *given, const char *what, const char *macro, rondo_error *err);
#define SPEC_COPY(ours, given, what, macro, err) spec_copy(&(ours), sizeof(ours), given, what, #macro, err)

#endif
