/* end_text.h - why a loop ended: the rule that ended it, its bound, and one sentence with the numbers.

   Everything that tells people or scripts about an end asks here: events, `show`, the summary, the live view. */
#ifndef RONDO_END_TEXT_H
#define RONDO_END_TEXT_H

#include "base/buf.h"
#include "flow/node.h"

struct loop_end {
    const rondo_node *node; // the loop, machine or forEach; the holder for a whole run
    uint8_t reason;         // enum rondo_reason
    uint32_t passes;        // or items
    uint32_t failures;      // failed passes in a row
    int64_t best;           // the pass with the best score; -1: none was scored
    double score, gain_from;    // its score; the score that had to be beaten
    const char *error;          // of a rule or pass that failed; NULL
    const rondo_budget *budget; // that was used up; NULL
    const rondo_usage *spent;   // of it; NULL: nothing
    const rondo_usage *asked;   // what the next call may cost, which did not fit in; NULL
    int64_t timeout_ms;         // 0: none
};

/* The key of the workflow file that the rule is written with, as "patience", and its value there; "" and NULL when
   nobody wrote one.  The value is new. */
const char *end_rule(const struct loop_end *end);
json_t *end_bound(const struct loop_end *end);

/* A reason in the words of people: "cap", "budget", "plateau". */
const char *end_word(int reason);

/* As "plateau: no gain over 8.5 for 2 passes (patience: 2); best: pass 2". */
void end_put(struct buf *out, const struct loop_end *end);

/* The key with which the loop says what it waits for, "until" or "untilAgent"; NULL: it ends in some other way. */
const char *end_goal(const rondo_node *node);

/* Does the loop wait for something?  And did it end before that was true? */
bool end_waits(const struct loop_end *end);
bool end_is_short(const struct loop_end *end);

#endif
