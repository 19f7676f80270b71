/* test_transfer.c - a run as a file and back; files that somebody made up. */
#include "base/crc32c.h"
#include "base/hash.h"
#include "io/file.h"
#include "talks.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char file[80];

static void forget_file(void)
{
    unlink(file);
}

static const char *file_path(void)
{
    if (!file[0]) {
        snprintf(file, sizeof file, "%s.run", test_store_path());
        atexit(forget_file);
    }
    return file;
}

static void write_bytes(const char *bytes, size_t len)
{
    unlink(file_path()); // quicker than to write over it
    int fd = open(file_path(), O_WRONLY | O_CREAT | O_EXCL, 0600);
    CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

static void read_bytes(struct buf *out)
{
    buf_clear(out);
    CHECK_INT(file_read(file_path(), 1 << 30, out, &talk_err), 0);
}

/* A run with a definition, `count` records and what lists show of it. */
static void put_run(struct store *store, const char *id, int count, size_t len)
{
    struct journal *journal;
    auto_buf struct buf definition = { 0 };
    struct store_run run = { .id = id, .name = "flow", .session = "s", .start_ns = 11, .hash = UINT64_MAX - 3 };
    buf_put(&definition, "steps:\n  - id: \0x", 17);
    must(store_add(store, &run, definition.data, definition.len, &journal, &talk_err));
    json_t *list = json_array();
    for (int i = 0; i < count; i++) {
        json_array_append_new(list, talk_text(len, (uint64_t)i));
        talk_append(journal, list);
    }
    run.status = RONDO_STATUS_FAILED;
    run.waiting = true;
    run.end_ns = 22;
    run.last_seq = (uint64_t)count;
    run.about = json_pack("{s:i, s:s}", "exit", 1, "error", "no luck");
    must(store_sum_up(journal, &run, &talk_err));
    commit(store);
    close_journal(journal);
    commit(store);
    json_decref(list);
    json_decref(run.about);
}

static int import(struct store *store, const char *expected_id)
{
    auto_free char *id = NULL;
    int rc = store_import(store, file_path(), &id, &talk_err);
    if (rc == 0)
        CHECK_STR(id, expected_id);
    else
        CHECK_NULL(id);
    return rc;
}

static uint32_t count_runs(struct store *store)
{
    json_t *usage;
    must(store_usage(store, NULL, &usage, &talk_err));
    uint32_t n = (uint32_t)json_integer_value(json_object_get(usage, "runs"));
    json_decref(usage);
    return n;
}

/* ---- there and back ------------------------------------------------------------------------------------ */

TEST(a_run_comes_back_as_it_was)
{
    struct store *store = test_store(STORE_CREATE);
    auto_buf struct buf first = { 0 }, second = { 0 };
    struct journal *journal;
    size_t len;
    put_run(store, "r1", 20, 3000);
    must(store_export(store, "r1", file_path(), &talk_err));
    struct stat st;
    CHECK(stat(file_path(), &st) == 0 && (st.st_mode & 0777) == 0600);
    CHECK(st.st_size < 70000); // 60,000 bytes of texts, each once
    must(store_remove(store, "r1", &talk_err));
    CHECK_INT(import(store, "r1"), 0);
    must(store_look(store, "r1", &journal, &talk_err));
    const struct store_run *run = store_about(journal);
    CHECK_STR(run->id, "r1");
    CHECK_STR(run->name, "flow");
    CHECK_STR(run->session, "s");
    CHECK_INT(run->status, RONDO_STATUS_FAILED);
    CHECK(run->waiting);
    CHECK_INT(run->start_ns, 11);
    CHECK_INT(run->end_ns, 22);
    CHECK_UINT(run->hash, UINT64_MAX - 3);
    CHECK_UINT(run->last_seq, 20);
    CHECK_STR(run->holder, "");
    CHECK_STR(json_string_value(json_object_get(run->about, "error")), "no luck");
    CHECK_MEM(store_definition(journal, &len), "steps:\n  - id: \0x", 17);
    CHECK_UINT(len, 17);
    CHECK_UINT(talk_count(journal), 20);
    close_journal(journal);
    read_bytes(&first);
    unlink(file_path());
    must(store_export(store, "r1", file_path(), &talk_err));
    read_bytes(&second);
    CHECK_UINT(second.len, first.len);
    CHECK_MEM(second.data, first.data, first.len); // byte for byte
    struct journal *again;
    must(store_take(store, "r1", &again, &talk_err)); // and it can go on
    talk_append(again, json_null());
    commit(store);
    close_journal(again);
    store_close(store);
}

TEST(a_fork_takes_its_past_along)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *from, *journal;
    const struct store_run run = { .id = "fork", .name = "flow", .session = "" };
    json_t *value = json_string("own");
    put_run(store, "r1", 5, 3000);
    must(store_look(store, "r1", &from, &talk_err));
    must(store_fork(from, 3, &run, NULL, 0, &journal, &talk_err));
    talk_append(journal, value);
    commit(store);
    close_journal(journal);
    close_journal(from);
    commit(store);
    must(store_export(store, "fork", file_path(), &talk_err));
    must(store_remove(store, "fork", &talk_err));
    must(store_remove(store, "r1", &talk_err));
    CHECK_INT(import(store, "fork"), 0);
    must(store_look(store, "fork", &journal, &talk_err));
    CHECK_UINT(talk_count(journal), 4);
    talk_check(journal, value);
    CHECK_INT(store_about(journal)->parent, 0);
    close_journal(journal);
    store_close(store);
    json_decref(value);
}

