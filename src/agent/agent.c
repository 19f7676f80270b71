/* agent.c - the function of every leaf that a workflow file defines: who carries it out.

   The prompt is made for all of them, so that a hole that cannot be filled fails a step however it is
   carried out, and so that a rehearsal shows what a model would have been shown. */
#include "agent/call.h"

#include "agent/player.h"
#include "agent/recorder.h"
#include "agent/routing.h"
#include "agent/servers.h"
#include "agent/surroundings.h"
#include "base/hash.h"
#include "data/secret.h"
#include "data/value.h"
#include "io/file.h"
#include "io/reference.h"
#include "model/target.h"
#include "run/encore.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_SHOWN 180 // of a path in the name of a prompt's file

/* What it takes to carry out one call. */
struct call {
    rondo_task *task;
    const struct flow_step *step;
    struct isolated *own; // its worktree; NULL
    struct buf system, user;
};

/* ---- prompts in files -------------------------------------------------------------------------------- */

/* The path with everything odd replaced; a long one is cut and told apart by a hash. */
static void put_file_name(struct buf *out, const char *path)
{
    size_t len = strlen(path);
    for (size_t i = 0; i < MIN(len, NAME_SHOWN); i++) {
        bool fine = isalnum((unsigned char)path[i]) || strchr("._-[]~#", path[i]);
        buf_putc(out, fine && (i || path[i] != '.') ? path[i] : '_');
    }
    if (len > NAME_SHOWN)
        buf_printf(out, "-%016llx", (unsigned long long)hash_bytes(0, path, len));
    buf_puts(out, ".txt");
}

/* A model is given the system text apart from the other one; a command reads both as one text. */
static void put_both(struct buf *out, const struct flow_step *step, const struct buf *system, const struct buf *user)
{
    bool is_command = step->agent && step->agent->kind == AGENT_COMMAND;
    if (system->len) {
        buf_puts(out, is_command ? "" : "[System]\n");
        buf_put(out, system->data, system->len);
        buf_puts(out, user->len || !is_command ? "\n\n" : "");
    }
    if (user->len)
        buf_put(out, user->data, user->len);
}

static int write_prompt(struct call *call, rondo_error *err)
{
    auto_buf struct buf name = { 0 }, text = { 0 };
    put_file_name(&name, rondo_task_path(call->task));
    put_both(&text, call->step, &call->system, &call->user);
    if (text.len && text.data[text.len - 1] != '\n')
        buf_putc(&text, '\n');
    return file_write(task_env(call->task)->prompts, buf_text(&name), text.data, text.len, err);
}

void agent_clean(rondo_task *task, struct buf *text)
{
    struct buf clean = { 0 };
    const struct secrets *secrets = task_secrets(task);
    if (!text->len || !secrets_are_in(secrets, text->data, text->len))
        return;
    secrets_put(secrets, &clean, text->data, text->len, true);
    buf_free(text);
    *text = clean;
}

/* ---- set --------------------------------------------------------------------------------------------- */

void set_run(rondo_task *task, const struct flow_step *step)
{
    struct see see;
    rondo_error err;
    json_t *values = NULL, *value;
    const char *key;
    task_see(task, &see);
    int rc = see_object(&see, step->set, step->set_count, &values, &err);
    see_clear(&see);
    if (rc < 0) {
        rondo_task_fail(task, rc, "%s", err.message);
        return;
    }
    json_object_foreach(values, key, value)
        rondo_task_set(task, key, json_incref(value));
    rondo_task_return(task, values);
}

/* ---- kinds ------------------------------------------------------------------------------------------- */

static const char *name_of(const struct flow_step *step)
{
    return step->agent ? step->agent->name : "the default agent";
}

static const struct flow_function *find_function(const struct call_env *env, const char *name)
{
    for (size_t i = 0; i < env->function_count; i++)
        if (strcmp(env->functions[i].name, name) == 0)
            return &env->functions[i];
    return NULL;
}

int agent_blame(const struct flow_step *step, rondo_error *err)
{
    return err_in(err, "agent '%s' of step '%s'", name_of(step), step->id);
}

