/* read_step.c - reading steps, their bodies and their loops.

   Where the file only names an agent (untilAgent, members of a forum), a step is made for it. */
#include "flow/read_own.h"

#include "base/buf.h"

#include <string.h>

#define MEMBERS_MAX 1000

struct flow_step *read_new_step(struct loading *l, const struct doc_val *at)
{
    struct flow_step *step = arena_zalloc(&l->flow->arena, sizeof *step);
    step->at = step->id_at = at;
    step->flow = l->flow;
    step->id = "";
    step->max_retries = -1;
    return step;
}

struct flow_step *read_made_step(struct loading *l, const struct doc_val *name, enum flow_part part,
                                 const char *id, const char *code, uint8_t stage)
{
    struct flow_step *step = read_new_step(l, name);
    step->id = id;
    step->is_made = true;
    step->part = (uint8_t)part;
    read_agent_name(l, name, &step->agent, code, stage);
    return step;
}

/* Reads what describes a step that is not the one at hand. */
static void read_as(struct loading *l, struct flow_step *step, const struct fields *table,
                    const struct doc_val *val)
{
    struct flow_step *outer = l->step;
    l->step = step;
    read_object(l, table, val, step);
    l->step = outer;
}

void own_id(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    size_t len;
    step->id_at = val;
    if (!read_clean(l, val, field->key, &step->id, &len)) {
        step->id = "";
        return;
    }
    if (!read_is_name(step->id))
        load_error(l, load_stage_in(step->scope, field->stage), val, "invalid_step_id", "the id '%.80s' %s", step->id,
                   read_name_rule(step->id));
}

void own_retries(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    struct field number = *field;
    int retries = 0;
    number.type = F_INT;
    number.offset = 0;
    read_field(l, &number, val, &retries);
    step->retry.attempts = retries + 1;
}

/* ---- steps inside of steps --------------------------------------------------------------------------- */

/* A scope of this step's body, with room for so many steps. */
static struct flow_scope *make_inner(struct loading *l, struct flow_step *step, uint8_t kind, uint32_t room)
{
    struct flow_scope *scope = arena_zalloc(&l->flow->arena, sizeof *scope);
    scope->kind = kind;
    scope->flow = l->flow;
    scope->owner = step;
    scope->steps = arena_zalloc(&l->flow->arena, (room + 1) * sizeof *scope->steps);
    return scope;
}

static void scope_add(struct flow_scope *scope, struct flow_step *step)
{
    step->scope = scope;
    step->index = scope->count;
    scope->steps[scope->count++] = step;
}

static bool is_taken(const struct flow_scope *scope, const char *id)
{
    for (uint32_t i = 0; i < scope->count; i++)
        if (strcmp(scope->steps[i]->id, id) == 0)
            return true;
    return false;
}

/* "writer", and for a second one "writer#2". */
static const char *unique_id(struct loading *l, const struct flow_scope *scope, const char *id)
{
    const char *free_id = id;
    for (unsigned n = 2; is_taken(scope, free_id); n++) {
        auto_buf struct buf text = { 0 };
        buf_printf(&text, "%s#%u", id, n);
        free_id = arena_dup(&l->flow->arena, text.data, text.len);
    }
    return free_id;
}

static bool has_room(struct loading *l, const struct field *field, const struct doc_val *val)
{
    if (!val->count || val->count > MEMBERS_MAX)
        load_refuse(l);
    if (!val->count)
        load_error(l, field->stage, val, "validation", "`%s` must not be empty", field->key);
    if (val->count > MEMBERS_MAX)
        load_error(l, field->stage, val, "validation", "`%s` has %u entries; at most %d are allowed", field->key,
                   (unsigned)val->count, MEMBERS_MAX);
    return val->count <= MEMBERS_MAX;
}

/* The captain, who comes last, may have been read before. */
void own_members(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    if (!read_expect(l, val, DOC_LIST, field->key) || !has_room(l, field, val))
        return;
    struct flow_scope *before = step->inner, *scope = make_inner(l, step, field->kind, val->count + 1);
    enum flow_part part = field->kind == SCOPE_FORUM ? AS_MEMBER : AS_STEP;
    step->inner = scope;
    for (uint32_t i = 0; i < val->count; i++) {
        const char *name = read_text(l, val->items[i], field->key);
        if (name)
            scope_add(scope, read_made_step(l, val->items[i], part, unique_id(l, scope, name),
                                            "missing_agent", STAGE_REFERENCE));
    }
    if (before && before->count == 1 && before->steps[0]->part == AS_CAPTAIN)
        scope_add(scope, before->steps[0]);
}

