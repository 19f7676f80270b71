/* result.h - what steps came to, as long as somebody can still see it.

   A plain agent's result is a value and a status.  Everything beyond that (texts, the results of
   inner steps, how a loop ended) is in an outcome, which is made only when there is something to
   say and is shared by counting: a loop keeps its best pass beside the last. */
#ifndef RONDO_RESULT_H
#define RONDO_RESULT_H

#include "base/mem.h"
#include "data/value.h"
#include "flow/node.h"

struct history;
struct ledger;

/* SIGNAL: came with an action.  NO_RETRY: not to be tried again.  CUT: did not run because something
   before it failed.  BROKE: a container that was closed by an action inside it; what it has counts.
   UNBEGUN: ended without having started.  SHORT: an agent that a budget around it refused a call: with more, it
   would have gone on.  UNREVIEWED: it completed, and failed because its reviewer did.  MUTE: a list that was cut before
   anybody in it had said something. */
enum {
    RES_SIGNAL = 1 << 0,
    RES_NO_RETRY = 1 << 1,
    RES_CUT = 1 << 2,
    RES_BROKE = 1 << 3,
    RES_UNBEGUN = 1 << 4,
    RES_SHORT = 1 << 5,
    RES_UNREVIEWED = 1 << 6,
    RES_MUTE = 1 << 7,
};

/* value is owned; seq is the event that holds it. */
struct result {
    json_t *value;
    struct outcome *more; // NULL for most
    uint64_t seq;
    uint8_t status; // enum rondo_status; 0 while there is none
    uint8_t flags;
    uint16_t skill;
    uint16_t attempt; // whose it is
};

/* One child of a container: its result and how far it is. */
enum kid_state { KID_NEW = 0, KID_OPEN, KID_BACKOFF, KID_ENDED };

/* What was answered before the start, and whether its end was looked at.  OVERDUE: its time was over
   before its next try, and that is still to be told.  UNTOLD: it had completed, and was failed by its
   review; that is still to be told, too. */
enum kid_asked {
    ASKED_WHEN = 1 << 0,
    ASKED_SKILL = 1 << 1,
    KID_SEEN = 1 << 2,
    KID_OVERDUE = 1 << 3,
    KID_UNTOLD = 1 << 4,
};

/* What a step is done again with, after a review: for all its tries until a review speaks again. */
struct sent_back {
    char *feedback; // NULL: it is done again only because one that it depends on is
    json_t *value;  // what it had come to, owned
    char *content;  // and the text that came with that; NULL
};

struct kid {
    struct result res;
    uint32_t act; // KID_OPEN
    uint16_t attempt;
    uint16_t base; // the attempt that began anew (a review, a run taken up again): retries count from there
    uint8_t state; // enum kid_state
    uint8_t asked; // enum kid_asked
    bool reopened; // base is not a review's doing: the run was taken up again
    bool mends;    // it begins with what a copy of it has (mend.h)
    bool anew;     // it begins anew, and an agent of class `once` had completed in it
    int64_t first_ns; // start of the first attempt by run_driven_ns(): timeouts cover all of them
    int64_t due_ns;   // KID_BACKOFF: when it is tried again
    json_t *given;    // its input, if not the usual one, until it starts; owned
    struct sent_back *sent; // by a review; NULL, owned
};

struct outcome {
    uint32_t refs;
    int code; // of a failure
    char *error, *content;
    char *judge; // of a pass: what the judge said about it
    char *by;    // of a gate: who answered; NULL
    bool is_answer; // of a gate: a text is a result, too
    bool did_once;  // an agent of class `once` completed, or in it
    json_t *did; // of one that is to begin anew since its work was changed: its effects of class `once`, texts; NULL
    json_t *notes, *letters; // of an agent that was cancelled: what it has noted and was given of messages; NULL
    struct kid *steps; // results of inner steps, owned
    uint32_t step_count;
    const rondo_node *steps_of; // whose children they are
    struct result body;         // loops: of the pass that is the output, shared
    struct ledger *ledger; // what it has cost, owned; NULL: nothing
    int64_t start_ns, end_ns;
    uint8_t reason;
    bool capped, escalated;
    int64_t passes, best; // best: -1 for none
    double score;
    struct history *history; // of a loop, owned
};

struct run;

/* The outcome of a result, made when it has none. */
struct outcome *result_more(struct result *res);

/* Makes a second holder of the same result. */
struct result result_share(const struct result *res);

/* Lets go of a result; values live on until the run's turn is over. */
void result_let_go(struct run *run, struct result *res);

static inline void result_clear(struct run *run, struct result *res)
{
    if (UNLIKELY(res->value || res->more))
        result_let_go(run, res);
    else
        *res = (struct result){ 0 }; // most often there is nothing
}

void kid_reset(struct run *run, struct kid *kid); // as new

/* A review wants it done again, with these words (NULL: with none).  What it came to is kept for the next tries. */
void kid_send_back(struct run *run, struct kid *kid, const char *feedback);
void kids_free(struct run *run, struct kid *kids, uint32_t count);

/* The steps among them in Zenflow's form, { "ID.STEP": { content, status } }; new. */
json_t *kids_json(const struct kid *kids, uint32_t count, const rondo_node *node, const char *id);

/* Nothing went wrong: what comes after it may follow. */
static inline bool result_went_well(const struct result *res)
{
    return res->status == RONDO_STATUS_COMPLETED || res->status == RONDO_STATUS_SKIPPED;
}

/* It failed by itself: what a budget left no room for is no failure. */
static inline bool result_has_failed(const struct result *res)
{
    return res->status == RONDO_STATUS_FAILED && !(res->flags & RES_SHORT);
}

/* It completed, or what it has counts all the same. */
static inline bool result_is_kept(const struct result *res)
{
    return res->status == RONDO_STATUS_COMPLETED || res->flags & RES_BROKE;
}

/* Completed, and something to show: what only signalled does not count. */
static inline bool result_has_output(const struct result *res)
{
    if (UNLIKELY(res->flags & (RES_SIGNAL | RES_BROKE | RES_MUTE)))
        return !value_is_empty(res->value) && !(res->flags & RES_MUTE);
    return res->status == RONDO_STATUS_COMPLETED && res->value;
}

/* Is there a content? */
static inline bool result_says(const struct result *res)
{
    const char *content = res->more ? res->more->content : NULL;
    if (UNLIKELY(res->flags & RES_MUTE))
        return false;
    return content ? *content : !value_is_empty(res->value);
}

/* It counts, and has something to show, be it words or a value. */
static inline bool result_gives(const struct result *res)
{
    return result_is_kept(res) && !(res->flags & RES_MUTE) && (result_says(res) || !value_is_empty(res->value));
}

/* Is its value its content, and no result?  A text, and null, is a result where it came with a text beside it, and
   where people gave it as an answer. */
static inline bool result_is_plain(const struct result *res)
{
    bool is_told = res->more && (res->more->content || res->more->is_answer);
    return !res->value || (!is_told && (json_is_string(res->value) || json_is_null(res->value)));
}

/* Its content: the text that came with it, or its value as text. */
void result_put_content(struct buf *buf, const struct result *res);

/* The result of an inner step by name, looking into containers without a name; NULL. */
const struct result *result_step(const struct result *res, const char *name);
const struct result *outcome_step(const struct outcome *more, const char *name);

/* That of an inner step by its place.  Cases that a branch did not take are skipped, though nothing was said of them;
   a status of 0 is left for what is not to be seen. */
const struct result *outcome_kid(const struct outcome *more, uint32_t i);

#endif
