/* test_drift.c - two versions of a workflow: what differs, what does not, and what a run may move to.

   See also test_drift_keys.c. */
#include "test.h"

#include "agent/call.h"
#include "base/buf.h"
#include "data/lines.h"
#include "data/value.h"
#include "flow/drift.h"
#include "run/act.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- loading ------------------------------------------------------------------------------------------ */

static struct diags diags;

static struct flow *load(const char *text)
{
    struct source *source = source_new("t.yaml", text, strlen(text));
    diags_clear(&diags);
    struct flow *flow = flow_load(source, &(struct flow_load){ .files = NULL }, &diags);
    source_unref(source);
    if (!flow)
        FAIL("%s\nin\n%s", diags.count ? diags.list[0].message : "nothing is said", text);
    return flow;
}

/* "path kind key key; ..." */
static const char *told(const struct drift *drift)
{
    static struct buf out;
    buf_clear(&out);
    for (uint32_t i = 0; i < drift->count; i++) {
        const struct drift_change *c = &drift->list[i];
        buf_printf(&out, "%s%s %s", i ? "; " : "", *c->path ? c->path : "()", drift_kind_text(c->kind));
        for (size_t k = 0; k < json_array_size(c->keys) && c->kind == DRIFT_CHANGED; k++)
            buf_printf(&out, " %s", json_string_value(json_object_get(json_array_get(c->keys, k), "key")));
    }
    return buf_text(&out);
}

static const char *compared(const char *old, const char *text)
{
    struct flow *before = load(old), *after = load(text);
    struct drift drift = { 0 };
    drift_compare(before, after, &drift);
    const char *all = told(&drift);
    drift_clear(&drift);
    flow_unref(before);
    flow_unref(after);
    return all;
}

#define HEAD "rondo: 1\nname: a\n"
#define AGENTS "agents: { w: { prompt: Write., script: [x] }, v: { script: [y] } }\n"

/* ---- what is the same --------------------------------------------------------------------------------- */

TEST(how_a_file_is_written_does_not_matter)
{
    CHECK_STR(compared(HEAD AGENTS "steps:\n  - id: a\n    agent: w\n    timeout: 60s\n    retries: 2\n"
                            "    instructions: |\n      Two\n      lines\n",
                       "# a remark\nname: 'a'\nrondo: 1\nsteps: [{ retries: 2, timeout: 1m, id: a, # here too\n"
                       "          instructions: \"Two\\nlines\\n\", agent: w }]\n"
                       "agents: { v: { script: [y] }, w: { script: [x], prompt: \"Write.\" } }\n"),
              "");
    CHECK_STR(compared(HEAD AGENTS "steps: [{ id: a, agent: w }, { id: b, agent: w }, { id: c, agent: w, "
                            "dependsOn: [a, b] }]",
                       HEAD AGENTS "steps: [{ id: a, agent: w }, { id: b, agent: w }, { id: c, agent: w, "
                            "dependsOn: [b, a], timeout: null }]"),
              "");
}

TEST(an_agent_that_nobody_uses_is_nobodys_trait)
{
    CHECK_STR(compared(HEAD AGENTS "steps: [{ id: a, agent: w }]",
                       HEAD "agents: { w: { prompt: Write., script: [x] } }\nsteps: [{ id: a, agent: w }]"),
              "");
}

/* ---- what differs ------------------------------------------------------------------------------------- */

TEST(an_agent_belongs_to_all_steps_that_use_it)
{
    CHECK_STR(compared(HEAD AGENTS "steps: [{ id: a, agent: w }, { id: b, agent: v }, { id: c, agent: w }]",
                       HEAD "agents: { w: { prompt: Write!, script: [x] }, v: { script: [y] } }\n"
                            "steps: [{ id: a, agent: w }, { id: b, agent: v }, { id: c, agent: w }]"),
              "a changed agent.prompt; c changed agent.prompt");
}

