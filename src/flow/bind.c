/* bind.c - finding out what the names in an expression mean, while a file is loaded.

   CEL asks for every path that it does not know itself (bind): the answer is how many of its names
   we stand for, their type, and a struct flow_ref.  The paths that exist are rows of tables.  As
   much of a path as a schema describes is answered for, so that types are known and misspelt
   properties found. */
#include "flow/bind_own.h"
#include "flow/foreign.h"

#include <stdarg.h>
#include <stdio.h>

/* ---- saying no ----------------------------------------------------------------------------------- */

struct names names_new(const struct asked *p)
{
    const struct diags *diags = p->b->diags;
    return (struct names){ .is_off = diags && !diags_wants_names(diags) };
}

void names_add(struct names *names, const char *name)
{
    if (!names_has_room(names))
        return;
    mem_grow(&names->list, &names->cap, names->count, sizeof *names->list);
    names->list[names->count++] = name;
}

/* Several schemas may have the same. */
static bool is_listed(const struct names *known, uint32_t at)
{
    uint32_t i = 0;
    while (strcmp(known->list[i], known->list[at]) != 0)
        i++;
    return i < at;
}

static void list_names(struct binding *b, const struct names *known)
{
    size_t len = 0;
    for (uint32_t i = 0; i < known->count && len < sizeof b->hint; i++)
        if (!is_listed(known, i))
            len += (size_t)snprintf(b->hint + len, sizeof b->hint - len, "%s%s", i ? ", " : "there are: ",
                                    known->list[i]);
    if (len >= sizeof b->hint)
        b->hint[0] = '\0';
}

void asked_suggest(const struct asked *p, uint32_t at, const struct names *known)
{
    struct binding *b = p->b;
    const char *text = p->names[at].text;
    const char *near = b->diags ? diags_nearest(b->diags, text, known->list, known->count)
                                : diag_nearest(text, known->list, known->count);
    b->lists_names = !near;
    if (near)
        snprintf(b->hint, sizeof b->hint, "did you mean '%s'?", near);
    else
        list_names(b, known);
}

/* What other systems call it: false when the table of their names does not have it. */
static bool translate(struct binding *b, enum foreign_sort sort, const struct cel_name *name)
{
    const struct foreign *foreign = foreign_word(sort, NULL, name->text, name->len);
    if (!foreign)
        return false;
    snprintf(b->hint, sizeof b->hint, foreign->note ? "%s" : "did you mean '%s'?",
             foreign->note ? foreign->note : foreign->ours);
    return true;
}

