/* ecma.h - ECMA-262 regular expressions, which schemas use, for PCRE2, which rondo uses. */
#ifndef RONDO_ECMA_H
#define RONDO_ECMA_H

#include "base/regex.h"

/* A pattern as ECMA-262 means it with the u flag, except that what is only forbidden there is
   let through where its meaning is clear (\-, \').  NULL with err filled in when it is none. */
struct regex *ecma_compile(const char *pattern, size_t len, unsigned flags, rondo_error *err);

/* Is it a pattern at all?  Holds for a few that ecma_compile() cannot do: PCRE2 needs to know how
   far a lookbehind looks. */
bool ecma_is_valid(const char *pattern, size_t len);

#endif
