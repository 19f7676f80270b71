/* rules_loop.c - which keys of a loop go together, and how it may end. */
#include "flow/load.h"
#include "flow/scope.h"

#include <string.h>

static bool has(const struct flow_loop *loop, const char *key)
{
    return load_get(loop->at, key);
}

static const struct doc_val *key_at(const struct flow_loop *loop, const char *key)
{
    const struct doc_val *at = doc_key(loop->at, key);
    return at ? at : loop->at;
}

/* ---- forEach ----------------------------------------------------------------------------------------- */

/* Keys of repeating loops. */
static const struct {
    const char *key, *code;
} not_each[] = {
    { "maxIterations", "foreach_with_max_iterations" }, { "until", "foreach_with_until" },
    { "untilAgent", "foreach_with_untilagent" },        { "delay", "foreach_with_delay" },
    { "while", "validation" },                          { "next", "validation" },
    { "unbounded", "validation" },                      { "onMaxIterations", "validation" },
    { "score", "validation" },                          { "scoreAgent", "validation" },
    { "patience", "validation" },                       { "minGain", "validation" },
    { "stall", "validation" },                          { "memoryMode", "validation" },
    { "memoryWindow", "validation" },                   { "feedback", "validation" },
    { "onError", "validation" },                        { "maxFailures", "validation" },
    { "maxHistory", "validation" },                     { "output", "validation" },
    { "compat", "validation" },
};

static void check_each(struct loading *l, const struct flow_loop *loop)
{
    for (size_t i = 0; i < COUNT(not_each); i++) {
        if (!has(loop, not_each[i].key) || (strcmp(not_each[i].key, "delay") == 0 && !loop->delay_ms))
            continue;
        load_error(l, STAGE_FOREACH, key_at(loop, not_each[i].key), not_each[i].code,
                   "`%s` does not go with `forEach`", not_each[i].key);
    }
    if (loop->output_mode == RONDO_OUTPUT_BEST || loop->output_mode == RONDO_OUTPUT_FINAL_STEP)
        load_error(l, STAGE_OUTPUT_MODE, load_get(loop->at, "outputMode"), "loop_validation",
                   "with `forEach` the output is that of the last item, or cumulative");
}

/* ---- how it ends ---------------------------------------------------------------------------------------- */

static bool is_limited(const rondo_budget *b)
{
    return b->time_ms || b->tokens || b->cost_nano || b->calls;
}

static bool script_breaks(const json_t *script)
{
    size_t i;
    json_t *reply;
    json_array_foreach(script, i, reply)
    {
        const json_t *actions = json_object_get(reply, "actions"), *at = json_object_get(actions, "break");
        if (json_is_true(at) || json_is_string(at) || json_is_true(json_object_get(actions, "escalate")))
            return true;
    }
    return false;
}

/* Any agent may end the loop around it, unless it is a script that does not. */
static bool step_breaks(const struct flow_step *step);

static bool scope_breaks(const struct flow_scope *scope)
{
    for (uint32_t i = 0; scope && i < scope->count; i++)
        if (step_breaks(scope->steps[i]))
            return true;
    return false;
}

static bool step_breaks(const struct flow_step *step)
{
    if (step->loop && step->loop->scope->count)
        return scope_breaks(step->loop->scope);
    if (step->body != BODY_AGENT)
        return scope_breaks(step->inner);
    if (!step->agent)
        return true;
    if (step->agent->kind == AGENT_WORKFLOW)
        return false;
    return step->agent->kind != AGENT_SCRIPT || script_breaks(step->agent->script);
}

static bool can_end(const struct flow_step *step)
{
    const struct flow_loop *loop = step->loop;
    return loop->until.at || has(loop, "untilAgent") || loop->next.at || loop->while_.at || loop->patience ||
           has(loop, "stall") || loop->timeout_ms || is_limited(&loop->budget) || is_limited(&step->budget) ||
           step_breaks(step);
}

static void check_cap(struct loading *l, struct flow_step *step)
{
    struct flow_loop *loop = step->loop;
    const struct doc_val *unbounded = load_get(loop->at, "unbounded");
    bool is_unbounded = unbounded && unbounded->kind == DOC_BOOL && unbounded->is_true;
    if (is_unbounded && has(loop, "maxIterations"))
        load_error(l, STAGE_ITERATIONS, key_at(loop, "unbounded"), "validation",
                   "`unbounded` and `maxIterations` contradict each other");
    else if (is_unbounded && !can_end(step))
        diag_hint(load_error(l, STAGE_ITERATIONS, key_at(loop, "unbounded"), "validation",
                             "nothing can end this loop"),
                  "give it `until`, `untilAgent`, `next`, `while`, a `budget`, or a body that can break");
    else if (!is_unbounded && !has(loop, "maxIterations") && !has(loop, "while"))
        diag_hint(load_error(l, STAGE_ITERATIONS, loop->at, "loop_missing_max_iterations",
                             "a loop needs `maxIterations`%s", l->is_v1 ? ", or `forEach`" : ""),
                  l->is_v1 ? "it is the most passes there can be"
                           : "or `unbounded: true`, `while`, or `forEach`");
    if (is_unbounded || (!has(loop, "maxIterations") && has(loop, "while")))
        loop->max_iterations = RONDO_UNBOUNDED;
}

/* Reaching the cap means that what was wanted did not happen; the best of all passes is still one. */
static void settle_on_max(struct flow_loop *loop)
{
    bool has_aim = loop->until.at || loop->judge || (loop->next.at && !loop->while_.at);
    if (!has(loop, "onMaxIterations"))
        loop->on_max = has_aim && loop->output_mode != RONDO_OUTPUT_BEST ? RONDO_FAIL : RONDO_RETURN_LAST;
}

