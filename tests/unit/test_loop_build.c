/* test_loop_build.c - what a loop may look like: its defaults, and every spec that is refused. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static struct actor writer = { .name = "writer" }, critic = { .name = "critic" };

#define LOOP(...) rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "refine", __VA_ARGS__ })

static int check(const rondo_node *node)
{
    return rondo_node_check(node, NULL);
}

/* AE-01 */
TEST(a_loop_with_a_body_alone_has_a_cap_of_5_returns_the_last_pass_and_gives_feedback)
{
    struct play p = { 0 };
    play_flow(&p, LOOP(.body = actor(&writer)), "\"go\"");
    CHECK_INT(rondo_node_limit(p.node, RONDO_LIMIT_ITERATIONS), 5);
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.res.content, "writer#5");
    CHECK_INT(p.res.passes, 5);
    CHECK_INT(p.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK(!p.res.capped);
    CHECK(!writer.seen[0].fed);
    CHECK(writer.seen[1].fed);
    CHECK_INT(play_count(&p, RONDO_EV_MEMORY_TRIM, NULL), 0);
    play_end(&p);
}

/* AE-02 */
TEST(the_body_keeps_its_order_and_cannot_be_changed_through_the_list_it_was_made_from)
{
    rondo_node *list[] = { actor(&writer), actor(&critic), NULL };
    rondo_node *body = rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "body",
                                                              .children = list });
    rondo_node *loop = LOOP(.body = body);
    list[0] = list[1] = NULL;
    const rondo_node *kept = rondo_node_find(loop, "body");
    CHECK_UINT(rondo_node_count(kept), 2);
    CHECK_STR(rondo_node_child_name(kept, 0), "writer");
    CHECK_STR(rondo_node_child_name(kept, 1), "critic");
    rondo_node_unref(loop);
}

/* AE-02 */
TEST(a_name_may_be_freed_once_the_loop_is_built)
{
    char name[] = "refine";
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = name,
                                                      .body = actor(&writer) });
    memset(name, 'x', sizeof name - 1);
    CHECK_STR(rondo_node_name(loop), "refine");
    rondo_node_unref(loop);
}

/* AE-03 */
TEST(a_loop_without_a_name_is_refused)
{
    static const char *const names[] = { NULL, "", " ", "a b", "a.b", "a[0]" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *why = refused(rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = names[i],
                                                                 .body = actor(&writer) }));
        CHECK(strstr(why, "a name is made of letters, digits, '-' and '_'") != NULL);
    }
}

/* AE-04 */
TEST(a_loop_without_a_body_is_refused_by_name)
{
    CHECK_STR(refused(LOOP(.max_iterations = 3)), "loop 'refine': has no body");
}

/* AE-04 */
TEST(a_body_without_steps_is_refused)
{
    rondo_node *body = rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "body" });
    CHECK_STR(refused(LOOP(.body = body)), "sequence 'body': has no children");
}

/* AE-05 */
TEST(two_different_body_steps_of_one_name_are_refused)
{
    rondo_node *body = RONDO_SEQUENCE(actor(&writer), actor_named(&critic, "writer"));
    CHECK_STR(refused(LOOP(.body = body)), "sequence 'sequence': two children are named 'writer'");
}

/* AE-05: the same node twice is no mistake, the second place is told apart. */
TEST(one_node_used_twice_in_a_body_gets_two_names)
{
    struct play p = { 0 };
    rondo_node *node = actor(&writer);
    rondo_node *body = RONDO_SEQUENCE(node, rondo_node_ref(node));
    play_flow(&p, LOOP(.body = body, .max_iterations = 1), NULL);
    CHECK_STR(play_told(&p, "step_end"),
              "step_end refine.0.writer; step_end refine.0.writer#2; step_end refine.0; "
              "step_end refine");
    play_end(&p);
}

/* AE-06 */
TEST(a_predicate_alone_or_a_cap_alone_is_enough)
{
    rondo_node *a = LOOP(.body = actor(&writer), .until = flow_always);
    rondo_node *b = LOOP(.body = actor(&writer), .max_iterations = 3);
    CHECK_INT(check(a), 0);
    CHECK_INT(check(b), 0);
    CHECK_INT(rondo_node_limit(a, RONDO_LIMIT_ITERATIONS), 5);
    CHECK_INT(rondo_node_limit(b, RONDO_LIMIT_ITERATIONS), 3);
    rondo_node_unref(a);
    rondo_node_unref(b);
}

/* AE-07: rondo's 0 is "the default", and -1 is RONDO_UNBOUNDED; what is left is refused. */
TEST(a_cap_below_unbounded_is_refused_with_the_value)
{
    CHECK_STR(refused(LOOP(.body = actor(&writer), .max_iterations = -2)),
              "loop 'refine': max_iterations must be at least 1, got -2");
    rondo_node *zero = LOOP(.body = actor(&writer), .max_iterations = 0);
    CHECK_INT(check(zero), 0);
    CHECK_INT(rondo_node_limit(zero, RONDO_LIMIT_ITERATIONS), 5);
    rondo_node_unref(zero);
}

