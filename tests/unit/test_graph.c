/* test_graph.c - sequences and graphs: order, data, failures, and steps that run on failure. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define GRAPH_(extra, ...)                                                                     \
    rondo_graph(&(rondo_graph_spec){                                                           \
        RONDO_GRAPH, .name = "g", .steps = (rondo_step[]){ __VA_ARGS__ },                      \
        .step_count = sizeof((rondo_step[]){ __VA_ARGS__ }) / sizeof(rondo_step), extra })
#define GRAPH(...)           GRAPH_(.max_concurrency = 0, __VA_ARGS__)
#define POLICY(policy, ...)  GRAPH_(.on_failure = policy, __VA_ARGS__)
#define AFTER(...)           .depends_on = RONDO_AFTER(__VA_ARGS__)

static struct actor a = { .name = "a" }, b = { .name = "b" }, c = { .name = "c" }, d = { .name = "d" };
static struct actor bad = { .name = "bad", .says = SAYS("!broken") };

static int status(struct play *p, const char *path)
{
    return play_step(p, path).status;
}

/* ---- sequences --------------------------------------------------------------------------------------- */

/* AE-80 */
TEST(a_sequence_hands_each_output_on_and_returns_the_last)
{
    struct play p = { 0 };
    play_flow(&p, RONDO_SEQUENCE(actor(&a), actor(&b), actor(&c)), "\"in\"");
    CHECK_STR(p.res.content, "c#1");
    CHECK_STR(a.seen[0].in, "\"in\"");
    CHECK_STR(b.seen[0].in, "\"a#1\"");
    CHECK_STR(c.seen[0].in, "\"b#1\"");
    CHECK_STR(play_told(&p, "step_start step_end"),
              "step_start; step_start a; step_end a; step_start b; step_end b; "
              "step_start c; step_end c; step_end");
    play_end(&p);
}

/* AE-81 */
TEST(a_failing_step_ends_the_sequence_and_keeps_what_was_done)
{
    struct play p = { 0 };
    play_flow(&p, rondo_sequence(&(rondo_sequence_spec){
                 RONDO_SEQUENCE_SPEC, .name = "s",
                 .children = RONDO_NODES(actor(&a), actor(&bad), actor(&c)) }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "broken");
    CHECK_STR(play_step_text(&p, "s.a"), "a#1");
    CHECK_INT(status(&p, "s.bad"), RONDO_STATUS_FAILED);
    CHECK_STR(play_step(&p, "s.bad").error, "broken");
    CHECK_INT(c.calls, 0);
    play_end(&p);
}

/* AE-90 */
TEST(three_functions_in_a_row_need_nothing_else)
{
    struct play p = { 0 };
    struct actor x = { .name = "x", .says = SAYS("<+") }, y = x, z = x;
    play_flow(&p, RONDO_SEQUENCE(actor_named(&x, "x"), actor_named(&y, "y"), actor_named(&z, "z")), "\"n\"");
    CHECK_STR(p.res.content, "n111");
    play_end(&p);
}

static void returns_null(rondo_task *task, void *user)
{
    rondo_task_return(task, NULL);
}

static void returns_nothing(rondo_task *task, void *user)
{
}

static void returns_null_text(rondo_task *task, void *user)
{
    rondo_task_return_text(task, NULL);
}

/* AE-91 */
TEST(a_function_that_does_not_finish_has_failed_and_null_is_an_output)
{
    static const struct {
        rondo_function run;
        int code;
        const char *output;
    } rows[] = { { returns_null, 0, "null" },
                 { returns_nothing, RONDO_EFAILED, "null" },
                 { returns_null_text, 0, "\"\"" } };
    for (int i = 0; i < 3; i++) {
        struct play p = { 0 };
        play_flow(&p, rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = "f", .run = rows[i].run }), NULL);
        CHECK_INT(p.rc, rows[i].code);
        CHECK_STR(p.output, rows[i].output);
        CHECK_STR(p.res.content, "");
        if (p.rc)
            CHECK_STR(p.err.message, "the agent's function returned without finishing");
        play_end(&p);
    }
}

/* ---- graphs: order ------------------------------------------------------------------------------------- */

