/* idna.c - RFC 5890 to 5893: which labels a domain name may have.

   A label is ASCII, or Unicode, or Unicode written in ASCII: "xn--" and Punycode (RFC 3492).  The
   last is decoded, has to be what encoding its result gives, and is then checked like the second:
   every character allowed, or allowed where it stands (the rules of RFC 5892, appendix A), no
   combining mark in front.  If any label runs from right to left, all have to follow the Bidi
   rule.  That a label is in normal form C is not checked. */
#define _GNU_SOURCE   // memrchr
#include "data/idna.h"

#include "base/mem.h"
#include "data/idna_table.h"
#include "data/utf8.h"

#include <string.h>

#define LABEL_MAX 63   // octets, as ASCII
#define HOST_MAX 253

struct label {
    uint32_t codes[LABEL_MAX + 1];
    size_t count;
};

static bool range_has(const struct idna_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t mid = (low + high) / 2;
        if (code > ranges[mid].last)
            low = mid + 1;
        else if (code < ranges[mid].first)
            high = mid;
        else
            return (code - ranges[mid].first) % ranges[mid].step == 0;
    }
    return false;
}

#define IS(table, code) range_has(idna_##table, idna_##table##_count, code)

/* ---- Punycode (RFC 3492) ---------------------------------------------------------------------- */

enum { BASE = 36, T_MIN = 1, T_MAX = 26, SKEW = 38, DAMP = 700, BIAS = 72, FIRST = 128 };

static uint32_t bias_adapt(uint32_t delta, size_t count, bool is_first)
{
    uint32_t k = 0;
    delta = is_first ? delta / DAMP : delta / 2;
    delta += delta / (uint32_t)count;
    for (; delta > ((BASE - T_MIN) * T_MAX) / 2; k += BASE)
        delta /= BASE - T_MIN;
    return k + (BASE - T_MIN + 1) * delta / (delta + SKEW);
}

static uint32_t threshold(uint32_t k, uint32_t bias)
{
    return k <= bias ? T_MIN : k >= bias + T_MAX ? T_MAX : k - bias;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0' + 26;
    c |= 0x20;
    return c >= 'a' && c <= 'z' ? c - 'a' : -1;
}

/* One number of variable length; false when the text ends early or it is too large. */
static bool number_read(const char **at, const char *end, uint32_t bias, uint32_t *ret)
{
    uint64_t sum = 0, weight = 1;
    for (uint32_t k = BASE;; k += BASE) {
        int digit = *at < end ? digit_value(*(*at)++) : -1;
        if (digit < 0)
            return false;
        sum += (uint64_t)digit * weight;
        if (sum > UINT32_MAX)
            return false;
        uint32_t t = threshold(k, bias);
        if ((uint32_t)digit < t)
            break;
        weight *= BASE - t;
    }
    *ret = (uint32_t)sum;
    return true;
}

