/* buf.h - bytes that grow. */
#ifndef RONDO_BUF_H
#define RONDO_BUF_H

#include "base/mem.h"

#include <stdarg.h>

/* Lives in its owner's storage; all zero is an empty one.  data is NUL-terminated only after
   buf_text(). */
struct buf {
    char *data;
    size_t len, cap;
};

#define auto_buf __attribute__((cleanup(buf_free)))

void buf_free(struct buf *buf);  // gives the memory back; ready for reuse
void buf_clear(struct buf *buf); // keeps the memory
void buf_reserve(struct buf *buf, size_t more);
void buf_put(struct buf *buf, const void *bytes, size_t len);
void buf_puts(struct buf *buf, const char *text);
void buf_printf(struct buf *buf, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *buf, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));
const char *buf_text(struct buf *buf);              // NUL-terminated, borrowed until the next change
char *buf_take(struct buf *buf);                    // NUL-terminated, the caller's; buf is empty again
void buf_put_json_string(struct buf *buf, const char *text, size_t len); // quoted and escaped
void buf_put_number(struct buf *buf, uint64_t n, int width);             // with leading zeros

static inline void buf_putc(struct buf *buf, char c)
{
    if (UNLIKELY(buf->len == buf->cap))
        buf_reserve(buf, 1);
    buf->data[buf->len++] = c;
}

/* Numbers of seven bits a byte, least first; the last byte has no high bit. */
#define VARINT_MAX 10

static inline char *varint_put(char *at, uint64_t n)
{
    while (n >= 0x80) {
        *at++ = (char)(n | 0x80);
        n >>= 7;
    }
    *at++ = (char)n;
    return at;
}

/* Reads from *at, never past end; false when the bytes end early or do not fit 64 bits. */
static inline bool varint_get(const char **at, const char *end, uint64_t *ret)
{
    uint64_t n = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = (uint8_t) * (*at)++;
        if (shift == 63 && byte > 1)
            return false;
        n |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) {
            *ret = n;
            return true;
        }
    }
    return false;
}

/* Eight bytes, least first. */
static inline char *u64_put(char *at, uint64_t n)
{
    for (int i = 0; i < 8; i++)
        at[i] = (char)(n >> (8 * i));
    return at + 8;
}

static inline bool u64_get(const char **at, const char *end, uint64_t *ret)
{
    uint64_t n = 0;
    if (end - *at < 8)
        return false;
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)(uint8_t)(*at)[i] << (8 * i);
    *at += 8;
    *ret = n;
    return true;
}

static inline uint64_t zigzag(int64_t n)
{
    return ((uint64_t)n << 1) ^ (uint64_t)(n >> 63);
}

static inline int64_t unzigzag(uint64_t n)
{
    return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

#endif
