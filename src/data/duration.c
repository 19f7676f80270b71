/* duration.c - reading lengths of time.

   Workflow files write durations the way people say them.  Everything past this file counts
   milliseconds in an int64_t whose name ends in _ms.  A fraction is read digit by digit, so that
   0.1s is exactly 100 ms; what is finer than a millisecond is rounded. */
#include "data/duration.h"

#include "base/mem.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define MS_MAX       (INT64_MAX / 4 / 1000000) // some 73 years; see TIME_MAX_MS of flow/node.h
#define MS_MAX_PLAIN (INT64_MAX / 1000000)     // what Go can count: 2562047h47m16s

static const struct {
    const char *name;
    int64_t ms;
} units[] = { { "h", 3600000 }, { "m", 60000 }, { "s", 1000 }, { "ms", 1 } };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* The unit that begins at text, the longest name; COUNT(units) when there is none. */
static size_t unit_at(const char *text)
{
    for (size_t i = COUNT(units); i-- > 0;)
        if (strncmp(text, units[i].name, strlen(units[i].name)) == 0)
            return i;
    return COUNT(units);
}

struct number {
    int64_t whole;
    int64_t billionths;
    bool is_large, has_fraction;
};

static const char *number_read(const char *text, struct number *ret)
{
    *ret = (struct number){ 0 };
    for (; is_digit(*text); text++) {
        ret->is_large = ret->is_large || ret->whole > MS_MAX;
        ret->whole = ret->is_large ? 0 : ret->whole * 10 + (*text - '0');
    }
    if (*text != '.' || !is_digit(text[1]))
        return text;
    ret->has_fraction = true;
    for (int64_t worth = 100000000; is_digit(*++text); worth /= 10)
        ret->billionths += worth * (*text - '0');
    return text;
}

/* Adds a number of a unit; false when that is too long a time. */
static bool add(int64_t *ms, const struct number *n, int64_t unit, int64_t max)
{
    if (n->is_large || n->whole > max / unit)
        return false;
    *ms += n->whole * unit + (n->billionths * unit + 500000000) / 1000000000;
    return *ms <= max;
}

static int refuse(rondo_error *err, const char *text, bool is_plain)
{
    bool is_number = *text;
    for (const char *at = text; *at; at++)
        is_number = is_number && is_digit(*at);
    if (is_number && strlen(text) < 12)
        return err_set(err, RONDO_EPARSE, "expected a duration with its unit such as '%ss', got '%s'",
                       text, text);
    return err_set(err, RONDO_EPARSE, "expected a duration such as %s, got '%.60s'",
                   is_plain ? "'30s' or '1h30m'" : "'30s', '1h30m' or '500ms'", text);
}

int duration_parse(const char *text, bool is_plain, int64_t *ret_ms, rondo_error *err)
{
    int64_t ms = 0;
    size_t next_unit = 0;
    const char *at = text;
    while (*at) {
        struct number n;
        const char *behind = number_read(at, &n);
        size_t unit = behind > at ? unit_at(behind) : COUNT(units);
        if (unit < next_unit || unit == COUNT(units) || (is_plain && (unit == 3 || n.has_fraction)))
            return refuse(err, text, is_plain);
        if (!add(&ms, &n, units[unit].ms, is_plain ? MS_MAX_PLAIN : MS_MAX))
            return err_set(err, RONDO_ELIMIT, "the duration '%.60s' is too long: at most %lldh", text,
                           (is_plain ? MS_MAX_PLAIN : MS_MAX) / 3600000LL);
        at = behind + strlen(units[unit].name);
        next_unit = unit + 1;
    }
    if (at == text)
        return refuse(err, text, is_plain);
    *ret_ms = MIN(ms, MS_MAX);
    return 0;
}

void duration_put(struct buf *out, int64_t ms)
{
    size_t i = 0;
    while (ms % units[i].ms)
        i++;
    buf_printf(out, "%" PRId64 "%s", ms / units[i].ms, units[i].name);
}
