/* bubble.h - a strict sandbox inside of bubblewrap, where that is installed.

   bwrap gives the command namespaces of its own: processes, System V queues, the name of the machine, a network
   without anything in it (unless it is allowed), /proc with nobody else, /dev with little in it, and all files
   read-only but those to be written.  What a sandbox is otherwise (Landlock, the filter, the limits) holds in
   there as well.  Limits are set before; the filter is entered by bwrap; Landlock would not let bwrap mount, so
   it is entered by this program, which bwrap starts again as the first process of the new namespace:

       we ── bwrap ── step ── command          the step is told by its arguments what it is: bubble_offer()

   When the command ends, the step tells how (bwrap would make a status of a signal) and ends, and with it
   everything in the namespace.  When bwrap or we end, it ends as well.

   Only a program that has said bubble_offer() at its start has this; what merely uses the library cannot be
   started again without doing whatever else it does. */
#ifndef RONDO_BUBBLE_H
#define RONDO_BUBBLE_H

#include "base/error.h"
#include "io/mounts.h"

#include <stdbool.h>

/* The descriptors that bwrap gets beside the usual ones. */
enum { BUBBLE_RULES = 3, BUBBLE_PROGRAM, BUBBLE_FILTER, BUBBLE_FATE, BUBBLE_END };

/* First of all in main().  Returns, unless we are the step. */
void bubble_offer(int argc, char **argv);

/* The bwrap of this machine, which was tried and works; NULL, and why not.  It is tried once. */
const char *bubble_find(rondo_error *err);
int bubble_try(const char *bwrap, rondo_error *err);
void bubble_look_at(const char *bwrap); // for tests: here and nowhere else, from the start again

/* The arguments for bwrap: to be freed, what is in it is borrowed. */
const char **bubble_argv(const char *bwrap, const struct mounts *mounts, bool network, const char *path,
                         const char *const *argv);

#endif
