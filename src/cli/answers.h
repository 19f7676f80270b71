/* answers.h - what gates are answered with when nobody is asked: --answers FILE.

   The file maps the path of a gate (as it is once, or in the definition) or its id to an answer, or to a list of
   answers that are used one after the other.  An answer that is a list is written as a list in a list. */
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

/* Keys that name neither a step of the definition nor what an agent of one asks (`step.permit-1`): a list of texts,
   new. */
json_t *answers_check(const struct answers *answers, const rondo_node *root);

/* The next answer for a gate: new; NULL when there is none (any more).  The path goes before that of the definition,
   and that before the id. */
json_t *answers_take(struct answers *answers, const char *path, const char *plain, const char *id);

/* Would there be another one, if this is refused?  The only answer for a gate is not given twice. */
bool answers_has_more(const struct answers *answers, const char *path, const char *plain, const char *id);

#endif
