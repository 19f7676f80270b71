/* inbox.h - what other processes want of a run, from inside the store: see store_send(). */
#ifndef RONDO_INBOX_H
#define RONDO_INBOX_H

#include "store/db.h"

/* Into the open batch; refused when the run has ended, has too much already, or what is too large. */
int inbox_put(struct store *store, const char *id, const json_t *what, rondo_error *err);

#endif
