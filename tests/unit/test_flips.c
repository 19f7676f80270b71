/* test_flips.c - damage: a flipped bit is named or does no harm, wherever it is.

   The store is small and has everything: runs that ended and runs that were interrupted, chunks and a log, long
   texts.  One bit after the other is turned over, in every page that has rows of events or texts, and all runs are
   looked at: each event is what it was, or there is an error that says what is damaged.

   RONDO_TORTURE in the environment: every bit, not only a sample. */
#include "base/buf.h"
#include "lives.h"
#include "test.h"

#include <fcntl.h>
#include <rondo.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[300], wal_path[310], shm_path[310];

static void name_files(void)
{
    snprintf(path, sizeof path, "%s/rondo.db", lives_folder());
    snprintf(wal_path, sizeof wal_path, "%s-wal", path);
    snprintf(shm_path, sizeof shm_path, "%s-shm", path);
}

static void stop_at(int life, uint64_t seq, uint64_t hash, void *user)
{
    static uint32_t events;
    if (user && ++events == *(uint32_t *)user)
        _exit(0);
}

/* A store whose driver died after so many events (0: not at all). */
static void drive(uint32_t events, uint32_t tidy, uint32_t fold)
{
    name_files();
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        rondo_error err = { 0 };
        struct trip trip = { .path = path, .tidy = tidy, .fold = fold, .small = true, .on_event = stop_at,
                             .user = events ? &events : NULL };
        if (lives_drive(&trip, &err) < 0)
            FAIL("%s", err.message);
        _exit(0);
    }
    int status;
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    unlink(shm_path);
}

static void fold_in(void)
{
    sqlite3 *db;
    CHECK(sqlite3_open(path, &db) == SQLITE_OK);
    CHECK(sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL) == SQLITE_OK);
    CHECK(sqlite3_close(db) == SQLITE_OK);
    unlink(wal_path);
    unlink(shm_path);
}

struct flips {
    const char *file;
    int fd;
    struct lives all;
    uint32_t tried, named, noticed, harmless;
};

static void begin(struct flips *flips, const char *file)
{
    rondo_error err = { 0 };
    *flips = (struct flips){ file, open(file, O_RDWR) };
    CHECK(flips->fd >= 0);
    if (lives_look(path, 0, NULL, true, &flips->all, &err) < 0)
        FAIL("%s", err.message);
    unlink(shm_path);
}

static void flip_byte(int fd, uint64_t bit)
{
    unsigned char byte;
    CHECK(pread(fd, &byte, 1, (off_t)(bit / 8)) == 1);
    byte ^= (unsigned char)(1u << bit % 8);
    CHECK(pwrite(fd, &byte, 1, (off_t)(bit / 8)) == 1);
}

static void flip(struct flips *flips, uint64_t bit)
{
    rondo_error err = { 0 };
    flip_byte(flips->fd, bit);
    printf("bit %llu of byte %llu\n", (unsigned long long)bit % 8, (unsigned long long)bit / 8);
    int rc = lives_look(path, 0, &flips->all, true, NULL, &err);
    flip_byte(flips->fd, bit);
    unlink(shm_path);
    CHECK(rc >= 0 || rc == RONDO_ESTORE || rc == RONDO_ENOTFOUND || rc == RONDO_EMISMATCH);
    CHECK(rc >= 0 || *err.message);
    flips->tried++;
    flips->named += rc < 0;
    flips->noticed += rc > 0;
    flips->harmless += rc == 0;
}

static void tell(const struct flips *flips)
{
    printf("%u bits: %u named, %u noticed, %u without harm\n", flips->tried, flips->named, flips->noticed,
           flips->harmless);
    close(flips->fd);
}

/* All pages of these tables, and their indices. */
static void flip_pages(struct flips *flips, const char *tables, uint32_t step)
{
    char sql[300];
    sqlite3 *db;
    sqlite3_stmt *stmt;
    uint64_t pages[1000], count = 0;
    snprintf(sql, sizeof sql, "SELECT pageno FROM dbstat WHERE name IN (%s) ORDER BY pageno", tables);
    CHECK(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK);
    if (sqlite3_prepare_v2(db, sql, -1, &stmt, NULL) != SQLITE_OK)
        SKIP("SQLite has no dbstat here");
    while (sqlite3_step(stmt) == SQLITE_ROW && count < 1000)
        pages[count++] = (uint64_t)sqlite3_column_int64(stmt, 0) - 1;
    sqlite3_finalize(stmt);
    sqlite3_close(db);
    unlink(wal_path);
    unlink(shm_path);
    CHECK(count > 4);
    for (uint64_t at = 0; at < count * 2048 * 8; at += step)
        flip(flips, pages[at / (2048 * 8)] * 2048 * 8 + at % (2048 * 8));
}

#define TABLES "'log', 'chunk', 'sqlite_autoindex_chunk_1', 'blob', 'blob_hash'"

