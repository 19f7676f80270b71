/* regex.h - regular expressions, with limits.

   PCRE2 compiles and matches; this is the only door to it.  Matching counts the steps it takes,
   for pattern and text alike, and stops at a limit: a pattern that backtracks without end says
   so within milliseconds. */
#ifndef RONDO_REGEX_H
#define RONDO_REGEX_H

#include "base/buf.h"
#include "base/error.h"

struct regex;         // a compiled pattern: immutable, for any number of threads
struct regex_match;   // room for one match at a time: one per thread

enum regex_flags {
    REGEX_DOLLAR_END = 1,   // $ is the very end, not also before a last newline
    REGEX_JIT = 2,          // for patterns that are matched often: slow to make, fast to use
    REGEX_UCP = 4,          // \d, \w and \s by Unicode's properties
};

enum regex_answer { REGEX_NO = 0, REGEX_YES = 1, REGEX_LIMIT = -1 };

#define auto_regex __attribute__((cleanup(regex_free_at)))

/* Pattern and subjects are UTF-8.  NULL with err filled in when the pattern is wrong or too
   large; err->column is then the byte in the pattern, from 1. */
struct regex *regex_new(const char *pattern, size_t len, unsigned flags, rondo_error *err);
void regex_free(struct regex *regex);
void regex_free_at(struct regex **at);   // for auto_regex

struct regex_match *regex_match_new(void);
void regex_match_free(struct regex_match *match);

/* Whether the pattern matches anywhere in the subject, which has to be valid UTF-8.  *steps is
   how many steps may be taken, and afterwards how many are left; REGEX_LIMIT when they, or the
   memory that backtracking needs, did not suffice. */
enum regex_answer regex_find(const struct regex *regex, struct regex_match *match,
                             const char *subject, size_t len, uint64_t *steps);

/* Where group n of the last match that said yes begins and ends; false when it took no part. */
bool regex_match_group(const struct regex_match *match, unsigned n, size_t *ret_start,
                       size_t *ret_end);

/* Puts the version of PCRE2; true when it compiles to machine code here. */
bool regex_version(struct buf *out);

#endif
