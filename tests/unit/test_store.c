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

/* ---- batches ----------------------------------------------------------------------------------------- */

static int append(struct journal *journal, uint64_t first, rondo_error *err)
{
    auto_buf struct buf record = { 0 };
    make_record(&record, first, 1, 30);
    return journal->ops->append(journal, record.data, record.len, first, 1, err);
}

TEST(what_was_not_committed_is_not_there)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    put_records(journal, 1, 5, 30);
    CHECK(store_has_batch(store));
    commit(store);
    CHECK(!store_has_batch(store));
    put_records(journal, 6, 9, 30);
    CHECK(store_has_batch(store));
    store_close(store); // with its journals
    store = test_store(0);
    journal = look_run(store, "run");
    CHECK_UINT(check_records(journal, 1, 30), 6);
    store_close(store);
}

TEST(a_journal_whose_batch_was_lost_is_of_no_more_use)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *a = test_run(store, "a"), *b = test_run(store, "b");
    put_records(a, 1, 2, 30);
    put_records(b, 1, 2, 30);
    commit(store);
    put_records(a, 3, 4, 30);
    store_rollback(store);
    CHECK_INT(append(a, 3, &err), RONDO_ESTORE);
    CHECK_STR(err.message, "run 'a' is no longer written here: it has to be taken again");
    put_records(b, 3, 4, 30); // had no part in it
    commit(store);
    close_journal(a);
    a = take_run(store, "a");
    CHECK_UINT(check_records(a, 1, 30), 3);
    put_records(a, 3, 3, 30);
    commit(store);
    CHECK_UINT(check_records(a, 1, 30), 4);
    store_close(store);
}

TEST(a_record_that_does_not_follow_is_refused)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    put_records(journal, 1, 2, 30);
    CHECK_INT(append(journal, 4, &err), RONDO_ESTORE);
    CHECK_STR(err.message, "event 4 of run 'run' is not the next one, which is 3");
    CHECK_INT(journal->ops->append(journal, "\2abc", 4, 3, 1, &err), RONDO_ESTORE);
    CHECK_STR(err.message, "a record of 1 events does not begin with their number");
    CHECK_INT(journal->ops->append(journal, "\0abc", 4, 3, 0, &err), RONDO_ESTORE);
    put_records(journal, 3, 3, 30); // nothing is lost by it
    commit(store);
    CHECK_UINT(check_records(journal, 1, 30), 4);
    store_close(store);
}

TEST(an_id_is_taken_once)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal;
    test_run(store, "run");
    CHECK_INT(store_add(store, &(struct store_run){ .id = "run" }, NULL, 0, &journal, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "there is a run 'run' already");
    CHECK_INT(store_add(store, &(struct store_run){ .id = "" }, NULL, 0, &journal, &err), RONDO_EINVAL);
    commit(store);
    CHECK_INT(test_sql_number("SELECT count(*) FROM run"), 1);
    store_close(store);
}

TEST(nothing_is_committed_when_nothing_was_written)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    store_has_news(other);
    commit(store);
    CHECK(!store_has_news(other));
    test_run(store, "run");
    CHECK(!store_has_news(other));
    commit(store);
    CHECK(store_has_news(other));
    CHECK(!store_has_news(other));
    CHECK(!store_has_batch(store));
    store_close(store);
    store_close(other);
}

TEST(ones_own_writing_is_no_news)
{
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    commit(store);
    store_has_news(store);
    put_records(journal, 1, 10, 30);
    commit(store);
    CHECK(!store_has_news(store));
    store_close(store);
}

/* ---- rows -------------------------------------------------------------------------------------------- */

