/* lane.c - see lane.h. */
#include "model/lane.h"

#include "io/alarm.h"

#include <assert.h>

#define LANE_MAGIC 0x6c616e65u
#define LONGEST_MS (24 * 3600 * 1000) // the alarm is set again then

struct lane {
    uint32_t magic;
    uint64_t key; // target_hash()
    struct lane *next;
    struct loop *loop;
    struct limiter limiter;
    uint32_t manners;
    bool is_serving, again; // within serve(), and something has changed meanwhile
    struct alarm *alarm;
};

struct lanes {
    struct lane *first;
};

static int64_t now_ms(struct lane *lane)
{
    return loop_now_ns(lane->loop) / 1000000;
}

/* ---- letting them go -------------------------------------------------------------------------------------- */

static void serve(struct lane *lane);

static void on_alarm(void *user)
{
    struct lane *lane = user;
    assert(lane->magic == LANE_MAGIC);
    serve(lane);
}

static void set_alarm(struct lane *lane, int64_t due_ms)
{
    if (due_ms == INT64_MAX)
        alarm_stop(lane->alarm);
    else
        alarm_set(lane->alarm, MIN(MAX(due_ms - now_ms(lane), 1), LONGEST_MS));
}

/* A chat that goes may fail at once and leave again: that is not done inside, however many there are. */
static void serve(struct lane *lane)
{
    int64_t due_ms;
    struct ticket *ticket;
    if (lane->is_serving) {
        lane->again = true;
        return;
    }
    lane->is_serving = true;
    do {
        lane->again = false;
        while ((ticket = limiter_next(&lane->limiter, now_ms(lane), &due_ms)))
            ((struct lane_pass *)ticket)->go((struct lane_pass *)ticket);
    } while (lane->again);
    lane->is_serving = false;
    set_alarm(lane, due_ms);
}

void lane_enter(struct lane *lane, struct lane_pass *pass, int64_t input, int64_t output)
{
    limiter_join(&lane->limiter, &pass->ticket, input, output);
    serve(lane);
}

void lane_leave(struct lane *lane, struct lane_pass *pass, int64_t input, int64_t output)
{
    limiter_leave(&lane->limiter, &pass->ticket);
    limiter_settle(&lane->limiter, &pass->ticket, now_ms(lane), input, output);
    serve(lane);
}

void lane_pause(struct lane *lane, int64_t length_ms)
{
    limiter_pause(&lane->limiter, now_ms(lane) + length_ms);
}

uint32_t lane_manners(const struct lane *lane)
{
    return lane->manners;
}

void lane_learn(struct lane *lane, uint32_t mask, uint32_t manners)
{
    lane->manners = (lane->manners & ~mask) | (manners & mask);
}

/* ---- all lanes of a loop ---------------------------------------------------------------------------------- */

static void close_lanes(void *thing)
{
    struct lanes *lanes = thing;
    for (struct lane *lane = lanes->first, *next; lane; lane = next) {
        next = lane->next;
        alarm_free(lane->alarm);
        limiter_clear(&lane->limiter);
        mem_free(lane);
    }
    mem_free(lanes);
}

static struct lanes *lanes_of(struct loop *loop)
{
    static const char key;
    struct lanes *lanes = loop_hung(loop, &key);
    if (!lanes) {
        lanes = mem_zalloc(sizeof *lanes);
        loop_hang(loop, &key, lanes, close_lanes);
    }
    return lanes;
}

static struct lane *lane_new(struct loop *loop, uint64_t key, uint32_t manners)
{
    struct lane *lane = mem_zalloc(sizeof *lane);
    lane->magic = LANE_MAGIC;
    lane->key = key;
    lane->loop = loop;
    lane->manners = manners;
    lane->alarm = alarm_new(loop, on_alarm, lane);
    return lane;
}

/* The limits of who asks last hold: files may be edited while a program runs. */
struct lane *lane_of(struct loop *loop, const struct target *target)
{
    struct lanes *lanes = lanes_of(loop);
    uint64_t key = target_hash(target);
    struct lane *lane = lanes->first;
    while (lane && lane->key != key)
        lane = lane->next;
    if (!lane) {
        lane = lane_new(loop, key, target->provider->manners);
        lane->next = lanes->first;
        lanes->first = lane;
    }
    lane->limiter.rpm = target->rpm;
    lane->limiter.tpm = target->tpm;
    lane->limiter.concurrency = target->concurrency;
    return lane;
}
