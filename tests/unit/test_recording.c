/* test_recording.c - what agents were asked and what they said: written down, and played again.

   Both runs have virtual time and the same seed, so whatever a flow does, its events must be the same to
   the byte; and a recording of a replay is the recording. */
#include "agent/difference.h"
#include "agent/player.h"
#include "agent/recorder.h"
#include "agents.h"
#include "data/value.h"
#include "engine/exit.h"
#include "engine/flows.h"
#include "engine/shell.h"
#include "io/file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- takes: runs that are recorded or played ------------------------------------------------------------ */

struct take {
    struct call_env env;
    struct flow *flow;
    rondo_engine *engine;
    rondo_run *run;
    rondo_error err;
    int rc;
    struct buf lines; // all events
    struct buf text;
    rondo_later later; // of the function that is at work
};

#define TAKE_ONE __attribute__((cleanup(take_end))) struct take

static char file[64];

static const char *file_name(void)
{
    if (!*file) {
        strcpy(file, "/tmp/rondo-recording-XXXXXX");
        close(mkstemp(file));
    }
    return file;
}

static void take_end(struct take *t)
{
    rondo_run_close(t->run);
    rondo_engine_free(t->engine);
    player_close(t->env.player);
    recorder_close(t->env.recorder, &t->err);
    flow_unref(t->flow);
    buf_free(&t->lines);
    buf_free(&t->text);
    unlink(file);
}

static void load(struct take *t, const char *text)
{
    struct diags diags = { 0 };
    auto_buf struct buf problems = { 0 };
    struct source *source = source_new("t", text, strlen(text));
    t->flow = flow_load(source, &(struct flow_load){ .folder = NULL }, &diags);
    source_unref(source);
    for (uint32_t i = 0; i < diags.count; i++)
        if (!diags.list[i].is_warning)
            diag_put(&problems, &diags.list[i], false);
    CHECK_STR(buf_text(&problems), "");
    diags_clear(&diags);
}

static void go(struct take *t)
{
    struct diags diags = { 0 };
    const rondo_event *ev;
    size_t len;
    json_t *inputs = flows_inputs(t->flow, NULL, &diags);
    rondo_config config = { RONDO_CONFIG, .virtual_time = true, .seed = 1 };
    CHECK_INT(rondo_engine_new(&config, &t->engine, &t->err), 0);
    CHECK_INT(flows_start(t->engine, t->flow, &t->env, inputs, NULL, NULL, &t->run, &t->err), 0);
    json_decref(inputs);
    while ((ev = rondo_run_next(t->run))) {
        const char *line = rondo_event_json(ev, &len);
        if (ev->type == RONDO_EV_OUTPUT)
            continue;
        buf_put(&t->lines, line, len);
        buf_putc(&t->lines, '\n');
    }
    diags_clear(&diags);
}

static const char *error_of(struct take *t)
{
    rondo_result res;
    CHECK_INT(rondo_run_result(t->run, &res), 0);
    return res.error;
}

static void record(struct take *t, const char *text)
{
    load(t, text);
    CHECK_INT(recorder_open(file_name(), &t->env.recorder, &t->err), 0);
    go(t);
    CHECK_INT(recorder_close(TAKE(t->env.recorder), &t->err), 0);
}

static void replay(struct take *t, const char *text)
{
    load(t, text);
    t->rc = player_open(file_name(), t->flow, &t->env.player, &t->err);
    if (t->rc < 0)
        FAIL("%s", t->err.message);
    go(t);
}

/* The recording as it is now. */
static const char *recorded(struct take *t)
{
    buf_clear(&t->text);
    CHECK_INT(file_read(file, 1 << 24, &t->text, &t->err), 0);
    return buf_text(&t->text);
}

static void write_recording(const char *text)
{
    rondo_error err;
    CHECK_INT(file_write("/tmp", file_name() + 5, text, strlen(text), &err), 0);
}

static const char *unasked(struct take *t)
{
    buf_clear(&t->text);
    player_put_unasked(t->env.player, &t->text);
    return buf_text(&t->text);
}

/* ---- whatever a flow does ------------------------------------------------------------------------------- */

static const struct flow_function *functions;
static size_t function_count;

