/* spot.c - asking the caller about what is in lists, step by step. */
#include "cel/spot.h"

#include <string.h>

/* What the caller says about a spot.  Its type says what the value can be and no more: where values of any type may
   stand, as on both sides of == and in the branches of ?:, it is dyn. */
static const struct cel_type *ask(struct lookup *n, const struct spot *spot, rondo_error *err)
{
    const struct cel_options *o = n->options;
    const char *text = NULL;
    int known = o->item(o->user, spot->token, spot->names, spot->count, spot->from, &text, err);
    if (known <= 0)
        return known < 0 ? NULL : &cel_dyn;
    const struct cel_type *told = text ? cel_type_parse(n->arena, text, err) : &cel_dyn;
    if (!told)
        return NULL;
    struct cel_type *type = arena_zalloc(n->arena, sizeof *type);
    *type = (struct cel_type){ .kind = TYPE_KNOWN, .name = told->name, .kinds = overload_mask(told), .spot = spot };
    return type;
}

/* The same names and so many of these behind them, and what is there. */
static const struct cel_type *go_on(struct lookup *n, const struct spot *from, const struct cel_name *more,
                                    uint32_t count, rondo_error *err)
{
    if (from->count + count > AST_PATH_MAX)
        return &cel_dyn;
    struct cel_name *names = arena_alloc(n->arena, (from->count + count) * sizeof *names);
    memcpy(names, from->names, from->count * sizeof *names);
    if (count)
        memcpy(names + from->count, more, count * sizeof *names);
    struct spot *spot = arena_alloc(n->arena, sizeof *spot);
    *spot = (struct spot){ from->token, from->from, from->count + count, names };
    return ask(n, spot, err);
}

static const struct cel_name an_item; // has no text

/* A map itself, not what is in it.  It stays one among other values. */
static const struct cel_type *ask_map(struct lookup *n, const struct spot *map, const struct cel_type *type)
{
    rondo_error err = { 0 };
    const struct cel_type *known = go_on(n, map, NULL, 0, &err);
    if (!known || known == &cel_dyn)
        return type;
    struct cel_type *firm = arena_alloc(n->arena, sizeof *firm);
    *firm = *known;
    firm->firm = type;
    return firm;
}

static bool is_any(const struct cel_type *type, uint8_t kind)
{
    return type->kind == kind && type->params[type->count - 1]->kind == TYPE_DYN;
}

const struct cel_type *spot_of_path(struct lookup *n, const struct ast_path *path, const struct lookup_found *found)
{
    const struct cel_type *type = found->type;
    struct spot spot = { found->token, path->count, path->count, path->names };
    rondo_error err = { 0 };
    if (!n->options->item || !found->token || found->used != path->count)
        return type;
    if (is_any(type, TYPE_MAP))
        return ask_map(n, &spot, type);
    const struct cel_type *item = is_any(type, TYPE_LIST) ? go_on(n, &spot, &an_item, 1, &err) : NULL;
    return item ? cel_type_list(n->arena, item) : type;
}

const struct cel_type *spot_enter(struct lookup *n, const struct cel_type *type, const struct cel_name *name,
                                  rondo_error *err)
{
    return type->kind == TYPE_KNOWN && type->spot ? go_on(n, type->spot, name ? name : &an_item, 1, err) : &cel_dyn;
}