int asked_refuse(const struct asked *p, uint32_t at, const struct names *known, const char *fmt, ...)
{
    struct binding *b = p->b;
    char text[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    b->code = "unknown_reference";
    b->bad_at = p->names[at].offset;
    b->bad_len = p->names[at].len;
    b->hint[0] = '\0';
    b->lists_names = false;
    if (known)
        asked_suggest(p, at, known);
    return err_set(p->err, RONDO_EINVAL, "%s", text);
}

int asked_doubt(const struct asked *p)
{
    if (!(p->b->place.allows & ALLOW_ABSENT))
        return p->err->code;
    p->b->warn(p->b, p->err);
    return 0;
}

static struct flow_ref *answer(const struct asked *p, enum flow_ref_root root, const char *type)
{
    struct flow_ref *ref = arena_zalloc(&p->b->place.scope->flow->arena, sizeof *ref);
    ref->root = (uint8_t)root;
    ref->is_v1 = binding_is_v1(p->b);
    ref->is_certain = p->b->is_certain;
    ref->used = 1;
    *p->ret = ref;
    *p->ret_type = type;
    return ref;
}

/* ---- schemas -------------------------------------------------------------------------------------- */

/* A name that is there and can have no value is not meant. */
struct others {
    struct names names;
    const char *asked;
};

static void add_other(const char *name, void *user)
{
    struct others *others = user;
    if (strcmp(name, others->asked) != 0)
        names_add(&others->names, name);
}

static int refuse_property(const struct asked *p, uint32_t at, const struct yield *y)
{
    struct others known = { names_new(p), p->names[at].text };
    if (names_has_room(&known.names))
        prospect_each_name(y->value, add_other, &known);
    uint32_t in = at - 1;
    while (!p->names[in].text) // an item is called what its list is called
        in--;
    int code = asked_refuse(p, at, &known.names, "there is no property '%.80s' in '%.80s'", p->names[at].text,
                            p->names[in].text);
    mem_free(known.names.list);
    return code;
}

/* Follows the rest of the path into what is known of the value.  Answers how many names are used. */
static int describe(const struct asked *p, struct flow_ref *ref, struct yield *y)
{
    enum yield_has has = YIELD_HAS;
    while (ref->used < p->count && (has = yield_enter(y, p->names[ref->used].text)) == YIELD_HAS) {
        ref->used++;
        ref->inside++;
    }
    if (has == YIELD_LACKS)
        return refuse_property(p, ref->used, y);
    ref->as_int = yield_is_int(y);
    *p->ret_type = yield_type(y);
    return (int)ref->used;
}

/* ---- steps ----------------------------------------------------------------------------------------- */

static void add_ids(struct names *names, const struct flow_scope *scope)
{
    for (uint32_t i = 0; i < scope->count && names_has_room(names); i++)
        if (*scope->steps[i]->id && scope_step(scope, scope->steps[i]->id) == scope->steps[i]) // else told elsewhere
            names_add(names, scope->steps[i]->id);
}

static bool hides_passes(const struct flow_step *step)
{
    int mode = step->loop ? step->loop->output_mode : RONDO_OUTPUT_LAST;
    return mode == RONDO_OUTPUT_FINAL_STEP || mode == RONDO_OUTPUT_CUMULATIVE;
}

/* What sort of steps have a field. */
enum { OF_ALL = 1, OF_LOOPS = 2, OF_EACHES = 4, OF_GATES = 8, OF_CONTAINERS = 16, OF_REVIEWED = 32 };

static const struct field {
    const char *name;
    uint8_t field;
    uint8_t of;
    const char *type;
} step_fields[] = {
    { "content", FIELD_CONTENT, OF_ALL, "string" },
    { "result", FIELD_RESULT, OF_ALL, NULL },
    { "status", FIELD_STATUS, OF_ALL, "string" },
    { "error", FIELD_ERROR, OF_ALL, "string" },
    { "usage", FIELD_USAGE, OF_ALL, ANY_MAP },
    { "reason", FIELD_REASON, OF_ALL, "string" },
    { "escalated", FIELD_ESCALATED, OF_ALL, "bool" },
    { "passes", FIELD_PASSES, OF_LOOPS | OF_EACHES, "int" },
    { "best", FIELD_BEST, OF_LOOPS, ANY_MAP },
    { "score", FIELD_SCORE, OF_LOOPS, "double" },
    { "history", FIELD_HISTORY, OF_LOOPS, ANY_LIST },
    { "capped", FIELD_CAPPED, OF_LOOPS | OF_REVIEWED, "bool" },
    { "by", FIELD_BY, OF_GATES, "string" },
    { "steps", FIELD_STEPS, OF_CONTAINERS, ANY_MAP },
};

static unsigned sorts_of(const struct flow_step *step)
{
    unsigned sorts = OF_ALL;
    if (step->loop)
        sorts |= step->loop->is_each ? OF_EACHES : OF_LOOPS;
    else if (step->body == BODY_MACHINE)
        sorts |= OF_LOOPS;
    else if (step->body == BODY_GATE)
        sorts |= OF_GATES;
    if (bind_inside_of(step) && !hides_passes(step))
        sorts |= OF_CONTAINERS;
    if (step->review)
        sorts |= OF_REVIEWED;
    return sorts;
}

static const struct field *find_field(const struct field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(fields[i].name, name) == 0)
            return &fields[i];
    return NULL;
}

/* Why a step does not have a field that others have. */
static const char *why_without(const struct flow_step *step, enum flow_field field)
{
    if (field == FIELD_BY)
        return ": it is no gate";
    if (field == FIELD_STEPS && hides_passes(step))
        return ": its outputMode does not keep them";
    if (step->loop && step->loop->is_each)
        return ": what its items came to is in result.iterations";
    if (field != FIELD_STEPS)
        return ": it is no loop";
    return step->loop ? ": its passes are in history" : ": nothing runs inside it";
}

