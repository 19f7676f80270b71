/* test_model_retry.c - which failures of a model's server are tried again, and after how long. */

#include "model/retry.h"
#include "test.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NOW 1700000000000ll // 2023-11-14T22:13:20Z

/* Headers as "name: value" lines. */
static const char *line_get(void *user, const char *name)
{
    static char value[8][200];
    static int next;
    size_t len = strlen(name);
    for (const char *at = user; at && *at; at = strchr(at, '\n') ? strchr(at, '\n') + 1 : NULL) {
        if (strncasecmp(at, name, len) != 0 || at[len] != ':')
            continue;
        next = (next + 1) % 8;
        snprintf(value[next], sizeof value[next], "%.*s", (int)strcspn(at + len + 1, "\n"), at + len + 1);
        return value[next];
    }
    return NULL;
}

static struct retry_plan plan_of(int status, const char *headers, const struct refusal *refusal, int tries)
{
    struct retry_case c = { .status = status, .headers = { line_get, (void *)headers }, .refusal = refusal,
                            .tries = tries, .max_retries = 4, .seed = 42, .now_ms = NOW };
    return retry_plan(&c);
}

static struct refusal said(int trouble, int64_t delay_ms)
{
    return (struct refusal){ .trouble = trouble, .delay_ms = delay_ms };
}

TEST(statuses_that_may_pass_are_tried_again)
{
    static const int again[] = { 408, 409, 429, 500, 502, 503, 504, 520, 524, 529 };
    static const int never[] = { 300, 307, 400, 401, 402, 403, 404, 405, 413, 415, 422, 451, 499, 501, 505 };
    for (size_t i = 0; i < COUNT(again); i++)
        CHECK_INT(plan_of(again[i], "", NULL, 1).step, RETRY_WAIT);
    for (size_t i = 0; i < COUNT(never); i++)
        CHECK_INT(plan_of(never[i], "retry-after: 1", NULL, 1).step, RETRY_NO);
    CHECK_INT(plan_of(0, "", NULL, 1).step, RETRY_WAIT); // the network
    CHECK_INT(plan_of(0, "", NULL, 1).trouble, TROUBLE_NETWORK);
}

TEST(a_status_says_what_the_trouble_is)
{
    CHECK_INT(retry_trouble(200), TROUBLE_NONE);
    CHECK_INT(retry_trouble(400), TROUBLE_REQUEST);
    CHECK_INT(retry_trouble(401), TROUBLE_KEY);
    CHECK_INT(retry_trouble(402), TROUBLE_MONEY);
    CHECK_INT(retry_trouble(404), TROUBLE_REQUEST);
    CHECK_INT(retry_trouble(413), TROUBLE_TOO_LONG);
    CHECK_INT(retry_trouble(429), TROUBLE_THROTTLE);
    CHECK_INT(retry_trouble(529), TROUBLE_SERVER);
    CHECK_INT(retry_trouble(999), TROUBLE_ANSWER);
}

TEST(what_the_body_says_beats_the_status)
{
    struct refusal money = said(TROUBLE_MONEY, 1000), key = said(TROUBLE_KEY, -1), full = said(TROUBLE_TOO_LONG, -1);
    struct refusal overloaded = said(TROUBLE_SERVER, -1), throttle = said(TROUBLE_THROTTLE, -1);
    struct refusal nonsense = said(TROUBLE_ANSWER, -1);
    CHECK_INT(plan_of(429, "retry-after: 1", &money, 1).step, RETRY_NO);
    CHECK_INT(plan_of(429, "retry-after: 1", &money, 1).trouble, TROUBLE_MONEY);
    CHECK_INT(plan_of(500, "", &key, 1).step, RETRY_NO);
    CHECK_INT(plan_of(503, "", &full, 1).step, RETRY_NO);
    CHECK_INT(plan_of(200, "", &overloaded, 1).step, RETRY_WAIT); // in the middle of a stream
    CHECK_INT(plan_of(400, "", &overloaded, 1).step, RETRY_NO);
    CHECK_INT(plan_of(403, "", &throttle, 1).step, RETRY_WAIT);
    CHECK_INT(plan_of(200, "", &nonsense, 1).step, RETRY_WAIT);
}

