/* buf.c - bytes that grow by doubling. */
#include "base/buf.h"

#include <stdio.h>
#include <string.h>

void buf_free(struct buf *buf)
{
    mem_free(buf->data);
    *buf = (struct buf){ 0 };
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
}

void buf_reserve(struct buf *buf, size_t more)
{
    if (buf->cap - buf->len >= more)
        return;
    size_t cap = buf->cap ? buf->cap : 64;
    while (cap - buf->len < more)
        cap *= 2;
    buf->data = mem_realloc(buf->data, cap);
    buf->cap = cap;
}

void buf_put(struct buf *buf, const void *bytes, size_t len)
{
    if (!len)
        return;
    buf_reserve(buf, len);
    memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
}

void buf_puts(struct buf *buf, const char *text)
{
    buf_put(buf, text, strlen(text));
}

void buf_printf(struct buf *buf, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    buf_vprintf(buf, fmt, args);
    va_end(args);
}

void buf_vprintf(struct buf *buf, const char *fmt, va_list args)
{
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, fmt, args);
    if (n > 0) {
        buf_reserve(buf, (size_t)n + 1);
        vsnprintf(buf->data + buf->len, (size_t)n + 1, fmt, again);
        buf->len += (size_t)n;
    }
    va_end(again);
}

const char *buf_text(struct buf *buf)
{
    buf_reserve(buf, 1);
    buf->data[buf->len] = '\0';
    return buf->data;
}

char *buf_take(struct buf *buf)
{
    buf_text(buf);
    char *text = buf->data;
    *buf = (struct buf){ 0 };
    return text;
}

void buf_put_number(struct buf *buf, uint64_t n, int width)
{
    char digits[24];
    int len = 0;
    do
        digits[len++] = (char)('0' + n % 10);
    while (n /= 10);
    while (len < width)
        digits[len++] = '0';
    buf_reserve(buf, (size_t)len);
    while (len)
        buf->data[buf->len++] = digits[--len];
}

/* Length of the part that needs no escape. */
static size_t plain_length(const char *text, size_t len)
{
    size_t n = 0;
    while (n < len && (unsigned char)text[n] >= 0x20 && text[n] != '"' && text[n] != '\\')
        n++;
    return n;
}

void buf_put_json_string(struct buf *buf, const char *text, size_t len)
{
    static const char hex[] = "0123456789abcdef";
    buf_reserve(buf, len + 2);
    buf_putc(buf, '"');
    for (size_t i = 0; i < len; i++) {
        size_t plain = plain_length(text + i, len - i);
        buf_put(buf, text + i, plain);
        i += plain;
        if (i == len)
            break;
        unsigned char c = (unsigned char)text[i];
        buf_putc(buf, '\\');
        switch (c) {
        case '"': case '\\': buf_putc(buf, (char)c); break;
        case '\n': buf_putc(buf, 'n'); break;
        case '\t': buf_putc(buf, 't'); break;
        case '\r': buf_putc(buf, 'r'); break;
        default:
            buf_puts(buf, "u00");
            buf_putc(buf, hex[c >> 4]);
            buf_putc(buf, hex[c & 15]);
        }
    }
    buf_putc(buf, '"');
}