/* AE-84: in rondo nothing is inferred; a sequence is a sequence, a graph runs what it can. */
TEST(steps_without_dependencies_start_together)
{
    struct play p = { 0 };
    struct actor x = { .name = "x", .takes_ms = 100 }, y = { .name = "y", .takes_ms = 50 };
    play_flow(&p, GRAPH({ .node = actor(&x) }, { .node = actor(&y) }), "\"in\"");
    CHECK_STR(play_told(&p, "@step_start step_end"),
              "0 step_start g; 0 step_start g.x; 0 step_start g.y; 50 step_end g.y; "
              "100 step_end g.x; 100 step_end g");
    CHECK_STR(x.seen[0].in, "\"in\"");
    CHECK_STR(y.seen[0].in, "\"in\"");
    CHECK_STR(p.res.content, "y#1"); // the last declared, not the last to end
    play_end(&p);
}

/* AE-84, AE-85 */
TEST(a_diamond_waits_for_both_sides_whatever_the_order_of_declaration)
{
    struct play p = { 0 };
    struct actor top = { .name = "top", .takes_ms = 10 }, left = { .name = "left", .takes_ms = 30 };
    struct actor right = { .name = "right", .takes_ms = 50 }, end = { .name = "end", .takes_ms = 1 };
    play_flow(&p, GRAPH({ .node = actor(&end), AFTER("left", "right") },
                   { .node = actor(&right), AFTER("top") }, { .node = actor(&left), AFTER("top") },
                   { .node = actor(&top) }), NULL);
    CHECK_STR(play_told(&p, "@step_start"),
              "0 step_start g; 0 step_start g.top; 10 step_start g.right; 10 step_start g.left; "
              "60 step_start g.end");
    CHECK_INT(play_ms(&p), 61);
    CHECK_STR(p.res.content, "end#1");
    play_end(&p);
}

/* AE-85 */
TEST(a_chain_runs_one_after_the_other)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&c), AFTER("b") }, { .node = actor(&b), AFTER("a") },
                   { .node = actor(&a) }), NULL);
    CHECK_STR(play_told(&p, "step_end"), "step_end g.a; step_end g.b; step_end g.c; step_end g");
    play_end(&p);
}

/* AE-85 */
TEST(one_node_in_two_places_runs_twice_under_two_names)
{
    struct play p = { 0 };
    rondo_node *node = actor(&a);
    play_flow(&p, GRAPH({ .node = node }, { .node = rondo_node_ref(node) }), NULL);
    CHECK_INT(a.calls, 2);
    CHECK_STR(play_step_text(&p, "g.a"), "a#1");
    CHECK_STR(play_step_text(&p, "g.a#2"), "a#2");
    play_end(&p);
}

/* AE-84, AE-89 */
TEST(circles_and_unknown_dependencies_are_refused)
{
    CHECK_STR(refused(GRAPH({ .node = actor(&a), AFTER("b") }, { .node = actor(&b), AFTER("a") })),
              "graph 'g': steps wait for each other: a -> b -> a");
    CHECK_STR(refused(GRAPH({ .node = actor(&a), AFTER("a") })), "graph 'g': step 'a' depends on itself");
    CHECK_STR(refused(GRAPH({ .node = actor(&a), AFTER("zebra") })),
              "graph 'g': step 'a' depends on unknown step 'zebra'");
    CHECK_STR(refused(rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g" })),
              "graph 'g': has no steps");
}

/* AE-89 */
TEST(a_step_is_ready_exactly_when_its_last_dependency_has_ended)
{
    struct play p = { 0 };
    struct actor x = { .name = "x", .takes_ms = 10 }, y = { .name = "y", .takes_ms = 20 };
    struct actor z = { .name = "z", .takes_ms = 30 };
    play_flow(&p, GRAPH({ .node = actor(&x) }, { .node = actor(&y) }, { .node = actor(&z) },
                   { .node = actor(&a), AFTER("x") }, { .node = actor(&b), AFTER("x", "y") },
                   { .node = actor(&c), AFTER("x", "y", "z") }), NULL);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.a")->at_ms, 10);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.b")->at_ms, 20);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.c")->at_ms, 30);
    play_end(&p);
}

static json_t *joins(rondo_context *context, void *user)
{
    return json_pack("[O,O]", rondo_context_output(context, "a"), rondo_context_output(context, "b"));
}

/* AE-80, AE-90 */
TEST(a_steps_input_may_be_made_from_what_it_depends_on)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&a) }, { .node = actor(&b) },
                   { .node = actor(&c), AFTER("a", "b"), .input = joins }), "\"in\"");
    CHECK_STR(c.seen[0].in, "[\"a#1\",\"b#1\"]");
    play_end(&p);
}

