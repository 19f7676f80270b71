/* test_store_lease.c - several processes, or several stores, on one file; who drives a run. */
#include "store/db.h"
#include "stores.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
    CHECK_INT(try_append(reader, 401, &err), RONDO_ESTORE);
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

/* SQLite calls this behind a commit, when others may write again. */
static int write_another(void *user, sqlite3 *db, const char *name, int pages)
{
    struct journal *other = user;
    struct journal_pos pos;
    uint64_t next = 1;
    while (other->ops->seek(other, next, &pos))
        next++;
    put_record(other, next, 1, 100);
    rondo_error err;
    CHECK_INT(other->ops->commit(other, &err), 0);
    return SQLITE_OK;
}

TEST(another_process_writes_right_behind_each_commit)
{
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    struct journal *a = test_run(store, "a"), *b;
    commit(store);
    b = test_run(other, "b");
    commit(other);
    sqlite3_wal_hook(store->db, write_another, b);
    for (uint64_t i = 1; i <= 20; i++) {
        put_record(a, i, 1, 100);
        commit(store);
    }
    sqlite3_wal_hook(store->db, NULL, NULL);
    CHECK_UINT(check_records(a, 1, 100), 21);
    CHECK_UINT(check_records(look_run(store, "b"), 1, 100), 21);
    store_close(store);
    store_close(other);
}

static int take_over(void *user, sqlite3 *db, const char *name, int pages)
{
    test_sql("UPDATE run SET fence = fence + 1, driver = 0 WHERE id = 'a'");
    return SQLITE_OK;
}

TEST(a_lease_that_is_lost_right_behind_a_commit_is_missed_at_once)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE);
    struct journal *a = test_run(store, "a");
    sqlite3_wal_hook(store->db, take_over, NULL);
    commit(store);
    sqlite3_wal_hook(store->db, NULL, NULL);
    CHECK_INT(try_append(a, 1, &err), RONDO_EBUSY);
    CHECK_STR(err.message, "run 'a' was taken over by another process");
    store_rollback(store);
    store_close(store);
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

/* Whoever has the pid of a driver now, but was started later, is somebody else. */
TEST(a_pid_that_is_used_again_holds_nothing)
{
    rondo_error err;
    struct store *gone = test_store(STORE_CREATE), *store = test_store(0);
    struct journal *journal = test_run(gone, "run"), *taken;
    commit(gone);
    CHECK_INT(store_take(store, "run", &taken, &err), RONDO_EBUSY);
    test_sql("UPDATE driver SET started = 1"); // this process was started later than that
    taken = take_run(store, "run");
    commit(store);
    CHECK_INT(try_append(journal, 1, &err), RONDO_EBUSY);
    close_journal(journal);
    store_close(gone);
    store_close(store);
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

    CHECK_INT(try_append(journal, 4, &err), RONDO_EBUSY); // it wakes up, and is kept out
    CHECK(strstr(err.message, "run 'run' is driven by pid"));
    CHECK_INT(try_append(journal, 4, &err), RONDO_ESTORE);
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
    CHECK_INT(try_append(a, 1, &err), RONDO_EBUSY);
    CHECK_STR(err.message, "run 'a' was taken over by another process");
    commit(store);
    CHECK_UINT(check_records(b, 1, 30), 2);
    test_sql("DELETE FROM run WHERE id = 'b'");
    CHECK_INT(try_append(b, 2, &err), RONDO_EBUSY);
    CHECK_STR(err.message, "run 'b' was removed by another process");
    store_rollback(store);
    store_close(store);
}

/* One that drives nothing for a while may be taken for dead. */
TEST(a_driver_that_was_forgotten_is_told_of_again)
{
    rondo_error err;
    struct store *store = test_store(STORE_CREATE), *other = test_store(0);
    struct journal *taken;
    int64_t now = 1000000000000;
    store_set_now(store, now);
    close_journal(test_run(store, "first"));
    commit(store);
    store_set_now(store, now += 60000000000);
    store_set_now(other, now);
    tidy(other);
    CHECK_INT(test_sql_number("SELECT count(*) FROM driver"), 0);
    test_run(store, "second");
    commit(store);
    CHECK_INT(store_take(other, "second", &taken, &err), RONDO_EBUSY);
    store_close(store);
    store_close(other);
    CHECK_INT(test_sql_number("SELECT count(*) FROM driver"), 0);
}
