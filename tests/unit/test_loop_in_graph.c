/* test_loop_in_graph.c - loops as steps among others: order, data that crosses, totals. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define LOOP(id, ...) rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = id, __VA_ARGS__ })
#define GRAPH(...)                                                                             \
    rondo_graph(&(rondo_graph_spec){                                                           \
        RONDO_GRAPH, .name = "g", .steps = (rondo_step[]){ __VA_ARGS__ },                      \
        .step_count = sizeof((rondo_step[]){ __VA_ARGS__ }) / sizeof(rondo_step) })

static rondo_node *row(rondo_node *a, rondo_node *b, rondo_node *c)
{
    return rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "row",
                                                  .children = RONDO_NODES(a, b, c) });
}

static struct actor research = { .name = "research" }, draft = { .name = "draft" };
static struct actor a = { .name = "a" }, b = { .name = "b" };

/* AE-50 */
TEST(a_step_then_a_loop)
{
    struct play p = { 0 };
    play_flow(&p, row(actor(&research), LOOP("refine", .body = actor(&draft), .max_iterations = 3), NULL),
         "\"topic\"");
    CHECK_STR(play_step_text(&p, "row.research"), "research#1");
    CHECK_STR(play_step_text(&p, "row.refine"), "draft#3");
    CHECK_INT(rondo_history_count(rondo_run_history(p.run, "row.refine")), 3);
    CHECK_STR(rondo_reason_ensemble(play_step(&p, "row.refine").reason), "maxIterations");
    CHECK_STR(p.res.content, "draft#3");
    play_end(&p);
}

/* AE-51 */
TEST(two_loops_in_declaration_order)
{
    struct play p = { 0 };
    play_flow(&p, row(LOOP("first", .body = actor(&a), .max_iterations = 2),
                 LOOP("second", .body = actor(&b), .max_iterations = 2), NULL), NULL);
    CHECK_STR(play_told(&p, "iteration_end loop_end"),
              "iteration_end row.first 0; iteration_end row.first 1; "
              "loop_end row.first max_iterations 2; iteration_end row.second 0; "
              "iteration_end row.second 1; loop_end row.second max_iterations 2");
    CHECK_STR(play_step_text(&p, "row.first"), "a#2");
    CHECK_STR(p.res.content, "b#2");
    CHECK_STR(b.seen[0].in, "\"a#2\"");
    play_end(&p);
}

/* AE-52 */
TEST(writer_and_critic_until_approved)
{
    struct play p = { 0 };
    struct actor critic = { .name = "critic", .says = SAYS("REVISE", "APPROVED") };
    play_flow(&p, row(actor(&research),
                 LOOP("refine", .body = RONDO_SEQUENCE(actor(&draft), actor(&critic)),
                      .until = flow_text_is, .user = "APPROVED"), NULL), NULL);
    CHECK_STR(rondo_reason_ensemble(play_step(&p, "row.refine").reason), "predicate");
    CHECK_INT(play_step(&p, "row.refine").passes, 2);
    CHECK_STR(play_step_text(&p, "row.refine.draft"), "draft#2");
    CHECK_STR(play_step_text(&p, "row.refine.critic"), "APPROVED");
    play_end(&p);
}

/* AE-54 */
TEST(a_failing_cap_fails_the_run_with_its_own_error)
{
    struct play p = { 0 };
    play_flow(&p, row(actor(&research),
                 LOOP("refine", .body = actor(&draft), .max_iterations = 2, .on_max = RONDO_FAIL),
                 actor(&b)), NULL);
    CHECK_INT(p.rc, RONDO_ELIMIT);
    CHECK_STR(p.err.message, "loop 'refine' reached its cap of 2 passes");
    CHECK_INT(b.calls, 0);
    play_end(&p);
}

/* AE-54: the same error, however deep: not wrapped. */
TEST(a_failing_cap_looks_the_same_from_a_graph)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&research) },
                   { .node = LOOP("refine", .body = actor(&draft), .max_iterations = 2,
                                  .on_max = RONDO_FAIL) }), NULL);
    CHECK_INT(p.rc, RONDO_ELIMIT);
    CHECK_STR(p.err.message, "loop 'refine' reached its cap of 2 passes");
    CHECK_INT(p.res.status, RONDO_STATUS_PARTIAL);
    play_end(&p);
}

