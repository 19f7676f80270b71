/* test_stored.c - runs in a store: nothing is shown or done before it is durable, one commit for many
   runs, and what another process left for them. */
#include "agents.h"

#include "engine/shell.h"
#include "store/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char path[256];

static void new_path(void)
{
    static int count;
    const char *tmp = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/rondo-stored-%d-%d.db", tmp ? tmp : "/tmp", (int)getpid(), count++);
}

static void remove_files(void)
{
    char name[300];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, (const char *[]){ "", "-wal", "-shm" }[i]);
        unlink(name);
    }
}

struct site {
    rondo_store *store;
    rondo_engine *engine;
};

static struct site site_open(void)
{
    struct site p = { 0 };
    rondo_error err;
    CHECK_INT(rondo_store_open(path, NULL, &p.store, &err), 0);
    rondo_config config = { RONDO_CONFIG, .store = p.store, .seed = 7 };
    CHECK_INT(rondo_engine_new(&config, &p.engine, &err), 0);
    return p;
}

static void site_close(struct site *p)
{
    rondo_engine_free(p->engine);
    rondo_store_close(p->store);
    *p = (struct site){ 0 };
}

static int begin(struct site *p, rondo_node *node, json_t *input, const char *id, rondo_run **ret)
{
    int rc = rondo_run_start(p->engine, node, input, &(rondo_run_options){ RONDO_RUN, .id = id }, ret, NULL);
    json_decref(input);
    return rc;
}

static struct bot add = { "add", ADD, 1 };

static rondo_node *counting(int passes)
{
    return LOOP("count", bot_node(&add), .max_iterations = passes);
}

static int64_t result_of(rondo_run *run)
{
    rondo_result res;
    return rondo_run_result(run, &res) == 0 ? json_integer_value(res.output) : -1;
}

/* How many events of a run another process would find. */
static uint64_t events_in_store(const char *id)
{
    struct store *store;
    struct journal *journal;
    struct journal_pos pos = { .seq = 1 };
    const char *record;
    size_t len;
    rondo_error err;
    if (store_open(path, STORE_READ_ONLY, &store, &err) < 0)
        return 0;
    if (store_look(store, id, &journal, &err) < 0) {
        store_close(store);
        return 0;
    }
    while (journal->ops->read(journal, &pos, &record, &len, &err) > 0)
        ;
    journal->ops->close(journal);
    store_close(store);
    return pos.seq - 1;
}

TEST(what_is_shown_is_in_the_store)
{
    new_path();
    struct site p = site_open();
    rondo_node *node = counting(5);
    rondo_run *run;
    const rondo_event *ev;
    uint64_t last = 0, missing = 0;
    CHECK_INT(begin(&p, node, json_integer(1), NULL, &run), 0);
    while ((ev = rondo_run_next(run))) {
        last = rondo_event_seq(ev);
        missing += events_in_store(rondo_run_id(run)) < last;
    }
    CHECK_INT(missing, 0);
    CHECK(last > 10);
    CHECK_INT(result_of(run), 6);
    rondo_run_close(run);
    rondo_node_unref(node);
    site_close(&p);
    remove_files();
}

static void go_to_end(rondo_run *run)
{
    while (rondo_run_next(run))
        ;
    CHECK_INT(result_of(run), 3);
}

/* Of another process: nobody reads what was there before. */
static int fold_all(void)
{
    sqlite3 *db;
    CHECK_INT(sqlite3_open(path, &db), SQLITE_OK);
    CHECK_INT(sqlite3_exec(db, "SELECT * FROM run", NULL, NULL, NULL), SQLITE_OK); // there is no WAL for it before
    int rc = sqlite3_wal_checkpoint_v2(db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
    sqlite3_close(db);
    return rc;
}

TEST(an_engine_with_nothing_to_do_lets_others_begin_the_wal_anew)
{
    new_path();
    struct site p = site_open();
    rondo_node *node = counting(3);
    rondo_run *run, *other;
    CHECK_INT(begin(&p, node, json_integer(0), "run", &run), 0);
    go_to_end(run);
    CHECK_INT(fold_all(), SQLITE_OK);
    CHECK_INT(begin(&p, node, json_integer(0), "other", &other), 0);
    go_to_end(other);
    rondo_run_close(other);
    CHECK_INT(fold_all(), SQLITE_OK);
    rondo_run_close(run);
    CHECK_INT(fold_all(), SQLITE_OK);
    rondo_node_unref(node);
    site_close(&p);
    remove_files();
}

static int sink;

static void note_call(rondo_task *task, void *user)
{
    char c = (char)('0' + rondo_task_pass(task));
    if (write(sink, &c, 1) != 1)
        _exit(9);
    if (user && rondo_task_pass(task) == 3)
        _exit(0); // dies in the middle of a step
    rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) + 1));
}

static rondo_node *noting(void *dies)
{
    static rondo_agent agents[2];
    rondo_agent *agent = &agents[dies != NULL];
    *agent = (rondo_agent){ RONDO_AGENT, .name = "note", .run = note_call, .user = dies };
    return LOOP("l", rondo_agent_node(agent), .max_iterations = 6);
}

