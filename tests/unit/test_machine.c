/* test_machine.c - states and edges. */

#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

static struct actor a = { .name = "a" }, b = { .name = "b" }, c = { .name = "c" };

#define COUNT_OF(list) (sizeof(list) / sizeof *(list))
#define MACHINE(from, states_, edges_, ...)                                                    \
    rondo_machine(&(rondo_machine_spec){ RONDO_MACHINE, .name = "m", .start = from,            \
                                         .states = states_, .state_count = COUNT_OF(states_),  \
                                         .edges = edges_, .edge_count = COUNT_OF(edges_),      \
                                         __VA_ARGS__ })

/* a -> b -> END */
static rondo_node *line(void)
{
    rondo_state states[] = { { "a", actor(&a) }, { "b", actor(&b) } };
    rondo_edge edges[] = { { "a", "b" }, { "b", RONDO_END } };
    return MACHINE("a", states, edges);
}

/* a -> a for ever */
static rondo_node *spin(int max_steps, int on_max)
{
    rondo_state states[] = { { "a", actor(&a) } };
    rondo_edge edges[] = { { "a", "a" } };
    return MACHINE("a", states, edges, .max_steps = max_steps, .on_max = on_max);
}

/* ---- building ------------------------------------------------------------------------------------ */

/* AE-70 */
TEST(a_machine_has_50_steps_and_keeps_the_order_of_its_states)
{
    rondo_node *m = line();
    CHECK_INT(rondo_node_check(m, NULL), 0);
    CHECK_INT(rondo_node_kind(m), RONDO_KIND_MACHINE);
    CHECK_INT(rondo_node_limit(m, RONDO_LIMIT_ITERATIONS), 50);
    CHECK_UINT(rondo_node_count(m), 2);
    CHECK_STR(rondo_node_child_name(m, 0), "a");
    CHECK_STR(rondo_node_child_name(m, 1), "b");
    rondo_node_unref(m);
}

/* AE-70 */
TEST(each_mistake_in_a_machine_is_named)
{
#define REFUSED(name_, start_, state_name, from_, to_, want)                                   \
    do {                                                                                       \
        rondo_state states[] = { { "a", actor(&a) }, { state_name, actor(&b) } };              \
        rondo_edge edges[] = { { "a", "b" }, { "b", RONDO_END }, { from_, to_ } };             \
        CHECK_STR(refused(rondo_machine(&(rondo_machine_spec){                                 \
                      RONDO_MACHINE, .name = name_, .start = start_, .states = states,         \
                      .state_count = 2, .edges = edges, .edge_count = 3 })), want);            \
    } while (0)
    REFUSED("", "a", "b", "a", "b",
            "machine '': a name is made of letters, digits, '-' and '_', got ''");
    REFUSED("m", "a", "a", "a", "b", "machine 'm': two children are named 'a'");
    REFUSED("m", "a", "", "a", "b", "machine 'm': state 2 needs a name of its own, got ''");
    REFUSED("m", "a", NULL, "a", "b", "machine 'm': state 2 needs a name of its own, got ''");
    REFUSED("m", "a", RONDO_END, "a", "b",
            "machine 'm': state 2 needs a name of its own, got '__END__'");
    REFUSED("m", NULL, "b", "a", "b", "machine 'm': start names unknown state ''");
    REFUSED("m", "x", "b", "a", "b", "machine 'm': start names unknown state 'x'");
    REFUSED("m", RONDO_END, "b", "a", "b", "machine 'm': start names unknown state '__END__'");
    REFUSED("m", "a", "b", "x", "b", "machine 'm': edge 3 starts at unknown state 'x'");
    REFUSED("m", "a", "b", "a", "x", "machine 'm': edge 3 leads to unknown state 'x'");
    REFUSED("m", "a", "b", RONDO_END, "a", "machine 'm': an edge starts at the end");
#undef REFUSED
}

