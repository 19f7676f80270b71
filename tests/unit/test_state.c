/* test_state.c - what agents leave behind: state, memory, outputs of others, history. */
#include "agents.h"

#include <string.h>

static void count_up(rondo_task *task, struct bot *bot)
{
    int64_t n = json_integer_value(rondo_task_state(task, "n"));
    rondo_task_set(task, "n", json_integer(n + 1));
    rondo_task_set(task, "temp:n", json_integer(n + 100));
    rondo_task_set(task, "gone", n == 1 ? NULL : json_true());
}

TEST(state_changes_by_deltas_that_are_events)
{
    struct bot a = { "a", ECHO, .also = count_up };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .max_iterations = 2), "0");
    CHECK_STR(only(&t, "state"), "state l.0.a {\"gone\":true,\"n\":1,\"temp:n\":100}; "
                                 "state l.1.a {\"gone\":null,\"n\":2,\"temp:n\":101}");
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"n\":2}"); // temp: keys end with the run
}

static void read_temp(rondo_task *task, struct bot *bot)
{
    CHECK_STR(json_text(rondo_task_state(task, "temp:n")), "100");
    CHECK_NULL(rondo_task_state(task, "no such key"));
}

TEST(temp_keys_are_seen_by_later_steps_of_the_run)
{
    struct bot a = { "a", ECHO, .also = count_up }, b = { "b", ECHO, .also = read_temp };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), "0");
    CHECK_INT(b.calls, 1);
}

TEST(a_step_that_fails_still_leaves_what_it_set_before)
{
    struct bot a = { "a", REFUSE, .text = "x", .also = count_up };
    TRIAL t = { 0 };
    trial_run(&t, bot_node(&a), "0");
    CHECK_STR(json_text(json_object_get(rondo_run_state(t.run), "n")), "1");
}

static int state_is_2(rondo_context *context, void *user)
{
    return json_integer_value(rondo_context_state(context, "n")) == 2;
}

TEST(rules_see_the_state)
{
    struct bot a = { "a", ECHO, .also = count_up };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", bot_node(&a), .until = state_is_2), "0");
    CHECK_INT(t.result.passes, 2);
}

TEST(output_key_puts_the_output_into_the_state_unless_it_is_empty)
{
    struct bot a = { "a", GIVE, .text = "[1,2]", .output_key = "user:list" },
               b = { "b", NOTHING, .output_key = "nothing" };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), "0");
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"user:list\":[1,2]}");
}

TEST(the_state_a_run_starts_with_is_not_changed_by_it)
{
    struct bot a = { "a", ECHO, .also = count_up };
    rondo_value *state = json_of("{\"n\":5,\"keep\":{\"x\":1}}");
    TRIAL t = { .options = { .state = state } };
    trial_run(&t, bot_node(&a), "0");
    CHECK_STR(json_text(state), "{\"keep\":{\"x\":1},\"n\":5}");
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"gone\":true,\"keep\":{\"x\":1},\"n\":6}");
    json_decref(state);
}

/* Two branches write the same key: the later event wins. */
static void set_mine(rondo_task *task, struct bot *bot)
{
    rondo_task_set(task, "who", json_string(bot->name));
}

TEST(the_last_writer_wins)
{
    struct bot a = { "a", ECHO, .also = set_mine, .delay_ms = 20 }, b = { "b", ECHO, .also = set_mine, .delay_ms = 10 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_PARALLEL(bot_node(&a), bot_node(&b)), "0");
    CHECK_STR(json_text(rondo_run_state(t.run)), "{\"who\":\"a\"}");
}

/* ---- memory --------------------------------------------------------------------------------------- */

static void check_empty(rondo_task *task, struct bot *bot)
{
    CHECK_STR(json_text(rondo_task_memory(task, "unknown")), "[]");
    CHECK_STR(json_text(rondo_task_memory(task, NULL)), bot->data);
    CHECK_INT(rondo_task_remember(task, "other", json_string("by hand")), 0);
}

/* KT-120 */ TEST(memory_is_a_list_per_scope)
{
    struct bot a = { "a", ADD, 1, .memory = "mine", .also = check_empty, .data = "[]" },
               b = { "b", ADD, 1, .memory = "mine", .also = check_empty, .data = "[1]" },
               c = { "c", ADD, 1, .memory = "yours", .also = check_empty, .data = "[]" };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a), bot_node(&b), bot_node(&c)), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(json_text(rondo_run_memory(t.run, "mine")), "[1,2]");
    CHECK_STR(json_text(rondo_run_memory(t.run, "yours")), "[3]");
    CHECK_STR(json_text(rondo_run_memory(t.run, "other")), "[\"by hand\",\"by hand\",\"by hand\"]");
    CHECK_NULL(rondo_run_memory(t.run, "unknown"));
    CHECK_INT(count(&t, "memory"), 6);
}

