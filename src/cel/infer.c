/* infer.c - assignability as the reference checker has it: dyn fits everything both ways, null
   fits what may be absent, and of two types that fit the more general one is kept. */
#include "cel/infer.h"

#include "cel/overload.h"

#include <string.h>

static bool fit(struct infer *in, const struct cel_type *a, const struct cel_type *b);

#define WORK_MAX 2000000

void infer_clear(struct infer *in)
{
    mem_free(in->vars);
    mem_free(in->undo);
    *in = (struct infer){ 0 };
}

const struct cel_type *infer_var(struct infer *in)
{
    struct cel_type *var = arena_zalloc(in->arena, sizeof *var);
    mem_grow(&in->vars, &in->var_cap, in->var_count, sizeof *in->vars);
    in->vars[in->var_count] = NULL;
    var->kind = TYPE_VAR;
    var->count = in->var_count++;
    return var;
}

static void set_var(struct infer *in, const struct cel_type *var, const struct cel_type *type)
{
    mem_grow(&in->undo, &in->undo_cap, in->undo_count, sizeof *in->undo);
    in->undo[in->undo_count++] = (struct infer_undo){ var->count, in->vars[var->count] };
    in->vars[var->count] = type;
}

/* What a type is known to be: itself, unless it is a var that stands for another. */
static const struct cel_type *known(struct infer *in, const struct cel_type *type)
{
    while (type->kind == TYPE_VAR && in->vars[type->count])
        type = in->vars[type->count];
    return type;
}

/* A type must not contain itself. */
static bool occurs(struct infer *in, const struct cel_type *var, const struct cel_type *type)
{
    type = known(in, type);
    if (type->kind == TYPE_VAR || ++in->work > WORK_MAX)
        return type->kind != TYPE_VAR || type->count == var->count;
    for (uint32_t i = 0; i < type->count; i++)
        if (occurs(in, var, type->params[i]))
            return true;
    return false;
}

static bool is_more_general(const struct cel_type *a, const struct cel_type *b)
{
    if (a->kind == TYPE_DYN || a->kind == TYPE_VAR)
        return true;
    if (b->kind == TYPE_DYN || b->kind == TYPE_VAR || a->kind != b->kind ||
        a->count != b->count)
        return false;
    if (a->kind == TYPE_TYPE)
        return true;
    for (uint32_t i = 0; i < a->count; i++)
        if (!is_more_general(a->params[i], b->params[i]))
            return false;
    return true;
}

static const struct cel_type *more_general(struct infer *in, const struct cel_type *a,
                                           const struct cel_type *b)
{
    a = infer_resolve(in, a, false);
    b = infer_resolve(in, b, false);
    if (a->kind == TYPE_NULL || b->kind == TYPE_NULL)
        return a->kind == TYPE_NULL ? b : a;
    if (cel_type_is_same(a, b) || !(infer_has_known(in, a) || infer_has_known(in, b)))
        return is_more_general(a, b) ? a : b;
    a = infer_loosen(in, a);
    b = infer_loosen(in, b);
    return is_more_general(a, b) ? a : is_more_general(b, a) ? b : &cel_dyn;
}

/* Whether a fit of two types fails only because of what is known of a dyn in them. */
static bool fit_loosely(struct infer *in, const struct cel_type *a, const struct cel_type *b)
{
    return (infer_has_known(in, a) || infer_has_known(in, b)) && fit(in, infer_loosen(in, a), infer_loosen(in, b));
}

/* Whether var may stand for type; *ret_known tells that it stood for something already. */
static bool fit_var(struct infer *in, const struct cel_type *type, const struct cel_type *var,
                    bool *ret_known)
{
    const struct cel_type *is = in->vars[var->count];
    *ret_known = true;
    if (type->kind == TYPE_VAR && type->count == var->count)
        return true;
    if (is && cel_type_is_same(type, is))
        return true;
    if (is) {
        if (!fit(in, type, is) && !fit_loosely(in, type, is))
            return false;
        const struct cel_type *general = more_general(in, type, is);
        if (!occurs(in, var, general))
            set_var(in, var, general);
        return true;
    }
    *ret_known = false;
    if (occurs(in, var, type))
        return false;
    set_var(in, var, type);
    return true;
}

static bool is_nullable(const struct cel_type *type)
{
    return type->kind == TYPE_NULL || type->kind == TYPE_ABSTRACT ||
           type->kind == TYPE_TIMESTAMP || type->kind == TYPE_DURATION ||
           type->kind == TYPE_WRAPPER;
}

static bool fit_params(struct infer *in, const struct cel_type *a, const struct cel_type *b)
{
    if (a->kind != b->kind || a->count != b->count || strcmp(a->name, b->name) != 0)
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        if (!fit(in, a->params[i], b->params[i]))
            return false;
    return true;
}

