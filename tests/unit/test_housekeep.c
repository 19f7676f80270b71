/* test_housekeep.c - removing runs, sweeping up behind them, and saying how much there is. */
#include "store/db.h"
#include "talks.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A run with `count` records, each with a text of its own of `len` bytes; seed tells texts apart. */
static void put_run(struct store *store, const char *id, int count, size_t len, uint64_t seed)
{
    struct journal *journal = test_run(store, id);
    for (int i = 0; i < count; i++) {
        json_t *text = talk_text(len, seed + (uint64_t)i);
        talk_append(journal, text);
        json_decref(text);
    }
    commit(store);
    close_journal(journal);
    commit(store);
}

static int64_t usage_of(struct store *store, const char *id, const char *key)
{
    json_t *usage;
    if (store_usage(store, id, &usage, &talk_err) < 0)
        FAIL("%s", talk_err.message);
    int64_t n = json_integer_value(json_object_get(usage, key));
    json_decref(usage);
    return n;
}

static bool has_run(struct store *store, const char *id)
{
    struct journal *journal;
    int rc = store_look(store, id, &journal, &talk_err);
    if (rc == 0)
        close_journal(journal);
    return rc == 0;
}

static int64_t gc(struct store *store)
{
    int64_t bytes = -1;
    must(store_gc(store, &bytes, &talk_err));
    return bytes;
}

/* ---- removing ----------------------------------------------------------------------------------------- */

TEST(a_removed_run_is_gone_and_others_stay)
{
    struct store *store = test_store(STORE_CREATE);
    put_run(store, "a", 3, 3000, 1);
    put_run(store, "b", 3, 3000, 2); // two texts are the same
    must(store_remove(store, "a", &talk_err));
    CHECK(!has_run(store, "a") && has_run(store, "b"));
    CHECK_INT(store_remove(store, "a", &talk_err), RONDO_ENOTFOUND);
    CHECK_INT(usage_of(store, NULL, "runs"), 1);
    CHECK(gc(store) >= 0);
    CHECK_INT(usage_of(store, NULL, "texts"), 9000);
    struct journal *journal;
    must(store_look(store, "b", &journal, &talk_err));
    json_t *text = talk_text(3000, 4);
    talk_check(journal, text);
    json_decref(text);
    close_journal(journal);
    put_run(store, "a", 1, 10, 1); // the id is free again
    store_close(store);
}

TEST(a_run_that_somebody_drives_is_not_removed)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "a");
    talk_append(journal, json_null());
    commit(store);
    CHECK_INT(store_remove(other, "a", &talk_err), RONDO_EBUSY);
    CHECK(strstr(talk_err.message, "pid "));
    CHECK(has_run(other, "a"));
    close_journal(journal);
    commit(store);
    must(store_remove(other, "a", &talk_err));
    store_close(store);
    store_close(other);
}

TEST(a_run_that_is_looked_at_may_be_removed)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    put_run(store, "a", 3, 100, 1);
    struct journal *journal = look_run(other, "a");
    CHECK_INT(store_check_there(journal, &talk_err), 0);
    must(store_remove(store, "a", &talk_err));
    CHECK_INT(store_check_there(journal, &talk_err), RONDO_ENOTFOUND);
    CHECK_STR(talk_err.message, "there is no run 'a': it was removed");
    close_journal(journal);
    store_close(other);
    store_close(store);
}

/* Reads the run from event 1 on: how many records there are, or the error. */
static int read_all(struct journal *journal)
{
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    int rc, count = 0;
    while ((rc = journal->ops->read(journal, &pos, &record, &len, &talk_err)) > 0)
        count++;
    return rc < 0 ? rc : count;
}

TEST(what_is_missing_of_a_removed_run_is_no_damage)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    put_run(store, "a", 3, 3000, 1);
    struct journal *journal = look_run(other, "a");
    CHECK_INT(read_all(journal), 3);
    must(store_remove(store, "a", &talk_err));
    gc(store);
    CHECK_INT(read_all(journal), RONDO_ENOTFOUND); // its records are in memory, their texts are not
    CHECK_STR(talk_err.message, "there is no run 'a': it was removed");
    close_journal(journal);
    store_close(other);
    store_close(store);
}

