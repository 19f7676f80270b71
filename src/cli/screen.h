/* screen.h - a few lines at the bottom of a terminal that are drawn again and again.

   What was there before stays in the scrollback: only the cursor moves, and only what changed is
   written.  Frames have fewer lines than the terminal, so that their first line can always be
   reached again. */
#ifndef RONDO_SCREEN_H
#define RONDO_SCREEN_H

#include "base/buf.h"
#include "cli/term.h"

#include <stdint.h>

struct slice {
    const char *text;
    size_t len;
};

/* A character with the marks on it, and how it looks. */
struct glyph {
    struct slice text, style;
    int width;
};

/* The glyphs of a line. */
struct glyphs {
    struct glyph *list;
    uint32_t count, cap;
    bool is_plain; // every style ends before the next one begins
};

/* All zero but term is one that shows nothing yet.  The cursor is at the beginning of the line below
   the frame. */
struct screen {
    struct term *term;
    struct buf frame; // what is shown
    struct buf out;   // on its way to the terminal
    struct glyphs old, now; // of the line that is being drawn
    bool is_stale;    // the terminal changed: everything is drawn anew
    bool is_gone;     // it cannot be written to any more
};

void screen_clear(struct screen *screen); // frees; what is shown stays

/* Shows a frame in place of the one before. */
void screen_show(struct screen *screen, const char *frame, size_t len);

/* Puts lines above the frame, for good.  An empty text only takes the frame away. */
void screen_above(struct screen *screen, const char *text, size_t len);

/* The size of the terminal has changed; somebody else wrote to it, the frame is somewhere above. */
void screen_resized(struct screen *screen);
void screen_lost(struct screen *screen);

/* Writes all of it; false when that is not possible any more. */
bool screen_write(int fd, const char *text, size_t len);

#endif
