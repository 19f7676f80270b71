/* rules_judge.c - whether those who judge, score and review can say what is wanted of them.

   That follows from their `resultSchema`, and from replies that are written down: these are read by the functions that
   will read them in a run (flow/verdict.h). */
#include "data/prospect.h"
#include "data/value.h"
#include "flow/load.h"
#include "flow/verdict.h"

#include <math.h>
#include <string.h>

/* ---- schemas ----------------------------------------------------------------------------------------------- */

static bool is_type(const json_t *schema, const char *name)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    return type && strcmp(type, name) == 0;
}

static bool is_required(const json_t *schema, const char *name)
{
    size_t i;
    json_t *entry;
    json_array_foreach(json_object_get(schema, "required"), i, entry)
    {
        if (json_is_string(entry) && strcmp(json_string_value(entry), name) == 0)
            return true;
    }
    return false;
}

/* Does a result fit that does not have it?  Asked of an example, so that yes is certain and no is not. */
static bool fits_without(const struct schema *schema, const char *name)
{
    rondo_error err;
    auto_json json_t *example = schema_example(schema, 0);
    json_object_del(example, name);
    return example && schema_check(schema, example, &err) == 0;
}

/* ---- the judge --------------------------------------------------------------------------------------------- */

static const char judge_hint[] =
    "resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } }";

static void refuse_judge(struct loading *l, const struct flow_loop *loop, const char *why)
{
    diag_hint(load_error(l, STAGE_JUDGE, loop->judge->at, "validation", "the agent '%.80s' cannot judge: it %s",
                         loop->judge->agent->name, why), "%s", judge_hint);
}

static const char lacks_done[] = "has no property `done` in its `resultSchema`";
static const char other_done[] = "has a `done` that is no boolean";
static const char may_lack_done[] = "does not require `done` in its `resultSchema`";

/* What is wrong with a judge's schema, by the letter as Zenflow has it; NULL. */
static const char *wrong_in_v1(const json_t *schema)
{
    const json_t *done = json_object_get(json_object_get(schema, "properties"), "done");
    if (!done || !is_type(done, "boolean"))
        return done ? other_done : lacks_done;
    return is_required(schema, "done") ? NULL : may_lack_done;
}

/* The same by what its results can be.  Some alternatives may do without `done`: then the loop goes on. */
static const char *wrong_in_rondo(const struct schema *schema)
{
    rondo_error err;
    auto_arena struct arena arena = { 0 };
    auto_json json_t *nothing = json_object();
    const struct prospect *done = prospect_member(&arena, prospect_of_schema(&arena, schema), "done");
    if (!(prospect_types(done) & PROSPECT_BOOLEAN))
        return done == &prospect_none ? lacks_done : other_done;
    if (done == &prospect_unknown)
        return fits_without(schema, "done") ? lacks_done : NULL;
    return schema_check(schema, nothing, &err) == 0 ? may_lack_done : NULL;
}

static void check_judge(struct loading *l, const struct flow_loop *loop)
{
    const struct flow_agent *agent = loop->judge ? loop->judge->agent : NULL;
    const struct schema *schema = agent ? agent->result_schema.rules : NULL;
    const char *why = schema ? wrong_in_rondo(schema) : NULL;
    if (why)
        refuse_judge(l, loop, why);
}

/* ---- replies that are written down ------------------------------------------------------------------------- */

/* Does one of the replies say it?  One that fails says nothing wrong. */
static bool some_reply(const struct flow_agent *agent, bool (*says)(const json_t *value, const char *content))
{
    size_t i;
    json_t *reply;
    json_array_foreach(agent->script, i, reply)
    {
        json_t *fail = json_object_get(reply, "fail"), *result = json_object_get(reply, "result");
        json_t *content = json_is_object(reply) ? json_object_get(reply, "content") : reply;
        bool has_result = result && !json_is_null(result);
        if ((fail && !json_is_null(fail)) || says(has_result ? result : content, json_string_value(content)))
            return true;
    }
    return json_array_size(agent->script) == 0;
}

/* ---- the scorer -------------------------------------------------------------------------------------------- */

static bool scores(const json_t *value, const char *content)
{
    return isfinite(verdict_score(value));
}

/* A text may be a number, too.  What may be anything has not been said to be one. */
static bool can_score_by(const struct schema *schema)
{
    enum { READ = PROSPECT_NUMBER | PROSPECT_STRING };
    auto_arena struct arena arena = { 0 };
    const struct prospect *whole = prospect_of_schema(&arena, schema), *score = prospect_member(&arena, whole, "score");
    unsigned types = prospect_types(whole);
    if (types != PROSPECT_ALL && types & READ)
        return true;
    return score == &prospect_unknown ? !fits_without(schema, "score") : prospect_types(score) & READ;
}

/* Functions and workflows may give more than their schema says, and a command may print a number. */
static bool can_score(const struct flow_agent *agent)
{
    if (agent->kind == AGENT_SCRIPT)
        return some_reply(agent, scores);
    if (agent->kind == AGENT_FUNCTION || agent->kind == AGENT_WORKFLOW)
        return true;
    if (!agent->result_schema.doc)
        return agent->kind == AGENT_COMMAND;
    return !agent->result_schema.rules || can_score_by(agent->result_schema.rules);
}

