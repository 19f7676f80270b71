/* yield.c - following results from the agents that give them through the containers around these.

   Where a container may give the result of one step or of another, all their schemas count.  A step whose result nobody
   describes makes everything possible. */
#include "flow/yield.h"

#include "flow/load.h"
#include "flow/scope.h"

#include <string.h>

#define STEPS_MAX 100 // of one list that are looked at, and keys of one step
#define SHAPE_MAX 13  // members of our own records

void yield_clear(struct yield *y)
{
    arena_free(&y->arena);
    y->value = NULL;
}

/* ---- types --------------------------------------------------------------------------------------------- */

/* Types of JSON in CEL; of items of a list no more is said than is certain.  An integer may be written 3.0, and that
   stays a double in a list. */
static const struct row {
    unsigned json;
    const char *type, *list;
} rows[] = {
    { PROSPECT_INTEGER, "int", "list(number)" }, { PROSPECT_NUMBER, "number", "list(number)" },
    { PROSPECT_STRING, "string", "list(string)" }, { PROSPECT_BOOLEAN, "bool", "list(bool)" },
    { PROSPECT_OBJECT, ANY_MAP, ANY_LIST }, { PROSPECT_ARRAY, ANY_LIST, ANY_LIST },
};

/* NULL: several types are possible, or none. */
static const struct row *row_of(const struct prospect *p)
{
    unsigned types = prospect_types(p);
    for (size_t i = 0; types && i < COUNT(rows); i++)
        if (!(types & ~rows[i].json))
            return &rows[i];
    return NULL;
}

bool yield_is_never(const struct yield *y)
{
    return y->mute && !y->value;
}

bool yield_is_known(const struct yield *y)
{
    return y->value && y->value != &prospect_unknown && !y->mute;
}

const char *yield_type(struct yield *y)
{
    const struct row *row = yield_is_known(y) ? row_of(y->value) : NULL;
    if (!row || row->json != PROSPECT_ARRAY)
        return row ? row->type : NULL;
    row = row_of(prospect_item(&y->arena, y->value));
    return row ? row->list : ANY_LIST;
}

bool yield_is_int(const struct yield *y)
{
    return yield_is_known(y) && prospect_types(y->value) == PROSPECT_INTEGER;
}

/* ---- what a value may be ------------------------------------------------------------------------------- */

static void add(struct yield *y, const struct prospect *p)
{
    y->value = y->value ? prospect_either(&y->arena, y->value, p) : p;
}

static bool is_open(const struct yield *y)
{
    return y->value == &prospect_unknown;
}

void yield_add(struct yield *y, const struct schema *schema)
{
    add(y, schema ? prospect_of_schema(&y->arena, schema) : &prospect_unknown);
}

/* Of a value that is always a text or a number CEL knows better what is wrong. */
static bool is_scalar(const struct prospect *p)
{
    const struct row *row = row_of(p);
    return row && row->json != PROSPECT_OBJECT;
}

/* An alternative that cannot have the property is out: then the value is another one, or it fails. */
enum yield_has yield_enter(struct yield *y, const char *name)
{
    if (!yield_is_known(y))
        return YIELD_UNKNOWN;
    const struct prospect *inner = prospect_member(&y->arena, y->value, name);
    if (inner == &prospect_none)
        return is_scalar(y->value) ? YIELD_UNKNOWN : YIELD_LACKS;
    if (inner == &prospect_unknown)
        return YIELD_UNKNOWN;
    y->value = inner;
    return YIELD_HAS;
}

/* Of a list that is always empty every item can be said to have everything. */
void yield_enter_items(struct yield *y)
{
    const struct prospect *item = yield_is_known(y) ? prospect_item(&y->arena, y->value) : &prospect_unknown;
    y->value = item == &prospect_none ? &prospect_unknown : item;
    y->mute = NULL;
}

/* ---- steps --------------------------------------------------------------------------------------------- */

