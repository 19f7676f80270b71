/* surroundings.h - the environment that rondo was started in, and what commands get of it.

   A command gets a few variables that hold no secrets, and what its `env` names.  `env: inherit` gives it nearly all of
   them.  Then the values of those whose names say that they are secret are secrets of the run. */
#ifndef RONDO_SURROUNDINGS_H
#define RONDO_SURROUNDINGS_H

#include "base/buf.h"
#include "data/secret.h"
#include "flow/flow.h"

extern char **environ;

/* Whether the agent's command gets this variable of ours, "NAME=value", though no `env` names it. */
bool surroundings_pass(const struct flow_agent *agent, const char *pair);

/* Adds the secrets that a command of this agent gets without being given them by name. */
void surroundings_add_secrets(const struct flow_agent *agent, struct secrets *secrets);

/* Puts a line about keys of models that are set here and that a command with this environment was not given; nothing
   when there are none.  env ends with NULL. */
void surroundings_put_hint(struct buf *out, const char *const *env);

#endif
