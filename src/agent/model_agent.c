/* model_agent.c - agents that are language models: what a step makes of a talk (talk.h), and back.

   A step's model is found, its tools are gathered (for which servers may have to be started), the prompt
   becomes the first message, and the talk begins.  When that ends, the step ends with what it came to. */
#include "agent/call.h"

#include "agent/attach.h"
#include "agent/child.h"
#include "agent/guides.h"
#include "agent/servers.h"
#include "agent/shared.h"
#include "agent/talk.h"
#include "agent/team_tool.h"
#include "data/secret.h"
#include "io/workspace.h"
#include "run/act.h"
#include "run/coordinator.h"
#include "run/encore.h"
#include "run/loop.h"
#include "store/places.h"
#include "tool/permit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define TURNS_DEFAULT 50

/* One call of such an agent. */
struct stint {
    rondo_later later;
    const struct flow_step *step; // not to be touched once it is cancelled
    struct isolated *own;         // its worktree; NULL
    struct talk_spec spec;
    struct workspace *workspace;
    struct protected_stores stores; // that its tools must not reach
    char *folder, *key, *effort;
    struct buf system;
    struct talk *talk;
    struct mcp *mcp;
    uint32_t connecting; // servers that are not there yet
    bool is_cancelled;
    rondo_error error;
    char *said; // before it failed; NULL
    bool failed;
};

/* ---- the end ----------------------------------------------------------------------------------------- */

static void stint_free(struct stint *stint)
{
    toolbox_clear(&stint->spec.box);
    target_unref(stint->spec.target);
    json_decref(stint->spec.first);
    json_decref(stint->spec.notes);
    json_decref(stint->spec.schema);
    json_decref(stint->spec.letters);
    workspace_close(stint->workspace);
    protected_stores_clear(&stint->stores);
    buf_free(&stint->system);
    mem_free(stint->folder);
    mem_free(stint->key);
    mem_free(stint->effort);
    mem_free(stint->said);
    mem_free(stint);
}

static void say_failed(struct stint *stint)
{
    later_fail_saying(stint->later, stint->error.code, stint->error.message, stint->said);
    stint_free(stint);
}

static void on_left(const rondo_error *err, void *user)
{
    struct stint *stint = user;
    say_failed(stint);
}

static void fail(struct stint *stint, const rondo_error *err)
{
    stint->error = *err;
    if (stint->own)
        isolated_end(stint->own, on_left, stint);
    else
        say_failed(stint);
}

/* Of a loop that is named, the flag is its. */
static void act(struct stint *stint, struct talk *talk)
{
    int action = talk_action(talk);
    if (action == TALK_CONTINUE)
        rondo_later_continue(stint->later);
    if (action == TALK_ESCALATE)
        rondo_later_escalate(stint->later);
    if (action == TALK_BREAK || (action == TALK_ESCALATE && talk_loop(talk)))
        rondo_later_break(stint->later, talk_loop(talk));
}

/* What a step came to, while its worktree is put away. */
struct yield {
    struct stint *stint;
    char *content;
    json_t *result;
};

static void say_yield(struct yield *yield)
{
    struct stint *stint = yield->stint;
    const char *text = json_string_value(yield->result), *content = *yield->content || !text ? yield->content : text;
    if (yield->result && *content) // a text alone would be content
        rondo_later_return_both(stint->later, content, TAKE(yield->result));
    else if (yield->result)
        rondo_later_return(stint->later, TAKE(yield->result));
    else
        rondo_later_return(stint->later, json_string(yield->content));
    mem_free(yield->content);
    mem_free(yield);
    stint_free(stint);
}

static void on_kept(const rondo_error *err, void *user)
{
    struct yield *yield = user;
    if (!err) {
        say_yield(yield);
        return;
    }
    yield->stint->error = *err;
    say_failed(yield->stint);
    json_decref(yield->result);
    mem_free(yield->content);
    mem_free(yield);
}

