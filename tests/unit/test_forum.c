/* test_forum.c - members speak, the captain decides. */
#include "agents.h"

#include <stdlib.h>

#define FORUM(its_captain, its_members, ...)                                                   \
    rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .captain = (its_captain),       \
                                     .members = its_members, __VA_ARGS__ })

/* KT-40, KT-41 */ TEST(the_captains_output_is_the_forums)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 2 }, cap = { "boss", ADD, 3 };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a), bot_node(&b)),
                   .show = RONDO_SHOW_NOBODY), "10");
    CHECK_STR(t.output, "13");
    CHECK_STR(a.seen, "10");
    CHECK_STR(b.seen, "10");
    CHECK_STR(cap.seen, "10");
    CHECK_STR(cap.paths, "f.captain");
    CHECK_STR(b.paths, "f.r1.b");
}

/* KT-42 */ TEST(one_member_and_a_captain_are_enough)
{
    struct bot a = { "a", ADD, 1 }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a))), "10");
    CHECK_STR(t.output,
              "{\"contributions\":[{\"name\":\"a\",\"output\":11,\"round\":1}],\"input\":10}");
}

/* KT-43, KT-44, KT-45, KT-48: the ends come in the order of time, the captain starts after the
   last, and the transcript is in declaration order. */
TEST(members_overlap_and_the_captain_waits_for_all)
{
    struct bot a = { "a", GIVE, .text = "1", .delay_ms = 200 },
               b = { "b", GIVE, .text = "2", .delay_ms = 100 }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a), bot_node(&b))), "0");
    CHECK_INT(t.took_ms, 200);
    CHECK_STR(only(&t, "step_start"),
              "step_start f; step_start f.r1.a; step_start f.r1.b; step_start f.captain");
    const char *said = "{\"contributions\":[{\"name\":\"a\",\"output\":1,\"round\":1},"
                       "{\"name\":\"b\",\"output\":2,\"round\":1}],\"input\":0}";
    CHECK_STR(cap.seen, said);
    char want[512];
    snprintf(want, sizeof want, "step_end f.r1.b = 2; step_end f.r1.a = 1; step_end f.captain = %s; "
                                "step_end f = %s", said, said);
    CHECK_STR(only(&t, "step_end"), want);
}

/* KT-46 */ TEST(a_forum_stands_in_the_middle_of_a_pipeline)
{
    struct bot first = { "first", ADD, 1 }, a = { "a", TIMES, 2 }, cap = { "boss", TIMES, 10 },
               last = { "last", ADD, 5 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&first),
                            FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a)), .show = RONDO_SHOW_NOBODY),
                            bot_node(&last)), "1");
    CHECK_STR(t.output, "25");
    CHECK_STR(a.seen, "2");
    CHECK_STR(found(&t, "f.captain"), "completed 20");
}

/* KT-47 */ TEST(a_member_that_fails_fails_the_forum_and_the_captain_does_not_run)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", REFUSE, .text = "sick" }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a), bot_node(&b))), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "sick");
    CHECK_INT(cap.calls, 0);
}

/* The quorum; what a captain makes of the answers is its own affair (here: the median). */
static int by_number(const void *a, const void *b)
{
    json_int_t x = *(const json_int_t *)a, y = *(const json_int_t *)b;
    return (x > y) - (x < y);
}

static void median(rondo_task *task, void *user)
{
    rondo_value *list = json_object_get(rondo_task_input(task), "contributions");
    json_int_t numbers[16];
    size_t n = json_array_size(list);
    for (size_t i = 0; i < n; i++)
        numbers[i] = json_integer_value(json_object_get(json_array_get(list, i), "output"));
    qsort(numbers, n, sizeof *numbers, by_number);
    rondo_task_return(task, json_integer(numbers[n / 2]));
}

TEST(a_captain_takes_the_median_of_those_who_answered)
{
    const rondo_agent captain = { RONDO_AGENT, .name = "median", .run = median };
    struct bot a = { "a", GIVE, .text = "1" }, b = { "b", GIVE, .text = "100" },
               c = { "c", GIVE, .text = "2" }, d = { "d", REFUSE, .text = "lost" };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(rondo_agent_node(&captain),
                   RONDO_NODES(bot_node(&a), bot_node(&b), bot_node(&c), bot_node(&d)), .quorum = 3), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "2");
}

