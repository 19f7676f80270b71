/* exit.h - what a run came to, as the one number that scripts see. */
#ifndef RONDO_EXIT_H
#define RONDO_EXIT_H

#include "rondo.h"

/* The first that applies. */
enum exit_code {
    EXIT_OK = 0,
    EXIT_FAILED = 1,     // the run failed, or is partial
    EXIT_INVALID = 2,    // before a run: there is something wrong with a file
    EXIT_USAGE = 3,      // before a run: wrong command line or configuration
    EXIT_BUDGET = 4,     // the run's budget is used up; its result is kept
    EXIT_WAITING = 5,    // for a person: to answer, or to go on with what was stopped between passes
    EXIT_DETECTED = 6,   // it failed because a detector said so
    EXIT_BUSY = 7,       // another process drives this run
    EXIT_UNMET = 8,      // what a loop was to reach does not hold
    EXIT_TEMPORARY = 75, // it failed on something that may work later
    EXIT_TIMEOUT = 124,
    EXIT_SIGHUP = 129,
    EXIT_SIGINT = 130,
    EXIT_SIGPIPE = 141,
    EXIT_SIGTERM = 143,
};

/* Of a run that has ended, or waits: an enum exit_code. */
int exit_code(const rondo_run *run);

/* The driver knows better: it was told to stop by a signal, or had nobody to ask. */
void exit_set(rondo_run *run, int code);

#endif
