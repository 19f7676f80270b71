/* ast.c - questions about nodes. */
#include "cel/ast.h"

/* Whether at, found on the way down from node, selects by a name. */
static bool is_step(const struct ast *at, const struct ast *node, bool with_index)
{
    if (at->is_optional || at->a->is_in_parens)
        return false;
    if (at->kind == AST_INDEX)
        return with_index && at->name.text;
    return !at->is_test || at == node;
}

bool ast_path_read(const struct ast *node, bool with_index, struct ast_path *ret)
{
    uint32_t count = 1;
    const struct ast *at = node;
    for (; at->kind == AST_SELECT || at->kind == AST_INDEX; at = at->a)
        if (++count > AST_PATH_MAX || !is_step(at, node, with_index))
            return false;
    if (at->kind != AST_IDENT)
        return false;
    ret->count = ret->plain = count;
    ret->is_rooted = at->is_rooted;
    for (at = node; count > 0; at = at->a) {
        ret->names[--count] = at->name;
        if (at->kind == AST_INDEX)
            ret->plain = count;
    }
    return true;
}
