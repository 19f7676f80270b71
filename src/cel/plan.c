/* plan.c - choosing the step for every node, and working out now what will never change.

   A call whose arguments are all constants is made at once; if it fails, it stays a call, and
   fails again when and if the evaluation gets there. */
#include "cel/plan.h"

#include "base/regex.h"
#include "cel/cel_val.h"
#include "cel/re2.h"
#include "cel/runes.h"
#include "cel/token.h"

#include <string.h>

#define FOLD_COST 20000        // of one call
#define FOLD_COST_ALL 500000   // of all of them: what is folded stays in memory

struct plan {
    struct cel_program *program;
    struct lookup *lookup;
    rondo_error *err;
    struct cel_env env;   // without variables, for folding
    struct cel_scratch scratch;
    int64_t fold_cost;   // what is left
    uint32_t depth;      // of variables bound around here
};

static const struct op *plan(struct plan *p, const struct lookup_var *vars, struct ast *node);

static struct op *op_new(struct plan *p, const struct ast *node,
                         struct cel_val (*run)(const struct op *, struct cel_frame *))
{
    struct op *op = arena_zalloc(p->program->arena, sizeof *op);
    op->run = run;
    op->offset = node->offset;
    op->cost = 1;
    return op;
}

static void *wrong(struct plan *p, uint32_t offset)
{
    token_position(p->program->text, p->program->len, offset, &p->err->line, &p->err->column);
    return NULL;
}

static struct cel_name keep_name(struct plan *p, const struct cel_name *name)
{
    return (struct cel_name){ arena_dup(p->program->arena, name->text, name->len), name->len,
                              name->offset };
}

/* ---- folding ----------------------------------------------------------------------------- */

static bool is_const(const struct op *op)
{
    return !op || op->run == op_const;
}

static bool has_const_operands(const struct op *op)
{
    for (uint32_t i = 0; op->args && i < op->count; i++)
        if (!is_const(op->args[i]))
            return false;
    return is_const(op->a) && is_const(op->b) && is_const(op->c);
}

static const struct op *fold(struct plan *p, struct op *op)
{
    int64_t cost = MIN(p->fold_cost, FOLD_COST);
    if (!has_const_operands(op))
        return op;
    struct cel_frame f = {
        .arena = p->program->arena, .env = &p->env, .scratch = &p->scratch, .cost = cost
    };
    struct cel_val v = op->run(op, &f);
    p->fold_cost -= cost - f.cost;
    if (cel_is_error(v) || f.cost < 0)
        return op;
    op->run = op_const;
    op->args = NULL;
    op->a = op->b = op->c = NULL;
    op->count = 0;
    op->cost = 1;
    op->value = v;
    return op;
}

static void add_cost(struct op *op, const struct op *operand)
{
    if (operand)
        op->cost =
            op->cost > UINT32_MAX - operand->cost ? UINT32_MAX : op->cost + operand->cost;
}

/* ---- variables --------------------------------------------------------------------------- */

static const struct cel_name *join_names(struct plan *p, uint32_t prefix,
                                         const struct cel_name *path, uint32_t count)
{
    struct cel_name *names = arena_alloc(p->program->arena, (prefix + count) * sizeof *names);
    for (uint32_t i = 0; i < prefix; i++)
        names[i] = keep_name(p, &p->lookup->container[i]);
    for (uint32_t i = 0; i < count; i++)
        names[prefix + i] = keep_name(p, &path[i]);
    return names;
}

static void add_path(struct cel_program *program, const struct cel_ref *ref)
{
    uint32_t count = program->path_count++;
    if (!(count & (count - 1))) { // it is full
        const struct cel_ref **paths = arena_alloc(program->arena, (count ? count * 2 : 1) * sizeof *paths);
        if (count)
            memcpy(paths, program->paths, count * sizeof *paths);
        program->paths = paths;
    }
    program->paths[count] = ref;
}

