/* tempdir.h - a private folder for a while, and files that are shared with children there. */
#ifndef RONDO_TEMPDIR_H
#define RONDO_TEMPDIR_H

#include "base/buf.h"
#include "base/error.h"

/* A new folder for us alone, in $TMPDIR or /tmp: its path, the caller's; NULL with err filled in. */
char *tempdir_make(rondo_error *err);
int tempdir_make_at(const char *path, rondo_error *err); // the same, where one is told
bool tempdir_exists(const char *folder);

/* With everything in it; links are not followed.  NULL is fine. */
void tempdir_remove(const char *folder);

/* A new file. */
int tempdir_write(const char *path, const void *bytes, size_t len, rondo_error *err);

/* A file, appended to out; never waits, whatever it is.  RONDO_ENOTFOUND when there is none,
   RONDO_ELIMIT when it has more than max bytes. */
int tempdir_read(const char *path, size_t max, struct buf *out, rondo_error *err);
void tempdir_unlink(const char *path); // if it is there; NULL is fine

#endif
