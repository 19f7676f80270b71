/* test_cancel.c - stopping a run, from anywhere. */
#include "agents.h"

#include <string.h>

static struct bot bots[6];

static rondo_node *busy_flow(void)
{
    const struct bot fresh[6] = {
        { "a", ADD, 1, .delay_ms = 2 }, { "b", ADD, 2, .delay_ms = 4 },
        { "c", ADD, 3, .fails = 1, .options = { .retry = { .attempts = 2, .delay_ms = 3 } } },
        { "item", TIMES, 2, .delay_ms = 1 }, { "last", ECHO },
        { "tidy", GIVE, .text = "\"tidy\"", .options = { .run_on = RONDO_ON_ALWAYS } } };
    memcpy(bots, fresh, sizeof bots);
    rondo_node *work = LOOP("l", RONDO_PARALLEL(bot_node(&bots[0]), bot_node(&bots[1]), bot_node(&bots[2])),
                            .max_iterations = 2, .delay_ms = 1);
    return rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .step_count = 4,
        .steps = (rondo_step[]){ { "work", work },
                                 { "each", EACH("e", bot_node(&bots[3]), .max_concurrency = 1), RONDO_AFTER("work") },
                                 { "last", bot_node(&bots[4]), RONDO_AFTER("each") },
                                 { "tidy", bot_node(&bots[5]) } } });
}

static void cancel_at(struct trial *t, const rondo_event *ev)
{
    if (t->events == *(int *)t->data)
        rondo_run_cancel(t->run, "cancelled here");
}

/* Every step that started has ended once. */
static void check_all_ended(struct trial *t)
{
    static const char *const ends[] = { "step_end", "step_cancelled", "error" };
    char path[128], line[160];
    for (const char *at = t->log.data; (at = strstr(at, "step_start ")); at++) {
        int n = 0;
        snprintf(path, sizeof path, "%.*s", (int)strcspn(at + 11, "\n"), at + 11);
        for (int i = 0; i < 3; i++)
            for (const char *end = t->log.data; (end = strstr(end, ends[i])); end++) {
                snprintf(line, sizeof line, "%s %s", ends[i], path);
                n += strncmp(end, line, strlen(line)) == 0 && strchr(" :\n", end[strlen(line)]);
            }
        if (n != 1)
            FAIL("%s has ended %d times:\n%s", path, n, t->log.data);
    }
}

/* Whatever the event, the run ends as cancelled with one terminal event, and what must always run
   has run once it had begun to wait. */
TEST(a_run_may_be_cancelled_at_every_event)
{
    int all;
    {
        TRIAL t = { 0 };
        trial_run(&t, busy_flow(), "[1,2]");
        CHECK_INT(t.rc, 0);
        all = t.events;
    }
    CHECK(all > 40);
    for (int at = 1; at < all; at++) {
        TRIAL t = { .on_event = cancel_at, .data = &at };
        trial_run(&t, busy_flow(), "[1,2]");
        if (t.rc == 0) { // it came after the last decision
            CHECK(at >= all - 2);
            CHECK_STR(only(&t, "workflow_end"), "workflow_end completed");
            continue;
        }
        if (t.rc != RONDO_ECANCELLED)
            FAIL("cancelled at event %d of %d: %d %s\n%s", at, all, t.rc, t.err.message, t.log.data);
        CHECK_INT(t.result.status, RONDO_STATUS_CANCELLED);
        CHECK_STR(t.err.message, "cancelled: cancelled here");
        CHECK_INT(count(&t, "workflow_end"), 1);
        CHECK_STR(only(&t, "workflow_end"), "workflow_end cancelled");
        CHECK_INT(count(&t, "cancel"), 1);
        if (at >= 2 && bots[5].calls != 1)
            FAIL("cancelled at event %d: tidy ran %d times\n%s", at, bots[5].calls, t.log.data);
        check_all_ended(&t);
    }
}

static void cancel_at_starts(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_STEP_START && *rondo_event_path(ev))
        rondo_run_cancel(t->run, rondo_event_path(ev));
}

TEST(a_second_cancel_skips_the_steps_that_always_run)
{
    struct bot slow = { "slow", ECHO, .delay_ms = 100 },
               tidy = { "tidy", ECHO, .delay_ms = 1000, .options = { .run_on = RONDO_ON_ALWAYS } };
    TRIAL t = { .on_event = cancel_at_starts };
    trial_run(&t, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .step_count = 2,
                 .steps = (rondo_step[]){ { .node = bot_node(&slow) }, { .node = bot_node(&tidy) } } }), "1");
    CHECK_INT(t.took_ms, 0);
    CHECK_STR(found(&t, "slow"), "cancelled");
    CHECK_STR(found(&t, "tidy"), "cancelled");
    CHECK_STR(t.err.message, "cancelled: slow");
    CHECK_INT(count(&t, "cancel"), 2);
    rondo_run_cancel(t.run, "after the end"); // does nothing
    CHECK_NULL(rondo_run_next(t.run));
}

