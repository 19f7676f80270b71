/* flows.c - running workflow files: the hooks of their nodes, their inputs, and starting them.

   Nodes of a file ask what an expression says; the answer comes from run/see.c.  What an absent value
   means depends on who asks: a condition is then false, a score is none, and everything that needs a
   value fails its step. */
#include "engine/flows.h"

#include "agent/player.h"
#include "agent/recorder.h"
#include "agent/step_names.h"
#include "data/value.h"
#include "engine/cut.h"
#include "engine/replay.h"
#include "engine/exit.h"
#include "engine/migrate.h"
#include "engine/past.h"
#include "engine/shell.h"

#include "base/spec.h"
#include "flow/bundle.h"
#include "tool/permit.h"
#include "flow/drift.h"
#include "flow/shape.h"
#include "store/store.h"

#include <math.h>
#include <string.h>

#define CONCURRENCY_DEFAULT 5 // of files

/* ---- what expressions answer ---------------------------------------------------------------------------- */

/* In rules of loops the pass that just ended is in question. */
static void rule_see(rondo_context *context, struct see *ret)
{
    ask_see(context, ret);
    if (node_is_loop(ret->act->node))
        ret->loop_now = ret->act;
}

static int truth(rondo_context *context, struct see *see, const struct flow_expr *expr, bool absent_fails)
{
    rondo_error err;
    bool yes = false;
    int code = see_truth(see, expr, &yes, &err);
    see_clear(see);
    if (code == 0 || (code == RONDO_ENOTFOUND && !absent_fails))
        return yes;
    return rondo_context_fail(context, code, "%s", err.message);
}

static int asked(rondo_context *context, const struct flow_expr *expr)
{
    struct see see;
    ask_see(context, &see);
    return truth(context, &see, expr, false);
}

static int ruled(rondo_context *context, const struct flow_expr *expr, bool absent_fails)
{
    struct see see;
    rule_see(context, &see);
    return truth(context, &see, expr, absent_fails);
}

static json_t *made(rondo_context *context, struct see *see, const struct flow_expr *expr, bool is_list)
{
    rondo_error err;
    json_t *value = NULL;
    if ((is_list ? see_list : see_value)(see, expr, &value, &err) < 0)
        rondo_context_fail(context, err.code, "%s", err.message);
    see_clear(see);
    return value;
}

/* In a sequence: the result of the nearest step before that has something to show, else its content.
   NULL: none has. */
static json_t *previous_output(struct see *see, const struct flow_step *step)
{
    for (uint32_t i = step->index; i-- > 0;) {
        const struct result *res = see_result(see, step->scope, i);
        if (!res || !result_has_output(res))
            continue;
        json_t *value = see_result_value(res);
        return value ? json_incref(value) : json_incref(res->value);
    }
    return NULL;
}

/* What stands beside a step of a sequence sees the same input as the step. */
static int asked_beside(rondo_context *context, const struct flow_step *step, const struct flow_expr *expr)
{
    struct see see;
    ask_see(context, &see);
    auto_json json_t *before = step->takes_previous ? previous_output(&see, step) : NULL;
    see.input = before ? before : see.input;
    return truth(context, &see, expr, false);
}

static int ask_when(rondo_context *context, void *of)
{
    const struct flow_step *step = of;
    return asked_beside(context, step, &step->condition);
}

/* The step had its input: what `with` says of it can be said again. */
static int ask_retry(rondo_context *context, void *of)
{
    const struct flow_step *step = of;
    struct see see;
    rondo_error err;
    json_t *values = NULL;
    if (!step->has_with || step->loop)
        return asked_beside(context, step, &step->retry_on);
    ask_see(context, &see);
    see_object(&see, step->with, step->with_count, &values, &err);
    auto_json json_t *given = values;
    see.input = given ? given : see.input;
    return truth(context, &see, &step->retry_on, false);
}

static int ask_case(rondo_context *context, void *of)
{
    return asked(context, &((struct flow_case *)of)->when);
}

static int ask_edge(rondo_context *context, void *edge)
{
    return ruled(context, &((struct flow_edge *)edge)->when, false);
}

static int ask_while(rondo_context *context, void *loop)
{
    return ruled(context, &((struct flow_loop *)loop)->while_, false);
}

static int ask_until(rondo_context *context, void *loop)
{
    const struct flow_expr *until = &((struct flow_loop *)loop)->until;
    return ruled(context, until, until->flow->dialect == FLOW_V1);
}

static double ask_score(rondo_context *context, void *loop)
{
    struct see see;
    rondo_error err;
    double score = NAN;
    rule_see(context, &see);
    int code = see_number(&see, &((struct flow_loop *)loop)->score, &score, &err);
    see_clear(&see);
    if (code < 0 && code != RONDO_ENOTFOUND)
        rondo_context_fail(context, code, "%s", err.message);
    return score;
}

