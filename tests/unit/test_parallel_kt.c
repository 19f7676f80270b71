/* test_parallel_kt.c - the same input to several children at once: order, overlap, failure, races. */
#include "agents.h"

#include <ctype.h>
#include <string.h>

static void change_case(rondo_task *task, void *user)
{
    char text[64];
    snprintf(text, sizeof text, "%s", json_string_value(rondo_task_input(task)));
    for (char *c = text; *c; c++)
        *c = (char)(user ? toupper((unsigned char)*c) : tolower((unsigned char)*c));
    rondo_task_return_text(task, text);
}

/* KT-30 */ TEST(outputs_are_a_list_in_declaration_order)
{
    const rondo_agent upper = { RONDO_AGENT, .name = "upper", .run = change_case, .user = "" };
    const rondo_agent lower = { RONDO_AGENT, .name = "lower", .run = change_case };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_PARALLEL(rondo_agent_node(&upper), rondo_agent_node(&lower)), "\"Hello\"");
    CHECK_STR(t.output, "[\"HELLO\",\"hello\"]");
}

/* KT-31 */ TEST(all_legs_see_the_same_input)
{
    struct bot a = { "a", ADD, 1 }, b = { "b", ADD, 2 }, c = { "c", ADD, 3 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_PARALLEL(bot_node(&a), bot_node(&b), bot_node(&c)), "10");
    CHECK_STR(t.output, "[11,12,13]");
    CHECK_STR(a.seen, "10");
    CHECK_STR(b.seen, "10");
    CHECK_STR(c.seen, "10");
}

/* KT-32 */ TEST(three_legs_of_200_ms_take_200_ms)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 200 }, b = { "b", ADD, 2, .delay_ms = 200 },
               c = { "c", ADD, 3, .delay_ms = 200 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_PARALLEL(bot_node(&a), bot_node(&b), bot_node(&c)), "0");
    CHECK_STR(t.output, "[1,2,3]");
    CHECK_INT(t.took_ms, 200);
}

/* KT-33 */ TEST(a_slow_first_leg_keeps_its_place)
{
    struct bot slow = { "slow", ADD, 1, .delay_ms = 500 }, fast = { "fast", ADD, 2, .delay_ms = 10 };
    TRIAL t = { 0 };
    trial_run(&t, PAR("legs", bot_node(&slow), bot_node(&fast)), "0");
    CHECK_STR(t.output, "[1,2]");
    CHECK_STR(only(&t, "step_end"),
              "step_end legs.fast = 2; step_end legs.slow = 1; step_end legs = [1,2]");
    CHECK_INT(t.took_ms, 500);
}

static void sum(rondo_task *task, void *user)
{
    size_t i;
    json_t *item;
    json_int_t total = 0;
    json_array_foreach(rondo_task_input(task), i, item)
        total += json_integer_value(item);
    rondo_task_return(task, json_integer(total));
}

/* KT-34 */ TEST(what_follows_a_parallel_gets_the_list)
{
    const rondo_agent add_up = { RONDO_AGENT, .name = "sum", .run = sum };
    struct bot a = { "a", ADD, 1 }, b = { "b", TIMES, 2 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(RONDO_PARALLEL(bot_node(&a), bot_node(&b)), rondo_agent_node(&add_up)), "4");
    CHECK_STR(t.output, "13");
}

/* KT-36 */ TEST(every_leg_chooses_its_skill_once)
{
    struct bot x = { "x", ECHO }, y = { "y", ECHO };
    const rondo_skill one[] = { { "x", .run = bot_run, .user = &x } };
    const rondo_skill two[] = { { "y", .run = bot_run, .user = &y } };
    const rondo_agent a = { RONDO_AGENT, .name = "a", .skills = one, .skill_count = 1 };
    const rondo_agent b = { RONDO_AGENT, .name = "b", .skills = two, .skill_count = 1 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_PARALLEL(rondo_agent_node(&a), rondo_agent_node(&b)), "7");
    CHECK_STR(x.paths, "a");
    CHECK_STR(y.paths, "b");
}

/* KT-37, P3 */ TEST(the_first_failure_cancels_the_others_and_fails_the_node)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 1000 },
               b = { "b", REFUSE, .text = "out of ink" },
               c = { "c", ADD, 3, .delay_ms = 1000 };
    TRIAL t = { 0 };
    trial_run(&t, PAR("legs", bot_node(&a), bot_node(&b), bot_node(&c)), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "out of ink");
    CHECK_INT(t.took_ms, 0);
    CHECK_STR(found(&t, "legs.a"), "cancelled");
    CHECK_STR(found(&t, "legs.b"), "failed: out of ink");
    CHECK_STR(found(&t, "legs.c"), "cancelled");
    CHECK_INT(count(&t, "workflow_end"), 1);
}

