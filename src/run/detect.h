/* detect.h - noticing that a loop gets nowhere. */
#ifndef RONDO_DETECT_H
#define RONDO_DETECT_H

#include "run/loop.h"

void detect_copy(struct loop_act *to, const struct act *from); // what it has counted
void detect_open(struct act *act);

/* Takes note of a pass that ended. */
void detect_pass(struct act *act, const struct pass *pass);

/* The detector that has something to say now: RONDO_REASON_STALLED, _OSCILLATING, _PLATEAU, or 0. */
int detect(const struct act *act);

/* After a nudge, counting begins anew. */
void detect_forget(struct act *act);

#endif
