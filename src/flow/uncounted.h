/* uncounted.h - budgets that nothing is counted towards.

   Tokens, cost and calls are what models report.  A command reports what it used only if it says so in the file
   $RONDO_REPLY; a budget around one that does not is never used up.  Such a budget is told where commands do all the
   work in it and nothing mentions that file: neither the workflow, nor a file beside it that a command names.  A budget
   that has a model in it, too, is one of that model. */
#ifndef RONDO_UNCOUNTED_H
#define RONDO_UNCOUNTED_H

#include "flow/flow.h"

/* Borrowed for the call. */
struct uncounted {
    const char *limits;             // "tokens and cost"
    const struct doc_val *at;       // where the file has the first of them; NULL: they are those of `more`
    const struct flow_agent *agent; // one of the commands in it
};

/* Calls back for every such budget of the file, its steps, loops and agents, and for `more` (NULL), which is around the
   whole file.  Of other files that are in it only the work is looked at.  files: how those beside the workflow are
   read; NULL: they are not. */
void uncounted_find(const struct flow *flow, const rondo_budget *more, const struct flow_files *files,
                    void (*told)(const struct uncounted *uncounted, void *user), void *user);

#endif
