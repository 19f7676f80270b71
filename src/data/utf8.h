/* utf8.h - characters in a text. */
#ifndef RONDO_UTF8_H
#define RONDO_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at text, and how many bytes it has; 0 when len bytes do not begin with one. */
static inline size_t utf8_decode(const char *text, size_t len, uint32_t *ret)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (!len)
        return 0;
    uint8_t first = (uint8_t)text[0];
    size_t n = first < 0x80 ? 1 : first < 0xc0 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    if (!n || n > len || first > 0xf4)
        return 0;
    uint32_t code = n == 1 ? first : first & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (((uint8_t)text[i] & 0xc0) != 0x80)
            return 0;
        code = code << 6 | ((uint8_t)text[i] & 0x3f);
    }
    if (code < least[n] || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
        return 0;
    *ret = code;
    return n;
}

/* Writes up to 4 bytes and returns how many. */
static inline size_t utf8_encode(char *out, uint32_t code)
{
    static const uint8_t lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    size_t n = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = n; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3f));
    out[0] = (char)(lead[n] | code);
    return n;
}

/* How many bytes of a valid text to show when there is room for max: no character is cut. */
static inline size_t utf8_fit(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max && ((uint8_t)text[max] & 0xc0) == 0x80)
        max--;
    return max;
}

static inline bool utf8_is_valid(const char *text, size_t len)
{
    uint32_t code;
    for (size_t i = 0, n; i < len; i += n)
        if (!(n = utf8_decode(text + i, len - i, &code)))
            return false;
    return true;
}

#endif
