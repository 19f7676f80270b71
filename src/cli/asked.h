/* asked.h - what a stored run asks people, for those who look at it.

   An answer that came while no process drove the run is kept in the run's inbox until somebody goes on with it.  Until
   then its gate is open, and yet nobody has to answer it. */
#ifndef RONDO_ASKED_H
#define RONDO_ASKED_H

#include "cli/gates.h"
#include "cli/running.h"

/* The kept answer for the gate at that path, { value, by, ... }; NULL: there is none.  letters: see store_inbox();
   borrowed from them. */
const json_t *asked_answer(const json_t *letters, const char *path);

/* The question and what is expected, or who has answered it and how to go on; and as JSON, new. */
void asked_put(struct buf *out, const char *before, struct running *r, const struct gate_open *gate,
               const json_t *letters);
json_t *asked_json(const struct gate_open *gate, const json_t *letters);

#endif
