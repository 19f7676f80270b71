/* manual.h - the part of the manual page that follows from the tables. */
#ifndef RONDO_MANUAL_H
#define RONDO_MANUAL_H

#include "base/buf.h"

void manual_put(struct buf *out); // mdoc

#endif
