/* read.c - reading a document into the structs of a flow, by the tables of fields.h.

   The reader walks the keys that the file has and looks each up in its object's table.  null is the
   same as an absent key.  Any scalar is accepted where a text is wanted (`name: 12`), and is that text from
   then on; only JSON of v1 is taken at its word.  What is wrong is reported and left at its default, and reading
   goes on. */
#include "flow/load.h"

#include "base/buf.h"
#include "data/duration.h"
#include "data/utf8.h"
#include "flow/foreign.h"

#include <limits.h>
#include <math.h>
#include <string.h>

static uint8_t dialect_of(const struct loading *l)
{
    return l->is_v1 ? IN_V1 : IN_RONDO;
}

static const char *code_of(const struct field *field)
{
    return field->code ? field->code : "validation";
}

/* ---- saying what is wrong ---------------------------------------------------------------------- */

const char *read_shown(struct loading *l, const struct doc_val *val)
{
    auto_buf struct buf out = { 0 };
    if (val->kind == DOC_LIST || val->kind == DOC_MAP)
        return val->kind == DOC_LIST ? "a list" : "a map";
    if (!val->text || val->kind == DOC_NULL || val->text_len > 60 || val->is_block)
        return val->kind == DOC_TEXT ? "a text" : doc_kind_text(val);
    buf_printf(&out, val->kind == DOC_TEXT ? "the text '%s'" : "%s", val->text);
    return arena_dup(&l->flow->arena, out.data, out.len);
}

static struct diag *wrong_type(struct loading *l, const struct doc_val *val, const char *what,
                               const char *expected)
{
    load_refuse(l);
    return load_error(l, STAGE_DECODE, val, "validation", "`%s` has to be %s, not %s", what, expected,
                      read_shown(l, val));
}

#define SHOWN_IN_HINT 60 // bytes of a scalar

static bool is_short(const struct doc_val *val)
{
    return val->text && val->kind != DOC_NULL && val->text_len && val->text_len <= SHOWN_IN_HINT &&
           !strpbrk(val->text, "\n\r");
}

/* Of a map that has names where a list has entries the names may be meant for ids. */
static void suggest_list(struct diag *diag, const struct doc_val *val, const char *what)
{
    if (is_short(val) && !strpbrk(val->text, "[]{}#'\""))
        diag_hint(diag, "as a list: %s: [%s]", what, val->text);
    else if (val->kind == DOC_MAP && val->count && val->items[0]->kind == DOC_MAP)
        diag_hint(diag, "each entry of a list begins with `- `");
}

bool read_expect(struct loading *l, const struct doc_val *val, enum doc_kind kind, const char *what)
{
    if (val->kind == kind)
        return true;
    struct diag *diag =
        wrong_type(l, val, what, kind == DOC_MAP ? "a map" : kind == DOC_LIST ? "a list" : "true or false");
    if (kind == DOC_LIST)
        suggest_list(diag, val, what);
    return false;
}

bool read_expect_entry(struct loading *l, const struct doc_val *val, const char *name, const char *meant)
{
    const char *key = l->key;
    l->key = NULL;
    bool is_map = read_expect(l, val, DOC_MAP, name);
    l->key = key;
    if (!is_map)
        load_slip(l, val, meant);
    return is_map;
}

static bool is_whole(const struct field *field)
{
    return field->type != F_NUMBER && field->type != F_MONEY;
}

/* Zenflow has no greatest number of passes or tries; nobody will see the difference to ours. */
static bool is_clamped(const struct loading *l, const struct field *field)
{
    return l->is_v1 && is_whole(field);
}

static void complain_range(struct loading *l, const struct field *field, const struct doc_val *val)
{
    double n = doc_number(val);
    bool is_open = field->max >= INT_MAX || is_clamped(l, field);
    struct diag *diag;
    load_refuse(l);
    if (is_open && n > field->max)
        diag = load_error(l, field->stage, val, "validation", "`%s` has to be at most %.16g, not %s", field->key,
                          field->max, val->text);
    else if (is_open)
        diag = load_error(l, field->stage, val, code_of(field), "`%s` has to be at least %.15g, not %s",
                          field->key, field->min, val->text);
    else
        diag = load_error(l, field->stage, val, code_of(field), "`%s` has to be between %.15g and %.15g, not %s",
                          field->key, field->min, field->max, val->text);
    load_spare(l, diag);
}

