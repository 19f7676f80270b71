/* show.c - text as a terminal shows it.

   Escape sequences (ECMA-48) begin with ESC, or with one C1 character that stands for ESC and a
   letter:

       CSI      ESC [  parameters 30-3F, intermediates 20-2F, one final 40-7E
       strings  ESC ] P X ^ _  up to ST (ESC \, 9C) or BEL
       others   ESC, intermediates 20-2F, one final 30-7E

   A string that does not end soon loses only its introducer, so that nobody can hide the rest of
   a text behind one. */
#include "cli/show.h"

#include "data/utf8.h"

#include <stdlib.h>
#include <string.h>

enum { STRING_MAX = 4096, MARKS_MAX = 8, TAB = 8 };
enum { ESC = 0x1b, BEL = 7, DEL = 0x7f, CSI = 0x9b, ST = 0x9c };

static bool is_ascii_only;

void show_ascii_only(bool on)
{
    is_ascii_only = on;
}

/* ---- widths ----------------------------------------------------------------------------------- */

size_t show_fit(const char *text, size_t len, size_t width)
{
    size_t i = 0, sum = 0;
    for (int one, was = 0; i < len;) {
        size_t n = width_next(text + i, len - i, &was, &one);
        sum += (size_t)one;
        if (sum > width)
            break;
        i += n;
    }
    return i;
}

/* Is there room in a line for the word behind the blank at `at`? */
static bool is_short_word(const char *text, size_t len, size_t at, size_t width)
{
    size_t end = at + 1;
    while (end < len && text[end] != ' ')
        end++;
    return width_text(text + at + 1, end - at - 1) <= width;
}

size_t show_fit_words(const char *text, size_t len, size_t width)
{
    int one, was = 0;
    size_t fits = show_fit(text, len, width), at = fits;
    if (!fits && len)
        return width_next(text, len, &was, &one);
    while (at && at < len && text[at] != ' ')
        at--;
    return at && at < len && is_short_word(text, len, at, width) ? at : fits;
}

void show_wrapped(struct buf *out, const char *text, size_t len, const char *indent,
                  size_t width)
{
    for (size_t at = 0, fits; at < len;
         at += fits + (at + fits < len && strchr(" \n", text[at + fits]))) {
        const char *stop = memchr(text + at, '\n', len - at);
        size_t used = at ? strlen(indent) : 0;
        fits = show_fit_words(text + at, (size_t)((stop ? stop : text + len) - text) - at,
                              width - MIN(width, used));
        buf_puts(out, at && fits ? indent : "");
        buf_put(out, text + at, fits);
        buf_putc(out, '\n');
    }
}

size_t show_cut(struct buf *out, const char *text, size_t len, size_t width, bool is_ascii)
{
    size_t fits = show_fit(text, len, width);
    if (fits == len || !width) {
        buf_put(out, text, fits);
        return width_text(text, fits);
    }
    fits = show_fit(text, len, width - 1);
    buf_put(out, text, fits);
    buf_puts(out, is_ascii || is_ascii_only ? "~" : "…");
    return width_text(text, fits) + 1;
}

/* ---- cleaning --------------------------------------------------------------------------------- */

static size_t skip_range(const char *text, size_t len, size_t i, char first, char last)
{
    while (i < len && text[i] >= first && text[i] <= last)
        i++;
    return i;
}

/* The end of CSI parameters that begin at i. */
static size_t skip_csi(const char *text, size_t len, size_t i)
{
    i = skip_range(text, len, i, 0x30, 0x3f);
    i = skip_range(text, len, i, 0x20, 0x2f);
    return i + (i < len && text[i] >= 0x40 && text[i] <= 0x7e);
}

/* The end of a control string that begins at i; i itself when it does not end soon. */
static size_t skip_string(const char *text, size_t len, size_t i)
{
    size_t end = MIN(len, i + STRING_MAX);
    for (size_t k = i; k < end; k++) {
        if (text[k] == BEL)
            return k + 1;
        if (text[k] == ESC)
            return k + 1 < len && text[k + 1] == '\\' ? k + 2 : k;
        if ((uint8_t)text[k] == 0xc2 && k + 1 < len && (uint8_t)text[k + 1] == ST)
            return k + 2;
    }
    return i;
}

/* What follows ESC, or the letter that a C1 character stands for. */
static size_t skip_after(const char *text, size_t len, size_t i, char letter)
{
    if (letter == '[')
        return skip_csi(text, len, i);
    return strchr("]PX^_", letter) && letter ? skip_string(text, len, i) : i;
}

static size_t skip_escape(const char *text, size_t len, size_t i)
{
    size_t k = skip_range(text, len, i, 0x20, 0x2f);
    if (k < len && text[k] >= 0x30 && text[k] <= 0x7e)
        return skip_after(text, len, k + 1, k == i ? text[k] : 0);
    return k;
}

/* Characters that show nothing, or turn others around. */
static bool is_unwanted(uint32_t code)
{
    return code < 0x20 || (code >= DEL && code < 0xa0) || code == 0xad || code == 0x61c ||
           (code >= 0x200b && code <= 0x200f && code != 0x200c && code != 0x200d) ||
           (code >= 0x2028 && code <= 0x202e) || (code >= 0x2060 && code <= 0x206f) ||
           code == 0xfeff || (code >= 0xfff9 && code <= 0xfffb) || (code & 0xfffe) == 0xfffe ||
           (code >= 0xfdd0 && code <= 0xfdef) || (code >= 0xe0000 && code <= 0xe0fff);
}

