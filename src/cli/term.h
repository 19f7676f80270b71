/* term.h - what is at the other end of stdout or stderr: a terminal, how wide, with colours? */
#ifndef RONDO_TERM_H
#define RONDO_TERM_H

#include <stdbool.h>

enum term_style { // clang-format off
    STYLE_NONE, // ends all others
    STYLE_BOLD, STYLE_DIM, STYLE_RED, STYLE_GREEN, STYLE_YELLOW, STYLE_BLUE, STYLE_MAGENTA,
    STYLE_CYAN,
    STYLES
}; // clang-format on

struct term {
    int fd;
    bool is_tty;
    bool has_colour;
    bool can_move;  // the cursor: a terminal that is not dumb
    bool is_utf8;   // the locale's encoding
    bool is_tiny;   // a terminal that has no room for a frame
    int width;      // columns; 80 when it is no terminal or does not say, COLUMNS wins
    int height;
};

/* Looks at a descriptor and the environment (NO_COLOR, CLICOLOR_FORCE, TERM, COLUMNS, LC_ALL...). */
void term_init(struct term *term, int fd, bool no_color);
void term_measure(struct term *term); // again, after SIGWINCH

/* A terminal, but the locale is not UTF-8: what is shown there must be ASCII. */
bool term_is_ascii(int fd);

/* The escape sequence, or "" without colours. */
const char *term_style(const struct term *term, enum term_style style);

#endif