/* KT-120: the last entries stay. */
TEST(a_window_keeps_the_last_entries_of_the_loops_own_body)
{
    struct bot before = { "before", GIVE, .text = "100", .memory = "m" }, a = { "a", ADD, 1, .memory = "m" };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&before), LOOP("l", bot_node(&a), .max_iterations = 5,
                                                    .memory_mode = RONDO_WINDOW, .memory_window = 2)), "0");
    CHECK_STR(json_text(rondo_run_memory(t.run, "m")), "[100,103,104,105]");
}

/* KT-123: everything a pass knows comes from memory. */
static void fibonacci(rondo_task *task, void *user)
{
    rondo_value *all = rondo_task_memory(task, NULL);
    size_t n = json_array_size(all);
    json_int_t x = json_integer_value(json_array_get(all, n - 1)), y = json_integer_value(json_array_get(all, n - 2));
    rondo_task_return(task, json_integer(n < 2 ? 1 : x + y));
}

static const rondo_agent fib = { RONDO_AGENT, .name = "fib", .run = fibonacci, .memory = "fib" };

/* KT-123 */ TEST(fibonacci_through_memory_alone)
{
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", rondo_agent_node(&fib), .max_iterations = 10), "0");
    CHECK_STR(t.output, "55");
    CHECK_STR(json_text(rondo_run_memory(t.run, "fib")), "[1,1,2,3,5,8,13,21,34,55]");
}

/* KT-123 */ TEST(fibonacci_goes_on_from_seeded_memory)
{
    struct bot five = { "five", GIVE, .text = "5", .memory = "fib" },
               eight = { "eight", GIVE, .text = "8", .memory = "fib" };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&five), bot_node(&eight),
                            LOOP("l", rondo_agent_node(&fib), .max_iterations = 3)), "0");
    CHECK_STR(t.output, "34");
}

/* ---- outputs of others, history ----------------------------------------------------------------------- */

static void look_around(rondo_task *task, struct bot *bot)
{
    CHECK_STR(json_text(rondo_task_output(task, "first")), "1");
    CHECK_STR(json_text(rondo_task_output(task, "second")), "11");
    CHECK_NULL(rondo_task_output(task, "look")); // itself has not ended
    CHECK_NULL(rondo_task_output(task, "nobody"));
}

TEST(a_step_reads_what_ended_before_it_outwards)
{
    struct bot first = { "first", ADD, 1 }, second = { "second", ADD, 10 },
               look = { "look", ECHO, .also = look_around };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&first),
                            SEQ("inner", bot_node(&second), LOOP("l", bot_node(&look), .max_iterations = 1))), "0");
    CHECK_INT(t.rc, 0);
    CHECK_INT(look.calls, 1);
}

static void look_back(rondo_task *task, struct bot *bot)
{
    rondo_history *h = rondo_task_history(task);
    int64_t pass = rondo_task_pass(task);
    CHECK_INT(rondo_history_count(h), pass);
    for (int64_t i = 0; i < pass; i++)
        CHECK_INT(json_integer_value(rondo_history_output(h, i, "a")), i + 1);
    CHECK_NULL(rondo_history_output(h, pass, "a"));
    CHECK_NULL(rondo_history_output(h, -1, "a"));
}

TEST(a_step_reads_the_history_of_its_loop)
{
    struct bot a = { "a", ADD, 1, .also = look_back };
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", RONDO_SEQUENCE(bot_node(&a)), .max_iterations = 6), "0");
    CHECK_INT(t.rc, 0);
    rondo_history *h = rondo_run_history(t.run, "l");
    CHECK_INT(rondo_history_count(h), 6);
    CHECK_STR(rondo_history_text(h, 5, "a"), "6");
    CHECK_INT(rondo_history_best(h), -1);
    CHECK_NULL(rondo_run_history(t.run, "nothing"));
}

static void no_loop_here(rondo_task *task, struct bot *bot)
{
    rondo_feedback feedback;
    CHECK_NULL(rondo_task_history(task));
    CHECK_INT(rondo_task_pass(task), -1);
    CHECK_INT(rondo_task_index(task), -1);
    CHECK_NULL(rondo_task_item(task));
    CHECK(!rondo_task_feedback(task, &feedback));
    CHECK_STR(rondo_task_skill(task), "");
    CHECK_INT(rondo_task_attempt(task), 0);
    CHECK_STR(rondo_node_name(rondo_task_node(task)), "a");
}

TEST(outside_of_any_loop_there_is_no_pass_no_item_and_no_history)
{
    struct bot a = { "a", ADD, 1, .also = no_loop_here };
    TRIAL t = { 0 };
    trial_run(&t, bot_node(&a), "0");
    CHECK_INT(a.calls, 1);
}
