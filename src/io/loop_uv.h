/* loop_uv.h - the event loop: waiting for time, for other threads, and for the world.

   libuv underneath; its timers count milliseconds, so the one timer that the engine needs is a
   timerfd.  The loop's own descriptor becomes readable when there is something to do, which is
   what a foreign event loop waits for. */
#ifndef RONDO_LOOP_UV_H
#define RONDO_LOOP_UV_H

#include "base/error.h"

struct loop;

int loop_open(struct loop **ret, rondo_error *err);
void loop_close(struct loop *loop);
int loop_fd(const struct loop *loop);

/* Runs what is ready; if nothing is, waits until something is or the clock shows due_ns.  0: do
   not wait.  INT64_MAX: as long as it takes. */
void loop_wait(struct loop *loop, int64_t due_ns);

/* From any thread: the next or present wait ends. */
void loop_wake(struct loop *loop);

/* Arms the timer for a foreign event loop, without waiting. */
void loop_arm(struct loop *loop, int64_t due_ns);

/* Nanoseconds since 1970, never going back while the loop lives. */
int64_t loop_now_ns(struct loop *loop);

/* For what else waits on the same loop: libuv's own, and the places of the loop's children and requests. */
struct uv_loop_s;
struct uv_loop_s *loop_uv(struct loop *loop);
struct nest;
struct nest **loop_nest(struct loop *loop); // process.c
struct http;
struct http **loop_http(struct loop *loop); // http.c

/* What else hangs on a loop: made when first needed, found by its key (an address of the maker's), and
   closed with the loop, the last first.  Closing must leave nothing on libuv but what uv_close() ends. */
void *loop_hung(struct loop *loop, const void *key); // NULL: nothing yet
void loop_hang(struct loop *loop, const void *key, void *thing, void (*close)(void *thing));

uint64_t loop_random(void); // from the system
int loop_event_fd(void);    // a descriptor that can be made readable; -1
void loop_event_raise(int fd);
void loop_fd_close(int fd);

#endif
