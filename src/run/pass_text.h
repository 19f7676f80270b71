/* pass_text.h - a pass as a block of text, in Zenflow's form. */
#ifndef RONDO_PASS_TEXT_H
#define RONDO_PASS_TEXT_H

#include "base/buf.h"
#include "run/history.h"

/* "## Iteration N" (from 1) and what the pass came to, step by step under "### id" when its body has
   steps; then what the judge said of it. */
void pass_put(struct buf *buf, const struct pass *pass, uint32_t n);

#endif
