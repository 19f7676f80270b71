/* glob.h - patterns for paths, and walking through the workspace by them.

   Within a name * stands for anything and ? for one character, [a-z] and [!a-z] for one of some; ** as a whole
   name for any number of folders; {x,y} for either.  A name that begins with a dot fits only a pattern that
   says so, unless hidden ones are asked for. */
#ifndef RONDO_GLOB_H
#define RONDO_GLOB_H

#include "base/buf.h"
#include "base/error.h"

struct workspace;

#define GLOB_PATTERN_MAX 1024
#define GLOB_CHOICES_MAX 64 // patterns that one with braces stands for

struct glob; // a pattern that was read

int glob_open(const char *pattern, bool hidden, struct glob **ret, rondo_error *err);
void glob_close(struct glob *glob); // NULL is fine
bool glob_fits(const struct glob *glob, const char *path); // relative, names with '/' between

/* Every regular file below the folder (""; the workspace) that fits, in order of path.  Ends when visit() says
   false.  0, or why the folder cannot be walked; RONDO_ELIMIT when there was too much to look at. */
int glob_walk(const struct glob *glob, struct workspace *ws, const char *folder,
              bool (*visit)(const char *path, void *user), void *user, rondo_error *err);

#endif
