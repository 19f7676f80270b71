/* hash.c - eight bytes at a time through hash_add(). */
#include "base/hash.h"

#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len)
{
    const char *at = bytes;
    uint64_t word;
    hash = hash_add(hash, len);
    for (; len >= 8; len -= 8, at += 8) {
        memcpy(&word, at, 8);
        hash = hash_add(hash, word);
    }
    if (!len)
        return hash;
    word = 0;
    memcpy(&word, at, len);
    return hash_add(hash, word);
}
