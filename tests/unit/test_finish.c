/* test_finish.c - a task is finished exactly once: now, later, from any thread, or not at all. */
#include "agents.h"

#include "agent/call.h"

#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static rondo_node *agent(rondo_function run, void *user, const rondo_options *options)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "a", .run = run, .user = user,
                                            .options = options ? *options : (rondo_options){ .timeout_ms = 0 } });
}

static void twice(rondo_task *task, void *user)
{
    CHECK_INT(rondo_task_return(task, json_integer(1)), 0);
    CHECK_INT(rondo_task_return(task, json_integer(2)), RONDO_ESTATE);
    CHECK_INT(rondo_task_return_text(task, "three"), RONDO_ESTATE);
    CHECK_INT(rondo_task_return_both(task, "four", json_integer(4)), RONDO_ESTATE);
    CHECK_INT(rondo_task_return_after(task, 5, json_integer(5)), RONDO_ESTATE);
    CHECK_INT(rondo_task_fail(task, RONDO_EFAILED, "six"), RONDO_ESTATE);
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "seven" }), RONDO_ESTATE);
    CHECK_INT(rondo_task_set(task, "key", json_integer(8)), RONDO_ESTATE);
    CHECK_INT(rondo_task_remember(task, "scope", json_integer(9)), RONDO_ESTATE);
    CHECK_INT(rondo_task_note(task, json_integer(10)), RONDO_ESTATE);
    CHECK_INT(rondo_task_spend(task, &(rondo_usage){ 1 }), RONDO_ESTATE);
    CHECK_INT(rondo_task_break(task, NULL), RONDO_ESTATE);
    CHECK_INT(rondo_task_continue(task), RONDO_ESTATE);
    CHECK_INT(rondo_task_escalate(task), RONDO_ESTATE);
    CHECK_INT(rondo_later_return(rondo_task_defer(task), json_integer(11)), RONDO_ESTATE);
}