static json_t *ask_next(rondo_context *context, void *loop)
{
    struct see see;
    rule_see(context, &see);
    return made(context, &see, &((struct flow_loop *)loop)->next, false);
}

static json_t *ask_items(rondo_context *context, void *of)
{
    const struct flow_loop *loop = of;
    struct see see;
    if (loop->items)
        return json_incref(loop->items);
    ask_see(context, &see);
    return made(context, &see, &loop->items_expr, true);
}

static json_t *ask_output(rondo_context *context, void *flow)
{
    struct see see;
    ask_see(context, &see);
    return made(context, &see, &((struct flow *)flow)->output, false);
}

static json_t *ask_text(rondo_context *context, void *step)
{
    struct see see;
    rondo_error err;
    auto_buf struct buf text = { 0 };
    ask_see(context, &see);
    int code = see_fill(&see, &((struct flow_step *)step)->ask, &text, &err);
    see_clear(&see);
    if (code < 0) {
        rondo_context_fail(context, code, "%s", err.message);
        return NULL;
    }
    return json_stringn(text.data ? text.data : "", text.len);
}

/* ---- inputs of steps ---------------------------------------------------------------------------------------- */

/* The inputs of a file inside another: what `with` says and the file's defaults. */
static json_t *file_inputs(rondo_context *context, const struct flow_step *step, json_t *given)
{
    struct diags diags = { 0 };
    json_t *inputs = flows_inputs(step->include, given, &diags);
    if (!inputs)
        rondo_context_fail(context, RONDO_ESCHEMA, "%s", diags.count ? diags.list[0].message : "bad inputs");
    diags_clear(&diags);
    return inputs;
}

static json_t *with_values(rondo_context *context, struct see *see, const struct flow_step *step)
{
    json_t *values = NULL;
    rondo_error err;
    if (see_object(see, step->with, step->with_count, &values, &err) < 0)
        rondo_context_fail(context, err.code, "with: %s", err.message);
    return values;
}

/* Of what the step that lists an agent is given, or in a sequence of what came before, what the file takes. */
static json_t *taken_values(const struct see *see, const struct flow_step *step, const json_t *before)
{
    json_t *values = json_object();
    for (uint32_t i = 0; i < step->include->input_count; i++) {
        const char *name = step->include->inputs[i].name;
        json_object_set(values, name, before ? json_object_get(before, name) : see_given(see, name)); // NULL: left out
    }
    return values;
}

static bool makes_input(const struct flow_step *step)
{
    return (step->has_with || step->include) && !flow_step_repeats_items(step);
}

static json_t *ask_input(rondo_context *context, void *of)
{
    const struct flow_step *step = of, *giver = flow_giver(step);
    struct see see;
    ask_see(context, &see);
    auto_json json_t *before = step->takes_previous ? previous_output(&see, step) : NULL;
    see.input = before ? before : see.input;
    bool is_listed = giver != step && (giver->has_with || giver->loop);
    json_t *input = NULL;
    if (makes_input(step) && !step->has_with && (before || is_listed))
        input = taken_values(&see, step, before);
    else if (makes_input(step))
        input = with_values(context, &see, step);
    else
        input = json_incref(see.input);
    see_clear(&see);
    if (!input || !step->include || !makes_input(step))
        return input;
    auto_json json_t *given = input;
    return file_inputs(context, step, given);
}

/* A file that is repeated: what a pass or an item has of its inputs must be what they say.  It need not have any. */
static json_t *ask_pass(rondo_context *context, void *of)
{
    const struct flow_step *step = of;
    rondo_error err;
    struct see see;
    ask_see(context, &see);
    auto_json json_t *given = json_incref(see.input);
    see_clear(&see);
    for (uint32_t i = 0; i < step->include->input_count; i++) {
        const struct flow_input *input = &step->include->inputs[i];
        json_t *value = json_object_get(given, input->name);
        if (!value || !input->schema.rules || schema_check(input->schema.rules, value, &err) == 0)
            continue;
        rondo_context_fail(context, RONDO_ESCHEMA, "input '%s': %s", input->name, err.message);
        return NULL;
    }
    return TAKE(given);
}

/* What `with` makes of an item.  In it `input` is the loop's, because the item has a name.  A file takes what `with`
   does not give from an item that is an object. */
static json_t *ask_item(rondo_context *context, void *of)
{
    const struct flow_step *step = of;
    struct see see;
    ask_see(context, &see);
    json_t *item = see.input;
    see.input = see.act->input;
    auto_json json_t *given = with_values(context, &see, step);
    see_clear(&see);
    for (uint32_t i = 0; given && step->include && i < step->include->input_count; i++) {
        const char *name = step->include->inputs[i].name;
        if (!json_object_get(given, name))
            json_object_set(given, name, json_object_get(item, name)); // NULL: left out
    }
    return given && step->include ? file_inputs(context, step, given) : TAKE(given);
}

