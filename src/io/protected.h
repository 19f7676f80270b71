/* protected.h - files that a model must not change, or not see, in the folder that it works in.

   Two kinds of things there would let a model act outside of its sandbox, by the hands of others.  A store of rondo has
   the answers of people and the commands that `rondo resume` carries out: it is hidden.  The settings of a git
   repository name programs that git starts: they are only read.  One table has the names.

   Tools that read and write files ask protected_look() about each file that they have opened.  Commands get a view of
   the files (sandbox.h) in which the places of protected_find() are covered or read-only. */
#ifndef RONDO_PROTECTED_H
#define RONDO_PROTECTED_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

enum protection {
    PROTECTED_NOT,
    PROTECTED_PLACE,     // it may be changed, but not moved or removed
    PROTECTED_READ_ONLY, // with everything in it
    PROTECTED_HIDDEN,    // with everything in it
};

/* Stores that have another name than `.rondo`. */
struct protected_stores {
    char **list; // absolute, links resolved
    uint32_t count, cap;
    struct protected_id *ids; // of their files
    uint32_t id_count, id_cap;
};

/* A path that ends with a slash is a folder that has nothing else in it; any other is a database.  Its files are known
   by other names, too, as far as they are there now. */
void protected_stores_add(struct protected_stores *stores, const char *path);
void protected_stores_clear(struct protected_stores *stores);

/* How is a file protected?  path: absolute, links resolved.  st: what fstat() says of it; NULL when there is none yet.
   stores: NULL for none. */
enum protection protected_look(const struct protected_stores *stores, const char *path, const struct stat *st);

struct protected_place {
    char *path;
    uint8_t how; // enum protection
    bool is_folder;
};

/* The places to cover in the view of one command.  All zero is an empty one. */
struct protected {
    struct protected_place *list; // a folder comes before the places in it
    uint32_t count, cap;
    bool has_view;     // the command will have a view of its own
    const char *empty; // a file without bytes, to cover others with; borrowed
    struct held *held; // see protected.c
    uint32_t held_count, held_cap;
};

struct protected_spec {
    const char *folder;       // where the command works, and may write
    const struct protected_stores *stores; // NULL: none
    const char *git;          // of a worktree that we made: where the repository keeps what belongs to it; NULL
    bool has_view;
    const char *empty;
};

/* Finds the places, and makes those that are missing, until ret is cleared.  RONDO_EINVAL: a store would be in reach
   all the same, and why. */
int protected_find(struct protected *ret, const struct protected_spec *spec, rondo_error *err);
void protected_clear(struct protected *protected);

/* A hidden place at this path or below it; NULL. */
const char *protected_below(const struct protected *protected, const char *path);

#endif
