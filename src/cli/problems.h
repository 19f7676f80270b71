/* problems.h - what is wrong with a file, on stderr. */
#ifndef RONDO_PROBLEMS_H
#define RONDO_PROBLEMS_H

#include "cli/command.h"
#include "flow/diag.h"

/* All of them, in their order, with colours where they are welcome; warnings only when wanted. */
void problems_show(const struct cmdline *line, struct diags *diags, bool warnings);

#endif
