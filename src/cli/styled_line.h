/* styled_line.h - a line of a frame: pieces of text, each with a style, cut to the width where it is written out. */
#ifndef RONDO_STYLED_LINE_H
#define RONDO_STYLED_LINE_H

#include "base/buf.h"
#include "cli/term.h"

#include <stdint.h>

#define LINE_PIECES_MAX 40

struct piece {
    uint8_t style; // enum term_style
    size_t start;
};

/* Lives as long as the frame is made; reused for every line.  The text is clean. */
struct line {
    const struct view *view; // that it is a part of
    const struct term *term;
    struct buf text;
    struct piece pieces[LINE_PIECES_MAX];
    uint32_t count;
    bool is_calm; // much is at work: what would change all the time is not shown
};

/* Begins a piece: what is put into line->text from now on has this style. */
void line_style(struct line *line, enum term_style style);
void line_add(struct line *line, enum term_style style, const char *text);

/* Two blanks between columns. */
void line_gap(struct line *line, enum term_style style);

void line_clean(struct line *line, const char *text, size_t len); // a text that is not clean yet
void line_pad(struct line *line, size_t width);                   // with blanks
void line_cut(struct line *line, size_t width);
size_t line_width(const struct line *line);

/* "…" where something was cut off. */
const char *line_dots(const struct line *line);

/* Writes the line out, cut to the width, and empties it. */
void line_end(struct line *line, struct buf *out);

#endif
