/* rules_reply.c - what replies of scripts name: loops that they end, steps that they write to; and models that list the
   tools for it.

   A reply by itself was checked when it was read.  Here it is about the steps that have its agent: a reply that none
   of them can act on is wrong wherever it is given. */
#include "flow/load.h"
#include "flow/scope.h"

#include <stdlib.h>
#include <string.h>

/* ---- loops ----------------------------------------------------------------------------------------------- */

#define WAYS_MAX 20 // of one agent that are looked at

static const struct doc_val *action_at(const struct loading *l, const struct doc_val *actions, const char *key)
{
    const struct doc_val *at = load_knows(l, actions, key) ? load_get(actions, key) : NULL;
    bool is_off = at && (at->kind == DOC_BOOL ? !at->is_true : !at->text_len);
    return is_off ? NULL : at;
}

/* What an action is for: a loop by its name, or the nearest; NULL when it needs none. */
static const struct doc_val *find_way(const struct loading *l, const struct doc_val *reply)
{
    const struct doc_val *actions = load_get_map(reply, "actions");
    const struct doc_val *at = actions ? action_at(l, actions, "break") : NULL;
    bool is_named = at && at->kind == DOC_TEXT, escalates = actions && action_at(l, actions, "escalate");
    if (is_named || escalates || !actions)
        return is_named ? at : NULL;
    return at ? at : action_at(l, actions, "continue");
}

/* A model lists what it may do to a loop; a script does it. */
static const struct doc_val *find_tool(const struct loading *l, const struct doc_val *tool)
{
    bool is_one = tool->text && (strcmp(tool->text, "exit_loop") == 0 || strcmp(tool->text, "continue_loop") == 0);
    return is_one && !l->is_v1 ? tool : NULL;
}

static void list_ways(struct loading *l, struct flow_agent *agent)
{
    bool is_script = agent->kind == AGENT_SCRIPT, is_model = agent->kind == AGENT_MODEL;
    const struct doc_val *list = load_get(agent->at, is_script ? "script" : "tools");
    if ((!is_script && !is_model) || !list || list->kind != DOC_LIST)
        return;
    for (uint32_t i = 0; i < list->count && agent->way_count < WAYS_MAX; i++) {
        const struct doc_val *at = is_script ? find_way(l, list->items[i]) : find_tool(l, list->items[i]);
        if (!at)
            continue;
        if (!agent->ways)
            agent->ways = arena_zalloc(&l->flow->arena, WAYS_MAX * sizeof *agent->ways);
        agent->ways[agent->way_count++] =
            (struct flow_way){ .at = at, .loop = is_script && at->kind == DOC_TEXT ? at->text : NULL,
                               .is_first = is_script && i == 0 };
    }
}

/* Members of a forum may name it. */
static bool leads_out_of(const struct flow_way *way, const struct flow_scope *scope)
{
    bool is_loop = scope->kind == SCOPE_LOOP || scope->kind == SCOPE_EACH || scope->kind == SCOPE_MACHINE;
    bool is_named = way->loop && scope->owner && strcmp(scope->owner->id, way->loop) == 0;
    return way->loop ? is_named && (is_loop || scope->kind == SCOPE_FORUM) : is_loop;
}

/* Who is called by an agent acts in that call alone. */
static void try_ways(struct loading *l, struct flow_step *step)
{
    struct flow_agent *agent = step->body == BODY_AGENT ? step->agent : NULL;
    for (uint32_t i = 0; agent && i < agent->way_count; i++) {
        struct flow_way *way = &agent->ways[i];
        const struct flow_scope *scope = load_body_scope(step);
        way->is_used = true;
        for (; scope && scope->kind != SCOPE_TEAM && !way->is_open; scope = scope->up)
            way->is_open = leads_out_of(way, scope);
    }
}

/* The first reply is given whenever the agent is called; whether others are is not known. */
static void check_ways(struct loading *l, const struct flow_agent *agent)
{
    for (uint32_t i = 0; i < agent->way_count; i++) {
        const struct flow_way *way = &agent->ways[i];
        if (!way->is_used || way->is_open)
            continue;
        struct diag *diag =
            way->loop ? load_error(l, STAGE_RONDO, way->at, "unknown_reference",
                                   "there is no loop '%.80s' around any step of '%.80s'", way->loop, agent->name)
                      : load_error(l, STAGE_RONDO, way->at, "validation",
                                   "there is no loop around any step of '%.80s'", agent->name);
        if (!way->is_first)
            diag_warn(l->diags, diag);
    }
}

/* ---- addresses --------------------------------------------------------------------------------------------- */

/* The ids of all steps, once some message has asked for them. */
struct ids {
    const char **list;
    uint32_t count, cap;
};

static void add_id(struct flow_step *step, void *ids_)
{
    struct ids *ids = ids_;
    mem_grow(&ids->list, &ids->cap, ids->count, sizeof *ids->list);
    ids->list[ids->count++] = step->id;
}

static int compare_ids(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static void check_address(struct loading *l, const struct doc_val *at, struct ids *ids)
{
    const char *name = at ? at->text : NULL;
    if (!name || !*name || strpbrk(name, ".[~^#") || strcmp(name, "coordinator") == 0) // not a mere name
        return;
    if (!ids->count) {
        flow_each_step(l->flow, add_id, ids);
        qsort(ids->list, ids->count, sizeof *ids->list, compare_ids);
    }
    if (ids->count && bsearch(&name, ids->list, ids->count, sizeof *ids->list, compare_ids))
        return;
    if (l->doubts & DOUBT_STEPS)
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, at, "unknown_reference",
                                   "there is no step '%.80s': this reaches nobody", name);
    diag_warn(l->diags, diag);
    load_suggest_name(l, diag, name, ids->list, MIN(ids->count, 1000));
}

static void check_addresses(struct loading *l, const struct flow_agent *agent, struct ids *ids)
{
    const struct doc_val *script = agent->kind == AGENT_SCRIPT ? load_get(agent->at, "script") : NULL;
    for (uint32_t i = 0; script && script->kind == DOC_LIST && i < script->count; i++) {
        const struct doc_val *messages = load_get(script->items[i], "messages");
        const struct doc_val *cancel = load_get(script->items[i], "cancel");
        for (uint32_t k = 0; messages && messages->kind == DOC_LIST && k < messages->count; k++)
            check_address(l, load_get(messages->items[k], "to"), ids);
        for (uint32_t k = 0; cancel && cancel->kind == DOC_LIST && k < cancel->count; k++)
            check_address(l, cancel->items[k], ids);
    }
}

/* ---- both -------------------------------------------------------------------------------------------------- */

void rules_replies(struct loading *l)
{
    struct ids ids = { 0 };
    bool is_alone = !l->outer && !l->flow->file_count; // steps of other files can be written to as well
    for (uint32_t i = 0; i < l->flow->agent_count; i++)
        list_ways(l, l->flow->agents[i]);
    load_each_step(l, try_ways);
    for (uint32_t i = 0; i < l->flow->agent_count; i++) {
        check_ways(l, l->flow->agents[i]);
        if (is_alone)
            check_addresses(l, l->flow->agents[i], &ids);
    }
    mem_free(ids.list);
}