/* ---- inputs of runs ------------------------------------------------------------------------------------------ */

static void refuse_unknown(const struct flow *flow, const char *name, struct diags *diags)
{
    auto_free const char **names = mem_alloc((flow->input_count + 1) * sizeof *names);
    for (uint32_t i = 0; i < flow->input_count; i++)
        names[i] = flow->inputs[i].name;
    const char *near = diag_nearest(name, names, flow->input_count);
    struct diag *diag = diag_at(diags, NULL, NULL, "unknown_input", "there is no input '%s'%s", name,
                                flow->input_count ? "" : ": the workflow has none");
    if (near)
        diag_hint(diag, "did you mean '%s'?", near);
}

/* What the agents of a flow must not tell; NULL: nothing.  The caller's. */
static struct secrets *find_secrets(const struct flow *flow)
{
    struct secrets found = { 0 };
    agent_find_secrets(flow, &found);
    if (!found.count)
        return NULL;
    struct secrets *secrets = mem_alloc(sizeof *secrets);
    *secrets = found;
    return secrets;
}

int flows_hide(const struct flow *flow, const json_t *about, rondo_error *err)
{
    auto_buf struct buf clean = { 0 };
    struct secrets *secrets = find_secrets(flow);
    secrets_put_about(secrets, &clean, err->message, about);
    secrets_free(secrets);
    return err_set(err, err->code, "%s", buf_text(&clean));
}

static void check_input(const struct flow *flow, const struct flow_input *input, json_t *inputs, struct diags *diags)
{
    json_t *value = json_object_get(inputs, input->name);
    rondo_error err;
    if (!value && input->default_)
        json_object_set(inputs, input->name, input->default_);
    else if (!value)
        diag_at(diags, NULL, NULL, "missing_input", "the input '%s' is missing", input->name);
    else if (input->schema.rules && schema_check(input->schema.rules, value, &err) < 0 &&
             flows_hide(flow, value, &err) < 0)
        diag_at(diags, NULL, NULL, "bad_input", "input '%s': %s", input->name, err.message);
}

json_t *flows_inputs(const struct flow *flow, json_t *given, struct diags *diags)
{
    auto_json json_t *inputs = json_is_object(given) ? json_copy(given) : json_object();
    uint32_t before = diags->errors;
    const char *name;
    json_t *value;
    if (given && !json_is_object(given) && !json_is_null(given))
        diag_at(diags, NULL, NULL, "bad_input", "the inputs of a workflow are an object");
    json_object_foreach(inputs, name, value)
        if (!flow_input(flow, name))
            refuse_unknown(flow, name, diags);
    for (uint32_t i = 0; i < flow->input_count; i++)
        check_input(flow, &flow->inputs[i], inputs, diags);
    return diags->errors > before ? NULL : TAKE(inputs);
}

/* ---- starting -------------------------------------------------------------------------------------------------- */

static const struct flow_hooks hooks = {
    .when = ask_when, .retry = ask_retry, .case_ = ask_case, .edge = ask_edge, .while_ = ask_while,
    .until = ask_until, .input = ask_input, .pass = ask_pass, .item = ask_item, .next = ask_next, .items = ask_items,
    .output = ask_output, .ask = ask_text, .score = ask_score, .run = agent_run, .watcher = &file_watcher,
};

/* What the file says holds where the caller said nothing. */
static int run_options(const struct flow *flow, const rondo_run_options *given, rondo_run_options *ret,
                       rondo_error *err)
{
    rondo_run_options o;
    if (SPEC_COPY(o, given, "the options", RONDO_RUN, err) < 0)
        return err->code;
    o.size = RONDO_RUN;
    if (!o.max_concurrency)
        o.max_concurrency = flow->max_concurrency ? flow->max_concurrency : CONCURRENCY_DEFAULT;
    o.timeout_ms = o.timeout_ms ? o.timeout_ms : flow->timeout_ms;
    o.cleanup_ms = o.cleanup_ms ? o.cleanup_ms : flow->cleanup_ms;
    o.budget.time_ms = o.budget.time_ms ? o.budget.time_ms : flow->budget.time_ms;
    o.budget.tokens = o.budget.tokens ? o.budget.tokens : flow->budget.tokens;
    o.budget.cost_nano = o.budget.cost_nano ? o.budget.cost_nano : flow->budget.cost_nano;
    o.budget.calls = o.budget.calls ? o.budget.calls : flow->budget.calls;
    o.on_unknown = o.on_unknown ? o.on_unknown : flow->on_unknown;
    *ret = o;
    return 0;
}

static const struct call_env no_env;

json_t *flows_clean(const struct flow *flow, json_t *value)
{
    struct secrets *secrets = find_secrets(flow);
    value = secrets ? secrets_clean(secrets, value, false) : value;
    secrets_free(secrets);
    return value;
}

