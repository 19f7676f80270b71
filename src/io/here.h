/* here.h - the folder that this process works in, as the rows of a store name it. */
#ifndef RONDO_HERE_H
#define RONDO_HERE_H

#include "data/value.h"

#define HERE_KEY "folder"

/* Absolute, links resolved, in UTF-8: a path that is not UTF-8 becomes a file: URI, which no path looks like.  The
   caller's; NULL when the folder is gone, or out of reach. */
char *here_text(void);

/* What a run notes at its start: `folder` of the object becomes here_text().  Without one it is removed. */
void here_note(json_t *object);

#endif
