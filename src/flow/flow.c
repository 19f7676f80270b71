/* flow.c - the life of a loaded workflow, and walks over its steps. */
#include "flow/flow.h"

#include "flow/bundle.h"

#include <string.h>

struct flow *flow_new(struct source *source)
{
    struct flow *flow = mem_zalloc(sizeof *flow);
    flow->refs = 1;
    flow->source = source_ref(source);
    flow->max_retries = -1;
    flow->on_unknown = RONDO_UNKNOWN_ASK;
    return flow;
}

struct flow *flow_ref(struct flow *flow)
{
    __atomic_add_fetch(&flow->refs, 1, __ATOMIC_RELAXED);
    return flow;
}

void flow_unref(struct flow *flow)
{
    if (!flow || __atomic_sub_fetch(&flow->refs, 1, __ATOMIC_ACQ_REL))
        return;
    if (flow->drop)
        flow->drop(flow->kept);
    for (uint32_t i = 0; i < flow->file_count; i++)
        flow_unref(flow->files[i]);
    for (uint32_t i = 0; i < flow->program_count; i++)
        cel_program_free(flow->programs[i]);
    for (uint32_t i = 0; i < flow->schema_count; i++)
        schema_unref(flow->schemas[i]);
    bundle_free(flow->bundle);
    mem_free(flow->files);
    mem_free(flow->programs);
    mem_free(flow->schemas);
    mem_free(flow->folder);
    arena_free(&flow->arena);
    doc_free(flow->doc);
    source_unref(flow->source);
    mem_free(flow);
}

bool flow_isolates(const struct flow *flow)
{
    return flow->isolation && strcmp(flow->isolation, "worktree-per-step") == 0;
}

void flow_own_program(struct flow *flow, struct cel_program *program)
{
    mem_grow(&flow->programs, &flow->program_cap, flow->program_count, sizeof *flow->programs);
    flow->programs[flow->program_count++] = program;
}

void flow_own_schema(struct flow *flow, struct schema *schema)
{
    mem_grow(&flow->schemas, &flow->schema_cap, flow->schema_count, sizeof *flow->schemas);
    flow->schemas[flow->schema_count++] = schema;
}

void flow_own_file(struct flow *flow, struct flow *file)
{
    mem_grow(&flow->files, &flow->file_cap, flow->file_count, sizeof *flow->files);
    flow->files[flow->file_count++] = file;
}

json_t *flow_order_json(const struct flow *flow)
{
    json_t *list = json_array();
    const struct flow_scope *scope = flow->scope;
    for (uint32_t i = 0; scope && scope->order && i < scope->count; i++)
        json_array_append_new(list, json_string(scope->steps[scope->order[i]]->id));
    return list;
}

const struct flow_input *flow_input_of(const struct flow *flow, const char *name, size_t len)
{
    uint32_t count = flow->input_count, at = count ? doc_find(doc_get(flow->doc->root, "inputs"), name, len) : 0;
    return at < count ? &flow->inputs[at] : NULL;
}

const struct flow_input *flow_input(const struct flow *flow, const char *name)
{
    return flow_input_of(flow, name, strlen(name));
}

bool flow_step_gives(const struct flow_step *step, const char *name)
{
    return step->with_count && doc_key(doc_get(step->at, "with"), name);
}

void flow_add_defaults(const struct flow *flow, json_t *inputs)
{
    for (uint32_t i = 0; i < flow->input_count; i++)
        if (flow->inputs[i].default_ && !json_object_get(inputs, flow->inputs[i].name))
            json_object_set(inputs, flow->inputs[i].name, flow->inputs[i].default_);
}

bool flow_step_is_file(const struct flow_step *step)
{
    return step->body == BODY_INCLUDE ||
           (step->body == BODY_AGENT && step->agent && step->agent->kind == AGENT_WORKFLOW);
}

bool flow_step_repeats_items(const struct flow_step *step)
{
    const struct flow_loop *loop = step->loop;
    return loop && loop->is_each && !(loop->scope && loop->scope->count);
}

const struct flow_step *flow_giver(const struct flow_step *step)
{
    bool is_listed = step->scope->kind == SCOPE_PARALLEL || step->scope->kind == SCOPE_FORUM;
    return step->is_made && is_listed && step->part != AS_REVIEWER ? step->scope->owner : step;
}

bool flow_scope_has_late(const struct flow_scope *scope)
{
    for (uint32_t i = 0; i < scope->count; i++)
        if (scope->steps[i]->run_on != RONDO_ON_SUCCESS)
            return true;
    return false;
}

static bool is_later_state(const struct flow_step *step)
{
    const struct flow_step *machine = step->scope->kind == SCOPE_MACHINE ? step->scope->owner : NULL;
    return machine && !(machine->start && strcmp(machine->start, step->id) == 0);
}

bool flow_step_is_certain(const struct flow_step *step)
{
    for (; step; step = step->scope->owner)
        if (step->condition.at || step->scope->kind == SCOPE_BRANCH)
            return false;
    return true;
}

int64_t flow_step_command_ms(const struct flow_step *step)
{
    int64_t call_ms = step->agent->timeout_ms, try_ms = step->loop ? 0 : step->retry_timeout_ms;
    return call_ms && try_ms ? MIN(call_ms, try_ms) : call_ms + try_ms;
}

bool flow_step_comes_first(const struct flow_step *step)
{
    const struct flow *flow = step->flow;
    for (; step; step = step->scope->owner)
        if (step->depends_count || step->takes_previous || step->loop || step->is_made ||
            step->run_on != RONDO_ON_SUCCESS || step->hides_waits || is_later_state(step))
            return false;
    return !flow->outer;
}

/* ---- walking ------------------------------------------------------------------------------------------ */

struct walk {
    void (*visit)(struct flow_step *step, void *user);
    void *user;
};

static void walk_step(const struct walk *walk, struct flow_step *step);

static void walk_scope(const struct walk *walk, const struct flow_scope *scope)
{
    for (uint32_t i = 0; scope && i < scope->count; i++)
        walk_step(walk, scope->steps[i]);
}

static void walk_step(const struct walk *walk, struct flow_step *step)
{
    const struct flow_loop *loop = step->loop;
    walk->visit(step, walk->user);
    walk_scope(walk, step->inner);
    walk_scope(walk, step->team);
    if (loop)
        walk_scope(walk, loop->scope);
    if (loop && loop->judge)
        walk_step(walk, loop->judge);
    if (loop && loop->scorer)
        walk_step(walk, loop->scorer);
    if (step->review && step->review->reviewer)
        walk_step(walk, step->review->reviewer);
    if (step->include)
        walk_scope(walk, step->include->scope);
}

void flow_each_step_in(struct flow_step *step, void (*visit)(struct flow_step *step, void *user), void *user)
{
    walk_step(&(struct walk){ visit, user }, step);
}

void flow_each_step(const struct flow *flow, void (*visit)(struct flow_step *step, void *user), void *user)
{
    walk_scope(&(struct walk){ visit, user }, flow->scope);
    if (flow->coordinating)
        walk_step(&(struct walk){ visit, user }, flow->coordinating);
}
