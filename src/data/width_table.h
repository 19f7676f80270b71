/* width_table.h - characters that take no column, or two. */
#ifndef RONDO_WIDTH_TABLE_H
#define RONDO_WIDTH_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct width_range {
    uint32_t first, last;
};

/* Sorted.  All characters that are in neither take one column. */
extern const struct width_range width_zero[], width_two[];
extern const size_t width_zero_count, width_two_count;

#endif
