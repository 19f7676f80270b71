/* chat.h - asking a model once: sent, waited for, tried again, counted, and answered in one callback.

   A chat goes through its target and, when that cannot be had, through the target's fallbacks.  Before
   every try it waits for the limiter (limiter.h) of that target.  What is tried again, and after which
   delay, is one pure function (retry.h).  Long waits (a quota that comes back in hours) are not made
   here: on_wait is asked. */
#ifndef RONDO_CHAT_H
#define RONDO_CHAT_H

#include "io/loop_uv.h"
#include "model/provider.h"

struct chat;

/* What happened on the way; for events. */
enum chat_news { CHAT_RETRY, CHAT_FALLBACK, CHAT_SILENT, CHAT_CACHED, CHAT_THROTTLED };

/* Borrowed for the call of chat_start(), but for target (a reference is kept) and the callbacks. */
struct chat_spec {
    struct target *target;
    struct inquiry inquiry; // what it does not say is the target's
    const char *key;        // idempotency key; the same for every try
    int max_retries;        // -1: the default, 4
    uint64_t seed;          // jitter follows from it
    bool cache;             // the same request may be answered from the cache of the store folder
    const char *cache_path; // NULL: no cache

    void (*on_text)(struct chat *chat, const char *text, size_t len, void *user); // as it comes; may be NULL
    void (*on_thinking)(struct chat *chat, const char *text, size_t len, void *user);
    /* A try went wrong and its text, if any came, does not count. */
    void (*on_news)(struct chat *chat, int news, const char *what, int64_t delay_ms, void *user);
    /* A quota is used up until then: true: wait, however long; false: give up. */
    bool (*on_wait)(struct chat *chat, int64_t delay_ms, void *user);
    void (*on_end)(struct chat *chat, void *user); // exactly once; the chat is gone after it
    void *user;
};

/* No callback comes before this returns. */
int chat_start(struct loop *loop, const struct chat_spec *spec, struct chat **ret, rondo_error *err);
void chat_cancel(struct chat *chat); // no callback comes any more

/* In on_end: the answer, or NULL and why.  Codes: RONDO_ERETRY when it may work later, else RONDO_EFAILED and so on. */
const struct answer *chat_answer(const struct chat *chat);
const rondo_error *chat_error(const struct chat *chat);
int chat_trouble(const struct chat *chat);            // enum trouble
const struct target *chat_target(const struct chat *chat); // who answered
int chat_tries(const struct chat *chat);              // requests that were sent
/* Tokens of tries that failed after the server had begun to answer: at least what was seen. */
struct token_count chat_wasted(const struct chat *chat);

#endif
