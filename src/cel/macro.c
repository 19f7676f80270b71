/* macro.c - a table of macros, and how each of them is expanded.

   Comprehensions are not broken down into folds as in other implementations: one loop node says
   what it is for, so that it can be checked, costed and run as what it is. */
#include "cel/macro.h"

#include <stdio.h>
#include <string.h>

struct macro {
    const char *space;   // "cel" in cel.bind; NULL when there is none
    const char *name;
    bool is_member;
    uint32_t least, most;   // arguments, the target not counted
    struct ast *(*expand)(struct parser *p, const struct macro *m, struct ast *call);
    enum ast_loop loop;
};

static bool is_named(const struct cel_name *name, const char *text)
{
    return text[0] == name->text[0] && strcmp(name->text, text) == 0;
}

static bool is_in_space(const struct ast *call, const char *space, const char *name)
{
    return call->kind == AST_CALL && call->has_target && call->args[0]->kind == AST_IDENT &&
           is_named(&call->args[0]->name, space) && is_named(&call->name, name);
}

/* The name that a macro is to bind: a simple identifier. */
static bool take_var(struct parser *p, const struct ast *node, struct cel_name *ret)
{
    if (node->kind != AST_IDENT || node->is_rooted) {
        parser_fail(p, node->offset, "expected the name of a variable");
        return false;
    }
    *ret = node->name;
    return true;
}

static struct ast *expand_has(struct parser *p, const struct macro *m, struct ast *call)
{
    struct ast *field = call->args[0];
    if (field->kind != AST_SELECT || field->is_test || field->is_optional)
        return parser_fail(p, field->offset, "has() takes a field such as has(a.b)");
    field->is_test = true;
    field->is_in_parens = false;
    return field;
}

static struct ast *loop_node(struct parser *p, const struct macro *m, struct ast *call)
{
    struct ast *node = parser_node(p, AST_LOOP, call->offset);
    if (!node)
        return NULL;
    node->loop = m->loop;
    node->name = call->name;
    node->a = call->args[0];
    return node;
}

/* range.name(x, body), or with a filter range.name(x, filter, body). */
static struct ast *expand_loop(struct parser *p, const struct macro *m, struct ast *call)
{
    struct ast *node = loop_node(p, m, call);
    if (!node || !take_var(p, call->args[1], &node->name))
        return NULL;
    bool has_filter = call->count == 4;
    node->c = has_filter ? call->args[2] : NULL;
    node->b = call->args[has_filter ? 3 : 2];
    return node;
}

/* range.filter(x, condition): the condition is the filter, x itself the body. */
static struct ast *expand_filter(struct parser *p, const struct macro *m, struct ast *call)
{
    struct ast *node = expand_loop(p, m, call);
    struct ast *item = node ? parser_node(p, AST_IDENT, call->args[1]->offset) : NULL;
    if (!item)
        return NULL;
    item->name = node->name;
    node->c = node->b;
    node->b = item;
    return node;
}

/* range.name(k, v, body), or with a filter range.name(k, v, filter, body). */
static struct ast *expand_loop2(struct parser *p, const struct macro *m, struct ast *call)
{
    struct ast *node = loop_node(p, m, call);
    if (!node || !take_var(p, call->args[1], &node->name) ||
        !take_var(p, call->args[2], &node->name2))
        return NULL;
    if (is_named(&node->name, node->name2.text))
        return parser_fail(p, call->args[2]->offset, "the variables need different names");
    bool has_filter = call->count == 5;
    node->c = has_filter ? call->args[3] : NULL;
    node->b = call->args[has_filter ? 4 : 3];
    return node;
}

static struct ast *let_node(struct parser *p, struct ast *call, uint32_t count)
{
    struct ast *node = parser_node(p, AST_LET, call->offset);
    if (!node)
        return NULL;
    node->count = count;
    node->args = arena_alloc(p->arena, count * sizeof *node->args);
    node->vars = arena_alloc(p->arena, count * sizeof *node->vars);
    return node;
}

static struct ast *expand_bind(struct parser *p, const struct macro *m, struct ast *call)
{
    struct ast *node = let_node(p, call, 1);
    if (!node || !take_var(p, call->args[1], &node->vars[0]))
        return NULL;
    node->args[0] = call->args[2];
    node->a = call->args[3];
    return node;
}

/* A name that no author can write, for what optimizers produce. */
static struct cel_name hidden_name(struct parser *p, uint32_t offset, const char *what,
                                   int64_t i, int64_t j)
{
    char text[64];
    int len = snprintf(text, sizeof text, "@%s:%lld:%lld", what, (long long)i, (long long)j);
    return (struct cel_name){ arena_dup(p->arena, text, (size_t)len), (uint32_t)len, offset };
}

static struct ast *expand_block(struct parser *p, const struct macro *m, struct ast *call)
{
    struct ast *list = call->args[1];
    if (list->kind != AST_LIST || list->marks)
        return parser_fail(p, list->offset, "cel.block() takes a list of expressions");
    struct ast *node = let_node(p, call, list->count);
    if (!node)
        return NULL;
    for (uint32_t i = 0; i < list->count; i++) {
        node->args[i] = list->args[i];
        node->vars[i] = hidden_name(p, list->args[i]->offset, "index", i, 0);
    }
    node->a = call->args[2];
    return node;
}

