/* guides.h - what a model is told beyond its prompt: skills that are folders, and notes of the project.

   Of a skill the model sees name and description first; the tool `skill` gives it the text of SKILL.md, or one
   of the files beside that, when it wants to use it.  AGENTS.md is looked for in the folder that the agent
   works in and in those around it, and the nearest one is shown. */
#ifndef RONDO_GUIDES_H
#define RONDO_GUIDES_H

#include "agent/call.h"
#include "tool/tool.h"

void guides_show(const struct flow_agent *agent, struct buf *system, struct toolbox *box);
int guides_show_notes(const char *folder, struct buf *system, rondo_error *err); // none at all are no error

#endif
