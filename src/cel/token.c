/* token.c - reading words: names, numbers, strings with their escapes, operators.

   The text is UTF-8; what is not is refused, so that every string of the language is valid. */
#include "cel/token.h"

#include "cel/runes.h"

#include <ctype.h>
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

/* Plain ASCII, whatever the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return ((c | 32) >= 'a' && (c | 32) <= 'z') || c == '_';
}

static void skip_blanks(struct token_source *s)
{
    while (s->at < s->len) {
        char c = s->text[s->at];
        if (c == '/' && peek(s, 1) == '/')
            while (s->at < s->len && s->text[s->at] != '\n')
                s->at++;
        else if (c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f')
            s->at++;
        else
            return;
    }
}

/* ---- names and operators ----------------------------------------------------------------- */

#define WORD_MAX 9              // letters
#define WORD_FIRSTS 0x6aa937u   // the letters that words begin with, a in the lowest bit

static const struct {
    char text[WORD_MAX + 1];
    enum token_kind kind;
} words[] = {
    { "true", TOKEN_TRUE },          { "false", TOKEN_FALSE },
    { "null", TOKEN_NULL },          { "in", TOKEN_IN },
    { "as", TOKEN_RESERVED },        { "break", TOKEN_RESERVED },
    { "const", TOKEN_RESERVED },     { "continue", TOKEN_RESERVED },
    { "else", TOKEN_RESERVED },      { "for", TOKEN_RESERVED },
    { "function", TOKEN_RESERVED },  { "if", TOKEN_RESERVED },
    { "import", TOKEN_RESERVED },    { "let", TOKEN_RESERVED },
    { "loop", TOKEN_RESERVED },      { "package", TOKEN_RESERVED },
    { "namespace", TOKEN_RESERVED }, { "return", TOKEN_RESERVED },
    { "var", TOKEN_RESERVED },       { "void", TOKEN_RESERVED },
    { "while", TOKEN_RESERVED },
};

static void read_name(struct token_source *s, struct token *t)
{
    uint32_t at = s->at;
    while (at < s->len && (is_letter(s->text[at]) || is_digit(s->text[at])))
        at++;
    s->at = at;
    t->kind = TOKEN_NAME;
    t->text = s->text + t->offset;
    t->text_len = s->at - t->offset;
    unsigned first = (unsigned)t->text[0] - 'a';
    if (t->text_len > WORD_MAX || first > 25 || !(WORD_FIRSTS >> first & 1))
        return;
    for (size_t i = 0; i < COUNT(words); i++)
        if (words[i].text[0] == t->text[0] &&
            strncmp(words[i].text, t->text, t->text_len) == 0 &&
            words[i].text[t->text_len] == '\0')
            t->kind = words[i].kind;
}

/* `name` with letters, digits and _ . - / and blank. */
static int read_quoted(struct token_source *s, struct token *t, rondo_error *err)
{
    uint32_t start = ++s->at;
    while (is_letter(peek(s, 0)) || is_digit(peek(s, 0)) ||
           (peek(s, 0) && strchr(".-/ ", peek(s, 0))))
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

/* Of two that begin alike the longer comes first; else the commonest do. */
static const struct {
    char text[3];
    enum token_kind kind;
} operators[] = {
    { ".", TOKEN_DOT },      { "(", TOKEN_LPAREN },   { ")", TOKEN_RPAREN },
    { ",", TOKEN_COMMA },    { "==", TOKEN_EQ },      { "&&", TOKEN_AND },
    { "||", TOKEN_OR },      { ">=", TOKEN_GE },      { "<=", TOKEN_LE },
    { "!=", TOKEN_NE },      { "<", TOKEN_LT },       { ">", TOKEN_GT },
    { "[", TOKEN_LBRACKET }, { "]", TOKEN_RBRACKET }, { "+", TOKEN_PLUS },
    { "-", TOKEN_MINUS },    { "!", TOKEN_NOT },      { "?", TOKEN_QUESTION },
    { ":", TOKEN_COLON },    { "{", TOKEN_LBRACE },   { "}", TOKEN_RBRACE },
    { "*", TOKEN_STAR },     { "/", TOKEN_SLASH },    { "%", TOKEN_PERCENT },
};

static int read_operator(struct token_source *s, struct token *t, rondo_error *err)
{
    char first = peek(s, 0), second = peek(s, 1);
    for (size_t i = 0; i < COUNT(operators); i++) {
        const char *text = operators[i].text;
        if (text[0] != first || (text[1] && text[1] != second))
            continue;
        t->kind = operators[i].kind;
        s->at += text[1] ? 2 : 1;
        return 0;
    }
    uint32_t rune;
    size_t len = runes_read(s->text + s->at, s->len - s->at, &rune);
    if (rune >= ' ' && rune != 0x7f)
        err_set(err, RONDO_EPARSE, "unexpected character '%.*s'", (int)len, s->text + s->at);
    else
        err_set(err, RONDO_EPARSE, "unexpected character U+%04X", (unsigned)rune);
    return wrong(s, s->at, err);
}

/* ---- numbers ----------------------------------------------------------------------------- */

static void skip_digits(struct token_source *s)
{
    while (is_digit(peek(s, 0)))
        s->at++;
}

static bool skip_exponent(struct token_source *s)
{
    uint32_t sign = peek(s, 1) == '+' || peek(s, 1) == '-';
    if ((peek(s, 0) | 32) != 'e' || !is_digit(peek(s, 1 + sign)))
        return false;
    s->at += 1 + sign;
    skip_digits(s);
    return true;
}

static int read_number(struct token_source *s, struct token *t, rondo_error *err)
{
    t->kind = TOKEN_INT;
    if (peek(s, 0) == '0' && peek(s, 1) == 'x' && isxdigit((unsigned char)peek(s, 2))) {
        s->at += 2;
        while (isxdigit((unsigned char)peek(s, 0)))
            s->at++;
    } else {
        skip_digits(s);
        if (peek(s, 0) == '.' && is_digit(peek(s, 1))) {
            s->at++;
            skip_digits(s);
            t->kind = TOKEN_DOUBLE;
        }
        if (skip_exponent(s))
            t->kind = TOKEN_DOUBLE;
    }
    if (t->kind == TOKEN_INT && (peek(s, 0) | 32) == 'u') {
        t->kind = TOKEN_UINT;
        s->at++;
    }
    if (is_letter(peek(s, 0)) || is_digit(peek(s, 0))) {
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
        unsigned char c = (unsigned char)peek(s, 0);
        unsigned digit = isdigit(c)    ? c - '0' + 0u
                         : isxdigit(c) ? (unsigned)(c | 32) - 'a' + 10u
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
        else if (c == 'b' && !q->is_bytes && isalpha((unsigned char)peek(s, ahead)))
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

static bool may_be_quote(char c)
{
    return c == '"' || c == '\'' || (c | 32) == 'r' || (c | 32) == 'b';
}

int token_next(struct token_source *s, struct token *t, rondo_error *err)
{
    struct quote quote;
    int code = 0;

    skip_blanks(s);
    *t = (struct token){ .offset = s->at };
    char c = peek(s, 0);
    if (s->at >= s->len)
        t->kind = TOKEN_END;
    else if (may_be_quote(c) && is_quote(s, &quote))
        code = read_quotes(s, &quote, t, err);
    else if (is_letter(c))
        read_name(s, t);
    else if (c == '`')
        code = read_quoted(s, t, err);
    else if (is_digit(c) || (c == '.' && is_digit(peek(s, 1))))
        code = read_number(s, t, err);
    else
        code = read_operator(s, t, err);
    t->len = s->at - t->offset;
    return code;
}
