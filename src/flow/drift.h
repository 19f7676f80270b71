/* drift.h - what became different between two versions of a workflow, step by step.

   Steps are known by their path in the definition: ids joined by dots ("refine.draft", "deploy.run-tests",
   "desk.urgent"), "" for the file itself.  A step that has another name is another step.  Two steps are the
   same when their traits are (flow/traits.h).

   A run that has begun may move to a changed workflow as long as its past stays true.  A step that has not begun may
   be added, removed and changed.  One that has keeps its id, kind and place; what it says may change as long as it is
   under way or may begin again. */
#ifndef RONDO_DRIFT_H
#define RONDO_DRIFT_H

#include "flow/flow.h"

/* moved: its order among the steps that both versions have is another. */
enum drift_kind { DRIFT_CHANGED, DRIFT_MOVED, DRIFT_ADDED, DRIFT_REMOVED };

const char *drift_kind_text(int kind); // "changed"

struct drift_change {
    char *path;
    uint8_t kind;    // enum drift_kind
    bool is_replaced; // changed: it is of another kind now
    bool is_leaf;     // changed: an attempt of it that was cut off begins anew
    const char *why; // set by drift_allows(): why it may not be; NULL: it may
    json_t *keys;    // [{ key, old, new }]: all that changed, or what an added or removed step says;
                     // values may be left out of a very large difference
};

/* All zero is an empty one. */
struct drift {
    struct drift_change *list;
    uint32_t count, cap;
    size_t bytes; // of the values that are kept
};

/* Fills in ret, in the order of the old file, what is added last. */
void drift_compare(const struct flow *old, const struct flow *flow, struct drift *ret);
void drift_clear(struct drift *drift);

/* How far a step is: neither under way nor to begin, under way, to begin (again). */
enum drift_standing { DRIFT_ENDED, DRIFT_OPEN, DRIFT_BEGINS };

/* What has happened in a run.  started: also steps whose condition did not hold, and containers; a step inside a loop
   that ran in any pass.  mentioned: the log speaks of it, perhaps only since another step failed; it may not go.
   standing: an enum drift_standing.  is_placed: it has begun where it would begin next. */
struct drift_past {
    bool (*started)(const char *path, void *user);
    bool (*mentioned)(const char *path, void *user);
    int (*standing)(const char *path, void *user);
    bool (*is_placed)(const char *path, void *user);
    void *user;
};

/* Whether a run with this past may go on with the new version; if not, `why` of the changes that are in
   the way is set. */
bool drift_allows(struct drift *drift, const struct drift_past *past);

/* For people, like a unified diff; only_refused: what drift_allows() marked. */
void drift_put(struct buf *out, const struct drift *drift, bool only_refused, bool colour);

/* [{ path, change: "changed", keys: [{ key, old, new }], refused: "it has started" }], new. */
json_t *drift_json(const struct drift *drift);

#endif
