/* test_flow_run.c - what runs of workflow files tell, event by event. */
#include "flows.h"
#include "test.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAY __attribute__((cleanup(play_end))) struct play

static void report(const rondo_problem *problem, void *user)
{
    if (!problem->is_warning)
        FAIL("%s", problem->text);
}

static const char *place; // the file is there, and others are beside it; NULL: nowhere

/* Plays a file of the rondo dialect, given without its first lines. */
static void play_text(struct play *p, const char *body)
{
    char text[4096];
    rondo_flow *flow;
    rondo_flow_options options = { RONDO_FLOW, .report = report };
    int len = snprintf(text, sizeof text, "rondo: 1\nname: t\n%s", body);
    FILE *file = place ? fopen(place, "w") : NULL;
    CHECK(!place || (file && fputs(text, file) >= 0 && fclose(file) == 0));
    CHECK_INT(place ? rondo_flow_load(place, &options, &flow, &p->err)
                    : rondo_flow_parse("t.yaml", text, (size_t)len, &options, &flow, &p->err), 0);
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
             "  yes: { script: [APPROVE] }\n  again: { script: [RETRY, APPROVE] }\n"
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

TEST(who_comes_after_a_step_that_waits_for_all_does_not_hold_it_up)
{
    static const struct { const char *steps, *order; } cases[] = {
        { "[ { id: s, agent: b, runOn: always }, { id: d, agent: a, dependsOn: [s] }, { id: x, agent: c } ]", "x s d" },
        { "[ { id: s, agent: b, runOn: always, review: { agent: yes } }, { id: x, agent: c } ]", "x s s.review" },
        { "[ { id: g, order: sequence, steps: [ { id: s, agent: b, runOn: always }, { id: d, agent: a } ] } ]",
          "g g.s g.d" },
        { "[ { id: l, loop: { maxIterations: 1, steps: [ { id: s, agent: b, runOn: always }, { id: x, agent: c }, "
          "{ id: d, agent: a, dependsOn: [s, x] } ] } } ]", "l l.0 l.0.x l.0.s l.0.d" },
        { "[ { id: s, agent: b, runOn: failure }, { id: d, agent: a, dependsOn: [s] }, { id: x, agent: c } ]", "x d" },
        { "[ { id: s, agent: b, runOn: always, review: { agent: again } }, { id: d, agent: a, dependsOn: [s] }, "
          "{ id: x, agent: c } ]", "x s s.review s~1 s.review~1 d" },
    };
    for (size_t i = 0; i < COUNT(cases); i++)
        CHECK_STR(starts("dependency-first", 5, cases[i].steps), cases[i].order);
}

/* ---- ends without a start --------------------------------------------------------------------------------- */

/* Every event at which the run could have been killed: from each of them it goes on to the same end. */
struct saves {
    char *log[200];
    size_t len[200];
    int count;
};

static void save(struct play *p, const rondo_event *event)
{
    struct saves *saves = p->user;
    CHECK(saves->count < 200);
    saves->log[saves->count] = rondo_run_save(p->run, &saves->len[saves->count]);
    saves->count++;
}

/* What is in the scope `m`, as JSON text; freed by the caller. */
static char *remembered(rondo_run *run)
{
    rondo_value *list = rondo_run_memory(run, "m");
    return list ? rondo_value_text(list) : NULL;
}

static void go_on(struct play *p, const char *log, size_t len)
{
    rondo_engine *engine;
    rondo_run *run;
    rondo_result res;
    rondo_error err;
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &engine, NULL), 0);
    CHECK_INT(rondo_run_recover(engine, p->node, log, len, NULL, &run, &err), 0);
    while (rondo_run_next(run))
        ;
    CHECK_INT(rondo_run_result(run, &res), 0);
    CHECK_INT(res.status, p->res.status);
    CHECK_STR(res.error, p->res.error);
    CHECK_STR(res.content, p->res.content);
    char *before = remembered(p->run), *now = remembered(run);
    CHECK_STR(now ? now : "", before ? before : "");
    rondo_text_free(before);
    rondo_text_free(now);
    rondo_engine_free(engine);
}

/* The errors that were told, and that they are the same after every recovery. */
static const char *errors(struct play *p, const char *body)
{
    struct saves saves = { 0 };
    p->on_event = save;
    p->user = &saves;
    play_text(p, body);
    for (int i = 0; i < saves.count; i++) {
        go_on(p, saves.log[i], saves.len[i]);
        rondo_text_free(saves.log[i]);
    }
    return play_told(p, "error");
}

#define FAILS "agents: { f: { script: [ { fail: no } ] }, w: { script: [text] } }\n"
#define LATE  "timeout: 1s, retry: { attempts: 5, delay: 10s }"