static void complain_empty(struct loading *l, const struct field *field, const struct doc_val *val)
{
    load_refuse(l);
    load_error(l, field->stage, val, code_of(field), "`%s` must not be empty", field->key);
}

/* ---- scalars ---------------------------------------------------------------------------------------- */

static bool is_strict(const struct loading *l)
{
    return l->how->is_json && l->is_v1;
}

bool read_is_text(const struct loading *l, const struct doc_val *val)
{
    return val->kind == DOC_TEXT || (val->text && val->kind != DOC_NULL && !is_strict(l));
}

const char *read_text(struct loading *l, const struct doc_val *val, const char *what)
{
    if (read_is_text(l, val)) {
        doc_json_as_text(l->flow->doc, val);
        return val->text;
    }
    wrong_type(l, val, what, "text");
    return NULL;
}

static void refuse_override(struct loading *l, struct source *source, uint32_t code, uint32_t line, uint32_t column)
{
    struct diag *diag = diag_at(l->diags, source, NULL, "validation", "U+%04X changes the direction of writing",
                                (unsigned)code);
    diag->line = line;
    diag->column = column;
    load_at_stage(l, diag, STAGE_TEXT);
}

void read_directions(struct loading *l, struct source *source)
{
    uint32_t code, line, column;
    size_t at = 0;
    while ((at = doc_find_override(source->text, source->len, at, &code)) < source->len && diags_has_room(l->diags)) {
        source_place(source, at++, &line, &column);
        refuse_override(l, source, code, line, column);
    }
}

/* Each of them, also those that are written as escapes. */
static void refuse_overrides(struct loading *l, const struct doc_val *val)
{
    uint32_t code, line, column;
    size_t at = 0;
    while ((at = doc_find_override(val->text, val->text_len, at, &code)) < val->text_len && diags_has_room(l->diags)) {
        doc_locate(l->flow->doc, val, at++, &line, &column);
        refuse_override(l, l->flow->source, code, line, column);
    }
}

bool read_clean(struct loading *l, const struct doc_val *val, const char *what, const char **ret,
                size_t *ret_len)
{
    size_t bad = 0;
    if (!read_text(l, val, what))
        return false;
    if (doc_clean_text(&l->flow->arena, val->text, val->text_len, ret, ret_len, &bad))
        return true;
    load_refuse(l);
    refuse_overrides(l, val);
    return false;
}

bool read_is_upright(struct loading *l, const struct doc_val *val, const char *what)
{
    const char *clean;
    size_t len;
    return read_clean(l, val, what, &clean, &len);
}

void read_no_holes(struct loading *l, const struct doc_val *val)
{
    const char *hole = val->text && !l->is_v1 ? strstr(val->text, "${") : NULL;
    while (hole && hole > val->text && hole[-1] == '$')
        hole = strstr(hole + 1, "${");
    if (!hole)
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, val, "validation", "there are no holes here: '${' stays as it is");
    doc_locate(l->flow->doc, val, (size_t)(hole - val->text), &diag->line, &diag->column);
    diag->width = 2;
    diag_warn(l->diags, diag);
}

static void read_line(struct loading *l, const struct field *field, const struct doc_val *val,
                      const char **ret)
{
    const char *text = NULL;
    size_t len = 0;
    if (field->type == F_CLEAN) {
        if (!read_clean(l, val, field->key, &text, &len))
            return;
        read_no_holes(l, val);
    } else if ((text = read_text(l, val, field->key))) {
        len = val->text_len;
    }
    if (!text)
        return;
    if (field->not_empty && !len)
        complain_empty(l, field, val);
    else if (ret)
        *ret = text;
}

static const struct word *word_find(const struct word *words, const char *text, uint8_t dialect)
{
    for (; words->name; words++)
        if ((words->dialects & dialect) && strcmp(words->name, text) == 0)
            return words;
    return NULL;
}

