/* test_adk_loop.c - the loop as LoopAgent users know it: sub-agents in a row, events as they come,
   escalate, a silent limit; and what its runner promises. */
#include "agents.h"

#include <string.h>

static void say_once(rondo_task *task, struct bot *bot)
{
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = bot->text }), 0);
}

/* L1 */ TEST(an_unlimited_loop_ends_when_its_reader_stops)
{
    struct bot a = { "a", NOTHING, .text = "hello", .also = say_once };
    TRIAL t = { 0 };
    trial_start(&t, LOOP("l", bot_node(&a), .max_iterations = RONDO_UNBOUNDED), "0");
    while (!count(&t, "message"))
        CHECK(trial_next(&t));
    rondo_run_close(t.run);
    t.run = NULL;
    CHECK_STR(only(&t, "message"), "message l.0.a a: hello");
    CHECK_INT(a.calls, 1);
    CHECK_INT(rondo_engine_poll(t.engine, 0), 0);
    CHECK_INT(a.calls, 1);
}

/* L2 */ TEST(one_pass_gives_one_event_once)
{
    struct bot a = { "a", NOTHING, .text = "hello", .also = say_once };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 1), "0");
    CHECK_STR(only(&t, "message"), "message l.0.a a: hello");
    CHECK_INT(t.result.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_INT(t.result.status, RONDO_STATUS_COMPLETED);
}

/* L3 */ TEST(sub_agents_speak_in_listed_order)
{
    struct bot a = { "a", NOTHING, .text = "hello", .also = say_once },
               b = { "b", NOTHING, .text = "world", .also = say_once };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), .max_iterations = 1), "0");
    CHECK_STR(only(&t, "message"), "message l.0.a a: hello; message l.0.b b: world");
}

static void call_escalating_tool(rondo_task *task, struct bot *bot)
{
    rondo_value *args = json_object();
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "call", .data = args }), 0);
    json_decref(args);
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "response", .escalate = true }), 0);
    if (bot->data)
        CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = bot->data }), 0);
}

/* L4 */ TEST(after_escalate_the_rest_of_that_agents_events_is_delivered_and_nothing_else_runs)
{
    struct bot a = { "a", GIVE, .text = "\"done\"", .also = call_escalating_tool, .data = "summary" },
               b = { "b", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), .max_iterations = 2), "0");
    CHECK_STR(only(&t, "message"), "message l.0.a a: call; message l.0.a a: response (escalates); "
                                   "message l.0.a a: summary");
    CHECK_INT(a.calls, 1);
    CHECK_INT(b.calls, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 1);
    CHECK(t.result.escalated);
    CHECK_STR(t.output, "\"done\"");
}

/* L5 */ TEST(without_a_summary_only_call_and_response_are_delivered)
{
    struct bot a = { "a", NOTHING, .also = call_escalating_tool }, b = { "b", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), .max_iterations = 2), "0");
    CHECK_STR(only(&t, "message"), "message l.0.a a: call; message l.0.a a: response (escalates)");
    CHECK_INT(b.calls, 0);
    CHECK_INT(t.result.passes, 1);
}

/* X1 */ TEST(two_texts_then_exit)
{
    struct bot a = { "a", APPEND, .text = "x", .signal = ESCALATE, .signal_at = 2 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 5), "\"\"");
    CHECK_INT(a.calls, 3);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 3);
}

/* X2 */ TEST(who_never_exits_is_stopped_by_the_limit)
{
    struct bot a = { "a", APPEND, .text = "x" };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 2), "\"\"");
    CHECK_STR(t.output, "\"xx\"");
    CHECK_INT(a.calls, 2);
    CHECK(!t.result.escalated);
    CHECK_INT(t.result.status, RONDO_STATUS_COMPLETED);
}

/* X3: an exit without content does not replace content. */
TEST(an_immediate_exit_is_one_pass_and_leaves_no_output)
{
    struct bot a = { "a", NOTHING, .signal = ESCALATE };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 5), "1");
    CHECK_INT(a.calls, 1);
    CHECK_INT(t.result.reason, RONDO_REASON_BREAK);
    CHECK_INT(t.result.passes, 1);
    CHECK_STR(t.result.content, "");
}

/* X1 */ TEST(an_exit_without_content_keeps_the_content_of_the_pass_before)
{
    struct bot write = { "write", ADD, 1 }, stop = { "stop", NOTHING, .signal = ESCALATE, .signal_at = 1 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&stop), bot_node(&write)), .max_iterations = 5), "1");
    CHECK_STR(stop.seen, "1 1");
    CHECK_INT(write.calls, 1);
    CHECK_STR(t.output, "1");
    CHECK_INT(t.result.passes, 2);
}

/* A4 */ TEST(a_run_that_is_cancelled_before_it_began_calls_nobody)
{
    struct bot a = { "a", ECHO };
    TRIAL t = { 0 };
    trial_start(&t, LOOP("l", bot_node(&a)), "1");
    rondo_run_cancel(t.run, "changed my mind");
    trial_finish(&t);
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_INT(a.calls, 0);
    CHECK_INT(count(&t, "workflow_end"), 1);
}

