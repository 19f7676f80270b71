/* rules_step.c - what a step is: its one body, and which keys go with it. */
#include "flow/read_own.h"

#include "base/buf.h"

#include <string.h>

static const struct body {
    const char *key;
    uint8_t body;
} bodies[] = {
    { "agent", BODY_AGENT },       { "include", BODY_INCLUDE }, { "steps", BODY_STEPS },
    { "parallel", BODY_PARALLEL }, { "branch", BODY_BRANCH },   { "forum", BODY_FORUM },
    { "gate", BODY_GATE },         { "set", BODY_SET },         { "machine", BODY_MACHINE },
    { "run", BODY_AGENT }, // an agent of its own
};

static bool has(const struct flow_step *step, const char *key)
{
    return load_get(step->at, key);
}

static bool loop_has_steps(const struct flow_step *step)
{
    return step->loop && load_get(step->loop->at, "steps");
}

/* ---- includes ----------------------------------------------------------------------------------------- */

/* What may not stand beside `include`, and whether only v1 minds. */
static const struct {
    const char *key, *code;
    bool is_v1;
} conflicts[] = {
    { "agent", "include_has_agent", false },
    { "instructions", "include_has_instructions", false },
    { "loop", "include_has_loop", true },
    { "condition", "include_has_condition", true },
    { "contextFiles", "include_has_contextfiles", false },
    { "model", "include_has_model", false },
};

static void check_include(struct loading *l, const struct flow_step *step)
{
    for (size_t i = 0; i < COUNT(conflicts); i++) {
        if (!has(step, conflicts[i].key) || (conflicts[i].is_v1 && !l->is_v1))
            continue;
        struct diag *diag = load_error(l, load_stage_in(step->scope, STAGE_INCLUDE),
                                       doc_key(step->at, conflicts[i].key), conflicts[i].code,
                                       "a step with `include` cannot have `%s`", conflicts[i].key);
        if (l->is_v1) // which goes by the list above
            diag_order_by(diag, load_get(step->at, "include"));
    }
}

/* ---- the body ------------------------------------------------------------------------------------------- */

static void find_body(struct loading *l, struct flow_step *step)
{
    const struct body *first = NULL;
    for (size_t i = 0; i < COUNT(bodies); i++) {
        if (!has(step, bodies[i].key))
            continue;
        bool is_told = first && first->body == BODY_AGENT && bodies[i].body == BODY_INCLUDE;
        if (first && !is_told)
            load_error(l, STAGE_RONDO, doc_key(step->at, bodies[i].key), "validation",
                       "a step does one thing, but this one has `%s` and `%s`", first->key, bodies[i].key);
        if (!first || is_told)
            step->body = bodies[i].body;
        first = first ? first : &bodies[i];
    }
}

/* Whether a key that is not known was probably meant for a body. */
static bool is_of_unknown_body(const struct loading *l, const struct flow_step *step)
{
    for (size_t i = 0; i < COUNT(bodies); i++)
        if (!load_knows(l, step->at, bodies[i].key))
            return true;
    return false;
}

/* Keys that only some bodies know what to do with. */
static void check_companions(struct loading *l, const struct flow_step *step)
{
    static const char *const for_agents[] = { "instructions", "contextFiles", "model" };
    static const char *const for_steps[] = { "order", "onStepFailure" };
    static const char *const for_commands[] = { "cwd", "env", "idleTimeout" };
    bool makes_steps = step->body == BODY_FORUM || step->body == BODY_PARALLEL; // which are told the same
    if (is_of_unknown_body(l, step))
        return;
    if (step->body != BODY_AGENT && step->body != BODY_INCLUDE)
        for (size_t i = makes_steps; i < COUNT(for_agents); i++)
            if (has(step, for_agents[i]))
                load_error(l, STAGE_RONDO, doc_key(step->at, for_agents[i]), "validation",
                           "`%s` is for an agent, and this step has `%s` instead", for_agents[i],
                           bodies[step->body].key);
    for (size_t i = 0; i < COUNT(for_commands) && !has(step, "run"); i++)
        if (has(step, for_commands[i]))
            diag_hint(load_error(l, STAGE_RONDO, doc_key(step->at, for_commands[i]), "validation",
                                 "`%s` is about `run`, and this step has none", for_commands[i]),
                      "that of an agent belongs into the agent");
    if (step->body != BODY_STEPS)
        for (size_t i = 0; i < COUNT(for_steps); i++)
            if (has(step, for_steps[i]))
                load_error(l, STAGE_RONDO, doc_key(step->at, for_steps[i]), "validation",
                           "`%s` is about `steps`, and this step has none", for_steps[i]);
}