/* Records, replays, and records the replay. */
static void check_same(const char *text)
{
    auto_buf struct buf first = { 0 };
    TAKE_ONE live = { .env = { .functions = functions, .function_count = function_count } };
    record(&live, text);
    buf_puts(&first, recorded(&live));

    struct take again = { 0 };
    replay(&again, text);
    CHECK_STR(buf_text(&again.lines), buf_text(&live.lines));
    CHECK_STR(unasked(&again), "");
    CHECK_INT(exit_code(again.run), exit_code(live.run));
    take_end(&again);

    struct take copy = { 0 };
    load(&copy, text);
    write_recording(buf_text(&first));
    CHECK_INT(player_open(file, copy.flow, &copy.env.player, &copy.err), 0);
    CHECK_INT(recorder_open(file, &copy.env.recorder, &copy.err), 0);
    go(&copy);
    CHECK_INT(recorder_close(TAKE(copy.env.recorder), &copy.err), 0);
    CHECK_STR(recorded(&copy), buf_text(&first));
    take_end(&copy);
}

#define HEAD "rondo: 1\nname: t\n"
#define FIRST "{\"rondo-recording\":1,\"workflow\":\"t\"}\n" // line of a recording of it

TEST(texts_results_and_both)
{
    check_same(HEAD "agents: { a: { script: [one, { result: { n: [1, 2.5, null] } }, { content: x, result: "
        "3 }, '']}}\n"
                    "order: sequence\nsteps:\n- { id: w, agent: a }\n- { id: x, agent: a }\n- { id: y, agent: a }\n"
                    "- { id: z, agent: a }\n");
}

TEST(events_state_usage_and_tool_calls)
{
    check_same(HEAD "agents: { a: { outputKey: said, memory: notes, script: [{ content: one,\n"
                    "  events: [hello, { author: me, content: again, data: { k: [1] }, state: { seen: 1 } }],\n"
                    "  toolCalls: [{ name: search, input: { q: x }, output: found }],\n"
                    "  usage: { prompt: 10, completion: 4, cost: 0.000123456, calls: 1 },\n"
                    "  actions: { state: { n: 5 } } }]}}\n"
                    "order: sequence\nsteps:\n- { id: x, agent: a }\n- { id: y, agent: a, instructions: "
                    "'${state.n}' }\n");
}

TEST(loops_with_judges_scores_and_delays)
{
    check_same(HEAD "agents:\n"
                    "  w: { script: [{ content: a, delay: 30ms }, b, c] }\n"
                    "  j: { resultSchema: { type: object, required: [done], properties: { done: { type: "
                    "boolean } } },\n"
                    "       script: [{ result: { done: false }, content: no }, { fail: broken }, { result: "
                    "{ done: true } }] }\n"
                    "  s: { resultSchema: { type: object, required: [score], properties: { score: { type: "
                    "number } } },\n"
                    "       script: [{ result: { score: 1 } }, { result: { score: 5 } }, { result: { score: "
                    "3 } }] }\n"
                    "steps:\n- { id: l, agent: w, loop: { maxIterations: 5, untilAgent: j, scoreAgent: s, "
                    "delay: 10s, "
                    "outputMode: best } }\n");
}

TEST(breaks_continues_and_escalations)
{
    check_same(HEAD "agents:\n  a: { script: [x, { content: y, actions: { continue: true } }, "
                    "{ content: z, actions: { break: outer } }] }\n"
                    "  e: { script: [{ content: up, actions: { escalate: true } }] }\n"
                    "steps:\n- id: outer\n  loop:\n    maxIterations: 3\n    steps:\n"
                    "    - { id: inner, loop: { maxIterations: 4, steps: [{ id: s, agent: a }, "
                    "{ id: t, agent: a, dependsOn: [s] }] } }\n"
                    "- { id: other, agent: e, loop: { maxIterations: 3 } }\n");
    check_same(HEAD "agents: { e: { script: [{ content: up, actions: { break: outer, escalate: true } }] } }\n"
                    "steps:\n- id: outer\n  loop:\n    maxIterations: 3\n    steps:\n"
                    "    - { id: inner, loop: { maxIterations: 4, steps: [{ id: s, agent: e }] } }\n"
                    "- { id: z, agent: e, condition: steps.outer.escalated, dependsOn: [outer],\n"
                    "    loop: { maxIterations: 1 } }\n");
}