/* One ref when it is known where the variable is, else one for each container. */
static struct op *path_op(struct plan *p, const struct ast *node,
                          const struct lookup_found *found, const struct cel_name *path,
                          uint32_t count, bool is_rooted)
{
    struct op *op = op_new(p, node, op_path);
    bool is_known = found->used > 0;
    uint32_t first = is_known ? found->prefix : is_rooted ? 0 : p->lookup->container_count;
    op->count = is_known ? 1 : first + 1;
    struct cel_ref *refs = arena_alloc(p->program->arena, op->count * sizeof *refs);
    uint32_t *prefixes = arena_alloc(p->program->arena, op->count * sizeof *prefixes);
    for (uint32_t i = 0; i < op->count; i++) {
        prefixes[i] = first - i;
        refs[i] = (struct cel_ref){ join_names(p, first - i, path, count), first - i + count,
                                    found->token };
        add_path(p->program, &refs[i]);
    }
    op->refs = refs;
    op->prefixes = prefixes;
    if (op->count > 1 || prefixes[0])
        op->run = op_path_any;
    return op;
}

static const struct op *select_op(struct plan *p, const struct op *from, const struct ast *node,
                                  const struct cel_name *name)
{
    struct op *op = op_new(p, node, op_select);
    op->a = from;
    op->name = keep_name(p, name);
    op->offset = name->offset;
    add_cost(op, from);
    return fold(p, op);
}

static const struct op *type_op(struct plan *p, const struct ast *node,
                                const struct lookup_found *found, const struct cel_name *path,
                                uint32_t count)
{
    struct op *value = op_new(p, node, op_const);
    value->value = cel_of_type(found->is_type);
    const struct op *op = value;
    for (uint32_t i = found->used; i < count; i++)
        op = select_op(p, op, node, &path[i]);
    return op;
}

static const struct lookup_found *found_of(struct plan *p, struct ast *node,
                                          const struct ast_path *path)
{
    if (node->found)
        return node->found;
    struct lookup_found *found = arena_alloc(p->lookup->arena, sizeof *found);
    if (lookup_find(p->lookup, path, found, p->err) < 0)
        return wrong(p, path->names[0].offset);
    return node->found = found;
}

/* A variable with what is selected from it; for has(a.b.c) too the resolver gets the whole. */
static const struct op *plan_path(struct plan *p, struct ast *node, const struct ast_path *path)
{
    const struct lookup_found *found = found_of(p, node, path);
    if (!found)
        return NULL;
    if (found->is_type)
        return type_op(p, node, found, path->names, path->count);
    struct op *op = path_op(p, node, found, path->names, path->count, path->is_rooted);
    if (node->is_test)
        op->run = op_has_path;
    return op;
}

static const struct op *plan_ident(struct plan *p, const struct lookup_var *vars,
                                   struct ast *node)
{
    struct ast_path path;
    if (lookup_path(p->lookup, vars, node, &path))
        return plan_path(p, node, &path);
    struct op *op = op_new(p, node, op_local);
    op->slot = lookup_local(vars, &node->name)->slot;
    return op;
}

static const struct op *plan_select(struct plan *p, const struct lookup_var *vars,
                                    struct ast *node)
{
    struct ast_path path;
    if (lookup_path(p->lookup, vars, node, &path))
        return plan_path(p, node, &path);
    const struct op *from = plan(p, vars, node->a);
    if (!from)
        return NULL;
    if (!node->is_test && !node->is_optional)
        return select_op(p, from, node, &node->name);
    struct op *op = op_new(p, node, node->is_test ? op_has : op_select_optional);
    op->name = keep_name(p, &node->name);
    op->a = from;
    add_cost(op, op->a);
    return fold(p, op);
}

/* ---- calls ------------------------------------------------------------------------------- */

