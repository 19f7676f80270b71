/* tempdir.h - a private folder for a while. */
#ifndef RONDO_TEMPDIR_H
#define RONDO_TEMPDIR_H

#include "base/buf.h"
#include "base/error.h"

/* A new folder for us alone, in $TMPDIR or /tmp: its path, the caller's; NULL with err filled in. */
char *tempdir_make(rondo_error *err);

int tempdir_write(const char *folder, const char *name, const void *bytes, size_t len, rondo_error *err);

/* A file in the folder, appended to out.  RONDO_ENOTFOUND when there is none, RONDO_ELIMIT when it has
   more than max bytes. */
int tempdir_read(const char *folder, const char *name, size_t max, struct buf *out, rondo_error *err);

/* With everything in it; links are not followed.  NULL is fine. */
void tempdir_remove(const char *folder);

#endif
