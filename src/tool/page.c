/* page.c - see page.h.

   No parser of HTML, only a walk over its tags: what comes out is for a model to read, and a page that is
   written badly gives text that is laid out badly, nothing worse. */
#define _GNU_SOURCE // memmem
#include "tool/page.h"

#include "data/utf8.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define NAME_MAX_ 16
#define LINK_MAX  500

struct page {
    struct buf *out;
    size_t start;      // of the page in out
    bool wants_blank;  // before the next word
    int breaks;        // before the next word
    const char *link;  // the address of the link that is open; NULL
    size_t link_len;
    bool keeps_blanks; // <pre>
};

/* ---- words ------------------------------------------------------------------------------------------- */

static void put_break(struct page *page, int count)
{
    page->breaks = MAX(page->breaks, count);
}

static void put_gap(struct page *page)
{
    bool is_first = page->out->len == page->start;
    for (int i = 0; i < page->breaks && !is_first; i++)
        buf_putc(page->out, '\n');
    if (page->wants_blank && !page->breaks && !is_first)
        buf_putc(page->out, ' ');
    page->breaks = 0;
    page->wants_blank = false;
}

static void put_char(struct page *page, const char *bytes, size_t len)
{
    if (len == 1 && isspace((unsigned char)*bytes) && !page->keeps_blanks) {
        page->wants_blank = true;
        return;
    }
    put_gap(page);
    buf_put(page->out, bytes, len);
}

/* ---- entities ---------------------------------------------------------------------------------------- */

static const struct {
    const char *name, *text;
} entities[] = {
    { "amp", "&" },  { "lt", "<" },     { "gt", ">" },     { "quot", "\"" },  { "apos", "'" },   { "nbsp", " " },
    { "copy", "©" }, { "mdash", "—" },  { "ndash", "–" },  { "hellip", "…" }, { "laquo", "«" },  { "raquo", "»" },
    { "euro", "€" }, { "ldquo", "“" },  { "rdquo", "”" },  { "lsquo", "‘" },  { "rsquo", "’" },  { "middot", "·" },
};

