/* migration.h - resume --migrate: a run moves to the workflow as its file is now. */
#ifndef RONDO_MIGRATION_H
#define RONDO_MIGRATION_H

#include "cli/running.h"

/* Stage, behind running_find() and running_open_engine().  With --migrate: shows what has changed, refuses
   what touches the run's past (EXIT_INVALID), and else replaces the run's definition in the store and here.
   Without: only says on stderr when the file is not what it was. */
int migration_go(struct running *r);

/* For commands that move a run, or a fork of it, to a file: reads that file, NULL when it is wrong, which is told; says
   why the run may not move and which fork may; says what else was in the way.  The last two return an exit status. */
struct flows_move;
struct flow *migration_open(struct running *r, const char *file);
int migration_refuse(const struct running *r, struct flows_move *move, const char *file);
int migration_fail(struct running *r, const rondo_error *err);

#endif
