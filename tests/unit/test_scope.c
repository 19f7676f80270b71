/* test_scope.c - what expressions in workflow files may name: types, messages, places. */
#include "flow/scope.h"
#include "test.h"

#include <string.h>

/* @NAME@ is where a test puts its expression. */
static const char *const world =
    "rondo: 1\n"
    "name: world\n"
    "inputs:\n"
    "  topic: { type: string }\n"
    "  max-cost: { type: number, default: 1 }\n"
    "  who:\n"
    "    type: object\n"
    "    properties: { name: { type: string }, age: { type: integer } }\n"
    "    additionalProperties: false\n"
    "agents:\n"
    "  bot: { description: d, script: [x] }\n"
    "  critic:\n"
    "    description: d\n"
    "    script: [{ result: { score: 1, tags: [] } }]\n"
    "    resultSchema:\n"
    "      type: object\n"
    "      properties:\n"
    "        score: { type: number }\n"
    "        tags: { type: array, items: { type: string } }\n"
    "        count: { type: integer }\n"
    "        ok: { type: boolean }\n"
    "        note: { type: [string, 'null'] }\n"
    "        open: { type: object }\n"
    "      additionalProperties: false\n"
    "  hand: { description: d, run: [echo, @argv@] }\n"
    "steps:\n"
    "  - { id: run-tests, agent: critic, instructions: i }\n"
    "  - { id: run, agent: bot, instructions: i }\n"
    "  - id: refine\n"
    "    loop:\n"
    "      maxIterations: 3\n"
    "      until: @until@\n"
    "      score: @score@\n"
    "      output: draft\n"
    "      steps:\n"
    "        - { id: draft, agent: bot, instructions: @inner@ }\n"
    "        - { id: check, agent: critic, instructions: i, dependsOn: [draft] }\n"
    "  - id: all\n"
    "    loop:\n"
    "      forEach: @items@\n"
    "      steps:\n"
    "        - { id: part, agent: bot, instructions: @part@ }\n"
    "  - { id: alone, agent: critic, instructions: i, loop: { maxIterations: 2, until: @alone@ } }\n"
    "  - id: sum\n"
    "    loop: { maxIterations: 2, outputMode: cumulative, steps: [{ id: a, agent: bot, instructions: i }] }\n"
    "  - { id: ask, gate: { ask: really, schema: { type: boolean } } }\n"
    "  - { id: group, steps: [{ id: one, agent: critic, instructions: i }] }\n"
    "  - id: last\n"
    "    agent: bot\n"
    "    condition: @condition@\n"
    "    retry: { attempts: 2, on: @retry@ }\n"
    "    instructions: @text@\n"
    "  - { id: store, set: { a: @set@ } }\n";

static const char *const defaults[][2] = {
    { "argv", "x" },   { "until", "'true'" }, { "score", "'1'" }, { "inner", "i" },
    { "items", "'[1]'" }, { "part", "i" },    { "alone", "'true'" }, { "condition", "'true'" },
    { "retry", "'true'" }, { "text", "i" },   { "set", "'1'" },
};

/* The world with one expression in it. */
static void write_world(struct buf *out, const char *name, const char *text)
{
    for (const char *at = world; *at;) {
        size_t len = strcspn(at, "@");
        buf_put(out, at, len);
        at += len;
        for (size_t i = 0; *at && i < COUNT(defaults); i++) {
            size_t n = strlen(defaults[i][0]);
            if (strncmp(at + 1, defaults[i][0], n) != 0 || at[n + 1] != '@')
                continue;
            buf_puts(out, strcmp(defaults[i][0], name) == 0 ? text : defaults[i][1]);
            at += n + 2;
            break;
        }
    }
}

/* What is said about it: the first error as people see it, "" for none. */
static const char *said(const char *name, const char *text)
{
    static struct buf shown;
    auto_buf struct buf file = { 0 };
    struct diags diags = { 0 };
    write_world(&file, name, text);
    struct source *source = source_new("w.yaml", buf_text(&file), file.len);
    struct flow *flow = flow_load(source, &(struct flow_load){ 0 }, &diags);
    buf_clear(&shown);
    for (uint32_t i = 0; i < diags.count; i++)
        if (!diags.list[i].is_warning)
            diag_put(&shown, &diags.list[i], false);
    CHECK((flow != NULL) == (shown.len == 0));
    diags_clear(&diags);
    flow_unref(flow);
    source_unref(source);
    return buf_text(&shown);
}

/* The message alone, with its hint in brackets. */
static const char *message(const char *name, const char *text)
{
    static char kept[600];
    const char *all = said(name, text), *at = strstr(all, "]: "), *hint = strstr(all, "      = ");
    if (!at)
        return strcpy(kept, all);
    at += 3;
    snprintf(kept, sizeof kept, "%.*s", (int)strcspn(at, "\n"), at);
    if (hint)
        snprintf(kept + strlen(kept), sizeof kept - strlen(kept), " (%.*s)", (int)strcspn(hint + 8, "\n"),
                 hint + 8);
    return kept;
}

