/* ast.h - an expression as its author wrote it, macros expanded.

   Nodes live in the arena of the compilation.  Every node knows where its text begins, those
   that come from a macro included: they point at what the author wrote. */
#ifndef RONDO_CEL_AST_H
#define RONDO_CEL_AST_H

#include "base/arena.h"
#include "cel/cel.h"

enum ast_kind {
    AST_CONST,    // value
    AST_IDENT,    // name; is_rooted for .name
    AST_SELECT,   // a.name; is_test for has(a.name), is_optional for a.?name
    AST_INDEX,    // a[b]; is_optional for a[?b]; with a name when b is a text
    AST_CALL,   // name(args); with has_target args[0].name(args[1] ...); operators are "_+_" ...
    AST_AND,    // args, two or more
    AST_OR,     // args, two or more
    AST_IF,     // a ? b : c
    AST_LIST,      // args; optional ones marked
    AST_MAP,       // args: key, value, key, value ...; optional entries marked on the key
    AST_MESSAGE,   // name{...}: no such types here; args as in AST_MAP
    AST_LOOP,      // a comprehension, see enum ast_loop
    AST_LET,       // args bound one after the other to vars, then a
};

/* What a loop over a (with variable name, or name and name2) does with b, after the filter c if
   there is one. */
enum ast_loop {
    LOOP_ALL,
    LOOP_EXISTS,
    LOOP_ONE,
    LOOP_LIST,
    LOOP_MAP,
    LOOP_ENTRIES,
    LOOP_SORT,
    LOOP_OPTIONAL,
    LOOP_OPTIONAL_FLAT,
};

struct ast {
    enum ast_kind kind;
    enum ast_loop loop;
    uint32_t offset;   // in the text, in bytes: of the operator or the name
    uint32_t depth;    // of the tree below, from 1
    bool is_rooted, is_test, is_optional, has_target, is_in_parens;
    struct cel_val value;
    struct cel_name name, name2;
    struct ast *a, *b, *c;
    struct ast **args;
    struct cel_name *vars;
    bool *marks;      // of list items and map entries: which are optional; NULL for none
    uint32_t count;   // of args

    /* What the checker finds out. */
    const struct cel_type *type;
    struct lookup_found *found;   // of a path: what it begins with
    const char *function;   // of a call: its name with the namespace, NULL if not looked for
    const struct overload **rows;   // ... and its overloads
    uint32_t row_count;
    bool is_namespace;   // the target of this call is part of the function's name
};

struct lookup_found;
struct overload;

#define AST_PATH_MAX 32

/* The names of a.b.c, when a node is nothing but selections from a name. */
struct ast_path {
    struct cel_name names[AST_PATH_MAX];
    uint32_t count;
    uint32_t plain;   // how many of them, from the first, are written with dots
    bool is_rooted;
};

/* False when node is something else, or too long.  The node itself may be has(a.b.c); a['b']
   counts as a selection if with_index says so. */
bool ast_path_read(const struct ast *node, bool with_index, struct ast_path *ret);

#endif
