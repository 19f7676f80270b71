/* fit.h - does a value fit a schema: the basic types, before the whole of JSON Schema.

   Understood: type (a name or a list of names), enum, const, required, properties, items.
   Everything else in a schema is taken as fulfilled. */
#ifndef RONDO_FIT_H
#define RONDO_FIT_H

#include "base/error.h"

#include <jansson.h>

/* 0, or RONDO_ESCHEMA with a sentence such as "tags[2]: expected string, got integer". */
int fit_check(const json_t *schema, const json_t *value, rondo_error *err);

/* Could any value fit both?  False only when their types have nothing in common. */
bool fit_can_meet(const json_t *a, const json_t *b);

#endif
