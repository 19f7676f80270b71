/* diag.c - a list of diagnostics, and how one is shown.

   What a file says is quoted in messages and source lines, so everything that would disturb a
   terminal is replaced on its way out. */
#include "flow/diag.h"

#include "base/mem.h"
#include "data/utf8.h"
#include "data/width.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 110 // characters of a source line
#define NAME_MAX_LEN 64

/* ---- the list -------------------------------------------------------------------------------- */

static void diag_clear(struct diag *diag)
{
    source_unref(diag->source);
    mem_free(diag->message);
    mem_free(diag->hint);
    *diag = (struct diag){ 0 };
}

void diags_clear(struct diags *diags)
{
    for (uint32_t i = 0; i < diags->cap; i++)
        diag_clear(&diags->list[i]);
    mem_free(diags->list);
    *diags = (struct diags){ 0 };
}

/* The last slot takes what is beyond DIAG_MAX, one after the other. */
static struct diag *diag_new(struct diags *diags, struct source *source, const char *code)
{
    if (!diags->list) {
        diags->cap = DIAG_MAX + 1;
        diags->list = mem_zalloc(diags->cap * sizeof *diags->list);
    }
    struct diag *diag = &diags->list[diags->count];
    diags->errors++;
    if (diags->count < DIAG_MAX)
        diags->count++;
    else
        diag_clear(diag);
    diag->source = source ? source_ref(source) : NULL;
    diag->code = code;
    diag->width = 1;
    return diag;
}

/* How much of a value to underline: a scalar up to the end of its first line. */
static uint32_t width_of(const struct source *source, const struct doc_val *at)
{
    uint32_t width = 0, code;
    if (at->kind == DOC_LIST || at->kind == DOC_MAP || at->is_block || at->offset > source->len)
        return 1;
    size_t len = MIN(at->len, source->len - at->offset);
    const char *text = source->text + at->offset;
    for (size_t i = 0, n; i < len && text[i] != '\n' && text[i] != '\r'; i += n, width++)
        if (!(n = utf8_decode(text + i, len - i, &code)))
            break;
    return MAX(width, 1);
}

static char *vformat(const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, fmt, args);
    char *text = mem_alloc((size_t)MAX(len, 0) + 1);
    vsnprintf(text, (size_t)MAX(len, 0) + 1, fmt, again);
    va_end(again);
    err_mend(text);
    return text;
}

struct diag *diag_at(struct diags *diags, struct source *source, const struct doc_val *at,
                     const char *code, const char *fmt, ...)
{
    va_list args;
    struct diag *diag = diag_new(diags, source, code);
    va_start(args, fmt);
    diag->message = vformat(fmt, args);
    va_end(args);
    if (source && at) {
        diag->line = at->line;
        diag->column = at->column;
        diag->width = width_of(source, at);
        diag->is_guess = at->is_bad || at->has_bad;
    }
    return diag;
}

struct diag *diag_error(struct diags *diags, struct source *source, const char *code,
                        const rondo_error *err)
{
    struct diag *diag = diag_new(diags, source, code);
    diag->message = mem_strdup(err->message);
    diag->line = (uint32_t)MAX(err->line, 0);
    diag->column = (uint32_t)MAX(err->column, 0);
    return diag;
}

void diag_hint(struct diag *diag, const char *fmt, ...)
{
    va_list args;
    mem_free(diag->hint);
    va_start(args, fmt);
    diag->hint = vformat(fmt, args);
    va_end(args);
}

void diag_warn(struct diags *diags, struct diag *diag)
{
    diag->is_warning = true;
    diags->errors--;
    diags->warnings++;
}

/* ---- order ------------------------------------------------------------------------------------- */

struct place {
    struct diag diag;
    uint32_t file, index;
};

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    int by = compare_numbers(a->diag.is_warning, b->diag.is_warning);
    by = by ? by : compare_numbers(a->file, b->file);
    by = by ? by : compare_numbers(a->diag.stage, b->diag.stage);
    by = by ? by : compare_numbers(a->diag.line, b->diag.line);
    by = by ? by : compare_numbers(a->diag.column, b->diag.column);
    return by ? by : compare_numbers(a->index, b->index);
}

/* A file by its first diagnostic, from 1; 0 is the one that was asked about. */
static uint32_t file_of(const struct diags *diags, const struct diag *diag)
{
    uint32_t i = 0;
    while (diags->list[i].source != diag->source)
        i++;
    return diag->source == diags->asked ? 0 : i + 1;
}

static void drop_guesses(struct diags *diags)
{
    uint32_t count = diags->count;
    diags->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct diag diag = diags->list[i];
        diags->list[i] = (struct diag){ 0 };
        if (!diag.is_guess) {
            diags->list[diags->count++] = diag;
            continue;
        }
        diags->errors -= !diag.is_warning;
        diags->warnings -= diag.is_warning;
        diag_clear(&diag);
    }
}

void diags_sort(struct diags *diags)
{
    drop_guesses(diags);
    auto_free struct place *places = mem_alloc((diags->count + 1) * sizeof *places);
    for (uint32_t i = 0; i < diags->count; i++)
        places[i] = (struct place){ diags->list[i], file_of(diags, &diags->list[i]), i };
    qsort(places, diags->count, sizeof *places, compare_places);
    for (uint32_t i = 0; i < diags->count; i++)
        diags->list[i] = places[i].diag;
}

/* ---- showing one ------------------------------------------------------------------------------- */

static bool is_harmless(uint32_t c)
{
    return c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && !(c >= 0x200e && c <= 0x200f) &&
           !(c >= 0x2028 && c <= 0x202e) && !(c >= 0x2066 && c <= 0x2069) && c != 0xfeff;
}

