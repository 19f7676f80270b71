/* locate.c - from a byte of what a text means to its place in the file.

   The source and the meaning are walked side by side.  Characters stand for themselves, escapes for
   one character, '' for ', and a line break with the blanks around it for a blank or for as many line
   breaks, less one.  In a block text every line of the source is there as it is, behind the
   indentation. */
#include "data/doc.h"

#include <string.h>

/* The walk: at is in the source, done in the text. */
struct walk {
    const char *at, *end;     // the source's bytes of the value
    const char *text;         // what they mean
    size_t done, len;
};

static size_t char_len(const struct walk *walk)
{
    size_t n = 1;
    while (walk->done + n < walk->len && ((uint8_t)walk->text[walk->done + n] & 0xc0) == 0x80)
        n++;
    return n;
}

static size_t escape_len(const struct walk *walk)
{
    static const char kinds[] = "xuU";
    static const size_t lens[] = { 4, 6, 10 };
    const char *kind = walk->at[1] ? strchr(kinds, walk->at[1]) : NULL;
    size_t n = kind ? lens[kind - kinds] : 2;
    bool is_pair = n == 6 && char_len(walk) == 4;   // of JSON
    return is_pair ? 12 : n;
}

static const char *skip(const char *at, const char *end, const char *set)
{
    while (at < end && strchr(set, *at))
        at++;
    return at;
}

static unsigned count_breaks(const char *at, const char *end)
{
    unsigned n = 0;
    for (; at < end; at++)
        n += *at == '\n' || (*at == '\r' && at[1] != '\n');
    return n;
}

/* Blanks with at least one line break in them: they end where the next line's text begins. */
static bool step_fold(struct walk *walk)
{
    const char *next = skip(walk->at, walk->end, " \t\r\n");
    unsigned breaks = count_breaks(walk->at, next);
    if (!breaks)
        return false;
    walk->at = next;
    walk->done += breaks > 1 ? breaks - 1 : 1;
    return true;
}

/* A backslash at the end of a line: the line goes on, and the break means nothing. */
static bool is_joint(const struct walk *walk, char quote)
{
    return quote == '"' && walk->at[0] == '\\' && (walk->at[1] == '\n' || walk->at[1] == '\r');
}

static void step_escape(struct walk *walk)
{
    const char *next = walk->at + 1;
    if (is_joint(walk, '"')) {
        walk->at = skip(next, walk->end, " \t\r\n");
        walk->done += MAX(count_breaks(next, walk->at), 1) - 1;
        return;
    }
    walk->at += escape_len(walk);
    walk->done += char_len(walk);
}

static void step(struct walk *walk, char quote)
{
    if (quote == '"' && *walk->at == '\\') {
        step_escape(walk);
        return;
    }
    if (step_fold(walk))
        return;
    walk->at += quote == '\'' && walk->at[0] == '\'' ? 2 : 1;
    walk->done++;
}

static size_t locate_flow(const struct source *source, const struct doc_val *val, size_t at)
{
    const char *start = source->text + val->offset;
    char quote = val->is_quoted ? *start : '\0';
    struct walk walk = { .at = start + !!quote, .end = start + val->len, .text = val->text,
                         .len = val->text_len };
    while (walk.at < walk.end && (walk.done < at || is_joint(&walk, quote)))
        step(&walk, quote);
    return (size_t)(MIN(walk.at, walk.end) - source->text);
}

/* How many blanks are in front of every line, by the first with more than blanks in it; some of those
   may be its own. */
static size_t block_indent(const struct source *source, const struct doc_val *val, uint32_t line)
{
    size_t len, first = strspn(val->text, " \n"), own = 0;
    while (own < first && val->text[first - own - 1] == ' ')
        own++;
    for (const char *text; (text = source_line(source, line, &len)); line++) {
        size_t blanks = strspn(text, " ");
        if (blanks < len)
            return blanks > own ? blanks - own : 0;
    }
    return 0;
}

/* A line of the text against one of the source; false when it does not reach `at`.  The line break is behind it. */
static bool locate_in_line(const struct doc_val *val, size_t len, size_t at, size_t *done)
{
    size_t end = *done + MIN(len, val->text_len - *done);
    bool is_folded_away = len == 0 && val->text[end] != '\n';
    if (at < end || (at == end && !is_folded_away))
        return true;
    *done = is_folded_away ? end : MIN(end + 1, val->text_len); // the line break, or the blank it became
    return false;
}

/* Up to the last character that is more than a blank: nobody looks for what is wrong behind it. */
static size_t content_len(const struct doc_val *val)
{
    size_t len = val->text_len;
    while (len > 0 && strchr(" \t\n", val->text[len - 1]))
        len--;
    return len;
}

static size_t locate_block(const struct source *source, const struct doc_val *val, size_t at)
{
    size_t indent = block_indent(source, val, val->line + 1), content = content_len(val), done = 0, len;
    const char *text;
    at = MIN(at, content);
    for (uint32_t line = val->line + 1; content && (text = source_line(source, line, &len)); line++) {
        size_t skipped = MIN(indent, len);
        if ((size_t)(text - source->text) >= val->offset + val->len)
            break;
        if (locate_in_line(val, len - skipped, at, &done))
            return (size_t)(text - source->text) + skipped + (at - done);
    }
    return val->offset;
}

void doc_locate(const struct doc *doc, const struct doc_val *val, size_t at, uint32_t *ret_line,
                uint32_t *ret_column)
{
    size_t place = val->offset;
    at = MIN(at, val->text_len);
    if (val->is_block)
        place = locate_block(doc->source, val, at);
    else if (val->text && !val->is_alias)
        place = locate_flow(doc->source, val, at);
    source_place(doc->source, place, ret_line, ret_column);
}
