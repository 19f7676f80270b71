/* gates.h - answering the gates of a run that this program drives.

   A gate is answered from --answers, by the person at the terminal, from a recording, or in a
   rehearsal by itself.
   When there is nobody left to ask, the run cannot go on: gates_trouble() says which gate it is. */
#ifndef RONDO_GATES_H
#define RONDO_GATES_H

#include "agent/call.h"
#include "base/buf.h"
#include "cli/answers.h"
#include "cli/rows.h"
#include "cli/term.h"
#include "flow/node.h"

struct gate_open {
    char *path, *id, *ask;
    char *place; // where it is, in the words of people (where.h)
    char *plain; // its path in the definition
    json_t *schema; // of the answer; NULL: none
    char *why; // nobody here can answer it; NULL: somebody may
    bool is_for_people; // nothing but a person answers it
    const rondo_node *node; // a gate; or an agent: in doubt, or at work and has a question
};

/* An answer from a recording, and when it came. */
struct gate_due {
    char *path;
    json_t *answer;
    const char *by; // borrowed; NULL
    int64_t due_ns;
};

struct gates {
    rondo_run *run;
    const struct rows *rows; // which have seen each event before; NULL: places are paths
    struct answers answers;
    bool has_person; // stdin and stderr are terminals
    bool can_wait;   // the run is stored: a person may come later, so nobody has to wait for a timeout
    const struct call_env *rehearses; // NULL: it is no rehearsal
    struct player *player; // answers are played; NULL
    struct gate_due *due;
    uint32_t due_count, due_cap;
    struct gate_open *open; // those that a person is to answer, oldest first
    uint32_t count, cap;
    uint32_t doubts;   // of all open ones, those of agents
    bool is_asked;     // the first of them is on the screen
    char *refusal;     // why the last answer was not taken; shown with the question
    struct buf typed;  // by the person, so far
    bool is_dropped;   // something that was typed went with the question, which is asked again
    struct buf gone;   // a line for each question that was on the screen when somebody else, or nobody, answered it
    void (*on_ask)(void *user, const struct gate_open *gate); // one that people are to answer has opened; NULL
    void *user;
    bool is_left;      // the time of a gate is over, and nobody is to wait any longer
};

void gates_clear(struct gates *gates);

/* To be called with every event of the run. */
void gates_event(struct gates *gates, const rondo_event *event);

/* The same with what happened before this program went on with the run; then, once, gates_go_on(): those
   that are still open are asked. */
void gates_past(struct gates *gates, const rondo_event *event);
void gates_go_on(struct gates *gates);

/* When nothing else is to be done before it, the next recorded answer is given, at its time: true. */
bool gates_play(struct gates *gates);

/* The first gate that nobody here can answer; NULL: all is well. */
const struct gate_open *gates_trouble(const struct gates *gates);

/* Somebody has to type something now. */
bool gates_wait(const struct gates *gates);

/* The question, if it is not on the screen yet: true when there is one. */
bool gates_put(struct gates *gates, struct buf *out, const struct term *term);

/* The keyboard can be read.  True when what was typed ended a line. */
bool gates_read(struct gates *gates);

/* Something else is written behind the question: it is to be asked again, and what was typed so far is gone. */
void gates_interrupt(struct gates *gates);

/* Such a gate for people who look at a run: a line, and what is expected; and as JSON, new. */
void gates_put_open(struct buf *out, const char *before, const struct gate_open *gate);
json_t *gates_open_json(const struct gate_open *gate);

/* What somebody means by a text, as an answer to that gate: new; NULL: it is not UTF-8. */
json_t *gates_typed(const struct gate_open *gate, const char *text, size_t len);

/* Of a review: nobody knows what it means.  What can be said to one: */
bool gates_is_unclear(const struct gate_open *gate, const json_t *value);
#define GATES_REVIEW "APPROVE, RETRY: words, RETRY_PREDECESSOR step: words, or REJECT: words"

/* What fits a schema, for people: "yes or no", "one of a, b", "{ score: number, issues: list }". */
void gates_put_shape(struct buf *out, const json_t *schema);

#endif
