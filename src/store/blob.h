/* blob.h - the pieces of records in a store: table blob, a row for each, found by its hash. */
#ifndef RONDO_BLOB_H
#define RONDO_BLOB_H

#include "store/kept.h"

struct store;

/* Keeps pieces in a store; putting belongs to the open batch. */
struct keeper blob_keeper(struct store *store);

#endif