TEST(a_removed_run_is_whole_for_a_snapshot_from_before)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    put_run(store, "a", 3, 3000, 1);
    must(store_snapshot(other, &talk_err));
    CHECK(has_run(other, "a"));
    must(store_remove(store, "a", &talk_err));
    gc(store);
    struct journal *journal = look_run(other, "a");
    CHECK_INT(read_all(journal), 3);
    CHECK_INT(store_about(journal)->status, RONDO_STATUS_RUNNING);
    store_snapshot_end(other);
    CHECK_INT(store_check_there(journal, &talk_err), RONDO_ENOTFOUND);
    close_journal(journal);
    CHECK(!has_run(other, "a"));
    store_close(other);
    store_close(store);
}

TEST(a_run_of_a_process_that_died_is_removed)
{
    test_store_path();
    pid_t child = fork();
    if (child == 0) {
        struct store *store = test_store(STORE_CREATE);
        struct journal *journal = test_run(store, "a");
        talk_append(journal, json_null());
        commit(store);
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child);
    struct store *store = test_store(STORE_CREATE);
    CHECK(has_run(store, "a"));
    must(store_remove(store, "a", &talk_err));
    CHECK(!has_run(store, "a"));
    store_close(store);
}

/* ---- forks ---------------------------------------------------------------------------------------------- */

TEST(a_run_that_was_removed_is_not_forked)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    const struct store_run run = { .id = "kid", .name = "flow" };
    put_run(store, "a", 3, 100, 1);
    struct journal *from = look_run(other, "a"), *journal;
    CHECK_INT(read_all(from), 3);
    must(store_remove(store, "a", &talk_err));
    CHECK_INT(store_fork(from, 2, &run, NULL, 0, &journal, &talk_err), RONDO_ENOTFOUND);
    CHECK_STR(talk_err.message, "there is no run 'a': it was removed");
    store_rollback(other);
    CHECK(!has_run(other, "kid"));
    close_journal(from);
    store_close(other);
    store_close(store);
}

static void fork_run(struct store *store, const char *parent, uint64_t seq, const char *id, json_t *value)
{
    struct journal *from, *journal;
    const struct store_run run = { .id = id, .name = "flow", .session = "", .start_ns = 2, .end_ns = 2 };
    must(store_look(store, parent, &from, &talk_err));
    must(store_fork(from, seq, &run, NULL, 0, &journal, &talk_err));
    talk_append(journal, value);
    commit(store);
    close_journal(journal);
    commit(store);
    close_journal(from);
}

static void check_fork(struct store *store, const char *id, uint64_t shared, json_t *last)
{
    struct journal *journal;
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    must(store_look(store, id, &journal, &talk_err));
    for (uint64_t seq = 1; seq <= shared + 1; seq++)
        CHECK_INT(journal->ops->read(journal, &pos, &record, &len, &talk_err), 1);
    CHECK_INT(journal->ops->read(journal, &pos, &record, &len, &talk_err), 0);
    talk_check(journal, last);
    close_journal(journal);
}

TEST(forks_keep_the_past_of_a_removed_run_until_they_go)
{
    struct store *store = test_store(STORE_CREATE);
    json_t *left = json_string("left"), *right = json_string("right");
    put_run(store, "a", 6, 3000, 1);
    fork_run(store, "a", 2, "l", left);
    fork_run(store, "a", 4, "r", right);
    must(store_remove(store, "a", &talk_err));
    CHECK(!has_run(store, "a"));
    gc(store);
    check_fork(store, "l", 2, left);
    check_fork(store, "r", 4, right);
    must(store_remove(store, "r", &talk_err));
    gc(store);
    check_fork(store, "l", 2, left);
    must(store_remove(store, "l", &talk_err));
    gc(store);
    CHECK_INT(usage_of(store, NULL, "runs"), 0);
    CHECK_INT(usage_of(store, NULL, "texts"), 0);
    CHECK_INT(usage_of(store, NULL, "records"), 0);
    json_decref(left);
    json_decref(right);
    store_close(store);
}

