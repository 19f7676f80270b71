/* term.c - what is at the other end of stdout or stderr.

   The locale is read from the environment and never set: setlocale() costs more than a whole
   `rondo version`, and all we want to know is whether UTF-8 is understood. */
#define _GNU_SOURCE   // strcasestr
#include "cli/term.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDTH_DEFAULT = 80, HEIGHT_DEFAULT = 24, WIDTH_MIN = 8, HEIGHT_MIN = 3, WIDTH_MAX = 1000 };

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

static bool is_utf8(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    for (size_t i = 0; i < COUNT(names); i++)
        if (is_set(names[i]))
            return strcasestr(getenv(names[i]), "utf-8") ||
                   strcasestr(getenv(names[i]), "utf8");
    return false;
}

bool term_is_ascii(int fd)
{
    return !is_utf8() && isatty(fd);
}

static int within(long n, int least, int most, int otherwise)
{
    return n < 1 ? otherwise : n < least ? least : n > most ? most : (int)n;
}

void term_measure(struct term *term)
{
    struct winsize size = { 0 };
    const char *columns = getenv("COLUMNS");
    if (!term->is_tty || ioctl(term->fd, TIOCGWINSZ, &size) < 0)
        size.ws_col = size.ws_row = 0;
    long width = columns && !size.ws_col ? strtol(columns, NULL, 10) : size.ws_col;
    term->width = within(width, WIDTH_MIN, WIDTH_MAX, WIDTH_DEFAULT);
    term->height = within(size.ws_row, HEIGHT_MIN, WIDTH_MAX, HEIGHT_DEFAULT);
    term->is_tiny = (size.ws_col && size.ws_col < WIDTH_MIN) || (size.ws_row && size.ws_row < HEIGHT_MIN);
}

void term_init(struct term *term, int fd, bool no_color)
{
    const char *kind = getenv("TERM");
    const char *force = getenv("CLICOLOR_FORCE");
    bool is_dumb = !kind || !*kind || strcmp(kind, "dumb") == 0;
    bool is_forced = force && *force && strcmp(force, "0") != 0;
    *term = (struct term){ .fd = fd, .is_tty = isatty(fd), .is_utf8 = is_utf8() };
    term->can_move = term->is_tty && !is_dumb;
    term->has_colour = !no_color && !is_set("NO_COLOR") && (term->can_move || is_forced);
    term_measure(term);
}

const char *term_style(const struct term *term, enum term_style style)
{
    static const char *const codes[STYLES] = {
        [STYLE_NONE] = "\033[0m",  [STYLE_BOLD] = "\033[1m",     [STYLE_DIM] = "\033[2m",
        [STYLE_RED] = "\033[31m",  [STYLE_GREEN] = "\033[32m",   [STYLE_YELLOW] = "\033[33m",
        [STYLE_BLUE] = "\033[34m", [STYLE_MAGENTA] = "\033[35m", [STYLE_CYAN] = "\033[36m",
    };
    return term->has_colour ? codes[style] : "";
}