static int refuse_function(const struct flow_step *step, rondo_error *err)
{
    return err_set(err, RONDO_EINVAL,
                   "the function '%s' is not in this program: functions are registered by the program that embeds "
                   "rondo", step->agent->function);
}

static void call_model(struct call *call)
{
    if (routing_is_needed(call->task, call->step)) {
        routing_run(call->task, call->step, &call->user, call->own);
        return;
    }
    model_run(call->task, call->step, &call->system, &call->user, call->own);
}

static void call_command(struct call *call)
{
    auto_buf struct buf text = { 0 };
    put_both(&text, call->step, &call->system, &call->user);
    command_run(call->task, call->step, buf_text(&text), text.len, call->own);
}

static void call_script(struct call *call)
{
    script_run(call->task, call->step);
}

/* Files are nodes of their own: no leaf is made for them. */
static void call_workflow(struct call *call)
{
    rondo_task_fail(call->task, RONDO_EINVAL, "agent '%s' is a workflow and cannot be called like a function",
                    name_of(call->step));
}

static void call_function(struct call *call)
{
    rondo_error err;
    const struct flow_function *found = find_function(task_env(call->task), call->step->agent->function);
    if (found) {
        found->run(call->task, found->user);
        return;
    }
    refuse_function(call->step, &err);
    agent_blame(call->step, &err);
    rondo_task_fail(call->task, err.code, "%s", err.message);
}

static void (*const kinds[])(struct call *call) = {
    [AGENT_MODEL] = call_model,       [AGENT_COMMAND] = call_command,   [AGENT_SCRIPT] = call_script,
    [AGENT_WORKFLOW] = call_workflow, [AGENT_FUNCTION] = call_function,
};

/* In a rehearsal everything that reaches outside is replaced; scripts are only words. */
static bool is_replaced(const struct call_env *env, int kind)
{
    return env->rehearse && kind != AGENT_SCRIPT && !(kind == AGENT_COMMAND && env->commands);
}

/* ---- calling ----------------------------------------------------------------------------------------- */

static void carry_out(struct call *call)
{
    const struct call_env *env = task_env(call->task);
    int kind = call->step->agent ? call->step->agent->kind : AGENT_MODEL;
    if (env->recorder)
        recorder_begin(env->recorder, call->task, call->step, &call->system, &call->user);
    if (env->player)
        player_run(env->player, call->task, call->step, &call->system, &call->user);
    else if (is_replaced(env, kind) || (env->rehearse && rehearse_script(call->task, call->step)))
        rehearse_run(call->task, call->step);
    else
        kinds[kind](call);
}

/* Why a call that has a token could not begin. */
struct misstart {
    rondo_later later;
    rondo_error err;
};

static void on_left(const rondo_error *err, void *user)
{
    struct misstart *misstart = user;
    rondo_later_fail(misstart->later, misstart->err.code, "%s", misstart->err.message);
    mem_free(misstart);
}

/* With a worktree there is a token, and something to be cleared away first. */
static void fail_start(rondo_task *task, struct isolated *own, const rondo_error *err)
{
    if (!own) {
        if (rondo_task_fail(task, err->code, "%s", err->message) < 0) // it was deferred
            rondo_later_fail(rondo_task_defer(task), err->code, "%s", err->message);
        return;
    }
    struct misstart *misstart = mem_alloc(sizeof *misstart);
    *misstart = (struct misstart){ rondo_task_defer(task), *err };
    isolated_end(own, on_left, misstart);
}

/* A step that has ended and is spoken to: it was prompted then, and now there is only what it is told. */
static void put_encore(rondo_task *task, struct buf *system, struct buf *user)
{
    const struct act *act = task_act(task);
    json_t *letter, *note;
    size_t i;
    json_array_foreach(act->notes, i, note)
        if (!system->len)
            value_put_content(system, json_object_get(note, "system"));
    json_array_foreach(act->letters, i, letter)
        value_put_content(user, json_object_get(letter, "text"));
}

