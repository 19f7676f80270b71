/* test_events.c - what is handed out: order, fields, streaming, and readers that fall behind. */
#include "agents.h"

#include <stdlib.h>
#include <string.h>

/* KT-132 */ TEST(a_single_agent_gives_four_events_and_one_terminal)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, bot_node(&a), "1");
    CHECK_STR(t.log.data, "workflow_start\nstep_start a\nstep_end a = 2\nworkflow_end completed\n");
    CHECK_NULL(rondo_run_next(t.run)); // and nothing after it
}

/* KT-133 */ TEST(a_failing_run_has_exactly_one_terminal_with_the_original_cause)
{
    struct bot a = { "a", REFUSE, .text = "no paper" };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", bot_node(&a)), "1");
    CHECK_STR(t.log.data, "workflow_start\nstep_start s\nstep_start s.a\nerror s.a: no paper\n"
                          "error s: no paper\nworkflow_end failed\n");
    CHECK_STR(t.err.message, "no paper");
    CHECK_STR(t.result.error, "no paper");
}

/* KT-134 */ TEST(every_stage_starts_and_ends_once_also_when_nested)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 1 }, c = { "c", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s", bot_node(&a), SEQ("inner", bot_node(&b), bot_node(&c))), "0");
    CHECK_STR(t.log.data, "workflow_start\nstep_start s\nstep_start s.a\nstep_end s.a = 1\n"
                          "step_start s.inner\nstep_start s.inner.b\nstep_end s.inner.b = 2\n"
                          "step_start s.inner.c\nstep_end s.inner.c = 3\nstep_end s.inner = 3\n"
                          "step_end s = 3\nworkflow_end completed\n");
}

TEST(the_events_of_a_loop_are_in_the_order_of_the_contract)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 2, .score = last_as_score, .delay_ms = 5), "0");
    CHECK_STR(t.log.data,
              "workflow_start\nstep_start l\n"
              "iteration_start l pass 0\nstep_start l.0.a\nstep_end l.0.a = 1\n"
              "iteration_end l pass 0 score 1\ndelay l\ntimer l\n"
              "iteration_start l pass 1\nstep_start l.1.a\nstep_end l.1.a = 2\n"
              "iteration_end l pass 1 score 2\nloop_end l max_iterations 2\n"
              "step_end l = 2\nworkflow_end completed\n");
}

static uint64_t last_seq;

static void check_seq(struct trial *t, const rondo_event *ev)
{
    CHECK_UINT(rondo_event_seq(ev), ++last_seq);
    CHECK_PTR(rondo_event_run(ev), t->run);
}

TEST(sequence_numbers_begin_with_1_and_have_no_gaps)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 1 }, b = { "b", ADD, 1, .fails = 1,
                                                         .options = { .retry = { .attempts = 2 } } };
    TRIAL t = { .on_event = check_seq };
    trial_run(&t, LOOP("l", RONDO_PARALLEL(bot_node(&a), bot_node(&b)), .max_iterations = 3), "0");
    CHECK_UINT(last_seq, (uint64_t)t.events);
}

static void check_fields(struct trial *t, const rondo_event *ev)
{
    const char *line = rondo_event_json(ev, NULL);
    rondo_value *object = json_of(line);
    CHECK_STR(json_string_value(json_object_get(object, "type")), rondo_event_name(ev));
    CHECK_STR(json_string_value(json_object_get(object, "runId")), "run-1");
    const char *path = json_string_value(json_object_get(object, "path"));
    CHECK_STR(path ? path : "", rondo_event_path(ev));
    const char *step = json_string_value(json_object_get(object, "stepId"));
    CHECK_STR(step ? step : "", rondo_event_step(ev));
    CHECK_UINT((uint64_t)json_integer_value(json_object_get(object, "seq")), rondo_event_seq(ev));
    CHECK_NULL(strchr(line, '\n'));
    json_decref(object);
}

TEST(the_line_of_an_event_says_what_its_fields_say)
{
    struct bot a = { "a", APPEND, .text = "\n\"\\\xc3\xa4", .fails = 1,
                     .options = { .retry = { .attempts = 2 } } };
    TRIAL t = { .on_event = check_fields, .options = { .id = "run-1" } };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 2), "\"x\"");
    CHECK_INT(t.rc, 0);
    CHECK(t.events > 10);
}

