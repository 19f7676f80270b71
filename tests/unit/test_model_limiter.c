/* test_model_limiter.c - how much is asked of a model within a minute, whoever asks. */

#include "base/hash.h"
#include "model/limiter.h"
#include "test.h"

#include <string.h>

#define MINUTE 60000

static struct ticket *next(struct limiter *l, int64_t now_ms)
{
    int64_t due;
    return limiter_next(l, now_ms, &due);
}

static int64_t due(struct limiter *l, int64_t now_ms)
{
    int64_t ms;
    CHECK_NULL(limiter_next(l, now_ms, &ms));
    return ms;
}

TEST(without_limits_everybody_goes_in_order)
{
    struct limiter l = { 0 };
    struct ticket t[5] = { 0 };
    for (int i = 0; i < 5; i++)
        limiter_join(&l, &t[i], 1000000, 1000000);
    for (int i = 0; i < 5; i++)
        CHECK_PTR(next(&l, 0), &t[i]);
    CHECK_INT(due(&l, 0), INT64_MAX);
    CHECK_NULL(l.requests.entries); // and no book is kept
    CHECK_NULL(l.tokens.entries);
    limiter_clear(&l);
}

/* AE-155 */
TEST(requests_of_a_minute_are_counted_from_any_moment)
{
    struct limiter l = { .rpm = 2 };
    struct ticket t[4] = { 0 };
    for (int i = 0; i < 4; i++)
        limiter_join(&l, &t[i], 0, 0);
    CHECK_PTR(next(&l, 1000), &t[0]);
    CHECK_PTR(next(&l, 41000), &t[1]);
    CHECK_INT(due(&l, 41000), 1000 + LIMITER_WINDOW_MS);
    limiter_settle(&l, &t[0], 42000, 5, 5); // that it has ended is no reason
    CHECK_INT(due(&l, 1000 + LIMITER_WINDOW_MS - 1), 1000 + LIMITER_WINDOW_MS);
    CHECK_PTR(next(&l, 1000 + LIMITER_WINDOW_MS), &t[2]);
    CHECK_INT(due(&l, 1000 + LIMITER_WINDOW_MS), 41000 + LIMITER_WINDOW_MS);
    limiter_clear(&l);
}

TEST(concurrency_waits_for_an_end)
{
    struct limiter l = { .concurrency = 2 };
    struct ticket t[3] = { 0 };
    for (int i = 0; i < 3; i++)
        limiter_join(&l, &t[i], 0, 0);
    CHECK_PTR(next(&l, 0), &t[0]);
    CHECK_PTR(next(&l, 0), &t[1]);
    CHECK_INT(due(&l, 0), INT64_MAX);
    limiter_settle(&l, &t[1], 10, -1, -1);
    limiter_settle(&l, &t[1], 10, -1, -1); // once is enough
    CHECK_PTR(next(&l, 10), &t[2]);
    limiter_clear(&l);
}

TEST(tokens_are_held_then_counted_as_they_were)
{
    struct limiter l = { .tpm = 1000 };
    struct ticket a = { 0 }, b = { 0 }, c = { 0 };
    limiter_join(&l, &a, 300, 500);
    limiter_join(&l, &b, 300, 100);
    CHECK_PTR(next(&l, 0), &a);
    CHECK_INT(due(&l, 0), LIMITER_WINDOW_MS); // 1200 with what a may write; 900 without what it read
    limiter_settle(&l, &a, 5000, 250, 100);
    CHECK_PTR(next(&l, 5000), &b); // 350 + 400
    limiter_join(&l, &c, 300, 0);
    CHECK_INT(due(&l, 5000), LIMITER_WINDOW_MS); // until the input of a is forgotten
    limiter_settle(&l, &b, 6000, -1, -1); // nobody said: the estimate stands
    CHECK_INT(l.tokens.sum, 250 + 100 + 300 + 100);
    CHECK_INT(due(&l, 6000), LIMITER_WINDOW_MS);
    CHECK_PTR(next(&l, LIMITER_WINDOW_MS), &c);
    limiter_clear(&l);
}

