/* uri.h - URIs and IRIs: their syntax, and what a reference means seen from a base. */
#ifndef RONDO_URI_H
#define RONDO_URI_H

#include "base/buf.h"

/* The five parts of a reference; a part that is absent has a NULL pointer, which is not the same
   as an empty one.  They point into the text. */
struct uri {
    const char *scheme, *authority, *path, *query, *fragment;
    size_t scheme_len, authority_len, path_len, query_len, fragment_len;
};

/* Never fails: every text has the five parts. */
void uri_split(struct uri *uri, const char *text, size_t len);

/* Appends what the reference means seen from base (RFC 3986, section 5.2), without a fragment.
   A base that is itself relative, or empty, works as far as it goes. */
void uri_resolve(struct buf *out, const char *base, const char *reference);

/* Does the text follow RFC 3986, or (is_iri) RFC 3987?  An absolute one needs a scheme. */
bool uri_is_valid(const char *text, size_t len, bool is_absolute, bool is_iri);

/* Replaces %XX in place; returns the new length. */
size_t uri_decode(char *text, size_t len);

#endif
