/* pass_text.h - what a loop tells of its passes, as text for judges, dependents and the next pass. */
#ifndef RONDO_PASS_TEXT_H
#define RONDO_PASS_TEXT_H

#include "base/buf.h"
#include "run/run.h"

/* Ends the line that is being written. */
void text_line(struct buf *out);

/* Begins a section: a blank line behind what is there, then the heading on a line of its own. */
void text_heading(struct buf *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A pass in Zenflow's form, without a newline at its end; n counts from 1:

       ## Iteration 2

       ### draft
       what the step `draft` said

       ## Judge Feedback (Iteration 2)
       what the judge said about it

   A body that is one step stands under the first heading by itself. */
void pass_put(struct buf *out, const struct pass *pass, int64_t n);

/* Behind what a judge said, or in its place: why it failed. */
void judge_put_failure(struct buf *said, const char *why);

/* "Loop iteration 2 of 5. Improve on the previous output.", for the pass that is under way; advice: and the note of a
   nudge. */
void loop_put_usual(struct buf *out, const struct run *run, const struct act *loop);
void loop_put_advice(struct buf *out, const struct run *run, const struct act *loop);

/* The note of `stall: { action: nudge }`, on a line of its own, when it is for this pass: it is heard whatever else the
   loop has or has not to say. */
void loop_put_nudge(struct buf *out, const struct act *loop);

/* What a review said and what the try before failed of, set apart by a blank line. */
struct tries;
void tries_put(struct buf *out, const struct tries *tries);

#endif
