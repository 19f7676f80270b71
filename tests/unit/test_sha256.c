/* test_sha256.c - hashes of texts of many lengths, as another program counts them. */
#include "test.h"

#include "base/sha256.h"

#include <string.h>

static const struct {
    size_t len;
    const char *hash;
} rows[] = {
    { 0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
    { 1, "4bf5122f344554c53bde2ebb8cd2b7e3d1600ad631c385a5d7cce23c7785459a" },
    { 3, "6ab0dba1f4f1dfbb37b4f9eeb092c09fca4900ad32bdcd147d8dde35d6c87c35" },
    { 55, "81afe5b788dc2ce138ff83d9b20164db75a94d75d2b2432eea4a0ef605088c72" },
    { 56, "2aba54f0ac632420a2b502431408866e40e1d5e430df4cd822642c78ab2eb9c1" },
    { 57, "903284efbf9100e8ba1614ec65eacacad125e03f857cae7acbf8b73b23e0fdfe" },
    { 63, "733d3d4ee79ee67145bf73da13588f6f235d37414fc64b14a2f00f1762792f5e" },
    { 64, "79322907b3e9d013d7dc2c2f256674dbf733045cde01df3539271c6f5605feb8" },
    { 65, "d85c007c6eb440f085afa2b84f6f2bce4658b240e9f62cb1364bf0485a57e720" },
    { 119, "6c87eedf096b345de205b702e5223b73b447a3207791ded3ea007ba15ed6736e" },
    { 120, "42500cf6a1e3936d6b9e0bcfe296d654b63255e525487d3634d0b15fde591c4d" },
    { 127, "68f6ff710276900c0ffbbc57426f67e00c2e01f0750c7edc25ac06b8ce7a8095" },
    { 128, "489d55fea9a73af36b6dd0be7b4117d8e5683386d39544e8a44c99a87f368707" },
    { 1000, "6b0df76627243d095b0c4400cb658b7e804dd03461cc03aee8fc8fe0bcada168" },
};

TEST(hashes_are_right_at_every_border_of_blocks)
{
    char text[SHA256_TEXT];
    uint8_t bytes[1000];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        for (size_t k = 0; k < rows[i].len; k++)
            bytes[k] = (uint8_t)(k * 7 + rows[i].len);
        sha256_text(bytes, rows[i].len, text);
        CHECK_STR(text, rows[i].hash);
    }
}

TEST(it_does_not_matter_how_a_text_is_cut)
{
    uint8_t one[SHA256_BYTES], two[SHA256_BYTES];
    char text[300];
    memset(text, 'x', sizeof text);
    struct sha256 sha;
    sha256_init(&sha);
    sha256_add(&sha, text, sizeof text);
    sha256_end(&sha, one);
    for (size_t cut = 0; cut <= sizeof text; cut++) {
        sha256_init(&sha);
        sha256_add(&sha, text, cut);
        sha256_add(&sha, text + cut, sizeof text - cut);
        sha256_end(&sha, two);
        CHECK_MEM(two, one, sizeof one);
    }
}
