/* width.c - how many columns of a terminal a text takes. */
#include "data/width.h"

#include "data/utf8.h"
#include "data/width_table.h"

#include <string.h>

enum { VS16 = 0xfe0f };

static bool is_in(const struct width_range *ranges, size_t count, uint32_t code)
{
    size_t low = 0;
    while (count > 0) {
        size_t half = count / 2;
        if (code > ranges[low + half].last) {
            low += half + 1;
            count -= half + 1;
        } else if (code >= ranges[low + half].first)
            return true;
        else
            count = half;
    }
    return false;
}

int width_char(uint32_t code)
{
    if (code < 0x300)
        return code >= 0x20 && !(code >= 0x7f && code < 0xa0);
    if (is_in(width_zero, width_zero_count, code))
        return 0;
    return is_in(width_two, width_two_count, code) ? 2 : 1;
}

/* Behind a narrow character the emoji selector asks for the wide picture. */
size_t width_next(const char *text, size_t len, int *was, int *ret_width)
{
    uint32_t code;
    size_t n = utf8_decode(text, len, &code);
    if (!n)
        *ret_width = n = 1;
    else
        *ret_width = code == VS16 && *was == 1 ? 1 : width_char(code);
    *was = *ret_width ? *ret_width : *was;
    return n;
}

size_t width_text(const char *text, size_t len)
{
    size_t sum = 0;
    int width, was = 0;
    for (size_t i = 0; i < len; sum += (size_t)width)
        i += width_next(text + i, len - i, &was, &width);
    return sum;
}

void width_put_blank(struct buf *out, const char *text, size_t len)
{
    const char *end = text + len, *tab;
    for (; (tab = memchr(text, '\t', (size_t)(end - text))); text = tab + 1)
        buf_printf(out, "%*s\t", (int)width_text(text, (size_t)(tab - text)), "");
    buf_printf(out, "%*s", (int)width_text(text, (size_t)(end - text)), "");
}