TEST(a_fork_of_a_fork_keeps_both)
{
    struct store *store = test_store(STORE_CREATE);
    json_t *value = json_string("x");
    put_run(store, "a", 3, 3000, 1);
    fork_run(store, "a", 2, "b", value);
    fork_run(store, "b", 3, "c", value);
    must(store_remove(store, "a", &talk_err));
    must(store_remove(store, "b", &talk_err));
    gc(store);
    check_fork(store, "c", 3, value);
    must(store_remove(store, "c", &talk_err));
    gc(store);
    CHECK_INT(usage_of(store, NULL, "records"), 0);
    json_decref(value);
    store_close(store);
}

/* ---- sweeping ---------------------------------------------------------------------------------------------- */

TEST(what_nothing_refers_to_is_given_back)
{
    struct store *store = test_store(STORE_CREATE);
    put_run(store, "a", 100, 20000, 1);
    put_run(store, "b", 10, 20000, 1000);
    int64_t before = usage_of(store, NULL, "file");
    CHECK(before > 2200000);
    must(store_remove(store, "a", &talk_err));
    CHECK(gc(store) > 1900000);
    CHECK(usage_of(store, NULL, "file") < 400000); // and the file is small again
    CHECK_INT(usage_of(store, NULL, "texts"), 200000);
    CHECK_INT(gc(store), 0);
    store_close(store);
    CHECK(talk_file_size() < 400000);
}

TEST(definitions_are_kept_once_and_as_long_as_somebody_needs_them)
{
    struct store *store = test_store(STORE_CREATE);
    const struct store_run a = { .id = "a", .name = "f", .session = "" }, b = { .id = "b", .name = "f", .session = "" };
    struct journal *journal;
    must(store_add(store, &a, "the same", 8, &journal, &talk_err));
    close_journal(journal);
    must(store_add(store, &b, "the same", 8, &journal, &talk_err));
    close_journal(journal);
    commit(store);
    CHECK_INT(usage_of(store, NULL, "definitions"), 8);
    must(store_remove(store, "a", &talk_err));
    gc(store);
    CHECK_INT(usage_of(store, NULL, "definitions"), 8);
    must(store_remove(store, "b", &talk_err));
    gc(store);
    CHECK_INT(usage_of(store, NULL, "definitions"), 0);
    store_close(store);
}

/* The driver's next record uses a text that only a removed run had. */
TEST(sweeping_beside_a_driver_takes_nothing_away_from_it)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(STORE_CREATE);
    put_run(store, "old", 1, 3000, 7);
    struct journal *journal = test_run(store, "live");
    json_t *text = talk_text(3000, 7), *next = talk_text(3000, 8);
    talk_append(journal, next);
    commit(store);
    must(store_remove(other, "old", &talk_err));
    gc(other);
    CHECK_INT(usage_of(other, NULL, "texts"), 3000);
    talk_append(journal, text);
    commit(store);
    talk_check(journal, text);
    gc(other);
    talk_check(journal, text);
    CHECK_INT(usage_of(other, NULL, "texts"), 6000);
    close_journal(journal);
    store_close(store);
    store_close(other);
    json_decref(text);
    json_decref(next);
}

/* Between two batches of the sweep another one begins to refer to a text whose turn it is next. */
static struct journal *other_run;
static struct store *other_store;
static uint64_t referred = 2700;

static int refer_again(void *user, sqlite3 *db, const char *name, int pages)
{
    if (referred >= 2800)
        return SQLITE_OK;
    json_t *text = talk_text(1100, referred++);
    talk_append(other_run, text);
    commit(other_store);
    json_decref(text);
    return SQLITE_OK;
}

