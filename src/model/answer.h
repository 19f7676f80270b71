/* answer.h - what a model answered to one request, while it comes in and when it is whole.

   The readers of the APIs (api.h) fill it; everything is bounded here: no answer grows beyond
   ANSWER_BYTES, whoever sends it. */
#ifndef RONDO_ANSWER_H
#define RONDO_ANSWER_H

#include "base/buf.h"
#include "base/error.h"

#include <jansson.h>

#define ANSWER_BYTES (32 * 1024 * 1024)
#define ANSWER_CALLS 256
#define ARGUMENTS_DEPTH 256 // of lists and objects; notes of a talk have them inside, and are bounded (value.h)

/* Why the model stopped. */
enum answer_stop {
    STOP_NONE,    // it has not: the stream ended too early
    STOP_END,     // it was through
    STOP_CALLS,   // it wants tools
    STOP_LENGTH,  // the longest answer was reached
    STOP_REFUSED, // it, or a filter, would not
    STOP_PAUSED,  // the server wants the same request again to go on (Anthropic's pause_turn)
};

/* As every provider counts in the end: input is all that the model read, what came from caches
   included; output is all that it wrote, reasoning included.  -1: the server did not say. */
struct token_count {
    int64_t input, output, cache_read, cache_write, reasoning;
};

struct answer_call {
    char *id, *name;
    struct buf arguments; // JSON text, as it was streamed
    json_t *value;        // or, where an API gives an object: that; NULL
    uint32_t key;         // the API's own number of it, while it is streamed
};

/* Lives in its owner's storage; all zero, then answer_init(). */
struct answer {
    struct buf text, thinking;
    struct answer_call *calls;
    uint32_t call_count, call_cap;
    json_t *echo;  // what the API wants back; NULL
    json_t *own;   // for the reader of the API, while it reads; NULL
    char *id, *model; // as the server calls them; NULL
    int stop;      // enum answer_stop
    struct token_count tokens;
    size_t size;   // bytes of all that is in it
    const struct secrets *secrets; // not to be seen in what is cut of it; the caller's, NULL: none
    bool is_done;  // the API said that this was all; not all do: a stop is enough when the stream ends
};

void answer_init(struct answer *answer);
void answer_clear(struct answer *answer);

/* For readers: all bounded, 0 or RONDO_ELIMIT. */
int answer_add_text(struct answer *answer, const char *text, size_t len, rondo_error *err);
int answer_add_thinking(struct answer *answer, const char *text, size_t len, rondo_error *err);
int answer_add_size(struct answer *answer, size_t len, rondo_error *err); // of what is kept in echo and own
int answer_add_json(struct answer *answer, const json_t *value, rondo_error *err); // the same, for a value
struct answer_call *answer_call_find(struct answer *answer, uint32_t key); // the last one of that key; NULL
struct answer_call *answer_call_new(struct answer *answer, uint32_t key, rondo_error *err); // NULL: too many
struct answer_call *answer_call_at(struct answer *answer, uint32_t key, rondo_error *err); // found, else new
void answer_call_set(struct answer_call *call, const char *id, const char *name); // "" and NULL change nothing
int answer_add_arguments(struct answer *answer, struct answer_call *call, const char *text, size_t len,
                         rondo_error *err);
/* Arguments as a server gives them: more text of them, or an object that is all; anything else is nothing. */
int answer_call_give(struct answer *answer, struct answer_call *call, const json_t *given, rondo_error *err);
void answer_set_id(struct answer *answer, const char *id, const char *model); // likewise
void answer_set_stop(struct answer *answer, int stop); // with calls, the end is STOP_CALLS

/* The answer as a message of role assistant (message.h); new.  Calls without an id get one that follows
   from their place, so that it is the same again; ids that are there twice are told apart. */
json_t *answer_message(const struct answer *answer, const char *api);

#endif
