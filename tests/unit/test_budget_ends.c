/* test_budget_ends.c - where a budget ends things, and as what: in containers inside loops, in tries and reviews, next
   to failures; and what is left then. */
#include "flows.h"
#include "test.h"

#include "engine/exit.h"
#include "engine/shell.h"

#include <stdio.h>
#include <string.h>

#define PLAY __attribute__((cleanup(play_end))) struct play

/* u spends 100 tokens, f does and fails; no says that a review is not content. */
#define AGENTS                                                                                             \
    "rondo: 1\nname: t\nagents:\n"                                                                         \
    "  ok: { script: [ok] }\n"                                                                             \
    "  empty: { script: [''] }\n"                                                                          \
    "  u: { script: [{ content: u, usage: { prompt: 100, cost: 0.1, calls: 1 } }] }\n"                     \
    "  f: { script: [{ fail: a, usage: { prompt: 100, cost: 0.1, calls: 1 } }] }\n"                        \
    "  late: { script: [{ content: late, delay: 20ms, usage: { prompt: 100 } }] }\n"                       \
    "  slow: { script: [{ content: slow, delay: 400ms }] }\n"                                              \
    "  judge: { script: [{ result: { score: 7 }, delay: 400ms }] }\n"                                      \
    "  no: { script: ['RETRY: more'] }\n"                                                                  \
    "  again: { script: [{ fail: x, delay: 250ms }, { content: late, delay: 250ms }] }\n"                  \
    "  brief: { script: [{ fail: x, delay: 250ms }, { delay: 250ms }], budget: { time: 300ms } }\n"        \
    "  once: { script: [good, { content: better, delay: 2s }] }\n"                                         \
    "  steady: { script: [{ content: good, delay: 100ms }] }\n"                                            \
    "  slowly: { script: [{ content: 'RETRY: more', delay: 500ms }], budget: { time: 600ms } }\n"

static void report(const rondo_problem *problem, void *user)
{
    FAIL("%s", problem->text);
}

/* A run's own limits are in its options: whoever starts a file takes them from there.  All of it follows from the
   log once more. */
static void play_text(struct play *p, const char *body)
{
    char text[4096];
    rondo_flow *flow;
    int len = snprintf(text, sizeof text, "%s%s", AGENTS, body);
    CHECK_INT(rondo_flow_parse("t.yaml", text, (size_t)len,
                               &(rondo_flow_options){ RONDO_FLOW, .report = report }, &flow, &p->err), 0);
    play_flow(p, rondo_flow_node(flow), "{}");
    rondo_flow_free(flow);
    size_t size;
    char *log = rondo_run_save(p->run, &size);
    CHECK_STR(rondo_run_replay(p->engine, p->node, log, size, &p->err) < 0 ? p->err.message : "", "");
    rondo_text_free(log);
}

static int64_t spent(const struct play *p)
{
    return p->res.usage.input_tokens;
}

/* ---- loops ------------------------------------------------------------------------------------------------ */

#define X(budget, loop) "steps: [{ id: x, " budget "loop: { maxIterations: 3, " loop " } }]"

