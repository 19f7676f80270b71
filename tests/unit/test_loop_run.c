/* test_loop_run.c - one loop from its first pass to its end: rules, caps, outputs, feedback. */

#include "flows.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define LOOP(...) rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "refine", __VA_ARGS__ })

static struct actor draft = { .name = "draft" }, critique = { .name = "critique" };

static rondo_node *draft_and_critique(void)
{
    return RONDO_SEQUENCE(actor(&draft), actor(&critique));
}

/* ---- how many passes, and why it ends ---------------------------------------------------------- */

/* AE-20 */
TEST(a_loop_whose_predicate_holds_at_once_runs_once)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .until = flow_always), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.res.content, "draft#1");
    CHECK_INT(p.res.passes, 1);
    CHECK_INT(p.res.reason, RONDO_REASON_UNTIL);
    CHECK_STR(rondo_reason_ensemble(p.res.reason), "predicate");
    CHECK_INT(rondo_history_count(rondo_run_history(p.run, "refine")), 1);
    play_end(&p);
}

/* AE-21 */
TEST(a_predicate_that_holds_in_pass_3_of_10_ends_it_there)
{
    struct play p = { 0 };
    int at = 3;
    play(&p, LOOP(.body = actor(&draft), .until = flow_at_pass, .user = &at, .max_iterations = 10),
         NULL);
    CHECK_INT(draft.calls, 3);
    CHECK_INT(p.res.passes, 3);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end refine until 3");
    play_end(&p);
}

/* AE-22 */
TEST(a_predicate_that_never_holds_ends_at_the_cap_with_the_last_output)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .until = flow_never, .max_iterations = 4), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(draft.calls, 4);
    CHECK_STR(p.res.content, "draft#4");
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_STR(rondo_reason_ensemble(p.res.reason), "maxIterations");
    play_end(&p);
}

/* AE-23, AE-54 */
TEST(a_cap_that_fails_names_the_loop_and_the_cap)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .until = flow_never, .max_iterations = 2,
                  .on_max = RONDO_FAIL), NULL);
    CHECK_INT(p.rc, RONDO_ELIMIT);
    CHECK_STR(p.err.message, "loop 'refine' reached its cap of 2 passes");
    CHECK_INT(p.res.status, RONDO_STATUS_FAILED);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_INT(draft.calls, 2);
    play_end(&p);
}

/* AE-24 */
TEST(without_a_predicate_exactly_the_cap_runs)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .max_iterations = 3), NULL);
    CHECK_INT(draft.calls, 3);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end refine max_iterations 3");
    play_end(&p);
}

/* AE-24 */
TEST(without_a_predicate_a_failing_cap_always_fails)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .max_iterations = 1, .on_max = RONDO_FAIL), NULL);
    CHECK_INT(p.rc, RONDO_ELIMIT);
    play_end(&p);
}

/* AE-25 */
TEST(the_steps_of_a_body_run_in_order_in_every_pass)
{
    struct play p = { 0 };
    int at = 2;
    play(&p, LOOP(.body = draft_and_critique(), .until = flow_at_pass, .user = &at), NULL);
    CHECK_STR(play_told(&p, "step_start"),
              "step_start refine; "
              "step_start refine.0; step_start refine.0.draft; step_start refine.0.critique; "
              "step_start refine.1; step_start refine.1.draft; step_start refine.1.critique");
    CHECK_STR(play_step_text(&p, "refine.draft"), "draft#2");
    CHECK_STR(play_step_text(&p, "refine.critique"), "critique#2");
    play_end(&p);
}

/* AE-26 */
TEST(the_last_steps_answer_can_end_the_loop)
{
    struct play p = { 0 };
    struct actor critic = { .name = "critic", .says = SAYS("REVISE", "REVISE", "APPROVED") };
    play(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&critic)), .until = flow_text_is,
                  .user = "APPROVED"), NULL);
    CHECK_INT(critic.calls, 3);
    CHECK_STR(p.res.content, "APPROVED");
    CHECK_INT(p.res.reason, RONDO_REASON_UNTIL);
    play_end(&p);
}