TEST(a_run_is_found_by_the_beginning_of_its_id)
{
    rondo_error err;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    test_run(store, "draft-1234");
    test_run(store, "draft-1267");
    test_run(store, "draft");
    test_run(store, "zebra");
    commit(store);
    CHECK_STR(store_about(look_run(store, "draft-123"))->id, "draft-1234");
    CHECK_STR(store_about(look_run(store, "draft"))->id, "draft");
    CHECK_STR(store_about(look_run(store, "z"))->id, "zebra");
    CHECK_INT(store_look(store, "draft-12", &journal, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "'draft-12' may be 'draft-1234' or 'draft-1267': say more of it");
    CHECK_INT(store_look(store, "zebre", &journal, &err), RONDO_ENOTFOUND);
    CHECK_STR(err.message, "there is no run 'zebre'; did you mean 'zebra'?");
    CHECK_INT(store_look(store, "", &journal, &err), RONDO_ENOTFOUND);
    CHECK_INT(store_look(store, "%", &journal, &err), RONDO_ENOTFOUND);
    store_close(store);
}

TEST(a_row_says_what_is_known_of_a_run)
{
    rondo_error err;
    size_t len;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    json_t *about = json_pack("{s:i, s:s}", "tokens", 12, "text", "\xc3\xa4");
    struct store_run run = { .id = "r", .name = "refine", .session = "s", .status = 2, .start_ns = 5, .end_ns = 9,
                             .hash = UINT64_MAX - 3, .about = about };
    CHECK_INT(store_add(store, &run, "the text", 8, &journal, &err), 0);
    put_records(journal, 1, 3, 30);
    commit(store);
    run.status = 4;
    run.waiting = true;
    run.end_ns = 77;
    run.last_seq = 3;
    CHECK_INT(store_sum_up(journal, &run, &err), 0);
    commit(store);
    close_journal(journal);
    store_close(store);

    store = test_store(STORE_READ_ONLY);
    journal = look_run(store, "r");
    const struct store_run *row = store_about(journal);
    CHECK_STR(row->id, "r");
    CHECK_STR(row->name, "refine");
    CHECK_STR(row->session, "s");
    CHECK_STR(row->holder, "");
    CHECK_INT(row->status, 4);
    CHECK(row->waiting);
    CHECK_INT(row->start_ns, 5);
    CHECK_INT(row->end_ns, 77);
    CHECK(row->hash == UINT64_MAX - 3);
    CHECK_UINT(row->last_seq, 3);
    CHECK(json_equal(row->about, about));
    CHECK_STR(store_definition(journal, &len), "the text");
    CHECK_UINT(len, 8);
    json_decref(about);
    store_close(store);
}

TEST(a_definition_is_kept_once)
{
    rondo_error err;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    for (int i = 0; i < 5; i++) {
        char id[] = { (char)('a' + i), 0 };
        struct store_run run = { .id = id };
        CHECK_INT(store_add(store, &run, i < 3 ? "same" : "other", 4 + (i >= 3), &journal, &err), 0);
    }
    CHECK_INT(store_add(store, &(struct store_run){ .id = "without" }, NULL, 0, &journal, &err), 0);
    commit(store);
    size_t len;
    CHECK_NULL(store_definition(journal, &len));
    CHECK_INT(test_sql_number("SELECT count(*) FROM definition"), 2);
    CHECK_STR(store_definition(look_run(store, "e"), &len), "other");
    store_close(store);
}

static void list_ids(const struct store_run *run, void *user)
{
    strcat(user, run->id);
    strcat(user, " ");
}

static const char *ids(struct store *store, struct store_filter filter)
{
    static char list[500];
    rondo_error err;
    *list = '\0';
    CHECK_INT(store_runs(store, &filter, list_ids, list, &err), 0);
    return list;
}

TEST(runs_are_listed_newest_first)
{
    rondo_error err;
    struct journal *journal;
    struct store *store = test_store(STORE_CREATE);
    static const struct store_run runs[] = {
        { .id = "a", .name = "x", .status = 1, .start_ns = 10 },
        { .id = "b", .name = "y", .status = 2, .start_ns = 30, .session = "s" },
        { .id = "c", .name = "x", .status = 3, .start_ns = 20, .session = "s" },
        { .id = "d", .name = "x", .status = 1, .start_ns = 30 },
    };
    for (size_t i = 0; i < COUNT(runs); i++)
        CHECK_INT(store_add(store, &runs[i], NULL, 0, &journal, &err), 0);
    CHECK_STR(ids(store, (struct store_filter){ 0 }), "d b c a ");
    CHECK_STR(ids(store, (struct store_filter){ .limit = 2 }), "d b ");
    CHECK_STR(ids(store, (struct store_filter){ .name = "x" }), "d c a ");
    CHECK_STR(ids(store, (struct store_filter){ .session = "s" }), "b c ");
    CHECK_STR(ids(store, (struct store_filter){ .status = 1 << 1 }), "d a ");
    CHECK_STR(ids(store, (struct store_filter){ .status = 1 << 2 | 1 << 3 }), "b c ");
    CHECK_STR(ids(store, (struct store_filter){ .since_ns = 20, .until_ns = 29 }), "c ");
    CHECK_STR(ids(store, (struct store_filter){ .name = "nothing" }), "");
    store_close(store);
}

/* ---- several processes, or several stores on one file ------------------------------------------------ */

TEST(a_reader_sees_what_others_commit)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE), *other = test_store(STORE_READ_ONLY);
    struct journal *journal = test_run(store, "run"), *other_run = test_run(store, "other");
    commit(store);
    struct journal *reader = look_run(other, "run");
    uint64_t seen = 1;
    for (uint64_t i = 1; i <= 400; i++) {
        put_record(journal, i, 1, 300);
        put_record(other_run, i, 1, 300);
        CHECK_UINT(check_records(reader, 1, 300), seen);
        commit(store);
        seen = i + 1;
        if (i % 90 == 0)
            CHECK_INT(store_tidy(store, &err), 0);
        if (i % 60 == 0)
            CHECK_UINT(check_records(reader, i, 300), seen);
    }
    CHECK_UINT(check_records(reader, 1, 300), 401);
    CHECK_INT(append(reader, 401, &err), RONDO_ESTORE);
    CHECK_STR(err.message, "run 'run' was opened only for reading");
    store_close(store);
    store_close(other);
}

