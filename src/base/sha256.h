/* sha256.h - a hash that nobody can choose a second text for (FIPS 180-4). */
#ifndef RONDO_SHA256_H
#define RONDO_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_BYTES 32
#define SHA256_TEXT  65 // hexadecimal, with the NUL

/* In the owner's storage. */
struct sha256 {
    uint32_t state[8];
    uint64_t len;
    uint8_t block[64];
};

void sha256_init(struct sha256 *sha);
void sha256_add(struct sha256 *sha, const void *bytes, size_t len);
void sha256_end(struct sha256 *sha, uint8_t ret[SHA256_BYTES]);
void sha256_end_text(struct sha256 *sha, char ret[SHA256_TEXT]); // in small letters

void sha256_text(const void *bytes, size_t len, char ret[SHA256_TEXT]); // of one text

#endif
