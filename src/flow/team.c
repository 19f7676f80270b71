/* team.c - agents whom a model may call: those that it lists in `tools` and in `workers`.

   A step is made for each of them, in a scope of its own below the step whose model it is, and so on inwards: at
   run time they are steps like all others, which start when they are called (run/errand.h).  That cannot go on for
   ever: who is called may not call somebody who is around it. */
#include "flow/known.h"
#include "flow/load.h"
#include "flow/scope.h"

#include "base/buf.h"

#include <string.h>

#define TEAM_DEPTH 5    // agents that are called by agents that are called
#define TEAM_STEPS 1000 // made in one file

/* ---- names --------------------------------------------------------------------------------------------- */

/* "files__read", "files__*" or "files" is about the server "files" of this file or of one around it. */
static bool is_of_server(const struct flow *flow, const char *tool)
{
    const char *name;
    json_t *server;
    for (; flow; flow = flow->outer)
        json_object_foreach(flow->mcp_servers, name, server) {
            size_t len = strlen(name);
            if (strncmp(tool, name, len) == 0 && (!tool[len] || strncmp(tool + len, "__", 2) == 0))
                return true;
        }
    return false;
}

static void suggest_tool(struct loading *l, struct diag *diag, const char *name)
{
    const char *names[200];
    size_t count = 0;
    for (; count < known_tool_count; count++)
        names[count] = known_tools[count];
    for (uint32_t i = 0; i < l->flow->agent_count && count < COUNT(names); i++)
        names[count++] = l->flow->agents[i]->name;
    load_suggest_name(l, diag, name, names, count);
}

static void check_tool(struct loading *l, const struct doc_val *at, const char *name)
{
    bool is_agent = load_find_agent(l, name), is_known = known_is_tool(name);
    if (is_agent && (is_known || known_is_own_tool(name)))
        load_error(l, STAGE_RONDO, at, "validation",
                   "'%.80s' is both a tool and an agent of this file; call the agent something else", name);
    else if (is_agent && strlen(name) > KNOWN_TOOL_LEN)
        load_error(l, STAGE_RONDO, at, "validation", "the name '%.80s' is too long for a tool: at most %d characters",
                   name, KNOWN_TOOL_LEN);
    else if (!is_agent && !is_known && load_knows_agents(l) && !is_of_server(l->flow, name))
        suggest_tool(l, load_error(l, STAGE_RONDO, at, "unknown_reference", "there is no tool '%.80s'", name), name);
}

/* Who takes away what is not there has meant something else. */
static void check_untool(struct loading *l, const struct doc_val *at, const char *name)
{
    if (!known_is_own_tool(name))
        check_tool(l, at, name);
}

static void check_worker(struct loading *l, const struct doc_val *at, const char *name)
{
    const struct flow_agent *agent = load_find_agent(l, name);
    if (!agent && load_knows_agents(l))
        load_suggest_agent(l, load_error(l, STAGE_RONDO, at, "missing_agent", "there is no agent '%.80s'", name), name);
    else if (agent && agent->kind == AGENT_WORKFLOW)
        diag_hint(load_error(l, STAGE_RONDO, at, "validation", "a worker is given a text; '%.80s' is a workflow", name),
                  "list it in `tools`: its inputs are the arguments");
}

static void check_names(struct loading *l, const struct flow_agent *agent, const char *key,
                        void (*check)(struct loading *l, const struct doc_val *at, const char *name))
{
    const struct doc_val *list = load_get(agent->at, key);
    for (uint32_t i = 0; list && list->kind == DOC_LIST && i < list->count; i++)
        if (list->items[i]->text && list->items[i]->kind != DOC_NULL)
            check(l, list->items[i], list->items[i]->text);
}

/* ---- circles ------------------------------------------------------------------------------------------- */

/* The agents on the way: each may call the next. */
struct way {
    const struct way *before;
    const struct flow_agent *agent;
};

static bool is_on(const struct way *way, const struct flow_agent *agent)
{
    for (; way; way = way->before)
        if (way->agent == agent)
            return true;
    return false;
}

static void put_way(struct buf *out, const struct way *way)
{
    if (way->before)
        put_way(out, way->before);
    buf_printf(out, "%.80s -> ", way->agent->name);
}

static int refuse_circle(struct loading *l, const struct way *way, const struct doc_val *at)
{
    auto_buf struct buf text = { 0 };
    put_way(&text, way);
    load_error(l, STAGE_RONDO, at, "validation", "agents may not call each other in a circle: %s%.80s",
               buf_text(&text), at->text);
    return -1;
}

