/* hash.h - mixing bits: jitter, idempotency keys, repeat detection.  Not for secrets. */
#ifndef RONDO_HASH_H
#define RONDO_HASH_H

#include <stddef.h>
#include <stdint.h>

/* One round of a well-tried 64-bit finaliser: every input bit reaches every output bit. */
static inline uint64_t hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Folds one more number into a hash; the order matters. */
static inline uint64_t hash_add(uint64_t hash, uint64_t n)
{
    return hash_mix(hash + 0x9e3779b97f4a7c15u + n);
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t len);

#endif