TEST(more_than_was_estimated_is_counted_too)
{
    struct limiter l = { .tpm = 1000 };
    struct ticket a = { 0 }, b = { 0 };
    limiter_join(&l, &a, 100, 100);
    CHECK_PTR(next(&l, 0), &a);
    limiter_settle(&l, &a, 1, 900, 600);
    limiter_join(&l, &b, 10, 10);
    CHECK_INT(due(&l, 2), LIMITER_WINDOW_MS);
    limiter_clear(&l);
}

TEST(a_request_larger_than_a_minute_goes_alone)
{
    struct limiter l = { .tpm = 1000 };
    struct ticket small = { 0 }, large = { 0 }, last = { 0 };
    limiter_join(&l, &small, 10, 0);
    limiter_join(&l, &large, 5000, 5000);
    limiter_join(&l, &last, 1, 0);
    CHECK_PTR(next(&l, 0), &small);
    limiter_settle(&l, &small, 0, 10, 0);
    CHECK_INT(due(&l, 0), LIMITER_WINDOW_MS);
    CHECK_PTR(next(&l, LIMITER_WINDOW_MS), &large);
    CHECK_INT(due(&l, LIMITER_WINDOW_MS), INT64_MAX);
    limiter_clear(&l);
}

TEST(nobody_overtakes)
{
    struct limiter l = { .tpm = 1000 };
    struct ticket first = { 0 }, large = { 0 }, tiny = { 0 };
    limiter_join(&l, &first, 600, 0);
    limiter_join(&l, &large, 600, 0);
    limiter_join(&l, &tiny, 1, 0);
    CHECK_PTR(next(&l, 0), &first);
    CHECK_INT(due(&l, 0), LIMITER_WINDOW_MS); // tiny would fit
    CHECK_PTR(next(&l, LIMITER_WINDOW_MS), &large);
    CHECK_PTR(next(&l, LIMITER_WINDOW_MS), &tiny);
    limiter_clear(&l);
}

TEST(who_comes_back_has_the_old_place)
{
    struct limiter l = { .concurrency = 1 };
    struct ticket t[4] = { 0 };
    for (int i = 0; i < 4; i++)
        limiter_join(&l, &t[i], 0, 0);
    CHECK_PTR(next(&l, 0), &t[0]);
    limiter_settle(&l, &t[0], 0, 0, 0);
    CHECK_PTR(next(&l, 0), &t[1]);
    limiter_join(&l, &t[0], 0, 0);
    limiter_leave(&l, &t[2]);
    limiter_leave(&l, &t[2]);
    limiter_settle(&l, &t[1], 0, 0, 0);
    CHECK_PTR(next(&l, 0), &t[0]);
    limiter_settle(&l, &t[0], 0, 0, 0);
    limiter_join(&l, &t[2], 0, 0);
    CHECK_PTR(next(&l, 0), &t[2]);
    limiter_settle(&l, &t[2], 0, 0, 0);
    CHECK_PTR(next(&l, 0), &t[3]);
    CHECK_NULL(l.head);
    CHECK_NULL(l.tail);
    limiter_clear(&l);
}

TEST(a_pause_holds_for_everybody)
{
    struct limiter l = { 0 };
    struct ticket a = { 0 }, b = { 0 };
    limiter_pause(&l, 5000);
    limiter_pause(&l, 3000);
    limiter_join(&l, &a, 0, 0);
    limiter_join(&l, &b, 0, 0);
    CHECK_INT(due(&l, 0), 5000);
    CHECK_INT(due(&l, 4999), 5000);
    CHECK_PTR(next(&l, 5000), &a);
    CHECK_PTR(next(&l, 5000), &b);
    limiter_clear(&l);
}

/* ---- M4: no minute has more than was allowed, whoever asks and however servers count ----------------------- */

enum { CALLERS = 64, CALLS = 2000 };

struct call {
    struct ticket ticket;
    int64_t joined_ms, began_ms, ended_ms, input, output;
};

struct world {
    struct limiter limiter;
    struct call calls[CALLS];
    int out[CALLERS], out_count;
    int joined, begun, ended;
    uint64_t seed;
    int64_t now_ms, length_ms;
};

static int64_t draw(struct world *w, int64_t most)
{
    w->seed = hash_add(w->seed, 1);
    return (int64_t)(w->seed % (uint64_t)(most + 1));
}