/* AE-55: two loops of one name are refused; what upstream excludes (phases, managers) nests here. */
TEST(two_loops_of_one_name_in_one_container_are_refused)
{
    CHECK_STR(refused(row(LOOP("same", .body = actor(&a)), LOOP("same", .body = actor(&b)), NULL)),
              "sequence 'row': two children are named 'same'");
    CHECK_STR(refused(GRAPH({ .node = LOOP("same", .body = actor(&a)) },
                            { .node = LOOP("same", .body = actor(&b)) })),
              "graph 'g': two children are named 'same'");
}

/* AE-56 */
TEST(a_loop_may_be_the_whole_run)
{
    struct play p = { 0 };
    play_flow(&p, LOOP("alone", .body = actor(&draft), .max_iterations = 2), NULL);
    CHECK_STR(p.res.content, "draft#2");
    CHECK_STR(play_told(&p, "workflow_start workflow_end step_start step_end"),
              "workflow_start; step_start alone; step_start alone.0.draft; step_end alone.0.draft; "
              "step_start alone.1.draft; step_end alone.1.draft; step_end alone; workflow_end");
    play_end(&p);
}

/* AE-57 */
TEST(what_a_trace_of_a_loop_needs_can_be_read)
{
    struct play p = { 0 };
    int at = 2;
    play_flow(&p, LOOP("refine", .body = RONDO_SEQUENCE(actor(&a), actor(&b)), .until = flow_at_pass,
                  .user = &at, .max_iterations = 7), NULL);
    CHECK_STR(rondo_node_name(p.node), "refine");
    CHECK_INT(rondo_node_kind(p.node), RONDO_KIND_LOOP);
    CHECK_INT(rondo_node_limit(p.node, RONDO_LIMIT_ITERATIONS), 7);
    CHECK_INT(p.res.passes, 2);
    CHECK_STR(rondo_reason_text(p.res.reason), "until");
    const rondo_node *body = rondo_node_child(p.node, 0);
    CHECK_STR(rondo_node_child_name(body, 0), "a");
    CHECK_STR(rondo_node_child_name(body, 1), "b");
    play_end(&p);
}