/* AE-39 */
TEST(a_predicate_that_holds_on_the_last_allowed_pass_wins_over_the_cap)
{
    static const int on_max[] = { RONDO_RETURN_LAST, RONDO_FAIL, RONDO_FLAG };
    for (int i = 0; i < 3; i++) {
        struct play p = { 0 };
        int at = 3;
        play(&p, LOOP(.body = actor(&draft), .until = flow_at_pass, .user = &at,
                      .max_iterations = 3, .on_max = on_max[i]), NULL);
        CHECK_INT(p.rc, 0);
        CHECK_INT(p.res.passes, 3);
        CHECK_INT(p.res.reason, RONDO_REASON_UNTIL);
        CHECK(!p.res.capped);
        play_end(&p);
    }
}

/* AE-53 */
TEST(a_flagged_cap_completes_and_says_so)
{
    struct play p = { 0 };
    rondo_result res;
    play(&p, LOOP(.body = actor(&draft), .max_iterations = 2, .on_max = RONDO_FLAG), NULL);
    CHECK_INT(p.rc, 0);
    CHECK(p.res.capped);
    CHECK_STR(p.res.content, "draft#2");
    CHECK_INT(rondo_run_find(p.run, "unknown", &res), RONDO_ENOTFOUND);
    CHECK_NULL(rondo_run_history(p.run, "unknown"));
    play_end(&p);
}

/* AE-38 */
TEST(a_predicate_that_fails_fails_the_loop_and_names_rule_and_pass)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .until = flow_error), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "until of loop 'refine' failed in pass 1: the rule broke");
    CHECK_INT(p.res.reason, RONDO_REASON_FAILED);
    CHECK_INT(p.res.passes, 1);
    CHECK_STR(p.res.content, "draft#1");
    play_end(&p);
}

TEST(a_while_that_fails_before_the_first_pass_fails_the_loop)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .while_ = flow_error), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "while of loop 'refine' failed in pass 1: the rule broke");
    CHECK_INT(draft.calls, 0);
    play_end(&p);
}

TEST(a_while_that_says_no_at_once_runs_nothing_and_completes)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .while_ = flow_never), "\"in\"");
    CHECK_INT(p.rc, 0);
    CHECK_STR(play_told(&p, "step_start iteration_start loop_end step_end"),
              "step_start refine; loop_end refine while 0; step_end refine");
    CHECK_INT(p.res.passes, 0);
    CHECK_STR(p.output, "null");
    play_end(&p);
}

static int before_pass_3(rondo_context *context, void *user)
{
    return rondo_context_pass(context) < 2;
}

TEST(a_while_is_asked_before_every_pass)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .while_ = before_pass_3, .max_iterations = RONDO_UNBOUNDED),
         NULL);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end refine while 2");
    CHECK_STR(p.res.content, "draft#2");
    play_end(&p);
}

/* ---- order inside a pass ------------------------------------------------------------------------- */

static char order[400];

static void tell(const char *what)
{
    strncat(order, *order ? " " : "", sizeof order - strlen(order) - 1);
    strncat(order, what, sizeof order - strlen(order) - 1);
}

static int asked_while(rondo_context *context, void *user)
{
    tell("while");
    return 1;
}

static int asked_until(rondo_context *context, void *user)
{
    char text[32];
    snprintf(text, sizeof text, "until(history=%lld)",
             (long long)rondo_history_count(rondo_context_history(context)));
    tell(text);
    return rondo_context_pass(context) == 1;
}

static json_t *asked_next(rondo_context *context, void *user)
{
    tell("next");
    return json_string("more");
}

static double asked_score(rondo_context *context, void *user)
{
    tell("score");
    return 1;
}

static void asked_listener(rondo_context *context, void *user)
{
    tell("listener");
}

static void told_body(rondo_task *task, void *user)
{
    tell("body");
    rondo_task_return_text(task, "x");
}

/* AE-40: the shell asks inside a turn whose events are handed out afterwards, so questions are
   compared with questions and events with events. */
