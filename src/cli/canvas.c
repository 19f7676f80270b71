/* canvas.c - a sheet of character cells. */
#include "cli/canvas.h"

#include "cli/show.h"

#include <string.h>

static const char arrow[] = "v";   // stands for an arrow head; see glyph_of()

void canvas_init(struct canvas *canvas, int width, int height)
{
    canvas->width = width;
    canvas->height = height;
    canvas->cells = mem_zalloc(sizeof *canvas->cells * (size_t)width * (size_t)height);
}

void canvas_clear(struct canvas *canvas)
{
    mem_free(canvas->cells);
    *canvas = (struct canvas){ 0 };
}

static struct canvas_cell *cell_at(const struct canvas *canvas, int x, int y)
{
    if (x < 0 || y < 0 || x >= canvas->width || y >= canvas->height)
        return NULL;
    return &canvas->cells[(size_t)y * (size_t)canvas->width + (size_t)x];
}

/* The bytes of one character and the marks on it. */
static size_t cluster(const char *text, size_t len)
{
    size_t n = show_fit(text, len, 1);
    return n ? n : MIN(show_fit(text, len, 2), len);
}

void canvas_text(struct canvas *canvas, int x, int y, const char *text, size_t len, int style)
{
    for (size_t n; len > 0; text += n, len -= n) {
        n = cluster(text, len);
        int width = (int)width_text(text, n);
        struct canvas_cell *cell = cell_at(canvas, x, y), *rest = cell_at(canvas, x + 1, y);
        if (!n || n > UINT8_MAX || !cell || (width == 2 && !rest))
            return;
        *cell =
            (struct canvas_cell){ .text = text, .len = (uint8_t)n, .style = (uint8_t)style };
        if (width == 2)
            *rest = (struct canvas_cell){ .is_rest = true };
        x += width;
    }
}

/* ---- lines ------------------------------------------------------------------------------------ */

static void add(struct canvas *canvas, int x, int y, int lines, int style)
{
    struct canvas_cell *cell = cell_at(canvas, x, y);
    if (!cell || cell->text || cell->is_rest)
        return;
    cell->lines |= (uint8_t)lines;
    cell->style = (uint8_t)style;
}

void canvas_box(struct canvas *canvas, int x, int y, int w, int h, int style)
{
    for (int i = 0; i < w; i++) {
        int lines = (i ? LINE_LEFT : 0) | (i < w - 1 ? LINE_RIGHT : 0);
        add(canvas, x + i, y, lines, style);
        add(canvas, x + i, y + h - 1, lines, style);
    }
    for (int i = 0; i < h; i++) {
        int lines = (i ? LINE_UP : 0) | (i < h - 1 ? LINE_DOWN : 0);
        add(canvas, x, y + i, lines, style);
        add(canvas, x + w - 1, y + i, lines, style);
    }
}

void canvas_across(struct canvas *canvas, int x1, int x2, int y, uint32_t owner)
{
    for (int x = MIN(x1, x2); x <= MAX(x1, x2); x++) {
        add(canvas, x, y,
            (x > MIN(x1, x2) ? LINE_LEFT : 0) | (x < MAX(x1, x2) ? LINE_RIGHT : 0), STYLE_DIM);
        struct canvas_cell *cell = cell_at(canvas, x, y);
        if (cell)
            cell->owner = owner;
    }
}

void canvas_down(struct canvas *canvas, int x, int y1, int y2,
                 bool (*joins)(uint32_t owner, const void *user), const void *user)
{
    for (int y = y1; y <= y2; y++) {
        struct canvas_cell *cell = cell_at(canvas, x, y);
        if (cell && cell->owner && !joins(cell->owner, user))
            cell->is_bridge = true;
        int style = cell && cell->lines ? cell->style : STYLE_DIM;
        add(canvas, x, y, (y > y1 ? LINE_UP : 0) | (y < y2 ? LINE_DOWN : 0), style);
    }
}

void canvas_arrow(struct canvas *canvas, int x, int y)
{
    struct canvas_cell *cell = cell_at(canvas, x, y);
    if (cell)
        *cell = (struct canvas_cell){ .text = arrow, .len = 1, .style = STYLE_DIM };
}

/* ---- printing --------------------------------------------------------------------------------- */

static const char *glyph_of(const struct canvas_cell *cell, bool is_utf8)
{
    static const char *const utf8[] = { " ", "│", "│", "│", "─", "┘", "┐", "┤",
                                        "─", "└", "┌", "├", "─", "┴", "┬", "┼" };
    static const char ascii[][2] = { " ", "|", "|", "|", "-", "+", "+", "+",
                                     "-", "+", "+", "+", "-", "+", "+", "+" };
    int lines = cell->is_bridge ? LINE_UP | LINE_DOWN : cell->lines;
    if (cell->text == arrow)
        return is_utf8 ? "▼" : "v";
    return is_utf8 ? utf8[lines] : ascii[lines];
}

static int row_end(const struct canvas_cell *row, int width)
{
    while (width > 0 && !row[width - 1].lines && !row[width - 1].is_rest &&
           (!row[width - 1].text || row[width - 1].text[0] == ' '))
        width--;
    return width;
}

static void print_row(struct buf *out, const struct canvas_cell *row, int width,
                      const struct term *term)
{
    int style = STYLE_NONE;
    int end = row_end(row, width);
    for (int x = 0; x < end; x++) {
        const struct canvas_cell *cell = &row[x];
        if (cell->is_rest)
            continue;
        if (cell->style != style) {
            buf_puts(out, style ? term_style(term, STYLE_NONE) : "");
            buf_puts(out, cell->style ? term_style(term, cell->style) : "");
            style = cell->style;
        }
        if (cell->text && cell->text != arrow)
            buf_put(out, cell->text, cell->len);
        else
            buf_puts(out, glyph_of(cell, term->is_utf8));
    }
    buf_puts(out, style ? term_style(term, STYLE_NONE) : "");
    buf_putc(out, '\n');
}

void canvas_print(struct buf *out, const struct canvas *canvas, const struct term *term)
{
    for (int y = 0; y < canvas->height; y++)
        print_row(out, canvas->cells + (size_t)y * (size_t)canvas->width, canvas->width, term);
}