/* Nothing that a rehearsal makes up may ever end a loop that has no cap. */
#define REHEARSED_PASSES_MAX 100
#define SCRIPTED_PASSES_MAX  10000

/* The steps by name, and what --script says of them; NULL: nothing. */
struct rehearsed {
    struct step_names names;
    json_t *script;
};

static enum flow_answers answers_of(const struct flow_step *step, const void *user)
{
    const struct rehearsed *rehearsed = user;
    return rehearse_answers(&rehearsed->names, rehearsed->script, step);
}

/* Paths are those of nodes: a script is looked up in what would be run. */
static rondo_node *build_rehearsal(struct flow *flow, json_t *script)
{
    rondo_node *plain = flow_build(flow, &hooks);
    struct rehearsed rehearsed = { .script = script };
    struct flow_hooks ours = hooks;
    step_names_init(&rehearsed.names, plain);
    ours.passes_max = script ? SCRIPTED_PASSES_MAX : REHEARSED_PASSES_MAX;
    ours.answers = answers_of;
    ours.user = &rehearsed;
    rondo_node *node = flow_build(flow, &ours);
    step_names_clear(&rehearsed.names);
    rondo_node_unref(plain);
    return node;
}

int flows_start(rondo_engine *engine, struct flow *flow, const struct call_env *env, json_t *inputs,
                const rondo_run_options *options, json_t *about, rondo_run **ret, rondo_error *err)
{
    rondo_run_options o;
    if (run_options(flow, options, &o, err) < 0 || agent_has_folders(flow, env ? env : &no_env, err) < 0)
        return err->code;
    auto_buf struct buf definition = { 0 };
    if (engine->store && !o.in_memory)
        bundle_put(&definition, flow);
    struct run_origin origin = { .name = flow->name, .about = about, .definition = definition.data,
                                 .definition_len = definition.len, .secrets = find_secrets(flow),
                                 .past = env && env->player ? player_session(env->player) : NULL };
    bool rehearses = env && env->rehearse;
    rondo_node *node = rehearses ? build_rehearsal(flow, env->script) : flow_build(flow, &hooks);
    int code = runs_begin(engine, node, inputs, &o, &origin, ret, err);
    rondo_node_unref(node);
    if (code == 0) {
        (*ret)->env = env;
        (*ret)->recorder = env ? env->recorder : NULL;
        if ((*ret)->recorder)
            recorder_start((*ret)->recorder, flow, (*ret)->inbox[0].value);
    }
    return code;
}

/* ---- going on ------------------------------------------------------------------------------------------------- */

/* The text that a run was stored with; the caller's.  NULL with err filled in. */
static char *stored_text(rondo_engine *engine, const char *id, size_t *ret_len, rondo_error *err)
{
    struct journal *journal;
    char *copy = NULL;
    if (!engine->store)
        err_set(err, RONDO_EINVAL, "the engine has no store: there is no such run");
    if (!engine->store || store_look(engine->store, id, &journal, err) < 0)
        return NULL;
    const char *text = store_definition(journal, ret_len);
    if (text && !shape_is(text, *ret_len))
        copy = mem_dup(text, *ret_len);
    else if (text || store_check_there(journal, err) == 0)
        err_set(err, RONDO_EINVAL, "run %s was not made of a workflow: give its definition to rondo_run_resume()", id);
    journal->ops->close(journal);
    return copy;
}

static int refuse_drift(const struct drift *drift, const char *id, rondo_error *err)
{
    const struct drift_change *first = &drift->list[0];
    const char *key = json_string_value(json_object_get(json_array_get(first->keys, 0), "key"));
    auto_buf struct buf what = { 0 };
    buf_printf(&what, *first->path ? "step '%s' %s" : "the file%s %s", first->path, drift_kind_text(first->kind));
    if (key && first->kind == DRIFT_CHANGED)
        buf_printf(&what, " in `%s`", key);
    return err_set(err, RONDO_EMISMATCH, "run %s was started with another version of the workflow: %s", id,
                   buf_text(&what));
}

/* Texts that agents are told are in no hash of nodes: the whole definition is compared. */
int flows_check_version(const struct flow *flow, const char *id, const char *text, size_t len, rondo_error *err)
{
    auto_buf struct buf ours = { 0 };
    struct diags diags = { 0 };
    struct drift drift = { 0 };
    bundle_put(&ours, flow);
    if (ours.len == len && memcmp(ours.data, text, len) == 0)
        return 0;
    struct flow *old = bundle_load(text, len, &diags);
    if (old)
        drift_compare(old, flow, &drift);
    int rc = drift.count ? refuse_drift(&drift, id, err) : 0;
    drift_clear(&drift);
    diags_clear(&diags);
    flow_unref(old);
    return rc;
}

