/* test_driving.c - foreign event loops, waking, and runs of a million passes. */
#include "agents.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void *return_soon(void *user)
{
    rondo_later *later = user;
    usleep(3000);
    rondo_later_return(*later, json_integer(7));
    return NULL;
}

struct handed {
    rondo_later later[8];
    pthread_t thread[8];
    int count;
};

static void hand_over(rondo_task *task, void *user)
{
    struct handed *h = user;
    h->later[h->count] = rondo_task_defer(task);
    CHECK_INT(pthread_create(&h->thread[h->count], NULL, return_soon, &h->later[h->count]), 0);
    h->count++;
}

/* One pass is a timer of the engine, one is work of another thread. */
TEST(an_engine_lives_in_a_foreign_poll_loop)
{
    struct handed h = { .count = 0 };
    const rondo_agent far = { RONDO_AGENT, .name = "far", .run = hand_over, .user = &h };
    struct bot near = { "near", ADD, 1, .delay_ms = 5 };
    TRIAL t = { .real_time = true, .options = { .no_cursor = true } };
    trial_start(&t, LOOP("l", RONDO_SEQUENCE(rondo_agent_node(&far), bot_node(&near)), .max_iterations = 4,
                        .delay_ms = 2), "0");
    int rounds = 0, going = 1;
    while (going > 0) {
        struct pollfd fd = { .fd = rondo_engine_fd(t.engine), .events = POLLIN };
        int timeout = rondo_engine_timeout(t.engine);
        CHECK(fd.fd >= 0);
        CHECK(timeout >= -1);
        int n = poll(&fd, 1, timeout < 0 ? 5000 : timeout);
        if (timeout < 0 && n == 0)
            FAIL("the fd did not become readable");
        going = rondo_engine_poll(t.engine, 0);
        CHECK(++rounds < 1000);
    }
    for (int i = 0; i < h.count; i++)
        pthread_join(h.thread[i], NULL);
    CHECK_INT(h.count, 4);
    CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_COMPLETED);
    CHECK_INT(rondo_run_result(t.run, &t.result), 0);
    CHECK_STR(json_text(t.result.output), "8");
    CHECK_INT(rondo_engine_poll(t.engine, -1), 0); // nothing to wait for
}

static double now_s(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void *wake_soon(void *engine)
{
    usleep(10000);
    rondo_engine_wake(engine);
    return NULL;
}

TEST(another_thread_wakes_a_poll_that_waits)
{
    pthread_t thread;
    TRIAL t = { .real_time = true };
    trial_start(&t, rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "g" }), "0");
    while (!count(&t, "gate_waiting"))
        CHECK(trial_next(&t));
    CHECK_INT(pthread_create(&thread, NULL, wake_soon, t.engine), 0);
    double start = now_s();
    CHECK_INT(rondo_engine_poll(t.engine, 20000), 1);
    CHECK(now_s() - start < 10);
    pthread_join(thread, NULL);
}

TEST(a_poll_waits_no_longer_than_told)
{
    TRIAL t = { .real_time = true };
    trial_start(&t, rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "g" }), "0");
    for (int i = 0; i < 3; i++)
        rondo_engine_poll(t.engine, 0);
    double start = now_s();
    CHECK_INT(rondo_engine_poll(t.engine, 30), 1);
    double took = now_s() - start;
    CHECK(took >= 0.02 && took < 5);
}

static void poll_inside(rondo_task *task, struct bot *bot)
{
    struct trial *t = bot->data;
    CHECK_INT(rondo_engine_poll(t->engine, 0), RONDO_ESTATE);
    CHECK_NULL(rondo_engine_next(t->engine));
    rondo_result res;
    CHECK_INT(rondo_run_result(t->run, &res), RONDO_ESTATE);
}

TEST(polling_inside_an_agent_is_refused)
{
    struct bot a = { "a", ECHO, .also = poll_inside };
    TRIAL t = { 0 };
    a.data = &t;
    trial_run(&t, bot_node(&a), "1");
    CHECK_INT(t.rc, 0);
    CHECK_INT(a.calls, 1);
}

TEST(with_virtual_time_a_year_passes_in_no_time)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 1000ll * 3600 * 24 };
    TRIAL t = { 0 };
    double start = now_s();
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 365), "0");
    CHECK_STR(t.output, "365");
    CHECK_INT(t.took_ms, 365ll * 1000 * 3600 * 24);
    CHECK(now_s() - start < 20);
}

