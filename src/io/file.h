/* file.h - reading whole files, bounded, and within a folder where that is asked for. */
#ifndef RONDO_FILE_H
#define RONDO_FILE_H

#include "base/buf.h"
#include "base/error.h"

/* The bytes of a file, or of standard input for "-", at most max.  Anything but a folder can be read,
   so that a pipe will do.  Codes: RONDO_ENOTFOUND, RONDO_ELIMIT, RONDO_EFAILED. */
int file_read(const char *path, size_t max, struct buf *out, rondo_error *err);

/* The bytes of a regular file that is in `folder` or below once all links are resolved; path is
   relative to it.  *ret_path, if not NULL, is where the file really is, the caller's.  folder is
   absolute and without links.  Further code: RONDO_EINVAL when the path leads out of the folder. */
int file_read_in(const char *folder, const char *path, size_t max, struct buf *out, char **ret_path,
                 rondo_error *err);

/* The folder of a file ("-": where we are), absolute, links resolved; the caller's.  NULL with err. */
char *file_folder(const char *path, rondo_error *err);

#endif
