/* test_flow_api.c - workflow files in programs: reading, functions, inputs of files in files, and lines. */
#include "data/value.h"
#include "rondo.h"
#include "test.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_PARTS ",\"reasoning\":0,\"cacheRead\":0,\"cacheWrite\":0"

static rondo_engine *engine_new(void)
{
    rondo_engine *engine;
    rondo_error err;
    CHECK(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .virtual_time = true }, &engine, &err) == 0);
    return engine;
}

static rondo_flow *parse(const char *text, const rondo_flow_options *options)
{
    rondo_flow *flow = NULL;
    rondo_error err;
    if (rondo_flow_parse("t.yaml", text, strlen(text), options, &flow, &err) < 0)
        FAIL("%s", err.message);
    return flow;
}

/* The output of a run of the flow, as JSON, or its error.  Frees the flow first: runs do not need it. */
static const char *run_flow(rondo_engine *engine, rondo_flow *flow, const char *inputs)
{
    static struct buf out;
    rondo_run *run;
    rondo_error err;
    rondo_result result;
    json_t *given = inputs ? json_loads(inputs, 0, NULL) : NULL;
    if (rondo_flow_start(engine, flow, given, NULL, &run, &err) < 0)
        FAIL("%s", err.message);
    rondo_flow_free(flow);
    buf_clear(&out);
    if (rondo_run_wait(run, &err) == 0 && rondo_run_result(run, &result) == 0)
        value_put_json(&out, result.output);
    else
        buf_puts(&out, err.message);
    rondo_run_close(run);
    json_decref(given);
    return buf_text(&out);
}

/* ---- reading --------------------------------------------------------------------------------------------- */

static void count(const rondo_problem *p, void *user)
{
    CHECK_STR(p->file, "t.yaml");
    CHECK(p->line > 0 && p->column > 0 && *p->message && strstr(p->text, "^"));
    CHECK(strstr(p->text, p->message));
    *(int *)user += !p->is_warning;
}

TEST(all_problems_are_reported_and_the_first_is_the_error)
{
    static const char text[] = "rondo: 1\nname: x\nagents: { a: { description: d, script: [x] } }\nsteps:\n"
                               "  - { id: a, agent: a, instructions: '${inputs.x}' }\n"
                               "  - { id: b, agent: a, instructions: '${steps.c.content}', conditon: 'true' }\n";
    rondo_flow *flow = NULL;
    rondo_error err;
    int problems = 0;
    CHECK_INT(rondo_flow_parse("t.yaml", text, sizeof text - 1,
                               &(rondo_flow_options){ RONDO_FLOW, .report = count, .user = &problems }, &flow,
                               &err),
              RONDO_EINVAL);
    CHECK_INT(problems, 3);
    CHECK_NULL(flow);
    CHECK(err.line > 0 && strstr(err.message, "workflow 't.yaml': "));
}

TEST(a_file_that_is_not_there_is_an_error)
{
    rondo_flow *flow = NULL;
    rondo_error err;
    CHECK(rondo_flow_load("/no/such/file.yaml", NULL, &flow, &err) < 0);
    CHECK(strstr(err.message, "/no/such/file.yaml"));
    CHECK(rondo_flow_load("/no/such/file.yaml", NULL, &flow, NULL) < 0);
}

