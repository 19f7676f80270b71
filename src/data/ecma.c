/* ecma.c - from ECMA-262 to PCRE2, a token at a time.

   Most of the two languages is the same; this file knows the rest.  Every literal that is not a
   letter or digit is written as an escape, so that nothing PCRE2 would give a meaning of its own
   ((*VERB), possessive quantifiers, POSIX classes, \Q) can get through.  Escapes that ECMA-262
   lacks are refused.  More lenient than a strict reading are only a lone {, } or ], and a
   backslash before punctuation, which people write and whose meaning is plain. */
#include "data/ecma.h"

#include "base/buf.h"
#include "data/utf8.h"

#include <string.h>

struct reader {
    const char *at, *end;
    struct buf out;
    rondo_error *err;
    bool only_syntax;   // lookbehinds become lookaheads
};

/* White space and line terminators, and everything else. */
#define SPACE                                                                                  \
    "\\x09-\\x0d\\x20\\xa0\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}"             \
    "\\x{205f}\\x{3000}\\x{feff}"
#define NOT_SPACE                                                                              \
    "\\x00-\\x08\\x0e-\\x1f\\x21-\\x9f\\xa1-\\x{167f}\\x{1681}-\\x{1fff}"                      \
    "\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}"                                \
    "\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}"

/* Escapes for sets of characters, and how they are written inside and outside brackets. */
static const struct {
    char letter;
    const char *inside, *outside;
} sets[] = {
    { 'd', "0-9", "[0-9]" },
    { 'D', "\\x00-/:-\\x{10ffff}", "[^0-9]" },
    { 'w', "A-Za-z0-9_", "[A-Za-z0-9_]" },
    { 'W', "\\x00-/:-@\\[-\\^`{-\\x{10ffff}", "[^A-Za-z0-9_]" },
    { 's', SPACE, "[" SPACE "]" },
    { 'S', NOT_SPACE, "[" NOT_SPACE "]" },
};

static const struct {
    char letter;
    uint32_t code;
} controls[] = { { 't', 9 }, { 'n', 10 }, { 'v', 11 }, { 'f', 12 }, { 'r', 13 } };

/* General categories have long names and a few odd ones; PCRE2 knows the short. */
// clang-format off
static const struct {
    const char *name, *category;
} categories[] = {
    { "Letter", "L" }, { "Cased_Letter", "L&" }, { "LC", "L&" }, { "Uppercase_Letter", "Lu" },
    { "Lowercase_Letter", "Ll" }, { "Titlecase_Letter", "Lt" }, { "Modifier_Letter", "Lm" },
    { "Other_Letter", "Lo" }, { "Mark", "M" }, { "Combining_Mark", "M" },
    { "Nonspacing_Mark", "Mn" }, { "Spacing_Mark", "Mc" }, { "Enclosing_Mark", "Me" },
    { "Number", "N" }, { "Decimal_Number", "Nd" }, { "digit", "Nd" },
    { "Letter_Number", "Nl" }, { "Other_Number", "No" }, { "Punctuation", "P" },
    { "punct", "P" }, { "Connector_Punctuation", "Pc" }, { "Dash_Punctuation", "Pd" },
    { "Open_Punctuation", "Ps" }, { "Close_Punctuation", "Pe" },
    { "Initial_Punctuation", "Pi" }, { "Final_Punctuation", "Pf" },
    { "Other_Punctuation", "Po" }, { "Symbol", "S" }, { "Math_Symbol", "Sm" },
    { "Currency_Symbol", "Sc" }, { "Modifier_Symbol", "Sk" }, { "Other_Symbol", "So" },
    { "Separator", "Z" }, { "Space_Separator", "Zs" }, { "Line_Separator", "Zl" },
    { "Paragraph_Separator", "Zp" }, { "Other", "C" }, { "Control", "Cc" }, { "cntrl", "Cc" },
    { "Format", "Cf" }, { "Surrogate", "Cs" }, { "Private_Use", "Co" }, { "Unassigned", "Cn" },
};
// clang-format on

static int fail(struct reader *r, const char *what)
{
    return err_set(r->err, RONDO_EPARSE, "%s", what);
}

