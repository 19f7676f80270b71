/* notify.h - telling another program that a run has ended: --notify COMMAND. */
#ifndef RONDO_NOTIFY_H
#define RONDO_NOTIFY_H

#include "rondo.h"

/* Runs the shell command and waits for it.  It gets RONDO_RUN, RONDO_NAME, RONDO_STATUS and
   RONDO_EXIT in its environment and the final answer on stdin; its stdout goes to our stderr. */
void notify_run(const char *command, rondo_run *run, const char *name, int code);

#endif
