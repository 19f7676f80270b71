/* test_limiter.c - how many agents of a run are at work at a time, and who comes next. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* Counts how many are at work, by their events. */
struct watch {
    int now, most;
};

static void count(struct play *p, const rondo_event *event)
{
    struct watch *w = p->user;
    const rondo_node *node = rondo_event_node(event);
    if (!node || rondo_node_kind(node) != RONDO_KIND_AGENT)
        return;
    switch (rondo_event_type(event)) {
    case RONDO_EV_STEP_START: w->now++; break;
    case RONDO_EV_STEP_END:
    case RONDO_EV_STEP_FAILED:
    case RONDO_EV_STEP_CANCELLED: w->now--; break;
    default: break;
    }
    w->most = w->now > w->most ? w->now : w->most;
}

static struct actor w = { .name = "w", .takes_ms = 10 };

static rondo_node *named(const char *name)
{
    return actor_named(&w, name);
}

static rondo_node *row(const char *name, rondo_node *a, rondo_node *b)
{
    return rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = name,
                                                  .children = RONDO_NODES(a, b) });
}

TEST(one_means_one)
{
    struct watch watch = { 0 };
    struct play p = { .options.max_concurrency = 1, .on_event = count, .user = &watch };
    play_flow(&p, RONDO_PARALLEL(named("a"), named("b"), named("c"), named("d")), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(watch.most, 1);
    CHECK_INT(watch.now, 0);
    CHECK_INT(play_ms(&p), 40);
    play_end(&p);
}

TEST(three_means_three)
{
    struct watch watch = { 0 };
    struct play p = { .options.max_concurrency = 3, .on_event = count, .user = &watch };
    play_flow(&p, rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = "e", .body = named("a") }),
         "[1, 2, 3, 4, 5, 6, 7]");
    CHECK_INT(watch.most, 3);
    CHECK_INT(play_ms(&p), 30);
    play_end(&p);
}

TEST(the_engines_limit_holds_for_runs_that_set_none)
{
    struct watch watch = { 0 };
    struct play p = { .max_concurrency = 2, .on_event = count, .user = &watch };
    play_flow(&p, RONDO_PARALLEL(named("a"), named("b"), named("c"), named("d")), NULL);
    CHECK_INT(watch.most, 2);
    play_end(&p);
}

TEST(a_runs_limit_wins_over_the_engines)
{
    struct watch watch = { 0 };
    struct play p = { .max_concurrency = 2, .options.max_concurrency = 4, .on_event = count,
                      .user = &watch };
    play_flow(&p, RONDO_PARALLEL(named("a"), named("b"), named("c"), named("d")), NULL);
    CHECK_INT(watch.most, 4);
    play_end(&p);
}

TEST(agents_of_one_container_start_in_order)
{
    struct play p = { .options.max_concurrency = 1 };
    play_flow(&p, RONDO_PARALLEL(named("a"), named("b"), named("c")), NULL);
    CHECK_STR(play_told(&p, "@step_start"),
              "0 step_start; 0 step_start a; 10 step_start b; 20 step_start c");
    play_end(&p);
}

TEST(containers_take_turns_in_the_order_in_which_they_came)
{
    struct play p = { .options.max_concurrency = 1 };
    play_flow(&p, RONDO_PARALLEL(row("x", named("x1"), named("x2")), row("y", named("y1"), named("y2")),
                            row("z", named("z1"), named("z2"))), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "x.x1")->at_ms, 0);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "y.y1")->at_ms, 10);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "z.z1")->at_ms, 20);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "x.x2")->at_ms, 30);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "y.y2")->at_ms, 40);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "z.z2")->at_ms, 50);
    play_end(&p);
}

TEST(a_loop_does_not_keep_the_only_place_to_itself)
{
    struct play p = { .options.max_concurrency = 1 };
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .body = named("a"),
                                                      .max_iterations = 100 });
    play_flow(&p, RONDO_PARALLEL(loop, row("r", named("b"), named("c"))), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "r.b")->at_ms, 10);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "r.c")->at_ms, 30);
    play_end(&p);
}

TEST(containers_hold_no_place_however_deep)
{
    struct play p = { .options.max_concurrency = 1 };
    rondo_node *node = named("leaf");
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "d%d", i);
        node = i % 2 ? rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = name,
                                                              .children = RONDO_NODES(node) })
                     : rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = name, .body = node,
                                                      .max_iterations = 1 });
    }
    play_flow(&p, node, NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(w.calls, 1);
    play_end(&p);
}

