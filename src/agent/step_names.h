/* step_names.h - the steps of a flow by name, for files that say something about steps: --script, --answers.

   A step can be named in three ways: by its id, whenever it runs ("draft"); by where it is in the definition, also
   whenever it runs ("refine.draft"); and by the path that it has once ("refine.0.draft"). */
#ifndef RONDO_STEP_NAMES_H
#define RONDO_STEP_NAMES_H

#include "base/arena.h"
#include "flow/flow.h"

struct step_place {
    const char *path; // in the definition
    const rondo_node *node;
    const struct flow_step *step; // the node's
};

struct step_names {
    const rondo_node *root; // borrowed
    struct step_place *places; // loops around a single step and what they repeat are at the same one
    uint32_t count, cap;
    struct arena arena;
};

/* Of what flow_build() made. */
void step_names_init(struct step_names *names, const rondo_node *root);
void step_names_clear(struct step_names *names);

/* Is it the name of the step, wherever that is, or its path in the definition?  "draft^1" is, too: an encore's. */
bool step_place_has(const struct step_place *place, const char *name);

/* What has this path once; NULL: there is none. */
const rondo_node *step_names_find(const struct step_names *names, const char *path);

/* Is it the name of a step, in one of the three ways?  0, or RONDO_EINVAL with the nearest. */
int step_names_check(const struct step_names *names, const char *name, rondo_error *err);

/* The same for a question that an agent at work asks (run/asks.h); below an agent there may be others, which have no
   names in the file. */
int step_names_check_ask(const struct step_names *names, const char *name, rondo_error *err);

#endif