TEST(rules_are_asked_in_the_order_of_the_contract)
{
    struct play p = { 0 };
    rondo_agent body = { RONDO_AGENT, .name = "body", .run = told_body, .memory = "m" };
    play(&p, LOOP(.body = rondo_agent_node(&body), .while_ = asked_while, .until = asked_until,
                  .next = asked_next, .score = asked_score, .listener = asked_listener,
                  .memory_mode = RONDO_FRESH), NULL);
    CHECK_STR(order, "while body score listener until(history=1) next while body score listener "
                     "until(history=2)");
    CHECK_STR(play_told(&p, "memory_trim iteration_start step_start memory step_end iteration_end "
                            "loop_end"),
              "step_start refine; iteration_start refine 0; step_start refine.0.body; "
              "memory refine.0.body; step_end refine.0.body; iteration_end refine 0; "
              "memory_trim refine; iteration_start refine 1; step_start refine.1.body; "
              "memory refine.1.body; step_end refine.1.body; iteration_end refine 1; "
              "loop_end refine until 2; step_end refine");
    play_end(&p);
}

/* AE-58 */
TEST(every_pass_tells_its_number_output_and_duration)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 60 };
    play(&p, LOOP(.body = actor(&slow), .max_iterations = 3), NULL);
    CHECK_STR(play_told(&p, "@iteration_start iteration_end"),
              "0 iteration_start refine 0; 60 iteration_end refine 0; "
              "60 iteration_start refine 1; 120 iteration_end refine 1; "
              "120 iteration_start refine 2; 180 iteration_end refine 2");
    int n = 0;
    for (size_t i = 0; i < p.count; i++)
        if (p.said[i].type == RONDO_EV_ITERATION_END) {
            char want[16];
            snprintf(want, sizeof want, "slow#%d", ++n);
            CHECK_STR(p.said[i].text, want);
        }
    CHECK_INT(n, 3);
    play_end(&p);
}

static int64_t heard[8];
static int heard_count;
static char heard_texts[100];

static void hear(rondo_context *context, void *user)
{
    heard[heard_count++] = rondo_context_duration_ms(context);
    strcat(heard_texts, rondo_context_text(context));
    strcat(heard_texts, " ");
}

/* AE-58, AE-144 */
TEST(a_listener_sees_every_pass_and_how_long_it_took)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 70 };
    play(&p, LOOP(.body = actor(&slow), .max_iterations = 3, .listener = hear, .delay_ms = 1000), NULL);
    CHECK_INT(heard_count, 3);
    CHECK_INT(heard[0], 70);
    CHECK_INT(heard[2], 70);
    CHECK_STR(heard_texts, "slow#1 slow#2 slow#3 ");
    play_end(&p);
}

TEST(the_delay_is_between_passes_only)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .max_iterations = 3, .delay_ms = 500), NULL);
    CHECK_STR(play_told(&p, "@iteration_start delay loop_end"),
              "0 iteration_start refine 0; 0 delay refine; 500 iteration_start refine 1; "
              "500 delay refine; 1000 iteration_start refine 2; 1000 loop_end refine max_iterations 3");
    CHECK_INT(play_ms(&p), 1000);
    play_end(&p);
}

/* ---- outputs --------------------------------------------------------------------------------------- */

/* AE-27 */
TEST(the_last_pass_is_the_output_with_every_body_step)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = draft_and_critique(), .max_iterations = 3), NULL);
    CHECK_STR(p.res.content, "critique#3");
    CHECK_STR(play_step_text(&p, "refine.draft"), "draft#3");
    CHECK_STR(play_step_text(&p, "refine.critique"), "critique#3");
    CHECK_STR(play_step_text(&p, "refine.0.draft"), "draft#1");
    play_end(&p);
}

/* AE-28 */
TEST(final_step_shows_the_last_steps_output_only)
{
    struct play p = { 0 };
    rondo_result res;
    play(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2,
                  .output_mode = RONDO_OUTPUT_FINAL_STEP), NULL);
    CHECK_STR(p.res.content, "critique#2");
    CHECK_INT(rondo_run_find(p.run, "refine.draft", &res), RONDO_ENOTFOUND);
    play_end(&p);
}

