/* nfc.c - take every character apart, order the marks, and put together what belongs together.

   A character and its combining class are one number: the class is in the top byte.  Marks of
   different classes do not touch each other, so their order means nothing and is made the same;
   marks of one class keep theirs. */
#include "data/nfc.h"

#include "data/nfc_table.h"
#include "data/utf8.h"

#include <string.h>

#define CLASS_SHIFT 24
#define CODE_MASK 0x1fffff

/* Hangul syllables are counted, not listed. */
enum {
    S_BASE = 0xac00, L_BASE = 0x1100, V_BASE = 0x1161, T_BASE = 0x11a7,
    L_COUNT = 19, V_COUNT = 21, T_COUNT = 28, S_COUNT = L_COUNT * V_COUNT * T_COUNT,
};

struct chars {
    uint32_t *list;
    uint32_t count, cap;
};

static uint32_t class_of(uint32_t code)
{
    size_t low = 0, high = nfc_classes_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (nfc_classes[middle].last < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < nfc_classes_count && nfc_classes[low].first <= code ? nfc_classes[low].is : 0;
}

static const struct nfc_whole *find_whole(uint32_t code)
{
    size_t low = 0, high = nfc_wholes_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (nfc_wholes[middle].whole < code)
            low = middle + 1;
        else
            high = middle;
    }
    return low < nfc_wholes_count && nfc_wholes[low].whole == code ? &nfc_wholes[low] : NULL;
}

static void add(struct chars *chars, uint32_t code)
{
    mem_grow(&chars->list, &chars->cap, chars->count, sizeof *chars->list);
    chars->list[chars->count++] = code | class_of(code) << CLASS_SHIFT;
}

static void add_syllable(struct chars *chars, uint32_t n)
{
    add(chars, L_BASE + n / (V_COUNT * T_COUNT));
    add(chars, V_BASE + n / T_COUNT % V_COUNT);
    if (n % T_COUNT)
        add(chars, T_BASE + n % T_COUNT);
}

/* Only the first part of a whole can be one itself: a few levels, all in the table. */
static void take_apart(struct chars *chars, uint32_t code)
{
    const struct nfc_whole *whole = code < 0xc0 ? NULL : find_whole(code);
    if (code - S_BASE < S_COUNT)
        add_syllable(chars, code - S_BASE);
    else if (!whole)
        add(chars, code);
    else {
        take_apart(chars, whole->first);
        if (whole->second)
            take_apart(chars, whole->second);
    }
}

/* Marks between two other characters, by class; a long run is somebody's joke, and costs no more. */
static void order(uint32_t *marks, uint32_t count)
{
    auto_free uint32_t *copy = (uint32_t *)mem_dup(marks, count * sizeof *marks);
    uint32_t at[257] = { 0 };
    for (uint32_t i = 0; i < count; i++)
        at[(copy[i] >> CLASS_SHIFT) + 1]++;
    for (uint32_t i = 1; i < COUNT(at); i++)
        at[i] += at[i - 1];
    for (uint32_t i = 0; i < count; i++)
        marks[at[copy[i] >> CLASS_SHIFT]++] = copy[i];
}

static void order_all(struct chars *chars)
{
    for (uint32_t i = 0, end; i < chars->count; i = end + 1) {
        bool is_wrong = false;
        for (end = i; end < chars->count && chars->list[end] >> CLASS_SHIFT; end++)
            is_wrong |= end > i && chars->list[end] >> CLASS_SHIFT < chars->list[end - 1] >> CLASS_SHIFT;
        if (is_wrong)
            order(chars->list + i, end - i);
    }
}

static uint32_t find_pair(uint32_t first, uint32_t second)
{
    size_t low = 0, high = nfc_pairs_count;
    uint64_t key = (uint64_t)first << 32 | second;
    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct nfc_whole *whole = &nfc_wholes[nfc_pairs[middle]];
        uint64_t is = (uint64_t)whole->first << 32 | whole->second;
        if (is == key)
            return whole->whole;
        if (is < key)
            low = middle + 1;
        else
            high = middle;
    }
    return 0;
}

/* What two characters are together, or 0. */
static uint32_t put_together(uint32_t first, uint32_t second)
{
    if (first - L_BASE < L_COUNT && second - V_BASE < V_COUNT)
        return S_BASE + ((first - L_BASE) * V_COUNT + second - V_BASE) * T_COUNT;
    if (first - S_BASE < S_COUNT && (first - S_BASE) % T_COUNT == 0 &&
        second - T_BASE - 1 < T_COUNT - 1)
        return first + second - T_BASE;
    return find_pair(first, second);
}

/* A mark joins the last character of class 0, unless a mark of the same or a higher class is
   between them. */
static void compose(struct chars *chars)
{
    uint32_t used = 0, whole;
    int32_t starter = -1, last = -1;
    for (uint32_t i = 0; i < chars->count; i++) {
        uint32_t code = chars->list[i] & CODE_MASK;
        int32_t class = (int32_t)(chars->list[i] >> CLASS_SHIFT);
        if (starter >= 0 && last < class && (whole = put_together(chars->list[starter], code))) {
            chars->list[starter] = whole;
            continue;
        }
        last = class ? class : -1;
        if (!class)
            starter = (int32_t)used;
        chars->list[used++] = code;
    }
    chars->count = used;
}

const char *nfc_text(struct arena *arena, const char *text, size_t len, size_t *ret_len)
{
    struct chars chars = { 0 };
    uint32_t code;
    for (size_t at = 0, n; at < len && (n = utf8_decode(text + at, len - at, &code)); at += n)
        take_apart(&chars, code);
    order_all(&chars);
    compose(&chars);
    char *out = arena_alloc(arena, (size_t)chars.count * 4 + 1), *at = out;
    for (uint32_t i = 0; i < chars.count; i++)
        at += utf8_encode(at, chars.list[i]);
    *at = '\0';
    mem_free(chars.list);
    *ret_len = (size_t)(at - out);
    return out;
}
