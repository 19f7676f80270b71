/* expr_hint.h - what an expression was probably meant to say that is no CEL. */
#ifndef RONDO_EXPR_HINT_H
#define RONDO_EXPR_HINT_H

#include "base/buf.h"
#include "flow/scope.h"

/* An expression with an error at the byte `at`. */
struct expr_slip {
    const char *what;     // the key that it belongs to
    const char *text;
    size_t len, at;
    const char *names;    // a name is there that nothing gives: which there are; NULL: the text cannot be read
    bool is_hole;         // it stands in a text
    bool is_rule;         // a rule of a loop, which is asked about a pass
    enum scope_want want;
};

/* Adds a hint to out, or nothing: most expressions that are wrong are meant to be CEL. */
void expr_hint_put(struct buf *out, const struct expr_slip *slip);

#endif
