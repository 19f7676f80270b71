/* yield.c - following results from the agents that give them through the containers around these.

   Where a container may give the result of one step or of another, all their schemas count.  A step whose result nobody
   describes makes everything possible. */
#include "flow/yield.h"

#include "flow/load.h"
#include "flow/scope.h"

#include <string.h>

#define STEPS_MAX 100 // of one list that are looked at, and keys of one step

void yield_clear(struct yield *y)
{
    json_decref(TAKE(y->made));
}

/* ---- schemas ------------------------------------------------------------------------------------------- */

static const char *const references[] = { "$ref", "$dynamicRef", "$recursiveRef" };

/* A reference may stand for anything, and in old drafts everything beside it is ignored. */
static bool is_plain(const json_t *schema)
{
    for (size_t i = 0; i < COUNT(references); i++)
        if (json_object_get(schema, references[i]))
            return false;
    return json_is_object(schema);
}

static const char *type_named(const json_t *schema)
{
    const char *type = json_string_value(json_object_get(schema, "type"));
    return type && is_plain(schema) ? type : "";
}

static bool is_of(const json_t *schema, const char *type)
{
    return strcmp(type_named(schema), type) == 0;
}

/* A type of JSON in CEL; as an item of a list it says no more than is certain.  An integer may be written 3.0, and
   that stays a double in a list. */
static const struct row {
    const char *json, *type, *list;
} rows[] = {
    { "integer", "int", "list(number)" }, { "number", "number", "list(number)" },
    { "string", "string", "list(string)" }, { "boolean", "bool", "list(bool)" },
    { "object", ANY_MAP, ANY_LIST }, { "array", ANY_LIST, ANY_LIST },
};

static const struct row *row_of(const json_t *schema)
{
    const char *type = type_named(schema);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (strcmp(type, rows[i].json) == 0)
            return &rows[i];
    return NULL;
}

static const char *schema_type(const json_t *schema)
{
    const struct row *row = row_of(schema);
    if (!row || strcmp(row->json, "array") != 0)
        return row ? row->type : NULL;
    row = row_of(json_object_get(schema, "prefixItems") ? NULL : json_object_get(schema, "items"));
    return row ? row->list : ANY_LIST;
}

static bool is_closed(const json_t *schema)
{
    return is_of(schema, "object") && json_is_false(json_object_get(schema, "additionalProperties")) &&
           !json_object_get(schema, "patternProperties");
}

/* ---- what a value may be ------------------------------------------------------------------------------- */

void yield_add(struct yield *y, const json_t *schema)
{
    for (uint32_t i = 0; i < y->count; i++)
        if (y->schemas[i] == schema)
            return;
    if (schema && y->count < YIELD_MAX)
        y->schemas[y->count++] = schema;
    else
        y->is_open = true;
}

/* Takes schema. */
static void add_made(struct yield *y, json_t *schema)
{
    y->made = y->made ? y->made : json_array();
    json_array_append_new(y->made, schema);
    yield_add(y, schema);
}

static void add_text(struct yield *y, const char *schema)
{
    add_made(y, json_loads(schema, 0, NULL));
}

bool yield_is_never(const struct yield *y)
{
    return y->mute && !y->count && !y->is_open;
}

bool yield_is_known(const struct yield *y)
{
    return y->count && !y->is_open && !y->mute;
}

const char *yield_type(const struct yield *y)
{
    const char *type = yield_is_known(y) ? schema_type(y->schemas[0]) : NULL;
    for (uint32_t i = 1; type && i < y->count; i++) {
        const char *other = schema_type(y->schemas[i]);
        type = other && strcmp(other, type) == 0 ? type : NULL;
    }
    return type;
}

bool yield_is_int(const struct yield *y)
{
    for (uint32_t i = 0; i < y->count; i++)
        if (!is_of(y->schemas[i], "integer"))
            return false;
    return yield_is_known(y);
}