static void complain_word(struct loading *l, const struct field *field, const struct doc_val *val)
{
    const char *names[16];
    size_t count = 0;
    auto_buf struct buf all = { 0 };
    load_refuse(l);
    for (const struct word *w = field->words; w->name; w++)
        if (*w->name && (w->dialects & dialect_of(l)) && count < COUNT(names)) {
            buf_printf(&all, "%s%s", count ? ", " : "", w->name);
            names[count++] = w->name;
        }
    struct diag *diag = load_error(l, field->stage, val, code_of(field), "`%s` has to be %s%s, not '%s'",
                                   field->key, count > 1 ? "one of " : "", buf_text(&all), val->text);
    const struct foreign *foreign = foreign_word(FOREIGN_VALUE, field->key, val->text, val->text_len);
    if (l->is_v1 && word_find(field->words, val->text, IN_RONDO))
        diag_hint(diag, "'%s' is known in the rondo dialect: add `rondo: 1` at the top", val->text);
    else if (foreign && word_find(field->words, foreign->ours, dialect_of(l)))
        diag_hint(diag, "did you mean `%s`?", foreign->ours);
    else
        load_suggest(l, diag, val->text, names, count);
}

/* The word's value goes where the type says. */
static void read_word(struct loading *l, const struct field *field, const struct doc_val *val, void *ret)
{
    const char *text = read_text(l, val, field->key);
    const struct word *word = text ? word_find(field->words, text, dialect_of(l)) : NULL;
    if (text && !word)
        complain_word(l, field, val);
    if (!word || !ret)
        return;
    if (field->type == F_WORD)
        *(const char **)ret = word->name;
    else if (field->type == F_CHOICE)
        *(bool *)ret = word->value;
    else
        *(int *)ret = word->value;
}

/* 3.0 and 1e6 are, and what has more than 64 bits. */
static bool is_whole_number(const struct doc_val *val)
{
    return val->kind == DOC_INT || (val->kind == DOC_REAL && floor(val->real) == val->real);
}

/* A number within its range; false after an error. */
static bool number_of(struct loading *l, const struct field *field, const struct doc_val *val,
                      double *ret)
{
    if (is_whole(field) ? !is_whole_number(val) : val->kind != DOC_INT && val->kind != DOC_REAL) {
        wrong_type(l, val, field->key, is_whole(field) ? "a whole number" : "a number");
        return false;
    }
    *ret = doc_number(val);
    if (is_whole(field) && val->kind == DOC_REAL && fabs(*ret) >= 0x1p63) {
        load_refuse(l);
        load_error(l, STAGE_DECODE, val, "validation", "`%s` is too large: %s", field->key, val->text);
        return false;
    }
    if (field->has_range && is_clamped(l, field))
        *ret = MIN(*ret, field->max);
    if (isfinite(*ret) && (!field->has_range || (*ret >= field->min && *ret <= field->max)))
        return true;
    complain_range(l, field, val);
    return false;
}

static void read_number(struct loading *l, const struct field *field, const struct doc_val *val,
                        void *ret)
{
    double n;
    if (!number_of(l, field, val, &n) || !ret)
        return;
    switch (field->type) {
    case F_INT: *(int *)ret = (int)n; break;
    case F_LONG: *(int64_t *)ret = val->kind == DOC_INT ? val->number : (int64_t)n; break;
    case F_MONEY: *(int64_t *)ret = MAX(1, (int64_t)llround(n * 1e9)); break;
    default: *(double *)ret = n; break;
    }
}

static void read_duration(struct loading *l, const struct field *field, const struct doc_val *val,
                          int64_t *ret)
{
    rondo_error err;
    int64_t ms = 0;
    if (!val->text || val->kind == DOC_BOOL)
        wrong_type(l, val, field->key, "a duration such as '30s'");
    else if (l->how->is_json && val->kind != DOC_TEXT)
        wrong_type(l, val, field->key, "a duration such as '30s', in quotes");
    else if (duration_parse(val->text, l->is_v1, &ms, &err) < 0) {
        load_error(l, STAGE_DECODE, val, "validation", "`%s`: %s", field->key, err.message);
        load_refuse(l);
    } else {
        doc_json_as_text(l->flow->doc, val);
        if (ret)
            *ret = ms;
    }
}

static void read_bool(struct loading *l, const struct field *field, const struct doc_val *val, bool *ret)
{
    if (read_expect(l, val, DOC_BOOL, field->key) && ret)
        *ret = val->is_true;
}

