/* test_pause.c - an agent that has nothing to do for a while gives its place to others. */
#include "agents.h"

#include "agent/call.h"
#include "engine/replay.h"
#include "engine/saved.h"
#include "engine/shell.h"

#include <string.h>

#define HOUR_MS (60 * 60 * 1000ll)

static void wake(rondo_later later, json_t *value, void *user)
{
    rondo_later_return(later, json_incref(value));
}

/* Rests for an hour by the run's clock, also when it is called again, and then says so. */
static void doze(rondo_task *task, void *user)
{
    rondo_later later = rondo_task_defer(task);
    int64_t left_ns = HOUR_MS * 1000000 - (task_now_ns(task) - task_act(task)->start_ns);
    later_pause(later, left_ns / 1000000);
    later_pause(later, left_ns / 1000000); // said twice is said once
    later_after(later, left_ns, json_string("dozed"), wake, NULL);
}

static rondo_node *dozer(int64_t timeout_ms)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "dozer", .run = doze,
                                            .options = { .timeout_ms = timeout_ms } });
}

static void check_replays(struct trial *t)
{
    struct replay_report report;
    auto_saved struct saved saved = { 0 };
    size_t len;
    char *log = rondo_run_save(t->run, &len);
    CHECK_INT(saved_read(log, len, &saved, &t->err), 0);
    rondo_text_free(log);
    if (replay_check(t->engine, t->node, saved.id, saved.journal, &report, &t->err) < 0)
        FAIL("%s\nlog has %s\nfollows %s", t->err.message, report.expected, report.got);
    replay_report_clear(&report);
}

TEST(who_rests_takes_no_place)
{
    struct bot quick = { "quick", ECHO }, second = { "second", ECHO };
    TRIAL t = { .options = { .max_concurrency = 1 } };
    trial_run(&t, PAR("all", dozer(0), bot_node(&quick), bot_node(&second)), "1");
    CHECK_INT(t.rc, 0);
    CHECK_STR(only(&t, "step_start step_end delay"),
              "step_start all; step_start all.dozer; delay all.dozer; step_start all.quick; step_end all.quick = 1; "
              "step_start all.second; step_end all.second = 1; step_end all.dozer = \"dozed\"; "
              "step_end all = [\"dozed\",1,1]");
    CHECK(t.took_ms >= HOUR_MS && t.took_ms < HOUR_MS + 1000);
    CHECK_UINT(t.run->core.busy, 0);
    check_replays(&t);
}

/* It goes on at its time, and nothing more begins until somebody has ended. */
TEST(who_comes_back_has_a_place_before_others)
{
    struct bot slow = { "slow", ECHO, .delay_ms = HOUR_MS - 60000 };
    struct bot longer = { "longer", ECHO, .delay_ms = 2 * HOUR_MS };
    struct bot last = { "last", ECHO };
    TRIAL t = { .options = { .max_concurrency = 1 } };
    trial_run(&t, PAR("all", dozer(0), bot_node(&slow), bot_node(&longer), bot_node(&last)), "1");
    CHECK_STR(only(&t, "step_end"), "step_end all.slow = 1; step_end all.dozer = \"dozed\"; step_end all.longer = 1; "
                                    "step_end all.last = 1; step_end all = [\"dozed\",1,1,1]");
    CHECK_UINT(t.run->core.busy, 0);
}

TEST(who_is_ended_while_it_rests_leaves_the_count_right)
{
    struct bot quick = { "quick", ECHO }, second = { "second", ECHO, .delay_ms = 5 }, third = { "third", ECHO };
    TRIAL t = { .options = { .max_concurrency = 1 } };
    trial_run(&t, SEQ("all", LOOP("l", PAR("both", dozer(1000), bot_node(&quick)),
                                  .max_iterations = 1, .on_error = RONDO_ERROR_CONTINUES),
                      PAR("rest", bot_node(&second), bot_node(&third))), "1");
    CHECK(strstr(only(&t, "step_start step_end"), "step_start all.rest.second; step_end all.rest.second = 1; "
                                                  "step_start all.rest.third; step_end all.rest.third = 1"));
    CHECK_UINT(t.run->core.busy, 0);
    CHECK(t.took_ms < 10000);
}

/* ---- and across restarts ---------------------------------------------------------------------------------- */

struct logs {
    char *log[100];
    size_t len[100];
    int count;
};

static void save_each(struct trial *t, const rondo_event *ev)
{
    struct logs *logs = t->data;
    CHECK(logs->count < 100);
    logs->log[logs->count] = rondo_run_save(t->run, &logs->len[logs->count]);
    logs->count++;
}

TEST(a_rest_goes_on_after_a_crash_wherever_it_was)
{
    static struct bot quick = { "quick", ECHO }, second = { "second", ECHO };
    static struct logs logs;
    {
        TRIAL t = { .options = { .max_concurrency = 1 }, .on_event = save_each, .data = &logs };
        trial_run(&t, PAR("all", dozer(0), bot_node(&quick), bot_node(&second)), "1");
    }
    for (int i = 0; i < logs.count; i++) {
        TRIAL t = { .options = { .max_concurrency = 1 } };
        trial_recover(&t, PAR("all", dozer(0), bot_node(&quick), bot_node(&second)), logs.log[i],
                      logs.len[i]);
        CHECK_STR(t.output, "[\"dozed\",1,1]");
        CHECK_UINT(t.run->core.busy, 0);
        CHECK(t.took_ms <= HOUR_MS + 1000); // it does not begin anew
        rondo_text_free(logs.log[i]);
    }
}
