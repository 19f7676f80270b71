/* standing.h - how a kept run stands: what `rondo runs` and `rondo show` say of it. */
#ifndef RONDO_STANDING_H
#define RONDO_STANDING_H

#include "store/store.h"

/* As rondo_status_text(), and for a run that goes on while nobody drives it "waiting" (for a person) or "stopped" (its
   process is gone). */
const char *standing_text(const struct store_run *run);

/* The same for a run that has not ended and that nobody drives; NULL for all others. */
const char *standing_idle(const struct store_run *run);

#endif
