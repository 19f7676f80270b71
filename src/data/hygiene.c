/* hygiene.c - characters that people cannot see do not get into names and prompts.

   What could make a text look like another one is refused (bidirectional overrides) or taken out
   (controls, zero-width characters, private use, what is no character at all). */
#include "data/doc.h"

#include "data/utf8.h"

#include <string.h>

struct range {
    uint32_t first, last;
};

static const struct range overrides[] = { { 0x202a, 0x202e }, { 0x2066, 0x2069 } };

static const struct range unseen[] = {
    { 0x00, 0x08 },     { 0x0b, 0x1f },         // controls, but TAB and LF
    { 0x7f, 0x9f },     { 0xad, 0xad },         // DEL, C1, the soft hyphen
    { 0x200b, 0x200f }, { 0x2028, 0x2029 },     // zero width, direction marks, separators
    { 0x2060, 0x2065 }, { 0x206a, 0x206f },
    { 0xe000, 0xf8ff }, { 0xfeff, 0xfeff },     // private use, the byte-order mark
    { 0xfff0, 0xfffb }, { 0xe0000, 0x10ffff },  // specials, tags, the private planes
};

static bool is_in(const struct range *ranges, size_t count, uint32_t code)
{
    for (size_t i = 0; i < count; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

static bool is_unseen(uint32_t code)
{
    bool is_no_character = (code & 0xfffe) == 0xfffe || (code >= 0xfdd0 && code <= 0xfdef);
    return is_no_character || is_in(unseen, COUNT(unseen), code);
}

static bool is_simple(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((text[i] < ' ' && text[i] != '\t' && text[i] != '\n') || text[i] == 0x7f)
            return false;
    return true;
}

bool doc_clean_text(struct arena *arena, const char *text, size_t len, const char **ret,
                    size_t *ret_len, size_t *ret_bad)
{
    *ret = text;
    *ret_len = len;
    if (is_simple(text, len))
        return true;
    char *out = arena_alloc(arena, len + 1);
    size_t used = 0;
    uint32_t code;
    for (size_t at = 0, n; at < len; at += n) {
        if (!(n = utf8_decode(text + at, len - at, &code))) {
            n = 1;
            continue;
        }
        if (is_in(overrides, COUNT(overrides), code)) {
            *ret_bad = at;
            return false;
        }
        if (is_unseen(code))
            continue;
        memcpy(out + used, text + at, n);
        used += n;
    }
    out[used] = '\0';
    if (used < len) {
        *ret = out;
        *ret_len = used;
    }
    return true;
}
