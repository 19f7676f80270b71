/* weburl.c - see weburl.h. */
#include "io/weburl.h"

#include "data/utf8.h"

#include <string.h>

#define SHOWN_MAX 200

void weburl_clear(struct weburl *url)
{
    mem_free(url->text);
    mem_free(url->origin);
    mem_free(url->host);
    mem_free(url->shown);
    mem_free(url->user);
    mem_free(url->password);
    *url = (struct weburl){ 0 };
}

/* What came from outside can hold anything. */
static void put_clean(const char *text, size_t len, struct buf *out)
{
    bool is_utf8 = utf8_is_valid(text, len);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        buf_putc(out, c < ' ' || c == 127 || (c > 127 && !is_utf8) ? '?' : text[i]);
    }
}

void weburl_put_shown(const char *text, struct buf *out)
{
    size_t len = strcspn(text, "?#");
    const char *host = strstr(text, "//");
    size_t start = host && (size_t)(host - text) < len ? (size_t)(host - text) + 2 : 0;
    for (size_t i = start; i < len && text[i] != '/'; i++)
        if (text[i] == '@') {
            put_clean(text, start, out);
            text += i + 1;
            len -= i + 1;
            break;
        }
    put_clean(text, utf8_fit(text, len, SHOWN_MAX), out);
}

static int refuse(const char *text, const char *why, rondo_error *err)
{
    auto_buf struct buf shown = { 0 };
    weburl_put_shown(text, &shown);
    return err_set(err, RONDO_EINVAL, "expected an http or https URL, got '%s'%s", buf_text(&shown), why);
}

/* A copy of one part; NULL when it is not there. */
static char *get(const struct curl *curl, CURLU *url, CURLUPart part, unsigned flags)
{
    char *text = NULL;
    if (curl->url_get(url, part, &text, flags) != CURLUE_OK)
        return NULL;
    char *copy = mem_strdup(text);
    curl->free(text);
    return copy;
}

static void fill(const struct curl *curl, CURLU *parts, struct weburl *url)
{
    auto_free char *scheme = get(curl, parts, CURLUPART_SCHEME, 0);
    auto_free char *port = get(curl, parts, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    struct buf origin = { 0 }, shown = { 0 };
    url->is_tls = strcmp(scheme, "https") == 0;
    url->host = get(curl, parts, CURLUPART_HOST, 0);
    buf_printf(&origin, "%s://%s:%s", scheme, url->host, port);
    for (size_t i = 0; i < origin.len; i++)
        if (origin.data[i] >= 'A' && origin.data[i] <= 'Z')
            origin.data[i] = (char)(origin.data[i] - 'A' + 'a');
    url->origin = buf_take(&origin);
    put_clean(url->host, strlen(url->host), &shown);
    if (strcmp(port, url->is_tls ? "443" : "80") != 0)
        buf_printf(&shown, ":%s", port);
    url->shown = buf_take(&shown);
    url->user = get(curl, parts, CURLUPART_USER, CURLU_URLDECODE);
    url->password = get(curl, parts, CURLUPART_PASSWORD, CURLU_URLDECODE);
    static const CURLUPart left_out[] = { CURLUPART_USER, CURLUPART_PASSWORD, CURLUPART_FRAGMENT };
    for (size_t i = 0; i < COUNT(left_out); i++)
        curl->url_set(parts, left_out[i], NULL, 0);
    url->text = get(curl, parts, CURLUPART_URL, 0);
}

int weburl_read(const struct curl *curl, const struct weburl *base, const char *text, struct weburl *ret,
                rondo_error *err)
{
    struct weburl url = { 0 };
    CURLU *parts = curl->url();
    int rc = 0;
    if ((base && curl->url_set(parts, CURLUPART_URL, base->text, 0) != CURLUE_OK) ||
        curl->url_set(parts, CURLUPART_URL, text, CURLU_NON_SUPPORT_SCHEME) != CURLUE_OK)
        rc = refuse(text, "", err);
    auto_free char *scheme = rc < 0 ? NULL : get(curl, parts, CURLUPART_SCHEME, 0);
    auto_free char *host = rc < 0 ? NULL : get(curl, parts, CURLUPART_HOST, 0);
    if (rc == 0 && (!scheme || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) || !host || !*host))
        rc = refuse(text, "", err);
    if (rc == 0)
        fill(curl, parts, &url);
    curl->url_cleanup(parts);
    if (rc < 0)
        return rc;
    if (!url.text || strlen(url.text) > WEBURL_MAX) {
        weburl_clear(&url);
        return refuse(text, ", which is too long", err);
    }
    if (base) {
        mem_free(TAKE(url.user));
        mem_free(TAKE(url.password));
    }
    *ret = url;
    return 0;
}
