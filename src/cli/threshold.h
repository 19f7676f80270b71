/* threshold.h - the score that a loop waits for. */
#ifndef RONDO_THRESHOLD_H
#define RONDO_THRESHOLD_H

#include "flow/node.h"

/* The number that `until` of a loop compares its score with, as 8 in `score >= 8`; false when there is none.  The score
   is what the loop's `score` names, or anything that is called score. */
bool threshold_find(const rondo_node *loop, double *ret);

#endif
