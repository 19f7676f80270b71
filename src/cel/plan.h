/* plan.h - from the tree to steps that can be carried out. */
#ifndef RONDO_CEL_PLAN_H
#define RONDO_CEL_PLAN_H

#include "cel/lookup.h"
#include "cel/op.h"

struct cel_program {
    struct arena own;      // empty when it lives in another's
    struct arena *arena;   // of everything below but patterns
    const char *text;
    size_t len;
    const struct op *root;
    const struct cel_type *type;
    uint32_t slots;   // room for variables bound inside
    struct regex **patterns;
    uint32_t pattern_count, pattern_cap;
    const struct cel_ref **paths;
    uint32_t path_count;
};

/* Fills in root, slots, patterns and paths.  Finds names itself where the checker did not run. */
int plan_run(struct cel_program *program, struct lookup *lookup, struct ast *root,
             rondo_error *err);

#endif