/* AE-29 */
TEST(cumulative_joins_all_passes_with_a_separator_from_the_second_on)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .max_iterations = 3,
                  .output_mode = RONDO_OUTPUT_CUMULATIVE), NULL);
    CHECK_STR(p.res.content, "draft#1\n\n--- iteration 2 ---\n\ndraft#2"
                             "\n\n--- iteration 3 ---\n\ndraft#3");
    CHECK_STR(p.output, "[\"draft#1\",\"draft#2\",\"draft#3\"]");
    play_end(&p);
}

/* AE-29 */
TEST(cumulative_joins_step_by_step)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2,
                  .output_mode = RONDO_OUTPUT_CUMULATIVE), NULL);
    CHECK_STR(p.res.content, "draft#1\n\n--- iteration 2 ---\n\ndraft#2\n\n"
                             "critique#1\n\n--- iteration 2 ---\n\ncritique#2");
    CHECK_STR(p.output, "[\"critique#1\",\"critique#2\"]");
    play_end(&p);
}

TEST(cumulative_after_a_single_pass_has_no_separator)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .max_iterations = 1,
                  .output_mode = RONDO_OUTPUT_CUMULATIVE), NULL);
    CHECK_STR(p.res.content, "draft#1");
    CHECK_STR(p.output, "[\"draft#1\"]");
    play_end(&p);
}

TEST(output_names_the_step_that_counts)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2, .output = "draft"), NULL);
    CHECK_STR(p.res.content, "draft#2");
    CHECK_STR(draft.seen[1].in, "\"draft#1\""); // and it is what the next pass gets
    CHECK_STR(play_find(&p, RONDO_EV_ITERATION_END, "refine")->text, "draft#1");
    play_end(&p);
}

TEST(an_empty_last_step_does_not_replace_the_output_when_it_only_signalled)
{
    struct play p = { 0 };
    struct actor stop = { .name = "stop", .says = SAYS("^") };
    play(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&stop))), NULL);
    CHECK_STR(p.res.content, "draft#1");
    CHECK_INT(p.res.reason, RONDO_REASON_BREAK);
    CHECK_INT(p.res.passes, 1);
    play_end(&p);
}

/* ---- feedback -------------------------------------------------------------------------------------- */

/* AE-30, AE-31: rondo gives feedback to every step of the body, as data: the step's own previous
   output and that of the whole pass. */
TEST(feedback_begins_with_the_second_pass_and_reaches_every_step)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = draft_and_critique(), .max_iterations = 3), NULL);
    CHECK(!draft.seen[0].fed);
    CHECK(!critique.seen[0].fed);
    CHECK(draft.seen[1].fed);
    CHECK_INT(draft.seen[1].attempt, 1);
    CHECK(strstr(draft.seen[1].feedback, "iteration 2 of 3") != NULL);
    CHECK_STR(draft.seen[1].previous, "\"draft#1\"");
    CHECK_STR(draft.seen[1].last, "\"critique#1\"");
    CHECK(critique.seen[1].fed);
    CHECK_STR(critique.seen[1].previous, "\"critique#1\"");
    CHECK_INT(draft.seen[2].attempt, 2);
    CHECK(strstr(draft.seen[2].feedback, "iteration 3 of 3") != NULL);
    CHECK_STR(draft.seen[2].previous, "\"draft#2\"");
    play_end(&p);
}

/* AE-32 */
TEST(in_the_second_pass_the_critic_reads_the_new_draft)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2), NULL);
    CHECK_STR(critique.seen[0].in, "\"draft#1\"");
    CHECK_STR(critique.seen[1].in, "\"draft#2\"");
    play_end(&p);
}

static char read_from_draft[2][40];

static void read_draft(rondo_task *task, void *user)
{
    static int n;
    const json_t *out = rondo_task_output(task, "draft");
    snprintf(read_from_draft[n++], 40, "%s", out ? json_string_value(out) : "nothing");
    rondo_task_return_text(task, "read");
}