static void on_talk_end(struct talk *talk, void *user)
{
    struct stint *stint = user;
    stint->talk = NULL;
    if (talk_error(talk)) {
        stint->said = mem_strdup(talk_content(talk));
        fail(stint, talk_error(talk));
        return;
    }
    struct yield *yield = mem_alloc(sizeof *yield);
    *yield = (struct yield){ stint, mem_strdup(talk_content(talk)), json_incref(talk_result(talk)) };
    act(stint, talk);
    if (stint->own)
        isolated_end(stint->own, on_kept, yield);
    else
        say_yield(yield);
}

static void fail_cancelled(struct stint *stint)
{
    rondo_error err;
    err_set(&err, RONDO_ECANCELLED, "cancelled");
    fail(stint, &err);
}

static void on_cancel(void *user)
{
    struct stint *stint = user;
    stint->is_cancelled = true;
    if (stint->own)
        isolated_hurry(stint->own);
    if (stint->talk) {
        talk_cancel(stint->talk);
    } else if (stint->connecting) {
        stint->connecting = 0;
        mcp_forget(stint->mcp, stint);
        fail_cancelled(stint);
    }
}

/* ---- the model --------------------------------------------------------------------------------------- */

static const char *variable(const struct call_env *env, const char *name)
{
    return env->world.get_variable ? env->world.get_variable(env->world.user, name) : NULL;
}

/* --coordinator of a coordinator; --model, step, agent, options.model, RONDO_MODEL. */
static const char *model_name(const struct call_env *env, const struct flow_step *step)
{
    bool coordinates = step->flow->coordinating == step;
    if (coordinates && (env->coordinator || step->model))
        return env->coordinator ? env->coordinator : step->model;
    const char *name = env->model ? env->model : step->model;
    if (!name && step->agent)
        name = step->agent->model;
    for (const struct flow *flow = step->flow; !name && flow; flow = flow->outer)
        name = flow->model;
    return name ? name : variable(env, "RONDO_MODEL");
}

int model_target(const struct call_env *env, const struct flow_step *step, struct target **ret, rondo_error *err)
{
    const char *name = model_name(env, step);
    if (!name)
        return err_set(err, RONDO_EINVAL,
                       "a language model is needed and none is named: say `--model provider/name`, set RONDO_MODEL, "
                       "or put `model:` into the file");
    if (target_find(step->flow, name, &env->world, ret, err) < 0)
        return err->code;
    const struct target *last = *ret;
    while (env->require_prices && last && last->price.is_known)
        last = last->fallback;
    if (!env->require_prices || !last)
        return 0;
    err_set(err, RONDO_EINVAL,
            "nobody knows what '%s' costs: give the model a `price` in `models`, or its name one with --prices",
            last->alias ? last->alias : name);
    target_unref(TAKE(*ret));
    return err->code;
}

int model_retries(const struct call_env *env, const struct flow_step *step)
{
    int own = step->max_retries >= 0 ? step->max_retries : step->flow->max_retries;
    return own >= 0 ? own : (int)env->max_retries;
}

/* ---- tools ------------------------------------------------------------------------------------------- */

static bool is_listed(const char *const *list, uint32_t count, const char *name)
{
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(list[i], name) == 0)
            return true;
    return false;
}

/* Without `tools` an agent has what the permissions allow without asking anybody. */
static bool is_allowed(const struct call_env *env, const char *name)
{
    char why[160];
    return env->permit && permit_judge(env->permit, &(struct tool){ .name = name }, NULL, why) == PERMIT_ALLOW;
}

static bool wants(const struct flow_step *step, const struct call_env *env, const char *name)
{
    const struct flow_agent *agent = step->agent;
    if (agent && is_listed(agent->disallowed_tools, agent->disallowed_count, name))
        return false;
    return agent && agent->has_tools ? is_listed(agent->tools, agent->tool_count, name)
                                     : is_allowed(env, name);
}

bool model_has_files(const struct flow_step *step, const struct call_env *env)
{
    if (step->only_answers || step->flow->coordinating == step)
        return false;
    for (const struct tool_row *row = tool_builtins; row->name; row++)
        if (strcmp(row->name, "fetch") != 0 && wants(step, env, row->name))
            return true;
    return false;
}

