/* test_kept.c - records whose long parts are kept elsewhere: what comes back is what was put in. */
#include "test.h"

#include "base/hash.h"
#include "data/pieces.h"
#include "run/codec.h"
#include "store/kept.h"

#include <string.h>

/* ---- a keeper in memory ----------------------------------------------------------------------------- */

#define SHELF_MAX 4096
#define KEPT_MAX  (8u << 20)

struct shelf {
    struct buf pieces[SHELF_MAX];
    uint32_t count;
    bool is_full;
    size_t bytes;
};
static struct shelf shelf;

static int64_t shelf_put(void *user, const char *bytes, size_t len, rondo_error *err)
{
    struct shelf *s = user;
    CHECK(len >= PIECE_MIN && len <= PIECE_MAX + PIECE_MIN);
    for (uint32_t i = 0; i < s->count; i++)
        if (s->pieces[i].len == len && memcmp(s->pieces[i].data, bytes, len) == 0)
            return i + 1;
    if (s->is_full)
        return err_set(err, RONDO_ESTORE, "the shelf is full");
    CHECK(s->count < SHELF_MAX);
    buf_put(&s->pieces[s->count], bytes, len);
    s->bytes += len;
    return ++s->count;
}

static int shelf_get(void *user, uint64_t num, struct buf *out, rondo_error *err)
{
    struct shelf *s = user;
    if (num > s->count)
        return err_set(err, RONDO_ESTORE, "there is no piece %llu", (unsigned long long)num);
    buf_put(out, s->pieces[num - 1].data, s->pieces[num - 1].len);
    return 0;
}

static const struct keeper keeper = { shelf_put, shelf_get, &shelf };

/* ---- helpers ---------------------------------------------------------------------------------------- */

static void put_words(struct buf *buf, size_t len, uint64_t seed)
{
    size_t end = buf->len + len;
    for (size_t i = 0; buf->len < end; i++)
        buf_printf(buf, "%llu ", (unsigned long long)hash_add(hash_mix(seed + 1), i) % 10000);
    buf->len = end;
}

static json_t *text_of(size_t len, uint64_t seed)
{
    auto_buf struct buf text = { 0 };
    put_words(&text, len, seed);
    return json_stringn(text.data, text.len);
}

static void put_record(struct buf *out, json_t *value, uint64_t seq)
{
    struct rondo_event events[] = { { .type = RONDO_EV_STEP_START, .seq = seq, .act = 3, .parent = 1 },
                                    { .type = RONDO_EV_STEP_END, .seq = seq + 1, .act = 3, .flags = EF_VALUE,
                                      .value = value } };
    buf_clear(out);
    codec_put_record(out, events, 2, 2, 1234567890123456789 + (int64_t)seq);
}

static size_t round_trip(const struct buf *record)
{
    static rondo_error err;
    auto_buf struct buf kept = { 0 }, back = { 0 };
    CHECK_INT(kept_put(&keeper, record->data, record->len, &kept, &err), 0);
    CHECK_INT(kept_get(&keeper, kept.data, kept.len, KEPT_MAX, &back, &err), 0);
    CHECK_UINT(back.len, record->len);
    CHECK_MEM(back.data, record->data, back.len);
    return kept.len;
}

/* ---- tests ------------------------------------------------------------------------------------------- */

TEST(records_without_long_parts_are_kept_as_they_are)
{
    auto_buf struct buf record = { 0 }, kept = { 0 };
    rondo_error err;
    json_t *value = json_pack("[o, o, o]", text_of(1000, 1), text_of(1023, 2), text_of(3, 3));
    put_record(&record, value, 5);
    CHECK_INT(kept_put(&keeper, record.data, record.len, &kept, &err), 0);
    CHECK_UINT(kept.len, record.len);
    CHECK_MEM(kept.data, record.data, kept.len);
    CHECK(!kept_has_pieces(kept.data, kept.len));
    CHECK_UINT(shelf.count, 0);
    json_decref(value);
}

TEST(a_text_is_kept_once_wherever_it_stands)
{
    auto_buf struct buf record = { 0 };
    json_t *text = text_of(3000, 1);
    for (int i = 0; i < 10; i++) {
        json_t *value = json_pack("{s:[i, O], s:O, s:s}", "list", i, text, "again", text, "other", "thing");
        put_record(&record, value, 5 + (uint64_t)i);
        CHECK(round_trip(&record) < 100);
        json_decref(value);
    }
    CHECK_UINT(shelf.count, 1);
    json_decref(text);
}

/* 100 calls with a conversation of 1 MB that grows by 5 KB: `keep` is what is written in all. */
static void converse(json_t *(*grow)(json_t *conversation, int call), size_t most_bytes)
{
    auto_buf struct buf record = { 0 };
    json_t *conversation = NULL;
    size_t kept = 0;
    for (int call = 0; call <= 100; call++) {
        conversation = grow(conversation, call);
        put_record(&record, conversation, 1 + 2 * (uint64_t)call);
        kept += round_trip(&record);
    }
    CHECK(record.len > 1450000);
    if (shelf.bytes + kept > most_bytes)
        FAIL("%zu bytes of pieces and %zu of records", shelf.bytes, kept);
    json_decref(conversation);
}

static json_t *grow_list(json_t *list, int call)
{
    if (!list)
        list = json_array();
    for (int i = 0; i < (call ? 1 : 200); i++)
        json_array_append_new(list, text_of(5000, json_array_size(list)));
    return list;
}

