/* fn_string.h - the string functions that the evaluator calls by name. */
#ifndef RONDO_CEL_FN_STRING_H
#define RONDO_CEL_FN_STRING_H

#include "cel/frame.h"

struct regex;

struct cel_val string_contains(struct cel_frame *f, const struct cel_val *args);
struct cel_val string_starts_with(struct cel_frame *f, const struct cel_val *args);
struct cel_val string_ends_with(struct cel_frame *f, const struct cel_val *args);

/* Whether a compiled pattern is found in text.  Backtracking is paid for from the cost. */
struct cel_val string_match(struct cel_frame *f, const struct regex *regex,
                            struct cel_val text);

#endif