/* cel.index(i) and cel.iterVar(i, j). */
static struct ast *expand_hidden(struct parser *p, const struct macro *m, struct ast *call)
{
    int64_t numbers[2] = { 0, 0 };
    for (uint32_t i = 1; i < call->count; i++) {
        if (call->args[i]->kind != AST_CONST || call->args[i]->value.kind != CEL_INT ||
            call->args[i]->value.i < 0)
            return parser_fail(p, call->args[i]->offset, "%s() takes numbers", m->name);
        numbers[i - 1] = call->args[i]->value.i;
    }
    struct ast *node = parser_node(p, AST_IDENT, call->offset);
    if (!node)
        return NULL;
    node->name = hidden_name(p, call->offset, m->name, numbers[0], numbers[1]);
    return node;
}

/* math.greatest(a, b, ...) takes any number of arguments: it becomes a call with a list. */
static struct ast *expand_extreme(struct parser *p, const struct macro *m, struct ast *call)
{
    if (call->count == 2 && call->args[1]->kind != AST_CONST)
        return call;
    struct ast *list = parser_node(p, AST_LIST, call->offset);
    if (!list)
        return NULL;
    for (uint32_t i = 1; i < call->count; i++) {
        const struct ast *arg = call->args[i];
        bool is_number = arg->kind != AST_CONST ||
                         (arg->value.kind >= CEL_INT && arg->value.kind <= CEL_DOUBLE);
        if (!is_number || arg->kind == AST_LIST || arg->kind == AST_MAP) {
            parser_fail(p, arg->offset, "math.%s() takes numbers, or one list of numbers",
                        m->name);
            p->err->code = RONDO_EINVAL;   // well-formed, but of the wrong type
            return NULL;
        }
    }
    list->args = call->args + 1;
    list->count = call->count - 1;
    if (!parser_close(p, list))
        return NULL;
    struct ast **args = arena_alloc(p->arena, 2 * sizeof *args);
    args[0] = call->args[0];
    args[1] = list;
    call->args = args;
    call->count = 2;
    return call;
}

static const struct macro macros[] = {
    { NULL, "has", false, 1, 1, expand_has },
    { NULL, "all", true, 2, 2, expand_loop, LOOP_ALL },
    { NULL, "exists", true, 2, 2, expand_loop, LOOP_EXISTS },
    { NULL, "exists_one", true, 2, 2, expand_loop, LOOP_ONE },
    { NULL, "existsOne", true, 2, 2, expand_loop, LOOP_ONE },
    { NULL, "map", true, 2, 3, expand_loop, LOOP_LIST },
    { NULL, "filter", true, 2, 2, expand_filter, LOOP_LIST },
    { NULL, "sortBy", true, 2, 2, expand_loop, LOOP_SORT },
    { NULL, "all", true, 3, 3, expand_loop2, LOOP_ALL },
    { NULL, "exists", true, 3, 3, expand_loop2, LOOP_EXISTS },
    { NULL, "existsOne", true, 3, 3, expand_loop2, LOOP_ONE },
    { NULL, "exists_one", true, 3, 3, expand_loop2, LOOP_ONE },
    { NULL, "transformList", true, 3, 4, expand_loop2, LOOP_LIST },
    { NULL, "transformMap", true, 3, 4, expand_loop2, LOOP_MAP },
    { NULL, "transformMapEntry", true, 3, 4, expand_loop2, LOOP_ENTRIES },
    { NULL, "optMap", true, 2, 2, expand_loop, LOOP_OPTIONAL },
    { NULL, "optFlatMap", true, 2, 2, expand_loop, LOOP_OPTIONAL_FLAT },
    { "cel", "bind", true, 3, 3, expand_bind },
    { "cel", "block", true, 2, 2, expand_block },
    { "cel", "index", true, 1, 1, expand_hidden },
    { "cel", "iterVar", true, 2, 2, expand_hidden },
    { "math", "greatest", true, 1, UINT32_MAX, expand_extreme },
    { "math", "least", true, 1, UINT32_MAX, expand_extreme },
};

struct ast *macro_expand(struct parser *p, struct ast *call)
{
    uint32_t args = call->count - call->has_target;
    for (size_t i = 0; i < COUNT(macros); i++) {
        const struct macro *m = &macros[i];
        if (m->is_member != call->has_target || args < m->least || args > m->most ||
            !is_named(&call->name, m->name))
            continue;
        if (m->space ? is_in_space(call, m->space, m->name) : !call->is_rooted)
            return m->expand(p, m, call);
    }
    return call;
}

size_t macro_names(const char **names, size_t max)
{
    size_t count = 0;
    for (size_t i = 0; i < COUNT(macros) && count < max; i++)
        if (!macros[i].space)
            names[count++] = macros[i].name;
    return count;
}
