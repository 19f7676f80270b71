/* places.h - where stores are: the user's own, those of projects, and those that this process has open. */
#ifndef RONDO_PLACES_H
#define RONDO_PLACES_H

#include "base/buf.h"
#include "base/error.h"
#include "data/value.h"
#include "io/protected.h"

#include <stdbool.h>

#define PLACES_FILE    "rondo.db"
#define PLACES_PROJECT ".rondo"

/* The user's own folder, where the store is unless somebody says otherwise; it need not be there. */
int places_home(struct buf *out, rondo_error *err);

/* What a command of ours is told, as JSON: the stores that this process has open, and those that it was told itself.
   So a model that works for a program that we have started reaches ours no more than one of our own. */
#define PLACES_VARIABLE "RONDO_STORES"
json_t *places_told(void); // new

/* What RONDO_STORE names; NULL. */
const char *places_named(void);

/* The stores that a model must not reach when it works in this folder: all of the above, and that of RONDO_STORE.
   Projects are those that the folder and our own working folder belong to. */
void places_find(const char *folder, struct protected_stores *ret);

/* file_read_inside() for a file that a model is shown.  RONDO_ESTATE: the path leads to a file of a store.  An earlier
   step may have made such a link. */
int places_read_inside(const char *folder, const char *path, size_t max, struct buf *out, rondo_error *err);

/* A store was opened, or closed, at this path.  From any thread. */
void places_enter(const char *path);
void places_leave(const char *path);

#endif