TEST(after_a_task_is_finished_everything_is_refused_and_changes_nothing)
{
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", agent(twice, NULL, NULL), .max_iterations = 1), "0");
    CHECK_STR(t.output, "1");
    CHECK_INT(t.result.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_INT(count(&t, "message state memory note budget error"), 0);
    CHECK_STR(json_text(rondo_run_state(t.run)), "{}");
}

static void fails_then_returns(rondo_task *task, void *user)
{
    CHECK_INT(rondo_task_fail(task, 0, "first %s", "word"), 0);
    CHECK_INT(rondo_task_return(task, json_integer(2)), RONDO_ESTATE);
}

TEST(a_failure_is_not_undone_by_a_return)
{
    TRIAL t = { 0 };
    trial_run(&t, agent(fails_then_returns, NULL, NULL), "0");
    CHECK_INT(t.rc, RONDO_EFAILED); // 0 is no code of a failure
    CHECK_STR(t.err.message, "first word");
}

static void does_nothing(rondo_task *task, void *user)
{
}

TEST(a_function_that_returns_without_finishing_has_failed)
{
    TRIAL t = { 0 };
    trial_run(&t, agent(does_nothing, NULL, NULL), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "the agent's function returned without finishing");
}

static void returns_null(rondo_task *task, void *user)
{
    CHECK_INT(rondo_task_return(task, NULL), 0);
}

TEST(returning_nothing_counts_as_null)
{
    TRIAL t = { 0 };
    trial_run(&t, agent(returns_null, NULL, NULL), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "null");
    CHECK_STR(t.result.content, "");
}

static void returns_both(rondo_task *task, void *user)
{
    rondo_task_return_both(task, "for people", json_of("{\"n\":1}"));
}

TEST(content_and_result_may_come_apart)
{
    struct bot echo = { "echo", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(agent(returns_both, NULL, NULL), bot_node(&echo)), "0");
    rondo_result res;
    CHECK_INT(rondo_run_find(t.run, "a", &res), 0);
    CHECK_STR(res.content, "for people");
    CHECK_STR(json_text(res.output), "{\"n\":1}");
    CHECK_STR(echo.seen, "{\"n\":1}"); // the program gets the value
}

static void not_utf8(rondo_task *task, void *user)
{
    rondo_task_return_text(task, "\xff\xfe");
}

TEST(text_that_is_not_utf8_fails_the_step)
{
    TRIAL t = { 0 };
    trial_run(&t, agent(not_utf8, NULL, NULL), "0");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(t.err.message, "the content is not UTF-8");
}

/* ---- later ------------------------------------------------------------------------------------------- */

struct worker {
    rondo_later later;
    pthread_t thread;
    int what, rc, rc2;
    bool cancelled, readable;
    int calls;
};

static void *at_work(void *user)
{
    struct worker *w = user;
    usleep(2000);
    switch (w->what) {
    case 0: w->rc = rondo_later_return(w->later, json_string("from afar")); break;
    case 1: w->rc = rondo_later_fail(w->later, RONDO_EFAILED, "broke %d", 7); break;
    case 2: {
        rondo_value *delta = json_of("{\"k\":1}");
        rondo_later_emit(w->later, &(rondo_emit){ RONDO_EMIT, .content = "one", .partial = true });
        rondo_later_emit(w->later, &(rondo_emit){ RONDO_EMIT, .content = "two", .state_delta = delta });
        rondo_later_spend(w->later, &(rondo_usage){ 5, 6, 7, 1 });
        json_decref(delta);
        w->rc = rondo_later_return(w->later, NULL);
        break;
    }
    default: break;
    }
    w->rc2 = rondo_later_return(w->later, json_integer(2));
    return NULL;
}

static void hands_over(rondo_task *task, void *user)
{
    struct worker *w = user;
    if (w->calls++ && w->what >= 0)
        pthread_join(w->thread, NULL);
    w->later = rondo_task_defer(task);
    CHECK_INT(rondo_task_return(task, json_integer(1)), RONDO_ESTATE);
    rondo_later again = rondo_task_defer(task);
    CHECK(again.token == w->later.token);
    if (w->what >= 0)
        CHECK_INT(pthread_create(&w->thread, NULL, at_work, w), 0);
}

TEST(a_task_is_finished_by_another_thread)
{
    struct worker w = { .what = 0 };
    TRIAL t = { .real_time = true };
    trial_run(&t, agent(hands_over, &w, NULL), "0");
    pthread_join(w.thread, NULL);
    CHECK_STR(t.output, "\"from afar\"");
    CHECK_INT(w.rc, 0);
    CHECK_INT(w.rc2, RONDO_ESTATE); // the token works once
    CHECK(rondo_later_cancelled(w.later));
    CHECK_INT(rondo_later_fd(w.later), -1);
}

TEST(a_task_fails_from_another_thread)
{
    struct worker w = { .what = 1 };
    TRIAL t = { .real_time = true };
    trial_run(&t, agent(hands_over, &w, NULL), "0");
    pthread_join(w.thread, NULL);
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "broke 7");
    CHECK_INT(w.rc, 0);
    CHECK_INT(w.rc2, RONDO_ESTATE);
}

TEST(a_task_emits_and_spends_from_another_thread)
{
    struct worker w = { .what = 2 };
    TRIAL t = { .real_time = true };
    trial_run(&t, agent(hands_over, &w, NULL), "0");
    pthread_join(w.thread, NULL);
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.log.data, "workflow_start\nstep_start a\noutput a a: one\nstate a {\"k\":1}\n"
                          "message a a: two\nbudget a\nstep_end a = null\nworkflow_end completed\n");
    CHECK_INT(t.result.usage.output_tokens, 6);
}

TEST(a_task_fails_from_another_thread_and_is_tried_again)
{
    struct worker w = { .what = 1 };
    rondo_options options = { .retry = { .attempts = 2 } };
    TRIAL t = { .real_time = true };
    trial_run(&t, agent(hands_over, &w, &options), "0");
    CHECK_INT(w.calls, 2);
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(only(&t, "retry"), "retry a~1");
    pthread_join(w.thread, NULL);
}

TEST(a_task_that_never_finishes_is_ended_by_its_timeout_and_comes_too_late)
{
    struct worker w = { .what = -1 };
    rondo_options options = { .timeout_ms = 40 };
    TRIAL t = { 0 };
    trial_run(&t, agent(hands_over, &w, &options), "0");
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_STR(t.err.message, "timed out after 40 ms");
    CHECK_INT(t.took_ms, 40);
    CHECK(rondo_later_cancelled(w.later));
    CHECK_INT(rondo_later_return(w.later, json_integer(1)), RONDO_ESTATE);
    CHECK_INT(rondo_later_fail(w.later, RONDO_EFAILED, "x"), RONDO_ESTATE);
    CHECK_INT(rondo_later_emit(w.later, &(rondo_emit){ RONDO_EMIT }), RONDO_ESTATE);
    CHECK_INT(rondo_later_break(w.later, NULL), RONDO_ESTATE);
    CHECK_INT(rondo_later_spend(w.later, &(rondo_usage){ 1 }), RONDO_ESTATE);
}

