/* table.h - rows of cells in columns. */
#ifndef RONDO_TABLE_H
#define RONDO_TABLE_H

#include "base/buf.h"
#include "cli/term.h"

#include <stdint.h>

#define TABLE_COLUMNS_MAX 16

struct column {
    const char *name;
    bool is_right; // numbers
    uint8_t spare; // where there is little room the columns with the highest number are left out first; 0: never
};

struct cell {
    char *text; // NULL: empty
    uint8_t style; // enum term_style
};

/* All zero but for the columns. */
struct table {
    const struct column *columns;
    uint32_t column_count;
    struct cell *cells; // row by row
    uint32_t cell_count, cap;
};

void table_add(struct table *table); // a row of empty cells

/* A cell of the last row; the text is clean, and copied. */
void table_set(struct table *table, uint32_t column, enum term_style style, const char *text);

/* Columns in which nothing stands are left out.  Where `width` is not 0 the last column is cut to it. */
void table_put(struct buf *out, const struct table *table, const struct term *term, size_t width);

void table_clear(struct table *table);

#endif
