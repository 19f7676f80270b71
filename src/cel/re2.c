/* re2.c - a filter between two dialects.

   RE2's syntax is nearly a subset of PCRE2's.  The filter walks over the pattern once, refuses
   what is outside the subset, and rewrites the little that both accept with different meanings:
   \s and \v.  Matching by backtracking instead of by automaton gives the same answer to "is
   there a match", only slower for some patterns; those run into the step limit. */
#include "cel/re2.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>

#define REPEAT_MAX 1000

struct filter {
    const char *at, *end;
    struct buf out;
    bool can_repeat;   // something stands before this place that may be repeated
    bool has_repeat;   // ... and it was repeated already
};

static char peek(const struct filter *f, size_t ahead)
{
    return (size_t)(f->end - f->at) > ahead ? f->at[ahead] : '\0';
}

static void copy(struct filter *f, size_t len)
{
    buf_put(&f->out, f->at, len);
    f->at += len;
}

static int refuse(struct filter *f, size_t len, rondo_error *err)
{
    return err_set(err, RONDO_EPARSE, "'%.*s' is not supported",
                   (int)MIN(len, (size_t)(f->end - f->at)), f->at);
}

/* ---- escapes ----------------------------------------------------------------------------- */

static const struct {
    char name;
    const char *outside, *inside;   // a class; NULL: copied as it is
} escapes[] = {
    { 's', "[\\t\\n\\f\\r ]", "\\t\\n\\f\\r " },
    { 'S', "[^\\t\\n\\f\\r ]", NULL },
    { 'v', "\\x0b", "\\x0b" },
};

static bool is_octal(char c)
{
    return c >= '0' && c <= '7';
}

/* \12 is a character; \1 would be a backreference, and so might \12 be if it were left as it is. */
static int read_octal(struct filter *f, rondo_error *err)
{
    if (!is_octal(peek(f, 1)) || !is_octal(peek(f, 2)))
        return refuse(f, 2, err);
    int digits = is_octal(peek(f, 3)) ? 3 : 2;
    buf_printf(&f->out, "\\o{%.*s}", digits, f->at + 1);
    f->at += 1 + digits;
    return 0;
}

static int read_escape(struct filter *f, bool in_class, rondo_error *err)
{
    char c = peek(f, 1);
    if (c == '\0' && f->end - f->at < 2)
        return err_set(err, RONDO_EPARSE, "a backslash at the end");
    for (size_t i = 0; i < COUNT(escapes); i++) {
        const char *text = in_class ? escapes[i].inside : escapes[i].outside;
        if (c != escapes[i].name || !text)
            continue;
        buf_puts(&f->out, text);
        f->at += 2;
        return 0;
    }
    if (c >= '1' && c <= '9')
        return read_octal(f, err);
    if ((isalpha((unsigned char)c) &&
         !strchr(in_class ? "pPafntrxdDwWsSQE" : "pPafntrxdDwWsSbBAzQE", c)) ||
        c == '_')
        return refuse(f, 2, err);
    size_t len = 2;
    while (c == 'Q' && f->end - f->at > (ptrdiff_t)len &&
           !(peek(f, len) == '\\' && peek(f, len + 1) == 'E'))
        len++;
    copy(f, (unsigned char)c >= 0x80 ? 1 : len);
    return 0;
}

/* ---- classes, groups, repetition --------------------------------------------------------- */

static int read_class(struct filter *f, rondo_error *err)
{
    copy(f, 1);
    if (peek(f, 0) == '^')
        copy(f, 1);
    if (peek(f, 0) == ']')
        copy(f, 1);
    while (f->at < f->end && *f->at != ']') {
        if (*f->at == '\\') {
            if (read_escape(f, true, err) < 0)
                return err->code;
        } else if (*f->at == '[' && peek(f, 1) == ':') {
            const char *close = memchr(f->at + 2, ']', (size_t)(f->end - f->at - 2));
            copy(f, close ? (size_t)(close - f->at) + 1 : 1);
        } else
            copy(f, 1);
    }
    if (f->at == f->end)
        return err_set(err, RONDO_EPARSE, "missing ']'");
    copy(f, 1);
    return 0;
}