static void inspect(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_STEP_END && strcmp(rondo_event_path(ev), "l.1.a~1") == 0) {
        CHECK_INT(rondo_event_attempt(ev), 1);
        CHECK_INT(rondo_event_status(ev), RONDO_STATUS_COMPLETED);
        CHECK_STR(rondo_node_name(rondo_event_node(ev)), "a");
        CHECK_STR(rondo_event_author(ev), "a");
        CHECK_INT(rondo_event_pass(ev), -1);
        *(int *)t->data += 1;
    }
    if (rondo_event_type(ev) == RONDO_EV_LOOP_END) {
        CHECK_INT(rondo_event_reason(ev), RONDO_REASON_MAX_ITERATIONS);
        CHECK_INT(rondo_event_pass(ev), 2);
        *(int *)t->data += 10;
    }
    if (rondo_event_type(ev) == RONDO_EV_WORKFLOW_END) {
        CHECK_STR(rondo_event_path(ev), "");
        CHECK_NULL(rondo_event_node(ev));
        CHECK_STR(json_text(rondo_event_value(ev)), "2");
        *(int *)t->data += 100;
    }
}

static void fail_in_pass_1(rondo_task *task, struct bot *bot)
{
    if (rondo_task_pass(task) == 1 && rondo_task_attempt(task) == 0)
        rondo_task_fail(task, RONDO_ERETRY, "busy");
}

TEST(fields_of_events)
{
    struct bot a = { "a", ADD, 1, .also = fail_in_pass_1, .options = { .retry = { .attempts = 2 } } };
    int seen = 0;
    TRIAL t = { .on_event = inspect, .data = &seen };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 2), "0");
    CHECK_INT(seen, 111);
    CHECK_STR(only(&t, "retry"), "retry l.1.a~1");
}

/* ---- streaming --------------------------------------------------------------------------------------- */

static void stream(rondo_task *task, struct bot *bot)
{
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "Hel", .partial = true }), 0);
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "lo", .partial = true }), 0);
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "Hello", .author = "poet" }), 0);
}

static void no_seq_for_partial(struct trial *t, const rondo_event *ev)
{
    CHECK_INT(rondo_event_seq(ev) == 0, rondo_event_type(ev) == RONDO_EV_OUTPUT);
}

TEST(partial_output_is_shown_and_never_stored)
{
    struct bot a = { "a", ECHO, .also = stream };
    TRIAL t = { .on_event = no_seq_for_partial };
    trial_run(&t, bot_node(&a), "1");
    CHECK_STR(only(&t, "output message"), "output a a: Hel; output a a: lo; message a poet: Hello");
    size_t len;
    char *log = rondo_run_save(t.run, &len);
    int times = 0;
    for (size_t i = 0; i + 5 < len; i++) {
        times += memcmp(log + i, "Hello", 5) == 0;
        CHECK(memcmp(log + i, "Hel", 3) != 0 || memcmp(log + i, "Hello", 5) == 0);
    }
    CHECK_INT(times, 1);
    rondo_text_free(log);
}

TEST(events_of_an_agent_come_before_its_end_and_in_order)
{
    struct bot a = { "a", ECHO, .also = stream };
    TRIAL t = { 0 };
    trial_run(&t, bot_node(&a), "1");
    CHECK_STR(t.log.data, "workflow_start\nstep_start a\noutput a a: Hel\noutput a a: lo\n"
                          "message a poet: Hello\nstep_end a = 1\nworkflow_end completed\n");
}

static void bad_emits(rondo_task *task, struct bot *bot)
{
    rondo_value *list = json_array();
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ 0, .content = "x" }), RONDO_EINVAL);
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .state_delta = list }), RONDO_EINVAL);
    json_decref(list);
}

TEST(an_event_without_size_or_with_a_delta_that_is_no_object_is_refused)
{
    struct bot a = { "a", ECHO, .also = bad_emits };
    TRIAL t = { 0 };
    trial_run(&t, bot_node(&a), "1");
    CHECK_INT(t.rc, 0);
    CHECK_INT(count(&t, "message state"), 0);
}

/* ---- readers that fall behind ----------------------------------------------------------------------------- */

static rondo_value *three_items(rondo_context *context, void *user)
{
    return json_of("[1,2,3]");
}

static void chat(rondo_task *task, struct bot *bot)
{
    rondo_value *delta = json_pack("{s:i}", "calls", bot->calls);
    rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "busy", .state_delta = delta });
    rondo_task_note(task, json_integer(bot->calls));
    rondo_task_spend(task, &(rondo_usage){ 1, 2, 3, 1 });
    json_decref(delta);
}

