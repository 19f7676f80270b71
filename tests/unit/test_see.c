/* test_see.c - what expressions see while a workflow runs: flows of scripted agents, and what they return. */
#include "data/value.h"
#include "rondo.h"
#include "test.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static void problem(const rondo_problem *p, void *out)
{
    if (!p->is_warning)
        buf_puts(out, p->text);
}

/* The output of a run as JSON; or what is wrong with the file; or "STATUS: error". */
static const char *came_to(const char *text, const char *inputs)
{
    static struct buf out;
    rondo_error err = { 0 };
    rondo_engine *engine;
    rondo_flow *flow;
    rondo_run *run;
    rondo_result result;
    json_t *given = inputs ? json_loads(inputs, 0, NULL) : NULL;
    buf_clear(&out);
    CHECK(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .virtual_time = true }, &engine, &err) == 0);
    if (rondo_flow_parse("t.yaml", text, strlen(text),
                         &(rondo_flow_options){ RONDO_FLOW, .report = problem, .user = &out }, &flow, &err) < 0)
        return buf_text(&out);
    if (rondo_flow_start(engine, flow, given, &(rondo_run_options){ RONDO_RUN, .id = "run-1" }, &run, &err) < 0) {
        buf_puts(&out, err.message);
    } else {
        rondo_flow_free(flow);
        flow = NULL;
        rondo_run_wait(run, &err);
        CHECK(rondo_run_result(run, &result) == 0);
        if (result.status == RONDO_STATUS_COMPLETED)
            result.output ? value_put_json(&out, result.output) : buf_puts(&out, "nothing");
        else
            buf_printf(&out, "%s: %s", rondo_status_text(result.status), result.error);
        rondo_run_close(run);
    }
    rondo_flow_free(flow);
    rondo_engine_free(engine);
    json_decref(given);
    return buf_text(&out);
}

#define HEAD                                                                                       \
    "rondo: 1\n"                                                                                   \
    "name: t\n"                                                                                    \
    "agents:\n"                                                                                    \
    "  text: { description: d, script: [first, second, third, fourth, fifth] }\n"                  \
    "  data: { description: d, script: [{ result: { n: 1, l: [a, b] } }, { result: { n: 2 } }] }\n" \
    "  both: { description: d, script: [{ content: said, result: { n: 7 } }] }\n"                  \
    "  bad: { description: d, script: [{ fail: broken }] }\n"

#define STEPS HEAD "order: sequence\nsteps:\n"