struct cleaning {
    struct buf *out;
    bool keeps_lines;
    size_t column;   // for tabs
    int marks;       // on the character before
};

static void put_char(struct cleaning *c, const char *text, size_t n, uint32_t code)
{
    int width = width_char(code);
    c->marks = width ? 0 : c->marks + 1;
    if (c->marks > MARKS_MAX)
        return;
    if (is_ascii_only && code >= 0x80)
        buf_puts(c->out, width ? "?" : "");
    else
        buf_put(c->out, text, n);
    c->column += (size_t)width;
}

static void put_space(struct cleaning *c, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_char(c, " ", 1, ' ');
}

static void put_break(struct cleaning *c)
{
    if (!c->keeps_lines) {
        put_space(c, 1);
        return;
    }
    buf_putc(c->out, '\n');
    c->column = 0;
    c->marks = 0;
}

/* A control character and what belongs to it; returns where the text goes on. */
static size_t put_control(struct cleaning *c, const char *text, size_t len, size_t i, size_t n,
                          uint32_t code)
{
    if (code == ESC)
        return skip_escape(text, len, i + n);
    if (code >= 0x80 && code < 0xa0)
        return skip_after(text, len, i + n, (char)(code - 0x40));
    if (code == '\t')
        put_space(c, c->keeps_lines ? TAB - c->column % TAB : 1);
    else if (code == '\n' || code == 0x2028 || code == 0x2029)
        put_break(c);
    else if (code == '\r' && (i + n >= len || text[i + n] != '\n'))
        put_break(c);
    return i + n;
}

static void clean(struct cleaning *c, const char *text, size_t len)
{
    uint32_t code;
    for (size_t i = 0; i < len;) {
        size_t n = utf8_decode(text + i, len - i, &code);
        if (!n) {
            put_char(c, "\xef\xbf\xbd", 3, 0xfffd);
            i++;
        } else if (is_unwanted(code))
            i = put_control(c, text, len, i, n, code);
        else {
            put_char(c, text + i, n, code);
            i += n;
        }
    }
}

void show_line(struct buf *out, const char *text, size_t len)
{
    struct cleaning c = { .out = out };
    clean(&c, text, len);
}

void show_lines(struct buf *out, const char *text, size_t len)
{
    struct cleaning c = { .out = out, .keeps_lines = true };
    clean(&c, text, len);
}

/* ---- JSON ------------------------------------------------------------------------------------- */

static void put_escaped(struct buf *out, uint32_t code)
{
    if (code >= 0x10000) {
        buf_printf(out, "\\u%04x", 0xd800 + ((code - 0x10000) >> 10));
        code = 0xdc00 + ((code - 0x10000) & 0x3ff);
    }
    buf_printf(out, "\\u%04x", code);
}

/* Do the bytes end within a character? */
static bool is_cut(const char *text, size_t len)
{
    uint8_t first = (uint8_t)text[0];
    size_t n = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return len < n;
}

size_t show_json(struct buf *out, const char *text, size_t len, bool is_ascii)
{
    uint32_t code = 0;
    size_t i = 0;
    while (i < len) {
        size_t n = utf8_decode(text + i, len - i, &code);
        if (!n && is_cut(text + i, len - i))
            break;
        if (n && code >= DEL && (is_unwanted(code) || (is_ascii && code > DEL)))
            put_escaped(out, code);
        else
            buf_put(out, text + i, MAX(n, 1u));
        i += MAX(n, 1u);
    }
    return i;
}

/* ---- errors and words ------------------------------------------------------------------------- */

static size_t last_break(const char *text, size_t len)
{
    while (len && text[len - 1] != '\n')
        len--;
    return len ? len - 1 : 0;
}

size_t show_without_caret(const char *error)
{
    size_t len = strlen(error), caret = last_break(error, len);
    size_t blank = caret ? strspn(error + caret + 1, " ") : 0;
    if (!caret || error[caret + 1 + blank] != '^')
        return len;
    size_t excerpt = last_break(error, caret);
    return excerpt ? excerpt : len;
}

void show_quoted(struct buf *out, const char *text)
{
    buf_putc(out, '\'');
    for (; *text; text++) {
        if (*text == '\'')
            buf_puts(out, "'\\''");
        else
            buf_putc(out, *text);
    }
    buf_putc(out, '\'');
}

void show_word(struct buf *out, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_./,:@%+=-";
    if (*text && !text[strspn(text, plain)])
        buf_puts(out, text);
    else
        show_quoted(out, text);
}

void show_folder(struct buf *out, const char *path)
{
    const char *home = getenv("HOME");
    size_t len = home ? strlen(home) : 0;
    bool is_home = len > 1 && strncmp(path, home, len) == 0 && (!path[len] || path[len] == '/');
    buf_puts(out, is_home ? "~" : "");
    path += is_home ? len : 0;
    show_line(out, path, strlen(path));
}
