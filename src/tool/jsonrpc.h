/* jsonrpc.h - JSON-RPC 2.0 without I/O: who asked what, and which answer belongs to it.

   Requests get numbers of ours.  The caller feeds all that the other side sends to rpc_hear().  An answer ends the
   request of its number, once.  An answer that is too long or nested too deep fails its request.  Answers to
   nobody, second answers and texts that are no message are counted and otherwise ignored.  Time is told by the
   caller. */
#ifndef RONDO_JSONRPC_H
#define RONDO_JSONRPC_H

#include "base/buf.h"
#include "base/error.h"

#include <jansson.h>

#define RPC_BYTES (16u << 20) // of one message
#define RPC_CALLS 10000       // under way at a time
#define RPC_BATCH 1000        // messages in one array
#define RPC_NEVER INT64_MAX

/* The codes that mean something to us. */
enum rpc_code { RPC_NO_METHOD = -32601, RPC_BAD_PARAMS = -32602 };

/* How a request ended; borrowed for the call.  Either it was answered (result, or code and message), or err
   says why there is no answer. */
struct rpc_answer {
    json_t *result; // NULL: it is an error
    int64_t code;
    const char *message; // "" when the other side gave none
    const json_t *data;  // NULL
    const rondo_error *err; // NULL: the other side has answered
};

struct rpc_call {
    int64_t id;
    int64_t due_ms;
    void (*then)(const struct rpc_answer *answer, void *user);
    void *user;
};

/* Lives in its owner's storage; all zero, then the callbacks.  The owner may not go away within a callback. */
struct rpc {
    struct rpc_call *calls; // oldest first
    uint32_t count, cap;
    int64_t last_id;
    uint64_t strange; // messages that nobody could make sense of, answers that nobody waited for

    void (*on_request)(const json_t *id, const char *method, const json_t *params, void *user);
    void (*on_notification)(const char *method, const json_t *params, void *user);
    void *user;
};

void rpc_clear(struct rpc *rpc); // nobody is told any more

/* The text of a request, without a line break; then() will come, exactly once, unless it is dropped.  params
   are borrowed; NULL: none.  RONDO_ELIMIT: too many are under way, or it is too long. */
int rpc_ask(struct rpc *rpc, const char *method, const json_t *params, int64_t due_ms,
            void (*then)(const struct rpc_answer *answer, void *user), void *user, int64_t *ret_id,
            struct buf *out, rondo_error *err);

/* Texts of what has no answer.  id as it came; an error when result is NULL. */
void rpc_put_notification(struct buf *out, const char *method, const json_t *params);
void rpc_put_answer(struct buf *out, const json_t *id, const json_t *result, int64_t code, const char *message);

/* One message, or an array of them.  answers_to: the request that this came as an answer to, as far as the
   way it came tells (an error that has no number is for it); 0.  False: it is no message. */
bool rpc_hear(struct rpc *rpc, const char *text, size_t len, int64_t answers_to);

bool rpc_is_waiting(const struct rpc *rpc, int64_t id);
void rpc_drop(struct rpc *rpc, int64_t id);                         // then() does not come; unknown ids are fine
void rpc_fail(struct rpc *rpc, int64_t id, const rondo_error *err); // there will be no answer
void rpc_fail_all(struct rpc *rpc, const rondo_error *err);

int64_t rpc_due_ms(const struct rpc *rpc); // when the first is too late; RPC_NEVER

/* The first that is too late at now_ms: dropped from here, the caller's to tell; false: there is none. */
bool rpc_take_late(struct rpc *rpc, int64_t now_ms, struct rpc_call *ret);

#endif
