/* asks.h - what an agent asks people while it is at work: may this tool be called, what came of that call?

   Such a question is a gate of its own below the agent, `step.permit-1`.  It is told by the agent (gate_waiting,
   whose value is an object) and answered from outside (gate_answered, with its number).  As long as one is open the
   agent takes no place among those at work; it goes on at once when it has its answers.  An activation keeps its
   questions, with their answers, until it ends: work that begins again after a crash finds what it had asked by the
   name it gave the question, and asks nothing twice.

     { n: NUMBER, call: NAME, ask: TEXT, schema: of the answer, tool, arguments, answer?: { value, by } } */
#ifndef RONDO_ASKS_H
#define RONDO_ASKS_H

#include "run/run.h"

#define ASKS_NAME ".permit-" // behind the path of the step; then the number
#define ASKS_MAX  (1u << 30) // numbers are smaller

/* The number in an event's value: 0 when it is about a gate or a step. */
uint32_t asks_number(const json_t *value);

/* Borrowed; NULL: there is none, or (asks_open) it has an answer. */
json_t *asks_find(const struct act *act, uint32_t number);
json_t *asks_open(const struct act *act, uint32_t number);
json_t *asks_of_call(const struct act *act, const char *call);

/* What the events do.  Values are taken. */
void asks_add(struct run *run, struct act *act, json_t *question);
void asks_answer(struct run *run, struct act *act, json_t *answer);
void asks_end(struct run *run, struct act *act); // its step ends

/* Does such an event make sense?  For logs that come from elsewhere. */
bool asks_admit(const struct act *act, const json_t *value, bool is_answer);

#endif
