/* talk_own.h - a talk from the inside: what talk.c, talk_request.c, talk_cost.c and talk_recall.c share.

   talk.c knows what comes next, talk_request.c is one request to a model from the reservation of its price to its
   answer, talk_cost.c is what that costs, talk_recall.c puts a talk back to where its notes say it was. */
#ifndef RONDO_TALK_OWN_H
#define RONDO_TALK_OWN_H

#include "agent/batch.h"
#include "agent/talk.h"
#include "data/secret.h"

#define TALK_MAGIC 0x74616c6bu

struct talk {
    uint32_t magic;
    struct talk_spec spec;
    char *system, *in, *effort;
    json_t *messages;
    struct schema *schema; // NULL: none, or
    rondo_error refused;   // why it cannot be one
    struct batch *batch; // the calls of the last answer; NULL
    struct chat *chat;   // the request that is open; NULL
    struct target *other; // one that the target falls back on, while it is asked; NULL
    bool falls_back;     // it has to be, when the open request has ended
    struct secret_stream shown; // of its answer
    int turns;           // answers so far
    int old_turns;       // of them, before it was taken up again
    int children;        // agents of its own so far
    int repairs;         // of them, those that were only asked for the result
    bool is_last;        // nothing may follow the present request: the budget is nearly used up
    bool is_spent;       // and that was said to those around
    int reservation;     // of the present request; 0: none
    rondo_usage most;    // what that is
    int64_t max_tokens;  // of its answer; 0: as the server likes
    int64_t said;        // bytes of it so far
    int stop;            // enum answer_stop: how the last answer ended
    uint64_t calls;      // the last calls and what came of them: batch_hash()
    int repeats;         // how often that was so in a row
    struct alarm *alarm; // while it waits for a quota; NULL
    int64_t wait_until_ms; // since 1970
    bool is_cancelled, is_over;
    json_t *result;
    int action;
    char *loop;
    struct buf content;
    size_t kept;      // of the content, whatever is said later
    json_t *fresh;    // messages that were given and are not yet said to the model
    size_t heard;     // messages that were
    bool has_woken;   // it went on because of some
    bool is_called_off; // one of them asked it to end
    rondo_error error;
    bool failed;
};

/* ---- talk.c ------------------------------------------------------------------------------------------ */

void talk_proceed(struct talk *talk); // does the next thing, whatever that is
void talk_end(struct talk *talk);     // it is gone; on_end was called
void talk_fail(struct talk *talk, int code, const char *message); // the same, with an error
void talk_stop_short(struct talk *talk); // the same, because there is no budget for another request
void talk_on_noted(void *user);       // of a talk: what was noted is durable, and it proceeds

/* One more message from those around, or the answer (stop: enum answer_stop), new or from a note. */
void talk_add_user(struct talk *talk, const char *text);
void talk_add_answer(struct talk *talk, json_t *message, int stop);

bool talk_needs_result(const struct talk *talk);
bool talk_is_repair(const struct talk *talk);  // only the result is wanted any more
bool talk_is_through(const struct talk *talk); // the model has said what it had to say

void talk_remind(struct talk *talk);       // that the result is wanted
void talk_tell_results(struct talk *talk); // of the calls of the last answer
void talk_hear(struct talk *talk, const json_t *letters); // of other steps

/* ---- talk_request.c ---------------------------------------------------------------------------------- */

void talk_ask(struct talk *talk); // the model, when its quota and the budgets allow it; ends in talk_proceed()
void talk_cut(struct talk *talk); // the request that is open
json_t *talk_tools_of(struct talk *talk); // that the model may call now: new, or NULL

/* ---- talk_cost.c ------------------------------------------------------------------------------------- */

struct target *talk_whom(const struct talk *talk); // whom the present request is for
int64_t talk_longest(const struct talk *talk);     // tokens that its answer may have

rondo_usage talk_cost(const struct talk *talk, int64_t input, int64_t output);
rondo_usage talk_usage(const struct talk *talk, const struct target *target, struct token_count tokens,
                       const struct answer *answer); // answer: NULL, or what is counted if the server has not
rondo_usage talk_wasted(const struct talk *talk, struct chat *chat);

/* What the next request may cost at most; also sets what it has to keep to: max_tokens, is_last. */
rondo_usage talk_quote(struct talk *talk);
void talk_settle(struct talk *talk, const rondo_usage *usage); // what was reserved, if anything was

/* ---- talk_recall.c ----------------------------------------------------------------------------------- */

void talk_recall_all(struct talk *talk);  // everything that was noted
void talk_take_unheard(struct talk *talk);
const char *talk_stop_name(int stop);     // enum answer_stop, as notes call it

#endif
