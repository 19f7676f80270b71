/* mail.h - messages between the steps of a run: mailboxes.

   A message is sent (message_sent, told from outside) and from then on in exactly one place: in a box, in the
   hands of an activation (agent_inbox_drain), or gone (message_dropped, with one reason).  A box belongs to an
   activation that works, or to an address at which nobody works yet; it is there as long as it holds something.
   Boxes are first in, first out; a full one refuses what comes last.

   A MESSAGE TO A LOOP waits in the loop's box for its next pass.  When that begins, or its body is tried again, the
   loop is given it (agent_inbox_drain), and every agent of the body that starts in this pass has it from its start.

   AN ADDRESS is the path of a step ("loop-stages.0.worker", attempts may be left out), or its name ("worker"),
   or the path without passes and items ("loop-stages.worker").  Paths come first.  A name means the one step
   with that name that works just now; when several do, the message is dropped and the reason names them.  When
   none does but one may still come, the message waits: at a path for that very step, at a name for the next
   step that starts under it, such as the same step in the next pass.  `coordinator` is the run's coordinator.
   Somebody who has ended may be taken up again: encore.h. */
#ifndef RONDO_MAIL_H
#define RONDO_MAIL_H

#include "base/buf.h"
#include "flow/reply_form.h"
#include "run/event.h"

#define BOX_LETTERS  10000             // that wait in one box
#define BOX_BYTES    (16u << 20)       // and their texts
#define MAIL_LETTERS 100000            // that wait in all boxes of a run
#define MAIL_BYTES   (64u << 20)
#define WAKES_MAX    10                // times that a step goes on because of a message
#define COORDINATOR_WAKES 100
#define COORDINATOR  "coordinator"

/* Why a message was not delivered.  Numbers are in logs: never reused. */
#define MAIL_REASONS(X)                          \
    X(CANCELLED, 1, "workflow-cancelled")        \
    X(TERMINAL, 2, "target-terminal")            \
    X(UNKNOWN, 3, "unknown-step")                \
    X(WAKES, 4, "max-wake-cycles")               \
    X(HOLD, 5, "hold-timeout")                   \
    X(FULL, 6, "mailbox-full")                   \
    X(NO_TRANSCRIPT, 7, "no-transcript")         \
    X(LONG_TRANSCRIPT, 8, "transcript-too-large") \
    X(SHUTDOWN, 9, "resume-shutdown")            \
    X(RESOLVER, 10, "resolver-error")            \
    X(FINALIZED, 11, "mailbox-closed-by-finalize") \
    X(LOOP_ENDED, 12, "loop-ended")

enum mail_reason {
    MAIL_QUEUED,
#define MAIL_REASON(name, number, text) MAIL_##name = number,
    MAIL_REASONS(MAIL_REASON)
#undef MAIL_REASON
    MAIL_REASON_END
};

const char *mail_reason_text(int reason); // "" for MAIL_QUEUED

/* What a message is for.  Zenflow's numbers. */
enum mail_kind { MAIL_INFO, MAIL_CANCEL, MAIL_CONTEXT_UPDATE, MAIL_RESUME_REPLY, MAIL_KINDS };
int mail_kind_of(const json_t *message); // what is not known is information

/* A message as an event has it: { from, to, text, kind }; new.  kind may be NULL.  RONDO_EINVAL: there is no
   address or no text, or one is not UTF-8, or no such kind; RONDO_ELIMIT: one is too long. */
int mail_message(const char *from, const char *to, const char *text, const char *kind, json_t **ret);
bool mail_is_message(const json_t *value);
bool mail_calls_off(const json_t *messages); // is one of them of the kind cancel?

struct run;
struct act;

struct letter {
    uint64_t seq;    // of the event that sent it
    json_t *message; // owned
    uint8_t reason;  // enum mail_reason: it is to be dropped
    char *why;       // more about that, owned; NULL
    bool is_outside; // nobody in the run has sent it
};

