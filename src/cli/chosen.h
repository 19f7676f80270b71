/* chosen.h - the rows of a frame, and which of them are shown when there are more than lines.

   Those that matter are shown, each with the rows it is in: questions and failures first, then what runs, what ended
   last, what comes next.  The others are counted. */
#ifndef RONDO_CHOSEN_H
#define RONDO_CHOSEN_H

#include "cli/rows.h"

#define NOBODY UINT32_MAX

struct shown {
    const struct row *row;
    uint32_t up; // index of the row it is in; NOBODY
    uint16_t depth;
    const struct pass_seen *pass; // it is this pass of the row, which has ended; NULL
    uint8_t rank;  // enum rank
    uint8_t state; // enum row_state
    bool is_inner; // an item, or in one
    bool on;       // there is a line for it
};

/* All zero at first. */
struct chosen {
    int height; // lines for rows at most, 0: any number
    struct shown *list;
    uint32_t count, cap;
    uint32_t on;
    uint64_t recent; // rows that ended at this event or later are the last ones
    uint32_t coming; // pending rows that were ranked as the next ones
    uint64_t rowless[ROW_CANCELLED + 1]; // items that have no row any more, or not yet
    uint64_t passes_gone; // that have ended and are not told
    bool has_gone;   // one of them had a row, or there are such passes
};

void chosen_find(struct chosen *chosen, const struct rows *rows);
void chosen_clear(struct chosen *chosen); // frees

/* Has it rows or passes without a line? */
bool chosen_leaves_out(const struct chosen *chosen);

/* How many of them there are in each state (ROW_CANCELLED + 1 counts).  Returns the number of passes. */
uint64_t chosen_count_others(const struct chosen *chosen, uint64_t *ret_counts);

#endif