TEST(a_loops_delay_and_a_backoff_hold_no_place)
{
    struct play p = { .options.max_concurrency = 1 };
    struct actor quick = { .name = "quick" };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "yes"),
                           .options.retry = { .attempts = 2, .delay_ms = 1000 } };
    play_flow(&p, RONDO_PARALLEL(rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .delay_ms = 1000,
                                                           .body = actor(&quick), .max_iterations = 2 }),
                            actor(&flaky), row("r", named("a"), named("b"))), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_END, "r.b")->at_ms, 20);
    CHECK_INT(play_ms(&p), 1000);
    play_end(&p);
}

TEST(a_gate_holds_no_place)
{
    struct play p = { .options.max_concurrency = 1 };
    rondo_node *gate = rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = "gate", .timeout_ms = 500,
                                                      .on_timeout = "\"yes\"" });
    play_flow(&p, RONDO_PARALLEL(gate, row("r", named("a"), named("b"))), NULL);
    CHECK_STR(p.output, "[\"yes\",\"w#2\"]");
    CHECK_INT(play_find(&p, RONDO_EV_STEP_END, "r.b")->at_ms, 20);
    play_end(&p);
}

TEST(a_failure_frees_its_place)
{
    struct watch watch = { 0 };
    struct play p = { .options.max_concurrency = 1, .on_event = count, .user = &watch };
    struct actor bad = { .name = "bad", .says = SAYS("!no") };
    play_flow(&p, rondo_parallel(&(rondo_parallel_spec){
                 RONDO_PARALLEL_SPEC, .name = "p", .mode = RONDO_COLLECT,
                 .children = RONDO_NODES(actor(&bad), named("a"), actor_named(&bad, "bad2"), named("b")) }),
         NULL);
    CHECK_STR(p.output, "[null,\"w#1\",null,\"w#2\"]");
    CHECK_INT(watch.now, 0);
    play_end(&p);
}

TEST(a_timeout_begins_when_the_agent_does_not_while_it_waits_for_a_place)
{
    struct play p = { .options.max_concurrency = 1 };
    struct actor strict = { .name = "strict", .takes_ms = 10, .options.timeout_ms = 15 };
    play_flow(&p, RONDO_PARALLEL(named("a"), named("b"), actor(&strict)), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_ms(&p), 30);
    play_end(&p);
}

static void cancel_at_first_end(struct play *p, const rondo_event *event)
{
    if (rondo_event_type(event) == RONDO_EV_STEP_END)
        rondo_run_cancel(p->run, "enough");
}

TEST(what_waits_for_a_place_is_cancelled_without_having_started)
{
    struct play p = { .options.max_concurrency = 1, .on_event = cancel_at_first_end };
    play_flow(&p, RONDO_PARALLEL(named("a"), named("b"), named("c")), NULL);
    CHECK_INT(p.rc, RONDO_ECANCELLED);
    CHECK_INT(w.calls < 3, 1);
    CHECK_INT(play_find(&p, RONDO_EV_WORKFLOW_END, "")->status, RONDO_STATUS_CANCELLED);
    play_end(&p);
}

TEST(a_graphs_own_limit_counts_its_steps)
{
    struct play p = { 0 };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 4, .max_concurrency = 2,
                 .steps = (rondo_step[]){ { .node = named("a") }, { .node = named("b") },
                                          { .node = named("c") }, { .node = named("d") } } }), NULL);
    CHECK_STR(play_told(&p, "@step_start"),
              "0 step_start g; 0 step_start g.a; 0 step_start g.b; 10 step_start g.c; "
              "10 step_start g.d");
    play_end(&p);
}

TEST(a_graphs_retry_waits_for_its_turn)
{
    struct play p = { 0 };
    struct actor flaky = { .name = "flaky", .says = SAYS("!no", "yes"),
                           .options.retry = { .attempts = 2, .delay_ms = 50 } };
    struct actor slow = { .name = "slow", .takes_ms = 200 };
    play_flow(&p, rondo_graph(&(rondo_graph_spec){
                 RONDO_GRAPH, .name = "g", .step_count = 2, .max_concurrency = 1,
                 .steps = (rondo_step[]){ { .node = actor(&flaky) }, { .node = actor(&slow) } } }), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_find(&p, RONDO_EV_STEP_START, "g.flaky~1")->at_ms, 200);
    play_end(&p);
}
