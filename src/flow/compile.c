/* compile.c - the last pass: schemas, expressions and texts with holes.

   Everything that could be named is known now, so that a name which means nothing is an error here and
   not in the middle of a run. */
#include "flow/keys.h"
#include "flow/load.h"
#include "flow/scope.h"

#include <string.h>

/* ---- schemas ------------------------------------------------------------------------------------------- */

/* Whose result a schema is about; NULL.  Schemas come in the order of their agents, between those of inputs and
   skills. */
static struct flow_agent *agent_of_schema(struct loading *l, const struct flow_schema *schema)
{
    const struct flow *flow = l->flow;
    while (l->schema_agent < flow->agent_count && !flow->agents[l->schema_agent]->result_schema.doc)
        l->schema_agent++;
    if (l->schema_agent == flow->agent_count || &flow->agents[l->schema_agent]->result_schema != schema)
        return NULL;
    return flow->agents[l->schema_agent++];
}

/* A schema that is being compiled. */
struct compiling {
    struct loading *l;
    const struct doc_val *at;
    struct flow_agent *agent; // whose result it is about; NULL
    bool is_loose;            // v1 takes whatever looks like a schema, unless a judge has it
};

static const char wrong_schema[] = "schema"; // by its address no code of anything else

/* What an alias brings into several schemas is wrong in one place. */
static bool is_told(const struct loading *l, const struct doc_val *at, bool is_warning)
{
    for (uint32_t i = 0; i < l->diags->count; i++) {
        const struct diag *diag = &l->diags->list[i];
        if (diag->code == wrong_schema && diag->source == l->flow->source && diag->line == at->line &&
            diag->column == at->column && diag->is_warning == is_warning)
            return true;
    }
    return false;
}

static const char *const types[] = { "array", "boolean", "integer", "null", "number", "object", "string" };

/* A misspelt type is the only name that a schema knows and can be asked about. */
static void suggest_type(struct loading *l, struct diag *diag, const struct doc_val *at, const char *pointer)
{
    if (at->kind == DOC_TEXT && strstr(pointer, "/type"))
        load_suggest(l, diag, at->text, types, COUNT(types));
}

/* NULL: it was told before. */
static struct diag *tell(struct compiling *c, const struct schema_problem *problem, const struct doc_val *at,
                         bool is_warning)
{
    if (is_told(c->l, at, is_warning))
        return NULL;
    struct diag *diag = load_error(c->l, STAGE_RONDO, at, wrong_schema, "%s", problem->message);
    if (is_warning)
        diag_warn(c->l->diags, diag);
    return diag;
}

static void tell_wrong(const struct schema_problem *problem, void *user)
{
    struct compiling *c = user;
    const struct doc_val *at = load_follow(c->at, problem->value_at, problem->key);
    struct diag *diag = tell(c, problem, at, c->is_loose);
    if (c->is_loose)
        c->agent->is_loose = true;
    if (diag && c->is_loose)
        diag_hint(diag, "the model is shown it, but no result is checked against it");
    else if (diag)
        suggest_type(c->l, diag, at, problem->value_at);
}

/* False: it is no schema. */
static bool compile_schema(struct compiling c, struct flow_schema *schema)
{
    rondo_error err;
    c.is_loose = c.l->is_v1 && c.agent && !c.agent->judges;
    schema->rules = schema_compile(schema->doc, &(struct schema_options){ .report = tell_wrong, .user = &c }, &err);
    if (schema->rules)
        flow_own_schema(c.l->flow, schema->rules);
    return schema->rules;
}

static void check_schema(struct loading *l, const struct pending_schema *pending)
{
    struct flow_agent *agent = agent_of_schema(l, pending->to);
    bool is_good = compile_schema((struct compiling){ l, pending->at, agent }, pending->to);
    if (is_good && agent)
        load_fit_script(l, agent);
}