/* AE-60 */
TEST(independent_steps_and_a_loop_in_a_graph_each_run)
{
    struct play p = { 0 };
    play_flow(&p, GRAPH({ .node = actor(&a) }, { .node = actor(&b) },
                   { .node = LOOP("l", .body = actor(&draft), .max_iterations = 2) }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(a.calls, 1);
    CHECK_INT(b.calls, 1);
    CHECK_INT(draft.calls, 2);
    play_end(&p);
}

/* AE-61 */
TEST(two_loops_side_by_side_give_their_outputs_in_declaration_order)
{
    struct play p = { 0 };
    struct actor slow = { .name = "slow", .takes_ms = 50 }, fast = { .name = "fast", .takes_ms = 1 };
    play_flow(&p, RONDO_PARALLEL(LOOP("la", .body = actor(&slow), .max_iterations = 2),
                            LOOP("lb", .body = actor(&fast), .max_iterations = 3)), NULL);
    CHECK_STR(p.output, "[\"slow#2\",\"fast#3\"]");
    CHECK_STR(play_told(&p, "@loop_end"), "3 loop_end lb max_iterations 3; 100 loop_end la max_iterations 2");
    play_end(&p);
}

/* AE-62 */
TEST(a_loop_starts_beside_an_independent_step)
{
    struct play p = { 0 };
    struct actor task = { .name = "task", .takes_ms = 150 }, body = { .name = "body", .takes_ms = 60 };
    play_flow(&p, GRAPH({ .node = actor(&task) },
                   { .node = LOOP("l", .body = actor(&body), .max_iterations = 3) }), NULL);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.l")->at_ms, 0);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_END, "g.task")->at_ms, 150);
    CHECK_INT(play_ms(&p), 180);
    play_end(&p);
}

/* AE-63 */
TEST(a_loop_waits_for_what_it_depends_on)
{
    struct play p = { 0 };
    struct actor up = { .name = "up", .takes_ms = 80 };
    play_flow(&p, GRAPH({ .node = LOOP("l", .body = actor(&draft), .max_iterations = 2),
                     .depends_on = RONDO_AFTER("up") }, { .node = actor(&up) }), NULL);
    CHECK_STR(play_told(&p, "@step_start"), "0 step_start g; 0 step_start g.up; 80 step_start g.l; "
                                            "80 step_start g.l.0.draft; 80 step_start g.l.1.draft");
    play_end(&p);
}

static char read_text[200];

static void read_up(rondo_task *task, void *user)
{
    const json_t *out = rondo_task_output(task, user);
    char *text = out ? rondo_value_text(out) : NULL;
    strncat(read_text, text ? text : "none", sizeof read_text - strlen(read_text) - 2);
    strcat(read_text, " ");
    rondo_text_free(text);
    rondo_task_return_text(task, "read");
}

/* AE-64 */
TEST(a_loops_body_reads_the_upstream_output_in_every_pass)
{
    struct play p = { 0 };
    rondo_agent reader = { RONDO_AGENT, .name = "reader", .run = read_up, .user = "up" };
    struct actor up = { .name = "up" };
    play_flow(&p, GRAPH({ .node = actor(&up) },
                   { .node = LOOP("l", .body = RONDO_SEQUENCE(actor(&draft),
                                                              rondo_agent_node(&reader)),
                                  .max_iterations = 2),
                     .depends_on = RONDO_AFTER("up") }), NULL);
    CHECK_STR(read_text, "\"up#1\" \"up#1\" ");
    play_end(&p);
}

/* AE-64 */
TEST(what_has_not_ended_cannot_be_read)
{
    struct play p = { 0 };
    rondo_agent reader = { RONDO_AGENT, .name = "reader", .run = read_up, .user = "up" };
    struct actor up = { .name = "up", .takes_ms = 10 };
    play_flow(&p, GRAPH({ .node = actor(&up) }, { .node = rondo_agent_node(&reader) }), NULL);
    CHECK_STR(read_text, "none ");
    play_end(&p);
}

/* AE-65 */
TEST(a_step_after_a_loop_reads_what_the_loop_came_to_in_every_mode)
{
    static const struct {
        int mode;
        const char *want;
    } rows[] = {
        { RONDO_OUTPUT_LAST, "\"critic#2\" " },
        { RONDO_OUTPUT_FINAL_STEP, "\"critic#2\" " },
        { RONDO_OUTPUT_CUMULATIVE, "[\"critic#1\",\"critic#2\"] " },
    };
    for (int i = 0; i < 3; i++) {
        struct play p = { 0 };
        struct actor writer = { .name = "writer" }, critic = { .name = "critic" };
        rondo_agent reader = { RONDO_AGENT, .name = "reader", .run = read_up, .user = "l" };
        *read_text = '\0';
        play_flow(&p, GRAPH({ .node = LOOP("l", .body = RONDO_SEQUENCE(actor(&writer), actor(&critic)),
                                      .max_iterations = 2, .output_mode = rows[i].mode) },
                       { .node = rondo_agent_node(&reader), .depends_on = RONDO_AFTER("l") }), NULL);
        CHECK_STR(read_text, rows[i].want);
        play_end(&p);
    }
}

static double score_by_pass(rondo_context *context, void *user)
{
    return rondo_context_pass(context) == 1 ? 10 : 1;
}

/* AE-65 */
TEST(a_step_after_a_loop_reads_the_best_pass)
{
    struct play p = { 0 };
    rondo_agent reader = { RONDO_AGENT, .name = "reader", .run = read_up, .user = "l" };
    play_flow(&p, GRAPH({ .node = LOOP("l", .body = actor(&draft), .max_iterations = 3,
                                  .score = score_by_pass, .output_mode = RONDO_OUTPUT_BEST) },
                   { .node = rondo_agent_node(&reader), .depends_on = RONDO_AFTER("l") }), NULL);
    CHECK_STR(read_text, "\"draft#2\" ");
    play_end(&p);
}

/* AE-66 */
TEST(step_loop_step_run_in_the_order_of_their_declaration)
{
    struct play p = { 0 };
    play_flow(&p, row(actor(&a), LOOP("l", .body = actor(&draft), .max_iterations = 2), actor(&b)), NULL);
    CHECK_STR(play_told(&p, "step_end"), "step_end row.a; step_end row.l.0.draft; "
                                         "step_end row.l.1.draft; step_end row.l; step_end row.b; "
                                         "step_end row");
    CHECK_STR(b.seen[0].in, "\"draft#2\"");
    play_end(&p);
}

/* AE-68, AE-156 */
TEST(totals_include_every_pass)
{
    struct play p = { 0 };
    struct actor paid = { .name = "paid", .spends = { 10, 3, 500, 1 } };
    play_flow(&p, row(actor(&paid), LOOP("l", .body = actor_named(&paid, "paid"), .max_iterations = 4), NULL),
         NULL);
    rondo_result l = play_step(&p, "row.l");
    CHECK_INT(l.usage.input_tokens, 40);
    CHECK_INT(l.usage.output_tokens, 12);
    CHECK_INT(p.res.usage.input_tokens, 50);
    CHECK_INT(p.res.usage.output_tokens, 15);
    CHECK_INT(p.res.usage.cost_nano, 2500);
    CHECK_INT(p.res.usage.calls, 5);
    play_end(&p);
}

/* AE-68 */
TEST(totals_include_tries_that_failed)
{
    struct play p = { 0 };
    struct actor paid = { .name = "paid", .spends = { 10, 0, 0, 1 }, .says = SAYS("!no", "!no", "yes"),
                          .options.retry.attempts = 3 };
    play_flow(&p, row(actor(&paid), NULL, NULL), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.usage.input_tokens, 30);
    CHECK_INT(p.res.usage.calls, 3);
    play_end(&p);
}

/* AE-68 */
TEST(totals_include_failed_tries_of_the_root_itself)
{
    struct play p = { 0 };
    struct actor paid = { .name = "paid", .spends = { 10, 0, 0, 1 }, .says = SAYS("!no", "yes"),
                          .options.retry.attempts = 2 };
    play_flow(&p, actor(&paid), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.usage.input_tokens, 20);
    play_end(&p);
}

/* AE-156 */
TEST(steps_that_report_nothing_count_as_nothing)
{
    struct play p = { 0 };
    struct actor paid = { .name = "paid", .spends = { 10, 3, 500, 1 } };
    play_flow(&p, row(actor(&a), actor(&paid), actor(&b)), NULL);
    CHECK_INT(p.res.usage.input_tokens, 10);
    CHECK_INT(p.res.usage.calls, 1);
    CHECK_INT(play_step(&p, "row.a").usage.input_tokens, 0);
    play_end(&p);
}

TEST(loops_nest_three_deep)
{
    struct play p = { 0 };
    rondo_node *in = LOOP("in", .body = actor(&draft), .max_iterations = 2);
    rondo_node *mid = LOOP("mid", .body = in, .max_iterations = 3);
    play_flow(&p, LOOP("out", .body = mid, .max_iterations = 4), NULL);
    CHECK_INT(draft.calls, 24);
    CHECK_STR(p.res.content, "draft#24");
    CHECK_STR(draft.seen[23].path, "out.3.mid.2.in.1.draft");
    CHECK_STR(draft.seen[0].path, "out.0.mid.0.in.0.draft");
    CHECK_INT(draft.seen[23].pass, 1);
    CHECK_INT(play_step(&p, "out.2.mid.1.in").passes, 2);
    CHECK_INT(rondo_history_count(rondo_run_history(p.run, "out.1.mid")), 3);
    play_end(&p);
}

TEST(a_graph_in_a_loop_starts_afresh_in_every_pass)
{
    struct play p = { 0 };
    struct actor x = { .name = "x", .takes_ms = 5 }, y = { .name = "y", .takes_ms = 3 };
    struct actor z = { .name = "z" };
    rondo_node *g = GRAPH({ .node = actor(&z), .depends_on = RONDO_AFTER("x", "y") },
                          { .node = actor(&x) }, { .node = actor(&y) });
    play_flow(&p, LOOP("l", .body = g, .max_iterations = 2), NULL);
    CHECK_STR(play_told(&p, "@step_end"),
              "3 step_end l.0.g.y; 5 step_end l.0.g.x; 5 step_end l.0.g.z; 5 step_end l.0.g; "
              "8 step_end l.1.g.y; 10 step_end l.1.g.x; 10 step_end l.1.g.z; 10 step_end l.1.g; "
              "10 step_end l");
    CHECK_STR(p.res.content, "z#2");
    play_end(&p);
}

TEST(a_retried_loop_starts_over_from_pass_0_under_a_path_of_its_own)
{
    struct play p = { 0 };
    struct actor body = { .name = "body", .says = SAYS("one", "!two", "three", "four") };
    play_flow(&p, LOOP("l", .body = actor(&body), .max_iterations = 2, .options.retry.attempts = 2), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(play_told(&p, "step_start retry loop_end"),
              "step_start l; step_start l.0.body; step_start l.1.body; loop_end l failed 2; "
              "retry l~1; step_start l~1; step_start l~1.0.body; step_start l~1.1.body; "
              "loop_end l~1 max_iterations 2");
    CHECK_STR(p.res.content, "four");
    CHECK_INT(p.res.passes, 2);
    play_end(&p);
}
