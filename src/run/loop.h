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
    bool paused;                      // between passes, because the run is to stop
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
    uint32_t looks;                   // at agents of this pass, of which nobody knows what they have changed
    bool changed, ever_changed;       // files were, in this pass; in any
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
    struct loop_act *before; // this before its last pass began, when something in that may be mended; NULL, owned
    char *error; // unscored: why; RONDO_REASON_FAILED: what failed
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

/* The node of a rule; NULL. */
static inline const rondo_node *loop_role(const struct act *act, enum role role)
{
    return loop_is_machine(act) || role >= act->node->count ? NULL : act->node->children[role].node;
}

static inline bool loop_is_detector(int reason)
{
    return reason == RONDO_REASON_STALLED || reason == RONDO_REASON_OSCILLATING;
}

/* ---- loop_rules.c -------------------------------------------------------------------------------- */

/* The order is the contract: first hit wins. */
enum rule {
    RULE_LISTEN,
    RULE_BREAK,
    RULE_FAILED,
    RULE_SCORE,
    RULE_UNTIL,
    RULE_FAILURES, // one too many, in a loop that goes on after failed passes
    RULE_UNTIL_NODE,
    RULE_JUDGE,
    RULE_NEXT,
    RULE_EDGES,
    RULE_DETECT,
    RULE_BUDGET,
    RULE_CAP,
    RULE_COUNT
};

/* Which rules can ever hit in this loop, a bit for each; the others are not even asked. */
uint16_t loop_rules_of(const struct act *act);

/* Which rule a rule's node belongs to: when it starts, all before it have said no. */
uint8_t loop_rule_of(uint32_t role);

/* The rules after a pass.  Nothing follows and the phase is LOOP_BEFORE: another pass. */
enum plan loop_plan_rules(struct run *run, struct act *act, struct rondo_event *ev);

/* Starts a rule's node, or waits for it.  True when it has ended. */
bool loop_run_role(struct run *run, struct act *act, enum role role, struct rondo_event *ev,
                   enum plan *ret);

enum plan loop_end_with(const struct act *act, int reason, struct rondo_event *ev);

/* A rule that failed, or a pass: loop_end says so and step_failed says what. */
enum plan loop_end_failed(struct act *act, int code, const char *rule, const char *why,
                          struct rondo_event *ev);

/* Does the failure of the pass that has just ended end the loop?  And that end. */
bool loop_pass_failed(const struct run *run, const struct act *act);
enum plan loop_end_of_pass(const struct act *act, struct rondo_event *ev);

/* Any decision between the answer of `next` and the pass it is for carries that answer, so that it
   need not be asked again. */
enum plan loop_with_given(const struct act *act, struct rondo_event *ev);

/* ---- loop_output.c ------------------------------------------------------------------------------- */

/* What a pass came to: what the body step named by `output` gave last, else the body's own output. */
const struct result *loop_project_pass(const struct act *act, const struct result *body);

/* Files, and loops that were mended, record cumulative output in full: content and one result a pass. */
void loop_say_all(const struct act *act, struct rondo_event *ev);

/* What the loop came to, in its output mode; its history moves into the result. */
void loop_project(struct run *run, struct act *act, struct result *ret);

/* The output of the pass that is under way or has just ended, as far as there is one. */
const struct result *loop_pass_output(const struct act *act);

/* What act came to in an earlier pass of a loop around it, given what that pass came to; NULL. */
const struct result *loop_own_result(struct run *run, const struct act *loop, const struct act *act,
                                     const struct result *pass);

/* Puts a loop back to where its last pass had not begun; for one that has ended, by what mending keeps of it. */
void loop_rewind(struct run *run, struct act *act);

/* Called by run_apply(). */
void loop_apply(struct run *run, struct act *act, struct rondo_event *ev);

#endif