/* The steps of a loop, if there are any, are its body; v1 lets others stand beside them, to no effect. */
static void check_beside_loop(struct loading *l, struct flow_step *step)
{
    static const char *const keys[] = { "agent", "instructions", "contextFiles", "model", "include", "steps",
                                        "parallel", "branch", "forum", "gate", "set", "machine", "run", "cwd", "env",
                                        "idleTimeout", "order", "onStepFailure" };
    const size_t for_steps = COUNT(keys) - 2; // from there on they are keys of the loop as well
    if (!load_get(step->loop->at, "steps")->count)
        return;
    for (size_t i = 0; i < COUNT(keys); i++) {
        if (!has(step, keys[i]) || (l->is_v1 && strcmp(keys[i], "include") == 0))
            continue;
        struct diag *diag = load_error(l, STAGE_RONDO, doc_key(step->at, keys[i]), "validation",
                                       "`%s` has no effect: the loop has steps of its own", keys[i]);
        if (i >= for_steps)
            diag_hint(diag, "`%s` of these steps is a key of the loop", keys[i]);
        if (l->is_v1)
            diag_warn(l->diags, diag);
    }
}

/* The steps of its loop, which are not known, may be its body. */
static bool has_unread_loop(const struct loading *l, const struct flow_step *step)
{
    return !load_knows(l, step->at, "loop") || (step->loop && !load_knows(l, step->loop->at, "steps"));
}

/* Does the file say who or what does its work? */
static bool has_body(const struct loading *l, const struct flow_step *step)
{
    const struct doc_val *root = l->flow->doc->root;
    for (size_t i = 0; i < COUNT(bodies); i++)
        if (load_has(l, step->at, bodies[i].key))
            return true;
    return load_has(l, load_get(root, "options"), "agent") || !load_knows(l, root, "options") ||
           load_has(l, step->at, "else") || has_unread_loop(l, step);
}

static void check_something_to_do(struct loading *l, const struct flow_step *step)
{
    if (l->is_v1 || step->at->kind != DOC_MAP)
        return;
    if (!has_body(l, step) && !load_has(l, step->at, "instructions"))
        diag_hint(load_error(l, STAGE_RONDO, step->at, "validation", "this step does nothing"),
                  "give it `instructions`, an `agent`, or another body");
}

/* ---- containers ------------------------------------------------------------------------------------------ */

static void check_parallel(struct loading *l, const struct flow_step *step)
{
    const struct doc_val *at = load_get(step->at, "parallel");
    if (load_get(at, "agents") && load_get(at, "steps"))
        load_error(l, STAGE_RONDO, doc_key(at, "steps"), "validation",
                   "a parallel has either `agents` or `steps`, not both");
    if (at->kind == DOC_MAP && !load_has(l, at, "agents") && !load_has(l, at, "steps"))
        load_error(l, STAGE_RONDO, at, "validation", "a parallel needs either `agents` or `steps`");
}

static void check_branch(struct loading *l, const struct flow_step *step)
{
    if (load_knows(l, step->at, "branch") && step->case_count == 1 && !step->cases[0].when.at && step->cases[0].step &&
        strcmp(step->cases[0].step->id, "else") == 0)
        load_error(l, STAGE_RONDO, load_get(step->at, "branch"), "validation",
                   "a branch needs a case with `when` beside `else`");
}

