/* screen.c - lines at the bottom of a terminal.

   Little is written for a small change: lines that move up or down are moved by the terminal, and of a line that
   differs only the cells that do are written.  Behind a character that is not one column wide nobody knows where the
   terminal has its columns: such a line is written anew when something differs there.

   A terminal that becomes narrower breaks the lines that no longer fit, so the frame then takes more
   lines than it had; how many, is counted with the new width. */
#include "cli/screen.h"

#include "base/arena.h"
#include "cli/show.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#define MOVED_LEAST 3 // lines that differ: of fewer none is looked for elsewhere

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

/* ---- lines that differ in some cells -------------------------------------------------------------------- */

static bool is_same(struct slice a, struct slice b)
{
    return a.len == b.len && (!a.len || memcmp(a.text, b.text, a.len) == 0);
}

static void glyphs_clear(struct glyphs *glyphs)
{
    mem_free(glyphs->list);
    *glyphs = (struct glyphs){ 0 };
}

static size_t escape_length(const char *text, size_t len)
{
    size_t n = 2;
    while (n < len && !(text[n] >= '@' && text[n] <= '~'))
        n++;
    return MIN(n + 1, len);
}

static void read_glyphs(struct glyphs *glyphs, struct slice line)
{
    static const char reset[] = "\033[0m";
    struct slice style = { "", 0 };
    int was = 0;
    glyphs->count = 0;
    glyphs->is_plain = true;
    for (size_t at = 0, n; at < line.len; at += n) {
        const char *text = line.text + at;
        int width;
        if (line.len - at > 1 && text[0] == '\033' && text[1] == '[') {
            n = escape_length(text, line.len - at);
            bool ends = n == strlen(reset) && memcmp(text, reset, n) == 0;
            glyphs->is_plain = glyphs->is_plain && (ends || !style.len);
            style = ends ? (struct slice){ "", 0 } : (struct slice){ text, n };
            continue;
        }
        n = width_next(text, line.len - at, &was, &width);
        if (!width && glyphs->count) {
            struct glyph *last = &glyphs->list[glyphs->count - 1];
            glyphs->is_plain = glyphs->is_plain && last->text.text + last->text.len == text;
            last->text.len += n;
            continue;
        }
        mem_grow(&glyphs->list, &glyphs->cap, glyphs->count, sizeof *glyphs->list);
        glyphs->list[glyphs->count++] = (struct glyph){ { text, n }, style, width };
    }
}

static bool is_same_glyph(const struct glyph *a, const struct glyph *b)
{
    return a->width == b->width && is_same(a->text, b->text) && is_same(a->style, b->style);
}

/* Before this one both lines have characters of one column only. */
static uint32_t first_wide(const struct glyphs *a, const struct glyphs *b)
{
    uint32_t i = 0, both = MIN(a->count, b->count);
    while (i < both && a->list[i].width == 1 && b->list[i].width == 1)
        i++;
    return i;
}

static void go_to_column(struct screen *screen, uint32_t column)
{
    if (column)
        buf_printf(&screen->out, "\033[%uG", column + 1);
    else
        buf_putc(&screen->out, '\r');
}

static void put_glyphs(struct screen *screen, const struct glyphs *glyphs, uint32_t from, uint32_t to)
{
    struct slice style = { "", 0 };
    for (uint32_t i = from; i < to; i++) {
        const struct glyph *glyph = &glyphs->list[i];
        if (!is_same(style, glyph->style)) {
            buf_puts(&screen->out, style.len ? "\033[0m" : "");
            buf_put(&screen->out, glyph->style.text, glyph->style.len);
            style = glyph->style;
        }
        buf_put(&screen->out, glyph->text.text, glyph->text.len);
    }
    buf_puts(&screen->out, style.len ? "\033[0m" : "");
}

#define NEAR 4 // cells that are the same and yet written, to save a move

