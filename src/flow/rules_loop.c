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
    { "maxHistory", "validation" },                     { "compat", "validation" },
    { "mustHold", "validation" },
};

static void check_each(struct loading *l, const struct flow_loop *loop)
{
    for (size_t i = 0; i < COUNT(not_each); i++) {
        if (!has(loop, not_each[i].key) || (strcmp(not_each[i].key, "delay") == 0 && !loop->delay_ms))
            continue;
        struct diag *diag = load_error(l, STAGE_FOREACH, key_at(loop, not_each[i].key), not_each[i].code,
                                       "`%s` does not go with `forEach`", not_each[i].key);
        if (l->is_v1) // which goes by the list above
            diag_order_by(diag, load_get(loop->at, "forEach"));
    }
    if (loop->output_mode == RONDO_OUTPUT_BEST || loop->output_mode == RONDO_OUTPUT_FINAL_STEP)
        load_error(l, STAGE_OUTPUT_MODE, load_get(loop->at, "outputMode"), "loop_validation",
                   "with `forEach` the output is that of the last item, or cumulative");
}

/* ---- how it ends ---------------------------------------------------------------------------------------- */

bool rules_has_limit(const rondo_budget *b)
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

static bool is_kept_from(const struct flow_agent *agent, const char *tool)
{
    for (uint32_t i = 0; i < agent->disallowed_count; i++)
        if (strcmp(agent->disallowed_tools[i], tool) == 0)
            return true;
    return false;
}

/* Any agent may end the loop around it, unless it is a script that does not, or a model that may not.  Where nothing
   else can, models have the tool for it. */
static bool step_breaks(const struct flow_step *step);

bool rules_can_break(const struct flow_scope *scope)
{
    for (uint32_t i = 0; scope && i < scope->count; i++)
        if (step_breaks(scope->steps[i]))
            return true;
    return false;
}

static bool step_breaks(const struct flow_step *step)
{
    if (step->loop && step->loop->scope->count)
        return rules_can_break(step->loop->scope);
    if (step->body != BODY_AGENT)
        return rules_can_break(step->inner);
    if (!step->agent)
        return true;
    if (step->agent->kind == AGENT_WORKFLOW || is_kept_from(step->agent, "exit_loop"))
        return false;
    return step->agent->kind != AGENT_SCRIPT || script_breaks(step->agent->script);
}

/* What is around counts as well; only the timeout of the step itself is one of each pass. */
bool rules_is_limited(const struct flow_step *step)
{
    for (const struct flow_step *at = step; at; at = at->scope->owner)
        if (rules_has_limit(&at->budget) || (at != step && at->timeout_ms) ||
            (at->loop && (at->loop->timeout_ms || rules_has_limit(&at->loop->budget))))
            return true;
    for (const struct flow *flow = step->flow; flow; flow = flow->outer)
        if (rules_has_limit(&flow->budget) || flow->timeout_ms)
            return true;
    return false;
}

/* Whether an expression is there and says anything but this word. */
static bool is_open(const struct flow_expr *expr, const char *word)
{
    return expr->at && strcmp(expr->at->text, word) != 0;
}

static bool can_end_without_body(const struct flow_step *step)
{
    const struct flow_loop *loop = step->loop;
    return is_open(&loop->until, "false") || is_open(&loop->while_, "true") || has(loop, "untilAgent") ||
           loop->next.at || loop->patience || has(loop, "stall") || rules_is_limited(step);
}

/* Of a file inside another it is not known what is around it. */
static void refuse_endless(struct loading *l, const struct flow_loop *loop, const char *key)
{
    struct diag *diag = load_error(l, STAGE_ITERATIONS, key_at(loop, key), "validation", "nothing can end this loop");
    diag_hint(diag, "give it `until`, `untilAgent`, `next`, `while`, a `budget`, or a body that can break");
    if (l->outer)
        diag_warn(l->diags, diag);
}

