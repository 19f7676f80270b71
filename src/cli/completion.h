/* completion.h - scripts that let a shell complete our command lines. */
#ifndef RONDO_COMPLETION_H
#define RONDO_COMPLETION_H

#include "base/buf.h"

/* shell: bash, zsh or fish. */
void completion_put(struct buf *out, const char *shell);

#endif
