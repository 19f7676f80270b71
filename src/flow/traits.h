/* traits.h - everything that defines what a step does, in a form in which equal is equal.

   The traits of a step are a flat object: "loop.until", "agent.prompt", "retry.delay" with their values.
   Comments, the order of keys, how things are written and where they stand do not show in it; a text that
   is in a file (@file) shows as that text.  What a step takes from elsewhere belongs to it: its agent with
   all that defines it, the alias of its model ("agent.models.fast.provider"), the defaults of the file that
   apply to it ("agent.options.model"), the agents that judge, score, review, or speak in its forum.  Steps
   inside of it have traits of their own; the keys of a file that it includes are its own, behind "include". */
#ifndef RONDO_TRAITS_H
#define RONDO_TRAITS_H

#include "flow/flow.h"

/* New, the caller's. */
json_t *traits_of_step(const struct flow_step *step);
json_t *traits_of_file(const struct flow *flow); // what the file says beside its steps

#endif
