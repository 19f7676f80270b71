/* checker.c - walking the tree once, from the leaves up.

   Where nothing is known the type is dyn, and dyn passes everywhere; so the checker only speaks
   up when no value could make the expression work. */
#include "cel/checker.h"

#include "cel/civil.h"
#include "cel/infer.h"
#include "cel/re2.h"
#include "cel/runes.h"
#include "cel/spot.h"
#include "cel/token.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct checker {
    struct lookup *lookup;
    struct infer infer;
    const char *text;
    size_t len;
    rondo_error *err;
    bool has_failed;   // err is the first error
    uint32_t doubts;   // reasons why the node may not be looked at, or be absent without harm
};

static const struct cel_type *check(struct checker *c, const struct lookup_var *vars,
                                    struct ast *node);

/* The same for a part that an evaluation may do without. */
static const struct cel_type *check_perhaps(struct checker *c, const struct lookup_var *vars, struct ast *node)
{
    c->doubts++;
    const struct cel_type *type = check(c, vars, node);
    c->doubts--;
    return type;
}

/* An error at a byte of the text.  Dyn when the caller forgives it, so that nothing follows from it; else NULL, which
   ends the check. */
static const struct cel_type *tell(struct checker *c, size_t at, rondo_error *err)
{
    const struct cel_options *o = c->lookup->options;
    token_position(c->text, c->len, at, &err->line, &err->column);
    if (!c->has_failed)
        *c->err = *err;
    c->has_failed = true;
    return o->forgives && o->forgives(o->user, err) ? &cel_dyn : NULL;
}

__attribute__((format(printf, 3, 4))) static const struct cel_type *
wrong(struct checker *c, const struct ast *node, const char *fmt, ...)
{
    rondo_error err = { 0 };
    char message[sizeof err.message];
    va_list args;
    va_start(args, fmt);
    vsnprintf(message, sizeof message, fmt, args);
    va_end(args);
    err_set(&err, RONDO_EINVAL, "%s", message);
    return tell(c, node->offset, &err);
}

/* Type text for a message, in the arena. */
static const char *told(struct checker *c, const struct cel_type *type)
{
    auto_buf struct buf buf = { 0 };
    cel_type_say(&buf, infer_resolve(&c->infer, type, true));
    return arena_dup(c->lookup->arena, buf.data, buf.len);
}

/* ---- paths ------------------------------------------------------------------------------- */

static const struct cel_type *undeclared(struct checker *c, const struct ast *node,
                                         const struct cel_name *path)
{
    const struct cel_options *o = c->lookup->options;
    auto_buf struct buf known = { 0 };
    for (size_t i = 0; i < o->decl_count && known.len < 200; i++)
        buf_printf(&known, "%s%s", i ? ", " : "; there are: ", o->decls[i].name);
    struct ast at = *node;
    at.offset = path->offset;
    return wrong(c, &at, "undeclared reference to '%s'%s", path->text, buf_text(&known));
}

/* Does somebody know that it may be, and that it can only be of that kind? */
static bool may_be(const struct cel_type *type, enum cel_kind kind)
{
    return type->kind == TYPE_KNOWN && type->kinds >> kind & 1;
}

static bool must_be(const struct cel_type *type, enum cel_kind kind)
{
    return type->kind == TYPE_KNOWN && type->kinds == 1u << kind;
}

/* The type of a field; of an optional's field, an optional. */
static const struct cel_type *select_type(struct checker *c, const struct ast *node,
                                          const struct cel_type *from)
{
    from = infer_resolve(&c->infer, from, false);
    if (cel_type_is_optional(from)) {
        const struct cel_type *inner = select_type(c, node, from->params[0]);
        if (!inner || cel_type_is_optional(inner))
            return inner;
        return cel_type_optional(c->lookup->arena, inner);
    }
    if (from->kind == TYPE_MAP)
        return from->params[1];
    if (from->kind == TYPE_VAR)
        infer_fit(&c->infer, &cel_dyn, from);
    if (from->kind == TYPE_DYN || from->kind == TYPE_VAR || may_be(from, CEL_MAP))
        return &cel_dyn;
    return wrong(c, node, "a value of type %s has no field '%s'", told(c, from),
                 node->name.text);
}

