/* attach.h - pictures and PDFs among a step's context files, which a model sees as such. */
#ifndef RONDO_ATTACH_H
#define RONDO_ATTACH_H

#include "agent/call.h"

/* The first message for a model: the prompt, with the step's pictures and PDFs behind it.  New. */
json_t *attach_message(const struct flow_step *step, const char *folder, const struct buf *prompt);

#endif
