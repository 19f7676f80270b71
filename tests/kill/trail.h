/* trail.h - what a run left behind: its events as lines of JSON, and the lines that its commands wrote. */
#ifndef TEST_KILL_TRAIL_H
#define TEST_KILL_TRAIL_H

#include "base/buf.h"

#include <jansson.h>

/* The events of a run that have a number, in the order in which they were printed. */
struct trail {
    json_t **events;
    char **lines; // the same, as printed
    uint32_t count, cap;
};

/* Lines of JSON; a last one that is cut off is left out, and so is what has no number. */
void trail_read(struct trail *trail, const char *text);
void trail_clear(struct trail *trail);

const char *trail_text(const struct trail *trail, uint32_t i, const char *key); // "" when it has none

/* All of these say what is wrong, in words that are valid until the next call; NULL when nothing is. */

/* Numbers from 1 without a gap, and a workflow_end at the end; behind another one the run is reopened. */
const char *trail_check_order(const struct trail *trail);

/* Every line of `seen` is in `all`, byte for byte; of those that were undone since then, where and when it was. */
const char *trail_check_kept(const struct trail *seen, const struct trail *all);

/* The same happened, whatever the order and whenever: types, places, results, spending. */
const char *trail_check_same(const struct trail *wanted, const struct trail *found);

/* No line of `work` is of a step that had ended by then according to the log.  Lines are PATH KEY. */
const char *trail_check_work(const struct trail *trail, const char *stamp, const char *work);

/* A path has one key, and a key one path but for its attempts; the same paths as in `wanted`. */
const char *trail_check_keys(const char *work, const char *wanted);

#endif