static bool punycode_decode(struct label *label, const char *text, size_t len)
{
    const char *at = text, *end = text + len, *dash = memrchr(text, '-', len);
    uint32_t code = FIRST, bias = BIAS, i = 0;
    label->count = 0;
    for (; dash && at < dash; at++)
        label->codes[label->count++] = (uint8_t)*at;
    if (dash)
        at = dash + 1;
    while (at < end) {
        uint32_t delta, count = (uint32_t)label->count + 1;
        bool is_first = i == 0 && code == FIRST;
        if (label->count >= LABEL_MAX || !number_read(&at, end, bias, &delta))
            return false;
        uint64_t sum = (uint64_t)i + delta;
        bias = bias_adapt(delta, count, is_first);
        code += (uint32_t)(sum / count);
        i = (uint32_t)(sum % count);
        if (sum / count > 0x10ffff || code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
            return false;
        memmove(&label->codes[i + 1], &label->codes[i],
                (label->count - i) * sizeof *label->codes);
        label->codes[i++] = code;
        label->count++;
    }
    return true;
}

static size_t number_write(char *out, uint32_t n, uint32_t bias)
{
    static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789";
    size_t len = 0;
    for (uint32_t k = BASE;; k += BASE) {
        uint32_t t = threshold(k, bias);
        if (n < t)
            break;
        out[len++] = digits[t + (n - t) % (BASE - t)];
        n = (n - t) / (BASE - t);
    }
    out[len++] = digits[n];
    return len;
}

static uint32_t next_code(const struct label *label, uint32_t least)
{
    uint32_t next = UINT32_MAX;
    for (size_t i = 0; i < label->count; i++)
        if (label->codes[i] >= least)
            next = MIN(next, label->codes[i]);
    return next;
}

/* The length of the Punycode written to out, or 0 when it is longer than a label may be. */
static size_t punycode_encode(const struct label *label, char out[LABEL_MAX + 8])
{
    size_t len = 0, done = 0, basic;
    uint32_t bias = BIAS, delta = 0, code = FIRST;
    for (size_t i = 0; i < label->count; i++)
        if (label->codes[i] < FIRST)
            out[len++] = (char)label->codes[i];
    done = basic = len;
    if (basic)
        out[len++] = '-';
    for (; done < label->count; delta++, code++) {
        uint32_t next = next_code(label, code);
        uint64_t jump = (uint64_t)(next - code) * (done + 1);
        if (jump > UINT32_MAX - delta - LABEL_MAX)
            return 0;
        delta += (uint32_t)jump;
        code = next;
        for (size_t i = 0; i < label->count; i++) {
            delta += label->codes[i] < code;
            if (label->codes[i] != code)
                continue;
            if (len > LABEL_MAX)
                return 0;
            len += number_write(out + len, delta, bias);
            bias = bias_adapt(delta, done + 1, done == basic);
            delta = 0;
            done++;
        }
    }
    return len <= LABEL_MAX - 4 ? len : 0;   // "xn--" comes in front
}

/* ---- characters in their context (RFC 5892, appendix A) --------------------------------------- */

static bool is_greek(uint32_t c)
{
    return (c >= 0x370 && c <= 0x3ff && c != 0x37e && c != 0x385 && c != 0x387) ||
           (c >= 0x1f00 && c <= 0x1fff);
}

static bool is_hebrew(uint32_t c)
{
    return (c >= 0x591 && c <= 0x5f4) || (c >= 0xfb1d && c <= 0xfb4f);
}

static bool is_japanese(uint32_t c)   // Hiragana, Katakana or Han
{
    return (c >= 0x3041 && c <= 0x309f && c != 0x3099 && c != 0x309a) ||
           (c >= 0x30a1 && c <= 0x30fa) || (c >= 0x30fd && c <= 0x30ff) ||
           (c >= 0x31f0 && c <= 0x31ff) || c == 0x3005 || c == 0x3007 ||
           (c >= 0x2e80 && c <= 0x2fd5) || (c >= 0x3400 && c <= 0x4dbf) ||
           (c >= 0x4e00 && c <= 0x9fff) || (c >= 0xf900 && c <= 0xfad9) ||
           (c >= 0x1b000 && c <= 0x1b16f) || (c >= 0x20000 && c <= 0x3134f);
}

static bool joiner_is_after_virama(const struct label *label, size_t i)
{
    return i > 0 && IS(viramas, label->codes[i - 1]);
}

/* (L or D) T* here T* (R or D) */
static bool joiner_joins(const struct label *label, size_t i)
{
    size_t before = i, after = i + 1;
    while (before > 0 && IS(transparent, label->codes[before - 1]))
        before--;
    while (after < label->count && IS(transparent, label->codes[after]))
        after++;
    if (before == 0 || after == label->count)
        return false;
    uint32_t left = label->codes[before - 1], right = label->codes[after];
    return (IS(joins_both, left) || IS(joins_left, left)) &&
           (IS(joins_both, right) || IS(joins_right, right));
}

static bool label_has(const struct label *label, uint32_t first, uint32_t last)
{
    for (size_t i = 0; i < label->count; i++)
        if (label->codes[i] >= first && label->codes[i] <= last)
            return true;
    return false;
}

static bool label_has_japanese(const struct label *label)
{
    for (size_t i = 0; i < label->count; i++)
        if (is_japanese(label->codes[i]))
            return true;
    return false;
}

static bool context_is_valid(const struct label *label, size_t i)
{
    uint32_t before = i > 0 ? label->codes[i - 1] : 0;
    uint32_t after = i + 1 < label->count ? label->codes[i + 1] : 0;
    uint32_t code = label->codes[i];
    switch (code) {
    case 0x200c: return joiner_is_after_virama(label, i) || joiner_joins(label, i);
    case 0x200d: return joiner_is_after_virama(label, i);
    case 0xb7: return before == 'l' && after == 'l';
    case 0x375: return is_greek(after);
    case 0x5f3:
    case 0x5f4: return is_hebrew(before);
    case 0x30fb: return label_has_japanese(label);
    }
    if (code >= 0x660 && code <= 0x669)
        return !label_has(label, 0x6f0, 0x6f9);
    if (code >= 0x6f0 && code <= 0x6f9)
        return !label_has(label, 0x660, 0x669);
    return false;
}

/* ---- direction (RFC 5893) --------------------------------------------------------------------- */

static bool label_is_right_to_left(const struct label *label)
{
    for (size_t i = 0; i < label->count; i++)
        if (IS(right, label->codes[i]) || IS(arabic_digits, label->codes[i]))
            return true;
    return false;
}

static bool follows_bidi_rule(const struct label *label)
{
    bool has_digits = false, has_arabic = false, ends_well = false;
    bool is_right = IS(right, label->codes[0]);
    for (size_t i = 0; i < label->count; i++) {
        uint32_t code = label->codes[i];
        bool right = IS(right, code), arabic = IS(arabic_digits, code),
             digit = IS(digits, code);
        bool mark = IS(nonspacing, code), neutral = IS(neutral, code);
        bool left = !right && !arabic && !digit && !mark && !neutral;
        if (is_right ? left : right || arabic || (i == 0 && !left))
            return false;
        has_digits |= digit;
        has_arabic |= arabic;
        if (!mark)
            ends_well = is_right ? right || digit || arabic : left || digit;
    }
    return ends_well && !(is_right && has_digits && has_arabic);
}

/* ---- labels and hosts ------------------------------------------------------------------------- */

static bool unicode_is_valid(const struct label *label)
{
    const uint32_t *codes = label->codes;
    size_t n = label->count;
    if (!n || codes[0] == '-' || codes[n - 1] == '-' || IS(marks, codes[0]) ||
        (n >= 4 && codes[2] == '-' && codes[3] == '-'))
        return false;
    for (size_t i = 0; i < n; i++)
        if (!IS(valid, codes[i]) && !context_is_valid(label, i))
            return false;
    return true;
}

static bool is_letter_digit_hyphen(uint32_t c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           c == '-';
}

static bool ascii_is_valid(const struct label *label)
{
    if (!label->count || label->codes[0] == '-' || label->codes[label->count - 1] == '-')
        return false;
    for (size_t i = 0; i < label->count; i++)
        if (!is_letter_digit_hyphen(label->codes[i]))
            return false;
    return true;
}

static bool is_encoded(const struct label *label)
{
    return label->count >= 4 && (label->codes[0] | 0x20) == 'x' &&
           (label->codes[1] | 0x20) == 'n' && label->codes[2] == '-' && label->codes[3] == '-';
}

/* Replaces "xn--..." by what it stands for; false when it is not the one way to write that. */
static bool label_decode(struct label *label)
{
    char text[LABEL_MAX + 1], again[LABEL_MAX + 8];
    size_t len = label->count - 4;
    for (size_t i = 0; i < len; i++) {
        char c = (char)label->codes[i + 4];
        text[i] = c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
    }
    return len && punycode_decode(label, text, len) && label_has(label, FIRST, UINT32_MAX) &&
           punycode_encode(label, again) == len && memcmp(again, text, len) == 0;
}

/* Checks one label; afterwards it is in Unicode.  Adds its length in ASCII. */
static bool label_is_valid(struct label *label, bool is_international, size_t *length)
{
    char text[LABEL_MAX + 8];
    bool is_ascii = !label_has(label, 0x80, UINT32_MAX);
    if (is_ascii) {
        *length += label->count;
        if (!ascii_is_valid(label))
            return false;
        if (is_encoded(label))
            return label_decode(label) && unicode_is_valid(label);
        return !is_international ||
               !(label->count >= 4 && label->codes[2] == '-' && label->codes[3] == '-');
    }
    size_t len = is_international && unicode_is_valid(label) ? punycode_encode(label, text) : 0;
    *length += len + 4;
    return len > 0;
}

static bool is_dot(uint32_t code, bool is_international)
{
    return code == '.' ||
           (is_international && (code == 0x3002 || code == 0xff0e || code == 0xff61));
}

/* Reads up to the next dot; false when a label is too long or not UTF-8. */
static bool label_read(struct label *label, const char *text, size_t len, size_t *at,
                       bool is_international, bool *ret_dot)
{
    label->count = 0;
    *ret_dot = false;
    while (*at < len && !*ret_dot) {
        uint32_t code;
        size_t n = utf8_decode(text + *at, len - *at, &code);
        if (!n)
            return false;
        *at += n;
        *ret_dot = is_dot(code, is_international);
        if (*ret_dot)
            break;
        if (label->count == LABEL_MAX)
            return false;
        label->codes[label->count++] = code;
    }
    return true;
}

bool idna_is_host(const char *text, size_t len, bool is_international)
{
    bool is_bidi = false, keeps_rule = true, has_dot = true;
    size_t length = 0, at = 0;
    while (has_dot) {
        struct label label;
        if (!label_read(&label, text, len, &at, is_international, &has_dot) ||
            !label_is_valid(&label, is_international, &length) || length > HOST_MAX)
            return false;
        length++;   // the dot
        is_bidi |= label_is_right_to_left(&label);
        keeps_rule &= follows_bidi_rule(&label);
    }
    return length - 1 <= HOST_MAX && (keeps_rule || !is_bidi);
}
