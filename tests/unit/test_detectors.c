/* test_detectors.c - loops that make no progress, and loops that keep their best pass. */

#include "flows.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOOP(...) loop_of((rondo_loop_spec){ RONDO_LOOP, .name = "l", __VA_ARGS__ })

static rondo_node *loop_of(rondo_loop_spec spec)
{
    if (!spec.max_iterations)
        spec.max_iterations = 20;
    return rondo_loop(&spec);
}

/* Plays a loop whose passes come to the given values, and tells how it ended. */
#define PLAYED(p, values, ...)                                                                 \
    struct actor it = { .name = "it", .says = values };                                        \
    struct play p = { 0 };                                                                     \
    play_flow(&p, LOOP(.body = actor(&it), __VA_ARGS__), NULL)

/* ---- stall --------------------------------------------------------------------------------------------- */

TEST(the_same_output_three_times_in_a_row_is_a_stall)
{
    PLAYED(p, SAYS("a", "b", "b", "a", "a", "a", "c"), .stall_repeats = 3);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    CHECK_INT(p.res.passes, 6);
    CHECK_STR(p.res.content, "a");
    CHECK_STR(play_told(&p, "detector loop_end"), "detector l stalled; loop_end l stalled 6");
    play_end(&p);
}

TEST(a_stall_may_fail)
{
    PLAYED(p, SAYS("a"), .stall_repeats = 2, .stall_action = RONDO_ACTION_FAIL);
    CHECK_INT(p.rc, RONDO_ESTALLED);
    CHECK_STR(p.err.message, "loop 'l' is stalled after 2 passes");
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    CHECK_STR(p.res.content, "a"); // kept
    play_end(&p);
}

TEST(a_stall_may_nudge_once_and_then_stops)
{
    PLAYED(p, SAYS("a"), .stall_repeats = 2, .stall_action = RONDO_ACTION_NUDGE);
    CHECK_INT(p.rc, 0);
    CHECK_STR(play_told(&p, "detector iteration_start loop_end"),
              "iteration_start l 0; iteration_start l 1; detector l stalled; iteration_start l 2; "
              "iteration_start l 3; detector l stalled; loop_end l stalled 4");
    CHECK(strstr(it.seen[1].feedback, "different") == NULL);
    CHECK(strstr(it.seen[2].feedback, "try something different") != NULL);
    play_end(&p);
}

TEST(a_nudge_is_said_once)
{
    PLAYED(p, SAYS("a", "a", "b", "c"), .stall_repeats = 2, .stall_action = RONDO_ACTION_NUDGE,
           .max_iterations = 5);
    CHECK(strstr(it.seen[2].feedback, "try something different") != NULL);
    CHECK(strstr(it.seen[3].feedback, "try something different") == NULL);
    play_end(&p);
}

TEST(a_nudge_that_helps_lets_the_loop_go_on)
{
    PLAYED(p, SAYS("a", "a", "b", "c", "d"), .stall_repeats = 2, .stall_action = RONDO_ACTION_NUDGE,
           .until = flow_text_is, .user = "d");
    CHECK_INT(p.res.reason, RONDO_REASON_UNTIL);
    CHECK_INT(p.res.passes, 5);
    CHECK_INT(play_count(&p, RONDO_EV_DETECTOR, "l"), 1);
    play_end(&p);
}

TEST(a_polling_loop_whose_result_changes_never_stalls)
{
    PLAYED(p, SAYS("={\"status\": \"running\", \"tick\": %d}"), .stall_repeats = 2, .oscillation = 2);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_INT(p.res.passes, 20);
    play_end(&p);
}

TEST(values_are_compared_not_the_order_of_their_keys)
{
    PLAYED(p, SAYS("={\"a\": 1, \"b\": [1, 2]}", "={\"b\": [1, 2], \"a\": 1}"), .stall_repeats = 2);
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    play_end(&p);
}

TEST(equal_numbers_are_so_whatever_their_type)
{
    PLAYED(p, SAYS("={\"a\": [2, 0]}", "={\"a\": [2.0, -0.0]}"), .stall_repeats = 2);
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    play_end(&p);
}

TEST(numbers_that_differ_are_different_however_little)
{
    PLAYED(p, SAYS("=2", "=2.5", "=9223372036854775807", "=9223372036854775808.0", "=1700000000000000001",
                   "=1700000000000000002", "=1e300"), .stall_repeats = 2, .max_iterations = 7);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    play_end(&p);
}