static void both(rondo_task *task, void *user)
{
    rondo_task_return_both(task, "for people", json_pack("{s:O}", "got", rondo_task_input(task)));
}

struct cast {
    struct bot a, b, c, d, item, flaky;
};

static void cast_init(struct cast *cast)
{
    *cast = (struct cast){
        .a = { "a", ADD, 1, .also = chat, .memory = "m", .output_key = "key" },
        .b = { "b", ADD, 2, .delay_ms = 7 },
        .c = { "c", ECHO, .delay_ms = 3 },
        .d = { "d", GIVE, .text = "{\"text\":\"d\",\"list\":[1,2.5,null,true]}" },
        .item = { "item", TIMES, 10, .delay_ms = 2 },
        .flaky = { "flaky", ADD, 1, .fails = 2, .options = { .retry = { .attempts = 3, .delay_ms = 4 } } },
    };
}

/* Something of everything. */
static rondo_node *rich(struct cast *cast)
{
    static const rondo_agent two = { RONDO_AGENT, .name = "both", .run = both };
    rondo_node *pick = rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .name = "pick", .case_count = 1, .otherwise = bot_node(&cast->d),
        .cases = &(rondo_case){ .when = input_is, .user = "2", .node = bot_node(&cast->c) } });
    rondo_node *round = LOOP("round", SEQ("steps", bot_node(&cast->a), bot_node(&cast->flaky)),
                             .max_iterations = 2, .output_mode = RONDO_OUTPUT_CUMULATIVE,
                             .score = last_as_score, .delay_ms = 1);
    rondo_node *graph = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .step_count = 3, .max_concurrency = 2,
        .steps = (rondo_step[]){ { "x", rondo_agent_node(&two) }, { "y", bot_node(&cast->b) },
                                 { "z", EACH("e", bot_node(&cast->item), .items = three_items,
                                             .max_concurrency = 2),
                                   RONDO_AFTER("x", "y") } } });
    return SEQ("top", PAR("p", round, bot_node(&cast->b), pick), graph);
}

static const char *lines_of(struct trial *t, int behind)
{
    struct cast cast;
    cast_init(&cast);
    t->options.id = "r";
    trial_start(t, rich(&cast), "1");
    if (behind == 1) // it runs to its end before the first event is read
        while (rondo_engine_poll(t->engine, 100))
            ;
    if (behind == 2) // now and then the engine is ahead
        for (int i = 0; trial_next(t); i++)
            if (i % 3 == 0)
                rondo_engine_poll(t->engine, 0);
    trial_finish(t);
    if (t->rc < 0)
        FAIL("%s", t->err.message);
    return t->json.data;
}

/* KT-135: nothing is dropped; a late reader gets from the journal what a live one saw. */
TEST(a_reader_who_comes_late_reads_the_same_lines)
{
    TRIAL live = { 0 }, late = { 0 };
    const char *a = lines_of(&live, 0), *b = lines_of(&late, 1);
    CHECK_STR(late.log.data, live.log.data);
    CHECK_STR(b, a);
}

/* KT-135 */ TEST(a_reader_who_falls_behind_now_and_then_reads_the_same_lines)
{
    TRIAL live = { 0 }, slow = { 0 };
    const char *a = lines_of(&live, 0), *b = lines_of(&slow, 2);
    CHECK_STR(slow.log.data, live.log.data);
    CHECK_STR(b, a);
}

TEST(a_rich_workflow_gives_what_it_should)
{
    TRIAL t = { 0 };
    lines_of(&t, 0);
    CHECK_STR(t.output, "[10,20,30]");
    CHECK_STR(found(&t, "top.p.round"), "completed [3,5]");
    CHECK_STR(found(&t, "top.p"), "completed [[3,5],3,{\"list\":[1,2.5,null,true],\"text\":\"d\"}]");
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"calls\":2,\"key\":4}");
    CHECK_STR(json_text(rondo_run_memory(t.run, "m")), "[2,4]");
    CHECK_INT(t.result.usage.calls, 2);
    CHECK_INT(count(&t, "retry"), 2);
}

