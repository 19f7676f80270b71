/* shared.h - notes that the agents of a run share: `options.sharedMemory`.

   Two tools: shared_memory_write puts a text under a key of the agent's own, shared_memory_read reads what any
   agent has put there, by "agent/key".  They are part of the run's state, as shared:agent/key, and so as
   durable as that. */
#ifndef RONDO_SHARED_H
#define RONDO_SHARED_H

#include "agent/talk.h"

void shared_add_tools(struct toolbox *box);

#endif
