/* workspace.h - files below one folder, by paths that somebody else chose, such as a model.

   A path is relative to the folder, or absolute and inside of it; `..` and links are fine as long as they
   stay inside, and absolute links do not.  Nothing outside is read, made or changed, and nothing is told of
   it, whatever paths say and whoever swaps links meanwhile: the kernel resolves each path in one go below
   an open folder.  Only regular files are opened, never devices, pipes or sockets.  Protected files
   (protected.h) are not written, and hidden ones are not opened.  /proc has to be there to tell which they are.

   Codes: RONDO_EINVAL (the path is none, or leads out), RONDO_ENOTFOUND, RONDO_ELIMIT (too large),
   RONDO_EFAILED (what the system said).  Messages quote the path. */
#ifndef RONDO_WORKSPACE_H
#define RONDO_WORKSPACE_H

#include "base/buf.h"
#include "base/error.h"

#define WORKSPACE_PATH_MAX 4096

struct workspace;

enum workspace_kind { WORKSPACE_FILE, WORKSPACE_FOLDER, WORKSPACE_LINK, WORKSPACE_OTHER };

struct workspace_entry {
    const char *name; // in a list; else NULL
    uint8_t kind;     // enum workspace_kind
    uint32_t mode;    // permission bits
    uint64_t size;
    int64_t changed_ns; // since 1970
};

/* The folder must be there.  More of them can be added: absolute paths may then lie in those, too. */
int workspace_open(const char *path, struct workspace **ret, rondo_error *err);
int workspace_add(struct workspace *ws, const char *path, bool writable, rondo_error *err);
void workspace_close(struct workspace *ws); // NULL is fine

/* Stores that are out of reach beside those of projects (protected.h); borrowed. */
struct protected_stores;
void workspace_protect(struct workspace *ws, const struct protected_stores *stores);

const char *workspace_folder(const struct workspace *ws); // absolute, links resolved

/* Can a text be a path at all?  All functions ask; texts with a NUL in them must be asked about here. */
int workspace_check(const char *path, size_t len, rondo_error *err);

/* A regular file, open for reading: the caller closes *ret_fd.  entry may be NULL. */
int workspace_open_file(struct workspace *ws, const char *path, int *ret_fd, struct workspace_entry *entry,
                        rondo_error *err);

/* All of a file, at most max bytes, put behind out. */
int workspace_read(struct workspace *ws, const char *path, size_t max, struct buf *out, rondo_error *err);

/* What is at a path, links followed. */
int workspace_stat(struct workspace *ws, const char *path, struct workspace_entry *ret, rondo_error *err);

/* What is in a folder, by name in order of bytes, without "." and ".."; links are not followed.  Ends early
   when visit() says false.  RONDO_ELIMIT when there are more than max. */
int workspace_list(struct workspace *ws, const char *path, size_t max,
                   bool (*visit)(const struct workspace_entry *entry, void *user), void *user,
                   rondo_error *err);

/* The file gets these bytes, at once or not at all.  Folders that are not there are made (0700); a new file
   is 0600, one that is replaced keeps its permissions.  *ret_made (may be NULL): there was none. */
int workspace_write(struct workspace *ws, const char *path, const void *bytes, size_t len, bool *ret_made,
                    rondo_error *err);

/* Can the kernel resolve paths that way (openat2)?  Where it cannot, we walk from folder to folder. */
bool workspace_is_quick(void);

/* For tests: walks. */
void workspace_walk(struct workspace *ws);

#endif