TEST(retries_with_chance_in_their_delays)
{
    check_same(HEAD "agents: { a: { script: [{ fail: no }, { fail: { message: busy, retry: true } }, "
                    "{ fail: { message: late, code: time } }, done] } }\n"
                    "steps:\n- { id: x, agent: a, retry: { attempts: 4, delay: 100ms, jitter: 0.9 } }\n");
}

TEST(forums)
{
    check_same(HEAD "agents: { a: { script: [yes, { content: no, delay: 20ms }] }, b: { script: [{ content: "
        "no, delay: 10ms }] },\n"
                    "  c: { script: [decided] } }\n"
                    "steps:\n- { id: f, forum: { members: [a, b], captain: c, rounds: 2 } }\n");
}

TEST(reviews)
{
    check_same(HEAD "agents:\n  w: { script: [rough, fine] }\n"
                    "  r: { script: [{ result: { decision: retry, feedback: smoother } }, { result: { "
                    "decision: approve } }] }\n"
                    "steps:\n- { id: x, agent: w, review: { agent: r } }\n");
}

TEST(machines)
{
    check_same(HEAD "agents: { a: { script: [one, two, three] }, b: { script: [back, end] } }\n"
                    "steps:\n- id: m\n  machine:\n    start: go\n"
                    "    states: { go: { agent: a }, check: { agent: b } }\n"
                    "    edges:\n    - { from: go, to: check }\n    - { from: check, to: go, when: content "
                    "== 'back' }\n"
                    "    - { from: check, to: end }\n");
}

TEST(each_item_in_the_order_in_which_they_ended)
{
    check_same(HEAD "agents: { a: { script: [{ content: slow, delay: 50ms }, { content: quick, delay: 1ms "
        "}, { fail: no },\n"
                    "  { content: same, delay: 50ms }] } }\n"
                    "steps:\n- { id: e, agent: a, loop: { forEach: [1, 2, 3, 4], maxConcurrency: 4, "
                    "onItemFailure: continue } }\n"
                    "- { id: after, agent: a, dependsOn: [e] }\n");
}

/* `slow` is cancelled by the failure and never answers; when it is played nobody waits for it. */
TEST(a_call_that_was_cancelled_is_cancelled_again)
{
    check_same(HEAD "agents: { slow: { script: [{ content: x, delay: 1h }] }, bad: { script: [{ fail: no, "
        "delay: 5ms }] } }\n"
                    "steps:\n- id: p\n  parallel: { mode: failFast, agents: [slow, bad] }\n");
}

TEST(a_timeout_is_a_timeout_again)
{
    check_same(HEAD "agents: { slow: { script: [{ content: x, delay: 1h }, { content: y, delay: 20ms }] } }\n"
                    "steps:\n- { id: x, agent: slow, timeout: 100ms, retries: 1 }\n"
                    "- { id: y, agent: slow, timeout: 2h, dependsOn: [x], runOn: always }\n");
}

TEST(a_result_that_does_not_fit_is_recorded_as_it_was)
{
    check_same(HEAD "agents: { a: { resultSchema: { type: object, required: [n] }, script: [{ result: { m: 1 } }, "
                    "{ result: { n: 1 } }] } }\nsteps:\n- { id: x, agent: a, retries: 1 }\n");
}

/* ---- functions, which may say anything -------------------------------------------------------------------- */

static void say_much(rondo_task *task, void *user)
{
    auto_json json_t *state = json_pack("{s:i}", "e", 5);
    rondo_task_set(task, "a", json_integer(1));
    rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "one", .state_delta = state });
    rondo_task_spend(task, &(rondo_usage){ .input_tokens = 3, .calls = 1 });
    rondo_task_note(task, json_null());
    rondo_task_remember(task, "scope", json_string("kept"));
    rondo_task_set(task, "b", json_string("x"));
    rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .author = "who", .data = json_true() });
    rondo_task_spend(task, &(rondo_usage){ .output_tokens = 4 });
    rondo_task_set(task, "c", json_null());
    if (user)
        rondo_task_fail(task, RONDO_ELIMIT, "too much");
    else
        rondo_task_return(task, NULL);
}