/* A follower that was at the end when the log was gathered, and whose run had nothing in it then. */
TEST(a_reader_follows_through_a_gathering_that_had_nothing_of_its_run)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE), *other = test_store(STORE_READ_ONLY);
    struct journal *journal = test_run(store, "run"), *noise = test_run(store, "noise");
    put_records(journal, 1, 3, 30);
    commit(store);
    CHECK_INT(store_tidy(store, &err), 0);
    put_records(noise, 1, 50, 30);
    commit(store);
    struct journal *reader = look_run(other, "run");
    CHECK_UINT(check_records(reader, 1, 30), 4);
    CHECK_INT(store_tidy(store, &err), 0);
    put_records(journal, 4, 4, 30);
    put_records(noise, 51, 200, 30);
    commit(store);
    CHECK_UINT(check_records(reader, 3, 30), 5);
    CHECK_INT(store_tidy(store, &err), 0);
    put_records(journal, 5, 5, 30);
    commit(store);
    CHECK_UINT(check_records(reader, 1, 30), 6);
    CHECK_UINT(check_records(reader, 5, 30), 6);
    store_close(store);
    store_close(other);
}

TEST(two_stores_write_in_turn)
{
    rondo_error err;
    struct store *stores[2] = { test_store(STORE_CREATE), test_store(0) };
    struct journal *journals[2] = { test_run(stores[0], "a") };
    commit(stores[0]);
    journals[1] = test_run(stores[1], "b");
    commit(stores[1]);
    for (uint64_t i = 1; i <= 300; i++)
        for (int k = 0; k < 2; k++) {
            put_record(journals[k], i, 1, 500);
            commit(stores[k]);
            if (i % 50 == 0)
                CHECK_INT(store_tidy(stores[!k], &err), 0);
        }
    for (int k = 0; k < 2; k++) {
        CHECK_UINT(check_records(journals[k], 1, 500), 301);
        CHECK_UINT(check_records(look_run(stores[k], k ? "a" : "b"), 1, 500), 301);
    }
    store_close(stores[0]);
    store_close(stores[1]);
}

/* Runs what is given in a child process; its exit status. */
static pid_t spawn(void (*what)(int out), int *ret_in)
{
    int fds[2];
    CHECK(pipe(fds) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(fds[0]);
        what(fds[1]);
        _exit(0);
    }
    close(fds[1]);
    *ret_in = fds[0];
    return pid;
}

