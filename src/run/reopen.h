/* reopen.h - taking up a run that failed or was cancelled; and loops that a larger limit opens again, also in a run
   that goes on.

   The log stays as it is, and what completed stays done.  Left out is only what ended containers on the
   way from the run's end down to the leaves that went wrong: their ends, and what closed them.  Applied
   without these events, the log gives a run in which those containers are still open; then run_reopened
   puts the leaves back to where they had not started, each as a new attempt.  An agent that was cancelled gets what it
   had noted with it, and so goes on where it was; one that failed begins anew.

   The value of run_reopened:

       undone   the events that are left out, by seq: whoever applies the log later leaves them out too
       slots    the activations that are open again
       kids     [slot, child, ordinal, attempt]: children that are put back; a fifth: their work is another, see anew.h
       again    paths of those that had begun before, as they will be called
       limits   of the whole run, where they were changed
       goesOn   true: the run had not ended, only loops are open again; run_resumed follows
       keeps, mended   items of an each that are done again: mend.h

   All this works because the slot of a container that went wrong is kept empty (act_hold()) for as long as
   it may come back: the slots in the log mean the same, whether an end is left out or not. */
#ifndef RONDO_REOPEN_H
#define RONDO_REOPEN_H

#include "run/mend.h"

/* What is noted about an activation while a log is read; by slot, and good until the slot is used again. */
struct ending {
    uint64_t *undone; // seqs of what ended it
    uint32_t count, cap;
    uint64_t pass_end; // loops: the end of the last pass if that went wrong and nothing followed; 0
    bool pass_open;    // loops: the pass has not ended
    bool failed;       // and was not cancelled
    bool is_final;     // what is around it does not want it back
    bool is_loop, is_between; // is_between: it waits for its next pass
    uint32_t parent;   // its slot
    uint64_t last_pass_end, detector; // loops: the end of the last pass, and a detector that spoke behind it; 0
};

/* A loop that has ended well, and goes on with a larger limit. */
struct reopen_loop {
    const rondo_node *node;
    char *path; // as it ended; owned
    uint32_t slot, passes;
    uint32_t outer, outer_gen; // the outermost loop or each around it; 0: there is none
    uint8_t reason;
    uint64_t end;  // its loop_end; 0: it has not ended
    bool is_past;  // something else has started since then
    struct ending unstarted; // steps beside it that did not start since then
};

/* What another limit does to a loop that is watched. */
enum reopen_raise {
    RAISE_WORKS,   // it has not ended, or what is around it begins it anew: nothing is to be opened
    RAISE_OPENS,   // it is open again
    RAISE_NOTHING, // it did not end by a limit
    RAISE_PAST,    // something else has started since then
    RAISE_CLOSING, // what is around it is ending
};

/* In the caller's storage, all zero at first. */
struct reopen {
    struct ending *endings;
    uint32_t count;
    struct reopen_loop *loops; // to be asked about
    uint32_t loop_count;
    uint32_t root; // its slot
    const struct mend_wish *wish; // only this is done again, and what was cancelled; NULL: all that went wrong
    bool goes_on;                 // the run has not ended: only loops are opened again
    bool *was_open;               // then: by slot, what was open before
    uint32_t was_count;
};

void reopen_clear(struct reopen *reopen);

/* To be called with every event of the log just before it is applied. */
void reopen_see(struct reopen *reopen, struct run *run, const struct rondo_event *ev);

/* Before the log is read: a loop that will be asked about. */
void reopen_watch(struct reopen *reopen, const rondo_node *loop);

/* After the whole log: which events are to be left out, by seq, ascending; new.  Of loops that are watched too, as far
   as they have ended by a limit and nothing else has started since then. */
json_t *reopen_undone(struct reopen *reopen, struct run *run);
enum reopen_raise reopen_raise(struct reopen *reopen, struct run *run, const struct reopen_loop *loop);

/* After the log was applied without them: the value of run_reopened; takes undone, new.  stale: a list, to which slots
   of containers are added whose ends should not be left out, see mend_rows(). */
json_t *reopen_value(const struct reopen *reopen, struct run *run, json_t *undone, json_t *stale);

/* These ends count; false: they did already. */
bool reopen_leave(struct reopen *reopen, const json_t *slots);

/* One child; anew: as the fifth of its row, NULL: there is none. */
void reopen_put_back(struct run *run, struct act *act, uint32_t child, uint32_t ordinal, uint16_t attempt,
                     const json_t *anew);

bool reopen_admits(struct run *run, const struct rondo_event *ev);
void reopen_apply(struct run *run, struct rondo_event *ev);

#endif
