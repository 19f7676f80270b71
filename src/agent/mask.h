/* mask.h - what must not be seen in a recording, and what is another in every run.

   Secrets that the workflow names (`env:NAME`, `file:PATH`) are gone for good.  The id of the run is only
   covered: when the recording is played, the id of that run is put in its place. */
#ifndef RONDO_MASK_H
#define RONDO_MASK_H

#include "data/secret.h"
#include "flow/flow.h"

#define MASK_RUN_ID "${run.id}" // what stands for it

/* All zero covers nothing but ids. */
struct mask {
    struct secrets secrets;
};

/* Reads the secrets of all agents, as far as they are there. */
void mask_open(struct mask *mask, const struct flow *flow);
void mask_clear(struct mask *mask);

/* The text with both covered; always UTF-8. */
void mask_put(const struct mask *mask, struct buf *out, const char *run_id, const char *text, size_t len);

/* A value with both covered in all of its texts, keys too: new, and shared where nothing was. */
json_t *mask_value(const struct mask *mask, const char *run_id, json_t *value);

/* The value with this id in its place: new. */
json_t *mask_lift(const char *run_id, json_t *value);

#endif