static void add_builtins(struct stint *stint)
{
    for (const struct tool_row *row = tool_builtins; row->name; row++)
        if (wants(stint->step, stint->spec.env, row->name))
            toolbox_add_builtin(&stint->spec.box, row->name);
}

/* `disallowedTools`: as they are named, or all of a server. */
static void take_away(struct stint *stint)
{
    const struct flow_agent *agent = stint->step->agent;
    struct toolbox *box = &stint->spec.box;
    for (uint32_t i = 0; agent && i < agent->disallowed_count; i++) {
        const char *name = agent->disallowed_tools[i], *server = servers_find(stint->step->flow, name);
        size_t len = server ? strlen(server) : 0;
        if (!server || (name[len] && strcmp(name + len, "__*") != 0))
            toolbox_remove(box, name);
        else
            for (uint32_t k = box->count; k-- > 0;)
                if (strncmp(box->list[k].name, server, len) == 0 && strncmp(box->list[k].name + len, "__", 2) == 0)
                    toolbox_remove(box, box->list[k].name);
    }
}

/* Those of a server that the agent names, by one tool or all. */
static int add_listed(struct stint *stint, rondo_error *err)
{
    const struct flow_agent *agent = stint->step->agent;
    for (uint32_t i = 0; agent && i < agent->tool_count; i++) {
        const char *name = agent->tools[i], *server = servers_find(stint->step->flow, name);
        const char *tool = server && name[strlen(server)] ? name + strlen(server) + 2 : NULL;
        if (server && mcp_add_tools(stint->mcp, server, tool && strcmp(tool, "*") != 0 ? tool : NULL,
                                    &stint->spec.box, err) < 0)
            return err->code;
    }
    take_away(stint);
    return 0;
}

static const char *const loop_tools[] = { "exit_loop", "continue_loop" };

/* Older versions gave them to every model in a loop: a talk that has called one goes on with it. */
static bool has_called(const json_t *notes, const char *name)
{
    size_t i;
    json_t *note;
    json_array_foreach((json_t *)notes, i, note) {
        const char *tool = json_object_get(note, "begin") ? json_string_value(json_object_get(note, "tool")) : NULL;
        if (tool && strcmp(tool, name) == 0)
            return true;
    }
    return false;
}

/* v1 has no such tools, and a verdict about a pass is no place to end the loop. */
static bool may_act(const struct flow_step *step)
{
    return step->flow->dialect != FLOW_V1 && step->part != AS_JUDGE && step->part != AS_SCORER &&
           step->part != AS_REVIEWER;
}

/* For those who list them, and where nothing but the body can end a loop around. */
static void add_loop_tools(struct stint *stint, rondo_task *task)
{
    const struct flow_agent *agent = stint->step->agent;
    const struct act *loop = task_act(task);
    json_t *names = json_array();
    bool is_needed = false;
    while ((loop = run_loop_around(task_run(task), loop, true))) {
        json_array_append_new(names, json_string(loop->node->name));
        is_needed |= node_is_loop(loop->node) && loop->node->step && loop->node->step->needs_break;
    }
    if (!json_array_size(names)) {
        json_decref(names);
        return;
    }
    talk_tools_for_loops(&stint->spec.box, names);
    for (size_t i = 0; i < COUNT(loop_tools); i++) {
        bool is_asked = is_needed || (agent && is_listed(agent->tools, agent->tool_count, loop_tools[i]));
        if (!(is_asked && may_act(stint->step)) && !has_called(rondo_task_notes(task), loop_tools[i]))
            toolbox_remove(&stint->spec.box, loop_tools[i]);
    }
}

/* The forum that this step may end; NULL. */
static const char *forum_of(rondo_task *task)
{
    const struct act *act = task_act(task), *forum = act->slot ? run_act(task_run(task), act->parent) : NULL;
    bool may = forum && forum->slot && forum->node->kind == RONDO_KIND_FORUM && forum->node->forum.early_return &&
               act->child < forum->node->forum.members;
    return may ? forum->node->name : NULL;
}