TEST(a_loops_budget_binds_everything_inside_it)
{
    static const struct {
        const char *body;
        int64_t spent;
        const char *ends;
    } rows[] = {
        { X("", "budget: { cost: 0.15 }, steps: [{ id: i, agent: u, loop: { maxIterations: 20 } }]"), 200,
          "loop_end x.0.i cost 2; loop_end x cost 1" },
        { X("", "budget: { tokens: 150 }, steps: [{ id: i, agent: u, loop: { maxIterations: 20 } }]"), 200,
          "loop_end x.0.i tokens 2; loop_end x tokens 1" },
        { X("", "budget: { calls: 2 }, steps: [{ id: i, agent: u, loop: { maxIterations: 20 } }]"), 200,
          "loop_end x.0.i calls 2; loop_end x calls 1" },
        { X("budget: { tokens: 150 }, ", "steps: [{ id: i, agent: u, loop: { maxIterations: 20 } }]"), 200,
          "loop_end x.0.i tokens 2; loop_end x tokens 1" },
        { X("budget: { tokens: 150 }, ",
            "steps: [{ id: i, agent: u, loop: { forEach: '[1, 2, 3, 4]', maxConcurrency: 1 } }]"), 200,
          "loop_end x.0.i tokens 2; loop_end x tokens 1" },
        { X("budget: { tokens: 150 }, ",
            "order: sequence, steps: [{ id: i, agent: u }, { id: j, agent: u }, { id: k, agent: u }]"), 200,
          "loop_end x tokens 1" },
        { X("budget: { tokens: 50 }, ", "steps: [{ id: g, order: sequence, steps: [{ id: i, agent: u }, "
            "{ id: j, agent: ok }] }, { id: k, agent: u, dependsOn: [g] }]"), 100, "loop_end x tokens 1" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        play_text(&p, rows[i].body);
        CHECK_INT(p.rc, 0);
        CHECK_INT(spent(&p), rows[i].spent);
        CHECK_STR(play_told(&p, "loop_end"), rows[i].ends);
        CHECK_STR(p.res.content, "u");
    }
}

TEST(loops_in_loops_end_by_the_budget_that_is_used_up_first)
{
    PLAY p = { 0 };
    play_text(&p, X("", "budget: { tokens: 450 }, steps: [{ id: i, loop: { maxIterations: 20, "
                        "budget: { tokens: 250 }, steps: [{ id: k, agent: u, loop: { maxIterations: 10 } }] } }]"));
    CHECK_INT(p.rc, 0);
    CHECK_INT(spent(&p), 500);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end x.0.i.0.k tokens 3; loop_end x.0.i tokens 1; "
                                         "loop_end x.1.i.0.k tokens 2; loop_end x.1.i tokens 1; loop_end x tokens 2");
}

/* Nothing was cut: the pass is over when its last step has used up the budget, and is asked as ever. */
TEST(a_pass_whose_last_step_uses_up_the_budget_is_a_whole_one)
{
    PLAY p = { 0 };
    play_text(&p, X("", "budget: { tokens: 200 }, until: steps.j.content == 'u', order: sequence, "
                        "steps: [{ id: i, agent: u }, { id: j, agent: u }]"));
    CHECK_INT(p.rc, 0);
    CHECK_INT(play_step(&p, "x").reason, RONDO_REASON_UNTIL);
}

TEST(what_is_under_way_in_a_pass_may_end_and_cleaning_up_still_begins)
{
    PLAY p = { 0 };
    play_text(&p, X("", "budget: { tokens: 50 }, steps: [{ id: i, agent: u }, { id: l, agent: late }, "
                        "{ id: n, agent: u, dependsOn: [i] }, { id: c, agent: ok, runOn: always }]"));
    CHECK_INT(p.rc, 0);
    CHECK_INT(spent(&p), 200);
    CHECK_INT(play_step(&p, "x").reason, RONDO_REASON_TOKENS);
    CHECK_STR(play_told(&p, "@step_end iteration_end"),
              "0 step_end x.0.i; 20 step_end x.0.l; 20 step_end x.0.c; 20 step_end x.0; 20 iteration_end x 0; "
              "20 step_end x; 20 step_end");
}

/* ---- timeouts ------------------------------------------------------------------------------------------------ */

/* A timeout is a failure, and keeps what a budget of time would: the pass that it cut as well. */
TEST(a_loop_whose_time_is_over_has_what_its_open_pass_came_to)
{
    static const struct {
        const char *loop, *ends;
    } rows[] = {
        { "loop: { maxIterations: 4, LIMIT, steps: [{ id: w, agent: ok }, { id: q, agent: slow, dependsOn: [w] }] }",
          "loop_end x time 1" },
        { "agent: ok, loop: { maxIterations: 4, LIMIT, scoreAgent: judge }", "loop_end x time 1" },
        { "loop: { maxIterations: 4, LIMIT, steps: [{ id: i, loop: { maxIterations: 4, order: sequence, "
          "steps: [{ id: w, agent: ok }, { id: q, agent: slow }] } }] }", "loop_end x.0.i time 1; loop_end x time 1" },
    };
    static const char *const limits[] = { "budget: { time: 200ms }", "timeout: 200ms" };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
            PLAY p = { 0 };
            char text[400];
            const char *at = strstr(rows[i].loop, "LIMIT");
            snprintf(text, sizeof text, "steps: [{ id: x, %.*s%s%s }]", (int)(at - rows[i].loop), rows[i].loop,
                     limits[k], at + strlen("LIMIT"));
            play_text(&p, text);
            CHECK_STR(play_told(&p, "loop_end"), rows[i].ends);
            CHECK_STR(play_step(&p, "x").content, "ok");
            CHECK_INT(play_step(&p, "x").status, k ? RONDO_STATUS_FAILED : RONDO_STATUS_COMPLETED);
        }
}

