/* ast.c - questions about nodes. */
#include "cel/ast.h"

uint32_t ast_path(const struct ast *node, struct cel_name *names)
{
    uint32_t count = 0;
    const struct ast *at = node;
    for (; at->kind == AST_SELECT && !at->is_test && !at->is_optional; at = at->a)
        if (++count >= AST_PATH_MAX || at->a->is_in_parens)
            return 0;
    if (at->kind != AST_IDENT)
        return 0;
    uint32_t i = count;
    for (at = node; at->kind == AST_SELECT; at = at->a)
        names[i--] = at->name;
    names[0] = at->name;
    return count + 1;
}

bool ast_path_is_rooted(const struct ast *node)
{
    while (node->kind == AST_SELECT)
        node = node->a;
    return node->is_rooted;
}
