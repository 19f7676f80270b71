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

/* A group of its own, no terminal, default signals, no other open files.  The caller gets the pid, to wait for,
   and a descriptor that is readable once it has ended. */
int spawn_start(const struct spawn *spawn, pid_t *ret_pid, int *ret_pidfd, rondo_error *err);

/* The file of a command: a name with a slash is a path, seen from cwd; others are looked for in the
   folders of `search` (as PATH).  NUL-terminated in out. */
int spawn_find(const char *name, const char *search, const char *cwd, struct buf *out,
               rondo_error *err);

#endif
