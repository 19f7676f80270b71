/* talk.h - a conversation with a model: it answers, calls tools, sees what came of them, until it is through.

   Everything that was said is noted in the run's log as it comes, before anything follows from it, so that a
   talk whose process died goes on where it was: in the same turn, with the calls that had ended, and without
   asking again for what was paid.  The notes are

     { ask: TURN, model: NAME }                a request is sent
     { answer: MESSAGE, stop, model, tokens }  what came back (model/message.h)
     { begin: ID, tool, arguments }            this call of the last answer is made now
     { result: ID, tool, content, error? }     it has ended
     { heard: MESSAGES }                       what other steps have sent (run/mail.h) was said to the model
     { wait: MILLISECONDS }                    nothing is asked before that time, because a quota is used up
     { first: MESSAGE, system }                how it began; only where it may be taken up again (run/encore.h)

   each with `in: PLACE` when the talk is one inside another (an agent that is a tool of an agent).  They are
   also what people see: events of the types agent_turn and tool_call (talk_note.h). */
#ifndef RONDO_TALK_H
#define RONDO_TALK_H

#include "agent/call.h"
#include "data/schema.h"
#include "model/chat.h"
#include "tool/tool.h"

struct talk;

/* How the model ended what it was asked to do. */
enum talk_action { TALK_PLAIN, TALK_BREAK, TALK_CONTINUE, TALK_ESCALATE };

/* Borrowed for the call of talk_new(), unless it says taken. */
struct talk_spec {
    rondo_later later;
    struct loop *loop;
    const struct call_env *env;
    const struct flow *flow;
    const char *name;      // of the agent; lives as long as the flow
    struct target *target; // a reference is kept
    const char *system;
    json_t *first;         // the first message; taken
    struct toolbox box;    // taken, with what it holds
    struct tool_place place;
    const struct flow_scope *team; // agents of the file that it may call; lives as long as the flow; NULL
    json_t *schema;        // the result is handed in with submit_result and fits this; NULL
    double temperature, top_p;
    int64_t max_tokens;
    const char *effort;
    int max_turns, max_retries;
    int stall;             // the same calls with the same results so often: it is told; twice that: it is ended.  0: 3
    int on_unknown;        // enum rondo_on_unknown: calls of class `once` that a crash cut off
    bool joins;            // the content is the text of all turns, not only of the last that has one
    bool cache;
    const char *in;        // its place inside another talk; "" for an agent's own
    int depth;             // talks around it
    json_t *notes;         // what was noted before, of all talks of the task; NULL
    size_t old_notes;      // of those: of what has ended before a message took it up again, or woke it up; 0
    json_t *letters;       // what the step was given so far of messages; NULL
    size_t letters_gone;   // that were before those: of a coordinator, who has dealt with them
    bool coordinates;      // it is the coordinator of the run
    const char *forum;     // that it may end, being a member; NULL.  Lives as long as the flow
    void (*on_end)(struct talk *talk, void *user); // exactly once, also when cancelled; gone afterwards
    void *user;
};

/* Made, and then begun: on_end may come before talk_run() returns. */
struct talk *talk_new(const struct talk_spec *spec);
void talk_run(struct talk *talk);
void talk_cancel(struct talk *talk); // on_end still comes
bool talk_is_parked(const struct talk *talk); // it does nothing but wait for people

/* In on_end. */
const rondo_error *talk_error(const struct talk *talk); // NULL: it went well
const char *talk_content(struct talk *talk);
json_t *talk_result(const struct talk *talk);           // borrowed; NULL
int talk_action(const struct talk *talk);               // enum talk_action
const char *talk_loop(const struct talk *talk);         // TALK_BREAK, TALK_ESCALATE: the loop it named; NULL

/* ---- for tools that belong to a talk (talk_tools.c) -------------------------------------------------------- */

const struct talk_spec *talk_spec_of(const struct talk *talk);
void talk_hand_in(struct talk *talk, json_t *result);               // taken; the first one counts
void talk_answer_with(struct talk *talk, const char *text);          // whatever it has said before
void talk_leave(struct talk *talk, int action, const char *loop); // enum talk_action
const struct schema *talk_schema(const struct talk *talk);        // of the result; NULL

/* As later_note(), and takes `what`.  A note that is nested too deep fails the talk, and then(user) is called, too. */
void talk_note(struct talk *talk, json_t *what, void (*then)(void *user), void *user);

bool talk_take_child(struct talk *talk, int max); // may it have one more agent of its own?  Counted
size_t talk_turns(const struct talk *talk);                       // answers so far

/* The tools that every talk has by what it is: submit_result with a schema.  Tools without a user get the talk. */
void talk_add_tools(struct talk *talk);

/* forum_return, for members of a forum who may end it. */
void talk_tool_for_forums(struct toolbox *box);

/* exit_loop and continue_loop, for agents inside loops of these names, the nearest first (taken). */
void talk_tools_for_loops(struct toolbox *box, json_t *names);

/* forward_to_agent, cancel_step, narrate and finalize, for coordinators: all, or those that the list names; and
   the built-in tools in it. */
void talk_tools_for_coordinators(struct toolbox *box, const json_t *list);

/* send_message; default_to: whom it goes to when the model names nobody, NULL: it has to. */
void talk_tool_for_mail(struct toolbox *box, const char *default_to);

/* Such a tool was called before a crash, and it went well. */
void talk_recall_call(struct talk *talk, const struct tool *tool, json_t *arguments);

#endif