void own_captain(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    if (!read_text(l, val, field->key))
        return;
    if (!step->inner || step->inner->kind != SCOPE_FORUM)
        step->inner = make_inner(l, step, SCOPE_FORUM, 1);
    scope_add(step->inner, read_made_step(l, val, AS_CAPTAIN, unique_id(l, step->inner, "captain"),
                                          "missing_agent", STAGE_REFERENCE));
}

/* ---- branch --------------------------------------------------------------------------------------------- */

void own_when(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = l->step;
    l->step = step->scope->owner; // who asks is the branch
    read_expr(l, field, field->key, val, &l->case_->when);
    l->step = step;
}

void own_case_name(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    const char *name = read_text(l, val, field->key);
    if (name && !read_is_name(name))
        load_error(l, field->stage, val, "validation",
                   "the case's name '%.80s' %s", name, read_name_rule(name));
    if (name)
        step->id = name;
    step->id_at = val;
}

void own_else(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    step->id = "else";
    step->id_at = doc_key(step->at, field->key);
    if (!read_expect(l, val, DOC_MAP, field->key))
        return;
    step->at = val;
    read_object(l, &body_fields, val, step);
}

/* A case without a name is called after what it does, so that its path does not depend on its place. */
static const char *case_name(const struct flow_step *step)
{
    static const char *const keys[] = { "agent", "include", "steps", "parallel", "branch", "forum", "gate",
                                        "set", "machine", "run", "loop" };
    const struct doc_val *agent = load_get(step->at, "agent");
    if (agent && agent->text && read_is_name(agent->text))
        return agent->text;
    for (size_t i = 1; i < COUNT(keys); i++)
        if (load_get(step->at, keys[i]))
            return keys[i];
    return "case";
}

static void read_case(struct loading *l, struct flow_scope *scope, const struct doc_val *val,
                      struct flow_case *ret, bool is_last)
{
    const struct doc_val *otherwise = doc_key(val, "else");
    struct flow_step *step = read_new_step(l, val);
    struct flow_case *outer = l->case_;
    step->scope = scope;
    ret->step = step;
    l->case_ = ret;
    read_as(l, step, otherwise ? &else_fields : &case_fields, val);
    l->case_ = outer;
    if (otherwise && !is_last)
        load_error(l, STAGE_RONDO, otherwise, "validation", "`else` has to be the last case");
    scope_add(scope, step);
}

/* Names that are given are not changed for the sake of those that are not. */
static void name_cases(struct loading *l, struct flow_step *branch)
{
    for (uint32_t i = 0; i < branch->case_count; i++) {
        struct flow_step *step = branch->cases[i].step;
        if (!*step->id)
            step->id = unique_id(l, branch->inner, case_name(step));
        branch->cases[i].name = step->id;
    }
}

void own_branch(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    if (!read_expect(l, val, DOC_LIST, field->key) || !has_room(l, field, val))
        return;
    step->inner = make_inner(l, step, SCOPE_BRANCH, val->count);
    step->cases = arena_zalloc(&l->flow->arena, (val->count + 1) * sizeof *step->cases);
    for (uint32_t i = 0; i < val->count; i++)
        if (read_expect(l, val->items[i], DOC_MAP, field->key))
            read_case(l, step->inner, val->items[i], &step->cases[step->case_count++], i + 1 == val->count);
    name_cases(l, step);
}

/* ---- machine --------------------------------------------------------------------------------------------- */

void own_states(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    if (!read_expect(l, val, DOC_MAP, field->key) || !has_room(l, field, val))
        return;
    step->inner = make_inner(l, step, SCOPE_MACHINE, val->count);
    for (uint32_t i = 0; i < val->count; i++) {
        struct flow_step *state = read_new_step(l, val->items[i]);
        state->id = val->keys[i]->text;
        state->id_at = val->keys[i];
        bool is_end = strcmp(state->id, "end") == 0;
        if (!read_is_name(state->id) || is_end)
            load_error(l, STAGE_RONDO, state->id_at, "validation", "the state's name '%.80s' %s", state->id,
                       is_end ? "is taken: it is where a machine stops" : read_name_rule(state->id));
        scope_add(step->inner, state);
        if (read_expect_entry(l, val->items[i], state->id, "steps"))
            read_as(l, state, &body_fields, val->items[i]);
    }
}

void own_edges(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    if (!read_expect(l, val, DOC_LIST, field->key))
        return;
    if (!val->count) {
        load_refuse(l);
        load_error(l, field->stage, val, "validation", "`%s` must not be empty", field->key);
    }
    step->edges = arena_zalloc(&l->flow->arena, (val->count + 1) * sizeof *step->edges);
    for (uint32_t i = 0; i < val->count; i++)
        if (read_expect(l, val->items[i], DOC_MAP, field->key))
            read_object(l, &edge_fields, val->items[i], &step->edges[step->edge_count++]);
}

