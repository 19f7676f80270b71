/* pipes.h - the three pipes between us and a child. */
#ifndef RONDO_PIPES_H
#define RONDO_PIPES_H

#include "base/error.h"

#include <sys/types.h>

/* What the child gets and what we keep, of each of the three; -1: closed. */
struct pipes {
    int theirs[3], ours[3];
};

/* Ours do not block, and nobody else inherits any of them.  None has a number below 3. */
int pipes_open(struct pipes *pipes, rondo_error *err);
void pipes_close(struct pipes *pipes);

/* As write(), but without the signal when nobody reads any more. */
ssize_t pipes_write(int fd, const void *bytes, size_t len);

#endif
