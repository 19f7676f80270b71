/* builtins.h - what carries out the tools that are part of rondo; their rows are in builtins.c. */
#ifndef RONDO_BUILTINS_H
#define RONDO_BUILTINS_H

#include "tool/tool.h"

void tool_read(struct tool_call *call);  // tool_files.c
void tool_write(struct tool_call *call);
void tool_edit(struct tool_call *call);
void tool_glob(struct tool_call *call);  // glob.c
void tool_grep(struct tool_call *call);  // grep.c
void tool_bash(struct tool_call *call);  // bash.c
void tool_bash_cancel(struct tool_call *call);
void tool_fetch(struct tool_call *call); // fetch.c
void tool_fetch_cancel(struct tool_call *call);

#endif
