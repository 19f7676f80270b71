/* encore.h - a step that has ended speaks once more: step resume by message.

   In a run with a coordinator the conversations of its model agents are kept when they end.  A message to such a step
   is an encore: the step starts again beside the root, as one of the holder's children behind the coordinator
   (node_holder()), with the notes that it had.  To its agent that looks like work that a crash cut off, with a message
   that it has not yet heard.  What it says then is sent back to who asked (kind resume_reply); what the step came to
   stays as it was.  An encore is an ordinary activation, so limits, budgets, crashes and cancelling need nothing of
   their own.  Its path is that of the definition with the number of the encore, "research^1"; its start's ordinal is
   the place of the conversation in the list below.

   One at a time for each step of the definition: further messages wait in a box at "^ID", one encore each. */
#ifndef RONDO_ENCORE_H
#define RONDO_ENCORE_H

#include "run/run.h"

#define ENCORE_FIRST HOLDER_OWN  // of the holder's children; before them the root and the coordinator
#define ENCORE_NOTES 10000       // of one conversation,
#define ENCORE_BYTES (50u << 20) // and their texts; longer ones cannot be taken up
#define ENCORES_MAX  10000       // conversations that a run keeps,
#define ENCORES_BYTES (256u << 20) // and their texts
#define ENCORE_TIMES WAKES_MAX   // that one conversation is taken up

/* A conversation that was kept. */
struct encore {
    uint32_t child;  // of the holder
    uint32_t act;    // slot, while it is taken up; 0
    uint32_t times;  // that it was
    uint32_t gone;   // messages that it had been given before
    uint64_t ended;  // seq of the run when it ended last
    char *id;        // of the step, owned
    json_t *notes;   // owned; NULL: there were too many
    uint64_t bytes;
};

static inline bool encore_is(const struct act *act)
{
    return act->slot && !act->parent && act->child >= ENCORE_FIRST;
}

/* Are conversations of this run kept? */
static inline bool encore_can(const struct run *run)
{
    return run->holder->count > ENCORE_FIRST;
}

/* A note that says how the conversation began is a sign that it can be gone on with. */
#define ENCORE_NOTE "first"

void encores_clear(struct encores *encores);

/* The conversation of the step that an address means, the last one that ended; NULL. */
struct encore *encore_find(const struct run *run, const char *address);

/* ---- what events do ------------------------------------------------------------------------------------- */

void encore_open(struct act *holder);                       // the run starts
void encore_begin(struct run *run, struct act *act);        // step_start of an encore
void encore_keep(struct run *run, const struct act *act, const struct result *res); // an agent ends
void encore_end(struct run *run, struct kid *kid);          // and was an encore
bool encore_admits(const struct run *run, const struct rondo_event *ev); // step_start of an encore, from a log

/* ---- what follows ---------------------------------------------------------------------------------------- */

enum plan encore_plan(struct run *run, struct act *holder, struct rondo_event *ev);
bool encore_is_pending(const struct run *run); // one is under way, or asked for

#endif