TEST(steps_that_always_run_have_a_limited_time_after_a_cancel)
{
    struct bot slow = { "slow", ECHO, .delay_ms = 100 },
               tidy = { "tidy", ECHO, .delay_ms = 1000, .options = { .run_on = RONDO_ON_ALWAYS } };
    TRIAL t = { .options = { .cleanup_ms = 70 } };
    trial_start(&t, rondo_graph(&(rondo_graph_spec){
                       RONDO_GRAPH, .step_count = 2,
                       .steps = (rondo_step[]){ { .node = bot_node(&slow) }, { .node = bot_node(&tidy) } } }), "1");
    while (!slow.calls)
        rondo_engine_poll(t.engine, 0), trial_next(&t);
    rondo_run_cancel(t.run, "once");
    trial_finish(&t);
    CHECK_INT(tidy.calls, 1);
    CHECK_INT(t.took_ms, 70);
    CHECK_STR(found(&t, "tidy"), "cancelled");
    CHECK_INT(t.result.status, RONDO_STATUS_CANCELLED);
}

static void is_not_cancelled(rondo_task *task, struct bot *bot)
{
    CHECK(!rondo_task_cancelled(task));
    rondo_run_cancel(bot->data, "from inside");
}

TEST(an_agent_may_cancel_its_own_run)
{
    struct bot a = { "a", ADD, 1, .also = is_not_cancelled }, b = { "b", ADD, 1 };
    TRIAL t = { 0 };
    trial_start(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&b))), "1");
    a.data = t.run;
    trial_finish(&t);
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_STR(t.err.message, "cancelled: from inside");
    CHECK_STR(only(&t, "loop_end"), "loop_end l cancelled 0");
    CHECK_INT(b.calls, 0);
}

TEST(a_run_in_a_delay_or_a_backoff_is_cancelled_at_once)
{
    struct bot a = { "a", ADD, 1 },
               bad = { "bad", REFUSE, .text = "x", .options = { .retry = { .attempts = 5, .delay_ms = 100000 } } };
    for (int i = 0; i < 2; i++) {
        TRIAL t = { 0 };
        trial_start(&t, i ? RONDO_SEQUENCE(bot_node(&bad)) : LOOP("l", bot_node(&a), .delay_ms = 100000), "1");
        while (!count(&t, "delay retry"))
            CHECK(trial_next(&t));
        rondo_run_cancel(t.run, NULL);
        trial_finish(&t);
        CHECK_INT(t.took_ms, 0);
        CHECK_STR(t.err.message, "cancelled: cancelled");
    }
}

TEST(a_timeout_of_the_run_fails_it)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 30 };
    TRIAL t = { .options = { .timeout_ms = 100 } };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 50), "0");
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_INT(t.took_ms, 100);
    CHECK_INT(t.result.status, RONDO_STATUS_FAILED);
    CHECK_STR(only(&t, "loop_end"), "loop_end l time 3");
}

TEST(a_timeout_of_a_loop_fails_it_and_keeps_what_it_had)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 30 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 50, .options = { .timeout_ms = 100 }), "0");
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_STR(t.err.message, "timed out after 100 ms");
    CHECK_INT(t.result.reason, RONDO_REASON_TIME);
    CHECK_INT(t.result.passes, 3);
    CHECK_STR(t.output, "3");
}

/* Every limit stops with its own reason, and the node completes with what it has. */
static void spend(rondo_task *task, struct bot *bot)
{
    CHECK_INT(rondo_task_spend(task, &(rondo_usage){ 3, 4, 1000, 1 }), 0);
}

TEST(every_budget_stops_with_its_own_reason)
{
    static const struct {
        rondo_budget budget;
        int reason;
        const char *output;
    } rows[] = { { { .tokens = 15 }, RONDO_REASON_TOKENS, "3" },
                 { { .cost_nano = 2000 }, RONDO_REASON_COST, "2" },
                 { { .calls = 4 }, RONDO_REASON_CALLS, "4" },
                 { { .time_ms = 45 }, RONDO_REASON_TIME, "4" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bot a = { "a", ADD, 1, .also = spend, .delay_ms = 10 };
        TRIAL t = { 0 };
        trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 50, .options = { .budget = rows[i].budget }), "0");
        CHECK_INT(t.rc, 0);
        CHECK_STR(rondo_reason_text(t.result.reason), rondo_reason_text(rows[i].reason));
        CHECK_STR(t.output, rows[i].output);
        CHECK_INT(t.result.usage.calls, a.calls);
    }
}

TEST(a_budget_counts_only_what_was_reported)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 7, .options = { .budget = { .tokens = 1 } }), "0");
    CHECK_INT(t.result.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_STR(t.output, "7");
}

TEST(a_budget_of_the_run_ends_open_loops_with_its_reason)
{
    struct bot a = { "a", ADD, 1, .also = spend };
    TRIAL t = { .options = { .budget = { .calls = 3 } } };
    trial_run(&t, SEQ("s", LOOP("l", bot_node(&a), .max_iterations = 50)), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_CALLS);
    CHECK_INT(a.calls, 3);
    CHECK_STR(only(&t, "loop_end"), "loop_end s.l calls 3");
}

static void read_left(rondo_task *task, struct bot *bot)
{
    int64_t *left = bot->data;
    left[bot->calls - 1] = rondo_task_left(task, RONDO_LIMIT_TOKENS);
    CHECK(rondo_task_left(task, RONDO_LIMIT_CALLS) == INT64_MAX);
    spend(task, bot);
}

TEST(a_task_knows_what_is_left_of_the_tightest_budget)
{
    int64_t left[8] = { 0 };
    struct bot a = { "a", ADD, 1, .also = read_left, .data = left };
    TRIAL t = { .options = { .budget = { .tokens = 1000 } } };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 3, .options = { .budget = { .tokens = 50 } }), "0");
    CHECK_INT(left[0], 50);
    CHECK_INT(left[1], 43);
    CHECK_INT(left[2], 36);
}
