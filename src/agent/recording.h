/* recording.h - a recording: what the agents of a run were asked, and what they said.

   A file of lines, each a JSON object, to be kept beside a workflow and read by people.  The first says
   what it is; then comes a line for every call of an agent and every answer of a gate, in the order in which
   they ended:

       {"rondo-recording":1,"workflow":"article","session":{"state":{...},"memory":{...}}}
       {"path":"refine.0.draft","step":"draft","agent":"writer","kind":"command",
        "prompt":{"user":"..."},"input":...,"reply":{"content":"..."},"at":12.345,"ms":3.21}
       {"path":"approve","step":"approve","kind":"gate","reply":{"answer":true,"by":"terminal"},"at":...}

   `session` is what the run's session held when it began, if there was anything.  `reply` is what scripts
   reply, and what is said on the way is in its `events`; `at` is when the answer came, in milliseconds since
   the run began, and `ms` how long it took.  A script answers at once and has neither.  `files` is what loops with
   `stall.files` saw before the call and after it, as in files_seen.  A call
   without a reply was cancelled before it answered; `overdue` is the error that it had for its step then, whose time
   was over.  All the rest is the same whenever the same is
   recorded. */
#ifndef RONDO_RECORDING_H
#define RONDO_RECORDING_H

#include "agent/call.h"
#include "agent/mask.h"

#define RECORDING_VERSION 1
#define RECORDING_TEXT    (32 * 1024) // of a prompt, an input: longer ones are cut and have a hash

struct record {
    json_t *line;      // owned
    const char *path;  // in it, as all the others
    json_t *reply;     // NULL: it was never answered
    int64_t at_us;     // since the run began; -1: at once
    uint32_t number;   // of the line, from 1
    bool is_gate, is_used;
};

/* Lives in its owner's storage; all zero is an empty one. */
struct recording {
    const char *file;     // borrowed
    json_t *head;         // the first line
    struct record *list;
    uint32_t count, cap;
    json_t *index;        // path -> place in the list
    bool is_cut;          // the last line was not written to its end
};

/* Reads and checks a file.  RONDO_EINVAL when it is something else, or damaged; a last line that is not
   whole is left out. */
int recording_read(struct recording *recording, const char *file, rondo_error *err);
void recording_clear(struct recording *recording);

const char *recording_workflow(const struct recording *recording);
const json_t *recording_session(const struct recording *recording); // { state, memory }; NULL
struct record *recording_find(const struct recording *recording, const char *path); // NULL

/* Does a file begin as a recording does?  bytes are its first ones. */
bool recording_is(const char *bytes, size_t len);

/* Who is asked what, as the beginning of a line: path, step, agent, kind, prompt, input; new. */
json_t *recording_call(rondo_task *task, const struct flow_step *step, struct buf *system,
                       struct buf *user);

#endif