TEST(tries_are_counted)
{
    for (int tries = 1; tries <= 4; tries++)
        CHECK_INT(plan_of(500, "", NULL, tries).step, RETRY_WAIT);
    CHECK_INT(plan_of(500, "", NULL, 5).step, RETRY_NO);
    struct retry_case none = { .status = 500, .tries = 1, .max_retries = 0 };
    CHECK_INT(retry_plan(&none).step, RETRY_NO);
}

/* Each way in which a server may ask for a delay. */
TEST(every_spelling_of_a_delay_is_read)
{
    static const struct {
        const char *headers;
        int64_t ms;
    } rows[] = {
        { "retry-after-ms: 39000", 39000 },
        { "retry-after-ms: 1500.5", 1501 },
        { "Retry-After: 60", 60000 },
        { "retry-after: 2.5", 2500 },
        { "retry-after: 0", 0 },
        { "retry-after: Tue, 14 Nov 2023 22:14:20 GMT", 60000 },
        { "retry-after: Tue, 14 Nov 2023 22:13:19 GMT", 0 }, // has passed
        { "x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 4m0s", 240000 },
        { "x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 12ms", 12 },
        { "x-ratelimit-remaining-requests: 7\nx-ratelimit-reset-requests: 4m0s\n"
          "x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 1m1.5s", 61500 },
        { "x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 9s\n"
          "x-ratelimit-remaining-tokens: 0\nx-ratelimit-reset-tokens: 7s", 9000 },
        { "x-ratelimit-remaining-requests: 3\nx-ratelimit-reset-requests: 9s\nx-ratelimit-reset-tokens: 7s", 7000 },
        { "anthropic-ratelimit-input-tokens-remaining: 0\n"
          "anthropic-ratelimit-input-tokens-reset: 2023-11-14T22:13:50Z", 30000 },
        { "anthropic-ratelimit-tokens-reset: 2023-11-15T00:13:50.5+02:00", 30500 },
        { "x-ratelimit-remaining: 0\nx-ratelimit-reset: 1700000020000", 20000 }, // milliseconds since 1970
        { "x-ratelimit-remaining: 0\nx-ratelimit-reset: 1700000020", 20000 },
        { "ratelimit-remaining: 0\nratelimit-reset: 25", 25000 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct retry_plan plan = plan_of(429, rows[i].headers, NULL, 1);
        CHECK_INT(plan.server_ms, rows[i].ms);
        CHECK_INT(plan.step, RETRY_WAIT);
        CHECK(plan.delay_ms >= plan.server_ms);
    }
}

TEST(nonsense_is_no_delay)
{
    static const char *const rows[] = {
        "", "retry-after: soon", "retry-after: -5", "retry-after:", "retry-after:  ", "retry-after: 5 apples",
        "retry-after: Xxx, 99 Nov 2023 22:14:20 GMT", "retry-after: Tue, 14 ovN 2023 22:14:20 GMT",
        "retry-after-ms: NaN", "retry-after: inf", "x-ratelimit-remaining-requests: 0",
        "retry-after: 2023-99-99T00:00:00Z",
    };
    for (size_t i = 0; i < COUNT(rows); i++)
        CHECK_INT(plan_of(429, rows[i], NULL, 1).server_ms, -1);
}

TEST(delays_are_looked_for_in_this_order)
{
    struct refusal body = said(TROUBLE_THROTTLE, 39000);
    const char *all = "x-ratelimit-reset-requests: 1s\nretry-after: 2\nretry-after-ms: 3000";
    CHECK_INT(plan_of(429, all, &body, 1).server_ms, 3000);
    CHECK_INT(plan_of(429, "x-ratelimit-reset-requests: 1s\nretry-after: 2", &body, 1).server_ms, 2000);
    CHECK_INT(plan_of(429, "x-ratelimit-reset-requests: 1s", &body, 1).server_ms, 39000);
    CHECK_INT(plan_of(429, "x-ratelimit-reset-requests: 1s", NULL, 1).server_ms, 1000);
    CHECK_INT(plan_of(429, "retry-after-ms: later\nretry-after: 2", &body, 1).server_ms, 2000);
    CHECK_INT(plan_of(503, "x-ratelimit-reset-requests: 1s", NULL, 1).server_ms, -1); // not what is meant
    CHECK_INT(plan_of(503, "retry-after: 7", NULL, 1).server_ms, 7000);
}

TEST(the_longer_delay_wins)
{
    CHECK_INT(plan_of(429, "retry-after: 100", NULL, 3).delay_ms, 100000);
    struct retry_plan own = plan_of(500, "", NULL, 3);
    CHECK(plan_of(500, "retry-after-ms: 1", NULL, 3).delay_ms == MAX(own.delay_ms, 1));
}

/* Full jitter: anything from nothing to the bound, evenly, and the bound doubles. */
TEST(own_delays_are_drawn_from_all_of_a_span_that_doubles)
{
    for (int tries = 1; tries <= 9; tries++) {
        int64_t most = MIN(RETRY_FIRST_MS << (tries - 1), RETRY_MOST_MS), sum = 0, low = INT64_MAX, high = 0;
        for (uint64_t seed = 0; seed < 4000; seed++) {
            struct retry_case c = { .status = 500, .tries = tries, .max_retries = 20, .seed = seed };
            int64_t ms = retry_plan(&c).delay_ms;
            CHECK(ms >= 0 && ms <= most);
            sum += ms;
            low = MIN(low, ms);
            high = MAX(high, ms);
        }
        CHECK_NEAR((double)sum / 4000, (double)most / 2, (double)most / 20);
        CHECK(low < most / 50 && high > most - most / 50);
    }
}

TEST(the_same_seed_gives_the_same_delays)
{
    struct retry_case a = { .status = 500, .tries = 2, .max_retries = 4, .seed = 7 }, b = a;
    CHECK_INT(retry_plan(&a).delay_ms, retry_plan(&b).delay_ms);
    b.seed = 8;
    CHECK(retry_plan(&a).delay_ms != retry_plan(&b).delay_ms);
}

TEST(a_long_delay_is_a_quotas)
{
    struct refusal day = said(TROUBLE_QUOTA, -1), day_known = said(TROUBLE_QUOTA, 3600000);
    CHECK_INT(plan_of(429, "retry-after: 300", NULL, 1).step, RETRY_WAIT);
    struct retry_plan plan = plan_of(429, "retry-after: 301", NULL, 1);
    CHECK_INT(plan.step, RETRY_LONG);
    CHECK_INT(plan.delay_ms, 301000);
    CHECK_INT(plan_of(429, "", &day, 1).step, RETRY_LONG);
    CHECK_INT(plan_of(429, "", &day, 1).delay_ms, -1); // nobody knows
    CHECK_INT(plan_of(429, "", &day_known, 1).delay_ms, 3600000);
    CHECK_INT(plan_of(429, "", &day_known, 9).step, RETRY_LONG); // however many tries there were
    CHECK_INT(plan_of(401, "retry-after: 301", NULL, 1).step, RETRY_NO);
    CHECK(plan_of(429, "retry-after: 99999999999999", NULL, 1).delay_ms < 500ll * 24 * 3600 * 1000);
}

TEST(an_answer_may_say_that_it_was_the_last_for_a_while)
{
    static char one[] = "x-ratelimit-remaining-requests: 1\nx-ratelimit-reset-requests: 9s";
    static char zero[] = "x-ratelimit-remaining-requests: 0\nx-ratelimit-reset-requests: 9s";
    struct retry_headers fine = { line_get, one }, last = { line_get, zero };
    struct retry_headers none = { 0 };
    CHECK_INT(retry_used_up_ms(&fine, NOW), 0);
    CHECK_INT(retry_used_up_ms(&last, NOW), 9000);
    CHECK_INT(retry_used_up_ms(&none, NOW), 0);
}
