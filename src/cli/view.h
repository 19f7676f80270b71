/* view.h - a picture of a run in text: the frames of the live view, of which the last is the summary.

   A frame is made from the rows alone, for a given width and height, so it can be looked at without
   a terminal.  No line is wider than asked for, and nothing that a step said reaches it unfiltered. */
#ifndef RONDO_VIEW_H
#define RONDO_VIEW_H

#include "cli/rows.h"
#include "cli/term.h"

struct view {
    const struct rows *rows;
    const char *title; // the workflow's name
    const char *notes; // for the summary: lines that end in a newline; before, one line without it; NULL
    const struct term *term; // its width, colours and encoding
    int height;        // lines for rows at most, 0: any number
    int64_t now_ns;    // the engine's time
    int64_t calm_ns;   // the same for the rows when much is at work, so that only seconds change in them; 0: now_ns
    bool is_calm;      // out: much is at work
    unsigned tick;     // turns the spinner
    const char *idle;  // how a run stands that nobody drives: "waiting", "stopped"; NULL: it runs, or has ended
};

/* The frame, each line with a newline.  Once the run has ended it is the summary, which is false when it
   has not all of what failures said, so as to stay on one screen (view->height). */
bool view_put(struct buf *out, struct view *view);

/* The look of a state, as the view has it. */
const char *view_sign(const struct term *term, int state);
enum term_style view_style(int state);
const char *view_word(int state); // "running"

/* "3 passes, until" */
void view_put_passes(struct buf *out, int64_t passes, int reason);

/* Lengths of time and amounts as people read them: "12ms", "1.2s", "3m05s"; "1.2k", "3.4M"; "$0.012". */
void view_put_time(struct buf *out, int64_t ns);
void view_put_moment(struct buf *out, int64_t ns, bool with_zone); // since 1970: "2026-11-15 17:40:18", here
void view_put_amount(struct buf *out, int64_t n);
void view_put_cost(struct buf *out, int64_t nano);
void view_put_score(struct buf *out, double score);

/* "1.2k tokens", "$0.012", with gap between them; what has no price is called so: "unpriced", "2 calls
   unpriced".  Nothing for nothing. */
void view_put_usage(struct buf *out, const rondo_usage *usage, const char *gap);

#endif
