/* route.h - what the address of a message means just now; see mail.h for what addresses are. */
#ifndef RONDO_ROUTE_H
#define RONDO_ROUTE_H

#include "base/buf.h"
#include "run/run.h"

enum route_end {
    ROUTE_UNKNOWN, // there is no such step, or it is none that reads messages, or several are
    ROUTE_WAITS,   // it has not started
    ROUTE_WORKS,
    ROUTE_ENDED,   // and does not start again
};

/* To be cleared. */
struct route {
    enum route_end end;
    struct act *act;    // ROUTE_WORKS
    struct buf address; // ROUTE_WAITS: under which it will be found
    bool is_loop;       // not ROUTE_UNKNOWN: it is a loop, whose next pass reads it
    struct buf why;     // ROUTE_UNKNOWN
};

void route_find(struct run *run, const char *address, struct route *ret);
void route_clear(struct route *route);

/* Is this address one of those that an agent is found at: its path without attempts, its path without passes
   and items, its name? */
struct route_names {
    struct buf id, plain;
    const char *name; // the last part of plain
};

void route_names(struct run *run, const struct act *act, struct route_names *ret); // to be cleared
bool route_is_named(const struct route_names *names, const char *address);
void route_names_clear(struct route_names *names);

#endif
