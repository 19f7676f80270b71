/* table.c - see table.h. */
#include "cli/table.h"

#include "base/arena.h"
#include "cli/show.h"

#include <assert.h>
#include <string.h>

#define GAP   2
#define LEAST 12 // columns of the last one, before others are left out for it

void table_add(struct table *table)
{
    for (uint32_t i = 0; i < table->column_count; i++) {
        mem_grow(&table->cells, &table->cap, table->cell_count, sizeof *table->cells);
        table->cells[table->cell_count++] = (struct cell){ 0 };
    }
}

void table_set(struct table *table, uint32_t column, enum term_style style, const char *text)
{
    assert(table->cell_count && column < table->column_count);
    struct cell *cell = &table->cells[table->cell_count - table->column_count + column];
    mem_free(cell->text);
    *cell = (struct cell){ *text ? mem_strdup(text) : NULL, (uint8_t)style };
}

void table_clear(struct table *table)
{
    for (uint32_t i = 0; i < table->cell_count; i++)
        mem_free(table->cells[i].text);
    mem_free(table->cells);
    *table = (struct table){ .columns = table->columns, .column_count = table->column_count };
}

static size_t width_of(const char *text)
{
    return text ? width_text(text, strlen(text)) : 0;
}

/* 0: nothing stands in it. */
static size_t column_width(const struct table *table, uint32_t column)
{
    size_t width = 0;
    for (uint32_t i = column; i < table->cell_count; i += table->column_count)
        width = MAX(width, width_of(table->cells[i].text));
    return width ? MAX(width, width_of(table->columns[column].name)) : 0;
}

static void put_blanks(struct buf *out, size_t count)
{
    for (; count; count--)
        buf_putc(out, ' ');
}

static void put_cell(struct buf *out, const struct term *term, const struct cell *cell, size_t width, bool is_right,
                     bool is_last)
{
    const char *text = cell->text ? cell->text : "";
    size_t used = width_of(text);
    if (is_right && used < width)
        put_blanks(out, width - used);
    buf_puts(out, cell->style && *text ? term_style(term, cell->style) : "");
    if (is_last && width && used > width)
        show_cut(out, text, strlen(text), width, !term->is_utf8);
    else
        buf_puts(out, text);
    buf_puts(out, cell->style && *text ? term_style(term, STYLE_NONE) : "");
    if (!is_right && !is_last && used < width)
        put_blanks(out, width - used);
}

static void put_row(struct buf *out, const struct table *table, const struct term *term, const size_t *widths,
                    const struct cell *cells, uint32_t last)
{
    bool is_first = true;
    for (uint32_t i = 0; i < table->column_count; i++) {
        if (!widths[i])
            continue;
        put_blanks(out, is_first ? 0 : GAP);
        put_cell(out, term, &cells[i], i == last && widths[i] == SIZE_MAX ? 0 : widths[i], table->columns[i].is_right,
                 i == last);
        is_first = false;
    }
    while (out->len && out->data[out->len - 1] == ' ')
        out->len--;
    buf_putc(out, '\n');
}

/* What comes before the last column. */
static size_t width_before(const size_t *widths, uint32_t last)
{
    size_t sum = 0;
    for (uint32_t i = 0; i < last; i++)
        sum += widths[i] ? widths[i] + GAP : 0;
    return sum;
}

/* The most spare column; false when there is none. */
static bool leave_out(const struct table *table, size_t *widths, uint32_t last)
{
    uint32_t most = last;
    for (uint32_t i = 0; i < last; i++)
        if (widths[i] && table->columns[i].spare > (most < last ? table->columns[most].spare : 0))
            most = i;
    if (most < last)
        widths[most] = 0;
    return most < last;
}

/* How wide the last column is, beside those that are not left out for it. */
static size_t fit_last(const struct table *table, size_t *widths, uint32_t last, size_t width)
{
    size_t least = MIN(widths[last], LEAST);
    while (width_before(widths, last) + least > width)
        if (!leave_out(table, widths, last))
            break;
    size_t before = width_before(widths, last);
    return MIN(widths[last], width > before ? width - before : 1);
}

void table_put(struct buf *out, const struct table *table, const struct term *term, size_t width)
{
    size_t widths[TABLE_COLUMNS_MAX] = { 0 };
    struct cell heads[TABLE_COLUMNS_MAX] = { { NULL, 0 } };
    uint32_t last = 0;
    assert(table->column_count <= TABLE_COLUMNS_MAX);
    for (uint32_t i = 0; i < table->column_count; i++) {
        widths[i] = column_width(table, i);
        last = widths[i] ? i : last;
        heads[i] = (struct cell){ (char *)(uintptr_t)table->columns[i].name, STYLE_DIM };
    }
    if (!table->cell_count)
        return;
    if (!table->columns[last].is_right)
        widths[last] = width ? fit_last(table, widths, last, width) : SIZE_MAX;
    put_row(out, table, term, widths, heads, last);
    for (uint32_t i = 0; i < table->cell_count; i += table->column_count)
        put_row(out, table, term, widths, &table->cells[i], last);
}