static const struct row {
    const char *where, *text, *says;
} rows[] = {
    /* names that there are */
    { "condition", "inputs.topic == 'x' && inputs.who.age > 3", "" },
    { "condition", "inputs.max-cost > 0.5 && inputs['max-cost'] < 2", "" },
    { "condition", "state.x == 1 || has(state.y)", "" },
    { "condition", "run.id != '' && run.name == 'world'", "" },
    { "condition", "budget.tokens.left > 100 && budget.cost.used < 0.5", "" },
    { "condition", "budget.time.left > duration('10s') && budget.calls.used == 1", "" },
    { "condition", "steps.run-tests.status == 'completed' && steps['run-tests'].content != ''", "" },
    { "condition", "size(steps.run.content) - 1 > 0 && size(steps) > 1", "" },
    { "condition", "steps.run-tests.result.tags.exists(t, t.startsWith('x'))", "" },
    { "condition", "steps.run-tests.result.count + 1 == 3 && steps.run-tests.result.ok", "" },
    { "condition", "steps.run-tests.result.score >= 8", "" },
    { "condition", "steps.run-tests.result.open.anything == 1", "" },
    { "condition", "steps.refine.passes == 2 && steps.refine.reason == 'until' && !steps.refine.capped", "" },
    { "condition", "steps.refine.best.score > 2.0 && steps.refine.history[0].steps.draft.content == ''", "" },
    { "condition", "steps.refine.steps.check.result.score > 3", "" },
    { "condition", "steps.refine.content.contains('x')", "" },
    { "condition", "steps.all.result.iterations.size() == 2 && steps.all.passes == 2", "" },
    { "condition", "steps.alone.result.ok", "" },
    { "condition", "steps.sum.result[0] == 'x'", "" },
    { "condition", "steps.ask.result && steps.ask.by == 'me'", "" },
    { "condition", "steps.group.steps.one.result.ok", "" },
    { "until", "iteration > 1 && content == '' && steps.check.result.score > 8 && history.size() > 1", "" },
    { "until", "steps.run-tests.result.ok && best.score > 1.0 && status == 'completed'", "" },
    { "score", "steps.check.result.score", "" },
    { "alone", "result.ok && result.tags.size() > 0", "" },
    { "alone", "steps.alone.result.ok", "" },
    { "inner", "\"${iteration} ${feedback.text} ${json('[]')} ${steps.run.content}\"", "" },
    { "part", "\"${item.name} ${index} ${input}\"", "" },
    { "items", "steps.run-tests.result.tags.filter(t, t != '')", "" },
    { "items", "lines(steps.run.content)", "" },
    { "retry", "error.contains('busy') && steps.last.status == 'failed'", "" },
    { "set", "hash(inputs)", "" },
    { "argv", "\"${item} ${iteration} ${steps.check.result.score} ${inputs.topic}\"", "" },

    /* names that there are not */
    { "condition", "inputs.topik == 'x'",
      "condition: there is no input 'topik' (did you mean 'topic'?)" },
    { "condition", "inputs.who.nam == 'x'",
      "condition: there is no property 'nam' in 'who' (did you mean 'name'?)" },
    { "condition", "steps.run-test.status == 'x'",
      "condition: there is no step 'run-test' (did you mean 'run-tests'?)" },
    { "condition", "steps.runn.status == 'x'", "condition: there is no step 'runn' (did you mean 'run'?)" },
    { "condition", "steps.run.statsu == 'x'",
      "condition: step 'run' has no 'statsu' (did you mean 'status'?)" },
    { "condition", "steps.run.passes > 1", "condition: step 'run' has no 'passes': it is no loop" },
    { "condition", "steps.run.by == ''", "condition: step 'run' has no 'by': it is no gate" },
    { "condition", "steps.run.steps.x.status == ''",
      "condition: step 'run' has no 'steps': nothing runs inside it" },
    { "condition", "steps.all.steps.part.status == ''",
      "condition: step 'all' has no 'steps': what its items came to is in result.iterations" },
    { "condition", "steps.all.history.size() > 1",
      "condition: step 'all' has no 'history': what its items came to is in result.iterations" },
    { "condition", "steps.alone.steps.x.status == ''",
      "condition: step 'alone' has no 'steps': its passes are in history" },
    { "condition", "size(contributions) > 0",
      "condition: 'contributions' exists only for agents that speak in a forum" },
    { "condition", "budget.tokens.?left.orValue(1) == 1 && budget.calls.?used.orValue(1) == 1", "" },
    { "condition", "steps.sum.steps.a.status == ''",
      "condition: step 'sum' has no 'steps': its outputMode does not keep them" },
    { "condition", "steps.refine.steps.chek.status == ''",
      "condition: there is no step 'chek' (did you mean 'check'?)" },
    { "condition", "steps.check.status == ''", "condition: there is no step 'check'"
      " (there are: run-tests, run, refine, all, alone, sum, ask, group, last, store)" },
    { "condition", "steps.run-tests.result.scor > 1",
      "condition: there is no property 'scor' in 'result' (did you mean 'score'?)" },
    { "condition", "steps.refine.steps.check.result.scor > 1",
      "condition: there is no property 'scor' in 'result' (did you mean 'score'?)" },
    { "condition", "steps.all.result.items.size() > 1",
      "condition: there is no property 'items' in 'result' (there are: iterations, failed)" },
    { "condition", "budget.token.left > 1", "condition: 'budget' has no 'token' (did you mean 'tokens'?)" },
    { "condition", "budget.time > 1",
      "condition: 'time' is to be followed by one of its fields (there are: used, left)" },
    { "condition", "run.nam == ''", "condition: 'run' has no 'nam' (did you mean 'name'?)" },
    { "condition", "refine.content == ''",
      "condition: undeclared reference to 'refine' (did you mean steps.refine?)" },
    { "condition", "input.topic == inptus.topic",
      "condition: undeclared reference to 'inptus' (did you mean 'inputs'?)" },
    { "condition", "iteration > 1", "condition: 'iteration' exists only in a loop" },
    { "condition", "item == 1", "condition: 'item' exists only in a forEach" },
    { "condition", "content == ''",
      "condition: 'content' is of the pass that a rule of a loop is asked about; elsewhere there is steps.ID" },
    { "condition", "error == ''",
      "condition: 'error' exists only in retry.on; elsewhere there is steps.ID.error" },
    { "until", "item == 1", "until: 'item' exists only in a forEach" },
    { "items", "'iteration > 1 ? [1] : []'", "forEach: 'iteration' exists only in a loop" },
    { "inner", "\"${feedback.txt}\"", "hole: 'feedback' has no 'txt' (did you mean 'text'?)" },
    { "argv", "\"${steps.chek.status}\"", "hole: there is no step 'chek'" },

    /* types */
    { "condition", "steps.run.content", "condition must be true or false, this gives string" },
    { "condition", "steps.run.content + 1 == 'x'", NULL },
    { "condition", "steps.run-tests.result.count == 'x'", NULL },
    { "condition", "steps.run-tests.result.tags[0] > 3", NULL },
    { "score", "steps.check.content", "score must be a number, this gives string" },
    { "items", "steps.run.content", "forEach must be a list, this gives string" },
    { "alone", "result.count", "until must be true or false, this gives int" },
    { "condition", "steps.refine.passes", "condition must be true or false, this gives int" },
};

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