TEST(lists_in_another_order_a_number_and_its_text_are_different)
{
    PLAYED(p, SAYS("=[1, 2]", "=[2, 1]", "=1", "1", "=null", "=false", "=0", "=\"\"", "=[]", "={}"),
           .stall_repeats = 2, .max_iterations = 10);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    play_end(&p);
}

TEST(a_predicate_that_holds_wins_over_a_stall)
{
    PLAYED(p, SAYS("a"), .stall_repeats = 2, .stall_action = RONDO_ACTION_FAIL, .until = flow_at_pass,
           .user = &(int){ 2 });
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_UNTIL);
    play_end(&p);
}

TEST(a_stall_on_the_last_allowed_pass_wins_over_the_cap)
{
    PLAYED(p, SAYS("a"), .stall_repeats = 3, .max_iterations = 3, .on_max = RONDO_FAIL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    play_end(&p);
}

TEST(passes_cut_short_by_continue_are_watched_too)
{
    PLAYED(p, SAYS(">a"), .stall_repeats = 3, .until = flow_always);
    CHECK_INT(p.res.reason, RONDO_REASON_STALLED);
    CHECK_INT(p.res.passes, 3);
    play_end(&p);
}

/* ---- oscillation --------------------------------------------------------------------------------------- */

TEST(a_b_a_b_is_an_oscillation)
{
    PLAYED(p, SAYS("x", "a", "b", "a", "b", "c"), .oscillation = 2);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_OSCILLATING);
    CHECK_INT(p.res.passes, 5);
    CHECK_STR(p.res.content, "b");
    play_end(&p);
}

TEST(three_turns_need_a_b_three_times)
{
    PLAYED(p, SAYS("a", "b", "a", "b", "a", "b", "c"), .oscillation = 3);
    CHECK_INT(p.res.reason, RONDO_REASON_OSCILLATING);
    CHECK_INT(p.res.passes, 6);
    play_end(&p);
}

TEST(the_same_output_again_and_again_does_not_oscillate)
{
    PLAYED(p, SAYS("a"), .oscillation = 2, .max_iterations = 8);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    play_end(&p);
}

TEST(a_b_c_a_b_c_does_not_oscillate)
{
    PLAYED(p, SAYS("a", "b", "c", "a", "b", "c", "a", "b", "c"), .oscillation = 2, .max_iterations = 9);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    play_end(&p);
}

TEST(an_oscillation_may_fail_or_nudge)
{
    {
        PLAYED(p, SAYS("a", "b", "a", "b"), .oscillation = 2, .stall_action = RONDO_ACTION_FAIL);
        CHECK_INT(p.rc, RONDO_ESTALLED);
        CHECK_STR(p.err.message, "loop 'l' is oscillating after 4 passes");
        play_end(&p);
    }
    PLAYED(p, SAYS("a", "b", "a", "b", "a", "b", "a", "b", "a"), .oscillation = 2,
           .stall_action = RONDO_ACTION_NUDGE);
    CHECK_STR(play_told(&p, "detector loop_end"),
              "detector l oscillating; detector l oscillating; loop_end l oscillating 8");
    play_end(&p);
}

/* ---- patience ------------------------------------------------------------------------------------------ */

TEST(patience_ends_a_loop_that_gains_nothing_more)
{
    PLAYED(p, SAYS("=1", "=5", "=4", "=5", "=9"), .score = flow_score_output, .patience = 2);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_PLATEAU);
    CHECK_INT(p.res.passes, 4); // 5 again is no gain
    CHECK_INT(p.res.best, 1);
    CHECK_STR(p.output, "5");
    play_end(&p);
}

TEST(a_gain_must_be_above_min_gain)
{
    PLAYED(p, SAYS("=1", "=1.5", "=2", "=2.1"), .score = flow_score_output, .patience = 2, .min_gain = 0.5);
    CHECK_INT(p.res.reason, RONDO_REASON_PLATEAU);
    CHECK_INT(p.res.passes, 5); // 1.5 is not above 1 + 0.5, 2 is; then 2.1 and 2.1
    play_end(&p);
}

TEST(slow_progress_adds_up_against_the_last_gain)
{
    PLAYED(p, SAYS("=1", "=1.3", "=1.6", "=1.9", "=2.2", "=2.5", "=2.8", "=3.1"),
           .score = flow_score_output, .patience = 2, .min_gain = 0.5, .max_iterations = 8);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    play_end(&p);
}