static json_t *input_error(rondo_context *context, void *user)
{
    rondo_context_fail(context, RONDO_EFAILED, "nothing to give");
    return NULL;
}

TEST(an_input_that_cannot_be_made_fails_its_step)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&a) }, { .node = actor(&b), AFTER("a"), .input = input_error }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "input: nothing to give");
    CHECK_INT(b.calls, 0);
    CHECK_INT(status(&p, "g.b"), RONDO_STATUS_FAILED);
    play_end(&p);
}

TEST(the_output_is_the_last_declared_step_that_nobody_depends_on)
{
    struct play p = { 0 };
    struct actor quiet = { .name = "quiet", .says = SAYS("") };
    play_flow(&p, GRAPH({ .node = actor(&b), AFTER("a") }, { .node = actor(&c), AFTER("a") },
                   { .node = actor(&quiet), AFTER("a") }, { .node = actor(&a) }), NULL);
    CHECK_STR(p.res.content, "c#1"); // quiet is empty, a has dependents
    play_end(&p);
}

/* AE-101 */
TEST(three_groups_of_steps_run_side_by_side_and_a_fourth_waits_for_them)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 40 };
    rondo_node *group = rondo_sequence(&(rondo_sequence_spec){
        RONDO_SEQUENCE_SPEC, .name = "group",
        .children = RONDO_NODES(actor_named(&slow, "one"), actor_named(&slow, "two")) });
    play_flow(&p, GRAPH({ .name = "p1", .node = group }, { .name = "p2", .node = rondo_node_ref(group) },
                   { .name = "p3", .node = rondo_node_ref(group) },
                   { .name = "join", .node = actor(&a), AFTER("p1", "p2", "p3") }), NULL);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.join")->at_ms, 80);
    CHECK_STR(play_step_text(&p, "g.p2.two"), "slow#5");
    CHECK_INT(slow.calls, 6);
    play_end(&p);
}

static char found[100];

static void looks_far(rondo_task *task, void *user)
{
    const json_t *first = rondo_task_output(task, "first");
    snprintf(found, sizeof found, "%s", first ? json_string_value(first) : "nothing");
    rondo_task_return_text(task, "ok");
}

/* AE-102 */
TEST(a_step_reads_what_came_two_groups_before_it)
{
    struct play p = { 0 };
    rondo_agent far = { RONDO_AGENT, .name = "far", .run = looks_far };
    play_flow(&p, GRAPH({ .name = "first", .node = RONDO_SEQUENCE(actor(&a)) },
                   { .name = "second", .node = RONDO_SEQUENCE(actor(&b)), AFTER("first") },
                   { .name = "third",
                     .node = RONDO_PARALLEL(rondo_agent_node(&far), actor(&c)), AFTER("second") }),
         NULL);
    CHECK_STR(found, "a#1");
    play_end(&p);
}

/* AE-88, AE-144: events name steps by path instead of a number; each has exactly one end. */
TEST(every_step_that_started_ends_exactly_once)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&a) }, { .node = actor(&bad) }, { .node = actor(&c), AFTER("bad") }),
         NULL);
    CHECK_STR(play_told(&p, "workflow_start step_start step_end error step_cancelled workflow_end"),
              "workflow_start; step_start g; step_start g.a; step_start g.bad; step_end g.a; "
              "error g.bad; step_cancelled g.c; error g; workflow_end");
    CHECK_INT(p.res.status, RONDO_STATUS_PARTIAL);
    play_end(&p);
}

/* ---- graphs: failures ---------------------------------------------------------------------------------- */

