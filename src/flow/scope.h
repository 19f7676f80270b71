/* scope.h - compiling expressions and texts with holes where they stand in a workflow file.

   What an expression may name depends on the container it stands in and on what is asked: see
   docs/expressions.md.  A name that nothing gives is an error at its place in the file, with the
   nearest name that there is; a name that is known becomes a struct flow_ref, which run/see.c
   follows.

   All scopes of the file (steps with ids, agents, bodies, loops, inner scopes, inputs) have to be
   complete before anything is compiled. */
#ifndef RONDO_SCOPE_H
#define RONDO_SCOPE_H

#include "flow/flow.h"

enum scope_want { WANT_ANY, WANT_BOOL, WANT_LIST, WANT_NUMBER };

/* What may be named besides what the scope gives. */
enum scope_allow {
    ALLOW_NONE = 0,
    ALLOW_PASS = 1,  // a rule of a loop: the pass that just ended.  scope is the loop's own
    ALLOW_ERROR = 2, // retry.on: why the step failed
    ALLOW_USER = 4,  // a text of an agent: what steps that use it can see, wherever they are
    ALLOW_ABSENT = 8, // a question: what has no value is a no
    ALLOW_HEAD = 32,  // before the file runs: nothing but its inputs is there
    ALLOW_FIRST = 64, // of a loop before its first pass, too: then there is nothing of a pass
};

/* What an input is known to be before anything runs: what the `with` of a step gives, the inputs of a file, or what a
   step of a sequence hands on.  Of all others nothing is known. */
struct scope_given {
    const struct flow_step *with;   // NULL
    const struct flow *file;        // NULL
    const struct flow_step *before; // NULL
};

/* Where an expression stands. */
struct scope_place {
    struct flow_scope *scope;
    const struct flow_step *step;   // in it, or it is about it; NULL: the file
    const struct flow_agent *agent; // whose text it is; NULL: nobody's
    unsigned allows;                // enum scope_allow
    struct scope_given input;       // what `input` is there
};

/* Compiles the text `at` into *ret.  what names the key, for messages; it has to stay.  Anything wrong
   goes to diags, with code "cel" or "unknown_reference", and leaves ret->program NULL. */
void scope_expr(const struct scope_place *place, const struct doc_val *at, const char *what,
                enum scope_want want, struct flow_expr *ret, struct diags *diags);

/* What an expression that names nothing always gives, in *ret, the caller's; NULL when it names something or is not
   worth the time.  A code when it always fails. */
int scope_constant(const struct cel_program *program, json_t **ret, rondo_error *err);

/* CEL only says that it does not know a function.  The one that was probably meant where it does; NULL. */
const char *scope_nearest_function(const char *message);

/* The step with that id, in this scope alone; of several the first; NULL.  To be found, all steps have to be in their
   scope when it is indexed. */
void scope_index(struct flow_scope *scope);
struct flow_step *scope_step(const struct flow_scope *scope, const char *id);

/* A text that a workflow file only names (@file): which one, and what is in it. */
struct scope_file {
    struct scope_file *next; // of those that were read
    const char *path;        // as it was named
    const char *name;        // from where we are
    const char *text;
    size_t len;
    struct source *source;   // made when something is wrong in it
};
struct source *scope_file_source(struct scope_file *file);

/* Cuts a text, which has been cleaned, into pieces.  It is that of text->at, or, if given, of a file that this names:
   holes that are wrong are reported where they are.  In v1 files there are no holes. */
void scope_text(const struct scope_place *place, struct flow_text *text, struct scope_file *file, struct diags *diags);

#endif
