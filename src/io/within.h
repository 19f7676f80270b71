/* within.h - the runs that this process works within.

   A command that a run has started has a list of ids in its environment: that of the run, then those of the runs
   above it, as JSON.  Where there is no such list, RONDO_RUN is the only one that is known.  A run notes the list at
   its start and hands it on to its commands, so it goes through any number of runs and stores.

   The list keeps a run from answering its own gates by mistake.  A command can change its environment, so it is no
   protection. */
#ifndef RONDO_WITHIN_H
#define RONDO_WITHIN_H

#include "data/value.h"

#define WITHIN_VARIABLE "RONDO_WITHIN"

/* The list that the environment has, the nearest run first; new, perhaps empty.  Anything that is no id is left out. */
json_t *within_read(void);

/* The list for commands of the run `id`: itself, the ones it has noted (NULL: none), then those of within_read(); new.
   Each is there once, and at most WITHIN_MAX in all. */
#define WITHIN_MAX 32
json_t *within_of(const char *id, const json_t *noted);

bool within_has(const json_t *list, const char *id);

/* What a run notes: `within` of the object becomes the list of within_read(), unless that is empty. */
void within_note(json_t *object);

#endif
