/* callers.h - agents that reserve before they call.

   A caller makes `count` calls one after the other: it reserves `most`, takes ms of the engine's time for the
   call, and settles it with `real`.  When a call is refused it returns what it has; at its end the number of
   calls that it has made. */
#ifndef CALLERS_H
#define CALLERS_H

#include "agents.h"

struct caller {
    const char *name;
    int count;
    rondo_usage most, real;
    int64_t ms;
    bool forgets;  // never settles
    bool thrifty;  // stops when a second call would not fit any more
    int effects;
    rondo_options options;
    void (*on_grant)(struct caller *c); // called when a call begins
    void *data;

    rondo_later later;
    int number;                   // of the call that is under way; 0: none
    int granted, settled, refused; // refused: the reason
    int made, invoked, farewells;
};

rondo_node *caller_node(struct caller *caller);

#endif