/* AE-32 */
TEST(a_sibling_is_read_by_name_in_the_pass_that_runs)
{
    struct play p = { 0 };
    rondo_agent reader = { RONDO_AGENT, .name = "reader", .run = read_draft };
    struct actor between = { .name = "between" };
    play(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&between), rondo_agent_node(&reader)),
                  .max_iterations = 2), NULL);
    CHECK_STR(read_from_draft[0], "draft#1");
    CHECK_STR(read_from_draft[1], "draft#2");
    play_end(&p);
}

/* AE-33 */
TEST(without_feedback_no_pass_gets_any)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = draft_and_critique(), .max_iterations = 3, .feedback = RONDO_FEEDBACK_OFF),
         NULL);
    for (int i = 0; i < 3; i++) {
        CHECK(!draft.seen[i].fed);
        CHECK(!critique.seen[i].fed);
    }
    play_end(&p);
}

TEST(an_unbounded_loops_feedback_names_no_cap)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("x", "^y") };
    play(&p, LOOP(.body = actor(&a), .max_iterations = RONDO_UNBOUNDED), NULL);
    CHECK(strstr(a.seen[1].feedback, "iteration 2.") != NULL);
    CHECK(strstr(a.seen[1].feedback, " of ") == NULL);
    play_end(&p);
}

TEST(a_judge_ends_the_loop_and_its_words_reach_the_next_pass)
{
    struct play p = { 0 };
    struct actor judge = { .name = "strict",
                           .says = SAYS("={\"done\": false, \"why\": \"too long\"}", "!no idea",
                                        "={\"done\": true}") };
    play(&p, LOOP(.body = actor(&draft), .judge = actor(&judge)), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_JUDGE);
    CHECK_STR(rondo_reason_ensemble(p.res.reason), "predicate");
    CHECK_INT(p.res.passes, 3);
    CHECK_STR(p.res.content, "draft#3");
    CHECK_STR(judge.seen[0].in, "\"draft#1\"");
    CHECK(strstr(draft.seen[1].judge, "too long") != NULL);
    CHECK_STR(draft.seen[2].judge, "no idea"); // a judge that fails has not said that it is done
    CHECK_STR(play_told(&p, "error"), "error refine.1.judge");
    play_end(&p);
}

/* ---- history --------------------------------------------------------------------------------------- */

static int looks_back(rondo_context *context, void *user)
{
    rondo_history *h = rondo_context_history(context);
    int64_t pass = rondo_context_pass(context);
    CHECK_INT(rondo_history_count(h), pass + 1);
    CHECK_STR(rondo_history_text(h, 0, "draft"), "draft#1");
    CHECK_STR(rondo_history_text(h, pass, "critique"),
              json_string_value(rondo_context_output(context, "critique")));
    CHECK_NULL(rondo_history_output(h, pass + 1, NULL));
    CHECK_NULL(rondo_history_output(h, -1, NULL));
    CHECK_NULL(rondo_history_output(h, 0, "nobody"));
    return pass == 2;
}

/* AE-57 */
TEST(history_is_there_while_the_loop_runs_and_afterwards)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = draft_and_critique(), .until = looks_back), NULL);
    rondo_history *h = rondo_run_history(p.run, "refine");
    CHECK_INT(rondo_history_count(h), 3);
    CHECK_STR(rondo_history_text(h, 0, "draft"), "draft#1");
    CHECK_STR(rondo_history_text(h, 1, "critique"), "critique#2");
    CHECK_STR(rondo_history_text(h, 2, NULL), "critique#3");
    CHECK_INT(rondo_history_best(h), -1);
    CHECK_INT(p.res.best, -1);
    play_end(&p);
}