TEST(a_step_whose_time_is_over_before_its_next_try_fails_with_an_event)
{
    PLAY in_graph = { 0 }, in_sequence = { 0 }, in_parallel = { 0 }, in_each = { 0 }, in_loop = { 0 };
    PLAY in_machine = { 0 }, in_branch = { 0 };
    CHECK_STR(errors(&in_graph, FAILS "steps: [ { id: a, agent: f, " LATE " }, { id: b, agent: w } ]"),
              "error a; error a~1; error");
    CHECK_STR(in_graph.res.error, "timed out after 1000 ms");
    CHECK_INT(in_graph.res.status, RONDO_STATUS_PARTIAL);
    CHECK_STR(errors(&in_sequence, FAILS "order: sequence\nsteps: [ { id: b, agent: w }, "
                                   "{ id: a, agent: f, " LATE " } ]"),
              "error a; error a~1; error");
    CHECK_STR(errors(&in_parallel, FAILS "steps: [ { id: p, parallel: { steps: [ { id: a, agent: f, " LATE
                                         " }, { id: b, agent: w } ] } } ]"),
              "error p.a; error p.a~1; error p; error");
    CHECK_STR(errors(&in_each, FAILS "steps: [ { id: e, loop: { forEach: '[1, 2]', steps: [ { id: a, agent: f, " LATE
                                     " } ] } } ]"),
              "error e[0].a; error e[1].a; error e[0].a~1; error e[0]; error e[1].a~1; error e[1]; error e; error");
    CHECK_STR(errors(&in_loop, FAILS "steps: [ { id: l, loop: { maxIterations: 3, steps: [ { id: a, agent: f, " LATE
                                     " } ] } } ]"),
              "error l.0.a; error l.0.a~1; error l.0; error l; error");
    CHECK_STR(errors(&in_machine, FAILS "steps: [ { id: m, machine: { start: a, states: { a: { agent: f, " LATE
                                        " } }, edges: [ { from: a, to: end } ] } } ]"),
              "error m.0.a; error m.0.a~1; error m; error");
    CHECK_STR(errors(&in_branch, FAILS "steps: [ { id: x, branch: [ { when: 'true', name: a, "
                                 "agent: f, " LATE " } ] } ]"),
              "error x.a; error x.a~1; error x; error");
}

TEST(a_step_that_its_review_rejects_fails_with_an_event)
{
    PLAY p = { 0 }, abort = { 0 }, handled = { 0 };
#define JUDGED "agents: { w: { script: [text] }, no: { script: ['REJECT: dull'] }, " \
               "s: { script: [ { content: x, delay: 5s } ] } }\n"
    CHECK_STR(errors(&p, JUDGED "steps: [ { id: a, agent: w, review: { agent: no } }, "
                                "{ id: b, agent: w, dependsOn: [a] }, { id: c, agent: w } ]"),
              "error a; error");
    CHECK_STR(p.res.error, "rejected by its review: dull");
    CHECK_STR(p.res.content, "text");
    CHECK_STR(errors(&abort, JUDGED "steps: [ { id: a, agent: w, review: { agent: no } }, { id: b, agent: s } ]\n"
                                    "options: { onStepFailure: abort }"),
              "error a; error");
    CHECK_STR(play_told(&abort, "step_skipped step_cancelled"), "step_cancelled b");
    CHECK_STR(errors(&handled, JUDGED "steps: [ { id: a, agent: w, review: { agent: no } }, "
                                      "{ id: b, agent: w, dependsOn: [a], runOn: failure } ]"), "error a");
    CHECK_INT(handled.res.status, RONDO_STATUS_COMPLETED);
}

TEST(a_review_that_nobody_understood_fails_with_an_event)
{
    PLAY p = { 0 };
    CHECK_STR(errors(&p, "agents: { w: { script: [text] }, mumbles: { script: [hm] } }\n"
                         "steps: [ { id: a, agent: w, review: { agent: mumbles } }, "
                         "{ id: b, agent: w, dependsOn: [a] } ]"),
              "error a; error");
    CHECK_STR(p.res.error, "the review was not understood");
    CHECK_INT(p.res.status, RONDO_STATUS_FAILED);
}

TEST(a_step_whose_reviewer_fails_has_failed_and_says_why)
{
#define SILENT "agents: { w: { script: [text] }, down: { script: [ { fail: down } ] }, " \
               "s: { script: [ { content: x, delay: 5s } ] } }\n"
    PLAY p = { 0 }, twice = { 0 }, abort = { 0 }, handled = { 0 };
    CHECK_STR(errors(&p, SILENT "steps: [ { id: a, agent: w, review: { agent: down } }, "
                                "{ id: b, agent: w, dependsOn: [a] }, { id: c, agent: w } ]"),
              "error a.review; error a; error");
    CHECK_STR(p.res.error, "the reviewer failed: down");
    CHECK_STR(play_told(&p, "step_skipped step_cancelled"), "step_cancelled b");
    CHECK_STR(errors(&twice, SILENT "steps: [ { id: l, loop: { maxIterations: 1, steps: [ "
                                    "{ id: a, agent: w, review: { agent: down } } ] } } ]"),
              "error l.0.a.review; error l.0.a; error l.0; error l; error");
    CHECK_STR(errors(&abort, SILENT "steps: [ { id: a, agent: w, review: { agent: down } }, { id: b, agent: s } ]\n"
                                    "options: { onStepFailure: abort }"),
              "error a.review; error a; error");
    CHECK_STR(errors(&handled, SILENT "output: \"steps.a.status + ': ' + steps.a.error\"\n"
                                      "steps: [ { id: a, agent: w, review: { agent: down } }, "
                                      "{ id: b, dependsOn: [a], runOn: failure, agent: w } ]"),
              "error a.review; error a");
    CHECK_INT(handled.res.status, RONDO_STATUS_COMPLETED);
    CHECK_STR(handled.res.content, "failed: the reviewer failed: down");
}