static int refuse_field(const struct asked *p, uint32_t at, const struct flow_step *step)
{
    unsigned sorts = sorts_of(step);
    struct names known = names_new(p);
    const struct field *other = find_field(step_fields, COUNT(step_fields), p->names[at].text);
    for (size_t i = 0; i < COUNT(step_fields); i++)
        if (step_fields[i].of & sorts)
            names_add(&known, step_fields[i].name);
    int code = asked_refuse(p, at, other ? NULL : &known, "step '%.80s' has no '%.80s'%s", step->id,
                            p->names[at].text, other ? why_without(step, other->field) : "");
    if (!other && p->b->lists_names)
        translate(p->b, FOREIGN_FIELD, &p->names[at]);
    mem_free(known.list);
    return code;
}

/* ---- paths ------------------------------------------------------------------------------------------- */

static int refuse_step(const struct asked *p, uint32_t at, const struct flow_scope *scope, bool outwards)
{
    struct names known = names_new(p);
    for (; scope; scope = outwards ? scope->up : NULL)
        add_ids(&known, scope);
    int code = asked_refuse(p, at, &known, "there is no step '%.80s'", p->names[at].text);
    mem_free(known.list);
    return code;
}

/* Follows .steps.y as long as there is one; ref->used counts.  NULL when something is wrong. */
static const struct flow_step *go_inside(const struct asked *p, struct flow_ref *ref,
                                         const struct flow_step *step)
{
    while (ref->used + 1 < p->count && asked_is(&p->names[ref->used], "steps")) {
        const struct flow_scope *scope = sorts_of(step) & OF_CONTAINERS ? bind_inside_of(step) : NULL;
        const char *id = p->names[ref->used + 1].text;
        if (!scope)
            return refuse_field(p, ref->used, step), NULL;
        step = scope_step(scope, id);
        if (!step)
            return refuse_step(p, ref->used + 1, scope, false), NULL;
        ref->root = REF_INNER;
        ref->way = ref->way ? arena_join(&p->b->place.scope->flow->arena, ref->way, '/', step->id) : step->id;
        ref->used += 2;
    }
    return step;
}

/* What a field of a step holds, where more is known than its type; else false. */
static bool add_field(struct yield *y, const struct flow_step *step, enum flow_field field)
{
    switch (field) {
    case FIELD_RESULT: yield_add_step(y, step); return true;
    case FIELD_USAGE: yield_add_usage(y); return true;
    case FIELD_BEST: yield_add_record(y, step); return true;
    case FIELD_INNER_STEPS: yield_add_inner_steps(y, step); return true;
    default: return false;
    }
}

static int bind_inside(const struct asked *p, struct flow_ref *ref, const struct flow_step *step)
{
    auto_yield struct yield y = { 0 };
    if (!add_field(&y, step, ref->field))
        return (int)ref->used;
    if (look_for_result(p, ref->used - 1, step, &y) < 0)
        return p->err->code;
    return describe(p, ref, &y);
}

/* v1 has the steps of an included file in its result.  Here a result is what a sequence hands on, so they
   are found under that name and are not in it. */
static bool is_inner_steps(const struct asked *p, const struct flow_ref *ref, const struct flow_step *step)
{
    bool is_file = step->body == BODY_INCLUDE && !step->loop && step->flow->dialect != FLOW_V1;
    return is_file && ref->field == FIELD_RESULT && ref->used < p->count &&
           asked_is(&p->names[ref->used], "innerSteps");
}

/* In the rules of a loop its own step is the pass that has ended, and not the loop.  That pass may be another loop: a
   machine, or what `output` names. */
static bool is_of_pass(const struct asked *p, const struct flow_step *step, const struct field *field)
{
    bool may_be_loop = step->body == BODY_MACHINE || (step->loop && step->loop->output);
    return bind_is_own_rule(p->b, step) && !binding_is_v1(p->b) && !may_be_loop &&
           !(field->of & (OF_ALL | OF_CONTAINERS));
}

static int refuse_whole(const struct asked *p, uint32_t at, const struct flow_step *step, enum flow_field field)
{
    const char *name = p->names[at].text;
    asked_refuse(p, at, NULL, "in the rules of its loop '%.80s' is the pass that has ended, which has no '%.80s'",
                 step->id, name);
    if (field == FIELD_PASSES)
        snprintf(p->b->hint, sizeof p->b->hint, "`iteration` counts the passes, from 0");
    else if (field != FIELD_CAPPED)
        snprintf(p->b->hint, sizeof p->b->hint, "`%s` is that of the loop", name);
    return p->err->code;
}

