/* rules_input.c - what there is in the `input` of a step, as far as that is known before anything runs.

   A step without `with` gets what its container got, which at the top is the object of the file's inputs, or what a
   script before it says.  Of all others nothing is known.  Of a loop it is the first pass. */
#include "flow/load.h"

#include "flow/scope.h"

static bool is_text_alone(const json_t *reply)
{
    const json_t *result = json_object_get(reply, "result");
    if (json_is_object(reply))
        return json_string_length(json_object_get(reply, "content")) && (!result || json_is_null(result));
    return json_string_length(reply);
}

struct scope_given load_given_file(const struct flow *flow)
{
    bool is_inner = flow->outer; // it may be a pass, an item or what a judge is shown
    return (struct scope_given){ .file = is_inner || flow->dialect == FLOW_V1 ? NULL : flow };
}

static struct scope_given given_around(const struct flow_step *step)
{
    switch ((enum flow_scope_kind)step->scope->kind) {
    case SCOPE_FILE: return load_given_file(step->flow);
    case SCOPE_GROUP:
    case SCOPE_PARALLEL:
    case SCOPE_BRANCH: return load_given_inside(step->scope->owner);
    default: return (struct scope_given){ 0 };
    }
}

static bool is_in_loop(const struct flow_step *step)
{
    while (step && !step->loop)
        step = step->scope->owner;
    return step;
}

/* Has every reply something to hand on, and not only an action? */
static bool always_replies(const json_t *script)
{
    size_t i;
    json_t *reply;
    json_array_foreach(script, i, reply)
        if (!is_text_alone(reply) && !json_object_get(reply, "result"))
            return false;
    return json_array_size(script) > 0;
}

/* Where it has completed, there is something that it hands on.  In a loop models can say that it is over, and no
   more. */
static bool always_gives(const struct flow_step *step)
{
    const struct flow_agent *agent = step->agent;
    if (step->condition.at || step->run_on != RONDO_ON_SUCCESS || step->review || rules_is_limited(step))
        return false;
    if (step->loop)
        return step->loop->is_each;
    if (step->body != BODY_AGENT || !agent)
        return step->body == BODY_SET;
    return agent->kind == AGENT_SCRIPT ? always_replies(agent->script)
                                       : agent->kind == AGENT_MODEL && !is_in_loop(step);
}

/* Who gives nothing is passed over. */
static struct scope_given given_before(const struct flow_step *step)
{
    const struct flow_step *before = step->scope->steps[step->index - 1];
    bool is_known = step->run_on == RONDO_ON_SUCCESS && always_gives(before);
    return (struct scope_given){ .before = is_known ? before : NULL };
}

struct scope_given load_given_beside(const struct flow_step *step)
{
    if (step->part != AS_STEP || step->scope->hides_order)
        return (struct scope_given){ 0 };
    return step->takes_previous ? given_before(step) : given_around(step);
}

struct scope_given load_given_inside(const struct flow_step *step)
{
    bool has_passes = step->loop && !flow_step_repeats_items(step);
    if (flow_step_is_file(step) || has_passes) // what a file gets are its own inputs
        return (struct scope_given){ 0 };
    if (step->has_with)
        return (struct scope_given){ .with = step };
    return step->loop ? (struct scope_given){ 0 } : load_given_beside(step);
}
