/* fit.h - could a value fit two schemas?  Asked when definitions are built, before there is one. */
#ifndef RONDO_FIT_H
#define RONDO_FIT_H

#include <jansson.h>
#include <stdbool.h>

/* False only when the types that both allow have nothing in common. */
bool fit_can_meet(const json_t *a, const json_t *b);

#endif