static int bind_field(const struct asked *p, struct flow_ref *ref, const struct flow_step *step)
{
    const struct cel_name *name = &p->names[ref->used];
    const struct field *field = find_field(step_fields, COUNT(step_fields), name->text);
    if (!field || !(field->of & sorts_of(step)))
        return refuse_field(p, ref->used, step);
    if (is_of_pass(p, step, field))
        return refuse_whole(p, ref->used, step, field->field);
    ref->field = field->field;
    ref->used++;
    *p->ret_type = field->type;
    bool is_scored = field->field == FIELD_BEST || field->field == FIELD_SCORE;
    if (is_scored && look_for_score(p, ref->used - 1, step) < 0)
        return p->err->code;
    if (is_inner_steps(p, ref, step)) {
        ref->field = FIELD_INNER_STEPS;
        ref->used++;
    }
    return bind_inside(p, ref, step);
}

#define SEARCHES_MAX 1000 // in one file; then nothing is known any more

/* A step of the file by its id, however deep. */
struct search {
    const char *id;
    const struct flow *flow;
    struct flow_step *found;
    uint32_t count;
};

static void look_at(struct flow_step *step, void *user)
{
    struct search *search = user;
    if (step->flow != search->flow || strcmp(step->id, search->id) != 0)
        return;
    search->found = search->found ? search->found : step;
    search->count++;
}

/* What an agent's text names is looked for from the step that uses the agent.  How many it may be. */
static uint32_t used_steps(const struct binding *b, const char *id, const struct flow_step **ret)
{
    struct flow *flow = b->place.scope->flow;
    struct search search = { id, flow, NULL, 0 };
    *ret = NULL;
    if (!(b->place.allows & ALLOW_USER))
        return 0;
    if (flow->searches++ >= SEARCHES_MAX)
        return UINT32_MAX;
    flow_each_step(flow, look_at, &search);
    *ret = search.found;
    return search.count;
}

/* What is inside of a step could not be read, which was told: whatever is asked about that may be right. */
static bool is_unread(const struct flow_step *step)
{
    const struct doc_val *loop = doc_get(step->at, "loop");
    return (step->body == BODY_INCLUDE && !step->include) || (loop && loop->kind != DOC_NULL && !step->loop);
}

/* The path behind `steps.x`. */
static int bind_step(const struct asked *p, struct flow_ref *ref, const struct flow_step *step)
{
    ref->used = 2;
    if (is_unread(step)) {
        *p->ret_type = NULL;
        return (int)p->count;
    }
    step = go_inside(p, ref, step);
    if (!step)
        return p->err->code;
    ref->is_reviewed = step->review;
    return ref->used < p->count ? bind_field(p, ref, step) : (int)ref->used;
}

static int bind_step_of_body(const struct asked *p, struct flow_ref *ref, const struct flow_step *step)
{
    const struct flow_step *own = p->b->place.step;
    ref->root = REF_INNER;
    ref->scope = own->scope;
    ref->index = own->index;
    ref->name = own->id;
    ref->way = step->id;
    return bind_step(p, ref, step);
}

static int bind_steps(const struct asked *p)
{
    struct binding *b = p->b;
    struct flow_ref *ref = answer(p, REF_STEPS, ANY_MAP);
    if (p->count == 1)
        return 1;
    const struct flow_scope *body = bind_body_scope(b);
    const struct flow_step *far, *step = body ? scope_step(body, p->names[1].text) : NULL;
    if (step)
        return bind_step_of_body(p, ref, step);
    step = bind_visible_step(b->place.scope, p->names[1].text);
    ref->root = REF_STEP;
    if (used_steps(b, p->names[1].text, &far) > 1) { // which one is known when it is used
        ref->name = arena_dup(&b->place.scope->flow->arena, p->names[1].text, p->names[1].len);
        *p->ret_type = NULL;
        return (int)(ref->used = 2);
    }
    if (!step && !far)
        return refuse_step(p, 1, b->place.scope, true);
    ref->scope = step ? step->scope : NULL;
    step = step ? step : far;
    ref->name = step->id;
    ref->index = step->index;
    int used = bind_step(p, ref, step);
    return used > 0 && look_at_step(p, step) < 0 ? p->err->code : used;
}

