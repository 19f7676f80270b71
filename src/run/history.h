/* history.h - the passes of a loop.

   In memory are the last HISTORY_KEEP passes, the best one, and for every older pass only the seq
   of its iteration_start: the journal has the rest.  Few are kept, because what is let go of should
   still be in the processor's cache. */
#ifndef RONDO_HISTORY_H
#define RONDO_HISTORY_H

#include "run/result.h"

#define HISTORY_KEEP 2

struct pass {
    struct result out; // the projected output of the pass
    uint64_t start_seq;
    int64_t start_ns, end_ns;
    double score;
    const char *state; // of a machine: the one that was visited, borrowed; NULL
    uint8_t status;
    bool scored;
};

struct history {
    struct pass *ring; // pass p is at p % cap, for the last `kept` passes
    uint32_t cap, kept;
    uint32_t last;  // place of the last pass
    uint32_t count; // passes that have ended
    uint32_t keep;  // how many to keep, HISTORY_KEEP or less
    uint64_t *seqs; // start of every pass, ended or not
    uint32_t seq_cap, seq_count;
    struct pass best;
    int64_t best_pass; // -1: none was scored
    struct pass good;  // the last one with something to show, kept when others follow it
};

/* Completed, with something to show. */
static inline bool pass_is_shown(const struct pass *pass)
{
    return pass->status == RONDO_STATUS_COMPLETED && result_has_output(&pass->out);
}

void history_init(struct history *history, uint32_t keep);
void history_copy(struct history *to, const struct history *from);
void history_clear(struct run *run, struct history *history);
void history_shrink(struct run *run, struct history *history); // to its best pass
void history_begin(struct history *history, uint64_t seq);

/* The place for the pass that has ended, to be filled in by the caller; then history_note() is
   called.  Filled in where it stays, because copying what was just written stalls the processor. */
struct pass *history_place(struct run *run, struct history *history);
void history_note(struct run *run, struct history *history, struct pass *pass);

/* A pass that is still in memory; NULL when it is too old or not there. */
static inline struct pass *history_get(struct history *history, int64_t pass)
{
    if (pass < 0 || pass >= history->count || pass < (int64_t)history->count - history->kept)
        return NULL;
    return &history->ring[(uint32_t)pass % history->cap];
}

static inline struct pass *history_last(struct history *history)
{
    return history->kept ? &history->ring[history->last] : NULL;
}

/* The last pass with something to show: a step that only signalled does not replace it. */
static inline struct pass *history_good(struct history *history)
{
    struct pass *last = history_last(history);
    if (LIKELY(!last || pass_is_shown(last)))
        return last;
    return history->good.status ? &history->good : NULL;
}

#endif