/* First in, first out. */
struct letters {
    struct letter *list;
    uint32_t head, count, cap;
    uint64_t bytes;
};

struct box {
    uint32_t act;  // slot; 0: nobody works at this address yet
    char *address; // owned; NULL: it is an activation's
    struct letters letters;
};

/* Part of a run. */
struct mail {
    struct box *boxes;
    uint32_t box_count, box_cap;
    struct letters refused; // to be dropped, one decision each
    struct letters notices; // for the coordinator, to be decided
    struct letters replies; // of encores, to be sent
    struct letters queued;  // copies of what waits behind an encore, to be told
    uint32_t count;         // in boxes
    uint64_t bytes;
    uint8_t outcome; // of the last send: enum mail_reason
    uint32_t off;    // the agent that it has called off, its slot; 0
    bool has_passes; // some loop was given messages for a pass
};

void mail_clear(struct mail *mail);

/* ---- what events do ------------------------------------------------------------------------------------- */

void mail_send(struct run *run, struct rondo_event *ev);  // takes ev->value
void mail_drain(struct run *run, struct rondo_event *ev);
void mail_drop(struct run *run, struct rondo_event *ev);
void mail_wake(struct run *run, struct rondo_event *ev);
void mail_warn(struct run *run, struct rondo_event *ev);

/* An agent starts: what waits for it is its own.  It ends: what it has not read is to be dropped. */
void mail_begin(struct run *run, struct act *act);
void mail_end(struct run *run, struct act *act);

/* An agent starts in a pass of a loop that was given messages: it has them. */
void mail_join_pass(struct run *run, struct act *act);

/* The coordinator's: what it is to be told (takes message), and an event that tells it (takes ev->value). */
void mail_add_notice(struct run *run, json_t *message);
json_t *mail_first_notice(const struct run *run); // borrowed
void mail_forget_notice(struct run *run);
void mail_put(struct run *run, struct act *act, struct rondo_event *ev);

/* An encore begins: it is given what is first in the box.  What it said is to be sent. */
void mail_hand_over(struct run *run, const struct box *box, struct act *act);
void mail_add_reply(struct run *run, const char *from, const char *to, struct buf *text);
void mail_tell_queued(struct run *run, struct rondo_event *ev); // resume_queued

/* ---- what follows; enum plan ----------------------------------------------------------------------------- */

int mail_plan_drop(struct run *run, struct rondo_event *ev); // what is to be dropped
int mail_plan_end(struct run *run, struct rondo_event *ev);  // everything that is left when the run ends
int mail_plan_reply(struct run *run, struct rondo_event *ev); // of an encore, or that one has to wait; there is some
int mail_plan_drain(struct run *run, struct act *act, struct rondo_event *ev);

/* A loop whose pass is about to begin its body is given what waits for it; PLAN_IDLE: nothing does. */
int mail_plan_pass(struct run *run, const struct act *act, struct rondo_event *ev);

/* What would become of a message of this length that was sent now: enum mail_reason; ret_why may say more. */
int mail_foresee(struct run *run, const char *to, int kind, size_t len, struct buf *ret_why);

/* ---- looking --------------------------------------------------------------------------------------------- */

/* Do messages wait in it for an encore? */
static inline bool mail_is_encore(const struct box *box)
{
    return box->address && *box->address == '^';
}

uint32_t mail_unread(const struct run *run, const struct act *act);
uint32_t mail_wakes_max(const struct act *act);
bool mail_is_next(const struct run *run, const struct act *act, uint64_t seq); // the first in its box
bool mail_is_queued(const struct run *run, uint64_t seq);                      // and that is to be told next
bool mail_has(const struct run *run, uint64_t seq);                            // in a box, or refused

/* What waits in the box of the loop with this path for its next pass, as it was sent; new. */
json_t *mail_waiting(struct run *run, const char *loop);

/* Paths of all agents that work just now, as messages may be addressed to, separated by ", ". */
void mail_put_running(struct buf *out, struct run *run);

#endif
