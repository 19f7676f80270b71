/* verdict.h - how answers of reviewers and scorers are understood.

   Here and not in the run, because files are checked by the same functions: an agent whose written answers mean nothing
   to them cannot review. */
#ifndef RONDO_VERDICT_H
#define RONDO_VERDICT_H

#include <jansson.h>

/* What was said, and in the event `review` what follows from what the reviewer said.  Numbers are stored. */
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

/* What a reviewer said, as it was understood: REVIEW_UNCLEAR when it was not.  Texts are the caller's; NULL when there
   are none.

   Answers are { decision, step, feedback }, or text in AgentEnsemble's grammar: APPROVE, RETRY: ...,
   RETRY_PREDECESSOR name: ..., REJECT: ... */
struct verdict {
    enum review_code code;
    char *step, *feedback;
};

void verdict_review(const json_t *value, const char *content, struct verdict *ret);
void verdict_clear(struct verdict *verdict);

/* A number, an object with a number `score`, or a text that is one; NAN. */
double verdict_score(const json_t *value);

#endif
