/* test_rehearse.c - agents that answer without anybody: scripts, rehearsals, functions, set. */
#include "agent/call.h"
#include "agents.h"
#include "base/buf.h"
#include "engine/flows.h"
#include "engine/shell.h"

#include <string.h>

/* A flow, run to its end or as far as the test wants. */
struct play {
    struct call_env env;
    struct diags diags;
    struct flow *flow;
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err;
    int rc;
    struct buf text;
};

static void play_end(struct play *p)
{
    rondo_run_close(p->run);
    rondo_engine_free(p->engine);
    flow_unref(p->flow);
    diags_clear(&p->diags);
    buf_free(&p->text);
    json_decref(p->env.script);
}

#define PLAY __attribute__((cleanup(play_end))) struct play

static void play_load(struct play *p, const char *text)
{
    struct source *source = source_new("t", text, strlen(text));
    p->flow = flow_load(source, &(struct flow_load){ .folder = NULL }, &p->diags);
    source_unref(source);
    for (uint32_t i = 0; i < p->diags.count; i++)
        diag_put(&p->text, &p->diags.list[i], false);
    CHECK_STR(buf_text(&p->text), "");
    CHECK(p->flow != NULL);
}

static void play_start(struct play *p, const char *text)
{
    play_load(p, text);
    json_t *inputs = flows_inputs(p->flow, NULL, &p->diags);
    CHECK_INT(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &p->engine, &p->err), 0);
    CHECK_INT(flows_start(p->engine, p->flow, &p->env, inputs, NULL, NULL, &p->run, &p->err), 0);
    json_decref(inputs);
}

static void play(struct play *p, const char *text)
{
    play_start(p, text);
    p->rc = rondo_run_wait(p->run, &p->err);
}

/* What a step said, by its path: content, and behind a bar its result if it has one. */
static const char *told(struct play *p, const char *path)
{
    rondo_result res;
    if (rondo_run_find(p->run, path, &res) < 0)
        return "none";
    buf_clear(&p->text);
    buf_puts(&p->text, res.status == RONDO_STATUS_FAILED ? res.error : res.content);
    if (res.output && !json_is_string(res.output))
        buf_printf(&p->text, "|%s", json_text(res.output));
    return buf_text(&p->text);
}

#define SCRIPTED "rondo: 1\nname: t\nagents:\n" \
                 "  a: { description: x, script: [one, { content: two, result: [2] }, three] }\n"

/* ---- scripts -------------------------------------------------------------------------------------------- */

TEST(the_nth_call_of_an_agent_gives_the_nth_reply_and_the_last_repeats)
{
    PLAY p = { 0 };
    play(&p, SCRIPTED "steps:\n"
                      "- { id: x, agent: a }\n"
                      "- { id: y, agent: a, dependsOn: [x], loop: { maxIterations: 3 } }\n");
    CHECK_INT(p.rc, 0);
    CHECK_STR(told(&p, "x"), "one");
    CHECK_STR(told(&p, "y.0"), "two|[2]");
    CHECK_STR(told(&p, "y.1"), "three");
    CHECK_STR(told(&p, "y.2"), "three");
}

TEST(a_retry_is_a_call_of_its_own)
{
    PLAY p = { 0 };
    play(&p, "rondo: 1\nname: t\nagents:\n"
             "  a: { description: x, script: [{ fail: no luck }, { fail: again }, done] }\n"
             "steps:\n- { id: x, agent: a, retries: 2 }\n");
    CHECK_INT(p.rc, 0);
    CHECK_STR(told(&p, "x~2"), "done");
}

