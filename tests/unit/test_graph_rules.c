/* test_graph_rules.c - graphs whose steps would wait for each other. */
#include "agents.h"

/* Without dependencies such a step waits for all others; not for those that wait for it. */
TEST(a_step_that_always_runs_does_not_wait_for_its_own_dependents)
{
    struct bot first = { "first", ADD, 1, .options = { .run_on = RONDO_ON_ALWAYS } },
               then = { "then", ADD, 1 };
    TRIAL t = { .options = { .timeout_ms = 1000 } };
    trial_start(&t, rondo_graph(&(rondo_graph_spec){
                       RONDO_GRAPH, .name = "g", .step_count = 2,
                       .steps = (rondo_step[]){ { .node = bot_node(&first) },
                                                { .node = bot_node(&then), .depends_on = RONDO_AFTER("first") } } }),
               "1");
    trial_finish(&t);
    CHECK_INT(t.rc, 0);
    CHECK_INT(first.calls, 1);
    CHECK_INT(then.calls, 1);
}