TEST(passes_without_a_score_try_the_patience)
{
    PLAYED(p, SAYS("=3", "no number"), .score = flow_score_output, .patience = 3);
    CHECK_INT(p.res.reason, RONDO_REASON_PLATEAU);
    CHECK_INT(p.res.passes, 4);
    CHECK_INT(p.res.best, 0);
    play_end(&p);
}

TEST(stall_action_is_not_for_patience)
{
    PLAYED(p, SAYS("=1"), .score = flow_score_output, .patience = 1, .stall_action = RONDO_ACTION_FAIL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_PLATEAU);
    CHECK_INT(p.res.passes, 2);
    play_end(&p);
}

/* ---- keep the best --------------------------------------------------------------------------------------- */

#define BEST .score = flow_score_output, .output_mode = RONDO_OUTPUT_BEST

TEST(best_returns_the_pass_with_the_highest_score_at_the_cap)
{
    PLAYED(p, SAYS("=1", "=7", "=3"), BEST, .max_iterations = 3);
    CHECK_STR(p.output, "7");
    CHECK_INT(p.res.best, 1);
    CHECK_NEAR(p.res.score, 7, 0);
    CHECK_INT(p.res.passes, 3);
    play_end(&p);
}

TEST(ties_keep_the_earlier_pass)
{
    PLAYED(p, SAYS("=1", "=7", "=7.0"), BEST, .max_iterations = 3);
    CHECK_STR(p.output, "7");
    CHECK_INT(p.res.best, 1);
    play_end(&p);
}

TEST(negative_scores_count)
{
    PLAYED(p, SAYS("=-5", "=-2", "=-9"), BEST, .max_iterations = 3);
    CHECK_STR(p.output, "-2");
    CHECK_NEAR(p.res.score, -2, 0);
    play_end(&p);
}

TEST(a_pass_without_a_score_is_never_best_and_none_means_the_last)
{
    {
        PLAYED(p, SAYS("=-100", "text", "more"), BEST, .max_iterations = 3);
        CHECK_STR(p.output, "-100");
        play_end(&p);
    }
    PLAYED(p, SAYS("x", "y", "z"), BEST, .max_iterations = 3);
    CHECK_STR(p.output, "\"z\"");
    CHECK_INT(p.res.best, -1);
    play_end(&p);
}

static double infinite(rondo_context *context, void *user)
{
    return rondo_context_pass(context) ? 1 : INFINITY;
}

TEST(an_infinite_score_is_no_score)
{
    PLAYED(p, SAYS("a", "b"), .score = infinite, .output_mode = RONDO_OUTPUT_BEST, .max_iterations = 2);
    CHECK_INT(p.res.best, 1);
    play_end(&p);
}

static double broken_score(rondo_context *context, void *user)
{
    if (rondo_context_pass(context) == 1)
        rondo_context_fail(context, RONDO_EFAILED, "cannot rate");
    return 10 + (double)rondo_context_pass(context);
}

TEST(a_score_that_fails_is_told_and_gives_none_for_that_pass)
{
    PLAYED(p, SAYS("a", "b"), .score = broken_score, .output_mode = RONDO_OUTPUT_BEST,
           .max_iterations = 2);
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.output, "\"a\"");
    CHECK_STR(play_find(&p, RONDO_EV_RULE_FAILED, "l")->text, "cannot rate");
    play_end(&p);
}

