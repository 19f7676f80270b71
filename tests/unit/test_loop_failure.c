/* test_loop_failure.c - passes that fail, and passes that are cut short. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define LOOP(...) rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "refine", __VA_ARGS__ })

static struct actor draft = { .name = "draft" };

/* ---- failures of the body ------------------------------------------------------------------------ */

/* AE-41 */
TEST(a_body_that_fails_in_pass_2_fails_the_loop_and_keeps_its_history)
{
    struct play p = { 0 };
    struct actor critic = { .name = "critic", .says = SAYS("fine", "!no more") };
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&critic))), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "no more");
    CHECK_INT(p.res.reason, RONDO_REASON_FAILED);
    CHECK_STR(p.res.content, "fine"); // the last good output
    rondo_history *h = rondo_run_history(p.run, "refine");
    CHECK_STR(rondo_history_text(h, 0, "draft"), "draft#1");
    CHECK_STR(rondo_history_text(h, 0, "critic"), "fine");
    CHECK_STR(play_step_text(&p, "refine.1.draft"), "draft#2"); // done before the failure
    CHECK_INT(play_step(&p, "refine.1.critic").status, RONDO_STATUS_FAILED);
    play_end(&p);
}

static int heard;

static void hear(rondo_context *context, void *user)
{
    heard++;
}

TEST(a_failed_pass_is_asked_nothing)
{
    struct play p = { 0 };
    struct actor bad = { .name = "bad", .says = SAYS("!first") };
    play_flow(&p, LOOP(.body = actor(&bad), .until = flow_always, .score = flow_score_output,
                  .listener = hear), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end refine failed 1");
    CHECK_INT(heard, 0);
    play_end(&p);
}

TEST(on_error_continue_goes_on_with_the_last_good_output)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("one", "!two", "!three", "four") };
    play_flow(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 4),
         "\"in\"");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.res.content, "four");
    CHECK_INT(p.res.passes, 4);
    CHECK_STR(a.seen[0].in, "\"in\"");
    CHECK_STR(a.seen[1].in, "\"one\"");
    CHECK_STR(a.seen[2].in, "\"one\"");
    CHECK_STR(a.seen[3].in, "\"one\"");
    CHECK_INT(play_count(&p, RONDO_EV_STEP_FAILED, NULL), 2);
    play_end(&p);
}

TEST(a_pass_that_fails_before_any_good_one_hands_on_the_loops_input)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("!one", "two") };
    play_flow(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 2),
         "\"in\"");
    CHECK_STR(a.seen[1].in, "\"in\"");
    CHECK_STR(p.res.content, "two");
    play_end(&p);
}

TEST(failures_in_a_row_fail_the_loop_and_the_last_good_output_stays)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("good", "!f%d", "!f%d", "better", "!f%d") };
    play_flow(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 20), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "f7"); // 2 in a row do not count any more after a good pass
    CHECK_INT(p.res.reason, RONDO_REASON_FAILED);
    CHECK_INT(p.res.passes, 7);
    CHECK_STR(p.res.content, "better");
    play_end(&p);
}

TEST(max_failures_of_1_fails_with_the_first)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("!f%d") };
    play_flow(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_failures = 1), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_INT(p.res.passes, 1);
    CHECK_STR(p.output, "null");
    play_end(&p);
}

TEST(the_cap_also_ends_a_loop_whose_last_pass_failed)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("good", "!f2") };
    play_flow(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 2), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_STR(p.res.content, "good");
    play_end(&p);
}

TEST(cumulative_leaves_out_what_failed)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("one", "!two", "three") };
    play_flow(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 3,
                  .output_mode = RONDO_OUTPUT_CUMULATIVE), NULL);
    CHECK_STR(p.res.content, "one\n\n--- iteration 3 ---\n\nthree");
    CHECK_STR(p.output, "[\"one\",null,\"three\"]");
    play_end(&p);
}

/* ---- break, continue, escalate ------------------------------------------------------------------- */

/* AE-67 */
TEST(a_break_ends_the_loop_with_the_output_so_far_and_starts_nothing_more)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("one", "^two") }, b = { .name = "b" };
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&a), actor(&b)), .until = flow_never,
                  .score = flow_score_output), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_BREAK);
    CHECK_INT(p.res.passes, 2);
    CHECK_INT(b.calls, 1);
    CHECK_STR(p.res.content, "two");
    CHECK(!p.res.escalated);
    play_end(&p);
}

