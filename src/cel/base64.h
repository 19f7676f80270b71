/* base64.h - bytes as text, by RFC 4648. */
#ifndef RONDO_CEL_BASE64_H
#define RONDO_CEL_BASE64_H

#include <stdbool.h>
#include <stddef.h>

static inline size_t base64_size(size_t len)
{
    return (len + 2) / 3 * 4;
}

void base64_write(char *out, const char *bytes, size_t len);   // base64_size(len) characters

/* Into a buffer of at least len bytes; padding may be missing.  False for what is no base64. */
bool base64_read(char *out, const char *text, size_t len, size_t *ret_len);

#endif