TEST(a_late_result_of_a_cancelled_step_is_refused_while_the_run_goes_on)
{
    struct worker w = { .what = -1 };
    struct bot quick = { "quick", ADD, 1, .delay_ms = 5 }, slow = { "slow", ADD, 1, .delay_ms = 50 };
    TRIAL t = { 0 };
    trial_start(&t, RONDO_SEQUENCE(rondo_parallel(&(rondo_parallel_spec){
                                      RONDO_PARALLEL_SPEC, .name = "race", .mode = RONDO_FIRST,
                                      .children = RONDO_NODES(agent(hands_over, &w, NULL), bot_node(&quick)) }),
                                  bot_node(&slow)), "0");
    while (slow.calls == 0)
        CHECK(trial_next(&t));
    CHECK_INT(rondo_later_return(w.later, json_integer(99)), RONDO_ESTATE);
    trial_finish(&t);
    CHECK_STR(t.output, "2");
}

TEST(the_fd_of_a_task_is_readable_once_it_is_cancelled)
{
    struct worker w = { .what = -1 };
    TRIAL t = { .real_time = true };
    trial_start(&t, agent(hands_over, &w, NULL), "0");
    while (!w.calls)
        rondo_engine_poll(t.engine, 0), trial_next(&t);
    struct pollfd fd = { .fd = rondo_later_fd(w.later), .events = POLLIN };
    CHECK(fd.fd >= 0);
    CHECK_INT(poll(&fd, 1, 0), 0);
    CHECK(!rondo_later_cancelled(w.later));
    rondo_run_cancel(t.run, "stop");
    trial_finish(&t);
    CHECK_INT(poll(&fd, 1, 0), 1);
    CHECK(rondo_later_cancelled(w.later));
    CHECK_INT(rondo_later_return(w.later, NULL), RONDO_ESTATE);
    CHECK_INT(t.rc, RONDO_ECANCELLED);
}

TEST(a_token_stays_harmless_when_its_run_was_closed)
{
    struct worker w = { .what = -1 };
    TRIAL t = { 0 };
    trial_start(&t, agent(hands_over, &w, NULL), "0");
    while (!w.calls)
        rondo_engine_poll(t.engine, 0), trial_next(&t);
    rondo_run_close(t.run);
    t.run = NULL;
    CHECK(rondo_later_cancelled(w.later));
    CHECK_INT(rondo_later_return(w.later, json_integer(1)), RONDO_ESTATE);
    CHECK_INT(rondo_later_return((rondo_later){ t.engine, 0 }, NULL), RONDO_ESTATE);
    CHECK_INT(rondo_later_return((rondo_later){ t.engine, UINT64_MAX }, NULL), RONDO_ESTATE);
}

/* ---- everything that a task can say, said later -------------------------------------------------------- */

static void *says_all(void *user)
{
    struct worker *w = user;
    CHECK_INT(rondo_later_set(w->later, "a", json_integer(1)), 0);
    CHECK_INT(rondo_later_emit(w->later, &(rondo_emit){ RONDO_EMIT, .content = "piece", .partial = true }), 0);
    CHECK_INT(rondo_later_emit(w->later, &(rondo_emit){ RONDO_EMIT, .content = "whole" }), 0);
    CHECK_INT(rondo_later_set(w->later, "b", json_integer(2)), 0);
    CHECK_INT(rondo_later_set(w->later, "a", NULL), 0);
    CHECK_INT(rondo_later_set(w->later, "\xff", json_integer(3)), RONDO_EINVAL);
    CHECK_INT(rondo_later_remember(w->later, "box", json_string("kept")), 0);
    CHECK_INT(rondo_later_remember(w->later, NULL, json_string("nowhere")), 0);
    CHECK_INT(rondo_later_note(w->later, json_string("note")), 0);
    CHECK_INT(rondo_later_return_both(w->later, "for people", json_of("{\"n\":5}")), 0);
    CHECK_INT(rondo_later_set(w->later, "c", json_integer(3)), RONDO_ESTATE);
    CHECK_INT(rondo_later_note(w->later, json_integer(3)), RONDO_ESTATE);
    CHECK_INT(rondo_later_remember(w->later, "box", json_integer(3)), RONDO_ESTATE);
    CHECK_INT(rondo_later_return_both(w->later, "x", json_integer(3)), RONDO_ESTATE);
    return NULL;
}