/* ---- lists and maps of texts ----------------------------------------------------------------------- */

static void read_texts(struct loading *l, const struct field *field, const struct doc_val *val,
                       const char ***ret, uint32_t *ret_count)
{
    uint32_t count = 0;
    if (!read_expect(l, val, DOC_LIST, field->key))
        return;
    const char **list = arena_alloc(&l->flow->arena, (val->count + 1) * sizeof *list);
    for (uint32_t i = 0; i < val->count; i++)
        if ((list[count] = read_text(l, val->items[i], field->key)))
            count++;
    list[count] = NULL;
    if (field->not_empty && !val->count)
        complain_empty(l, field, val);
    if (ret) {
        *ret = list;
        *ret_count = count;
    }
}

static void check_text_map(struct loading *l, const struct field *field, const struct doc_val *val)
{
    if (read_expect(l, val, DOC_MAP, field->key))
        for (uint32_t i = 0; i < val->count; i++)
            read_text(l, val->items[i], val->keys[i]->text);
}

static bool is_scalar(const struct doc_val *val)
{
    return val->text && val->kind != DOC_NULL;
}

/* The key of an object without which there is none is what a scalar in its place is about. */
static void suggest_key(struct diag *diag, const struct field *field, const struct doc_val *val)
{
    const struct field *row = field->of->list, *end = row + field->of->count;
    while (row < end && !row->needed)
        row++;
    if (row < end && is_short(val) && !strpbrk(val->text, "[]{}#'\","))
        diag_hint(diag, "as a map: %s: { %s: %s }", field->key, row->key, val->text);
}

/* An object of the row's table, where it is. */
static void read_one(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    if (field->or_text && is_scalar(val))
        doc_json_as_text(l->flow->doc, val);
    else if (val->kind == DOC_MAP)
        read_object(l, field->of, val, into);
    else
        suggest_key(wrong_type(l, val, field->key, field->or_text ? "text or a map" : "a map"), field, val);
}

/* What reads well may be refused all the same by whoever it is for. */
static void check_entry(struct loading *l, const struct field *field, const struct doc_val *val)
{
    rondo_error err;
    uint32_t errors = l->diags->errors;
    read_one(l, field, val, NULL);
    if (field->check && l->diags->errors == errors && field->check(doc_json(l->flow->doc, val), &err) < 0)
        load_error(l, field->stage, load_follow(val, err.path, NULL), code_of(field), "%s", err.message);
}

static void check_list(struct loading *l, const struct field *field, const struct doc_val *val)
{
    if (!read_expect(l, val, DOC_LIST, field->key))
        return;
    if (field->not_empty && !val->count)
        complain_empty(l, field, val);
    for (uint32_t i = 0; i < val->count; i++)
        check_entry(l, field, val->items[i]);
}

static void check_map(struct loading *l, const struct field *field, const struct doc_val *val)
{
    if (read_expect(l, val, DOC_MAP, field->key))
        for (uint32_t i = 0; i < val->count; i++)
            if (read_expect_entry(l, val->items[i], val->keys[i]->text, ""))
                read_object(l, field->of, val->items[i], NULL);
}

/* Where a text is wanted, the scalar that is one. */
static json_t *text_json(struct loading *l, const struct doc_val *val)
{
    return is_scalar(val) ? json_stringn_nocheck(val->text, val->text_len) : json_incref(doc_json(l->flow->doc, val));
}

static json_t *texts_json(struct loading *l, const struct doc_val *val)
{
    json_t *json = val->kind == DOC_MAP ? json_object() : json_array();
    for (uint32_t i = 0; i < val->count; i++)
        if (val->kind == DOC_MAP)
            json_object_set_new_nocheck(json, val->keys[i]->text, text_json(l, val->items[i]));
        else
            json_array_append_new(json, text_json(l, val->items[i]));
    return json;
}

static json_t *row_json(struct loading *l, const struct field *field, const struct doc_val *val)
{
    switch (field ? field->type : F_JSON) {
    case F_TEXT: return text_json(l, val);
    case F_TEXTS:
    case F_TEXT_MAP: return texts_json(l, val);
    default: return json_incref(doc_json(l->flow->doc, val));
    }
}

