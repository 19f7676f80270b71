/* place.c - base URLs. */
#define _GNU_SOURCE // memrchr
#include "model/place.h"

#include "data/uri.h"

#include <stdio.h>
#include <string.h>

#define URL_MAX 2000

int place_fill(const char *url, const char *(*get_variable)(void *user, const char *name), void *user,
               struct buf *out, rondo_error *err)
{
    char name[64];
    for (const char *hole; (hole = strchr(url, '{')); url = strchr(hole, '}') + 1) {
        snprintf(name, sizeof name, "%.*s", (int)strcspn(hole + 1, "}"), hole + 1);
        const char *value = get_variable ? get_variable(user, name) : NULL;
        if (!value || !*value)
            return err_set(err, RONDO_ENOTFOUND, "the variable %s is not set", name);
        size_t len = strlen(value);
        while (len && value[len - 1] == '/')
            len--;
        buf_put(out, url, (size_t)(hole - url));
        buf_put(out, value, len);
    }
    buf_puts(out, url);
    return 0;
}

/* ---- Ollama ----------------------------------------------------------------------------------------------- */

static const struct {
    const char *listens, *is;
} anywhere[] = { { "", "127.0.0.1" }, { "0.0.0.0", "127.0.0.1" }, { "[::]", "[::1]" }, { "::", "[::1]" } };

static void put_host(struct buf *out, const char *host, size_t len)
{
    for (size_t i = 0; i < COUNT(anywhere); i++)
        if (strlen(anywhere[i].listens) == len && memcmp(host, anywhere[i].listens, len) == 0) {
            buf_puts(out, anywhere[i].is);
            return;
        }
    bool is_bare_ip6 = len && *host != '[' && memchr(host, ':', len);
    buf_printf(out, "%s%.*s%s", is_bare_ip6 ? "[" : "", (int)len, host, is_bare_ip6 ? "]" : "");
}

/* Where the port's colon is, or the end.  An address of version 6 has colons of its own. */
static size_t find_port(const char *host, size_t len)
{
    const char *first = memchr(host, ':', len), *last = memrchr(host, ':', len);
    const char *bracket = memchr(host, ']', len);
    if (!last || (bracket && last < bracket) || (!bracket && first != last))
        return len;
    return (size_t)(last - host);
}

void place_put_ollama(struct buf *out, const char *host)
{
    const char *scheme = strstr(host, "://"), *port = scheme ? "" : ":11434";
    buf_printf(out, "%.*s://", scheme ? (int)(scheme - host) : 4, scheme ? host : "http");
    host = scheme ? scheme + 3 : host;
    size_t len = strcspn(host, "/"), colon = find_port(host, len);
    put_host(out, host, colon);
    if (colon + 1 < len)
        buf_put(out, host + colon, len - colon);
    else
        buf_puts(out, port);
    buf_puts(out, host + len);
}

/* ---- judging ---------------------------------------------------------------------------------------------- */

static bool has_prefix(const char *text, size_t len, const char *prefix)
{
    return len >= strlen(prefix) && memcmp(text, prefix, strlen(prefix)) == 0;
}

int place_check(struct buf *url, rondo_error *err)
{
    while (url->len && strchr("/ \t\r\n", url->data[url->len - 1]))
        url->len--;
    const char *text = buf_text(url), *host;
    if (!has_prefix(text, url->len, "http://") && !has_prefix(text, url->len, "https://"))
        return err_set(err, RONDO_EINVAL, "'%.200s' is no address: it has to begin with http:// or https://", text);
    size_t len = place_host(text, &host);
    if (memchr(host, '@', len)) // not quoted: there may be a password in it
        return err_set(err, RONDO_EINVAL, "an address may have no user or password in it; keys go into apiKey");
    if (!len || *host == ':' || url->len > URL_MAX || !uri_is_valid(text, url->len, true, false) ||
        text[strcspn(text, "?#")])
        return err_set(err, RONDO_EINVAL, "'%.200s' is no base URL", text);
    return 0;
}

void place_cut(struct buf *url, const char *endings)
{
    for (const char *at = endings; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        if (url->len > len && memcmp(url->data + url->len - len, at, len) == 0) {
            url->len -= len;
            return;
        }
        at += len;
    }
}

void place_put_name(struct buf *out, const char *name)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
    for (; *name; name++)
        buf_printf(out, strchr(plain, *name) ? "%c" : "%%%02X", (unsigned char)*name);
}

size_t place_host(const char *url, const char **ret)
{
    struct uri uri;
    uri_split(&uri, url, strlen(url));
    *ret = uri.authority ? uri.authority : "";
    return uri.authority ? uri.authority_len : 0;
}

/* a.b.c.d and nothing else. */
static bool read_ip4(const char *host, size_t len, unsigned ret[4])
{
    char text[20];
    int end = 0;
    if (len >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)len, host);
    return sscanf(text, "%3u.%3u.%3u.%3u%n", &ret[0], &ret[1], &ret[2], &ret[3], &end) == 4 && (size_t)end == len;
}

bool place_is_near(const char *url)
{
    const char *host;
    size_t len = place_host(url, &host), colon = find_port(host, len);
    unsigned ip[4];
    if (*host == '[')
        return has_prefix(host, colon, "[::1]") || has_prefix(host, colon, "[fc") || has_prefix(host, colon, "[fd") ||
               has_prefix(host, colon, "[fe80:");
    if (read_ip4(host, colon, ip))
        return ip[0] == 127 || ip[0] == 10 || (ip[0] == 192 && ip[1] == 168) ||
               (ip[0] == 172 && ip[1] >= 16 && ip[1] < 32);
    return !memchr(host, '.', colon) || (colon > 6 && memcmp(host + colon - 6, ".local", 6) == 0) ||
           (colon > 10 && memcmp(host + colon - 10, ".localhost", 10) == 0);
}

bool place_is_secret(const char *url)
{
    return strncmp(url, "https://", 8) == 0;
}