TEST(defaults_belong_to_the_steps_that_have_none_of_their_own)
{
    static const char agents[] = "agents: { m: { prompt: p }, n: { prompt: p, model: xai/other } }\n"
                                 "steps: [{ id: a, agent: m }, { id: b, agent: n }, "
                                 "{ id: c, agent: m, model: xai/mine, timeout: 5s }]\n";
    struct buf old = { 0 }, text = { 0 };
    buf_printf(&old, HEAD "options: { model: xai/fast, stepTimeout: 1m, timeout: 1h }\n%s", agents);
    buf_printf(&text, HEAD "options: { model: xai/slow, stepTimeout: 2m, timeout: 2h }\n%s", agents);
    CHECK_STR(compared(buf_text(&old), buf_text(&text)),
              "() changed options.timeout; a changed agent.options.model agent.options.stepTimeout; "
              "b changed agent.options.stepTimeout");
    buf_free(&old);
    buf_free(&text);
}

TEST(an_alias_belongs_to_the_steps_whose_model_it_is)
{
    static const char rest[] = "agents: { m: { prompt: p, model: fast }, n: { prompt: p } }\n"
                               "steps: [{ id: a, agent: m }, { id: b, agent: n }]\n";
    struct buf old = { 0 }, text = { 0 };
    buf_printf(&old, HEAD "models: { fast: { provider: xai, model: y, fallback: [slow] }, "
                          "slow: { provider: xai, model: z } }\n%s", rest);
    buf_printf(&text, HEAD "models: { fast: { provider: xai, model: y, fallback: [slow] }, "
                           "slow: { provider: xai, model: q } }\n%s", rest);
    CHECK_STR(compared(buf_text(&old), buf_text(&text)), "a changed agent.models.slow.model");
    buf_free(&old);
    buf_free(&text);
}

TEST(added_removed_and_moved_steps_are_told_apart)
{
    CHECK_STR(compared(HEAD AGENTS "steps: [{ id: a, agent: w }, { id: b, agent: w }, { id: c, agent: w }]",
                       HEAD AGENTS "steps: [{ id: a, agent: w }, { id: c, agent: w }, { id: d, agent: w }]"),
              "b removed; d added");
    CHECK_STR(compared(HEAD AGENTS "steps: [{ id: a, agent: w }, { id: b, agent: w }, { id: c, agent: w }]",
                       HEAD AGENTS "steps: [{ id: b, agent: w }, { id: a, agent: w }, { id: c, agent: w }]"),
              "a moved; b moved");
    CHECK_STR(compared(HEAD AGENTS "steps: [{ id: a, agent: w }, { id: b, agent: w }]",
                       HEAD AGENTS "steps: [{ id: x, agent: w }, { id: a, agent: w }, { id: b, agent: w }]"),
              "x added");
}

/* One that comes in between is a dependency of the one behind it. */
TEST(in_a_sequence_the_neighbour_is_a_trait)
{
    CHECK_STR(compared(HEAD AGENTS "order: sequence\nsteps: [{ id: a, agent: w }, { id: b, agent: w }]",
                       HEAD AGENTS "order: sequence\nsteps: [{ id: a, agent: w }, { id: x, agent: w }, "
                                   "{ id: b, agent: w }]"),
              "b changed dependsOn; x added");
}

TEST(containers_have_their_own_keys_and_their_steps_have_theirs)
{
    static const char loop[] = HEAD AGENTS "steps: [{ id: r, loop: { maxIterations: %d, until: '%s', "
                                           "steps: [{ id: d, agent: w, instructions: '%s' }] } }]";
    char old[400], text[400];
    snprintf(old, sizeof old, loop, 3, "true", "x");
    snprintf(text, sizeof text, loop, 4, "true", "x");
    CHECK_STR(compared(old, text), "r changed loop.maxIterations");
    snprintf(text, sizeof text, loop, 3, "false", "x");
    CHECK_STR(compared(old, text), "r changed loop.until");
    snprintf(text, sizeof text, loop, 3, "true", "y");
    CHECK_STR(compared(old, text), "r.d changed instructions");
}

TEST(branches_own_their_questions)
{
    static const char branch[] = HEAD AGENTS "steps: [{ id: b, branch: [{ when: '%s', agent: w }, "
                                             "{ else: { agent: %s } }] }]";
    char old[400], text[400];
    snprintf(old, sizeof old, branch, "true", "v");
    snprintf(text, sizeof text, branch, "false", "v");
    CHECK_STR(compared(old, text), "b changed branch");
    snprintf(text, sizeof text, branch, "true", "w");
    CHECK_STR(compared(old, text), "b.else changed agent");
}

