/* compile.c - the last pass: schemas, expressions and texts with holes.

   Everything that could be named is known now, so that a name which means nothing is an error here and
   not in the middle of a run. */
#include "base/buf.h"
#include "data/value.h"
#include "flow/keys.h"
#include "flow/load.h"
#include "flow/scope.h"

#include <stdlib.h>
#include <string.h>

/* ---- schemas ------------------------------------------------------------------------------------------- */

/* One name of a JSON Pointer, unescaped; *at is behind it afterwards. */
static void pointer_next(const char **at, char *name, size_t size)
{
    size_t len = 0;
    for (const char *c = *at + 1; *c && *c != '/'; c++) {
        char plain = *c == '~' && c[1] == '1' ? '/' : *c == '~' ? '~' : *c;
        c += *c == '~' && c[1];
        if (len + 1 < size)
            name[len++] = plain;
        *at = c;
    }
    name[len] = '\0';
    *at += len || **at == '/';
}

/* The value that a JSON Pointer means, or the last one on the way there. */
static const struct doc_val *pointer_follow(const struct doc_val *val, const char *pointer)
{
    char name[128];
    while (*pointer == '/') {
        pointer_next(&pointer, name, sizeof name);
        const struct doc_val *next = doc_get(val, name);
        if (val->kind == DOC_LIST) {
            unsigned long i = strtoul(name, NULL, 10);
            next = i < val->count ? val->items[i] : NULL;
        }
        if (!next)
            break;
        val = next;
    }
    return val;
}

static struct diag *wrong_schema(struct loading *l, const struct doc_val *at, const rondo_error *err)
{
    return load_error(l, STAGE_RONDO, pointer_follow(at, err->path), "schema", "%s", err->message);
}

static struct schema *compile_schema(struct loading *l, const struct doc_val *at, json_t *json)
{
    rondo_error err;
    struct schema *schema = schema_compile(json, NULL, &err);
    if (!schema)
        wrong_schema(l, at, &err);
    return schema;
}

/* Schemas come in the order of their agents, so the next one is never far from the last. */
static struct flow_agent *agent_of_schema(struct loading *l, const json_t *schema)
{
    for (uint32_t n = 0; n < l->flow->agent_count; n++) {
        struct flow_agent *agent = l->flow->agents[l->schema_agent++ % l->flow->agent_count];
        if (agent->result_schema == schema)
            return agent;
    }
    return NULL;
}

/* v1 takes whatever looks like a schema, unless a judge has it; false when it is wrong after all. */
static bool loosen(struct loading *l, const json_t *schema)
{
    struct flow_agent *agent = l->is_v1 ? agent_of_schema(l, schema) : NULL;
    if (!agent || agent->judges)
        return false;
    return agent->is_loose = true;
}

static void check_schema(struct loading *l, const struct pending_schema *pending)
{
    rondo_error err;
    auto_schema struct schema *schema = schema_compile(pending->json, NULL, &err);
    if (schema)
        return;
    struct diag *diag = wrong_schema(l, pending->at, &err);
    if (!loosen(l, pending->json))
        return;
    diag_warn(l->diags, diag);
    diag_hint(diag, "the model is shown it, but no result is checked against it");
}

static void compile_inputs(struct loading *l)
{
    const struct doc_val *inputs = load_get(l->flow->doc->root, "inputs");
    for (uint32_t i = 0; i < l->flow->input_count; i++) {
        struct flow_input *input = &l->flow->inputs[i];
        const struct doc_val *at = inputs->items[i];
        rondo_error err;
        if (!json_is_object(input->schema_doc) && !json_is_boolean(input->schema_doc))
            continue;
        input->schema = compile_schema(l, at, input->schema_doc);
        if (!input->schema)
            continue;
        flow_own_schema(l->flow, input->schema);
        if (input->default_ && schema_check(input->schema, input->default_, &err) < 0)
            load_error(l, STAGE_RONDO, pointer_follow(doc_get(at, "default"), err.path), "schema",
                       "the default of '%.80s' does not fit its schema: %s", input->name, err.message);
    }
}

