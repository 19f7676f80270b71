/* uri.c - RFC 3986 and RFC 3987.

   A text is split first, at the characters that end each part, and each part is then checked
   against the characters it may hold.  Resolving puts the parts of base and reference together
   and removes "." and ".." from the path. */
#define _GNU_SOURCE   // memrchr
#include "data/uri.h"

#include "data/format.h"
#include "data/utf8.h"

#include <string.h>

/* ---- splitting -------------------------------------------------------------------------------- */

static bool is_alpha(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* The length of "name" in "name:..." when name may be a scheme, else 0. */
static size_t scheme_length(const char *text, size_t len)
{
    size_t i = 0;
    while (i < len && (is_alpha(text[i]) ||
                       (i > 0 && (is_digit(text[i]) || (text[i] && strchr("+-.", text[i]))))))
        i++;
    return i < len && text[i] == ':' ? i : 0;
}

/* The part of text, at *at, up to one of the stop characters; moves *at there. */
static const char *part_take(const char *text, size_t len, size_t *at, const char *stops,
                             size_t *ret_len)
{
    const char *start = text + *at;
    while (*at < len && (!text[*at] || !strchr(stops, text[*at])))
        ++*at;
    *ret_len = (size_t)(text + *at - start);
    return start;
}

void uri_split(struct uri *uri, const char *text, size_t len)
{
    size_t at = 0;
    *uri = (struct uri){ 0 };
    uri->scheme_len = scheme_length(text, len);
    if (uri->scheme_len) {
        uri->scheme = text;
        at = uri->scheme_len + 1;
    }
    if (len - at >= 2 && text[at] == '/' && text[at + 1] == '/') {
        at += 2;
        uri->authority = part_take(text, len, &at, "/?#", &uri->authority_len);
    }
    uri->path = part_take(text, len, &at, "?#", &uri->path_len);
    if (at < len && text[at] == '?') {
        at++;
        uri->query = part_take(text, len, &at, "#", &uri->query_len);
    }
    if (at < len) {
        uri->fragment = text + at + 1;
        uri->fragment_len = len - at - 1;
    }
}

/* ---- resolving -------------------------------------------------------------------------------- */

static bool segment_is(const char *segment, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(segment, text, len) == 0;
}

/* Appends a path without its "." and ".." segments (RFC 3986, section 5.2.4). */
static void put_path(struct buf *out, const char *path, size_t len)
{
    size_t start = out->len;
    bool is_rooted = len && path[0] == '/';
    size_t i = is_rooted;
    if (is_rooted)
        buf_putc(out, '/');
    while (i <= len) {
        const char *segment = path + i;
        const char *slash = i < len ? memchr(segment, '/', len - i) : NULL;
        size_t n = slash ? (size_t)(slash - segment) : len - i;
        bool is_up = segment_is(segment, n, "..");
        if (is_up) {   // drop the last segment, never the root
            while (out->len > start + is_rooted && out->data[out->len - 1] == '/')
                out->len--;
            while (out->len > start && out->data[out->len - 1] != '/')
                out->len--;
        } else if (!segment_is(segment, n, ".")) {
            buf_put(out, segment, n);
            if (slash)
                buf_putc(out, '/');
        }
        i += n + 1;
    }
}

static void put_merged_path(struct buf *out, const struct uri *base, const struct uri *ref)
{
    auto_buf struct buf merged = { 0 };
    const char *slash = base->path_len ? memrchr(base->path, '/', base->path_len) : NULL;
    if (slash)
        buf_put(&merged, base->path, (size_t)(slash - base->path) + 1);
    else if (base->authority)
        buf_putc(&merged, '/');
    buf_put(&merged, ref->path, ref->path_len);
    put_path(out, merged.data, merged.len);
}

static void put_authority(struct buf *out, const struct uri *uri)
{
    if (!uri->authority)
        return;
    buf_puts(out, "//");
    buf_put(out, uri->authority, uri->authority_len);
}

static void put_query(struct buf *out, const struct uri *uri)
{
    if (!uri->query)
        return;
    buf_putc(out, '?');
    buf_put(out, uri->query, uri->query_len);
}

void uri_resolve(struct buf *out, const char *base_text, const char *reference)
{
    struct uri base, ref;
    uri_split(&base, base_text, strlen(base_text));
    uri_split(&ref, reference, strlen(reference));

    const struct uri *scheme = ref.scheme ? &ref : &base;
    if (scheme->scheme) {
        buf_put(out, scheme->scheme, scheme->scheme_len);
        buf_putc(out, ':');
    }
    if (ref.scheme || ref.authority) {
        put_authority(out, &ref);
        put_path(out, ref.path, ref.path_len);
        put_query(out, &ref);
        return;
    }
    put_authority(out, &base);
    if (!ref.path_len) {
        buf_put(out, base.path, base.path_len);
        put_query(out, ref.query ? &ref : &base);
        return;
    }
    if (ref.path[0] == '/')
        put_path(out, ref.path, ref.path_len);
    else
        put_merged_path(out, &base, &ref);
    put_query(out, &ref);
}

static int hex_value(char c)
{
    return is_digit(c) ? c - '0' : (c | 0x20) - 'a' + 10;
}

size_t uri_decode(char *text, size_t len)
{
    size_t n = 0;
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '%' && i + 2 < len && is_hex(text[i + 1]) && is_hex(text[i + 2])) {
            text[n++] = (char)(hex_value(text[i + 1]) * 16 + hex_value(text[i + 2]));
            i += 2;
        } else
            text[n++] = text[i];
    }
    return n;
}