static json_t *grow_messages(json_t *list, int call)
{
    if (!list)
        list = json_array();
    for (int i = 0; i < (call ? 10 : 2000); i++)
        json_array_append_new(list, json_pack("{s:s, s:o}", "role", i & 1 ? "user" : "model", "content",
                                              text_of(475, json_array_size(list))));
    return list;
}

static json_t *grow_text(json_t *text, int call)
{
    auto_buf struct buf all = { 0 };
    if (text)
        buf_puts(&all, json_string_value(text));
    put_words(&all, call ? 5000 : 1000000, 77 + (uint64_t)call);
    json_decref(text);
    return json_stringn(all.data, all.len);
}

TEST(a_conversation_of_long_texts_grows_by_what_is_new)
{
    converse(grow_list, 1800000); // 1.5 MB are new
}

TEST(a_conversation_of_short_texts_grows_by_what_is_new)
{
    converse(grow_messages, 3000000); // and two pieces each time, one at either end
}

TEST(one_text_that_grows_does_so_by_what_is_new)
{
    converse(grow_text, 2200000); // and one piece
}

TEST(bytes_that_are_no_record_come_back_too)
{
    auto_buf struct buf bytes = { 0 };
    for (size_t len = 0; len < 100000; len = len * 3 / 2 + 1)
        for (int first = 0; first < 3; first++) {
            buf_clear(&bytes);
            put_words(&bytes, len, len);
            if (len)
                bytes.data[0] = (char)first;
            round_trip(&bytes);
        }
}

TEST(what_cannot_be_kept_is_an_error)
{
    auto_buf struct buf record = { 0 }, kept = { 0 };
    rondo_error err;
    json_t *value = text_of(2000, 1);
    put_record(&record, value, 1);
    shelf.is_full = true;
    CHECK_INT(kept_put(&keeper, record.data, record.len, &kept, &err), RONDO_ESTORE);
    CHECK_STR(err.message, "the shelf is full");
    json_decref(value);
}

TEST(how_many_events_there_are_is_known_without_getting_them)
{
    auto_buf struct buf record = { 0 }, kept = { 0 };
    rondo_error err;
    for (size_t len = 10; len < 100000; len *= 10) {
        json_t *value = text_of(len, 1);
        put_record(&record, value, 1);
        buf_clear(&kept);
        CHECK_INT(kept_put(&keeper, record.data, record.len, &kept, &err), 0);
        CHECK_UINT(kept_count(kept.data, kept.len), 2);
        json_decref(value);
    }
    CHECK_UINT(kept_count("", 0), 0);
    CHECK_UINT(kept_count("", 1), 0);
}

TEST(the_numbers_of_the_pieces_can_be_listed)
{
    auto_buf struct buf record = { 0 }, kept = { 0 };
    rondo_error err;
    json_t *value = json_pack("[o, i, o, o]", text_of(2000, 1), 5, text_of(3000, 2), text_of(2000, 1));
    const char *at = NULL;
    put_record(&record, value, 1);
    CHECK_INT(kept_put(&keeper, record.data, record.len, &kept, &err), 0);
    CHECK_UINT(kept_next(kept.data, kept.len, &at), 1);
    CHECK_UINT(kept_next(kept.data, kept.len, &at), 2);
    CHECK_UINT(kept_next(kept.data, kept.len, &at), 1);
    CHECK_UINT(kept_next(kept.data, kept.len, &at), 0);
    at = NULL;
    CHECK_UINT(kept_next(record.data, record.len, &at), 0); // as it is
    json_decref(value);
}

/* Every bit of what is kept and of its pieces, and every end too early. */
TEST(damage_is_noticed)
{
    auto_buf struct buf record = { 0 }, kept = { 0 }, back = { 0 };
    rondo_error err;
    json_t *value = json_pack("[o, i, o, o]", text_of(2000, 1), 5, text_of(3000, 2), text_of(2000, 3));
    put_record(&record, value, 1);
    CHECK_INT(kept_put(&keeper, record.data, record.len, &kept, &err), 0);
    for (size_t bit = 8; bit < kept.len * 8; bit++) { // the first byte says how to read the others
        char *copy = mem_dup(kept.data, kept.len);
        copy[bit / 8] ^= (char)(1 << bit % 8);
        buf_clear(&back);
        CHECK_INT(kept_get(&keeper, copy, kept.len, KEPT_MAX, &back, &err), RONDO_ESTORE);
        const char *at = NULL;
        for (int i = 0; kept_next(copy, kept.len, &at); i++)
            CHECK(i < 1000);
        mem_free(copy);
    }
    for (uint32_t i = 0; i < shelf.count; i++)
        for (size_t bit = 0; bit < shelf.pieces[i].len * 8; bit++) {
            shelf.pieces[i].data[bit / 8] ^= (char)(1 << bit % 8);
            buf_clear(&back);
            CHECK_INT(kept_get(&keeper, kept.data, kept.len, KEPT_MAX, &back, &err), RONDO_ESTORE);
            CHECK_STR(err.message, "one of its pieces is damaged");
            shelf.pieces[i].data[bit / 8] ^= (char)(1 << bit % 8);
        }
    for (size_t len = 1; len < kept.len; len++) {
        char *copy = mem_dup(kept.data, len);
        CHECK_INT(kept_get(&keeper, copy, len, KEPT_MAX, &back, &err), RONDO_ESTORE);
        mem_free(copy);
    }
    json_decref(value);
}