/* The cells that differ up to `end`. */
static void patch(struct screen *screen, const struct glyphs *old, const struct glyphs *line, uint32_t end)
{
    for (uint32_t i = 0; i < end;) {
        uint32_t stop = i + 1, same = 0;
        if (is_same_glyph(&old->list[i], &line->list[i])) {
            i++;
            continue;
        }
        for (uint32_t k = i + 1; k < end && same <= NEAR; k++) {
            bool is = is_same_glyph(&old->list[k], &line->list[k]);
            same = is ? same + 1 : 0;
            stop = is ? stop : k + 1;
        }
        go_to_column(screen, i);
        put_glyphs(screen, line, i, stop);
        i = stop;
    }
}

static void draw_line(struct screen *screen, struct slice was, struct slice line)
{
    struct glyphs *old = &screen->old, *now = &screen->now;
    read_glyphs(old, was);
    read_glyphs(now, line);
    bool is_shorter = now->count < old->count; // terminals remember how long a line was, unless all of it is erased
    if (!was.len || is_shorter || !old->is_plain || !now->is_plain) {
        buf_puts(&screen->out, was.len ? "\033[2K" : "");
        buf_put(&screen->out, line.text, line.len);
        return;
    }
    uint32_t sure = first_wide(old, now);
    bool is_end_same = old->count == now->count, is_sure = sure == old->count;
    for (uint32_t i = sure; i < now->count && is_end_same; i++)
        is_end_same = is_same_glyph(&old->list[i], &now->list[i]);
    if (!is_end_same && !is_sure) { // what is behind a wide one
        buf_puts(&screen->out, "\033[2K");
        buf_put(&screen->out, line.text, line.len);
        return;
    }
    patch(screen, old, now, sure);
    if (is_end_same)
        return;
    go_to_column(screen, sure);
    put_glyphs(screen, now, sure, now->count);
}

/* ---- lines that move ---------------------------------------------------------------------------------------- */

/* The lines of a frame. */
struct lines {
    struct slice *list;
    uint32_t count, cap;
};

static void read_lines(struct lines *lines, const char *frame, size_t len)
{
    const char *at = frame;
    struct slice line;
    while (next_line(&at, frame + len, &line.text, &line.len)) {
        mem_grow(&lines->list, &lines->cap, lines->count, sizeof *lines->list);
        lines->list[lines->count++] = line;
    }
}

/* How many lines are the same in their order, of those from i and from k on. */
static uint16_t *count_common(const struct lines *old, const struct lines *now)
{
    size_t width = now->count + 1u;
    uint16_t *common = mem_zalloc((old->count + 1u) * width * sizeof *common);
    for (uint32_t i = old->count; i-- > 0;)
        for (uint32_t k = now->count; k-- > 0;) {
            uint16_t skipped = MAX(common[(i + 1) * width + k], common[i * width + k + 1]);
            bool is = is_same(old->list[i], now->list[k]);
            common[i * width + k] = is ? (uint16_t)(common[(i + 1) * width + k + 1] + 1) : skipped;
        }
    return common;
}

/* Where the cursor goes to, from line `at` of the frame. */
static void go_to_line(struct screen *screen, uint32_t *at, uint32_t line)
{
    if (line < *at)
        move_up(screen, *at - line);
    else if (line > *at)
        buf_printf(&screen->out, "\033[%uB", line - *at);
    *at = line;
}

static void move_lines(struct screen *screen, uint32_t *at, uint32_t line, uint32_t count, char how)
{
    go_to_line(screen, at, line);
    if (count > 1)
        buf_printf(&screen->out, "\033[%u%c", count, how);
    else
        buf_printf(&screen->out, "\033[%c", how);
}

/* Lines of the new frame for which there is no old one. */
struct insert {
    uint32_t line, count;
};

struct shift {
    const struct lines *old, *now;
    const uint16_t *common; // see count_common()
    uint32_t i, k; // lines of both that were looked at
    struct slice *there;    // what is on the screen in the lines of the new frame
    struct insert *inserts;
    uint32_t insert_count, deleted;
};

