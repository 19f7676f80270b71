/* pack.h - JSON values as compact bytes, for the journal.

   One tag byte, then what the tag says: integers as zigzag varints, reals as eight bytes (little
   endian), texts and containers with their count in front.  Small integers and short texts have
   their number in the tag.  Keys are texts without a tag. */
#ifndef RONDO_PACK_H
#define RONDO_PACK_H

#include "base/buf.h"

#include <jansson.h>

/* Deeper than any value that a JSON parser lets in (jansson: 2048), with room for what it stands in. */
#define PACK_DEPTH_MAX 4096

void pack_put(struct buf *buf, const json_t *value);

/* Reads one value from *at, never past end.  New, the caller's; NULL when the bytes are not a
   packed value (then *at is anywhere).  Bounded by the bytes given. */
json_t *pack_get(const char **at, const char *end);

/* Moves *at behind one value without building it; false as for pack_get(). */
bool pack_skip(const char **at, const char *end);

/* The next text of at least min bytes in the values from *at to end, which then is behind it; NULL when
   there is none (or what is there is no packed value). */
const char *pack_next_text(const char **at, const char *end, size_t min, size_t *ret_len);

#endif
