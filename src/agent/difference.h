/* difference.h - where two texts or two values part, for people to see. */
#ifndef RONDO_DIFFERENCE_H
#define RONDO_DIFFERENCE_H

#include "base/buf.h"

#include <jansson.h>

/* Puts the first place where they differ, as
       prompt.user, line 3
         - the line as it was
         + the line as it is
   and says whether there is one.  Values are compared part by part, their texts line by line; `what` is
   what they are called.  NULL is a value that is not there. */
bool difference_put(struct buf *out, const char *what, const json_t *was, const json_t *is);

#endif
