/* repository.h - where git keeps what belongs to a folder, found without asking git.

   The sandbox of git has to know that before git runs, and so has the code that keeps models from git's settings. */
#ifndef RONDO_REPOSITORY_H
#define RONDO_REPOSITORY_H

#include <stdbool.h>

/* Paths are absolute, with links resolved but for entry.  git and common differ in a linked worktree. */
struct repository {
    char *entry;  // `.git` in the folder
    char *git;    // of this worktree: HEAD, index
    char *common; // of all worktrees: config, objects, refs
};

/* The one whose worktree begins in this folder: it has `.git`, a folder or a file that names one.  False: none. */
bool repository_at(const char *folder, struct repository *ret);

/* The same, in the folder or the nearest above it. */
bool repository_find(const char *folder, struct repository *ret);
void repository_clear(struct repository *repository); // fine when nothing was found, and all is zero

#endif
