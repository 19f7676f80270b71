/* lives.h - a few runs that are driven in a store, and have to live on whatever happens to its file.

   One grows a long text, one counts, two share a session, one works in parallel, and one is a fork of the
   first.  lives_drive() begins what is not in the store, goes on with what is, and drives all of it to the end; on the
   way the log is gathered and the WAL folded in, again and again.  Called on what is left of a store after something
   bad, it says how much of what had been seen is still there. */
#ifndef LIVES_H
#define LIVES_H

#include <rondo.h>
#include <stdbool.h>
#include <stdint.h>

enum { LIVES = 6, LIFE_EVENTS = 256 };

/* Events of each run, as far as they were handed out: a hash of everything in them. */
struct lives {
    uint32_t count[LIVES];
    uint64_t hash[LIVES][LIFE_EVENTS];
    uint64_t result[LIVES]; // of what it came to; 0: it has not ended
};

struct trip {
    const char *path;
    int durability;   // enum rondo_durability
    uint32_t tidy;    // the log is gathered after so many events; 0: never
    uint32_t fold;    // and a checkpoint is due when the WAL has so many pages; 0: seldom
    bool small;       // shorter runs
    uint32_t round;   // the same runs again, under other names
    const struct lives *before; // what had been seen earlier; NULL: nothing

    struct lives seen;
    uint32_t kept[LIVES]; // how many of the events in `before` are still there
    bool noticed;         // the store says that some may be missing
    void (*on_event)(int life, uint64_t seq, uint64_t hash, void *user);
    void *user;
};

/* 0 when all of them completed; an error that the store or a run gave; the test fails when something is there
   that should not be: an event that differs from the one that was seen, another result, a session with
   entries missing or doubled. */
int lives_drive(struct trip *trip, rondo_error *err);

/* The same runs, only looked at: 0 or an error; 1 when the store has a notice.  before: what has to be there (with a
   notice, a part of it), and nothing else, or the test fails; NULL: whatever it is. */
int lives_look(const char *path, uint32_t round, const struct lives *before, bool small, struct lives *ret,
               rondo_error *err);

/* A folder that is in memory if there is such a thing here; removed when the process ends. */
const char *lives_folder(void);

/* More than usual is wanted: `make torture`. */
bool lives_torture(void);

#endif