/* Until it is dead, but not yet waited for. */
static void kill_9(pid_t pid)
{
    siginfo_t info;
    kill(pid, SIGKILL);
    CHECK(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) == 0);
}

static void wait_for(pid_t pid)
{
    int status;
    CHECK(waitpid(pid, &status, 0) == pid);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void write_2000(int out)
{
    char id[30];
    struct store *store = test_store(0);
    snprintf(id, sizeof id, "run-%d", (int)getpid());
    struct journal *journal = test_run(store, id);
    for (uint64_t i = 1; i <= 2000; i++) {
        put_record(journal, i, 1, 900);
        commit(store);
    }
    CHECK_UINT(check_records(journal, 1, 900), 2001);
    store_close(store);
}

TEST(processes_write_at_once)
{
    pid_t pids[3];
    int in;
    char id[30];
    test_folder();
    store_close(test_store(STORE_CREATE));
    for (int i = 0; i < 3; i++)
        pids[i] = spawn(write_2000, &in);
    for (int i = 0; i < 3; i++)
        wait_for(pids[i]);
    struct store *store = test_store(0);
    for (int i = 0; i < 3; i++) {
        snprintf(id, sizeof id, "run-%d", (int)pids[i]);
        CHECK_UINT(check_records(take_run(store, id), 1, 900), 2001);
    }
    store_close(store);
    CHECK_INT(test_sql_number("SELECT count(*) FROM driver"), 0);
}

static void make_too(int out)
{
    store_close(test_store(STORE_CREATE));
}

TEST(processes_make_a_store_at_once)
{
    pid_t pids[8];
    int in;
    test_folder();
    for (int i = 0; i < 8; i++)
        pids[i] = spawn(make_too, &in);
    for (int i = 0; i < 8; i++)
        wait_for(pids[i]);
    store_close(test_store(0));
}

static void write_and_tell(int out)
{
    struct store *store = test_store(0);
    struct journal *journal = take_run(store, "run");
    struct journal_pos pos;
    uint64_t next = 1;
    while (journal->ops->seek(journal, next, &pos))
        next++;
    for (;; next++) {
        put_record(journal, next, 1, 200);
        commit(store);
        if (write(out, &next, sizeof next) != sizeof next)
            _exit(1);
    }
}

TEST(what_was_acknowledged_survives_kill_9)
{
    struct store *store = test_store(STORE_CREATE);
    close_journal(test_run(store, "run"));
    commit(store);
    store_close(store);
    uint64_t told = 0;
    for (int round = 0; round < 20; round++) {
        int in;
        uint64_t seq = 0;
        pid_t pid = spawn(write_and_tell, &in);
        for (int i = 0; i < 30 + round * 5; i++) {
            CHECK_INT(read(in, &seq, sizeof seq), sizeof seq);
            CHECK(seq > told);
            told = seq;
        }
        kill_9(pid);
        while (read(in, &seq, sizeof seq) == sizeof seq)
            ;
        told = MAX(told, seq);
        close(in);
        store = test_store(0); // the lease of a zombie is free
        struct journal *journal = take_run(store, "run");
        CHECK(check_records(journal, 1, 200) > told);
        store_close(store);
        waitpid(pid, NULL, 0);
    }
}

/* ---- leases ------------------------------------------------------------------------------------------ */

TEST(a_run_is_driven_by_one)
{
    rondo_error err;
    char text[200];
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    struct journal *journal = test_run(store, "run"), *second;
    put_records(journal, 1, 2, 30);
    commit(store);
    CHECK_INT(store_take(other, "run", &second, &err), RONDO_EBUSY);
    snprintf(text, sizeof text, "run 'run' is driven by pid %d on ", (int)getpid());
    CHECK(strncmp(err.message, text, strlen(text)) == 0);
    CHECK(strstr(err.message, " since "));
    CHECK(!store_has_batch(other));
    CHECK_INT(store_take(store, "run", &second, &err), RONDO_EBUSY); // nor twice by the same
    snprintf(text, sizeof text, "pid %d on ", (int)getpid());
    CHECK(strncmp(store_about(look_run(other, "run"))->holder, text, strlen(text)) == 0);
    close_journal(journal);
    CHECK_STR(store_about(look_run(other, "run"))->holder, "");
    second = take_run(other, "run");
    put_records(second, 3, 3, 30);
    commit(other);
    CHECK_INT(store_take(store, "run", &journal, &err), RONDO_EBUSY);
    store_close(other);
    journal = take_run(store, "run");
    CHECK_UINT(check_records(journal, 1, 30), 4);
    store_close(store);
}

static void take_and_wait(int out)
{
    struct store *store = test_store(0);
    take_run(store, "run");
    CHECK(write(out, "x", 1) == 1);
    pause();
}

TEST(a_dead_process_holds_nothing)
{
    rondo_error err;
    char x;
    int in;
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    commit(store);
    close_journal(journal);
    store_close(store); // a connection must not be carried over into a child
    pid_t pid = spawn(take_and_wait, &in);
    CHECK_INT(read(in, &x, 1), 1);
    store = test_store(0);
    CHECK_INT(store_take(store, "run", &journal, &err), RONDO_EBUSY);
    kill(pid, SIGSTOP); // one that is stopped lives
    CHECK_INT(store_take(store, "run", &journal, &err), RONDO_EBUSY);
    kill_9(pid);
    take_run(store, "run");
    store_close(store);
    waitpid(pid, NULL, 0);
}

static void try_to_take(int out)
{
    rondo_error err;
    struct journal *journal;
    struct store *store = test_store(0);
    int rc = store_take(store, "run", &journal, &err);
    CHECK(rc == 0 || rc == RONDO_EBUSY);
    CHECK(write(out, rc == 0 ? "1" : "0", 1) == 1);
    if (rc == 0)
        pause();
}

TEST(of_many_who_want_a_run_one_gets_it)
{
    enum { MANY = 30 };
    pid_t pids[MANY];
    int in[MANY], winners = 0;
    struct store *store = test_store(STORE_CREATE);
    close_journal(test_run(store, "run"));
    commit(store);
    store_close(store);
    for (int i = 0; i < MANY; i++)
        pids[i] = spawn(try_to_take, &in[i]);
    for (int i = 0; i < MANY; i++) {
        char x = 0;
        CHECK_INT(read(in[i], &x, 1), 1);
        winners += x == '1';
    }
    for (int i = 0; i < MANY; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    CHECK_INT(winners, 1);
}

/* A driver on another machine is one whose place is not ours. */
TEST(the_lease_of_another_machine_expires)
{
    rondo_error err;
    struct store *far = test_store(STORE_CREATE), *near = test_store(0);
    struct journal *journal = test_run(far, "run"), *taken, *bystander = test_run(far, "bystander");
    int64_t now = 1000000000000;
    put_records(journal, 1, 3, 30);
    store_set_now(far, now);
    store_set_now(near, now);
    commit(far);
    test_sql("UPDATE driver SET place = 'elsewhere', host = 'far'");
    CHECK_INT(store_renew(far, &err), 0);
    CHECK_INT(store_take(near, "run", &taken, &err), RONDO_EBUSY);
    CHECK(strstr(err.message, " on far"));
    store_set_now(far, now += 25000000000);
    CHECK_INT(store_renew(far, &err), 0); // nothing else to do, but alive
    CHECK(!store_has_batch(far));
    store_set_now(near, now += 20000000000);
    CHECK_INT(store_take(near, "run", &taken, &err), RONDO_EBUSY);
    put_records(bystander, 1, 1, 30);
    store_set_now(far, now);
    commit(far); // every commit says so, too
    store_set_now(near, now += 29000000000);
    CHECK_INT(store_take(near, "run", &taken, &err), RONDO_EBUSY);
    store_set_now(near, now += 2000000000);
    CHECK_STR(store_about(look_run(near, "run"))->holder, "");
    taken = take_run(near, "run");
    put_records(taken, 4, 4, 30);
    commit(near);

    CHECK_INT(append(journal, 4, &err), RONDO_EBUSY); // it wakes up, and is kept out
    CHECK(strstr(err.message, "run 'run' is driven by pid"));
    CHECK_INT(append(journal, 4, &err), RONDO_ESTORE);
    put_records(bystander, 2, 2, 30); // what it still has it may write
    commit(far);
    close_journal(journal);
    CHECK_UINT(check_records(taken, 1, 30), 5);
    put_records(taken, 5, 5, 30);
    commit(near);
    store_close(far);
    store_close(near);
}

TEST(a_lease_that_is_lost_during_a_batch_takes_nothing_else_with_it)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *a = test_run(store, "a"), *b = test_run(store, "b");
    commit(store);
    test_sql("UPDATE run SET fence = fence + 1, driver = 0 WHERE id = 'a'");
    put_records(b, 1, 1, 30);
    CHECK_INT(append(a, 1, &err), RONDO_EBUSY);
    CHECK_STR(err.message, "run 'a' was taken over by another process");
    commit(store);
    CHECK_UINT(check_records(b, 1, 30), 2);
    test_sql("DELETE FROM run WHERE id = 'b'");
    CHECK_INT(append(b, 2, &err), RONDO_EBUSY);
    CHECK_STR(err.message, "run 'b' was removed by another process");
    store_rollback(store);
    store_close(store);
}

/* ---- the inbox --------------------------------------------------------------------------------------- */

TEST(a_request_reaches_the_driver)
{
    rondo_error err;
    struct store *driver = test_store(STORE_CREATE), *other = test_store(0);
    struct journal *journal = test_run(driver, "run"), *noise = test_run(driver, "noise");
    put_records(journal, 1, 1, 30);
    commit(driver);
    store_has_news(driver);
    CHECK_NULL(store_inbox(journal));
    json_t *cancel = json_pack("{s:s}", "kind", "cancel"), *answer = json_pack("{s:s, s:i}", "kind", "answer", "n", 7);
    CHECK_INT(store_send(other, "ru", cancel, &err), 0);
    CHECK_INT(store_send(other, "run", answer, &err), 0);
    CHECK_INT(store_send(other, "nobody", answer, &err), RONDO_ENOTFOUND);
    CHECK(!store_has_batch(other));
    CHECK(store_has_news(driver));
    CHECK_NULL(store_inbox(noise));
    json_t *list = store_inbox(journal);
    CHECK_UINT(json_array_size(list), 2);
    CHECK(json_equal(json_object_get(json_array_get(list, 0), "what"), cancel));
    CHECK(json_equal(json_object_get(json_array_get(list, 1), "what"), answer));
    int64_t num = json_integer_value(json_object_get(json_array_get(list, 0), "num"));
    CHECK_INT(store_inbox_done(journal, num, &err), 0);
    put_records(journal, 2, 2, 30);
    json_decref(list);
    commit(driver);
    list = store_inbox(journal);
    CHECK_UINT(json_array_size(list), 1);
    CHECK(json_equal(json_object_get(json_array_get(list, 0), "what"), answer));
    json_decref(list);
    json_decref(cancel);
    json_decref(answer);
    store_close(driver);
    store_close(other);
}

TEST(an_inbox_is_bounded)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *journal = test_run(store, "run");
    commit(store);
    json_t *what = json_pack("{s:s}", "kind", "cancel");
    for (int i = 0; i < 1000; i++)
        CHECK_INT(store_send(store, "run", what, &err), 0);
    CHECK_INT(store_send(store, "run", what, &err), RONDO_ELIMIT);
    char *text = mem_zalloc(2000001);
    memset(text, 'x', 2000000);
    json_t *long_one = json_pack("{s:s}", "kind", text);
    CHECK_INT(store_send(store, "run", long_one, &err), RONDO_ELIMIT);
    json_t *list = store_inbox(journal);
    CHECK_UINT(json_array_size(list), 1000);
    json_decref(list);
    json_decref(long_one);
    json_decref(what);
    mem_free(text);
    store_close(store);
}