static bool fit(struct infer *in, const struct cel_type *a, const struct cel_type *b)
{
    bool is_known;
    if (++in->work > WORK_MAX)
        return true;
    if (b->kind == TYPE_VAR) {
        if (fit_var(in, a, b, &is_known))
            return true;
        if (is_known)
            return false;
    }
    if (a->kind == TYPE_VAR)
        return fit_var(in, b, a, &is_known);
    if (a->kind == TYPE_DYN || b->kind == TYPE_DYN)
        return true;
    if (a->firm || b->firm)
        return fit(in, cel_type_firm(a), cel_type_firm(b));
    if (a->kind == TYPE_KNOWN || b->kind == TYPE_KNOWN)
        return overload_mask(a) & overload_mask(b);
    if (a->kind == TYPE_NULL || b->kind == TYPE_NULL)
        return is_nullable(a->kind == TYPE_NULL ? b : a);
    if (a->kind == TYPE_WRAPPER && b->kind != TYPE_WRAPPER)
        return fit(in, a->params[0], b);
    if (b->kind == TYPE_WRAPPER && a->kind != TYPE_WRAPPER)
        return fit(in, a, b->params[0]);
    if (a->kind == TYPE_TYPE && b->kind == TYPE_TYPE)
        return true;
    return fit_params(in, a, b);
}

bool infer_fit_all(struct infer *in, const struct cel_type *const *a,
                   const struct cel_type *const *b, uint32_t count)
{
    bool ok = true;
    in->undo_count = 0;
    for (uint32_t i = 0; ok && i < count; i++)
        ok = fit(in, a[i], b[i]);
    while (!ok && in->undo_count > 0) {
        const struct infer_undo *undo = &in->undo[--in->undo_count];
        in->vars[undo->var] = undo->was;
    }
    return ok;
}

bool infer_fit(struct infer *in, const struct cel_type *a, const struct cel_type *b)
{
    return infer_fit_all(in, &a, &b, 1);
}

const struct cel_type *infer_join(struct infer *in, const struct cel_type *a,
                                  const struct cel_type *b)
{
    if (!a)
        return b;
    return infer_fit(in, a, b) ? more_general(in, a, b) : &cel_dyn;
}

static const struct cel_type *resolve(struct infer *in, const struct cel_type *type, bool unknown_is_dyn,
                                      bool known_is_dyn)
{
    type = known(in, type);
    if (type->kind == TYPE_VAR)
        return unknown_is_dyn ? &cel_dyn : type;
    if (type->kind == TYPE_KNOWN)
        return !known_is_dyn ? type : type->firm ? type->firm : &cel_dyn;
    if (type->count == 0)
        return type;
    if (++in->work > WORK_MAX)
        return &cel_dyn;
    const struct cel_type **params = arena_alloc(in->arena, type->count * sizeof *params);
    bool is_changed = false;
    for (uint32_t i = 0; i < type->count; i++) {
        params[i] = resolve(in, type->params[i], unknown_is_dyn, known_is_dyn);
        is_changed |= params[i] != type->params[i];
    }
    return is_changed ? cel_type_new(in->arena, type->kind, type->name, params, type->count)
                      : type;
}

const struct cel_type *infer_resolve(struct infer *in, const struct cel_type *type,
                                     bool unknown_is_dyn)
{
    return resolve(in, type, unknown_is_dyn, false);
}

bool infer_has_known(struct infer *in, const struct cel_type *type)
{
    type = known(in, type);
    if (type->kind == TYPE_KNOWN || type->kind == TYPE_VAR || ++in->work > WORK_MAX)
        return type->kind == TYPE_KNOWN;
    for (uint32_t i = 0; i < type->count; i++)
        if (infer_has_known(in, type->params[i]))
            return true;
    return false;
}

const struct cel_type *infer_loosen(struct infer *in, const struct cel_type *type)
{
    return resolve(in, type, false, true);
}

const struct cel_type *infer_fresh(struct infer *in, struct infer_map *map,
                                   const struct cel_type *type)
{
    if (type->kind == TYPE_PARAM) {
        for (uint32_t i = 0; i < map->count; i++)
            if (strcmp(map->params[i], type->name) == 0)
                return map->vars[i];
        if (map->count == INFER_PARAMS_MAX)
            return &cel_dyn;
        map->params[map->count] = type->name;
        return map->vars[map->count++] = infer_var(in);
    }
    if (type->count == 0 || type->kind == TYPE_VAR)
        return type;
    const struct cel_type **params = arena_alloc(in->arena, type->count * sizeof *params);
    bool is_changed = false;
    for (uint32_t i = 0; i < type->count; i++) {
        params[i] = infer_fresh(in, map, type->params[i]);
        is_changed |= params[i] != type->params[i];
    }
    return is_changed ? cel_type_new(in->arena, type->kind, type->name, params, type->count)
                      : type;
}
