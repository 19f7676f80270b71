/* lookup.h - what the names in an expression stand for.

   A path such as a.b.c may be a variable a with two selections, a variable named "a.b", a type,
   or the beginning of a function's name; inside a container its names are tried first.  The
   longest name that exists wins. */
#ifndef RONDO_LOOKUP_H
#define RONDO_LOOKUP_H

#include "cel/ast.h"
#include "cel/overload.h"

/* Everything that can be named, for one compilation. */
struct lookup {
    const struct cel_options *options;
    struct arena *arena;                  // of the compilation
    const struct cel_type **decl_types;   // beside options->decls
    struct overload *functions;           // from options->functions
    struct cel_name container[AST_PATH_MAX];
    uint32_t container_count;
};

/* A variable bound inside the expression. */
struct lookup_var {
    const struct cel_name *name;
    const struct cel_type *type;
    uint32_t slot;
    const struct lookup_var *outer;
};

struct lookup_found {
    uint32_t prefix;                  // how many names of the container belong to it
    uint32_t used;                    // how many names of the path; 0: nothing was found
    const struct cel_type *type;      // of the variable
    const struct cel_type *is_type;   // it is no variable but this type
    uintptr_t token;
};

/* Rows and types are made in `keep`, which has to outlive the program. */
int lookup_init(struct lookup *lookup, const struct cel_options *options, struct arena *arena,
               struct arena *keep, rondo_error *err);

const struct lookup_var *lookup_local(const struct lookup_var *vars, const struct cel_name *name);

/* Fills *ret; a negative code when the caller's bind hook objects. */
int lookup_find(struct lookup *lookup, const struct ast_path *path, struct lookup_found *ret,
               rondo_error *err);

/* Reads the path of a node unless it begins with a variable bound inside the expression.  When
   the caller binds names, a['b'] is part of a path too, so that it can answer for the whole. */
bool lookup_path(const struct lookup *lookup, const struct lookup_var *vars, const struct ast *node,
                struct ast_path *ret);

/* Finds out what a call calls: sets function, is_namespace and the rows, the caller's own
   functions first.  No rows: there is no such function. */
void lookup_call(struct lookup *lookup, const struct lookup_var *vars, struct ast *call);

#endif
