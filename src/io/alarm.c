/* alarm.c - see alarm.h.

   libuv's timers count from the time at which the loop last woke, so that is looked at again first. */
#include "io/alarm.h"

#include "base/mem.h"

#include <assert.h>
#include <uv.h>

#define ALARM_MAGIC 0x616c726du

struct alarm {
    uv_timer_t timer; // first: libuv gives it back
    uint32_t magic;
    void (*ring)(void *user);
    void *user;
};

struct alarm *alarm_new(struct loop *loop, void (*ring)(void *user), void *user)
{
    struct alarm *alarm = mem_zalloc(sizeof *alarm);
    uv_timer_init(loop_uv(loop), &alarm->timer);
    alarm->magic = ALARM_MAGIC;
    alarm->ring = ring;
    alarm->user = user;
    return alarm;
}

static void on_timer(uv_timer_t *timer)
{
    struct alarm *alarm = (struct alarm *)(void *)timer;
    assert(alarm->magic == ALARM_MAGIC);
    alarm->ring(alarm->user);
}

static void on_closed(uv_handle_t *handle)
{
    mem_free(handle);
}

void alarm_free(struct alarm *alarm)
{
    if (!alarm)
        return;
    assert(alarm->magic == ALARM_MAGIC);
    alarm->magic = 0;
    uv_close((uv_handle_t *)&alarm->timer, on_closed);
}

static void on_turned(uv_handle_t *handle)
{
    struct alarm *alarm = (struct alarm *)(void *)handle;
    alarm->ring(alarm->user);
    mem_free(alarm);
}

/* libuv calls who has closed something at the end of its turn. */
void alarm_after_turn(struct loop *loop, void (*then)(void *user), void *user)
{
    struct alarm *alarm = alarm_new(loop, then, user);
    uv_close((uv_handle_t *)&alarm->timer, on_turned);
}

void alarm_set(struct alarm *alarm, int64_t after_ms)
{
    uv_update_time(alarm->timer.loop);
    uv_timer_start(&alarm->timer, on_timer, (uint64_t)MAX(after_ms, 0), 0);
}

void alarm_stop(struct alarm *alarm)
{
    uv_timer_stop(&alarm->timer);
}

int64_t alarm_now_ms(void)
{
    return (int64_t)(uv_hrtime() / 1000000);
}