/* The step is not tried again; what is around it may be. */
TEST(a_reply_that_forbids_a_retry_is_the_last)
{
    PLAY p = { 0 };
    play(&p, "rondo: 1\nname: t\nagents:\n"
             "  a: { description: x, script: [{ fail: { message: once, retry: false } }, done] }\n"
             "steps:\n- { id: x, agent: a, retries: 2 }\n");
    CHECK_INT(p.rc, RONDO_EFINAL);
    CHECK_STR(told(&p, "x"), "once");
    CHECK_STR(told(&p, "x~1"), "none");
    PLAY group = { 0 };
    play(&group, "rondo: 1\nname: t\nagents:\n"
                 "  a: { description: x, script: [{ fail: { message: once, retry: false } }, done] }\n"
                 "steps:\n- { id: g, retries: 1, steps: [{ id: x, agent: a, retries: 2 }] }\n");
    CHECK_INT(group.rc, 0);
    CHECK_STR(told(&group, "g~1.x"), "done");
}

TEST(every_run_begins_its_scripts_anew)
{
    for (int i = 0; i < 2; i++) {
        PLAY p = { 0 };
        play(&p, SCRIPTED "steps:\n- { id: x, agent: a }\n");
        CHECK_STR(told(&p, "x"), "one");
    }
}

/* Cuts the run after every event in turn: what follows is the same. */
TEST(a_script_goes_on_where_it_was_after_a_crash)
{
    for (int cut = 1;; cut++) {
        PLAY p = { 0 };
        rondo_run *again = NULL;
        size_t len;
        int n = 0;
        play_start(&p, SCRIPTED "steps:\n"
                                "- { id: x, agent: a, loop: { maxIterations: 2 } }\n"
                                "- { id: y, agent: a, dependsOn: [x] }\n");
        while (n < cut && rondo_run_next(p.run))
            n++;
        if (n < cut)
            return;
        char *log = rondo_run_save(p.run, &len);
        rondo_node *node = rondo_node_ref(p.run->node);
        rondo_run_close(p.run);
        CHECK_INT(rondo_run_recover(p.engine, node, log, len, &(rondo_run_options){ RONDO_RUN }, &again, &p.err), 0);
        rondo_text_free(log);
        rondo_node_unref(node);
        p.run = again;
        CHECK_INT(rondo_run_wait(p.run, &p.err), 0);
        CHECK_STR(told(&p, "x.0"), "one");
        CHECK_STR(told(&p, "x.1"), "two|[2]");
        CHECK_STR(told(&p, "y"), "three");
    }
}

/* ---- rehearsals ------------------------------------------------------------------------------------------- */

TEST(a_rehearsed_text_names_agent_step_item_and_pass)
{
    PLAY p = { .env = { .rehearse = true } };
    play(&p, "rondo: 1\nname: t\nagents: { w: { description: x } }\nsteps:\n"
             "- { id: plain, agent: w }\n"
             "- { id: none, instructions: go }\n"
             "- { id: e, loop: { forEach: [7, 8], steps: [ { id: in, agent: w } ] } }\n"
             "- { id: l, agent: w, loop: { maxIterations: 2 } }\n");
    CHECK_INT(p.rc, 0);
    CHECK_STR(told(&p, "plain"), "w answers for plain (rehearsal of plain)");
    CHECK_STR(told(&p, "none"), "the default agent answers for none (rehearsal of none)");
    CHECK_STR(told(&p, "e[1].in"), "w answers for in, item 2 (rehearsal of e[1].in)");
    CHECK_STR(told(&p, "l.1"), "w answers for l, pass 2 (rehearsal of l.1)");
}

TEST(a_rehearsed_result_fits_its_schema_and_is_not_empty)
{
    PLAY p = { .env = { .rehearse = true } };
    play(&p, "rondo: 1\nname: t\nagents:\n"
             "  w: { description: x, resultSchema: { type: object, properties: {\n"
             "       names: { type: array, items: { type: string } },\n"
             "       few: { type: array, maxItems: 1, items: { type: integer } },\n"
             "       kind: { enum: [odd] }, good: { type: boolean }, score: { type: number, maximum: 1 } } } }\n"
             "steps:\n- { id: x, agent: w }\n");
    CHECK_INT(p.rc, 0);
    CHECK_STR(told(&p, "x"), "w answers for x (rehearsal of x)|{\"few\":[10],\"good\":true,\"kind\":\"odd\","
                             "\"names\":[\"names 1\",\"names 2\"],\"score\":1}");
}