TEST(the_engine_frees_runs_that_were_left_open)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 100 };
    rondo_engine *engine;
    rondo_config config = { RONDO_CONFIG, .virtual_time = true };
    rondo_node *node = LOOP("l", RONDO_PARALLEL(bot_node(&a)));
    CHECK_INT(rondo_engine_new(&config, &engine, NULL), 0);
    for (int i = 0; i < 20; i++) {
        rondo_run *run;
        CHECK_INT(rondo_run_start(engine, node, NULL, NULL, &run, NULL), 0);
        for (int k = 0; k < i; k++)
            rondo_run_next(run);
    }
    rondo_engine_free(engine);
    rondo_node_unref(node);
}

TEST(ids_and_jitter_depend_on_the_seed_alone)
{
    char ids[2][64];
    int64_t took[2];
    for (int i = 0; i < 2; i++) {
        struct bot a = { "a", ECHO, .fails = 4, .options = { .retry = { .attempts = 5, .delay_ms = 1000,
                                                                        .jitter = 0.9 } } };
        TRIAL t = { 0 };
        trial_run(&t, RONDO_SEQUENCE(bot_node(&a)), "0");
        snprintf(ids[i], sizeof ids[i], "%s", rondo_run_id(t.run));
        took[i] = t.took_ms;
    }
    CHECK_STR(ids[1], ids[0]);
    CHECK_INT(took[1], took[0]);
    CHECK(took[0] >= 1500 && took[0] <= 28500); // 1 + 2 + 4 + 8 s, each times 0.1 .. 1.9
}

/* ---- a million passes --------------------------------------------------------------------------------- */

static int64_t million = 1000000;

static void one_more(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) + 1));
}

static const rondo_agent counter = { RONDO_AGENT, .name = "a", .run = one_more };

static long resident_bytes(void)
{
    long pages = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    CHECK(f != NULL);
    CHECK_INT(fscanf(f, "%ld %ld", &pages, &resident), 2);
    fclose(f);
    return resident * sysconf(_SC_PAGESIZE);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PASSES 50000
#define MOST_BYTES 100000 // the sanitizer's own
#else
#define PASSES 1000000
#define MOST_BYTES 200
#endif

TEST(a_million_passes_take_little_memory_and_stay_readable)
{
    million = PASSES;
    TRIAL t = { 0 };
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true };
    CHECK_INT(rondo_engine_new(&config, &t.engine, NULL), 0);
    long before = resident_bytes();
    trial_start(&t, LOOP("l", rondo_agent_node(&counter), .until = last_is_at_least, .user = &million,
                        .max_iterations = RONDO_UNBOUNDED), "0");
    int64_t events = 0;
    while (rondo_run_next(t.run))
        events++;
    long grown = resident_bytes() - before;
    if (grown / PASSES > MOST_BYTES)
        FAIL("%ld bytes a pass", grown / PASSES);
    CHECK_INT(events, 5 + PASSES * 4ll);
    CHECK_INT(rondo_run_result(t.run, &t.result), 0);
    CHECK_INT(t.result.passes, PASSES);
    CHECK_INT(t.result.reason, RONDO_REASON_UNTIL);
    CHECK_INT(json_integer_value(t.result.output), PASSES);
    rondo_history *h = rondo_run_history(t.run, "l");
    CHECK_INT(rondo_history_count(h), PASSES);
    CHECK_STR(json_text(rondo_history_output(h, 0, "a")), "1");
    CHECK_STR(json_text(rondo_history_output(h, 12345, NULL)), "12346");
    CHECK_INT(json_integer_value(rondo_history_output(h, PASSES - 1, "a")), PASSES);
    CHECK_NULL(rondo_history_output(h, PASSES, "a"));
}

TEST(many_loops_wait_at_the_same_time)
{
    enum { N = 2000 };
    rondo_value *items = json_array();
    for (int i = 0; i < N; i++)
        json_array_append_new(items, json_integer(i));
    struct bot a = { "a", ADD, 1, .delay_ms = 50 };
    TRIAL t = { 0 };
    trial_run(&t, EACH("e", LOOP("l", bot_node(&a), .max_iterations = 5)), json_text(items));
    CHECK_INT(t.took_ms, 250);
    CHECK_INT(a.calls, 5 * N);
    for (int i = 0; i < N; i++)
        CHECK_INT(json_integer_value(json_array_get(t.result.output, (size_t)i)), i + 5);
    json_decref(items);
}