static int bind_schema(const struct asked *p, struct flow_ref *ref, const struct schema *schema)
{
    auto_yield struct yield y = { 0 };
    yield_add(&y, schema);
    return describe(p, ref, &y);
}

static int bind_inputs(const struct asked *p)
{
    const struct flow *flow = p->b->place.scope->flow;
    struct flow_ref *ref = answer(p, REF_INPUTS, ANY_MAP);
    struct names known = names_new(p);
    const struct doc_val *inputs = doc_get(flow->doc->root, "inputs");
    if (p->count == 1 || (inputs && inputs->kind != DOC_MAP && inputs->kind != DOC_NULL)) // that was told
        return 1;
    const struct flow_input *input = flow_input(flow, p->names[1].text);
    if (input) {
        ref->name = input->name;
        ref->used = 2;
        return bind_schema(p, ref, input->schema.rules);
    }
    for (uint32_t i = 0; names_has_room(&known) && i < flow->input_count; i++)
        names_add(&known, flow->inputs[i].name);
    int code = asked_refuse(p, 1, &known, "there is no input '%.80s'%s", p->names[1].text,
                            flow->input_count ? "" : ": the file has none");
    mem_free(known.list);
    return code;
}

static int bind_state(const struct asked *p)
{
    struct flow_ref *ref = answer(p, REF_STATE, p->count > 1 ? NULL : ANY_MAP);
    if (p->count == 1)
        return 1;
    if (look_for_key(p) < 0)
        return p->err->code;
    ref->name = arena_dup(&p->b->place.scope->flow->arena, p->names[1].text, p->names[1].len);
    ref->used = 2;
    return 2;
}

/* A name that is nothing without the next one; at is that one's place. */
static int refuse_member(const struct asked *p, uint32_t at, const struct field *fields, size_t count)
{
    struct names known = names_new(p);
    for (size_t i = 0; i < count; i++)
        names_add(&known, fields[i].name);
    int code = at < p->count
                   ? asked_refuse(p, at, &known, "'%.80s' has no '%.80s'", p->names[at - 1].text, p->names[at].text)
                   : asked_refuse(p, at - 1, &known, "'%.80s' is to be followed by one of its fields",
                            p->names[at - 1].text);
    mem_free(known.list);
    return code;
}

static const struct field *member(const struct asked *p, uint32_t at, const struct field *fields,
                                  size_t count)
{
    return at < p->count ? find_field(fields, count, p->names[at].text) : NULL;
}

static int bind_run(const struct asked *p)
{
    static const struct field fields[] = { { "id", REF_RUN_ID, 0, NULL }, { "name", REF_RUN_NAME, 0, NULL } };
    const struct field *field = member(p, 1, fields, COUNT(fields));
    if (!field)
        return refuse_member(p, 1, fields, COUNT(fields));
    answer(p, field->field, "string")->used = 2;
    return 2;
}

static int bind_budget(const struct asked *p)
{
    static const struct field limits[] = {
        { "tokens", RONDO_LIMIT_TOKENS, 0, "int" },
        { "cost", RONDO_LIMIT_COST_NANO, 0, "double" },
        { "time", RONDO_LIMIT_TIME_MS, 0, "google.protobuf.Duration" },
        { "calls", RONDO_LIMIT_CALLS, 0, "int" },
    };
    static const struct field sides[] = { { "used", 0, 0, NULL }, { "left", 1, 0, NULL } };
    const struct field *limit = member(p, 1, limits, COUNT(limits));
    if (!limit)
        return refuse_member(p, 1, limits, COUNT(limits));
    bool is_whole = p->count == 2 && limit->field != RONDO_LIMIT_TIME_MS; // maps have no durations
    const struct field *side = member(p, 2, sides, COUNT(sides));
    if (!side && !is_whole)
        return refuse_member(p, 2, sides, COUNT(sides));
    struct flow_ref *ref = answer(p, REF_BUDGET, side ? limit->type : ANY_MAP);
    ref->number = limit->field * 2u + (side ? side->field : 0);
    ref->is_whole = !side;
    ref->used = side ? 3 : 2;
    return (int)ref->used;
}

