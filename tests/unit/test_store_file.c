/* test_store_file.c - the file of a store: what is refused, what damage is noticed, what a copy is worth. */
#include "stores.h"

#include "store/db.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *in_folder(const char *name)
{
    static char path[400];
    snprintf(path, sizeof path, "%s/%s", test_folder(), name);
    return path;
}

static char *read_whole(const char *path, size_t *ret_len)
{
    struct stat st;
    int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && fstat(fd, &st) == 0);
    char *bytes = mem_alloc((size_t)st.st_size + 1);
    ssize_t len = read(fd, bytes, (size_t)st.st_size); // less when the file was made shorter meanwhile
    CHECK(len >= 0);
    close(fd);
    *ret_len = (size_t)len;
    return bytes;
}

static void write_whole(const char *path, const char *bytes, size_t len)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    CHECK(fd >= 0 && write(fd, bytes, len) == (ssize_t)len);
    close(fd);
}

static const char *index_path(void)
{
    static char path[400];
    snprintf(path, sizeof path, "%s-shm", test_store_path());
    return path;
}

/* ---- what is refused ------------------------------------------------------------------------------------- */

/* Opening fails with these words behind "store 'path': ", leaves the file as it is and nothing beside it. */
static void check_refused(const char *path, unsigned flags, const char *why)
{
    rondo_error err = { 0 };
    struct store *store = NULL;
    char want[600];
    struct stat st;
    size_t len = 0, is;
    char *before = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? read_whole(path, &len) : NULL;
    CHECK_INT(store_open(path, flags, &store, &err), RONDO_ESTORE);
    CHECK_NULL(store);
    snprintf(want, sizeof want, "store '%s': %s", path, why);
    CHECK_STR(err.message, want);
    if (before) {
        char *after = read_whole(path, &is);
        CHECK_UINT(is, len);
        CHECK_MEM(after, before, len);
        mem_free(after);
    }
    mem_free(before);
    snprintf(want, sizeof want, "%s-wal", path);
    CHECK(access(want, F_OK) < 0);
    snprintf(want, sizeof want, "%s-shm", path);
    CHECK(access(want, F_OK) < 0);
    snprintf(want, sizeof want, "%s-journal", path);
    CHECK(access(want, F_OK) < 0);
}

/* A store with one run, closed, all of it in the file. */
static char *small_store(size_t *ret_len)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    put_records(journal, 1, 20, 100);
    commit(store);
    store_close(store);
    test_sql("PRAGMA wal_checkpoint(TRUNCATE)");
    unlink(in_folder("rondo.db-wal"));
    unlink(in_folder("rondo.db-shm"));
    return read_whole(test_store_path(), ret_len);
}

TEST(a_file_that_is_no_store_is_refused)
{
    check_refused(in_folder("none.db"), 0, "there is no such file");
    check_refused(in_folder("none.db"), STORE_READ_ONLY, "there is no such file");
    CHECK(access(in_folder("none.db"), F_OK) < 0);
    CHECK(mkdir(in_folder("folder"), 0700) == 0);
    check_refused(in_folder("folder"), STORE_CREATE, "is a folder, not a file");
    CHECK(symlink("elsewhere", in_folder("link")) == 0);
    check_refused(in_folder("link"), STORE_CREATE, "is a link; name the file itself");
    CHECK(mkfifo(in_folder("pipe"), 0600) == 0);
    check_refused(in_folder("pipe"), STORE_CREATE, "is not a regular file");
    write_whole(in_folder("empty"), "", 0);
    check_refused(in_folder("empty"), STORE_CREATE, "is no rondo store: it is empty");
    write_whole(in_folder("short"), "hello", 5);
    check_refused(in_folder("short"), STORE_CREATE, "is no rondo store, or cut off");
    char text[3000];
    memset(text, 'x', sizeof text);
    write_whole(in_folder("text"), text, sizeof text);
    check_refused(in_folder("text"), STORE_CREATE, "is no rondo store: it is no SQLite database");
    check_refused(in_folder("text"), STORE_READ_ONLY, "is no rondo store: it is no SQLite database");
    check_refused(in_folder("text/x.db"), STORE_CREATE, "cannot be opened: Not a directory");
}