TEST(a_rehearsed_result_has_the_formats_of_its_schema)
{
    PLAY p = { .env = { .rehearse = true } };
    play(&p, "rondo: 1\nname: t\nagents:\n"
             "  w: { description: x, resultSchema: { type: object, properties: {\n"
             "       when: { type: string, format: date }, who: { type: string, format: email },\n"
             "       odd: { type: string, format: unheard-of } } } }\n"
             "  t: { description: x, resultSchema: { type: string } }\n"
             "steps:\n- { id: x, agent: w }\n- { id: y, agent: t }\n");
    CHECK_INT(p.rc, 0);
    CHECK_STR(told(&p, "x"), "w answers for x (rehearsal of x)|{\"odd\":\"odd\",\"when\":\"2026-01-31\","
                             "\"who\":\"a@example.com\"}");
    rondo_result text;
    CHECK_INT(rondo_run_find(p.run, "y", &text), 0);
    CHECK_STR(json_string_value(text.output), "t answers for y (rehearsal of y)");
}

TEST(a_rehearsed_result_is_not_null_where_it_need_not_be)
{
    PLAY p = { .env = { .rehearse = true } };
    play(&p, "rondo: 1\nname: t\nagents:\n"
             "  n: { description: x, resultSchema: { type: [integer, 'null'] } }\n"
             "  w: { description: x, resultSchema: { type: object, properties: { text: { type: [string, 'null'] },\n"
             "       ids: { type: array, minItems: 3, uniqueItems: true,\n"
             "              items: { type: string, pattern: '^[a-z]{4}$' } },\n"
             "       by: { type: object, propertyNames: { pattern: '^[a-z]$' }, minProperties: 2 } } } }\n"
             "output: steps.y.result + 1\nsteps:\n- { id: x, agent: w }\n- { id: y, agent: n }\n");
    CHECK_INT(p.rc, 0);
    CHECK_STR(told(&p, "x"), "w answers for x (rehearsal of x)|{\"by\":{\"a\":10,\"b\":10},"
                             "\"ids\":[\"aaaa\",\"baaa\",\"caaa\"],\"text\":\"text\"}");
}

TEST(a_schema_that_no_example_is_found_for_can_be_answered_by_a_script)
{
    PLAY p = { .env = { .rehearse = true } };
    play(&p, "rondo: 1\nname: t\nagents:\n"
             "  w: { description: x, resultSchema: { type: integer, minimum: 1, "
             "allOf: [{ multipleOf: 34511 }, { multipleOf: 48611 }] } }\n"
             "steps:\n- { id: x, agent: w }\n");
    CHECK_INT(p.rc, RONDO_EFINAL);
    CHECK_STR(told(&p, "x"), "the rehearsal found no value that fits the result's schema; 'x' can be answered in a "
                             "file with --script");
}

TEST(a_rehearsed_judge_is_content_after_the_second_pass)
{
    PLAY p = { .env = { .rehearse = true } };
    rondo_result res;
    play(&p, "name: t\nagents:\n  w: { description: x }\n"
             "  j: { description: x, resultSchema: { type: object, required: [done], "
             "properties: { done: { type: boolean } } } }\n"
             "steps:\n- { id: l, agent: w, loop: { maxIterations: 9, untilAgent: j } }\n");
    CHECK_INT(p.rc, 0);
    CHECK_INT(rondo_run_find(p.run, "l", &res), 0);
    CHECK_INT(res.passes, 2);
    CHECK_INT(res.reason, RONDO_REASON_JUDGE);
}

