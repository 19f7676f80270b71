/* test_loop_next.c - loops that are fed by `next`, and while loops around plain calls. */
#include "agents.h"

#include <string.h>

static rondo_value *stop_at_once(rondo_context *context, void *user)
{
    return NULL;
}

/* KT-70 */ TEST(the_body_runs_once_even_when_next_says_stop_at_once)
{
    struct bot plus = { "plus", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&plus), .next = stop_at_once), "0");
    CHECK_STR(t.output, "1");
    CHECK_INT(plus.calls, 1);
    CHECK_INT(t.result.reason, RONDO_REASON_NEXT);
    CHECK_INT(t.result.passes, 1);
}

/* KT-71 */ TEST(the_body_sees_what_next_gave)
{
    struct bot plus = { "plus", ADD, 1 };
    int64_t limit = 3;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&plus), .next = last_until, .user = &limit), "0");
    CHECK_STR(t.output, "3");
    CHECK_STR(plus.seen, "0 1 2");
}

/* KT-72 */ TEST(doubling_runs_seven_times_and_ends_at_128)
{
    struct bot twice = { "twice", TIMES, 2 };
    int64_t limit = 101;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("doubling", bot_node(&twice), .next = last_until, .user = &limit), "1");
    CHECK_STR(t.output, "128");
    CHECK_INT(t.result.passes, 7);
    CHECK_STR(twice.seen, "1 2 4 8 16 32 64");
    CHECK_STR(only(&t, "loop_end"), "loop_end doubling next 7");
}

/* KT-73 */ TEST(a_body_of_two_stages_goes_from_0_to_10_in_five_runs)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 1 };
    int64_t limit = 10;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), .next = last_until, .user = &limit), "0");
    CHECK_STR(t.output, "10");
    CHECK_INT(t.result.passes, 5);
    CHECK_INT(a.calls, 5);
    CHECK_STR(b.seen, "1 3 5 7 9");
}

static void measure(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer((json_int_t)json_string_length(rondo_task_input(task))));
}

static void wrap(rondo_task *task, void *format)
{
    char text[64];
    snprintf(text, sizeof text, "%s%lld%s", strcmp(format, "[") ? (char *)format : "[",
             json_integer_value(rondo_task_input(task)), strcmp(format, "[") ? "" : "]");
    rondo_task_return_text(task, text);
}

static const rondo_agent length = { RONDO_AGENT, .name = "length", .run = measure };

/* KT-74 */ TEST(a_loop_stands_in_the_middle_of_a_pipeline)
{
    static const char *const rows[][3] = { { "\"hi\"", "result:", "\"result:5\"" },
                                           { "\"ab\"", "[", "\"[5]\"" } };
    for (int i = 0; i < 2; i++) {
        const rondo_agent end = { RONDO_AGENT, .name = "wrap", .run = wrap, .user = (void *)rows[i][1] };
        struct bot plus = { "plus", ADD, 1 };
        int64_t limit = 5;
        TRIAL t = { 0 };
        trial_run(&t, RONDO_SEQUENCE(rondo_agent_node(&length),
                                LOOP("l", bot_node(&plus), .next = last_until, .user = &limit),
                                rondo_agent_node(&end)), rows[i][0]);
        CHECK_STR(t.output, rows[i][2]);
        CHECK_STR(plus.seen, "2 3 4");
    }
}

static void halve(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer(json_integer_value(rondo_task_input(task)) / 2));
}

static rondo_value *while_not_zero(rondo_context *context, void *user)
{
    rondo_value *last = rondo_context_last(context);
    return json_integer_value(last) ? json_incref(last) : NULL;
}

/* KT-74 */ TEST(a_loop_stands_at_the_end_of_a_pipeline)
{
    const rondo_agent half = { RONDO_AGENT, .name = "half", .run = halve };
    struct bot three = { "three", TIMES, 3 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&three), LOOP("l", rondo_agent_node(&half), .next = while_not_zero)), "1");
    CHECK_STR(t.output, "0");
    CHECK_STR(only(&t, "loop_end"), "loop_end l next 2");
}

/* KT-75: text in, number out, next makes text again. */
static void count_words(rondo_task *task, void *user)
{
    const char *text = json_string_value(rondo_task_input(task));
    json_int_t words = 1;
    for (; *text; text++)
        words += *text == ' ';
    rondo_task_return(task, json_integer(words));
}

