/* hygiene.c - characters that people cannot see do not get into names and prompts.

   What could make a text look like another one is refused (bidirectional overrides) or taken out
   (controls, zero-width characters, private use, what is no character at all); what looks the same
   becomes the same (NFC). */
#include "data/doc.h"

#include "data/nfc.h"
#include "data/utf8.h"

#include <string.h>

#define FIRST_MARK 0x300   // all characters before the combining marks are in NFC

struct range {
    uint32_t first, last;
};

static const struct range overrides[] = { { 0x202a, 0x202e }, { 0x2066, 0x2069 } };

// clang-format off
static const struct range unseen[] = {
    { 0x00, 0x08 },       { 0x0b, 0x1f },        // controls, but TAB and LF
    { 0x7f, 0x9f },       { 0xad, 0xad },        // DEL, C1, the soft hyphen
    { 0x61c, 0x61c },     { 0x180e, 0x180e },
    { 0x200b, 0x200f },   { 0x2028, 0x2029 },    // zero width, direction marks, separators
    { 0x2060, 0x2065 },   { 0x206a, 0x206f },
    { 0xe000, 0xf8ff },   { 0xfeff, 0xfeff },    // private use, the byte-order mark
    { 0xfff0, 0xfffb },
    { 0xe0000, 0xe00ff }, { 0xe01f0, 0x10ffff }, // tags, the private planes
};
// clang-format on

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

/* Printable ASCII, TAB and LF: nearly always. */
static bool is_simple(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if ((uint8_t)text[i] >= 0x7f || (text[i] < ' ' && text[i] != '\t' && text[i] != '\n'))
            return false;
    return true;
}

#define OVERRIDE_BYTE 0xe2 // they all begin with it

size_t doc_find_override(const char *text, size_t len, size_t at, uint32_t *ret_code)
{
    const char *next;
    for (; at < len && (next = memchr(text + at, OVERRIDE_BYTE, len - at)); at++) {
        at = (size_t)(next - text);
        if (utf8_decode(next, len - at, ret_code) && is_in(overrides, COUNT(overrides), *ret_code))
            return at;
    }
    return len;
}

/* Copies what can be seen; bytes that are no UTF-8 cannot.  False at an override. */
static bool copy_seen(const char *text, size_t len, char *out, size_t *ret_len, bool *ret_marks,
                      size_t *ret_bad)
{
    uint32_t code;
    for (size_t at = 0, n; at < len; at += n) {
        n = utf8_decode(text + at, len - at, &code);
        if (n && is_in(overrides, COUNT(overrides), code)) {
            *ret_bad = at;
            return false;
        }
        if (n && !is_unseen(code)) {
            memcpy(out + *ret_len, text + at, n);
            *ret_len += n;
            *ret_marks |= code >= FIRST_MARK;
        }
        n += !n;
    }
    out[*ret_len] = '\0';
    return true;
}

bool doc_clean_text(struct arena *arena, const char *text, size_t len, const char **ret,
                    size_t *ret_len, size_t *ret_bad)
{
    const char *clean = text;
    size_t clean_len = len;
    if (!is_simple(text, len)) {
        char *seen = arena_alloc(arena, len + 1);
        bool has_marks = false;
        clean_len = 0;
        if (!copy_seen(text, len, seen, &clean_len, &has_marks, ret_bad))
            return false;
        clean = has_marks ? nfc_text(arena, seen, clean_len, &clean_len) : seen;
    }
    bool is_same = clean_len == len && memcmp(clean, text, len) == 0;
    *ret = is_same ? text : clean;
    *ret_len = clean_len;
    return true;
}

/* The character at `at` with what may join it: no character of ASCII ever joins one before it. */
static size_t group_len(const char *text, size_t len, size_t at)
{
    size_t n = 1;
    while (at + n < len && (uint8_t)text[at + n] >= 0x80)
        n++;
    return n;
}

size_t doc_unclean(const char *text, size_t len, size_t at)
{
    auto_arena struct arena arena = { 0 };
    size_t raw = 0, done = 0, n, bad;
    for (; raw < len; raw += n) {
        const char *clean;
        size_t clean_len = 1;
        n = group_len(text, len, raw);
        if ((n > 1 || !is_simple(text + raw, n)) && !doc_clean_text(&arena, text + raw, n, &clean, &clean_len, &bad))
            break;
        if (at < done + clean_len)
            return n == clean_len ? raw + (at - done) : raw;
        done += clean_len;
    }
    return MIN(raw, len);
}