static int bind_feedback(const struct asked *p)
{
    static const struct field fields[] = {
        { "text", FIELD_TEXT, 0, "string" },
        { "previous", FIELD_PREVIOUS, 0, NULL },
        { "judge", FIELD_JUDGE, 0, "string" },
        { "attempt", FIELD_ATTEMPT, 0, "int" },
    };
    const struct field *field = member(p, 1, fields, COUNT(fields));
    if (p->count > 1 && !field)
        return refuse_member(p, 1, fields, COUNT(fields));
    struct flow_ref *ref = answer(p, REF_FEEDBACK, field ? field->type : ANY_MAP);
    ref->scope = bind_loop_scope(p->b->place.scope);
    ref->field = field ? field->field : FIELD_ALL;
    ref->used = field ? 2 : 1;
    return (int)ref->used;
}

/* ---- the first name ------------------------------------------------------------------------------------- */

static const struct root {
    const char *name;
    int (*bind)(const struct asked *p); // NULL: the name stands for itself
    uint8_t ref;
    uint8_t where;
    bool in_v1; // declared everywhere there, meaning something or not
    const char *type;
} roots[] = {
    { "steps", bind_steps, 0, ANYWHERE, true, NULL },
    { "inputs", bind_inputs, 0, ANYWHERE, true, NULL },
    { "state", bind_state, 0, ANYWHERE, true, NULL },
    { "input", NULL, REF_INPUT, ANYWHERE, true, NULL },
    { "run", bind_run, 0, ANYWHERE, true, NULL },
    { "budget", bind_budget, 0, ANYWHERE, true, NULL },
    { "feedback", bind_feedback, 0, ANYWHERE, true, NULL },
    { "iteration", NULL, REF_ITERATION, IN_LOOPS, true, "int" },
    { "item", NULL, REF_ITEM, IN_EACHES, true, NULL },
    { "index", NULL, REF_INDEX, IN_EACHES, true, "int" },
    { "content", NULL, REF_CONTENT, IN_RULES, true, "string" },
    { "result", NULL, REF_RESULT, IN_RULES, true, NULL },
    { "status", NULL, REF_STATUS, IN_RULES, true, "string" },
    { "score", NULL, REF_SCORE, IN_RULES, false, "double" },
    { "best", NULL, REF_BEST, IN_LOOPS, false, ANY_MAP },
    { "history", NULL, REF_HISTORY, IN_LOOPS, false, ANY_LIST },
    { "error", NULL, REF_ERROR, IN_RETRY, false, "string" },
    { "contributions", NULL, REF_CONTRIBUTIONS, IN_FORUMS, false, ANY_LIST },
};

const struct flow_scope *bind_loop_scope(const struct flow_scope *scope)
{
    while (scope && scope->kind != SCOPE_LOOP && scope->kind != SCOPE_MACHINE)
        scope = scope->up;
    return scope;
}

const struct flow_scope *bind_each_scope(const struct flow_scope *scope)
{
    while (scope && scope->kind != SCOPE_EACH)
        scope = scope->up;
    return scope;
}

const char *const bind_only_there[] = {
    [IN_LOOPS] = "exists only in a loop",
    [IN_EACHES] = "exists only in a forEach",
    [IN_RULES] = "is of the pass that a rule of a loop is asked about; elsewhere there is steps.ID",
    [IN_RETRY] = "exists only in retry.on; elsewhere there is steps.ID.error",
    [IN_FORUMS] = "exists only for agents that speak in a forum",
};

bool bind_is_in(const struct flow_scope *scope, enum where where)
{
    switch (where) {
    case IN_LOOPS: return bind_loop_scope(scope);
    case IN_EACHES: return bind_each_scope(scope);
    case IN_FORUMS: return scope->kind == SCOPE_FORUM;
    default: return true;
    }
}

static bool is_there(const struct binding *b, const struct root *root)
{
    if (b->place.allows & ALLOW_HEAD && root->bind != bind_inputs && root->bind != bind_run)
        return false;
    if (root->in_v1 && binding_is_v1(b))
        return true;
    switch (root->where) {
    case IN_LOOPS: return b->place.allows & (ALLOW_PASS | ALLOW_USER) || bind_is_in(b->place.scope, IN_LOOPS);
    case IN_RULES: return b->place.allows & ALLOW_PASS;
    case IN_RETRY: return b->place.allows & ALLOW_ERROR;
    default: return b->place.allows & ALLOW_USER || bind_is_in(b->place.scope, root->where);
    }
}

