/* test_faults.c - a full disk and its relatives: every call to a file fails once, and nothing is lost.

   Runs are driven while the nth call of some kind fails, for every n.  Whoever is told of it is told why; what had
   been handed out by then is in the store, which is in order, and all runs come to their end afterwards.

   RONDO_TORTURE in the environment: every n; else some. */
#include "lives.h"
#include "shim.h"
#include "test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[300];

static void begin(void)
{
    snprintf(path, sizeof path, "%s/rondo.db", lives_folder());
    shim_install();
}

static void remove_files(void)
{
    char name[310];
    static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "%s%s", path, suffixes[i]);
        unlink(name);
    }
}

/* Does the message say what was wrong? */
static void check_told(enum shim_fault fault, uint64_t nth, const char *message)
{
    static const char *const words[] = { "disk is full", "disk I/O error", "Input/output error", "No space left",
                                         "cannot be opened", "locked", "Cannot allocate memory", "unable to open",
                                         "cannot be read", "Too many open files", "Permission denied" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(message, words[i]) && strstr(message, "store '"))
            return;
    FAIL("%s, call %llu: this is no cause: %s", shim_fault_names[fault], (unsigned long long)nth, message);
}

/* Afterwards everything is as it was, and goes on. */
static void check_whole(enum shim_fault fault, uint64_t nth, const struct lives *seen)
{
    rondo_error err = { 0 };
    struct trip trip = { .path = path, .small = true, .before = seen };
    shim_fail(fault, 0, false);
    if (lives_drive(&trip, &err) < 0)
        FAIL("%s, call %llu: afterwards: %s", shim_fault_names[fault], (unsigned long long)nth, err.message);
    for (int life = 0; life < LIVES; life++)
        if (trip.kept[life] < seen->count[life])
            FAIL("%s, call %llu: run %d had shown %u events, %u are there", shim_fault_names[fault],
                 (unsigned long long)nth, life, seen->count[life], trip.kept[life]);
}

/* false when there is no nth call. */
static bool fail_once(enum shim_fault fault, uint64_t nth, uint32_t *told)
{
    rondo_error err = { 0 };
    struct trip trip = { .path = path, .durability = RONDO_POWER, .small = true, .tidy = 25, .fold = 20 };
    remove_files();
    shim_fail(fault, nth, false);
    int rc = lives_drive(&trip, &err);
    if (shim_calls() < nth) {
        CHECK_INT(rc, 0);
        return false;
    }
    if (rc < 0)
        check_told(fault, nth, err.message);
    *told += rc < 0;
    struct lives seen = trip.seen;
    check_whole(fault, nth, &seen);
    return true;
}

static void fail_all(enum shim_fault fault, uint64_t step)
{
    uint64_t nth = 1;
    uint32_t told = 0, tried = 0;
    begin();
    for (; fail_once(fault, nth, &told); tried++)
        nth += lives_torture() || nth < 20 ? 1 : step;
    printf("%s: %u calls, %u of them told\n", shim_fault_names[fault], tried, told);
    CHECK(told > 0);
}

TEST(a_full_disk_loses_nothing) { fail_all(SHIM_FULL, 29); }
TEST(a_failing_write_loses_nothing) { fail_all(SHIM_WRITE_ERROR, 31); }
TEST(a_short_write_loses_nothing) { fail_all(SHIM_SHORT, 37); }
TEST(a_failing_read_loses_nothing) { fail_all(SHIM_READ_ERROR, 7); }
TEST(a_failing_sync_loses_nothing) { fail_all(SHIM_SYNC_ERROR, 19); }
TEST(a_file_that_cannot_be_opened_loses_nothing) { fail_all(SHIM_NO_OPEN, 1); }
TEST(a_lock_of_somebody_else_loses_nothing) { fail_all(SHIM_NO_LOCK, 41); }
TEST(memory_that_cannot_be_shared_loses_nothing) { fail_all(SHIM_NO_MAP, 1); }
TEST(a_failing_truncate_or_delete_loses_nothing) { fail_all(SHIM_CUT_ERROR, 5); }

/* ---- a disk that stays full --------------------------------------------------------------------------- */

/* The process ends with it, having closed everything as well as it could. */
static void stay_full(enum shim_fault fault, uint64_t nth)
{
    struct lives seen;
    int fds[2], status;
    remove_files();
    CHECK(pipe(fds) == 0);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        rondo_error err = { 0 };
        struct trip trip = { .path = path, .small = true, .tidy = 25, .fold = 20 };
        shim_fail(fault, nth, true);
        if (lives_drive(&trip, &err) < 0)
            check_told(fault, nth, err.message);
        _exit(write(fds[1], &trip.seen, sizeof trip.seen) != sizeof trip.seen);
    }
    close(fds[1]);
    CHECK_INT(read(fds[0], &seen, sizeof seen), sizeof seen);
    close(fds[0]);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    check_whole(fault, nth, &seen);
}

TEST(a_disk_that_stays_full_loses_nothing)
{
    static const enum shim_fault faults[] = { SHIM_FULL, SHIM_SHORT, SHIM_WRITE_ERROR, SHIM_SYNC_ERROR };
    begin();
    for (int i = 0; i < 4; i++)
        for (uint64_t nth = 1; nth < 200; nth += lives_torture() ? 1 : 23)
            stay_full(faults[i], nth);
}

/* ---- a run that was dropped ------------------------------------------------------------------------------ */

static void add_one(rondo_task *task, void *calls)
{
    ++*(int *)calls;
    rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) + 1));
}

/* Nothing of the turn that could not be written was shown or started; when there is room again, the same engine
   goes on with the run. */
TEST(a_run_that_could_not_be_written_is_dropped_and_can_be_resumed)
{
    int calls = 0;
    rondo_store *store;
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err = { 0 };
    rondo_result res;
    const rondo_event *ev;
    rondo_agent agent = { RONDO_AGENT, .name = "add", .run = add_one, .user = &calls };
    rondo_node *node = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = rondo_agent_node(&agent),
                                                      .max_iterations = 9 });
    begin();
    CHECK_INT(rondo_store_open(path, NULL, &store, &err), 0);
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .store = store }, &engine, &err), 0);
    CHECK_INT(rondo_run_start(engine, node, NULL, &(rondo_run_options){ RONDO_RUN, .id = "r" }, &run, &err), 0);
    do
        CHECK((ev = rondo_run_next(run)));
    while (rondo_event_type(ev) != RONDO_EV_STEP_END || rondo_event_seq(ev) < 12);
    int before = calls;
    shim_fail(SHIM_FULL, 1, true);
    while (rondo_run_next(run)) // what was written already
        ;
    CHECK(calls <= before + 1); // started by a turn that was written; what came of it could not be
    CHECK_INT(rondo_run_error(run, &err), RONDO_ESTORE);
    check_told(SHIM_FULL, 1, err.message);
    rondo_run_close(run);
    CHECK_INT(rondo_run_resume(engine, node, "r", NULL, &run, &err), RONDO_ESTORE); // it is still full
    shim_fail(SHIM_FULL, 0, false);
    if (rondo_run_resume(engine, node, "r", NULL, &run, &err) < 0)
        FAIL("%s", err.message);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK_INT(rondo_run_result(run, &res), 0);
    CHECK_INT(json_integer_value(res.output), 9);
    CHECK(calls <= 10);
    rondo_run_close(run);
    rondo_engine_free(engine);
    rondo_store_close(store);
    rondo_node_unref(node);
}