/* AE-70 */
TEST(a_machine_needs_states_ways_out_and_a_sensible_cap)
{
    rondo_state two[] = { { "a", actor(&a) }, { "b", actor(&b) } };
    rondo_edge one[] = { { "a", "b" } };
    CHECK_STR(refused(MACHINE("a", two, one)), "machine 'm': state 'b' has no edge that leaves it");
    CHECK_STR(refused(rondo_machine(&(rondo_machine_spec){ RONDO_MACHINE, .name = "m" })),
              "machine 'm': has no states");
    CHECK_STR(refused(spin(-1, 0)), "machine 'm': max_steps must be at least 0, got -1");
    CHECK_STR(refused(spin(1, 3)), "machine 'm': on_max must be at most 2, got 3");
}

/* ---- running --------------------------------------------------------------------------------------- */

/* AE-71 */
TEST(a_line_of_states_ends_at_the_end)
{
    struct play p = { 0 };
    play_flow(&p, line(), "\"in\"");
    CHECK_INT(p.rc, 0);
    CHECK_STR(p.res.content, "b#1");
    CHECK_INT(p.res.passes, 2);
    CHECK_INT(p.res.reason, RONDO_REASON_NEXT); // "terminal"
    CHECK_STR(a.seen[0].in, "\"in\"");
    CHECK_STR(b.seen[0].in, "\"a#1\"");
    play_end(&p);
}

/* AE-72 */
TEST(the_first_edge_that_holds_is_followed)
{
    struct play p = { 0 };
    rondo_state states[] = { { "a", actor(&a) }, { "b", actor(&b) }, { "c", actor(&c) } };
    rondo_edge edges[] = { { "a", RONDO_END, flow_never }, { "a", "c", flow_always }, { "a", "b" },
                           { "b", RONDO_END }, { "c", RONDO_END } };
    play_flow(&p, MACHINE("a", states, edges), NULL);
    CHECK_STR(p.res.content, "c#1");
    CHECK_INT(b.calls, 0);
    play_end(&p);
}

static int is_enough(rondo_context *context, void *user)
{
    return strcmp(rondo_context_text(context), "enough") == 0;
}