/* A name that stands for itself: what is known of its value, if anything; else false. */
static bool add_value(struct yield *y, const struct binding *b, const struct flow_ref *ref)
{
    const struct flow_step *owner = ref->scope ? ref->scope->owner : NULL;
    bool is_pass = b->place.allows & ALLOW_PASS && ref->scope == b->place.scope && ref->scope->kind == SCOPE_LOOP;
    if (ref->root == REF_RESULT && is_pass && owner)
        yield_add_pass(y, owner);
    else if (ref->root == REF_BEST && owner)
        yield_add_record(y, owner);
    else if (ref->root == REF_ITEM && owner && !(b->place.allows & ALLOW_USER)) // else it may be another's
        yield_add_item(y, owner);
    else if (ref->root == REF_CONTRIBUTIONS)
        yield_add_contributions(y);
    else if (ref->root == REF_INPUT && b->place.input.before)
        yield_add_output(y, b->place.input.before);
    else
        return false;
    return true;
}

static int bind_value(const struct asked *p, struct flow_ref *ref)
{
    auto_yield struct yield y = { 0 };
    if (!add_value(&y, p->b, ref))
        return 1;
    if (ref->root == REF_RESULT && look_for_result(p, 0, ref->scope->owner, &y) < 0)
        return p->err->code;
    return describe(p, ref, &y);
}

static int bind_plain(const struct asked *p, const struct root *root)
{
    const struct flow_scope *scope = p->b->place.scope;
    struct flow_ref *ref = answer(p, root->ref, root->type);
    ref->scope = root->where == IN_EACHES ? bind_each_scope(scope) : bind_loop_scope(scope);
    return look_at_plain(p, ref) < 0 ? p->err->code : bind_value(p, ref);
}

/* ---- items ------------------------------------------------------------------------------------------------ */

/* A list or map that is being asked about. */
struct list {
    const struct flow_ref *ref;
    const struct flow_step *step; // in which it is; NULL
    const struct flow_step *loop; // whose passes it has; NULL
};

static struct list list_of(const struct flow_ref *ref)
{
    struct list list = { .ref = ref };
    if (ref->root == REF_STEP && ref->scope)
        list.step = ref->scope->steps[ref->index];
    if (ref->root == REF_HISTORY && ref->scope)
        list.loop = ref->scope->owner;
    else if (list.step && ref->field == FIELD_HISTORY)
        list.loop = list.step;
    return list;
}

/* The value that its path begins with, if something is known of it; else false. */
static bool add_whole(struct yield *y, const struct binding *b, const struct list *list)
{
    const struct flow_ref *ref = list->ref;
    bool is_input = ref->root == REF_INPUTS && ref->name;
    const struct flow_input *input = is_input ? flow_input(b->place.scope->flow, ref->name) : NULL;
    if (!input)
        return list->step ? add_field(y, list->step, ref->field) : add_value(y, b, ref);
    yield_add(y, input->schema.rules);
    return true;
}

/* What is known of it; the first `count` names are its path. */
static void add_list(struct yield *y, const struct asked *p, const struct list *list, size_t count)
{
    if (list->loop)
        yield_add_history(y, list->loop);
    else if (add_whole(y, p->b, list))
        for (size_t i = count - list->ref->inside; i < count; i++)
            yield_enter(y, p->names[i].text);
}

static enum yield_has enter(struct yield *y, const struct cel_name *name)
{
    if (name->text)
        return yield_enter(y, name->text);
    yield_enter_items(y);
    return YIELD_HAS;
}

/* Items are asked about before their fields, so that only the last name may be unknown. */
static int bind_in_items(const struct asked *p, const struct list *list, size_t from)
{
    enum yield_has has = YIELD_HAS;
    auto_yield struct yield y = { 0 };
    add_list(&y, p, list, from);
    for (size_t i = from; i < p->count && has == YIELD_HAS; i++)
        has = enter(&y, &p->names[i]);
    if (has == YIELD_LACKS)
        return refuse_property(p, p->count - 1, &y);
    *p->ret_type = yield_is_int(&y) ? "number" : yield_type(&y); // 3.0 is an integer, and stays a double here
    return has == YIELD_HAS && yield_is_known(&y);
}

