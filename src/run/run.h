/* run.h - a run: its activations, and the two functions that move it.

   run_apply() changes state by one event, and nothing else does.  run_plan() looks at what has
   changed and says what follows: a decision (an event to apply), a question for the shell, or
   nothing more.  Neither reads a clock, calls user code or does I/O: the shell (engine/) does,
   and tells the answers with run_tell().

   Recovery applies a log without planning, and then plans once. */
#ifndef RONDO_RUN_CORE_H
#define RONDO_RUN_CORE_H

#include "run/event.h"
#include "run/history.h"
#include "run/mail.h"
#include "run/memory.h"

/* ---- activations: one node being executed ---------------------------------------------------- */

enum act_state {
    ACT_FREE,
    ACT_RUNNING,
    ACT_WAITING, // for a timer or a person
    ACT_CLOSING, // starts nothing more; ends when all inside has ended
    ACT_ENDED,
    ACT_STATES
};

enum act_cause { ON_START, ON_WAIT, ON_RESUME, ON_CLOSE, ON_END, ACT_CAUSES };

/* Why an activation is closing.  Logs have the numbers. */
enum close {
    CLOSE_NONE = 0,
    CLOSE_CONTINUE = 1, // its pass is over, the next one follows
    CLOSE_BREAK = 2,    // its loop is over
    CLOSE_SIBLING = 3,  // another one's failure or success made it pointless
    CLOSE_BUDGET = 4,   // a budget around it is used up
    CLOSE_TIMEOUT = 5,
    CLOSE_CANCEL = 6, // somebody asked
};
#define CLOSE_COUNT (CLOSE_CANCEL + 1)

/* What a file that is an agent has left behind, before its end. */
enum { LEFT_MEMORY = 1, LEFT_STATE = 2 };

struct kind;
struct ledger;
struct reserve;
struct loop_act;
struct each_act;
struct graph_act;
struct errand_act;

/* Live object, owned by its run; others keep slot and generation. */
struct act {
    const rondo_node *node;
    const struct kind *kind; // how nodes of this sort behave, see act.h
    json_t *input;       // borrowed from the parent, unless owns_input
    uint64_t input_seq;  // the event that holds it
    uint32_t slot, gen;
    uint32_t parent, child, ordinal;
    uint32_t kid; // place in the parent's kids (in an each: among the open items)
    uint32_t open; // children that run
    uint32_t next; // where a container is in its list of children
    uint32_t settled;   // children that need no more thought
    uint32_t attention; // children that ended in a way that needs some
    uint32_t first_child, next_sibling, prev_sibling;
    uint32_t held; // first of the slots that are kept for what failed inside, see act_hold()
    struct act *kept, *next_kept; // copies of what has ended inside, see mend.h
    uint16_t attempt, skill;
    uint8_t state;  // enum act_state
    uint8_t close;  // enum close
    uint8_t reason; // which limit, its own or one around it; 0: none
    bool dirty, owns_input, adk;
    bool has_acted; // a break or continue for a loop further out came from inside of it
    bool escalated; // a file: an agent in it did, and there was no loop to end
    bool starved, fed; // waits for a place; has its turn now
    bool begun;     // agents: the shell has called it
    bool in_flight; // was at work when its process died
    bool in_doubt;  // the attempt before was, nobody knows what came of it, and now the run was taken up again
    bool lingers;   // the shell has something to wind down before it may end,
    bool revoked;   // and was told to
    bool wound_down; // it has just said that this is done
    bool hurried;   // the time to clean up in it is over
    bool is_long;   // CLOSE_TIMEOUT: it is the time of one call that is over
    uint8_t left;   // file: what it has left behind, LEFT_*
    bool is_held;   // free, but its slot is not given to others
    bool mended;    // container: it has what a copy of its last attempt had
    bool did_once;  // container: an agent of class `once` completed in it
    bool redone;    // it had done that before, or what is around it had, and begins anew
    bool is_idle;   // coordinator: it rests until there is mail
    bool drains;    // what is in its box is to be given to it now
    bool warns;     // it has been woken so often that somebody is to be told
    bool rests;     // the shell's: it does nothing but wait for answers of people
    uint8_t tries;  // forum: round
    uint32_t kid_count;
    uint32_t won, lost; // parallel: the first child that completed, that failed; from 1
    int64_t call_ns; // since when its call lasts, by run_driven_ns()
    int64_t start_ns, wait_ns; // wait_ns: when a delay is over; since when a leaf waits for an answer
    int64_t pause_ns; // agent: it does nothing until then, and takes no place meanwhile; 0: it is at work
    uint64_t start_seq;
    int64_t idle_ns; // run->idle_ns when it started: time nobody drove the run is not its own
    struct kid *kids;
    struct ledger *ledger; // what it has cost; NULL: nothing
    json_t *notes;  // leaf: what it noted; forum: the transcript; gate: the answer
    char *failure;  // what the attempt before failed of
    json_t *before; // what it gave before a review sent it back, or before the run was taken up again
    json_t *letters; // agent: messages that it was given, a list; loop: those of its pass; NULL: none
    uint32_t wakes;  // times that it went on because of some
    uint32_t given;  // the shell's: messages that it has handed on
    uint32_t gone;   // coordinator, encore: messages that it has dealt with
    uint32_t old_notes; // coordinator, encore: those of before
    int64_t off_ns;  // agent: the coordinator has called it off, and it has until then to end; 0
    json_t *did;    // agent: effects of class `once` that earlier attempts had, before its work was changed; NULL
    json_t *answer; // agent: what somebody said about work whose outcome was unknown, { value, by }
    json_t *asks;   // agent: what it has asked people while at work, see ask.h; NULL: nothing
    uint32_t asked, asking; // how many, and of those without an answer
    json_t *seen;   // agent: what watching loops saw before it was called, see seen.h; NULL: nothing
    json_t *own_state; // of a file inside another; NULL while it is empty
    uint64_t token; // the shell's own, for agents
    uint32_t step_call, agent_call; // from files: earlier calls of this step, of its agent
    union {
        struct loop_act *loop;
        struct each_act *each;
        struct graph_act *graph;
        struct errand_act *errands; // agent: what others do for it; NULL
    };
};