/* A map of such objects, for those who look for texts in it. */
static json_t *rows_json(struct loading *l, const struct fields *table, const struct doc_val *map)
{
    json_t *rows = json_object();
    for (uint32_t i = 0; i < map->count; i++) {
        const struct doc_val *row = map->items[i];
        json_t *json = json_object();
        for (uint32_t k = 0; row->kind == DOC_MAP && k < row->count; k++) {
            const struct field *field = fields_find(table, row->keys[k]->text, dialect_of(l));
            json_object_set_new_nocheck(json, row->keys[k]->text, row_json(l, field, row->items[k]));
        }
        json_object_set_new_nocheck(rows, map->keys[i]->text, json);
    }
    return rows;
}

/* What stays JSON is checked all the same. */
static void read_kept(struct loading *l, const struct field *field, const struct doc_val *val, json_t **ret)
{
    if (field->type == F_MAP)
        check_map(l, field, val);
    else if (field->type == F_LIST)
        check_list(l, field, val);
    else
        read_one(l, field, val, NULL);
    if (ret && field->type == F_MAP && val->kind == DOC_MAP)
        *ret = doc_own_json(l->flow->doc, rows_json(l, field->of, val));
    else if (ret)
        *ret = doc_json(l->flow->doc, val);
}

/* ---- what is compiled later ------------------------------------------------------------------------- */

static struct pending *pending_add(struct loading *l, const struct field *field, const char *what,
                                   const struct doc_val *val)
{
    mem_grow(&l->pendings, &l->pending_cap, l->pending_count, sizeof *l->pendings);
    struct pending *p = &l->pendings[l->pending_count++];
    *p = (struct pending){ .field = field, .what = what, .step = l->step, .agent = l->agent, .at = val };
    return p;
}

void read_expr(struct loading *l, const struct field *field, const char *what,
               const struct doc_val *val, struct flow_expr *ret)
{
    if (!read_is_text(l, val)) {
        wrong_type(l, val, what, "a CEL expression");
        return;
    }
    if (!val->text_len) {
        load_refuse(l);
        load_error(l, field->stage, val, code_of(field), "`%s` must not be empty", what);
        return;
    }
    if (!l->is_v1 && val->kind == DOC_TEXT && !read_is_upright(l, val, what))
        return;
    *ret = (struct flow_expr){ .at = val, .flow = l->flow, .what = what };
    pending_add(l, field, what, val)->expr = ret;
}

void read_holes(struct loading *l, const struct field *field, const char *what,
                const struct doc_val *val, struct flow_text *ret)
{
    const char *text;
    size_t len;
    if (!read_clean(l, val, what, &text, &len))
        return;
    if (field->not_empty && !len)
        load_error(l, field->stage, val, code_of(field), "`%s` must not be empty", what);
    if (field->v1_bytes && l->is_v1 && len > field->v1_bytes)
        load_error(l, field->stage, val, "validation", "`%s` has %zu bytes; at most %u are allowed", field->key, len,
                   (unsigned)field->v1_bytes);
    *ret = (struct flow_text){ .text = text, .len = len, .at = val };
    pending_add(l, field, what, val)->text = ret;
}

static void read_exprs(struct loading *l, const struct field *field, const struct doc_val *val,
                       struct flow_named **ret, uint32_t *ret_count)
{
    if (!read_expect(l, val, DOC_MAP, field->key))
        return;
    if (field->not_empty && !val->count)
        complain_empty(l, field, val);
    *ret = arena_zalloc(&l->flow->arena, (val->count + 1) * sizeof **ret);
    *ret_count = val->count;
    for (uint32_t i = 0; i < val->count; i++) {
        (*ret)[i].name = val->keys[i]->text;
        read_expr(l, field, val->keys[i]->text, val->items[i], &(*ret)[i].expr);
    }
}

/* One that has to be about objects cannot be true. */
static void read_schema(struct loading *l, const struct field *field, const struct doc_val *val,
                        struct flow_schema *ret)
{
    bool is_result = field->kind;
    if (val->kind != DOC_MAP && (val->kind != DOC_BOOL || is_result)) {
        wrong_type(l, val, field->key, "a JSON Schema, which is a map");
        return;
    }
    ret->doc = doc_json(l->flow->doc, val);
    mem_grow(&l->schemas, &l->schema_cap, l->schema_count, sizeof *l->schemas);
    l->schemas[l->schema_count++] = (struct pending_schema){ val, ret };
}