TEST(a_file_of_another_program_or_version_is_refused)
{
    size_t len;
    char *bytes = small_store(&len);
    bytes[71] ^= 1; // application_id
    write_whole(in_folder("foreign.db"), bytes, len);
    check_refused(in_folder("foreign.db"), STORE_CREATE,
                  "is no rondo store: it is the SQLite database of another program");
    bytes[71] ^= 1;
    bytes[63] = 99; // user_version
    write_whole(in_folder("newer.db"), bytes, len);
    check_refused(in_folder("newer.db"), STORE_CREATE, "its version is 99, this rondo knows those up to 1");
    check_refused(in_folder("newer.db"), STORE_READ_ONLY, "its version is 99, this rondo knows those up to 1");
    mem_free(bytes);
}

/* Version 0 is a file with nothing in it, of which only the header says whose it is. */
TEST(a_file_of_an_older_version_is_brought_up_to_date)
{
    char old[400];
    sqlite3 *db;
    rondo_error err;
    struct store *store;
    struct journal *journal;
    snprintf(old, sizeof old, "%s", in_folder("old.db"));
    CHECK(sqlite3_open(old, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "PRAGMA application_id = 1919837295; PRAGMA journal_mode = WAL", NULL, NULL, NULL) == 0);
    sqlite3_close(db);
    check_refused(old, STORE_READ_ONLY, "has to be opened for writing once: it is of an older version");
    for (int i = 0; i < 2; i++) {
        CHECK_INT(store_open(old, 0, &store, &err), 0);
        journal = i ? take_run(store, "run") : test_run(store, "run");
        put_records(journal, 1 + 5 * (uint64_t)i, 5 + 5 * (uint64_t)i, 30);
        commit(store);
        store_close(store);
    }
    CHECK_INT(store_open(old, STORE_READ_ONLY, &store, &err), 0);
    CHECK_UINT(check_records(look_run(store, "run"), 1, 30), 11);
    store_close(store);
}

TEST(a_store_whose_wal_was_switched_off_gets_it_back)
{
    size_t len;
    mem_free(small_store(&len));
    test_sql("PRAGMA journal_mode = DELETE");
    struct store *store = test_store(0);
    CHECK_UINT(check_records(take_run(store, "run"), 1, 100), 21);
    store_close(store);
    char *bytes = read_whole(test_store_path(), &len);
    CHECK_INT(bytes[18], 2);
    mem_free(bytes);
}

TEST(a_file_that_is_cut_off_is_refused)
{
    size_t len;
    char why[100], *bytes = small_store(&len);
    for (size_t cut = 512; cut < len; cut += 512) {
        write_whole(in_folder("cut.db"), bytes, cut);
        snprintf(why, sizeof why, "is cut off: %zu of %zu bytes are there", cut, len);
        check_refused(in_folder("cut.db"), 0, why);
    }
    mem_free(bytes);
}

/* ---- rights ------------------------------------------------------------------------------------------------ */

static mode_t mode_of(const char *path)
{
    struct stat st;
    CHECK(stat(path, &st) == 0);
    return st.st_mode & 07777;
}

TEST(a_new_store_is_for_its_owner_alone)
{
    rondo_error err;
    struct store *store;
    char path[400];
    snprintf(path, sizeof path, "%s", in_folder("a/b/rondo.db"));
    for (int i = 0; i < 2; i++) {
        umask(i ? 0777 & ~0700 : 0);
        CHECK_INT(store_open(path, STORE_CREATE, &store, &err), 0);
        test_run(store, "run");
        commit(store);
        CHECK_UINT(mode_of(in_folder("a")), 0700);
        CHECK_UINT(mode_of(in_folder("a/b")), 0700);
        CHECK_UINT(mode_of(path), 0600);
        CHECK_UINT(mode_of(in_folder("a/b/rondo.db-wal")), 0600);
        CHECK_UINT(mode_of(in_folder("a/b/rondo.db-shm")), 0600);
        store_close(store);
        unlink(path);
        unlink(in_folder("a/b/rondo.db-wal"));
        unlink(in_folder("a/b/rondo.db-shm"));
        CHECK(rmdir(in_folder("a/b")) == 0); // nothing else was left there
        rmdir(in_folder("a"));
    }
}

