/* read_own.h - readers of keys that take more than one form; see the rows in fields.c. */
#ifndef RONDO_READ_OWN_H
#define RONDO_READ_OWN_H

#include "flow/load.h"

#define OWN_READER(name) \
    void name(struct loading *l, const struct field *field, const struct doc_val *val, void *into)

OWN_READER(own_version);    // rondo and version
OWN_READER(own_id);         // step
OWN_READER(own_agents);     // flow: agents
OWN_READER(own_inputs);     // flow: inputs
OWN_READER(own_memory);     // const char *: a scope, or false
OWN_READER(own_run);        // agent: argv or shell text
OWN_READER(own_env);        // agent: a list of names, a map, or inherit
OWN_READER(own_skills);     // agent
OWN_READER(own_sandbox);    // agent
OWN_READER(own_step_run);   // step: its own command,
OWN_READER(own_step_cwd);   // where that runs,
OWN_READER(own_step_env);   // and its variables
OWN_READER(own_retries);    // step: retries
OWN_READER(own_loop);       // step
OWN_READER(own_branch);     // step: cases
OWN_READER(own_when);       // of a case
OWN_READER(own_case_name);  // of a case
OWN_READER(own_else);       // of a case
OWN_READER(own_members);    // step: the agents of a forum or a parallel
OWN_READER(own_captain);    // step
OWN_READER(own_states);     // step: of a machine
OWN_READER(own_edges);      // step: of a machine
OWN_READER(own_on_timeout); // step: of a gate
OWN_READER(own_review);     // step
OWN_READER(own_review_gate); // review
OWN_READER(own_for_each);   // loop
OWN_READER(own_feedback);   // loop
OWN_READER(own_unbounded);  // loop
OWN_READER(own_secret);     // checked only: env:NAME or file:PATH
OWN_READER(own_map);        // checked only: a map of anything
OWN_READER(own_name_or_flag); // checked only: true, false or a text

/* Letters, digits, - and _, a letter first, not very long; strict: lower case, at most 64. */
bool read_is_name(const char *text);
bool read_is_strict_name(const char *text);
const char *read_name_rule(const char *text); // what is wrong with a text that is no name: "has to ..."

/* Says so when a text cannot be the name of an environment variable. */
void read_check_variable(struct loading *l, const struct doc_val *at, const char *name);

#endif