/* ---- agents that are named ---------------------------------------------------------------------------- */

void read_agent_name(struct loading *l, const struct doc_val *val, struct flow_agent **ret,
                     const char *code, uint8_t stage)
{
    mem_grow(&l->namings, &l->naming_cap, l->naming_count, sizeof *l->namings);
    l->namings[l->naming_count++] = (struct naming){ val, ret, code, stage };
}

static void read_agent(struct loading *l, const struct field *field, const struct doc_val *val,
                       struct flow_agent **ret)
{
    const struct flow_scope *scope = l->step ? l->step->scope : NULL;
    if (read_text(l, val, field->key))
        read_agent_name(l, val, ret, field->code ? field->code : "missing_agent",
                        load_stage_in(scope, STAGE_REFERENCE));
}

static void read_made(struct loading *l, const struct field *field, const struct doc_val *val,
                      struct flow_step **ret)
{
    if (read_text(l, val, field->key))
        *ret = read_made_step(l, val, field->kind, field->made,
                              field->code ? field->code : "missing_agent", field->stage);
}

/* ---- steps ---------------------------------------------------------------------------------------------- */

static void read_steps(struct loading *l, const struct field *field, const struct doc_val *val,
                       struct flow_scope **ret)
{
    struct flow_step *owner = l->step;
    if (!read_expect(l, val, DOC_LIST, field->key))
        return;
    if (!val->count)
        complain_empty(l, field, val);
    if (val->count > NODE_COUNT_MAX) {
        load_error(l, STAGE_RONDO, val, "validation", "%u steps are more than the %d that one place may have",
                   (unsigned)val->count, NODE_COUNT_MAX);
        return;
    }
    l->totals->steps += val->count;
    if (l->totals->steps > FLOW_STEPS_MAX) {
        load_error(l, STAGE_RONDO, val, "validation", "a workflow of more than %d steps", FLOW_STEPS_MAX);
        return;
    }
    struct flow_scope *scope = *ret ? *ret : arena_zalloc(&l->flow->arena, sizeof *scope);
    *ret = scope;
    scope->kind = scope->owner ? scope->kind : field->kind;
    scope->flow = l->flow;
    scope->owner = owner;
    scope->steps = arena_zalloc(&l->flow->arena, (val->count + 1) * sizeof *scope->steps);
    scope->count = 0;
    for (uint32_t i = 0; i < val->count; i++) {
        if (val->items[i]->kind != DOC_MAP) {
            wrong_type(l, val->items[i], "steps[]", "a map that describes a step");
            load_slip(l, val->items[i], "id");
            scope->lacks_steps = true;
            continue;
        }
        struct flow_step *step = read_new_step(l, val->items[i]);
        step->scope = scope;
        step->index = scope->count;
        scope->steps[scope->count++] = step;
        l->step = step;
        read_object(l, &step_fields, val->items[i], step);
        l->step = owner;
    }
}

/* ---- objects ------------------------------------------------------------------------------------------- */

void read_field(struct loading *l, const struct field *field, const struct doc_val *val, void *into)
{
    void *at = into && field->offset != NOWHERE ? (char *)into + field->offset : NULL;
    uint32_t *count = at ? (uint32_t *)(void *)((char *)into + field->count_at) : NULL;
    switch ((enum field_type)field->type) {
    case F_TEXT:
    case F_CLEAN: read_line(l, field, val, at); break;
    case F_WORD:
    case F_ENUM:
    case F_CHOICE: read_word(l, field, val, at); break;
    case F_INT:
    case F_LONG:
    case F_NUMBER:
    case F_MONEY: read_number(l, field, val, at); break;
    case F_BOOL: read_bool(l, field, val, at); break;
    case F_DURATION: read_duration(l, field, val, at); break;
    case F_TEXTS: read_texts(l, field, val, at, count); break;
    case F_EXPR: read_expr(l, field, field->key, val, at); break;
    case F_HOLES: read_holes(l, field, field->key, val, at); break;
    case F_EXPRS: read_exprs(l, field, val, at, count); break;
    case F_JSON:
        if (at)
            *(json_t **)at = doc_json(l->flow->doc, val);
        break;
    case F_SCHEMA: read_schema(l, field, val, at); break;
    case F_OBJECT: read_one(l, field, val, at); break;
    case F_KEPT:
    case F_MAP:
    case F_LIST: read_kept(l, field, val, at); break;
    case F_TEXT_MAP: check_text_map(l, field, val); break;
    case F_STEPS: read_steps(l, field, val, at); break;
    case F_AGENT: read_agent(l, field, val, at); break;
    case F_MADE: read_made(l, field, val, at); break;
    case F_OWN: field->read(l, field, val, at ? at : into); break;
    }
}