static void arrive(struct world *w)
{
    struct call *c = &w->calls[w->joined++];
    c->joined_ms = w->now_ms;
    c->input = draw(w, 900);
    c->output = draw(w, 400);
    limiter_join(&w->limiter, &c->ticket, c->input + draw(w, 200), c->output + draw(w, 300));
}

static void begin_all(struct world *w)
{
    int64_t ms;
    for (struct ticket *t; w->out_count < CALLERS && (t = limiter_next(&w->limiter, w->now_ms, &ms));) {
        struct call *c = (struct call *)t;
        CHECK_PTR(c, &w->calls[w->begun]); // first come, first served
        c->began_ms = w->now_ms;
        w->out[w->out_count++] = w->begun++;
    }
}

static void end_one(struct world *w)
{
    int i = (int)draw(w, w->out_count - 1);
    struct call *c = &w->calls[w->out[i]];
    w->out[i] = w->out[--w->out_count];
    c->ended_ms = w->now_ms;
    w->ended++;
    limiter_settle(&w->limiter, &c->ticket, w->now_ms, c->input, c->output);
}

static void simulate(struct world *w)
{
    while (w->ended < CALLS) {
        w->now_ms += draw(w, 400);
        if (w->joined < CALLS && (draw(w, 3) || w->joined == w->ended))
            arrive(w);
        begin_all(w);
        CHECK(w->limiter.concurrency == 0 || w->limiter.out <= w->limiter.concurrency);
        if (w->out_count && draw(w, 2))
            end_one(w);
    }
}

/* When a call counts for its server: at its beginning, its end, or somewhere between. */
static int64_t counted_ms(const struct call *c, int way)
{
    int64_t span = c->ended_ms - c->began_ms;
    int64_t between = (int64_t)(hash_mix((uint64_t)c->joined_ms) % (uint64_t)(span + 1));
    return way == 0 ? c->began_ms : way == 1 ? c->ended_ms : c->began_ms + between;
}

/* The windows that begin with a call are the fullest ones. */
static void check_minutes(const struct world *w, int way)
{
    for (int i = 0; i < CALLS; i++) {
        int64_t from_request = w->calls[i].began_ms, from = counted_ms(&w->calls[i], way);
        int64_t requests = 0, tokens = 0;
        for (int k = 0; k < CALLS; k++) {
            const struct call *c = &w->calls[k];
            int64_t at = counted_ms(c, way);
            requests += c->began_ms >= from_request && c->began_ms < from_request + MINUTE;
            tokens += at >= from && at < from + MINUTE ? c->output : 0;
            tokens += c->began_ms >= from && c->began_ms < from + MINUTE ? c->input : 0;
        }
        CHECK(w->limiter.rpm == 0 || requests <= w->limiter.rpm);
        CHECK(w->limiter.tpm == 0 || tokens <= w->limiter.tpm);
    }
}

static void check_world(uint64_t seed, int64_t rpm, int64_t tpm, int64_t concurrency)
{
    static struct world w;
    memset(&w, 0, sizeof w);
    w.seed = seed;
    w.limiter = (struct limiter){ .rpm = rpm, .tpm = tpm, .concurrency = concurrency };
    simulate(&w);
    for (int way = 0; way < 3; way++)
        check_minutes(&w, way);
    CHECK_INT(w.limiter.held, 0);
    CHECK_INT(w.limiter.out, 0);
    if (rpm) // the limit is used: no more than a quarter is given away
        CHECK(w.now_ms < (int64_t)CALLS * MINUTE / rpm * 5 / 4 + 3 * MINUTE || tpm || concurrency);
    limiter_clear(&w.limiter);
}

TEST(no_minute_has_more_requests_than_allowed)
{
    for (uint64_t seed = 1; seed <= 4; seed++)
        check_world(seed, 60 + (int64_t)seed * 13, 0, 0);
}

TEST(no_minute_has_more_tokens_than_allowed)
{
    for (uint64_t seed = 11; seed <= 14; seed++)
        check_world(seed, 0, 20000 + (int64_t)seed * 1000, 0);
}

TEST(all_limits_hold_together)
{
    for (uint64_t seed = 21; seed <= 24; seed++)
        check_world(seed, 100, 40000, 7);
}
