/* cut.h - where a fork's log leaves that of its parent.

   A fork at a path has everything that happened before the last start of that path, then run_forked
   (run/inherit.h), and from there on it is a run like any other: whoever goes on with it resumes it, and
   the path is started anew.  What else was under way at that point starts again as after a crash.

       cut_find(engine, node, parent, "refine.2", &cut, &err);
       store_fork(parent, cut.shared, &row, definition, len, &child, &err);  // or cut_copy() in memory
       cut_put(&cut, parent, &(struct cut_changes){ .from = id, .now_ns = now }, child, &err);

   At an item of an each the fork of a run that has ended has all of its parent's events, and run_reopened before
   run_forked: that item is done again, with what depends on it, and everything else that completed stays (run/mend.h).

   The parent's journal is only read, and its run may go on meanwhile. */
#ifndef RONDO_CUT_H
#define RONDO_CUT_H

#include "base/error.h"
#include "store/journal.h"

#include <jansson.h>

/* All zero is an empty one; clear it. */
struct cut {
    char *path;      // of what will be started anew, with attempts
    uint64_t last;   // the last event that the fork has too
    uint64_t shared; // of those, how many are whole records of the parent
    int64_t time_ns; // when the last one happened
    json_t *input;   // of the run at that point
    uint64_t migrated; // as workflow_start has it (migrate.h); 0
    json_t *mended; // an item of a run that has ended: the value of run_reopened, which comes before run_forked; NULL
};

#define auto_cut __attribute__((cleanup(cut_clear)))

void cut_clear(struct cut *cut);

/* Paths are those of events ("refine.2.draft", "each[3].verify", "x~1.0.write"); one without attempts
   means the last ones.  A pass ("refine.2") and an item ("each[3]") will do as well.  RONDO_ENOTFOUND
   when nothing has started there; the message names the nearest. */
int cut_find(rondo_engine *engine, rondo_node *node, struct journal *parent, const char *path,
             struct cut *ret, rondo_error *err);

/* What is to be different in the fork.  All borrowed. */
struct cut_changes {
    const char *from;     // the parent's id
    int64_t now_ns;
    const json_t *inputs; // an object: these inputs instead of the run's, which has to have an object; NULL
    json_t *input;        // or another input altogether; NULL
    json_t *state;        // an object: final values, null removes; NULL
};

/* The input that the fork will have: a new reference, or NULL with err (RONDO_EINVAL). */
json_t *cut_input(const struct cut *cut, const struct cut_changes *changes, rondo_error *err);

/* The last event of the fork when it begins. */
uint64_t cut_end(const struct cut *cut);

/* Copies the records that are shared, for journals that cannot share them. */
int cut_copy(const struct cut *cut, struct journal *parent, struct journal *child, rondo_error *err);

/* Appends what is the child's own: the part of the parent's turn before the cut, and run_forked. */
int cut_put(const struct cut *cut, struct journal *parent, const struct cut_changes *changes,
            struct journal *child, rondo_error *err);

/* All of it in the engine's store: the new run has the parent's session and definition, or with `how` the one that its
   log is moved to (migrate.h).  Nobody drives it, and rondo_run_resume() goes on with it.  id: of the fork, NULL: a new
   one is made.  changes: from and now_ns are filled in here.  Committed, or nothing is left behind. */
struct migrate_how;
int cut_in_store(rondo_engine *engine, rondo_node *node, const char *parent, const char *path,
                 const struct cut_changes *changes, const struct migrate_how *how, const char *id, char **ret_id,
                 rondo_error *err);

#endif