static void say_late(rondo_later later, json_t *value, void *user)
{
    rondo_later_set(later, "d", json_integer(4));
    rondo_later_emit(later, &(rondo_emit){ RONDO_EMIT, .content = "late" });
    rondo_later_note(later, json_string("n"));
    rondo_later_remember(later, "scope", json_integer(2));
    rondo_later_spend(later, &(rondo_usage){ .cost_nano = 17 });
    rondo_later_emit(later, &(rondo_emit){ RONDO_EMIT, .content = "up", .escalate = true });
    rondo_later_return_both(later, "both", NULL);
}

static void wait_then_say(rondo_task *task, void *user)
{
    task_after(task, 1234000, json_null(), say_late, NULL);
}

static void say_nothing(rondo_task *task, void *user)
{
}

TEST(everything_that_a_function_can_say)
{
    static const struct flow_function ours[] = { { "much", say_much, NULL }, { "fails", say_much, "" },
                                                 { "late", wait_then_say, NULL }, { "not", say_nothing, NULL } };
    functions = ours;
    function_count = COUNT(ours);
    check_same(HEAD "agents:\n  m: { function: much }\n  f: { function: fails }\n  l: { function: late }\n  "
        "n: { function: not }\n"
                    "steps:\n- { id: x, agent: m }\n- { id: y, agent: f }\n- { id: w, agent: n }\n"
                    "- { id: z, agent: l, loop: { maxIterations: 3 } }\n");
}

/* ---- what a line looks like ------------------------------------------------------------------------------- */

TEST(a_line_is_for_people)
{
    TAKE_ONE t = { 0 };
    record(&t, HEAD "agents: { a: { description: A clerk., script: [one, { content: two, delay: 2ms,\n"
                    "  usage: { prompt: 3 } }] } }\norder: sequence\n"
                    "steps:\n- { id: x, agent: a, instructions: Do it. }\n- { id: y, agent: a }\n");
    CHECK_STR(recorded(&t),
              FIRST
              "{\"path\":\"x\",\"step\":\"x\",\"agent\":\"a\",\"kind\":\"script\",\"prompt\":{\"system\":\"A clerk.\","
              "\"user\":\"## Task\\nDo it.\"},\"input\":{},\"reply\":{\"content\":\"one\"}}\n"
              "{\"path\":\"y\",\"step\":\"y\",\"agent\":\"a\",\"kind\":\"script\",\"prompt\":{\"system\":\"A clerk.\","
              "\"user\":\"## "
              "Input\\none\"},\"input\":\"one\",\"reply\":{\"content\":\"two\",\"usage\":{\"prompt\":3}},"
              "\"at\":2.000,\"ms\":2.000}\n");
}

TEST(the_id_of_a_run_is_put_in_anew)
{
    const char *text = HEAD "agents: { a: { script: [x] } }\nsteps:\n- { id: x, agent: a, instructions: 'in "
        "${run.id}' }\n";
    TAKE_ONE t = { 0 };
    record(&t, text);
    CHECK(strstr(recorded(&t), "in ${run.id}") != NULL);
    auto_json json_t *value = json_pack("{s:[s, i]}", "${run.id}", "a${run.id}b", 1);
    auto_json json_t *lifted = mask_lift("r77", value), *back = mask_value("r77", lifted);
    CHECK_STR(json_text(lifted), "{\"r77\":[\"ar77b\",1]}");
    CHECK(json_equal(back, value));
}

TEST(secrets_of_the_workflow_are_not_in_it)
{
    setenv("RONDO_TEST_SECRET", "hush-hush", 1);
    TAKE_ONE t = { 0 };
    record(&t, HEAD "agents: { a: { script: [{ content: it is hush-hush, result: { k: [hush-hush] } }] },\n"
                    "  c: { run: [cat], env: { KEY: 'env:RONDO_TEST_SECRET' } } }\n"
                    "order: sequence\nsteps:\n- { id: x, agent: a, instructions: say hush-hush }\n"
                    "- { id: y, agent: c, condition: 'false' }\n");
    CHECK_NULL(strstr(recorded(&t), "hush-hush"));
    CHECK(strstr(recorded(&t), "say ***") != NULL);
    CHECK(strstr(recorded(&t), "{\"content\":\"it is ***\",\"result\":{\"k\":[\"***\"]}}") != NULL);
}

#define LONG_TEXT 100000