static void lets_say_all(rondo_task *task, void *user)
{
    struct worker *w = user;
    rondo_task_set(task, "early", json_true());
    w->later = rondo_task_defer(task);
    CHECK_INT(pthread_create(&w->thread, NULL, says_all, w), 0);
}

TEST(another_thread_can_say_all_that_a_task_can)
{
    struct worker w = { 0 };
    TRIAL t = { .real_time = true };
    trial_run(&t, agent(lets_say_all, &w, NULL), "0");
    pthread_join(w.thread, NULL);
    CHECK_STR(t.output, "{\"n\":5}");
    CHECK_STR(t.result.content, "for people");
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"b\":2,\"early\":true}");
    CHECK_STR(json_text(rondo_run_memory(t.run, "box")), "[\"kept\"]");
    CHECK_STR(only(&t, "state message step_end note memory output"),
              "output a a: piece; state a {\"a\":1,\"early\":true}; message a a: whole; "
              "memory a; note a \"note\"; "
              "state a {\"a\":null,\"b\":2}; step_end a = {\"n\":5}");
}

static void *sets_and_fails(void *user)
{
    struct worker *w = user;
    rondo_later_set(w->later, "k", json_integer(1));
    rondo_later_fail(w->later, RONDO_EFAILED, "%0*d|", 4000, 0);
    return NULL;
}

static void lets_fail(rondo_task *task, void *user)
{
    struct worker *w = user;
    w->later = rondo_task_defer(task);
    CHECK_INT(pthread_create(&w->thread, NULL, sets_and_fails, w), 0);
}

TEST(a_failure_keeps_state_that_was_set_and_a_long_text)
{
    struct worker w = { 0 };
    TRIAL t = { .real_time = true };
    trial_run(&t, SEQ("s", agent(lets_fail, &w, NULL)), "0");
    pthread_join(w.thread, NULL);
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_INT(strlen(t.result.error), 4001);
    CHECK_STR(t.result.error + 3999, "0|");
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"k\":1}");
}

static void fails_in_a_character(rondo_task *task, void *user)
{
    char text[10001];
    memset(text, 'x', 10000);
    for (int i = 1; i < 10000; i += 3)
        memcpy(text + i, "\xe2\x82\xac", 3);
    text[10000] = '\0';
    rondo_task_fail(task, RONDO_EFAILED, "%s%s", (const char *)user, text);
}

TEST(a_text_that_is_cut_is_cut_between_characters)
{
    for (int i = 0; i < 3; i++) {
        TRIAL t = { 0 };
        trial_run(&t, SEQ("s", agent(fails_in_a_character, (char *)&"ab"[i], NULL)), "0");
        CHECK(strlen(t.result.error) > 5000);
        CHECK(strncmp(t.result.error, &"ab"[i], (size_t)(2 - i)) == 0);
    }
}

/* ---- who is told of a cancel ---------------------------------------------------------------------------- */

/* what: 1 has finished before, 2 takes its time to wind down */
static void count_farewell(void *user)
{
    struct worker *w = user;
    w->rc++;
    if (w->what != 2)
        w->rc2 = rondo_later_return(w->later, json_integer(9));
}

static void wants_farewell(rondo_task *task, void *user)
{
    struct worker *w = user;
    w->calls++;
    w->later = rondo_task_defer(task);
    task_on_cancel(task, count_farewell, w);
    if (w->what == 1)
        rondo_later_return(w->later, json_integer(1));
}

TEST(a_cancel_is_told_once)
{
    struct worker w = { 0 };
    rondo_options options = { .timeout_ms = 40 };
    TRIAL t = { 0 };
    trial_run(&t, agent(wants_farewell, &w, &options), "0");
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_INT(w.rc, 1);
    CHECK_INT(w.rc2, RONDO_ESTATE);
    CHECK_INT(rondo_later_return(w.later, NULL), RONDO_ESTATE);
    rondo_run_close(t.run);
    t.run = NULL;
    CHECK_INT(w.rc, 1);
}

static void *winds_down(void *user)
{
    struct worker *w = user;
    usleep(50000);
    w->rc2 = rondo_later_fail(w->later, RONDO_ECANCELLED, "over");
    return NULL;
}

