/* test_store_journal.c - journals, in memory and in a store, and the log that is gathered. */
#include "stores.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- journals: in memory, and in a store ------------------------------------------------------------- */

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

/* ---- gathering --------------------------------------------------------------------------------------- */

TEST(a_long_log_is_gathered_without_being_asked)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *a = test_run(store, "a"), *b = test_run(store, "b");
    for (uint64_t i = 1; i <= 20000; i++) {
        put_record(a, i, 1, 40);
        if (i % 10 == 0)
            put_record(b, i / 10, 1, 40);
        if (i % 50 == 0)
            commit(store);
    }
    CHECK(test_sql_number("SELECT count(*) FROM log") < 17000);
    CHECK(test_sql_number("SELECT count(*) FROM chunk") > 2);
    CHECK_UINT(check_records(a, 1, 40), 20001);
    CHECK_UINT(check_records(b, 1, 40), 2001);
    for (uint64_t i = 2001; i <= 2020; i++) { // by its size
        put_record(b, i, 1, 1000000);
        commit(store);
    }
    CHECK(test_sql_number("SELECT sum(length(record)) FROM log") < 9000000);
    CHECK_UINT(check_records(b, 2001, 1000000), 2021);
    tidy(store);
    CHECK_INT(test_sql_number("SELECT count(*) FROM log"), 1);
    CHECK_UINT(check_records(b, 2001, 1000000), 2021);
    store_close(store);
}

TEST(small_rests_go_to_the_end_of_the_last_chunk)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    for (uint64_t i = 1; i <= 100; i++) {
        put_record(journal, i, 1, 100);
        commit(store);
        tidy(store);
    }
    CHECK_INT(test_sql_number("SELECT count(*) FROM chunk"), 1);
    CHECK_UINT(check_records(journal, 1, 100), 101);
    CHECK_UINT(check_records(look_run(store, "run"), 1, 100), 101);
    store_close(store);
}

/* Anything in any order, against what should be there. */
struct model {
    char id[12];
    struct journal *journal; // NULL: closed
    int where;               // which store drives it
    bool in_batch;
    uint64_t committed, last;
};

static uint64_t chance;

static uint64_t dice(uint64_t n)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return chance % n;
}

static void settle(struct model *models, int count, int where, bool kept)
{
    for (int i = 0; i < count; i++) {
        if (models[i].where != where || !models[i].in_batch)
            continue;
        models[i].in_batch = false;
        if (kept) {
            models[i].committed = models[i].last;
            continue;
        }
        models[i].last = models[i].committed;
        close_journal(models[i].journal);
        models[i].journal = NULL;
    }
}

static void play(uint64_t seed)
{
    enum { RUNS = 6 };
    struct model models[RUNS];
    struct store *stores[2] = { test_store(STORE_CREATE), test_store(0) };
    int writer = -1; // who has a batch open
    chance = seed * 0x9e3779b97f4a7c15u + 1;
    for (int i = 0; i < RUNS; i++) {
        models[i] = (struct model){ .where = i % 2 };
        snprintf(models[i].id, sizeof models[i].id, "s%d-r%d", (int)seed, i);
        models[i].journal = test_run(stores[i % 2], models[i].id);
        commit(stores[i % 2]);
    }
    for (int step = 0; step < 1500; step++) {
        struct model *m = &models[dice(RUNS)];
        switch (dice(12)) {
        case 0: case 1: case 2: case 3: case 4: case 5:
            if (writer >= 0 && writer != m->where)
                break;
            if (!m->journal) {
                m->journal = take_run(stores[m->where], m->id);
                m->in_batch = writer >= 0;
                break;
            }
            put_records(m->journal, m->last + 1, m->last + 1 + dice(5), 50);
            while (check_records(m->journal, MAX(m->last, 1), 50) > m->last + 1)
                m->last++;
            m->in_batch = true;
            writer = m->where;
            break;
        case 6: case 7:
            if (writer < 0)
                break;
            commit(stores[writer]);
            settle(models, RUNS, writer, true);
            writer = -1;
            break;
        case 8:
            if (writer < 0)
                break;
            store_rollback(stores[writer]);
            settle(models, RUNS, writer, false);
            writer = -1;
            break;
        case 9:
            if (writer < 0)
                tidy(stores[dice(2)]);
            break;
        case 10: {
            struct journal *look = look_run(stores[!m->where], m->id);
            if (m->committed)
                CHECK_UINT(check_records(look, 1 + dice(m->committed), 50), m->committed + 1);
            close_journal(look);
            break;
        }
        default:
            if (writer >= 0 || !m->journal)
                break;
            close_journal(m->journal);
            m->where = (int)dice(2);
            m->journal = take_run(stores[m->where], m->id);
            CHECK_UINT(check_records(m->journal, 1, 50), m->committed + 1);
        }
    }
    if (writer >= 0) { // or the other one would wait for it
        store_rollback(stores[writer]);
        settle(models, RUNS, writer, false);
    }
    store_close(stores[0]);
    store_close(stores[1]);
    struct store *store = test_store(0);
    for (int i = 0; i < RUNS; i++)
        CHECK_UINT(check_records(look_run(store, models[i].id), 1, 50), models[i].committed + 1);
    store_close(store);
}

TEST(anything_in_any_order_keeps_what_was_committed)
{
    for (uint64_t seed = 1; seed <= 12; seed++)
        play(seed);
}