/* As somebody who may not do everything; 0 when that is not possible here. */
static int as_nobody(void (*what)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && (setgid(65534) < 0 || setuid(65534) < 0))
            _exit(99);
        what();
        _exit(0);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 98;
}

static void look_but_not_write(void)
{
    rondo_error err;
    char want[500];
    struct store *store = NULL;
    CHECK_INT(store_open(test_store_path(), 0, &store, &err), RONDO_ESTORE);
    snprintf(want, sizeof want, "store '%s': cannot be written: Permission denied", test_store_path());
    CHECK_STR(err.message, want);
    store = test_store(STORE_READ_ONLY);
    struct journal *journal = look_run(store, "run");
    CHECK_UINT(check_records(journal, 1, 100), 21);
    CHECK_INT(store_take(store, "run", &journal, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, "was opened only for reading"));
    store_close(store);
    CHECK(access(in_folder("rondo.db-wal"), F_OK) < 0);
    CHECK_INT(store_open(in_folder("new.db"), STORE_CREATE, &store, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, "cannot be made: Permission denied"));
    CHECK_INT(store_open(in_folder("sub/new.db"), STORE_CREATE, &store, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, "its folder cannot be made: Permission denied"));
}

TEST(a_store_that_cannot_be_written_can_be_read)
{
    size_t len;
    mem_free(small_store(&len));
    CHECK(chmod(test_store_path(), 0444) == 0 && chmod(test_folder(), 0555) == 0);
    int status = as_nobody(look_but_not_write);
    chmod(test_folder(), 0700);
    if (status == 99)
        SKIP("this process cannot become another user");
    CHECK_INT(status, 0);
}

static void no_access_at_all(void)
{
    rondo_error err;
    struct store *store;
    CHECK_INT(store_open(test_store_path(), STORE_READ_ONLY, &store, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, "cannot be opened"));
}

TEST(a_store_that_cannot_be_read_says_so)
{
    size_t len;
    mem_free(small_store(&len));
    CHECK(chmod(test_store_path(), 0000) == 0 && chmod(test_folder(), 0755) == 0);
    int status = as_nobody(no_access_at_all);
    if (status == 99)
        SKIP("this process cannot become another user");
    CHECK_INT(status, 0);
}

TEST(nothing_is_written_through_a_store_for_reading)
{
    rondo_error err;
    struct journal *journal;
    size_t len;
    mem_free(small_store(&len));
    struct store *store = test_store(STORE_READ_ONLY);
    CHECK_INT(store_add(store, &(struct store_run){ .id = "x" }, NULL, 0, &journal, &err), RONDO_ESTORE);
    CHECK_INT(store_send(store, "run", json_null(), &err), RONDO_ESTORE);
    CHECK_INT(store_tidy(store, &err), 0);
    CHECK_INT(store_commit(store, &err), 0);
    store_close(store);
}

TEST(a_path_may_look_like_something_else)
{
    rondo_error err;
    struct store *store;
    struct journal *journal;
    static const char *const names[] = { "file:odd.db", "a?b#c%41.db", ":memory:", "with blank \xc3\xa4.db" };
    CHECK(chdir(test_folder()) == 0);
    for (size_t i = 0; i < COUNT(names); i++) {
        CHECK_INT(store_open(names[i], STORE_CREATE, &store, &err), 0);
        journal = test_run(store, "run");
        commit(store);
        store_close(store);
        CHECK(access(names[i], F_OK) == 0);
        CHECK_INT(store_open(names[i], STORE_READ_ONLY, &store, &err), 0);
        CHECK_INT(store_look(store, "run", &journal, &err), 0);
        store_close(store);
    }
}

/* ---- damage ---------------------------------------------------------------------------------------------------- */

