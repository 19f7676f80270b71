/* retry.c - see retry.h.

   Delays come in many spellings: milliseconds, seconds with fractions, durations such as 6m0s, dates of HTTP
   and of RFC 3339, seconds or milliseconds since 1970.  read_moment() takes them all; what it cannot read
   counts as not said. */
#include "model/retry.h"

#include "base/hash.h"
#include "cel/civil.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELAY_MAX_MS (400ll * 24 * 3600 * 1000) // what anybody says beyond a year is nonsense

/* ---- what went wrong -------------------------------------------------------------------------------------- */

static const struct {
    int from, to, trouble;
    bool again;
} statuses[] = {
    { 300, 400, TROUBLE_REQUEST, false },  { 401, 401, TROUBLE_KEY, false },
    { 402, 402, TROUBLE_MONEY, false },    { 403, 403, TROUBLE_KEY, false },
    { 408, 409, TROUBLE_SERVER, true },    { 413, 413, TROUBLE_TOO_LONG, false },
    { 429, 429, TROUBLE_THROTTLE, true },  { 404, 499, TROUBLE_REQUEST, false },
    { 500, 500, TROUBLE_SERVER, true },    { 502, 504, TROUBLE_SERVER, true },
    { 520, 524, TROUBLE_SERVER, true }, // what Cloudflare says of a server behind it
    { 529, 529, TROUBLE_SERVER, true },    { 501, 599, TROUBLE_SERVER, false },
};

static size_t status_row(int status)
{
    size_t i = 0;
    while (i < COUNT(statuses) && (status < statuses[i].from || status > statuses[i].to))
        i++;
    return i;
}

int retry_trouble(int status)
{
    size_t i = status_row(status);
    return i < COUNT(statuses) ? statuses[i].trouble : status < 300 ? TROUBLE_NONE : TROUBLE_ANSWER;
}

static int trouble_of(const struct retry_case *retry)
{
    if (retry->refusal && retry->refusal->trouble != TROUBLE_NONE)
        return retry->refusal->trouble;
    return retry->status ? retry_trouble(retry->status) : TROUBLE_NETWORK;
}

/* A body may call an answer with an odd status a throttle; that a server is in trouble is believed only with
   a status that says so, or in the middle of an answer that began well. */
static bool may_help(const struct retry_case *retry, int trouble)
{
    size_t i = status_row(retry->status);
    if (trouble == TROUBLE_THROTTLE || trouble == TROUBLE_NETWORK)
        return true;
    if (trouble != TROUBLE_SERVER && trouble != TROUBLE_ANSWER)
        return false;
    return i == COUNT(statuses) || statuses[i].again;
}

/* ---- what the server asks for ----------------------------------------------------------------------------- */

static const char *get(const struct retry_headers *headers, const char *name)
{
    const char *text = headers->get ? headers->get(headers->user, name) : NULL;
    return text ? text + strspn(text, " \t") : NULL;
}

static int64_t bounded(double ms)
{
    return ms > 0 ? (int64_t)ceil(MIN(ms, (double)DELAY_MAX_MS)) : 0;
}

/* A number with nothing but blanks behind it. */
static bool read_number(const char *text, double *ret)
{
    char *end;
    if (strspn(text, "0123456789.") == 0)
        return false;
    *ret = strtod(text, &end);
    return end[strspn(end, " \t")] == '\0' && isfinite(*ret);
}

/* "Sun, 06 Nov 1994 08:49:37 GMT", the one form of dates that HTTP still sends. */
static bool read_http_date(const char *text, int64_t *ret_ms)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    int day, year, hour, minute, second;
    char month[4];
    if (sscanf(text, "%*3[A-Za-z], %2d %3[A-Za-z] %4d %2d:%2d:%2d GMT", &day, month, &year, &hour, &minute,
               &second) != 6)
        return false;
    const char *at = strstr(months, month);
    if (!at || strlen(month) != 3 || (at - months) % 3 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    int64_t days = civil_days(year, (int)(at - months) / 3 + 1, day);
    *ret_ms = (((days * 24 + hour) * 60 + minute) * 60 + second) * 1000;
    return true;
}

/* How long until a moment that is told in any of the ways; unit_ms: what a plain number counts.  -1: none of
   them.  Numbers too large for a length of time are moments since 1970. */