TEST(the_dialect_is_a_trait)
{
    CHECK_STR(compared("name: a\nagents: { w: { description: d } }\nsteps: [{ id: a, agent: w }]",
                       "rondo: 1\nname: a\nagents: { w: { description: d } }\nsteps: [{ id: a, agent: w }]"),
              "() changed rondo");
}

/* ---- what a run may move to --------------------------------------------------------------------------- */

/* user: paths, each in blanks */
static bool is_in(const char *path, void *user)
{
    char wanted[100];
    snprintf(wanted, sizeof wanted, " %s ", path);
    return strstr(user, wanted);
}

/* Which steps have begun, and which of them have ended for good; in spaces. */
struct told {
    const char *started, *ended;
};

static bool has_started(const char *path, void *told)
{
    return is_in(path, (void *)((struct told *)told)->started);
}

static int standing(const char *path, void *user)
{
    const struct told *told = user;
    if (is_in(path, (void *)told->ended))
        return DRIFT_ENDED;
    return is_in(path, (void *)told->started) ? DRIFT_OPEN : DRIFT_BEGINS;
}

static struct drift_past told_past(struct told *told)
{
    return (struct drift_past){ has_started, has_started, standing, has_started, told };
}

static const char *refused(const char *old, const char *text, const char *started, const char *ended)
{
    static struct buf out;
    struct flow *before = load(old), *after = load(text);
    struct drift drift = { 0 };
    struct drift_past past = told_past(&(struct told){ started, ended });
    drift_compare(before, after, &drift);
    bool is_fine = drift_allows(&drift, &past);
    buf_clear(&out);
    for (uint32_t i = 0; i < drift.count; i++)
        if (drift.list[i].why)
            buf_printf(&out, "%s%s: %s", out.len ? "; " : "", drift.list[i].path, drift.list[i].why);
    CHECK(is_fine == !out.len);
    drift_clear(&drift);
    flow_unref(before);
    flow_unref(after);
    return buf_text(&out);
}

#define STEPS(b, c) HEAD AGENTS "steps: [{ id: a, agent: w }, { id: b, agent: w" b " }" c "]"

TEST(what_has_not_started_may_change)
{
    CHECK_STR(refused(STEPS("", ""), STEPS(", timeout: 5s", ""), " a ", " a "), "");
    CHECK_STR(refused(STEPS("", ""), STEPS("", ", { id: c, agent: v }"), " a b ", " a b "), "");
    CHECK_STR(refused(STEPS("", ", { id: c, agent: v }"), STEPS("", ""), " a b ", " a b "), "");
}

TEST(what_has_ended_may_not)
{
    CHECK_STR(refused(STEPS("", ""), STEPS(", timeout: 5s", ""), " a b ", " a b "), "b: it has ended");
}

TEST(what_is_under_way_may_change_and_keeps_its_place)
{
    CHECK_STR(refused(STEPS("", ""), STEPS(", timeout: 5s", ""), " a b ", " a "), "");
    CHECK_STR(refused(STEPS("", ", { id: c, agent: v }"), STEPS("", ""), " a b c ", " a "), "c: it has begun");
    CHECK_STR(refused(HEAD AGENTS "steps: [{ id: a, agent: w }, { id: b, agent: w }]",
                      HEAD AGENTS "steps: [{ id: b, agent: w }, { id: a, agent: w }]", " a ", " "),
              "a: it has begun");
    CHECK_STR(refused(STEPS("", ""), STEPS(", dependsOn: [a]", ""), " a b ", " a "),
              "b: it has begun, and keeps its place");
    CHECK_STR(refused(STEPS("", ""), STEPS(", loop: { maxIterations: 2 }", ""), " a b ", " a "),
              "b: it has begun, and is of another kind now");
}