TEST(what_was_written_since_is_looked_at_before_anything_is_deleted)
{
    struct store *store = test_store(STORE_CREATE);
    put_run(store, "old", 2800, 1100, 0);
    other_store = test_store(0);
    other_run = test_run(other_store, "live");
    commit(other_store);
    must(store_remove(store, "old", &talk_err));
    sqlite3_wal_hook(store->db, refer_again, NULL);
    gc(store);
    CHECK(referred >= 2702); // after the first batch of two thousand, and at the end
    sqlite3_wal_hook(store->db, NULL, NULL);
    json_t *text = talk_text(1100, referred - 1);
    talk_check(other_run, text);
    json_decref(text);
    gc(store);
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    for (uint64_t i = 2700; i < referred; i++)
        must(other_run->ops->read(other_run, &pos, &record, &len, &talk_err));
    CHECK_INT(usage_of(store, NULL, "texts"), (int64_t)(referred - 2700) * 1100);
    close_journal(other_run);
    store_close(other_store);
    store_close(store);
}

/* A process that writes texts which are just about to be swept: all of them are there afterwards. */
static void write_old_texts(void)
{
    struct store *store = test_store(0);
    struct journal *journal = test_run(store, "live");
    for (int i = 0; i < 400; i++) {
        json_t *text = talk_text(1100, (uint64_t)i * 7);
        talk_append(journal, text);
        commit(store);
        json_decref(text);
    }
    store_close(store);
    _exit(0);
}

TEST(sweeping_goes_on_beside_a_process_that_writes)
{
    struct store *store = test_store(STORE_CREATE);
    put_run(store, "old", 2800, 1100, 0);
    must(store_remove(store, "old", &talk_err));
    store_close(store);
    pid_t child = fork();
    if (child == 0)
        write_old_texts();
    store = test_store(0);
    do
        gc(store);
    while (waitpid(child, NULL, WNOHANG) == 0);
    gc(store);
    CHECK_INT(usage_of(store, NULL, "texts"), 400 * 1100);
    struct journal *journal = look_run(store, "live");
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    for (int i = 0; i < 400; i++)
        must(journal->ops->read(journal, &pos, &record, &len, &talk_err));
    CHECK_UINT(pos.seq, 401);
    close_journal(journal);
    store_close(store);
}

static void beside(sqlite3 *db, const char *sql)
{
    if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
        _exit(1);
}

/* A process that reads an old page and then wants to write, as one that folds the WAL in does. */
static void read_and_write(int ready)
{
    sqlite3 *reader, *writer;
    if (sqlite3_open(test_store_path(), &reader) || sqlite3_open(test_store_path(), &writer))
        _exit(1);
    sqlite3_busy_timeout(writer, 2000);
    beside(reader, "BEGIN; SELECT count(*) FROM run");
    CHECK_INT(write(ready, "x", 1), 1);
    for (;;)
        beside(writer, "BEGIN IMMEDIATE; ROLLBACK");
}

/* Making the file smaller must not keep writers out until the last reader has gone: one may wait for the other. */
TEST(nobody_waits_for_a_file_that_is_made_smaller)
{
    char x;
    int fds[2], status;
    struct store *store = test_store(STORE_CREATE);
    put_run(store, "a", 100, 20000, 1);
    must(store_remove(store, "a", &talk_err));
    store_close(store);
    CHECK_INT(pipe(fds), 0);
    pid_t child = fork();
    if (child == 0)
        read_and_write(fds[1]);
    CHECK_INT(read(fds[0], &x, 1), 1);
    store = test_store(0);
    CHECK(gc(store) > 1900000);
    kill(child, SIGKILL);
    CHECK_INT(waitpid(child, &status, 0), child);
    CHECK(WIFSIGNALED(status)); // it did not give up
    store_close(store);
}

