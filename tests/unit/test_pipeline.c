/* test_pipeline.c - sequences, and one definition in many places. */
#include "agents.h"

#include <string.h>

/* KT-20 */ TEST(the_output_of_one_stage_is_the_input_of_the_next)
{
    struct bot plus = { "plus", ADD, 3 }, times = { "times", TIMES, 2 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&plus), bot_node(&times)), "4");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "14");
    CHECK_STR(plus.seen, "4");
    CHECK_STR(times.seen, "7");
}

/* KT-21 */ TEST(five_stages_keep_their_order)
{
    struct bot bots[5] = { { "a", APPEND, .text = "a" }, { "b", APPEND, .text = "b" },
                           { "c", APPEND, .text = "c" }, { "d", APPEND, .text = "d" },
                           { "e", APPEND, .text = "e" } };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&bots[0]), bot_node(&bots[1]), bot_node(&bots[2]),
                            bot_node(&bots[3]), bot_node(&bots[4])), "\"-\"");
    CHECK_STR(t.output, "\"-abcde\"");
    CHECK_STR(only(&t, "step_end"),
              "step_end a = \"-a\"; step_end b = \"-ab\"; step_end c = \"-abc\"; "
              "step_end d = \"-abcd\"; step_end e = \"-abcde\"; step_end = \"-abcde\"");
}

/* KT-22, S1, S2 */
TEST(a_sequence_in_a_sequence_gives_the_same_result_as_a_flat_one)
{
    struct bot bots[4] = { { "a", APPEND, .text = "0" }, { "b", APPEND, .text = "1" },
                           { "c", APPEND, .text = "2" }, { "d", APPEND, .text = "3" } };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(RONDO_SEQUENCE(bot_node(&bots[0]), bot_node(&bots[1])),
                            SEQ("inner", bot_node(&bots[2]), bot_node(&bots[3]))), "\"\"");
    CHECK_STR(t.output, "\"0123\"");
    CHECK_STR(bots[1].paths, "sequence.b"); // an inner container without a name has its kind's
    CHECK_STR(bots[3].paths, "inner.d");
    CHECK_STR(found(&t, "inner.c"), "completed \"012\"");
}

/* Containers without a name are told apart like repeated ones. */
TEST(several_containers_without_a_name_may_stand_side_by_side)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 10 };
    TRIAL t = { 0 };
    trial_start(&t, RONDO_PARALLEL(RONDO_SEQUENCE(bot_node(&a)), RONDO_SEQUENCE(bot_node(&b))), "1");
    trial_finish(&t);
    CHECK_STR(t.output, "[2,11]");
    CHECK_STR(b.paths, "sequence#2.b");
}

/* S1, S2: a second run of the same node starts from nothing. */
TEST(a_second_run_of_the_same_node_gives_the_same_result)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", TIMES, 10 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a), bot_node(&b)), "1");
    CHECK_STR(t.output, "20");
    for (int i = 0; i < 3; i++) {
        rondo_value *one = json_integer(1), *out = NULL;
        CHECK_INT(rondo_call(t.engine, t.node, one, &out, NULL), 0);
        CHECK_STR(json_text(out), "20");
        json_decref(one);
        json_decref(out);
    }
    CHECK_INT(a.calls, 4);
}

/* KT-25, R15 */ TEST(when_stage_2_fails_stage_3_never_runs_and_the_same_error_surfaces)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", REFUSE, .text = "no such city" }, c = { "c", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a), bot_node(&b), bot_node(&c)), "1");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "no such city");
    CHECK_INT(t.result.status, RONDO_STATUS_FAILED);
    CHECK_INT(c.calls, 0);
    CHECK_STR(only(&t, "error"), "error b: no such city; error: no such city");
    CHECK_STR(found(&t, "a"), "completed 2");
    CHECK_STR(found(&t, "b"), "failed: no such city");
    CHECK_STR(found(&t, "c"), "none");
}

TEST(a_skipped_stage_hands_on_what_it_got)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 100, .options = { .when = never } },
               c = { "c", TIMES, 2 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&a), bot_node(&b), bot_node(&c)), "1");
    CHECK_STR(t.output, "4");
    CHECK_INT(b.calls, 0);
    CHECK_STR(only(&t, "step_skipped"), "step_skipped b");
    CHECK_STR(found(&t, "b"), "skipped");
}

TEST(null_false_zero_and_empty_are_values_that_flow)
{
    static const char *const values[] = { "null", "false", "0", "\"\"", "[]", "{}" };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct bot give = { "give", GIVE, .text = values[i] }, echo = { "echo", ECHO };
        TRIAL t = { 0 };
        trial_run(&t, RONDO_SEQUENCE(bot_node(&give), bot_node(&echo)), "1");
        CHECK_STR(echo.seen, values[i]);
        CHECK_STR(t.output, values[i]);
    }
}

TEST(without_an_input_the_first_stage_gets_null)
{
    struct bot echo = { "echo", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, bot_node(&echo), NULL);
    CHECK_STR(echo.seen, "null");
    CHECK_STR(t.output, "null");
}

