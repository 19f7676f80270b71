/* review.h - somebody looks at what a step came to, and may send it back. */
#ifndef RONDO_REVIEW_H
#define RONDO_REVIEW_H

#include "flow/verdict.h"
#include "run/run.h"

const char *review_text(int code); // "approve", "retry"...

/* The reviewer's input: { step, content, result } of what it looks at; NULL for other children. */
json_t *review_input(const struct act *act, uint32_t child);

/* The decision that follows from the answer of this child of a graph, or from its failure. */
enum plan review_plan(struct run *run, struct act *act, uint32_t child, struct rondo_event *ev);
void review_apply(struct run *run, struct rondo_event *ev);

/* The reviewer is asked again because the run was taken up again: a step that failed only for want of an answer has
   completed. */
void review_reopen(struct run *run, struct act *act, uint32_t child);

#endif