/* Everything that can be read of a store with two runs: true when all of it is right, false when an error is told;
   anything else fails the test. */
static bool reads_right(const char *path)
{
    static const struct { const char *id; uint64_t last; } runs[] = { { "a", 40 }, { "b", 25 }, { "fork", 22 } };
    rondo_error err;
    struct store *store = NULL;
    struct journal *journal = NULL;
    bool right = store_open(path, STORE_READ_ONLY, &store, &err) == 0;
    for (size_t i = 0; i < COUNT(runs) && right; i++) {
        struct journal_pos pos = { .seq = 1 };
        auto_buf struct buf want = { 0 };
        const char *record;
        size_t len;
        int rc = store_look(store, runs[i].id, &journal, &err);
        if (rc < 0) {
            right = false;
            break;
        }
        for (uint64_t first = 1; (rc = journal->ops->read(journal, &pos, &record, &len, &err)) > 0; first = pos.seq) {
            make_record(&want, first, 1, 60);
            CHECK_UINT(pos.seq, first + 1); // what is read is what was written,
            CHECK_UINT(len, want.len);
            CHECK_MEM(record, want.data, len);
        }
        if (rc == 0)
            CHECK_UINT(pos.seq, runs[i].last + 1); // and all of it,
        right = rc == 0; // unless the damage is named
        CHECK(right || (err.code == RONDO_ESTORE && *err.message));
    }
    store_close(store);
    return right;
}

static void sum_up(struct journal *journal, uint64_t last)
{
    rondo_error err;
    CHECK_INT(store_sum_up(journal, &(struct store_run){ .status = 1, .last_seq = last }, &err), 0);
}

/* Half of it in chunks, half in the log, all of it in the file. */
static void two_runs(void)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *a = test_run(store, "a"), *b = test_run(store, "b"), *fork;
    put_records(a, 1, 20, 60);
    put_records(b, 1, 10, 60);
    commit(store);
    CHECK_INT(store_tidy(store, &err), 0);
    put_records(a, 21, 40, 60);
    put_records(b, 11, 25, 60);
    CHECK_INT(store_fork(a, 20, &(struct store_run){ .id = "fork" }, NULL, 0, &fork, &err), 0);
    put_records(fork, 21, 22, 60);
    sum_up(a, 40);
    sum_up(b, 25);
    sum_up(fork, 22);
    commit(store);
    store_close(store);
    test_sql("PRAGMA wal_checkpoint(TRUNCATE)");
}

/* Flips bits of the file; those of which no harm came are counted.  Nothing but what was written, or an error, may
   be read; RONDO_TORTURE in the environment: all bits, not only some. */
TEST(a_flipped_bit_is_named_or_does_no_harm)
{
    size_t len, step = getenv("RONDO_TORTURE") ? 1 : 97, harmless = 0, named = 0;
    two_runs();
    CHECK(reads_right(test_store_path()));
    char *bytes = read_whole(test_store_path(), &len), path[400];
    snprintf(path, sizeof path, "%s", in_folder("flipped.db"));
    write_whole(path, bytes, len);
    int fd = open(path, O_WRONLY);
    for (size_t bit = 0; bit < len * 8; bit += step) {
        char byte = (char)(bytes[bit / 8] ^ 1 << bit % 8);
        CHECK(pwrite(fd, &byte, 1, (off_t)(bit / 8)) == 1);
        bool right = reads_right(path);
        CHECK(pwrite(fd, &bytes[bit / 8], 1, (off_t)(bit / 8)) == 1);
        harmless += right;
        named += !right;
    }
    close(fd);
    CHECK(named > 50 && harmless > 50); // most of the file is empty pages and other tables
    CHECK(reads_right(path));
    mem_free(bytes);
}