/* KT-24: each stage has its own selector. */
static const char *by_type(const rondo_value *input, void *user)
{
    return json_is_string(input) ? "text" : "number";
}

static const char *by_sign(const rondo_value *input, void *user)
{
    return json_integer_value(input) < 0 ? "down" : "up";
}

static void measure(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer((json_int_t)json_string_length(rondo_task_input(task))));
}

static void negate(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer(-json_integer_value(rondo_task_input(task))));
}

static void name_skill(rondo_task *task, void *user)
{
    rondo_task_return_text(task, rondo_task_skill(task));
}

/* KT-24 */ TEST(each_stage_selects_its_skill_on_its_own)
{
    const rondo_skill first[] = { { "text", .run = measure }, { "number", .run = negate } };
    const rondo_skill second[] = { { "up", .run = name_skill }, { "down", .run = name_skill } };
    const rondo_agent a = { RONDO_AGENT, .name = "a", .skills = first, .skill_count = 2,
                            .select = by_type };
    const rondo_agent b = { RONDO_AGENT, .name = "b", .skills = second, .skill_count = 2,
                            .select = by_sign };
    rondo_node *node = RONDO_SEQUENCE(rondo_agent_node(&a), rondo_agent_node(&b));
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, rondo_node_ref(node), "\"four\"");
    CHECK_STR(t.output, "\"up\"");
    trial_run(&u, node, "5");
    CHECK_STR(u.output, "\"down\"");
}

/* ---- one definition in many places ---------------------------------------------------------- */

/* KT-01, S7: a node belongs to no place; both sequences work. */
TEST(an_agent_may_be_used_in_two_sequences)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", TIMES, 2 }, c = { "c", TIMES, 5 };
    rondo_node *shared = bot_node(&a);
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, RONDO_SEQUENCE(rondo_node_ref(shared), bot_node(&b)), "1");
    trial_run(&u, RONDO_SEQUENCE(shared, bot_node(&c)), "1");
    CHECK_STR(t.output, "4");
    CHECK_STR(u.output, "10");
    CHECK_INT(a.calls, 2);
}

/* KT-02, S6: the second use in one container is called name#2. */
TEST(an_agent_may_be_appended_to_its_own_sequence)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", TIMES, 2 };
    rondo_node *shared = bot_node(&a);
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(rondo_node_ref(shared), bot_node(&b), rondo_node_ref(shared), shared), "1");
    CHECK_STR(t.output, "6");
    CHECK_STR(a.paths, "a a#2 a#3");
    CHECK_STR(found(&t, "a"), "completed 2");
    CHECK_STR(found(&t, "a#2"), "completed 5");
    CHECK_STR(found(&t, "a#3"), "completed 6");
    CHECK_STR(rondo_node_child_name(t.node, 3), "a#3");
}

static rondo_node *forum_of(rondo_node *member, rondo_node *captain)
{
    return rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .members = RONDO_NODES(member),
                                            .captain = captain, .show = RONDO_SHOW_NOBODY });
}

/* KT-03 */ TEST(an_agent_may_sit_in_two_forums_and_twice_in_one)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *shared = bot_node(&a);
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, forum_of(rondo_node_ref(shared), rondo_node_ref(shared)), "1");
    CHECK_STR(t.output, "2");
    CHECK_STR(a.paths, "r1.a captain");
    trial_run(&u, rondo_forum(&(rondo_forum_spec){ RONDO_FORUM,
             .members = RONDO_NODES(rondo_node_ref(shared), rondo_node_ref(shared)),
             .captain = shared }), "1");
    CHECK_STR(a.paths, "r1.a captain r1.a r1.a#2 captain");
}

/* KT-04 */ TEST(an_agent_may_be_two_legs_of_one_parallel_and_a_leg_of_another)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *shared = bot_node(&a);
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, RONDO_PARALLEL(rondo_node_ref(shared), rondo_node_ref(shared)), "1");
    CHECK_STR(t.output, "[2,2]");
    CHECK_STR(a.paths, "a a#2");
    trial_run(&u, RONDO_PARALLEL(shared), "5");
    CHECK_STR(u.output, "[6]");
}

static rondo_node *in_container(int kind, rondo_node *node)
{
    static int64_t limit = 1;
    switch (kind) {
    case 0: return RONDO_SEQUENCE(node);
    case 1: return forum_of(rondo_node_ref(node), node);
    case 2: return RONDO_PARALLEL(node);
    default: return LOOP("again", node, .until = last_is_at_least, .user = &limit);
    }
}

/* KT-05: all ordered pairs. */
TEST(an_agent_may_be_used_in_containers_of_different_kinds)
{
    static const char *const outputs[] = { "2", "2", "[2]", "2" };
    for (int x = 0; x < 4; x++)
        for (int y = 0; y < 4; y++) {
            struct bot a = { "a", ADD, 1 };
            rondo_node *shared = bot_node(&a);
            TRIAL t = { 0 }, u = { 0 };
            trial_run(&t, in_container(x, rondo_node_ref(shared)), "1");
            CHECK_STR(t.output, outputs[x]);
            trial_run(&u, in_container(y, shared), "1");
            CHECK_STR(u.output, outputs[y]);
        }
}