/* It has failed when its time is over before the next try, and whoever reads the log takes that as it is. */
TEST(a_body_whose_next_try_comes_too_late_has_failed)
{
    static const rondo_options limits[] = { { .timeout_ms = 200 }, { .budget = { .time_ms = 200 } } };
    for (size_t k = 0; k < sizeof limits / sizeof *limits; k++) {
        PLAY p = { 0 }, q = { 0 };
        size_t size;
        struct actor a = { .name = "a", .says = SAYS("?busy"),
                           .options.retry = { .attempts = 3, .delay_ms = 1000 } };
        play_flow(&p, rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "x", .body = actor(&a), .max_iterations = 4,
                                                     .options = limits[k] }), NULL);
        CHECK_INT(p.res.status, RONDO_STATUS_FAILED);
        char *log = rondo_run_save(p.run, &size);
        play_again(&q, rondo_node_ref(p.node), log, size);
        rondo_text_free(log);
        CHECK_INT(q.res.status, RONDO_STATUS_FAILED);
    }
}

/* ---- failures ------------------------------------------------------------------------------------------------ */

#define THEN_Z ", { id: z, agent: ok, dependsOn: [g] }]"

TEST(a_failure_is_one_though_it_used_up_the_budget)
{
    static const char *const rows[] = {
        "steps: [{ id: g, budget: { tokens: 50 }, steps: [{ id: x, agent: f }] }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, order: sequence, steps: [{ id: x, agent: f }] }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, agent: f, loop: { forEach: '[1, 2]', maxConcurrency: 1 } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, agent: f, "
        "loop: { forEach: '[1, 2]', maxConcurrency: 1, onItemFailure: continue } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, agent: f, retry: { attempts: 3 }, "
        "loop: { forEach: '[1, 2]', maxConcurrency: 1 } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, parallel: { agents: [f, f] } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, parallel: { agents: [f, f], mode: collect } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, branch: [{ when: 'true', agent: f }, "
        "{ else: { agent: ok } }] }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, forum: { captain: ok, members: [f, ok] } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, agent: f, loop: { maxIterations: 3 } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 50 }, steps: [{ id: x, agent: f, loop: { maxIterations: 3 } }] }" THEN_Z,
        "steps: [{ id: g, loop: { maxIterations: 3, budget: { tokens: 50 }, steps: [{ id: x, agent: f, "
        "retry: { attempts: 3 } }] } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 150 }, steps: [{ id: x, agent: f, retry: { attempts: 3, delay: 1s } }, "
        "{ id: y, agent: late }] }" THEN_Z,
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        play_text(&p, rows[i]);
        CHECK_INT(p.rc, RONDO_EFAILED);
        CHECK_INT(p.res.status, RONDO_STATUS_FAILED);
        CHECK_INT(play_step(&p, "g").status, RONDO_STATUS_FAILED);
        CHECK_INT(play_step(&p, "z").status, RONDO_STATUS_CANCELLED);
        CHECK(spent(&p) <= 200);
    }
}

TEST(what_its_container_can_live_with_stays_so)
{
    static const char *const rows[] = {
        "steps: [{ id: g, budget: { tokens: 150 }, loop: { forEach: '[1, 2, 3]', maxConcurrency: 1, "
        "onItemFailure: continue, steps: [{ id: b, branch: [{ when: item == 1, agent: u }, { else: { agent: f } }] "
        "}] } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 150 }, parallel: { agents: [u, f], mode: collect } }" THEN_Z,
        "steps: [{ id: g, budget: { tokens: 150 }, agent: f, loop: { maxIterations: 5, onError: continue, "
        "maxFailures: 9 } }" THEN_Z,
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        play_text(&p, rows[i]);
        CHECK_INT(p.rc, 0);
        CHECK_INT(spent(&p), 200);
        CHECK_INT(play_step(&p, "g").status, RONDO_STATUS_COMPLETED);
    }
}

