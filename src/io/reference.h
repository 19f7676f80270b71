/* reference.h - secrets that a file only names: `env:NAME`, `file:PATH`. */
#ifndef RONDO_REFERENCE_H
#define RONDO_REFERENCE_H

#include "base/buf.h"
#include "base/error.h"

/* What the reference names, put behind out.  Messages quote the name, never a value. */
int reference_read(const char *reference, const char *folder, struct buf *out, rondo_error *err);

/* All of a text, or its last word (`Bearer env:TOKEN`), may be a reference: where it begins; NULL.  Borrowed. */
const char *reference_in(const char *text);

/* reference_read() by kind.  A file's value is without the line breaks at its end; a relative path begins at
   folder (NULL: where we are). */
int reference_env(const char *name, struct buf *out, rondo_error *err);
int reference_file(const char *path, const char *folder, struct buf *out, rondo_error *err);

#endif
