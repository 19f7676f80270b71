/* scalar.h - what a plain word means: the YAML 1.2 core schema.

   Numbers, true, false and null of JSON are words of it too. */
#ifndef RONDO_SCALAR_H
#define RONDO_SCALAR_H

#include "data/doc.h"

struct scalar {
    enum doc_kind kind;   // no list or map
    bool is_true;
    bool is_bad;          // see struct doc_val
    int64_t number;
    double real;
};

/* text is NUL-terminated and without other NULs.  False when it is a number that no JSON value can
   be: .inf, .nan, 1e999. */
bool scalar_resolve(const char *text, size_t len, struct scalar *ret);

#endif
