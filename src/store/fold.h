/* fold.h - the WAL of a store: folded into the file, and looked at when the store is opened.

   A file and a WAL that were copied one after the other may be of two moments.  When the file comes first that does no
   harm, unless the WAL was folded in and begun anew meanwhile: then what it had held before is in neither.  So the
   file says which WAL was last folded in completely: it, or the one begun after it, has to be beside the file.  That
   number, and the version of the tables, are SQLite's user_version. */
#ifndef RONDO_FOLD_H
#define RONDO_FOLD_H

#include "store/db.h"

#define FOLD_VERSION(number) ((number) & 0xff) // of a user_version

/* As far as others do not read older pages: then the WAL goes on, and is tried again when it has grown. */
void fold_in(struct store *store);

/* And then the WAL is begun anew and made short, for whoever opens the store next.  It is never removed: a copy of an
   older file without one would look whole. */
void fold_away(struct store *store);

/* Before anything is written.  What was committed and cannot be read any more is cut off, with a notice; RONDO_ESTORE
   when what is left is not in order. */
int fold_check(struct store *store, rondo_error *err);

/* A commit whose sync failed is in the WAL, and whoever reads that for the first time would take it for one that
   succeeded.  Any other write goes over it. */
void fold_write_over(struct store *store);

#endif
