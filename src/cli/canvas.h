/* canvas.h - a sheet of character cells to draw boxes, lines and text on.

   Lines are kept as the directions that they leave a cell in, so that they join by themselves where
   they meet.  Every line has an owner; where lines of different owners cross, the vertical one is
   drawn as a bridge. */
#ifndef RONDO_CANVAS_H
#define RONDO_CANVAS_H

#include "base/buf.h"
#include "cli/term.h"

enum { LINE_UP = 1, LINE_DOWN = 2, LINE_LEFT = 4, LINE_RIGHT = 8 };

struct canvas_cell {
    const char *text; // a character with its marks; NULL: what the lines give
    uint8_t len;
    uint8_t lines;    // LINE_*
    uint8_t style;    // enum term_style
    bool is_rest;     // the second column of a wide character
    bool is_bridge;
    uint32_t owner;   // of a horizontal line
};

struct canvas {
    int width, height;
    struct canvas_cell *cells;
};

void canvas_init(struct canvas *canvas, int width, int height);
void canvas_clear(struct canvas *canvas);

/* Clean text that lives as long as the canvas; what is outside is not drawn. */
void canvas_text(struct canvas *canvas, int x, int y, const char *text, size_t len, int style);
void canvas_box(struct canvas *canvas, int x, int y, int w, int h, int style);
void canvas_across(struct canvas *canvas, int x1, int x2, int y, uint32_t owner);

/* From y1 to y2; at both ends it joins what is there.  Bridges lines unless `joins` says that their
   owner belongs to it. */
void canvas_down(struct canvas *canvas, int x, int y1, int y2,
                 bool (*joins)(uint32_t owner, const void *user), const void *user);
void canvas_arrow(struct canvas *canvas, int x, int y); // a head that points down

void canvas_print(struct buf *out, const struct canvas *canvas, const struct term *term);

#endif