/* 0, or -1 after an error. */
static int follow(struct loading *l, const struct way *way, int depth)
{
    static const char *const keys[] = { "tools", "workers" };
    for (size_t k = 0; k < COUNT(keys); k++) {
        const struct doc_val *list = load_get(way->agent->at, keys[k]);
        for (uint32_t i = 0; list && list->kind == DOC_LIST && i < list->count; i++) {
            const struct doc_val *at = list->items[i];
            const struct flow_agent *next = at->text ? load_find_agent(l, at->text) : NULL;
            if (!next)
                continue;
            if (is_on(way, next))
                return refuse_circle(l, way, at);
            if (depth >= TEAM_DEPTH) {
                load_error(l, STAGE_RONDO, at, "validation", "agents call agents more than %d deep", TEAM_DEPTH);
                return -1;
            }
            if (follow(l, &(struct way){ way, next }, depth + 1) < 0)
                return -1;
        }
    }
    return 0;
}

/* ---- making the steps ---------------------------------------------------------------------------------- */

static struct flow_step *add(struct loading *l, struct flow_scope *team, const struct doc_val *at, const char *id,
                             struct flow_agent *agent)
{
    struct flow_step *step = read_new_step(l, at);
    for (uint32_t i = 0; i < team->count; i++)
        if (strcmp(team->steps[i]->id, id) == 0)
            return NULL;
    step->id = id;
    step->is_made = true;
    step->part = AS_TOOL;
    step->agent = agent;
    step->scope = team;
    step->index = team->count;
    team->steps[team->count++] = step;
    rules_step(l, step);
    return step;
}

/* Who is only asked has no tools; what is no model is called all the same. */
static void add_asked(struct loading *l, struct flow_scope *team, const struct doc_val *at, struct flow_agent *agent)
{
    auto_buf struct buf id = { 0 };
    if (agent->kind != AGENT_MODEL)
        return;
    buf_printf(&id, "%s" KNOWN_ASKED, agent->name);
    struct flow_step *step = add(l, team, at, arena_dup(&l->flow->arena, id.data, id.len), agent);
    if (step)
        step->only_answers = true;
}

static void add_listed(struct loading *l, struct flow_scope *team, const struct doc_val *list, bool as_workers)
{
    for (uint32_t i = 0; list && list->kind == DOC_LIST && i < list->count; i++) {
        const struct doc_val *at = list->items[i];
        struct flow_agent *agent = at->text ? load_find_agent(l, at->text) : NULL;
        if (!agent)
            continue;
        add(l, team, at, agent->name, agent);
        if (as_workers)
            add_asked(l, team, at, agent);
    }
}

static void make_team(struct loading *l, struct flow_step *step, uint32_t *made)
{
    const struct flow_agent *agent = step->agent;
    if (step->body != BODY_AGENT || step->only_answers || !agent || agent->kind != AGENT_MODEL)
        return;
    struct flow_scope *team = arena_zalloc(&l->flow->arena, sizeof *team);
    *team = (struct flow_scope){ .kind = SCOPE_TEAM, .flow = l->flow, .owner = step, .up = step->scope };
    uint32_t most = agent->tool_count + 2 * agent->worker_count;
    team->steps = arena_zalloc(&l->flow->arena, (most + 1) * sizeof *team->steps);
    add_listed(l, team, load_get(agent->at, "tools"), false);
    add_listed(l, team, load_get(agent->at, "workers"), true);
    *made += team->count;
    if (!team->count || *made > TEAM_STEPS)
        return;
    scope_index(team);
    step->team = team;
    for (uint32_t i = 0; i < team->count; i++)
        make_team(l, team->steps[i], made);
}

static void make_teams(struct loading *l, struct flow_scope *scope, uint32_t *made);

static void make_inside(struct loading *l, struct flow_step *step, uint32_t *made)
{
    make_team(l, step, made);
    make_teams(l, step->inner, made);
    if (step->loop)
        make_teams(l, step->loop->scope, made);
    if (step->loop && step->loop->judge)
        make_team(l, step->loop->judge, made);
    if (step->loop && step->loop->scorer)
        make_team(l, step->loop->scorer, made);
    if (step->review && step->review->reviewer)
        make_team(l, step->review->reviewer, made);
}

static void make_teams(struct loading *l, struct flow_scope *scope, uint32_t *made)
{
    for (uint32_t i = 0; scope && i < scope->count; i++)
        make_inside(l, scope->steps[i], made);
}

/* In v1 tools are only names. */
void load_teams(struct loading *l)
{
    uint32_t made = 0;
    bool is_good = true;
    for (uint32_t i = 0; !l->is_v1 && i < l->flow->agent_count; i++) {
        const struct flow_agent *agent = l->flow->agents[i];
        if (agent->kind == AGENT_MODEL) { // others are told that they have none
            check_names(l, agent, "tools", check_tool);
            check_names(l, agent, "disallowedTools", check_untool);
        }
        check_names(l, agent, "workers", check_worker);
        is_good = is_good && follow(l, &(struct way){ NULL, agent }, 0) == 0;
    }
    if (l->is_v1 || !is_good)
        return;
    make_teams(l, l->flow->scope, &made);
    if (l->flow->coordinating)
        make_team(l, l->flow->coordinating, &made);
    if (made > TEAM_STEPS)
        load_error(l, STAGE_RONDO, load_get(l->flow->doc->root, "agents"), "validation",
                   "the agents that call agents come to more than %d steps", TEAM_STEPS);
}
