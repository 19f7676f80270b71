/* recorder.h - writing a recording while a run goes on.

   agent_run() tells the recorder what it asks (recorder_begin()), and the engine what comes back
   (recorder_hear()): whatever an agent says passes one of three functions of engine/task.c.  When it has
   finished, its line is written at once, so a process that dies leaves all that had ended. */
#ifndef RONDO_RECORDER_H
#define RONDO_RECORDER_H

#include "agent/recording.h"

struct recorder;

/* Makes the file, or empties it when it is a recording; anything else is not touched: RONDO_EINVAL. */
int recorder_open(const char *file, struct recorder **ret, rondo_error *err);

/* A run starts, and the file begins: start is the value of its first event. */
void recorder_start(struct recorder *recorder, const struct flow *flow, json_t *start);

/* Writes down the calls that were never answered.  0, or why the file is not whole.  NULL is fine. */
int recorder_close(struct recorder *recorder, rondo_error *err);

/* An agent is about to be called. */
void recorder_begin(struct recorder *recorder, rondo_task *task, const struct flow_step *step,
                    struct buf *system, struct buf *user);

/* What an agent said.  Everything is borrowed. */
struct heard {
    uint32_t act, gen;   // whose call
    uint8_t type;        // enum rondo_event_type; step_end and error finish it
    uint16_t flags;      // EF_FULL, EF_ESCALATE
    json_t *value;       // NULL: none
    int code;            // error
    const char *message; // error; value is what was said before
    uint16_t actions;    // at the end: EF_BREAK, EF_CONTINUE, EF_ESCALATE,
    const char *target;  // which loop is meant (NULL: the nearest),
    json_t *delta;       // and state that goes with it; NULL
    bool is_overdue;     // a cancelled call that says why its step fails
    bool is_late;        // said after its function had returned
    uint64_t turn;       // the same for all that is applied together
    int64_t at_ns;       // since the run began
};
void recorder_hear(struct recorder *recorder, const struct heard *heard);

/* What the files_seen behind its work says (run/seen.h).  A call with one before it is written down only now: its turn
   and its time are those of now.  Everything is borrowed. */
void recorder_see(struct recorder *recorder, const struct heard *heard);

/* A gate was answered: value and `by` as they are in heard->value. */
void recorder_answer(struct recorder *recorder, const char *run_id, const char *path, const char *step,
                     const struct heard *heard);

#endif
