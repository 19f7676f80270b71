/* passes.h - what the passes of a loop came to: score, gain, time, cost, and a line of what was said.

   The rows (rows.h) fill it in; the live view, the summary and `rondo history` show it. */
#ifndef RONDO_PASSES_H
#define RONDO_PASSES_H

#include "base/buf.h"
#include "cli/term.h"
#include "flow/node.h"

#define PASSES_KEPT     60  // of one loop, the last ones, unless all are wanted
#define PASS_TEXT_MAX   300 // bytes of what a pass came to that are kept
#define PASS_SCORES_MAX 12  // in a line of scores

/* What is known of a pass that has ended. */
struct pass_seen {
    int64_t number;  // from 0
    uint64_t seq;    // of the event that ended it
    int64_t ns;      // how long it took, without the time in which nobody drove the run
    double score, gain; // gain: over the best one before it
    bool is_scored, has_gain;
    uint8_t status;  // enum rondo_status
    rondo_usage usage; // in this pass
    char *text;      // the first line of what it came to, or why it failed; not yet made safe to print
};

/* All zero is one without passes. */
struct passes {
    struct pass_seen *list;
    uint32_t count, cap;
    bool has_best;
    int64_t best; // pass
    double best_score;
    uint32_t failed; // of all that ended
};

void passes_clear(struct passes *passes); // frees; as if there had been none

/* The pass that has ended; its text is taken, its gain found out.  One that has that number already is replaced. */
void passes_add(struct passes *passes, struct pass_seen *pass, bool keeps_all);

struct pass_seen *passes_find(const struct passes *passes, int64_t number); // NULL: none is known
const struct pass_seen *passes_last(const struct passes *passes);                 // NULL: there was none

/* A line of the last scores, "▁▃▅▆"; a pass that failed is an x.  Nothing when none was scored. */
void passes_put_scores(struct buf *out, const struct passes *passes, bool is_utf8);

/* A picture of all scores, `width` columns wide, with a line at the score that the loop waits for: each line ends in a
   newline.  Nothing when fewer than two passes have ended, or all scores are the same. */
void passes_put_plot(struct buf *out, const struct passes *passes, const rondo_node *loop, const struct term *term);

/* "+1.5", "-2" */
void passes_put_gain(struct buf *out, double gain);

/* "★" or "*" */
const char *passes_star(bool is_utf8);

#endif
