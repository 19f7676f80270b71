/* token.c - reading words: names, numbers, strings with their escapes, operators.

   The text is UTF-8; what is not is refused, so that every string of the language is valid. */
#include "cel/token.h"

#include "cel/runes.h"

#include <string.h>

void token_position(const char *text, size_t len, size_t offset, int *ret_line, int *ret_column)
{
    *ret_line = *ret_column = 1;
    for (size_t i = 0; i < offset && i < len; i++) {
        if (text[i] == '\n') {
            ++*ret_line;
            *ret_column = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80)
            ++*ret_column;
    }
}

static int wrong(const struct token_source *s, size_t offset, rondo_error *err)
{
    token_position(s->text, s->len, offset, &err->line, &err->column);
    return err->code;
}

static char peek(const struct token_source *s, uint32_t ahead)
{
    return s->at + ahead < s->len ? s->text[s->at + ahead] : '\0';
}

/* What a character can be part of.  Plain ASCII, whatever the locale. */
enum {
    BLANK = 1,
    LETTER = 2,
    DIGIT = 4,
    HEX = 8,
    QUOTE = 16,   // a quote, or a letter that can stand before one
};

// clang-format off
static const uint8_t classes[256] = {
    [' '] = BLANK, ['\t'] = BLANK, ['\n'] = BLANK, ['\r'] = BLANK, ['\f'] = BLANK,
    ['0' ... '9'] = DIGIT | HEX, ['"'] = QUOTE, ['\''] = QUOTE, ['_'] = LETTER,
    ['a'] = LETTER | HEX, ['b'] = LETTER | HEX | QUOTE, ['c' ... 'f'] = LETTER | HEX,
    ['g' ... 'q'] = LETTER, ['r'] = LETTER | QUOTE, ['s' ... 'z'] = LETTER,
    ['A'] = LETTER | HEX, ['B'] = LETTER | HEX | QUOTE, ['C' ... 'F'] = LETTER | HEX,
    ['G' ... 'Q'] = LETTER, ['R'] = LETTER | QUOTE, ['S' ... 'Z'] = LETTER,
};
// clang-format on

static bool is_a(char c, int class)
{
    return classes[(unsigned char)c] & class;
}

static void skip_blanks(struct token_source *s)
{
    uint32_t at = s->at;
    while (at < s->len) {
        if (is_a(s->text[at], BLANK))
            at++;
        else if (s->text[at] == '/' && at + 1 < s->len && s->text[at + 1] == '/')
            while (at < s->len && s->text[at] != '\n')
                at++;
        else
            break;
    }
    s->at = at;
}

static void skip_class(struct token_source *s, int class)
{
    uint32_t at = s->at;
    while (at < s->len && is_a(s->text[at], class))
        at++;
    s->at = at;
}

/* ---- names and operators ----------------------------------------------------------------- */

/* In the order of the alphabet; words_from says where the words of each letter begin. */
static const struct {
    char text[10];
    enum token_kind kind;
} words[] = {
    { "as", TOKEN_RESERVED },     { "break", TOKEN_RESERVED },
    { "const", TOKEN_RESERVED },  { "continue", TOKEN_RESERVED },
    { "else", TOKEN_RESERVED },   { "false", TOKEN_FALSE },
    { "for", TOKEN_RESERVED },    { "function", TOKEN_RESERVED },
    { "if", TOKEN_RESERVED },     { "import", TOKEN_RESERVED },
    { "in", TOKEN_IN },           { "let", TOKEN_RESERVED },
    { "loop", TOKEN_RESERVED },   { "namespace", TOKEN_RESERVED },
    { "null", TOKEN_NULL },       { "package", TOKEN_RESERVED },
    { "return", TOKEN_RESERVED }, { "true", TOKEN_TRUE },
    { "var", TOKEN_RESERVED },    { "void", TOKEN_RESERVED },
    { "while", TOKEN_RESERVED },
};

static const uint8_t words_from[27] = {
    /* a b c d e f g h i j k  l  m  n  o  p  q  r  s  t  u  v  w  x  y  z  end */
    0,  1,  2,  4,  4,  5,  8,  8,  8,  11, 11, 11, 13, 13,
    15, 15, 16, 16, 17, 17, 18, 18, 20, 21, 21, 21, 21,
};

