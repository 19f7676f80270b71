/* errand.h - what an agent at work has asked other agents of its file to do, while it goes on or waits.

   The nodes that an agent may send are the children of its own node.  A note of the form

     { errand: KEY, agent: CHILD, input: VALUE }

   asks for one: the child is started like any step, with this input, below the agent; its result stays with the
   agent for as long as that works.  The key is the agent's own.  One that it had already is not done again:
   whoever asks is told what came of it, so an agent that was cut off says what it said before, and nothing that
   was done is paid twice.  An agent whose errands are under way is not at work itself. */
#ifndef RONDO_ERRAND_H
#define RONDO_ERRAND_H

#include "run/act.h"

#define ERRANDS_MAX 1000 // of one activation

struct errand {
    struct kid kid;
    char *key;
    uint32_t child;
    uint32_t number; // the shell's, under which somebody waits for the end; 0: nobody
    bool is_told;    // that it has ended
};

/* All of them, in the order in which they were asked for: the ordinals of the children. */
struct errand_act {
    struct errand *list;
    uint32_t count, cap;
    uint32_t left; // that have not ended
};

/* Can this agent send others? */
static inline bool errand_can(const rondo_node *node)
{
    return node->kind == RONDO_KIND_AGENT && node->count;
}

/* Is this note of such an agent an errand? */
bool errand_is(const struct act *act, const json_t *note);

/* And is there room for it, or was it there already? */
bool errand_can_take(const struct act *act, const json_t *note);

void errand_add(struct run *run, struct act *act, const json_t *note, int64_t number);
struct kid *errand_kid(const struct act *act, uint32_t child, uint32_t ordinal); // NULL: there is none
/* Starts what is new and tells what has ended; of an agent that is being closed and may finish, nothing starts. */
enum plan errand_plan(struct run *run, struct act *act, struct rondo_event *ev);
void errand_free(struct run *run, struct act *act);

void errand_ended(struct run *run, struct act *act, struct kid *kid, uint32_t child, uint32_t ordinal);

/* Is somebody under way for it, so that its place is free for others? */
static inline bool errand_is_out(const struct act *act)
{
    return errand_can(act->node) && act->errands && act->errands->left;
}

/* What came of the one that is awaited under this number; NULL. */
const struct result *errand_result(const struct act *act, uint32_t number);

#endif
