/* guard.h - no child survives, not even when we are killed without warning.

   A guard is a small process of ours that sleeps until we are gone, then kills the groups it was
   told about and every process that carries our mark, and ends.  Descendants who have left the group are
   known by their marks.  One is in the environment (GUARD_VARIABLE), which a program can change when it
   starts another; the other is a limit that nobody uses, on the time of real-time processes: what is in a
   sandbox cannot take it off, and others have no reason to. */
#ifndef RONDO_GUARD_H
#define RONDO_GUARD_H

#include "base/mem.h"

#include <sys/types.h>

#define GUARD_VARIABLE "RONDO_CHILD"
#define GUARD_MARK     24 // room for a mark: hexadecimal digits and a '-'

struct guard;

/* One for everything that is started under this mark.  NULL when there can be none. */
struct guard *guard_open(const char *mark);
void guard_close(struct guard *guard); // it ends without doing anything; NULL is fine
pid_t guard_pid(const struct guard *guard);

/* A folder to remove then, with all that is in it; NULL: none. */
void guard_set_folder(struct guard *guard, const char *path);

/* Groups to kill.  add returns the place to give back. */
uint32_t guard_add(struct guard *guard, pid_t group);
void guard_remove(struct guard *guard, uint32_t place);

/* The limit that marks the process of this number. */
uint64_t guard_number(const char *mark, uint64_t number);

/* In the child: calls nothing but the system.  Who is marked already, by a rondo around us, stays so. */
void guard_mark(uint64_t number); // 0: not

/* ---- strays: processes with a mark ---------------------------------------------------------------- */

/* Every process that carries the mark, by looking at all there are; visit gets the number that
   stands behind it. */
void stray_each(const char *mark, void (*visit)(pid_t pid, uint64_t number, void *user), void *user);

/* The number behind the mark in one process; 0 when it does not carry it. */
uint64_t stray_number(pid_t pid, const char *mark);

/* Is there a process in that group that is not merely waiting to be buried? */
bool stray_is_group_alive(pid_t group);

#endif