static void put_long(struct buf *out, char last)
{
    buf_puts(out, HEAD "agents: { a: { script: [x] } }\nsteps:\n- id: x\n  agent: a\n  instructions: '");
    for (int i = 0; i < LONG_TEXT; i++)
        buf_putc(out, 'y');
    buf_putc(out, last);
    buf_puts(out, "'\n");
}

TEST(long_prompts_are_cut_and_compared_all_the_same)
{
    auto_buf struct buf text = { 0 }, other = { 0 };
    TAKE_ONE t = { 0 };
    put_long(&text, 'a');
    put_long(&other, 'b');
    check_same(buf_text(&text));
    record(&t, buf_text(&text));
    CHECK(strlen(recorded(&t)) < RECORDING_TEXT + 1000);
    TAKE_ONE again = { 0 };
    load(&again, buf_text(&other));
    CHECK_INT(player_open(file, again.flow, &again.env.player, &again.err), 0);
    go(&again);
    CHECK(strstr(error_of(&again), "prompt.user.hash") != NULL);
}

/* ---- misses ----------------------------------------------------------------------------------------------- */

static const char loop_text[] = HEAD "agents: { a: { script: [one] } }\n"
    "steps:\n- { id: l, agent: a, instructions: 'Work.', loop: { maxIterations: 3, feedback: false } }\n";

/* Its first pass. */
#define RECORDED_LOOP                                                                                     \
    FIRST "{\"path\":\"l.0\",\"prompt\":{\"user\":\"## Task\\nWork.\\n\\n## Iteration 1\\n\"},"              \
          "\"input\":{},\"reply\":{\"content\":\"one\"}}\n"

/* The path of the file is left out. */
static const char *miss(struct take *t, const char *recording, const char *text)
{
    write_recording(recording);
    replay(t, text);
    CHECK_INT(exit_code(t->run), EXIT_FAILED);
    buf_clear(&t->text);
    for (const char *at = error_of(t), *hit; *at; at = hit + strlen(file)) {
        hit = strstr(at, file);
        buf_put(&t->text, at, hit ? (size_t)(hit - at) : strlen(at));
        if (!hit)
            break;
        buf_puts(&t->text, "FILE");
    }
    return buf_text(&t->text);
}

TEST(a_path_that_is_not_recorded_stops_the_run)
{
    TAKE_ONE t = { 0 };
    CHECK_STR(miss(&t, RECORDED_LOOP, HEAD "agents: { a: { script: [one] } }\nsteps: [{ id: other, agent: a }]\n"),
              "no recording for `other`; the recording ends with `l.0` (FILE)");
    CHECK_STR(unasked(&t), "");
}

TEST(the_same_step_in_other_passes_is_named)
{
    TAKE_ONE live = { 0 }, t = { 0 };
    record(&live, loop_text);
    replay(&t, HEAD "agents: { a: { script: [one] } }\n"
                    "steps:\n- { id: l, agent: a, instructions: 'Work.', loop: { maxIterations: 4, "
                    "feedback: false } }\n");
    CHECK(strstr(error_of(&t), "no recording for `l.3`; the recording has `l.0` .. `l.2` (") == error_of(&t));
    CHECK_INT(exit_code(t.run), EXIT_FAILED);
}

TEST(an_empty_recording_says_so)
{
    TAKE_ONE t = { 0 };
    CHECK_STR(miss(&t, FIRST, loop_text),
              "no recording for `l.0`; the recording has no answers at all (FILE)");
}

TEST(a_name_that_is_nearly_right_is_named)
{
    TAKE_ONE t = { 0 };
    CHECK_STR(miss(&t, FIRST "{\"path\":\"draft\",\"reply\":{\"content\":\"x\"}}\n",
                   HEAD "agents: { a: { script: [one] } }\nsteps: [{ id: darft, agent: a }]\n"),
              "no recording for `darft`; the recording has `draft` (FILE)");
}

TEST(another_prompt_stops_the_run_and_shows_the_line)
{
    TAKE_ONE live = { 0 }, t = { 0 };
    record(&live, HEAD "agents: { a: { script: [one] } }\nsteps:\n- { id: x, agent: a, instructions: "
        "\"First.\\nSecond.\" }\n");
    auto_free char *recording = mem_strdup(recorded(&live));
    CHECK_STR(miss(&t, recording, HEAD "agents: { a: { script: [one] } }\n"
                                       "steps:\n- { id: x, agent: a, instructions: \"First.\\nThird.\" }\n"),
              "`x` is asked something else than what was recorded (FILE, line 2): prompt.user, line 3\n"
              "  - Second.\n  + Third.");
    CHECK_INT(rondo_run_status(t.run), RONDO_STATUS_CANCELLED);
}