TEST(names_are_known_or_refused_with_the_nearest)
{
    for (size_t i = 0; i < COUNT(rows); i++) {
        const char *is = message(rows[i].where, rows[i].text);
        if (!rows[i].says ? *is == '\0' : *rows[i].says ? !begins(is, rows[i].says) : *is != '\0')
            FAIL("%s: %s\n  got:      %s\n  expected: %s", rows[i].where, rows[i].text, is,
                 rows[i].says ? rows[i].says : "an error");
    }
}

TEST(the_caret_is_under_the_name_that_is_wrong)
{
    CHECK_STR(said("condition", "inputs.topic != '' && inputs.topik == 'x'"),
              "w.yaml:50:45: error[unknown_reference]: condition: there is no input 'topik'\n"
              "   50 |     condition: inputs.topic != '' && inputs.topik == 'x'\n"
              "      |                                             ^~~~~\n"
              "      = did you mean 'topic'?\n");
}

TEST(what_is_no_cel_is_pointed_at_where_it_goes_wrong)
{
    CHECK_STR(said("text", "\"all of ${inputs.topic + } it\""),
              "w.yaml:52:44: error[cel]: hole: expected an expression, but the expression ends\n"
              "   52 |     instructions: \"all of ${inputs.topic + } it\"\n"
              "      |                                            ^\n");
}

TEST(a_hole_that_is_not_closed_is_told_how_to_be_literal)
{
    CHECK_STR(message("text", "\"cost: ${inputs.topic\""),
              "this hole is never closed: '${' needs a '}' (a literal '${' is written '$${')");
}

TEST(several_lines_have_their_own_positions)
{
    const char *is = said("text", "|\n      first ${inputs.topic}\n      then ${inputs.topik}");
    CHECK(begins(is, "w.yaml:54:21: error[unknown_reference]: hole: there is no input 'topik'"));
}