/* Names that have a step of their own. */
static const struct {
    const char *name;
    enum overload_form form;
    uint32_t count;
    struct cel_val (*run)(const struct op *op, struct cel_frame *f);
} steps[] = {
    { "_==_", GLOBAL, 2, op_equal },       { "_!=_", GLOBAL, 2, op_differ },
    { "_<_", GLOBAL, 2, op_less },         { "_<=_", GLOBAL, 2, op_less_equal },
    { "_>_", GLOBAL, 2, op_greater },      { "_>=_", GLOBAL, 2, op_greater_equal },
    { "_+_", GLOBAL, 2, op_add },          { "!_", GLOBAL, 1, op_not },
    { "@in", GLOBAL, 2, op_in },           { "or", MEMBER, 2, op_or_other },
    { "orValue", MEMBER, 2, op_or_value },
};

static bool choose_step(struct op *op, enum overload_form form)
{
    for (size_t i = 0; i < COUNT(steps); i++)
        if (steps[i].count == op->count && steps[i].form == form &&
            steps[i].name[0] == op->function[0] && strcmp(steps[i].name, op->function) == 0) {
            op->run = steps[i].run;
            return true;
        }
    return false;
}

/* The rows that may take this many arguments; whether any asks the environment. */
static uint32_t collect_rows(const struct ast *node, enum overload_form form, uint32_t count,
                             struct op_row *rows, bool *ret_asks_env)
{
    uint32_t n = 0;
    *ret_asks_env = false;
    for (uint32_t at = 0; at < node->row_count; at++) {
        const struct overload *row = node->rows[at];
        if (row->form != form || overload_arity(row) != count || !row->call)
            continue;
        rows[n].call = row->call;
        for (uint32_t i = 0; i < count; i++)
            rows[n].masks[i] = overload_mask(row->params[i]);
        n++;
        *ret_asks_env |= row->asks_env;
    }
    return n;
}

static struct cel_val (*call_step(uint32_t count))(const struct op *, struct cel_frame *)
{
    return count == 1 ? op_call_one : count == 2 ? op_call_two : op_call;
}

static const struct op *call_op(struct plan *p, const struct ast *node, enum overload_form form,
                                const struct op *const *args, uint32_t count)
{
    bool asks_env;
    struct op *op = op_new(p, node, call_step(count));
    op->function = arena_dup(p->program->arena, node->function, strlen(node->function));
    op->count = count;
    op->args = args;
    op->a = count > 0 ? args[0] : NULL;
    op->b = count > 1 ? args[1] : NULL;
    for (uint32_t i = 0; i < count; i++)
        add_cost(op, args[i]);
    struct op_row *rows = arena_alloc(p->program->arena, node->row_count * sizeof *rows);
    op->row_count = collect_rows(node, form, count, rows, &asks_env);
    if (op->row_count == 0) {
        op->run = op_unknown;
        op->row_count = node->row_count;
        return op;
    }
    op->rows = rows;
    choose_step(op, form);
    return asks_env ? op : fold(p, op);
}

/* A pattern that is known is compiled once; one that is wrong is an error of the program. */
static const struct op *matches_op(struct plan *p, const struct ast *node,
                                   const struct op *const *args)
{
    struct cel_program *program = p->program;
    struct cel_val pattern = args[1]->value;
    struct regex *regex = re2_compile(pattern.text, pattern.len, true, p->err);
    if (!regex) {
        err_in(p->err, "'%.*s' is no regular expression",
               (int)runes_fit(pattern.text, pattern.len, 100), pattern.text);
        p->err->code = RONDO_EINVAL;
        return wrong(p, args[1]->offset);
    }
    mem_grow(&program->patterns, &program->pattern_cap, program->pattern_count,
             sizeof *program->patterns);
    program->patterns[program->pattern_count++] = regex;
    struct op *op = op_new(p, node, op_matches);
    op->a = args[0];
    op->regex = regex;
    add_cost(op, op->a);
    return fold(p, op);
}