TEST(a_loop_that_is_under_way_may_get_other_rules_and_new_steps)
{
    static const char loop[] = HEAD AGENTS "steps: [{ id: r, loop: { %s, steps: [{ id: d, agent: w }%s] } }]";
    char old[400], text[400];
    snprintf(old, sizeof old, loop, "maxIterations: 3", "");
    snprintf(text, sizeof text, loop, "maxIterations: 4, until: 'true'", "");
    CHECK_STR(refused(old, text, " r r.d ", " "), "");
    CHECK_STR(refused(old, text, " r r.d ", " r r.d "), "r: it has ended");
    snprintf(text, sizeof text, loop, "maxIterations: 3", ", { id: e, agent: v }");
    CHECK_STR(refused(old, text, " r r.d ", " "), "");
    CHECK_STR(refused(old, text, " r r.d ", " r "), "r.e: the steps that it would be among have ended");
    snprintf(text, sizeof text, loop, "forEach: [1, 2]", "");
    CHECK_STR(refused(old, text, " r r.d ", " "), "r: it has begun, and is of another kind now");
    snprintf(old, sizeof old, loop, "forEach: [1, 2, 3]", "");
    CHECK_STR(refused(old, text, " r r.d ", " "), "r: it has begun, and this counts when it begins");
}

TEST(what_is_asked_at_the_end_may_change_and_the_rest_of_the_file_may_not)
{
    CHECK_STR(refused(HEAD AGENTS "steps: [{ id: a, agent: w }]",
                      HEAD AGENTS "output: \"'x'\"\ndescription: d\nsteps: [{ id: a, agent: w }]", " a ", " a "), "");
    CHECK_STR(refused(HEAD AGENTS "budget: { tokens: 5 }\nsteps: [{ id: a, agent: w }]",
                      HEAD AGENTS "budget: { tokens: 9 }\nsteps: [{ id: a, agent: w }]", " ", " "),
              ": the run has started");
    CHECK_STR(refused(HEAD AGENTS "steps: [{ id: a, agent: w }]",
                      HEAD AGENTS "inputs: { x: { default: 1 } }\nsteps: [{ id: a, agent: w }]", " ", " "),
              ": the run has started");
    CHECK_STR(refused(HEAD AGENTS "steps: [{ id: a, agent: w }]",
                      HEAD AGENTS "options: { onStepFailure: abort }\nsteps: [{ id: a, agent: w }]", " ", " "),
              ": the run has started");
}

/* ---- for people --------------------------------------------------------------------------------------- */

static const char *shown(const char *old, const char *text, bool colour)
{
    static struct buf out;
    struct flow *before = load(old), *after = load(text);
    struct drift drift = { 0 };
    drift_compare(before, after, &drift);
    buf_clear(&out);
    drift_put(&out, &drift, false, colour);
    drift_clear(&drift);
    flow_unref(before);
    flow_unref(after);
    return buf_text(&out);
}

TEST(differences_read_like_a_diff)
{
    CHECK_STR(shown(HEAD AGENTS "steps:\n- { id: a, agent: w, timeout: 5s,\n"
                                "    instructions: \"one\\ntwo\\nthree\\nfour\\nfive\\nsix\\n\" }\n"
                                "- { id: b, agent: v }\n",
                    HEAD AGENTS "steps:\n- { id: a, agent: w, retries: 2, timeout: 7s,\n"
                                "    instructions: \"one\\ntwo\\nthree\\nfour\\nfife\\nsix\\n\" }\n"
                                "- { id: c, agent: v,\n"
                                "    instructions: 'e\\x[31m' }\n", false),
              "@@ a: changed @@\n"
              "-timeout: 5s\n"
              "+timeout: 7s\n"
              " instructions: |\n"
              "   ...\n"
              "   two\n"
              "   three\n"
              "   four\n"
              "-  five\n"
              "+  fife\n"
              "   six\n"
              "+retries: 2\n"
              "@@ b: removed @@\n"
              "-agent: v\n"
              "@@ c: added @@\n"
              "+agent: v\n"
              "+instructions: e\\x[31m\n");
    CHECK(strstr(shown(STEPS("", ""), STEPS(", timeout: 5s", ""), true), "\33[32m+timeout: 5s\33[0m\n"));
    const char *safe = shown(STEPS("", ""), STEPS(", inputSchema: { title: \"\\e]0;x\\a\" }", ""), false);
    CHECK(strstr(safe, "inputSchema") && !strchr(safe, '\33'));
}