/* The longest id that there may be, and another that it begins with. */
TEST(ids_with_hyphens_are_read_up_to_their_longest)
{
    auto_buf struct buf id = { 0 }, file = { 0 };
    struct diags diags = { 0 };
    while (id.len < FLOW_NAME_MAX)
        buf_puts(&id, "a-");
    buf_printf(&file, "rondo: 1\nname: w\nagents: {a: {script: [x]}}\nsteps:\n"
                      "  - {id: a-a, agent: a, instructions: x}\n  - {id: %s, agent: a, instructions: x}\n"
                      "  - {id: last, agent: a, dependsOn: [a-a, %s], instructions: x,"
                      " condition: \"steps.a-a.status == steps.%s.status\"}\n",
               buf_text(&id), buf_text(&id), buf_text(&id));
    struct source *source = source_new("w.yaml", buf_text(&file), file.len);
    struct flow *flow = flow_load(source, &(struct flow_load){ 0 }, &diags);
    if (!flow)
        FAIL("%s", diags.list[0].message);
    CHECK_PTR(scope_step(flow->scope, "a-a"), flow->scope->steps[0]);
    CHECK_PTR(scope_step(flow->scope, buf_text(&id)), flow->scope->steps[1]);
    diags_clear(&diags);
    flow_unref(flow);
    source_unref(source);
}

/* ---- texts ---------------------------------------------------------------------------------------------- */

/* The pieces of a text, literals in brackets. */
static const char *pieces(const char *text)
{
    static char kept[400];
    auto_buf struct buf file = { 0 }, out = { 0 };
    struct diags diags = { 0 };
    write_world(&file, "text", text);
    struct source *source = source_new("w.yaml", buf_text(&file), file.len);
    struct flow *flow = flow_load(source, &(struct flow_load){ 0 }, &diags);
    if (!flow)
        FAIL("%s: %s", text, diags.list[0].message);
    const struct flow_step *last = scope_step(flow->scope, "last");
    const struct flow_text *t = &last->instructions;
    if (!t->pieces)
        buf_printf(&out, "whole[%s]", t->text);
    for (uint32_t i = 0; i < t->piece_count; i++)
        if (t->pieces[i].text)
            buf_printf(&out, "[%.*s]", (int)t->pieces[i].len, t->pieces[i].text);
        else
            buf_printf(&out, "<%s>", cel_program_text(t->pieces[i].expr->program));
    diags_clear(&diags);
    flow_unref(flow);
    source_unref(source);
    return strcpy(kept, buf_text(&out));
}

TEST(holes_end_where_their_expression_ends)
{
    CHECK_STR(pieces("'no $ holes { } $x here'"), "whole[no $ holes { } $x here]");
    CHECK_STR(pieces("'${inputs.topic}'"), "<inputs.topic>");
    CHECK_STR(pieces("'a ${ inputs.topic } b${input}'"), "[a ]< inputs.topic >[ b]<input>");
    CHECK_STR(pieces("'${ {\"a\": {\"b\": 1}}.a.b } c'"), "< {\"a\": {\"b\": 1}}.a.b >[ c]");
    CHECK_STR(pieces("'${ \"}\" + r\"\\\" } c'"), "< \"}\" + r\"\\\" >[ c]");
    CHECK_STR(pieces("'${ \"\\\"}\" } c'"), "< \"\\\"}\" >[ c]");
    CHECK_STR(pieces("'${ \"\"\"a\"}\"\"\" } c'"), "< \"\"\"a\"}\"\"\" >[ c]");
    CHECK_STR(pieces("'$${x} is ${input} and $$${y}'"), "[${x} is ]<input>[ and $][${y}]");
    CHECK_STR(pieces("'$${x}'"), "[${x}]");
    CHECK_STR(pieces("'ends in $'"), "whole[ends in $]");
}

TEST(in_v1_files_text_is_literal_and_old_names_mean_nothing_but_exist)
{
    static const char *const text =
        "name: old\n"
        "agents: { a: { description: d } }\n"
        "steps:\n"
        "  - { id: one, agent: a, instructions: '${ not CEL' }\n"
        "  - { id: two, agent: a, instructions: i, dependsOn: [one],\n"
        "      condition: \"content == '' && iteration == 0 && index == 0 && item == null && result == {}\" }\n";
    struct diags diags = { 0 };
    struct source *source = source_new("old.yaml", text, strlen(text));
    struct flow *flow = flow_load(source, &(struct flow_load){ 0 }, &diags);
    if (!flow)
        FAIL("%s", diags.list[0].message);
    CHECK_NULL(flow->scope->steps[0]->instructions.pieces);
    diags_clear(&diags);
    flow_unref(flow);
    source_unref(source);
}