/* A step ends when its work has: what comes after it finds nothing of it any more. */
TEST(a_cancelled_step_ends_when_its_work_has)
{
    struct worker w = { .what = 2 };
    rondo_options options = { .timeout_ms = 1 };
    TRIAL t = { .real_time = true, .options = { RONDO_RUN, .no_cursor = true } };
    trial_start(&t, agent(wants_farewell, &w, &options), "0");
    while (!w.rc)
        rondo_engine_poll(t.engine, 10);
    rondo_engine_poll(t.engine, 20);
    CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_RUNNING);
    CHECK_INT(pthread_create(&w.thread, NULL, winds_down, &w), 0);
    trial_finish(&t);
    pthread_join(w.thread, NULL);
    CHECK_INT(w.rc2, RONDO_ESTATE);
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_STR(t.err.message, "timed out after 1 ms");
}

TEST(who_insists_does_not_wait_for_that)
{
    struct worker w = { .what = 2 };
    TRIAL t = { 0 };
    trial_start(&t, agent(wants_farewell, &w, NULL), "0");
    while (!w.calls)
        rondo_engine_poll(t.engine, 0), trial_next(&t);
    rondo_run_cancel(t.run, "stop");
    rondo_engine_poll(t.engine, 0);
    CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_RUNNING);
    rondo_run_cancel(t.run, "stop now");
    trial_finish(&t);
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_INT(w.rc, 1);
    CHECK_INT(rondo_later_return(w.later, NULL), RONDO_ESTATE);
}

TEST(closing_a_run_is_a_cancel)
{
    struct worker w = { 0 };
    TRIAL t = { 0 };
    trial_start(&t, agent(wants_farewell, &w, NULL), "0");
    while (!w.calls)
        rondo_engine_poll(t.engine, 0), trial_next(&t);
    rondo_run_close(t.run);
    t.run = NULL;
    CHECK_INT(w.rc, 1);
}

TEST(what_has_finished_is_not_told_of_a_cancel)
{
    struct worker w = { .what = 1 };
    {
        TRIAL t = { 0 };
        trial_run(&t, agent(wants_farewell, &w, NULL), "0");
        CHECK_STR(t.output, "1");
    }
    CHECK_INT(w.rc, 0);
}

static void *burst(void *user)
{
    struct worker *w = user;
    w->rc = rondo_later_return(w->later, json_integer(1));
    return NULL;
}

static void hands_to_burst(rondo_task *task, void *user)
{
    struct worker *w = user, *mine = &w[rondo_task_index(task)];
    mine->later = rondo_task_defer(task);
    CHECK_INT(pthread_create(&mine->thread, NULL, burst, mine), 0);
}

TEST(many_threads_finish_tasks_of_one_run)
{
    enum { N = 64 };
    static struct worker workers[N];
    rondo_value *items = json_array();
    for (int i = 0; i < N; i++)
        json_array_append_new(items, json_integer(i));
    TRIAL t = { .real_time = true };
    trial_run(&t, EACH("e", agent(hands_to_burst, workers, NULL)), json_text(items));
    for (int i = 0; i < N; i++) {
        pthread_join(workers[i].thread, NULL);
        CHECK_INT(workers[i].rc, 0);
        CHECK_INT(json_integer_value(json_array_get(t.result.output, (size_t)i)), 1);
    }
    CHECK_INT(t.result.passes, N);
    json_decref(items);
}

static void negative_delay(rondo_task *task, void *user)
{
    CHECK_INT(rondo_task_return_after(task, -1, json_integer(1)), RONDO_EINVAL);
    CHECK_INT(rondo_task_return_after(task, 0, json_integer(2)), 0);
    CHECK_INT(rondo_task_return_after(task, 0, json_integer(3)), RONDO_ESTATE);
}

TEST(a_negative_delay_is_refused)
{
    TRIAL t = { 0 };
    trial_run(&t, agent(negative_delay, NULL, NULL), "0");
    CHECK_STR(t.output, "2");
}

static void changes_its_input(rondo_task *task, void *user)
{
    json_object_set_new(rondo_task_input(task), "mine", json_true());
    rondo_task_return(task, NULL);
}

TEST(with_check_values_a_changed_input_is_noticed_and_the_step_named)
{
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(agent(changes_its_input, NULL, NULL)), "{\"a\":1}");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(found(&t, "a"), "failed: changed its input, which is not its own");
}