/* AE-87, AE-103: cascade cancels dependents, skip-dependents skips them; the others go on in both. */
TEST(a_failure_reaches_its_dependents_and_nobody_else)
{
    static const struct {
        int policy, status;
    } rows[] = { { RONDO_CASCADE, RONDO_STATUS_CANCELLED },
                 { RONDO_SKIP_DEPENDENTS, RONDO_STATUS_SKIPPED } };
    for (int i = 0; i < 2; i++) {
        struct play p = { 0 };
        struct actor slow = { .name = "slow", .takes_ms = 50 };
        a.calls = b.calls = c.calls = d.calls = 0;
        play_flow(&p, POLICY(rows[i].policy, { .node = actor(&bad) }, { .node = actor(&a), AFTER("bad") },
                        { .node = actor(&b), AFTER("a") }, { .node = actor(&slow) },
                        { .node = actor(&c), AFTER("slow") }), NULL);
        CHECK_INT(p.rc, RONDO_EFAILED);
        CHECK_STR(p.err.message, "broken");
        CHECK_INT(p.res.status, RONDO_STATUS_PARTIAL);
        CHECK_INT(status(&p, "g.bad"), RONDO_STATUS_FAILED);
        CHECK_INT(status(&p, "g.a"), rows[i].status);
        CHECK_INT(status(&p, "g.b"), rows[i].status);
        CHECK_INT(status(&p, "g.slow"), RONDO_STATUS_COMPLETED);
        CHECK_INT(status(&p, "g.c"), RONDO_STATUS_COMPLETED);
        CHECK_INT(a.calls + b.calls, 0);
        CHECK_INT(c.calls, 1);
        play_end(&p);
    }
}

/* AE-87 */
TEST(every_failure_is_told)
{
    struct play p = { 0 };
    struct actor bad2 = { .name = "bad2", .says = SAYS("!also broken") };
    play_flow(&p, GRAPH({ .node = actor(&bad) }, { .node = actor(&bad2) }, { .node = actor(&a) }), NULL);
    CHECK_STR(play_told(&p, "error"), "error g.bad; error g.bad2; error g");
    CHECK_STR(play_step(&p, "g.bad").error, "broken");
    CHECK_STR(play_step(&p, "g.bad2").error, "also broken");
    play_end(&p);
}

/* AE-86: what fails fast is an abort */
TEST(abort_cancels_what_runs_and_what_has_not_started)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 50 }, wait = { .name = "wait", .takes_ms = 10 };
    play_flow(&p, POLICY(RONDO_ABORT, { .node = actor(&slow) }, { .node = actor(&c), AFTER("slow") },
                    { .node = RONDO_SEQUENCE(actor(&wait), actor(&bad)) }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "broken");
    CHECK_INT(status(&p, "g.slow"), RONDO_STATUS_CANCELLED);
    CHECK_INT(status(&p, "g.c"), RONDO_STATUS_CANCELLED);
    CHECK_INT(c.calls, 0);
    CHECK_INT(play_ms(&p), 10);
    play_end(&p);
}

TEST(a_run_in_which_nothing_completed_is_failed_not_partial)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&bad) }, { .node = actor(&a), AFTER("bad") }), NULL);
    CHECK_INT(p.res.status, RONDO_STATUS_FAILED);
    play_end(&p);
}

/* ---- when --------------------------------------------------------------------------------------------- */

static rondo_node *unwanted(void)
{
    static struct actor u = { .name = "unwanted", .options.when = flow_never };
    return actor(&u);
}

TEST(a_step_that_is_not_wanted_is_skipped_and_its_dependents_run)
{
    static const int policies[] = { RONDO_CASCADE, RONDO_ABORT };
    for (int i = 0; i < 2; i++) {
        struct play p = { 0 };
        a.calls = 0;
        play_flow(&p, POLICY(policies[i], { .node = unwanted() }, { .node = actor(&a), AFTER("unwanted") }),
             NULL);
        CHECK_INT(p.rc, 0);
        CHECK_INT(status(&p, "g.unwanted"), RONDO_STATUS_SKIPPED);
        CHECK_INT(a.calls, 1);
        play_end(&p);
    }
}

TEST(skip_dependents_is_about_failures_not_about_steps_that_are_not_wanted)
{
    struct play p = { 0 };
    play_flow(&p, POLICY(RONDO_SKIP_DEPENDENTS, { .node = unwanted() },
                    { .node = actor(&a), AFTER("unwanted") }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(a.calls, 1);
    play_end(&p);
}

TEST(a_when_that_fails_fails_the_step)
{
    struct play p = { 0 };
    struct actor torn = { .name = "torn", .options.when = flow_error };
    play_flow(&p, GRAPH({ .node = actor(&torn) }, { .node = actor(&a) }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "when: the rule broke");
    CHECK_INT(torn.calls, 0);
    CHECK_INT(a.calls, 1);
    play_end(&p);
}

TEST(a_sequence_steps_over_what_is_not_wanted)
{
    struct play p = { 0 };
    play_flow(&p, RONDO_SEQUENCE(actor(&a), unwanted(), actor(&b)), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(b.seen[0].in, "\"a#1\"");
    CHECK_STR(play_told(&p, "step_skipped"), "step_skipped unwanted");
    play_end(&p);
}

/* ---- run_on -------------------------------------------------------------------------------------------- */

static struct actor rescue = { .name = "rescue", .options.run_on = RONDO_ON_FAILURE };
static struct actor cleanup = { .name = "cleanup", .options.run_on = RONDO_ON_ALWAYS };

TEST(a_rescue_step_runs_when_its_dependency_failed_and_the_graph_completes)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&bad) }, { .node = actor(&rescue), AFTER("bad") }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.res.content, "rescue#1");
    CHECK_INT(status(&p, "g.bad"), RONDO_STATUS_FAILED);
    play_end(&p);
}

