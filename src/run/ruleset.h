/* ruleset.h - the number of the rules by which the planner decides.

   A log follows from what the run was told and from the rules of the planner.  An event with which a process begins
   to drive a run says their number: workflow_start, run_resumed and run_reopened.  Decisions behind it follow these
   rules.  Logs of before there was a number have none, which is 0.

   Did you change what the planner decides for a log that may exist?  Then add a line to the table in ruleset.c, which
   raises the number, and the same line to docs/store.md.  tests/golden/differs names the stored runs that differ. */
#ifndef RONDO_RULESET_H
#define RONDO_RULESET_H

#include "base/buf.h"

#include <jansson.h>

/* Today's number. */
int64_t ruleset_now(void);

/* The change that this number stands for, 1 to ruleset_now(). */
const char *ruleset_change(int64_t number);

/* Writes today's number into the value of an event. */
void ruleset_note(json_t *value);

/* The number in the value of an event; 0 when there is none. */
int64_t ruleset_of(const json_t *value);

/* Puts a sentence: the number of a run, today's, and the changes between them. */
void ruleset_put_changes(struct buf *out, int64_t number);

#endif