/* ---- questions -------------------------------------------------------------------------------- */

enum ask {
    ASK_NOTHING,
    ASK_WHEN,   // may this child start?
    ASK_SKILL,  // which skill of an agent?  (number)
    ASK_INPUT,  // a graph step's own input  (value)
    ASK_RETRY,  // try a failed child again?
    ASK_CASE,   // does this case of a branch hold?
    ASK_WHILE,
    ASK_SCORE,  // (number)
    ASK_LISTEN, // nothing is answered
    ASK_UNTIL,
    ASK_NEXT,   // (value)
    ASK_EDGE,   // does this edge of a machine hold?
    ASK_ITEMS,  // (value)
    ASK_OUTPUT, // what a file returns  (value)
    ASK_TEXT,   // what a gate asks, or a step whose outcome is unknown  (value)
};

/* One question at a time; the answer is filled in by run_tell(). */
struct question {
    enum ask what;
    uint32_t act, child;
    const struct kid *kid; // the child it is about, and its input; NULL, borrowed
    json_t *input;
    bool answered;
    int yes;       // > 0, 0, < 0 (error says why)
    double number; // NaN for none
    json_t *value; // owned
    char *error;   // owned
};

/* ---- commands ---------------------------------------------------------------------------------- */

enum command_type {
    CMD_INVOKE, // carry out this agent
    CMD_TIMER,  // wake me up at `due`
    CMD_REVOKE, // this agent's work is no longer wanted
    CMD_ANSWER, // what this agent waits for is through
};

struct run_command {
    uint8_t type, timer;
    uint8_t reason; // CMD_ANSWER: why not; 0: all is well
    uint32_t act, gen, child, ordinal; // CMD_ANSWER: the number that the shell had given it; the event's type
    int64_t due_ns;
    uint64_t token; // CMD_REVOKE, CMD_ANSWER: what the shell had left in the activation
};

/* ---- runs ---------------------------------------------------------------------------------------- */

