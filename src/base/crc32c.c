/* crc32c.c - CRC-32C, eight bytes at a time.

   With SSE 4.2 by the processor's instruction; elsewhere by one table for each of the eight bytes of a
   step ("slicing by 8").  The tables are made when they are first needed: whoever makes them makes
   the same, so two threads may do it at once. */
#include "base/crc32c.h"

#include "base/mem.h"

#include <string.h>
#if defined(__x86_64__) && defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
#include <sys/platform/x86.h>
#endif

#define POLYNOMIAL 0x82f63b78u // 0x1edc6f41, its bits turned round

static uint32_t tables[8][256];
static int ready; // set behind the tables

static APART void make_tables(void)
{
    for (uint32_t n = 0; n < 256; n++) {
        uint32_t x = n;
        for (int bit = 0; bit < 8; bit++)
            x = x >> 1 ^ (x & 1 ? POLYNOMIAL : 0);
        __atomic_store_n(&tables[0][n], x, __ATOMIC_RELAXED);
    }
    for (int k = 1; k < 8; k++)
        for (uint32_t n = 0; n < 256; n++) {
            uint32_t x = tables[k - 1][n];
            __atomic_store_n(&tables[k][n], x >> 8 ^ tables[0][x & 255], __ATOMIC_RELAXED);
        }
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
}

static uint64_t eight(const unsigned char *at)
{
    uint64_t n = 0;
    for (int i = 0; i < 8; i++)
        n |= (uint64_t)at[i] << (8 * i);
    return n;
}

uint32_t crc32c_by_table(uint32_t sum, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        make_tables();
    sum = ~sum;
    for (; len >= 8; at += 8, len -= 8) {
        uint64_t n = eight(at) ^ sum;
        sum = 0;
        for (int k = 0; k < 8; k++)
            sum ^= tables[7 - k][n >> (8 * k) & 255];
    }
    for (; len; at++, len--)
        sum = sum >> 8 ^ tables[0][(sum ^ *at) & 255];
    return ~sum;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t sum, const void *bytes, size_t len)
{
    const unsigned char *at = bytes;
    uint64_t wide = (uint32_t)~sum, n;
    for (; len >= 8; at += 8, len -= 8) {
        memcpy(&n, at, 8);
        wide = __builtin_ia32_crc32di(wide, n);
    }
    sum = (uint32_t)wide;
    for (; len; at++, len--)
        sum = __builtin_ia32_crc32qi(sum, *at);
    return ~sum;
}

/* The C library has asked the processor already.  The compiler's own way asks it again in every program that is
   started, and in a virtual machine the question takes longer than all that rondo does before its first step. */
static bool has_instruction(void)
{
#if defined(CPU_FEATURE_ACTIVE)
    return CPU_FEATURE_ACTIVE(SSE4_2);
#else
    return __builtin_cpu_supports("sse4.2");
#endif
}

uint32_t crc32c(uint32_t sum, const void *bytes, size_t len)
{
    if (has_instruction())
        return by_instruction(sum, bytes, len);
    return crc32c_by_table(sum, bytes, len);
}
#else
uint32_t crc32c(uint32_t sum, const void *bytes, size_t len)
{
    return crc32c_by_table(sum, bytes, len);
}
#endif
