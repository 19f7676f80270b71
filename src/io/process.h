/* process.h - child processes: what they say, how they end, and that nothing of them stays.

   A process is started with its arguments, environment, folder and input, in a group of its own.
   The beginning of its standard output is kept, up to a limit.  The rest is read and counted, and the
   tail of it is kept.  Of its errors only the tail is kept.  It ends in exactly one call of on_end, after
   everything that it started has ended too:

     when its first process (the leader) exits, what is left of its group, and descendants who have
     left the group, are sent SIGTERM, and SIGKILL after the grace period;
     somebody who keeps the pipe open does not keep us: what is there is read, and that is all.

   When we are killed, a guard does that (guard.h); a program may also adopt orphans (orphan.h).
   Everything belongs to the loop's thread. */
#ifndef RONDO_PROCESS_H
#define RONDO_PROCESS_H

#include "base/buf.h"
#include "io/loop_uv.h"
#include "io/sandbox.h"

#define PROCESS_TAIL  4096 // of the errors and of the output, to be shown
#define PROCESS_GRACE 2000 // milliseconds between SIGTERM and SIGKILL, unless told otherwise

struct process;

/* Borrowed for the call.  Lists end with NULL. */
struct process_spec {
    const char *const *argv;
    const char *const *env;  // "NAME=value"; PATH in it is where argv[0] is looked for
    const char *cwd;         // NULL: ours
    const void *input;
    size_t input_len;
    size_t max_output;       // bytes of standard output to keep
    size_t max_tail;         // bytes of the tails to keep: PROCESS_TAIL, and as many as a secret may have before it;
                             // 0: PROCESS_TAIL
    int64_t timeout_ms;      // 0: none; then it is cancelled, and process_timed_out() says so
    int64_t idle_ms;         // 0: none; the same when it has written nothing for so long: process_was_silent()
    int64_t grace_ms;        // 0: at once; negative: PROCESS_GRACE
    const struct sandbox *sandbox; // NULL: it may do what we may
    int64_t farewell_ms;     // process_kill_all() lets it end by itself for so long; 0: it does not wait
    size_t max_processes;          // 0: any number; more, and all are killed, and process_overran() says so

    /* A child to talk with: its input stays open for process_send(), and what it writes is handed over as it
       comes; nothing is kept. */
    void (*on_data)(struct process *process, const char *bytes, size_t len, void *user); // NULL: it is none

    /* There is more output than at the last call; not more often than every show_ms.  May be NULL. */
    void (*on_output)(struct process *process, void *user);
    int64_t show_ms;

    /* It has ended; the process is gone after this call. */
    void (*on_end)(struct process *process, void *user);
    void *user;
};

/* Fails when the command cannot be started: RONDO_ENOTFOUND when there is none of that name.  No
   callback comes before this returns. */
int process_start(struct loop *loop, const struct process_spec *spec, struct process **ret,
                  rondo_error *err);

/* SIGTERM, then SIGKILL after the grace period (negative: the spec's).  on_end comes as always. */
void process_cancel(struct process *process, int64_t grace_ms);

/* For children to talk with.  What they do not read yet is kept, up to PROCESS_WAITING: RONDO_ELIMIT.
   RONDO_ESTATE: it reads no more, or was told to finish. */
#define PROCESS_WAITING (64 << 20)
int process_send(struct process *process, const void *bytes, size_t len, rondo_error *err);

/* Closes its input behind what was sent, and waits for it to end; after wait_ms it is cancelled. */
void process_finish(struct process *process, int64_t wait_ms);

/* How it ended: its status, or the signal that ended it (else 0).  A status of -1: nobody knows, for
   instance because somebody else waited for it. */
int process_status(const struct process *process);
int process_signal(const struct process *process);
bool process_timed_out(const struct process *process);
bool process_was_silent(const struct process *process);
bool process_overran(const struct process *process);
bool process_ended_itself(const struct process *process); // else what it said last may be cut in the middle

const char *process_output(const struct process *process, size_t *ret_len); // what was kept
uint64_t process_dropped(const struct process *process);                    // bytes that were not
const char *process_errors(struct process *process, size_t *ret_len);       // the tail
uint64_t process_errors_dropped(const struct process *process);
bool process_put_tail(const struct process *process, struct buf *out); // of the output; true: there was more before it

/* A path that nobody uses yet, "FOLDER/17-name", for a file that is shared with a child.  The folder is
   private, and removed with all that is in it when the loop is closed. */
int process_path(struct loop *loop, const char *name, struct buf *out, rondo_error *err);

size_t process_count(struct loop *loop); // those that have not ended

/* Cancels all that have not been, those with a farewell after that time, and waits until everything is dead.  Every
   on_end is called. */
void process_kill_all(struct loop *loop);

/* For loop_close(). */
struct nest;
void nest_close(struct nest *nest); // NULL is fine; there are no processes left

#endif
