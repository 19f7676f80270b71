/* test_pieces.c - bytes that are cut by their content: what is the same is cut the same. */
#include "test.h"

#include "base/buf.h"
#include "base/hash.h"
#include "data/pack.h"
#include "data/pieces.h"

#include <string.h>

/* Bytes by chance, but always the same ones. */
static void put_noise(struct buf *buf, size_t len, uint64_t seed)
{
    for (size_t i = 0; i < len; i++)
        buf_putc(buf, (char)hash_add(hash_mix(seed), i));
}

static void put_words(struct buf *buf, size_t len, uint64_t seed)
{
    static const char *const words[] = { "the ", "loop ", "ends ", "when ", "nothing ", "is ", "left\n", "to do " };
    for (size_t start = buf->len, i = 0; buf->len < start + len; i++)
        buf_puts(buf, words[hash_add(hash_mix(seed), i) & 7]);
}

/* Hashes of all pieces, in their order. */
struct cuts {
    uint64_t hashes[4096];
    uint32_t count;
};

static void cut(struct cuts *cuts, const char *bytes, size_t len)
{
    cuts->count = 0;
    while (len) {
        size_t n = piece_len(bytes, len);
        CHECK(n > 0 && n <= len && n <= PIECE_MAX);
        CHECK(n >= PIECE_MIN || n == len);
        cuts->hashes[cuts->count++] = hash_bytes(0, bytes, n);
        bytes += n;
        len -= n;
    }
}

static uint32_t not_in(const struct cuts *these, const struct cuts *those)
{
    uint32_t missing = 0;
    for (uint32_t i = 0; i < these->count; i++) {
        uint32_t k = 0;
        while (k < those->count && those->hashes[k] != these->hashes[i])
            k++;
        missing += k == those->count;
    }
    return missing;
}

TEST(short_bytes_are_one_piece)
{
    auto_buf struct buf buf = { 0 };
    put_noise(&buf, PIECE_WHOLE, 1);
    for (size_t len = 0; len <= PIECE_WHOLE; len++)
        CHECK_UINT(piece_len(buf.data, len), len);
}

TEST(pieces_are_neither_too_short_nor_too_long_whatever_the_bytes_are)
{
    static struct cuts cuts;
    auto_buf struct buf buf = { 0 };
    put_noise(&buf, 1 << 20, 2);
    cut(&cuts, buf.data, buf.len);
    CHECK(cuts.count > 150 && cuts.count < 260); // about 5 KB each
    buf_clear(&buf);
    put_words(&buf, 1 << 20, 3);
    cut(&cuts, buf.data, buf.len);
    CHECK(cuts.count > 150 && cuts.count < 260);
    memset(buf.data, 'x', buf.len);
    cut(&cuts, buf.data, buf.len);
    memset(buf.data, 0, buf.len);
    cut(&cuts, buf.data, buf.len);
}

TEST(what_is_put_behind_changes_the_last_piece_only)
{
    static struct cuts before, after;
    auto_buf struct buf buf = { 0 };
    put_words(&buf, 100000, 4);
    cut(&after, buf.data, buf.len);
    for (int i = 0; i < 100; i++) {
        before = after;
        put_words(&buf, 5000, 5 + (uint64_t)i);
        cut(&after, buf.data, buf.len);
        CHECK(not_in(&before, &after) <= 1);
        CHECK(not_in(&after, &before) <= 7);
    }
}

TEST(a_change_in_the_middle_or_at_the_beginning_changes_few_pieces)
{
    static struct cuts before, after;
    auto_buf struct buf buf = { 0 };
    put_words(&buf, 1 << 20, 6);
    cut(&before, buf.data, buf.len);
    for (size_t at = 1000; at < buf.len - 1000; at += 99991) {
        buf.data[at] ^= 1;
        cut(&after, buf.data, buf.len);
        CHECK(not_in(&after, &before) <= 4);
        buf.data[at] ^= 1;
    }
    cut(&after, buf.data + 17, buf.len - 17); // everything is somewhere else now
    CHECK(not_in(&after, &before) <= 4);
}

TEST(long_texts_are_found_in_packed_values)
{
    auto_buf struct buf bytes = { 0 }, text = { 0 };
    put_words(&text, 2000, 7);
    json_t *value = json_pack("[s, {s:s%, s:[f, i, s%, b, n]}, s%, i]", "short", "a", text.data, (size_t)1023, "b",
                              1.5, 77777, text.data, (size_t)1024, 1, text.data, (size_t)2000, 5);
    size_t len, seen[2] = { 1024, 2000 };
    pack_put(&bytes, value);
    const char *at = bytes.data, *end = bytes.data + bytes.len, *found;
    for (int i = 0; i < 2; i++) {
        CHECK((found = pack_next_text(&at, end, 1024, &len)) != NULL);
        CHECK_UINT(len, seen[i]);
        CHECK_MEM(found, text.data, len);
    }
    CHECK_NULL(pack_next_text(&at, end, 1024, &len));
    CHECK_PTR(at, end);
    json_decref(value);
}

TEST(looking_for_texts_in_damaged_values_stays_inside)
{
    auto_buf struct buf text = { 0 };
    size_t len;
    put_noise(&text, 5000, 8);
    for (size_t from = 0; from < text.len; from++) {
        char *copy = mem_dup(text.data + from, text.len - from); // so that a sanitizer sees every step outside
        const char *at = copy, *end = copy + (text.len - from), *found;
        while ((found = pack_next_text(&at, end, 10, &len)))
            CHECK(found >= copy && len <= (size_t)(end - found));
        CHECK(at <= end);
        at = copy;
        pack_skip(&at, end);
        CHECK(at <= end);
        mem_free(copy);
    }
}
