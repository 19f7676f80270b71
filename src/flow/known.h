/* known.h - which providers of models there are, by name, and which of them a bare model's name means.

   Files are checked against these names when they are loaded; what is behind a name is said by the rows of
   model/provider.c. */
#ifndef RONDO_KNOWN_H
#define RONDO_KNOWN_H

#include <stdbool.h>
#include <stddef.h>

extern const char *const known_providers[];
extern const size_t known_provider_count;

bool known_is_provider(const char *name, size_t len);

/* How many characters of "provider/model" or "provider:model" are the provider; 0 when there is none.  A
   model's own name may have both signs in it: the first one counts, and only behind a known provider,
   but what stands before a '/' is always meant to be one. */
size_t known_split(const char *name);

/* Who serves models whose names begin like this one; NULL when nobody can tell. */
const char *known_guess(const char *model);

#endif
