/* diag.c - a list of diagnostics, and how one is shown.

   What a file says is quoted in messages and source lines, so everything that would disturb a
   terminal is replaced on its way out. */
#include "flow/diag.h"

#include "base/buf.h"
#include "data/utf8.h"
#include "data/width.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_MAX 110 // characters of a source line
#define NAME_MAX_LEN 64
#define LIST_MAX   (5 * DIAG_MAX)  // until those go that would come last
#define EFFORT_MAX (20 * DIAG_MAX) // errors that are worth a search, even when most of them are the same
#define LOOKS_MAX  250000 // at names for the nearest, of all searches together

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
    for (uint32_t i = 0; i < diags->count; i++)
        diag_clear(&diags->list[i]);
    for (uint32_t i = 0; i < diags->file_count; i++)
        source_unref(diags->files[i]);
    mem_free(diags->list);
    mem_free(diags->files);
    *diags = (struct diags){ 0 };
}

/* Which of the files it is, from 1; the last one is asked for most.  0: none. */
static uint32_t file_of(struct diags *diags, struct source *source)
{
    uint32_t i = diags->file_count;
    while (source && i > 0 && diags->files[i - 1] != source)
        i--;
    if (i || !source)
        return i;
    mem_grow(&diags->files, &diags->file_cap, diags->file_count, sizeof(struct source *));
    diags->files[diags->file_count++] = source_ref(source);
    return diags->file_count;
}

void diags_ask(struct diags *diags, struct source *source)
{
    file_of(diags, source);
}

bool diags_has_room(const struct diags *diags)
{
    return diags->kept < DIAG_MAX && diags->errors <= EFFORT_MAX;
}

static void cut(struct diags *diags);

static struct diag *diag_new(struct diags *diags, struct source *source, const char *code)
{
    if (diags->count == LIST_MAX || diags->errors - diags->seen >= DIAG_MAX)
        cut(diags);
    mem_grow(&diags->list, &diags->cap, diags->count, sizeof *diags->list);
    struct diag *diag = &diags->list[diags->count++];
    *diag = (struct diag){ .source = source ? source_ref(source) : NULL, .file = file_of(diags, source),
                           .number = diags->numbers++, .code = code, .width = 1 };
    diags->errors++;
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
    struct buf out = { 0 };
    buf_vprintf(&out, fmt, args);
    char *text = buf_take(&out);
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

void diag_order_by(struct diag *diag, const struct doc_val *at)
{
    diag->by_line = at->line;
    diag->by_column = at->column;
}

/* ---- order ------------------------------------------------------------------------------------- */

static int compare_numbers(uint32_t a, uint32_t b)
{
    return (a > b) - (a < b);
}

static int compare_diags(const void *left, const void *right)
{
    const struct diag *a = left, *b = right;
    int by = compare_numbers(a->is_warning, b->is_warning);
    by = by ? by : compare_numbers(a->file, b->file);
    by = by ? by : compare_numbers(a->stage, b->stage);
    by = by ? by : compare_numbers(a->by_line ? a->by_line : a->line, b->by_line ? b->by_line : b->line);
    by = by ? by : compare_numbers(a->by_line ? a->by_column : a->column, b->by_line ? b->by_column : b->column);
    return by ? by : compare_numbers(a->number, b->number);
}

static bool is_same_place(const struct diag *a, const struct diag *b)
{
    return a->is_warning == b->is_warning && a->file == b->file && a->line == b->line && a->column == b->column;
}

/* An alias brings what is wrong there once more.  What has no place may be about several things. */
static bool was_told(const struct diags *diags, const struct diag *diag)
{
    for (uint32_t i = diags->count; diag->line && i > 0 && is_same_place(&diags->list[i - 1], diag); i--)
        if (strcmp(diags->list[i - 1].code, diag->code) == 0 && strcmp(diags->list[i - 1].message, diag->message) == 0)
            return true;
    return false;
}

static void cut(struct diags *diags)
{
    uint32_t count = diags->count, kept[2] = { 0 };
    qsort(diags->list, count, sizeof *diags->list, compare_diags);
    diags->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct diag diag = diags->list[i];
        bool is_nothing = diag.is_guess || was_told(diags, &diag);
        if (!is_nothing && kept[diag.is_warning]++ < DIAG_MAX) {
            diags->list[diags->count++] = diag;
            continue;
        }
        diags->no_errors += is_nothing && !diag.is_warning;
        diags->no_warnings += is_nothing && diag.is_warning;
        diag_clear(&diag);
    }
    diags->kept = MIN(kept[false], DIAG_MAX);
    diags->seen = diags->errors;
}

void diags_sort(struct diags *diags)
{
    if (diags->count)
        cut(diags);
    diags->errors -= diags->no_errors;
    diags->warnings -= diags->no_warnings;
    diags->no_errors = diags->no_warnings = 0;
    diags->seen = diags->errors;
}

uint32_t diags_left_out(const struct diags *diags)
{
    return diags->errors + diags->warnings - diags->count;
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

/* What both begin with is the same whatever the edits are. */
static size_t same_start(const char *a, const char *b, size_t len)
{
    size_t i = 0;
    while (i < len && folded(a[i]) == folded(b[i]))
        i++;
    return i;
}

/* Edits from a to b, a swap of neighbours being one; more than limit: limit + 1.  Only cells that
   can still be within the limit are looked at: those near the diagonal, and `far` beside them. */
static size_t edits(const char *a, size_t a_len, const char *b, size_t b_len, size_t limit)
{
    size_t rows[3][NAME_MAX_LEN + 2];
    size_t far = limit + 1, start = same_start(a, b, MIN(a_len, b_len));
    a += start, b += start, a_len -= start, b_len -= start;
    if (MAX(a_len, b_len) - MIN(a_len, b_len) > limit)
        return far;
    for (size_t j = 0; j <= b_len; j++)
        rows[0][j] = MIN(j, far);
    for (size_t i = 1; i <= a_len; i++) {
        size_t *now = rows[i % 3], *above = rows[(i - 1) % 3], *above2 = rows[(i + 1) % 3];
        size_t first = i > limit ? i - limit : 1, last = MIN(b_len, i + limit);
        size_t least = now[first - 1] = first > 1 ? far : i;
        for (size_t j = first; j <= last; j++) {
            size_t same = folded(a[i - 1]) == folded(b[j - 1]);
            size_t best = MIN(above[j] + 1, now[j - 1] + 1);
            best = MIN(best, above[j - 1] + !same);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = MIN(best, above2[j - 2] + 1);
            now[j] = MIN(best, far);
            least = MIN(least, now[j]);
        }
        now[last + 1] = far;
        if (least > limit)
            return far;
    }
    return rows[a_len % 3][b_len];
}

const char *diag_nearest(const char *text, const char *const *names, size_t count)
{
    size_t len = strlen(text), best = len < 6 ? 1 : len < 9 ? 2 : 3; // two other letters make a short word another one
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

bool diags_wants_names(const struct diags *diags)
{
    return diags_has_room(diags) && diags->looks < LOOKS_MAX;
}

const char *diags_nearest(struct diags *diags, const char *text, const char *const *names, size_t count)
{
    if (!diags_wants_names(diags))
        return NULL;
    diags->looks += (uint32_t)MIN(count, LOOKS_MAX);
    return diag_nearest(text, names, count);
}

bool diag_is_slip(const char *text, const char *name)
{
    size_t len = strlen(text), n = strlen(name);
    return len <= NAME_MAX_LEN && n <= NAME_MAX_LEN && edits(text, len, name, n, 1) <= 1;
}
