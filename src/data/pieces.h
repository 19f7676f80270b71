/* pieces.h - cutting bytes where their content says so, so that what is the same twice is cut the same.

   A long text that grows at its end, or that stands at another place, falls into the same pieces as
   before but for one or two around what changed.  Keeping each piece once is then enough to keep all
   versions. */
#ifndef RONDO_PIECES_H
#define RONDO_PIECES_H

#include "base/mem.h"

#define PIECE_MIN   1024 // shorter ones are not worth a place of their own
#define PIECE_WHOLE 6144 // up to here nothing is cut: most texts are one piece
#define PIECE_MAX   16384

/* How many of these bytes the first piece has: PIECE_MIN to PIECE_MAX, or all when there are few. */
size_t piece_len(const char *bytes, size_t len);

#endif