static const json_t *property_of(const json_t *schema, const char *name)
{
    return is_plain(schema) ? json_object_get(json_object_get(schema, "properties"), name) : NULL;
}

/* A schema that is closed and does not have the property is out: then the value is of another one, or it fails. */
enum yield_has yield_enter(struct yield *y, const char *name)
{
    struct yield inner = { 0 };
    if (!yield_is_known(y))
        return YIELD_UNKNOWN;
    for (uint32_t i = 0; i < y->count; i++) {
        const json_t *property = property_of(y->schemas[i], name);
        if (!property && !is_closed(y->schemas[i]))
            return YIELD_UNKNOWN;
        if (property)
            yield_add(&inner, property);
    }
    if (!inner.count)
        return YIELD_LACKS;
    inner.made = y->made;
    *y = inner;
    return YIELD_HAS;
}

void yield_enter_items(struct yield *y)
{
    struct yield inner = { .is_open = y->is_open || y->mute };
    for (uint32_t i = 0; i < y->count; i++)
        yield_add(&inner, is_of(y->schemas[i], "array") && !json_object_get(y->schemas[i], "prefixItems")
                              ? json_object_get(y->schemas[i], "items")
                              : NULL);
    inner.made = y->made;
    *y = inner;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static void add_body(struct yield *y, const struct flow_step *step);

/* { name: ... }, and nothing else; takes properties. */
static json_t *closed_schema(json_t *properties)
{
    return json_pack("{s:s, s:o, s:b}", "type", "object", "properties", properties, "additionalProperties", 0);
}

static void add_set(struct yield *y, const struct flow_step *step)
{
    if (step->set_count > STEPS_MAX) {
        yield_add(y, NULL);
        return;
    }
    json_t *properties = json_object();
    for (uint32_t i = 0; i < step->set_count; i++)
        json_object_set_new(properties, step->set[i].name, json_object());
    add_made(y, closed_schema(properties));
}

static bool is_small(struct yield *y, const struct flow_scope *scope)
{
    if (scope->count && scope->count <= STEPS_MAX)
        return true;
    yield_add(y, NULL);
    return false;
}

static bool always_completes(const struct flow_step *step)
{
    return !step->condition.at && step->run_on == RONDO_ON_SUCCESS;
}

/* Any step may have completed last when a pass is broken off. */
static void add_any(struct yield *y, const struct flow_scope *scope)
{
    for (uint32_t i = 0; is_small(y, scope) && i < scope->count && !y->is_open; i++)
        yield_add_step(y, scope->steps[i]);
}

static bool is_in_loop(const struct flow_step *step)
{
    while (step && !step->loop)
        step = step->scope->owner;
    return step;
}

/* A group may be seen when it did not get to its end: by a break or a budget, or by who takes care of its failure. */
static bool can_be_cut(const struct flow_step *step)
{
    return is_in_loop(step) || rules_is_limited(step) || flow_scope_has_late(step->inner) ||
           flow_scope_has_late(step->scope);
}

/* The last one that completed.  Where that never has a result, what others have may still be seen when it fails. */
static void add_group(struct yield *y, const struct flow_step *step)
{
    const struct flow_scope *scope = step->inner;
    bool is_last = false;
    if (!is_small(y, scope))
        return;
    if (can_be_cut(step)) {
        add_any(y, scope);
        return;
    }
    for (uint32_t i = scope->count; i-- > 0 && !y->is_open && (!is_last || yield_is_never(y));) {
        yield_add_step(y, scope->steps[i]);
        is_last |= always_completes(scope->steps[i]);
    }
}

static void add_cases(struct yield *y, const struct flow_step *step)
{
    for (uint32_t i = 0; is_small(y, step->inner) && i < step->case_count && !y->is_open; i++)
        yield_add_step(y, step->cases[i].step);
}

/* The step whose result, or something in it, an expression is and nothing else; NULL. */
static const struct flow_step *only_result(const struct flow_expr *expr, const struct cel_ref **ret)
{
    const struct cel_ref *ref = cel_program_ref_count(expr->program) == 1 ? cel_program_ref_at(expr->program, 0) : NULL;
    const struct flow_ref *means = ref ? (const struct flow_ref *)ref->token : NULL;
    if (!means || means->root != REF_STEP || means->field != FIELD_RESULT || !means->scope)
        return NULL;
    const struct cel_name *last = &ref->names[ref->count - 1];
    bool is_all = ref->names[0].offset == 0 && last->offset + last->len == strlen(cel_program_text(expr->program));
    *ret = ref;
    return is_all ? means->scope->steps[means->index] : NULL;
}

/* `steps.x.result.y`, or an item of that; of all other expressions nothing is known. */
static void add_expr(struct yield *y, const struct flow_expr *expr, bool is_item)
{
    struct yield whole = { 0 };
    const struct cel_ref *ref;
    const struct flow_step *step = only_result(expr, &ref);
    if (step)
        yield_add_step(&whole, step);
    for (uint32_t i = 3; step && i < ref->count; i++)
        if (yield_enter(&whole, ref->names[i].text) != YIELD_HAS)
            step = NULL;
    if (step && is_item)
        yield_enter_items(&whole);
    for (uint32_t i = 0; step && i < whole.count; i++)
        yield_add(y, whole.schemas[i]);
    if (!step || whole.is_open || whole.mute || whole.made) // what was made goes
        yield_add(y, NULL);
    yield_clear(&whole);
}

void yield_add_item(struct yield *y, const struct flow_step *each)
{
    const struct flow_expr *items = &each->loop->items_expr;
    if (items->program)
        add_expr(y, items, true);
    else
        yield_add(y, NULL);
}

/* Without `output`: one of the steps that nobody else works on. */
static void add_file(struct yield *y, const struct flow_step *step)
{
    const struct flow *file = step->include;
    bool shows_all = step->body == BODY_INCLUDE && step->flow->dialect == FLOW_V1;
    if (!file || shows_all || !is_small(y, file->scope) || rules_has_limit(&file->budget))
        yield_add(y, NULL);
    else if (file->output.program)
        add_expr(y, &file->output, false);
    else
        add_any(y, file->scope);
}

static void add_mute(struct yield *y, const struct flow_step *step)
{
    if (!y->mute || (step->agent && step->agent->kind == AGENT_SCRIPT))
        y->mute = step;
}

static void add_agent(struct yield *y, const struct flow_step *step)
{
    const struct flow_agent *agent = step->agent;
    if (step->is_mute)
        add_mute(y, step);
    else if (agent && agent->kind == AGENT_WORKFLOW)
        add_file(y, step);
    else if (agent && load_skill_decides(agent))
        yield_add(y, NULL);
    else
        yield_add(y, agent && !agent->is_loose ? agent->result_schema : NULL);
}

static void add_body(struct yield *y, const struct flow_step *step)
{
    const struct flow_scope *inner = step->inner;
    switch ((enum flow_body)step->body) {
    case BODY_AGENT: add_agent(y, step); return;
    case BODY_INCLUDE: add_file(y, step); return;
    case BODY_GATE: yield_add(y, step->gate_schema); return;
    case BODY_PARALLEL: add_text(y, "{\"type\": \"array\"}"); return;
    case BODY_SET: add_set(y, step); return;
    case BODY_STEPS: inner ? add_group(y, step) : yield_add(y, NULL); return;
    case BODY_BRANCH: inner ? add_cases(y, step) : yield_add(y, NULL); return;
    case BODY_FORUM: // the captain's word, or that of a member who knows enough
        if (!inner || !inner->count || step->early_return)
            yield_add(y, NULL);
        else
            add_body(y, inner->steps[inner->count - 1]);
        return;
    case BODY_MACHINE: yield_add(y, NULL); return;
    }
}

/* A pass that has failed shows its body, whatever `output` names. */
static void add_named(struct yield *y, const struct flow_step *step, const struct flow_step *named)
{
    yield_add_step(y, named);
    if (yield_is_never(y) && step->loop->on_error != RONDO_ERROR_FAILS)
        yield_add(y, NULL);
}

/* What `output` names, else the body's. */
void yield_add_pass(struct yield *y, const struct flow_step *step)
{
    const struct flow_scope *own = step->loop && step->loop->scope->count ? step->loop->scope : NULL;
    const struct flow_scope *scope = own ? own : step->inner;
    const char *output = step->loop ? step->loop->output : NULL;
    const struct flow_step *named = output && scope ? scope_step(scope, output) : NULL;
    if (output && (!named || is_in_loop(step->scope->owner))) // a break further out does not ask for it
        yield_add(y, NULL);
    else if (named)
        add_named(y, step, named);
    else if (own)
        add_any(y, own);
    else
        add_body(y, step);
}

/* { iterations, failed }: lists of what came of each item */
static void add_each(struct yield *y)
{
    json_t *item = closed_schema(json_pack("{s:{}, s:{s:s}, s:{}, s:{s:s}, s:{s:s}, s:{}, s:{s:s}}", "id", "index",
                                           "type", "integer", "item", "content", "type", "string", "status", "type",
                                           "string", "result", "error", "type", "string"));
    add_made(y, closed_schema(json_pack("{s:{s:s, s:O}, s:{s:s, s:o}}", "iterations", "type", "array", "items", item,
                                        "failed", "type", "array", "items", item)));
}

void yield_add_step(struct yield *y, const struct flow_step *step)
{
    const struct flow_loop *loop = step->loop;
    bool is_all = loop && loop->output_mode == RONDO_OUTPUT_CUMULATIVE && step->flow->dialect != FLOW_V1;
    if (y->looked++ >= YIELD_LOOKS)
        yield_add(y, NULL);
    else if (loop && loop->is_each)
        add_each(y);
    else if (is_all)
        add_text(y, "{\"type\": \"array\"}");
    else if (loop)
        yield_add_pass(y, step);
    else
        add_body(y, step);
}

/* ---- records ------------------------------------------------------------------------------------------- */

void yield_add_usage(struct yield *y)
{
    static const char *const counts[] = { "prompt", "completion", "total", "reasoning", "cacheRead", "cacheWrite",
                                          "calls", "unpriced" };
    json_t *properties = json_pack("{s:{s:s}}", "cost", "type", "number");
    for (size_t i = 0; i < COUNT(counts); i++)
        json_object_set_new(properties, counts[i], json_pack("{s:s}", "type", "integer"));
    add_made(y, closed_schema(properties));
}

static json_t *steps_schema(const struct flow_scope *scope)
{
    json_t *properties = json_object();
    for (uint32_t i = 0; i < scope->count; i++)
        json_object_set_new(properties, scope->steps[i]->id, json_object());
    return closed_schema(properties);
}

/* The steps of a pass: those of the loop, or what is inside of the body; NULL: not known. */
static const struct flow_scope *pass_scope(const struct flow_step *step)
{
    static const struct flow_scope nothing;
    if (step->loop && step->loop->scope->count)
        return step->loop->scope;
    if (step->inner)
        return step->inner;
    if (step->include)
        return step->include->scope;
    return flow_step_is_file(step) ? NULL : &nothing;
}

void yield_add_record(struct yield *y, const struct flow_step *step)
{
    const struct flow_scope *scope = pass_scope(step);
    bool is_known = scope && scope->count <= STEPS_MAX;
    json_t *properties = json_loads("{\"pass\": {\"type\": \"integer\"}, \"status\": {\"type\": \"string\"}, "
                                    "\"content\": {\"type\": \"string\"}, \"judge\": {\"type\": \"string\"}, "
                                    "\"error\": {\"type\": \"string\"}, \"result\": {}, \"score\": {}}", 0, NULL);
    json_object_set_new(properties, "steps", is_known ? steps_schema(scope) : json_object());
    add_made(y, closed_schema(properties));
}