int bind_item(void *user, uintptr_t token, const struct cel_name *names, size_t count, size_t from,
              const char **ret_type, rondo_error *err)
{
    struct asked p = { .b = user, .names = names, .count = (uint32_t)count, .ret_type = ret_type, .err = err };
    struct list list = list_of((const struct flow_ref *)token);
    if (binding_is_v1(p.b))
        return 0;
    if (!list.loop || count > from + 1)
        return bind_in_items(&p, &list, from);
    *ret_type = ANY_MAP; // a pass: for size(history) nobody has to know what is in it
    return 1;
}

static const struct root *find_root(const char *name)
{
    for (size_t i = 0; i < COUNT(roots); i++)
        if (strcmp(roots[i].name, name) == 0)
            return &roots[i];
    return NULL;
}

/* Only by a name that means something where the expression stands.  A capital is the beginning of a text. */
static bool translate_root(struct binding *b, const struct cel_name *name)
{
    bool is_text = name->text[0] >= 'A' && name->text[0] <= 'Z';
    const struct foreign *foreign = is_text ? NULL : foreign_word(FOREIGN_NAME, NULL, name->text, name->len);
    const struct root *root = foreign ? find_root(foreign->ours) : NULL;
    return root && is_there(b, root) && translate(b, FOREIGN_NAME, name);
}

/* Passes and items are counted by names of their own. */
static void put_other_count(struct binding *b, const struct root *root)
{
    static const struct {
        uint8_t asked;
        const char *other, *about;
    } counts[] = {
        { REF_INDEX, "iteration", "the passes of a loop" },
        { REF_ITERATION, "index", "the items of a forEach" },
    };
    for (size_t i = 0; i < COUNT(counts); i++)
        if (counts[i].asked == root->ref && is_there(b, find_root(counts[i].other)))
            snprintf(b->hint, sizeof b->hint, "`%s` counts %s, from 0", counts[i].other, counts[i].about);
}

static int refuse_root(const struct asked *p, const struct root *root)
{
    bool is_head = p->b->place.allows & ALLOW_HEAD;
    int code = asked_refuse(p, 0, NULL, "'%s' %s", root->name,
                            is_head ? "is not there yet when a file is described" : bind_only_there[root->where]);
    put_other_count(p->b, root);
    return code;
}

/* A name that nothing has: CEL refuses it, unless it is a type of its own; a hint helps. */
static int note_unknown(const struct asked *p)
{
    struct binding *b = p->b;
    struct names known = names_new(p);
    for (size_t i = 0; i < COUNT(roots); i++)
        if (is_there(b, &roots[i]))
            names_add(&known, roots[i].name);
    b->bad_at = p->names[0].offset;
    b->bad_len = p->names[0].len;
    b->hint[0] = '\0';
    b->lists_names = false;
    if (bind_visible_step(b->place.scope, p->names[0].text))
        snprintf(b->hint, sizeof b->hint, "did you mean steps.%.80s?", p->names[0].text);
    else
        asked_suggest(p, 0, &known);
    if (b->lists_names && translate_root(b, &p->names[0]))
        b->lists_names = false;
    mem_free(known.list);
    return 0;
}

int bind_path(void *user, const struct cel_name *names, size_t count, const char **ret_type,
              uintptr_t *ret_token, rondo_error *err)
{
    struct flow_ref *ref = NULL;
    struct asked p = { user, names, (uint32_t)count, ret_type, &ref, err };
    const struct root *root = find_root(names[0].text);
    if (!root)
        return note_unknown(&p);
    if (!is_there(p.b, root))
        return refuse_root(&p, root);
    if (root->where != ANYWHERE && look_for_users(&p, root->where, NULL) < 0)
        return err->code;
    int used = root->bind ? root->bind(&p) : bind_plain(&p, root);
    if (binding_is_v1(p.b) && (used > 1 || root->ref == REF_RESULT))
        *ret_type = NULL; // Zenflow has types of variables, but not of what is in them
    *ret_token = (uintptr_t)ref;
    return used;
}

