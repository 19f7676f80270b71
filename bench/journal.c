/* journal.c - what a durable record costs, below the engine: append and commit in a store.

   A record has 160 bytes, as the turn of a step with a short result has.  Called as

       journal one kill|power N        one run, a commit for each record        store_LEVEL_us
       journal many kill|power N       64 runs, a record of each per commit     store_LEVEL_per_s
       journal sync N                  fdatasync of 4 KB, for comparison        fdatasync_us
       journal read N                  reading N records back                   store_read_ns
       journal seek N                  finding events of N records, here and there   store_seek_us
       journal open N                  opening a store, looking at its header   store_open_us

   What was written is read back afterwards by another connection, and counted. */
#include "measure.h"

#include "base/buf.h"
#include "io/tempdir.h"
#include "store/store.h"

#include <fcntl.h>

#define RECORD 160
#define RUNS   64

static char *folder, path[300];

static void check(int rc, const rondo_error *err)
{
    REQUIRE(rc == 0, "%s", err->message);
}

static struct store *open_store(unsigned flags)
{
    rondo_error err = { 0 };
    struct store *store = NULL;
    check(store_open(path, flags, &store, &err), &err);
    return store;
}

static struct journal *add_run(struct store *store, int i)
{
    char id[24];
    rondo_error err = { 0 };
    struct journal *journal = NULL;
    snprintf(id, sizeof id, "run-%d", i);
    check(store_add(store, &(struct store_run){ .id = id, .name = "bench" }, NULL, 0, &journal, &err), &err);
    return journal;
}

static void append(struct journal *journal, uint64_t seq)
{
    rondo_error err = { 0 };
    char record[RECORD];
    memset(record, (int)(seq * 7), sizeof record);
    record[0] = 1;
    check(journal->ops->append(journal, record, sizeof record, seq, 1, &err), &err);
}

static uint64_t count_records(const char *id)
{
    rondo_error err = { 0 };
    struct store *store = open_store(STORE_READ_ONLY);
    struct journal *journal = NULL;
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    int rc;
    check(store_look(store, id, &journal, &err), &err);
    while ((rc = journal->ops->read(journal, &pos, &record, &len, &err)) > 0)
        REQUIRE(len == RECORD && record[RECORD - 1] == (char)((pos.seq - 1) * 7), "event %d", (int)pos.seq - 1);
    check(rc, &err);
    journal->ops->close(journal);
    store_close(store);
    return pos.seq - 1;
}

static void measure_one(unsigned level, long n, const char *figure)
{
    rondo_error err = { 0 };
    struct store *store = open_store(STORE_CREATE | level);
    struct journal *journal = add_run(store, 0);
    append(journal, 1);
    check(store_commit(store, &err), &err);
    int64_t since = measure_ns();
    for (long i = 0; i < n; i++) {
        append(journal, (uint64_t)i + 2);
        check(store_commit(store, &err), &err);
    }
    measure_print(figure, (double)(measure_ns() - since) / 1e3 / (double)n);
    journal->ops->close(journal);
    store_close(store);
    REQUIRE(count_records("run-0") == (uint64_t)n + 1, "%ld records", n);
}

static void measure_many(unsigned level, long n, const char *figure)
{
    rondo_error err = { 0 };
    struct store *store = open_store(STORE_CREATE | level);
    struct journal *journals[RUNS];
    for (int i = 0; i < RUNS; i++)
        journals[i] = add_run(store, i);
    int64_t since = measure_ns();
    for (long i = 0; i < n / RUNS; i++) {
        for (int k = 0; k < RUNS; k++)
            append(journals[k], (uint64_t)i + 1);
        check(store_commit(store, &err), &err);
    }
    measure_print(figure, (double)(n / RUNS * RUNS) * 1e9 / (double)(measure_ns() - since));
    for (int i = 0; i < RUNS; i++)
        journals[i]->ops->close(journals[i]);
    store_close(store);
    REQUIRE(count_records("run-63") == (uint64_t)(n / RUNS), "%ld records", n / RUNS);
}

static void measure_sync(long n)
{
    static char page[4096];
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    int64_t since = measure_ns();
    for (long i = 0; i < n; i++) {
        REQUIRE(pwrite(fd, page, sizeof page, (off_t)(i % 1000 * 4096)) == sizeof page, "%s", strerror(errno));
        REQUIRE(fdatasync(fd) == 0, "%s", strerror(errno));
    }
    measure_print("fdatasync_us", (double)(measure_ns() - since) / 1e3 / (double)n);
    close(fd);
}

static void measure_read(long n)
{
    rondo_error err = { 0 };
    struct store *store = open_store(STORE_CREATE);
    struct journal *journal = add_run(store, 0);
    for (long i = 0; i < n; i++)
        append(journal, (uint64_t)i + 1);
    check(store_commit(store, &err), &err);
    journal->ops->close(journal);
    store_close(store);
    int64_t since = measure_ns();
    REQUIRE(count_records("run-0") == (uint64_t)n, "%ld records", n);
    measure_print("store_read_ns", (double)(measure_ns() - since) / (double)n);
}

static void measure_seek(long n)
{
    rondo_error err = { 0 };
    struct store *store = open_store(STORE_CREATE);
    struct journal *journal = add_run(store, 0), *noise = add_run(store, 1);
    const char *record;
    size_t len;
    uint64_t seq = 0;
    for (long i = 0; i < n; i++) {
        append(journal, (uint64_t)i + 1);
        append(noise, (uint64_t)i + 1);
    }
    check(store_commit(store, &err), &err);
    int64_t since = measure_ns();
    for (long i = 0; i < n; i++) {
        struct journal_pos pos;
        seq = (seq + 7919) % (uint64_t)n;
        REQUIRE(journal->ops->seek(journal, seq + 1, &pos), "event %ld", (long)seq + 1);
        REQUIRE(journal->ops->read(journal, &pos, &record, &len, &err) == 1, "%s", err.message);
        REQUIRE(record[RECORD - 1] == (char)((seq + 1) * 7), "event %ld", (long)seq + 1);
    }
    measure_print("store_seek_us", (double)(measure_ns() - since) / 1e3 / (double)n);
    store_close(store);
}

static void measure_open(long n)
{
    store_close(open_store(STORE_CREATE));
    int64_t since = measure_ns();
    for (long i = 0; i < n; i++)
        store_close(open_store(0));
    measure_print("store_open_us", (double)(measure_ns() - since) / 1e3 / (double)n);
}

int main(int argc, char **argv)
{
    rondo_error err;
    REQUIRE(argc >= 3, "journal one|many kill|power N, journal sync|read|seek|open N");
    bool power = argc > 3 && strcmp(argv[2], "power") == 0;
    long n = measure_count(argv[argc - 1]);
    folder = tempdir_make(&err);
    REQUIRE(folder, "%s", err.message);
    snprintf(path, sizeof path, "%s/rondo.db", folder);
    if (strcmp(argv[1], "one") == 0)
        measure_one(power ? STORE_POWER : 0, n, power ? "store_power_us" : "store_kill_us");
    else if (strcmp(argv[1], "many") == 0)
        measure_many(power ? STORE_POWER : 0, n, power ? "store_power_per_s" : "store_kill_per_s");
    else if (strcmp(argv[1], "sync") == 0)
        measure_sync(n);
    else if (strcmp(argv[1], "read") == 0)
        measure_read(n);
    else if (strcmp(argv[1], "seek") == 0)
        measure_seek(n);
    else
        measure_open(n);
    tempdir_remove(folder);
    mem_free(folder);
    return 0;
}