/* The node of the path's name number i. */
static const struct ast *path_node(const struct ast *node, uint32_t count, uint32_t i)
{
    for (; count - 1 > i; count--)
        node = node->a;
    return node;
}

static const struct cel_type *check_path(struct checker *c, struct ast *node,
                                         const struct ast_path *path)
{
    struct lookup_found *found = arena_alloc(c->lookup->arena, sizeof *found);
    bool *is_certain = c->lookup->options->is_certain;
    rondo_error err = { 0 };
    if (is_certain)
        *is_certain = !c->doubts && !node->is_test;
    if (lookup_find(c->lookup, path, found, &err) < 0)
        return tell(c, path->names[0].offset, &err);
    if (!found->used)
        return undeclared(c, node, path->names);
    node->found = found;
    const struct cel_type *type = node->is_test || found->is_type ? found->type : spot_of_path(c->lookup, path, found);
    if (found->is_type)
        type = cel_type_new(c->lookup->arena, TYPE_TYPE, "type", &found->is_type, 1);
    for (uint32_t i = found->used; type && i < path->count; i++)
        type = select_type(c, path_node(node, path->count, i), type);
    return type;
}

static const struct cel_type *check_ident(struct checker *c, const struct lookup_var *vars,
                                          struct ast *node)
{
    struct ast_path path;
    if (lookup_path(c->lookup, vars, node, &path))
        return check_path(c, node, &path);
    return lookup_local(vars, &node->name)->type;
}

/* What is known of a part of a value: of the field of that name, or of an item if name is NULL. */
static const struct cel_type *known_part(struct checker *c, const struct cel_type *from, const struct cel_name *name,
                                         uint32_t offset)
{
    rondo_error err = { 0 };
    const struct cel_type *part = spot_enter(c->lookup, from, name, &err);
    return part ? part : tell(c, offset, &err);
}

/* has(x.a) of a variable, or of something in it, is a question that may be asked of every item. */
static bool is_question(const struct lookup_var *vars, const struct ast *node)
{
    const struct ast *at = node->a;
    while (at->kind == AST_SELECT || at->kind == AST_INDEX)
        at = at->a;
    return node->is_test && at->kind == AST_IDENT && lookup_local(vars, &at->name);
}

/* A field of what is no path.  Nobody is asked whether it is there when it may be missing. */
static const struct cel_type *check_field(struct checker *c, const struct lookup_var *vars, struct ast *node)
{
    const struct cel_type *from = check(c, vars, node->a), *field = from ? select_type(c, node, from) : NULL;
    from = from ? infer_resolve(&c->infer, from, false) : NULL;
    if (!field || !may_be(from, CEL_MAP) || node->is_optional || is_question(vars, node))
        return field;
    return known_part(c, from, &node->name, node->offset);
}

/* a.b, has(a.b) or a.?b; the first two may be part of a longer name. */
static const struct cel_type *check_select(struct checker *c, const struct lookup_var *vars,
                                           struct ast *node)
{
    struct ast_path path;
    const struct cel_type *field = lookup_path(c->lookup, vars, node, &path) ? check_path(c, node, &path)
                                                                             : check_field(c, vars, node);
    if (!field || node->is_test)
        return field ? &cel_bool : NULL;
    if (!node->is_optional || cel_type_is_optional(field))
        return field;
    return cel_type_optional(c->lookup->arena, field);
}

/* ---- calls ------------------------------------------------------------------------------- */

static const struct cel_type optional_list = {
    TYPE_ABSTRACT, "optional_type", 1, (const struct cel_type *const[]){ &cel_list_a }
};
static const struct cel_type optional_map = { TYPE_ABSTRACT, "optional_type", 1,
                                              (const struct cel_type *const[]){ &cel_map_ab } };
