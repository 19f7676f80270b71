/* test_flow_run.c - what runs of workflow files tell, event by event. */
#include "flows.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

#define PLAY __attribute__((cleanup(play_end))) struct play

static void report(const rondo_problem *problem, void *user)
{
    FAIL("%s", problem->text);
}

/* Plays a file of the rondo dialect, given without its first lines. */
static void play_text(struct play *p, const char *body)
{
    char text[4096];
    rondo_flow *flow;
    int len = snprintf(text, sizeof text, "rondo: 1\nname: t\n%s", body);
    CHECK_INT(rondo_flow_parse("t.yaml", text, (size_t)len,
                               &(rondo_flow_options){ RONDO_FLOW, .report = report }, &flow, &p->err), 0);
    play_flow(p, rondo_flow_node(flow), "{}");
    rondo_flow_free(flow);
}

/* ---- which comes first ---------------------------------------------------------------------------------- */

static const char *starts(const char *scheduler, int places, const char *steps)
{
    static char text[2048];
    char body[2048];
    PLAY p = { .max_concurrency = places };
    snprintf(body, sizeof body,
             "agents:\n  a: { script: [ { content: x, delay: 10ms } ] }\n"
             "  b: { script: [ { content: x, delay: 25ms } ] }\n  c: { script: [ { content: x, delay: 100ms } ] }\n"
             "options: { scheduler: %s, maxConcurrency: %d }\nsteps: %s\n", scheduler, places, steps);
    play_text(&p, body);
    CHECK_INT(p.rc, 0);
    *text = '\0';
    for (size_t i = 0; i < p.count; i++)
        if (p.said[i].type == RONDO_EV_STEP_START && *p.said[i].path)
            strcat(strcat(text, *text ? " " : ""), p.said[i].path);
    return text;
}

#define SIX "[ { id: a1, agent: a }, { id: a2, agent: a }, { id: a3, agent: a }, { id: b1, agent: b }, " \
            "{ id: b2, agent: b }, { id: c1, agent: c } ]"

TEST(steps_start_in_the_order_of_the_file)
{
    CHECK_STR(starts("dependency-first", 1, SIX), "a1 a2 a3 b1 b2 c1");
}

TEST(round_robin_takes_one_of_each_agent_in_turn)
{
    CHECK_STR(starts("round-robin", 1, SIX), "a1 b1 c1 a2 b2 a3");
    CHECK_STR(starts("round-robin", 2, SIX), "a1 b1 c1 a2 b2 a3");
    CHECK_STR(starts("round-robin", 1, "[ { id: b1, agent: b }, { id: a1, agent: a, dependsOn: [b1] }, "
                                       "{ id: b2, agent: b, dependsOn: [b1] }, { id: b3, agent: b } ]"),
              "b1 a1 b3 b2"); // a has its turn first, then the one of b that is ready first
}

/* Two places: a1 and b1 (10 and 25 ms).  When a1 is done only b is busy, so a comes again. */
TEST(least_busy_takes_of_the_agent_with_the_fewest_at_work)
{
    CHECK_STR(starts("least-busy", 2, SIX), "a1 b1 a2 a3 b2 c1");
    CHECK_STR(starts("least-busy", 1, SIX), "a1 a2 a3 b1 b2 c1"); // nobody is ever busy
    CHECK_STR(starts("least-busy", 3, SIX), "a1 b1 c1 a2 a3 b2");
}

TEST(schedulers_hold_inside_loops_and_with_reviews)
{
    CHECK_STR(starts("round-robin", 1, "[ { id: l, loop: { maxIterations: 1, steps: [ { id: a1, agent: a }, "
                                       "{ id: a2, agent: a }, { id: b1, agent: b } ] } } ]"),
              "l l.0 l.0.a1 l.0.b1 l.0.a2");
    CHECK_STR(starts("round-robin", 1, "[ { id: a1, agent: a }, { id: a2, agent: a }, { id: b1, agent: b, "
                                       "condition: 'false' } ]"), "a1 a2");
}