static int64_t passes_until(const char *until)
{
    PLAY p = { .env = { .rehearse = true } };
    rondo_result res = { 0 };
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "rondo: 1\nname: t\nagents:\n"
                      "  w: { description: x, resultSchema: { type: object, required: [score, ok, verdict], "
                      "properties: { score: { type: number }, ok: { type: boolean }, "
                      "verdict: { enum: [revise, approve, reject] } } } }\n"
                      "steps:\n- { id: l, agent: w, loop: { maxIterations: 5, onMaxIterations: returnLast, "
                      "until: \"%s\" } }\n", until);
    play(&p, buf_text(&text));
    CHECK_INT(p.rc, 0);
    rondo_run_find(p.run, "l", &res);
    return res.passes;
}

TEST(rehearsed_answers_improve_so_that_loops_end)
{
    CHECK_INT(passes_until("result.ok"), 2);
    CHECK_INT(passes_until("result.score >= 9"), 3);
    CHECK_INT(passes_until("result.score > 0.75"), 3);
    CHECK_INT(passes_until("result.score >= 9000"), 3);
    CHECK_INT(passes_until("result.verdict == 'approve' && iteration > 0"), 2);
    CHECK_INT(passes_until("content.contains('LGTM')"), 2);
    CHECK_INT(passes_until("content == 'never'"), 5);
}

TEST(the_same_rehearsal_says_the_same)
{
    char first[500] = "";
    for (int i = 0; i < 2; i++) {
        PLAY p = { .env = { .rehearse = true } };
        play(&p, "rondo: 1\nname: t\nagents:\n  w: { description: x, resultSchema: { type: object, required: [a], "
                 "properties: { a: { type: string, pattern: '^[a-z]{8}$' } } } }\nsteps:\n- { id: x, agent: w }\n");
        if (i)
            CHECK_STR(told(&p, "x"), first);
        else
            strcpy(first, told(&p, "x"));
    }
}

TEST(a_script_given_from_outside_answers_by_path_or_by_step)
{
    PLAY p = { .env = { .rehearse = true } };
    p.env.script = json_of("{\"l.0.x\": \"by path\", \"x\": [\"first\", \"second\", {\"fail\": \"third\"}],"
                           "\"l.y\": {\"result\": 7}, \"s\": \"in place of the script\"}");
    play(&p, SCRIPTED "  w: { description: x }\nsteps:\n"
                      "- { id: s, agent: a }\n"
                      "- id: l\n  loop:\n    maxIterations: 3\n    steps:\n"
                      "      - { id: x, agent: w }\n      - { id: y, agent: w, dependsOn: [x] }\n");
    CHECK_STR(told(&p, "s"), "in place of the script");
    CHECK_STR(told(&p, "l.0.x"), "by path");
    CHECK_STR(told(&p, "l.0.y"), "7|7");
    CHECK_STR(told(&p, "l.1.x"), "second");
    CHECK_STR(told(&p, "l.2.x"), "third");
}

TEST(a_rehearsal_replaces_functions_and_commands)
{
    PLAY p = { .env = { .rehearse = true } };
    play(&p, "rondo: 1\nname: t\nagents:\n"
             "  c: { description: x, run: [false] }\n  f: { description: x, function: nothing }\n"
             "steps:\n- { id: x, agent: c }\n- { id: y, agent: f }\n");
    CHECK_INT(p.rc, 0);
    CHECK_STR(told(&p, "x"), "c answers for x (rehearsal of x)");
    CHECK_STR(told(&p, "y"), "f answers for y (rehearsal of y)");
}

/* ---- kinds ------------------------------------------------------------------------------------------------ */