/* Behind "(?": flags, a name, or a plain group; nothing else is regular. */
static int read_group(struct filter *f, rondo_error *err)
{
    if (peek(f, 1) == '*')
        return refuse(f, 2, err);
    if (peek(f, 1) != '?') {
        copy(f, 1);
        return 0;
    }
    size_t len = 2;
    if (peek(f, 2) == 'P' || peek(f, 2) == '<') {
        len += peek(f, 2) == 'P';
        if (peek(f, len) != '<' ||
            !(isalpha((unsigned char)peek(f, len + 1)) || peek(f, len + 1) == '_'))
            return refuse(f, len + 2, err);
        copy(f, len + 1);
        return 0;
    }
    while (peek(f, len) && strchr("imsU-", peek(f, len)))
        len++;
    if (peek(f, len) != ':' && (peek(f, len) != ')' || len == 2))
        return refuse(f, len + 1, err);
    f->can_repeat = false;
    copy(f, len + 1);
    return 0;
}

/* {n}, {n,} or {n,m}; anything else in braces is plain text.  The length, 0 for plain text. */
static size_t repeat_length(const struct filter *f, bool *ret_too_large)
{
    size_t at = 1;
    *ret_too_large = false;
    for (int part = 0; part < 2; part++) {
        unsigned n = 0;
        size_t start = at;
        for (; isdigit((unsigned char)peek(f, at)); at++)
            n = MIN(n * 10 + (unsigned)(peek(f, at) - '0'), 100000u);
        *ret_too_large |= n > REPEAT_MAX;
        if (part == 0 && at == start)
            return 0;
        if (peek(f, at) == '}')
            return at + 1;
        if (part == 1 || peek(f, at) != ',')
            return 0;
        at++;
    }
    return 0;
}

static int read_repeat(struct filter *f, size_t len, rondo_error *err)
{
    if (!f->can_repeat)
        return err_set(err, RONDO_EPARSE, "nothing before '%.*s' that could be repeated",
                       (int)len, f->at);
    if (f->has_repeat)
        return refuse(f, len, err);
    copy(f, len);
    if (peek(f, 0) == '?')
        copy(f, 1);
    f->has_repeat = true;
    return 0;
}

/* One thing that is no repetition; afterwards it may be repeated. */
static int read_atom(struct filter *f, rondo_error *err)
{
    char c = *f->at;
    f->can_repeat = c != '(' && c != '|';
    f->has_repeat = false;
    if (c == '\\')
        return read_escape(f, false, err);
    if (c == '[')
        return read_class(f, err);
    if (c == '(')
        return read_group(f, err);
    copy(f, 1);
    return 0;
}

static int read_pattern(struct filter *f, rondo_error *err)
{
    bool too_large;
    while (f->at < f->end) {
        size_t len = *f->at == '{'                     ? repeat_length(f, &too_large)
                     : strchr("*+?", *f->at) && *f->at ? 1
                                                       : 0;
        if (*f->at == '{' && len && too_large)
            return err_set(err, RONDO_EPARSE, "more than %d repetitions", REPEAT_MAX);
        if ((len ? read_repeat(f, len, err) : read_atom(f, err)) < 0)
            return err->code;
    }
    return 0;
}

struct regex *re2_compile(const char *pattern, size_t len, bool is_often_used, rondo_error *err)
{
    auto_buf struct buf out = { 0 };
    struct filter f = { pattern, pattern + len, { 0 }, false, false };
    int code = read_pattern(&f, err);
    out = f.out;
    if (code < 0)
        return NULL;
    return regex_new(buf_text(&out), out.len,
                     REGEX_DOLLAR_END | (is_often_used ? REGEX_JIT : 0), err);
}