/* Pass 1 is best; the loop then ends for each of the reasons. */
TEST(best_is_kept_whatever_ends_the_loop)
{
    const struct {
        rondo_loop_spec spec;
        const char *const *says;
        int reason, code;
    } rows[] = {
        { { .until = flow_at_pass }, SAYS("=1", "=9", "=2"), RONDO_REASON_UNTIL, 0 },
        { { .max_iterations = 3 }, SAYS("=1", "=9", "=2"), RONDO_REASON_MAX_ITERATIONS, 0 },
        { { .patience = 1 }, SAYS("=1", "=9", "=2"), RONDO_REASON_PLATEAU, 0 },
        { { .stall_repeats = 2 }, SAYS("=1", "=9", "=2", "=2"), RONDO_REASON_STALLED, 0 },
        { { .oscillation = 2 }, SAYS("=9", "=2", "=9", "=2"), RONDO_REASON_OSCILLATING, 0 },
        { { .max_iterations = 20 }, SAYS("=1", "=9", "^2"), RONDO_REASON_BREAK, 0 },
        { { .options.budget.tokens = 30 }, SAYS("=1", "=9", "=2"), RONDO_REASON_TOKENS, 0 },
        { { .options.budget.calls = 3 }, SAYS("=1", "=9", "=2"), RONDO_REASON_CALLS, 0 },
        { { .options.budget.cost_nano = 3 }, SAYS("=1", "=9", "=2"), RONDO_REASON_COST, 0 },
        { { .options.budget.time_ms = 25 }, SAYS("=1", "=9", "=2"), RONDO_REASON_TIME, 0 },
        { { .options.timeout_ms = 25 }, SAYS("=1", "=9", "=2"), RONDO_REASON_TIME, RONDO_ETIME },
        { { .max_iterations = 20 }, SAYS("=1", "=9", "!bad"), RONDO_REASON_FAILED, RONDO_EFAILED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct actor it = { .name = "it", .says = rows[i].says, .takes_ms = 10,
                            .spends = { 7, 3, 1, 1 } };
        int third = 3;
        rondo_loop_spec spec = rows[i].spec;
        struct play p = { 0 };
        spec.size = RONDO_LOOP;
        spec.name = "l";
        spec.body = actor(&it);
        spec.user = &third;
        spec.score = flow_score_output;
        spec.output_mode = RONDO_OUTPUT_BEST;
        play_flow(&p, loop_of(spec), NULL);
        CHECK_STR(rondo_reason_text(p.res.reason), rondo_reason_text(rows[i].reason));
        CHECK_INT(p.rc, rows[i].code);
        CHECK_STR(p.output, "9");
        CHECK_NEAR(p.res.score, 9, 0);
        play_end(&p);
    }
}

static json_t *next_after_3(rondo_context *context, void *user)
{
    return rondo_context_pass(context) < 2 ? json_incref(rondo_context_last(context)) : NULL;
}

static int while_3(rondo_context *context, void *user)
{
    return rondo_context_pass(context) < 3;
}

TEST(best_is_kept_when_next_or_while_end_the_loop)
{
    {
        PLAYED(p, SAYS("=1", "=9", "=2"), BEST, .next = next_after_3);
        CHECK_INT(p.res.reason, RONDO_REASON_NEXT);
        CHECK_STR(p.output, "9");
        play_end(&p);
    }
    PLAYED(p, SAYS("=1", "=9", "=2"), BEST, .while_ = while_3);
    CHECK_INT(p.res.reason, RONDO_REASON_WHILE);
    CHECK_STR(p.output, "9");
    play_end(&p);
}

static void cancel_in_pass_2(struct play *p, const rondo_event *event)
{
    if (rondo_event_type(event) == RONDO_EV_ITERATION_START && rondo_event_pass(event) == 2)
        rondo_run_cancel(p->run, "enough");
}

TEST(best_is_kept_when_the_run_is_cancelled)
{
    struct actor it = { .name = "it", .says = SAYS("=1", "=9", "=2"), .takes_ms = 10 };
    struct play p = { .on_event = cancel_in_pass_2 };
    play_flow(&p, LOOP(.body = actor(&it), BEST), NULL);
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_INT(p.res.reason, RONDO_REASON_CANCELLED);
    CHECK_STR(p.output, "9");
    play_end(&p);
}

TEST(best_shows_the_steps_of_its_pass)
{
    struct actor draft = { .name = "draft" }, rate = { .name = "rate", .says = SAYS("=1", "=9", "=2") };
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&rate)), BEST, .max_iterations = 3), NULL);
    CHECK_STR(play_step_text(&p, "l.draft"), "draft#2");
    CHECK_STR(play_step_text(&p, "l.rate"), "9");
    play_end(&p);
}

TEST(best_is_remembered_beyond_the_passes_in_memory)
{
    enum { PASSES = 3000 };
    struct actor it = { .name = "it", .says = SAYS("=1", "=99", "=%d.5e-9") };
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&it), BEST, .max_iterations = PASSES), NULL);
    CHECK_STR(p.output, "99");
    CHECK_INT(p.res.best, 1);
    double score = 0;
    rondo_history *h = rondo_run_history(p.run, "l");
    CHECK(rondo_history_score(h, 1, &score));
    CHECK_NEAR(score, 99, 0);
    CHECK_INT(rondo_history_best(h), 1);
    play_end(&p);
}

static int sees_best(rondo_context *context, void *user)
{
    const json_t *best = rondo_context_best(context);
    CHECK_INT(json_integer_value(best), rondo_context_pass(context) >= 1 ? 9 : 1);
    return 0;
}

TEST(rules_see_the_best_pass_so_far)
{
    PLAYED(p, SAYS("=1", "=9", "=2"), BEST, .until = sees_best, .max_iterations = 3);
    CHECK_INT(p.rc, 0);
    play_end(&p);
}