static void check_told(const char *id, const char *sql, const char *told)
{
    rondo_error err = { 0 };
    char path[400], text[800];
    struct store *store;
    struct journal *journal;
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    snprintf(path, sizeof path, "%s", test_store_path());
    test_sql(sql);
    CHECK_INT(store_open(path, 0, &store, &err), 0);
    int rc = store_look(store, id, &journal, &err);
    while (rc >= 0 && (rc = journal->ops->read(journal, &pos, &record, &len, &err)) > 0)
        ;
    CHECK_INT(rc, RONDO_ESTORE);
    snprintf(text, sizeof text, "store '%s': %s", path, told);
    CHECK_STR(err.message, text);
    store_close(store);
}

TEST(damage_is_named_by_its_event)
{
    static const struct { const char *id, *harm, *told; } cases[] = {
        { "a", "UPDATE log SET record = x'01ff' WHERE first = 33 AND run = 1",
          "event 33 of run 'a' is damaged: its checksum is wrong" },
        { "a", "UPDATE log SET sum = sum + 1 WHERE first = 33 AND run = 1",
          "event 33 of run 'a' is damaged: a row of the log is not what it was" },
        { "b", "UPDATE log SET run = 2 WHERE first = 40 AND run = 1",
          "event 11 of run 'b' is damaged: a row of the log is not what it was" },
        { "a", "DELETE FROM log WHERE at = 35", "event 23 of run 'a' is damaged: a row of the log is not what it was" },
        { "a", "DELETE FROM log WHERE at = (SELECT min(at) FROM log)",
          "event 21 of run 'a' is damaged: a row of the log is not what it was" },
        { "b", "DELETE FROM log WHERE at >= (SELECT min(at) FROM log WHERE run = 2)",
          "event 11 of run 'b' is damaged: it is missing" },
        { "a", "DELETE FROM chunk WHERE run = 1", "event 1 of run 'a' is damaged: it is missing" },
        { "a", "UPDATE chunk SET count = 19 WHERE run = 1",
          "event 1 of run 'a' is damaged: its chunk is not what it was" },
        { "a", "UPDATE chunk SET bytes = substr(bytes, 1, 500) || x'00' || substr(bytes, 502) WHERE run = 1",
          "event 8 of run 'a' is damaged: its checksum is wrong" },
        { "a", "UPDATE chunk SET bytes = substr(bytes, 1, 200) WHERE run = 1",
          "event 4 of run 'a' is damaged: its checksum is wrong" },
        { "fork", "DELETE FROM chunk WHERE run = 1", "event 1 of run 'fork' is damaged: it is missing" },
        { "b", "UPDATE run SET last_seq = 26 WHERE id = 'b'", "event 26 of run 'b' is damaged: it is missing" },
        { "b", "UPDATE run SET chunk_seq = 9 WHERE id = 'b'",
          "event 10 of run 'b' is damaged: the row of its run is not what it was" },
        { "b", "UPDATE run SET chunk_sum = 9 WHERE id = 'b'",
          "event 11 of run 'b' is damaged: the row of its run is not what it was" },
        { "fork", "UPDATE run SET fork_seq = 28 WHERE id = 'fork'",
          "event 21 of run 'fork' is damaged: the row of its run is not what it was" },
    };
    size_t len;
    two_runs();
    char *bytes = read_whole(test_store_path(), &len);
    for (size_t i = 0; i < COUNT(cases); i++) {
        check_told(cases[i].id, cases[i].harm, cases[i].told);
        unlink(in_folder("rondo.db-wal"));
        unlink(in_folder("rondo.db-shm"));
        write_whole(test_store_path(), bytes, len);
    }
    mem_free(bytes);
}

TEST(a_damaged_log_is_not_gathered)
{
    rondo_error err;
    two_runs();
    test_sql("UPDATE log SET record = x'01ff' WHERE first = 15 AND run = 2");
    struct store *store = test_store(0);
    CHECK_INT(store_tidy(store, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, "event 15 of run 'b' is damaged: its checksum is wrong"));
    CHECK(!store_has_batch(store));
    struct journal *a = take_run(store, "a"); // others are none the worse for it
    put_records(a, 41, 45, 60);
    commit(store);
    CHECK_UINT(check_records(a, 1, 60), 46);
    struct journal *b;
    CHECK_INT(store_take(store, "b", &b, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, "event 15 of run 'b' is damaged: its checksum is wrong"));
    CHECK(!store_has_batch(store));
    store_close(store);
    store = test_store(0);
    CHECK_STR(store_about(look_run(store, "b"))->holder, "");
    store_close(store);
}

