/* runes.c - decoding by the table of RFC 3629: no overlong forms, no surrogates. */
#include "cel/runes.h"

#include <string.h>

static bool is_tail(const char *text, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)text[i] & 0xc0) != 0x80)
            return false;
    return true;
}

size_t runes_read(const char *text, size_t len, uint32_t *ret)
{
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned char c = (unsigned char)text[0];
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;

    *ret = c;
    if (n == 1)
        return 1;
    if (n == 0 || n > len || !is_tail(text, n)) {
        *ret = RUNE_WRONG;
        return 1;
    }
    uint32_t rune = c & (0xffu >> (n + 1));
    for (size_t i = 1; i < n; i++)
        rune = rune << 6 | ((unsigned char)text[i] & 0x3f);
    bool is_wrong = rune < least[n] || rune > 0x10ffff || (rune >= 0xd800 && rune <= 0xdfff);
    *ret = is_wrong ? RUNE_WRONG : rune;
    return is_wrong ? 1 : n;
}

size_t runes_write(char *out, uint32_t rune)
{
    size_t n = rune < 0x80 ? 1 : rune < 0x800 ? 2 : rune < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = n - 1; i > 0; i--, rune >>= 6)
        out[i] = (char)(0x80 | (rune & 0x3f));
    out[0] = (char)(lead[n] | rune);
    return n;
}

static size_t skip_ascii(const char *text, size_t len)
{
    size_t i = 0;
    for (uint64_t word; i + 8 <= len; i += 8) {
        memcpy(&word, text + i, 8);
        if (word & 0x8080808080808080u)
            break;
    }
    return i;
}

bool runes_is_valid(const char *text, size_t len)
{
    size_t n;
    for (size_t i = skip_ascii(text, len); i < len; i += n) {
        uint32_t rune;
        n = runes_read(text + i, len - i, &rune);
        if (rune == RUNE_WRONG && n == 1)
            return false;
    }
    return true;
}

size_t runes_count(const char *text, size_t len)
{
    size_t count = skip_ascii(text, len);
    for (size_t i = count; i < len; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

size_t runes_offset(const char *text, size_t len, size_t n)
{
    size_t at = 0;
    while (at < len && n-- > 0)
        do
            at++;
        while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

size_t runes_fit(const char *text, size_t len, size_t max)
{
    if (len <= max)
        return len;
    while (max > 0 && ((unsigned char)text[max] & 0xc0) == 0x80)
        max--;
    return max;
}

bool runes_is_space(uint32_t rune)
{
    return (rune >= 9 && rune <= 13) || rune == ' ' || rune == 0x85 || rune == 0xa0 ||
           rune == 0x1680 || (rune >= 0x2000 && rune <= 0x200a) || rune == 0x2028 ||
           rune == 0x2029 || rune == 0x202f || rune == 0x205f || rune == 0x3000;
}