static const struct cel_type optional_b = { TYPE_ABSTRACT, "optional_type", 1,
                                            (const struct cel_type *const[]){ &cel_param_b } };

/* What the evaluator does by itself, for the checker's eyes. */
static const struct overload index_rows[] = {
    { "[]", GLOBAL, ANY_A, { LIST_A, INT } },
    { "[]", GLOBAL, ANY_B, { MAP_AB, ANY_A } },
    { "[]", GLOBAL, OPTIONAL_A, { &optional_list, INT } },
    { "[]", GLOBAL, &optional_b, { &optional_map, ANY_A } },
};
static const struct overload optional_index_rows[] = {
    { "[?]", GLOBAL, OPTIONAL_A, { LIST_A, INT } },
    { "[?]", GLOBAL, &optional_b, { MAP_AB, ANY_A } },
    { "[?]", GLOBAL, OPTIONAL_A, { &optional_list, INT } },
    { "[?]", GLOBAL, &optional_b, { &optional_map, ANY_A } },
};
static const struct overload if_rows[] = { { "?:", GLOBAL, ANY_A, { BOOL, ANY_A, ANY_A } } };

/* Whether two types are plain and different, which most rows of an operator fail by. */
static bool is_other(const struct cel_type *a, const struct cel_type *b)
{
    return a->kind != b->kind && a->kind >= TYPE_BOOL && a->kind <= TYPE_DURATION &&
           b->kind >= TYPE_BOOL && b->kind <= TYPE_DURATION;
}

/* One row against the arguments.  The first row that fits gives the type; others that fit too
   make it dyn if they disagree. */
static void try_row(struct checker *c, const struct overload *row,
                    const struct cel_type *const *args, uint32_t count,
                    const struct cel_type **result)
{
    struct infer_map map;
    const struct cel_type *params[OVERLOAD_ARGS_MAX];
    if (overload_arity(row) != count)
        return;
    for (uint32_t i = 0; i < count; i++)
        if (is_other(args[i], row->params[i]))
            return;
    map.count = 0;
    for (uint32_t i = 0; i < count; i++)
        params[i] = infer_fresh(&c->infer, &map, row->params[i]);
    const struct cel_type *own = infer_fresh(&c->infer, &map, row->result);
    if (!infer_fit_all(&c->infer, args, params, count))
        return;
    own = infer_resolve(&c->infer, own, false);
    if (!*result)
        *result = own;
    else if ((*result)->kind != TYPE_DYN && !cel_type_is_same(*result, own))
        *result = &cel_dyn;
}

static void put_signature(struct checker *c, struct buf *buf,
                          const struct cel_type *const *types, uint32_t count)
{
    buf_putc(buf, '(');
    for (uint32_t i = 0; i < count; i++)
        buf_printf(buf, "%s%s", i ? ", " : "", told(c, types[i]));
    buf_putc(buf, ')');
}

#define POSSIBLE_MAX 220   // bytes of a message for what would have been possible

static void put_possible(struct checker *c, struct buf *buf, const struct overload *row,
                         bool is_first)
{
    struct infer_map map = { .count = 0 };
    const struct cel_type *params[OVERLOAD_ARGS_MAX];
    uint32_t count = overload_arity(row);
    for (uint32_t i = 0; i < count; i++)
        params[i] = infer_fresh(&c->infer, &map, row->params[i]);
    buf_puts(buf, is_first ? "; possible: " : ", ");
    if (row->form == MEMBER && count)
        buf_printf(buf, "%s.", told(c, params[0]));
    put_signature(c, buf, params + (row->form == MEMBER), count - (row->form == MEMBER));
}

static const struct cel_type *no_overload(struct checker *c, const struct ast *node,
                                          const char *name, const struct cel_type *const *args,
                                          uint32_t count, struct buf *possible)
{
    auto_buf struct buf given = { 0 };
    put_signature(c, &given, args, count);
    return wrong(c, node, "no matching overload for '%s' applied to %s%s",
                 overload_spoken(name), buf_text(&given), buf_text(possible));
}