struct slot_list {
    uint32_t *slots;
    uint32_t head, count, cap; // a ring
};

void slots_push(struct slot_list *list, uint32_t slot);
uint32_t slots_pop(struct slot_list *list); // there must be one

/* Conversations of steps that have ended; see encore.h. */
struct encores {
    struct encore *list;
    uint32_t count, cap;
    uint32_t open; // that are taken up just now
    uint64_t bytes;
};

/* How often a step or an agent of a file was called. */
struct call_count {
    const void *what;
    uint32_t calls;
};

/* Live object, owned by the shell. */
struct run {
    rondo_node *holder; // the invisible container of the root, borrowed from it
    struct act **acts;
    uint32_t act_count, act_cap;
    uint32_t act_made; // acts[] beyond act_count that are there to be used
    uint32_t free_slot; // first of the free ones, 0 for none (slot 0 is the holder's)
    struct slot_list dirty, starved;
    uint64_t seq;      // of the last event applied
    int64_t now_ns;    // time of the turn
    int64_t idle_ns;   // how long nobody drove the run, in all
    uint64_t seed;
    uint32_t busy, max_busy; // leaves at work, and how many may be (0: any)
    uint32_t gates;          // that wait for an answer
    uint32_t gate_moves;     // how often one of them opened or closed
    uint32_t overdue;        // of those: nobody is to wait for their answers any longer
    int on_unknown;
    rondo_budget budget;
    int64_t timeout_ns, cleanup_ns;
    json_t *input, *state; // state: NULL while it is empty
    json_t *old_inputs;    // a fork's, that open work may still look at; NULL
    rondo_usage inherited; // what the parent of a fork had spent
    int64_t forked_ns;     // when it was forked; 0: it was not
    struct memory memory;
    struct mail mail;
    struct encores encores;
    struct held_loop { // run/must_hold.h
        const rondo_node *node;
        bool holds;
    } *held_loops;
    uint32_t held_loop_count, held_loop_cap;
    uint64_t migrated;    // the run came to this definition after that event
    json_t *changed;      // paths of steps whose work is another since then, until it is taken up; NULL
    struct limited *limited; // run/limits.h
    uint32_t limited_count, limited_cap;
    struct past_budget *past_budgets; // of the run
    uint32_t past_budget_count, past_budget_cap;
    struct past_limit *past_limits;
    uint32_t past_limit_count, past_limit_cap;
    bool has_mended;         // some child may begin with what an earlier attempt has left (run/mend.h)
    bool has_new_limits;     // timers that were set may be those of old ones
    uint32_t coordinator; // its slot; 0: there is none at work
    char *summary;        // what it said the run came to; NULL
    json_t *always; // tools that somebody has permitted for good, { name: true }; NULL: none
    json_t *within; // ids of the runs that it was started in, the nearest first; NULL
    char *session; // whose state and memory it shares; NULL
    struct question question;
    struct run_command *commands;
    uint32_t command_count, command_cap;
    struct call_count *counts; // in the order of their first calls
    uint32_t count_count, count_cap;
    struct reserve *reserves; // calls that are waited for or held, in the order in which they were asked for
    uint32_t reserve_count, reserve_cap;
    uint32_t reserve_at, reserve_round; // the one to be looked at next; counts times all are looked at
    json_t **dropped; // values to let go of when the turn's events have been seen
    uint32_t drop_count, drop_cap;
    uint8_t mends;      // enum mends: which containers are copied when they end
    uint8_t status;     // enum rondo_status
    uint8_t end_reason; // RONDO_REASON_*: a limit of the whole run
    bool cancelled, forced;
    bool stops;   // it is to stop between passes, see stop.h
    bool planned; // the activation that decided has nothing more to say for now
    uint32_t completed; // steps that completed, as far as act_counts()
    char *cancel_why;
};

/* run is all zero, or was cleared; clear keeps memory for the next one, free gives it back. */
void run_init(struct run *run, rondo_node *node);
void run_clear(struct run *run);
void run_free(struct run *run);

/* One event.  Takes ev->value when the event has EF_VALUE; afterwards ev->value is borrowed and
   valid until run_settle().  Gives it its seq. */