/* AE-67 */
TEST(a_break_in_an_inner_loop_leaves_the_outer_one_running)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("^x%d") };
    rondo_node *inner = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "inner",
                                                       .body = actor(&a) });
    play_flow(&p, LOOP(.body = inner, .max_iterations = 3), NULL);
    CHECK_STR(play_told(&p, "loop_end"),
              "loop_end refine.0.inner break 1; loop_end refine.1.inner break 1; "
              "loop_end refine.2.inner break 1; loop_end refine max_iterations 3");
    CHECK_STR(p.res.content, "x3");
    play_end(&p);
}

/* AE-67 */
TEST(a_named_break_ends_the_outer_loop_and_all_inside_it)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("x", "^@refine:y") }, b = { .name = "b" };
    rondo_node *inner = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "inner",
                                                       .body = actor(&a) });
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(inner, actor(&b)), .max_iterations = 3), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_BREAK);
    CHECK_INT(p.res.passes, 1);
    CHECK_INT(b.calls, 0);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end refine.0.inner cancelled 1; loop_end refine break 1");
    play_end(&p);
}

TEST(an_escalation_is_a_break_that_shows)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("^^help") };
    rondo_node *inner = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "inner",
                                                       .body = actor(&a) });
    play_flow(&p, LOOP(.body = inner, .max_iterations = 2), NULL);
    CHECK(!p.res.escalated);
    CHECK_INT(p.res.passes, 2);
    CHECK(play_step(&p, "refine.inner").escalated);
    CHECK_INT(play_step(&p, "refine.inner").passes, 1);
    CHECK_INT(play_step(&p, "refine.inner").reason, RONDO_REASON_BREAK);
    play_end(&p);
}

TEST(a_step_after_the_loop_can_see_that_it_escalated)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("^^help") }, after = { .name = "after" };
    rondo_node *list[] = { LOOP(.body = actor(&a)), actor(&after), NULL };
    play_flow(&p, rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "s",
                                                    .children = list }), NULL);
    CHECK(play_step(&p, "s.refine").escalated);
    CHECK_INT(play_step(&p, "s.refine").reason, RONDO_REASON_BREAK);
    CHECK_STR(after.seen[0].in, "\"help\"");
    play_end(&p);
}

TEST(a_break_that_names_no_loop_around_fails_the_step)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("^@elsewhere:x") };
    play_flow(&p, LOOP(.body = actor(&a)), NULL);
    CHECK_INT(p.rc, RONDO_EINVAL);
    CHECK_STR(p.err.message, "break: there is no loop 'elsewhere' around this step");
    play_end(&p);
}

TEST(a_break_outside_of_any_loop_fails_the_step)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("^x") };
    play_flow(&p, actor(&a), NULL);
    CHECK_INT(p.rc, RONDO_EINVAL);
    CHECK_STR(p.err.message, "break or continue outside of a loop");
    play_end(&p);
}

static int untils;

static int count_until(rondo_context *context, void *user)
{
    untils++;
    return 0;
}

TEST(continue_ends_the_pass_asks_no_rule_and_cannot_spin)
{
    struct play p = { 0 };
    struct actor a = { .name = "a" }, b = { .name = "b", .says = SAYS(">") }, c = { .name = "c" };
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&a), actor(&b), actor(&c)), .until = count_until,
                  .max_iterations = 4), "\"in\"");
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.passes, 4);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_INT(c.calls, 0);
    CHECK_INT(untils, 0);
    CHECK_STR(a.seen[1].in, "\"a#1\""); // the last completed output of the pass
    CHECK_STR(p.res.content, "a#4");
    play_end(&p);
}

TEST(a_break_cancels_siblings_that_run_and_awaits_effects_that_must_happen_once)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 1000 };
    struct actor once = { .name = "once", .takes_ms = 400, .effects = RONDO_ONCE };
    struct actor wait = { .name = "wait", .takes_ms = 100 };
    struct actor stop = { .name = "stop", .says = SAYS("^done") };
    play_flow(&p, LOOP(.body = RONDO_PARALLEL(actor(&slow), actor(&once),
                                         RONDO_SEQUENCE(actor(&wait), actor(&stop)))), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_BREAK);
    CHECK_STR(play_told(&p, "@step_cancelled step_end loop_end"),
              "100 step_end refine.0.sequence.wait; 100 step_end refine.0.sequence.stop; "
              "100 step_cancelled refine.0.sequence; 100 step_cancelled refine.0.slow; "
              "400 step_end refine.0.once; 400 step_cancelled refine.0; "
              "400 loop_end refine break 1; 400 step_end refine");
    play_end(&p);
}