static const struct cel_type *check_rows(struct checker *c, struct ast *node,
                                         const struct overload *rows, size_t row_count,
                                         const struct cel_type *const *args, uint32_t count)
{
    auto_buf struct buf possible = { 0 };
    const struct cel_type *result = NULL;
    for (size_t i = 0; i < row_count; i++)
        try_row(c, &rows[i], args, count, &result);
    if (result)
        return result;
    for (size_t i = 0; i < row_count; i++)
        put_possible(c, &possible, &rows[i], i == 0);
    return no_overload(c, node, rows[0].name, args, count, &possible);
}

static const struct cel_type *try_function(struct checker *c, const struct ast *node,
                                           const struct cel_type *const *args, uint32_t count,
                                           enum overload_form form)
{
    const struct cel_type *result = NULL;
    for (uint32_t i = 0; i < node->row_count; i++)
        if (node->rows[i]->form == form)
            try_row(c, node->rows[i], args, count, &result);
    return result;
}

/* The result for arguments that fit.  What is known of them decides whether they do, but does not make the type of the
   result any firmer: c ? a + b : 1 works when a and b are texts of JSON, and so it does when this is known. */
static const struct cel_type *soft_result(struct checker *c, const struct ast *node, const struct cel_type **args,
                                          uint32_t count, enum overload_form form, const struct cel_type *result)
{
    bool is_any_known = false;
    for (uint32_t i = 0; i < count; i++)
        is_any_known |= infer_has_known(&c->infer, args[i]);
    if (!is_any_known || infer_has_known(&c->infer, result))
        return result;
    for (uint32_t i = 0; i < count; i++)
        args[i] = infer_loosen(&c->infer, args[i]);
    return try_function(c, node, args, count, form);
}

static const struct cel_type *check_function(struct checker *c, struct ast *node, const struct cel_type **args,
                                             uint32_t count, enum overload_form form)
{
    auto_buf struct buf possible = { 0 };
    if (!node->row_count)
        return wrong(c, node, "unknown function '%s'", node->function);
    const struct cel_type *result = try_function(c, node, args, count, form);
    if (result)
        return soft_result(c, node, args, count, form, result);
    for (uint32_t i = 0; i < node->row_count && possible.len < POSSIBLE_MAX; i++)
        put_possible(c, &possible, node->rows[i], i == 0);
    return no_overload(c, node, node->function, args, count, &possible);
}

static int read_pattern(const struct cel_val *text, rondo_error *err)
{
    auto_regex struct regex *regex = re2_compile(text->text, text->len, false, err);
    if (regex)
        return 0;
    err_in(err, "'%.*s' is no regular expression", (int)runes_fit(text->text, text->len, 100), text->text);
    return err->code = RONDO_EINVAL;
}

static int read_duration(const struct cel_val *text, rondo_error *err)
{
    int64_t ns;
    if (civil_read_duration(text->text, text->len, &ns))
        return 0;
    return err_set(err, RONDO_EINVAL, "expected a duration such as '1h30m'");
}

static int read_timestamp(const struct cel_val *text, rondo_error *err)
{
    int64_t seconds;
    uint32_t ns;
    if (civil_read(text->text, text->len, &seconds, &ns))
        return 0;
    return err_set(err, RONDO_EINVAL, "expected a timestamp such as '2024-01-31T12:00:00Z'");
}

/* Functions that read a text: when it is written there, it is known now whether they can. */
static const struct reader {
    const char *name;
    uint32_t count, at;   // of arguments; which of them is read
    int (*read)(const struct cel_val *text, rondo_error *err);
} readers[] = {
    { "matches", 2, 1, read_pattern },
    { "duration", 1, 0, read_duration },
    { "timestamp", 1, 0, read_timestamp },
};

