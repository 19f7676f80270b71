/* lane.h - what all chats with one target share on one loop: its limiter, and what was learnt of its server.

   A lane is made when it is first asked for and lives as long as the loop.  A chat enters it before every try
   and leaves it after; in between it has the lane's leave to ask.  When a server wants peace, it gets it from
   all chats of the lane at once. */
#ifndef RONDO_LANE_H
#define RONDO_LANE_H

#include "io/loop_uv.h"
#include "model/limiter.h"
#include "model/target.h"

struct lane;

/* A chat's place in a lane, in the chat's storage; all zero but go. */
struct lane_pass {
    struct ticket ticket; // the first, so that one leads to the other
    void (*go)(struct lane_pass *pass); // may ask now; may be called while lane_enter() or lane_leave() is
};

struct lane *lane_of(struct loop *loop, const struct target *target);

/* With an estimate of the tokens, see limiter.h. */
void lane_enter(struct lane *lane, struct lane_pass *pass, int64_t input, int64_t output);

/* Out of the line, or out of the lane: then with what it was (limiter_settle()). */
void lane_leave(struct lane *lane, struct lane_pass *pass, int64_t input, int64_t output);

void lane_pause(struct lane *lane, int64_t length_ms);

/* How the server wants to be asked (enum manner): as its provider's row says, and what was learnt since, of which the
   bits in mask were found to be as in manners. */
uint32_t lane_manners(const struct lane *lane);
void lane_learn(struct lane *lane, uint32_t mask, uint32_t manners);

#endif
