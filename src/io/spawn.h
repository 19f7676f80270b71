/* spawn.h - starting a program as a child of ours. */
#ifndef RONDO_SPAWN_H
#define RONDO_SPAWN_H

#include "base/buf.h"
#include "base/error.h"
#include "io/sandbox.h"

#include <sys/types.h>

/* Everything is borrowed for the call.  Lists end with NULL. */
struct spawn {
    const char *path;        // of the file; see spawn_find()
    const char *name;        // what the user called it, for messages
    const char *const *argv;
    const char *const *env;  // "NAME=value"
    const char *cwd;         // NULL: ours
    int files[3];            // become 0, 1 and 2; none of them is below 3
    bool dies_with_us;       // killed when the thread that started it ends
    uint64_t mark;                 // see guard_mark(); 0: none
    const struct sandbox *sandbox; // NULL: none
};

struct spawned {
    pid_t pid; // to wait for
    int exit;  // readable once it has ended
    int fate;  // inside of bubblewrap: see spawn_fate(); else -1
};

/* A group of its own, no terminal, default signals, no other open files.  The descriptors are the caller's. */
int spawn_start(const struct spawn *spawn, struct spawned *ret, rondo_error *err);

/* How it ended, as waitpid() tells it; false: as its process did. */
bool spawn_fate(int fate, int *ret_status);

/* The file of a command: a name with a slash is a path, seen from cwd; others are looked for in the
   folders of `search` (as PATH).  NUL-terminated in out. */
int spawn_find(const char *name, const char *search, const char *cwd, struct buf *out,
               rondo_error *err);

#endif