static void check_forum(struct loading *l, const struct flow_step *step)
{
    const struct doc_val *at = load_get(step->at, "forum"), *members = load_get(at, "members");
    if (members && load_knows(l, at, "members") && step->quorum > (int)members->count)
        load_error(l, STAGE_RONDO, load_get(at, "quorum"), "validation",
                   "a quorum of %d is more than there are members", step->quorum);
}

static bool is_word(const struct doc_val *val, const char *word)
{
    return val->text && strcmp(val->text, word) == 0;
}

static void check_gate(struct loading *l, const struct flow_step *step, const struct doc_val *at)
{
    bool has_timeout = step->gate_timeout_ms || !load_knows(l, at, "timeout"); // 0s is none
    if (load_get(at, "onTimeout") && !has_timeout && !is_word(load_get(at, "onTimeout"), "fail"))
        load_error(l, STAGE_RONDO, doc_key(at, "onTimeout"), "validation", "`onTimeout` needs a `timeout`");
}

/* ---- the rest ------------------------------------------------------------------------------------------------ */

static void check_retry(struct loading *l, const struct flow_step *step)
{
    if (has(step, "retry") && has(step, "retries"))
        load_error(l, STAGE_RONDO, doc_key(step->at, "retries"), "validation",
                   "`retries` and `retry` say the same; give one of them");
}

/* How long a try may take, if anybody says; else 0. */
static int64_t longest_try(const struct flow_step *step)
{
    if (step->retry_timeout_ms)
        return step->retry_timeout_ms;
    return step->body == BODY_AGENT && !step->loop && step->agent ? step->agent->timeout_ms : 0;
}

/* What is wrong, where the delay alone takes all the time, or a long try and the delay do. */
static void put_no_try(struct buf *out, int64_t limit_ms, int64_t try_ms, int64_t delay_ms)
{
    double limit = (double)limit_ms / 1000, delay = (double)delay_ms / 1000;
    if (try_ms && delay_ms < limit_ms)
        buf_printf(out, "a try may take %.15g s, so that nothing is left of the step's %.15g s for a second one",
                   (double)try_ms / 1000, limit);
    else
        buf_printf(out, "there is never a second try: the delay before it is %.15g s, and the step has %.15g s", delay,
                   limit);
}

/* All tries share the step's time.  The delay before the second is at least what chance leaves of it. */
static void warn_of_tries(struct loading *l, const struct flow_step *step)
{
    const rondo_retry *retry = &step->retry;
    int64_t limit = step->loop ? step->loop->timeout_ms : step->timeout_ms, longest = longest_try(step);
    int64_t delay = retry->max_delay_ms ? MIN(retry->delay_ms, retry->max_delay_ms) : retry->delay_ms;
    int64_t least = (int64_t)((double)delay * (1 - retry->jitter));
    const char *key = has(step, "retry") ? "retry" : "retries";
    auto_buf struct buf why = { 0 };
    if (!limit || retry->attempts < 2 || longest + least < limit || !load_knows(l, step->at, "timeout"))
        return;
    put_no_try(&why, limit, longest, least);
    struct diag *diag = load_error(l, STAGE_RONDO, doc_key(step->at, key), "validation", "%s", buf_text(&why));
    diag_hint(diag, "`timeout` is for all tries together, and the delays between them");
    diag_warn(l->diags, diag);
}

static void check_review(struct loading *l, const struct flow_step *step)
{
    if (step->review && !load_is_graph(step->scope) && step->scope->kind != SCOPE_PARALLEL)
        diag_hint(load_error(l, STAGE_RONDO, doc_key(step->at, "review"), "validation",
                             "`review` is for steps in a list of steps"),
                  "put the body into `steps` with one step, and the review there");
}