static const struct op *const *plan_args(struct plan *p, const struct lookup_var *vars,
                                         struct ast *const *nodes, uint32_t count)
{
    const struct op **args = arena_alloc(p->program->arena, count * sizeof *args);
    for (uint32_t i = 0; i < count; i++)
        if (!(args[i] = plan(p, vars, nodes[i])))
            return NULL;
    return args;
}

static const struct op *plan_call(struct plan *p, const struct lookup_var *vars,
                                  struct ast *node)
{
    if (!node->function)
        lookup_call(p->lookup, vars, node);
    uint32_t skip = node->is_namespace, count = node->count - skip;
    const struct op *const *args = plan_args(p, vars, node->args + skip, count);
    if (!args)
        return NULL;
    bool is_pattern = count == 2 && strcmp(node->function, "matches") == 0 &&
                      is_const(args[1]) && args[1]->value.kind == CEL_STRING;
    if (is_pattern)
        return matches_op(p, node, args);
    return call_op(p, node, node->has_target && !skip ? MEMBER : GLOBAL, args, count);
}

/* ---- the rest ---------------------------------------------------------------------------- */

static const struct op *plan_const(struct plan *p, const struct ast *node)
{
    struct op *op = op_new(p, node, op_const);
    op->value = node->value;
    if (node->value.kind == CEL_STRING || node->value.kind == CEL_BYTES)
        op->value.text = arena_dup(p->program->arena, node->value.text, node->value.len);
    return op;
}

static const struct op *plan_index(struct plan *p, const struct lookup_var *vars,
                                   struct ast *node)
{
    struct ast_path path;
    if (lookup_path(p->lookup, vars, node, &path))
        return plan_path(p, node, &path);
    struct op *op = op_new(p, node, node->is_optional ? op_index_optional : op_index);
    if (!(op->a = plan(p, vars, node->a)) || !(op->b = plan(p, vars, node->b)))
        return NULL;
    add_cost(op, op->a);
    add_cost(op, op->b);
    return fold(p, op);
}

static const struct op *plan_if(struct plan *p, const struct lookup_var *vars, struct ast *node)
{
    struct op *op = op_new(p, node, op_if);
    if (!(op->a = plan(p, vars, node->a)) || !(op->b = plan(p, vars, node->b)) ||
        !(op->c = plan(p, vars, node->c)))
        return NULL;
    if (is_const(op->a) && op->a->value.kind == CEL_BOOL)
        return op->a->value.truth ? op->b : op->c;
    add_cost(op, op->a);
    add_cost(op, op->b);
    add_cost(op, op->c);
    return op;
}

/* &&, ||, lists and maps: all operands in args. */
static struct op *plan_many(struct plan *p, const struct lookup_var *vars, struct ast *node,
                            struct cel_val (*run)(const struct op *, struct cel_frame *))
{
    struct op *op = op_new(p, node, run);
    op->count = node->count;
    if (!(op->args = plan_args(p, vars, node->args, node->count)))
        return NULL;
    for (uint32_t i = 0; i < op->count; i++)
        add_cost(op, op->args[i]);
    if (node->marks) {
        bool *marks = arena_alloc(p->program->arena, node->count * sizeof *marks);
        memcpy(marks, node->marks, node->count * sizeof *marks);
        op->marks = marks;
    }
    return op;
}

static const struct op *plan_row(struct plan *p, const struct lookup_var *vars, struct ast *node)
{
    bool is_and = node->kind == AST_AND;
    struct op *op = plan_many(p, vars, node, is_and ? op_and : op_or);
    if (op && op->count == 2) {
        op->run = is_and ? op_and_two : op_or_two;
        op->a = op->args[0];
        op->b = op->args[1];
    }
    return op ? fold(p, op) : NULL;
}

static const struct op *plan_literal(struct plan *p, const struct lookup_var *vars,
                                     struct ast *node)
{
    struct op *op = plan_many(p, vars, node, node->kind == AST_LIST ? op_list : op_map);
    return op ? fold(p, op) : NULL;
}