static uint16_t common_at(const struct shift *s, uint32_t i, uint32_t k)
{
    return s->common[i * (s->now->count + 1u) + k];
}

/* Does this line stay as it is? */
static bool stays(const struct shift *s)
{
    return s->i < s->old->count && s->k < s->now->count && is_same(s->old->list[s->i], s->now->list[s->k]) &&
           common_at(s, s->i, s->k) == common_at(s, s->i + 1, s->k + 1) + 1;
}

static bool is_at_end(const struct shift *s)
{
    return s->i == s->old->count && s->k == s->now->count;
}

/* Up to the next line that stays.  New lines take the places of old ones as far as there are any; what is left of the
   old ones is deleted. */
static void skip_to_same(struct screen *screen, struct shift *s, uint32_t *at)
{
    uint32_t i = s->i, k = s->k;
    while (!is_at_end(s) && !stays(s)) {
        bool is_old = s->i < s->old->count && (s->k == s->now->count || common_at(s, s->i + 1, s->k) >=
                                                                            common_at(s, s->i, s->k + 1));
        s->i += is_old;
        s->k += !is_old;
    }
    uint32_t gone = s->i - i, come = s->k - k, both = MIN(gone, come);
    for (uint32_t n = 0; n < both; n++)
        s->there[k + n] = s->old->list[i + n];
    if (come > both)
        s->inserts[s->insert_count++] = (struct insert){ k + both, come - both };
    if (gone > both)
        move_lines(screen, at, i + both - s->deleted, gone - both, 'M');
    s->deleted += gone - both;
}

/* The terminal moves the lines that stay.  Old lines are deleted before room is made for new ones, so that nothing is
   pushed off the screen.  On return `old` is what is there; the cursor is in line *at. */
static void shift_lines(struct screen *screen, struct lines *old, const struct lines *now, uint32_t *at)
{
    auto_free uint16_t *common = count_common(old, now);
    auto_free struct insert *inserts = mem_zalloc((now->count + 1u) * sizeof *inserts);
    struct shift s = { .old = old, .now = now, .common = common, .inserts = inserts };
    s.there = mem_zalloc((now->count + 1u) * sizeof *s.there);
    while (!is_at_end(&s)) {
        skip_to_same(screen, &s, at);
        if (!is_at_end(&s))
            s.there[s.k++] = old->list[s.i++];
    }
    for (uint32_t n = 0; n < s.insert_count; n++)
        move_lines(screen, at, inserts[n].line, inserts[n].count, 'L');
    mem_free(old->list);
    *old = (struct lines){ s.there, now->count, now->count + 1 };
}

static uint32_t count_changed(const struct lines *old, const struct lines *now)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < now->count; i++)
        count += i >= old->count || !is_same(old->list[i], now->list[i]);
    return count;
}

/* Over the lines that are there: what is the same is only passed.  Keys that were shown nevertheless may stand where
   the cursor is. */
static void draw_over(struct screen *screen, const char *frame, size_t len)
{
    struct lines old = { 0 }, now = { 0 };
    read_lines(&old, screen->frame.data, screen->frame.len);
    read_lines(&now, frame, len);
    uint32_t at = old.count;
    buf_puts(&screen->out, old.count ? "\r\033[2K" : "");
    if (now.count <= old.count && count_changed(&old, &now) > MOVED_LEAST)
        shift_lines(screen, &old, &now, &at);
    go_to_line(screen, &at, 0);
    for (uint32_t i = 0; i < now.count; i++) {
        bool had = i < old.count;
        if (!had || !is_same(old.list[i], now.list[i]))
            draw_line(screen, had ? old.list[i] : (struct slice){ "", 0 }, now.list[i]);
        buf_puts(&screen->out, "\r\n");
    }
    if (old.count > now.count)
        buf_puts(&screen->out, "\033[J");
    mem_free(old.list);
    mem_free(now.list);
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
    glyphs_clear(&screen->old);
    glyphs_clear(&screen->now);
}