/* A reader that lags is waited for: beyond 4096 events nothing new is started. */
TEST(a_run_whose_reader_is_far_behind_waits_for_it)
{
    struct bot a = { "a", ADD, 1 };
    int64_t huge = INT64_MAX;
    TRIAL t = { 0 };
    trial_start(&t, LOOP("l", bot_node(&a), .until = last_is_over, .user = &huge, .max_iterations = 100000), "0");
    for (int i = 0; i < 200; i++)
        rondo_engine_poll(t.engine, 0);
    CHECK(a.calls >= 1000 && a.calls <= 1100);
    int before = a.calls;
    rondo_engine_poll(t.engine, 0);
    CHECK_INT(a.calls, before);
    for (int i = 0; i < 8000; i++)
        CHECK(rondo_run_next(t.run) != NULL);
    CHECK(a.calls >= 1990 && a.calls <= 2000); // four events a pass; who pulls is never ahead
}

TEST(a_run_without_a_reader_never_waits)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { .options = { .no_cursor = true } };
    trial_start(&t, LOOP("l", bot_node(&a), .max_iterations = 20000), "0");
    for (int i = 0; i < 1000 && rondo_engine_poll(t.engine, 0); i++)
        ;
    CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_COMPLETED);
    CHECK_INT(a.calls, 20000);
}

/* ---- pulling ------------------------------------------------------------------------------------------------- */

TEST(nothing_is_carried_out_before_the_first_pull)
{
    struct bot a = { "a", ADD, 1 };
    TRIAL t = { 0 };
    trial_start(&t, bot_node(&a), "1");
    CHECK_INT(a.calls, 0);
    CHECK(trial_next(&t)); // workflow_start
    CHECK(trial_next(&t)); // step_start
    CHECK_INT(a.calls, 0);
    CHECK(trial_next(&t));
    CHECK_INT(a.calls, 1);
}

TEST(two_runs_pulled_in_turns_do_not_disturb_each_other)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 3 }, b = { "b", ADD, 10, .delay_ms = 5 };
    TRIAL t = { 0 }, u = { 0 };
    trial_start(&t, LOOP("l", bot_node(&a), .max_iterations = 20), "0");
    u.node = LOOP("m", bot_node(&b), .max_iterations = 10);
    CHECK_INT(rondo_run_start(t.engine, u.node, NULL, NULL, &u.run, NULL), 0);
    bool more = true, also = true;
    while (more || also) {
        more = more && trial_next(&t);
        also = also && trial_next(&u);
    }
    CHECK_STR(only(&t, "loop_end workflow_end"), "loop_end l max_iterations 20; workflow_end completed");
    CHECK_STR(only(&u, "loop_end workflow_end"), "loop_end m max_iterations 10; workflow_end completed");
    CHECK_INT(t.events, 4 + 20 * 4 + 1);
    CHECK_INT(u.events, 4 + 10 * 4 + 1);
    CHECK_STR(found(&t, "l"), "completed 20");
    CHECK_STR(found(&u, "m"), "completed 100");
    rondo_run_close(u.run);
    u.run = NULL;
}

TEST(engine_next_hands_out_the_events_of_a_thousand_runs)
{
    enum { RUNS = 1000 };
    static rondo_run *runs[RUNS];
    static int ends, starts;
    struct bot a = { "a", ADD, 1, .delay_ms = 2 };
    rondo_node *node = LOOP("l", bot_node(&a), .max_iterations = 3);
    TRIAL t = { 0 };
    trial_engine(&t);
    for (int i = 0; i < RUNS; i++) {
        rondo_value *input = json_integer(i);
        CHECK_INT(rondo_run_start(t.engine, node, input, NULL, &runs[i], NULL), 0);
        json_decref(input);
    }
    const rondo_event *ev;
    int events = 0;
    while ((ev = rondo_engine_next(t.engine))) {
        events++;
        starts += rondo_event_type(ev) == RONDO_EV_WORKFLOW_START;
        ends += rondo_event_type(ev) == RONDO_EV_WORKFLOW_END;
    }
    CHECK_INT(starts, RUNS);
    CHECK_INT(ends, RUNS);
    CHECK_INT(events, RUNS * (4 + 3 * 4 + 1));
    for (int i = 0; i < RUNS; i++) {
        rondo_result res;
        CHECK_INT(rondo_run_result(runs[i], &res), 0);
        CHECK_INT(json_integer_value(res.output), i + 3);
        rondo_run_close(runs[i]);
    }
    rondo_node_unref(node);
}