static json_t *next_null(rondo_context *context, void *user)
{
    return NULL;
}

TEST(the_default_cap_of_a_loop_with_next_is_1000)
{
    rondo_node *loop = LOOP(.body = actor(&writer), .next = next_null);
    CHECK_INT(rondo_node_limit(loop, RONDO_LIMIT_ITERATIONS), 1000);
    rondo_node_unref(loop);
}

TEST(an_unbounded_loop_needs_another_way_to_end)
{
    struct actor idle = { .name = "idle" };
    rondo_node *gate = rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "gate" });
    const char *why = refused(LOOP(.body = gate, .max_iterations = RONDO_UNBOUNDED));
    CHECK(strstr(why, "is unbounded and has no way to end") != NULL);
    rondo_node *gate2 = rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "gate" });
    rondo_node *with_rule = LOOP(.body = gate2, .until = flow_always,
                                 .max_iterations = RONDO_UNBOUNDED);
    rondo_node *with_agent = LOOP(.body = actor(&idle), .max_iterations = RONDO_UNBOUNDED);
    CHECK_INT(check(with_rule), 0);
    CHECK_INT(check(with_agent), 0);
    CHECK_INT(rondo_node_limit(with_rule, RONDO_LIMIT_ITERATIONS), RONDO_UNBOUNDED);
    rondo_node_unref(with_rule);
    rondo_node_unref(with_agent);
}

/* AE-08: what a step depends on is a step of the same graph; outer steps are read by name and are
   no dependencies of the body. */
TEST(a_body_step_may_depend_on_body_steps_only)
{
    rondo_node *good = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "body", .step_count = 2,
        .steps = (rondo_step[]){ { .node = actor(&writer) },
                                 { .node = actor(&critic), .depends_on = RONDO_AFTER("writer") } } });
    rondo_node *bad = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "body", .step_count = 1,
        .steps = (rondo_step[]){
            { .node = actor(&critic), .depends_on = RONDO_AFTER("research") } } });
    rondo_node *loop = LOOP(.body = good);
    CHECK_INT(check(loop), 0);
    rondo_node_unref(loop);
    CHECK_STR(refused(LOOP(.body = bad)),
              "graph 'body': step 'critic' depends on unknown step 'research'");
}

/* AE-09 */
TEST(a_memory_window_goes_with_its_mode_and_needs_a_size)
{
    rondo_node *good = LOOP(.body = actor(&writer), .memory_mode = RONDO_WINDOW, .memory_window = 3);
    CHECK_INT(check(good), 0);
    rondo_node_unref(good);
    CHECK_STR(refused(LOOP(.body = actor(&writer), .memory_mode = RONDO_WINDOW)),
              "loop 'refine': RONDO_WINDOW needs a memory_window of at least 1, got 0");
    CHECK_STR(refused(LOOP(.body = actor(&writer), .memory_window = 3)),
              "loop 'refine': memory_window 3 is only for memory_mode RONDO_WINDOW");
    CHECK_STR(refused(LOOP(.body = actor(&writer), .memory_mode = RONDO_FRESH, .memory_window = 1)),
              "loop 'refine': memory_window 1 is only for memory_mode RONDO_WINDOW");
}

/* AE-10 */
TEST(what_a_loop_waits_for_is_kept_by_the_graph_around_it)
{
    struct actor research = { .name = "research" };
    struct play p = { 0 };
    rondo_node *loop = LOOP(.body = actor(&writer), .max_iterations = 1);
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 2,
                 .steps = (rondo_step[]){ { .node = loop, .depends_on = RONDO_AFTER("research") },
                                          { .node = actor(&research) } } }),
         NULL);
    CHECK_STR(play_told(&p, "step_start"), "step_start g; step_start g.research; "
                                           "step_start g.refine; step_start g.refine.0.writer");
    play_end(&p);
}

/* AE-11: rondo has one namespace, that of names; descriptions are for people. */
TEST(a_description_equal_to_another_steps_name_is_no_duplicate)
{
    struct actor a = { .name = "a" }, b = { .name = "b", .description = "a" };
    rondo_node *seq = RONDO_SEQUENCE(actor(&a), actor(&b));
    CHECK_INT(check(seq), 0);
    rondo_node_unref(seq);
    CHECK_STR(refused(RONDO_SEQUENCE(actor(&a), actor_named(&writer, "a"))),
              "sequence 'sequence': two children are named 'a'");
}

/* AE-13: in a sequence a step cannot point forward; in a graph it may, and a circle is refused. */
TEST(a_circle_in_the_body_is_refused_when_it_is_built)
{
    rondo_node *body = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "body", .step_count = 3,
        .steps = (rondo_step[]){
            { .name = "a", .node = actor(&writer), .depends_on = RONDO_AFTER("c") },
            { .name = "b", .node = actor(&writer), .depends_on = RONDO_AFTER("a") },
            { .name = "c", .node = actor(&writer), .depends_on = RONDO_AFTER("b") } } });
    CHECK_STR(refused(LOOP(.body = body)), "graph 'body': steps wait for each other: a -> c -> b -> a");
}

