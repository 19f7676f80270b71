/* sha256.c - see sha256.h. */
#include "base/sha256.h"

#include "base/mem.h"

#include <string.h>

// The first bits behind the point of the cube and square roots of the first primes.
static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
    0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
    0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
    0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
    0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
    0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
    0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
    0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
    0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};
static const uint32_t start[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c,
    0x1f83d9ab, 0x5be0cd19,
};

static uint32_t turn(uint32_t x, unsigned n)
{
    return x >> n | x << (32 - n);
}

static void spread(const uint8_t block[64], uint32_t w[64])
{
    for (int i = 0; i < 16; i++, block += 4)
        w[i] = (uint32_t)block[0] << 24 | (uint32_t)block[1] << 16 | (uint32_t)block[2] << 8 | block[3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ a >> 3) + w[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ b >> 10);
    }
}

static void mix(uint32_t state[8], const uint8_t block[64])
{
    uint32_t w[64], s[8];
    spread(block, w);
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]);
        uint32_t most = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t a = s[7] + (turn(s[4], 6) ^ turn(s[4], 11) ^ turn(s[4], 25)) + choice + rounds[i] + w[i];
        uint32_t b = (turn(s[0], 2) ^ turn(s[0], 13) ^ turn(s[0], 22)) + most;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += a;
        s[0] = a + b;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void sha256_init(struct sha256 *sha)
{
    memcpy(sha->state, start, sizeof start);
    sha->len = 0;
}

void sha256_add(struct sha256 *sha, const void *bytes, size_t len)
{
    const uint8_t *at = bytes;
    while (len) {
        size_t there = sha->len % 64, n = MIN(64 - there, len);
        memcpy(sha->block + there, at, n);
        sha->len += n;
        at += n;
        len -= n;
        if (sha->len % 64 == 0)
            mix(sha->state, sha->block);
    }
}

void sha256_end(struct sha256 *sha, uint8_t ret[SHA256_BYTES])
{
    uint8_t tail[72] = { 0x80 };
    uint64_t bits = sha->len * 8;
    size_t zeros = (119 - sha->len % 64) % 64; // up to the last eight bytes of a block
    for (int i = 0; i < 8; i++)
        tail[1 + zeros + (size_t)i] = (uint8_t)(bits >> (56 - 8 * i));
    sha256_add(sha, tail, 1 + zeros + 8);
    for (int i = 0; i < SHA256_BYTES; i++)
        ret[i] = (uint8_t)(sha->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256_end_text(struct sha256 *sha, char ret[SHA256_TEXT])
{
    uint8_t hash[SHA256_BYTES];
    sha256_end(sha, hash);
    for (int i = 0; i < SHA256_BYTES; i++) {
        ret[2 * i] = "0123456789abcdef"[hash[i] >> 4];
        ret[2 * i + 1] = "0123456789abcdef"[hash[i] & 15];
    }
    ret[2 * SHA256_BYTES] = '\0';
}

void sha256_text(const void *bytes, size_t len, char ret[SHA256_TEXT])
{
    struct sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, bytes, len);
    sha256_end_text(&sha, ret);
}