/* P3 */ TEST(a_hundred_endless_branches_end_when_one_fails)
{
    static struct bot bots[101];
    static char names[101][8];
    rondo_node *children[102] = { 0 };
    int64_t huge = INT64_MAX;
    for (int i = 0; i < 101; i++) {
        snprintf(names[i], sizeof names[i], "b%d", i);
        bots[i] = (struct bot){ names[i], ADD, 1, .delay_ms = 10, .fails = 0 };
        if (i == 50)
            bots[i] = (struct bot){ names[i], REFUSE, .text = "enough" };
        char loop[16];
        snprintf(loop, sizeof loop, "loop%d", i);
        children[i] = LOOP(loop, bot_node(&bots[i]), .max_iterations = RONDO_UNBOUNDED,
                           .until = last_is_over, .user = &huge);
    }
    TRIAL t = { 0 };
    trial_run(&t, rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .children = children }), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "enough");
    CHECK_INT(count(&t, "loop_end"), 101);
    CHECK_INT(count(&t, "step_start"), 1 + 101 + 101);
}

TEST(collect_lets_all_run_and_leaves_null_for_what_failed)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 100 }, b = { "b", REFUSE, .text = "no" },
               c = { "c", ADD, 3 };
    TRIAL t = { 0 };
    trial_run(&t, rondo_parallel(&(rondo_parallel_spec){
                 RONDO_PARALLEL_SPEC, .mode = RONDO_COLLECT,
                 .children = RONDO_NODES(bot_node(&a), bot_node(&b), bot_node(&c)) }), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "[1,null,3]");
}

TEST(collect_fails_only_when_all_failed)
{
    struct bot a = { "a", REFUSE, .text = "first in order", .delay_ms = 0 },
               b = { "b", REFUSE, .text = "second" };
    TRIAL t = { 0 };
    trial_run(&t, rondo_parallel(&(rondo_parallel_spec){
                 RONDO_PARALLEL_SPEC, .mode = RONDO_COLLECT,
                 .children = RONDO_NODES(bot_node(&a), bot_node(&b)) }), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "first in order");
    CHECK_INT(b.calls, 1);
}

static rondo_node *race(rondo_node *a, rondo_node *b, rondo_node *c)
{
    return rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "race",
                                                  .mode = RONDO_FIRST,
                                                  .children = RONDO_NODES(a, b, c) });
}

/* KT-138 */ TEST(the_first_success_wins_the_race_and_cancels_the_losers)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 300 }, b = { "b", REFUSE, .text = "no" },
               c = { "c", ADD, 3, .delay_ms = 100 };
    TRIAL t = { 0 };
    trial_run(&t, race(bot_node(&a), bot_node(&b), bot_node(&c)), "0");
    CHECK_INT(t.rc, 0);
    CHECK_STR(t.output, "3");
    CHECK_INT(t.took_ms, 100);
    CHECK_STR(found(&t, "race.a"), "cancelled");
    CHECK_STR(found(&t, "race.b"), "failed: no");
    CHECK_STR(found(&t, "race.c"), "completed 3");
}

/* KT-138: rondo tells the first failure, the cause that came before all others. */
TEST(a_race_that_all_lose_fails_with_the_first_failure)
{
    struct bot a = { "a", REFUSE, .text = "late" }, b = { "b", REFUSE, .text = "early" },
               c = { "c", REFUSE, .text = "later" }, wait = { "wait", ECHO, .delay_ms = 50 };
    TRIAL t = { 0 };
    trial_run(&t, race(SEQ("x", bot_node(&wait), bot_node(&a)), bot_node(&b), bot_node(&c)), "0");
    CHECK_INT(t.rc, RONDO_EFAILED);
    CHECK_STR(t.err.message, "early");
    CHECK_INT(a.calls + b.calls + c.calls, 3);
}

/* KT-38: outputs come in leg order, so an aggregator can give a tie to the first. */
static void majority(rondo_task *task, void *user)
{
    rondo_value *list = rondo_task_input(task), *best = NULL;
    int most = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        int n = 0;
        for (size_t k = 0; k < json_array_size(list); k++)
            n += json_equal(json_array_get(list, i), json_array_get(list, k));
        if (n > most) {
            most = n;
            best = json_array_get(list, i);
        }
    }
    rondo_task_return(task, json_incref(best));
}

