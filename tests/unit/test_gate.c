/* test_gate.c - waiting for a person. */
#include "agents.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>

#define GATE(...) rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ok", __VA_ARGS__ })

static void until_waiting(struct trial *t)
{
    while (!count(t, "gate_waiting"))
        CHECK(trial_next(t));
}

static void show_question(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_GATE_WAITING)
        CHECK_STR(rondo_event_text(ev), "Ship it?");
    if (rondo_event_type(ev) == RONDO_EV_GATE_ANSWERED) {
        CHECK_STR(json_text(json_object_get(rondo_event_value(ev), "value")), "{\"go\":true}");
        CHECK_STR(json_text(json_object_get(rondo_event_value(ev), "by")), "\"Ada\"");
    }
}

/* KT-137 */ TEST(the_answer_is_the_output)
{
    struct bot echo = { "echo", ECHO };
    TRIAL t = { .on_event = show_question };
    trial_start(&t, RONDO_SEQUENCE(GATE(.ask = "Ship it?"), bot_node(&echo)), "1");
    until_waiting(&t);
    CHECK_INT(rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", json_of("{\"go\":true}"), "Ada"), 0);
    trial_finish(&t);
    CHECK_STR(echo.seen, "{\"go\":true}");
    CHECK_STR(only(&t, "gate_waiting gate_answered step_end"),
              "gate_waiting ok; gate_answered ok; step_end ok = {\"go\":true}; "
              "step_end echo = {\"go\":true}; step_end = {\"go\":true}");
}

TEST(a_wrong_answer_is_refused_with_a_reason_and_the_gate_stays_open)
{
    TRIAL t = { 0 };
    trial_start(&t, GATE(.schema = "{\"type\":\"boolean\"}"), "1");
    until_waiting(&t);
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", json_string("maybe"), NULL);
    rondo_engine_poll(t.engine, 0);
    while (!count(&t, "message"))
        CHECK(trial_next(&t));
    CHECK_STR(only(&t, "message"), "message ok gate: expected boolean, got \"maybe\"");
    CHECK_INT(count(&t, "gate_answered"), 0);
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", json_false(), NULL);
    trial_finish(&t);
    CHECK_STR(t.output, "false");
}

TEST(a_second_answer_changes_nothing)
{
    TRIAL t = { 0 };
    trial_start(&t, GATE(), "1");
    until_waiting(&t);
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", json_integer(1), NULL);
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", json_integer(2), NULL);
    trial_finish(&t);
    CHECK_STR(t.output, "1");
    CHECK_INT(count(&t, "gate_answered"), 1);
}

TEST(an_answer_of_null_is_an_answer)
{
    TRIAL t = { 0 };
    trial_start(&t, GATE(), "1");
    until_waiting(&t);
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", NULL, NULL);
    trial_finish(&t);
    CHECK_STR(t.output, "null");
}

TEST(nobody_answers_in_time)
{
    TRIAL t = { 0 };
    trial_run(&t, GATE(.timeout_ms = 5000), "1");
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_STR(t.err.message, "nobody answered within 5000 ms");
    CHECK_INT(t.took_ms, 5000);
}

TEST(on_timeout_is_taken_as_the_answer)
{
    TRIAL t = { 0 };
    trial_run(&t, GATE(.timeout_ms = 5000, .on_timeout = "{\"go\":false}"), "1");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "{\"go\":false}");
    CHECK_INT(t.took_ms, 5000);
}

TEST(a_gate_that_waits_does_not_hold_up_others_nor_take_a_place)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 5 };
    TRIAL t = { .options = { .max_concurrency = 1 } };
    trial_run(&t, RONDO_PARALLEL(GATE(.timeout_ms = 1000, .on_timeout = "0"),
                            LOOP("l", bot_node(&a), .max_iterations = 10)), "0");
    CHECK_STR(t.output, "[0,10]");
    CHECK_INT(t.took_ms, 1000);
}

TEST(a_gate_in_a_loop_asks_in_every_pass)
{
    TRIAL t = { 0 };
    trial_start(&t, LOOP("l", GATE(), .max_iterations = 3), "0");
    for (int i = 0; i < 3; i++) {
        char path[16];
        while (count(&t, "gate_waiting") <= i)
            CHECK(trial_next(&t));
        snprintf(path, sizeof path, "l.%d.ok", i);
        rondo_engine_signal(t.engine, rondo_run_id(t.run), path, json_integer(i * 10), NULL);
    }
    trial_finish(&t);
    CHECK_STR(t.output, "20");
    CHECK_STR(only(&t, "gate_answered"), "gate_answered l.0.ok; gate_answered l.1.ok; gate_answered l.2.ok");
}

