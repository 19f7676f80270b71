/* rules_judge.c - whether those who judge, score and review can say what is wanted of them.

   That follows from their `resultSchema`, and from replies that are written down: these are read by the functions that
   will read them in a run (flow/verdict.h). */
#include "data/prospect.h"
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

/* What a schema says is not in it, but in others: that is known when it has been compiled. */
static bool is_elsewhere(const json_t *schema)
{
    static const char *const keywords[] = { "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if" };
    for (size_t i = 0; i < COUNT(keywords); i++)
        if (json_object_get(schema, keywords[i]))
            return true;
    return false;
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

static void check_judge(struct loading *l, const struct flow_loop *loop)
{
    struct flow_agent *agent = loop->judge ? loop->judge->agent : NULL;
    if (!agent)
        return;
    agent->judges = true;
    json_t *schema = agent->result_schema.doc;
    json_t *done = json_object_get(json_object_get(schema, "properties"), "done");
    bool may_be = !l->is_v1 && done && !json_object_get(done, "type");
    if (!l->is_v1 && is_elsewhere(schema))
        return;
    const char *why = !schema                      ? "has no `resultSchema`"
                      : !done                      ? lacks_done
                      : !is_type(done, "boolean") && !may_be ? other_done
                      : !is_required(schema, "done") ? "does not require `done` in its `resultSchema`"
                                                     : NULL;
    if (why && (schema || (!load_has(l, agent->at, "resultSchema") && !agent->is_vague)))
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

static bool is_number(const json_t *schema)
{
    return is_type(schema, "number") || is_type(schema, "integer");
}

static bool scores(const json_t *value, const char *content)
{
    return isfinite(verdict_score(value));
}

/* Functions and workflows may give more than their schema says, and a command may print a number. */
static bool can_score(const struct flow_agent *agent)
{
    const json_t *schema = agent->result_schema.doc;
    if (agent->kind == AGENT_SCRIPT)
        return some_reply(agent, scores);
    const json_t *score = json_object_get(json_object_get(schema, "properties"), "score");
    if (agent->kind == AGENT_FUNCTION || agent->kind == AGENT_WORKFLOW || (!schema && agent->kind == AGENT_COMMAND))
        return true;
    return is_number(schema) || is_number(score) || (score && !json_object_get(score, "type")) || is_elsewhere(schema);
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
    if (agent && !can_score(agent) && !is_told && !agent->is_vague)
        refuse_scorer(l, loop);
}

void rules_judge(struct loading *l, const struct flow_loop *loop)
{
    check_judge(l, loop);
    check_scorer(l, loop);
}

/* ---- schemas that refer to others ---------------------------------------------------------------------------- */

/* What an agent's result can be, if that is said elsewhere; else NULL. */
static const struct prospect *far_result(struct arena *arena, const struct flow_step *step)
{
    const struct flow_agent *agent = step ? step->agent : NULL;
    bool is_far = agent && agent->result_schema.rules && is_elsewhere(agent->result_schema.doc);
    return is_far ? prospect_of_schema(arena, agent->result_schema.rules) : NULL;
}

/* Of others can_score() has asked more. */
static bool scores_by_schema(const struct flow_step *scorer)
{
    const struct flow_agent *agent = scorer ? scorer->agent : NULL;
    return agent && (agent->kind == AGENT_MODEL || agent->kind == AGENT_COMMAND);
}

static void check_far(struct loading *l, struct flow_step *step)
{
    auto_arena struct arena arena = { 0 };
    const struct flow_loop *loop = step->loop;
    const struct prospect *judged = loop ? far_result(&arena, loop->judge) : NULL;
    const struct prospect *scored = loop && scores_by_schema(loop->scorer) ? far_result(&arena, loop->scorer) : NULL;
    const struct prospect *done = judged ? prospect_member(&arena, judged, "done") : &prospect_unknown;
    const struct prospect *score = scored ? prospect_member(&arena, scored, "score") : &prospect_unknown;
    if (!(prospect_types(done) & PROSPECT_BOOLEAN))
        refuse_judge(l, loop, done == &prospect_none ? lacks_done : other_done);
    if (!(prospect_types(score) & PROSPECT_NUMBER) && !(prospect_types(scored) & PROSPECT_NUMBER))
        refuse_scorer(l, loop);
}

void rules_far_judges(struct loading *l)
{
    if (!l->is_v1) // where that is looked at as in Zenflow, and nothing is elsewhere
        load_each_step(l, check_far);
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
    else if (reviewer->agent && !reviewer->agent->is_vague)
        check_agent(l, reviewer, reviewer->agent);
}