int flows_resume(rondo_engine *engine, struct flow *flow, const struct call_env *env, const char *id,
                 const rondo_run_options *options, rondo_run **ret, rondo_error *err)
{
    if (agent_has_folders(flow, env ? env : &no_env, err) < 0)
        return err->code;
    rondo_node *node = flow_build(flow, &hooks);
    int code = runs_resume(engine, node, id, options, find_secrets(flow), ret, err);
    rondo_node_unref(node);
    if (code == 0)
        (*ret)->env = env;
    return code;
}

int flows_look(rondo_engine *engine, struct flow *flow, const struct call_env *env, const char *id,
               rondo_run **ret, rondo_error *err)
{
    rondo_node *node = flow_build(flow, &hooks);
    int code = rondo_run_look(engine, node, id, ret, err);
    rondo_node_unref(node);
    if (code == 0)
        (*ret)->env = env;
    return code;
}

/* The second time nothing is started any more that would clean up. */
const struct call_env *flows_env(const rondo_run *run)
{
    return run->env;
}

void flows_stop(rondo_run *run, const char *why)
{
    exit_set(run, EXIT_FAILED);
    rondo_run_cancel(run, why);
    rondo_run_cancel(run, "and nothing is cleaned up");
}

/* What is changed in the inputs is checked as if the run were started with them. */
static int check_fork(struct flow *flow, const struct cut *cut, const struct cut_changes *changes,
                      rondo_error *err)
{
    struct diags diags = { 0 };
    auto_json json_t *input = cut_input(cut, changes, err);
    if (!input)
        return err->code;
    auto_json json_t *inputs = flows_inputs(flow, input, &diags);
    int code = inputs ? 0 : err_set(err, RONDO_EINVAL, "%s", diags.count ? diags.list[0].message : "bad inputs");
    diags_clear(&diags);
    return code;
}

/* What is changed is told to the run, like all else. */
static int fork_clean(rondo_engine *engine, const struct flow *flow, rondo_node *node, const char *parent,
                      const char *path, const struct cut_changes *changes, const struct migrate_how *how,
                      char **ret_id, rondo_error *err)
{
    struct secrets *secrets = find_secrets(flow);
    auto_json json_t *inputs = secrets_clean(secrets, json_incref((json_t *)changes->inputs), false);
    auto_json json_t *input = secrets_clean(secrets, json_incref(changes->input), false);
    auto_json json_t *state = secrets_clean(secrets, json_incref(changes->state), false);
    struct cut_changes clean = *changes;
    clean.inputs = inputs;
    clean.input = input;
    clean.state = state;
    secrets_free(secrets);
    return cut_in_store(engine, node, parent, path, &clean, how, NULL, ret_id, err);
}

/* Two versions of a file, and what a run is that moves from one to the other. */
struct mover {
    rondo_engine *engine;
    struct flow *old, *flow;
    rondo_node *before, *node;
    struct buf definition;
    bool failed_items;
    struct flows_move *move;
};

static void mover_init(struct mover *m, rondo_engine *engine, struct flow *old, struct flow *flow,
                       struct flows_move *move)
{
    *m = (struct mover){ .engine = engine, .old = old, .flow = flow, .before = flow_build(old, &hooks), .move = move,
                         .node = flow_build(flow, &hooks) };
    bundle_put(&m->definition, flow);
}

static void mover_clear(struct mover *m)
{
    rondo_node_unref(m->before);
    rondo_node_unref(m->node);
    buf_free(&m->definition);
}

void flows_move_clear(struct flows_move *move)
{
    drift_clear(&move->drift);
    buf_free(&move->at);
}

/* Before everything that stands in the way. */
static void find_fork(const struct past *past, struct flows_move *move)
{
    uint64_t first = UINT64_MAX, seq;
    for (uint32_t i = 0; i < move->drift.count; i++) {
        const struct drift_change *change = &move->drift.list[i];
        auto_buf struct buf at = { 0 };
        bool is_found = change->why && past_put_fork(past, change, &at, &seq);
        if (change->why && !is_found)
            first = 0;
        if (!is_found || seq >= first)
            continue;
        first = seq;
        buf_clear(&move->at);
        buf_put(&move->at, at.data, at.len);
    }
    if (!first)
        buf_clear(&move->at);
}

/* Keys of a step by the work that they are about.  of: the step that is made for it, as a part of the path; NULL: there
   is nobody whose work it is. */
static const struct {
    const char *key, *of;
} of_work[] = {
    { "loop.untilAgent", "judge" }, { "loop.scoreAgent", "score" }, { "review.", "review" }, { "loop.", NULL },
    { "forum.captain", "captain" }, { "timeout", NULL },            { "maxRetries", NULL },  { "budget", NULL },
    { "dependsOn", NULL },          { "runOn", NULL },              { "description", NULL }, { "branch", NULL },
    { "retry", NULL },
};

static void add_path(json_t *list, const char *path)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_array_get(list, i)), path) == 0)
            return;
    json_array_append_new(list, json_string_nocheck(path));
}