static const struct cel_type *check_literal(struct checker *c, const struct ast *node, const struct cel_type *type)
{
    rondo_error err = { 0 };
    for (size_t i = 0; i < COUNT(readers); i++) {
        const struct reader *r = &readers[i];
        if (node->count != r->count || strcmp(node->function, r->name) != 0)
            continue;
        const struct ast *arg = node->args[r->at];
        bool is_known = arg->kind == AST_CONST && arg->value.kind == CEL_STRING;
        if (is_known && r->read(&arg->value, &err) < 0)
            return tell(c, arg->offset, &err);
    }
    return type;
}

/* ---- texts that are compared --------------------------------------------------------------- */

static bool is_text(const struct ast *node)
{
    return node->kind == AST_CONST && node->value.kind == CEL_STRING;
}

static void tell_compared(struct checker *c, const struct spot *with, const struct ast *text)
{
    const struct cel_options *o = c->lookup->options;
    if (is_text(text))
        o->compares(o->user, with->token, with->names, with->count, with->from, &text->value, text->offset);
    for (uint32_t i = 0; text->kind == AST_LIST && i < text->count; i++)
        if (is_text(text->args[i]))
            o->compares(o->user, with->token, with->names, with->count, with->from, &text->args[i]->value,
                        text->args[i]->offset);
}

/* Whether the caller knows what a node of that type is: all of a path, or something in a list. */
static bool spot_of(struct checker *c, const struct ast *node, struct ast_path *path, struct spot *ret)
{
    const struct cel_type *type = infer_resolve(&c->infer, node->type, false);
    if (type->kind == TYPE_KNOWN && type->spot) {
        *ret = *type->spot;
        return true;
    }
    if (!node->found || !node->found->token || !ast_path_read(node, true, path) || node->found->used != path->count)
        return false;
    *ret = (struct spot){ node->found->token, path->count, path->count, path->names };
    return true;
}

static void look_at_texts(struct checker *c, const struct ast *call)
{
    const char *name = call->function;
    bool is_in = strcmp(name, "@in") == 0;
    bool is_both_ways = strcmp(name, "_==_") == 0 || strcmp(name, "_!=_") == 0;
    struct ast_path path;
    struct spot spot;
    for (uint32_t i = 0; (is_in && i < 1) || (is_both_ways && i < 2); i++)
        if (spot_of(c, call->args[i], &path, &spot) && (is_in || is_text(call->args[1 - i])))
            tell_compared(c, &spot, call->args[1 - i]);
}

/* a.orValue(b) and a.or(b) look at b only when a is none. */
static bool is_default(const struct ast *call)
{
    return call->has_target && (strcmp(call->function, "orValue") == 0 || strcmp(call->function, "or") == 0);
}

static const struct cel_type *check_call(struct checker *c, const struct lookup_var *vars,
                                         struct ast *node)
{
    lookup_call(c->lookup, vars, node);
    uint32_t skip = node->is_namespace, count = node->count - skip;
    const struct cel_type **args = arena_alloc(c->lookup->arena, count * sizeof *args);
    bool is_member = node->has_target && !skip;
    for (uint32_t i = 0; i < count; i++) {
        if (i == is_member && !node->row_count && !wrong(c, node, "unknown function '%s'", node->function))
            return NULL;
        if (i == 1 && is_member && !node->row_count && count > 2)
            return &cel_dyn;   // of a misspelt macro the arguments make no sense
        args[i] = i > 0 && is_default(node) ? check_perhaps(c, vars, node->args[i + skip])
                                            : check(c, vars, node->args[i + skip]);
        if (!args[i])
            return NULL;
    }
    if (!node->row_count && count > is_member)
        return &cel_dyn;
    const struct cel_type *type = check_function(c, node, args, count, is_member ? MEMBER : GLOBAL);
    if (type && count == 2 && !is_member && c->lookup->options->compares)
        look_at_texts(c, node);
    return type && c->lookup->options->forgives ? check_literal(c, node, type) : type;
}

