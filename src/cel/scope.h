/* scope.h - what the names in an expression stand for.

   A path such as a.b.c may be a variable a with two selections, a variable named "a.b", a type,
   or the beginning of a function's name; inside a container its names are tried first.  The
   longest name that exists wins. */
#ifndef RONDO_CEL_SCOPE_H
#define RONDO_CEL_SCOPE_H

#include "cel/ast.h"
#include "cel/overload.h"

/* Everything that can be named, for one compilation. */
struct scope {
    const struct cel_options *options;
    struct arena *arena;                  // of the compilation
    const struct cel_type **decl_types;   // beside options->decls
    struct overload *functions;           // from options->functions
    struct cel_name container[AST_PATH_MAX];
    uint32_t container_count;
};

/* A variable bound inside the expression. */
struct scope_var {
    const struct cel_name *name;
    const struct cel_type *type;
    uint32_t slot;
    const struct scope_var *outer;
};

struct scope_found {
    uint32_t prefix;                  // how many names of the container belong to it
    uint32_t used;                    // how many names of the path; 0: nothing was found
    const struct cel_type *type;      // of the variable
    const struct cel_type *is_type;   // it is no variable but this type
    uintptr_t token;
};

/* Rows and types are made in `keep`, which has to outlive the program. */
int scope_init(struct scope *scope, const struct cel_options *options, struct arena *arena,
               struct arena *keep, rondo_error *err);

const struct scope_var *scope_local(const struct scope_var *vars, const struct cel_name *name);

/* Fills *ret; a negative code when the caller's bind hook objects. */
int scope_find(struct scope *scope, const struct ast_path *path, struct scope_found *ret,
               rondo_error *err);

/* Reads the path of a node unless it begins with a variable bound inside the expression.  When
   the caller binds names, a['b'] is part of a path too, so that it can answer for the whole. */
bool scope_path(const struct scope *scope, const struct scope_var *vars, const struct ast *node,
                struct ast_path *ret);

/* Finds out what a call calls: sets function, is_namespace and the rows, the caller's own
   functions first.  No rows: there is no such function. */
void scope_call(struct scope *scope, const struct scope_var *vars, struct ast *call);

#endif
