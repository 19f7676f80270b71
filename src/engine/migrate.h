/* migrate.h - the log of a run, rewritten for a definition that has changed since.

   A log says where things happened by places: the second child of that activation.  In the new definition
   the same step may be at another place; it is known by its name.  Every event keeps its number, its time
   and what it says, so what was seen of the run stays true.

   Whether steps that have begun may say something else is for the caller to look at (drift.h with past.h);
   here the log only has to fit: what has begun must be there under its name and be of the same kind, and
   nothing new may stand before what has run in a sequence.

   The new definition might have decided otherwise in the past, so workflow_start remembers up to where
   that is (`migrated`, a seq), and replay begins there.  It also has the paths of steps whose work is another now
   (`changed`): an attempt of such a step that was cut off does not go on where it was, but begins anew when the run is
   next taken up (run/anew.h).

   A limit that was changed while the run went on (run/limits.h) stays as it was changed, unless the new definition says
   something else about it than the old one: then the definition counts. */
#ifndef RONDO_MIGRATE_H
#define RONDO_MIGRATE_H

#include "base/error.h"
#include "store/journal.h"

#include <jansson.h>

/* Appends all records of `from`, a log of `old`, to `to` as a log of `node`.  changed: paths in the definition, NULL:
   none.  RONDO_EMISMATCH lists the steps that have begun and are not there any more, or says what else does not fit;
   then nothing was appended. */
int migrate_log(rondo_engine *engine, rondo_node *old, rondo_node *node, struct journal *from,
                struct journal *to, const json_t *changed, rondo_error *err);

/* Where a run goes: what is appended to its new log, the text that the store keeps of the definition, and the hash of
   its nodes. */
struct migrate_how {
    int (*move)(void *user, struct journal *from, struct journal *to, rondo_error *err);
    void *user;
    const char *definition;
    size_t definition_len;
    uint64_t hash;
};

/* A run of `old` in the engine's store that nobody drives: its log and definition are replaced.  Committed;
   rondo_run_resume() with the new node goes on with it. */
int migrate_in_store(rondo_engine *engine, rondo_node *old, const struct migrate_how *how, const char *id,
                     rondo_error *err);

#endif
