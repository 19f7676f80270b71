/* checker.h - gradual type checking: finding what cannot be right before it is run. */
#ifndef RONDO_CEL_CHECKER_H
#define RONDO_CEL_CHECKER_H

#include "cel/lookup.h"

/* Gives every node its type and finds what its names stand for.  The type of the whole, made in
   the arena of the lookup; NULL with err filled in, position included. */
const struct cel_type *checker_run(struct lookup *lookup, struct ast *root, const char *text,
                                   size_t len, rondo_error *err);

#endif
