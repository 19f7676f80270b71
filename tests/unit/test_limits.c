/* test_limits.c - budgets end a node with what it has, timeouts make it fail: on leaves, loops,
   containers and whole runs, all in virtual time. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define LOOP(...) rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", __VA_ARGS__ })
#define ROW(...)                                                                               \
    rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "row", __VA_ARGS__ })

static struct actor paid = { .name = "paid", .spends = { 6, 4, 100, 1 }, .takes_ms = 10 };
static struct actor once = { .name = "paid", .spends = { 6, 4, 100, 1 } }; // in no time
static struct actor after = { .name = "after" };

/* ---- budgets of a loop ----------------------------------------------------------------------------- */

TEST(each_budget_ends_a_loop_after_the_pass_that_used_it_up)
{
    static const struct {
        rondo_budget budget;
        int reason, passes;
    } rows[] = {
        { { .tokens = 25 }, RONDO_REASON_TOKENS, 3 },
        { { .tokens = 30 }, RONDO_REASON_TOKENS, 3 },
        { { .tokens = 31 }, RONDO_REASON_TOKENS, 4 },
        { { .cost_nano = 200 }, RONDO_REASON_COST, 2 },
        { { .calls = 1 }, RONDO_REASON_CALLS, 1 },
        { { .tokens = 1000, .cost_nano = 10000, .calls = 2 }, RONDO_REASON_CALLS, 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct play p = { 0 };
        paid.calls = 0;
        play_flow(&p, LOOP(.body = actor(&paid), .max_iterations = 20, .options.budget = rows[i].budget), NULL);
        CHECK_INT(p.rc, 0);
        CHECK_STR(rondo_reason_text(p.res.reason), rondo_reason_text(rows[i].reason));
        CHECK_INT(p.res.passes, rows[i].passes);
        CHECK_INT(paid.calls, rows[i].passes);
        CHECK_INT(p.res.usage.calls, rows[i].passes);
        play_end(&p);
    }
}

TEST(a_budget_of_time_ends_a_loop_in_the_middle_of_a_pass_with_the_last_whole_one)
{
    struct play p = { 0 };
    play_flow(&p, ROW(.children = RONDO_NODES(LOOP(.body = actor(&paid), .max_iterations = 20,
                                              .options.budget.time_ms = 35), actor(&after))), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_step(&p, "row.l").reason, RONDO_REASON_TIME);
    CHECK_STR(after.seen[0].in, "\"paid#3\"");
    CHECK_INT(play_ms(&p), 35);
    CHECK_STR(play_told(&p, "@step_cancelled"), "35 step_cancelled row.l.3.paid");
    play_end(&p);
}

TEST(a_predicate_that_holds_wins_over_the_budget_and_the_budget_over_the_cap)
{
    struct play until = { 0 }, cap = { 0 };
    int second = 2;
    play_flow(&until, LOOP(.body = actor(&paid), .until = flow_at_pass, .user = &second,
                      .options.budget.tokens = 20), NULL);
    CHECK_INT(until.res.reason, RONDO_REASON_UNTIL);
    play_end(&until);
    play_flow(&cap, LOOP(.body = actor(&paid), .max_iterations = 2, .on_max = RONDO_FAIL,
                    .options.budget.tokens = 20), NULL);
    CHECK_INT(cap.rc, 0);
    CHECK_INT(cap.res.reason, RONDO_REASON_TOKENS);
    play_end(&cap);
}

TEST(an_unbounded_loop_may_end_by_its_budget_alone)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&paid), .max_iterations = RONDO_UNBOUNDED,
                  .options.budget.tokens = 500), NULL);
    CHECK_INT(p.res.passes, 50);
    play_end(&p);
}

TEST(what_failed_passes_spent_counts)
{
    struct play p = { 0 };
    struct actor bad = { .name = "bad", .says = SAYS("good", "!no"), .spends = { 10, 0, 0, 0 } };
    play_flow(&p, LOOP(.body = actor(&bad), .on_error = RONDO_ERROR_CONTINUES, .max_failures = 100,
                  .max_iterations = 100, .options.budget.tokens = 50), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_TOKENS);
    CHECK_INT(p.res.passes, 5);
    CHECK_STR(p.res.content, "good");
    play_end(&p);
}

