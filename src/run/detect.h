/* detect.h - noticing that a loop gets nowhere. */
#ifndef RONDO_DETECT_H
#define RONDO_DETECT_H

#include "run/loop.h"

void detect_copy(const struct run *run, struct loop_act *to, const struct act *from); // what it has counted
void detect_open(struct run *run, struct act *act);

/* Its limits are others now: what was seen before counts for repeats alone. */
void detect_widen(struct act *act, const struct node_loop *def);

/* Takes note of a pass that ended. */
void detect_pass(struct run *run, struct act *act, const struct pass *pass);

/* The detector that has something to say now: RONDO_REASON_STALLED, _OSCILLATING, _PLATEAU, or 0. */
int detect(const struct run *run, const struct act *act);

/* After a nudge, counting begins anew. */
void detect_forget(struct act *act);

#endif
