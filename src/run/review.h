/* review.h - somebody looks at what a step came to, and may send it back. */
#ifndef RONDO_REVIEW_H
#define RONDO_REVIEW_H

#include "run/run.h"

/* In the event `review`: what follows from what the reviewer said.  Numbers are stored. */
enum review_code {
    REVIEW_APPROVE = 1,
    REVIEW_RETRY,       // ordinal: the step that runs again, with the feedback
    REVIEW_PREDECESSOR, // the same for a step it depends on, and for all that depends on that
    REVIEW_REJECT,      // the step has failed
    REVIEW_ACCEPT,      // sent back too often: it stands
    REVIEW_FLAG,        // the same, but it is marked as capped
    REVIEW_UNCLEAR,     // the reviewer is asked once more
    REVIEW_FAILED,      // and was not understood again, or failed: so has the step
};

const char *review_text(int code); // "approve", "retry"...

/* What a reviewer said, as it was understood: REVIEW_UNCLEAR when it was not.  Texts are the caller's;
   NULL when there are none. */
struct review_said {
    enum review_code code;
    char *step, *feedback;
};

void review_read(const json_t *value, const char *content, struct review_said *ret);
void review_said_clear(struct review_said *said);

/* The reviewer's input: { step, content, result } of what it looks at; NULL for other children. */
json_t *review_input(const struct act *act, uint32_t child);

/* The decision that follows from the answer of this child of a graph, or from its failure. */
enum plan review_plan(struct run *run, struct act *act, uint32_t child, struct rondo_event *ev);
void review_apply(struct run *run, struct rondo_event *ev);

/* The reviewer is asked again because the run was taken up again: a step that failed only for want of an answer has
   completed. */
void review_reopen(struct run *run, struct act *act, uint32_t child);

#endif