/* KT-06, KT-07: connectors and aggregators too. */
TEST(connectors_and_aggregators_may_be_reused)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", TIMES, 2 }, c = { "c", TIMES, 3 }, agg = { "agg", ECHO };
    rondo_node *first = bot_node(&a), *last = bot_node(&agg);
    rondo_node *legs = RONDO_PARALLEL(bot_node(&b), bot_node(&c));
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(rondo_node_ref(first), rondo_node_ref(legs), rondo_node_ref(last),
                            forum_of(rondo_node_ref(last), first), legs, last), "1");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "[2,3]");
    CHECK_STR(agg.paths, "agg forum.r1.agg agg#2");
    CHECK_STR(agg.seen, "[4,6] [4,6] [2,3]");
}

/* KT-08 */ TEST(an_agent_may_be_called_directly_any_number_of_times)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *node = bot_node(&a);
    rondo_value *x = json_integer(0);
    TRIAL t = { 0 };
    trial_engine(&t);
    for (int i = 0; i < 1000; i++) {
        rondo_value *next = NULL;
        CHECK_INT(rondo_call(t.engine, node, x, &next, NULL), 0);
        json_decref(x);
        x = next;
    }
    CHECK_INT(json_integer_value(x), 1000);
    json_decref(x);
    rondo_node_unref(node);
}

/* KT-12: what was refused leaves its parts as they were. */
TEST(a_refused_container_leaves_its_children_usable)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *good = bot_node(&a), *bad = bot_node(&(struct bot){ "not a name", ECHO });
    CHECK_STR(refusal(RONDO_SEQUENCE(rondo_node_ref(good), bad)),
              "sequence.not a name: agent 'not a name': a name is made of letters, digits, '-' and "
              "'_', got 'not a name'");
    TRIAL t = { 0 };
    trial_run(&t, good, "1");
    CHECK_STR(t.output, "2");
}

/* S3, S4, S5: names need to be different among siblings only; paths tell the others apart. */
TEST(an_inner_agent_may_be_named_like_the_containers_around_it)
{
    struct bot root = { "root", ADD, 1 }, other = { "root", TIMES, 3 };
    TRIAL t = { 0 };
    trial_run(&t, SEQ("root", SEQ("mid", bot_node(&root), SEQ("deep", bot_node(&other)))), "1");
    CHECK_STR(t.output, "6");
    CHECK_STR(root.paths, "root.mid.root");
    CHECK_STR(other.paths, "root.mid.deep.root");
    CHECK_STR(found(&t, "root.mid.root"), "completed 2");
    CHECK_STR(found(&t, "root.mid.deep.root"), "completed 6");
}

/* A6, T1 */ TEST(a_node_is_found_by_name_at_any_depth)
{
    struct bot a = { "a", ECHO }, b = { "b", ECHO };
    rondo_node *leaf = bot_node(&b);
    rondo_node *tree = SEQ("root", bot_node(&a), LOOP("rounds", RONDO_PARALLEL(leaf)));
    CHECK_PTR(rondo_node_find(tree, "root"), tree);
    CHECK_PTR(rondo_node_find(tree, "b"), leaf);
    CHECK_INT(rondo_node_kind(rondo_node_find(tree, "rounds")), RONDO_KIND_LOOP);
    CHECK_NULL(rondo_node_find(tree, "nobody"));
    CHECK_UINT(rondo_node_count(tree), 2);
    CHECK_PTR(rondo_node_child(tree, 0), rondo_node_find(tree, "a"));
    CHECK_NULL(rondo_node_child(tree, 2));
    CHECK_STR(rondo_node_child_name(tree, 1), "rounds");
    rondo_node_unref(tree);
}

/* R16: a value is stored once, however many containers hand it on. */
TEST(a_large_output_is_in_the_journal_once)
{
    static char text[100003];
    struct bot give = { "give", GIVE, .text = text };
    memset(text, 'x', sizeof text - 1);
    text[0] = text[sizeof text - 2] = '"';
    TRIAL t = { 0 };
    trial_run(&t, SEQ("s1", SEQ("s2", SEQ("s3", bot_node(&give)))), "0");
    size_t len;
    char *log = rondo_run_save(t.run, &len);
    CHECK(len > 100000 && len < 101000);
    rondo_text_free(log);
    CHECK_UINT(strlen(t.output), 100002);
}

/* R11 */ TEST(an_engine_with_default_settings_works_end_to_end)
{
    struct bot a = { "a", ADD, 1 };
    rondo_engine *engine;
    rondo_error err;
    rondo_node *node = bot_node(&a);
    rondo_value *out = NULL;
    CHECK_INT(rondo_engine_new(NULL, &engine, &err), 0);
    CHECK_INT(rondo_call(engine, node, NULL, &out, &err), 0);
    CHECK_STR(json_text(out), "1");
    json_decref(out);
    rondo_node_unref(node);
    rondo_engine_free(engine);
}
