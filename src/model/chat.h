/* chat.h - asking a model once: sent, waited for, tried again, counted, and answered in one callback.

   A chat goes through its target and, when that cannot be had, through the target's fallbacks: when its
   retries are used up, or at once when trying again would not help.  Before every try it waits for the limiter
   (lane.h) of that target, which all chats with it share.  What is tried again, and after which delay, is one
   pure function (retry.h).  Long waits (a quota that comes back in hours) are not made here: on_wait is asked.
   A server that refuses a part of the request which it need not have is asked again without it, silently; the
   lane remembers.

   Deadlines are the target's, else those of exchange.h.  A server that says nothing for too long is in trouble
   like one that cannot be reached. */
#ifndef RONDO_CHAT_H
#define RONDO_CHAT_H

#include "io/loop_uv.h"
#include "model/target.h"

struct secrets;

struct chat;

/* What happened on the way; for events. */
enum chat_news {
    CHAT_RETRY,     // it is tried again after the delay
    CHAT_SILENT,    // the same, and what went wrong is that nothing came for too long
    CHAT_FALLBACK,  // another target is asked
    CHAT_CACHED,    // the answer is one that was given before
    CHAT_THROTTLED, // on_wait has agreed to a long wait
};

/* May there be another request? */
enum chat_leave {
    CHAT_MAY,
    CHAT_MAY_NOT, // no more tries, no such target
    CHAT_ASKED,   // somebody else is asked: chat_go_on() says that it may, chat_cancel() that it may not
};

/* Borrowed for the call of chat_start(), but for target (a reference is kept) and the callbacks. */
struct chat_spec {
    struct target *target;
    struct inquiry inquiry; // what it does not say is the target's
    const char *key;        // idempotency key; the same for every try
    int max_retries;        // -1: the default, 4
    uint64_t seed;          // jitter follows from it
    bool cache;             // the same request may be answered as it was before
    const char *cache_path; // where such answers are (cache.h); NULL: no cache
    const struct secrets *secrets; // an answer that has one of them is not kept there, and no error shows one; NULL:
                                   // none.  Lives with the chat

    void (*on_text)(struct chat *chat, const char *text, size_t len, void *user); // as it comes; may be NULL
    void (*on_thinking)(struct chat *chat, const char *text, size_t len, void *user);
    /* Before CHAT_RETRY, CHAT_SILENT, CHAT_FALLBACK and CHAT_THROTTLED a try went wrong: its text and thoughts,
       if any came, do not count. */
    void (*on_news)(struct chat *chat, int news, const char *what, int64_t delay_ms, void *user);
    /* A quota is used up for so long.  true: wait; false: another target, or the end (chat_delay_ms()).  NULL:
       false. */
    bool (*on_wait)(struct chat *chat, int64_t delay_ms, void *user);
    /* It would be tried again now, the delay being over, or another target be asked: enum chat_leave.  NULL:
       CHAT_MAY. */
    int (*may_ask)(struct chat *chat, struct target *next, void *user);
    void (*on_end)(struct chat *chat, void *user); // exactly once; the chat is gone after it
    void *user;
};

/* No callback comes before this returns. */
int chat_start(struct loop *loop, const struct chat_spec *spec, struct chat **ret, rondo_error *err);
void chat_go_on(struct chat *chat);  // after CHAT_ASKED, once; callbacks may come before it returns
void chat_cancel(struct chat *chat); // no callback comes any more; from its own callbacks too, except on_end

/* In on_end: the answer, or NULL and why.  Codes: RONDO_ERETRY when it may work later; RONDO_EFINAL when it
   will not (the key, money, the request itself); RONDO_ELIMIT for an answer that is too long; RONDO_ECANCELLED
   when the loop is closed. */
const struct answer *chat_answer(const struct chat *chat);
const rondo_error *chat_error(const struct chat *chat);
int chat_trouble(const struct chat *chat);            // enum trouble
int64_t chat_delay_ms(const struct chat *chat);       // how long the last target asked to be left alone; -1: not
const struct target *chat_target(const struct chat *chat); // who answered
bool chat_is_cached(const struct chat *chat);         // the answer was given before, and costs nothing
int chat_tries(const struct chat *chat);              // requests that were sent
/* Tokens of tries that failed after the server had begun to answer or been silent for too long, beside those of the
   answer: what it said, else an estimate of what it had read and what was seen of its words; of the one that is under
   way, too, for who is about to cancel it.  Those since they were last taken. */
struct token_count chat_take_wasted(struct chat *chat);
bool chat_is_open(const struct chat *chat); // a request is under way

#endif
