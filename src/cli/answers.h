/* answers.h - what gates are answered with when nobody is asked: --answers FILE.

   The file maps the path of a gate (as it is once, or in the definition) or its id to an answer, or to a list of
   answers that are used one after the other.  An answer that is a list is written as a list in a list.  The gate of a
   review can also be called by the step that it is about: `draft.review` or `draft`. */
#ifndef RONDO_ANSWERS_H
#define RONDO_ANSWERS_H

#include "base/error.h"
#include "flow/flow.h"

#include <jansson.h>

/* What a gate is called; borrowed. */
struct gate_names {
    const char *path, *plain, *id; // once, in the definition, of its step ("draft.review")
    bool is_review;
};

/* All zero has none. */
struct answers {
    json_t *map;
    json_t *used; // key -> how many of its list
};

int answers_open(struct answers *answers, const char *path, rondo_error *err);
void answers_clear(struct answers *answers);

/* Keys that name nothing that asks: no gate, no agent, and not what an agent of the definition asks (`step.permit-1`).
   A list of texts, new. */
json_t *answers_check(const struct answers *answers, const rondo_node *root);

/* The next answer for a gate: new; NULL when there is none (any more).  The path goes before that of the definition,
   and that before the id; names of its own go before those of the step that it is about. */
json_t *answers_take(struct answers *answers, const struct gate_names *gate);

/* Would there be another one, if this is refused?  The only answer for a gate is not given twice. */
bool answers_has_more(const struct answers *answers, const struct gate_names *gate);

#endif