/* Whose work is another when this key is: what is not in the table is the step's own. */
static void add_work(json_t *list, const char *path, const char *key)
{
    static const char members[] = "forum.members.";
    auto_buf struct buf made = { 0 };
    size_t i = 0;
    while (i < COUNT(of_work) && strncmp(of_work[i].key, key, strlen(of_work[i].key)) != 0)
        i++;
    buf_printf(&made, "%s", path);
    if (i < COUNT(of_work) && of_work[i].of)
        buf_printf(&made, ".%s", of_work[i].of);
    else if (strncmp(key, members, strlen(members)) == 0)
        buf_printf(&made, ".%.*s", (int)strcspn(key + strlen(members), "."), key + strlen(members));
    if (i == COUNT(of_work) || of_work[i].of)
        add_path(list, buf_text(&made));
}

/* The paths of steps whose work is another now, and of those that were changed before; new. */
static json_t *changed_work(const struct drift *drift, const json_t *before)
{
    json_t *list = before ? json_copy((json_t *)before) : json_array(), *entry;
    for (uint32_t i = 0; i < drift->count; i++) {
        const struct drift_change *change = &drift->list[i];
        size_t k;
        json_array_foreach(change->keys, k, entry)
            if (*change->path && change->kind == DRIFT_CHANGED)
                add_work(list, change->path, json_string_value(json_object_get(entry, "key")));
    }
    return list;
}

/* From one journal to the other, unless it is not allowed: then `to` stays empty. */
static int move_log(void *mover, struct journal *from, struct journal *to, rondo_error *err)
{
    struct mover *m = mover;
    auto_past struct past past = { 0 };
    struct drift *drift = &m->move->drift;
    if (rondo_node_check(m->node, err) < 0 ||
        past_read(m->engine, m->before, from, m->failed_items, &past, err) < 0)
        return err->code;
    drift_compare(m->old, m->flow, drift);
    struct drift_past asked = past_for_drift(&past);
    m->move->is_allowed = drift_allows(drift, &asked);
    if (!m->move->is_allowed) {
        find_fork(&past, m->move);
        return err_set(err, RONDO_EMISMATCH, "what has happened would not be true of the changed workflow");
    }
    auto_json json_t *changed = changed_work(drift, past.changed);
    return migrate_log(m->engine, m->before, m->node, from, to, changed, err);
}

static struct migrate_how mover_how(struct mover *m)
{
    return (struct migrate_how){ .move = move_log, .user = m, .definition = m->definition.data,
                                 .definition_len = m->definition.len, .hash = m->node->hash };
}

/* What is refused for what has happened is told by move. */
static int is_told(const struct flows_move *move, int rc)
{
    return rc == RONDO_EMISMATCH && !move->is_allowed && move->drift.count ? 0 : rc;
}

static int fork_moved(rondo_engine *engine, struct flow *old, const char *parent, const char *path,
                      const struct cut_changes *changes, struct flow *flow, struct flows_move *move, char **ret_id,
                      rondo_error *err)
{
    struct mover m;
    mover_init(&m, engine, old, flow, move);
    int rc = rondo_node_check(m.node, err);
    struct migrate_how how = mover_how(&m);
    if (rc == 0)
        rc = fork_clean(engine, flow, m.before, parent, path, changes, &how, ret_id, err);
    mover_clear(&m);
    return is_told(move, rc);
}

int flows_fork(rondo_engine *engine, struct flow *flow, const char *parent, const char *path,
               const struct cut_changes *changes, struct flow *to, struct flows_move *move, char **ret_id,
               rondo_error *err)
{
    auto_cut struct cut cut = { 0 };
    struct journal *journal = NULL;
    rondo_node *node = flow_build(flow, &hooks);
    int code = store_look(engine->store, parent, &journal, err);
    if (code == 0)
        code = cut_find(engine, node, journal, path, &cut, err);
    if (code == 0)
        code = check_fork(to ? to : flow, &cut, changes, err);
    if (journal)
        journal->ops->close(journal);
    if (code == 0 && to)
        code = fork_moved(engine, flow, parent, path, changes, to, move, ret_id, err);
    else if (code == 0)
        code = fork_clean(engine, flow, node, parent, path, changes, NULL, ret_id, err);
    rondo_node_unref(node);
    return code;
}

int flows_replay(rondo_engine *engine, struct flow *flow, const char *id, struct journal *journal,
                 struct replay_report *ret, rondo_error *err)
{
    rondo_node *node = flow_build(flow, &hooks);
    int code = replay_check(engine, node, id, journal, ret, err);
    rondo_node_unref(node);
    return code;
}

/* ---- another version ------------------------------------------------------------------------------------------ */

