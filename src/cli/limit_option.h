/* limit_option.h - --limit PATH:KEY=VALUE, in the words of workflow files. */
#ifndef RONDO_LIMIT_OPTION_H
#define RONDO_LIMIT_OPTION_H

#include "base/buf.h"
#include "base/error.h"
#include "cli/option.h"

#include <jansson.h>

/* As rondo_run_options has them; *ret is new, NULL when there is none.  RONDO_EINVAL: what is wrong with one. */
int limit_option_read(const struct texts *given, json_t **ret, rondo_error *err);

/* " --limit refine:maxIterations=20" for a key of the table; value: in milliseconds or nano-dollars, or a count.
   False: there is no such key. */
bool limit_option_put(struct buf *out, const char *path, const char *key, int64_t value);

/* "budget.cost=0.5", as a person writes a limit that rondo_run_options and events have as "budgetNano". */
void limit_option_put_named(struct buf *out, const char *name, int64_t value);

#endif