/* A field or an item by an index, if more is known of it than its type. */
static const struct cel_type *indexed(struct checker *c, const struct ast *node, const struct cel_type *from,
                                      const struct cel_type *type)
{
    from = infer_resolve(&c->infer, from, false);
    if (from->kind != TYPE_KNOWN)
        return type;
    if (node->name.text && may_be(from, CEL_MAP))
        return known_part(c, from, &node->name, node->name.offset);
    return must_be(from, CEL_LIST) ? known_part(c, from, NULL, node->offset) : &cel_dyn;
}

/* An index that no list has, whatever is in it. */
static bool is_below(const struct ast *node, const struct cel_type *from)
{
    const struct ast *at = node->b;
    return from->kind == TYPE_LIST && at->kind == AST_CONST && at->value.kind == CEL_INT && at->value.i < 0;
}

static const struct cel_type *check_index(struct checker *c, const struct lookup_var *vars,
                                          struct ast *node)
{
    struct ast_path path;
    const struct cel_type *args[2];
    if (lookup_path(c->lookup, vars, node, &path))
        return check_path(c, node, &path);
    if (!(args[0] = check(c, vars, node->a)) || !(args[1] = check(c, vars, node->b)))
        return NULL;
    if (node->is_optional)
        return check_rows(c, node, optional_index_rows, COUNT(optional_index_rows), args, 2);
    if (c->lookup->options->forgives && is_below(node, infer_resolve(&c->infer, args[0], false)))
        return wrong(c, node->b, "index %lld is out of range: lists begin at 0", (long long)node->b->value.i);
    const struct cel_type *from = args[0];
    args[0] = cel_type_firm(infer_resolve(&c->infer, from, false)); // a map with its keys
    const struct cel_type *type = check_rows(c, node, index_rows, COUNT(index_rows), args, 2);
    return type ? indexed(c, node, from, type) : NULL;
}

static const struct cel_type *check_if(struct checker *c, const struct lookup_var *vars,
                                       struct ast *node)
{
    const struct cel_type *args[3];
    if (!(args[0] = check(c, vars, node->a)) || !(args[1] = check_perhaps(c, vars, node->b)) ||
        !(args[2] = check_perhaps(c, vars, node->c)))
        return NULL;
    bool has_null = infer_resolve(&c->infer, args[1], false)->kind == TYPE_NULL ||
                    infer_resolve(&c->infer, args[2], false)->kind == TYPE_NULL;
    if (has_null && !infer_fit(&c->infer, args[1], args[2]))
        args[1] = args[2] = &cel_dyn;   // x ? 'again' : null is common, and clear
    return check_rows(c, node, if_rows, COUNT(if_rows), args, 3);
}

/* One of several that decide together, or one that is asked about every item. */
static bool is_condition(struct checker *c, const struct lookup_var *vars, struct ast *node)
{
    const struct cel_type *type = check_perhaps(c, vars, node);
    if (type && !infer_fit(&c->infer, &cel_bool, type))
        type = wrong(c, node, "expected bool, got %s", told(c, type));
    return type;
}

static const struct cel_type *check_row(struct checker *c, const struct lookup_var *vars,
                                        struct ast *node)
{
    for (uint32_t i = 0; i < node->count; i++)
        if (!is_condition(c, vars, node->args[i]))
            return NULL;
    return &cel_bool;
}

/* ---- literals ---------------------------------------------------------------------------- */

/* An item marked with ? is an optional whose value counts. */
static const struct cel_type *check_item(struct checker *c, const struct lookup_var *vars,
                                         struct ast *item, bool is_marked)
{
    const struct cel_type *type = check(c, vars, item);
    if (!type || !is_marked)
        return type;
    const struct cel_type *inner = infer_var(&c->infer);
    if (!infer_fit(&c->infer, cel_type_optional(c->lookup->arena, inner), type))
        return wrong(c, item, "expected an optional behind '?', got %s", told(c, type));
    return infer_resolve(&c->infer, inner, false);
}