static size_t put_number(struct page *page, const char *text, size_t len)
{
    char bytes[4], *end;
    bool is_hex = len > 2 && (text[2] == 'x' || text[2] == 'X');
    auto_free char *digits = mem_dup(text + 2 + is_hex, MIN(len - 2 - is_hex, 10));
    unsigned long code = strtoul(digits, &end, is_hex ? 16 : 10);
    if (end == digits || *end != ';' || !code || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    put_char(page, bytes, utf8_encode(bytes, (uint32_t)code));
    return 2 + is_hex + (size_t)(end - digits) + 1;
}

/* Bytes of the entity that text begins with; 0 when it is none. */
static size_t put_entity(struct page *page, const char *text, size_t len)
{
    if (len > 3 && text[1] == '#')
        return put_number(page, text, len);
    for (size_t i = 0; i < COUNT(entities); i++) {
        size_t n = strlen(entities[i].name);
        if (len > n + 1 && strncmp(text + 1, entities[i].name, n) == 0 && text[n + 1] == ';') {
            put_char(page, entities[i].text, strlen(entities[i].text));
            return n + 2;
        }
    }
    return 0;
}

/* ---- tags -------------------------------------------------------------------------------------------- */

static const char *const blocks[] = { "p", "div", "br", "tr", "table", "ul", "ol", "section", "article", "header",
                                      "footer", "main", "nav", "blockquote", "hr", "dl", "dt", "dd", "form", "figure" };
static const char *const skipped[] = { "script", "style", "noscript", "template", "svg", "head" };

static bool is_in(const char *name, const char *const *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

struct tag {
    char name[NAME_MAX_];
    bool closes;
    const char *inside; // its attributes
    const char *end;    // behind its '>'
};

static bool read_tag(const char *at, const char *end, struct tag *ret)
{
    size_t n = 0;
    const char *stop = memchr(at, '>', (size_t)(end - at));
    if (!stop)
        return false;
    *ret = (struct tag){ .closes = at + 1 < end && at[1] == '/', .end = stop + 1 };
    at += 1 + ret->closes;
    while (at < stop && isalnum((unsigned char)*at) && n + 1 < sizeof ret->name)
        ret->name[n++] = (char)tolower((unsigned char)*at++);
    ret->inside = at;
    return n > 0 || *at == '!' || *at == '?';
}

static void open_link(struct page *page, const struct tag *tag)
{
    for (const char *at = tag->inside; at + 5 < tag->end; at++) {
        if (strncasecmp(at, "href=", 5) != 0)
            continue;
        char quote = at[5];
        const char *begin = at + 6, *stop = memchr(begin, quote, (size_t)(tag->end - begin));
        bool is_worth = (quote == '"' || quote == '\'') && stop && *begin != '#' && stop - begin < LINK_MAX;
        page->link = is_worth && strncasecmp(begin, "http", 4) == 0 ? begin : NULL;
        page->link_len = page->link ? (size_t)(stop - begin) : 0;
        return;
    }
}

static void close_link(struct page *page)
{
    if (!page->link)
        return;
    buf_puts(page->out, " (");
    buf_put(page->out, page->link, page->link_len);
    buf_putc(page->out, ')');
    page->link = NULL;
}

static void take_tag(struct page *page, const struct tag *tag)
{
    bool is_heading = tag->name[0] == 'h' && isdigit((unsigned char)tag->name[1]);
    if (strcmp(tag->name, "a") == 0) {
        if (tag->closes)
            close_link(page);
        else
            open_link(page, tag);
    } else if (strcmp(tag->name, "pre") == 0) {
        page->keeps_blanks = !tag->closes;
        put_break(page, 2);
    } else if (strcmp(tag->name, "li") == 0 && !tag->closes) {
        put_break(page, 1);
        put_char(page, "-", 1);
        page->wants_blank = true;
    } else if (is_heading || strcmp(tag->name, "p") == 0) {
        put_break(page, 2);
        for (int i = '0'; is_heading && !tag->closes && i < tag->name[1]; i++)
            put_char(page, "#", 1);
        page->wants_blank = page->wants_blank || (is_heading && !tag->closes);
    } else if (is_in(tag->name, blocks, COUNT(blocks))) {
        put_break(page, 1);
    } else if (strcmp(tag->name, "td") == 0 || strcmp(tag->name, "th") == 0) {
        page->wants_blank = true;
    }
}

/* Behind the end tag of what is left out. */
static const char *skip(const char *at, const char *end, const char *name)
{
    size_t n = strlen(name);
    for (; at + n + 2 < end; at++)
        if (at[0] == '<' && at[1] == '/' && strncasecmp(at + 2, name, n) == 0)
            return at;
    return end;
}

/* Behind a comment or a tag; NULL when a '<' is only that. */
static const char *take_markup(struct page *page, const char *at, const char *end)
{
    struct tag tag;
    if (end - at > 3 && strncmp(at, "<!--", 4) == 0) {
        const char *stop = memmem(at, (size_t)(end - at), "-->", 3);
        return stop ? stop + 3 : end;
    }
    if (!read_tag(at, end, &tag))
        return NULL;
    if (!tag.closes && is_in(tag.name, skipped, COUNT(skipped)))
        return skip(tag.end, end, tag.name);
    take_tag(page, &tag);
    return tag.end;
}

void page_put_text(struct buf *out, const char *html, size_t len)
{
    struct page page = { .out = out, .start = out->len };
    const char *at = html, *end = html + len, *next;
    while (at < end) {
        size_t n = 0;
        if (*at == '<' && (next = take_markup(&page, at, end))) {
            at = next;
            continue;
        }
        if (*at == '&')
            n = put_entity(&page, at, (size_t)(end - at));
        if (!n)
            put_char(&page, at, n = 1);
        at += n;
    }
}
