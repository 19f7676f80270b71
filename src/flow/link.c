/* link.c - joining what was read: scopes to each other, and names of agents to agents. */
#include "flow/known.h"
#include "flow/load.h"
#include "flow/read_own.h"
#include "flow/scope.h"

#include <stdlib.h>
#include <string.h>

/* ---- agents --------------------------------------------------------------------------------------- */

static int compare_agents(const void *left, const void *right)
{
    const struct flow_agent *a = *(struct flow_agent *const *)left, *b = *(struct flow_agent *const *)right;
    return strcmp(a->name, b->name);
}

static void sort_agents(struct loading *l)
{
    uint32_t count = l->flow->agent_count;
    l->by_name = arena_alloc(&l->flow->arena, (count + 1) * sizeof(struct flow_agent *));
    if (count)
        memcpy(l->by_name, l->flow->agents, count * sizeof(struct flow_agent *));
    qsort(l->by_name, count, sizeof *l->by_name, compare_agents);
}

struct flow_agent *load_find_agent(const struct loading *l, const char *name)
{
    struct flow_agent wanted = { .name = name }, *key = &wanted;
    struct flow_agent **found = bsearch(&key, l->by_name, l->flow->agent_count, sizeof *l->by_name,
                                        compare_agents);
    return found ? *found : NULL;
}

bool load_knows_agents(const struct loading *l)
{
    const struct doc_val *root = l->flow->doc->root, *agents = load_get(root, "agents");
    return agents ? agents->kind == DOC_MAP : !load_has(l, root, "agents");
}

static void link_agents(struct loading *l)
{
    bool knows = load_knows_agents(l);
    for (uint32_t i = 0; i < l->naming_count; i++) {
        const struct naming *n = &l->namings[i];
        struct flow_agent *agent = load_find_agent(l, n->at->text);
        if (agent && n->ret)
            *n->ret = agent;
        if (!agent && knows)
            load_suggest_agent(l, load_error(l, n->stage, n->at, n->code, "there is no agent '%.80s'",
                                             n->at->text), n->at->text);
    }
}

/* ---- scopes ------------------------------------------------------------------------------------------ */

struct flow_scope *load_body_scope(const struct flow_step *step)
{
    return step->loop ? step->loop->scope : step->scope;
}

static void link_scope(struct loading *l, struct flow_scope *scope, struct flow_scope *up, uint32_t depth);

static void link_step(struct loading *l, struct flow_step *step, uint32_t depth)
{
    struct flow_loop *loop = step->loop;
    if (depth > FLOW_NESTING_MAX && (loop || step->inner)) {
        load_error(l, STAGE_RONDO, step->at, "validation", "steps are nested more than %d deep",
                   FLOW_NESTING_MAX);
        step->inner = NULL;
        step->loop = loop = NULL;
    }
    if (loop)
        link_scope(l, loop->scope, step->scope, depth + 1);
    if (loop && loop->judge)
        loop->judge->scope = loop->scope;
    if (loop && loop->scorer)
        loop->scorer->scope = loop->scope;
    if (step->inner)
        link_scope(l, step->inner, load_body_scope(step), depth + 1);
    if (step->review && step->review->reviewer)
        step->review->reviewer->scope = step->scope;
}

static void link_scope(struct loading *l, struct flow_scope *scope, struct flow_scope *up, uint32_t depth)
{
    scope->up = up;
    scope_index(scope);
    for (uint32_t i = 0; i < scope->count; i++)
        link_step(l, scope->steps[i], depth);
}

static void check_coordinator_tools(struct loading *l, const struct doc_val *tools)
{
    for (uint32_t i = 0; tools && tools->kind == DOC_LIST && i < tools->count; i++) {
        const char *name = tools->items[i]->text;
        if (name && tools->items[i]->kind != DOC_NULL && !known_is_coordinating(name) && !known_is_tool(name))
            load_error(l, STAGE_RONDO, tools->items[i], "unknown_reference",
                       "a coordinator has no tool '%.80s'; there are forward_to_agent, cancel_step, narrate and "
                       "finalize, and those that agents have", name);
    }
}

/* That of a file inside another has nothing to say. */
static void link_coordinator(struct loading *l)
{
    const struct doc_val *own = load_get(l->flow->doc->root, "coordinator"), *at = load_get(own, "agent");
    struct flow_agent *agent = at && at->text ? load_find_agent(l, at->text) : NULL;
    const char *model = l->how->coordinator;
    check_coordinator_tools(l, load_get(own, "tools"));
    if ((!agent && !model) || l->flow->outer)
        return;
    struct flow_step *step = agent ? read_made_step(l, at, AS_STEP, "coordinator", "missing_agent", STAGE_REFERENCE)
                                   : read_new_step(l, l->flow->doc->root);
    step->id = "coordinator";
    step->is_made = true;
    step->part = AS_STEP;
    step->agent = agent;
    step->model = model ? arena_dup(&l->flow->arena, model, strlen(model)) : NULL;
    step->scope = l->flow->scope;
    step->instructions.text =
        "Coordinate this workflow. You are told what happens in it: each message names who it is about or from. "
        "Speak to steps by the ids that you were told, tell the people who watch what matters, and when the workflow "
        "has ended say what it came to. Nobody answers questions. When there is nothing to do, say so in a word.";
    step->instructions.len = strlen(step->instructions.text);
    l->flow->coordinating = step;
}

void load_link(struct loading *l)
{
    if (!l->flow->scope)
        l->flow->scope = arena_zalloc(&l->flow->arena, sizeof *l->flow->scope);
    l->flow->scope->flow = l->flow;
    sort_agents(l);
    link_agents(l);
    link_scope(l, l->flow->scope, NULL, l->nesting);
    link_coordinator(l);
}

/* ---- walking ------------------------------------------------------------------------------------------- */

static void walk_scope(struct loading *l, const struct flow_scope *scope,
                       void (*visit)(struct loading *l, struct flow_step *step));

static void walk_step(struct loading *l, struct flow_step *step,
                      void (*visit)(struct loading *l, struct flow_step *step))
{
    visit(l, step);
    if (step->inner)
        walk_scope(l, step->inner, visit);
    if (step->team)
        walk_scope(l, step->team, visit);
    if (step->loop)
        walk_scope(l, step->loop->scope, visit);
    if (step->loop && step->loop->judge)
        walk_step(l, step->loop->judge, visit);
    if (step->loop && step->loop->scorer)
        walk_step(l, step->loop->scorer, visit);
    if (step->review && step->review->reviewer)
        walk_step(l, step->review->reviewer, visit);
}

static void walk_scope(struct loading *l, const struct flow_scope *scope,
                       void (*visit)(struct loading *l, struct flow_step *step))
{
    for (uint32_t i = 0; i < scope->count; i++)
        walk_step(l, scope->steps[i], visit);
}

void load_each_step(struct loading *l, void (*visit)(struct loading *l, struct flow_step *step))
{
    walk_scope(l, l->flow->scope, visit);
    if (l->flow->coordinating && l->flow->coordinating->team)
        walk_scope(l, l->flow->coordinating->team, visit);
}