TEST(a_run_that_fails_with_its_last_money_has_failed)
{
    PLAY one = { .options.budget.tokens = 50 }, two = { .options.budget.tokens = 50 };
    play_text(&one, "steps: [{ id: x, agent: f }]");
    CHECK_INT(one.res.status, RONDO_STATUS_FAILED);
    CHECK_INT(one.res.reason, RONDO_REASON_TOKENS);
    CHECK_INT(exit_code(one.run), EXIT_BUDGET);
    play_text(&two, "steps: [{ id: w, agent: ok }, { id: x, agent: f, dependsOn: [w] }]");
    CHECK_INT(two.res.status, RONDO_STATUS_PARTIAL);
    CHECK_INT(exit_code(two.run), EXIT_BUDGET);
    CHECK_STR(two.res.content, "ok");
}

/* ---- tries and reviews --------------------------------------------------------------------------------------- */

TEST(a_steps_own_budget_is_that_of_all_its_tries)
{
    static const struct {
        const char *step;
        int64_t spent;
    } rows[] = {
        { "agent: f, budget: { tokens: 150 }, retry: { attempts: 5 }", 200 },
        { "agent: f, budget: { calls: 1 }, retry: { attempts: 5 }", 100 },
        { "agent: f, budget: { tokens: 1000 }, retry: { attempts: 5 }", 500 },
        { "agent: f, budget: { time: 25ms }, retry: { attempts: 5, delay: 10ms, factor: 1 }", 300 },
        { "budget: { tokens: 150 }, retry: { attempts: 5 }, steps: [{ id: y, agent: f }]", 200 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        char body[300];
        snprintf(body, sizeof body, "steps: [{ id: x, %s }]", rows[i].step);
        play_text(&p, body);
        CHECK_INT(p.rc, RONDO_EFAILED);
        CHECK_INT(spent(&p), rows[i].spent);
    }
}

/* Tries and the waits between them.  A wait that would take the rest is not begun. */
TEST(a_steps_own_time_is_that_of_all_its_tries)
{
    static const struct {
        const char *step;
        int64_t ms;
        int status;
    } rows[] = {
        { "agent: again, budget: { time: 300ms }, retry: { attempts: 2 }", 300, RONDO_STATUS_COMPLETED },
        { "agent: again, budget: { time: 600ms }, retry: { attempts: 2 }", 500, RONDO_STATUS_COMPLETED },
        { "agent: again, budget: { time: 600ms }, retry: { attempts: 2, delay: 200ms }", 600, RONDO_STATUS_COMPLETED },
        { "agent: brief, retry: { attempts: 2 }", 300, RONDO_STATUS_COMPLETED },
        { "steps: [{ id: y, agent: again }], budget: { time: 300ms }, retry: { attempts: 2 }", 300,
          RONDO_STATUS_COMPLETED },
        { "agent: f, budget: { time: 300ms }, retry: { attempts: 2, delay: 3s }", 0, RONDO_STATUS_FAILED },
        { "agent: f, budget: { time: 300ms }, retry: { attempts: 2, delay: 300ms }", 0, RONDO_STATUS_FAILED },
        { "agent: f, budget: { time: 300ms }, retry: { attempts: 2, delay: 299ms }", 299, RONDO_STATUS_FAILED },
        { "agent: f, loop: { maxIterations: 2, budget: { time: 300ms } }, retry: { attempts: 2, delay: 10s }", 0,
          RONDO_STATUS_FAILED },
        { "agent: f, loop: { forEach: '[1]' }, budget: { time: 300ms }, retry: { attempts: 2, delay: 10s }", 0,
          RONDO_STATUS_FAILED },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        char body[300];
        snprintf(body, sizeof body, "steps: [{ id: x, %s }]", rows[i].step);
        play_text(&p, body);
        CHECK_INT(play_ms(&p), rows[i].ms);
        CHECK_INT(play_step(&p, "x").status, rows[i].status);
    }
}

/* What a round is cut in that has said nothing yet is what the review had seen.  The reviewer's time is its own, and
   begins anew with each round. */
TEST(a_steps_own_time_is_that_of_all_rounds_of_its_review)
{
    static const struct {
        const char *step;
        int64_t ms, rounds;
    } rows[] = {
        { "agent: once, budget: { time: 300ms }, review: { agent: no, maxRetries: 1 }", 300, 2 },
        { "steps: [{ id: y, agent: once }], budget: { time: 300ms }, review: { agent: no, maxRetries: 1 }", 300, 2 },
        { "agent: once, loop: { maxIterations: 1 }, budget: { time: 300ms }, review: { agent: no, maxRetries: 1 }",
          300, 2 },
        { "steps: [{ id: y, agent: once }, { id: z, agent: late, dependsOn: [y] }], budget: { time: 300ms }, "
          "review: { agent: no, maxRetries: 1 }", 300, 2 },
        { "agent: once, loop: { maxIterations: 1, outputMode: cumulative }, budget: { time: 300ms }, "
          "review: { agent: no, maxRetries: 1 }", 300, 2 },
        { "agent: steady, budget: { time: 300ms }, review: { agent: slowly, maxRetries: 9 }", 1800, 3 },
        { "agent: steady, budget: { time: 400ms }, review: { agent: slowly, maxRetries: 2 }", 1800, 3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        char body[300];
        snprintf(body, sizeof body, "steps: [{ id: x, %s }]", rows[i].step);
        play_text(&p, body);
        CHECK_INT(p.rc, 0);
        CHECK_INT(play_ms(&p), rows[i].ms);
        CHECK_INT(play_count(&p, RONDO_EV_REVIEW, NULL), rows[i].rounds);
        CHECK_STR(p.res.content, i == 3 ? "late" : i == 4 ? "## Iteration 1\ngood" : "good");
    }
}

TEST(a_budget_is_that_of_all_that_a_review_asks_for)
{
    static const char *const rows[] = {
        "steps: [{ id: x, agent: u, budget: { tokens: 150 }, review: { agent: no, maxRetries: 9 } }]",
        "steps: [{ id: x, loop: { maxIterations: 1, budget: { tokens: 150 }, steps: [{ id: y, agent: u, "
        "review: { agent: no, maxRetries: 9 } }] } }]",
        "steps: [{ id: x, budget: { tokens: 150 }, steps: [{ id: y, agent: u, "
        "review: { agent: no, maxRetries: 9 } }] }]",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        play_text(&p, rows[i]);
        CHECK_INT(p.rc, 0);
        CHECK_INT(spent(&p), 200);
        CHECK_STR(p.res.content, "u");
    }
}

/* ---- what is left ---------------------------------------------------------------------------------------------- */

#define CHAIN "steps: [{ id: a, agent: u }, { id: b, agent: empty, dependsOn: [a] }, " \
              "{ id: c, agent: u, dependsOn: [b] }, { id: d, agent: ok, dependsOn: [c] }]"

TEST(what_a_budget_ended_gives_the_last_step_that_says_something)
{
    static const struct {
        int64_t tokens;
        const char *body;
    } rows[] = {
        { 50, CHAIN },
        { 150, CHAIN },
        { 150, "order: sequence\nsteps: [{ id: a, agent: u }, { id: b, agent: u }, { id: c, agent: ok }]" },
        { 0, "steps: [{ id: g, budget: { tokens: 150 }, " CHAIN " }]" },
        { 0, "steps: [{ id: g, budget: { tokens: 150 }, order: sequence, steps: [{ id: a, agent: u }, "
             "{ id: b, agent: empty }, { id: c, agent: late }, { id: d, agent: empty }] }]" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { .options.budget.tokens = rows[i].tokens };
        play_text(&p, rows[i].body);
        CHECK_INT(p.rc, 0);
        CHECK_STR(p.res.content, i == 4 ? "late" : "u");
        CHECK_INT(rows[i].tokens ? p.res.reason : play_step(&p, "g").reason, RONDO_REASON_TOKENS);
        CHECK_INT(exit_code(p.run), rows[i].tokens ? EXIT_BUDGET : EXIT_OK);
    }
}

TEST(a_step_that_its_time_ended_says_so)
{
    PLAY p = { 0 };
    play_text(&p, "output: '[steps.a.reason, steps.a.status, steps.b.reason]'\n"
                  "steps: [{ id: a, agent: slow, budget: { time: 50ms } }, { id: b, agent: ok, dependsOn: [a], "
                  "budget: { time: 50ms } }]");
    CHECK_STR(p.output, "[\"time\",\"completed\",\"\"]");
    CHECK_INT(play_step(&p, "a").reason, RONDO_REASON_TIME);
    CHECK_INT(play_find(&p, RONDO_EV_TIMER, "a")->reason, RONDO_REASON_TIME);
}