static rondo_value *one_word_more(rondo_context *context, void *user)
{
    json_int_t n = json_integer_value(rondo_context_last(context));
    char text[64] = "word";
    if (n >= 4)
        return NULL;
    for (json_int_t i = 0; i < n; i++)
        strcat(text, " word");
    return json_string(text);
}

/* KT-75 */ TEST(next_maps_the_output_back_to_what_the_body_takes)
{
    const rondo_agent words = { RONDO_AGENT, .name = "words", .run = count_words,
                                .options = { .input_schema = "{\"type\":\"string\"}",
                                             .output_schema = "{\"type\":\"integer\"}" } };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", rondo_agent_node(&words), .next = one_word_more), "\"two words\"");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "4");
    CHECK_INT(t.result.passes, 3);
}

/* KT-76: the checker is a node of its own and decides what comes next. */
static void give_back_until_16(rondo_task *task, void *user)
{
    rondo_value *x = rondo_task_input(task);
    rondo_task_return(task, json_integer_value(x) >= 16 ? json_null() : json_incref(x));
}

/* KT-76 */ TEST(next_may_be_an_agent)
{
    const rondo_agent checker = { RONDO_AGENT, .name = "checker", .run = give_back_until_16 };
    struct bot twice = { "twice", TIMES, 2 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&twice), .next_node = rondo_agent_node(&checker)), "1");
    CHECK_STR(t.output, "16");
    CHECK_STR(twice.seen, "1 2 4 8");
    CHECK_INT(t.result.reason, RONDO_REASON_NEXT);
    CHECK_STR(found(&t, "l.3.next"), "completed null");
}

/* KT-77 */ TEST(a_loop_repeats_until_the_result_is_acceptable)
{
    struct bot plus = { "try", ADD, 1 };
    int64_t good = 3;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&plus), .until = last_is_at_least, .user = &good), "0");
    CHECK_INT(t.result.passes, 3);
    CHECK_INT(t.result.reason, RONDO_REASON_UNTIL);
}

/* KT-78 */
static void accumulate(rondo_task *task, void *user)
{
    rondo_value *in = rondo_task_input(task);
    json_int_t left = json_integer_value(json_object_get(in, "left"));
    json_int_t total = json_integer_value(json_object_get(in, "sum"));
    rondo_task_return(task, json_pack("{s:I, s:I}", "left", left - 1, "sum", total + left));
}

static rondo_value *while_left(rondo_context *context, void *user)
{
    rondo_value *last = rondo_context_last(context);
    return json_integer_value(json_object_get(last, "left")) ? json_incref(last) : NULL;
}

/* KT-78 */ TEST(an_accumulator_travels_through_the_passes)
{
    const rondo_agent step = { RONDO_AGENT, .name = "step", .run = accumulate };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", rondo_agent_node(&step), .next = while_left), "{\"left\":5,\"sum\":0}");
    CHECK_STR(t.output, "{\"left\":0,\"sum\":15}");
    CHECK_INT(t.result.passes, 5);
}

/* KT-81: answers from a script. */
static void from_script(rondo_task *task, void *user)
{
    int *at = user;
    static const int script[] = { 10, 20, 30, 40 };
    rondo_task_return(task, json_integer(script[(*at)++]));
}

TEST(a_scripted_scorer_is_asked_three_times)
{
    int calls = 0;
    const rondo_agent scorer = { RONDO_AGENT, .name = "scorer", .run = from_script, .user = &calls };
    int64_t limit = 30;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", rondo_agent_node(&scorer), .next = last_until, .user = &limit), "1");
    CHECK_STR(t.output, "30");
    CHECK_INT(calls, 3);
    CHECK_STR(only(&t, "iteration_start"), "iteration_start l pass 0; iteration_start l pass 1; "
                                           "iteration_start l pass 2");
}

static void score_draft(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer(strlen(json_string_value(rondo_task_input(task))) > 1 ? 70 : 35));
}

static rondo_value *draft_below_60(rondo_context *context, void *user)
{
    rondo_value *last = rondo_context_last(context);
    if (json_integer_value(last) >= 60)
        return NULL;
    return json_incref(rondo_context_output(context, "draft"));
}

/* KT-81 */ TEST(draft_and_score_need_two_drafts)
{
    const rondo_agent scorer = { RONDO_AGENT, .name = "scorer", .run = score_draft };
    struct bot draft = { "draft", APPEND, .text = "x" };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&draft), rondo_agent_node(&scorer)),
                  .next = draft_below_60), "\"\"");
    CHECK_STR(t.output, "70");
    CHECK_STR(draft.seen, "\"\" \"x\"");
    CHECK_STR(found(&t, "l.draft"), "completed \"xx\"");
    CHECK_STR(found(&t, "l.0.draft"), "completed \"x\"");
}

