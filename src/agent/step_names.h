/* step_names.h - the steps of a flow by name, for files that say something about steps: --script, --answers. */
#ifndef RONDO_STEP_NAMES_H
#define RONDO_STEP_NAMES_H

#include "flow/flow.h"

struct step_names {
    const char **list; // borrowed from the flow
    uint32_t count, cap;
};

void step_names_init(struct step_names *names, const struct flow *flow);
void step_names_clear(struct step_names *names);

/* Is the last name of a path ("refine.0.draft", "draft") that of a step?  0, or RONDO_EINVAL with the nearest. */
int step_names_check(const struct step_names *names, const char *path, rondo_error *err);

#endif
