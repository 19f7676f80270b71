/* test_cleanup.c - what still runs after a run was asked to stop. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static struct actor slow = { .name = "slow", .takes_ms = 1000 };
static struct actor later = { .name = "later" };
static struct actor rescue = { .name = "rescue", .options.run_on = RONDO_ON_FAILURE };
static struct actor clean = { .name = "clean", .takes_ms = 100, .options.run_on = RONDO_ON_ALWAYS };

/* slow -> later, rescue -> clean */
static rondo_node *graph(void)
{
    return rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .step_count = 4,
        .steps = (rondo_step[]){ { .node = actor(&slow) },
                                 { .node = actor(&later), .depends_on = RONDO_AFTER("slow") },
                                 { .node = actor(&rescue), .depends_on = RONDO_AFTER("slow") },
                                 { .node = actor(&clean), .depends_on = RONDO_AFTER("later") } } });
}

/* Cancels when the step at `user` starts; the second time at the next start. */
static void cancel_at(struct play *p, const rondo_event *event)
{
    if (rondo_event_type(event) == RONDO_EV_STEP_START &&
        strcmp(rondo_event_path(event), p->user) == 0)
        rondo_run_cancel(p->run, "the user said so");
}

static void cancel_twice(struct play *p, const rondo_event *event)
{
    if (rondo_event_type(event) == RONDO_EV_STEP_START &&
        (strcmp(rondo_event_path(event), "g.slow") == 0 ||
         strcmp(rondo_event_path(event), "g.clean") == 0))
        rondo_run_cancel(p->run, "the user said so");
}

TEST(after_a_cancel_only_always_steps_run_and_the_reason_is_told)
{
    struct play p = { .on_event = cancel_at, .user = "g.slow" };
    play_flow(&p, graph(), NULL);
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_STR(p.err.message, "cancelled: the user said so");
    CHECK_INT(p.res.status, RONDO_STATUS_CANCELLED);
    CHECK_INT(clean.calls, 1);
    CHECK_INT(later.calls + rescue.calls, 0);
    CHECK_INT(play_step(&p, "g.slow").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_step(&p, "g.later").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_step(&p, "g.clean").status, RONDO_STATUS_COMPLETED);
    CHECK_INT(play_ms(&p), 100);
    CHECK_STR(play_find(&p, RONDO_EV_CANCEL, "")->text, "the user said so");
    play_end(&p);
}

TEST(a_second_cancel_ends_always_steps_too)
{
    struct play p = { .on_event = cancel_twice };
    play_flow(&p, graph(), NULL);
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_INT(play_step(&p, "g.clean").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_ms(&p), 0);
    play_end(&p);
}

static void cancel_twice_at_once(struct play *p, const rondo_event *event)
{
    if (rondo_event_type(event) == RONDO_EV_STEP_START &&
        strcmp(rondo_event_path(event), "g.slow") == 0) {
        rondo_run_cancel(p->run, "now");
        rondo_run_cancel(p->run, "really");
    }
}

TEST(two_cancels_at_once_start_no_always_step)
{
    struct play p = { .on_event = cancel_twice_at_once };
    play_flow(&p, graph(), NULL);
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_STR(p.err.message, "cancelled: now");
    CHECK_INT(clean.calls, 0);
    play_end(&p);
}

TEST(cleanup_has_its_own_time_limit)
{
    struct play p = { .on_event = cancel_at, .user = "g.slow", .options.cleanup_ms = 30 };
    play_flow(&p, graph(), NULL);
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_INT(clean.calls, 1);
    CHECK_INT(play_step(&p, "g.clean").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_ms(&p), 30);
    play_end(&p);
}

TEST(the_default_time_for_cleanup_is_30_seconds)
{
    struct play p = { .on_event = cancel_at, .user = "g.slow" };
    clean.takes_ms = 60 * 1000;
    play_flow(&p, graph(), NULL);
    CHECK_INT(play_ms(&p), 30000);
    play_end(&p);
}

static rondo_node *aborts(struct actor *bad, struct actor *last)
{
    return rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "g", .step_count = 2, .on_failure = RONDO_ABORT,
                                            .steps = (rondo_step[]){ { .node = actor(bad) },
                                                                     { .node = actor(last) } } });
}

TEST(cleaning_up_after_an_abort_has_that_limit_too)
{
    struct actor bad = { .name = "bad", .says = SAYS("!no") };
    struct actor last = { .name = "last", .takes_ms = 400, .options.run_on = RONDO_ON_ALWAYS };
    struct play p = { .options.cleanup_ms = 60 };
    play_flow(&p, aborts(&bad, &last), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "no");
    CHECK_INT(play_step(&p, "g.last").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_ms(&p), 60);
    play_end(&p);
}

