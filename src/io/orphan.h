/* orphan.h - descendants whose parents have died.

   A program can have them become its own children, wherever they went; a library must not do that
   behind its caller's back.  So adopting is asked for once, at the start of a program. */
#ifndef RONDO_ORPHAN_H
#define RONDO_ORPHAN_H

#include <stdbool.h>
#include <sys/types.h>

/* From the first child on orphans are ours, and children die with the thread that started them.  Children
   that are there before are left alone. */
void orphan_adopt(void);
void orphan_begin(void);     // the first child is about to be started
bool orphan_is_wanted(void); // was that wanted, and has it begun?

/* Who starts children says so (+1) and when it no longer does (-1): with two of them in one process
   it cannot be told whose an orphan is. */
void orphan_share(int change);
bool orphan_are_ours(void); // adopted, and nobody shares them

/* Visits our living children that nobody knows; dead ones are buried. */
void orphan_each(bool (*is_known)(pid_t pid, void *user), void (*visit)(pid_t pid, void *user), void *user);

#endif
