/* exchange.h - one request to a model's server, and what comes of it: an answer, or a refusal.

   How the server answers is found out from what it sends, not from what it was asked for: events, lines, one
   object, a page that somebody put in between.  Whatever goes wrong ends in a refusal that says what kind of
   trouble it is, in words for people; whether to try again is for whoever started the exchange (retry.h). */
#ifndef RONDO_EXCHANGE_H
#define RONDO_EXCHANGE_H

#include "io/loop_uv.h"
#include "model/target.h"
#include "model/retry.h"

/* Deadlines where the target says nothing.  A server on one's own machine may have to load the model first, and an
   answer that does not come in pieces comes when it is whole. */
#define EXCHANGE_CONNECT_MS 10000
#define EXCHANGE_FIRST_MS   120000
#define EXCHANGE_SLOW_MS    600000 // the first byte, in these two cases
#define EXCHANGE_IDLE_MS    120000

struct exchange;

/* Borrowed for the call of exchange_start(), but for target, secrets and the callbacks. */
struct exchange_spec {
    const struct target *target;
    const struct wire *wire;
    bool stream;     // as the request says
    const char *key; // idempotency key; NULL: none
    const struct secrets *secrets; // taken out of what is said of errors; NULL: none.  Live with the exchange
    void (*on_text)(const char *text, size_t len, void *user); // may be NULL
    void (*on_thinking)(const char *text, size_t len, void *user);
    void (*on_end)(struct exchange *exchange, void *user); // exactly once; the exchange is gone after it
    void *user;
};

/* No callback comes before this returns. */
int exchange_start(struct loop *loop, const struct exchange_spec *spec, struct exchange **ret, rondo_error *err);

void exchange_cancel(struct exchange *exchange); // no callback comes any more; from its own too, except on_end

/* What there is so far: whole only when there is no trouble.  It may be taken over in on_end. */
struct answer *exchange_answer(struct exchange *exchange);

/* In on_end. */
const struct refusal *exchange_refusal(const struct exchange *exchange); // trouble is TROUBLE_NONE: it went well
int exchange_status(const struct exchange *exchange);
struct retry_headers exchange_headers(struct exchange *exchange);
bool exchange_was_silent(const struct exchange *exchange); // a deadline passed without a byte
bool exchange_is_final(const struct exchange *exchange);   // the same would happen again, whatever the trouble
bool exchange_is_closed(const struct exchange *exchange);  // because everything ends

#endif
