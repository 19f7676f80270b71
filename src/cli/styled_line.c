/* styled_line.c - see styled_line.h. */
#include "cli/styled_line.h"

#include "base/arena.h"
#include "cli/show.h"

void line_style(struct line *line, enum term_style style)
{
    if (line->count < LINE_PIECES_MAX)
        line->pieces[line->count++] = (struct piece){ (uint8_t)style, line->text.len };
}

void line_add(struct line *line, enum term_style style, const char *text)
{
    line_style(line, style);
    buf_puts(&line->text, text);
}

void line_gap(struct line *line, enum term_style style)
{
    line_add(line, STYLE_NONE, "  ");
    line_style(line, style);
}

void line_clean(struct line *line, const char *text, size_t len)
{
    show_line(&line->text, text, len);
}

size_t line_width(const struct line *line)
{
    return width_text(line->text.data, line->text.len);
}

void line_pad(struct line *line, size_t width)
{
    for (size_t w = line_width(line); w < width; w++)
        buf_putc(&line->text, ' ');
}

const char *line_dots(const struct line *line)
{
    return line->term->is_utf8 ? "\u2026" : "~";
}

void line_cut(struct line *line, size_t width)
{
    struct buf *text = &line->text;
    if (line_width(line) <= width)
        return;
    text->len = show_fit(text->data, text->len, width - 1);
    buf_puts(text, line_dots(line));
}

static void put_piece(struct line *line, uint32_t i, size_t fits, struct buf *out)
{
    const struct term *term = line->term;
    const struct piece *p = &line->pieces[i];
    size_t end = i + 1 < line->count ? line->pieces[i + 1].start : line->text.len;
    end = MIN(end, fits);
    if (p->start >= end)
        return;
    buf_puts(out, p->style ? term_style(term, p->style) : "");
    buf_put(out, line->text.data + p->start, end - p->start);
    buf_puts(out, p->style ? term_style(term, STYLE_NONE) : "");
}

void line_end(struct line *line, struct buf *out)
{
    const struct term *term = line->term;
    while (line->text.len && line->text.data[line->text.len - 1] == ' ')
        line->text.len--;
    size_t fits = show_fit(line->text.data, line->text.len, (size_t)term->width);
    bool is_cut = fits < line->text.len;
    if (is_cut)
        fits = show_fit(line->text.data, line->text.len, (size_t)term->width - 1);
    for (uint32_t i = 0; i < line->count; i++)
        put_piece(line, i, fits, out);
    if (is_cut)
        buf_puts(out, line_dots(line));
    buf_putc(out, '\n');
    buf_clear(&line->text);
    line->count = 0;
}
