/* ecma_sample.h - texts for patterns. */
#ifndef RONDO_ECMA_SAMPLE_H
#define RONDO_ECMA_SAMPLE_H

#include "base/buf.h"

/* Appends a text that the pattern probably matches; false when it is not simple enough.  extra
   makes repetitions longer, branch picks among alternatives.  Texts of different vary differ as far as the pattern
   lets them. */
bool ecma_sample(struct buf *out, const char *pattern, size_t len, uint32_t extra,
                 uint32_t branch, uint32_t vary);

#endif
