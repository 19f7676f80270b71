/* builtins.c - the tools that are part of rondo: one row each. */
#include "tool/tool.h"

const struct tool_row tool_builtins[] = {
    { NULL },
};
