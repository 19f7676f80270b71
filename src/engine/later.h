/* later.h - tokens, and what the two threads that use them share: later.c is what any thread may call, posts.c what the
   engine's own does with it.  All of it under the mailbox's lock, but for the farewell. */
#ifndef RONDO_LATER_H
#define RONDO_LATER_H

#include "engine/shell.h"

/* Who is to be told of a cancel: taken out under the lock, called without it. */
struct farewell {
    void (*call)(void *user);
    void *user;
    struct awaited *waits; // what will not be answered any more
    uint32_t count;
};

struct farewell later_take_waits(struct later *later);
struct farewell later_take_farewell(struct later *later);
void later_say_farewell(struct farewell farewell);

struct later *later_find(struct mailbox *mail, uint64_t token); // NULL: it was used
void later_give_back(struct mailbox *mail, uint32_t place);

/* Who waits for an answer of the engine's own does not stop virtual time meanwhile. */
void later_set_external(struct mailbox *mail, struct later *later, bool external);

#endif
