/* notify.h - telling another program that a run waits for people, or has ended: --notify COMMAND.

   The command is the shell's.  It gets RONDO_RUN, RONDO_NAME and RONDO_STATUS in its environment, and what it says
   goes to our stderr.  Whatever it does, or fails to do, changes nothing about the run; it is only reported. */
#ifndef RONDO_NOTIFY_H
#define RONDO_NOTIFY_H

#include "cli/gates.h"

/* What is told while the run goes on.  Set by its owner; `open` is ours. */
struct notify {
    const char *command; // NULL: nobody is told
    const char *name;    // of the workflow
    rondo_run *run;
    struct buf *lines;   // what there is to say about it
    uint32_t open;       // commands that have not ended
};

/* A gate has opened: its command has RONDO_GATE, too, the status `waiting`, and { run, workflow, path, ask, schema }
   on its stdin.  Nobody waits for it; after NOTIFY_MS it is ended. */
#define NOTIFY_MS 30000
void notify_gate(struct notify *notify, const struct gate_open *gate);

/* The run has ended: the command has RONDO_EXIT, too, and the final answer on stdin.  It is waited for. */
void notify_run(const char *command, rondo_run *run, const char *name, int code);

#endif