/* Who lists it can send messages, and everybody when there is a coordinator to hear them. */
static bool wants_mail(const struct stint *stint)
{
    const struct flow_agent *agent = stint->step->agent;
    const struct flow *flow = stint->step->flow;
    while (flow->outer)
        flow = flow->outer;
    if (agent && is_listed(agent->disallowed_tools, agent->disallowed_count, "send_message"))
        return false;
    return flow->coordinating || (agent && is_listed(agent->tools, agent->tool_count, "send_message"));
}

/* ---- beginning --------------------------------------------------------------------------------------- */

static void tell_news(struct stint *stint)
{
    auto_free char *news = servers_take_news(stint->spec.place.loop, stint->mcp);
    auto_json json_t *data = json_pack("{ss}", "reason", "mcp");
    char *rest = news;
    for (char *line; rest && (line = strsep(&rest, "\n")) && *line;)
        rondo_later_emit(stint->later, &(rondo_emit){ RONDO_EMIT, .content = line, .data = data });
}

static void begin_talk(struct stint *stint)
{
    rondo_error err;
    if (stint->mcp)
        tell_news(stint);
    if (stint->mcp && add_listed(stint, &err) < 0) {
        fail(stint, &err);
        return;
    }
    stint->spec.system = buf_text(&stint->system);
    stint->talk = talk_new(&stint->spec);
    stint->spec.first = NULL; // taken
    stint->spec.box = (struct toolbox){ 0 };
    talk_run(stint->talk);
}

static void on_connected(const rondo_error *err, void *user)
{
    struct stint *stint = user;
    if (err && !stint->failed) {
        stint->error = *err;
        stint->failed = true;
    }
    if (--stint->connecting)
        return;
    if (stint->failed) {
        rondo_error why = stint->error;
        fail(stint, &why);
    } else {
        begin_talk(stint);
    }
}

/* Every server once, however many of its tools are named. */
static void connect(struct stint *stint)
{
    const struct flow_agent *agent = stint->step->agent;
    if (stint->is_cancelled) {
        fail_cancelled(stint);
        return;
    }
    stint->connecting = 1;
    for (uint32_t i = 0; stint->mcp && agent && i < agent->tool_count; i++) {
        const char *server = servers_find(stint->step->flow, agent->tools[i]);
        if (!server)
            continue;
        stint->connecting++;
        mcp_connect(stint->mcp, server, on_connected, stint);
    }
    on_connected(NULL, stint);
}

static int open_place(struct stint *stint, rondo_task *task, rondo_error *err)
{
    const struct call_env *env = task_env(task);
    const char *folder = stint->own ? isolated_folder(stint->own) : call_folder(env, stint->step);
    stint->folder = mem_strdup(folder ? folder : ".");
    stint->key = mem_strdup(rondo_task_key(task));
    if (workspace_open(stint->folder, &stint->workspace, err) < 0)
        return err->code;
    places_find(stint->folder, &stint->stores);
    workspace_protect(stint->workspace, &stint->stores);
    stint->spec.place = (struct tool_place){ .loop = task_loop(task), .workspace = stint->workspace,
                                             .folder = stint->folder, .stores = &stint->stores,
                                             .git = stint->own ? isolated_git(stint->own) : NULL,
                                             .common = stint->own ? isolated_common(stint->own) : NULL,
                                             .network = env->network, .local = env->local,
                                             .secrets = task_secrets(task), .key = stint->key,
                                             .no_redirects = env->permit && permit_is_narrow(env->permit, "fetch") };
    return 0;
}

/* What the agent says; what it does not say is for each target to say. */
static void fill_sampling(struct stint *stint, const struct call_env *env)
{
    const struct flow_agent *agent = stint->step->agent;
    struct talk_spec *spec = &stint->spec;
    const char *effort = env->effort || !agent ? env->effort : agent->effort;
    spec->temperature = agent ? agent->temperature : NAN;
    spec->top_p = agent ? agent->top_p : NAN;
    spec->max_tokens = agent ? agent->max_tokens : 0;
    stint->effort = mem_strdup(effort);
    spec->effort = stint->effort;
    spec->max_turns = agent && agent->max_turns ? agent->max_turns : TURNS_DEFAULT;
    if (env->max_turns)
        spec->max_turns = (int)env->max_turns;
    spec->max_retries = model_retries(env, stint->step);
}