TEST(nothing_is_swept_while_a_record_is_damaged)
{
    struct store *store = test_store(STORE_CREATE);
    int64_t bytes;
    put_run(store, "a", 3, 3000, 1);
    put_run(store, "b", 3, 3000, 100);
    must(store_remove(store, "b", &talk_err));
    must(store_tidy(store, &talk_err));
    store_close(store);
    test_sql("UPDATE chunk SET bytes = cast(substr(bytes, 1, 12) || 'X' || substr(bytes, 14) AS BLOB)");
    store = test_store(STORE_CREATE);
    CHECK_INT(store_gc(store, &bytes, &talk_err), RONDO_ESTORE);
    if (!strstr(talk_err.message, "of run 'a' is damaged"))
        FAIL("%s", talk_err.message);
    CHECK_INT(usage_of(store, NULL, "texts"), 18000);
    must(store_remove(store, "a", &talk_err)); // it can be given up
    gc(store);
    CHECK_INT(usage_of(store, NULL, "texts"), 0);
    store_close(store);
}

/* ---- keeping only so many ------------------------------------------------------------------------------------- */

static void put_old_run(struct store *store, const char *id, int status, int64_t start_ns)
{
    struct store_run run = { .id = id, .name = "flow", .session = "", .start_ns = start_ns };
    struct journal *journal;
    must(store_add(store, &run, NULL, 0, &journal, &talk_err));
    talk_append(journal, json_null());
    run.status = status;
    run.end_ns = start_ns + 5;
    run.last_seq = 1;
    must(store_sum_up(journal, &run, &talk_err));
    commit(store);
    close_journal(journal);
    commit(store);
}

static void note_id(const char *id, void *user)
{
    buf_puts(user, id);
}

static void expire(struct store *store, int64_t since_ns, uint32_t newest, bool only_look, const char *expected)
{
    auto_buf struct buf ids = { 0 };
    const struct store_retention keep = { .since_ns = since_ns, .newest = newest };
    must(store_expire(store, &keep, only_look, note_id, &ids, &talk_err));
    CHECK_STR(buf_text(&ids), expected);
}

TEST(runs_go_that_are_over_and_old_and_not_among_the_newest)
{
    struct store *store = test_store(STORE_CREATE);
    static const int states[] = { RONDO_STATUS_COMPLETED, RONDO_STATUS_FAILED,  RONDO_STATUS_CANCELLED,
                                  RONDO_STATUS_WAITING,   RONDO_STATUS_RUNNING, RONDO_STATUS_PARTIAL };
    for (int i = 0; i < 6; i++)
        put_old_run(store, (const char *[]){ "a", "b", "c", "d", "e", "f" }[i], states[i], 100 * i + 100);
    expire(store, 1000, 0, true, "fcba"); // d waits, e was interrupted
    expire(store, 1000, 5, true, "a");
    expire(store, 205, 0, true, "a"); // b ended at 205
    expire(store, 206, 0, true, "ba");
    expire(store, 206, 6, true, "");
    CHECK_INT(usage_of(store, NULL, "runs"), 6);
    expire(store, 206, 0, false, "ba");
    CHECK_INT(usage_of(store, NULL, "runs"), 4);
    expire(store, 1000, 0, false, "fc");
    expire(store, 1000, 0, false, "");
    CHECK(has_run(store, "d") && has_run(store, "e"));
    store_close(store);
}

/* ---- how much there is ------------------------------------------------------------------------------------------- */

TEST(usage_is_told_of_all_and_of_one_run)
{
    struct store *store = test_store(STORE_CREATE);
    put_run(store, "a", 2, 3000, 1);
    put_run(store, "b", 2, 3000, 2); // one of them is a's
    CHECK_INT(usage_of(store, NULL, "texts"), 9000);
    CHECK_INT(usage_of(store, "a", "texts"), 6000);
    CHECK_INT(usage_of(store, "b", "texts"), 6000);
    CHECK(usage_of(store, "a", "records") > 30 && usage_of(store, "a", "records") < 100);
    must(store_tidy(store, &talk_err));
    CHECK_INT(usage_of(store, "b", "texts"), 6000);
    CHECK(usage_of(store, "b", "records") > 30);
    json_t *usage;
    CHECK_INT(store_usage(store, "nobody", &usage, &talk_err), RONDO_ENOTFOUND);
    store_close(store);
}
