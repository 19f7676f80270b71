/* option.h - one option of a command, as a row of a table.

   The row says everything there is to say: the parser, the help, the completion scripts and the
   manual page are all made from it.  What was given goes into a field of the command's own struct,
   whose place the row knows. */
#ifndef RONDO_OPTION_H
#define RONDO_OPTION_H

#include "base/error.h"
#include "base/mem.h"

enum option_kind {
    OPT_FLAG,     // bool
    OPT_TEXT,     // const char *, borrowed from the command line
    OPT_COUNT,    // int64_t, not negative
    OPT_LIMIT,    // int64_t, at least 1
    OPT_NUMBER,   // double, finite, more than 0
    OPT_DURATION, // int64_t, milliseconds
    OPT_TEXTS,    // struct texts: may be given again and again
    OPT_PAIRS,    // struct texts, each KEY=VALUE, as `value` says, with a key of its own
    OPTION_KINDS
};

/* What was given, in its order; the texts are borrowed.  All zero is an empty one. */
struct texts {
    const char **list;
    uint32_t count, cap;
};

struct option {
    const char *name; // without dashes; NULL ends a table
    char letter;      // the short form, 0 without
    uint8_t kind;     // enum option_kind
    uint16_t offset, size; // of the field: OPTION_AT()
    const char *value;     // how help calls the value: "FILE"; NULL for flags
    const char *choices;   // OPT_TEXT: the only values, "a|b|c"; NULL: any
    const char *help;      // a phrase without a full stop
};

#define OPTION_AT(type, field) offsetof(type, field), sizeof(((type *)0)->field)

/* Puts a value into the field.  `text` is NULL for a flag.  RONDO_EINVAL with what was expected. */
int option_set(const struct option *option, void *fields, const char *text, rondo_error *err);

/* Frees what a list owns, in every field of the table. */
void options_clear(const struct option *options, void *fields);

size_t option_field_size(int kind); // what `size` has to be

/* The value of KEY=VALUE, and the length of the key. */
const char *pair_value(const char *pair, size_t *ret_key_len);

#endif