TEST(options_without_their_size_are_refused)
{
    rondo_flow *flow = NULL;
    rondo_error err;
    CHECK_INT(rondo_flow_parse("t", "x", 1, &(rondo_flow_options){ 0 }, &flow, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "the size of the options is not set: begin with RONDO_FLOW");
}

/* ---- functions ---------------------------------------------------------------------------------------------- */

static void twice(rondo_task *task, void *user)
{
    json_int_t n = json_integer_value(json_object_get(rondo_task_input(task), "n"));
    *(int *)user += 1;
    rondo_task_return(task, json_integer(n * 2));
}

static const char calls_twice[] = "rondo: 1\nname: x\nagents: { f: { description: d, function: twice } }\n"
                                  "inputs: { n: { type: integer, default: 4 } }\n"
                                  "steps: [{ id: a, agent: f, with: { n: inputs.n + 1 } }]\n"
                                  "output: steps.a.result + 1\n";

TEST(agents_may_be_functions_of_the_program)
{
    rondo_engine *engine = engine_new();
    int called = 0;
    rondo_flow_function functions[] = { { "twice", twice, &called } };
    rondo_flow_options o = { RONDO_FLOW, .functions = functions, .function_count = 1 };
    CHECK_STR(run_flow(engine, parse(calls_twice, &o), "{\"n\":10}"), "23");
    CHECK_STR(run_flow(engine, parse(calls_twice, &o), NULL), "11");
    CHECK_INT(called, 2);
    rondo_engine_free(engine);
}

TEST(a_function_that_is_not_given_is_a_problem_of_the_file)
{
    int called = 0;
    rondo_flow_function functions[] = { { "twise", twice, &called } };
    rondo_flow_options o = { RONDO_FLOW, .functions = functions, .function_count = 1 };
    rondo_flow *flow = NULL;
    rondo_error err;
    CHECK_INT(rondo_flow_parse("t.yaml", calls_twice, sizeof calls_twice - 1, &o, &flow, &err), RONDO_EINVAL);
    CHECK_STR(err.message, "workflow 't.yaml': agent 'f': there is no function 'twice'");
    CHECK_INT(err.line, 3);
}

TEST(a_flow_is_a_node_like_any_other)
{
    rondo_engine *engine = engine_new();
    int called = 0;
    rondo_flow_function functions[] = { { "twice", twice, &called } };
    rondo_flow *flow = parse(calls_twice, &(rondo_flow_options){ RONDO_FLOW, .functions = functions,
                                                                  .function_count = 1 });
    rondo_node *both = RONDO_PARALLEL(rondo_flow_node(flow), rondo_flow_node(flow));
    rondo_flow_free(flow);
    json_t *input = json_pack("{s:i}", "n", 1), *output = NULL;
    rondo_error err;
    if (rondo_call(engine, both, input, &output, &err) < 0)
        FAIL("%s", err.message);
    char *text = rondo_value_text(output);
    CHECK_STR(text, "[5,5]");
    rondo_text_free(text);
    json_decref(output);
    json_decref(input);
    rondo_node_unref(both);
    rondo_engine_free(engine);
}

/* ---- files in files --------------------------------------------------------------------------------------------- */

static void write_file(const char *folder, const char *name, const char *text)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    CHECK(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static const char inner_file[] = "rondo: 1\nname: inner\n"
                                 "agents: { s: { description: d, script: [x] } }\n"
                                 "inputs: { a: { type: integer }, b: { type: string, default: dd } }\n"
                                 "steps: [{ id: s, set: { seen: "
                                 "'[inputs.a, inputs.b, has(state.outer), input.a]' } }]\n"
                                 "output: state.seen\n";

/* What a flow that includes inner.yaml returns. */
static const char *with_inner(const char *steps)
{
    char folder[] = "/tmp/flow-api-XXXXXX", text[2000], path[300];
    CHECK(mkdtemp(folder));
    write_file(folder, "inner.yaml", inner_file);
    snprintf(text, sizeof text, "rondo: 1\nname: outer\norder: sequence\n"
                                "agents: { sub: { description: d, workflow: inner.yaml },"
                                " s: { description: d, script: [{ result: { n: 5 } }] } }\n%s", steps);
    write_file(folder, "outer.yaml", text);
    snprintf(path, sizeof path, "%s/outer.yaml", folder);
    rondo_flow *flow = NULL;
    rondo_error err;
    rondo_engine *engine = engine_new();
    const char *ret = rondo_flow_load(path, NULL, &flow, &err) < 0 ? strdup(err.message)
                                                                   : run_flow(engine, flow, NULL);
    rondo_engine_free(engine);
    unlink(path);
    snprintf(path, sizeof path, "%s/inner.yaml", folder);
    unlink(path);
    rmdir(folder);
    return ret;
}

TEST(a_file_in_a_file_has_its_own_inputs_and_state)
{
    CHECK_STR(with_inner("steps:\n"
                         "  - { id: o, set: { outer: '1' } }\n"
                         "  - { id: i, include: inner.yaml, with: { a: state.outer + 2 } }\n"
                         "output: '[steps.i.result, has(state.seen), steps.i.steps.s.status]'\n"),
              "[[3,\"dd\",false,3],false,\"completed\"]");
    CHECK_STR(with_inner("steps:\n"
                         "  - { id: a, agent: s, instructions: i }\n"
                         "  - { id: i, agent: sub, instructions: i, with: { a: input.n, b: '\"x\"' } }\n"
                         "output: steps.i.result\n"),
              "[5,\"x\",false,5]");
}

TEST(inputs_of_a_file_in_a_file_are_checked_when_they_are_known)
{
    CHECK_STR(with_inner("steps:\n"
                         "  - { id: a, agent: s, instructions: i }\n"
                         "  - { id: i, include: inner.yaml, with: { a: 'dyn(string(steps.a.result.n))' } }\n"),
              "input 'a': expected integer, got \"5\"");
}

/* ---- lines -------------------------------------------------------------------------------------------------- */

static const char lines_flow[] =
    "rondo: 1\n"
    "name: lines\n"
    "agents:\n"
    "  t: { description: d, script: [{ content: one, delay: 1500ms, usage: { prompt: 10, completion: 5, cost: 0.25 } },"
    " { content: two, delay: 70s }] }\n"
    "  n: { description: d, script: [{ result: { n: 3 } }, { result: { n: 1 } }] }\n"
    "steps:\n"
    "  - id: l\n"
    "    loop: { maxIterations: 2, score: steps.b.result.n,\n"
    "      steps: [{ id: a, agent: t, instructions: i }, { id: b, agent: n, instructions: i, dependsOn: [a] }] }\n"
    "  - { id: r, agent: n, instructions: i, dependsOn: [l], loop: { maxIterations: 1 } }\n"
    "  - { id: e, dependsOn: [l], loop: { forEach: [7], steps: [{ id: x, agent: n, instructions: i }] } }\n"
    "  - { id: no, agent: n, instructions: i, condition: 'false' }\n"
    "output: '1'\n";

/* Of the line of an event, all but type, seq, timestamp and runId. */
static const char *line_of(const char *type, const char *path)
{
    static struct buf out;
    rondo_engine *engine = engine_new();
    rondo_flow *flow = parse(lines_flow, NULL);
    rondo_run *run;
    rondo_error err;
    const rondo_event *event;
    buf_clear(&out);
    CHECK(rondo_flow_start(engine, flow, NULL, NULL, &run, &err) == 0);
    while ((event = rondo_run_next(run))) {
        const char *text = rondo_event_json(event, NULL);
        json_t *line = json_loads(text, 0, NULL);
        CHECK(line != NULL);
        CHECK_STR(json_string_value(json_object_get(line, "type")), rondo_event_name(event));
        bool wanted = strcmp(rondo_event_name(event), type) == 0 && strcmp(rondo_event_path(event), path) == 0;
        static const char *const common[] = { "type", "seq", "timestamp", "runId", "path" };
        for (size_t i = 0; i < COUNT(common); i++)
            json_object_del(line, common[i]);
        if (wanted)
            value_put_json(&out, line);
        json_decref(line);
    }
    rondo_run_close(run);
    rondo_flow_free(flow);
    rondo_engine_free(engine);
    return buf_text(&out);
}

TEST(lines_say_what_zenflow_says)
{
    CHECK_STR(line_of("workflow_start", ""),
              "{\"message\":\"lines\",\"data\":{\"total\":4,\"value\":{\"input\":{},\"maxConcurrency\":5,"
              "\"onUnknown\":3,\"rules\":5}}}");
    CHECK_STR(line_of("step_start", "l"),
              "{\"stepId\":\"l\",\"data\":{\"index\":0,\"total\":4,\"loop_type\":\"repeat\",\"input\":{}}}");
    CHECK_STR(line_of("step_start", "e"),
              "{\"stepId\":\"e\",\"data\":{\"index\":3,\"total\":4,\"loop_type\":\"forEach\","
              "\"items\":1,\"input\":{}}}");
    CHECK_STR(line_of("step_end", "l.0.a"),
              "{\"stepId\":\"l.0.a\",\"agent\":\"t\",\"duration\":\"1.5s\",\"tokens\":{\"prompt\":10,"
              "\"completion\":5,\"total\":15" NO_PARTS "},\"data\":{\"output\":\"one\"}}");
    CHECK_STR(line_of("step_end", "l.1.a"),
              "{\"stepId\":\"l.1.a\",\"agent\":\"t\",\"duration\":\"1m10s\",\"data\":{\"output\":\"two\"}}");
    CHECK_STR(line_of("step_end", "r.0"),
              "{\"stepId\":\"r\",\"agent\":\"n\",\"duration\":\"0s\",\"data\":{\"output\":{\"n\":1}}}");
    CHECK_STR(line_of("step_skipped", "no"), "{\"stepId\":\"no\",\"message\":\"condition false\"}");
}

TEST(lines_of_passes_have_outputs_and_the_best_so_far)
{
    CHECK_STR(line_of("iteration_end", "l"),
              "{\"stepId\":\"l\",\"duration\":\"1.5s\",\"data\":{\"pass\":0,\"cap\":2,"
              "\"best\":{\"pass\":0,\"score\":3},"
              "\"outputs\":{\"a\":\"one\",\"b\":{\"n\":3}},\"status\":\"completed\",\"score\":3,\"output\":{\"n\":3}}}"
              "{\"stepId\":\"l\",\"duration\":\"1m10s\",\"data\":{\"pass\":1,\"cap\":2,"
              "\"best\":{\"pass\":0,\"score\":3},"
              "\"outputs\":{\"a\":\"two\",\"b\":{\"n\":1}},\"status\":\"completed\",\"score\":1,"
              "\"output\":{\"n\":1}}}");
    const char *alone = line_of("iteration_end", "r");
    CHECK(strstr(alone, "\"outputs\":{\"r\":{\"n\":1}},\"status\":\"completed\",\"output\":{\"n\":1}}}"));
    CHECK_STR(line_of("loop_end", "l"), "{\"stepId\":\"l\",\"data\":{\"reason\":\"max_iterations\",\"passes\":2,"
                                        "\"best\":{\"pass\":0,\"score\":3},\"rule\":\"maxIterations\",\"bound\":2,"
              "\"why\":\"cap: it was reached after pass 2 (maxIterations: 2); best: pass 1\"}}");
}

TEST(the_last_line_sums_up)
{
    CHECK_STR(line_of("workflow_end", ""),
              "{\"duration\":\"1m11.5s\",\"tokens\":{\"prompt\":10,\"completion\":5,\"total\":15" NO_PARTS "},"
              "\"data\":{\"status\":\"completed\",\"usage\":{\"prompt\":10,\"completion\":5,\"total\":15" NO_PARTS
              ",\"calls\":0},\"cost\":0.25,\"exitCode\":0,\"output\":1}}");
}
