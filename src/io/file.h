/* file.h - files on the disk: read whole, bounded, and inside a folder when they have to be. */
#ifndef RONDO_FILE_H
#define RONDO_FILE_H

#include "base/buf.h"
#include "base/error.h"

/* All of a file, at most max bytes.  Only regular files and pipes; a folder or a device is refused.
   Codes: RONDO_ENOTFOUND, RONDO_ELIMIT (too large), RONDO_EFAILED. */
int file_read(const char *path, size_t max, struct buf *out, rondo_error *err);

/* Everything that can be read from a descriptor; name is for messages. */
int file_read_fd(int fd, const char *name, size_t max, struct buf *out, rondo_error *err);

/* Messages about files begin with their names.  The rest, for those who name the file themselves. */
const char *file_reason(const char *message, const char *name);

/* The file `path`, relative to folder, which it must not leave once links are resolved: RONDO_EINVAL.
   *ret_folder, if wanted, is the folder that the file is in: absolute, links resolved, the caller's. */
int file_read_inside(const char *folder, const char *path, size_t max, struct buf *out,
                     char **ret_folder, rondo_error *err);

/* Is it there?  0, RONDO_ENOTFOUND, RONDO_EINVAL as above, or RONDO_EFAILED for what is no file. */
int file_find_inside(const char *folder, const char *path, rondo_error *err);

/* Where path is: absolute, links resolved; the caller's.  NULL with err filled in. */
char *file_resolve(const char *path, rondo_error *err);
char *file_folder_of(const char *path, rondo_error *err); // of the file itself
bool file_is_folder(const char *path);
bool file_is_below(const char *path, const char *folder); // both absolute, links resolved; false when they are the same

/* Makes the folders around a file that are not there, for this user only. */
int file_make_around(const char *path, rondo_error *err);

/* Writes a file in folder, making the folder (and those around it) when it is not there. */
int file_write(const char *folder, const char *name, const char *bytes, size_t len, rondo_error *err);

/* All of the bytes to a descriptor; name is for messages. */
int file_write_fd(int fd, const char *name, const char *bytes, size_t len, rondo_error *err);

#endif
