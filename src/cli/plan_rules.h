/* plan_rules.h - a workflow that a model wrote: is it one, and may it be run?

   It is checked by the loader like every other file.  Beyond that it may not have what would do more than the person
   who asked for it has said: it is the word of a model, which may have read words of others. */
#ifndef RONDO_PLAN_RULES_H
#define RONDO_PLAN_RULES_H

#include "agent/call.h"

struct plan_rules {
    const char *folder;          // that its files have to be in
    bool allow_commands;         // it may have commands, and files of the folder that may have some
    bool allow_files;            // its agents may be shown files of the folder
    const struct call_env *env;  // how it will be run
};

/* The flow, with one reference; NULL, and everything that is wrong with it in diags.  A fence around the text, and
   words around that, do not matter. */
struct flow *plan_check(const char *text, size_t len, const struct plan_rules *rules, struct diags *diags);

#endif
