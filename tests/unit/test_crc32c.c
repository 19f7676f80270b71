/* test_crc32c.c - the checksum: known answers, and both ways of computing it. */
#include "test.h"

#include "base/crc32c.h"

#include <string.h>

TEST(crc32c_gives_the_published_sums)
{
    unsigned char bytes[32];
    CHECK_UINT(crc32c(0, "123456789", 9), 0xe3069283u);
    CHECK_UINT(crc32c(0, "", 0), 0);
    CHECK_UINT(crc32c(0, "a", 1), 0xc1d04330u);
    memset(bytes, 0, sizeof bytes); // these three are from RFC 3720, B.4
    CHECK_UINT(crc32c(0, bytes, 32), 0x8a9136aau);
    memset(bytes, 0xff, sizeof bytes);
    CHECK_UINT(crc32c(0, bytes, 32), 0x62a8ab43u);
    for (int i = 0; i < 32; i++)
        bytes[i] = (unsigned char)i;
    CHECK_UINT(crc32c(0, bytes, 32), 0x46dd794eu);
}

TEST(crc32c_is_the_same_by_instruction_and_by_table)
{
    unsigned char bytes[300];
    uint32_t sum = 0;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i + 3 * i);
    CHECK_UINT(crc32c_by_table(0, "123456789", 9), 0xe3069283u);
    for (size_t from = 0; from < 9; from++)
        for (size_t len = 0; from + len <= sizeof bytes; len++) {
            sum = crc32c(sum, bytes + from, len);
            CHECK_UINT(crc32c_by_table(7, bytes + from, len), crc32c(7, bytes + from, len));
        }
    CHECK(sum != 0);
}

TEST(crc32c_of_two_parts_is_that_of_the_whole)
{
    const char text[] = "a record vouches for everything before it";
    size_t len = strlen(text);
    for (size_t cut = 0; cut <= len; cut++)
        CHECK_UINT(crc32c(crc32c(0, text, cut), text + cut, len - cut), crc32c(0, text, len));
}