static enum token_kind word_kind(const char *text, uint32_t len)
{
    unsigned letter = (unsigned char)text[0] - 'a' + 0u;
    if (letter > 25 || len < 2 || len >= sizeof words[0].text)
        return TOKEN_NAME;
    for (uint32_t i = words_from[letter]; i < words_from[letter + 1]; i++) {
        uint32_t same = 1;
        while (same < len && words[i].text[same] == text[same])
            same++;
        if (same == len && words[i].text[len] == '\0')
            return words[i].kind;
    }
    return TOKEN_NAME;
}

static void read_name(struct token_source *s, struct token *t)
{
    skip_class(s, LETTER | DIGIT);
    t->text = s->text + t->offset;
    t->text_len = s->at - t->offset;
    t->kind = word_kind(t->text, t->text_len);
}

/* `name` with letters, digits and _ . - / and blank. */
static int read_quoted(struct token_source *s, struct token *t, rondo_error *err)
{
    uint32_t start = ++s->at;
    while (is_a(peek(s, 0), LETTER | DIGIT) || (peek(s, 0) && strchr(".-/ ", peek(s, 0))))
        s->at++;
    if (peek(s, 0) != '`' || s->at == start) {
        err_set(err, RONDO_EPARSE,
                "expected a field name of letters, digits and _.-/ between backquotes");
        return wrong(s, s->at, err);
    }
    t->kind = TOKEN_QUOTED;
    t->text = s->text + start;
    t->text_len = s->at - start;
    s->at++;
    return 0;
}

/* By their first character: what it is alone, and with the second one behind it.  TOKEN_END for
   nothing. */
static const struct {
    uint8_t alone;
    char second;
    uint8_t both;
} operators[128] = {
    ['.'] = { TOKEN_DOT },
    ['('] = { TOKEN_LPAREN },
    [')'] = { TOKEN_RPAREN },
    [','] = { TOKEN_COMMA },
    ['='] = { 0, '=', TOKEN_EQ },
    ['&'] = { 0, '&', TOKEN_AND },
    ['|'] = { 0, '|', TOKEN_OR },
    ['>'] = { TOKEN_GT, '=', TOKEN_GE },
    ['<'] = { TOKEN_LT, '=', TOKEN_LE },
    ['!'] = { TOKEN_NOT, '=', TOKEN_NE },
    ['['] = { TOKEN_LBRACKET },
    [']'] = { TOKEN_RBRACKET },
    ['+'] = { TOKEN_PLUS },
    ['-'] = { TOKEN_MINUS },
    ['?'] = { TOKEN_QUESTION },
    [':'] = { TOKEN_COLON },
    ['{'] = { TOKEN_LBRACE },
    ['}'] = { TOKEN_RBRACE },
    ['*'] = { TOKEN_STAR },
    ['/'] = { TOKEN_SLASH },
    ['%'] = { TOKEN_PERCENT },
};

static int no_token(struct token_source *s, rondo_error *err)
{
    uint32_t rune;
    size_t len = runes_read(s->text + s->at, s->len - s->at, &rune);
    if (rune >= ' ' && rune != 0x7f)
        err_set(err, RONDO_EPARSE, "unexpected character '%.*s'", (int)len, s->text + s->at);
    else
        err_set(err, RONDO_EPARSE, "unexpected character U+%04X", (unsigned)rune);
    return wrong(s, s->at, err);
}

/* False when there is none; .5 is a number. */
static bool read_operator(struct token_source *s, struct token *t, char first)
{
    unsigned i = (unsigned char)first;
    char second = peek(s, 1);
    if (i >= COUNT(operators) || (first == '.' && is_a(second, DIGIT)))
        return false;
    bool is_both = second && second == operators[i].second;
    t->kind = is_both ? operators[i].both : operators[i].alone;
    if (t->kind == TOKEN_END)
        return false;
    s->at += 1 + is_both;
    return true;
}

/* ---- numbers ----------------------------------------------------------------------------- */

