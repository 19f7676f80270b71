/* usage.h - amounts of tokens, money and calls: adding them up, and their form in events. */
#ifndef RONDO_USAGE_H
#define RONDO_USAGE_H

#include "rondo.h"

#include <jansson.h>

/* No single amount in an event is larger, and no sum of them overflows. */
#define USAGE_MAX (INT64_MAX / 1024)

void usage_add(rondo_usage *sum, const rondo_usage *usage);
void usage_take(rondo_usage *sum, const rondo_usage *usage); // what had been added before
bool usage_is_none(const rondo_usage *usage);
bool usage_is_good(const rondo_usage *usage); // no amount is negative or out of reason

/* { prompt, completion, nanoUsd, calls } and, of the others, what is not 0; new. */
json_t *usage_value(const rondo_usage *usage);

/* The same read back; what is missing or out of reason counts as nothing. */
rondo_usage usage_from(const json_t *value);

#endif
