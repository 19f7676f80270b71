/* runes.h - UTF-8, code point by code point. */
#ifndef RONDO_CEL_RUNES_H
#define RONDO_CEL_RUNES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RUNE_WRONG 0xfffd

/* Reads one code point from len > 0 bytes and returns how many bytes it has; bytes that are no
   UTF-8 give RUNE_WRONG and 1. */
size_t runes_read(const char *text, size_t len, uint32_t *ret);
size_t runes_write(char *out, uint32_t rune);   // up to 4 bytes; returns how many
bool runes_is_valid(const char *text, size_t len);
size_t runes_count(const char *text, size_t len);   // of valid UTF-8
size_t runes_offset(const char *text, size_t len,
                    size_t n);   // the byte where code point n begins
size_t runes_fit(const char *text, size_t len,
                 size_t max);         // at most max bytes, no code point cut
bool runes_is_space(uint32_t rune);   // Unicode's White_Space

#endif