TEST(what_retries_inside_a_loop_spent_counts)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "!no", "yes", "!no", "yes"),
                           .spends = { 10, 0, 0, 0 }, .options.retry.attempts = 3 };
    play_flow(&p, LOOP(.body = actor(&flaky), .max_iterations = 20, .options.budget.tokens = 45), NULL);
    CHECK_INT(p.res.passes, 2); // 30, then 50
    CHECK_INT(p.res.usage.input_tokens, 50);
    play_end(&p);
}

TEST(an_inner_loop_spends_the_outer_ones_budget)
{
    struct play p = { 0 };
    rondo_node *inner = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "in", .body = actor(&paid),
                                                       .max_iterations = 2 });
    play_flow(&p, LOOP(.body = inner, .max_iterations = 9, .options.budget.tokens = 50), NULL);
    CHECK_INT(p.res.reason, RONDO_REASON_TOKENS);
    CHECK_INT(p.res.passes, 3);
    CHECK_INT(p.res.usage.input_tokens + p.res.usage.output_tokens, 50); // the third pass is cut in its middle
    play_end(&p);
}

TEST(time_spent_in_delays_counts_for_a_budget_of_time)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&after), .delay_ms = 100, .max_iterations = 20,
                  .options.budget.time_ms = 250), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_TIME);
    CHECK_INT(p.res.passes, 3);
    CHECK_INT(play_ms(&p), 250);
    play_end(&p);
}

/* ---- budgets of containers, leaves and runs ----------------------------------------------------------- */

TEST(a_container_whose_budget_is_used_up_ends_with_what_it_has)
{
    struct play p = { 0 };
    play_flow(&p, ROW(.children = RONDO_NODES(actor_named(&once, "a"), actor_named(&once, "b"),
                                         actor_named(&once, "c")),
                 .options.budget.tokens = 15), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.status, RONDO_STATUS_COMPLETED);
    CHECK_STR(p.res.content, "paid#2");
    CHECK_INT(once.calls, 2);
    CHECK_INT(p.res.reason, RONDO_REASON_TOKENS);
    play_end(&p);
}

TEST(a_container_whose_budget_is_used_up_by_one_child_ends_while_others_are_at_work)
{
    for (int i = 0; i < 3; i++) {
        struct play p = { 0 };
        struct actor slow = { .name = "slow", .takes_ms = 10, .effects = i };
        struct actor late = { .name = "late", .takes_ms = 20 };
        play_flow(&p, rondo_parallel(&(rondo_parallel_spec){
                          RONDO_PARALLEL_SPEC, .name = "p", .options.budget.calls = 1,
                          .children = RONDO_NODES(RONDO_SEQUENCE(actor(&once), actor(&after)),
                                                  RONDO_SEQUENCE(actor(&slow), actor(&late))) }), NULL);
        CHECK_INT(p.rc, 0);
        CHECK_INT(after.calls + late.calls, 0);
        CHECK_INT(play_count(&p, RONDO_EV_WORKFLOW_END, ""), 1);
        play_end(&p);
    }
}

TEST(a_budget_that_is_used_up_and_a_break_of_what_is_still_at_work_get_along)
{
    static const char *const lines[] = { "^x", ">x", "^^x" };
    for (int i = 0; i < 3; i++) {
        struct play p = { 0 };
        struct actor slow = { .name = "slow", .takes_ms = 10, .says = SAYS(lines[i]) };
        rondo_node *loop = LOOP(.body = RONDO_SEQUENCE(actor(&slow), actor(&after)));
        play_flow(&p, rondo_parallel(&(rondo_parallel_spec){
                          RONDO_PARALLEL_SPEC, .name = "p", .options.budget.calls = 1,
                          .children = RONDO_NODES(actor(&once), loop) }), NULL);
        CHECK_INT(p.rc, 0);
        CHECK_INT(after.calls, 0);
        play_end(&p);
    }
}

