/* format.h - the formats of JSON Schema: what a text may be required to be. */
#ifndef RONDO_FORMAT_H
#define RONDO_FORMAT_H

#include "base/buf.h"

struct format {
    const char *name;    // as schemas write it
    const char *words;   // for "expected ...": "an e-mail address"
    bool (*is_valid)(const char *text, size_t len);
    const char *example;
};

const struct format *format_find(const char *name);   // NULL when unknown

bool format_is_ipv4(const char *text, size_t len);
bool format_is_ipv6(const char *text, size_t len);

/* Appends what base64 text stands for; false when it is none. */
bool format_decode_base64(struct buf *out, const char *text, size_t len);

#endif