TEST(a_conversation_is_not_longer_in_a_file)
{
    struct store *store = test_store(STORE_CREATE);
    struct stat st;
    put_run(store, "talk", 200, 5000); // 1 MB, in all versions 100 MB
    must(store_export(store, "talk", file_path(), &talk_err));
    CHECK(stat(file_path(), &st) == 0 && st.st_size < 1400000);
    must(store_remove(store, "talk", &talk_err));
    CHECK_INT(import(store, "talk"), 0);
    store_close(store);
}

TEST(what_is_there_is_not_overwritten)
{
    struct store *store = test_store(STORE_CREATE);
    auto_buf struct buf bytes = { 0 };
    put_run(store, "r1", 1, 10);
    write_bytes("mine", 4);
    CHECK_INT(store_export(store, "r1", file_path(), &talk_err), RONDO_EFAILED);
    CHECK(strstr(talk_err.message, "File exists"));
    read_bytes(&bytes);
    CHECK_UINT(bytes.len, 4);
    unlink(file_path());
    must(store_export(store, "r1", file_path(), &talk_err));
    CHECK_INT(import(store, "r1"), RONDO_EEXISTS); // its id is taken
    CHECK(strstr(talk_err.message, "r1"));
    CHECK_UINT(count_runs(store), 1);
    CHECK_INT(store_export(store, "nobody", file_path(), &talk_err), RONDO_ENOTFOUND);
    store_close(store);
}

TEST(a_damaged_run_is_not_exported)
{
    struct store *store = test_store(STORE_CREATE);
    put_run(store, "r1", 3, 3000);
    store_close(store);
    test_sql("DELETE FROM blob WHERE num = 2");
    store = test_store(STORE_CREATE);
    CHECK_INT(store_export(store, "r1", file_path(), &talk_err), RONDO_ESTORE);
    CHECK(access(file_path(), F_OK) < 0); // and no half of a file is left
    store_close(store);
}

/* ---- files that are wrong -------------------------------------------------------------------------------- */

/* A small file of the run "r1", which is then no more in the store. */
static struct store *with_file(struct buf *ret)
{
    struct store *store = test_store(STORE_CREATE);
    put_run(store, "r1", 3, 1100);
    must(store_export(store, "r1", file_path(), &talk_err));
    must(store_remove(store, "r1", &talk_err));
    read_bytes(ret);
    return store;
}

TEST(a_flipped_bit_is_noticed_wherever_it_is)
{
    auto_buf struct buf bytes = { 0 };
    struct store *store = with_file(&bytes);
    size_t step = 1; // every bit at the beginning, then one of each byte
    for (size_t bit = 0; bit < bytes.len * 8; bit += step) {
        step = bit < 300 * 8 || bit > (bytes.len - 50) * 8 ? 1 : 7;
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
        write_bytes(bytes.data, bytes.len);
        CHECK_INT(import(store, ""), RONDO_EINVAL);
        bytes.data[bit / 8] ^= (char)(1 << bit % 8);
    }
    CHECK_UINT(count_runs(store), 0);
    store_close(store);
}

TEST(every_file_that_is_cut_off_is_noticed)
{
    auto_buf struct buf bytes = { 0 };
    struct store *store = with_file(&bytes);
    for (size_t len = 0; len < bytes.len; len += len < 300 || len > bytes.len - 50 ? 1 : 13) {
        write_bytes(bytes.data, len);
        CHECK_INT(import(store, ""), RONDO_EINVAL);
    }
    buf_put(&bytes, "x", 1);
    write_bytes(bytes.data, bytes.len);
    CHECK_INT(import(store, ""), RONDO_EINVAL);
    CHECK_UINT(count_runs(store), 0);
    store_close(store);
}

static void put_right_sum(struct buf *bytes)
{
    uint32_t sum = crc32c(0, bytes->data, bytes->len - 6);
    for (int i = 0; i < 4; i++)
        bytes->data[bytes->len - 4 + (size_t)i] = (char)(sum >> (8 * i));
}

