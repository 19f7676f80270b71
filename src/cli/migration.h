/* migration.h - resume --migrate: a run moves to the workflow as its file is now. */
#ifndef RONDO_MIGRATION_H
#define RONDO_MIGRATION_H

#include "cli/running.h"

/* Stage, behind running_find() and running_open_engine().  With --migrate: shows what has changed, refuses
   what touches the run's past (EXIT_INVALID), and else replaces the run's definition in the store and here.
   Without: only says on stderr when the file is not what it was. */
int migration_go(struct running *r);

#endif
