/* weburl.h - where a request goes: an http or https URL in its parts.

   Read by libcurl, so that whom we compare and show is whom it will connect to. */
#ifndef RONDO_WEBURL_H
#define RONDO_WEBURL_H

#include "base/buf.h"
#include "io/curl.h"

#define WEBURL_MAX 65536 // bytes

/* Lives in its owner's storage; all zero is none. */
struct weburl {
    char *text;            // as it is asked for: without user, password and fragment
    char *origin;          // "https://api.example.com:443"
    char *host;            // "api.example.com", "[::1]"
    char *shown;           // for messages: the host, and the port when it is an unusual one
    char *user, *password; // decoded; NULL: none
    bool is_tls;
};

/* A reference is read as seen from base, when there is one; user and password in it are left out then. */
int weburl_read(const struct curl *curl, const struct weburl *base, const char *text, struct weburl *ret,
                rondo_error *err);
void weburl_clear(struct weburl *url);

/* What may be shown of any text that should be a URL: no user, no password, no query. */
void weburl_put_shown(const char *text, struct buf *out);

#endif
