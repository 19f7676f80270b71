/* base64.c - three bytes, four characters. */
#include "cel/base64.h"

#include <stdint.h>
#include <string.h>

static const char alphabet[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void base64_write(char *out, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i += 3, out += 4) {
        size_t n = len - i < 3 ? len - i : 3;
        uint32_t bits = 0;
        for (size_t j = 0; j < 3; j++)
            bits = bits << 8 | (j < n ? (unsigned char)bytes[i + j] : 0);
        for (size_t j = 0; j < 4; j++)
            out[j] = j <= n ? alphabet[bits >> (18 - 6 * j) & 63] : '=';
    }
}

bool base64_read(char *out, const char *text, size_t len, size_t *ret_len)
{
    size_t count = len, n = 0;
    uint32_t bits = 0;
    while (count > 0 && text[count - 1] == '=' && len - count < 2)
        count--;
    if (count % 4 == 1 || (count < len && len % 4 != 0))
        return false;
    for (size_t i = 0; i < count; i++) {
        const char *at = text[i] ? strchr(alphabet, text[i]) : NULL;
        if (!at)
            return false;
        bits = bits << 6 | (uint32_t)(at - alphabet);
        if (i % 4)
            out[n++] = (char)(bits >> (6 - 2 * (i % 4)));
    }
    *ret_len = n;
    return true;
}
