/* team_tool.h - the tools with which a model calls other agents of its file: one for each agent or workflow that it
   lists in `tools`, and `delegate` and `ask` over its `workers`.

   Whoever is called is a step of the run below the one that calls (run/errand.h), with its own prompt, model,
   tools, schema and budget, whatever kind of agent it is. */
#ifndef RONDO_TEAM_TOOL_H
#define RONDO_TEAM_TOOL_H

#include "agent/talk.h"

/* step is the one that calls, and see its eyes: what it is told of the others may have holes. */
int team_tools_add(struct toolbox *box, struct see *see, const struct flow_step *step, rondo_error *err);

#endif
