/* run_name.h - the word of a command line that names a run: its id, the beginning of it, or `last`.

   `last` is the newest run that was started in this folder.  A run whose id is just that comes first. */
#ifndef RONDO_RUN_NAME_H
#define RONDO_RUN_NAME_H

#include "base/buf.h"
#include "cli/command.h"
#include "store/store.h"

#define RUN_NAME_LAST "last"

/* A paragraph for the help of commands that have a RUN. */
extern const char run_name_help[];
bool run_name_is_taken(const struct cmd *command);
bool run_name_is_first(const struct cmd *command); // is it the first argument?
bool run_name_is_value(const struct option *option);

/* Puts the id that `last` stands for into out; any other word as it is, for the store to find.
   reads: the command changes nothing.  When this folder has no run, `last` is then the newest run of all, and stderr
   tells so unless is_quiet.
   RONDO_ENOTFOUND: there is none, or another word was probably meant for `last`. */
int run_name_read(struct store *store, const struct cmd *command, const char *word, bool reads, bool is_quiet,
                  struct buf *out, rondo_error *err);

#endif
