/* seen.h - loops that look at what their agents change (`stall.files`).

   The engine knows no file.  A loop of a workflow file has a watcher, and the shell asks it for a mark just before an
   agent in the body is called and just after it has ended: a text that is another one when something was changed.  Both
   are told to the run (files_seen): the marks of before, one for each watching loop around the agent, the innermost
   first, and afterwards for each of them whether it has changed.  null stands for what is not known.

   The first event is in the log before the agent begins.  So an agent that begins again after a crash is compared with
   what was there before its first beginning. */
#ifndef RONDO_SEEN_H
#define RONDO_SEEN_H

#include "run/run.h"

struct loop;
struct look;

/* What is to be looked at, and who is told; borrowed for the call. */
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

    /* What is to be told of it without a look, { before, after }, as it was recorded; NULL.  Borrowed. */
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
