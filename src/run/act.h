/* act.h - activations: opening, closing, ending; and what node kinds add to that.

   A kind is a row of functions (kinds.c).  None of them touches the journal, the shell or another
   kind's state: `plan` says what follows, the others are called by run_apply(). */
#ifndef RONDO_ACT_H
#define RONDO_ACT_H

#include "base/buf.h"
#include "base/error.h"
#include "run/run.h"

struct kind {
    void (*open)(struct run *run, struct act *act);                             // may be NULL
    enum plan (*plan)(struct run *run, struct act *act, struct rondo_event *ev);
    enum plan (*closed)(struct run *run, struct act *act, struct rondo_event *ev); // may be NULL
    void (*child_ended)(struct run *run, struct act *act, struct kid *kid, uint32_t child,
                        uint32_t ordinal); // may be NULL
    /* A budget ended it: what failed inside, so that it cannot be called completed; NULL.  May be NULL. */
    const struct result *(*failure)(const struct act *act);
    /* The output of an activation that ends: sets value (a new reference), seq, more. */
    void (*project)(struct run *run, struct act *act, struct result *ret);
    json_t *(*child_input)(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                           uint64_t *ret_seq); // borrowed
    void (*free)(struct run *run, struct act *act); // may be NULL
    void (*recount)(struct act *act); // children were put back to where they had not started; may be NULL
    void (*copy)(struct act *to, const struct act *from); // its own state, but for children (mend.h); NULL: it has none
};

const struct kind *kind_of(const rondo_node *node);

/* Moves an activation by the transition table; a move that is not there is a bug in a node kind,
   and stops the process before the journal can record nonsense. */
void act_move(struct act *act, enum act_cause cause);

struct act *act_open(struct run *run, uint32_t slot, const rondo_node *node);
void act_free(struct run *run, struct act *act);

/* Where a log is not applied from its beginning: slots up to this one are there, and free.  Not the first of a run. */
void act_reach(struct run *run, uint32_t slot);

/* Like act_free(), but the slot stays empty until its parent completes, begins its next pass or tries that
   child again: as long as a run can be taken up again (reopen.h), nobody else has been in this slot. */
void act_hold(struct run *run, struct act *parent, struct act *act);
void act_release(struct run *run, struct act *act); // all that is held in it
void act_release_kid(struct run *run, struct act *parent, uint32_t child, uint32_t ordinal);
uint32_t act_next_slot(const struct run *run);

/* Closes an activation and everything open inside it.  Gently: agents at work may finish. */
void act_close(struct run *run, struct act *act, enum close why, uint8_t reason, bool gently);

/* Is there no more time to clean up: in the whole run, or in what is closed here? */
static inline bool act_is_hurried(const struct run *run, const struct act *act)
{
    return run->forced || act->hurried;
}

/* Is this a graph that its own abort has closed?  That has run->cleanup_ns to come to its end. */
static inline bool act_is_aborted(const struct act *act)
{
    return act->close == CLOSE_SIBLING && act->node->kind == RONDO_KIND_GRAPH && act->node->mode == RONDO_ABORT;
}

/* May an agent that is being closed finish its work first? */
bool act_is_awaited(const struct run *run, const struct act *act);

/* Its time is over, and the shell winds it down: then it may tell how it has failed. */
bool act_is_overdue(const struct run *run, const struct act *act);
int64_t act_limit_ms(const struct run *run, const struct act *act); // the time that was over

/* Was it under way when its process died, is not to be repeated, and nobody has said yet what to do? */
bool act_is_unknown(const struct run *run, const struct act *act);

/* Time since its start in which somebody drove the run. */
int64_t act_elapsed_ns(const struct run *run, const struct act *act);

/* ---- children ---------------------------------------------------------------------------------- */

/* The child's record in its parent.  For an each, ordinal is the item. */
struct kid *kid_get(struct run *run, struct act *parent, uint32_t child, uint32_t ordinal);

/* The record that an activation has in its parent. */
struct kid *act_kid(struct run *run, const struct act *act);

/* What follows for a child that has not started: questions, then step_start; or an end without a
   start (skipped, failed).  given (taken, may be NULL) is its input if it is not the usual one. */
enum plan kid_start(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                    struct kid *kid, json_t *given, struct rondo_event *ev);

