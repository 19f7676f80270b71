/* test_clock.c - clocks that were set while nobody drove a run: no timer is lost, none comes early, and
   nothing takes less than no time.

   Every case waits for something, dies in the middle of it, and goes on in an engine whose clock has
   jumped.  Time in which nobody drove the run counts for delays, waits between tries and gates; it does not
   count for timeouts and budgets. */
#include "agents.h"

#include "engine/shell.h"

#include <stdlib.h>
#include <string.h>

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define MS   1000000ll
#define HOUR (3600 * 1000 * MS)
#define YEAR (365 * 24 * HOUR)

static const int64_t jumps[] = { -YEAR, -8 * HOUR, -1 * MS, 0, 10 * MS, 50 * MS, 8 * HOUR, YEAR };

static struct bot fails = { "a", ADD, 1, .fails = 1, .options = { .retry = { .attempts = 2, .delay_ms = 100 } } };
static struct bot slow = { "a", ADD, 1, .delay_ms = 1000, .options = { .timeout_ms = 100 } };
static struct bot plain = { "a", ADD, 1 };
static struct bot tick = { "t", ADD, 1, .delay_ms = 20 };

static rondo_node *wait_delay(void)
{
    return LOOP("l", bot_node(&plain), .delay_ms = 100, .max_iterations = 2);
}

static rondo_node *wait_backoff(void)
{
    fails.calls = 0;
    return SEQ("s", bot_node(&fails));
}

static rondo_node *wait_gate(void)
{
    return SEQ("s", rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "g", .timeout_ms = 100, .on_timeout = "7" }));
}

static rondo_node *wait_timeout(void)
{
    return SEQ("s", bot_node(&slow));
}

static rondo_node *wait_budget(void)
{
    return LOOP("l", bot_node(&tick), .max_iterations = 1000, .options = { .budget = { .time_ms = 100 } });
}

/* The events that begin and end what is waited for; how long it takes; whether the time in between counts. */
static const struct wait {
    const char *name;
    rondo_node *(*make)(void);
    const char *begin, *end;
    bool counts_idle;
    int64_t timeout_ms; // of the run
    int64_t slack_ms;   // work that is done again takes its time
} waits[] = {
    { "a delay", wait_delay, "delay l", "iteration_start l pass 1", true, 0, 0 },
    { "a wait for the next try", wait_backoff, "retry s.a", "step_start s.a~1", true, 0, 0 },
    { "a gate", wait_gate, "gate_waiting s.g", "step_end s.g = 7", true, 0, 0 },
    { "a timeout", wait_timeout, "step_start s.a", "error s.a: timed out", false, 0, 0 },
    { "a budget of time", wait_budget, "step_start l", "loop_end l", false, 0, 20 },
    { "the run's own time", wait_timeout, "step_start s.a", "workflow_end failed", false, 60, 0 },
};

static bool has_line(const struct trial *t, const char *begin)
{
    const char *line = t->log.data ? t->log.data : "";
    for (; *line; line = strchr(line, '\n') + 1)
        if (strncmp(line, begin, strlen(begin)) == 0)
            return true;
    return false;
}

static int64_t last_ms;

static void check_order(struct trial *t, const rondo_event *ev)
{
    CHECK(rondo_event_time_ms(ev) >= last_ms);
    last_ms = rondo_event_time_ms(ev);
    CHECK(!strstr(rondo_event_json(ev, NULL), "\"duration\":\"-"));
}

/* Dies while it waits; returns the log and the clock of that moment. */
static char *die_waiting(const struct wait *w, size_t *ret_len, int64_t *ret_ns)
{
    TRIAL t = { .on_event = check_order, .options = { .timeout_ms = w->timeout_ms } };
    trial_start(&t, w->make(), "1");
    while (!has_line(&t, w->begin))
        CHECK(trial_next(&t));
    *ret_ns = t.run->core.now_ns;
    return rondo_run_save(t.run, ret_len);
}

/* Goes on where the clock shows now_ns; returns how long the rest of the wait took by that clock. */
static int64_t wait_on(const struct wait *w, const char *log, size_t len, int64_t now_ns)
{
    TRIAL t = { .on_event = check_order };
    trial_engine(&t);
    t.engine->virtual_ns = now_ns;
    t.node = w->make();
    CHECK_INT(rondo_run_recover(t.engine, t.node, log, len, NULL, &t.run, &t.err), 0);
    while (!has_line(&t, w->end))
        CHECK(trial_next(&t));
    return shell_now_ns(t.engine) - now_ns;
}

/* The last event before the crash was when the wait began: what passed since then is idle. */
static int64_t rest_of(const struct wait *w, int64_t jump_ns)
{
    int64_t length = (w->timeout_ms ? w->timeout_ms : 100) * MS;
    if (!w->counts_idle)
        return length;
    return MAX(length - MAX(jump_ns, 0), 0);
}

