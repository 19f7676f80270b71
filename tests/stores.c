/* stores.c - stores in a folder of their own. */
#include "stores.h"

#include "io/tempdir.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *folder;
static pid_t maker;

static void remove_folder(void)
{
    if (getpid() == maker) // not in a child of the test
        tempdir_remove(folder);
    mem_free(folder);
}

const char *test_folder(void)
{
    rondo_error err;
    if (!folder) {
        folder = tempdir_make(&err);
        CHECK(folder);
        maker = getpid();
        atexit(remove_folder);
    }
    return folder;
}

const char *test_store_path(void)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/rondo.db", test_folder());
    return path;
}

struct store *test_store(unsigned flags)
{
    rondo_error err = { 0 };
    struct store *store = NULL;
    if (store_open(test_store_path(), flags, &store, &err) < 0)
        FAIL("%s", err.message);
    return store;
}

struct journal *test_run(struct store *store, const char *id)
{
    rondo_error err = { 0 };
    struct journal *journal = NULL;
    struct store_run run = { .id = id, .name = "flow", .session = "", .start_ns = 1000, .hash = 7 };
    if (store_add(store, &run, "definition", 10, &journal, &err) < 0)
        FAIL("%s", err.message);
    return journal;
}

void make_record(struct buf *ret, uint64_t first, uint32_t count, size_t len)
{
    buf_clear(ret);
    buf_reserve(ret, VARINT_MAX);
    ret->len = (size_t)(varint_put(ret->data, count) - ret->data);
    for (uint64_t i = 0; ret->len < len; i++)
        buf_putc(ret, (char)(first * 31 + i * (first % 7 + 1) + (i >> 8)));
}

void put_record(struct journal *journal, uint64_t first, uint32_t count, size_t len)
{
    auto_buf struct buf record = { 0 };
    rondo_error err = { 0 };
    make_record(&record, first, count, len);
    if (journal->ops->append(journal, record.data, record.len, first, count, &err) < 0)
        FAIL("event %llu: %s", (unsigned long long)first, err.message);
}

void put_records(struct journal *journal, uint64_t first, uint64_t last, size_t len)
{
    for (; first <= last; first++)
        put_record(journal, first, 1, len);
}

uint64_t check_records(struct journal *journal, uint64_t from, size_t len)
{
    auto_buf struct buf want = { 0 };
    struct journal_pos pos = { .seq = from };
    rondo_error err = { 0 };
    const char *record;
    size_t is;
    int rc;
    if (from > 1)
        CHECK(journal->ops->seek(journal, from, &pos));
    for (uint64_t first = from; (rc = journal->ops->read(journal, &pos, &record, &is, &err)) > 0; first = pos.seq) {
        make_record(&want, first, (uint32_t)(pos.seq - first), len);
        CHECK_UINT(is, want.len);
        CHECK_MEM(record, want.data, is);
    }
    if (rc < 0)
        FAIL("%s", err.message);
    return pos.seq;
}

struct journal *take_run(struct store *store, const char *id)
{
    rondo_error err = { 0 };
    struct journal *journal = NULL;
    if (store_take(store, id, &journal, &err) < 0)
        FAIL("%s", err.message);
    return journal;
}

struct journal *look_run(struct store *store, const char *id)
{
    rondo_error err = { 0 };
    struct journal *journal = NULL;
    if (store_look(store, id, &journal, &err) < 0)
        FAIL("%s", err.message);
    return journal;
}

void close_journal(struct journal *journal)
{
    journal->ops->close(journal);
}

void commit(struct store *store)
{
    rondo_error err = { 0 };
    if (store_commit(store, &err) < 0)
        FAIL("%s", err.message);
}

void tidy(struct store *store)
{
    rondo_error err = { 0 };
    if (store_tidy(store, &err) < 0)
        FAIL("%s", err.message);
}

int try_append(struct journal *journal, uint64_t first, rondo_error *err)
{
    auto_buf struct buf record = { 0 };
    make_record(&record, first, 1, 30);
    return journal->ops->append(journal, record.data, record.len, first, 1, err);
}

int64_t test_sql_number(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *stmt;
    CHECK(sqlite3_open_v2(test_store_path(), &db, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK);
    sqlite3_busy_timeout(db, 5000);
    sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        FAIL("%s: %s", sql, sqlite3_errmsg(db));
    int rc = sqlite3_step(stmt);
    if (rc != SQLITE_ROW && rc != SQLITE_DONE)
        FAIL("%s: %s", sql, sqlite3_errmsg(db));
    int64_t n = rc == SQLITE_ROW ? sqlite3_column_int64(stmt, 0) : 0;
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    return n;
}

void test_sql(const char *sql)
{
    test_sql_number(sql);
}