static const struct cel_type *check_list(struct checker *c, const struct lookup_var *vars,
                                         struct ast *node)
{
    const struct cel_type *item = NULL;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct cel_type *type =
            check_item(c, vars, node->args[i], node->marks && node->marks[i]);
        if (!type)
            return NULL;
        item = infer_join(&c->infer, item, type);
    }
    return cel_type_list(c->lookup->arena, item ? item : infer_var(&c->infer));
}

static bool is_key(struct checker *c, const struct cel_type *type)
{
    type = infer_resolve(&c->infer, type, true);
    return type->kind == TYPE_DYN || type->kind == TYPE_WRAPPER || type->kind == TYPE_BOOL ||
           type->kind == TYPE_INT || type->kind == TYPE_UINT || type->kind == TYPE_STRING ||
           may_be(type, CEL_BOOL) || may_be(type, CEL_INT) || may_be(type, CEL_STRING);
}

static const struct cel_type *check_map(struct checker *c, const struct lookup_var *vars,
                                        struct ast *node)
{
    const struct cel_type *key = NULL, *value = NULL;
    for (uint32_t i = 0; i < node->count; i += 2) {
        const struct cel_type *k = check(c, vars, node->args[i]);
        if (k && !is_key(c, k))
            k = wrong(c, node->args[i], "a map key is bool, int, uint or string, not %s", told(c, k));
        const struct cel_type *v =
            k ? check_item(c, vars, node->args[i + 1], node->marks && node->marks[i]) : NULL;
        if (!v)
            return NULL;
        key = infer_join(&c->infer, key, k);
        value = infer_join(&c->infer, value, v);
    }
    return cel_type_map(c->lookup->arena, key ? key : infer_var(&c->infer),
                        value ? value : infer_var(&c->infer));
}

static const struct cel_type *check_const(const struct ast *node)
{
    return cel_type_of(node->value.kind);
}

/* ---- loops ------------------------------------------------------------------------------- */

struct range {
    const struct cel_type *key, *value;   // of a list: int and its items
    bool is_map;
};

static bool range_of(struct checker *c, const struct ast *node, const struct cel_type *type,
                     struct range *ret)
{
    type = cel_type_firm(infer_resolve(&c->infer, type, false));
    if (type->kind == TYPE_VAR)
        infer_fit(&c->infer, &cel_dyn, type);
    *ret = (struct range){ &cel_dyn, &cel_dyn, false };
    if (type->kind == TYPE_LIST)
        *ret = (struct range){ &cel_int, type->params[0], false };
    else if (type->kind == TYPE_MAP)
        *ret = (struct range){ type->params[0], type->params[1], true };
    else if (must_be(type, CEL_LIST))
        *ret = (struct range){ &cel_number, known_part(c, type, NULL, node->offset), false };
    else if (type->kind != TYPE_DYN && type->kind != TYPE_VAR && !may_be(type, CEL_LIST) && !may_be(type, CEL_MAP))
        return wrong(c, node, "expected a list or a map to go through, got %s", told(c, type));
    return ret->value;
}

static const struct cel_type *loop_result(struct checker *c, struct ast *node,
                                          const struct range *range,
                                          const struct cel_type *range_type,
                                          const struct cel_type *body)
{
    struct arena *arena = c->lookup->arena;
    switch (node->loop) {
    case LOOP_LIST: return cel_type_list(arena, body);
    case LOOP_MAP: return cel_type_map(arena, range->key, body);
    case LOOP_SORT: return range_type;
    case LOOP_ENTRIES:
        if (infer_fit(&c->infer,
                      cel_type_map(arena, infer_var(&c->infer), infer_var(&c->infer)), body))
            return body;
        return wrong(c, node->b, "expected a map of entries, got %s", told(c, body));
    default:
        if (infer_fit(&c->infer, &cel_bool, body))
            return &cel_bool;
        return wrong(c, node->b, "expected bool, got %s", told(c, body));
    }
}