TEST(what_a_judge_had_said_is_told_though_it_failed)
{
    PLAY p = { 0 };
    CHECK_STR(errors(&p, "agents:\n"
                         "  w: { script: [text] }\n"
                         "  j:\n"
                         "    script: [{ content: hm, result: { don: 1 } }, { fail: { message: down, said: so far } }, "
                         "{ fail: off }]\n"
                         "    resultSchema: { type: object, required: [done], "
                         "properties: { done: { type: boolean } } }\n"
                         "steps: [ { id: l, agent: w, loop: { maxIterations: 3, maxFailures: 9, untilAgent: j, "
                         "onMaxIterations: returnLast } } ]\n"
                         "output: steps.l.history.map(h, h.judge).join('; ')\n"),
              "error l.0.judge; error l.1.judge; error l.2.judge");
    CHECK_STR(p.res.content, "hm\n(failed: output: missing property 'done'); so far\n(failed: down); off");
}

/* `give` says when the step that counts runs; five passes, so that some are read back from the log. */
static const char *named_output(struct play *p, const char *give, const char *more)
{
    static char text[700];
    snprintf(text, sizeof text,
             "agents: { w: { script: [ { content: one, result: { n: 1 } }, two ] }, c: { script: [other] }, "
             "f: { script: [ok, { fail: no }] } }\n"
             "steps: [ { id: l, loop: { maxIterations: 5, onMaxIterations: returnLast, output: a, steps: [ "
             "{ id: a, agent: w, condition: \"%s\" }, { id: b, agent: c, dependsOn: [a] } ]%s } } ]\n"
             "output: \"steps.l.content + ': ' + steps.l.history.map(h, h.content).join(' ') + ' ' + "
             "steps.l.steps.b.content\"",
             give, more);
    errors(p, text);
    return p->res.content;
}

TEST(a_loop_gives_what_the_step_it_names_gave_last)
{
    PLAY once = { 0 }, never = { 0 }, later = { 0 }, shown = { 0 };
    CHECK_STR(named_output(&once, "iteration == 0", ""), "one: one one one one one other");
    CHECK_STR(named_output(&never, "iteration > 8", ""), ":      other");
    CHECK_STR(named_output(&later, "iteration == 1 || iteration == 3", ""), "two:  one one two two other");
    CHECK_STR(named_output(&shown, "iteration == 0", ", until: content == 'one' && iteration == 2"),
              "one: one one one other");
}

TEST(what_a_loop_came_to_before_it_failed_stays)
{
    PLAY p = { 0 };
    errors(&p, "agents: { w: { script: [ { content: t, result: { v: 2 } } ] }, "
               "i: { script: [ { content: t, result: { v: 3 } }, { fail: bad } ] } }\n"
               "steps:\n"
               "- { id: l, loop: { maxIterations: 1, until: 'false', steps: [ { id: a, agent: w } ] } }\n"
               "- { id: c, agent: w, loop: { maxIterations: 2, until: 'false', outputMode: cumulative } }\n"
               "- { id: e, agent: i, loop: { forEach: [1, 2, 3], maxConcurrency: 1 } }\n"
               "- { id: z, agent: w, runOn: always, dependsOn: [l, c, e] }\n"
               "output: '[dyn(steps.l.result.v), steps.l.steps.a.result.v, steps.c.result, "
               "steps.e.result.iterations.map(i, i.status), steps.e.passes, steps.e.reason]'\n");
    CHECK_STR(p.output, "[2,2,[{\"v\":2},{\"v\":2}],[\"completed\",\"failed\",\"cancelled\"],2,\"failed\"]");
}

