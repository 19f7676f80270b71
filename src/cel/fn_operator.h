/* fn_operator.h - indexing, which other parts need too. */
#ifndef RONDO_CEL_FN_OPERATOR_H
#define RONDO_CEL_FN_OPERATOR_H

#include "cel/frame.h"

/* from[key].  *ret_absent tells a key that is not there from one that cannot be. */
struct cel_val operator_index(struct cel_frame *f, struct cel_val from, struct cel_val key,
                              bool *ret_absent);

#endif