/* The nearest key of a dialect; NULL. */
static const char *nearest_key(const struct loading *l, const struct fields *table, const char *key, uint8_t dialect)
{
    const char *names[64];
    size_t count = 0;
    for (uint32_t i = 0; i < table->count && count < COUNT(names); i++)
        if (field_is_in(table, &table->list[i], dialect))
            names[count++] = table->list[i].key;
    return diags_nearest(l->diags, key, names, count);
}

/* What v1 does not know may be meant all the same. */
static void suggest_dialect(struct loading *l, struct diag *diag, const struct fields *table, const char *key)
{
    const struct foreign *foreign = foreign_key(table, key, IN_RONDO);
    const char *meant = foreign ? foreign->ours : nearest_key(l, table, key, IN_RONDO);
    if (meant)
        diag_hint(diag, "did you mean `%s`? It is known in the rondo dialect: add `rondo: 1` at the top", meant);
}

/* Keys that stand one level too high. */
static void suggest_inner(struct diag *diag, const struct fields *table, const char *key, uint8_t dialect)
{
    auto_buf struct buf homes = { 0 };
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *field = &table->list[i];
        bool is_object = field->of && field->type != F_MAP && field->type != F_LIST;
        if (is_object && field_is_in(table, field, dialect) && fields_find(field->of, key, dialect))
            buf_printf(&homes, "%s`%s`", homes.len ? " or " : "", field->key);
    }
    if (homes.len)
        diag_hint(diag, "it belongs into %s", buf_text(&homes));
}

/* Where keys belong that stand too deep, or beside what they are about. */
static const struct {
    const struct fields *in, *home;
    const char *place;
} homes[] = {
    { &step_fields, &agent_fields, "into the agent" },       { &body_fields, &agent_fields, "into the agent" },
    { &case_fields, &agent_fields, "into the agent" },       { &loop_fields, &step_fields, "beside `loop`" },
    { &loop_fields, &agent_fields, "into the agent" },       { &parallel_fields, &step_fields, "beside `parallel`" },
    { &forum_fields, &step_fields, "beside `forum`" },       { &machine_fields, &step_fields, "beside `machine`" },
    { &gate_fields, &step_fields, "beside `gate`" },         { &review_fields, &step_fields, "beside `review`" },
    { &retry_fields, &step_fields, "beside `retry`" },       { &options_fields, &root_fields, "beside `options`" },
};

/* Words that anything may have: of something else they mean something else. */
static bool is_common(const char *key)
{
    return strcmp(key, "name") == 0 || strcmp(key, "description") == 0 || strcmp(key, "version") == 0;
}

/* What a step is told in the wrong place it is told all the same. */
static void suggest_home(struct loading *l, struct diag *diag, const struct fields *table, const char *key)
{
    suggest_inner(diag, table, key, dialect_of(l));
    for (size_t i = 0; i < COUNT(homes) && !diag->hint && !is_common(key); i++) {
        const struct field *field = homes[i].in == table ? fields_find(homes[i].home, key, dialect_of(l)) : NULL;
        if (!field)
            continue;
        diag_hint(diag, "it belongs %s", homes[i].place);
        if (homes[i].home == &step_fields && l->step)
            load_slip(l, l->step->at, field->key);
    }
}

/* Whether a key wants a list or map, as far as its row tells. */
static bool is_large(const struct field *field)
{
    return field->type >= F_TEXTS && field->type != F_EXPR && field->type != F_HOLES && field->type != F_AGENT &&
           field->type != F_MADE;
}