/* Item 0 spends and answers at once, item 1 later, in the way that `user` says. */
static void first_spends(rondo_task *task, void *user)
{
    if (rondo_task_index(task) == 0) {
        rondo_task_spend(task, &(rondo_usage){ .calls = 1 });
        rondo_task_return_text(task, "paid");
        return;
    }
    if (*(int *)user == 1)
        rondo_task_break(task, NULL);
    if (*(int *)user == 2)
        rondo_task_continue(task);
    rondo_task_return_after(task, *(int *)user == 3 ? 0 : 10, json_string("late"));
}

TEST(an_each_whose_budget_is_used_up_ends_while_an_item_is_at_work)
{
    for (int i = 0; i < 4; i++)
        for (int effects = 0; effects < 3; effects++) {
            struct play p = { 0 };
            rondo_agent a = { RONDO_AGENT, .name = "a", .run = first_spends, .user = &i,
                              .effects = effects };
            play_flow(&p, rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e",
                                                         .body = rondo_agent_node(&a),
                                                         .options.budget.calls = 1 }), "[1, 2]");
            CHECK_INT(p.rc, 0);
            play_end(&p);
        }
}

/* Item 0 spends and breaks; item 1 answers in the same turn, too late. */
static void first_spends_and_breaks(rondo_task *task, void *user)
{
    if (rondo_task_index(task) == 0) {
        rondo_task_spend(task, &(rondo_usage){ .calls = 1 });
        rondo_task_break(task, NULL);
    }
    rondo_task_return_text(task, "done");
}

TEST(what_a_break_has_refused_is_not_awaited_when_a_budget_closes_it_again)
{
    struct play p = { 0 };
    rondo_agent a = { RONDO_AGENT, .name = "a", .run = first_spends_and_breaks };
    play_flow(&p, rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e", .body = rondo_agent_node(&a),
                                                 .options.budget.calls = 1 }), "[1, 2]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[\"done\",null]");
    play_end(&p);
}

TEST(a_graphs_budget_of_time_ends_it_and_its_cleanup_still_runs)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 100 }, quick = { .name = "quick", .takes_ms = 10 };
    struct actor clean = { .name = "clean", .options.run_on = RONDO_ON_ALWAYS };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 3, .options.budget.time_ms = 50,
                 .steps = (rondo_step[]){ { .node = actor(&quick) }, { .node = actor(&slow) },
                                          { .node = actor(&clean) } } }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_ms(&p), 50);
    CHECK_INT(clean.calls, 1);
    CHECK_INT(play_step(&p, "g.slow").status, RONDO_STATUS_CANCELLED);
    CHECK_STR(play_step_text(&p, "g.quick"), "quick#1");
    play_end(&p);
}

/* Whoever is still at work when the budget of the run is used up, or its time, has cleanup_ms to end. */
TEST(a_run_that_a_limit_ended_says_so_also_when_a_step_had_to_be_cut)
{
    for (int is_time = 0; is_time < 2; is_time++) {
        struct play p = { .options.cleanup_ms = 70 };
        struct actor slow = { .name = "slow", .takes_ms = 1000, .effects = RONDO_ONCE };
        p.options.budget.calls = is_time ? 0 : 1;
        p.options.timeout_ms = is_time ? 30 : 0;
        play_flow(&p, rondo_graph(&(rondo_graph_spec){
                     RONDO_GRAPH, .name = "g", .step_count = 2,
                     .steps = (rondo_step[]){ { .node = actor(&once) }, { .node = actor(&slow) } } }), NULL);
        CHECK_INT(p.rc, is_time ? RONDO_ETIME : 0);
        CHECK_INT(p.res.reason, is_time ? RONDO_REASON_TIME : RONDO_REASON_CALLS);
        CHECK_INT(play_ms(&p), is_time ? 100 : 70);
        CHECK_INT(play_step(&p, "g.slow").status, RONDO_STATUS_CANCELLED);
        play_end(&p);
    }
}