/* KT-38 */ TEST(a_tied_vote_goes_to_the_first_in_leg_order_however_late_it_came)
{
    const rondo_agent vote = { RONDO_AGENT, .name = "vote", .run = majority };
    struct bot a = { "a", GIVE, .text = "\"x\"", .delay_ms = 90 }, b = { "b", GIVE, .text = "\"y\"" },
               c = { "c", GIVE, .text = "\"y\"", .delay_ms = 5 }, d = { "d", GIVE, .text = "\"x\"" };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_SEQUENCE(RONDO_PARALLEL(bot_node(&a), bot_node(&b), bot_node(&c), bot_node(&d)),
                            rondo_agent_node(&vote)), "0");
    CHECK_STR(t.output, "\"x\"");
}

/* KT-39 */ TEST(different_legs_with_one_name_are_refused)
{
    struct bot a = { "same", ECHO }, b = { "same", ECHO };
    CHECK_STR(refusal(PAR("legs", bot_node(&a), bot_node(&b))),
              "legs: parallel 'legs': two children are named 'same'");
}

static int working, most_working;

static void at_work(rondo_task *task, struct bot *bot)
{
    working++;
    most_working = working > most_working ? working : most_working;
}

static void count_ends(struct trial *t, const rondo_event *ev)
{
    working -= rondo_event_type(ev) == RONDO_EV_STEP_END && rondo_node_kind(rondo_event_node(ev)) == RONDO_KIND_AGENT;
}

TEST(max_concurrency_is_never_exceeded_and_starts_in_order)
{
    struct bot bots[6];
    static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
    rondo_node *children[7] = { 0 };
    for (int i = 0; i < 6; i++) {
        bots[i] = (struct bot){ names[i], ADD, i, .delay_ms = 10, .also = at_work };
        children[i] = bot_node(&bots[i]);
    }
    TRIAL t = { .on_event = count_ends };
    trial_run(&t, rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .children = children,
                                                    .max_concurrency = 2 }), "0");
    CHECK_STR(t.output, "[0,1,2,3,4,5]");
    CHECK_INT(most_working, 2);
    CHECK_INT(t.took_ms, 30);
    CHECK_STR(only(&t, "step_start"), "step_start; step_start a; step_start b; step_start c; "
                                      "step_start d; step_start e; step_start f");
}

TEST(the_runs_own_limit_holds_across_containers)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 10, .also = at_work },
               b = { "b", ADD, 2, .delay_ms = 10, .also = at_work },
               c = { "c", ADD, 3, .delay_ms = 10, .also = at_work };
    TRIAL t = { .on_event = count_ends, .options = { .max_concurrency = 1 } };
    trial_run(&t, RONDO_PARALLEL(bot_node(&a), SEQ("s", bot_node(&b)), PAR("p", bot_node(&c))), "0");
    CHECK_STR(t.output, "[1,2,[3]]");
    CHECK_INT(most_working, 1);
    CHECK_INT(t.took_ms, 30);
}

/* P1: every branch its own loop of two passes. */
TEST(three_branches_of_two_passes_give_two_messages_each)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 3 }, b = { "b", ADD, 1, .delay_ms = 2 },
               c = { "c", ADD, 1, .delay_ms = 1 };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_PARALLEL(LOOP("la", bot_node(&a), .max_iterations = 2),
                            LOOP("lb", bot_node(&b), .max_iterations = 2),
                            LOOP("lc", bot_node(&c), .max_iterations = 2)), "0");
    CHECK_STR(t.output, "[2,2,2]");
    CHECK_STR(a.paths, "la.0.a la.1.a");
    CHECK_STR(b.paths, "lb.0.b lb.1.b");
    CHECK_STR(c.paths, "lc.0.c lc.1.c");
    CHECK_STR(only(&t, "loop_end"), "loop_end lc max_iterations 2; loop_end lb max_iterations 2; "
                                    "loop_end la max_iterations 2");
}

/* P2, P6 */ TEST(cancelling_while_branches_wait_ends_the_run_as_cancelled)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 1000 }, b = { "b", ADD, 2, .delay_ms = 2000 };
    TRIAL t = { 0 };
    trial_start(&t, PAR("legs", bot_node(&a), bot_node(&b)), "0");
    while (b.calls == 0)
        rondo_engine_poll(t.engine, 0), trial_next(&t);
    rondo_run_cancel(t.run, "the user left");
    trial_finish(&t);
    CHECK_INT(t.rc, RONDO_ECANCELLED);
    CHECK_STR(t.err.message, "cancelled: the user left");
    CHECK_INT(t.result.status, RONDO_STATUS_CANCELLED);
    CHECK_STR(found(&t, "legs.a"), "cancelled");
    CHECK_STR(found(&t, "legs.b"), "cancelled");
    CHECK_INT(t.took_ms, 0);
}