TEST(an_each_tells_its_reason_like_a_loop)
{
    static const struct { const char *loop, *told; } rows[] = {
        { "loop: { forEach: [1, 2] }", "loop_end e items 2" },
        { "loop: { forEach: \"[1].filter(i, i > 1)\" }", "loop_end e items 0" },
        { "loop: { forEach: [1, 2, 3], maxConcurrency: 1, steps: [ { id: a, agent: f } ] }", "loop_end e failed 2" },
        { "loop: { forEach: [1, 2, 3], maxConcurrency: 1, onItemFailure: continue, steps: [ { id: a, agent: f } ] }",
          "loop_end e items 3" },
        { "loop: { forEach: [1, 2, 3], maxConcurrency: 1, steps: [ { id: a, agent: b } ] }", "loop_end e break 1" },
        { "loop: { forEach: [1, 2, 3], maxConcurrency: 1, steps: [ { id: a, agent: s } ] }, timeout: 7s",
          "loop_end e time 1" },
        { "loop: { forEach: \"[1, 2].map(i, [1][i + size(inputs)])\" }", "loop_end e failed 0" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        char text[600];
        snprintf(text, sizeof text,
                 "agents: { w: { script: [ok] }, f: { script: [ok, { fail: no }, ok] }, "
                 "b: { script: [ { content: x, actions: { break: true } } ] }, "
                 "s: { script: [ { content: x, delay: 5s } ] } }\n"
                 "steps: [ { id: e, %s%s } ]", strstr(rows[i].loop, "steps:") ? "" : "agent: w, ", rows[i].loop);
        errors(&p, text);
        CHECK_STR(play_told(&p, "loop_end"), rows[i].told);
    }
}

/* A limit around it is told like one of its own. */
TEST(an_each_is_ended_by_limits_around_it_like_a_loop)
{
    static const struct { const char *around, *told; } rows[] = {
        { "timeout: 7s, steps: [ BOTH ]", "loop_end b.e time 1; loop_end b.i time 1" },
        { "loop: { maxIterations: 2, timeout: 7s, steps: [ BOTH ] }",
          "loop_end b.0.e time 1; loop_end b.0.i time 1; loop_end b time 1" },
    };
    static const char both[] = "{ id: i, agent: s, loop: { maxIterations: 5 } }, "
                               "{ id: e, agent: s, loop: { forEach: [1, 2, 3], maxConcurrency: 1 } }";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        PLAY p = { 0 };
        char text[600];
        const char *at = strstr(rows[i].around, "BOTH");
        snprintf(text, sizeof text,
                 "agents: { s: { script: [ { content: x, delay: 5s } ] } }\nsteps: [ { id: b, %.*s%s%s } ]",
                 (int)(at - rows[i].around), rows[i].around, both, at + strlen("BOTH"));
        errors(&p, text);
        CHECK_STR(play_told(&p, "loop_end"), rows[i].told);
    }
    PLAY p = { .options = { .timeout_ms = 7000 } };
    char text[600];
    snprintf(text, sizeof text, "agents: { s: { script: [ { content: x, delay: 5s } ] } }\nsteps: [ %s ]", both);
    errors(&p, text);
    CHECK_STR(play_told(&p, "loop_end"), "loop_end e time 1; loop_end i time 1");
}

TEST(a_cap_is_no_failure_where_while_ends_the_loop)
{
    PLAY p = { 0 }, alone = { 0 };
    CHECK_STR(errors(&p, "agents: { w: { script: [a, b] } }\n"
                         "steps: [ { id: e, agent: w, "
                         "loop: { next: content, while: iteration < 5, maxIterations: 2 } } ]"),
              "");
    CHECK_STR(p.res.content, "b");
    CHECK_STR(errors(&alone, "agents: { w: { script: [a, b] } }\n"
                             "steps: [ { id: e, agent: w, loop: { next: content, maxIterations: 2 } } ]"),
              "error e; error");
}

TEST(the_clock_answers_a_gate_by_the_name_of_timeout)
{
    PLAY p = { 0 };
    errors(&p, "output: steps.g.by\nsteps: [ { id: g, gate: { ask: x, timeout: 1s, onTimeout: { answer: fine } } } ]");
    CHECK_STR(p.res.content, "timeout");
}