TEST(a_run_goes_on_after_its_process_died)
{
    new_path();
    int fds[2];
    CHECK_INT(pipe(fds), 0);
    sink = fds[1];
    pid_t pid = fork();
    if (pid == 0) {
        struct site p = site_open();
        rondo_run *run;
        rondo_node *node = noting("dies");
        begin(&p, node, json_integer(0), "r1", &run);
        rondo_run_wait(run, NULL);
        _exit(1);
    }
    int status;
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
    struct site p = site_open();
    rondo_node *node = noting(NULL);
    rondo_run *run;
    rondo_error err;
    CHECK_INT(rondo_run_resume(p.engine, node, "r1", NULL, &run, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK_INT(result_of(run), 6);
    char calls[32] = { 0 };
    CHECK(read(fds[0], calls, sizeof calls - 1) > 0);
    CHECK_STR(calls, "0123345"); // only what was under way is done again
    rondo_run_close(run);
    CHECK_INT(rondo_run_resume(p.engine, node, "r2", NULL, &run, &err), RONDO_ENOTFOUND);
    rondo_node *other = counting(3);
    CHECK_INT(rondo_run_resume(p.engine, other, "r1", NULL, &run, &err), RONDO_EMISMATCH);
    CHECK(strstr(err.message, "run r1 belongs to another definition: ") && strstr(err.message, "when the run was"));
    rondo_node_unref(other);
    rondo_node_unref(node);
    site_close(&p);
    close(fds[0]);
    close(fds[1]);
    remove_files();
}

/* Events of many runs, pulled together: in order in each run, and in the store when they are seen. */
TEST(runs_share_commits_and_keep_their_order)
{
    enum { RUNS = 64 };
    new_path();
    struct site p = site_open();
    rondo_node *node = counting(20);
    rondo_run *runs[RUNS];
    uint64_t seqs[RUNS] = { 0 };
    const rondo_event *ev;
    int wrong = 0, ends = 0;
    for (int i = 0; i < RUNS; i++)
        CHECK_INT(begin(&p, node, json_integer(i), NULL, &runs[i]), 0);
    while ((ev = rondo_engine_next(p.engine))) {
        int i = 0;
        while (runs[i] != rondo_event_run(ev))
            i++;
        wrong += rondo_event_seq(ev) != ++seqs[i];
        wrong += rondo_event_seq(ev) % 50 == 0 && events_in_store(rondo_run_id(runs[i])) < seqs[i];
        ends += rondo_event_type(ev) == RONDO_EV_WORKFLOW_END;
    }
    CHECK_INT(wrong, 0);
    CHECK_INT(ends, RUNS);
    for (int i = 0; i < RUNS; i++) {
        CHECK_INT(result_of(runs[i]), i + 20);
        rondo_run_close(runs[i]);
    }
    rondo_node_unref(node);
    site_close(&p);
    remove_files();
}

TEST(two_processes_do_not_drive_one_run)
{
    new_path();
    struct site a = site_open(), b = site_open();
    rondo_node *node = counting(3);
    rondo_run *run, *again;
    rondo_error err;
    CHECK_INT(begin(&a, node, json_integer(1), "one", &run), 0);
    CHECK(rondo_run_next(run) != NULL);
    CHECK_INT(rondo_run_resume(b.engine, node, "one", NULL, &again, &err), RONDO_EBUSY);
    CHECK(strstr(err.message, "pid"));
    rondo_run_close(run); // gives it up
    CHECK_INT(rondo_run_resume(b.engine, node, "one", NULL, &again, &err), 0);
    CHECK_INT(rondo_run_wait(again, &err), 0);
    CHECK_INT(result_of(again), 4);
    rondo_run_close(again);
    rondo_node_unref(node);
    site_close(&a);
    site_close(&b);
    remove_files();
}

static rondo_node *asking(void)
{
    return rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ask", .ask = "sure?" });
}

TEST(another_process_answers_and_cancels)
{
    new_path();
    struct site p = site_open();
    struct store *other;
    rondo_node *node = asking();
    rondo_run *run;
    rondo_error err;
    rondo_result res;
    CHECK_INT(store_open(path, 0, &other, &err), 0);
    CHECK_INT(begin(&p, node, NULL, "a", &run), 0);
    while (rondo_event_type(rondo_run_next(run)) != RONDO_EV_GATE_WAITING)
        ;
    json_t *answer = json_pack("{s:s, s:s, s:s, s:s}", "kind", "answer", "path", "ask", "value", "yes",
                               "by", "me");
    CHECK_INT(store_send(other, "a", answer, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK_INT(rondo_run_result(run, &res), 0);
    CHECK_STR(res.content, "yes");
    rondo_run_close(run);

    CHECK_INT(begin(&p, node, NULL, "b", &run), 0);
    while (rondo_event_type(rondo_run_next(run)) != RONDO_EV_GATE_WAITING)
        ;
    json_t *cancel = json_pack("{s:s, s:s}", "kind", "cancel", "why", "no time");
    CHECK_INT(store_send(other, "b", cancel, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), RONDO_ECANCELLED);
    rondo_run_close(run);

    /* nobody drives it: the answer waits */
    CHECK_INT(begin(&p, node, NULL, "c", &run), 0);
    while (rondo_event_type(rondo_run_next(run)) != RONDO_EV_GATE_WAITING)
        ;
    rondo_run_close(run);
    CHECK_INT(store_send(other, "c", answer, &err), 0);
    CHECK_INT(rondo_run_resume(p.engine, node, "c", NULL, &run, &err), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    rondo_run_close(run);
    json_decref(answer);
    json_decref(cancel);
    store_close(other);
    rondo_node_unref(node);
    site_close(&p);
    remove_files();
}

/* ---- in the last instant ------------------------------------------------------------------------------- */

struct writer {
    struct store *store; // of another process
    json_t *what;
    int64_t until_ms; // of the clock
    int sent;
};

static void end_with_writer(struct site *p, struct writer *w, rondo_node *node, rondo_run *run)
{
    rondo_run_close(run);
    rondo_node_unref(node);
    json_decref(w->what);
    store_close(w->store);
    site_close(p);
    remove_files();
}

static int64_t clock_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* In the very turn that ends the loop, behind the last look at the store. */
static int write_and_end(rondo_context *context, void *user)
{
    struct writer *w = user;
    rondo_error err;
    CHECK_INT(store_send(w->store, "run", w->what, &err), 0);
    w->sent++;
    return 1;
}

static int64_t letters_in_store(const char *id)
{
    struct store *store;
    struct journal *journal;
    rondo_error err;
    json_t *list = NULL;
    CHECK_INT(store_open(path, STORE_READ_ONLY, &store, &err), 0);
    CHECK_INT(store_look(store, id, &journal, &err), 0);
    CHECK_INT(store_inbox(journal, &list, &err), 0);
    int64_t count = (int64_t)json_array_size(list);
    json_decref(list);
    journal->ops->close(journal);
    store_close(store);
    return count;
}

TEST(what_is_sent_while_a_run_ends_is_dropped_before_its_end)
{
    new_path();
    struct site p = site_open();
    struct writer w = { .what = json_pack("{s:s, s:s, s:s}", "kind", "message", "to", "add", "text", "hello") };
    rondo_run *run;
    rondo_error err;
    const rondo_event *ev;
    char order[64] = "";
    CHECK_INT(store_open(path, 0, &w.store, &err), 0);
    rondo_node *node = LOOP("count", bot_node(&add), .until = write_and_end, .user = &w, .max_iterations = 9);
    CHECK_INT(begin(&p, node, json_integer(1), "run", &run), 0);
    while ((ev = rondo_run_next(run))) {
        int type = rondo_event_type(ev);
        strcat(order, type == RONDO_EV_MESSAGE_SENT      ? "sent "
                      : type == RONDO_EV_MESSAGE_DROPPED ? "dropped "
                      : type == RONDO_EV_WORKFLOW_END    ? "end"
                                                         : "");
    }
    CHECK_STR(order, "sent dropped end");
    CHECK_INT(w.sent, 1);
    CHECK_INT(letters_in_store("run"), 0);
    CHECK_INT(store_send(w.store, "run", w.what, &err), RONDO_ESTATE);
    end_with_writer(&p, &w, node, run);
}

/* Never idle, so that the store is not looked at for news before the gate's time is up. */
static void write_at_100(rondo_task *task, struct bot *bot)
{
    struct writer *w = bot->data;
    rondo_error err;
    if (w->sent++ == 100)
        CHECK_INT(store_send(w->store, "run", w->what, &err), 0);
}

static int is_over(rondo_context *context, void *user)
{
    const struct writer *w = user;
    return clock_ms() >= w->until_ms;
}

TEST(an_answer_that_was_taken_counts_although_the_time_is_up)
{
    new_path();
    struct site p = site_open();
    struct writer w = { .until_ms = clock_ms() + 90 };
    struct bot busy = { "busy", ADD, 1, .also = write_at_100, .data = &w };
    rondo_run *run;
    rondo_error err;
    w.what = json_pack("{s:s, s:s, s:s}", "kind", "answer", "path", "p.ask", "value", "yes");
    CHECK_INT(store_open(path, 0, &w.store, &err), 0);
    rondo_node *gate = rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ask", .timeout_ms = 60 });
    rondo_node *node = PAR("p", gate, LOOP("count", bot_node(&busy), .until = is_over, .user = &w,
                                           .max_iterations = 1000000));
    CHECK_INT(begin(&p, node, json_integer(1), "run", &run), 0);
    CHECK_INT(rondo_run_wait(run, &err), 0);
    CHECK_INT(letters_in_store("run"), 0);
    end_with_writer(&p, &w, node, run);
}