/* Closing the handle drops everything; no leg says anything afterwards. */
TEST(a_reader_who_stops_after_the_first_event_stops_everything)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 10 }, b = { "b", ADD, 2 };
    TRIAL t = { 0 };
    trial_start(&t, RONDO_PARALLEL(bot_node(&a), bot_node(&b)), "0");
    CHECK(trial_next(&t));
    rondo_run_close(t.run);
    t.run = NULL;
    CHECK_INT(rondo_engine_poll(t.engine, 0), 0);
    CHECK_INT(a.calls + b.calls, 0);
}

/* P4: all legs are at work when the reader has seen enough; the run ends when the last of them has, and one of class
   RONDO_ONCE is awaited. */
static void say_something(rondo_task *task, struct bot *bot)
{
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "working" }), 0);
}

TEST(a_reader_who_has_seen_enough_gets_the_end_when_every_leg_has_ended)
{
    struct bot a = { "a", ADD, 1, .delay_ms = 100, .also = say_something },
               b = { "b", ADD, 2, .delay_ms = 50, .effects = RONDO_ONCE, .also = say_something };
    TRIAL t = { 0 };
    trial_start(&t, RONDO_PARALLEL(bot_node(&a), bot_node(&b)), "0");
    while (count(&t, "message") < 2)
        CHECK(trial_next(&t));
    CHECK_INT(a.calls + b.calls, 2);
    rondo_run_cancel(t.run, "seen enough");
    trial_finish(&t);
    CHECK_INT(t.took_ms, 50);
    CHECK_STR(only(&t, "step_end step_cancelled workflow_end"),
              "step_cancelled a; step_end b = 2; step_cancelled; workflow_end cancelled");
}

/* P7: state that one leg sets with an event is there for its next step, and for the others. */
static void set_seen(rondo_task *task, struct bot *bot)
{
    rondo_value *delta = json_of("{\"seen\": 41}");
    CHECK_INT(rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "working",
                                                   .state_delta = delta }), 0);
    json_decref(delta);
}

static void read_seen(rondo_task *task, struct bot *bot)
{
    CHECK_STR(json_text(rondo_task_state(task, "seen")), "41");
}

/* P7 */ TEST(state_set_in_a_branch_is_seen_by_what_follows_in_it)
{
    struct bot a = { "a", ADD, 1, .also = set_seen }, after = { "after", ADD, 1, .also = read_seen },
               b = { "b", ECHO };
    TRIAL t = { 0 };
    trial_run(&t, RONDO_PARALLEL(SEQ("left", bot_node(&a), bot_node(&after)), bot_node(&b)), "0");
    CHECK_STR(t.output, "[2,0]");
    CHECK_INT(after.calls, 1);
    CHECK_STR(only(&t, "state message"), "state left.a {\"seen\":41}; message left.a a: working");
}

TEST(a_failure_under_a_concurrency_limit_is_noticed)
{
    static const int modes[] = { RONDO_FAIL_FAST, RONDO_COLLECT, RONDO_FIRST };
    for (int i = 0; i < 3; i++)
        for (int limit = 1; limit <= 3; limit++) {
            struct bot a = { "a", REFUSE, .text = "first" }, b = { "b", REFUSE, .text = "second" };
            TRIAL t = { .options = { .timeout_ms = 1000 } };
            trial_run(&t, rondo_parallel(&(rondo_parallel_spec){
                         RONDO_PARALLEL_SPEC, .name = "p", .mode = modes[i], .max_concurrency = limit,
                         .children = RONDO_NODES(bot_node(&a), bot_node(&b)) }), "0");
            CHECK_INT(t.rc, RONDO_EFAILED);
            CHECK_STR(t.err.message, "first");
            CHECK_INT(b.calls, modes[i] == RONDO_FAIL_FAST && limit == 1 ? 0 : 1);
        }
}

TEST(a_retry_under_a_concurrency_limit_finds_its_place_again)
{
    struct bot a = { "a", ADD, 1, .fails = 2, .options = { .retry = { .attempts = 3, .delay_ms = 5 } } },
               b = { "b", ADD, 2, .delay_ms = 1 };
    TRIAL t = { .options = { .timeout_ms = 1000 } };
    trial_run(&t, rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .max_concurrency = 1,
                                                    .children = RONDO_NODES(bot_node(&a), bot_node(&b)) }), "0");
    CHECK_STR(t.output, "[1,2]");
    CHECK_INT(t.took_ms, 15);
}