/* Has the child ended for good?  If not, *ret says what follows: it runs, or is tried again. */
bool kid_is_settled(struct run *run, struct act *act, uint32_t child, uint32_t ordinal,
                    struct kid *kid, struct rondo_event *ev, enum plan *ret);

/* What there is to tell an activation of tries before it: its own, else those of the nearest one around it that has
   any.  A failure and a review are looked for apart; NULL, NULL and 0 when there was no such thing. */
struct tries {
    const char *failure;          // what the one before failed of
    const struct sent_back *sent; // what a review sent it back with
    int attempt;                  // of the one that was nearest
};
struct tries act_tries(struct run *run, const struct act *act);

/* ---- decisions ---------------------------------------------------------------------------------- */

enum plan decide(const struct act *act, int type, struct rondo_event *ev);
enum plan decide_fail(struct run *run, const struct act *act, int code, struct rondo_event *ev,
                      const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* Ends what took too long, and names the limit. */
enum plan decide_late(struct run *run, const struct act *act, struct rondo_event *ev);

/* A budget ended it: it completes with what it has.  When that is nothing and a review had sent it back, it has what it
   had come to before. */
enum plan decide_spent(struct run *run, struct act *act, struct rondo_event *ev);

/* Ends a container because of its child's failure, with the child's error. */
enum plan decide_fail_with(struct run *run, const struct act *act, const struct result *child,
                           struct rondo_event *ev);
enum plan decide_close(const struct act *act, enum close why, uint8_t reason, struct rondo_event *ev);

/* An end for a child that never started. */
enum plan decide_unstarted(const struct act *act, uint32_t child, uint32_t ordinal,
                           const struct kid *kid, int type, json_t *value, struct rondo_event *ev);

/* { code, message, path } for a failure; new. */
#define ERROR_TEXT_MAX (10 * 1024) // why a step failed may have the tails of what a program wrote in it
json_t *error_value(struct run *run, const struct act *act, int code, const char *message);

/* ---- questions ----------------------------------------------------------------------------------- */

/* Asks unless this very question was just answered: then false, and run->question is the answer. */
bool must_ask(struct run *run, const struct act *act, enum ask what, uint32_t child);

/* ---- paths ---------------------------------------------------------------------------------------- */

/* Where something is: enough to write its path.  Kept by runs for what is live, and by readers of
   the journal for what they read. */
struct place {
    const rondo_node *node;
    uint32_t parent, child, ordinal;
    uint16_t attempt;
    int64_t start_ns; // 0 when that is not known
};

/* Looks a slot up: false for the holder. */
typedef bool (*place_finder)(const void *places, uint32_t slot, struct place *ret);

void path_put(struct buf *buf, place_finder find, const void *places, const struct place *place);
void path_put_act(struct buf *buf, struct run *run, const struct act *act);

/* Where the step is in the definition: "refine.draft", whichever pass, item, round and attempt it is. */
void path_put_definition(struct buf *buf, place_finder find, const void *places, const struct place *place);

/* A path of a workflow file as Zenflow's id: the same whichever attempt it was. */
void path_put_id(struct buf *buf, const char *path);
bool path_is_of(const char *path, const char *wanted); // the same, or another try of what has the path `wanted`
void path_put_act_id(struct buf *buf, struct run *run, const struct act *act);

/* Are they one path?  In `wanted` the first attempt may be called so: "b~0" is "b", not "b~1". */
bool path_is_same(const char *path, const char *wanted);

/* A path without passes, items and attempts: the same whenever the step runs. */
void path_put_plain(struct buf *buf, const char *path);
bool path_find_act(const void *run, uint32_t slot, struct place *ret);

/* Which of its skills an agent uses; SKILL_OPEN: it has none, or is still to choose one, and note it:
   { skill: NAME }. */
#define SKILL_OPEN 255
uint32_t act_skill(const struct act *act);

/* Does this child decide whether a run that failed is partial, by having completed?  In a file only its own steps do,
   not what runs inside them, nor who looks at them. */
bool act_counts(const struct act *parent, uint32_t child);

/* Is it one of those that maxConcurrency counts: an agent at work, not one that rests, is paused, waits for people or
   has sent others?  Whatever changes that is followed by counting again. */
bool act_takes_place(const struct act *act);
void act_recount(struct run *run, const struct act *act, bool took);

/* An agent that was paused is at work again; others as they are. */
void act_unpause(struct run *run, struct act *act);

#endif