TEST(no_timer_is_lost_or_early_when_the_clock_was_set)
{
    for (size_t i = 0; i < COUNT_OF(waits); i++)
        for (size_t k = 0; k < COUNT_OF(jumps); k++) {
            size_t len;
            int64_t now;
            printf("%s, the clock set by %lld ms\n", waits[i].name, (long long)(jumps[k] / MS));
            fflush(stdout);
            last_ms = 0;
            char *log = die_waiting(&waits[i], &len, &now);
            int64_t took = wait_on(&waits[i], log, len, now + jumps[k]), rest = rest_of(&waits[i], jumps[k]);
            if (took < rest || took > rest + waits[i].slack_ms * MS)
                FAIL("%s took %lld ms, expected %lld", waits[i].name, (long long)(took / MS), (long long)(rest / MS));
            rondo_text_free(log);
        }
}

/* Many lives, each with another clock: what was waited for comes once, and the time of the log goes on. */
TEST(a_clock_that_is_set_again_and_again_changes_nothing)
{
    for (size_t i = 0; i < COUNT_OF(waits); i++) {
        const struct wait *w = &waits[i];
        size_t len;
        int64_t now;
        printf("%s\n", w->name);
        last_ms = 0;
        char *log = die_waiting(w, &len, &now);
        for (size_t k = 0; k < 5; k++) { // only back, so that no time has passed
            TRIAL t = { .on_event = check_order };
            trial_engine(&t);
            t.engine->virtual_ns = now - (int64_t)k * 8 * HOUR;
            t.node = w->make();
            CHECK_INT(rondo_run_recover(t.engine, t.node, log, len, NULL, &t.run, &t.err), 0);
            while (!count(&t, "run_resumed"))
                CHECK(trial_next(&t));
            rondo_text_free(log);
            log = rondo_run_save(t.run, &len);
        }
        int64_t took = wait_on(w, log, len, now - YEAR), rest = rest_of(w, 0);
        CHECK(took >= rest && took <= rest + w->slack_ms * MS);
        rondo_text_free(log);
    }
}

/* The time of all tries together is what somebody drove: sleeping in between takes nothing from it. */
TEST(tries_share_the_time_in_which_somebody_drove_the_run)
{
    static struct bot a = { "a", ADD, 1, .fails = 2,
                            .options = { .timeout_ms = 300,
                                         .retry = { .attempts = 3, .delay_ms = 100, .factor = 1 } } };
    rondo_node *node = SEQ("s", bot_node(&a));
    size_t len;
    int64_t now;
    char *log;
    {
        TRIAL t = { 0 };
        trial_start(&t, rondo_node_ref(node), "1");
        while (!has_line(&t, "retry s.a"))
            CHECK(trial_next(&t));
        now = t.run->core.now_ns;
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { 0 };
    trial_engine(&t);
    t.engine->virtual_ns = now + 8 * HOUR;
    t.node = node;
    CHECK_INT(rondo_run_recover(t.engine, node, log, len, NULL, &t.run, &t.err), 0);
    trial_finish(&t);
    rondo_text_free(log);
    CHECK_STR(t.output, "2");
    CHECK_INT(a.calls, 3);
}

/* A step that waits between its tries fails when the time of all of them is over, not before. */
TEST(a_wait_between_tries_ends_with_the_time_of_the_step)
{
    static struct bot a = { "a", ADD, 1, .fails = 9,
                            .options = { .timeout_ms = 150,
                                         .retry = { .attempts = 9, .delay_ms = 100, .factor = 1 } } };
    rondo_node *node = SEQ("s", bot_node(&a));
    for (size_t k = 0; k < COUNT_OF(jumps); k++) {
        size_t len;
        int64_t now;
        char *log;
        a.calls = 0;
        if (jumps[k] == 50 * MS)
            continue; // the last try and the end of its time come together
        {
            TRIAL t = { 0 };
            trial_start(&t, rondo_node_ref(node), "1");
            while (!has_line(&t, "retry s.a"))
                CHECK(trial_next(&t));
            now = t.run->core.now_ns;
            log = rondo_run_save(t.run, &len);
        }
        TRIAL t = { 0 };
        trial_engine(&t);
        t.engine->virtual_ns = now + jumps[k];
        t.node = rondo_node_ref(node);
        CHECK_INT(rondo_run_recover(t.engine, node, log, len, NULL, &t.run, &t.err), 0);
        trial_finish(&t);
        CHECK_INT(t.rc, RONDO_ETIME);
        int64_t took = shell_now_ns(t.engine) - now - jumps[k];
        CHECK_INT(took / MS, 150);
        rondo_text_free(log);
    }
    rondo_node_unref(node);
}