/* Nothing may hide a miss: no retry, no `onError: continue`, no judge that may fail, no step for failures. */
TEST(a_miss_is_not_swallowed)
{
    static const char *const flows[] = {
        "- { id: x, agent: a, retries: 3 }\n",
        "- { id: x, agent: a, loop: { maxIterations: 3, onError: continue } }\n",
        "- { id: x, loop: { forEach: [1, 2], onItemFailure: continue, steps: [{ id: y, agent: a }] } }\n",
        "- { id: x, agent: a }\n- { id: y, agent: a, dependsOn: [x], runOn: failure }\n",
        "- { id: x, agent: a }\n- { id: y, agent: a, dependsOn: [x], runOn: always }\n",
        "- { id: x, parallel: { mode: collect, agents: [a, a] } }\n",
    };
    for (size_t i = 0; i < COUNT(flows); i++) {
        auto_buf struct buf text = { 0 };
        buf_puts(&text, HEAD "agents: { a: { script: [one] } }\nsteps:\n");
        buf_puts(&text, flows[i]);
        TAKE_ONE t = { 0 };
        CHECK(strncmp(miss(&t, FIRST, buf_text(&text)), "no recording for", 16) == 0);
        CHECK_NULL(strstr(buf_text(&t.lines), "\"type\":\"retry\""));
    }
}

TEST(a_judge_that_is_not_recorded_stops_the_run)
{
    TAKE_ONE t = { 0 };
    const char *why = miss(&t, RECORDED_LOOP,
         HEAD "agents: { a: { script: [one] }, j: { resultSchema: { type: object, required: [done], "
         "properties: { done: { type: boolean } } }, script: [{ result: { done: true } }] } }\n"
         "steps:\n- { id: l, agent: a, instructions: 'Work.', loop: { maxIterations: 3, untilAgent: j } }\n");
    CHECK(strncmp(why, "no recording for `l.0.judge`", 28) == 0);
}

TEST(what_was_never_answered_and_is_not_ended_stops_the_run)
{
    TAKE_ONE t = { 0 };
    CHECK_STR(miss(&t, FIRST
                       "{\"path\":\"x\",\"prompt\":{},\"input\":{}}\n",
                   HEAD "agents: { a: { script: [one] } }\nsteps: [{ id: x, agent: a }]\n"),
              "`x` was not answered when this was recorded, and nothing ends it now (FILE)");
}

/* `a` began first, but the line of `b` is before it; what follows begins after both. */
TEST(what_came_together_comes_together_in_the_order_of_the_lines)
{
    TAKE_ONE t = { 0 };
    write_recording(FIRST "{\"path\":\"b\",\"prompt\":{},\"input\":{},\"reply\":{\"content\":\"y\"},\"at\":5.000}\n"
                          "{\"path\":\"a\",\"prompt\":{},\"input\":{},\"reply\":{\"content\":\"x\"},\"at\":5.000}\n"
                          "{\"path\":\"d\",\"prompt\":{},\"input\":{},\"at\":5.001}\n");
    replay(&t, HEAD "agents: { a: { script: [one] } }\nsteps:\n- { id: a, agent: a }\n- { id: b, agent: a }\n"
                    "- { id: c, set: { n: '1' }, dependsOn: [b] }\n");
    CHECK_STR(unasked(&t), "warning: recorded, but not asked for: `d`\n");
    const char *lines = buf_text(&t.lines), *c = strstr(lines, "\"path\":\"c\"");
    const char *b = strstr(lines, "\"step_end\",\"seq\":5");
    const char *a = strstr(lines, "\"step_end\",\"seq\":6");
    CHECK(a && b && c && a < c);
    CHECK(strncmp(strstr(b, "\"path\""), "\"path\":\"b\"", 10) == 0);
    CHECK(strncmp(strstr(a, "\"path\""), "\"path\":\"a\"", 10) == 0);
}