static bool is_alnum(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static char peek(const struct reader *r, size_t ahead)
{
    return (size_t)(r->end - r->at) > ahead ? r->at[ahead] : '\0';
}

static bool take(struct reader *r, const char *text)
{
    size_t len = strlen(text);
    if ((size_t)(r->end - r->at) < len || memcmp(r->at, text, len) != 0)
        return false;
    r->at += len;
    return true;
}

static void put_code(struct reader *r, uint32_t code)
{
    if (code < 0x80 && is_alnum((char)code))
        buf_putc(&r->out, (char)code);
    else
        buf_printf(&r->out, "\\x{%x}", code);
}

/* ---- escapes ---------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool take_hex(struct reader *r, int digits, uint32_t *ret)
{
    uint32_t code = 0;
    for (int i = 0; i < digits; i++) {
        int value = hex_value(peek(r, (size_t)i));
        if (value < 0)
            return false;
        code = code * 16 + (uint32_t)value;
    }
    r->at += digits;
    *ret = code;
    return true;
}

/* Behind \u: {1f432}, d83d\udc32 or 00e9. */
static int read_unicode(struct reader *r, uint32_t *ret)
{
    uint32_t low, digit;
    if (take(r, "{")) {
        *ret = 0;
        while (*ret <= 0x10ffff && take_hex(r, 1, &digit))
            *ret = *ret * 16 + digit;
        return *ret <= 0x10ffff && r->at[-1] != '{' && take(r, "}")
                   ? 0
                   : fail(r, "wrong \\u escape");
    }
    if (!take_hex(r, 4, ret))
        return fail(r, "expected four hexadecimal digits behind \\u");
    const char *before = r->at;
    if (*ret >= 0xd800 && *ret < 0xdc00 && take(r, "\\u")) {
        if (take_hex(r, 4, &low) && low >= 0xdc00 && low < 0xe000)
            *ret = 0x10000 + ((*ret - 0xd800) << 10) + (low - 0xdc00);
        else
            r->at = before;
    }
    return 0;
}

/* An escape that stands for one character; r->at is behind the backslash. */
static int read_character_escape(struct reader *r, uint32_t *ret)
{
    char c = *r->at++;
    for (size_t i = 0; i < COUNT(controls); i++) {
        if (c == controls[i].letter) {
            *ret = controls[i].code;
            return 0;
        }
    }
    if (c == 'u')
        return read_unicode(r, ret);
    if (c == 'x')
        return take_hex(r, 2, ret) ? 0 : fail(r, "expected two hexadecimal digits behind \\x");
    if (c == 'c') {
        char letter = peek(r, 0);
        if (!is_alnum(letter) || is_digit(letter))
            return fail(r, "expected a letter behind \\c");
        r->at++;
        *ret = (uint32_t)letter & 31;
        return 0;
    }
    if (c == '0' && !is_digit(peek(r, 0))) {
        *ret = 0;
        return 0;
    }
    if (is_alnum(c) || (c & 0x80))
        return fail(r, "unknown escape");
    *ret = (uint32_t)(uint8_t)c;
    return 0;
}

/* \p{Letter}, \p{Script=Greek}, \P{L}. */
static int read_property(struct reader *r)
{
    char sign = *r->at++;
    if (!take(r, "{"))
        return fail(r, "expected { behind \\p");
    const char *start = r->at;
    while (r->at < r->end && (is_alnum(*r->at) || *r->at == '_' || *r->at == '='))
        r->at++;
    size_t len = (size_t)(r->at - start);
    if (!len || !take(r, "}"))
        return fail(r, "expected the name of a property and }");
    if (len > 17 && memcmp(start, "General_Category=", 17) == 0) {
        start += 17;
        len -= 17;
    } else if (len > 3 && memcmp(start, "gc=", 3) == 0) {
        start += 3;
        len -= 3;
    }
    for (size_t i = 0; i < COUNT(categories); i++) {
        if (strlen(categories[i].name) == len && memcmp(categories[i].name, start, len) == 0) {
            start = categories[i].category;
            len = strlen(start);
            break;
        }
    }
    buf_printf(&r->out, "\\%c{%.*s}", sign, (int)len, start);
    return 0;
}

/* A set such as \d; false when the escape is none. */
static bool read_set(struct reader *r, bool is_inside)
{
    for (size_t i = 0; i < COUNT(sets); i++) {
        if (*r->at != sets[i].letter)
            continue;
        r->at++;
        buf_puts(&r->out, is_inside ? sets[i].inside : sets[i].outside);
        return true;
    }
    return false;
}

/* ---- brackets --------------------------------------------------------------------------------- */

/* One member of a class: a character, or a set, which is written at once. */
static int read_class_atom(struct reader *r, uint32_t *ret, bool *ret_is_set)
{
    *ret_is_set = false;
    if (!take(r, "\\")) {
        size_t n = utf8_decode(r->at, (size_t)(r->end - r->at), ret);
        r->at += n;
        return n ? 0 : fail(r, "wrong UTF-8");
    }
    if (r->at == r->end)
        return fail(r, "a backslash at the end");
    if (*r->at == 'p' || *r->at == 'P') {
        *ret_is_set = true;
        return read_property(r);
    }
    *ret_is_set = read_set(r, true);
    if (*ret_is_set)
        return 0;
    if (take(r, "b")) {
        *ret = 8;
        return 0;
    }
    return read_character_escape(r, ret);
}

static bool is_surrogate(uint32_t code)
{
    return code >= 0xd800 && code < 0xe000;
}

/* Surrogates do not occur in a text; a range may begin or end with one all the same. */
static int put_range(struct reader *r, uint32_t low, uint32_t high)
{
    if (low > high)
        return fail(r, "a range in the wrong order");
    low = is_surrogate(low) ? 0xe000 : low;
    high = is_surrogate(high) ? 0xd7ff : high;
    if (low > high)
        return 0;
    put_code(r, low);
    if (low != high) {
        buf_putc(&r->out, '-');
        put_code(r, high);
    }
    return 0;
}

static int read_class_member(struct reader *r)
{
    uint32_t low, high;
    bool is_set, is_high_set;
    int rc = read_class_atom(r, &low, &is_set);
    if (rc < 0)
        return rc;
    bool is_range = peek(r, 0) == '-' && r->end - r->at > 1 && peek(r, 1) != ']';
    if (is_set || !is_range)
        return is_set ? 0 : put_range(r, low, low);
    r->at++;
    rc = read_class_atom(r, &high, &is_high_set);
    if (rc < 0)
        return rc;
    if (!is_high_set)
        return put_range(r, low, high);
    put_code(r, low);   // [a-\d]: the hyphen stands for itself
    put_code(r, '-');
    return 0;
}

static int read_class(struct reader *r)
{
    bool is_negated = take(r, "^");
    size_t start = r->out.len;
    buf_puts(&r->out, is_negated ? "[^" : "[");
    size_t empty = r->out.len;
    while (r->at < r->end && *r->at != ']') {
        int rc = read_class_member(r);
        if (rc < 0)
            return rc;
    }
    if (!take(r, "]"))
        return fail(r, "a [ without ]");
    if (r->out.len == empty) {   // [] matches nothing, [^] anything
        r->out.len = start;
        buf_puts(&r->out, is_negated ? "[\\x00-\\x{10ffff}]" : "(?!)");
        return 0;
    }
    buf_putc(&r->out, ']');
    return 0;
}

/* ---- atoms and quantifiers -------------------------------------------------------------------- */

/* A group's name, in the letters that PCRE2 allows. */
static int read_name(struct reader *r)
{
    const char *start = r->at;
    while (r->at < r->end && *r->at != '>')
        r->at++;
    if (r->at == start || is_digit(*start) || !take(r, ">"))
        return fail(r, "expected a name and >");
    for (; start < r->at - 1; start++) {
        if (is_alnum(*start) || *start == '_')
            buf_putc(&r->out, *start);
        else if (*start == '$' || *start & 0x80)
            buf_printf(&r->out, "_%02x", (uint8_t)*start);
        else
            return fail(r, "a wrong character in the name of a group");
    }
    return 0;
}

/* A group that took no part matches nothing at all, so a reference to it holds. */
static int read_back_reference(struct reader *r)
{
    unsigned n = 0;
    while (is_digit(peek(r, 0)) && n < 1000)
        n = n * 10 + (unsigned)(*r->at++ - '0');
    buf_printf(&r->out, "(?(%u)\\g{%u})", n, n);
    return 0;
}

static int read_named_reference(struct reader *r)
{
    size_t start = r->out.len;
    int rc = read_name(r);
    if (rc < 0)
        return rc;
    auto_free char *name = mem_dup(r->out.data + start, r->out.len - start);
    r->out.len = start;
    buf_printf(&r->out, "(?(<%s>)\\k<%s>)", name, name);
    return 0;
}

static int read_escape(struct reader *r, bool *ret_repeats)
{
    uint32_t code = 0;
    char c = peek(r, 0);
    if (r->at == r->end)
        return fail(r, "a backslash at the end");
    if (c == 'b' || c == 'B') {
        r->at++;
        buf_printf(&r->out, "\\%c", c);
        *ret_repeats = false;
        return 0;
    }
    if (c == 'p' || c == 'P')
        return read_property(r);
    if (c >= '1' && c <= '9')
        return read_back_reference(r);
    if (take(r, "k<"))
        return read_named_reference(r);
    if (read_set(r, false))
        return 0;
    int rc = read_character_escape(r, &code);
    if (rc == 0 && is_surrogate(code))
        buf_puts(&r->out, "(?!)");
    else if (rc == 0)
        put_code(r, code);
    return rc;
}

static int read_group(struct reader *r, bool *ret_repeats)
{
    static const char *const heads[] = { "?:", "?=", "?!", "?<=", "?<!" };
    *ret_repeats = false;
    for (size_t i = 0; i < COUNT(heads); i++) {
        if (take(r, heads[i])) {
            const char *head = r->only_syntax && i >= 3 ? heads[i - 2] : heads[i];
            buf_printf(&r->out, "(%s", head);
            return 0;
        }
    }
    if (take(r, "?<")) {
        buf_puts(&r->out, "(?<");
        int rc = read_name(r);
        buf_putc(&r->out, '>');
        return rc;
    }
    if (peek(r, 0) == '?')
        return fail(r, "an unknown kind of group");
    buf_putc(&r->out, '(');
    return 0;
}

/* The length of {n}, {n,} or {n,m} at r->at, or 0. */
static size_t braces_length(const struct reader *r)
{
    size_t i = 1;
    if (peek(r, 0) != '{' || !is_digit(peek(r, 1)))
        return 0;
    while (is_digit(peek(r, i)))
        i++;
    if (peek(r, i) == ',')
        i++;
    while (is_digit(peek(r, i)))
        i++;
    return peek(r, i) == '}' ? i + 1 : 0;
}

/* True when a quantifier was there; it may be followed by ? but not by another one. */
static bool read_quantifier(struct reader *r)
{
    size_t len = braces_length(r);
    if (!len && r->at < r->end && *r->at && strchr("*+?", *r->at))
        len = 1;
    if (!len)
        return false;
    buf_put(&r->out, r->at, len);
    r->at += len;
    if (take(r, "?"))
        buf_putc(&r->out, '?');
    return true;
}

static int read_literal(struct reader *r)
{
    uint32_t code;
    size_t n = utf8_decode(r->at, (size_t)(r->end - r->at), &code);
    if (!n)
        return fail(r, "wrong UTF-8");
    r->at += n;
    put_code(r, code);
    return 0;
}

static int read_atom(struct reader *r, bool *ret_repeats)
{
    *ret_repeats = true;
    if (take(r, "\\"))
        return read_escape(r, ret_repeats);
    if (take(r, "["))
        return read_class(r);
    if (take(r, "("))
        return read_group(r, ret_repeats);
    if (take(r, ".")) {
        buf_puts(&r->out, "[^\\n\\r\\x{2028}\\x{2029}]");
        return 0;
    }
    char c = peek(r, 0);
    if (r->at < r->end && c && strchr("^$|)", c)) {
        buf_putc(&r->out, c);
        r->at++;
        *ret_repeats = c == ')';
        return 0;
    }
    return read_literal(r);
}

static int translate(struct reader *r)
{
    bool repeats = false;
    while (r->at < r->end) {
        bool quantified = read_quantifier(r);
        if (quantified && !repeats)
            return fail(r, "nothing to repeat");
        int rc = quantified ? 0 : read_atom(r, &repeats);
        if (rc < 0)
            return rc;
        repeats = repeats && !quantified;
    }
    return 0;
}

static struct regex *compile(struct reader *r, unsigned flags)
{
    struct regex *regex = NULL;
    if (translate(r) == 0)
        regex = regex_new(buf_text(&r->out), r->out.len, flags | REGEX_DOLLAR_END, r->err);
    buf_free(&r->out);
    return regex;
}

struct regex *ecma_compile(const char *pattern, size_t len, unsigned flags, rondo_error *err)
{
    struct reader r = { pattern, pattern + len, { 0 }, err, false };
    return compile(&r, flags);
}

bool ecma_is_valid(const char *pattern, size_t len)
{
    rondo_error err;
    struct reader r = { pattern, pattern + len, { 0 }, &err, true };
    auto_regex struct regex *regex = compile(&r, 0);
    return regex != NULL;
}