static int make_prompt(struct call *call, rondo_error *err)
{
    const struct call_env *env = task_env(call->task);
    int rc = prompt_put(call->task, call->step, call->own ? isolated_folder(call->own) : NULL, &call->system,
                        &call->user, err);
    agent_clean(call->task, &call->system);
    if (rc == 0 && env->on_prompt)
        env->on_prompt(env->user, rondo_task_path(call->task), call->system.len, call->user.len);
    if (rc == 0 && env->prompts)
        rc = write_prompt(call, err);
    return rc;
}

static void run_with(rondo_task *task, const struct flow_step *step, struct isolated *own,
                     void (*run)(struct call *call))
{
    struct call call = { .task = task, .step = step, .own = own };
    rondo_error err;
    if (UNLIKELY(encore_is(task_act(task)))) {
        put_encore(task, &call.system, &call.user);
        run(&call);
    } else if (make_prompt(&call, &err) == 0)
        run(&call);
    else
        fail_start(task, own, &err);
    buf_free(&call.system);
    buf_free(&call.user);
}

void agent_run_in(rondo_task *task, const struct flow_step *step, struct isolated *own)
{
    run_with(task, step, own, carry_out);
}

void agent_run_chosen(rondo_task *task, const struct flow_step *step, struct isolated *own)
{
    run_with(task, step, own, call_model);
}

void agent_run(rondo_task *task, void *step)
{
    if (UNLIKELY(mail_calls_off(task_act(task)->letters))) // before it began
        rondo_task_return_text(task, "cancelled");
    else if (((const struct flow_step *)step)->body == BODY_SET)
        set_run(task, step);
    else if (isolated_is_wanted(task, step))
        isolated_run(task, step);
    else
        agent_run_in(task, step, NULL);
}

/* ---- before the run ---------------------------------------------------------------------------------- */

struct search {
    const struct call_env *env;
    struct obstacles *found;
};

static int can_run(const struct flow_step *step, const struct call_env *env, rondo_error *err)
{
    int kind = step->agent ? step->agent->kind : AGENT_MODEL;
    if (step->body != BODY_AGENT || env->player || is_replaced(env, kind) ||
        (step->loop && step->loop->scope && step->loop->scope->count)) // its steps repeat, not itself
        return 0;
    if (kind == AGENT_MODEL)
        return model_can_run(step, env, err);
    if (kind == AGENT_COMMAND)
        return command_can_run(step, env, err);
    return kind == AGENT_FUNCTION && !find_function(env, step->agent->function) ? refuse_function(step, err) : 0;
}

/* A key that is not set stops many steps, and is one obstacle. */
static void add_obstacle(struct obstacles *all, const struct flow_step *step, const rondo_error *why)
{
    for (uint32_t i = 0; i < all->count; i++) {
        if (strcmp(all->list[i].why.message, why->message) != 0)
            continue;
        all->list[i].others++;
        return;
    }
    if (all->count < OBSTACLES_MAX)
        all->list[all->count++] = (struct obstacle){ .step = step, .why = *why };
    else
        all->is_cut = true;
}

static void look_at(struct flow_step *step, void *user)
{
    struct search *search = user;
    rondo_error err;
    if (can_run(step, search->env, &err) < 0)
        add_obstacle(search->found, step, &err);
}

bool agent_can_run(const struct flow *flow, const struct call_env *env, struct obstacles *ret)
{
    struct search search = { env, ret };
    rondo_error err;
    *ret = (struct obstacles){ 0 };
    flow_each_step(flow, look_at, &search);
    if (isolated_can_run(flow, env, &err) < 0)
        add_obstacle(ret, NULL, &err);
    return !ret->count;
}

void obstacle_put(const struct obstacle *obstacle, struct buf *out)
{
    const struct flow_step *step = obstacle->step;
    if (step)
        buf_printf(out, "agent '%s' of step '%s'", name_of(step), step->id);
    if (obstacle->others)
        buf_printf(out, " and %u more step%s", obstacle->others, obstacle->others == 1 ? "" : "s");
    buf_printf(out, "%s%s", step ? ": " : "", obstacle->why.message);
}

/* ---- secrets ----------------------------------------------------------------------------------------- */

