/* rules_agent.c - what kind an agent is, and which keys go with that. */
#include "flow/load.h"

#include <string.h>

static const struct {
    const char *key;
    uint8_t kind;
} kinds[] = {
    { "model", AGENT_MODEL },       { "run", AGENT_COMMAND },       { "script", AGENT_SCRIPT },
    { "workflow", AGENT_WORKFLOW }, { "function", AGENT_FUNCTION },
};

static const char *const nouns[] = {
    [AGENT_MODEL] = "a model",       [AGENT_COMMAND] = "a command",    [AGENT_SCRIPT] = "a script",
    [AGENT_WORKFLOW] = "a workflow", [AGENT_FUNCTION] = "a function",
};

/* Keys that only one kind understands. */
static const struct {
    const char *key;
    uint8_t kind;
} companions[] = {
    { "tools", AGENT_MODEL },     { "disallowedTools", AGENT_MODEL }, { "maxTurns", AGENT_MODEL },
    { "temperature", AGENT_MODEL }, { "topP", AGENT_MODEL },          { "maxTokens", AGENT_MODEL },
    { "effort", AGENT_MODEL },    { "projectNotes", AGENT_MODEL },      { "workers", AGENT_MODEL },
    { "cwd", AGENT_COMMAND },     { "env", AGENT_COMMAND },           { "stdin", AGENT_COMMAND },
    { "grace", AGENT_COMMAND },   { "sandbox", AGENT_COMMAND },       { "idleTimeout", AGENT_COMMAND },
};

static void find_kind(struct loading *l, struct flow_agent *agent)
{
    const char *first = NULL;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        if (!load_get(agent->at, kinds[i].key))
            continue;
        if (first)
            load_error(l, STAGE_RONDO, doc_key(agent->at, kinds[i].key), "validation",
                       "the agent '%.80s' has both `%s` and `%s`; it can be only one", agent->name, first,
                       kinds[i].key);
        else
            agent->kind = kinds[i].kind;
        first = first ? first : kinds[i].key;
    }
}

/* Whether none of the keys that tell it is there, but one that was probably meant for one of them. */
static bool is_of_unknown_kind(const struct loading *l, const struct flow_agent *agent)
{
    bool is_given = false, is_meant = false;
    for (size_t i = 0; i < COUNT(kinds); i++) {
        is_given |= !!load_get(agent->at, kinds[i].key);
        is_meant |= load_has(l, agent->at, kinds[i].key);
    }
    return (is_meant && !is_given) || (agent->at->kind != DOC_MAP && agent->at->kind != DOC_NULL);
}

static void check_companions(struct loading *l, const struct flow_agent *agent)
{
    if (is_of_unknown_kind(l, agent))
        return;
    for (size_t i = 0; i < COUNT(companions); i++)
        if (companions[i].kind != agent->kind && load_get(agent->at, companions[i].key))
            load_error(l, STAGE_RONDO, doc_key(agent->at, companions[i].key), "validation",
                       "`%s` is for agents that are %s; '%.80s' is %s", companions[i].key,
                       nouns[companions[i].kind], agent->name, nouns[agent->kind]);
}

/* Common to all agents, but only requests to models are kept. */
static void check_cache(struct loading *l, const struct flow_agent *agent)
{
    if (agent->cache && agent->kind != AGENT_MODEL && !is_of_unknown_kind(l, agent))
        diag_warn(l->diags, load_error(l, STAGE_RONDO, doc_key(agent->at, "cache"), "validation",
                                       "`cache` has no effect: only answers of models are kept, and '%.80s' is %s",
                                       agent->name, nouns[agent->kind]));
}

static void check_prompt(struct loading *l, const struct flow_agent *agent)
{
    if (agent->input != STDIN_PROMPT && load_get(agent->at, "prompt"))
        diag_warn(l->diags, load_error(l, STAGE_RONDO, doc_key(agent->at, "prompt"), "validation",
                                       "`prompt` has no effect: with this `stdin` the command '%.80s' is not given it",
                                       agent->name));
}

static bool takes_anything(const struct flow_skill *skill)
{
    const json_t *schema = skill->input_schema.doc;
    return !schema || json_is_true(schema) || (json_is_object(schema) && !json_object_size(schema));
}