/* ---- gate and review --------------------------------------------------------------------------------------- */

void own_on_timeout(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_step *step = into;
    bool is_word = val->kind == DOC_TEXT;
    if (val->kind == DOC_MAP)
        read_object(l, &answer_fields, val, step);
    else if (is_word && strcmp(val->text, "exit") == 0)
        step->gate_exits = true;
    else if (!is_word || strcmp(val->text, "fail") != 0)
        load_error(l, STAGE_DECODE, val, "validation", "`onTimeout` has to be fail, exit or { answer: VALUE }");
}

void own_review(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    if (!read_expect(l, val, DOC_MAP, field->key))
        return;
    struct flow_review *review = arena_zalloc(&l->flow->arena, sizeof *review);
    review->max_retries = review->max_predecessor_retries = 2;
    *(struct flow_review **)into = review;
    read_object(l, &review_fields, val, review);
    if (load_get(val, "agent") && load_get(val, "gate"))
        load_error(l, STAGE_RONDO, doc_key(val, "gate"), "validation",
                   "a review has either `agent` or `gate`, not both");
    if (!load_has(l, val, "agent") && !load_has(l, val, "gate"))
        load_error(l, STAGE_RONDO, val, "validation", "a review needs either `agent` or `gate`");
}

void own_review_gate(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_review *review = into;
    if (!read_expect(l, val, DOC_MAP, field->key))
        return;
    struct flow_step *step = review->reviewer = read_new_step(l, val);
    step->id = "review";
    step->part = AS_REVIEWER;
    step->body = BODY_GATE;
    read_as(l, step, &gate_fields, val);
}

/* ---- loops -------------------------------------------------------------------------------------------------- */

static void read_loop(struct loading *l, const struct doc_val *val, struct flow_loop *loop)
{
    loop->at = val;
    loop->is_each = load_get(val, "forEach");
    loop->scope = make_inner(l, l->step, loop->is_each ? SCOPE_EACH : SCOPE_LOOP, 0);
    read_object(l, &loop_fields, val, loop);
}

/* In v1 a loop in a loop is the finding.  What is in it is decoded before anybody looks at that; whatever else may be
   wrong there is not worth telling. */
static void refuse_nested(struct loading *l, const struct doc_val *val)
{
    struct flow_loop *loop = arena_zalloc(&l->flow->arena, sizeof *loop);
    uint32_t pendings = l->pending_count, namings = l->naming_count, schemas = l->schema_count;
    bool only_decodes = l->only_decodes;
    load_error(l, STAGE_INNER_LOOP, doc_key(l->step->at, "loop"), "nested_loop_prohibited",
               "a loop inside of the loop '%.80s'; v1 does not have that", l->step->scope->owner->id);
    l->only_decodes = true;
    read_loop(l, val, loop);
    l->only_decodes = only_decodes;
    l->pending_count = pendings;
    l->naming_count = namings;
    l->schema_count = schemas;
}

void own_loop(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    if (!read_expect(l, val, DOC_MAP, field->key))
        return;
    if (l->is_v1 && l->step->scope->kind != SCOPE_FILE) {
        refuse_nested(l, val);
        return;
    }
    struct flow_loop *loop = arena_zalloc(&l->flow->arena, sizeof *loop);
    *(struct flow_loop **)into = loop;
    read_loop(l, val, loop);
}

void own_for_each(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_loop *loop = into;
    if (val->kind == DOC_TEXT) {
        read_expr(l, field, field->key, val, &loop->items_expr);
        return;
    }
    if (val->kind != DOC_LIST || !val->count)
        load_refuse(l);
    if (val->kind != DOC_LIST)
        load_error(l, field->stage, val, "loop_validation",
                   "`forEach` has to be a list, or CEL that gives one, not %s", read_shown(l, val));
    else if (!val->count)
        load_error(l, field->stage, val, "foreach_empty_array", "`forEach` must not be empty: nothing would run");
    else
        loop->items = doc_json(l->flow->doc, val);
}

void own_feedback(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    struct flow_loop *loop = into;
    if (val->kind == DOC_BOOL)
        loop->no_feedback = !val->is_true;
    else
        read_holes(l, field, field->key, val, &loop->feedback);
}

void own_unbounded(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    read_expect(l, val, DOC_BOOL, field->key); // what it means is decided in rules_loop.c
}