/* Text from outside on one line; a tab stays where keeps_tabs says so. */
static void put_safe(struct buf *out, const char *text, size_t len, bool keeps_tabs)
{
    uint32_t c;
    for (size_t i = 0, n; i < len; i += n) {
        n = utf8_decode(text + i, len - i, &c);
        if (n && (is_harmless(c) || (c == '\t' && keeps_tabs)))
            buf_put(out, text + i, n);
        else
            buf_puts(out, c == '\n' && n ? " " : "?");
        n = n ? n : 1;
    }
}

/* As columns are counted: by what is not the inside of a character. */
static size_t skip_chars(const char *text, size_t len, size_t chars)
{
    size_t i = 0;
    while (i < len && (((uint8_t)text[i] & 0xc0) == 0x80 || chars-- > 0))
        i++;
    return i;
}

/* The source line with the place underlined; a long line is shown around it. */
static void put_source_line(struct buf *out, const struct diag *diag, const char *mark,
                            const char *plain)
{
    size_t len = 0;
    const char *line = diag->line ? source_line(diag->source, diag->line, &len) : NULL;
    if (!line)
        return;
    auto_buf struct buf before = { 0 }, marked = { 0 };
    size_t column = diag->column ? diag->column - 1 : 0;
    size_t first = column > SHOWN_MAX / 2 + 20 ? column - SHOWN_MAX / 2 : 0;
    size_t start = skip_chars(line, len, first);
    size_t end = start + skip_chars(line + start, len - start, SHOWN_MAX);
    size_t at = start + skip_chars(line + start, len - start, column - first);
    buf_printf(out, "%5u | %s", (unsigned)diag->line, first ? "..." : "");
    put_safe(out, line + start, end - start, true);
    buf_printf(out, "%s\n      | %s", end < len ? "..." : "", first ? "   " : "");
    put_safe(&before, line + start, MIN(at, end) - start, true);
    put_safe(&marked, line + at, skip_chars(line + at, len - at, MIN(diag->width, SHOWN_MAX)), false);
    width_put_blank(out, buf_text(&before), before.len);
    buf_printf(out, "%s^", mark);
    for (size_t i = width_text(buf_text(&marked), marked.len); i > 1; i--)
        buf_putc(out, '~');
    buf_printf(out, "%s\n", plain);
}

void diag_put(struct buf *out, const struct diag *diag, bool colour)
{
    const char *bold = colour ? "\33[1m" : "", *plain = colour ? "\33[0m" : "";
    const char *mark = !colour ? "" : diag->is_warning ? "\33[1;33m" : "\33[1;31m";
    buf_puts(out, bold);
    if (diag->source) {
        put_safe(out, diag->source->name, strlen(diag->source->name), false);
        buf_puts(out, ":");
    }
    if (diag->source && diag->line)
        buf_printf(out, "%u:%u:", (unsigned)diag->line, (unsigned)diag->column);
    buf_printf(out, "%s%s%s[%s]: %s%s", diag->source ? " " : "", mark,
               diag->is_warning ? "warning" : "error", diag->code, plain, bold);
    put_safe(out, diag->message, strlen(diag->message), false);
    buf_printf(out, "%s\n", plain);
    if (diag->source)
        put_source_line(out, diag, mark, plain);
    if (diag->hint) {
        buf_puts(out, "      = ");
        put_safe(out, diag->hint, strlen(diag->hint), false);
        buf_putc(out, '\n');
    }
}

static void set_text(json_t *object, const char *key, const char *text)
{
    auto_buf struct buf safe = { 0 };
    if (text) {
        put_safe(&safe, text, strlen(text), false);
        json_object_set_new(object, key, json_stringn_nocheck(safe.data ? safe.data : "", safe.len));
    }
}

json_t *diag_json(const struct diag *diag)
{
    json_t *object = json_object();
    if (diag->source) { // of a whole file, where it begins
        set_text(object, "file", diag->source->name);
        json_object_set_new(object, "line", json_integer(MAX(diag->line, 1)));
        json_object_set_new(object, "column", json_integer(MAX(diag->column, 1)));
    }
    set_text(object, "severity", diag->is_warning ? "warning" : "error");
    set_text(object, "code", diag->code);
    set_text(object, "message", diag->message);
    set_text(object, "hint", diag->hint);
    return object;
}

/* ---- near names ---------------------------------------------------------------------------------- */

static char folded(char c)
{
    return c == '_' ? '-' : (char)tolower((unsigned char)c);
}

/* Edits from a to b, a swap of neighbours being one; more than limit: limit + 1.  Only cells that
   can still be within the limit are looked at. */
static size_t edits(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit)
{
    size_t rows[3][NAME_MAX_LEN + 2];
    size_t far = limit + 1;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = MIN(j, far);
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        size_t least = now[0] = MIN(i, far);
        for (size_t j = 1; j <= b_len; j++) {
            size_t same = folded(a[i - 1]) == folded(b[j - 1]);
            size_t best = MIN(above[j] + 1, now[j - 1] + 1);
            best = MIN(best, above[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, above2[j - 2] + 1);
            now[j] = MIN(best, far);
            least = MIN(least, now[j]);
        }
        if (least > limit)
            return far;
    }
    return rows[a_len % 3][b_len];
}

const char *diag_nearest(const char *text, const char *const *names, size_t count)
{
    size_t len = strlen(text), best = len < 4 ? 1 : len < 8 ? 2 : 3;
    const char *nearest = NULL;
    if (len > NAME_MAX_LEN)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        size_t n = strlen(names[i]);
        if (n > NAME_MAX_LEN || n + best < len || len + best < n || !n)
            continue;
        size_t d = edits(text, len, names[i], n, best);
        if (d > best || (nearest && d == best) || d >= MAX(len, n))
            continue;
        nearest = names[i];
        best = d;
    }
    return nearest;
}