/* ---- checking --------------------------------------------------------------------------------- */

/* RFC 3987's ucschar, and in a query also its iprivate. */
static bool is_iri_character(uint32_t c, bool is_query)
{
    if (is_query && ((c >= 0xe000 && c <= 0xf8ff) || c >= 0xf0000))
        return (c & 0xfffe) != 0xfffe || c < 0xf0000;
    if (c >= 0x10000)
        return c < 0xf0000 && (c & 0xfffe) != 0xfffe && !(c >= 0xe0000 && c < 0xe1000);
    return (c >= 0xa0 && c <= 0xd7ff) || (c >= 0xf900 && c <= 0xfdcf) ||
           (c >= 0xfdf0 && c <= 0xffef);
}

/* Letters, digits, "-._~", the sub-delimiters, %XX, and what `more` lists. */
static bool part_is_valid(const char *part, size_t len, const char *more, bool is_iri,
                          bool is_query)
{
    for (size_t i = 0; i < len;) {
        char c = part[i];
        if (c == '%') {
            if (len - i < 3 || !is_hex(part[i + 1]) || !is_hex(part[i + 2]))
                return false;
            i += 3;
        } else if (c & 0x80) {
            uint32_t code;
            size_t n = utf8_decode(part + i, len - i, &code);
            if (!n || !is_iri || !is_iri_character(code, is_query))
                return false;
            i += n;
        } else if (is_alpha(c) || is_digit(c) ||
                   (c && (strchr("-._~!$&'()*+,;=", c) || strchr(more, c))))
            i++;
        else
            return false;
    }
    return true;
}

/* "v1.x" between brackets. */
static bool is_ip_future(const char *text, size_t len)
{
    size_t i = 1;
    if (len < 4 || (text[0] != 'v' && text[0] != 'V'))
        return false;
    while (i < len && is_hex(text[i]))
        i++;
    return i > 1 && i + 1 < len && text[i] == '.' && !memchr(text, '%', len) &&
           part_is_valid(text + i + 1, len - i - 1, ":", false, false);
}

static bool host_is_valid(const char *host, size_t len, bool is_iri)
{
    if (len && host[0] == '[')
        return len > 2 && host[len - 1] == ']' &&
               (format_is_ipv6(host + 1, len - 2) || is_ip_future(host + 1, len - 2));
    return part_is_valid(host, len, "", is_iri, false);
}

static bool authority_is_valid(const char *text, size_t len, bool is_iri)
{
    const char *at = len ? memrchr(text, '@', len) : NULL;
    if (at) {
        if (!part_is_valid(text, (size_t)(at - text), ":", is_iri, false))
            return false;
        len -= (size_t)(at + 1 - text);
        text = at + 1;
    }
    size_t port = len;   // where ":digits" starts
    while (port > 0 && is_digit(text[port - 1]))
        port--;
    if (port > 0 && text[port - 1] == ':')
        len = port - 1;
    return host_is_valid(text, len, is_iri);
}

/* Without scheme and authority, "a:b" would read as a scheme, and "//" as an authority. */
static bool path_is_valid(const struct uri *uri, bool is_iri)
{
    const char *path = uri->path;
    size_t len = uri->path_len;
    if (uri->authority && len && path[0] != '/')
        return false;
    if (!uri->scheme && !uri->authority) {
        const char *slash = len ? memchr(path, '/', len) : NULL;
        if (len && memchr(path, ':', slash ? (size_t)(slash - path) : len))
            return false;
    }
    return part_is_valid(path, len, ":@/", is_iri, false);
}

bool uri_is_valid(const char *text, size_t len, bool is_absolute, bool is_iri)
{
    struct uri uri;
    uri_split(&uri, text, len);
    return (uri.scheme || !is_absolute) &&
           (!uri.authority || authority_is_valid(uri.authority, uri.authority_len, is_iri)) &&
           path_is_valid(&uri, is_iri) &&
           part_is_valid(uri.query, uri.query_len, ":@/?", is_iri, true) &&
           part_is_valid(uri.fragment, uri.fragment_len, ":@/?", is_iri, false);
}
