/* git.h - running git: confined, as a child of the loop.

   Somebody else may have written what git reads in a repository, and what it runs, such as a filter.  So git is in a
   strict sandbox: it reads the repository, its own settings and the places that the caller names, writes only to those
   named for that, and has no network.  Hooks and monitors are off. */
#ifndef RONDO_GIT_H
#define RONDO_GIT_H

#include "io/process.h"
#include "io/repository.h"

/* Borrowed for the call. */
struct git_call {
    const char *const *words; // behind "git" and its settings; NULL ends them
    const char *cwd;
    const struct repository *repository; // all zero when there is none
    const char *const *reads, *const *writes; // places beside the repository's own
    size_t read_count, write_count;
    size_t max_output;
    int64_t timeout_ms, farewell_ms; // as those of a process
    void (*on_end)(struct process *process, void *user);
    void *user;
};

/* RONDO_ESTATE where git cannot be confined. */
int git_start(struct loop *loop, const struct git_call *call, struct process **ret, rondo_error *err);

/* Why it failed: the last line of what it said, without "fatal: ". */
void git_put_trouble(struct process *process, struct buf *out);

#endif
