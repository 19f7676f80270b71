/* test_frames.c - what SQLite writes into a WAL arrives there, a frame at a time. */
#include "shim.h"
#include "stores.h"

#include "store/db.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEAD  24
#define LARGE ((size_t)12 << 20)

struct tally {
    uint32_t frames, heads; // written whole; heads alone
    uint32_t others;
};

static struct tally count_writes(void)
{
    struct tally tally = { 0 };
    struct shim_op op;
    for (size_t pos = 0; shim_next(&pos, &op);) {
        if (op.kind != SHIM_WRITE || op.file != SHIM_WAL)
            continue;
        uint32_t *which = op.len == HEAD           ? &tally.heads
                          : op.len == HEAD + DB_PAGE ? &tally.frames
                                                     : &tally.others;
        ++*which;
    }
    return tally;
}

TEST(a_commit_of_one_record_is_one_write)
{
    shim_install();
    struct store *store = test_store(STORE_CREATE);
    struct journal *run = test_run(store, "r");
    commit(store);
    shim_record();
    for (uint64_t seq = 1; seq <= 10; seq++) {
        put_record(run, seq, 1, 30);
        commit(store);
    }
    shim_stop();
    struct tally tally = count_writes();
    CHECK_UINT(tally.heads, 0);
    CHECK_UINT(tally.others, 0);
    CHECK_UINT(tally.frames, 10);
    store_close(store);
}

/* More than SQLite keeps in memory goes into the WAL before it is committed; a page that is needed again is written
   over there, and all checksums behind it are mended. */
static void add_run(struct store *store)
{
    rondo_error err = { 0 };
    struct journal *run;
    char *text = mem_alloc(LARGE);
    memset(text, 'x', LARGE);
    CHECK_INT(store_add(store, &(struct store_run){ .id = "r" }, text, LARGE, &run, &err), 0);
    put_record(run, 1, 1, 30);
    mem_free(text);
}

TEST(a_batch_that_is_larger_than_memory_is_whole_when_it_is_committed)
{
    int status;
    size_t len;
    shim_install();
    store_close(test_store(STORE_CREATE));
    shim_record();
    if (fork() == 0) {
        struct store *store = test_store(0);
        store->wal_most = INT32_MAX; // it stays where it is
        add_run(store);
        commit(store);
        _exit(0); // nothing is closed
    }
    CHECK(wait(&status) > 0 && status == 0);
    shim_stop();
    CHECK(count_writes().heads > 1000);
    struct store *store = test_store(0);
    CHECK_NULL(store_notice(store));
    struct journal *run = look_run(store, "r");
    CHECK_UINT(check_records(run, 1, 30), 2);
    CHECK(store_definition(run, &len) && len == LARGE);
    store_close(store);
}