TEST(an_eachs_budget_ends_it_with_the_items_that_are_done)
{
    struct play p = { 0 };
    play_flow(&p, rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e", .body = actor(&once),
                                            .max_concurrency = 1, .options.budget.tokens = 25 }),
         "[1, 2, 3, 4, 5]");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "[\"paid#1\",\"paid#2\",\"paid#3\",null,null]");
    CHECK_INT(p.res.reason, RONDO_REASON_TOKENS);
    play_end(&p);
}

TEST(a_runs_budget_ends_open_loops_with_its_reason_then_the_run)
{
    struct play p = { .options.budget.tokens = 35 };
    play_flow(&p, ROW(.children = RONDO_NODES(LOOP(.body = actor(&once), .max_iterations = 50),
                                         actor(&after))), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end row.l tokens 4");
    CHECK_INT(p.res.reason, RONDO_REASON_TOKENS);
    CHECK_STR(p.res.content, "paid#4");
    CHECK_INT(after.calls, 0);
    play_end(&p);
}

TEST(a_runs_budget_of_time_ends_everything_at_that_moment)
{
    struct play p = { .options.budget.time_ms = 25 };
    play_flow(&p, LOOP(.body = actor(&paid), .max_iterations = 50), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(play_told(&p, "@loop_end workflow_end"), "25 loop_end l time 2; 25 workflow_end");
    CHECK_STR(p.res.content, "paid#2");
    play_end(&p);
}

static int64_t left[4];

static void looks_at_the_rest(rondo_task *task, void *user)
{
    left[0] = rondo_task_left(task, RONDO_LIMIT_TOKENS);
    left[1] = rondo_task_left(task, RONDO_LIMIT_CALLS);
    left[2] = rondo_task_left(task, RONDO_LIMIT_COST_NANO);
    left[3] = rondo_task_left(task, RONDO_LIMIT_TIME_MS);
    rondo_task_return_text(task, "ok");
}

TEST(a_task_sees_what_is_left_of_the_tightest_budget_around_it)
{
    struct play p = { .options.budget = { .tokens = 1000, .calls = 3, .time_ms = 500 } };
    rondo_agent look = { RONDO_AGENT, .name = "look", .run = looks_at_the_rest };
    play_flow(&p, ROW(.children = RONDO_NODES(actor(&paid), rondo_agent_node(&look)),
                 .options.budget = { .tokens = 50, .calls = 10 }), NULL);
    CHECK_INT(left[0], 40);
    CHECK_INT(left[1], 2);
    CHECK(left[2] == INT64_MAX);
    CHECK_INT(left[3], 490);
    play_end(&p);
}

static int codes[2];

static void spends_badly(rondo_task *task, void *user)
{
    codes[0] = rondo_task_spend(task, &(rondo_usage){ .input_tokens = -1 });
    rondo_task_return_text(task, "ok");
    codes[1] = rondo_task_spend(task, &(rondo_usage){ .input_tokens = 1 });
}

TEST(spending_less_than_nothing_or_after_the_end_is_refused)
{
    struct play p = { 0 };
    play_flow(&p, rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "s", .run = spends_badly }), NULL);
    CHECK_INT(codes[0], RONDO_EINVAL);
    CHECK_INT(codes[1], RONDO_ESTATE);
    CHECK_INT(p.res.usage.input_tokens, 0);
    play_end(&p);
}

/* ---- timeouts ------------------------------------------------------------------------------------------ */

TEST(a_leaf_that_takes_too_long_fails)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 1000, .options.timeout_ms = 100 };
    play_flow(&p, actor(&slow), NULL);
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_STR(p.err.message, "timed out after 100 ms");
    CHECK_INT(play_ms(&p), 100);
    play_end(&p);
}

TEST(a_leaf_that_is_just_in_time_completes)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 99, .options.timeout_ms = 100 };
    play_flow(&p, actor(&slow), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_ms(&p), 99);
    play_end(&p);
}

