/* child.h - processes that the harness starts, kills and outlives. */
#ifndef TEST_KILL_CHILD_H
#define TEST_KILL_CHILD_H

#include "base/buf.h"

#include <sys/types.h>

#define STAMP_SIZE 32

/* How a process is to die: at some write to its store (see killer.c), or at some time.  All zero: not at all. */
struct doom {
    long at;         // which write
    const char *how; // before, half, after
    long after_us;
};

/* What came of a process. */
struct child_end {
    bool killed;            // by SIGKILL
    int code;               // its exit status; 128 + the signal
    double ms;              // how long it took
    char stamp[STAMP_SIZE]; // when it was over, as events say the time
};

/* From here on processes whose parents die become ours: none gets lost.  killer: the library to preload. */
void child_prepare(const char *killer);

/* Runs a program until it and all that it started have ended; stdout and stderr go to these files.  argv ends
   with NULL.  Who is still there long after the program itself is reported, and ends the harness. */
struct child_end child_run(const char *const argv[], const struct doom *doom, const char *out, const char *err);

/* The same in pieces. */
pid_t child_start(const char *const argv[], const struct doom *doom, const char *out, const char *err);
struct child_end child_wait(pid_t pid);
struct child_end child_wait_any(const pid_t *pids, int count); // the next of these that ends
void child_wait_for_rest(void);

/* Others are meant to live while programs are run: nobody waits for the rest. */
extern bool child_has_company;

/* A small file's content, replacing what buf has; false when there is none. */
bool child_read(const char *path, struct buf *ret);

/* Says what went wrong with the harness itself, and leaves. */
void child_give_up(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

#endif
