/* test_branch.c - ordered cases. */
#include "agents.h"

static rondo_node *sorter(struct bot *round, struct bot *square, rondo_node *otherwise)
{
    return rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .name = "sort", .otherwise = otherwise, .case_count = 2,
        .cases = (rondo_case[]){ { .when = input_is, .user = "\"circle\"", .node = bot_node(round) },
                                 { "corners", input_is, "\"square\"", bot_node(square) } } });
}

/* KT-55 */ TEST(each_variant_reaches_its_own_route)
{
    struct bot round = { "round", APPEND, .text = "!" }, square = { "square", APPEND, .text = "?" };
    rondo_node *node = sorter(&round, &square, NULL);
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, rondo_node_ref(node), "\"circle\"");
    CHECK_STR(t.output, "\"circle!\"");
    CHECK_STR(round.paths, "sort.round");
    trial_run(&u, node, "\"square\"");
    CHECK_STR(u.output, "\"square?\"");
    CHECK_STR(square.paths, "sort.corners");
    CHECK_INT(round.calls, 1);
}

/* KT-56 */ TEST(a_route_may_be_a_whole_pipeline)
{
    struct bot a = { "a", APPEND, .text = "1" }, b = { "b", APPEND, .text = "2" };
    TRIAL t = { 0 };
    trial_run(&t, rondo_branch(&(rondo_branch_spec){
                 RONDO_BRANCH, .case_count = 1,
                 .cases = &(rondo_case){ "long", always, NULL,
                                         RONDO_SEQUENCE(bot_node(&a), bot_node(&b)) } }), "\"x\"");
    CHECK_STR(t.output, "\"x12\"");
    CHECK_STR(b.paths, "long.b");
}

/* KT-57 */ TEST(a_branch_stands_after_a_pipeline_and_before_an_agent)
{
    struct bot make = { "make", GIVE, .text = "\"circle\"" }, round = { "round", APPEND, .text = "!" },
               square = { "square", ECHO }, end = { "end", APPEND, .text = "." };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(bot_node(&make), sorter(&round, &square, NULL), bot_node(&end)), "0");
    CHECK_STR(t.output, "\"circle!.\"");
    CHECK_INT(square.calls, 0);
}

/* KT-58 */ TEST(no_case_and_no_otherwise_is_a_failure)
{
    struct bot round = { "round", ECHO }, square = { "square", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, sorter(&round, &square, NULL), "\"star\"");
    CHECK_INT(t.rc, RONDO_EINVAL);
    CHECK_STR(t.err.message, "no case holds and there is no `otherwise`");
    CHECK_STR(only(&t, "error"), "error sort: no case holds and there is no `otherwise`");
    CHECK_INT(round.calls + square.calls, 0);
}

/* KT-59: a route may be used elsewhere too. */
TEST(one_node_may_be_the_route_of_several_cases)
{
    struct bot a = { "a", ADD, 1 };
    rondo_node *shared = bot_node(&a);
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(rondo_node_ref(shared), rondo_branch(&(rondo_branch_spec){
                 RONDO_BRANCH, .name = "b", .case_count = 2, .otherwise = rondo_node_ref(shared),
                 .cases = (rondo_case[]){ { .when = never, .node = rondo_node_ref(shared) },
                                          { .when = always, .node = shared } } })), "1");
    CHECK_STR(t.output, "3");
    CHECK_STR(a.paths, "a b.a#2");
}

/* KT-61 */ TEST(the_first_case_that_holds_wins_and_otherwise_is_last)
{
    struct bot a = { "a", ECHO }, b = { "b", ECHO }, c = { "c", ECHO };
    rondo_node *node = rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .case_count = 2, .otherwise = bot_node(&c),
        .cases = (rondo_case[]){ { .when = input_is, .user = "null", .node = bot_node(&a) },
                                 { .when = input_is, .user = "null", .node = bot_node(&b) } } });
    TRIAL t = { 0 }, u = { 0 };
    trial_run(&t, rondo_node_ref(node), "null"); // nothing is a value that a case can ask for
    CHECK_STR(a.seen, "null");
    trial_run(&u, node, "5");
    CHECK_STR(c.seen, "5");
    CHECK_INT(b.calls, 0);
    CHECK_INT(count(&t, "decision"), 1);
}

static int cannot_say(rondo_context *context, void *user)
{
    return rondo_context_fail(context, RONDO_EFAILED, "the oracle is asleep");
}

TEST(a_case_that_cannot_answer_fails_the_branch_and_is_named)
{
    struct bot a = { "a", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, rondo_branch(&(rondo_branch_spec){
                 RONDO_BRANCH, .name = "b", .case_count = 1,
                 .cases = &(rondo_case){ .when = cannot_say, .node = bot_node(&a) } }), "1");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "case 'a': the oracle is asleep");
}

static int asked;

static int ask_once(rondo_context *context, void *user)
{
    asked++;
    return 1;
}

TEST(a_choice_is_made_once_even_if_the_route_is_tried_again)
{
    struct bot a = { "a", ADD, 1, .fails = 2, .options = { .retry = { .attempts = 3 } } };
    TRIAL t = { 0 };
    trial_run(&t, rondo_branch(&(rondo_branch_spec){
                 RONDO_BRANCH, .name = "b", .case_count = 1,
                 .cases = &(rondo_case){ .when = ask_once, .node = bot_node(&a) } }), "1");
    CHECK_STR(t.output, "2");
    CHECK_INT(asked, 1);
    CHECK_STR(a.paths, "b.a b.a~1 b.a~2");
    CHECK_INT(count(&t, "decision"), 1);
    CHECK_INT(count(&t, "retry"), 2);
}

TEST(a_branch_in_a_loop_chooses_anew_in_every_pass)
{
    struct bot odd = { "odd", ADD, 1 }, even = { "even", TIMES, 3 };
    int64_t limit = 20;
    TRIAL t = { 0 };
    trial_run(&t, LOOP("l", rondo_branch(&(rondo_branch_spec){
                           RONDO_BRANCH, .name = "b", .case_count = 1, .otherwise = bot_node(&even),
                           .cases = &(rondo_case){ .when = input_is, .user = "1",
                                                   .node = bot_node(&odd) } }),
                  .until = last_is_over, .user = &limit, .max_iterations = 10), "1");
    CHECK_STR(t.output, "54");
    CHECK_STR(odd.paths, "l.0.b.odd");
    CHECK_STR(even.paths, "l.1.b.even l.2.b.even l.3.b.even");
}