static const struct row {
    const char *flow, *inputs, *output;
} rows[] = {
    /* steps: content and result */
    { STEPS "  - { id: a, agent: text, instructions: i }\n"
            "output: '[steps.a.content, steps.a.status, steps.a.error, has(steps.a.result)]'\n",
      NULL, "[\"first\",\"completed\",\"\",false]" },
    { STEPS "  - { id: a, agent: data, instructions: i }\n"
            "output: '[steps.a.content, steps.a.result.n + 1, steps.a.result.l]'\n",
      NULL, "[\"{\\\"n\\\":1,\\\"l\\\":[\\\"a\\\",\\\"b\\\"]}\",2,[\"a\",\"b\"]]" },
    { STEPS "  - { id: a, agent: both, instructions: i }\n"
            "output: '[steps.a.content, steps.a.result.n]'\n",
      NULL, "[\"said\",7]" },
    { STEPS "  - { id: a, agent: text, instructions: i, condition: 'false' }\n"
            "output: '[steps.a.content, steps.a.status, has(steps.a.result)]'\n",
      NULL, "[\"\",\"skipped\",false]" },
    { STEPS "  - { id: run-it, agent: data, instructions: i }\n"
            "output: '[steps.run-it.result.n, steps[\"run-it\"].result.n, steps[\"run\" + \"-it\"].result.n]'\n",
      NULL, "[1,1,1]" },
    { STEPS "  - { id: a, agent: both, instructions: i }\n"
            "output: steps\n",
      NULL, "{\"a\":{\"status\":\"completed\",\"content\":\"said\",\"result\":{\"n\":7}}}" },
    { STEPS "  - { id: g, steps: [{ id: x, agent: both, instructions: i }, { id: y, agent: text, instructions: i, dependsOn: [x] }] }\n"
            "output: '[steps.g.steps.x.result.n, steps.g.steps.y.content, steps.g.content, size(steps.g.steps)]'\n",
      NULL, "[7,\"first\",\"first\",2]" },
    { STEPS "  - { id: p, parallel: { steps: [{ id: x, agent: both, instructions: i }, { id: y, agent: text, instructions: i }] } }\n"
            "output: '[steps.p.steps.x.content, steps.p.result]'\n",
      NULL, "[\"said\",[{\"n\":7},\"first\"]]" },

    /* inputs, state, run, budget */
    { HEAD "inputs: { topic: { type: string }, n: { type: integer, default: 3 } }\n"
           "steps: [{ id: a, agent: text, instructions: '${inputs.topic}' }]\n"
           "output: '[inputs.topic, inputs.n + 1, inputs]'\n",
      "{\"topic\":\"music\",\"n\":4.0}", "[\"music\",5,{\"topic\":\"music\",\"n\":4.0}]" },
    { HEAD "inputs: { topic: { type: string } }\n"
           "steps: [{ id: a, agent: text, instructions: i }]\n",
      "{}", "workflow 't': the input 'topic' is missing" },
    { HEAD "inputs: { topic: { type: string } }\n"
           "steps: [{ id: a, agent: text, instructions: i }]\n",
      "{\"topic\":1}", "workflow 't': input 'topic': expected string, got 1" },
    { HEAD "inputs: { topic: { type: string } }\n"
           "steps: [{ id: a, agent: text, instructions: i }]\n",
      "{\"topic\":\"x\",\"topik\":\"\"}", "workflow 't': there is no input 'topik'" },
    { STEPS "  - { id: s, set: { a: '1 + 1', b: '\"x\"' } }\n"
            "  - { id: r, set: { a: 'state.a * 2' } }\n"
            "output: '[state.a, state.b, state]'\n",
      NULL, "[4,\"x\",{\"a\":4,\"b\":\"x\"}]" },
    { HEAD "steps:\n"
           "  - { id: s, set: { n: '0' } }\n"
           "  - { id: p, dependsOn: [s], loop: { forEach: '[1, 2, 3]', maxConcurrency: 3, steps: [{ id: a, set: { n: state.n + item } }] } }\n"
           "output: state.n\n",
      NULL, "6" },
    { "rondo: 1\nname: t\nagents: { a: { outputKey: k, script: [{ content: words, result: [1] }] } }\n"
      "steps: [{ id: s, agent: a }]\noutput: state.k\n",
      NULL, "\"words\"" },
    { STEPS "  - { id: s, set: { a: state.nothing } }\n", NULL,
      "failed: a: there is no value for 'nothing' yet\n  state.nothing\n        ^" },
    { STEPS "  - { id: a, agent: text, instructions: i }\n"
            "output: '[run.id, run.name, budget.tokens.used, has(budget.tokens.left), budget.calls.used]'\n",
      NULL, "[\"run-1\",\"t\",0,false,0]" },
    { HEAD "budget: { tokens: 100 }\n"
           "steps: [{ id: a, agent: text, instructions: i }]\n"
           "output: '[budget.tokens.left, budget.cost.used]'\n",
      NULL, "[100,0.0]" },

    /* input: of sequences, of `with` */
    { STEPS "  - { id: a, agent: both, instructions: i }\n"
            "  - { id: b, set: { got: input }, dependsOn: [] }\n"
            "output: state.got\n",
      NULL, "{\"n\":7}" },
    { STEPS "  - { id: a, agent: text, instructions: i }\n"
            "  - { id: b, agent: text, instructions: i, condition: 'false' }\n"
            "  - { id: c, set: { got: input } }\n"
            "output: state.got\n",
      NULL, "\"first\"" },
    { STEPS "  - { id: a, agent: text, instructions: i }\n"
            "  - { id: c, with: { x: input, y: '1' }, set: { got: input } }\n"
            "output: state.got\n",
      NULL, "{\"x\":\"first\",\"y\":1}" },

    /* conditions: absent is false, other errors fail */
    { STEPS "  - { id: a, agent: text, instructions: i, condition: state.nothing > 1 }\n"
            "output: steps.a.status\n",
      NULL, "\"skipped\"" },
    { STEPS "  - { id: a, agent: text, instructions: i, condition: 'input.x > 1' }\n"
            "output: steps.a.status\n",
      NULL, "\"skipped\"" },
    { STEPS "  - { id: a, agent: data, instructions: i }\n"
            "  - { id: b, agent: text, instructions: i, condition: steps.a.result.l }\n",
      NULL, "partial: when: condition: must be true or false, this gives [\"a\",\"b\"]\n  steps.a.result.l\n  ^" },
    { STEPS "  - { id: a, agent: text, instructions: i, condition: '1 / 0 == 1' }\n", NULL,
      "failed: when: condition: division of 1 by zero\n  1 / 0 == 1\n    ^" },
    { STEPS "  - { id: a, agent: text, instructions: 'x ${state.y} z' }\n", NULL,
      "failed: ${state.y}: there is no value for 'y' yet\n  state.y\n        ^" },

    /* loops */
    { HEAD "steps:\n"
           "  - id: l\n"
           "    loop: { maxIterations: 5, until: 'content == \"third\" && iteration == 2',\n"
           "            steps: [{ id: a, agent: text, instructions: i }] }\n"
           "output: '[steps.l.passes, steps.l.reason, steps.l.content, steps.l.steps.a.content, steps.l.capped]'\n",
      NULL, "[3,\"until\",\"third\",\"third\",false]" },
    { HEAD "steps:\n"
           "  - { id: l, agent: text, instructions: i, loop: { maxIterations: 5, until: steps.l.content == 'second' } }\n"
           "output: '[steps.l.passes, steps.l.history.map(p, p.content), steps.l.history[0].pass]'\n",
      NULL, "[2,[\"first\",\"second\"],0]" },
    { HEAD "steps:\n"
           "  - { id: l, agent: text, instructions: i, loop: { maxIterations: 5, until: 'history.size() == 4' } }\n"
           "output: '[steps.l.history.map(p, p.content), steps.l.history.map(p, p.status)[1]]'\n",
      NULL, "[[\"first\",\"second\",\"third\",\"fourth\"],\"completed\"]" },
    { HEAD "steps:\n"
           "  - id: l\n"
           "    loop:\n"
           "      maxIterations: 4\n"
           "      outputMode: best\n"
           "      score: 'steps.b.result.n == 2 ? 10 - iteration : 0'\n"
           "      steps:\n"
           "        - { id: a, agent: text, instructions: i }\n"
           "        - { id: b, agent: data, instructions: i, dependsOn: [a] }\n"
           "      output: a\n"
           "output: '[steps.l.content, steps.l.best.pass, steps.l.best.score, steps.l.score, steps.l.history[0].steps.b.result.n,"
           " steps.l.history[3].steps.a.content, steps.l.best.steps.a.content, steps.l.steps.b.result.n]'\n",
      NULL, "[\"second\",1,9.0,9.0,1,\"fourth\",\"second\",2]" },
    /* passes that were read back tell the same as those in memory */
    { HEAD "steps:\n"
           "  - id: l\n"
           "    loop:\n"
           "      maxIterations: 4\n"
           "      steps: [{ id: n, agent: text, instructions: i, loop: { maxIterations: 2, score: '0.5' } }]\n"
           "output: steps.l.history.map(p, [p.steps.n.passes, p.steps.n.reason, p.steps.n.capped, p.steps.n.score, p.steps.n.content])\n",
      NULL, "[[2,\"max_iterations\",false,0.5,\"second\"],[2,\"max_iterations\",false,0.5,\"fourth\"],"
            "[2,\"max_iterations\",false,0.5,\"fifth\"],[2,\"max_iterations\",false,0.5,\"fifth\"]]" },
    { HEAD "steps:\n"
           "  - { id: l, agent: text, instructions: i, loop: { maxIterations: 2 } }\n"
           "output: '[steps.l].map(s, [s.passes, s.error, s.history.map(p, p.content)])'\n",
      NULL, "[[2,\"\",[\"first\",\"second\"]]]" },
    { HEAD "steps:\n"
           "  - id: m\n"
           "    machine:\n"
           "      start: p\n"
           "      states: { p: { agent: text }, q: { agent: text }, r: { agent: text } }\n"
           "      edges: [{ from: p, to: q }, { from: q, to: r }, { from: r, to: end }]\n"
           "output: steps.m.history.map(p, p.steps.transformMap(id, s, s.content))\n",
      NULL, "[{\"p\":\"first\"},{\"q\":\"second\"},{\"r\":\"third\"}]" },
    { HEAD "steps:\n"
           "  - { id: l, agent: text, instructions: i, loop: { while: 'iteration < 2', onMaxIterations: returnLast } }\n"
           "output: '[steps.l.passes, steps.l.reason]'\n",
      NULL, "[2,\"while\"]" },
    { HEAD "steps:\n"
           "  - { id: l, set: { n: 'input' }, with: { }, loop: { maxIterations: 9, next: 'iteration < 2 ? iteration + 1 : null' } }\n"
           "output: '[steps.l.passes, state.n]'\n",
      NULL, "[3,2]" },
    { HEAD "steps:\n"
           "  - id: l\n"
           "    loop:\n"
           "      maxIterations: 3\n"
           "      steps:\n"
           "        - { id: a, agent: text, instructions: i }\n"
           "        - { id: s, dependsOn: [a], set: { seen: '[feedback.attempt, feedback.text, feedback.judge, iteration]', p: feedback.previous } }\n"
           "output: state.seen\n",
      NULL, "[2,\"Loop iteration 3 of 3. Improve on the previous output.\",\"\",2]" },
    { HEAD "steps:\n"
           "  - id: l\n"
           "    loop:\n"
           "      maxIterations: 2\n"
           "      feedback: 'you said ${steps.a.content} in ${iteration}'\n"
           "      steps:\n"
           "        - { id: a, agent: text, instructions: i }\n"
           "        - { id: s, dependsOn: [a], set: { seen: feedback.text } }\n"
           "output: state.seen\n",
      NULL, "\"you said first in 1\"" },

    /* until that is absent */
    { HEAD "steps:\n"
           "  - { id: l, agent: text, instructions: i, loop: { maxIterations: 2, until: result.done, onMaxIterations: flag } }\n"
           "output: '[steps.l.passes, steps.l.capped]'\n",
      NULL, "[2,true]" },
    { HEAD "steps:\n"
           "  - { id: l, agent: data, instructions: i, loop: { maxIterations: 2, until: result.n } }\n",
      NULL, "partial: until of loop 'l' failed in pass 1: until: must be true or false, this gives 1\n  result.n\n  ^" },
    { HEAD "steps:\n"
           "  - { id: l, agent: text, instructions: i, loop: { maxIterations: 2, until: 'input.x > 1', next: state.x } }\n",
      NULL, "partial: next of loop 'l' failed in pass 1: next: there is no value for 'x' yet\n  state.x\n        ^" },

    /* forEach */
    { HEAD "steps:\n"
           "  - { id: a, agent: data, instructions: i }\n"
           "  - id: e\n"
           "    dependsOn: [a]\n"
           "    loop:\n"
           "      forEach: steps.a.result.l.map(x, x + '!')\n"
           "      maxConcurrency: 1\n"
           "      steps: [{ id: s, set: { v: '[item, index, input]' } }, { id: t, agent: both, instructions: '${item}', dependsOn: [s], condition: 'index == 1' }]\n"
           "output: '[state.v, steps.e.passes, steps.e.result.iterations.map(i, [i.index, i.item, i.status]),"
           " steps.e.result.iterations[1].content]'\n",
      NULL, "[[\"b!\",1,\"b!\"],2,[[0,\"a!\",\"completed\"],[1,\"b!\",\"completed\"]],\"said\"]" },
    { HEAD "steps:\n"
           "  - { id: e, loop: { forEach: '[]', steps: [{ id: s, agent: text, instructions: i }] } }\n"
           "output: '[steps.e.passes, steps.e.result.iterations, steps.e.reason]'\n",
      NULL, "[0,[],\"items\"]" },
    { HEAD "steps:\n"
           "  - { id: e, loop: { forEach: input.list, steps: [{ id: s, agent: text, instructions: i }] } }\n",
      NULL, "failed: items: forEach: no such key: 'list'\n  input.list\n        ^" },

    /* nested: inner steps see outer ones, and each loop's names are its own */
    { HEAD "steps:\n"
           "  - { id: top, agent: both, instructions: i }\n"
           "  - id: outer\n"
           "    dependsOn: [top]\n"
           "    loop:\n"
           "      maxIterations: 2\n"
           "      steps:\n"
           "        - { id: w, agent: text, instructions: i }\n"
           "        - id: inner\n"
           "          dependsOn: [w]\n"
           "          loop:\n"
           "            maxIterations: 2\n"
           "            until: 'steps.w.content == \"second\" && iteration == 0'\n"
           "            onMaxIterations: returnLast\n"
           "            steps: [{ id: x, set: { seen: '[steps.top.result.n, steps.w.content, iteration]' } }]\n"
           "output: '[state.seen, steps.outer.steps.inner.passes, steps.outer.steps.inner.steps.x.status]'\n",
      NULL, "[[7,\"second\",0],1,\"completed\"]" },

    /* branch, machine, retry */
    { STEPS "  - { id: a, agent: data, instructions: i }\n"
            "  - id: b\n"
            "    branch:\n"
            "      - { when: state.none == 1, name: one, agent: text, instructions: i }\n"
            "      - { when: steps.a.result.n == 1, name: two, agent: both, instructions: i }\n"
            "      - { else: { agent: text, instructions: i } }\n"
            "output: '[steps.b.result.n, steps.b.steps.two.status]'\n",
      NULL, "[7,\"completed\"]" },
    { HEAD "steps:\n"
           "  - { id: a, agent: bad, instructions: i, retry: { attempts: 3, on: 'error.contains(\"bro\") && steps.a.status == \"failed\"' } }\n"
           "  - { id: b, set: { x: '[steps.a.error, steps.a.status]' }, dependsOn: [a], runOn: always }\n"
           "output: state.x\n",
      NULL, "partial: broken" },
    { HEAD "steps:\n"
           "  - { id: a, agent: bad, instructions: i }\n"
           "  - { id: b, set: { x: '[steps.a.error, steps.a.status]' }, dependsOn: [a], runOn: failure }\n"
           "output: state.x\n",
      NULL, "[\"broken\",\"failed\"]" },
    { HEAD "steps:\n"
           "  - id: m\n"
           "    machine:\n"
           "      start: go\n"
           "      states: { go: { agent: text, instructions: i }, stop: { agent: both, instructions: i } }\n"
           "      edges: [{ from: go, to: stop, when: content == 'second' && steps.go.status == 'completed' }, { from: go, to: go }, { from: stop, to: end }]\n"
           "output: '[steps.m.content, steps.m.passes, steps.m.steps.stop.content]'\n",
      NULL, "[\"said\",3,\"said\"]" },

    /* v1 */
    { "name: old\n"
      "agents: { a: { description: d } }\n"
      "steps: [{ id: one, agent: a, instructions: i, condition: steps.one.result.x == 1 }]\n",
      NULL, "nothing" },
};

TEST(flows_see_what_they_should)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *is = came_to(rows[i].flow, rows[i].inputs);
        if (strcmp(is, rows[i].output) != 0)
            FAIL("%s\n  got:      %s\n  expected: %s", rows[i].flow, is, rows[i].output);
    }
}