/* ---- when writing fails ------------------------------------------------------------------------------------ */

static void allow_pages(struct store *store, int pages)
{
    char sql[60];
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %d", pages);
    store_let_go(store);
    CHECK(sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK);
}

TEST(a_full_disk_loses_only_what_was_not_committed)
{
    rondo_error err = { 0 };
    auto_buf struct buf record = { 0 };
    struct store *store = test_store(STORE_CREATE);
    struct journal *a = test_run(store, "a"), *b = test_run(store, "b");
    put_records(a, 1, 10, 100);
    put_records(b, 1, 10, 100);
    commit(store);
    allow_pages(store, 1);
    put_records(b, 11, 11, 100); // still fits into its page
    make_record(&record, 11, 1, 900000);
    CHECK_INT(a->ops->append(a, record.data, record.len, 11, 1, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, "cannot be written: the disk is full"));
    err.message[0] = '\0';
    CHECK_INT(store_commit(store, &err), RONDO_ESTORE); // all of it or nothing
    CHECK(strstr(err.message, "the disk is full"));
    CHECK(!store_has_batch(store));
    CHECK_INT(try_append(b, 11, &err), RONDO_ESTORE);
    allow_pages(store, 1000000);
    close_journal(a);
    close_journal(b);
    a = take_run(store, "a");
    b = take_run(store, "b");
    CHECK_UINT(check_records(a, 1, 100), 11);
    CHECK_UINT(check_records(b, 1, 100), 11);
    put_records(a, 11, 12, 100);
    commit(store);
    CHECK_UINT(check_records(a, 1, 100), 13);
    store_close(store);
}

