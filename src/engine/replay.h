/* replay.h - does a log follow from itself?

   A run is decided by what it was told (events with EF_TOLD: what agents said, timers, people) and by
   the answers to its questions.  Everything else in its log follows.  Replay tells a fresh run the same
   things at the same times, asks its questions again, and compares what follows with what the log has,
   byte for byte.  No agent is called, no listener is told, and nothing is waited for.

   A log that does not follow has been tampered with, was made by another version that decides
   otherwise, or has a question whose answer depends on more than the run. */
#ifndef RONDO_REPLAY_H
#define RONDO_REPLAY_H

#include "base/error.h"
#include "store/journal.h"

/* What came of it.  Texts are owned; clear it in any case. */
struct replay_report {
    uint64_t events, turns; // that were the same
    uint64_t migrated;      // up to this event the run had another definition: that is not replayed
    uint64_t seq;           // of the first event that differs; 0: none
    char *expected, *got;   // lines of JSON; NULL: there, nothing follows
    const char *question;   // what was asked just before it, as "until"; NULL: nothing was
    char *asker;            // and the path of who asked, "" for the run
    bool by_function;       // and it was answered by a function of the program, not by an expression
    char *changes;          // the log follows other rules: their numbers, and what has changed; NULL: today's
};

void replay_report_clear(struct replay_report *report);

/* Replays a whole log of run `id`.  0; RONDO_EMISMATCH when an event differs (report and err say which);
   RONDO_ESTORE when the log is damaged.  The last turn of a log, and the last one before the run was
   recovered, may be cut off.  The journal is only read. */
int replay_check(rondo_engine *engine, rondo_node *node, const char *id, struct journal *journal,
                 struct replay_report *ret, rondo_error *err);

#endif
