/* event.h - the one record of everything that happens.

   A run is its list of events.  What an event of some type holds is said by one table (below): the
   struct, the codec, the JSON line and the documentation follow from it.  Numbers are
   never reused and fields only added, so that old logs stay readable.

   An event comes with a value (EF_VALUE: it is encoded with it), refers to an earlier event's
   (EF_REF), or its value follows from the state (EF_COMPOSED); a value is encoded only once. */
#ifndef RONDO_EVENT_H
#define RONDO_EVENT_H

#include "rondo.h"

#include <jansson.h>

/* The first seven fit into one byte of the journal: most events have no others. */
enum {
    EF_VALUE = 1 << 0,
    EF_REF = 1 << 1,
    EF_COMPOSED = 1 << 2,
    EF_TOLD = 1 << 3, // it came from outside; everything else follows from what did (replay.h)
    EF_SCORED = 1 << 4,
    EF_UNSTARTED = 1 << 5, // about a step that is not under way: place instead of act
    EF_FULL = 1 << 6,      // the value is { content, result }
    EF_MINE = 1 << 7,  // ended for a reason of its own, not because of a child or a sibling
    EF_BREAK = 1 << 8, // parent is the loop it ends
    EF_CONTINUE = 1 << 9,
    EF_ESCALATE = 1 << 10,
    EF_KEPT = 1 << 11,  // cancelled by an action inside it, but what it has counts
    EF_NUDGE = 1 << 12, // detector: one more chance
    EF_LATE = 1 << 13,  // the shell woke the agent in this turn: it had something to wind down until now
    EF_INNER = 1 << 14, // state: of a file inside another, not of the run
    EF_AGAIN = 1 << 15, // message: it takes a step up again that has ended
};

/* What the shell may find due.  Logs have the numbers. */
enum timer {
    TIMER_DELAY = 1,
    TIMER_TIMEOUT = 2,
    TIMER_BACKOFF = 3,
    TIMER_BUDGET = 4,
    TIMER_GATE = 5,
    TIMER_CLEANUP = 6,
    TIMER_CALLED_OFF = 7,
    TIMER_CALL = 8,
};

/* How many reasons there are (enum rondo_reason).  A log with a higher number is of a later version. */
#define ONE_REASON(name, text) +1
enum { REASON_COUNT = 0 RONDO_REASONS(ONE_REASON) };
#undef ONE_REASON

/* No time and no length of time in an event is larger, so that sums of two do not overflow. */
#define TIME_MAX_NS ((uint64_t)INT64_MAX / 4)

/* One cache line.  act, parent: slots of activations; child: place in parent's definition;
   ordinal: pass or item of the parent (in the inbox of the shell: the generation of act). */
struct rondo_event {
    uint64_t seq; // 0 until applied, and for ever in partial output
    int64_t time_ns;
    struct run *run;
    json_t *value;
    union {
        int64_t num;  // a due time, a seed, the number of a call
        uint64_t ref; // EF_REF: seq of the event that has the value
        double score; // EF_SCORED
    };
    uint32_t act;
    union {
        uint32_t parent;
        uint32_t back; // HAS_BACK: how many events ago its value was, 0 for none
    };
    uint32_t child, ordinal;
    uint16_t attempt, flags;
    uint8_t type; // enum rondo_event_type
    uint8_t code; // status, reason, timer, or choice, as the type says
    uint16_t pad;
};
_Static_assert(sizeof(struct rondo_event) == 64, "an event is one cache line");

/* Which fields an event of a type has. */
enum {
    HAS_ACT = 1 << 0,
    HAS_PLACE = 1 << 1, // parent, child, ordinal, attempt
    HAS_ORDINAL = 1 << 2,
    HAS_CHILD = 1 << 3,
    HAS_CODE = 1 << 4,
    HAS_NUM = 1 << 5,
    HAS_BACK = 1 << 6,
    JOURNALED = 1 << 7,
};