TEST(a_store_that_stays_locked_says_so)
{
    rondo_error err = { 0 };
    sqlite3 *other;
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    put_records(journal, 1, 1, 30);
    commit(store);
    CHECK(sqlite3_open(test_store_path(), &other) == SQLITE_OK);
    CHECK(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    sqlite3_busy_timeout(store->db, 1);
    CHECK_INT(try_append(journal, 2, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, "cannot be written: another process has kept it locked for too long"));
    CHECK(!store_has_batch(store));
    CHECK_UINT(check_records(look_run(store, "run"), 1, 30), 2);
    sqlite3_close(other);
    put_records(journal, 2, 2, 30); // nothing was lost by waiting
    commit(store);
    CHECK_UINT(check_records(journal, 1, 30), 3);
    store_close(store);
}

/* Another process has it locked until may_wait() has been asked so often; 0: for ever. */
struct patience {
    sqlite3 *other;
    int asked, frees_at, ends_at;
    int64_t waited_ms;
};

static bool may_wait(int64_t waited_ms, void *user)
{
    struct patience *patience = user;
    CHECK(waited_ms >= 0);
    patience->waited_ms = waited_ms;
    if (++patience->asked == patience->frees_at)
        CHECK(sqlite3_exec(patience->other, "ROLLBACK", NULL, NULL, NULL) == SQLITE_OK);
    return patience->asked != patience->ends_at;
}

static struct patience lock_file(struct patience patience)
{
    CHECK(sqlite3_open(test_store_path(), &patience.other) == SQLITE_OK);
    CHECK(sqlite3_exec(patience.other, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK);
    return patience;
}

TEST(whoever_has_the_store_decides_how_long_it_is_waited_for)
{
    rondo_error err = { 0 };
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    commit(store);
    struct patience patience = lock_file((struct patience){ .frees_at = 700 }); // for more than DB_BUSY_MS
    store_on_busy(store, may_wait, &patience);
    CHECK_INT(try_append(journal, 1, &err), 0);
    commit(store);
    CHECK_INT(patience.asked, 700);
    CHECK(patience.waited_ms > DB_BUSY_MS);
    sqlite3_close(patience.other);
    patience = lock_file((struct patience){ .ends_at = 3 });
    CHECK_INT(try_append(journal, 2, &err), RONDO_ESTORE);
    CHECK_INT(patience.asked, 3);
    store_set_now(store, INT64_MAX / 2); // leases are long due
    CHECK_INT(store_renew(store, &err), RONDO_ESTORE);
    store_close(store);
    CHECK_INT(patience.asked, 3); // for what is not needed nobody waits again
    sqlite3_close(patience.other);
}

TEST(what_can_be_written_another_time_is_waited_for_a_moment)
{
    rondo_error err = { 0 };
    struct store *store = test_store(STORE_CREATE);
    test_run(store, "run");
    commit(store);
    struct patience patience = lock_file((struct patience){ 0 });
    store_on_busy(store, may_wait, &patience);
    store_set_now(store, INT64_MAX / 2);
    CHECK_INT(store_renew(store, &err), RONDO_ESTORE);
    CHECK(patience.asked > 1 && patience.waited_ms < DB_BUSY_MS);
    store_close(store);
    sqlite3_close(patience.other);
}

/* ---- copies ------------------------------------------------------------------------------------------------------ */

static void write_on(int out)
{
    struct store *store = test_store(0);
    struct journal *journal = take_run(store, "run");
    for (uint64_t i = 1; i <= 3000; i++) {
        put_record(journal, i, 1, 200);
        commit(store);
        CHECK(write(out, &i, sizeof i) == sizeof i);
    }
    store_close(store);
}

static void copy(const char *from, const char *to)
{
    size_t len;
    if (access(in_folder(from), F_OK) < 0)
        return;
    char *bytes = read_whole(in_folder(from), &len);
    write_whole(in_folder(to), bytes, len);
    mem_free(bytes);
}

/* While somebody writes, in either order; with what was acknowledged before the copy was begun. */
TEST(a_copy_of_the_files_is_a_store)
{
    rondo_error err;
    int fds[2];
    uint64_t told = 0;
    struct store *store = test_store(STORE_CREATE);
    close_journal(test_run(store, "run"));
    commit(store);
    store_close(store);
    CHECK(pipe(fds) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        write_on(fds[1]);
        _exit(0);
    }
    close(fds[1]);
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 60; k++)
            CHECK_INT(read(fds[0], &told, sizeof told), sizeof told);
        unlink(in_folder("copy.db-shm"));
        unlink(in_folder("copy.db-wal"));
        copy(i % 2 ? "rondo.db" : "rondo.db-wal", i % 2 ? "copy.db" : "copy.db-wal");
        copy(i % 2 ? "rondo.db-wal" : "rondo.db", i % 2 ? "copy.db-wal" : "copy.db");
        CHECK_INT(store_open(in_folder("copy.db"), 0, &store, &err), 0);
        struct journal *journal = look_run(store, "run");
        CHECK(check_records(journal, 1, 200) > told);
        close_journal(journal);
        journal = look_run(store, "run");
        store_close(store);
    }
    close(fds[0]);
    waitpid(pid, NULL, 0);
}

TEST(a_wal_that_two_fold_in_one_after_the_other_stays_the_right_one)
{
    struct store *one = test_store(STORE_CREATE), *two, *three;
    struct journal *journal = test_run(one, "run");
    for (uint64_t i = 0; i < 4; i++) {
        put_record(journal, 1 + 2 * i, 1, 300000);
        commit(one);
        two = test_store(0);
        tidy(one);
        tidy(two);
        put_record(journal, 2 + 2 * i, 1, 30);
        commit(one);
        three = test_store(0);
        CHECK_STR(store_notice(three) ? store_notice(three) : "", "");
        store_close(three);
        store_close(two);
    }
    close_journal(journal);
    store_close(one);
}

/* ---- removed while it is in use --------------------------------------------------------------------------- */

static void remove_file(const char *end)
{
    char path[420];
    snprintf(path, sizeof path, "%s%s", test_store_path(), end);
    CHECK(unlink(path) == 0);
}

