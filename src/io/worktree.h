/* worktree.h - a git worktree for a while: somewhere to work that nobody else works in.

   A tree is made from the commit that HEAD names, in the private folder that the loop's children share
   files in (process_path()), so whatever happens to us it does not stay.  git keeps the changes
   as a branch of the repository; then we remove the tree.  git is a child of the
   loop, in a strict sandbox, so programs that its settings name are confined as well.  Everything
   belongs to the loop's thread. */
#ifndef RONDO_WORKTREE_H
#define RONDO_WORKTREE_H

#include "io/loop_uv.h"

struct worktree;

/* Could trees be made of the repository around folder?  Waits for git.  0, RONDO_EINVAL, or RONDO_ESTATE where git
   cannot be confined.  Trees that a program left behind which was killed are forgotten by the repository. */
int worktree_check(const char *folder, rondo_error *err);

/* Begins to make one; folder is where one would work without it.  The work goes on at the branch where an earlier tree
   has kept changes.  It begins at HEAD when there is no such branch, or branch is NULL.  done() comes later: with err
   NULL, or with an error, and then the tree is gone. */
int worktree_open(struct loop *loop, const char *folder, const char *branch,
                  void (*done)(struct worktree *tree, const rondo_error *err, void *user), void *user,
                  struct worktree **ret, rondo_error *err);

/* Nobody wants the work any more.  Before done(): git is ended, and done() comes with an error, unless the tree was
   there already.  Later, until the tree is gone: git has 10 s for each call that is left, which may be keeping
   changes. */
void worktree_stop(struct worktree *tree);

/* The place in the tree that corresponds to that folder. */
const char *worktree_folder(const struct worktree *tree);

/* The folder of git for this tree, and the one that all trees share (repository.h). */
const char *worktree_git(const struct worktree *tree);
const char *worktree_common(const struct worktree *tree);

/* Begins to remove it.  If there are changes, and branch is not NULL, they are committed with that message
   to a new branch: the one named, or with a number behind it if that is there already.  A branch that the work went
   on from is moved instead.  An error means
   that changes could not be kept.  After done() the tree is gone. */
void worktree_close(struct worktree *tree, const char *branch, const char *message,
                    void (*done)(struct worktree *tree, const rondo_error *err, void *user), void *user);

/* In done() of worktree_close(): where the changes are; NULL when there were none. */
const char *worktree_branch(const struct worktree *tree);

#endif