/* Both the look at the past and the change are made while nobody else can drive the run. */
int flows_migrate(rondo_engine *engine, struct flow *old, struct flow *flow, const char *id, bool failed_items,
                  struct flows_move *ret, rondo_error *err)
{
    struct mover m;
    mover_init(&m, engine, old, flow, ret);
    m.failed_items = failed_items;
    int rc = rondo_node_check(m.node, err);
    struct migrate_how how = mover_how(&m);
    if (rc == 0)
        rc = migrate_in_store(engine, m.before, &how, id, err);
    mover_clear(&m);
    return is_told(ret, rc);
}

/* ---- for programs that embed us ------------------------------------------------------------------------------- */

/* rondo_flow is struct flow under its public name. */
static struct flow *inner(const rondo_flow *flow)
{
    return (struct flow *)flow;
}

static void report(const struct diags *diags, const rondo_flow_options *o)
{
    auto_buf struct buf text = { 0 };
    for (uint32_t i = 0; o->report && i < diags->count; i++) {
        const struct diag *d = &diags->list[i];
        buf_clear(&text);
        diag_put(&text, d, false);
        o->report(&(rondo_problem){ .file = d->source ? d->source->name : "", .line = (int)d->line,
                                    .column = (int)d->column, .code = d->code, .message = d->message,
                                    .hint = d->hint ? d->hint : "", .is_warning = d->is_warning,
                                    .text = buf_text(&text) },
                  o->user);
    }
}

/* The first error, for those who want only one. */
static int first_error(const struct diags *diags, const char *what, rondo_error *err)
{
    const struct diag *d = diags->list;
    while (d < diags->list + diags->count && d->is_warning)
        d++;
    if (d == diags->list + diags->count)
        return err_set(err, RONDO_EINVAL, "workflow '%s' cannot be used", what);
    err_set(err, RONDO_EINVAL, "workflow '%s': %s", what, d->message);
    err->line = (int)d->line;
    err->column = (int)d->column;
    return err->code;
}

struct function_check {
    const rondo_flow_options *options;
    struct diags *diags;
};

static void check_function(struct flow_step *step, void *user)
{
    const struct function_check *check = user;
    const rondo_flow_options *o = check->options;
    const struct flow_agent *agent = step->body == BODY_AGENT ? step->agent : NULL;
    if (!agent || agent->kind != AGENT_FUNCTION)
        return;
    auto_free const char **names = mem_alloc((o->function_count + 1) * sizeof *names);
    for (size_t i = 0; i < o->function_count; i++) {
        names[i] = o->functions[i].name;
        if (strcmp(names[i], agent->function) == 0)
            return;
    }
    struct diag *diag = diag_at(check->diags, agent->flow->source, agent->at, "missing_function",
                                "agent '%s': there is no function '%s'", agent->name, agent->function);
    const char *near = diag_nearest(agent->function, names, o->function_count);
    if (near)
        diag_hint(diag, "did you mean '%s'?", near);
}

/* What the embedding program gives instead of an environment. */
struct giver {
    const char *(*variable)(const char *name, void *user);
    void *user;
};

static const char *given_variable(void *user, const char *name)
{
    const struct giver *giver = user;
    return giver->variable(name, giver->user);
}

static void drop_permit(void *permit)
{
    permit_close(permit);
}

/* Where a program says nothing, models may call nothing that reaches out. */
static void give_means(struct call_env *env, struct flow *flow, const rondo_flow_options *o)
{
    struct permit *permit = NULL;
    rondo_error err;
    if (permit_open(&(struct permit_spec){ .allow = o->allow_tools, .strict = true }, &permit, &err) == 0) {
        flow->kept = env->permit = permit;
        flow->drop = drop_permit;
    }
    if (!o->variable)
        return;
    struct giver *giver = arena_alloc(&flow->arena, sizeof *giver);
    *giver = (struct giver){ o->variable, o->user };
    env->world = (struct model_world){ .get_variable = given_variable, .user = giver };
}

/* In the flow's arena, so that it stays as long as nodes and runs of the flow. */
static struct call_env *env_of(struct flow *flow, const rondo_flow_options *o)
{
    struct call_env *env = arena_zalloc(&flow->arena, sizeof *env);
    struct flow_function *functions = arena_zalloc(&flow->arena, o->function_count * sizeof *functions);
    for (size_t i = 0; i < o->function_count; i++) {
        const char *name = o->functions[i].name;
        functions[i] = (struct flow_function){ arena_dup(&flow->arena, name, strlen(name)),
                                               o->functions[i].run, o->functions[i].user };
    }
    env->functions = functions;
    env->function_count = o->function_count;
    env->rehearse = o->rehearse;
    env->max_retries = -1;
    give_means(env, flow, o);
    return env;
}

/* Takes flow, which is NULL when it has errors; clears diags. */
static int hand_out(struct flow *flow, const char *what, const rondo_flow_options *o, struct diags *diags,
                    rondo_flow **ret, rondo_error *err)
{
    int code = 0;
    if (flow)
        flow_each_step(flow, check_function, &(struct function_check){ o, diags });
    report(diags, o);
    if (!flow || diags->errors) {
        code = first_error(diags, what, err);
        flow_unref(flow);
    } else {
        flow->env = env_of(flow, o);
        *ret = (rondo_flow *)flow;
    }
    diags_clear(diags);
    return code;
}

