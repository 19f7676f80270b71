/* rules_input.c - inputs that are known before anything runs, against the `inputSchema` of who gets them.

   A step without `with` gets what its container got, which at the top is the object of the file's inputs, or what a
   script before it says.  Of all others nothing is known, and nothing is said.  What `with` gives, and items that are
   written down, are looked at in fitting.c.  Of a loop it is the first pass. */
#include "flow/load.h"

#include "base/buf.h"
#include "flow/scope.h"

#include <string.h>

enum known { NOT_KNOWN, KNOWN_INPUTS, KNOWN_TEXT };

struct flow_schema load_agent_schema(const struct flow_step *step)
{
    bool has_agent = step->agent && !(step->loop && step->loop->scope->count);
    return has_agent ? step->agent->input_schema : (struct flow_schema){ NULL, NULL };
}

/* ---- what it is ------------------------------------------------------------------------------------------- */

static bool is_text_alone(const json_t *reply)
{
    const json_t *result = json_object_get(reply, "result");
    if (json_is_object(reply))
        return json_string_length(json_object_get(reply, "content")) && (!result || json_is_null(result));
    return json_string_length(reply);
}

/* Whatever this step comes to is a text. */
static bool gives_text(const struct flow_step *step)
{
    const struct flow_agent *agent = step->agent;
    size_t i;
    json_t *reply;
    if (step->body != BODY_AGENT || step->loop || step->condition.at || step->run_on != RONDO_ON_SUCCESS ||
        step->review || !agent || agent->kind != AGENT_SCRIPT)
        return false;
    json_array_foreach(agent->script, i, reply)
        if (!is_text_alone(reply))
            return false;
    return json_array_size(agent->script) > 0;
}

static enum known input_of(const struct flow_step *step)
{
    if (step->has_with || flow_step_is_file(step) || step->scope->hides_order) // what a file gets are its own inputs
        return NOT_KNOWN;
    if (step->takes_previous)
        return step->run_on == RONDO_ON_SUCCESS && gives_text(step->scope->steps[step->index - 1]) ? KNOWN_TEXT
                                                                                                  : NOT_KNOWN;
    switch ((enum flow_scope_kind)step->scope->kind) {
    case SCOPE_FILE: return step->flow->outer ? NOT_KNOWN : KNOWN_INPUTS; // there it may be a pass, or an item
    case SCOPE_GROUP:
    case SCOPE_PARALLEL:
    case SCOPE_BRANCH: return step->scope->owner->loop ? NOT_KNOWN : input_of(step->scope->owner);
    default: return NOT_KNOWN;
    }
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

/* ---- whether it fits --------------------------------------------------------------------------------------- */

/* What is no type was told, and could have been meant for any. */
static bool is_type(const json_t *type, const char *name)
{
    const char *own = json_string_value(type);
    for (size_t i = 0; own && i < LOAD_TYPES; i++)
        if (strcmp(own, load_types[i]) == 0)
            return strcmp(own, name) == 0;
    return true;
}

static bool allows_type(const json_t *schema, const char *name)
{
    const json_t *type = json_object_get(schema, "type"), *one;
    size_t i;
    json_array_foreach(type, i, one)
        if (is_type(one, name))
            return true;
    return json_is_array(type) ? !json_array_size(type) : is_type(type, name);
}

/* The first property that no input of the file is; NULL. */
static const char *find_missing(const json_t *schema, const struct flow *flow)
{
    size_t i;
    json_t *name;
    json_array_foreach(json_object_get(schema, "required"), i, name)
        if (json_is_string(name) && !flow_input(flow, json_string_value(name)))
            return json_string_value(name);
    return NULL;
}

static void check_known(struct loading *l, const struct flow_step *step, const json_t *schema)
{
    enum known known = input_of(step);
    bool is_text = known == KNOWN_TEXT;
    if (known == NOT_KNOWN || json_object_get(schema, "$ref") || // beside which others may not count
        l->doubts & DOUBT_INPUT || scope_hides_names(step))
        return;
    bool is_of_type = allows_type(schema, is_text ? "string" : "object");
    const char *missing = is_text || !is_of_type ? NULL : find_missing(schema, l->flow);
    if (is_of_type && !missing)
        return;
    auto_buf struct buf why = { 0 };
    if (missing)
        buf_printf(&why, "the file has no input '%.80s'", missing);
    else
        buf_puts(&why, is_text ? "it is the text of the step before" : "it is an object, the file's inputs");
    diag_hint(load_error(l, STAGE_RONDO, step->id_at, "schema",
                         "the input of '%.80s' does not fit its `inputSchema`: %s", step->id, buf_text(&why)),
              "`with` gives a step an input of its own");
}

static void check_input(struct loading *l, struct flow_step *step)
{
    bool is_each = step->loop && step->loop->is_each;
    const json_t *schemas[] = { step->input_schema.doc, load_agent_schema(step).doc };
    if (step->part != AS_STEP || is_each || load_items_of(step))
        return;
    for (size_t i = 0; i < COUNT(schemas); i++)
        if (schemas[i])
            check_known(l, step, schemas[i]);
}

void rules_inputs(struct loading *l)
{
    load_each_step(l, check_input);
}