TEST(a_missed_quorum_fails_the_forum)
{
    struct bot a = { "a", GIVE, .text = "1" }, b = { "b", REFUSE, .text = "lost" },
               c = { "c", REFUSE, .text = "asleep" }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a), bot_node(&b), bot_node(&c)), .quorum = 2), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "lost");
    CHECK_INT(cap.calls, 0);
}

TEST(later_rounds_see_what_was_said_before)
{
    struct bot a = { "a", GIVE, .text = "1" }, b = { "b", GIVE, .text = "2" }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a), bot_node(&b)), .rounds = 2), "7");
    CHECK_STR(a.paths, "f.r1.a f.r2.a");
    CHECK_STR(a.seen, "7 {\"contributions\":[{\"name\":\"a\",\"output\":1,\"round\":1},"
                      "{\"name\":\"b\",\"output\":2,\"round\":1}],\"input\":7}");
    CHECK_STR(json_text(json_object_get(t.result.output, "contributions")),
              "[{\"name\":\"a\",\"output\":1,\"round\":1},{\"name\":\"b\",\"output\":2,\"round\":1},"
              "{\"name\":\"a\",\"output\":1,\"round\":2},{\"name\":\"b\",\"output\":2,\"round\":2}]");
}

TEST(with_show_captain_members_always_get_the_plain_input)
{
    struct bot a = { "a", ADD, 1 }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a)), .rounds = 3, .show = RONDO_SHOW_CAPTAIN), "7");
    CHECK_STR(a.seen, "7 7 7");
    CHECK_INT(json_array_size(json_object_get(t.result.output, "contributions")), 3);
}

TEST(a_member_that_recovers_on_its_second_try_counts)
{
    struct bot a = { "a", ADD, 1, .fails = 1, .options = { .retry = { .attempts = 2, .delay_ms = 50 } } },
               b = { "b", ADD, 2 }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a), bot_node(&b)), .show = RONDO_SHOW_NOBODY), "7");
    CHECK_INT(t.rc, 0);
    CHECK_STR(a.paths, "f.r1.a f.r1.a~1");
    CHECK_INT(b.calls, 1);
    CHECK_INT(t.took_ms, 50);
}

TEST(members_may_be_loops_and_the_captain_a_pipeline)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", TIMES, 2 }, x = { "x", GIVE, .text = "4" },
               y = { "y", TIMES, 3 };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(RONDO_SEQUENCE(bot_node(&x), bot_node(&y)),
                   RONDO_NODES(LOOP("l", bot_node(&a), .max_iterations = 3), bot_node(&b))), "1");
    CHECK_STR(t.output, "12");
    CHECK_STR(a.paths, "f.r1.l.0.a f.r1.l.1.a f.r1.l.2.a");
    CHECK_STR(y.paths, "f.captain.y");
}

/* KT-49 */ TEST(a_member_may_end_the_forum_where_it_is_allowed_to)
{
    struct bot knows = { "knows", GIVE, .text = "\"enough\"", .signal = BREAK, .signal_at = 1, .target = "f" },
               slow = { "slow", GIVE, .text = "1", .delay_ms = 500 }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&knows), bot_node(&slow)), .rounds = 3,
                        .early_return = true), "7");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "\"enough\"");
    CHECK_STR(knows.paths, "f.r1.knows f.r2.knows");
    CHECK_INT(cap.calls, 0);
    CHECK_INT(t.took_ms, 500); // the first round; in the second nobody waits for the slow one
}

/* KT-49 */ TEST(a_member_that_may_not_end_the_forum_fails)
{
    struct bot knows = { "knows", GIVE, .text = "1", .signal = BREAK, .target = "f" }, cap = { "boss", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&knows))), "7");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(t.err.message, "break: there is no loop 'f' around this step");
    CHECK_INT(cap.calls, 0);
}

TEST(the_captain_decides_anyway_and_ends_nothing)
{
    struct bot a = { "a", ADD, 1 }, cap = { "boss", GIVE, .text = "1", .signal = BREAK, .target = "f" };
    TRIAL t = { 0 };
    trial_run(&t, FORUM(bot_node(&cap), RONDO_NODES(bot_node(&a)), .early_return = true), "7");
    CHECK_INT(t.rc, RONDO_EINVAL);
}
