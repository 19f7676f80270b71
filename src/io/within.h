/* within.h - the runs that this process works within.

   The environment of a command that a run has started lists ids as JSON: that of the run, then those of the runs
   above it.  Without such a list RONDO_RUN is the only id.  A run notes the list at
   its start and hands it on to its commands, so it goes through any number of runs and stores.

   The list keeps a run from answering its own gates by mistake.  A command can change its environment, so it is no
   protection. */
#ifndef RONDO_WITHIN_H
#define RONDO_WITHIN_H

#include "data/value.h"

#define WITHIN_VARIABLE "RONDO_WITHIN"

/* The list that the environment has, the nearest run first; new, perhaps empty.  Anything that is no id is left out. */
json_t *within_read(void);

/* The list for commands of the run `id`, new: that run, the ids that it has noted (NULL: none), then those of
   within_read().  Each is there once, and at most WITHIN_MAX in all. */
#define WITHIN_MAX 32
json_t *within_of(const char *id, const json_t *noted);

bool within_has(const json_t *list, const char *id);

/* For a run at its start: sets `within` of the object to the list of within_read(), unless that is empty. */
void within_note(json_t *object);

#endif