static int commit_one(struct store *store, struct journal *journal, uint64_t seq, rondo_error *err)
{
    int rc = try_append(journal, seq, err);
    return rc < 0 ? rc : store_commit(store, err);
}

/* A run of a store whose file with this end to its name is removed then. */
static struct journal *removed(const char *end, struct store **ret)
{
    rondo_error err;
    *ret = test_store(STORE_CREATE);
    struct journal *journal = test_run(*ret, "r");
    put_records(journal, 1, 1, 30);
    commit(*ret);
    CHECK_INT(store_check_file(*ret, &err), 0);
    remove_file(end);
    return journal;
}

static const char gone[] = "the file or its WAL was removed or replaced while it was in use";

TEST(a_removed_store_is_noticed_when_it_is_asked_for)
{
    rondo_error err;
    struct store *store;
    removed("", &store);
    CHECK_INT(store_check_file(store, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, gone) && strstr(err.message, test_store_path()));
    store_close(store);
    remove_file("-wal");
}

TEST(a_removed_wal_is_noticed_also_when_there_is_another_one)
{
    rondo_error err;
    struct store *store;
    removed("-wal", &store);
    CHECK_INT(store_check_file(store, &err), RONDO_ESTORE);
    char path[420];
    snprintf(path, sizeof path, "%s-wal", test_store_path());
    write_whole(path, "", 0);
    CHECK_INT(store_check_file(store, &err), RONDO_ESTORE);
    store_close(store);
}

TEST(a_removed_store_is_noticed_when_the_wal_is_folded_in)
{
    rondo_error err;
    struct store *store;
    struct journal *journal = removed("", &store);
    CHECK_INT(commit_one(store, journal, 2, &err), 0);
    store->wal_most = 1;
    CHECK_INT(commit_one(store, journal, 3, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, gone));
    CHECK_INT(try_append(journal, 4, &err), RONDO_ESTORE); // the journal is lost
    store_close(store);
    remove_file("-wal");
}

TEST(a_removed_store_is_noticed_after_some_seconds)
{
    rondo_error err;
    struct store *store;
    struct journal *journal = removed("", &store);
    CHECK_INT(commit_one(store, journal, 2, &err), 0);
    store_set_now(store, store->now_ns + 11000000000);
    CHECK_INT(commit_one(store, journal, 3, &err), RONDO_ESTORE);
    CHECK(strstr(err.message, gone));
    store_close(store);
    remove_file("-wal");
}

/* ---- in a process of its own ----------------------------------------------------------------------------- */

static void add_records(uint64_t first, uint64_t last)
{
    struct store *store = test_store(0);
    struct journal *run = take_run(store, "r");
    put_records(run, first, last, 30);
    commit(store);
    store_close(store);
}

static void check_all(uint64_t last)
{
    struct store *store = test_store(0);
    struct journal *run = look_run(store, "r");
    CHECK_UINT(check_records(run, 1, 30), last + 1);
    close_journal(run);
    store_close(store);
}

static blkcnt_t blocks_of(const char *path)
{
    struct stat st;
    CHECK(stat(path, &st) == 0);
    return st.st_blocks;
}

/* The index of a WAL is not cut off then, but whatever it says is of no interest. */
TEST(an_index_that_was_left_behind_is_not_believed)
{
    size_t len;
    store_tune();
    struct store *store = test_store(STORE_CREATE);
    test_run(store, "r");
    commit(store);
    store_close(store);
    add_records(1, 3);
    char *early = read_whole(index_path(), &len);
    CHECK_UINT(len, 32768);
    add_records(4, 9);
    write_whole(index_path(), early, len);
    check_all(9);
    add_records(10, 12);
    memset(early, 0xff, len);
    write_whole(index_path(), early, len);
    check_all(12);
    CHECK(truncate(index_path(), 0) == 0);
    check_all(12);
    CHECK(truncate(index_path(), 0) == 0 && truncate(index_path(), 32768) == 0);
    check_all(12);
    CHECK(blocks_of(index_path()) * 512 >= 32768);
    check_all(12);
    mem_free(early);
}