/* `stall` of the nearest loop that has it; 0: the default. */
static int stall_around(rondo_task *task)
{
    const struct act *loop = task_act(task);
    while ((loop = run_loop_around(task_run(task), loop, false)))
        if (loop->node->loop.stall_repeats)
            return loop->node->loop.stall_repeats;
    return 0;
}

static bool is_parked(void *user)
{
    const struct stint *stint = user;
    return stint->talk && talk_is_parked(stint->talk);
}

/* What somebody has permitted for good, maybe to another process. */
static void remember_permits(rondo_task *task)
{
    const char *tool;
    json_t *yes;
    json_object_foreach(task_run(task)->always, tool, yes)
        if (task_env(task)->permit)
            permit_remember(task_env(task)->permit, tool);
}

/* Of the result: its skill's, or its own; new, NULL.  What is no schema is only for the prompt: no provider would
   take a tool with it. */
static json_t *schema_for(rondo_task *task, const struct flow_step *step)
{
    uint32_t skill = act_skill(task_act(task));
    if (!step->agent || step->only_answers)
        return NULL;
    if (skill < step->agent->skill_count && step->agent->skills[skill].result_schema.doc)
        return json_incref(step->agent->skills[skill].result_schema.doc);
    return step->agent->is_loose ? json_pack("{ss}", "type", "object") : json_incref(step->agent->result_schema.doc);
}

static void fill_spec(struct stint *stint, rondo_task *task)
{
    const struct flow_step *step = stint->step;
    struct talk_spec *spec = &stint->spec;
    fill_sampling(stint, task_env(task));
    remember_permits(task);
    spec->loop = task_loop(task);
    spec->flow = step->flow;
    spec->name = step->agent ? step->agent->name : step->id;
    spec->schema = schema_for(task, step);
    spec->team = step->team;
    spec->max_turns = step->only_answers ? 1 : spec->max_turns;
    spec->stall = stall_around(task);
    spec->on_unknown = task_run(task)->on_unknown;
    spec->joins = step->flow->dialect == FLOW_V1;
    spec->cache = step->flow->cache || (step->agent && step->agent->cache);
    spec->notes = json_incref(rondo_task_notes(task));
    spec->old_notes = task_act(task)->old_notes;
    spec->letters = json_incref(task_act(task)->letters);
    spec->letters_gone = task_act(task)->gone;
    spec->coordinates = coordinator_is(task_run(task), task_act(task));
    spec->on_end = on_talk_end;
    spec->user = stint;
}

static int add_team(struct stint *stint, rondo_task *task, rondo_error *err)
{
    struct see see;
    task_see(task, &see);
    int rc = team_tools_add(&stint->spec.box, &see, stint->step, err);
    see_clear(&see);
    return rc;
}

static int gather(struct stint *stint, rondo_task *task, rondo_error *err)
{
    if (open_place(stint, task, err) < 0)
        return err->code;
    if (stint->step->only_answers)
        return 0;
    if (stint->step->agent || !coordinator_is(task_run(task), task_act(task))) // of --coordinator only those below
        add_builtins(stint);
    if (add_team(stint, task, err) < 0)
        return err->code;
    child_add_tool(&stint->spec.box, task_env(task), 0);
    if (stint->step->flow->shared_memory)
        shared_add_tools(&stint->spec.box);
    add_loop_tools(stint, task);
    stint->spec.forum = forum_of(task);
    if (stint->spec.forum)
        talk_tool_for_forums(&stint->spec.box);
    if (coordinator_is(task_run(task), task_act(task)))
        talk_tools_for_coordinators(&stint->spec.box, json_object_get(stint->step->flow->coordinator, "tools"));
    else if (wants_mail(stint))
        talk_tool_for_mail(&stint->spec.box, task_run(task)->holder->count > 1 ? COORDINATOR : NULL);
    guides_show(stint->step->agent, &stint->system, &stint->spec.box);
    if (stint->step->agent && stint->step->agent->project_notes &&
        guides_show_notes(stint->folder, &stint->system, err) < 0)
        return err->code;
    take_away(stint);
    stint->mcp = servers_of(task, stint->step, err);
    return stint->mcp ? 0 : err->code;
}

