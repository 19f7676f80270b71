/* tell.h - events as lines for people: "12:00:01 step_end refine.0.draft (1.2s)". */
#ifndef RONDO_TELL_H
#define RONDO_TELL_H

#include "cli/rows.h"
#include "cli/term.h"

struct tell {
    const struct rows *rows; // as they were before the event
    const struct term *term;
    const char *title;
    bool verbose;    // every event, with what went in and out
    bool all;        // every event, but as briefly as otherwise
    bool is_virtual; // the engine's clock is no clock: times are counted from the start
    int64_t second;  // clock is the text of this one
    char clock[16];
};

/* Puts the line of an event; nothing when it is not worth one. */
void tell_event(struct buf *out, struct tell *tell, const rondo_event *event);

/* What the line says that the event is. */
const char *tell_type(const rondo_event *event);

/* Puts the line of a prompt that a step was given: how long it is. */
void tell_prompt(struct buf *out, struct tell *tell, int64_t time_ns, const char *path, size_t system,
                 size_t text);

#endif