TEST(a_flipped_bit_in_the_file_is_named_or_does_no_harm)
{
    struct flips flips;
    drive(0, 40, 0);
    fold_in();
    begin(&flips, path);
    flip_pages(&flips, TABLES, lives_torture() ? 1 : 211);
    CHECK(flips.named > flips.tried / 4);
    tell(&flips);
}

TEST(a_flipped_bit_is_named_when_runs_were_interrupted)
{
    struct flips flips;
    drive(70, 40, 0);
    fold_in();
    begin(&flips, path);
    flip_pages(&flips, TABLES, lives_torture() ? 1 : 211);
    CHECK(flips.named > flips.tried / 4);
    tell(&flips);
}

/* ---- the WAL ---------------------------------------------------------------------------------------- */

static uint64_t size_of(const char *file)
{
    struct stat st;
    CHECK(stat(file, &st) == 0);
    return (uint64_t)st.st_size;
}

/* The header and the first frames bit by bit, the rest now and then. */
static void flip_wal(uint32_t events, uint32_t fold)
{
    struct flips flips;
    drive(events, 40, fold);
    begin(&flips, wal_path);
    uint64_t bits = size_of(wal_path) * 8, step = lives_torture() ? 61 : 1999;
    for (uint64_t bit = 0; bit < bits; bit += bit < 4200 * 8 && lives_torture() ? 1 : bit < 56 * 8 ? 5 : step)
        flip(&flips, bit);
    CHECK(flips.named > 5);
    CHECK(flips.noticed > 50 || fold);
    tell(&flips);
}

/* Without the notice what lies behind would be gone and nobody would know. */
TEST(a_flipped_bit_in_the_wal_is_noticed)
{
    flip_wal(70, 0);
}

/* Most of it is in the file already: what is left of the WAL would be older than that. */
TEST(a_flipped_bit_in_a_wal_that_was_folded_in_is_named_or_noticed)
{
    flip_wal(70, 20);
}

/* ---- notices ------------------------------------------------------------------------------------------------ */

static bool has_notice(void)
{
    rondo_error err = { 0 };
    rondo_store *store;
    if (rondo_store_open(path, NULL, &store, &err) < 0)
        FAIL("%s", err.message);
    bool has = rondo_store_notice(store) != NULL;
    CHECK(!has || strstr(rondo_store_notice(store), "cannot be read, from byte "));
    rondo_store_close(store);
    return has;
}

/* Whoever may write cuts off what cannot be read, and goes on. */
TEST(a_torn_end_is_told_once)
{
    rondo_error err = { 0 };
    struct trip trip = { .path = path, .small = true };
    drive(70, 40, 0);
    CHECK(!has_notice());
    int fd = open(wal_path, O_RDWR);
    flip_byte(fd, size_of(wal_path) * 4);
    close(fd);
    CHECK(has_notice());
    CHECK(!has_notice());
    CHECK_INT(lives_drive(&trip, &err), 0);
    CHECK(!has_notice());
}

/* As SQLite writes it, with other salts, where the processor has its lowest byte first. */
static void begin_anew(unsigned char header[32])
{
    uint32_t sums[2] = { 0 }, words[6];
    for (int i = 16; i < 24; i++)
        header[i] ^= 0x5a;
    memcpy(words, header, sizeof words);
    for (int i = 0; i < 6; i += 2) {
        sums[0] += words[i] + sums[1];
        sums[1] += words[i + 1] + sums[0];
    }
    for (int i = 0; i < 8; i++)
        header[24 + i] = (unsigned char)(sums[i / 4] >> (24 - 8 * (i % 4)));
}

/* All but its last byte was written, and of that all bits but one were the same before: that is no flipped bit. */
TEST(a_header_that_was_not_finished_is_not_taken_for_a_damaged_one)
{
    unsigned char header[32];
    drive(70, 40, 0);
    int fd = open(wal_path, O_RDWR);
    CHECK_INT(pread(fd, header, sizeof header, 0), 32);
    begin_anew(header);
    header[31] ^= 4;
    CHECK_INT(pwrite(fd, header, sizeof header, 0), 32);
    close(fd);
    CHECK(has_notice()); // of the frames behind it
    CHECK(!has_notice());
}

/* However often the WAL was folded in and begun anew. */
TEST(a_store_in_order_has_no_notice)
{
    rondo_error err = { 0 };
    name_files();
    for (uint32_t round = 0; round < 8; round++) {
        struct trip trip = { .path = path, .round = round, .tidy = 30, .fold = round % 3 ? 20 + round : 0 };
        if (lives_drive(&trip, &err) < 0)
            FAIL("%s", err.message);
        CHECK(!trip.noticed);
        CHECK(!has_notice());
        CHECK_INT(lives_look(path, round, NULL, false, NULL, &err), 0);
    }
}