#define AMBIENT_MIN 16 // shorter keys are for servers that want none: "none", "ollama"

static void add_referred(const struct flow *flow, const struct flow_env *env, struct secrets *secrets)
{
    auto_buf struct buf value = { 0 };
    rondo_error err;
    int rc = env->kind == ENV_FROM_ENV    ? reference_env(env->from, &value, &err)
             : env->kind == ENV_FROM_FILE ? reference_file(env->from, flow->workdir, &value, &err)
                                          : -1;
    if (rc == 0)
        secrets_add(secrets, buf_text(&value), value.len);
}

/* As a model is asked with it. */
static void add_key(const char *reference, const char *folder, struct secrets *secrets)
{
    auto_buf struct buf value = { 0 };
    rondo_error err;
    if (!reference || reference_read(reference, folder, &value, &err) < 0)
        return;
    while (value.len && isspace((unsigned char)value.data[value.len - 1]))
        value.len--;
    size_t skip = strspn(buf_text(&value), " \t\r\n");
    secrets_add(secrets, value.data + skip, value.len - skip);
}

struct finder {
    struct secrets *secrets;
    const struct flow *seen; // the file of the step before
};

static void add_of_file(const struct flow *flow, struct secrets *secrets)
{
    const char *alias;
    json_t *model;
    json_object_foreach (flow->models, alias, model)
        add_key(json_string_value(json_object_get(model, "apiKey")), flow->folder, secrets);
    servers_find_secrets(flow, secrets);
}

static void add_of_step(struct flow_step *step, void *user)
{
    struct finder *finder = user;
    const struct flow_agent *agent = step->agent;
    for (uint32_t i = 0; agent && i < agent->env_count; i++)
        add_referred(step->flow, &agent->env[i], finder->secrets);
    if (agent)
        surroundings_add_secrets(agent, finder->secrets);
    if (step->flow != finder->seen)
        add_of_file(finder->seen = step->flow, finder->secrets);
}

/* Variables are named with blanks between them. */
static void add_keys(const char *names, struct secrets *secrets)
{
    for (const char *at = names ? names : ""; *at; at += strspn(at, " ")) {
        auto_buf struct buf name = { 0 };
        size_t len = strcspn(at, " ");
        buf_put(&name, at, len);
        at += len;
        const char *value = getenv(buf_text(&name));
        if (value && strlen(value) >= AMBIENT_MIN)
            secrets_add(secrets, value, strlen(value));
    }
}

void agent_find_secrets(const struct flow *flow, struct secrets *secrets)
{
    const struct provider *provider;
    flow_each_step(flow, add_of_step, &(struct finder){ .secrets = secrets });
    for (size_t i = 0; (provider = provider_at(i)); i++)
        add_keys(provider->key_variables, secrets);
}

/* ---- folders ----------------------------------------------------------------------------------------- */

struct folders {
    const struct call_env *env;
    const char *seen; // the last that was there
    rondo_error *err;
    int rc;
};

/* What a step looks for in its workflow's folder; NULL: nothing. */
static const char *needed_for(const struct flow_step *step, const struct call_env *env)
{
    bool runs = step->body == BODY_AGENT && step->agent && step->agent->kind == AGENT_COMMAND;
    if (step->context_count)
        return "context files";
    return runs && !env->workdir && !env->player && !is_replaced(env, AGENT_COMMAND) ? "command" : NULL;
}

static void look_for_folder(struct flow_step *step, void *user)
{
    struct folders *f = user;
    const char *folder = step->flow->workdir, *what = needed_for(step, f->env);
    if (f->rc < 0 || !what || !folder || folder == f->seen)
        return;
    if (file_is_folder(folder))
        f->seen = folder;
    else
        f->rc = err_set(f->err, RONDO_ENOTFOUND,
                        "the workflow's folder '%s' is not there: step '%s' needs it for its %s", folder,
                        step->id, what);
}

int agent_has_folders(const struct flow *flow, const struct call_env *env, rondo_error *err)
{
    struct folders folders = { .env = env, .err = err };
    flow_each_step(flow, look_for_folder, &folders);
    return folders.rc;
}
