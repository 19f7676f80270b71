/* mask.h - what is another in every run, in recordings.

   The id of the run is covered, and when the recording is played the id of that run is put in its place.
   Secrets need no mask: they are gone before anything is recorded (see task_secrets()). */
#ifndef RONDO_MASK_H
#define RONDO_MASK_H

#include "base/buf.h"

#include <jansson.h>

#define MASK_RUN_ID "${run.id}" // what stands for it

/* The text with the id covered; always UTF-8. */
void mask_put(struct buf *out, const char *run_id, const char *text, size_t len);

/* A value with the id covered in all of its texts, keys too: new, and shared where nothing was. */
json_t *mask_value(const char *run_id, json_t *value);

/* The value with this id in its place: new. */
json_t *mask_lift(const char *run_id, json_t *value);

#endif
