/* rows.h - how far a run is, as a tree of rows: what the live view and the summary show.

   Events go in, one after the other; a row is a step as people think of it.  The steps of a loop
   have one row each, which begins anew with every pass; an item of an each has a row while it is at
   work, and for some time after.  Rows are found by the slots of activations, as events name them,
   so feeding an event costs next to nothing. */
#ifndef RONDO_ROWS_H
#define RONDO_ROWS_H

#include "base/arena.h"
#include "base/buf.h"
#include "cli/passes.h"
#include "flow/node.h"

#define ROWS_MADE_MAX  2000 // rows made before they are needed
#define ROWS_ENDED_MAX 40   // ended items of one each that are kept, unless all are wanted
#define ROW_TAIL_MAX   400  // bytes of its last line of output that a row keeps

enum row_state { ROW_PENDING, ROW_RUNNING, ROW_ASKING, ROW_RETRYING, ROW_DONE, ROW_FAILED, ROW_SKIPPED,
                 ROW_CANCELLED };

/* Owned by its parent. */
struct row {
    const rondo_node *node;
    const char *name; // as in paths; "" for a nameless body, whose steps are shown in its place
    struct row *up;
    struct row **kids; // by place in the definition; items of an each and calls of an agent: as they began
    uint32_t kid_count, kid_cap;
    uint32_t place;   // in the definition of its parent
    uint32_t ordinal; // of an item
    uint32_t slot;
    uint8_t state;  // enum row_state, as events told it
    uint8_t reason; // loops: enum rondo_reason
    json_t *end;    // and how that came about, see loop_end_value(); owned, NULL while it has not ended
    bool is_item;
    bool is_mended; // its next try begins with what it has, see run/mend.h
    bool goes_on;   // so did this one
    bool is_own; // it failed for a reason of its own, whatever failed in it
    uint16_t attempt;
    int64_t start_ns, end_ns; // as all times of a row without that in which nobody drove the run: rows_driven_ns()
    int64_t first_ns;     // when its first try began, without the time of reviews since then; 0: it has not
    int64_t cap;          // loops: of this run
    int64_t pass, passes; // loops: the present one, from 0; how many ran
    int64_t pass_ns;      // when that began
    int64_t next_ns;      // loops: when the next one begins, while they wait for that; 0
    rondo_usage pass_usage; // and what had been spent by then
    struct passes past;   // loops: those that have ended
    struct row **best_kids; // loops that give their best pass: what their kids were in it; NULL: as they are now
    int64_t of_pass;      // in a loop: the pass of it that the row is about, -1 for the present one
    uint64_t items;       // each: how many there are
    json_t *values;       // each: and what they are; owned, NULL
    uint64_t done, failed; // each: how many have ended so
    uint32_t kept;         // each: how many kids have ended
    uint32_t next;         // each: behind the highest number of an item so far
    uint32_t begun;        // each: how many items there were so far
    uint32_t forgotten[ROW_CANCELLED + 1]; // each: ended items that are not kept, by how they ended
    uint64_t seq;         // of the last event about it
    rondo_usage usage;    // children included; of a step in a loop, in all passes
    rondo_usage start_usage; // what of it had been spent when it began this time
    struct buf tail;      // the last line of output, or why it failed; not yet made safe to print
    bool tail_ends;       // a line break or a carriage return came: what follows replaces the tail
    char *error;          // all of it; NULL
};

struct rows {
    struct row *root; // the run itself: its only kid is what runs
    struct row **by_slot;
    uint32_t slot_count, slot_cap;
    uint32_t made;
    bool keeps_all; // also items that ended long ago, or never began, and all passes
    bool shows_best; // a loop that has ended with its best pass has the kids of that one
    int64_t start_ns, end_ns; // start_ns: of a fork, since it is one; end_ns: 0 while it runs
    int64_t first_ns;         // start_ns without the time in which nobody drove the run
    int64_t last_ns;          // of the last event
    int64_t idle_ns;          // how long nobody drove the run
    rondo_usage inherited;    // what others had spent when it was forked: not in the root's usage
    int status;               // enum rondo_status
    const char *id;           // of the run, borrowed from it
    uint64_t ended[ROW_CANCELLED + 1]; // leaves, by how they ended; every pass and item counts
};

struct rows *rows_new(rondo_node *node);
void rows_free(struct rows *rows); // NULL is fine

/* Would `rondo resume --failed` find something in it? */
bool row_has_failed_items(const struct row *row);

/* To be called with every event of the run, in order. */
void rows_event(struct rows *rows, const rondo_event *event);

/* The row that the last event was about; NULL: the whole run. */
struct row *rows_find(const struct rows *rows, const rondo_event *event);

/* "pending", "completed", ... */
const char *row_state_text(int state);

/* How it is, an enum row_state: what never began, in something that has ended, was skipped. */
int row_state(const struct row *row);

/* A loop that has ended, though what it waits for was not true. */
bool row_is_short(const struct row *row);

/* A moment of the run, as rows have it: the time in which nobody drove the run does not count. */
int64_t rows_driven_ns(const struct rows *rows, int64_t time_ns);

/* How long the run has taken up to a moment of it, since it began or was forked. */
int64_t rows_length_ns(const struct rows *rows, int64_t time_ns);

/* How long it has taken so far, with all its tries; it has begun.  now_ns: by rows_driven_ns(). */
int64_t row_elapsed_ns(const struct row *row, int64_t now_ns);

/* The value of an item; NULL: it is none, or nobody knows it. */
const json_t *row_item(const struct row *row);

/* Loops: the pass whose answer counts is another than the last one.  Returns its number, else -1. */
int64_t row_best_pass(const struct row *row);

/* A line for each of the first loops whose passes somebody may want to see: "each pass: rondo history RUN LOOP".  They
   stand in no other loop and no item, and have had more than one pass.  rest: what the command needs behind it, as
   " --store PATH"; style and plain: what stands around a line. */
void rows_put_histories(struct buf *out, const struct rows *rows, const char *id, const char *rest, const char *style,
                        const char *plain);

/* Who speaks in a row: the step, or the one that a loop repeats under its own name. */
const struct row *row_speaker(const struct row *row);

/* Where a row is, as in paths. */
void row_put_path(struct buf *out, const struct row *row);

static inline bool row_is_open(const struct row *row)
{
    return row->state >= ROW_RUNNING && row->state <= ROW_RETRYING;
}

/* Its kids are made as they begin: items of an each, agents that an agent has called. */
static inline bool row_has_items(const struct row *row)
{
    return row->node->kind == RONDO_KIND_EACH || row->node->kind == RONDO_KIND_AGENT;
}

static inline bool row_is_call(const struct row *row)
{
    return row->up && row->up->node->kind == RONDO_KIND_AGENT;
}

/* A container without a name: only what is in it is shown. */
static inline bool row_is_seen(const struct row *row)
{
    return row->up && (*row->name || row->is_item);
}

/* Did it fail for a reason of its own, or nothing in it that it could not live with?  What is around it then fails with
   it, in its words. */
bool row_is_origin(const struct row *row);

/* Where everything began that the run did not get over, in the order of the rows.  Returns how many there are, with
   items that are not kept any more, of which nothing is seen.  What was handled is none of it, nor what a container
   could live with. */
uint32_t rows_origins(const struct rows *rows, void (*see)(void *user, const struct row *row), void *user);

bool row_is_encore(const struct row *row); // of a step that has ended (run/encore.h)

static inline bool row_is_loop(const struct row *row)
{
    return node_is_loop(row->node);
}

#endif
