/* threshold.c - see threshold.h: looks for a comparison in the tree of `until`. */
#include "cli/threshold.h"

#include "cel/parser.h"
#include "flow/flow.h"

#include <string.h>

#define SCORE "score"

struct search {
    struct ast_path score; // the loop's; count 0: it has none, or it is no path
    double found;
};

static bool is_same(struct cel_name a, struct cel_name b)
{
    return strcmp(a.text, b.text) == 0;
}

static bool is_score(const struct search *s, const struct ast *node)
{
    struct ast_path path;
    if (!ast_path_read(node, true, &path) || !path.count)
        return false;
    uint32_t same = 0;
    while (same < path.count && path.count == s->score.count && is_same(path.names[same], s->score.names[same]))
        same++;
    return same == path.count || strcmp(path.names[path.count - 1].text, SCORE) == 0;
}

static bool read_number(const struct ast *node, double *ret)
{
    if (node->kind != AST_CONST)
        return false;
    switch (node->value.kind) {
    case CEL_INT: *ret = (double)node->value.i; return true;
    case CEL_UINT: *ret = (double)node->value.u; return true;
    case CEL_DOUBLE: *ret = node->value.d; return true;
    default: return false;
    }
}

static bool is_comparison(const struct ast *node)
{
    static const char *const names[] = { "_>=_", "_>_", "_<=_", "_<_", "_==_" };
    for (size_t i = 0; i < COUNT(names); i++)
        if (node->kind == AST_CALL && node->count == 2 && strcmp(node->name.text, names[i]) == 0)
            return true;
    return false;
}

/* The first one in the order of the text. */
static bool look(struct search *s, const struct ast *node)
{
    if (!node)
        return false;
    if (is_comparison(node))
        for (int i = 0; i < 2; i++)
            if (is_score(s, node->args[i]) && read_number(node->args[1 - i], &s->found))
                return true;
    for (uint32_t i = 0; i < node->count; i++)
        if (look(s, node->args[i]))
            return true;
    return look(s, node->a) || look(s, node->b) || look(s, node->c);
}

static const struct ast *parse(const char *text, struct arena *arena)
{
    static const struct cel_options options;
    rondo_error ignored;
    return text ? parser_run(text, strlen(text), &options, arena, &ignored) : NULL;
}

bool threshold_find(const rondo_node *loop, double *ret)
{
    auto_arena struct arena arena = { 0 };
    struct search s = { .score.count = 0 };
    if (loop->kind != RONDO_KIND_LOOP)
        return false;
    const struct flow_loop *written = loop->step ? loop->step->loop : NULL;
    const struct ast *score = written && written->score.program
                                  ? parse(cel_program_text(written->score.program), &arena)
                                  : NULL;
    if (score && !ast_path_read(score, true, &s.score))
        s.score.count = 0;
    bool has = look(&s, parse(loop->loop.texts.until, &arena));
    if (has)
        *ret = s.found;
    return has;
}