static bool skip_exponent(struct token_source *s)
{
    if ((peek(s, 0) | 32) != 'e')
        return false;
    uint32_t sign = peek(s, 1) == '+' || peek(s, 1) == '-';
    if (!is_a(peek(s, 1 + sign), DIGIT))
        return false;
    s->at += 1 + sign;
    skip_class(s, DIGIT);
    return true;
}

static int read_number(struct token_source *s, struct token *t, rondo_error *err)
{
    t->kind = TOKEN_INT;
    if (peek(s, 0) == '0' && peek(s, 1) == 'x' && is_a(peek(s, 2), HEX)) {
        s->at += 2;
        skip_class(s, HEX);
    } else {
        skip_class(s, DIGIT);
        if (peek(s, 0) == '.' && is_a(peek(s, 1), DIGIT)) {
            s->at++;
            skip_class(s, DIGIT);
            t->kind = TOKEN_DOUBLE;
        }
        if (skip_exponent(s))
            t->kind = TOKEN_DOUBLE;
    }
    if (t->kind == TOKEN_INT && (peek(s, 0) | 32) == 'u') {
        t->kind = TOKEN_UINT;
        s->at++;
    }
    if (is_a(peek(s, 0), LETTER | DIGIT)) {
        err_set(err, RONDO_EPARSE, "unexpected character '%c' behind a number", peek(s, 0));
        return wrong(s, s->at, err);
    }
    return 0;
}

/* ---- strings ----------------------------------------------------------------------------- */

struct quote {
    char mark;
    bool is_triple, is_raw, is_bytes;
};

static const struct {
    char name, value;
} escapes[] = {
    { 'a', '\a' }, { 'b', '\b' }, { 'f', '\f' },  { 'n', '\n' }, { 'r', '\r' }, { 't', '\t' },
    { 'v', '\v' }, { '"', '"' },  { '\'', '\'' }, { '`', '`' },  { '?', '?' },  { '\\', '\\' },
};

/* Digits of a numeric escape; false when there are fewer than asked for. */
static bool read_code(struct token_source *s, int digits, unsigned base, uint32_t *ret)
{
    *ret = 0;
    for (int i = 0; i < digits; i++) {
        char c = peek(s, 0);
        unsigned digit = is_a(c, DIGIT) ? c - '0' + 0u
                         : is_a(c, HEX) ? (c | 32) - 'a' + 10u
                                        : 99u;
        if (digit >= base)
            return false;
        *ret = *ret * base + digit;
        s->at++;
    }
    return true;
}

static size_t put_code(char *out, uint32_t code, bool as_byte)
{
    if (!as_byte)
        return runes_write(out, code);
    *out = (char)code;
    return 1;
}

/* Behind the backslash.  \x and octal escapes are bytes in bytes and code points in strings. */
static int read_escape(struct token_source *s, const struct quote *q, char *out,
                       size_t *ret_len, rondo_error *err)
{
    uint32_t start = s->at - 1, code = 0;
    char c = peek(s, 0);
    for (size_t i = 0; i < COUNT(escapes); i++) {
        if (c != escapes[i].name)
            continue;
        s->at++;
        *out = escapes[i].value;
        *ret_len = 1;
        return 0;
    }
    bool is_octal = c >= '0' && c <= '3';
    int digits = c == 'x' || c == 'X' ? 2 : c == 'u' ? 4 : c == 'U' ? 8 : is_octal ? 3 : 0;
    if (digits && !is_octal)
        s->at++;
    bool is_wide = digits == 4 || digits == 8;
    if (!digits || (is_wide && q->is_bytes) ||
        !read_code(s, digits, is_octal ? 8 : 16, &code) || code > 0x10ffff ||
        (code >= 0xd800 && code <= 0xdfff && !q->is_bytes)) {
        const char *text = s->text + start;
        size_t shown = runes_fit(text, s->len - start, s->at + 1 - start);
        err_set(err, RONDO_EPARSE, "wrong escape '%.*s' in a %s", (int)shown, text,
                q->is_bytes ? "bytes literal" : "string");
        return wrong(s, start, err);
    }
    *ret_len = put_code(out, code, q->is_bytes);
    return 0;
}

