/* mounts.h - a view of the files in which everything is read-only but a few folders.

   The view is a mount namespace of the child's own; without being root it needs a user namespace around it, in
   which the child is who it was.  Permissions, owners and times cannot be changed in what is mounted read-only,
   which no other part of a sandbox can forbid for some folders only. */
#ifndef RONDO_MOUNTS_H
#define RONDO_MOUNTS_H

#include "io/protected.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define MOUNTS_WRITE 32 // folders

struct mounts {
    const char *write[MOUNTS_WRITE]; // absolute; borrowed
    size_t count;
    const struct protected *protected; // covered, or only read; NULL: nothing is.  Borrowed
    char users[48], groups[48]; // who we are, for the user namespace
};

void mounts_init(struct mounts *mounts);
bool mounts_add(struct mounts *mounts, const char *path); // false when there are too many

#define MOUNTS_SHARED "/dev/shm"

struct mounts_view {
    bool users;  // there is a user namespace
    bool shared; // MOUNTS_SHARED is its own
};

/* In the child: calls nothing but the system.  0; a negative errno when there can be no such view, and the
   child has the one it had; errno when it has neither. */
int mounts_enter(const struct mounts *mounts, struct mounts_view *ret);

#endif
