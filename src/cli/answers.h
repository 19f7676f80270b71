/* answers.h - what gates are answered with when nobody is asked: --answers FILE.

   The file maps the path of a gate, or its id, to an answer, or to a list of answers that are used
   one after the other.  An answer that is a list is written as a list in a list. */
#ifndef RONDO_ANSWERS_H
#define RONDO_ANSWERS_H

#include "base/error.h"
#include "flow/flow.h"

#include <jansson.h>

/* All zero has none. */
struct answers {
    json_t *map;
    json_t *used; // key -> how many of its list
};

int answers_open(struct answers *answers, const char *path, rondo_error *err);
void answers_clear(struct answers *answers);

/* Does every key name a step of the flow, or what an agent of one asks (`step.permit-1`)?  0 or RONDO_EINVAL. */
int answers_check(const struct answers *answers, const struct flow *flow, rondo_error *err);

/* The next answer for a gate: new; NULL when there is none (any more).  The path goes before the id. */
json_t *answers_take(struct answers *answers, const char *path, const char *id);

/* Would there be another one, if this is refused?  The only answer for a gate is not given twice. */
bool answers_has_more(const struct answers *answers, const char *path, const char *id);

#endif