/* How an encore's conversation began, and how one begins that may have encores. */
static json_t *first_of_encore(const struct stint *stint)
{
    json_t *first = json_object_get(json_array_get(stint->spec.notes, 0), ENCORE_NOTE);
    auto_json json_t *all = json_pack("[O*]", first);
    rondo_error err;
    return message_check_all(all, &err) == 0 && first ? json_incref(first) : NULL;
}

static void note_first(const struct stint *stint, rondo_task *task, const struct buf *system)
{
    bool is_kept = encore_can(task_run(task)) && !stint->spec.coordinates && !json_array_size(stint->spec.notes);
    if (is_kept)
        later_note(stint->later, json_pack("{sO ss%}", ENCORE_NOTE, stint->spec.first, "system",
                                           system->data ? system->data : "", system->len), NULL, NULL);
}

/* Whatever cannot be begun fails through the token, so that there is one way out. */
void model_run(rondo_task *task, const struct flow_step *step, const struct buf *system, const struct buf *text,
               struct isolated *own)
{
    struct stint *stint = mem_zalloc(sizeof *stint);
    rondo_error err;
    stint->step = step;
    stint->own = own;
    stint->spec.env = task_env(task);
    stint->later = stint->spec.later = rondo_task_defer(task);
    buf_put(&stint->system, system->data ? system->data : "", system->len);
    int rc = model_target(task_env(task), step, &stint->spec.target, &err);
    if (rc < 0)
        agent_blame(step, &err);
    if (rc < 0 || gather(stint, task, &err) < 0) {
        fail(stint, &err);
        return;
    }
    for (const struct target *target = stint->spec.target; target; target = target->fallback)
        if (target->key)
            secrets_add(task_secrets(task), target->key, strlen(target->key));
    fill_spec(stint, task);
    bool is_encore = stint->spec.old_notes && !stint->spec.coordinates;
    stint->spec.first = is_encore ? first_of_encore(stint) : attach_message(step, stint->folder, text);
    if (!stint->spec.first) {
        err_set(&err, RONDO_EINVAL, "what was kept of this conversation cannot be read");
        fail(stint, &err);
        return;
    }
    note_first(stint, task, system);
    task_on_cancel(task, on_cancel, stint);
    task_on_park(task, is_parked, stint);
    connect(stint);
}

/* ---- before the run ---------------------------------------------------------------------------------- */

static int check_tool(const struct flow_step *step, const char *name, const struct call_env *env, rondo_error *err)
{
    const char *server = servers_find(step->flow, name);
    if (server)
        return servers_can_start(step->flow, server, env, err);
    bool is_loops = is_listed(loop_tools, COUNT(loop_tools), name) && step->flow->dialect != FLOW_V1;
    if (is_loops || strcmp(name, "send_message") == 0)
        return 0;
    for (uint32_t i = 0; step->team && i < step->team->count; i++)
        if (strcmp(step->team->steps[i]->id, name) == 0)
            return 0;
    for (const struct tool_row *row = tool_builtins; row->name; row++)
        if (strcmp(row->name, name) == 0)
            return 0;
    return err_set(err, RONDO_EINVAL, "nobody offers the tool '%s'", name);
}

int model_can_run(const struct flow_step *step, const struct call_env *env, rondo_error *err)
{
    struct target *target = NULL;
    int rc = model_target(env, step, &target, err);
    target_unref(target);
    for (uint32_t i = 0; rc == 0 && step->agent && !step->only_answers && i < step->agent->tool_count; i++)
        rc = check_tool(step, step->agent->tools[i], env, err);
    return rc;
}