static const char *can_run(const char *steps, bool rehearses)
{
    static char kept[2000];
    struct obstacles all;
    auto_buf struct buf told = { 0 };
    PLAY p = { .env = { .rehearse = rehearses } };
    auto_buf struct buf text = { 0 };
    buf_puts(&text, SCRIPTED "  m: { description: x, model: groq/one }\n  f: { description: x, function: calc }\n"
                    "  j: { description: x, resultSchema: { type: object, required: [done], "
                    "properties: { done: { type: boolean } } } }\nsteps:\n");
    buf_puts(&text, steps);
    play_load(&p, buf_text(&text));
    CHECK(agent_can_run(p.flow, &p.env, &all) == !all.count);
    for (uint32_t i = 0; i < all.count; i++) {
        buf_puts(&told, i ? "; " : "");
        obstacle_put(&all.list[i], &told);
    }
    snprintf(kept, sizeof kept, "%s", buf_text(&told));
    return kept;
}

TEST(what_cannot_be_carried_out_is_told_before_the_run)
{
    CHECK_STR(can_run("- { id: x, agent: a }\n", false), "");
    CHECK(strstr(can_run("- { id: x, agent: a }\n- { id: y, agent: m }\n", false),
                 "agent 'm' of step 'y': "));
    CHECK(strstr(can_run("- { id: y, instructions: go }\n", false), "the default agent"));
    CHECK(strstr(can_run("- { id: y, agent: f }\n", false), "the function 'calc'"));
    CHECK(strstr(can_run("- { id: l, agent: a, loop: { maxIterations: 2, untilAgent: j } }\n", false), "agent 'j'"));
    CHECK(strstr(can_run("- { id: l, loop: { maxIterations: 2, steps: [ { id: x, agent: m } ] } }\n", false),
                 "step 'x'"));
    CHECK_STR(can_run("- { id: l, loop: { maxIterations: 2, steps: [ { id: x, agent: a } ] } }\n", false), "");
    CHECK_STR(can_run("- { id: y, agent: m }\n- { id: z, agent: f }\n", true), "");
    CHECK_STR(can_run("- { id: y, agent: m }\n- { id: z, agent: f }\n- { id: w, agent: m }\n", false),
              "agent 'm' of step 'y' and 1 more step: model 'groq/one': there is no key for groq: set the variable "
              "GROQ_API_KEY; agent 'f' of step 'z': the function 'calc' is not in this program: functions are "
              "registered by the program that embeds rondo");
}

TEST(set_writes_state_and_returns_what_it_wrote)
{
    PLAY p = { 0 };
    play(&p, SCRIPTED "steps:\n"
                      "- { id: x, agent: a }\n"
                      "- { id: s, dependsOn: [x], set: { n: 1 + 1, said: steps.x.content } }\n"
                      "- { id: t, dependsOn: [s], set: { m: state.n * 2 } }\n");
    CHECK_INT(p.rc, 0);
    CHECK_STR(json_text(rondo_run_state(p.run)), "{\"m\":4,\"n\":2,\"said\":\"one\"}");
    CHECK_STR(told(&p, "t"), "{\"m\":4}|{\"m\":4}");
}

static void calc(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer(*(int *)user));
}

TEST(functions_are_those_of_the_program)
{
    int number = 42;
    struct flow_function functions[] = { { "other", NULL, NULL }, { "calc", calc, &number } };
    PLAY p = { .env = { .functions = functions, .function_count = 2 } };
    play(&p, "rondo: 1\nname: t\nagents: { f: { description: x, function: calc } }\nsteps:\n- { id: x, agent: f }\n");
    CHECK_STR(told(&p, "x"), "42|42");
}

TEST(a_model_that_is_called_all_the_same_fails_its_step_and_says_what_to_do)
{
    PLAY p = { 0 };
    play(&p, "name: t\nagents: { m: { description: x } }\nsteps:\n- { id: x, agent: m }\n");
    CHECK(p.rc < 0);
    CHECK(strstr(told(&p, "x"), "--model provider/name"));
}

