/* usage.c - see usage.h.  One table has the members of a usage and their names. */
#include "run/usage.h"

#include "base/mem.h"

#include <string.h>

#define SUM_MAX (INT64_MAX / 8) // so that some sums can be added

static const struct {
    const char *key;
    size_t at;
    bool always; // written also when it is 0
} rows[] = {
    { "prompt", offsetof(rondo_usage, input_tokens), true },
    { "completion", offsetof(rondo_usage, output_tokens), true },
    { "nanoUsd", offsetof(rondo_usage, cost_nano), true },
    { "calls", offsetof(rondo_usage, calls), true },
    { "reasoning", offsetof(rondo_usage, reasoning_tokens), false },
    { "cacheRead", offsetof(rondo_usage, cache_read_tokens), false },
    { "cacheWrite", offsetof(rondo_usage, cache_write_tokens), false },
    { "unpriced", offsetof(rondo_usage, unpriced), false },
};

static int64_t *member(rondo_usage *usage, size_t i)
{
    return (int64_t *)((char *)usage + rows[i].at);
}

static int64_t amount(const rondo_usage *usage, size_t i)
{
    return *(const int64_t *)((const char *)usage + rows[i].at);
}

void usage_add(rondo_usage *sum, const rondo_usage *usage)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        *member(sum, i) = MIN(amount(sum, i) + amount(usage, i), SUM_MAX);
}

void usage_take(rondo_usage *sum, const rondo_usage *usage)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        *member(sum, i) = MAX(amount(sum, i) - amount(usage, i), 0);
}

bool usage_is_none(const rondo_usage *usage)
{
    static const rondo_usage none;
    return memcmp(usage, &none, sizeof none) == 0;
}

bool usage_is_good(const rondo_usage *usage)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (amount(usage, i) < 0 || amount(usage, i) > USAGE_MAX)
            return false;
    return true;
}

json_t *usage_value(const rondo_usage *usage)
{
    json_t *value = json_object();
    for (size_t i = 0; i < COUNT(rows); i++)
        if (rows[i].always || amount(usage, i))
            json_object_set_new(value, rows[i].key, json_integer((json_int_t)amount(usage, i)));
    return value;
}

rondo_usage usage_from(const json_t *value)
{
    rondo_usage usage = { 0 };
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t n = json_integer_value(json_object_get(value, rows[i].key));
        *member(&usage, i) = n >= 0 && n <= USAGE_MAX ? n : 0;
    }
    return usage;
}
