/* test_loop_run.c - one loop from its first pass to its end: its rules and their order. */

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

/* ---- how many passes, and why it ends ---------------------------------------------------------- */

/* AE-20 */
TEST(a_loop_whose_predicate_holds_at_once_runs_once)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&draft), .until = flow_always), NULL);
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
    play_flow(&p, LOOP(.body = actor(&draft), .until = flow_at_pass, .user = &at, .max_iterations = 10),
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
    play_flow(&p, LOOP(.body = actor(&draft), .until = flow_never, .max_iterations = 4), NULL);
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
    play_flow(&p, LOOP(.body = actor(&draft), .until = flow_never, .max_iterations = 2,
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
    play_flow(&p, LOOP(.body = actor(&draft), .max_iterations = 3), NULL);
    CHECK_INT(draft.calls, 3);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end refine max_iterations 3");
    play_end(&p);
}

/* AE-24 */
TEST(without_a_predicate_a_failing_cap_always_fails)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&draft), .max_iterations = 1, .on_max = RONDO_FAIL), NULL);
    CHECK_INT(p.rc, RONDO_ELIMIT);
    play_end(&p);
}

/* AE-25 */
TEST(the_steps_of_a_body_run_in_order_in_every_pass)
{
    struct play p = { 0 };
    int at = 2;
    play_flow(&p, LOOP(.body = draft_and_critique(), .until = flow_at_pass, .user = &at), NULL);
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
    play_flow(&p, LOOP(.body = RONDO_SEQUENCE(actor(&draft), actor(&critic)), .until = flow_text_is,
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
        play_flow(&p, LOOP(.body = actor(&draft), .until = flow_at_pass, .user = &at,
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
    play_flow(&p, LOOP(.body = actor(&draft), .max_iterations = 2, .on_max = RONDO_FLAG), NULL);
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
    play_flow(&p, LOOP(.body = actor(&draft), .until = flow_error), NULL);
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
    play_flow(&p, LOOP(.body = actor(&draft), .while_ = flow_error), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "while of loop 'refine' failed in pass 1: the rule broke");
    CHECK_INT(draft.calls, 0);
    play_end(&p);
}

TEST(a_while_that_says_no_at_once_runs_nothing_and_completes)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&draft), .while_ = flow_never), "\"in\"");
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
    play_flow(&p, LOOP(.body = actor(&draft), .while_ = before_pass_3, .max_iterations = RONDO_UNBOUNDED),
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
    play_flow(&p, LOOP(.body = rondo_agent_node(&body), .while_ = asked_while, .until = asked_until,
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
    play_flow(&p, LOOP(.body = actor(&slow), .max_iterations = 3), NULL);
    CHECK_STR(play_told(&p, "@iteration_start iteration_end"),
              "0 iteration_start refine 0; 60 iteration_end refine 0; "
              "60 iteration_start refine 1; 120 iteration_end refine 1; "
              "120 iteration_start refine 2; 180 iteration_end refine 2");
    int n = 0;
    for (size_t i = 0; i < p.count; i++)
        if (p.said[i].type == RONDO_EV_ITERATION_END) {
            char want[24];
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
    play_flow(&p, LOOP(.body = actor(&slow), .max_iterations = 3, .listener = hear, .delay_ms = 1000), NULL);
    CHECK_INT(heard_count, 3);
    CHECK_INT(heard[0], 70);
    CHECK_INT(heard[2], 70);
    CHECK_STR(heard_texts, "slow#1 slow#2 slow#3 ");
    play_end(&p);
}

TEST(the_delay_is_between_passes_only)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&draft), .max_iterations = 3, .delay_ms = 500), NULL);
    CHECK_STR(play_told(&p, "@iteration_start delay loop_end"),
              "0 iteration_start refine 0; 0 delay refine; 500 iteration_start refine 1; "
              "500 delay refine; 1000 iteration_start refine 2; 1000 loop_end refine max_iterations 3");
    CHECK_INT(play_ms(&p), 1000);
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
    play_flow(&p, LOOP(.body = rondo_agent_node(&agent), .next = next_until_8), "1");
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
    play_flow(&p, LOOP(.body = actor(&a), .next = next_zero), "1");
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
    play_flow(&p, LOOP(.body = actor(&draft), .next = next_always), NULL);
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
    play_flow(&p, LOOP(.body = actor(&draft), .next = next_error), NULL);
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
    play_flow(&p, LOOP(.body = actor(&draft), .until_node = actor(&until), .score_node = actor(&score),
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
    play_flow(&p, LOOP(.body = actor(&draft), .until_node = actor(&until)), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "until of loop 'refine' failed in pass 1: cannot tell");
    play_end(&p);
}