/* The table: what the events of each type hold.  Their numbers and texts are the header's. */
#define EVENT_FIELDS(X)                                                         \
    X(WORKFLOW_START, JOURNALED | HAS_NUM)                                      \
    X(WORKFLOW_END, JOURNALED | HAS_CODE)                                       \
    X(STEP_START, JOURNALED | HAS_ACT | HAS_PLACE | HAS_CODE)                   \
    X(STEP_END, JOURNALED | HAS_ACT)                                            \
    X(STEP_FAILED, JOURNALED | HAS_ACT)                                         \
    X(STEP_SKIPPED, JOURNALED | HAS_ACT)                                        \
    X(STEP_CANCELLED, JOURNALED | HAS_ACT)                                      \
    X(ITERATION_START, JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CHILD)           \
    X(ITERATION_END, JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CODE | HAS_BACK)   \
    X(LOOP_END, JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CODE)                   \
    X(RETRY, JOURNALED | HAS_PLACE | HAS_NUM)                                   \
    X(MESSAGE, JOURNALED | HAS_ACT)                                             \
    X(STATE, JOURNALED | HAS_ACT)                                               \
    X(MEMORY, JOURNALED | HAS_ACT)                                              \
    X(MEMORY_TRIM, JOURNALED | HAS_ACT | HAS_NUM)                               \
    X(GATE_WAITING, JOURNALED | HAS_ACT)                                        \
    X(GATE_ANSWERED, JOURNALED | HAS_ACT)                                       \
    X(DETECTOR, JOURNALED | HAS_ACT | HAS_CODE)                                 \
    X(BUDGET, JOURNALED | HAS_ACT)                                              \
    X(CANCEL, JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CODE)                     \
    X(DELAY, JOURNALED | HAS_ACT | HAS_NUM)                                     \
    X(TIMER, JOURNALED | HAS_ACT | HAS_CHILD | HAS_ORDINAL | HAS_CODE)          \
    X(ITEMS, JOURNALED | HAS_ACT)                                               \
    X(NOTE, JOURNALED | HAS_ACT)                                                \
    X(RESUMED, JOURNALED | HAS_NUM)                                             \
    X(CHOICE, JOURNALED | HAS_ACT | HAS_CHILD)                                  \
    X(RULE_FAILED, JOURNALED | HAS_ACT | HAS_CHILD)                             \
    X(REVIEW, JOURNALED | HAS_ACT | HAS_CHILD | HAS_ORDINAL | HAS_CODE)         \
    X(FORKED, JOURNALED | HAS_NUM)                                              \
    X(REOPENED, JOURNALED | HAS_NUM)                                            \
    X(RESERVE, JOURNALED | HAS_ACT | HAS_NUM)                                   \
    X(GRANTED, JOURNALED | HAS_ACT | HAS_NUM)                                   \
    X(REFUSED, JOURNALED | HAS_ACT | HAS_NUM | HAS_ORDINAL | HAS_CODE)          \
    X(SETTLED, JOURNALED | HAS_ACT | HAS_NUM)                                   \
    X(MESSAGE_SENT, JOURNALED | HAS_ACT)                                        \
    X(MESSAGE_DROPPED, JOURNALED | HAS_NUM | HAS_CODE)                          \
    X(INBOX_DRAIN, JOURNALED | HAS_ACT)                                         \
    X(AGENT_WAKE, JOURNALED | HAS_ACT | HAS_CHILD | HAS_ORDINAL)                \
    X(AGENT_IDLE, JOURNALED | HAS_ACT)                                          \
    X(WAKE_WARNING, JOURNALED | HAS_ACT | HAS_CHILD | HAS_ORDINAL)              \
    X(COORDINATOR_INBOX, JOURNALED | HAS_ACT)                                   \
    X(RESUME_QUEUED, JOURNALED | HAS_NUM)                                       \
    X(LIMITS, JOURNALED)                                                        \
    X(STOP_ASKED, JOURNALED | HAS_ACT)                                          \
    X(LOOP_PAUSED, JOURNALED | HAS_ACT | HAS_ORDINAL | HAS_CHILD)               \
    X(FILES_SEEN, JOURNALED | HAS_ACT)                                          \
    X(OUTPUT, HAS_ACT)

extern const uint8_t event_field_table[64];

/* 0 for an unknown type. */
static inline unsigned event_fields(unsigned type)
{
    return type < 64 ? event_field_table[type] : 0;
}

/* A failure that nothing inside has told: a step could not start, or what is around steps failed by itself (its output,
   no case).  Loops are told by loop_end, and timeouts by the timer. */
bool event_fails_alone(const struct rondo_event *ev, const rondo_node *node);

const char *event_type_text(int type);

#endif