void run_apply(struct run *run, struct rondo_event *ev);

/* Limits of the whole run as start and reopening have them; what value does not say stays. */
void run_read_limits(struct run *run, const json_t *value);

/* Is this event, which the shell would like to apply, still about something?  ev->ordinal is the
   generation of act.  Results of work that was cancelled meanwhile are not. */
bool run_accepts(struct run *run, const struct rondo_event *ev);

/* Applies an event that is new, and notes the commands that follow from it. */
void run_decide(struct run *run, struct rondo_event *ev);

/* PLAN_WAIT is a kind's word about what is closed: nothing is open in it, and yet it is not at its end. */
enum plan { PLAN_IDLE, PLAN_DECIDE, PLAN_ASK, PLAN_WAIT };

/* What follows: a decision in *ev, or a question in run->question, or nothing for now. */
enum plan run_plan(struct run *run, struct rondo_event *ev);

/* The answer to run->question: yes, number and value are filled in there by the shell. */
void run_tell(struct run *run);

/* After the turn's events have been handed out: values that are no longer used are let go. */
void run_settle(struct run *run);

/* Is there nothing to be done until a person answers: no work, no delay, no backoff? */
bool run_waits_for_people(const struct run *run);

/* And that was long enough, for one of them at least; or it has stopped between passes. */
bool run_is_left(struct run *run);

/* Commands for everything that is under way; used when a run is resumed. */
void run_derive_commands(struct run *run);

/* Does an event read from a log fit the run as it is?  A log is trusted in what it says, not in
   whether it was damaged. */
bool run_can_apply(struct run *run, const struct rondo_event *ev);

static inline struct act *run_act(struct run *run, uint32_t slot)
{
    return run->acts[slot];
}

/* The activation if slot and generation still mean the same; NULL. */
static inline struct act *run_find_act(struct run *run, uint32_t slot, uint32_t gen)
{
    struct act *act = slot < run->act_count ? run->acts[slot] : NULL;
    return act && act->gen == gen && act->state != ACT_FREE ? act : NULL;
}

/* Puts an activation on the list of those that may have something to do. */
static inline void run_touch(struct run *run, struct act *act)
{
    if (act->dirty)
        return;
    act->dirty = true;
    slots_push(&run->dirty, act->slot);
}

/* The same, and it is looked at before all others. */
void run_touch_first(struct run *run, struct act *act);

/* The time in which somebody drove the run, as a clock of its own: limits of time are measured by it. */
static inline int64_t run_driven_ns(const struct run *run)
{
    return run->now_ns - run->idle_ns;
}

/* Lets go of a value once the turn is over. */
static inline void run_drop(struct run *run, json_t *value)
{
    if (!value)
        return;
    mem_grow(&run->dropped, &run->drop_cap, run->drop_count, sizeof *run->dropped);
    run->dropped[run->drop_count++] = value;
}

void run_command(struct run *run, enum command_type type, const struct act *act);
/* What an agent waits for under a number of the shell's is through; type: of the event that it is about. */
void run_answer(struct run *run, const struct act *act, uint32_t number, uint8_t type, uint8_t reason);
int64_t run_timeout_at(const struct run *run); // when its own timeout is over; INT64_MAX: it has none

void run_timer(struct run *run, enum timer timer, const struct act *act, uint32_t child,
               uint32_t ordinal, int64_t due_ns);

/* The nearest loop (loop, machine or each) around an activation, itself excluded; NULL. */
struct act *run_loop_around(struct run *run, const struct act *act, bool eaches);

/* The file that act is in, when a step of another one runs that; NULL. */
struct act *run_file_around(struct run *run, const struct act *act);

/* Where the state is that act lives in: the run's, or that of the file around it. */
json_t **run_state_at(struct run *run, const struct act *act);

/* Final values; null removes a key. */
void run_set_state(struct run *run, json_t **state, json_t *delta);

/* The result of a step visible from an activation, by name: siblings first, then outwards. */
const struct result *run_visible(struct run *run, const struct act *act, const char *name);

/* The whole run's result: that of the holder's only child. */
const struct result *run_result(struct run *run);

#endif