/* KT-82 */ TEST(stopping_on_the_last_allowed_run_is_fine)
{
    struct bot plus = { "plus", ADD, 1 };
    int64_t limit = 3;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&plus), .next = last_until, .user = &limit, .max_iterations = 3,
                  .on_max = RONDO_FAIL), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(t.result.reason, RONDO_REASON_NEXT);
    CHECK_INT(t.result.passes, 3);
}

/* KT-82 */ TEST(wanting_one_run_more_fails_naming_the_cap)
{
    struct bot plus = { "plus", ADD, 1 };
    int64_t limit = 4;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&plus), .next = last_until, .user = &limit, .max_iterations = 3,
                  .on_max = RONDO_FAIL), "0");
    CHECK_INT(t.rc, RONDO_ELIMIT);
    CHECK_STR(t.err.message, "loop 'l' reached its cap of 3 passes");
    CHECK_INT(plus.calls, 3);
    CHECK_INT(t.result.reason, RONDO_REASON_MAX_ITERATIONS);
}

/* KT-82 */ TEST(a_loop_with_next_is_capped_at_1000_by_default_and_that_fails)
{
    struct bot plus = { "plus", ADD, 1 };
    int64_t limit = INT64_MAX;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&plus), .next = last_until, .user = &limit), "0");
    CHECK_INT(rondo_node_limit(t.node, RONDO_LIMIT_ITERATIONS), 1000);
    CHECK_INT(t.rc, RONDO_ELIMIT);
    CHECK_STR(t.err.message, "loop 'l' reached its cap of 1000 passes");
    CHECK_INT(plus.calls, 1000);
}

/* KT-82 */ TEST(a_cap_below_one_is_refused)
{
    struct bot plus = { "plus", ADD, 1 };
    CHECK_STR(refusal(LOOP("l", bot_node(&plus), .max_iterations = -2)),
              "l: loop 'l': max_iterations must be at least 1, got -2");
}

static rondo_value *ten_times(rondo_context *context, void *user)
{
    return json_integer(10 * json_integer_value(rondo_context_last(context)));
}

/* KT-83 */ TEST(without_next_the_output_is_fed_back_with_next_its_result)
{
    struct bot plus = { "plus", ADD, 1 }, also = { "plus", ADD, 1 };
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, LOOP("l", bot_node(&plus), .max_iterations = 3), "0");
    CHECK_STR(plus.seen, "0 1 2");
    trial_run(&u, LOOP("l", bot_node(&also), .next = ten_times, .max_iterations = 3), "0");
    CHECK_STR(also.seen, "0 10 110");
    CHECK_STR(u.output, "111");
}

/* KT-84, KT-85: the third call was made, but what came of it is lost with the process. */
TEST(after_a_crash_only_the_pass_that_was_under_way_runs_again)
{
    struct bot plus = { "plus", ADD, 1 };
    int64_t limit = 5;
    rondo_node *node = LOOP("l", bot_node(&plus), .next = last_until, .user = &limit);
    char *log = NULL;
    size_t len = 0;
    {
        TRIAL t = { 0 };
        trial_start(&t, rondo_node_ref(node), "0");
        while (!strstr(t.log.data ? t.log.data : "", "step_start l.2.plus"))
            CHECK(trial_next(&t));
        CHECK_INT(plus.calls, 2); // who stops at an event stops before what follows from it
        log = rondo_run_save(t.run, &len);
        CHECK(trial_next(&t));
        CHECK_INT(plus.calls, 3);
    }
    TRIAL t = { 0 };
    trial_recover(&t, rondo_node_ref(node), log, len);
    rondo_text_free(log);
    CHECK_STR(t.output, "5");
    CHECK_INT(t.result.passes, 5);
    CHECK_INT(plus.calls, 6);
    CHECK_STR(plus.seen, "0 1 2 2 3 4");
    CHECK_STR(plus.paths, "l.0.plus l.1.plus l.2.plus l.2.plus l.3.plus l.4.plus");

    TRIAL u = { 0 };
    log = rondo_run_save(t.run, &len);
    trial_recover(&u, node, log, len); // KT-85: it has ended, nothing is carried out
    rondo_text_free(log);
    CHECK_STR(u.output, "5");
    CHECK_INT(u.result.reason, RONDO_REASON_NEXT);
    CHECK_INT(u.result.passes, 5);
    CHECK_INT(plus.calls, 6);
    CHECK_INT(u.events, 0);
}