static const struct cel_type *check_loop(struct checker *c, const struct lookup_var *vars,
                                         struct ast *node)
{
    struct range range;
    const struct cel_type *type = check(c, vars, node->a);
    if (!type || !range_of(c, node->a, type, &range))
        return NULL;
    bool has_two = node->name2.text;
    struct lookup_var first = { &node->name, has_two || range.is_map ? range.key : range.value,
                               0, vars };
    struct lookup_var second = { &node->name2, range.value, 0, &first };
    const struct lookup_var *inner = has_two ? &second : &first;
    if (node->c && !is_condition(c, inner, node->c))
        return NULL;
    const struct cel_type *body = check_perhaps(c, inner, node->b);
    return body ? loop_result(c, node, &range, type, body) : NULL;
}

/* optMap() and optFlatMap(). */
static const struct cel_type *check_optional(struct checker *c, const struct lookup_var *vars,
                                             struct ast *node)
{
    const struct cel_type *type = check(c, vars, node->a), *inner = infer_var(&c->infer);
    if (!type)
        return NULL;
    if (!infer_fit(&c->infer, cel_type_optional(c->lookup->arena, inner), type) &&
        !(inner = wrong(c, node->a, "expected an optional, got %s", told(c, type))))
        return NULL;
    struct lookup_var var = { &node->name, infer_resolve(&c->infer, inner, false), 0, vars };
    const struct cel_type *body = check_perhaps(c, &var, node->b);
    if (!body || node->loop == LOOP_OPTIONAL)
        return body ? cel_type_optional(c->lookup->arena, body) : NULL;
    if (!infer_fit(&c->infer, cel_type_optional(c->lookup->arena, infer_var(&c->infer)), body))
        return wrong(c, node->b, "expected an optional, got %s", told(c, body));
    return body;
}

static const struct cel_type *check_let(struct checker *c, const struct lookup_var *vars,
                                        struct ast *node)
{
    struct lookup_var *bound = arena_alloc(c->lookup->arena, node->count * sizeof *bound);
    for (uint32_t i = 0; i < node->count; i++) {
        const struct cel_type *type = check_perhaps(c, vars, node->args[i]); // if it is used
        if (!type)
            return NULL;
        bound[i] = (struct lookup_var){ &node->vars[i], type, 0, vars };
        vars = &bound[i];
    }
    return check(c, vars, node->a);
}

static const struct cel_type *check_node(struct checker *c, const struct lookup_var *vars,
                                         struct ast *node)
{
    switch (node->kind) {
    case AST_CONST: return check_const(node);
    case AST_IDENT: return check_ident(c, vars, node);
    case AST_SELECT: return check_select(c, vars, node);
    case AST_INDEX: return check_index(c, vars, node);
    case AST_CALL: return check_call(c, vars, node);
    case AST_AND:
    case AST_OR: return check_row(c, vars, node);
    case AST_IF: return check_if(c, vars, node);
    case AST_LIST: return check_list(c, vars, node);
    case AST_MAP: return check_map(c, vars, node);
    case AST_LET: return check_let(c, vars, node);
    case AST_LOOP:
        return node->loop == LOOP_OPTIONAL || node->loop == LOOP_OPTIONAL_FLAT
                   ? check_optional(c, vars, node)
                   : check_loop(c, vars, node);
    default: return wrong(c, node, "unknown message type '%s'", node->a->name.text);
    }
}

static const struct cel_type *check(struct checker *c, const struct lookup_var *vars,
                                    struct ast *node)
{
    return node->type = check_node(c, vars, node);
}

const struct cel_type *checker_run(struct lookup *lookup, struct ast *root, const char *text,
                                   size_t len, rondo_error *err)
{
    struct checker c = { lookup, { .arena = lookup->arena }, text, len, err, false, 0 };
    const struct cel_type *type = check(&c, NULL, root);
    type = type && !c.has_failed ? infer_resolve(&c.infer, type, true) : NULL;
    infer_clear(&c.infer);
    return type;
}
