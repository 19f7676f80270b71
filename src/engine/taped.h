/* taped.h - the requests of an engine, recorded on a tape or answered from one.

   For tests: $RONDO_HTTP_TAPE is `record:FILE` or `play:FILE` (io/tape.h).  What the secrets of its runs say is not
   on the tape. */
#ifndef RONDO_TAPED_H
#define RONDO_TAPED_H

#include "rondo.h"

int taped_begin(rondo_engine *engine, rondo_error *err); // nothing without the variable
void taped_end(rondo_engine *engine);

#endif