static void enter(struct plan *p, uint32_t slots)
{
    p->depth += slots;
    p->program->slots = MAX(p->program->slots, p->depth);
}

static const struct op *plan_let(struct plan *p, const struct lookup_var *vars, struct ast *node)
{
    struct op *op = op_new(p, node, op_let);
    struct lookup_var *bound = arena_alloc(p->lookup->arena, node->count * sizeof *bound);
    const struct op **args = arena_alloc(p->program->arena, node->count * sizeof *args);
    op->slot = p->depth;
    op->count = node->count;
    op->args = args;
    for (uint32_t i = 0; i < node->count; i++) {
        enter(p, 1);
        if (!(args[i] = plan(p, vars, node->args[i])))
            return NULL;
        add_cost(op, args[i]);
        bound[i] = (struct lookup_var){ &node->vars[i], NULL, op->slot + i, vars };
        vars = &bound[i];
    }
    if (!(op->a = plan(p, vars, node->a)))
        return NULL;
    add_cost(op, op->a);
    p->depth -= node->count;
    return is_const(op->a) ? op->a : op;
}

static struct cel_val (*const loops[])(const struct op *op, struct cel_frame *f) = {
    [LOOP_ALL] = op_all,
    [LOOP_EXISTS] = op_exists,
    [LOOP_ONE] = op_one,
    [LOOP_LIST] = op_to_list,
    [LOOP_MAP] = op_to_map,
    [LOOP_ENTRIES] = op_to_entries,
    [LOOP_SORT] = op_sort,
    [LOOP_OPTIONAL] = op_optional,
    [LOOP_OPTIONAL_FLAT] = op_optional_flat,
};

static const struct op *plan_loop(struct plan *p, const struct lookup_var *vars,
                                  struct ast *node)
{
    struct op *op = op_new(p, node, loops[node->loop]);
    op->slot = p->depth;
    op->has_two = node->name2.text;
    struct lookup_var first = { &node->name, NULL, op->slot, vars };
    struct lookup_var second = { &node->name2, NULL, op->slot + 1, &first };
    const struct lookup_var *inner = op->has_two ? &second : &first;
    if (!(op->a = plan(p, vars, node->a)))
        return NULL;
    enter(p, 1 + op->has_two);
    if ((node->c && !(op->c = plan(p, inner, node->c))) || !(op->b = plan(p, inner, node->b)))
        return NULL;
    p->depth -= 1 + op->has_two;
    add_cost(op, op->a);
    return op;
}

static const struct op *plan_message(struct plan *p, const struct ast *node)
{
    struct op *op = op_new(p, node, op_message);
    op->name = keep_name(p, &node->a->name);
    return op;
}

static const struct op *plan(struct plan *p, const struct lookup_var *vars, struct ast *node)
{
    switch (node->kind) {
    case AST_CONST: return plan_const(p, node);
    case AST_IDENT: return plan_ident(p, vars, node);
    case AST_SELECT: return plan_select(p, vars, node);
    case AST_INDEX: return plan_index(p, vars, node);
    case AST_CALL: return plan_call(p, vars, node);
    case AST_AND:
    case AST_OR: return plan_row(p, vars, node);
    case AST_IF: return plan_if(p, vars, node);
    case AST_LIST:
    case AST_MAP: return plan_literal(p, vars, node);
    case AST_LET: return plan_let(p, vars, node);
    case AST_LOOP: return plan_loop(p, vars, node);
    default: return plan_message(p, node);
    }
}

int plan_run(struct cel_program *program, struct lookup *lookup, struct ast *root,
             rondo_error *err)
{
    struct plan p = {
        .program = program, .lookup = lookup, .err = err, .fold_cost = FOLD_COST_ALL
    };
    err->code = 0;
    program->root = plan(&p, NULL, root);
    arena_free(&p.scratch.arena);
    regex_match_free(p.scratch.match);
    return program->root ? 0 : err->code;
}
