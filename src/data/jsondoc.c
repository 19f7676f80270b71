/* jsondoc.c - reading JSON with positions.

   jansson says whether the text is JSON, and where not.  What it found to be right needs no grammar:
   a walk over its brackets, strings and words is enough to make the document.  A first walk, over
   text that may be anything, keeps depth and number of values from jansson's memory. */
#include "base/buf.h"
#include "data/doc_maker.h"
#include "data/scalar.h"
#include "data/utf8.h"

#include <string.h>

/* Just behind the string that begins at `at`, or the end of the text. */
static size_t skip_string(const struct source *source, size_t at)
{
    for (at++; at < source->len && source->text[at] != '"'; at++)
        at += source->text[at] == '\\';
    return MIN(at + 1, source->len);
}

static size_t skip_blanks(const struct source *source, size_t at)
{
    return at + strspn(source->text + at, " \t\r\n");
}

/* An empty list looks as if it had one item, so only twice as many values as allowed are certainly
   too many; maker_add() counts exactly. */
static int check_size(struct maker *maker, size_t at, size_t depth, size_t values)
{
    if (depth > maker->limits.max_depth)
        return maker_fail(maker, RONDO_ELIMIT, at, "lists and maps are nested deeper than %u levels",
                          maker->limits.max_depth);
    if (values > (size_t)maker->limits.max_values * 2)
        return maker_fail(maker, RONDO_ELIMIT, at, "there are more than %u values",
                          maker->limits.max_values);
    return 0;
}

static int measure(struct maker *maker)
{
    const struct source *source = maker->doc->source;
    size_t depth = 0, values = 1;
    int rc = 0;
    for (size_t at = skip_blanks(source, source->lines[0]); rc == 0; at++) {
        char c = source->text[at];
        depth += c == '[' || c == '{';
        values += c == '[' || c == '{' || c == ',';
        if (c == '"')
            at = skip_string(source, at) - 1;
        if (c == ']' || c == '}')
            depth--;
        if (!c || depth == 0 || depth == SIZE_MAX)   // the first value ends here
            break;
        rc = check_size(maker, at, depth, values);
    }
    return rc;
}

/* ---- is it JSON? ------------------------------------------------------------------------------------ */

/* How jansson's texts begin, and what we say. */
static const struct {
    const char *text, *say;
    bool has_token;   // and what was found instead
} problems[] = {
    { "string or '}' expected", "expected a key in quotes or '}'", true },
    { "':' expected", "expected ':'", true },
    { "'}' expected", "expected ',' or '}'", true },
    { "']' expected", "expected ',' or ']'", true },
    { "unexpected token", "expected a value", true },
    { "invalid token", "expected a value", true },
    { "unexpected newline", "the text in quotes has no end on its line; a line break is written \\n" },
    { "control character", "control characters are written as \\u and four digits" },
    { "invalid escape", "an escape that JSON does not have" },
    { "invalid Unicode", "a \\u escape that is no character" },
    { "\\u0000", "a text may not contain NUL characters" },
    { "NUL byte", "a text may not contain NUL characters" },
    { "maximum parsing depth", "lists and maps are nested too deep" },
    { "too big", "a number that is too large" },
    { "real number overflow", "a number that is too large" },
};

/* jansson stops behind the token it does not like; "near" tells which one that is. */
static size_t token_len(const struct source *source, size_t end, const json_error_t *why)
{
    const char *near = strstr(why->text, " near '");
    if (!near)
        return 0;
    near += strlen(" near '");
    const char *quote = strrchr(near, '\'');
    size_t len = quote ? (size_t)(quote - near) : 0;
    return len <= end && memcmp(source->text + end - len, near, len) == 0 ? len : 0;
}

static int fail_by_jansson(struct maker *maker, const json_error_t *why)
{
    const struct source *source = maker->doc->source;
    size_t end = MIN(source->lines[0] + (size_t)MAX(why->position, 0), source->len);
    size_t len = token_len(source, end, why), at = end - len, row = 0;
    if (json_error_code(why) == json_error_premature_end_of_input)
        return maker_fail(maker, RONDO_EPARSE, at, "the file ends too early");
    while (row < COUNT(problems) &&
           strncmp(why->text, problems[row].text, strlen(problems[row].text)) != 0)
        row++;
    if (row == COUNT(problems))
        return maker_fail(maker, RONDO_EPARSE, at, "this is not JSON");
    if (problems[row].has_token && len)
        return maker_fail(maker, RONDO_EPARSE, at, "%s, got '%.*s'", problems[row].say,
                          (int)utf8_fit(source->text + at, len, 40), source->text + at);
    return maker_fail(maker, RONDO_EPARSE, at, "%s", problems[row].say);
}

/* Also where the value ends.  Whole numbers of more than 64 bits are fine as real ones, which jansson takes only for
   all. */
static int check(struct maker *maker, size_t *ret_end)
{
    const struct source *source = maker->doc->source;
    const char *text = source->text + source->lines[0];
    size_t len = source->len - source->lines[0], flags = JSON_DECODE_ANY | JSON_DISABLE_EOF_CHECK;
    json_error_t why;
    json_t *json = json_loadb(text, len, flags, &why);
    if (!json && json_error_code(&why) == json_error_numeric_overflow)
        json = json_loadb(text, len, flags | JSON_DECODE_INT_AS_REAL, &why);
    if (!json)
        return fail_by_jansson(maker, &why);
    json_decref(json);
    *ret_end = source->lines[0] + (size_t)why.position;
    return 0;
}

