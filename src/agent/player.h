/* player.h - a recording that answers in the place of the agents.

   No agent is called: who asks gets what was said at its path, when it was said (the engine's time is
   virtual, so nobody waits).  Whoever asks something else than what was recorded, or asks where nothing
   was, stops the run, and is shown the nearest there is: a test that goes on with a wrong answer would
   tell nothing. */
#ifndef RONDO_PLAYER_H
#define RONDO_PLAYER_H

#include "agent/recording.h"

struct player;

/* Reads a recording of this workflow. */
int player_open(const char *file, const struct flow *flow, struct player **ret, rondo_error *err);
void player_close(struct player *player); // NULL is fine

/* What the session held when this was recorded, { state, memory }; NULL: there was none, or nothing in it. */
const json_t *player_session(const struct player *player);

/* Answers for an agent, or stops the run. */
void player_run(struct player *player, rondo_task *task, const struct flow_step *step, struct buf *system,
                struct buf *user);

/* The answer that a gate was given: new; *ret_at_us is when, *ret_by (borrowed) who gave it, or NULL.  NULL:
   nobody ever answered it. */
json_t *player_answer(struct player *player, rondo_run *run, const char *path, const char **ret_by,
                      int64_t *ret_at_us);

/* Somebody else answers this gate. */
void player_leave_gate(struct player *player, const char *path);

/* Nobody answers this gate: stops the run. */
void player_miss_gate(struct player *player, rondo_run *run, const char *path);

/* The run was stopped, and a step that failed says why. */
bool player_has_failed(const struct player *player);

/* Says which recorded answers nobody asked for; nothing when the run was stopped. */
void player_put_unasked(const struct player *player, struct buf *out);

/* What loops saw before and after the call at this path (run/seen.h), { before, after }; NULL: it was not looked at.
   Borrowed. */
const json_t *player_seen(const struct player *player, const char *path);

#endif