static void compile_inputs(struct loading *l)
{
    const struct doc_val *inputs = load_get(l->flow->doc->root, "inputs");
    for (uint32_t i = 0; i < l->flow->input_count; i++) {
        struct flow_input *input = &l->flow->inputs[i];
        if (json_is_object(input->schema.doc) || json_is_boolean(input->schema.doc))
            compile_schema((struct compiling){ l, inputs->items[i] }, &input->schema);
    }
}

/* ---- expressions ---------------------------------------------------------------------------------------- */

/* The agent that does the work of a step; NULL.  Texts of a command of its own are the step's. */
static struct flow_agent *worker_of(const struct flow_step *step)
{
    bool has_steps = step->loop && step->loop->scope && step->loop->scope->count;
    return step->body == BODY_AGENT && !has_steps && step->agent != step->command ? step->agent : NULL;
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
    case AT_WITH: return flow_step_repeats_items(step) ? step->loop->scope : step->scope;
    case AT_BODY: return load_body_scope(step);
    case AT_LOOP:
    case AT_RULE: return step->loop ? step->loop->scope : NULL;
    case AT_INNER: return step->inner;
    case AT_AGENT:
    case AT_HEAD:
    case AT_FILE: return l->flow->scope;
    }
    return NULL;
}

/* What `input` is: beside a step what it would get, in it what it gets. */
static struct scope_given given_of(const struct loading *l, const struct pending *p)
{
    const struct flow_step *step = p->step;
    bool is_items = p->field->want == WANT_LIST; // asked by the loop, which may have an input of its own
    switch ((enum field_where)p->field->where) {
    case AT_BODY: return load_given_inside(step);
    case AT_STEP:
        if (is_items && step->has_with && !flow_step_repeats_items(step))
            return (struct scope_given){ .with = step };
        return load_given_beside(step);
    case AT_WITH: return load_given_beside(step);
    case AT_FILE: return load_given_file(l->flow);
    default: return (struct scope_given){ 0 };
    }
}

static unsigned allows_of(const struct pending *p)
{
    bool is_asked = p->field->want == WANT_BOOL || p->field->want == WANT_NUMBER;
    unsigned absent = is_asked ? ALLOW_ABSENT : ALLOW_NONE;
    switch ((enum field_where)p->field->where) {
    case AT_RULE: return ALLOW_PASS | absent | (p->expr == &p->step->loop->while_ ? ALLOW_FIRST : ALLOW_NONE);
    case AT_RETRY: return ALLOW_ERROR | absent;
    case AT_AGENT: return ALLOW_USER;
    case AT_HEAD: return ALLOW_HEAD;
    case AT_INNER: return ALLOW_PASS | absent; // an edge is asked about the state that has just run
    default: return absent;
    }
}

/* Whose steps see the text: beside a prompt a description is only for others. */
static const struct flow_agent *reader_of(const struct pending *p)
{
    const struct flow_agent *agent = p->agent;
    return agent && p->text == &agent->description && agent->prompt.text ? NULL : agent;
}

static void compile_one(struct loading *l, const struct pending *p)
{
    struct scope_place place = { scope_of(l, p), p->step, reader_of(p), allows_of(p), given_of(l, p) };
    if (!place.scope) // an error was reported
        return;
    if (p->expr)
        scope_expr(&place, p->at, p->what, p->field->want, p->expr, l->diags);
    else
        scope_text(&place, p->text, p->file, l->diags);
}

static bool is_list(const struct pending *p)
{
    return p->expr && p->field->want == WANT_LIST;
}

void load_compile(struct loading *l)
{
    for (uint32_t i = 0; i < l->schema_count; i++)
        check_schema(l, &l->schemas[i]);
    rules_judges(l);
    compile_inputs(l);
    find_users(l);
    keys_find(l->flow);
    for (uint32_t i = 0; i < l->pending_count; i++) // what `item` is has to be known to all others
        if (is_list(&l->pendings[i]))
            compile_one(l, &l->pendings[i]);
    for (uint32_t i = 0; i < l->pending_count; i++)
        if (!is_list(&l->pendings[i]))
            compile_one(l, &l->pendings[i]);
    load_fit(l);
}