/* ---- forks, rewriting -------------------------------------------------------------------------------- */

static struct journal *fork_run(struct journal *parent, uint64_t seq, const char *id)
{
    rondo_error err = { 0 };
    struct journal *journal = NULL;
    if (store_fork(parent, seq, &(struct store_run){ .id = id, .name = "flow" }, NULL, 0, &journal, &err) < 0)
        FAIL("%s", err.message);
    return journal;
}

static void tidy(struct store *store)
{
    rondo_error err = { 0 };
    if (store_tidy(store, &err) < 0)
        FAIL("%s", err.message);
}

TEST(a_fork_shares_the_past)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *parent = test_run(store, "parent");
    put_records(parent, 1, 100, 300);
    commit(store);
    struct journal *kid = fork_run(parent, 60, "kid");
    put_records(parent, 101, 120, 300);
    put_records(kid, 61, 70, 300);
    struct journal *grandkid = fork_run(kid, 65, "grandkid"), *early = fork_run(kid, 20, "early");
    put_records(grandkid, 66, 66, 300);
    commit(store);
    for (int round = 0; round < 3; round++) {
        CHECK_UINT(check_records(parent, 1, 300), 121);
        CHECK_UINT(check_records(kid, 1, 300), 71);
        CHECK_UINT(check_records(grandkid, 1, 300), 67);
        CHECK_UINT(check_records(early, 1, 300), 21);
        CHECK_UINT(check_records(look_run(store, "early"), 1, 300), 21);
        CHECK_UINT(check_records(look_run(store, "grandkid"), 62, 300), 67);
        tidy(store);
    }
    CHECK_UINT(store_about(kid)->fork_seq, 60);
    CHECK_INT(store_about(kid)->parent, store_about(parent)->num);
    CHECK_INT(test_sql_number("SELECT count(*) FROM chunk WHERE run = (SELECT num FROM run WHERE id = 'early')"), 0);

    put_record(early, 21, 5, 300);
    CHECK_INT(store_fork(early, 23, &(struct store_run){ .id = "x" }, NULL, 0, &parent, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "event 23 of run 'early' does not end a turn");
    CHECK_INT(store_fork(early, 99, &(struct store_run){ .id = "x" }, NULL, 0, &parent, &err), RONDO_EINVAL);
    commit(store);
    store_close(store);
}