TEST(output_must_name_a_step_of_the_body)
{
    rondo_node *good = LOOP(.body = RONDO_SEQUENCE(actor(&writer), actor(&critic)),
                            .output = "writer");
    CHECK_INT(check(good), 0);
    rondo_node_unref(good);
    CHECK_STR(refused(LOOP(.body = RONDO_SEQUENCE(actor(&writer), actor(&critic)),
                           .output = "editor")),
              "loop 'refine': output names 'editor', which is no step of the body");
}

TEST(best_and_patience_need_a_score)
{
    CHECK_STR(refused(LOOP(.body = actor(&writer), .output_mode = RONDO_OUTPUT_BEST)),
              "loop 'refine': output_mode RONDO_OUTPUT_BEST needs a score or score_node");
    CHECK_STR(refused(LOOP(.body = actor(&writer), .patience = 2)),
              "loop 'refine': patience 2 needs a score or score_node");
}

TEST(a_rule_is_a_callback_or_a_node_but_not_both)
{
    CHECK_STR(refused(LOOP(.body = actor(&writer), .until = flow_always, .until_node = actor(&critic))),
              "loop 'refine': until is given both as a callback and as a node");
    CHECK_STR(refused(LOOP(.body = actor(&writer), .next = next_null, .next_node = actor(&critic))),
              "loop 'refine': next is given both as a callback and as a node");
    CHECK_STR(refused(LOOP(.body = actor(&writer), .score = flow_score_output,
                           .score_node = actor(&critic))),
              "loop 'refine': score is given both as a callback and as a node");
}

TEST(numbers_out_of_their_range_are_refused_with_field_and_value)
{
    static const struct {
        rondo_loop_spec spec;
        const char *why;
    } rows[] = {
        { { .on_max = 3 }, "on_max must be at most 2, got 3" },
        { { .on_max = -1 }, "on_max must be at least 0, got -1" },
        { { .output_mode = 4 }, "output_mode must be at most 3, got 4" },
        { { .memory_mode = 3 }, "memory_mode must be at most 2, got 3" },
        { { .feedback = 2 }, "feedback must be at most 1, got 2" },
        { { .delay_ms = -5 }, "delay_ms must be at least 0, got -5" },
        { { .stall_repeats = 1 }, "stall_repeats must be at least 2, got 1" },
        { { .oscillation = 1 }, "oscillation must be at least 2, got 1" },
        { { .stall_action = 3 }, "stall_action must be at most 2, got 3" },
        { { .min_gain = -0.5 }, "min_gain must be at least 0, got -0.5" },
        { { .on_error = 2 }, "on_error must be at most 1, got 2" },
        { { .max_failures = -1 }, "max_failures must be at least 0, got -1" },
        { { .max_history = -1 }, "max_history must be at least 0, got -1" },
        { { .options.timeout_ms = -1 }, "timeout_ms must be at least 0, got -1" },
        { { .options.retry.attempts = -1 }, "retry.attempts must be at least 0, got -1" },
        { { .options.retry.jitter = 1.5 }, "retry.jitter must be between 0 and 1, got 1.5" },
        { { .options.budget.tokens = -1 }, "budget.tokens must be at least 0, got -1" },
        { { .options.run_on = 3 }, "run_on must be at most 2, got 3" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        rondo_loop_spec spec = rows[i].spec;
        char want[160];
        snprintf(want, sizeof want, "loop 'refine': %s", rows[i].why);
        spec.size = RONDO_LOOP;
        spec.name = "refine";
        spec.body = actor(&writer);
        CHECK_STR(refused(rondo_loop(&spec)), want);
    }
}

TEST(an_error_deep_inside_names_the_way_to_it)
{
    rondo_error err;
    rondo_node *inner = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "inner" });
    rondo_node *outer = LOOP(.body = RONDO_SEQUENCE(actor(&writer), inner));
    CHECK_INT(rondo_node_check(outer, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "loop 'inner': has no body");
    CHECK_STR(err.path, "refine.sequence.inner");
    rondo_node_unref(outer);
}

/* AE-83 */
TEST(a_definition_that_is_refused_runs_nothing)
{
    struct actor a = { .name = "a" };
    rondo_engine *engine;
    rondo_run *run = NULL;
    rondo_error err;
    rondo_node *node = RONDO_SEQUENCE(actor(&a), rondo_loop(&(rondo_loop_spec){
                                                     RONDO_LOOP, .name = "empty" }));
    CHECK_INT(rondo_engine_new(NULL, &engine, NULL), 0);
    CHECK_INT(rondo_run_start(engine, node, NULL, NULL, &run, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "loop 'empty': has no body");
    CHECK_NULL(run);
    CHECK_INT(a.calls, 0);
    rondo_engine_free(engine);
    rondo_node_unref(node);
}
