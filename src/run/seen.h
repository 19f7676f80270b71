/* seen.h - loops that look at what their agents change (`stall.files`).

   The engine knows no file.  A loop of a workflow file has a watcher.  The shell asks it for a mark just before it
   calls an agent in the loop's body, and again just after the agent has ended.  A mark is a text; another one says
   that something has changed.  The shell tells the run of both (files_seen): first the marks, then what has changed.
   Each has an entry for each watching loop around the agent, the innermost first; null says that it is not known.

   The first event is in the log before the agent begins.  So an agent that begins again after a crash is compared with
   what was there before its first beginning. */
#ifndef RONDO_SEEN_H
#define RONDO_SEEN_H

#include "run/run.h"

struct loop;
struct look;

/* One look: at what, and whom to tell.  Borrowed for the call. */
struct look_call {
    struct loop *loop; // the event loop
    struct run *run;
    rondo_run *owner; // the run under its public name
    struct act *agent; // whose work is compared,
    struct act *around; // by this loop
    /* mark NULL: it is not known, and why.  With a mark, err is NULL or something that people should hear of. */
    void (*done)(const char *mark, const rondo_error *err, void *user);
    void *user;
};

struct watcher {
    /* Can this agent change anything, the way in which it is carried out? */
    bool (*wants)(rondo_run *owner, struct run *run, const struct act *agent);

    /* What a recording has of this agent, { before, after }: the shell tells it and does not look.  NULL: it looks.
       Borrowed. */
    const json_t *(*recall)(rondo_run *owner, struct run *run, const struct act *agent);

    /* done() comes once, later and on the loop's thread, unless the look is stopped before.  NULL: it cannot begin. */
    struct look *(*start)(const struct look_call *call, rondo_error *err);
    void (*stop)(struct look *look);
};

/* The nearest loop around act that has a watcher and act in its body; NULL. */
struct act *seen_loop_around(struct run *run, const struct act *act);

/* Has an agent in this pass changed something, or may it have? */
bool seen_change(const struct act *loop);

/* Is it known that nothing has to be looked at any more in this pass? */
bool seen_is_settled(const struct act *loop);

void seen_apply(struct run *run, struct rondo_event *ev);
bool seen_admits(struct run *run, const struct rondo_event *ev);

#endif
