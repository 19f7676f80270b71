/* idna_table.h - what Unicode says about the characters of domain names. */
#ifndef RONDO_IDNA_TABLE_H
#define RONDO_IDNA_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* first, first + step, ... last; the ranges of a table are in order and do not overlap. */
struct idna_range {
    uint32_t first, last, step;
};

#define IDNA_TABLES(X)                                                                         \
    X(valid)                                                                                   \
    X(marks) X(viramas) X(right) X(arabic_digits) X(digits) X(nonspacing) X(neutral)           \
        X(joins_both) X(joins_right) X(joins_left) X(transparent)

#define IDNA_DECLARE(name)                                                                     \
    extern const struct idna_range idna_##name[];                                              \
    extern const size_t idna_##name##_count;
IDNA_TABLES(IDNA_DECLARE)
#undef IDNA_DECLARE

#endif