/* Of several skills that fit, a model chooses; others cannot. */
static void check_skills(struct loading *l, const struct flow_agent *agent)
{
    uint32_t open = 0;
    for (uint32_t i = 0; i < agent->skill_count && open < 2; i++) {
        open += takes_anything(&agent->skills[i]);
        if (open < 2)
            continue;
        const struct doc_val *at = doc_key(load_get(agent->at, "skills"), agent->skills[i].name);
        diag_hint(load_error(l, STAGE_RONDO, at, "validation",
                             "nothing tells when '%.80s' is to use this skill: it is %s, and more than one skill takes "
                             "any input", agent->name, nouns[agent->kind]),
                  "give each an `inputSchema`");
    }
}

static void check_description(struct loading *l, const struct flow_agent *agent)
{
    const struct doc_val *at = load_get(agent->at, "description");
    if (l->is_v1 && at && at->text && !at->text_len)
        load_error(l, STAGE_AGENT, at, "agent_missing_description", "the agent '%.80s' needs a description",
                   agent->name);
}

/* null is one where a schema takes it. */
static bool has_results(const json_t *replies, bool has_schema)
{
    for (size_t i = 0; i < json_array_size(replies); i++) {
        const json_t *result = json_object_get(json_array_get(replies, i), "result");
        if (result && (has_schema || !json_is_null(result)))
            return true;
    }
    return false;
}

/* Models hand over a result only where a schema asks for one, and scripts only what they say. */
static bool gives_no_result(const struct loading *l, const struct flow_agent *agent)
{
    if (l->is_v1 || load_skill_decides(agent) || is_of_unknown_kind(l, agent))
        return false;
    bool has_schema = load_has(l, agent->at, "resultSchema");
    if (agent->kind == AGENT_SCRIPT)
        return json_array_size(agent->script) && !has_results(agent->script, has_schema);
    return agent->kind == AGENT_MODEL && !has_schema;
}

static void check_agent(struct loading *l, struct flow_agent *agent)
{
    find_kind(l, agent);
    agent->is_mute = gives_no_result(l, agent);
    check_companions(l, agent);
    check_cache(l, agent);
    check_prompt(l, agent);
    check_description(l, agent);
    if (agent->kind != AGENT_MODEL && agent->kind != AGENT_WORKFLOW)
        check_skills(l, agent);
    if (agent->effects < 0)
        agent->effects = agent->kind == AGENT_SCRIPT ? RONDO_PURE : RONDO_IDEMPOTENT;
}

void rules_step_model(struct loading *l, const struct flow_step *step)
{
    const struct flow_agent *agent = step->agent;
    if (agent && agent->kind != AGENT_MODEL && load_get(step->at, "model"))
        load_error(l, STAGE_RONDO, doc_key(step->at, "model"), "validation",
                   "`model` is for agents that are a model; '%.80s' is %s", agent->name, nouns[agent->kind]);
}

/* It wakes up, rests and speaks to steps, which no workflow does; and no step has its place. */
static void check_coordinator(struct loading *l, const struct flow_step *coordinating)
{
    const struct flow_scope *scope = l->flow->scope;
    const struct flow_agent *agent = coordinating->agent;
    if (agent && agent->kind == AGENT_WORKFLOW)
        load_error(l, STAGE_RONDO, coordinating->at, "validation",
                   "the agent '%.80s' is a workflow, and cannot coordinate", agent->name);
    else if (agent && agent->kind != AGENT_MODEL && coordinating->model)
        load_error(l, STAGE_RONDO, coordinating->at, "validation",
                   "the agent '%.80s' coordinates and is %s: --coordinator has no model to replace", agent->name,
                   nouns[agent->kind]);
    for (uint32_t i = 0; i < scope->count; i++)
        if (strcmp(scope->steps[i]->id, coordinating->id) == 0)
            load_error(l, STAGE_RONDO, scope->steps[i]->id_at, "validation",
                       "a step cannot be called 'coordinator' where there is a coordinator");
}

void rules_agents(struct loading *l)
{
    for (uint32_t i = 0; i < l->flow->agent_count; i++)
        check_agent(l, l->flow->agents[i]);
    if (l->flow->coordinating)
        check_coordinator(l, l->flow->coordinating);
}