/* Only the graph that was aborted has to hurry: what comes after it takes its time. */
TEST(an_abort_inside_hurries_nobody_else)
{
    struct actor bad = { .name = "bad", .says = SAYS("!no") };
    struct actor last = { .name = "last", .takes_ms = 400, .options.run_on = RONDO_ON_ALWAYS };
    struct actor next = { .name = "next", .takes_ms = 400, .options.run_on = RONDO_ON_ALWAYS };
    struct play p = { .options.cleanup_ms = 60 };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = "o", .step_count = 2,
                                                   .steps = (rondo_step[]){ { .node = aborts(&bad, &last) },
                                                                            { .node = actor(&next) } } }), NULL);
    CHECK_INT(play_step(&p, "o.g.last").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_step(&p, "o.next").status, RONDO_STATUS_COMPLETED);
    CHECK_INT(play_ms(&p), 460);
    play_end(&p);
}

/* What has one place: a graph that ends early as its options say, and somebody who takes 100 ms beside it. */
static void play_crowded(struct play *p, struct actor *first, rondo_options options, int mode)
{
    static struct actor last = { .name = "last", .options.run_on = RONDO_ON_ALWAYS };
    static struct actor wide = { .name = "wide", .takes_ms = 100 };
    last.calls = wide.calls = first->calls = 0;
    rondo_node *early = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "g", .options = options, .step_count = 2, .on_failure = mode,
        .steps = (rondo_step[]){ { .node = actor(first) }, { .node = actor(&last) } } });
    rondo_node *each = rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e", .body = actor(&wide) });
    p->max_concurrency = 1;
    play_flow(p, rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p", .mode = RONDO_COLLECT,
                                                        .children = RONDO_NODES(each, early) }), "[1, 2, 3, 4]");
}

TEST(an_always_step_that_finds_no_place_waits_for_one)
{
    struct actor bad = { .name = "bad", .says = SAYS("!no") }, mid = { .name = "mid", .takes_ms = 50 };
    static const rondo_options limits[] = { { .timeout_ms = 110 }, { .budget.time_ms = 110 } };
    struct play p = { 0 };
    play_crowded(&p, &bad, (rondo_options){ 0 }, RONDO_ABORT);
    CHECK_INT(play_step(&p, "p.g.last").status, RONDO_STATUS_COMPLETED);
    CHECK_INT(play_count(&p, RONDO_EV_STEP_FAILED, "p.g"), 1);
    play_end(&p);
    for (size_t i = 0; i < 2; i++) {
        p = (struct play){ 0 };
        play_crowded(&p, &mid, limits[i], RONDO_CASCADE);
        CHECK_INT(play_step(&p, "p.g.mid").status, RONDO_STATUS_CANCELLED);
        CHECK_INT(play_step(&p, "p.g.last").status, RONDO_STATUS_COMPLETED);
        play_end(&p);
    }
}

TEST(it_does_not_wait_longer_than_for_cleanup)
{
    struct actor mid = { .name = "mid", .takes_ms = 50 };
    struct play p = { .options.cleanup_ms = 30 };
    play_crowded(&p, &mid, (rondo_options){ .timeout_ms = 20 }, RONDO_CASCADE);
    CHECK_INT(play_step(&p, "p.g.last").status, RONDO_STATUS_CANCELLED);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_FAILED, "p.g")->at_ms, 50);
    play_end(&p);
}

TEST(cleaning_up_after_a_limit_of_time_has_that_limit_too)
{
    struct actor mid = { .name = "mid", .takes_ms = 50 };
    struct actor last = { .name = "last", .takes_ms = 400, .options.run_on = RONDO_ON_ALWAYS };
    static const rondo_options limits[] = { { .timeout_ms = 20 }, { .budget.time_ms = 20 } };
    for (size_t i = 0; i < 2; i++) {
        struct play p = { .options.cleanup_ms = 60 };
        rondo_node *late = rondo_graph(&(rondo_graph_spec){
            RONDO_GRAPH, .name = "g", .options = limits[i], .step_count = 2,
            .steps = (rondo_step[]){ { .node = actor(&mid) }, { .node = actor(&last) } } });
        play_flow(&p, rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "s",
                                                             .children = RONDO_NODES(late) }), NULL);
        CHECK_INT(play_step(&p, "s.g.last").status, RONDO_STATUS_CANCELLED);
        CHECK_INT(play_ms(&p), 80);
        play_end(&p);
    }
}