TEST(answers_that_nobody_asked_for_are_listed)
{
    TAKE_ONE live = { 0 }, t = { 0 };
    record(&live, HEAD "agents: { a: { script: [one] } }\nsteps:\n- { id: x, agent: a }\n- { id: y, agent: a }\n");
    replay(&t, HEAD "agents: { a: { script: [one] } }\nsteps:\n- { id: x, agent: a }\n");
    CHECK_INT(exit_code(t.run), EXIT_OK);
    CHECK_STR(unasked(&t), "warning: recorded, but not asked for: `y`\n");
}

/* ---- files that are not right ------------------------------------------------------------------------------ */

TEST(a_line_that_was_cut_off_is_left_out)
{
    TAKE_ONE t = { 0 };
    CHECK_STR(miss(&t, FIRST "{\"path\":\"l.0\",\"promp", loop_text),
              "no recording for `l.0`; the recording has no answers at all, and its last line is cut off (FILE)");
}

static const char *refusal_of(struct take *t, const char *text)
{
    write_recording(text);
    if (!t->flow)
        load(t, loop_text);
    CHECK(player_open(file, t->flow, &t->env.player, &t->err) < 0);
    CHECK(strncmp(t->err.message, file, strlen(file)) == 0);
    return t->err.message + strlen(file) + 2;
}

TEST(what_is_wrong_with_a_file_is_said)
{
    TAKE_ONE t = { 0 };
    CHECK_STR(refusal_of(&t, ""), "is no recording: the first line of one is "
        "{\"rondo-recording\":1,\"workflow\":NAME}");
    CHECK_STR(refusal_of(&t, "rondo: 1\n"),
              "is no recording: the first line of one is {\"rondo-recording\":1,\"workflow\":NAME}");
    CHECK_STR(refusal_of(&t, "{\"rondo-recording\":2,\"workflow\":\"t\"}\n"),
              "line 1: was recorded by a newer rondo: its version is 2, and 1 is known here");
    CHECK_STR(refusal_of(&t, "{\"rondo-recording\":1,\"workflow\":\"u\"}\n"),
              "is a recording of workflow 'u', and this is 't'");
    CHECK_STR(refusal_of(&t, FIRST "{}\n"), "line 2: has no path");
    CHECK_STR(refusal_of(&t, FIRST "[]\n"), "line 2: expected a JSON object");
    CHECK_STR(refusal_of(&t, FIRST "{\"path\":\"a\",\"reply\":{}}\n{\"path\":\"a\",\"reply\":{}}\n"),
              "line 3: 'a' is in line 2 already");
    CHECK_STR(refusal_of(&t, FIRST "{\"path\":\"a\",\"reply\":{\"contant\":1}}\n"),
              "line 2: reply: unknown key 'contant'");
    CHECK_STR(refusal_of(&t, FIRST "{\"path\":\"a\",\"at\":-1,\"reply\":{}}\n"),
              "line 2: at: expected milliseconds since the run began");
    CHECK_STR(refusal_of(&t, FIRST "{\"path\":\"a\",\"kind\":\"gate\",\"reply\":{}}\n"),
              "line 2: the reply of a gate is { answer, by }");
    CHECK_STR(refusal_of(&t, "{\"rondo-recording\":1,\"workflow\":\"t\",\"session\":{\"state\":[]}}\n"),
              "line 1: session: expected { state: {...}, memory: {...} }");
    CHECK_STR(refusal_of(&t, "{\"rondo-recording\":1,\"workflow\":\"t\",\"session\":{\"memory\":{\"s\":1}}}\n"),
              "line 1: session: memory: 's': expected a list of entries");
    CHECK(strncmp(refusal_of(&t, FIRST "{\"path\":\n{}\n"), "line 2: expected a JSON object: ", 32) == 0);
}

TEST(only_recordings_are_written_over)
{
    TAKE_ONE t = { 0 };
    load(&t, loop_text);
    write_recording("precious\n");
    CHECK_INT(recorder_open(file, &t.env.recorder, &t.err), RONDO_EINVAL);
    CHECK(strstr(t.err.message, "is there and is no recording, so it is not written over") != NULL);
    CHECK_STR(recorded(&t), "precious\n");
    write_recording(FIRST "garbage");
    CHECK_INT(recorder_open(file, &t.env.recorder, &t.err), 0);
    CHECK_STR(recorded(&t), "");
    CHECK_INT(recorder_open("/nonexistent/x", &t.env.recorder, &t.err), RONDO_EFAILED);
    CHECK_STR(t.err.message, "/nonexistent/x: No such file or directory");
}

