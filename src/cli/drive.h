/* drive.h - carrying a run out in front of a person: events in, pictures, lines and answers out.

   stdout gets the final answer, or every event as a line of JSON; all the rest goes to stderr: a live
   view when that is a terminal, else a line an event, and a summary at the end. */
#ifndef RONDO_DRIVE_H
#define RONDO_DRIVE_H

#include "rondo.h"

struct answers;
struct call_env;

struct drive_options {
    const char *command; // "run", "rehearse": for messages
    const char *title;   // the workflow's name
    struct answers *answers; // of gates: taken
    const char *store;   // the path of the run's; NULL: it is in memory
    const char *notify;  // a command that is told of gates; NULL
    rondo_value *plan;   // the whole workflow, for --json; NULL: none
    struct call_env *env; // of the run: gates ask it in a rehearsal, and it tells of prompts; NULL
    bool json, quiet, verbose, no_color;
    bool rehearses;
    bool is_within; // this process works within the run, whose gates are then left to others
    bool has_output; // the file says what the answer is: null is one, then
    bool had_ended; // before this program went on with it
    uint64_t past; // the last event that happened before this program went on with the run; 0: none
};

/* Drives the run to its end and says how it went: an enum exit_code.  Signals stay caught: closing the
   engine may still have to wait for children to die, and interrupt_stop() comes after that. */
int drive(rondo_run *run, const struct drive_options *options);

/* Is there a person to ask: are stdin and stderr terminals? */
bool drive_has_person(void);

#endif