static void add_body(struct yield *y, const struct flow_step *step);

static const struct prospect *typed(struct yield *y, unsigned types)
{
    return prospect_of_types(&y->arena, types);
}

static void add_set(struct yield *y, const struct flow_step *step)
{
    if (step->set_count > STEPS_MAX) {
        yield_add(y, NULL);
        return;
    }
    struct prospect_member members[STEPS_MAX];
    for (uint32_t i = 0; i < step->set_count; i++)
        members[i] = (struct prospect_member){ step->set[i].name, typed(y, PROSPECT_ALL) };
    add(y, prospect_of_record(&y->arena, members, step->set_count));
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
    for (uint32_t i = 0; is_small(y, scope) && i < scope->count && !is_open(y); i++)
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
    for (uint32_t i = scope->count; i-- > 0 && !is_open(y) && (!is_last || yield_is_never(y));) {
        yield_add_step(y, scope->steps[i]);
        is_last |= always_completes(scope->steps[i]);
    }
}

static void add_cases(struct yield *y, const struct flow_step *step)
{
    for (uint32_t i = 0; is_small(y, step->inner) && i < step->case_count && !is_open(y); i++)
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

/* What its type says; of texts and maps nothing. */
static const struct prospect *of_type(struct yield *y, const struct cel_program *program)
{
    static const unsigned types[CEL_CIDR + 1] = {
        [CEL_NULL] = PROSPECT_NULL,   [CEL_BOOL] = PROSPECT_BOOLEAN,  [CEL_INT] = PROSPECT_INTEGER,
        [CEL_UINT] = PROSPECT_NUMBER, [CEL_DOUBLE] = PROSPECT_NUMBER, [CEL_LIST] = PROSPECT_ARRAY,
    };
    unsigned all = 0;
    for (int kind = 0; kind <= CEL_CIDR; kind++)
        if (cel_program_can_be(program, kind))
            all |= types[kind] ? types[kind] : PROSPECT_ALL;
    return all && all != PROSPECT_ALL ? typed(y, all) : &prospect_unknown;
}

/* `steps.x.result.y`, or an item of that; of all other expressions no more than the type. */
static void add_expr(struct yield *y, const struct flow_expr *expr, bool is_item)
{
    struct yield whole = { .arena = y->arena, .looked = y->looked };
    const struct cel_ref *ref;
    const struct flow_step *step = only_result(expr, &ref);
    if (!step && !is_item) {
        add(y, of_type(y, expr->program));
        return;
    }
    if (step)
        yield_add_step(&whole, step);
    for (uint32_t i = 3; step && i < ref->count; i++)
        if (yield_enter(&whole, ref->names[i].text) != YIELD_HAS)
            step = NULL;
    if (step && is_item)
        yield_enter_items(&whole);
    y->arena = whole.arena;
    add(y, step && yield_is_known(&whole) ? whole.value : &prospect_unknown);
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
        yield_add(y, agent && !agent->is_loose ? agent->result_schema.rules : NULL);
}

/* What is known of a result that is a part of this one. */
static struct yield part_of(struct yield *y, void (*add_to)(struct yield *y, const struct flow_step *step),
                            const struct flow_step *step)
{
    struct yield part = { .arena = y->arena, .looked = y->looked };
    add_to(&part, step);
    y->arena = part.arena;
    y->looked = part.looked;
    return part;
}

/* The same as an item of a list, where texts stand for themselves, and null for what did not complete. */
static const struct prospect *as_item(struct yield *y, const struct yield *part)
{
    const struct prospect *value = part->value ? part->value : part->mute ? &prospect_none : &prospect_unknown;
    return prospect_either(&y->arena, value, typed(y, PROSPECT_STRING | PROSPECT_NULL));
}

void yield_add_output(struct yield *y, const struct flow_step *step)
{
    struct yield part = part_of(y, yield_add_step, step);
    add(y, yield_is_known(&part) ? prospect_either(&y->arena, part.value, typed(y, PROSPECT_STRING))
                                 : &prospect_unknown);
}

static void add_passes(struct yield *y, const struct flow_step *step)
{
    struct yield pass = part_of(y, yield_add_pass, step);
    add(y, prospect_of_list(&y->arena, as_item(y, &pass)));
}

static void add_parallel(struct yield *y, const struct flow_step *step)
{
    const struct flow_scope *scope = step->inner;
    const struct prospect *item = scope && scope->count <= STEPS_MAX ? &prospect_none : &prospect_unknown;
    for (uint32_t i = 0; item != &prospect_unknown && i < scope->count; i++) {
        struct yield one = part_of(y, yield_add_step, scope->steps[i]);
        item = prospect_either(&y->arena, item, as_item(y, &one));
    }
    add(y, prospect_of_list(&y->arena, item));
}

static void add_body(struct yield *y, const struct flow_step *step)
{
    const struct flow_scope *inner = step->inner;
    switch ((enum flow_body)step->body) {
    case BODY_AGENT: add_agent(y, step); return;
    case BODY_INCLUDE: add_file(y, step); return;
    case BODY_GATE: yield_add(y, step->gate_schema.rules); return;
    case BODY_PARALLEL: add_parallel(y, step); return;
    case BODY_SET: add_set(y, step); return;
    case BODY_STEPS: inner ? add_group(y, step) : yield_add(y, NULL); return;
    case BODY_BRANCH: inner ? add_cases(y, step) : yield_add(y, NULL); return;
    case BODY_FORUM: // the captain's word, or that of a member who knows enough
        if (!inner || !inner->count || step->early_return)
            yield_add(y, NULL);
        else
            add_body(y, inner->steps[inner->count - 1]);
        return;
    case BODY_MACHINE: inner ? add_any(y, inner) : yield_add(y, NULL); return; // whichever was the last
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
    bool is_open = output && (!named || is_in_loop(step->scope->owner)); // a break further out does not ask for it
    if (is_open)
        yield_add(y, NULL);
    else if (named)
        add_named(y, step, named);
    else if (own)
        add_any(y, own);
    else
        add_body(y, step);
}

/* { iterations, failed }: lists of what came of each item */
static void add_each(struct yield *y, const struct flow_step *step)
{
    struct yield pass = part_of(y, yield_add_pass, step);
    const struct prospect *any = typed(y, PROSPECT_ALL), *text = typed(y, PROSPECT_STRING);
    const struct prospect_member item[] = { { "id", any },      { "index", typed(y, PROSPECT_INTEGER) },
                                            { "item", any },    { "content", text },
                                            { "status", text }, { "error", text },
                                            { "result", yield_is_known(&pass) ? pass.value : any } };
    const struct prospect *items =
        prospect_of_list(&y->arena, prospect_of_record(&y->arena, item, COUNT(item)));
    const struct prospect_member members[] = { { "iterations", items }, { "failed", items } };
    add(y, prospect_of_record(&y->arena, members, COUNT(members)));
}

void yield_add_step(struct yield *y, const struct flow_step *step)
{
    const struct flow_loop *loop = step->loop;
    bool is_all = loop && loop->output_mode == RONDO_OUTPUT_CUMULATIVE && step->flow->dialect != FLOW_V1;
    if (y->looked++ >= YIELD_LOOKS)
        yield_add(y, NULL);
    else if (loop && loop->is_each)
        add_each(y, step);
    else if (is_all)
        add_passes(y, step);
    else if (loop)
        yield_add_pass(y, step);
    else
        add_body(y, step);
}

/* ---- records ------------------------------------------------------------------------------------------- */

/* An object with these members and no others. */
struct shape {
    const char *name;
    unsigned types;
};

static const struct prospect *record_of(struct yield *y, const struct shape *shape, size_t count)
{
    struct prospect_member members[SHAPE_MAX];
    for (size_t i = 0; i < count; i++)
        members[i] = (struct prospect_member){ shape[i].name, typed(y, shape[i].types) };
    return prospect_of_record(&y->arena, members, count);
}

void yield_add_usage(struct yield *y)
{
    static const struct shape usage[] = {
        { "cost", PROSPECT_NUMBER },       { "prompt", PROSPECT_INTEGER },     { "completion", PROSPECT_INTEGER },
        { "total", PROSPECT_INTEGER },     { "reasoning", PROSPECT_INTEGER },  { "cacheRead", PROSPECT_INTEGER },
        { "cacheWrite", PROSPECT_INTEGER }, { "calls", PROSPECT_INTEGER },     { "unpriced", PROSPECT_INTEGER },
    };
    add(y, record_of(y, usage, COUNT(usage)));
}

void yield_add_contributions(struct yield *y)
{
    static const struct shape said[] = {
        { "name", PROSPECT_STRING },
        { "round", PROSPECT_INTEGER },
        { "output", PROSPECT_ALL },
        { "content", PROSPECT_STRING },
    };
    add(y, prospect_of_list(&y->arena, record_of(y, said, COUNT(said))));
}

/* A step as it is in a pass: which of these it has is another question, and none has a history. */
static const struct prospect *step_record(struct yield *y)
{
    static const struct shape step[] = {
        { "content", PROSPECT_STRING },  { "result", PROSPECT_ALL },        { "status", PROSPECT_STRING },
        { "error", PROSPECT_STRING },    { "usage", PROSPECT_OBJECT },      { "reason", PROSPECT_STRING },
        { "passes", PROSPECT_INTEGER },  { "best", PROSPECT_OBJECT },       { "score", PROSPECT_NUMBER },
        { "capped", PROSPECT_BOOLEAN },  { "escalated", PROSPECT_BOOLEAN }, { "by", PROSPECT_STRING },
        { "steps", PROSPECT_OBJECT },
    };
    return record_of(y, step, COUNT(step));
}

static const struct prospect *steps_record(struct yield *y, const struct flow_scope *scope)
{
    struct prospect_member members[STEPS_MAX];
    const struct prospect *step = step_record(y);
    for (uint32_t i = 0; i < scope->count; i++)
        members[i] = (struct prospect_member){ scope->steps[i]->id, step };
    return prospect_of_record(&y->arena, members, scope->count);
}

void yield_add_inner_steps(struct yield *y, const struct flow_step *step)
{
    static const struct shape inner[] = { { "content", PROSPECT_STRING }, { "status", PROSPECT_STRING } };
    const struct flow_scope *scope = step->include->scope;
    struct prospect_member members[STEPS_MAX];
    if (!is_small(y, scope))
        return;
    for (uint32_t i = 0; i < scope->count; i++)
        members[i] = (struct prospect_member){ arena_join(&y->arena, step->id, '.', scope->steps[i]->id),
                                               record_of(y, inner, COUNT(inner)) };
    add(y, prospect_of_record(&y->arena, members, scope->count));
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

void yield_add_history(struct yield *y, const struct flow_step *step)
{
    struct yield pass = part_of(y, yield_add_record, step);
    add(y, prospect_of_list(&y->arena, pass.value));
}

void yield_add_record(struct yield *y, const struct flow_step *step)
{
    const struct flow_scope *scope = pass_scope(step);
    bool is_known = scope && scope->count <= STEPS_MAX;
    const struct prospect *any = typed(y, PROSPECT_ALL), *text = typed(y, PROSPECT_STRING);
    const struct prospect_member members[] = {
        { "pass", typed(y, PROSPECT_INTEGER) }, { "status", text }, { "content", text }, { "judge", text },
        { "error", text }, { "result", any }, { "score", any },
        { "steps", is_known ? steps_record(y, scope) : any },
    };
    add(y, prospect_of_record(&y->arena, members, COUNT(members)));
}
