/* child.h - the tool `agent`: a model gives part of its work to an agent of its own.

   A child is a talk inside the talk (talk.h): it has some of the tools of its parent, never others, and its
   answer is the result of the call.  How deep children may have children, and how many, is bounded. */
#ifndef RONDO_CHILD_H
#define RONDO_CHILD_H

#include "agent/talk.h"

#define CHILD_DEPTH 3  // unless the command line says otherwise
#define CHILD_COUNT 10 // of one talk

/* Gives the box the tool, if a talk of this depth may have children. */
void child_add_tool(struct toolbox *box, const struct call_env *env, int depth);

#endif
