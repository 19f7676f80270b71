/* migrate.h - the log of a run, rewritten for a definition that has changed since.

   A log says where things happened by places: the second child of that activation.  In the new definition
   the same step may be at another place; it is known by its name.  Every event keeps its number, its time
   and what it says, so what was seen of the run stays true.

   Whether steps that have started are still the same is for the caller to look at (drift.h with past.h);
   here the log only has to fit: what has started must be there under its name and be of the same kind, and
   nothing new may stand before what has run in a sequence.

   The new definition might have decided otherwise in the past, so workflow_start remembers up to where
   that is (`migrated`, a seq), and replay begins there.

   A run in a store:

       store_take(store, id, &old, &err);
       store_rewrite(old, definition, len, node->hash, &new, &err);
       migrate_log(engine, old_node, node, old, new, &err);
       store_commit(store, &err);

   which is what migrate_in_store() does. */
#ifndef RONDO_MIGRATE_H
#define RONDO_MIGRATE_H

#include "base/error.h"
#include "store/journal.h"

/* Appends all records of `from`, a log of `old`, to `to` as a log of `node`.  RONDO_EMISMATCH lists the
   steps that have started and are not there any more, or says what else does not fit; then nothing was
   appended. */
int migrate_log(rondo_engine *engine, rondo_node *old, rondo_node *node, struct journal *from,
                struct journal *to, rondo_error *err);

/* A run in the engine's store that nobody drives: its log and definition (the text that the store keeps)
   are replaced.  Committed; rondo_run_resume() with the new node goes on with it. */
int migrate_in_store(rondo_engine *engine, rondo_node *old, rondo_node *node, const char *id,
                     const char *definition, size_t len, rondo_error *err);

#endif