/* The answer that a gate gives itself has to be one that it would take. */
static void check_gate(struct loading *l, struct flow_step *step)
{
    rondo_error err;
    if (!step->gate_answer || !step->gate_schema)
        return;
    auto_schema struct schema *schema = schema_compile(step->gate_schema, NULL, &err);
    const struct doc_val *gate = step->part == AS_REVIEWER ? step->at : load_get(step->at, "gate");
    if (schema && schema_check(schema, step->gate_answer, &err) < 0)
        load_error(l, STAGE_RONDO, doc_get(load_get(gate, "onTimeout"), "answer"), "schema",
                   "the answer does not fit the gate's schema: %s", err.message);
}

/* ---- expressions ---------------------------------------------------------------------------------------- */

/* The agent that does the work of a step; NULL. */
static struct flow_agent *worker_of(const struct flow_step *step)
{
    bool has_steps = step->loop && step->loop->scope && step->loop->scope->count;
    return step->body == BODY_AGENT && !has_steps ? step->agent : NULL;
}

static void count_user(struct loading *l, struct flow_step *step)
{
    struct flow_agent *agent = worker_of(step);
    if (agent)
        agent->user_count++;
}

static void add_user(struct loading *l, struct flow_step *step)
{
    struct flow_agent *agent = worker_of(step);
    if (agent)
        agent->users[agent->user_count++] = step;
}

static void find_users(struct loading *l)
{
    load_each_step(l, count_user);
    for (uint32_t i = 0; i < l->flow->agent_count; i++) {
        struct flow_agent *agent = l->flow->agents[i];
        agent->users = arena_alloc(&l->flow->arena, (agent->user_count + 1) * sizeof(struct flow_step *));
        agent->user_count = 0;
    }
    load_each_step(l, add_user);
}

static struct flow_scope *scope_of(const struct loading *l, const struct pending *p)
{
    const struct flow_step *step = p->step;
    switch ((enum field_where)p->field->where) {
    case AT_STEP:
    case AT_RETRY: return step->scope;
    case AT_BODY: return load_body_scope(step);
    case AT_LOOP:
    case AT_RULE: return step->loop ? step->loop->scope : NULL;
    case AT_INNER: return step->inner;
    case AT_AGENT:
    case AT_FILE: return l->flow->scope;
    }
    return NULL;
}

/* In a loop the input is of the pass, and a file has its own. */
static bool takes_with(const struct pending *p)
{
    const struct flow_step *step = p->step;
    bool is_leaf = step->body == BODY_AGENT || step->body == BODY_SET || step->body == BODY_GATE;
    return step->has_with && is_leaf && !step->loop && !step->include;
}

static unsigned allows_of(const struct pending *p)
{
    bool is_asked = p->field->want == WANT_BOOL || p->field->want == WANT_NUMBER;
    unsigned absent = is_asked ? ALLOW_ABSENT : ALLOW_NONE;
    switch ((enum field_where)p->field->where) {
    case AT_RULE: return ALLOW_PASS | absent;
    case AT_RETRY: return ALLOW_ERROR | absent;
    case AT_AGENT: return ALLOW_USER;
    case AT_BODY: return takes_with(p) ? ALLOW_WITH | absent : absent;
    case AT_INNER: return ALLOW_PASS | absent; // an edge is asked about the state that has just run
    default: return absent;
    }
}

static void compile_one(struct loading *l, const struct pending *p)
{
    struct scope_place place = { scope_of(l, p), p->step, p->agent, allows_of(p) };
    if (!place.scope) // an error was reported
        return;
    if (p->expr)
        scope_expr(&place, p->at, p->what, p->field->want, p->expr, l->diags);
    else
        scope_text(&place, p->at, p->text->text, p->text->len, p->text, l->diags);
}

/* ---- what included files are given ---------------------------------------------------------------------- */