static void check_cap(struct loading *l, struct flow_step *step)
{
    struct flow_loop *loop = step->loop;
    const struct doc_val *unbounded = load_get(loop->at, "unbounded");
    bool is_unbounded = unbounded && unbounded->kind == DOC_BOOL && unbounded->is_true;
    bool is_open_while = !is_unbounded && !has(loop, "maxIterations") && has(loop, "while");
    step->needs_break = (is_unbounded || is_open_while) && !can_end_without_body(step);
    if (is_unbounded && has(loop, "maxIterations"))
        load_error(l, STAGE_ITERATIONS, key_at(loop, "unbounded"), "validation",
                   "`unbounded` and `maxIterations` contradict each other");
    else if (step->needs_break && !step_breaks(step))
        refuse_endless(l, loop, is_unbounded ? "unbounded" : "while");
    else if (!is_unbounded && !load_has(l, loop->at, "maxIterations") && !load_has(l, loop->at, "while") &&
             !load_has(l, loop->at, "forEach") && load_knows(l, loop->at, "unbounded"))
        diag_hint(load_error(l, STAGE_ITERATIONS, loop->at, "loop_missing_max_iterations",
                             "a loop needs `maxIterations`%s", l->is_v1 ? ", or `forEach`" : ""),
                  l->is_v1 ? "it is the most passes there can be"
                           : "or `unbounded: true`, `while`, or `forEach`");
    if (is_unbounded || is_open_while)
        loop->max_iterations = RONDO_UNBOUNDED;
}

/* Reaching the cap means that what was wanted did not happen; the best of all passes is still one. */
static void settle_on_max(struct flow_loop *loop)
{
    bool has_aim = loop->until.at || loop->judge || (loop->next.at && !loop->while_.at);
    if (!has(loop, "onMaxIterations"))
        loop->on_max = has_aim && loop->output_mode != RONDO_OUTPUT_BEST ? RONDO_FAIL : RONDO_RETURN_LAST;
}

/* ---- keys that need each other --------------------------------------------------------------------------- */

static void check_score(struct loading *l, const struct flow_loop *loop)
{
    bool is_scored = load_has(l, loop->at, "score") || load_has(l, loop->at, "scoreAgent");
    if (has(loop, "score") && has(loop, "scoreAgent"))
        load_error(l, STAGE_RONDO, key_at(loop, "scoreAgent"), "validation",
                   "`score` and `scoreAgent` say the same; give one of them");
    if (!is_scored && loop->output_mode == RONDO_OUTPUT_BEST)
        load_error(l, STAGE_RONDO, load_get(loop->at, "outputMode"), "validation",
                   "`outputMode: best` needs `score` or `scoreAgent`");
    if (!is_scored && has(loop, "patience"))
        load_error(l, STAGE_RONDO, key_at(loop, "patience"), "validation",
                   "`patience` needs `score` or `scoreAgent`");
    if (has(loop, "minGain") && !load_has(l, loop->at, "patience"))
        load_error(l, STAGE_RONDO, key_at(loop, "minGain"), "validation", "`minGain` needs `patience`");
}

static void check_memory(struct loading *l, const struct flow_loop *loop)
{
    bool is_window = loop->memory_mode == RONDO_WINDOW;
    if (is_window && !load_has(l, loop->at, "memoryWindow"))
        load_error(l, STAGE_RONDO, key_at(loop, "memoryMode"), "validation",
                   "`memoryMode: window` needs `memoryWindow`");
    if (!is_window && has(loop, "memoryWindow") && load_knows(l, loop->at, "memoryMode"))
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
    bool is_list = scope && load_is_graph(scope);
    bool lacks_steps = loop->scope->lacks_steps || (is_list && scope->lacks_steps);
    if (!loop->output || (scope && scope_step(scope, loop->output)) || lacks_steps)
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, load_get(loop->at, "output"), "unknown_reference",
                                   "`output` names '%.80s', which is no step of the loop", loop->output);
    if (scope)
        load_suggest_step(l, diag, loop->output, scope);
}