TEST(an_always_step_in_a_loop_in_a_sequence_still_runs)
{
    struct play p = { .on_event = cancel_at, .user = "s.l.1.g.slow" };
    slow.takes_ms = 10;
    clean.takes_ms = 0;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = graph(),
                                                      .max_iterations = 5 });
    play_flow(&p, rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = "s",
                                                    .children = RONDO_NODES(loop) }), NULL);
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_INT(clean.calls, 2);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end s.l cancelled 1");
    play_end(&p);
}

TEST(always_steps_that_depend_on_each_other_run_one_after_the_other)
{
    struct play p = { .on_event = cancel_at, .user = "g.slow" };
    struct actor a = { .name = "a", .takes_ms = 5, .options.run_on = RONDO_ON_ALWAYS };
    struct actor b = { .name = "b", .takes_ms = 5, .options.run_on = RONDO_ON_ALWAYS };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 3,
                 .steps = (rondo_step[]){ { .node = actor(&b), .depends_on = RONDO_AFTER("a") },
                                          { .node = actor(&a), .depends_on = RONDO_AFTER("slow") },
                                          { .node = actor(&slow) } } }), NULL);
    CHECK_STR(play_told(&p, "@step_end"), "5 step_end g.a; 10 step_end g.b");
    play_end(&p);
}

TEST(an_always_loop_runs_all_its_passes_after_a_cancel)
{
    struct play p = { .on_event = cancel_at, .user = "g.slow" };
    struct actor body = { .name = "body", .takes_ms = 5 };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 2,
                 .steps = (rondo_step[]){
                     { .node = actor(&slow) },
                     { .node = rondo_loop(&(rondo_loop_spec){
                           RONDO_LOOP, .name = "l", .body = actor(&body), .max_iterations = 3,
                           .options.run_on = RONDO_ON_ALWAYS }) } } }), NULL);
    CHECK_INT(body.calls, 3);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end g.l max_iterations 3");
    CHECK_INT(p.res.status, RONDO_STATUS_CANCELLED);
    play_end(&p);
}

TEST(a_cancel_before_the_first_pull_runs_nothing)
{
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err;
    struct actor a = { .name = "a" };
    rondo_node *node = actor(&a);
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &engine, NULL), 0);
    CHECK_INT(rondo_run_start(engine, node, NULL, NULL, &run, NULL), 0);
    rondo_run_cancel(run, "changed my mind");
    CHECK_INT(rondo_run_wait(run, &err), RONDO_ECANCELLED);
    CHECK_STR(err.message, "cancelled: changed my mind");
    CHECK_INT(a.calls, 0);
    rondo_run_close(run);
    rondo_engine_free(engine);
    rondo_node_unref(node);
}

TEST(a_cancel_after_the_end_does_nothing)
{
    struct play p = { 0 };
    struct actor a = { .name = "a" };
    play_flow(&p, actor(&a), NULL);
    rondo_run_cancel(p.run, "too late");
    CHECK_NULL(rondo_run_next(p.run));
    CHECK_INT(rondo_run_status(p.run), RONDO_STATUS_COMPLETED);
    play_end(&p);
}

TEST(a_cancel_ends_every_kind_of_container)
{
    struct play p = { .on_event = cancel_at, .user = "p.e[1].l.0.slow" };
    struct actor cap = { .name = "cap" };
    rondo_state states[] = { { "one", actor(&slow) } };
    rondo_edge edges[] = { { "one", "one" } };
    rondo_node *kinds[] = {
        rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = "f", .captain = actor(&cap),
                                         .members = RONDO_NODES(actor(&slow)) }),
        rondo_machine(&(rondo_machine_spec){ RONDO_MACHINE, .name = "m", .start = "one",
                                             .states = states, .state_count = 1, .edges = edges,
                                             .edge_count = 1 }),
        rondo_branch(&(rondo_branch_spec){ RONDO_BRANCH, .name = "b", .case_count = 1,
                                           .cases = (rondo_case[]){ { .when = flow_always,
                                                                      .node = actor(&slow) } } }),
        rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "gate" }),
        rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e",
                                       .body = rondo_loop(&(rondo_loop_spec){
                                           RONDO_LOOP, .name = "l", .body = actor(&slow) }) }),
        NULL
    };
    play_flow(&p, rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = "p",
                                                    .children = kinds }), "[1, 2]");
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_INT(play_ms(&p), 0);
    static const char *const paths[] = { "p", "p.f", "p.f.r1.slow", "p.m", "p.b", "p.gate", "p.e",
                                         "p.e[0].l", "p.e[1].l" };
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        CHECK_INT(play_count(&p, RONDO_EV_STEP_CANCELLED, paths[i]), 1);
    play_end(&p);
}
