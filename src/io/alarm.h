/* alarm.h - a call after a while, on the loop's thread. */
#ifndef RONDO_ALARM_H
#define RONDO_ALARM_H

#include "io/loop_uv.h"

#include <stdint.h>

struct alarm;

struct alarm *alarm_new(struct loop *loop, void (*ring)(void *user), void *user);
void alarm_free(struct alarm *alarm); // it rings no more, and may be freed while it does; NULL is fine

void alarm_set(struct alarm *alarm, int64_t after_ms); // another time than it was set to, if it was
void alarm_stop(struct alarm *alarm);

/* then(user) when the loop has turned once more, and nobody is on the stack; when it is closed, too. */
void alarm_after_turn(struct loop *loop, void (*then)(void *user), void *user);

int64_t alarm_now_ms(void); // of a clock that only goes on

#endif