TEST(old_passes_are_read_back_from_the_journal)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2000), NULL);
    rondo_history *h = rondo_run_history(p.run, "refine");
    CHECK_INT(rondo_history_count(h), 2000);
    CHECK_STR(rondo_history_text(h, 0, "draft"), "draft#1");
    CHECK_STR(rondo_history_text(h, 0, NULL), "critique#1");
    CHECK_STR(rondo_history_text(h, 1234, "critique"), "critique#1235");
    CHECK_STR(rondo_history_text(h, 1999, "draft"), "draft#2000");
    CHECK_STR(play_step_text(&p, "refine.7.draft"), "draft#8");
    play_end(&p);
}

TEST(max_history_makes_older_passes_unreadable)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .max_iterations = 10, .max_history = 3), NULL);
    rondo_history *h = rondo_run_history(p.run, "refine");
    CHECK_INT(rondo_history_count(h), 10);
    CHECK_STR(rondo_history_text(h, 9, NULL), "draft#10");
    CHECK_STR(rondo_history_text(h, 7, NULL), "draft#8");
    CHECK_NULL(rondo_history_output(h, 6, NULL));
    play_end(&p);
}

/* ---- failures of the body ------------------------------------------------------------------------ */

/* AE-41 */
TEST(a_body_that_fails_in_pass_2_fails_the_loop_and_keeps_its_history)
{
    struct play p = { 0 };
    struct actor critic = { .name = "critic", .says = SAYS("fine", "!no more") };
    play(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&critic))), NULL);
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

TEST(a_failed_pass_is_asked_nothing)
{
    struct play p = { 0 };
    struct actor bad = { .name = "bad", .says = SAYS("!first") };
    play(&p, LOOP(.body = actor(&bad), .until = flow_always, .score = flow_score_output,
                  .listener = hear), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end refine failed 1");
    CHECK_INT(heard_count, 0);
    play_end(&p);
}

TEST(on_error_continue_goes_on_with_the_last_good_output)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("one", "!two", "!three", "four") };
    play(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 4),
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
    play(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 2),
         "\"in\"");
    CHECK_STR(a.seen[1].in, "\"in\"");
    CHECK_STR(p.res.content, "two");
    play_end(&p);
}

TEST(failures_in_a_row_fail_the_loop_and_the_last_good_output_stays)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("good", "!f%d", "!f%d", "better", "!f%d") };
    play(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 20), NULL);
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
    play(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_failures = 1), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_INT(p.res.passes, 1);
    CHECK_STR(p.output, "null");
    play_end(&p);
}

TEST(the_cap_also_ends_a_loop_whose_last_pass_failed)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("good", "!f2") };
    play(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 2), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK_STR(p.res.content, "good");
    play_end(&p);
}