static void cancel_own_run(rondo_task *task, struct bot *bot)
{
    struct trial *t = bot->data;
    rondo_run_cancel(t->run, "enough");
}

TEST(an_agent_that_ends_the_run_is_the_last_one)
{
    struct bot a = { "a", ADD, 1, .also = cancel_own_run }, b = { "b", ADD, 1 };
    TRIAL t = { 0 };
    a.data = &t;
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), "1");
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_INT(b.calls, 0);
}

/* R12: what the caller gave is in the log, and the first step shows it. */
TEST(the_input_is_part_of_the_events)
{
    struct bot a = { "a", ECHO };
    TRIAL t = { 0 };
    trial_start(&t, bot_node(&a), "\"hello\"");
    const rondo_event *ev = rondo_run_next(t.run);
    CHECK_INT(rondo_event_type(ev), RONDO_EV_WORKFLOW_START);
    CHECK_UINT(rondo_event_seq(ev), 1);
    CHECK_STR(json_text(json_object_get(rondo_event_value(ev), "input")), "\"hello\"");
    ev = rondo_run_next(t.run);
    CHECK_INT(rondo_event_type(ev), RONDO_EV_STEP_START);
    CHECK_STR(json_text(rondo_event_value(ev)), "\"hello\"");
    trial_finish(&t);
}

static void read_state(rondo_task *task, struct bot *bot)
{
    CHECK_STR(json_text(rondo_task_state(task, "user:name")), bot->data);
    rondo_value *n = rondo_task_state(task, "turns");
    rondo_task_set(task, "turns", json_integer(json_integer_value(n) + 1));
    CHECK_INT(json_integer_value(rondo_task_state(task, "turns")), json_integer_value(n) + 1);
}

/* R13 */ TEST(state_given_to_a_run_is_seen_by_its_first_agent_and_carried_from_run_to_run)
{
    struct bot a = { "a", ECHO, .also = read_state, .data = "\"Ada\"" };
    rondo_value *state = json_of("{\"user:name\":\"Ada\"}");
    rondo_node *node = bot_node(&a);
    for (int turn = 1; turn <= 3; turn++) {
        TRIAL t = { .options = { .state = state } };
        trial_run(&t, rondo_node_ref(node), "1");
        json_decref(state);
        state = json_deep_copy(rondo_run_state(t.run));
        CHECK_INT(json_integer_value(json_object_get(state, "turns")), turn);
    }
    CHECK_INT(a.calls, 3);
    json_decref(state);
    rondo_node_unref(node);
}

static rondo_node *ask_human(struct bot *before, struct bot *after)
{
    return RONDO_SEQUENCE(bot_node(before),
                          rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "ok", .ask = "Ship it?" }),
                          bot_node(after));
}

/* R17: a new input starts a new run, the old one goes on waiting. */
TEST(a_new_run_is_fresh_while_another_one_waits)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ECHO };
    TRIAL t = { 0 };
    trial_start(&t, ask_human(&a, &b), "1");
    while (!count(&t, "gate_waiting"))
        CHECK(trial_next(&t));
    rondo_run *second;
    CHECK_INT(rondo_run_start(t.engine, t.node, NULL, NULL, &second, NULL), 0);
    for (int i = 0; i < 5; i++)
        rondo_engine_poll(t.engine, 0), rondo_run_next(second);
    CHECK_STR(a.seen, "1 null");
    CHECK_INT(b.calls, 0);
    rondo_run_close(second);
    CHECK_INT(rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", json_true(), "me"), 0);
    trial_finish(&t);
    CHECK_STR(t.output, "true");
}

/* R19 */ TEST(an_answer_that_nobody_waits_for_changes_nothing)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ECHO };
    TRIAL t = { 0 };
    trial_start(&t, ask_human(&a, &b), "1");
    while (!count(&t, "gate_waiting"))
        CHECK(trial_next(&t));
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "nowhere", json_true(), NULL);
    rondo_engine_signal(t.engine, "no such run", "ok", json_true(), NULL);
    rondo_engine_poll(t.engine, 0);
    CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_WAITING);
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", json_string("go"), NULL);
    trial_finish(&t);
    CHECK_STR(t.output, "\"go\"");
}

/* R20, KT-137: the process may even end meanwhile. */
TEST(a_pause_outlives_its_process_and_nothing_before_it_runs_again)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ECHO };
    rondo_node *node = ask_human(&a, &b);
    char *log;
    size_t len;
    {
        TRIAL t = { 0 };
        trial_start(&t, rondo_node_ref(node), "1");
        while (!count(&t, "gate_waiting"))
            CHECK(trial_next(&t));
        log = rondo_run_save(t.run, &len);
    }
    TRIAL t = { 0 };
    trial_engine(&t);
    t.node = node;
    CHECK_INT(rondo_run_recover(t.engine, node, log, len, NULL, &t.run, &t.err), 0);
    rondo_text_free(log);
    rondo_engine_signal(t.engine, rondo_run_id(t.run), "ok", json_string("yes"), "boss");
    trial_finish(&t);
    CHECK_STR(t.output, "\"yes\"");
    CHECK_INT(a.calls, 1);
    CHECK_INT(b.calls, 1);
    CHECK_INT(count(&t, "gate_answered"), 1);
}