/* A pattern is for files below the folder in which the loop's steps work. */
static bool leads_out(const char *pattern)
{
    for (const char *at = pattern; at; at = strchr(at, '/'), at = at ? at + 1 : NULL)
        if (strcmp(at, "..") == 0 || strncmp(at, "../", 3) == 0)
            return true;
    return !*pattern || *pattern == '/' || *pattern == '~';
}

static void check_stall(struct loading *l, const struct flow_loop *loop)
{
    const struct doc_val *stall = load_get(loop->at, "stall"), *files = load_get(stall, "files");
    const struct doc_val *words = load_get(stall, "words");
    if (files && files->kind == DOC_LIST && !files->count)
        load_error(l, STAGE_RONDO, files, "validation", "`files` is an empty list: name the files to look at");
    for (uint32_t i = 0; i < loop->stall_file_count; i++)
        if (leads_out(loop->stall_files[i]))
            load_error(l, STAGE_RONDO, i < files->count ? files->items[i] : files, "validation",
                       "expected a pattern for files below the working folder, such as src/**, got '%.80s'",
                       loop->stall_files[i]);
    if (words && !load_has(l, stall, "files"))
        load_error(l, STAGE_RONDO, words, "validation",
                   "`words` goes with `files`: without them a stall is always about the words");
}

static void check_repeat(struct loading *l, struct flow_step *step)
{
    struct flow_loop *loop = step->loop;
    static const char *const for_each[] = { "onItemFailure", "maxConcurrency" }; // v1 takes the latter anywhere
    check_cap(l, step);
    rules_judge(l, loop);
    check_score(l, loop);
    check_memory(l, loop);
    settle_on_max(loop);
    if (loop->must_hold && !load_has(l, loop->at, "until") && !load_has(l, loop->at, "untilAgent"))
        load_error(l, STAGE_RONDO, key_at(loop, "mustHold"), "validation", "`mustHold` needs `until` or `untilAgent`");
    if (has(loop, "stall") && !loop->stall_repeats)
        loop->stall_repeats = 3;
    if (has(loop, "stall"))
        check_stall(l, loop);
    for (size_t i = 0; i < COUNT(for_each) && !l->is_v1; i++)
        if (has(loop, for_each[i]) && !load_has(l, loop->at, "forEach"))
            load_spare(l, load_error(l, STAGE_RONDO, key_at(loop, for_each[i]), "validation", "`%s` needs `forEach`",
                                     for_each[i]));
}

/* What a loop says about its steps holds for those of a group that it repeats. */
static void settle_group(struct loading *l, struct flow_step *step)
{
    static const char *const for_steps[] = { "order", "onStepFailure" };
    const struct flow_loop *loop = step->loop;
    bool is_group = step->body == BODY_STEPS && step->inner;
    for (size_t i = 0; i < COUNT(for_steps); i++) {
        if (!has(loop, for_steps[i]) || load_has(l, loop->at, "steps"))
            continue;
        if (!is_group)
            load_error(l, STAGE_RONDO, key_at(loop, for_steps[i]), "validation",
                       "`%s` is about `steps`, and this loop has none", for_steps[i]);
        else if (load_get(step->at, for_steps[i]))
            load_error(l, STAGE_RONDO, key_at(loop, for_steps[i]), "validation",
                       "`%s` is the same in the step and in its loop; give one of them", for_steps[i]);
    }
    if (is_group && has(loop, "onStepFailure"))
        step->on_failure = loop->on_failure;
}

void rules_loop(struct loading *l, struct flow_step *step)
{
    struct flow_loop *loop = step->loop;
    if (loop->is_each)
        check_each(l, loop);
    else
        check_repeat(l, step);
    check_output(l, step);
    settle_group(l, step);
}
