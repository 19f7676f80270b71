/* known.h - which providers of models there are, by name, and which of them a bare model's name means.

   Files are checked against these names when they are loaded; what is behind a name is said by the rows of
   model/provider.c. */
#ifndef RONDO_KNOWN_H
#define RONDO_KNOWN_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

extern const char *const known_providers[];
extern const size_t known_provider_count;

bool known_is_provider(const char *name, size_t len);

/* The tools that agents list: the built-in ones (tool/builtins.c), send_message, and those that end loops. */
extern const char *const known_tools[];
extern const size_t known_tool_count;
bool known_is_tool(const char *name);
bool known_is_own_tool(const char *name); // one that agents may have without listing it
bool known_is_coordinating(const char *name); // of those: only coordinators have it

#define KNOWN_TOOL_LEN 64     // characters of a tool's name; servers of models take no more
#define KNOWN_ASKED    "#ask" // behind the name of a worker: the step in which it is only asked

/* How many characters of "provider/model" or "provider:model" are the provider; 0 when there is none.  A
   model's own name may have both signs in it: the first one counts, and only behind a known provider,
   but what stands before a '/' is always meant to be one. */
size_t known_split(const char *name);

/* Who serves models whose names begin like this one; NULL when nobody can tell. */
const char *known_guess(const char *model);

/* An alias of the file's `models` and all that it falls back on, in the order in which they are tried, each
   once; what a fallback falls back on comes right behind it.  The names are borrowed from models. */
#define KNOWN_CHAIN_MAX 50
struct known_chain {
    const char *names[KNOWN_CHAIN_MAX];
    size_t count;
};

/* RONDO_EINVAL: there are too many, or they go round in a circle. */
int known_chain(const json_t *models, const char *alias, struct known_chain *ret, rondo_error *err);

#endif
