/* prospects.h - is everything that a value is and has taken in by a prospect? */
#ifndef RONDO_TEST_PROSPECTS_H
#define RONDO_TEST_PROSPECTS_H

#include "data/prospect.h"

#include <math.h>

static inline unsigned type_of(const json_t *value)
{
    bool is_whole = json_is_real(value) && floor(json_real_value(value)) == json_real_value(value);
    return is_whole ? PROSPECT_INTEGER : 1u << json_typeof(value);
}

static inline bool takes_in(struct arena *arena, const struct prospect *p, json_t *value)
{
    const char *name;
    json_t *inner;
    size_t i;
    bool ok = prospect_types(p) & type_of(value);
    json_object_foreach(value, name, inner)
        ok = ok && takes_in(arena, prospect_member(arena, p, name), inner);
    json_array_foreach(value, i, inner)
        ok = ok && takes_in(arena, prospect_item(arena, p), inner);
    return ok;
}

#endif