TEST(a_retry_that_nobody_can_decide_is_told_and_not_made)
{
#define UNCLEAR "agent: f, retry: { attempts: 5, on: \"int(error) == 1\" }"
    static const struct { const char *steps, *path; } cases[] = {
        { "{ id: a, " UNCLEAR " }", "a" },
        { "{ id: a, loop: { maxIterations: 2, steps: [ { id: b, " UNCLEAR " } ] } }", "a.0.b" },
        { "{ id: a, loop: { forEach: [1], steps: [ { id: b, " UNCLEAR " } ] } }", "a[0].b" },
        { "{ id: a, branch: [ { when: \"true\", name: b, " UNCLEAR " } ] }", "a.b" },
        { "{ id: a, parallel: { steps: [ { id: b, " UNCLEAR " } ] } }", "a.b" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        PLAY p = { 0 };
        char text[1000];
        snprintf(text, sizeof text, FAILS "steps: [ %s ]", cases[i].steps);
        errors(&p, text);
        CHECK_INT(play_count(&p, RONDO_EV_RETRY, NULL), 0);
        CHECK_INT(play_count(&p, RONDO_EV_RULE_FAILED, NULL), 1);
        CHECK_STR(play_find(&p, RONDO_EV_RULE_FAILED, cases[i].path)->text,
                  "retry.on: 'no' is no int\n  int(error) == 1\n  ^");
    }
}

TEST(a_score_that_cannot_be_told_fails_its_loop)
{
#define SCORED(expr) "agents: { w: { script: [ { result: { n: 5 } } ] } }\n" \
                     "steps: [ { id: l, agent: w, loop: { maxIterations: 3, score: \"" expr "\" } } ]"
    PLAY broken = { 0 }, absent = { 0 };
    CHECK_STR(errors(&broken, SCORED("1 / (result.n - 5)")), "error l; error");
    CHECK_INT(play_count(&broken, RONDO_EV_ITERATION_END, NULL), 1);
    CHECK_INT(play_find(&broken, RONDO_EV_LOOP_END, "l")->reason, RONDO_REASON_FAILED);
    CHECK_STR(broken.res.error, "score of loop 'l' failed in pass 1: division of 1 by zero\n"
                                "  1 / (result.n - 5)\n    ^");
    CHECK_STR(errors(&absent, SCORED("result.m")), "");
    CHECK_INT(play_count(&absent, RONDO_EV_ITERATION_END, NULL), 3);
}

/* ---- output ----------------------------------------------------------------------------------------------- */

TEST(a_partial_run_returns_what_its_file_says)
{
    PLAY p = { 0 }, absent = { 0 }, broken = { 0 }, nothing = { 0 };
    errors(&p, FAILS "steps: [ { id: a, agent: w }, { id: b, agent: f } ]\noutput: \"'out ' + steps.a.content\"");
    CHECK_INT(p.res.status, RONDO_STATUS_PARTIAL);
    CHECK_STR(p.res.content, "out text");
    CHECK_STR(p.res.error, "no");
    errors(&absent, FAILS "steps: [ { id: a, agent: w }, { id: b, agent: f } ]\noutput: steps.b.result.x");
    CHECK_STR(absent.res.content, "text");
    errors(&broken, FAILS "steps: [ { id: a, agent: w }, { id: b, agent: f } ]\n"
                          "output: 1 / int(size(steps.b.content))");
    CHECK_STR(broken.res.content, "text");
    CHECK_STR(broken.res.error, "no");
    errors(&nothing, FAILS "steps: [ { id: b, agent: f } ]\noutput: \"'out'\"");
    CHECK_INT(nothing.res.status, RONDO_STATUS_FAILED); // of which there is nothing to tell
    CHECK_STR(nothing.res.content, "");
}

/* ---- v1 --------------------------------------------------------------------------------------------------- */

static const char *told_of_items(int items, int places)
{
    static char told[200];
    auto_free char *text = mem_alloc(8192);
    rondo_flow *flow;
    PLAY p = { .max_concurrency = places };
    int len = snprintf(text, 8192, "name: t\nagents: { a: { description: d } }\n"
                                   "steps: [ { id: e, agent: a, instructions: x, loop: { forEach: [0");
    for (int i = 1; i < items; i++)
        len += snprintf(text + len, 8192 - (size_t)len, ", %d", i);
    len += snprintf(text + len, 8192 - (size_t)len, "] } } ]\n");
    CHECK_INT(rondo_flow_parse("t.yaml", text, (size_t)len,
                               &(rondo_flow_options){ RONDO_FLOW, .report = report, .rehearse = true }, &flow,
                               &p.err), 0);
    play_flow(&p, rondo_flow_node(flow), "{}");
    rondo_flow_free(flow);
    snprintf(told, sizeof told, "%s", play_told(&p, "message"));
    return told;
}

TEST(zenflows_limit_of_items_at_a_time_is_told_when_it_has_an_effect)
{
    CHECK_STR(told_of_items(101, 0), "message e");
    CHECK_STR(told_of_items(100, 0), "");
    CHECK_STR(told_of_items(101, 5), "");
    CHECK_STR(told_of_items(101, 200), "message e");
}

/* ---- what is between a loop and who ends its pass ------------------------------------------------------------ */

/* The outcome of a loop whose second pass is ended from inside of `step` with an answer. */
static const char *answered(const char *action, const char *step)
{
    static char content[200];
    char body[1024];
    PLAY p = { 0 };
    snprintf(body, sizeof body,
             "agents:\n  w: { script: [first, { content: the answer, actions: { %s } }] }\n  v: { script: [other] }\n"
             "steps: [ { id: l, loop: { maxIterations: 2, steps: [ { id: z, agent: v }, %s ] } } ]\n"
             "output: \"steps.l.content + ' ' + steps.l.reason\"\n", action, step);
    errors(&p, body);
    CHECK_INT(p.rc, 0);
    snprintf(content, sizeof content, "%s", p.res.content);
    return content;
}

TEST(an_answer_that_ends_a_pass_counts_wherever_it_comes_from)
{
    static const char *const steps[] = {
        "{ id: k, agent: w }",
        "{ id: k, steps: [ { id: p, steps: [ { id: q, agent: w } ] } ] }",
        "{ id: k, branch: [ { when: 'true', agent: w } ] }",
        "{ id: k, forum: { captain: w, members: [v] } }",
        "{ id: k, agent: w, loop: { forEach: [1] } }",
        "{ id: k, machine: { start: s, states: { s: { agent: w } }, edges: [ { from: s, to: end } ] } }",
    };
    for (size_t i = 0; i < COUNT(steps); i++)
        CHECK_STR(answered("break: l", steps[i]), "the answer break");
    for (size_t i = 0; i < 4; i++)
        CHECK_STR(answered("continue: true", steps[i]), "the answer max_iterations");
    CHECK_STR(answered("break: l", "{ id: k, parallel: { agents: [w] } }"), "[\"the answer\"] break");
}

/* Two groups at a time: what the other one had so far is no answer, though it comes last. */
TEST(what_a_break_cuts_gives_nothing)
{
    PLAY p = { 0 };
    errors(&p, "agents:\n  w: { script: [ { content: enough, delay: 20ms, actions: { break: true } } ] }\n"
               "  v: { script: [ { content: half, delay: 10ms } ] }\n"
               "steps: [ { id: l, loop: { maxIterations: 2, steps: [ { id: a, steps: [ { id: p, agent: w } ] },\n"
               "  { id: b, order: sequence,\n"
               "    steps: [ { id: q, agent: v }, { id: r, agent: v }, { id: s, agent: v } ] } ] } } ]\n"
               "output: steps.l.content\n");
    CHECK_STR(p.res.content, "enough");
}

/* ---- limits of one call ------------------------------------------------------------------------------------ */

TEST(an_agents_timeout_is_for_each_call_and_the_steps_for_all_of_them)
{
    static const struct { const char *agent, *step, *told, *error; } cases[] = {
        { "timeout: 200ms, script: [ { content: x, delay: 1s } ]", "timeout: 10s", "200 error s; 200 error",
          "timed out after 200 ms" },
        { "timeout: 500ms, script: [ { fail: one, delay: 300ms }, { content: two, delay: 300ms } ]",
          "retry: { attempts: 2 }", "300 error s", "" },
        { "timeout: 200ms, script: [ { content: x, delay: 1s }, y ]", "retry: { attempts: 2 }", "200 error s", "" },
        { "timeout: 200ms, script: [ { content: x, delay: 1s } ]", "timeout: 500ms, retry: { attempts: 9 }",
          "200 error s; 400 error s~1; 500 error s~2; 500 error", "timed out after 500 ms" },
        { "timeout: 200ms, script: [ { content: x, delay: 1s } ]", "timeout: 100ms", "100 error s; 100 error",
          "timed out after 100 ms" },
        { "timeout: 40s, script: [ { content: x, delay: 30s } ]", "condition: 'true'", "", "" },
        { "script: [ { content: x, delay: 30s } ]", "condition: 'true'", "20000 error s; 20000 error",
          "timed out after 20000 ms" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        PLAY p = { 0 };
        char text[500];
        snprintf(text, sizeof text, "agents: { a: { %s } }\noptions: { stepTimeout: 20s }\n"
                                    "steps: [ { id: s, agent: a, %s } ]", cases[i].agent, cases[i].step);
        errors(&p, text);
        CHECK_STR(play_told(&p, "@error"), cases[i].told);
        CHECK_STR(p.res.error, cases[i].error);
    }
}

TEST(passes_items_members_and_judges_have_the_time_of_one_call_each)
{
    static const struct { const char *step, *told; } cases[] = {
        { "agent: a, loop: { maxIterations: 3, onMaxIterations: returnLast }", "" },
        { "agent: a, loop: { forEach: [1, 2, 3], maxConcurrency: 1 }", "" },
        { "agent: a, loop: { maxIterations: 3, onMaxIterations: returnLast }, timeout: 700ms",
          "700 error s; 700 error" },
        { "forum: { members: [a, a], captain: a, rounds: 2 }", "" },
        { "agent: a, loop: { maxIterations: 2, untilAgent: slow, onMaxIterations: returnLast }",
          "500 error s.0.judge; 1000 error s.1.judge" }, // it goes on all the same
        { "parallel: { agents: [a, slow], mode: collect }", "200 error s.slow" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        PLAY p = { 0 };
        char text[700];
        snprintf(text, sizeof text,
                 "agents: { a: { timeout: 400ms, script: [ { content: x, delay: 300ms } ] }, slow: { timeout: 200ms, "
                 "script: [ { result: { done: true }, delay: 300ms } ], resultSchema: { type: object, "
                 "required: [done], properties: { done: { type: boolean } } } } }\nsteps: [ { id: s, %s } ]",
                 cases[i].step);
        play_text(&p, text);
        CHECK_STR(play_told(&p, "@error"), cases[i].told);
    }
}

/* ---- files that are agents ---------------------------------------------------------------------------------- */

/* The same with a file inner.yaml beside it, also given without its first lines. */
static const char *errors_around(struct play *p, const char *inner, const char *body)
{
    char folder[] = "/tmp/flow-run-XXXXXX", path[100], outer[100];
    CHECK(mkdtemp(folder) != NULL);
    snprintf(path, sizeof path, "%s/inner.yaml", folder);
    snprintf(outer, sizeof outer, "%s/t.yaml", folder);
    FILE *file = fopen(path, "w");
    CHECK(file && fprintf(file, "rondo: 1\nname: inner\n%s", inner) > 0 && fclose(file) == 0);
    place = outer;
    const char *told = errors(p, body);
    place = NULL;
    unlink(path);
    unlink(outer);
    rmdir(folder);
    return told;
}

#define TALKS "agents: { s: { script: [ one, two, three ] } }\nsteps: [ { id: a, agent: s } ]\n"
#define KEEPS "agents: { w: { description: d, workflow: inner.yaml, outputKey: k, memory: m }, " \
              "s: { script: [ { content: x, delay: 1s } ] } }\n"

TEST(a_file_that_is_an_agent_leaves_its_content_in_state_and_memory)
{
    static const struct { const char *inner, *steps, *state, *memory; } cases[] = {
        { TALKS, "[ { id: s, agent: w } ]", "\"one\"", "[\"one\"]" },
        { TALKS "output: '{\"n\": 5}'\n", "[ { id: s, agent: w } ]", "{\"n\":5}", "[{\"n\":5}]" },
        { TALKS "output: '\"\"'\n", "[ { id: s, agent: w } ]", "\"none\"", NULL },
        { TALKS, "[ { id: s, agent: w, loop: { maxIterations: 2, onMaxIterations: returnLast } } ]", "\"two\"",
          "[\"one\",\"two\"]" },
        { TALKS, "[ { id: p, parallel: { agents: [w, s] } } ]", "\"one\"", "[\"one\"]" },
        { TALKS, "[ { id: f, forum: { members: [s], captain: w } } ]", "\"one\"", "[\"one\"]" },
        { "agents: { s: { script: [ APPROVE ] } }\nsteps: [ { id: a, agent: s } ]\n",
          "[ { id: s, agent: s, review: { agent: w } } ]", "\"APPROVE\"", "[\"APPROVE\"]" },
        { "agents: { s: { script: [ { fail: no } ] } }\nsteps: [ { id: a, agent: s } ]\n",
          "[ { id: s, agent: w }, { id: b, agent: s } ]", "\"none\"", NULL },
        { "agents: { s: { script: [ part, { content: more, delay: 2s } ] } }\nbudget: { time: 1s }\n"
          "steps: [ { id: a, agent: s }, { id: b, agent: s, dependsOn: [a] } ]\n",
          "[ { id: s, agent: w } ]", "\"part\"", "[\"part\"]" }, // it ends with what it has
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        PLAY p = { 0 };
        char text[700];
        snprintf(text, sizeof text, KEEPS "steps: %s\noutput: state.?k.orValue('none')\n", cases[i].steps);
        errors_around(&p, cases[i].inner, text);
        char *memory = remembered(p.run);
        CHECK_STR(p.output, cases[i].state);
        CHECK_STR(memory, cases[i].memory);
        rondo_text_free(memory);
    }
}

TEST(what_a_file_leaves_behind_is_told_before_its_end_and_its_own_state_is_left_alone)
{
    PLAY p = { 0 };
    errors_around(&p, "agents: { s: { script: [ one ] } }\noutput: string(has(state.k)) + steps.a.content\n"
                      "steps: [ { id: a, agent: s } ]\n",
                  KEEPS "steps: [ { id: s, agent: w } ]\noutput: state.k\n");
    CHECK_STR(play_told(&p, "step_start memory state step_end"),
              "step_start; step_start s; step_start s.a; step_end s.a; memory s; state s; step_end s; step_end");
    CHECK_STR(p.res.content, "falseone");
}

TEST(a_file_that_is_an_agent_has_so_much_time_for_each_call)
{
    static const struct { const char *inner, *step, *told, *error; } cases[] = {
        { "", "condition: 'true'", "200 error s; 200 error", "timed out after 200 ms" },
        { "", "timeout: 300ms, retry: { attempts: 3 }", "200 error s; 300 error s~1; 300 error",
          "timed out after 300 ms" },
        { "options: { timeout: 100ms }\n", "condition: 'true'", "100 error s; 100 error", "timed out after 100 ms" },
        { "", "loop: { maxIterations: 2, onError: continue, onMaxIterations: returnLast }",
          "200 error s.0; 1400 error s.1", "" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        PLAY p = { 0 };
        char inner[300], text[300];
        snprintf(inner, sizeof inner, "agents: { s: { script: [ { content: x, delay: 1s } ] } }\n%s"
                                      "steps: [ { id: a, agent: s } ]\n", cases[i].inner);
        snprintf(text, sizeof text, "agents: { w: { description: d, workflow: inner.yaml, timeout: 200ms } }\n"
                                    "steps: [ { id: s, agent: w, %s } ]", cases[i].step);
        errors_around(&p, inner, text);
        CHECK_STR(play_told(&p, "@error"), cases[i].told);
        CHECK_STR(p.res.error, cases[i].error);
    }
}

TEST(a_file_that_ran_out_of_the_time_of_a_call_gets_it_once_more_when_its_run_is_taken_up)
{
    PLAY p = { 0 };
    size_t len;
    rondo_engine *engine;
    rondo_run *run;
    rondo_result res;
    rondo_error err;
    errors_around(&p, "agents: { s: { script: [ { content: x, delay: 150ms } ] } }\n"
                      "steps: [ { id: a, agent: s }, { id: b, agent: s, dependsOn: [a] } ]\n",
                  "agents: { w: { description: d, workflow: inner.yaml, timeout: 200ms } }\n"
                  "steps: [ { id: s, agent: w } ]");
    CHECK_STR(p.res.error, "timed out after 200 ms");
    char *log = rondo_run_save(p.run, &len);
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &engine, NULL), 0);
    CHECK_INT(rondo_run_recover(engine, p.node, log, len, &(rondo_run_options){ RONDO_RUN, .reopen = true }, &run,
                                &err), 0);
    while (rondo_run_next(run))
        ;
    CHECK_INT(rondo_run_result(run, &res), 0);
    CHECK_STR(res.error, "");
    CHECK_INT(res.status, RONDO_STATUS_COMPLETED);
    rondo_text_free(log);
    rondo_engine_free(engine);
}

/* ---- how much may be said ------------------------------------------------------------------------------------ */

TEST(what_an_agent_says_is_cut_at_max_output)
{
    static const struct { const char *agent, *output; } cases[] = {
        { "script: [ abcdef ]", "[steps.s.content]" },
        { "script: [ { content: abcdef, result: { t: abcdefghi } } ]", "[steps.s.content, steps.s.result.t]" },
        { "script: [ { result: abcdef } ], resultSchema: { type: string }", "[steps.s.result]" },
        { "script: [ { result: [ abcdef ] } ]", "steps.s.result" },
        { "script: [ aää ]", "[steps.s.content]" },
        { "script: [ abcd ]", "[steps.s.content]" },
        { "script: [ abcdef ], outputKey: k", "[state.k]" },
    };
    static const char *const outputs[] = {
        "[\"abcd\\n[output cut: these are the first 4 of 6 bytes]\"]",
        "[\"abcd\\n[output cut: these are the first 4 of 6 bytes]\",\"abcdefghi\"]",
        "[\"abcdef\"]", "[\"abcdef\"]", "[\"aä\\n[output cut: these are the first 3 of 5 bytes]\"]", "[\"abcd\"]",
        "[\"abcd\\n[output cut: these are the first 4 of 6 bytes]\"]",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        PLAY p = { 0 };
        char text[500];
        snprintf(text, sizeof text, "agents: { a: { maxOutput: 4, %s } }\nsteps: [ { id: s, agent: a } ]\n"
                                    "output: \"%s\"\n", cases[i].agent, cases[i].output);
        errors(&p, text);
        CHECK_STR(p.output, outputs[i]);
    }
}

TEST(what_a_file_that_is_an_agent_says_is_cut_at_max_output)
{
    static const struct { const char *inner, *agent, *output; } cases[] = {
        { "", "outputKey: k", "[\"abcd\\n[output cut: these are the first 4 of 6 bytes]\",true]" },
        { "output: '{\"t\": \"abcdef\"}'\n", "outputKey: k", "[\"{\\\"t\\\":\\\"abcdef\\\"}\",true]" },
        { "output: steps.a.content\n", "outputKey: k",
          "[\"abcd\\n[output cut: these are the first 4 of 6 bytes]\",true]" },
        { "output: steps.a.content\n", "outputKey: k, resultSchema: { type: string }", "[\"abcdef\",true]" },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        PLAY p = { 0 };
        char inner[300], text[500];
        snprintf(inner, sizeof inner, "agents: { s: { script: [ abcdef ] } }\n%ssteps: [ { id: a, agent: s } ]\n",
                 cases[i].inner);
        snprintf(text, sizeof text,
                 "agents: { w: { description: d, workflow: inner.yaml, maxOutput: 4, %s } }\n"
                 "steps: [ { id: s, agent: w } ]\noutput: '[dyn(steps.s.content), dyn(state.k) == steps.s.content || "
                 "dyn(state.k) == steps.s.result]'\n", cases[i].agent);
        errors_around(&p, inner, text);
        CHECK_STR(p.output, cases[i].output);
    }
}
