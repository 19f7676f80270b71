/* spot.h - where in the caller's data a value comes from.

   bind answers for paths.  What is behind a list has no path: its items, their fields, and the items of these; nor has
   what a map has where that goes by another name.  The hook `item` knows about them if it is told the way, and a spot
   is that way.  It travels in types of the kind TYPE_KNOWN, so that it comes through whatever hands values on: indexes,
   variables of macros, filters, sorting. */
#ifndef RONDO_CEL_SPOT_H
#define RONDO_CEL_SPOT_H

#include "cel/lookup.h"

/* In the arena of the compilation. */
struct spot {
    uintptr_t token; // of the list that it begins with,
    uint32_t from;   // which has that many of the names
    uint32_t count;
    const struct cel_name *names; // without a text: an item
};

/* The type of a path that was found, with what is known of it if it is a map or list of anything. */
const struct cel_type *spot_of_path(struct lookup *lookup, const struct ast_path *path,
                                    const struct lookup_found *found);

/* What a value of that type has under a name, or as an item if that is NULL; dyn when nobody knows.  NULL with err
   filled in: the caller says that there is no such thing. */
const struct cel_type *spot_enter(struct lookup *lookup, const struct cel_type *type, const struct cel_name *name,
                                  rondo_error *err);

#endif
