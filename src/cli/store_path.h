/* store_path.h - which store a command works on.

   In this order: --store PATH, RONDO_STORE, the folder `.rondo` of a project (in the working folder or
   above it), and the user's own: $XDG_DATA_HOME/rondo/rondo.db or ~/.local/share/rondo/rondo.db.  The
   first two may say :memory:. */
#ifndef RONDO_STORE_PATH_H
#define RONDO_STORE_PATH_H

#include "base/buf.h"
#include "cli/option.h"
#include "store/store.h"

/* The row of --store in a table of options; `type` has a `const char *store`. */
#define STORE_OPTION(type)                                                        \
    { "store", 0, OPT_TEXT, OPTION_AT(type, store), "PATH",                       \
      .help = "the store to work on, instead of the project's or the user's own" }

/* The folder `.rondo` of the project that the working folder belongs to; false without. */
bool store_path_project(struct buf *out);

/* The path of the store, put into out.  given: what --store said, NULL without. */
int store_path_find(const char *given, struct buf *out, rondo_error *err);

/* Is it no file, but :memory:, where nothing is kept? */
bool store_path_is_memory(const char *given);

/* What a command has to be given to work on the store at `path`: " --store PATH", as a shell reads it.  Nothing when
   it finds that one by itself. */
void store_path_put_option(const char *path, struct buf *out);

/* store_open() of it; a notice of the store's goes to standard error.  RONDO_ENOTFOUND for :memory:. */
int store_path_open(const char *given, unsigned flags, struct store **ret, rondo_error *err);

#endif