/* Whatever the file says, it is refused, or the run ends. */
static void replay_damaged(const char *text, const char *bytes, size_t len)
{
    struct take t = { 0 };
    load(&t, text);
    CHECK_INT(file_write("/tmp", file_name() + 5, bytes, len, &t.err), 0);
    if (player_open(file, t.flow, &t.env.player, &t.err) == 0) {
        go(&t);
        CHECK(t.run->ended);
    }
    take_end(&t);
}

TEST(damaged_files_do_no_harm)
{
    static const char text[] = HEAD "agents: { a: { script: [{ content: x, result: [1],\n"
        "  events: [e, { state: { k: 1 } }], usage: { cost: 0.5, calls: 1 }, actions: { state: { n: 1 } },\n"
        "  delay: 5ms }, { fail: { retry: true } }] } }\n"
        "steps:\n- { id: x, agent: a, loop: { maxIterations: 2, onError: continue } }\n";
    static const char others[] = "\0\n\"{}[]:,-19e\\ \xff";
    TAKE_ONE live = { 0 };
    record(&live, text);
    auto_free char *whole = mem_strdup(recorded(&live));
    size_t len = strlen(whole);
    for (size_t i = 0; i < len; i++) {
        char was = whole[i];
        whole[i] = others[i % (sizeof others - 1)];
        replay_damaged(text, whole, len);
        whole[i] = was;
        replay_damaged(text, whole, i);
    }
}

/* ---- differences ------------------------------------------------------------------------------------------- */

static const char *difference(struct take *t, const char *was, const char *is)
{
    auto_json json_t *a = was ? json_of(was) : NULL, *b = is ? json_of(is) : NULL;
    buf_clear(&t->text);
    bool differ = difference_put(&t->text, "x", a, b);
    CHECK_INT(differ, t->text.len > 0);
    return buf_text(&t->text);
}

TEST(the_first_difference_is_shown)
{
    TAKE_ONE t = { 0 };
    CHECK_STR(difference(&t, "{\"a\":[1,{\"b\":\"x\"}]}", "{\"a\":[1,{\"b\":\"x\"}]}"), "");
    CHECK_STR(difference(&t, "{\"a\":[1,{\"b\":\"x\"}]}", "{\"a\":[1,{\"b\":\"y\"}]}"), "x.a[1].b, line 1\n "
        " - x\n  + y");
    CHECK_STR(difference(&t, "{\"a\":1}", "{\"a\":1,\"c\":[2]}"), "x.c\n  - (nothing)\n  + [2]");
    CHECK_STR(difference(&t, "[1,2]", "[1]"), "x[1]\n  - 2\n  + (nothing)");
    CHECK_STR(difference(&t, "1", "\"1\""), "x\n  - 1\n  + \"1\"");
    CHECK_STR(difference(&t, "\"a\\nb\\nc\"", "\"a\\nB\\nc\""), "x, line 2\n  - b\n  + B");
    CHECK_STR(difference(&t, "\"a\\nb\"", "\"a\\nb\\nc\""), "x, line 3\n  - (the end)\n  + c");
    CHECK_STR(difference(&t, "\"a\\n\"", "\"a\""), "x, line 2\n  - \n  + (the end)");
    CHECK_STR(difference(&t, NULL, "{}"), "x\n  - (nothing)\n  + {}");
}

TEST(of_a_long_line_only_the_place_is_shown)
{
    auto_buf struct buf was = { 0 }, is = { 0 };
    TAKE_ONE t = { 0 };
    for (int i = 0; i < 1000; i++) {
        buf_puts(&was, i ? "\u00e9" : "\"");
        buf_puts(&is, i == 500 ? "XX" : i ? "\u00e9" : "\"");
    }
    buf_putc(&was, '"');
    buf_putc(&is, '"');
    const char *text = difference(&t, buf_text(&was), buf_text(&is));
    CHECK(strlen(text) < 500);
    CHECK(strstr(text, "XX") != NULL);
    CHECK(strstr(text, "  + ...\u00e9") != NULL);
}