static int64_t read_moment(const char *text, double unit_ms, int64_t now_ms)
{
    double n;
    int64_t at, length_ns;
    uint32_t ns;
    size_t len = text ? strcspn(text, " \t") : 0;
    if (len == 0)
        return -1;
    if (read_number(text, &n))
        return n > 1e11 ? bounded(n - (double)now_ms)
             : n > 1e9  ? bounded(n * 1000 - (double)now_ms)
                        : bounded(n * unit_ms);
    if (civil_read_duration(text, len, &length_ns))
        return bounded((double)length_ns / 1e6);
    if (civil_read(text, len, &at, &ns))
        return bounded((double)(at * 1000 - now_ms) + ns / 1e6);
    return read_http_date(text, &at) ? bounded((double)(at - now_ms)) : -1;
}

/* Limits that servers tell of: what is left, and when it is full again. */
static const struct {
    const char *left, *reset;
} limits[] = {
    { "x-ratelimit-remaining-requests", "x-ratelimit-reset-requests" },
    { "x-ratelimit-remaining-tokens", "x-ratelimit-reset-tokens" },
    { "x-ratelimit-remaining-requests-day", "x-ratelimit-reset-requests-day" },
    { "x-ratelimit-remaining-tokens-minute", "x-ratelimit-reset-tokens-minute" },
    { "anthropic-ratelimit-requests-remaining", "anthropic-ratelimit-requests-reset" },
    { "anthropic-ratelimit-tokens-remaining", "anthropic-ratelimit-tokens-reset" },
    { "anthropic-ratelimit-input-tokens-remaining", "anthropic-ratelimit-input-tokens-reset" },
    { "anthropic-ratelimit-output-tokens-remaining", "anthropic-ratelimit-output-tokens-reset" },
    { "x-ratelimit-remaining", "x-ratelimit-reset" },
    { "ratelimit-remaining", "ratelimit-reset" },
};

static bool is_none(const char *text)
{
    double n;
    return text && read_number(text, &n) && n == 0;
}

int64_t retry_used_up_ms(const struct retry_headers *headers, int64_t now_ms)
{
    int64_t longest = 0;
    for (size_t i = 0; i < COUNT(limits); i++)
        if (is_none(get(headers, limits[i].left)))
            longest = MAX(longest, read_moment(get(headers, limits[i].reset), 1000, now_ms));
    return longest;
}

/* When none of the limits is said to be used up, one of them is all the same: the soonest may be it. */
static int64_t soonest_reset(const struct retry_headers *headers, int64_t now_ms)
{
    int64_t soonest = -1;
    for (size_t i = 0; i < COUNT(limits); i++) {
        int64_t ms = read_moment(get(headers, limits[i].reset), 1000, now_ms);
        if (ms >= 0 && (soonest < 0 || ms < soonest))
            soonest = ms;
    }
    return soonest;
}

static int64_t server_delay(const struct retry_case *retry, int trouble)
{
    const struct retry_headers *headers = &retry->headers;
    int64_t ms = read_moment(get(headers, "retry-after-ms"), 1, retry->now_ms);
    if (ms < 0)
        ms = read_moment(get(headers, "retry-after"), 1000, retry->now_ms);
    if (ms < 0 && retry->refusal && retry->refusal->delay_ms >= 0)
        ms = MIN(retry->refusal->delay_ms, DELAY_MAX_MS);
    if (ms >= 0 || (trouble != TROUBLE_THROTTLE && trouble != TROUBLE_QUOTA))
        return ms;
    ms = retry_used_up_ms(headers, retry->now_ms);
    return ms > 0 ? ms : soonest_reset(headers, retry->now_ms);
}

/* ---- the plan --------------------------------------------------------------------------------------------- */

static int64_t own_delay(const struct retry_case *retry)
{
    int doublings = MIN(MAX(retry->tries - 1, 0), 20);
    int64_t most = MIN((int64_t)RETRY_FIRST_MS << doublings, RETRY_MOST_MS);
    return (int64_t)(hash_add(retry->seed, (uint64_t)retry->tries) % (uint64_t)(most + 1));
}

struct retry_plan retry_plan(const struct retry_case *retry)
{
    struct retry_plan plan = { .step = RETRY_NO, .trouble = trouble_of(retry) };
    plan.server_ms = server_delay(retry, plan.trouble);
    plan.delay_ms = MAX(plan.server_ms, own_delay(retry));
    if (plan.trouble == TROUBLE_QUOTA) {
        plan.step = RETRY_LONG;
        plan.delay_ms = plan.server_ms;
    } else if (may_help(retry, plan.trouble) && plan.server_ms > RETRY_PATIENCE_MS)
        plan.step = RETRY_LONG;
    else if (may_help(retry, plan.trouble) && retry->tries <= retry->max_retries)
        plan.step = RETRY_WAIT;
    return plan;
}