TEST(cumulative_leaves_out_what_failed)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("one", "!two", "three") };
    play(&p, LOOP(.body = actor(&a), .on_error = RONDO_ERROR_CONTINUES, .max_iterations = 3,
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
    play(&p, LOOP(.body = RONDO_SEQUENCE(actor(&a), actor(&b)), .until = flow_never,
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
    play(&p, LOOP(.body = inner, .max_iterations = 3), NULL);
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
    play(&p, LOOP(.body = RONDO_SEQUENCE(inner, actor(&b)), .max_iterations = 3), NULL);
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
    play(&p, LOOP(.body = inner, .max_iterations = 2), NULL);
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
    play(&p, rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "s",
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
    play(&p, LOOP(.body = actor(&a)), NULL);
    CHECK_INT(p.rc, RONDO_EINVAL);
    CHECK_STR(p.err.message, "break: there is no loop 'elsewhere' around this step");
    play_end(&p);
}

TEST(a_break_outside_of_any_loop_fails_the_step)
{
    struct play p = { 0 };
    struct actor a = { .name = "a", .says = SAYS("^x") };
    play(&p, actor(&a), NULL);
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
    play(&p, LOOP(.body = RONDO_SEQUENCE(actor(&a), actor(&b), actor(&c)), .until = count_until,
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
    play(&p, LOOP(.body = RONDO_PARALLEL(actor(&slow), actor(&once),
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

/* ---- next ------------------------------------------------------------------------------------------ */

static json_t *next_until_8(rondo_context *context, void *user)
{
    int64_t n = json_integer_value(rondo_context_last(context));
    return n >= 8 ? json_null() : json_integer(n);
}

static void twice(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer(2 * json_integer_value(rondo_task_input(task))));
}

TEST(next_gives_the_next_input_and_null_ends_the_loop)
{
    struct play p = { 0 };
    rondo_agent agent = { RONDO_AGENT, .name = "twice", .run = twice };
    play(&p, LOOP(.body = rondo_agent_node(&agent), .next = next_until_8), "1");
    CHECK_STR(p.output, "8");
    CHECK_INT(p.res.reason, RONDO_REASON_NEXT);
    CHECK_INT(p.res.passes, 3);
    CHECK_NULL(rondo_reason_ensemble(p.res.reason));
    play_end(&p);
}

static json_t *next_zero(rondo_context *context, void *user)
{
    static int n;
    static const char *const falsy[] = { "0", "false", "\"\"", "[]" };
    return n < 4 ? rondo_value_parse(falsy[n++], NULL) : NULL;
}

TEST(zero_false_and_empty_are_inputs_like_any_other)
{
    struct play p = { 0 };
    struct actor a = { .name = "a" };
    play(&p, LOOP(.body = actor(&a), .next = next_zero), "1");
    CHECK_INT(p.res.passes, 5);
    CHECK_STR(a.seen[1].in, "0");
    CHECK_STR(a.seen[2].in, "false");
    CHECK_STR(a.seen[3].in, "\"\"");
    CHECK_STR(a.seen[4].in, "[]");
    play_end(&p);
}

static json_t *next_always(rondo_context *context, void *user)
{
    return json_string("again");
}

TEST(the_default_cap_of_next_fails_and_names_itself)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .next = next_always), NULL);
    CHECK_INT(p.rc, RONDO_ELIMIT);
    CHECK_STR(p.err.message, "loop 'refine' reached its cap of 1000 passes");
    CHECK_STR(p.res.content, "draft#1000");
    play_end(&p);
}

static json_t *next_error(rondo_context *context, void *user)
{
    rondo_context_fail(context, RONDO_EFAILED, "next broke");
    return json_string("ignored");
}

TEST(a_next_that_fails_fails_the_loop)
{
    struct play p = { 0 };
    play(&p, LOOP(.body = actor(&draft), .next = next_error), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "next of loop 'refine' failed in pass 1: next broke");
    play_end(&p);
}

/* ---- rules as nodes -------------------------------------------------------------------------------- */

TEST(rules_may_be_nodes_that_take_their_time)
{
    struct play p = { 0 };
    struct actor until = { .name = "check", .takes_ms = 10, .says = SAYS("=false", "={\"done\": true}") };
    struct actor score = { .name = "rate", .takes_ms = 5, .says = SAYS("=3", "={\"score\": 2.5}") };
    struct actor next = { .name = "prepare", .takes_ms = 100, .says = SAYS("given") };
    play(&p, LOOP(.body = actor(&draft), .until_node = actor(&until), .score_node = actor(&score),
                  .next_node = actor(&next)), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_UNTIL);
    CHECK_STR(draft.seen[1].in, "\"given\"");
    CHECK_INT(p.res.best, 0);
    CHECK_NEAR(p.res.score, 3, 0);
    CHECK_STR(play_told(&p, "@step_end iteration_end"),
              "0 step_end refine.0.draft; 5 step_end refine.0.score; 5 iteration_end refine 0; "
              "15 step_end refine.0.until; 115 step_end refine.0.next; "
              "115 step_end refine.1.draft; 120 step_end refine.1.score; 120 iteration_end refine 1; "
              "130 step_end refine.1.until; 130 step_end refine");
    play_end(&p);
}

TEST(a_checker_that_fails_fails_the_loop)
{
    struct play p = { 0 };
    struct actor until = { .name = "check", .says = SAYS("!cannot tell") };
    play(&p, LOOP(.body = actor(&draft), .until_node = actor(&until)), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "until of loop 'refine' failed in pass 1: cannot tell");
    play_end(&p);
}