static rondo_value *next_breaks(rondo_context *context, void *user)
{
    if (rondo_context_pass(context) == 1)
        rondo_context_fail(context, RONDO_EFAILED, "no more ideas");
    return json_incref(rondo_context_last(context));
}

/* KT-86 */ TEST(an_error_in_next_fails_the_loop_naming_rule_and_pass)
{
    struct bot plus = { "plus", ADD, 1 };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&plus), .next = next_breaks), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "next of loop 'l' failed in pass 2: no more ideas");
    CHECK_INT(t.result.reason, RONDO_REASON_FAILED);
    CHECK_INT(plus.calls, 2);
}

/* KT-86 */ TEST(an_error_in_the_body_surfaces_unchanged)
{
    struct bot bad = { "bad", REFUSE, .text = "broken pencil" };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&bad), .next = stop_at_once), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "broken pencil");
    CHECK_INT(t.result.reason, RONDO_REASON_FAILED);
}

static rondo_value *false_then_stop(rondo_context *context, void *user)
{
    static const char *const values[] = { "0", "false", "\"\"", "[]" };
    int64_t pass = rondo_context_pass(context);
    return pass < 4 ? json_of(values[pass]) : json_null();
}

/* KT-71 */ TEST(only_null_stops_zero_false_and_empty_go_on)
{
    struct bot echo = { "echo", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&echo), .next = false_then_stop), "1");
    CHECK_STR(echo.seen, "1 0 false \"\" []");
    CHECK_INT(t.result.reason, RONDO_REASON_NEXT);
}

/* ---- while loops around plain calls ------------------------------------------------------------- */

static json_int_t call(rondo_engine *engine, rondo_node *node, json_int_t input)
{
    rondo_value *in = json_integer(input), *out = NULL;
    CHECK_INT(rondo_call(engine, node, in, &out, NULL), 0);
    json_int_t ret = json_is_true(out) ? 1 : json_integer_value(out);
    json_decref(in);
    json_decref(out);
    return ret;
}

static void is_done(rondo_task *task, void *user)
{
    rondo_task_return(task, json_boolean(json_integer_value(rondo_task_input(task)) >= 15));
}

/* KT-87 */ TEST(a_plain_while_around_calls_works_too)
{
    struct bot plus = { "plus", ADD, 1 }, twice = { "twice", TIMES, 2 }, three = { "three", ADD, 3 },
               ten = { "ten", ADD, 10 };
    const rondo_agent check = { RONDO_AGENT, .name = "check", .run = is_done };
    rondo_node *one = bot_node(&plus), *pipe = RONDO_SEQUENCE(rondo_node_ref(one), bot_node(&twice)),
               *add3 = bot_node(&three), *done = rondo_agent_node(&check), *add10 = bot_node(&ten);
    TRIAL t = { 0 };
    trial_engine(&t);

    json_int_t x = 0, runs = 0;
    while (x < 5)
        x = call(t.engine, one, x);
    CHECK_INT(x, 5);
    for (x = 1; x < 100; runs++)
        x = call(t.engine, pipe, x);
    CHECK_INT(x, 190);
    CHECK_INT(runs, 6);
    for (x = 0; !call(t.engine, done, x);)
        x = call(t.engine, add3, x);
    CHECK_INT(x, 15);
    x = 0;
    do
        x = call(t.engine, add10, x);
    while (x < 0);
    CHECK_INT(x, 10);
    rondo_node_unref(one);
    rondo_node_unref(pipe);
    rondo_node_unref(add3);
    rondo_node_unref(done);
    rondo_node_unref(add10);
}

static void call_inside(rondo_task *task, struct bot *bot)
{
    rondo_value *out = NULL;
    rondo_error err;
    CHECK_INT(rondo_call(bot->data, (rondo_node *)rondo_task_node(task), NULL, &out, &err), RONDO_ESTATE);
    CHECK_STR(err.message, "rondo_call() inside an agent or a rule: use a node instead");
    CHECK_NULL(out);
}

TEST(a_call_inside_an_agent_is_refused)
{
    struct bot a = { "a", ECHO, .also = call_inside };
    TRIAL t = { 0 };
    trial_engine(&t);
    a.data = t.engine;
    trial_run(&t, bot_node(&a), "1");
    CHECK_INT(t.rc, 0);
    CHECK_INT(a.calls, 1);
}