/* One letter from a key that takes what is written there. */
static bool is_slip(const struct fields *table, const char *key, const struct doc_val *val, const char *near,
                    uint8_t dialect)
{
    bool is_large_val = val->kind == DOC_LIST || val->kind == DOC_MAP;
    return diag_is_slip(key, near) && is_large(fields_find(table, near, dialect)) == is_large_val;
}

/* Says which key was meant by this one; answers it. */
static const char *suggest(struct loading *l, struct diag *diag, const struct fields *table, const char *key,
                           const struct doc_val *val)
{
    const char *near = nearest_key(l, table, key, dialect_of(l));
    const struct foreign *foreign = foreign_key(table, key, dialect_of(l));
    const char *meant = foreign ? foreign->ours : near;
    bool says_home = foreign && foreign->of && foreign->note; // a note about this very table knows better
    if (!says_home && (!near || !is_slip(table, key, val, near, dialect_of(l))))
        suggest_home(l, diag, table, key);
    if (foreign && foreign->note && !diag->hint)
        diag_hint(diag, "%s", foreign->note);
    if (meant && !diag->hint)
        diag_hint(diag, "did you mean `%s`?", meant);
    return meant;
}

/* All that there are, in the order of the manual. */
static void list_keys(struct diag *diag, const struct fields *table, uint8_t dialect)
{
    auto_buf struct buf keys = { 0 };
    for (uint32_t i = 0; i < table->count; i++)
        if (field_is_in(table, &table->list[i], dialect))
            buf_printf(&keys, "%s%s", keys.len ? ", " : "", table->list[i].key);
    diag_hint(diag, "there are: %s", buf_text(&keys));
}

static void unknown_key(struct loading *l, const struct fields *table, const struct doc_val *map, uint32_t i)
{
    const char *key = map->keys[i]->text, *meant = NULL;
    struct diag *diag = load_error(l, STAGE_DECODE, map->keys[i], "validation", "unknown key `%.80s` in %s", key,
                                   table->noun);
    if (l->is_v1 && fields_find(table, key, IN_RONDO))
        diag_hint(diag, "`%s` is known in the rondo dialect: add `rondo: 1` at the top", meant = key);
    else
        meant = suggest(l, diag, table, key, map->items[i]);
    if (!diag->hint && table == &case_fields)
        meant = suggest(l, diag, &else_fields, key, map->items[i]);
    if (!diag->hint && l->is_v1)
        suggest_dialect(l, diag, table, key);
    if (!diag->hint && diags_has_room(l->diags))
        list_keys(diag, table, dialect_of(l));
    if (meant && (meant == key || !load_has(l, map, meant)))
        load_slip(l, map, meant);
}

static void missing_keys(struct loading *l, const struct fields *table, const struct doc_val *at)
{
    for (uint32_t i = 0; i < table->count; i++) {
        const struct field *field = &table->list[i];
        bool null_will_do = field->type == F_JSON && doc_get(at, field->key);
        if (!(field->needed & dialect_of(l)) || !field_is_in(table, field, dialect_of(l)) ||
            load_has(l, at, field->key) || null_will_do || (table == &case_fields && load_has(l, at, "else")))
            continue;
        const struct flow_scope *scope = table == &step_fields ? l->step->scope : NULL;
        load_error(l, load_stage_in(scope, field->stage), at, field->missing ? field->missing : "validation",
                   "%s needs `%s`", table->noun, field->key);
    }
}

void read_object(struct loading *l, const struct fields *table, const struct doc_val *at, void *into)
{
    const struct doc_val *outer_map = l->map;
    const char *outer_key = l->key;
    for (uint32_t i = 0; i < at->count; i++) {
        const struct field *field = fields_find(table, at->keys[i]->text, dialect_of(l));
        l->map = at;
        l->key = field ? field->key : NULL;
        if (!field)
            unknown_key(l, table, at, i);
        else if (at->items[i]->kind != DOC_NULL || field->type == F_JSON)
            read_field(l, field, at->items[i], into);
    }
    l->map = outer_map;
    l->key = outer_key;
    missing_keys(l, table, at);
}
