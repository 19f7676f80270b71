/* re2.h - regular expressions as RE2 has them, carried out by PCRE2. */
#ifndef RONDO_CEL_RE2_H
#define RONDO_CEL_RE2_H

#include "base/regex.h"

/* The pattern, compiled; NULL with err filled in for what RE2 would refuse: backreferences,
   look-around, possessive and atomic groups, and everything else that is not regular. */
struct regex *re2_compile(const char *pattern, size_t len, bool is_often_used,
                          rondo_error *err);

#endif
