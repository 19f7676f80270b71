/* crc32c.h - the checksum of the journal: CRC-32C (Castagnoli), which processors know how to do. */
#ifndef RONDO_CRC32C_H
#define RONDO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* The sum of everything summed so far (0: nothing) and of these bytes behind it. */
uint32_t crc32c(uint32_t sum, const void *bytes, size_t len);

/* The same without the processor's instruction: what crc32c() does where there is none. */
uint32_t crc32c_by_table(uint32_t sum, const void *bytes, size_t len);

#endif
