/* remove.h - removing a folder with everything in it, whatever its permissions have become. */
#ifndef RONDO_REMOVE_H
#define RONDO_REMOVE_H

#include "base/mem.h"

/* Links are removed, not followed.  Also a file. */
void remove_folder(const char *path);

#endif