static int copy_options(rondo_flow_options *ours, const rondo_flow_options *given, rondo_error *err)
{
    if (SPEC_COPY(*ours, given, "the options", RONDO_FLOW, err) < 0)
        return err->code;
    for (size_t i = 0; i < ours->function_count; i++)
        if (!ours->functions[i].name || !ours->functions[i].run)
            return err_set(err, RONDO_EINVAL, "function %zu has no name or no function", i);
    return 0;
}

int rondo_flow_load(const char *path, const rondo_flow_options *options, rondo_flow **ret,
                    rondo_error *err)
{
    rondo_error spare;
    rondo_flow_options o;
    struct diags diags = { 0 };
    err = err ? err : &spare;
    if (copy_options(&o, options, err) < 0)
        return err->code;
    struct flow *flow = flows_open(path, false, NULL, &diags);
    return hand_out(flow, path, &o, &diags, ret, err);
}

int rondo_flow_parse(const char *name, const char *text, size_t len, const rondo_flow_options *options,
                     rondo_flow **ret, rondo_error *err)
{
    rondo_error spare;
    rondo_flow_options o;
    struct diags diags = { 0 };
    err = err ? err : &spare;
    if (copy_options(&o, options, err) < 0)
        return err->code;
    struct source *source = source_new(name ? name : "workflow", text, len);
    struct flow_load how = { .files = o.folder ? &flows_disk : NULL, .folder = o.folder };
    struct flow *flow = flow_load(source, &how, &diags);
    source_unref(source);
    return hand_out(flow, name ? name : "workflow", &o, &diags, ret, err);
}

char *rondo_flow_bundle(const rondo_flow *flow, size_t *ret_len)
{
    struct buf text = { 0 };
    bundle_put(&text, inner(flow));
    *ret_len = text.len;
    return buf_take(&text);
}

int rondo_flow_unbundle(const char *text, size_t len, const rondo_flow_options *options,
                        rondo_flow **ret, rondo_error *err)
{
    rondo_error spare;
    rondo_flow_options o;
    struct diags diags = { 0 };
    err = err ? err : &spare;
    if (copy_options(&o, options, err) < 0)
        return err->code;
    struct flow *flow = bundle_load(text, len, &diags);
    return hand_out(flow, flow ? flow->source->name : "(stored)", &o, &diags, ret, err);
}

rondo_node *flows_node(struct flow *flow)
{
    return flow_build(flow, &hooks);
}

rondo_node *rondo_flow_node(rondo_flow *flow)
{
    return flow ? flows_node(inner(flow)) : NULL;
}

/* One whose file could not be loaded. */
static int refuse_no_flow(rondo_error *err)
{
    return err_set(err, RONDO_EINVAL, "there is no workflow");
}

int rondo_flow_start(rondo_engine *engine, rondo_flow *flow, const rondo_value *inputs,
                     const rondo_run_options *options, rondo_run **ret, rondo_error *err)
{
    rondo_error spare;
    struct diags diags = { 0 };
    err = err ? err : &spare;
    if (!flow)
        return refuse_no_flow(err);
    auto_json json_t *all = flows_inputs(inner(flow), (json_t *)inputs, &diags);
    int code = all ? isolated_can_run(inner(flow), inner(flow)->env, err)
                   : first_error(&diags, inner(flow)->name, err);
    if (code == 0)
        code = flows_start(engine, inner(flow), inner(flow)->env, all, options, NULL, ret, err);
    diags_clear(&diags);
    return code;
}

int rondo_flow_resume(rondo_engine *engine, rondo_flow *flow, const char *id,
                      const rondo_run_options *options, rondo_run **ret, rondo_error *err)
{
    rondo_error spare;
    err = err ? err : &spare;
    return flow ? flows_resume(engine, inner(flow), inner(flow)->env, id, options, ret, err) : refuse_no_flow(err);
}

int rondo_flow_look(rondo_engine *engine, rondo_flow *flow, const char *id, rondo_run **ret,
                    rondo_error *err)
{
    rondo_error spare;
    err = err ? err : &spare;
    return flow ? flows_look(engine, inner(flow), inner(flow)->env, id, ret, err) : refuse_no_flow(err);
}

int rondo_flow_stored(rondo_engine *engine, const char *id, const rondo_flow_options *options,
                      rondo_flow **ret, rondo_error *err)
{
    rondo_error spare;
    size_t len;
    err = err ? err : &spare;
    auto_free char *text = stored_text(engine, id, &len, err);
    return text ? rondo_flow_unbundle(text, len, options, ret, err) : err->code;
}

void rondo_flow_free(rondo_flow *flow)
{
    flow_unref(inner(flow));
}