TEST(a_rescue_step_is_skipped_when_nothing_failed)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&a) }, { .node = actor(&rescue), AFTER("a") }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(rescue.calls, 0);
    CHECK_INT(status(&p, "g.rescue"), RONDO_STATUS_SKIPPED);
    CHECK_INT(p.res.status, RONDO_STATUS_COMPLETED);
    play_end(&p);
}

TEST(a_rescue_step_runs_when_its_dependency_was_cut_off)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&bad) }, { .node = actor(&a), AFTER("bad") },
                   { .node = actor(&rescue), AFTER("a") }), NULL);
    CHECK_INT(rescue.calls, 1);
    CHECK_INT(p.rc, RONDO_EFAILED); // it answers a's cancellation; bad's failure is nobody's
    play_end(&p);
}

TEST(a_rescue_step_without_dependencies_waits_for_all_ordinary_steps)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 50 };
    play_flow(&p, GRAPH({ .node = actor(&rescue) }, { .node = actor(&bad) }, { .node = actor(&slow) }), NULL);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.rescue")->at_ms, 50);
    play_end(&p);
}

TEST(a_rescue_step_that_fails_too_leaves_the_graph_failed)
{
    struct play p = { 0 };
    struct actor hopeless = { .name = "hopeless", .says = SAYS("!worse"),
                              .options.run_on = RONDO_ON_FAILURE };
    play_flow(&p, GRAPH({ .node = actor(&bad) }, { .node = actor(&hopeless), AFTER("bad") }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "broken");
    play_end(&p);
}

TEST(an_always_step_runs_after_success_failure_and_abort)
{
    for (int i = 0; i < 3; i++) {
        struct play p = { 0 };
        struct actor slow = { .name = "slow", .takes_ms = 50 };
        struct actor wait = { .name = "wait", .takes_ms = 10 };
        cleanup.calls = 0;
        play_flow(&p, POLICY(i == 2 ? RONDO_ABORT : RONDO_CASCADE, { .node = actor(&slow) },
                        { .node = RONDO_SEQUENCE(actor(&wait), actor(i ? &bad : &a)) },
                        { .node = actor(&cleanup) }), NULL);
        CHECK_INT(p.rc, i ? RONDO_EFAILED : 0);
        CHECK_INT(cleanup.calls, 1);
        CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.cleanup")->at_ms, i == 2 ? 10 : 50);
        play_end(&p);
    }
}

TEST(an_always_step_does_not_make_a_failed_graph_complete)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&bad) }, { .node = actor(&cleanup), AFTER("bad") }), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_INT(cleanup.calls, 1);
    play_end(&p);
}

TEST(who_waits_for_a_step_that_waits_for_all_ordinary_steps_is_none_of_them)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 50 }, last = { .name = "last" };
    cleanup.calls = 0;
    play_flow(&p, GRAPH({ .node = actor(&cleanup) }, { .node = actor(&a), AFTER("cleanup") },
                        { .node = actor(&last), AFTER("a") }, { .node = actor(&slow) }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(play_told(&p, "@step_start"), "0 step_start g; 0 step_start g.slow; 50 step_start g.cleanup; "
                                            "50 step_start g.a; 50 step_start g.last");
    play_end(&p);
}

TEST(run_on_is_for_steps_of_a_graph)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = rondo_loop(&(rondo_loop_spec){
                         RONDO_LOOP, .name = "always", .body = actor(&a), .max_iterations = 2,
                         .options.run_on = RONDO_ON_ALWAYS }) },
                   { .node = actor(&bad) }), NULL);
    CHECK_INT(a.calls, 2); // any node may run on failure, a loop too
    play_end(&p);
}
