/* test_blob.c - long texts in a store: kept once, found again, and noticed when they are damaged. */
#include "base/hash.h"
#include "data/pieces.h"
#include "store/blob.h"
#include "talks.h"

#include <string.h>

/* ---- figures ------------------------------------------------------------------------------------------ */

#define UNIQUE_BYTES 1500000
#define CALLS        100

/* 100 calls with a conversation of 1 MB that grows by 5 KB, the whole of it being each step's result (D9): how
   large the file is then, without what is free in it. */
static int64_t converse(json_t *(*grow)(json_t *conversation, int call))
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "talk");
    json_t *conversation = NULL;
    for (int call = 0; call <= CALLS; call++) {
        conversation = grow(conversation, call);
        talk_append(journal, conversation);
        commit(store);
    }
    talk_check(journal, conversation); // the last one comes back as it was
    json_decref(conversation);
    close_journal(journal);
    must(store_tidy(store, &talk_err));
    json_t *usage;
    must(store_usage(store, NULL, &usage, &talk_err));
    int64_t used = json_integer_value(json_object_get(usage, "file")) -
                   json_integer_value(json_object_get(usage, "free"));
    json_decref(usage);
    store_close(store);
    if (talk_file_size() > 2 * UNIQUE_BYTES)
        FAIL("the file has %lld bytes", (long long)talk_file_size());
    return used;
}

static json_t *grow_list(json_t *list, int call)
{
    if (!list)
        list = json_array();
    for (int i = 0; i < (call ? 1 : 200); i++)
        json_array_append_new(list, talk_text(5000, json_array_size(list)));
    return list;
}

static json_t *grow_text(json_t *text, int call)
{
    auto_buf struct buf all = { 0 };
    json_t *more = talk_text(call ? 5000 : 1000000, 77 + (uint64_t)call);
    if (text)
        buf_puts(&all, json_string_value(text));
    buf_puts(&all, json_string_value(more));
    json_decref(text);
    json_decref(more);
    return json_stringn(all.data, all.len);
}

TEST(a_conversation_that_grows_takes_what_is_new)
{
    int64_t used = converse(grow_list);
    if (used > UNIQUE_BYTES * 12 / 10 + CALLS * 300)
        FAIL("%lld bytes", (long long)used);
}

TEST(a_text_that_grows_takes_little_more_than_what_is_new)
{
    int64_t used = converse(grow_text);
    if (used > UNIQUE_BYTES * 18 / 10)
        FAIL("%lld bytes", (long long)used);
}

/* ---- keeping ------------------------------------------------------------------------------------------- */

static int64_t count_pieces(void)
{
    return test_sql_number("SELECT count(*) FROM blob");
}

TEST(runs_share_the_texts_that_they_have_in_common)
{
    struct store *store = test_store(STORE_CREATE);
    json_t *text = talk_text(3000, 1);
    for (int i = 0; i < 5; i++) {
        struct journal *journal = test_run(store, (const char *[]){ "a", "b", "c", "d", "e" }[i]);
        talk_append(journal, text);
        commit(store);
        close_journal(journal);
    }
    store_close(store);
    CHECK_INT(count_pieces(), 1);
    json_decref(text);
}

TEST(a_batch_that_is_undone_leaves_no_texts)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "a");
    commit(store);
    json_t *text = talk_text(3000, 1);
    talk_append(journal, text);
    store_rollback(store);
    close_journal(journal);
    store_close(store);
    CHECK_INT(count_pieces(), 0);
    json_decref(text);
}

/* hash_bytes() can be turned back word by word: for any first word there is a second one that leads to the same. */
static void make_twins(char a[PIECE_MIN], char b[PIECE_MIN])
{
    uint64_t words[2] = { 0x6161616161616161, 0x6262626262626262 }, h = hash_add(0, PIECE_MIN);
    memset(a, 'x', PIECE_MIN);
    memcpy(a, words, sizeof words);
    memcpy(b, a, PIECE_MIN);
    uint64_t other = 0x6363636363636363, second = words[1] + hash_add(h, words[0]) - hash_add(h, other);
    memcpy(b, &other, 8);
    memcpy(b + 8, &second, 8);
    CHECK_UINT(hash_bytes(0, a, PIECE_MIN), hash_bytes(0, b, PIECE_MIN));
}

TEST(two_texts_of_one_hash_are_two)
{
    struct store *store = test_store(STORE_CREATE);
    struct keeper keeper = blob_keeper(store);
    auto_buf struct buf out = { 0 };
    char a[PIECE_MIN], b[PIECE_MIN];
    make_twins(a, b);
    for (int i = 0; i < 2; i++) { // the second time they are there
        CHECK_INT(keeper.put(store, a, sizeof a, &talk_err), 1);
        CHECK_INT(keeper.put(store, b, sizeof b, &talk_err), 2);
    }
    CHECK_INT(keeper.get(store, 1, &out, &talk_err), 0);
    CHECK_INT(keeper.get(store, 2, &out, &talk_err), 0);
    CHECK_MEM(out.data, a, sizeof a);
    CHECK_MEM(out.data + sizeof a, b, sizeof b);
    CHECK_INT(keeper.get(store, 3, &out, &talk_err), RONDO_ESTORE);
    store_close(store);
}

/* ---- damage ---------------------------------------------------------------------------------------------- */

static void read_damaged(const char *sql, const char *why)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "a");
    struct journal_pos pos = { .seq = 1 };
    json_t *text = talk_text(5000, 1);
    const char *record;
    size_t len;
    talk_append(journal, json_null());
    talk_append(journal, text);
    commit(store);
    close_journal(journal);
    store_close(store);
    test_sql(sql);
    store = test_store(STORE_CREATE);
    CHECK_INT(store_look(store, "a", &journal, &talk_err), 0);
    CHECK_INT(journal->ops->read(journal, &pos, &record, &len, &talk_err), 1);
    CHECK_INT(journal->ops->read(journal, &pos, &record, &len, &talk_err), RONDO_ESTORE);
    if (!strstr(talk_err.message, "event 2 of run 'a' is damaged") || !strstr(talk_err.message, why))
        FAIL("%s", talk_err.message);
    close_journal(journal);
    store_close(store);
    json_decref(text);
}

TEST(a_text_that_was_changed_is_noticed)
{
    read_damaged("UPDATE blob SET bytes = cast('X' || substr(bytes, 2) AS BLOB)", "one of its pieces is damaged");
}

TEST(a_text_that_is_gone_is_noticed)
{
    read_damaged("DELETE FROM blob", "piece 1 of it is missing");
}

TEST(a_text_that_was_cut_off_is_noticed)
{
    read_damaged("UPDATE blob SET bytes = substr(bytes, 1, 100)", "one of its pieces is damaged");
}