static const char script_hint[] = "script: [{ result: { score: 7 } }]";
static const char score_hint[] =
    "resultSchema: { type: object, required: [score], properties: { score: { type: number } } }";

static void refuse_scorer(struct loading *l, const struct flow_loop *loop)
{
    const struct flow_agent *agent = loop->scorer->agent;
    bool is_script = agent->kind == AGENT_SCRIPT;
    struct diag *diag = load_error(l, STAGE_RONDO, loop->scorer->at, "validation",
                                   "the agent '%.80s' cannot score: it has no number `score` in %s", agent->name,
                                   is_script ? "any of its replies" : "its `resultSchema`");
    if (is_script) // whoever tries things out may mean it
        diag_warn(l->diags, diag);
    diag_hint(diag, "%s", is_script ? script_hint : score_hint);
}

static void check_scorer(struct loading *l, const struct flow_loop *loop)
{
    const struct flow_agent *agent = loop->scorer ? loop->scorer->agent : NULL;
    bool is_told = agent && agent->kind != AGENT_SCRIPT && !agent->result_schema.doc &&
                   load_has(l, agent->at, "resultSchema");
    if (agent && !can_score(agent) && !is_told)
        refuse_scorer(l, loop);
}

void rules_judge(struct loading *l, const struct flow_loop *loop)
{
    struct flow_agent *agent = loop->judge ? loop->judge->agent : NULL;
    if (!agent)
        return;
    agent->judges = true;
    const json_t *schema = agent->result_schema.doc;
    const char *why = !schema ? "has no `resultSchema`" : l->is_v1 ? wrong_in_v1(schema) : NULL;
    if (why && (schema || !load_has(l, agent->at, "resultSchema")))
        refuse_judge(l, loop, why);
}

static void check_loop(struct loading *l, struct flow_step *step)
{
    if (!step->loop)
        return;
    check_judge(l, step->loop);
    check_scorer(l, step->loop);
}

void rules_judges(struct loading *l)
{
    if (!l->is_v1)
        load_each_step(l, check_loop);
}

/* ---- the reviewer ------------------------------------------------------------------------------------------ */

static bool is_understood(const json_t *value, const char *content)
{
    struct verdict verdict;
    verdict_review(value, content, &verdict);
    bool is_clear = verdict.code != REVIEW_UNCLEAR;
    verdict_clear(&verdict);
    return is_clear;
}

/* An object that has a place for `decision`. */
static bool has_decision(const json_t *schema)
{
    bool is_closed = json_is_false(json_object_get(schema, "additionalProperties")) &&
                     !json_object_get(schema, "patternProperties");
    return !is_closed || json_object_get(json_object_get(schema, "properties"), "decision");
}

static bool has_clear_word(const json_t *words)
{
    size_t i;
    json_t *word;
    json_array_foreach(words, i, word)
        if (is_understood(word, NULL))
            return true;
    return false;
}

/* Whether something that is understood can fit.  False only if that is certain. */
static bool allows_verdict(const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type"), *words = json_object_get(schema, "enum");
    if (json_object_get(schema, "$ref")) // beside which others may not count
        return true;
    if (json_is_array(words))
        return has_clear_word(words);
    if (!json_is_string(type) || is_type(schema, "string"))
        return true;
    return is_type(schema, "object") && has_decision(schema);
}

static const char verdict_hint[] =
    "a review is { decision: approve / retry / retryPredecessor / reject, feedback }, or a text such as APPROVE or "
    "RETRY: why";

static void check_gate(struct loading *l, const struct flow_step *gate)
{
    const struct doc_val *answer = doc_get(load_get(gate->at, "onTimeout"), "answer");
    if (gate->gate_schema.doc && !allows_verdict(gate->gate_schema.doc))
        diag_hint(load_error(l, STAGE_RONDO, load_get(gate->at, "schema"), "validation",
                             "nothing that fits this schema is understood as a review"), "%s", verdict_hint);
    else if (gate->gate_answer && answer && !is_understood(gate->gate_answer, NULL))
        diag_hint(load_error(l, STAGE_RONDO, answer, "validation", "this is not understood as a review"), "%s",
                  verdict_hint);
}

/* A script may be there to show what becomes of that; others may say something in words beside their result. */
static void check_agent(struct loading *l, const struct flow_step *reviewer, const struct flow_agent *agent)
{
    struct diag *diag = NULL;
    if (agent->kind == AGENT_SCRIPT && !some_reply(agent, is_understood))
        diag = load_error(l, STAGE_RONDO, reviewer->at, "validation",
                          "the agent '%.80s' cannot review: none of its replies is understood", agent->name);
    else if (agent->kind == AGENT_MODEL && agent->result_schema.doc && !allows_verdict(agent->result_schema.doc))
        diag = load_error(l, STAGE_RONDO, reviewer->at, "validation",
                          "the agent '%.80s' has no place for `decision` in its `resultSchema`", agent->name);
    if (!diag)
        return;
    diag_warn(l->diags, diag);
    diag_hint(diag, "%s", verdict_hint);
}

void rules_reviewer(struct loading *l, const struct flow_step *reviewer)
{
    if (reviewer->body == BODY_GATE)
        check_gate(l, reviewer);
    else if (reviewer->agent)
        check_agent(l, reviewer, reviewer->agent);
}
