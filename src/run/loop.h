/* loop.h - the state of a loop between its passes. */
#ifndef RONDO_LOOP_CORE_H
#define RONDO_LOOP_CORE_H

#include "run/run.h"

enum loop_phase {
    LOOP_BEFORE, // the next pass is to be decided upon
    LOOP_READY,  // `while_` has said yes; delay and memory are left
    LOOP_DELAY,
    LOOP_BODY,
    LOOP_SCORE, // the body has ended, the pass has not
    LOOP_RULES, // the pass has ended, stop rules are asked in order
    LOOP_ENDED, // the reason is known
};

struct loop_act {
    struct history history;
    uint8_t phase; // enum loop_phase
    uint8_t rule;  // LOOP_RULES: the one to ask now
    uint16_t rules; // bit i: rule i can ever hit in this loop
    uint8_t reason;
    bool broke, continued, escalated; // by an action in this pass
    bool unscored;                    // the score of this pass failed
    uint8_t tripped;                  // detector that has spoken after this pass
    bool nudged;                      // the one warning was given
    uint32_t nudge_pass;              // and this pass hears of it
    uint32_t target;                  // machine: the state to run
    uint32_t *counts;                 // machine: visits of each state
    uint32_t visits;                  // machine: earlier visits of this state
    json_t *previous;                 // machine: what the last of them gave, owned
    uint32_t failures;                // failed passes in a row
    uint32_t misjudged;               // times in a row that the judge failed
    uint32_t seen;                    // outputs since counting began
    uint32_t repeats;                 // same output in a row
    uint32_t no_gain;                 // scored passes without a gain
    double gain_from;                 // score that must be beaten by min_gain
    uint64_t last_hash;
    uint64_t *hashes; // of the last 2 * oscillation outputs
    json_t *given;    // what `next` said, owned
    json_t *input;    // of this pass; owned when owns_input
    bool owns_input;
    uint64_t input_seq, pass_seq;
    int64_t pass_ns;
    char *judge; // what the judge said after the last pass
    char *error; // RONDO_REASON_FAILED: what failed
    int code;
};

static inline bool loop_is_machine(const struct act *act)
{
    return act->node->kind == RONDO_KIND_MACHINE;
}

static inline struct kid *loop_body(const struct act *act)
{
    return &act->kids[loop_is_machine(act) ? act->loop->target : ROLE_BODY];
}

/* ---- loop_output.c ------------------------------------------------------------------------------- */

/* What a pass came to: the body step named by `output`, else the body's own output. */
const struct result *loop_project_pass(const struct act *act, const struct result *body);

/* Files record cumulative output in full: content and one result a pass. */
void loop_say_all(const struct act *act, struct rondo_event *ev);

/* What the loop came to, in its output mode; its history moves into the result. */
void loop_project(struct run *run, struct act *act, struct result *ret);

/* The output of the pass that is under way or has just ended, as far as there is one. */
const struct result *loop_pass_output(const struct act *act);

/* Called by run_apply(). */
void loop_apply(struct run *run, struct act *act, struct rondo_event *ev);

#endif