TEST(a_rewritten_run_has_another_log_in_the_same_place)
{
    rondo_error err;
    size_t len;
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    struct journal *old = test_run(store, "run"), *journal;
    put_records(old, 1, 30, 300);
    commit(store);
    struct journal *kid = fork_run(old, 10, "kid");
    json_t *what = json_pack("{s:s}", "kind", "cancel");
    commit(store);
    CHECK_INT(store_send(other, "run", what, &err), 0);
    CHECK_INT(store_rewrite(old, "new text", 8, 99, &journal, &err), 0);
    put_records(journal, 1, 5, 77);
    CHECK_UINT(check_records(old, 1, 300), 31);
    CHECK_UINT(check_records(look_run(other, "run"), 1, 300), 31);
    commit(store);
    close_journal(old);
    CHECK_UINT(check_records(look_run(other, "run"), 1, 77), 6);
    CHECK(store_about(journal)->hash == 99);
    CHECK_STR(store_definition(journal, &len), "new text");
    CHECK_INT(store_take(other, "run", &old, &err), RONDO_EBUSY);
    json_t *list = store_inbox(journal);
    CHECK_UINT(json_array_size(list), 1);
    tidy(store);
    put_records(journal, 6, 7, 77);
    put_records(kid, 11, 12, 300);
    commit(store);
    tidy(store);
    CHECK_UINT(check_records(look_run(other, "run"), 1, 77), 8);
    CHECK_UINT(check_records(look_run(other, "kid"), 1, 300), 13);
    CHECK_INT(test_sql_number("SELECT count(*) FROM run"), 3); // the old one is still needed
    json_decref(list);
    json_decref(what);
    store_close(store);
    test_sql("UPDATE run SET id = NULL WHERE id = 'kid'");
    tidy(other);
    CHECK_INT(test_sql_number("SELECT count(*) FROM run"), 1);
    CHECK_INT(test_sql_number("SELECT count(DISTINCT run) FROM chunk"), 1);
    CHECK_UINT(check_records(look_run(other, "run"), 1, 77), 8);
    store_close(other);
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