/* AE-73 */
TEST(a_circle_runs_until_an_edge_leads_out)
{
    struct play p = { 0 };
    struct actor analyse = { .name = "analyse", .says = SAYS("more", "more", "enough") };
    struct actor tool = { .name = "tool" };
    rondo_state states[] = { { "analyse", actor(&analyse) }, { "tool", actor(&tool) } };
    rondo_edge edges[] = { { "analyse", RONDO_END, is_enough }, { "analyse", "tool" },
                           { "tool", "analyse" } };
    play_flow(&p, MACHINE("analyse", states, edges), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(analyse.calls, 3);
    CHECK_INT(tool.calls, 2);
    CHECK_STR(p.res.content, "enough");
    CHECK_STR(play_told(&p, "step_end"),
              "step_end m.0.analyse; step_end m.1.tool; step_end m.2.analyse; step_end m.3.tool; "
              "step_end m.4.analyse; step_end m");
    play_end(&p);
}

/* AE-74 */
TEST(a_machine_at_its_cap_returns_the_last_fails_or_flags)
{
    struct play last = { 0 }, fail = { 0 }, flag = { 0 };
    play_flow(&last, spin(3, RONDO_RETURN_LAST), NULL);
    CHECK_INT(last.rc, 0);
    CHECK_STR(last.res.content, "a#3");
    CHECK_INT(last.res.reason, RONDO_REASON_MAX_ITERATIONS);
    CHECK(!last.res.capped);
    play_end(&last);
    play_flow(&fail, spin(3, RONDO_FAIL), NULL);
    CHECK_INT(fail.rc, RONDO_ELIMIT);
    CHECK_STR(fail.err.message, "machine 'm' reached its cap of 3 passes");
    play_end(&fail);
    play_flow(&flag, spin(3, RONDO_FLAG), NULL);
    CHECK_INT(flag.rc, 0);
    CHECK(flag.res.capped);
    play_end(&flag);
}

/* AE-74 */
TEST(an_end_on_the_last_allowed_step_is_no_cap)
{
    struct play p = { 0 };
    rondo_state states[] = { { "a", actor(&a) }, { "b", actor(&b) } };
    rondo_edge edges[] = { { "a", "b" }, { "b", RONDO_END } };
    play_flow(&p, MACHINE("a", states, edges, .max_steps = 2, .on_max = RONDO_FAIL), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_NEXT);
    play_end(&p);
}

/* AE-75 */
TEST(a_state_that_no_edge_leaves_fails_with_its_output_and_the_candidates)
{
    struct play p = { 0 };
    char long_text[300];
    memset(long_text, 'x', sizeof long_text - 1);
    long_text[sizeof long_text - 1] = '\0';
    struct actor lost = { .name = "lost", .says = SAYS(long_text) };
    rondo_state states[] = { { "lost", actor(&lost) }, { "b", actor(&b) } };
    rondo_edge edges[] = { { "lost", "b", flow_never }, { "lost", RONDO_END, flow_never },
                           { "b", RONDO_END } };
    play_flow(&p, MACHINE("lost", states, edges), NULL);
    CHECK_INT(p.rc, RONDO_EINVAL);
    CHECK_INT(p.res.reason, RONDO_REASON_FAILED);
    CHECK(strstr(p.err.message, "'m'") != NULL);
    CHECK(strstr(p.err.message, "edges of machine 'm' failed in pass 1: no edge leaves state 'lost' for output 'xxx"));
    CHECK(strstr(p.err.message, "candidates: b __END__") != NULL);
    char two_hundred[204] = "'";
    memset(two_hundred + 1, 'x', 200);
    strcpy(two_hundred + 201, "'");
    CHECK(strstr(p.err.message, two_hundred) != NULL);
    play_end(&p);
}

static char visits[100];

static int looks_at_visits(rondo_context *context, void *user)
{
    rondo_history *h = rondo_context_history(context);
    char text[40];
    const json_t *first = rondo_context_output(context, "a");
    snprintf(text, sizeof text, "%lld:%s:%s ", (long long)rondo_history_count(h),
             rondo_history_text(h, 0, NULL), first ? json_string_value(first) : "-");
    strcat(visits, text);
    return rondo_context_pass(context) == 3;
}

/* AE-76 */
TEST(an_edges_predicate_sees_earlier_visits)
{
    struct play p = { 0 };
    rondo_state states[] = { { "a", actor(&a) }, { "b", actor(&b) } };
    rondo_edge edges[] = { { "a", "b" }, { "b", RONDO_END, looks_at_visits }, { "b", "a" } };
    play_flow(&p, MACHINE("a", states, edges), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_STR(visits, "2:a#1:a#1 4:a#1:a#2 ");
    play_end(&p);
}

/* AE-76 */
TEST(an_edge_that_fails_fails_the_machine)
{
    struct play p = { 0 };
    rondo_state states[] = { { "a", actor(&a) } };
    rondo_edge edges[] = { { "a", RONDO_END, flow_error } };
    play_flow(&p, MACHINE("a", states, edges), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "an edge of machine 'm' failed in pass 1: the rule broke");
    play_end(&p);
}

static int after_4(rondo_context *context, void *user)
{
    return rondo_context_pass(context) >= 3;
}

static rondo_node *ping_pong(bool no_feedback, int feedback)
{
    rondo_state states[] = { { "a", actor(&a), no_feedback }, { "b", actor(&b) } };
    rondo_edge edges[] = { { "a", "b" }, { "b", RONDO_END, after_4 }, { "b", "a" } };
    return MACHINE("a", states, edges, .feedback = feedback);
}

/* AE-77 */
TEST(a_state_that_is_visited_again_sees_its_own_previous_output)
{
    struct play p = { 0 };
    play_flow(&p, ping_pong(false, 0), NULL);
    CHECK(!a.seen[0].fed);
    CHECK(!b.seen[0].fed);
    CHECK(a.seen[1].fed);
    CHECK_STR(a.seen[1].previous, "\"a#1\"");
    CHECK_STR(a.seen[1].last, "\"b#1\"");
    CHECK_INT(a.seen[1].attempt, 1);
    CHECK_STR(b.seen[1].previous, "\"b#1\"");
    CHECK_STR(a.seen[1].in, "\"b#1\"");
    play_end(&p);
}

/* AE-78 */
TEST(a_state_without_feedback_gets_none)
{
    struct play one = { 0 }, all = { 0 };
    play_flow(&one, ping_pong(true, 0), NULL);
    CHECK(!a.seen[1].fed);
    CHECK(b.seen[1].fed);
    play_end(&one);
    a.calls = b.calls = 0;
    memset(a.seen, 0, sizeof a.seen);
    memset(b.seen, 0, sizeof b.seen);
    play_flow(&all, ping_pong(false, RONDO_FEEDBACK_OFF), NULL);
    CHECK(!a.seen[1].fed);
    CHECK(!b.seen[1].fed);
    play_end(&all);
}

/* AE-79 */
TEST(steps_are_told_in_the_order_in_which_they_ran)
{
    struct play p = { 0 };
    play_flow(&p, ping_pong(false, 0), NULL);
    CHECK_STR(play_told(&p, "iteration_start step_start"),
              "step_start m; iteration_start m 0; step_start m.0.a; iteration_start m 1; "
              "step_start m.1.b; iteration_start m 2; step_start m.2.a; iteration_start m 3; "
              "step_start m.3.b");
    rondo_history *h = rondo_run_history(p.run, "m");
    CHECK_INT(rondo_history_count(h), 4);
    CHECK_STR(rondo_history_text(h, 0, NULL), "a#1");
    CHECK_STR(rondo_history_text(h, 2, NULL), "a#2");
    CHECK_STR(rondo_history_text(h, 3, NULL), "b#2");
    play_end(&p);
}

TEST(a_machine_whose_state_fails_fails)
{
    struct play p = { 0 };
    struct actor bad = { .name = "bad", .says = SAYS("!broken") };
    rondo_state states[] = { { "a", actor(&a) }, { "bad", actor(&bad) } };
    rondo_edge edges[] = { { "a", "bad" }, { "bad", RONDO_END } };
    play_flow(&p, MACHINE("a", states, edges), NULL);
    CHECK_INT(p.rc, RONDO_EFAILED);
    CHECK_STR(p.err.message, "broken");
    CHECK_STR(p.res.content, "a#1");
    play_end(&p);
}

TEST(a_state_may_be_a_loop_and_a_loop_may_have_a_machine_as_its_body)
{
    struct play p = { 0 };
    rondo_node *inner = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "inner",
                                                       .body = actor(&a), .max_iterations = 2 });
    rondo_state states[] = { { "s", inner }, { "b", actor(&b) } };
    rondo_edge edges[] = { { "s", "b" }, { "b", RONDO_END } };
    play_flow(&p, rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "l", .max_iterations = 2,
                                            .body = MACHINE("s", states, edges) }), NULL);
    CHECK_STR(play_told(&p, "loop_end"),
              "loop_end l.0.m.0.s max_iterations 2; loop_end l.0.m next 2; "
              "loop_end l.1.m.0.s max_iterations 2; loop_end l.1.m next 2; "
              "loop_end l max_iterations 2");
    CHECK_STR(p.res.content, "b#2");
    play_end(&p);
}

TEST(an_agent_in_a_state_may_break_the_machine)
{
    struct play p = { 0 };
    struct actor stop = { .name = "stop", .says = SAYS("x", "^out") };
    rondo_state states[] = { { "stop", actor(&stop) } };
    rondo_edge edges[] = { { "stop", "stop" } };
    play_flow(&p, MACHINE("stop", states, edges), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(p.res.reason, RONDO_REASON_BREAK);
    CHECK_STR(p.res.content, "out");
    play_end(&p);
}

TEST(a_state_that_continues_asks_no_edge_and_stays)
{
    struct play p = { 0 };
    struct actor again = { .name = "again", .says = SAYS(">x", ">y", "z") };
    rondo_state states[] = { { "again", actor(&again) } };
    rondo_edge edges[] = { { "again", RONDO_END } };
    play_flow(&p, MACHINE("again", states, edges), NULL);
    CHECK_INT(p.rc, 0);
    CHECK_INT(again.calls, 3);
    CHECK_STR(p.res.content, "z");
    play_end(&p);
}
