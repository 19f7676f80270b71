/* sight.h - whether a step can have ended when an expression elsewhere looks at it. */
#ifndef RONDO_SIGHT_H
#define RONDO_SIGHT_H

#include "flow/flow.h"

enum sight_kind {
    SIGHT_FINE,  // it has, or nobody can know
    SIGHT_RACE,  // it may have, by chance
    SIGHT_NEVER, // it has not
};

struct sight {
    enum sight_kind kind;
    const struct flow_step *from; // who would have to wait: beside `to`, or `to` itself when it is around
};

/* What an expression of step `from` (NULL: of the file), or of a step inside it, sees of `to`.  Rules of a loop may
   look at their loop: they are not to be asked about here. */
struct sight sight_of(const struct flow_step *from, const struct flow_step *to);

#endif