TEST(the_same_as_json)
{
    struct flow *before = load(STEPS("", "")), *after = load(STEPS(", timeout: 5s", ""));
    struct drift drift = { 0 };
    struct buf out = { 0 };
    drift_compare(before, after, &drift);
    struct drift_past past = told_past(&(struct told){ " b ", " b " });
    drift_allows(&drift, &past);
    json_t *json = drift_json(&drift);
    value_put_json(&out, json);
    CHECK_STR(buf_text(&out), "[{\"path\":\"b\",\"change\":\"changed\",\"keys\":[{\"key\":\"timeout\",\"new\":\"5s\"}],"
                              "\"refused\":\"it has ended\"}]");
    buf_free(&out);
    json_decref(json);
    drift_clear(&drift);
    flow_unref(before);
    flow_unref(after);
}

/* ---- paths -------------------------------------------------------------------------------------------- */

static void note_path(rondo_task *task, void *user)
{
    struct place place;
    buf_puts(user, " ");
    path_find_act(task_run(task), task_act(task)->slot, &place);
    path_put_definition(user, path_find_act, task_run(task), &place);
    rondo_task_return(task, json_string("x"));
}

TEST(a_run_knows_where_its_steps_are_in_the_definition)
{
    static const char text[] = HEAD "agents: { f: { function: note } }\norder: sequence\nsteps:\n"
                               "- { id: r, loop: { maxIterations: 2, onMaxIterations: flag, "
                               "steps: [{ id: d, agent: f }] } }\n"
                               "- { id: one, agent: f, loop: { forEach: [1, 2], maxConcurrency: 1 } }\n"
                               "- { id: talk, forum: { members: [f, f], captain: f } }\n"
                               "- { id: g, steps: [{ id: p, parallel: { agents: [f] } }] }\n"
                               "- { id: b, branch: [{ when: 'true', name: yes, agent: f }] }\n";
    struct buf out = { 0 };
    rondo_flow_function function = { "note", note_path, &out };
    rondo_flow_options options = { RONDO_FLOW, .functions = &function, .function_count = 1 };
    rondo_engine *engine;
    rondo_flow *flow;
    rondo_run *run;
    rondo_error err;
    CHECK(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .seed = 1, .virtual_time = true }, &engine, &err) == 0);
    if (rondo_flow_parse("t", text, strlen(text), &options, &flow, &err) < 0)
        FAIL("%s", err.message);
    CHECK(rondo_flow_start(engine, flow, NULL, NULL, &run, &err) == 0 && rondo_run_wait(run, &err) == 0);
    CHECK_STR(buf_text(&out), " r.d r.d one one talk.f talk.f#2 talk.captain g.p.f b.yes");
    rondo_run_close(run);
    rondo_flow_free(flow);
    rondo_engine_free(engine);
    buf_free(&out);
}

/* ---- lines -------------------------------------------------------------------------------------------- */

static void note_line(void *user, enum line_mark mark, const char *line, size_t len)
{
    buf_printf(user, "%c%.*s;", mark, (int)len, line);
}

static const char *lines(const char *old, const char *text, size_t context)
{
    static struct buf out;
    buf_clear(&out);
    lines_diff(old, strlen(old), text, strlen(text), context, note_line, &out);
    return buf_text(&out);
}

TEST(lines_are_compared_with_their_surroundings)
{
    CHECK_STR(lines("a\nb\nc\n", "a\nb\nc\n", 1), "");
    CHECK_STR(lines("", "a\n", 1), "+a;");
    CHECK_STR(lines("a\n", "", 1), "-a;");
    CHECK_STR(lines("a\nb\nc\nd\ne\n", "a\nb\nx\nd\ne\n", 1), "@; b;-c;+x; d;@;");
    CHECK_STR(lines("a\nb\nc\nd\ne\nf\ng\n", "x\nb\nc\nd\ne\nf\ny\n", 1), "-a;+x; b;@; f;-g;+y;");
    CHECK_STR(lines("a\nb\nc\n", "b\nc\nd\n", 5), "-a; b; c;+d;");
}