TEST(a_loops_timeout_covers_all_passes_together_and_keeps_the_content)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&paid), .max_iterations = 50, .options.timeout_ms = 35), NULL);
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_STR(p.err.message, "timed out after 35 ms");
    CHECK_INT(p.res.reason, RONDO_REASON_TIME);
    CHECK_INT(p.res.passes, 3);
    CHECK_STR(p.res.content, "paid#3");
    CHECK_STR(play_told(&p, "@step_cancelled loop_end error"),
              "35 step_cancelled l.3.paid; 35 loop_end l time 3; 35 error l");
    play_end(&p);
}

TEST(a_timeout_withdraws_a_delay)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&after), .delay_ms = 1000, .options.timeout_ms = 300), NULL);
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_INT(play_ms(&p), 300);
    CHECK_INT(after.calls, 1);
    play_end(&p);
}

TEST(a_graphs_timeout_cancels_what_runs_and_runs_its_cleanup)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 1000 }, next = { .name = "next" };
    struct actor clean = { .name = "clean", .takes_ms = 20, .options.run_on = RONDO_ON_ALWAYS };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 3, .options.timeout_ms = 100,
                 .steps = (rondo_step[]){ { .node = actor(&slow) },
                                          { .node = actor(&next), .depends_on = RONDO_AFTER("slow") },
                                          { .node = actor(&clean) } } }), NULL);
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_STR(p.err.message, "timed out after 100 ms");
    CHECK_INT(clean.calls, 1);
    CHECK_INT(next.calls, 0);
    CHECK_INT(play_ms(&p), 120);
    play_end(&p);
}

TEST(a_timeout_inside_is_a_failure_like_any_other)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 100, .options.timeout_ms = 10 };
    play_flow(&p, LOOP(.body = actor(&slow), .on_error = RONDO_ERROR_CONTINUES, .max_failures = 2), NULL);
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_INT(slow.calls, 2);
    CHECK_INT(play_ms(&p), 20);
    play_end(&p);
}

TEST(a_timeout_covers_all_tries_together)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 40, .says = SAYS("=1"), .options = {
                          .timeout_ms = 100, .output_schema = "{\"type\": \"string\"}",
                          .retry.attempts = 10 } };
    play_flow(&p, actor(&slow), NULL); // each try fails its schema after 40 ms
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_INT(slow.calls, 3);
    CHECK_INT(play_ms(&p), 100);
    play_end(&p);
}

TEST(a_timeout_that_passes_while_a_retry_waits_fails_the_node_then)
{
    struct play p = { 0 };
    struct actor bad = { .name = "bad", .says = SAYS("!no"),
                         .options = { .timeout_ms = 100, .retry = { .attempts = 5, .delay_ms = 80 } } };
    play_flow(&p, actor(&bad), NULL);
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_INT(bad.calls, 2); // at 0 and 80; the third would be due at 240
    CHECK_INT(play_ms(&p), 100);
    play_end(&p);
}

TEST(a_runs_timeout_fails_the_run)
{
    struct play p = { .options.timeout_ms = 35 };
    play_flow(&p, LOOP(.body = actor(&paid), .max_iterations = 50), NULL);
    CHECK_INT(play_ms(&p), 35);
    CHECK_INT(p.res.status, RONDO_STATUS_FAILED);
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_STR(p.err.message, "the run timed out after 35 ms");
    CHECK_STR(p.res.content, "paid#3");
    play_end(&p);
}

TEST(a_runs_timeout_ends_open_loops_with_the_reason_time)
{
    struct play p = { .options.timeout_ms = 35 };
    play_flow(&p, LOOP(.body = actor(&paid), .max_iterations = 50), NULL);
    CHECK_STR(play_told(&p, "@loop_end"), "35 loop_end l time 3");
    play_end(&p);
}

TEST(a_graph_that_times_out_ends_its_open_loops_with_the_reason_time)
{
    struct play p = { 0 };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 1, .options.timeout_ms = 35,
                 .steps = (rondo_step[]){ { .node = LOOP(.body = actor(&paid), .max_iterations = 50) } } }),
         NULL);
    CHECK_INT(p.rc, RONDO_ETIME);
    CHECK_STR(play_told(&p, "@loop_end"), "35 loop_end g.l time 3");
    play_end(&p);
}
