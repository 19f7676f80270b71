/* test_loop_output.c - what a loop shows: outputs, feedback, history. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define LOOP(...) rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "refine", __VA_ARGS__ })

static struct actor draft = { .name = "draft" }, critique = { .name = "critique" };

static rondo_node *draft_and_critique(void)
{
    return RONDO_SEQUENCE(actor(&draft), actor(&critique));
}

/* ---- outputs --------------------------------------------------------------------------------------- */

/* AE-27 */
TEST(the_last_pass_is_the_output_with_every_body_step)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = draft_and_critique(), .max_iterations = 3), NULL);
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
    play_flow(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2,
                  .output_mode = RONDO_OUTPUT_FINAL_STEP), NULL);
    CHECK_STR(p.res.content, "critique#2");
    CHECK_INT(rondo_run_find(p.run, "refine.draft", &res), RONDO_ENOTFOUND);
    play_end(&p);
}

/* AE-29 */
TEST(cumulative_joins_all_passes_with_a_separator_from_the_second_on)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&draft), .max_iterations = 3,
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
    play_flow(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2,
                  .output_mode = RONDO_OUTPUT_CUMULATIVE), NULL);
    CHECK_STR(p.res.content, "draft#1\n\n--- iteration 2 ---\n\ndraft#2\n\n"
                             "critique#1\n\n--- iteration 2 ---\n\ncritique#2");
    CHECK_STR(p.output, "[\"critique#1\",\"critique#2\"]");
    play_end(&p);
}

TEST(cumulative_after_a_single_pass_has_no_separator)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&draft), .max_iterations = 1,
                  .output_mode = RONDO_OUTPUT_CUMULATIVE), NULL);
    CHECK_STR(p.res.content, "draft#1");
    CHECK_STR(p.output, "[\"draft#1\"]");
    play_end(&p);
}

TEST(output_names_the_step_that_counts)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2, .output = "draft"), NULL);
    CHECK_STR(p.res.content, "draft#2");
    CHECK_STR(draft.seen[1].in, "\"draft#1\""); // and it is what the next pass gets
    CHECK_STR(play_find(&p, RONDO_EV_ITERATION_END, "refine")->text, "draft#1");
    play_end(&p);
}

TEST(an_empty_last_step_does_not_replace_the_output_when_it_only_signalled)
{
    struct play p = { 0 };
    struct actor stop = { .name = "stop", .says = SAYS("^") };
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&stop))), NULL);
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
    play_flow(&p, LOOP(.body = draft_and_critique(), .max_iterations = 3), NULL);
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
    play_flow(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2), NULL);
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
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&between), rondo_agent_node(&reader)),
                  .max_iterations = 2), NULL);
    CHECK_STR(read_from_draft[0], "draft#1");
    CHECK_STR(read_from_draft[1], "draft#2");
    play_end(&p);
}

/* AE-33 */
TEST(without_feedback_no_pass_gets_any)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = draft_and_critique(), .max_iterations = 3, .feedback = RONDO_FEEDBACK_OFF),
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
    play_flow(&p, LOOP(.body = actor(&a), .max_iterations = RONDO_UNBOUNDED), NULL);
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
    play_flow(&p, LOOP(.body = actor(&draft), .judge = actor(&judge)), NULL);
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
    play_flow(&p, LOOP(.body = draft_and_critique(), .until = looks_back), NULL);
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
    play_flow(&p, LOOP(.body = draft_and_critique(), .max_iterations = 2000), NULL);
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
    play_flow(&p, LOOP(.body = actor(&draft), .max_iterations = 10, .max_history = 3), NULL);
    rondo_history *h = rondo_run_history(p.run, "refine");
    CHECK_INT(rondo_history_count(h), 10);
    CHECK_STR(rondo_history_text(h, 9, NULL), "draft#10");
    CHECK_STR(rondo_history_text(h, 7, NULL), "draft#8");
    CHECK_NULL(rondo_history_output(h, 6, NULL));
    play_end(&p);
}