static const char *gate_answer(const char *gate, const char *script)
{
    static char kept[200];
    PLAY p = { 0 };
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "rondo: 1\nname: t\nsteps:\n- { id: g, gate: %s }\n", gate);
    p.env.script = script ? json_of(script) : NULL;
    play_load(&p, buf_text(&text));
    json_t *answer = rehearse_answer(&p.env, p.flow->scope->steps[0], "g", "g");
    strcpy(kept, json_text(answer));
    json_decref(answer);
    return kept;
}

TEST(gates_are_answered_with_consent)
{
    CHECK_STR(gate_answer("{ ask: May I? }", NULL), "\"approved\"");
    CHECK_STR(gate_answer("{ ask: May I?, schema: { type: boolean } }", NULL), "true");
    CHECK_STR(gate_answer("{ ask: May I?, schema: { const: false } }", NULL), "false");
    CHECK_STR(gate_answer("{ ask: May I?, schema: { enum: [maybe] } }", NULL), "\"maybe\"");
    CHECK_STR(gate_answer("{ ask: May I? }", "{\"g\": {\"result\": 5}}"), "5");
    CHECK_STR(gate_answer("{ ask: May I? }", "{\"g\": \"no\"}"), "\"no\"");
}

static const char *script_problem(const char *script)
{
    static struct buf kept;
    PLAY p = { .env = { .script = json_of(script) } };
    play_load(&p, SCRIPTED "  j: { description: x, resultSchema: { type: object, required: [done], "
                           "properties: { done: { type: boolean } } } }\n"
                           "steps:\n- { id: s, agent: a }\n"
                           "- { id: l, loop: { maxIterations: 2, steps: [ { id: draft, agent: a } ] } }\n"
                           "- { id: one, agent: a, loop: { maxIterations: 4 } }\n"
                           "- { id: e, loop: { forEach: '[1]', steps: [ { id: deep, agent: a } ] } }\n"
                           "- { id: fo, forum: { members: [a], captain: a, rounds: 2 } }\n"
                           "- { id: g, steps: [ { id: inner, agent: a, "
                           "loop: { maxIterations: 2, untilAgent: j } } ] }\n"
                           "- { id: e1, agent: a, loop: { forEach: '[1]' }, review: { agent: j } }\n"
                           "- { id: none, steps: [ { id: sum, set: { n: 1 + 1 } } ] }\n"
                           "- { id: ask, gate: { ask: How many?, schema: { type: integer } } }\n"
                           "- { id: o, steps: [ { id: ask, gate: { ask: Who?, schema: { type: string } } } ] }\n");
    rondo_node *root = flows_node(p.flow);
    json_t *problems = rehearse_check(root, p.env.script), *problem;
    size_t i;
    buf_clear(&kept);
    json_array_foreach(problems, i, problem)
        buf_printf(&kept, "%s%s", i ? "\n" : "", json_string_value(problem));
    json_decref(problems);
    rondo_node_unref(root);
    return buf_text(&kept);
}

TEST(a_script_that_cannot_be_meant_is_refused)
{
    CHECK_STR(script_problem("{\"s\": \"x\", \"l.0.draft\": [1, {}], \"l.draft\": \"y\", \"draft\": \"z\"}"), "");
    CHECK_STR(script_problem("{\"drft\": \"x\"}"), "drft: there is no step 'drft'; did you mean 'draft'?");
    CHECK_STR(script_problem("{\"l.1.nothing\": \"x\"}"), "l.1.nothing: there is no step 'l.1.nothing'");
    CHECK_STR(script_problem("{\"s\": [\"x\", {\"contnt\": 1}]}"), "s: 2: unknown key 'contnt'");
    CHECK_STR(script_problem("{\"drft\": \"x\", \"s\": {\"contnt\": 1}}"),
              "drft: there is no step 'drft'; did you mean 'draft'?\ns: unknown key 'contnt'");
}