/* Whoever runs a command ends it, and then tells what it had printed: so one that runs only once is limited there. */
static void limit_command(struct flow_step *step)
{
    if (step->loop || step->review || step->retry.attempts > 1)
        return;
    step->command->timeout_ms = step->timeout_ms;
    step->timeout_ms = 0;
}

/* A leaf is limited by its own timeout or, unless its agent has one for each call, by the default of the file.
   Around a loop the step's timeout is the loop's, and then there is no default for the passes. */
static void settle_timeout(struct loading *l, struct flow_step *step)
{
    bool is_workflow = step->agent && step->agent->kind == AGENT_WORKFLOW;
    bool is_leaf = step->body == BODY_AGENT && !loop_has_steps(step) && !is_workflow;
    bool is_given = !step->is_made && has(step, "timeout");
    bool has_own = step->agent && step->agent->timeout_ms;
    if (step->loop) {
        bool is_loops = load_get(step->loop->at, "timeout");
        if (is_given && is_loops)
            load_error(l, STAGE_RONDO, doc_key(step->loop->at, "timeout"), "validation",
                       "`timeout` is the same limit in the step and in its loop; give one of them");
        if (is_given)
            step->loop->timeout_ms = step->timeout_ms;
        step->timeout_ms = 0;
        is_given |= is_loops;
    }
    step->has_timeout = is_given;
    if (is_leaf && !is_given)
        step->timeout_ms = has_own ? 0 : l->flow->step_timeout_ms;
    if (step->agent && step->agent == step->command)
        limit_command(step);
}

/* The default agent is a model without a schema. */
static bool has_no_result(const struct loading *l, const struct flow_step *step)
{
    if (step->agent || step->is_made)
        return step->agent && step->agent->is_mute;
    return !l->is_v1 && step->at->kind == DOC_MAP && !has_body(l, step);
}

static void settle_defaults(struct loading *l, struct flow_step *step)
{
    bool wants_agent = step->body == BODY_AGENT && !loop_has_steps(step) && (step->is_made || !has(step, "agent"));
    if (step->command && has(step, "run")) {
        step->command->name = step->id;
        step->command->idle_ms = step->idle_ms;
        step->agent = step->command;
    }
    if (wants_agent && !step->agent && !step->is_made)
        step->agent = l->flow->agent;
    step->has_with = !step->is_made && has(step, "with");
    if (step->body == BODY_FORUM && !step->rounds)
        step->rounds = 1;
    if (step->body == BODY_MACHINE && !step->max_steps)
        step->max_steps = MACHINE_CAP;
    step->is_mute = step->body == BODY_AGENT && !loop_has_steps(step) && has_no_result(l, step);
    settle_timeout(l, step);
}

static void check_body(struct loading *l, struct flow_step *step)
{
    if (has(step, "include"))
        check_include(l, step);
    if (loop_has_steps(step)) {
        check_beside_loop(l, step);
        return;
    }
    find_body(l, step);
    check_companions(l, step);
    check_something_to_do(l, step);
    switch ((enum flow_body)step->body) {
    case BODY_PARALLEL: check_parallel(l, step); break;
    case BODY_BRANCH: check_branch(l, step); break;
    case BODY_FORUM: check_forum(l, step); break;
    case BODY_GATE: check_gate(l, step, load_get(step->at, "gate")); break;
    default: break;
    }
}

void rules_step(struct loading *l, struct flow_step *step)
{
    if (step->part == AS_REVIEWER && step->body == BODY_GATE) {
        check_gate(l, step, step->at);
        return;
    }
    if (!step->is_made) {
        check_body(l, step);
        check_retry(l, step);
        check_review(l, step);
    }
    settle_defaults(l, step);
    if (!step->is_made && step->body == BODY_AGENT && !loop_has_steps(step))
        rules_step_model(l, step);
    if (!step->is_made)
        warn_of_tries(l, step);
}
