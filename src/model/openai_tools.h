/* openai_tools.h - the tools of a request, and which of them must be called, as OpenAI's two APIs say it. */
#ifndef RONDO_OPENAI_TOOLS_H
#define RONDO_OPENAI_TOOLS_H

#include "model/api.h"

/* Puts `tools`, a row each by row(), and `tool_choice` into body.  One tool by its name is { type, name }, or stands
   in an object under `inside`, when that is not NULL. */
void openai_set_tools(const struct inquiry *inquiry, json_t *body,
                      json_t *(*row)(const struct inquiry *inquiry, const json_t *tool), const char *inside);

#endif