/* Which values of expressions can be JSON of a type. */
static const struct {
    const char *type;
    enum cel_kind kinds[4];
} json_types[] = {
    { "string", { CEL_STRING, CEL_BYTES, CEL_TIMESTAMP, CEL_DURATION } },
    { "integer", { CEL_INT, CEL_UINT, CEL_DOUBLE, CEL_INT } },
    { "number", { CEL_INT, CEL_UINT, CEL_DOUBLE, CEL_INT } },
    { "boolean", { CEL_BOOL, CEL_BOOL, CEL_BOOL, CEL_BOOL } },
    { "null", { CEL_NULL, CEL_NULL, CEL_NULL, CEL_NULL } },
    { "array", { CEL_LIST, CEL_LIST, CEL_LIST, CEL_LIST } },
    { "object", { CEL_MAP, CEL_MAP, CEL_MAP, CEL_MAP } },
};

static bool can_be_type(const struct cel_program *program, const json_t *type)
{
    for (size_t i = 0; json_is_string(type) && i < COUNT(json_types); i++) {
        if (strcmp(json_types[i].type, json_string_value(type)) != 0)
            continue;
        for (size_t k = 0; k < COUNT(json_types[i].kinds); k++)
            if (cel_program_can_be(program, json_types[i].kinds[k]))
                return true;
        return false;
    }
    return true; // what is not known is not wrong
}

/* `type` of a schema is a name or a list of them. */
static bool can_fit(const struct cel_program *program, const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type"), *one;
    size_t i;
    if (cel_program_can_be(program, CEL_OPTIONAL)) // what is in it is not known
        return true;
    if (!json_is_array(type))
        return can_be_type(program, type);
    json_array_foreach(type, i, one)
        if (can_be_type(program, one))
            return true;
    return json_array_size(type) == 0;
}

static const struct flow_input *find_input(const struct flow *flow, const char *name)
{
    for (uint32_t i = 0; i < flow->input_count; i++)
        if (strcmp(flow->inputs[i].name, name) == 0)
            return &flow->inputs[i];
    return NULL;
}

static void check_constant(struct loading *l, const struct flow_step *step, const struct flow_named *given,
                           const struct flow_input *input)
{
    rondo_error err;
    auto_json json_t *value = NULL;
    if (input->schema && scope_constant(given->expr.program, &value, &err) == 0 && value &&
        schema_check(input->schema, value, &err) < 0)
        load_error(l, STAGE_RONDO, doc_get(load_get(step->at, "with"), given->name), "schema",
                   "the input '%.80s' of '%s' does not take this: %s", given->name,
                   step->include->source->name, err.message);
}

static void check_given(struct loading *l, struct flow_step *step)
{
    for (uint32_t i = 0; step->include && i < step->with_count; i++) {
        const struct flow_named *given = &step->with[i];
        const struct flow_input *input = find_input(step->include, given->name);
        if (!input || !given->expr.program)
            continue;
        if (can_fit(given->expr.program, input->schema_doc)) {
            check_constant(l, step, given, input);
            continue;
        }
        auto_free char *type = cel_type_text(cel_program_type(given->expr.program));
        auto_buf struct buf wanted = { 0 };
        value_put_json(&wanted, json_object_get(input->schema_doc, "type"));
        load_error(l, STAGE_RONDO, doc_get(load_get(step->at, "with"), given->name), "schema",
                   "the input '%.80s' of '%s' has the type %.80s, this gives %s", given->name,
                   step->include->source->name, buf_text(&wanted), type);
    }
}

void load_compile(struct loading *l)
{
    for (uint32_t i = 0; i < l->schema_count; i++)
        check_schema(l, &l->schemas[i]);
    compile_inputs(l);
    load_each_step(l, check_gate);
    find_users(l);
    keys_find(l->flow);
    for (uint32_t i = 0; i < l->pending_count; i++)
        compile_one(l, &l->pendings[i]);
    load_each_step(l, check_given);
}