TEST(a_script_has_something_to_say_for_each_of_its_steps)
{
    CHECK_STR(script_problem("{\"s\": []}"), "s: expected a reply or a list of replies, got []");
    CHECK_STR(script_problem("{\"s\": null}"), "s: expected a text or an object, got null");
    CHECK_STR(script_problem("{\"ask\": []}"), "ask: expected a reply or a list of replies, got []");
}

TEST(a_script_names_steps_that_are_asked)
{
    CHECK_STR(script_problem("{\"one\": 1, \"inner\": 1, \"g.inner.judge\": 1, \"g.inner.1.judge\": 1, \"e1\": 1,"
                             "\"e1[0]\": 1, \"e1.review\": 1, \"fo.a\": 1, \"fo.captain\": 1,"
                             "\"ask\": 1, \"o.ask\": \"I\"}"),
              "");
    CHECK_STR(script_problem("{\"g\": 1}"), "g: step 'g' asks nobody itself; did you mean 'g.inner'?");
    CHECK_STR(script_problem("{\"l\": 1}"), "l: step 'l' asks nobody itself; did you mean 'l.draft'?");
    CHECK_STR(script_problem("{\"l.1\": 1}"), "l.1: step 'l.1' asks nobody itself; did you mean 'l.draft'?");
    CHECK_STR(script_problem("{\"e[7]\": 1}"), "e[7]: step 'e[7]' asks nobody itself; did you mean 'e.deep'?");
    CHECK_STR(script_problem("{\"fo\": 1}"), "fo: step 'fo' asks nobody itself; did you mean 'fo.a'?");
    CHECK_STR(script_problem("{\"none\": 1, \"sum\": 1}"),
              "none: step 'none' asks nobody itself\nsum: step 'sum' asks nobody itself");
}

TEST(a_script_answers_gates_with_what_fits)
{
    CHECK_STR(script_problem("{\"ask\": [3, {\"result\": 4}], \"o.ask\": \"I\"}"), "");
    CHECK_STR(script_problem("{\"ask\": \"text\", \"o.ask\": \"I\"}"), "ask: expected integer, got \"text\"");
    CHECK_STR(script_problem("{\"ask\": [3, \"text\"], \"o.ask\": \"I\"}"),
              "ask: 2: expected integer, got \"text\"");
    CHECK_STR(script_problem("{\"ask\": {\"result\": true}, \"o.ask\": \"I\"}"), "ask: expected integer, got true");
    CHECK_STR(script_problem("{\"ask\": 3}"), "ask: expected string, got 3"); // both have this id
    CHECK_STR(script_problem("{\"o.ask\": 3}"), "o.ask: expected string, got 3");
}

TEST(paths_in_a_script_are_looked_at_as_a_whole)
{
    CHECK_STR(script_problem("{\"l.1.draft~1\": 1, \"one\": 1, \"one.3\": 1, \"one.3~2\": 1, \"e[7].deep\": 1,"
                             "\"e.deep\": 1, \"fo.a\": 1, \"fo.r2.a\": 1, \"l.draft^1\": 1}"), "");
    CHECK_STR(script_problem("{\"ll.draft\": 1}"), "ll.draft: there is no step 'll.draft'; did you mean 'l.draft'?");
    CHECK_STR(script_problem("{\"fo.deep\": 1}"), "fo.deep: there is no step 'fo.deep'; did you mean 'e.deep'?");
    CHECK_STR(script_problem("{\"l.2.draft\": 1}"), "l.2.draft: there is no step 'l.2.draft'; did you mean 'l.draft'?");
    CHECK_STR(script_problem("{\"one.17\": 1}"), "one.17: there is no step 'one.17'; did you mean 'one'?");
    CHECK_STR(script_problem("{\"s.0\": 1}"), "s.0: there is no step 's.0'; did you mean 's'?");
    CHECK_STR(script_problem("{\"fo.r3.a\": 1}"), "fo.r3.a: there is no step 'fo.r3.a'; did you mean 'fo.a'?");
}