static bool is_closed(const struct token_source *s, const struct quote *q)
{
    return peek(s, 0) == q->mark && s->at < s->len &&
           (!q->is_triple || (peek(s, 1) == q->mark && peek(s, 2) == q->mark));
}

/* How many bytes there are before the closing quotes, or before the place where it becomes clear
   that there are none. */
static uint32_t quoted_length(const struct token_source *source, const struct quote *q)
{
    struct token_source s = *source;
    while (s.at < s.len && !is_closed(&s, q)) {
        char c = peek(&s, 0);
        if (!q->is_triple && (c == '\n' || c == '\r'))
            break;
        s.at += c == '\\' && !q->is_raw && s.at + 1 < s.len ? 2 : 1;
    }
    return s.at - source->at;
}

/* What an escape stands for is never longer than the escape, so the text fits where its source
   did. */
static int read_quotes(struct token_source *s, const struct quote *q, struct token *t,
                       rondo_error *err)
{
    uint32_t stop = s->at + quoted_length(s, q);
    char *out = arena_alloc(s->arena, stop - s->at + 1), *end = out;
    while (s->at < stop) {
        char c = s->text[s->at++];
        size_t len = 1;
        if (c != '\\' || q->is_raw)
            *end = c;
        else if (read_escape(s, q, end, &len, err) < 0)
            return err->code;
        end += len;
    }
    if (!is_closed(s, q)) {
        err_set(err, RONDO_EPARSE, "a %s that begins here has no end",
                q->is_bytes ? "bytes literal" : "string");
        return wrong(s, t->offset, err);
    }
    s->at += q->is_triple ? 3 : 1;
    *end = '\0';
    t->kind = q->is_bytes ? TOKEN_BYTES : TOKEN_STRING;
    t->text = out;
    t->text_len = (uint32_t)(end - out);
    return 0;
}

/* Whether a string begins here, with its prefixes: r, b, rb, br and capitals. */
static bool is_quote(struct token_source *s, struct quote *q)
{
    *q = (struct quote){ 0 };
    uint32_t ahead = 0;
    for (; ahead < 2; ahead++) {
        char c = (char)(peek(s, ahead) | 32);
        if (c == 'r' && !q->is_raw)
            q->is_raw = true;
        else if (c == 'b' && !q->is_bytes && is_a(peek(s, ahead), LETTER))
            q->is_bytes = true;
        else
            break;
    }
    q->mark = peek(s, ahead);
    if (q->mark != '"' && q->mark != '\'')
        return false;
    q->is_triple = peek(s, ahead + 1) == q->mark && peek(s, ahead + 2) == q->mark;
    s->at += ahead + (q->is_triple ? 3 : 1);
    return true;
}

static bool is_string_ahead(const struct token_source *s, char c)
{
    return is_a(c, QUOTE) && (!is_a(c, LETTER) || is_a(peek(s, 1), QUOTE));
}

/* What is neither a name nor an operator, if it is anything.  Kept out of the way of those two,
   which are most of every expression. */
static APART int read_other(struct token_source *s, struct token *t, rondo_error *err)
{
    struct quote quote;
    char c = peek(s, 0);
    int code = 0;
    if (is_string_ahead(s, c) && is_quote(s, &quote))
        code = read_quotes(s, &quote, t, err);
    else if (is_a(c, LETTER))
        read_name(s, t);
    else if (is_a(c, DIGIT) || c == '.')
        code = read_number(s, t, err);
    else if (c == '`')
        code = read_quoted(s, t, err);
    else if (s->at < s->len)
        code = no_token(s, err);
    t->len = s->at - t->offset;
    return code;
}

int token_next(struct token_source *s, struct token *t, rondo_error *err)
{
    skip_blanks(s);
    *t = (struct token){ TOKEN_END, .offset = s->at };
    char c = peek(s, 0);
    if (is_a(c, LETTER) && !is_string_ahead(s, c))
        read_name(s, t);
    else if (!read_operator(s, t, c))
        return read_other(s, t, err);
    t->len = s->at - t->offset;
    return 0;
}
