/* test_store.c - runs that outlive their process: the store and its journals. */
#include "stores.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- journals: in memory, and in a store ------------------------------------------------------------------- */

/* What a case is given: a journal, and a way to come back to it later (in a store: by another process). */
struct world {
    struct store *store; // NULL: in memory
    struct journal *journal;
};

static void world_commit(struct world *w)
{
    if (w->store)
        commit(w->store);
}

static void world_reopen(struct world *w)
{
    if (!w->store)
        return;
    commit(w->store);
    close_journal(w->journal);
    store_close(w->store);
    w->store = test_store(0);
    w->journal = take_run(w->store, "run");
}

static void world_tidy(struct world *w)
{
    rondo_error err;
    if (w->store)
        CHECK_INT(store_tidy(w->store, &err), 0);
}

static void in_both_worlds(void (*claim)(struct world *w))
{
    struct world memory = { NULL, journal_in_memory() };
    claim(&memory);
    close_journal(memory.journal);
    struct world stored = { test_store(STORE_CREATE) };
    stored.journal = test_run(stored.store, "run");
    claim(&stored);
    close_journal(stored.journal);
    store_close(stored.store);
}

static void what_is_appended_is_read(struct world *w)
{
    put_record(w->journal, 1, 1, 20);
    put_record(w->journal, 2, 3, 20);
    CHECK_UINT(check_records(w->journal, 1, 20), 5); // before it is committed, too
    world_commit(w);
    put_record(w->journal, 5, 1, 20);
    CHECK_UINT(check_records(w->journal, 1, 20), 6);
    world_reopen(w);
    CHECK_UINT(check_records(w->journal, 1, 20), 6);
    put_record(w->journal, 6, 200, 20);
    CHECK_UINT(check_records(w->journal, 1, 20), 206);
}

static void an_empty_journal_has_nothing(struct world *w)
{
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    rondo_error err;
    CHECK_INT(w->journal->ops->read(w->journal, &pos, &record, &len, &err), 0);
    CHECK(!w->journal->ops->seek(w->journal, 1, &pos));
    put_record(w->journal, 1, 1, 10);
    CHECK(!w->journal->ops->seek(w->journal, 2, &pos));
}

static void many_records_are_read(struct world *w)
{
    for (uint64_t i = 1; i <= 3000; i++) {
        put_record(w->journal, i, 1, 400);
        if (i % 100 == 0)
            world_commit(w);
        if (i == 1500)
            world_tidy(w);
        if (i == 2500)
            world_reopen(w);
    }
    CHECK_UINT(check_records(w->journal, 1, 400), 3001);
    world_tidy(w);
    CHECK_UINT(check_records(w->journal, 1, 400), 3001);
    CHECK_UINT(check_records(w->journal, 2999, 400), 3001);
}

static void big_records_are_read(struct world *w)
{
    put_record(w->journal, 1, 1, 100);
    put_record(w->journal, 2, 2, 3000000);
    put_record(w->journal, 4, 1, 3000000);
    CHECK_UINT(check_records(w->journal, 4, 3000000), 5);
    world_commit(w);
    world_tidy(w);
    CHECK_UINT(check_records(w->journal, 2, 3000000), 5);
    put_record(w->journal, 5, 1, 3000000);
    world_reopen(w);
    CHECK_UINT(check_records(w->journal, 2, 3000000), 6);
}

static void check_seek(struct journal *journal, uint64_t seq, uint64_t first)
{
    struct journal_pos pos;
    const char *record;
    size_t len;
    rondo_error err;
    CHECK(journal->ops->seek(journal, seq, &pos));
    CHECK_UINT(pos.seq, first);
    CHECK_INT(journal->ops->read(journal, &pos, &record, &len, &err), 1);
    CHECK_UINT(pos.seq, first + 3);
}

static void any_event_is_found(struct world *w)
{
    for (uint64_t i = 0; i < 1000; i++) {
        put_record(w->journal, 1 + 3 * i, 3, 300);
        if (i == 400)
            world_reopen(w);
        if (i == 600) {
            world_commit(w);
            world_tidy(w);
        }
    }
    for (uint64_t i = 0, at = 0; i < 2000; i++) {
        at = (at + 797) % 3000;
        check_seek(w->journal, at + 1, at / 3 * 3 + 1);
    }
    struct journal_pos pos;
    CHECK(!w->journal->ops->seek(w->journal, 3001, &pos));
}

TEST(a_journal_gives_back_what_was_appended)
{
    in_both_worlds(what_is_appended_is_read);
}

TEST(a_journal_may_be_empty)
{
    in_both_worlds(an_empty_journal_has_nothing);
}

TEST(a_journal_holds_many_records)
{
    in_both_worlds(many_records_are_read);
}

TEST(a_journal_holds_big_records)
{
    in_both_worlds(big_records_are_read);
}

TEST(a_journal_finds_any_event)
{
    in_both_worlds(any_event_is_found);
}
