/* screen.c - lines at the bottom of a terminal.

   A terminal that becomes narrower breaks the lines that no longer fit, so the frame then takes more
   lines than it had; how many, is counted with the new width. */
#include "cli/screen.h"

#include "cli/show.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

bool screen_write(int fd, const char *text, size_t len)
{
    while (len) {
        ssize_t n = write(fd, text, len);
        if (n < 0 && errno == EAGAIN)
            poll(&(struct pollfd){ .fd = fd, .events = POLLOUT }, 1, -1);
        else if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            text += n;
            len -= (size_t)n;
        }
    }
    return true;
}

static void send_out(struct screen *screen)
{
    if (!screen->is_gone && screen->out.len)
        screen->is_gone = !screen_write(screen->term->fd, screen->out.data, screen->out.len);
    buf_clear(&screen->out);
}

/* The next line of a frame without its newline; false at the end. */
static bool next_line(const char **at, const char *end, const char **ret, size_t *ret_len)
{
    if (*at >= end)
        return false;
    const char *stop = memchr(*at, '\n', (size_t)(end - *at));
    *ret = *at;
    *ret_len = (size_t)((stop ? stop : end) - *at);
    *at = stop ? stop + 1 : end;
    return true;
}

/* Lines of the terminal that what is shown takes now. */
static size_t lines_taken(const struct screen *screen)
{
    const char *at = screen->frame.data, *line;
    size_t len, taken = 0, width = (size_t)screen->term->width;
    while (next_line(&at, screen->frame.data + screen->frame.len, &line, &len)) {
        auto_buf struct buf clean = { 0 };
        show_line(&clean, line, len); // without the colours
        size_t columns = width_text(clean.data, clean.len);
        taken += columns ? (columns + width - 1) / width : 1;
    }
    return taken;
}

static void move_up(struct screen *screen, size_t lines)
{
    if (lines)
        buf_printf(&screen->out, "\033[%zuA", lines);
}

static void erase(struct screen *screen)
{
    if (!screen->frame.len)
        return;
    move_up(screen, MIN(lines_taken(screen), (size_t)screen->term->height - 1));
    buf_puts(&screen->out, "\r\033[J");
    buf_clear(&screen->frame);
}

static size_t count_lines(const char *text, size_t len)
{
    size_t n = 0;
    for (const char *at = text; len && (at = memchr(at, '\n', (size_t)(text + len - at))); at++)
        n++;
    return n;
}

/* Over the lines that are there: what is the same is only passed.  A line is erased before it is
   written, since behind a full line the cursor is still on it.  Keys that were shown nevertheless may
   stand where the cursor is. */
static void draw_over(struct screen *screen, const char *frame, size_t len)
{
    const char *old = screen->frame.data, *old_end = old + screen->frame.len;
    const char *was = NULL, *line;
    size_t was_len = 0, line_len;
    buf_puts(&screen->out, screen->frame.len ? "\r\033[2K" : "");
    move_up(screen, count_lines(screen->frame.data, screen->frame.len));
    for (const char *at = frame; next_line(&at, frame + len, &line, &line_len);) {
        bool had = next_line(&old, old_end, &was, &was_len);
        if (!had || was_len != line_len || (line_len && memcmp(was, line, line_len) != 0)) {
            buf_puts(&screen->out, had ? "\033[2K" : "");
            buf_put(&screen->out, line, line_len);
        }
        buf_puts(&screen->out, "\r\n");
    }
    if (old < old_end)
        buf_puts(&screen->out, "\033[J");
}

void screen_show(struct screen *screen, const char *frame, size_t len)
{
    if (screen->is_stale)
        erase(screen);
    screen->is_stale = false;
    if (screen->frame.len != len || (len && memcmp(screen->frame.data, frame, len) != 0))
        draw_over(screen, frame, len);
    buf_clear(&screen->frame);
    buf_put(&screen->frame, frame, len);
    send_out(screen);
}

void screen_above(struct screen *screen, const char *text, size_t len)
{
    erase(screen);
    buf_put(&screen->out, text, len);
    send_out(screen);
}

void screen_resized(struct screen *screen)
{
    term_measure(screen->term);
    screen->is_stale = true;
}

void screen_lost(struct screen *screen)
{
    term_measure(screen->term);
    buf_clear(&screen->frame);
}

void screen_clear(struct screen *screen)
{
    buf_free(&screen->frame);
    buf_free(&screen->out);
}