/* Somebody who knows how to make the sum right: whatever is taken in is a run that can be read. */
TEST(changed_files_with_the_right_sum_are_refused_or_are_runs)
{
    auto_buf struct buf bytes = { 0 }, copy = { 0 };
    struct store *store = with_file(&bytes);
    for (uint64_t i = 0; i < 1000; i++) {
        buf_clear(&copy);
        buf_put(&copy, bytes.data, bytes.len);
        for (uint64_t k = 0; k < 1 + i % 3; k++)
            copy.data[12 + hash_add(i, k) % (bytes.len - 18)] = (char)hash_add(k, i);
        put_right_sum(&copy);
        write_bytes(copy.data, copy.len);
        auto_free char *id = NULL;
        int rc = store_import(store, file_path(), &id, &talk_err);
        CHECK(rc == 0 || rc == RONDO_EINVAL || rc == RONDO_ESTORE);
        if (rc < 0) {
            CHECK(!store_has_batch(store));
            continue;
        }
        struct journal *journal;
        must(store_look(store, id, &journal, &talk_err));
        CHECK(talk_count(journal) > 0);
        close_journal(journal);
        must(store_remove(store, id, &talk_err));
    }
    CHECK_UINT(count_runs(store), 0);
    store_close(store);
}

static void refuses(struct store *store, const struct buf *items, const char *why)
{
    auto_buf struct buf bytes = { 0 };
    buf_puts(&bytes, "rondo run 1\n");
    buf_put(&bytes, items->data, items->len);
    buf_put(&bytes, "E\4....", 6);
    put_right_sum(&bytes);
    write_bytes(bytes.data, bytes.len);
    CHECK_INT(import(store, ""), RONDO_EINVAL);
    if (!strstr(talk_err.message, why))
        FAIL("%s", talk_err.message);
}

/* A map of five packed keys would do; here the one of a real file is taken over. */
static size_t about_len(const struct buf *bytes)
{
    const char *at = bytes->data + 13, *end = bytes->data + bytes->len;
    uint64_t len;
    CHECK(bytes->data[12] == 'A' && varint_get(&at, end, &len));
    return (size_t)(at + len - bytes->data) - 12;
}

TEST(made_up_files_are_refused_with_a_reason)
{
    auto_buf struct buf bytes = { 0 }, items = { 0 };
    struct store *store = with_file(&bytes);
    size_t about = about_len(&bytes);
    refuses(store, &items, "does not say which run it is");
    buf_put(&items, "A\1\0", 3);
    refuses(store, &items, "makes no sense");
    buf_clear(&items);
    buf_put(&items, bytes.data + 12, about);
    refuses(store, &items, "has no events");
    buf_puts(&items, "Zx");
    refuses(store, &items, "an item has no length that fits");
    items.len = about;
    buf_put(&items, "Z\0", 2);
    refuses(store, &items, "is not known");
    items.len = about;
    buf_put(&items, "R\10....\1abc", 10); // a record that is none
    refuses(store, &items, "event 1 is damaged");
    items.len = about;
    buf_put(&items, "R\15....\0\1....\2\0\1", 15); // a piece that is not there
    refuses(store, &items, "piece 1 of it is missing");
    CHECK_UINT(count_runs(store), 0);
    store_close(store);
}

static void put_item(struct buf *items, char tag, const struct buf *bytes)
{
    char len[VARINT_MAX];
    buf_putc(items, tag);
    buf_put(items, len, (size_t)(varint_put(len, bytes->len) - len));
    buf_put(items, bytes->data, bytes->len);
}

/* A record of `length` bytes that is piece 1 again and again. */
static void put_repeating(struct buf *items, uint64_t length, int pieces)
{
    auto_buf struct buf kept = { 0 };
    char head[4 + 2 + 4 + VARINT_MAX] = { 0 };
    head[5] = 1; // event
    buf_put(&kept, head, (size_t)(varint_put(head + 10, length) - head));
    for (int i = 0; i < pieces; i++)
        buf_put(&kept, "\0\1", 2);
    put_item(items, 'R', &kept);
}

TEST(a_small_file_does_not_stand_for_a_huge_run)
{
    auto_buf struct buf bytes = { 0 }, items = { 0 }, piece = { 0 };
    struct store *store = with_file(&bytes);
    buf_put(&items, bytes.data + 12, about_len(&bytes));
    for (int i = 0; i < 16384; i++)
        buf_putc(&piece, 1);
    put_item(&items, 'P', &piece);
    size_t start = items.len;
    put_repeating(&items, 1ull << 50, 1);
    refuses(store, &items, "event 1 is damaged: the list of its pieces makes no sense");
    items.len = start;
    put_repeating(&items, 257 << 20, 257 << 6); // 257 MB
    refuses(store, &items, "event 1 is damaged: the list of its pieces makes no sense");
    items.len = start;
    put_repeating(&items, 16 << 20, 1 << 20); // 16 MB, it says, and has 16 GB
    refuses(store, &items, "event 1 is damaged: one of its pieces is damaged");
    CHECK_UINT(count_runs(store), 0);
    store_close(store);
}
