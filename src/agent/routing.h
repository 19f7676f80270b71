/* routing.h - which of its skills a model agent uses, when several accept the input: it is asked, once. */
#ifndef RONDO_ROUTING_H
#define RONDO_ROUTING_H

#include "agent/call.h"

/* Has it skills of which none was chosen yet? */
bool routing_is_needed(rondo_task *task, const struct flow_step *step);

/* Asks the model with what the step would be asked (borrowed).  The choice is noted for good, then agent_run_chosen()
   is called; or the step fails.  Takes own. */
void routing_run(rondo_task *task, const struct flow_step *step, const struct buf *text, struct isolated *own);

#endif