/* ---- making the document ------------------------------------------------------------------------------ */

static const char escapes[][2] = {
    { 'b', '\b' }, { 'f', '\f' }, { 'n', '\n' }, { 'r', '\r' }, { 't', '\t' },
};

static uint32_t read_hex(const char *digits)
{
    uint32_t n = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t c = (uint8_t)digits[i];
        n = n << 4 | (c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return n;
}

/* The character of \uXXXX or a pair of them; *at is behind the u, and afterwards behind the digits. */
static uint32_t read_unit(const char **at)
{
    uint32_t code = read_hex(*at);
    *at += 4;
    if (code < 0xd800 || code > 0xdbff)
        return code;
    code = 0x10000 + ((code - 0xd800) << 10) + (read_hex(*at + 2) - 0xdc00);
    *at += 6;
    return code;
}

/* What is behind a backslash. */
static void unescape(struct buf *out, const char **at)
{
    char c = *(*at)++;
    if (c == 'u') {
        char bytes[4];
        buf_put(out, bytes, utf8_encode(bytes, read_unit(at)));
        return;
    }
    for (size_t i = 0; i < COUNT(escapes); i++)
        if (escapes[i][0] == c)
            c = escapes[i][1];
    buf_putc(out, c);
}

/* The text between two quotes. */
static void unquote(struct buf *out, const char *at, const char *end)
{
    buf_clear(out);
    while (at < end) {
        const char *plain = memchr(at, '\\', (size_t)(end - at));
        buf_put(out, at, (size_t)((plain ? plain : end) - at));
        if (!plain)
            return;
        at = plain + 1;
        unescape(out, &at);
    }
}

static int take_string(struct maker *maker, size_t *at, struct buf *scratch)
{
    const struct source *source = maker->doc->source;
    size_t start = *at, end = *at = skip_string(source, start);
    struct scalar meaning = { DOC_TEXT };
    unquote(scratch, source->text + start + 1, source->text + end - 1);
    const char *text = buf_text(scratch);
    struct doc_val *val = maker_wants_key(maker)
                              ? maker_key(maker, start, end, text, scratch->len)
                              : maker_scalar(maker, start, end, text, scratch->len, &meaning);
    val->is_quoted = true;
    return maker_add(maker, val, end);
}

/* A number, true, false or null: the text is known to be JSON, so whatever may be in one belongs to
   it, up to the end of the whole value.  (strspn would do, but sanitizers let it look at all of the rest, every
   time.) */
static size_t word_len(const char *text)
{
    size_t n = 0;
    while ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= '0' && text[n] <= '9') || text[n] == '-' ||
           text[n] == '+' || text[n] == '.' || text[n] == 'E')
        n++;
    return n;
}

/* What stands between values. */
static size_t gap_len(const char *text)
{
    size_t n = 0;
    while (text[n] == ' ' || text[n] == '\t' || text[n] == '\r' || text[n] == '\n' || text[n] == ',' ||
           text[n] == ':')
        n++;
    return n;
}

static int take_word(struct maker *maker, size_t *at, size_t most, struct buf *scratch)
{
    size_t start = *at, len = MIN(word_len(maker->doc->source->text + start), most - start);
    struct scalar meaning;
    *at = start + len;
    buf_clear(scratch);
    buf_put(scratch, maker->doc->source->text + start, len);
    if (!scalar_resolve(buf_text(scratch), len, &meaning))
        return maker_fail(maker, RONDO_EPARSE, start, "a number that is too large");
    return maker_add(maker, maker_scalar(maker, start, *at, buf_text(scratch), len, &meaning), *at);
}

/* One bracket, string or word; *at moves behind it. */
static int take_token(struct maker *maker, size_t *at, size_t end, struct buf *scratch)
{
    switch (maker->doc->source->text[*at]) {
    case '[': return maker_open(maker, DOC_LIST, (*at)++, true);
    case '{': return maker_open(maker, DOC_MAP, (*at)++, true);
    case ']':
    case '}': return maker_close(maker, ++*at);
    case '"': return take_string(maker, at, scratch);
    default: return take_word(maker, at, end, scratch);
    }
}

static int make(struct maker *maker, size_t end)
{
    auto_buf struct buf scratch = { 0 };
    const char *text = maker->doc->source->text;
    size_t at = maker->doc->source->lines[0];
    int rc = 0;
    while (rc == 0 && !maker_is_done(maker)) {
        at += gap_len(text + at);
        rc = take_token(maker, &at, end, &scratch);
    }
    return rc;
}

static int check_not_empty(struct maker *maker)
{
    const struct source *source = maker->doc->source;
    if (skip_blanks(source, source->lines[0]) < source->len)
        return 0;
    return maker_fail(maker, RONDO_EPARSE, 0, "the file is empty");
}

struct doc *doc_read_json(struct source *source, const struct doc_limits *limits, rondo_error *err)
{
    struct maker maker;
    size_t end = 0;
    if (maker_begin(&maker, source, limits, err) == 0 && check_not_empty(&maker) == 0 &&
        measure(&maker) == 0 && check(&maker, &end) == 0)
        make(&maker, end);
    return maker_end(&maker);
}