TEST(a_gate_is_withdrawn_when_its_pass_is_closed)
{
    struct bot a = { "a", ADD, 1, .signal = BREAK, .delay_ms = 10 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_PARALLEL(GATE(), bot_node(&a))), "0");
    CHECK_STR(t.output, "[null,1]");
    CHECK_STR(found(&t, "l.0.ok"), "cancelled");
}

TEST(a_gate_that_fails_by_time_may_be_tried_again)
{
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(rondo_gate(&(rondo_gate_spec){
                 RONDO_GATE, .name = "ok", .timeout_ms = 100, .options = { .retry = { .attempts = 3 } } })), "0");
    CHECK_INT(t.rc, RONDO_ETIME);
    CHECK_STR(only(&t, "gate_waiting"), "gate_waiting ok; gate_waiting ok~1; gate_waiting ok~2");
    CHECK_INT(t.took_ms, 300);
}

struct addressee {
    rondo_engine *engine;
    const char *run_id;
};

static void *answer_later(void *user)
{
    struct addressee *a = user;
    usleep(2000);
    CHECK_INT(rondo_engine_signal(a->engine, a->run_id, "ok", json_integer(42), "thread"), 0);
    return NULL;
}

TEST(a_gate_is_answered_from_another_thread)
{
    pthread_t thread;
    TRIAL t = { .real_time = true };
    trial_start(&t, GATE(), "0");
    struct addressee a = { t.engine, rondo_run_id(t.run) };
    until_waiting(&t);
    CHECK_INT(pthread_create(&thread, NULL, answer_later, &a), 0);
    trial_finish(&t);
    pthread_join(thread, NULL);
    CHECK_STR(t.output, "42");
}

/* Pulls until it is over, or nobody waits any longer. */
static void pull_all(struct trial *t)
{
    while (trial_next(t))
        ;
}

TEST(when_nobody_is_to_wait_the_run_stays_as_it_is_and_goes_on_after_an_answer)
{
    struct bot echo = { "echo", ECHO }, slow = { "slow", ADD, 1, .delay_ms = 9000 };
    TRIAL t = { 0 };
    trial_start(&t, RONDO_PARALLEL(SEQ("asks", GATE(.timeout_ms = 5000, .exit_on_timeout = true),
                                       bot_node(&echo)),
                                   bot_node(&slow)), "1");
    pull_all(&t);
    CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_WAITING);
    CHECK_INT(slow.calls, 1);
    CHECK_STR(only(&t, "step_end"), "step_end slow = 2"); // what else there was to do was done
    CHECK(!trial_next(&t));
    CHECK(!rondo_engine_next(t.engine));
    CHECK_INT(rondo_run_wait(t.run, &t.err), RONDO_ESTATE);
    CHECK_STR(t.err.message, "the run waits for an answer");
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "asks.ok", json_integer(7), "Ada");
    trial_finish(&t);
    CHECK_STR(t.output, "[7,2]");
}

TEST(a_run_that_nobody_waited_for_is_recovered_and_waits_again)
{
    size_t len;
    TRIAL t = { 0 }, u = { 0 };
    rondo_node *node = GATE(.timeout_ms = 5000, .exit_on_timeout = true);
    trial_start(&t, rondo_node_ref(node), "1");
    pull_all(&t);
    char *log = rondo_run_save(t.run, &len);
    trial_engine(&u);
    u.node = node;
    CHECK_INT(rondo_run_recover(u.engine, node, log, len, NULL, &u.run, &u.err), 0);
    rondo_text_free(log);
    rondo_engine_poll(u.engine, 0);
    CHECK_INT(rondo_run_status(u.run), RONDO_STATUS_WAITING);
    rondo_engine_signal(u.engine, rondo_run_id(u.run), "ok", json_integer(7), "Ada");
    trial_finish(&u);
    CHECK_STR(u.output, "7");
}

TEST(a_gate_that_was_left_is_withdrawn_with_its_run)
{
    TRIAL t = { 0 };
    trial_start(&t, RONDO_SEQUENCE(GATE(.timeout_ms = 5000, .exit_on_timeout = true)), "1");
    pull_all(&t);
    rondo_run_cancel(t.run, "enough");
    trial_finish(&t);
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_STR(found(&t, "ok"), "cancelled");
}

TEST(exits_need_a_time_and_no_answer)
{
    CHECK_STR(refusal(GATE(.exit_on_timeout = true)),
              "ok: gate 'ok': exit_on_timeout needs a timeout_ms, and no on_timeout");
    CHECK_STR(refusal(GATE(.exit_on_timeout = true, .timeout_ms = 1, .on_timeout = "1")),
              "ok: gate 'ok': exit_on_timeout needs a timeout_ms, and no on_timeout");
}