/* ---- the judge and the scorer -------------------------------------------------------------------------- */

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

static const char judge_hint[] =
    "resultSchema: { type: object, required: [done], properties: { done: { type: boolean } } }";

static void check_judge(struct loading *l, const struct flow_loop *loop)
{
    struct flow_agent *agent = loop->judge ? loop->judge->agent : NULL;
    if (!agent)
        return;
    agent->judges = true;
    json_t *schema = agent->result_schema;
    json_t *done = json_object_get(json_object_get(schema, "properties"), "done");
    const char *why = !schema                      ? "has no `resultSchema`"
                      : !done                      ? "has no property `done` in its `resultSchema`"
                      : !is_type(done, "boolean")  ? "has a `done` that is no boolean"
                      : !is_required(schema, "done") ? "does not require `done` in its `resultSchema`"
                                                     : NULL;
    if (why)
        diag_hint(load_error(l, STAGE_JUDGE, loop->judge->at, "validation",
                             "the agent '%.80s' cannot judge: it %s", agent->name, why),
                  "%s", judge_hint);
}

static bool is_number(const json_t *schema)
{
    return is_type(schema, "number") || is_type(schema, "integer");
}

static void check_scorer(struct loading *l, const struct flow_loop *loop)
{
    const struct flow_agent *agent = loop->scorer ? loop->scorer->agent : NULL;
    if (!agent || agent->kind == AGENT_SCRIPT || agent->kind == AGENT_FUNCTION || agent->kind == AGENT_WORKFLOW)
        return;
    json_t *score = json_object_get(json_object_get(agent->result_schema, "properties"), "score");
    if (!is_number(score) && !is_number(agent->result_schema))
        diag_hint(load_error(l, STAGE_RONDO, loop->scorer->at, "validation",
                             "the agent '%.80s' cannot score: it has no number `score` in its `resultSchema`",
                             agent->name),
                  "resultSchema: { type: object, required: [score], properties: { score: { type: number } } }");
}

/* ---- keys that need each other --------------------------------------------------------------------------- */

static void check_score(struct loading *l, const struct flow_loop *loop)
{
    bool is_scored = has(loop, "score") || has(loop, "scoreAgent");
    if (has(loop, "score") && has(loop, "scoreAgent"))
        load_error(l, STAGE_RONDO, key_at(loop, "scoreAgent"), "validation",
                   "`score` and `scoreAgent` say the same; give one of them");
    if (!is_scored && loop->output_mode == RONDO_OUTPUT_BEST)
        load_error(l, STAGE_RONDO, load_get(loop->at, "outputMode"), "validation",
                   "`outputMode: best` needs `score` or `scoreAgent`");
    if (!is_scored && has(loop, "patience"))
        load_error(l, STAGE_RONDO, key_at(loop, "patience"), "validation",
                   "`patience` needs `score` or `scoreAgent`");
    if (has(loop, "minGain") && !has(loop, "patience"))
        load_error(l, STAGE_RONDO, key_at(loop, "minGain"), "validation", "`minGain` needs `patience`");
}

static void check_memory(struct loading *l, const struct flow_loop *loop)
{
    bool is_window = loop->memory_mode == RONDO_WINDOW;
    if (is_window && !has(loop, "memoryWindow"))
        load_error(l, STAGE_RONDO, key_at(loop, "memoryMode"), "validation",
                   "`memoryMode: window` needs `memoryWindow`");
    if (!is_window && has(loop, "memoryWindow"))
        load_error(l, STAGE_RONDO, key_at(loop, "memoryWindow"), "validation",
                   "`memoryWindow` needs `memoryMode: window`");
    if (loop->max_history && loop->output_mode == RONDO_OUTPUT_CUMULATIVE)
        load_error(l, STAGE_RONDO, key_at(loop, "maxHistory"), "validation",
                   "`maxHistory` does not go with `outputMode: cumulative`, which needs all passes");
}

static void check_output(struct loading *l, const struct flow_step *step)
{
    const struct flow_loop *loop = step->loop;
    const struct flow_scope *scope = loop->scope->count ? loop->scope : step->inner;
    if (!loop->output || (scope && scope_step(scope, loop->output)))
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, load_get(loop->at, "output"), "unknown_reference",
                                   "`output` names '%.80s', which is no step of the loop", loop->output);
    if (scope)
        load_suggest_step(l, diag, loop->output, scope);
}

static void check_repeat(struct loading *l, struct flow_step *step)
{
    struct flow_loop *loop = step->loop;
    static const char *const for_each[] = { "onItemFailure" };
    check_cap(l, step);
    check_judge(l, loop);
    check_scorer(l, loop);
    check_score(l, loop);
    check_memory(l, loop);
    check_output(l, step);
    settle_on_max(loop);
    if (has(loop, "stall") && !loop->stall_repeats)
        loop->stall_repeats = 3;
    for (size_t i = 0; i < COUNT(for_each); i++)
        if (has(loop, for_each[i]))
            load_error(l, STAGE_RONDO, key_at(loop, for_each[i]), "validation", "`%s` needs `forEach`",
                       for_each[i]);
}

void rules_loop(struct loading *l, struct flow_step *step)
{
    struct flow_loop *loop = step->loop;
    static const char *const for_steps[] = { "order", "onStepFailure" };
    if (loop->is_each)
        check_each(l, loop);
    else
        check_repeat(l, step);
    for (size_t i = 0; i < COUNT(for_steps); i++)
        if (has(loop, for_steps[i]) && !has(loop, "steps"))
            load_error(l, STAGE_RONDO, key_at(loop, for_steps[i]), "validation",
                       "`%s` is about `steps`, and this loop has none", for_steps[i]);
}
