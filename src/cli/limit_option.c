/* limit_option.c - see limit_option.h. */
#include "cli/limit_option.h"

#include "base/buf.h"
#include "cli/show.h"
#include "data/duration.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum kind { COUNT_OF, TIME_OF, MONEY_OF };

static const struct limit {
    const char *key, *name; // in a file; in rondo_run_options
    uint8_t kind;
} limits[] = {
    { "maxIterations", "maxIterations", COUNT_OF }, { "maxFailures", "maxFailures", COUNT_OF },
    { "patience", "patience", COUNT_OF },           { "stall.repeats", "stallRepeats", COUNT_OF },
    { "timeout", "timeoutMs", TIME_OF },            { "budget.time", "budgetMs", TIME_OF },
    { "budget.tokens", "budgetTokens", COUNT_OF },  { "budget.cost", "budgetNano", MONEY_OF },
    { "budget.calls", "budgetCalls", COUNT_OF },
};

static int refuse(const char *text, rondo_error *err)
{
    auto_buf struct buf keys = { 0 };
    for (size_t i = 0; i < COUNT(limits); i++)
        buf_printf(&keys, "%s%s", i ? ", " : "", limits[i].key);
    return err_set(err, RONDO_EINVAL, "--limit %s: expected PATH:KEY=VALUE, KEY one of %s; without PATH it is the run",
                   text, buf_text(&keys));
}

static const struct limit *find(const char *key, size_t len)
{
    for (size_t i = 0; i < COUNT(limits); i++)
        if (strlen(limits[i].key) == len && strncmp(limits[i].key, key, len) == 0)
            return &limits[i];
    return NULL;
}

static int read_value(const struct limit *limit, const char *text, int64_t *ret, rondo_error *err)
{
    char *end;
    errno = 0;
    if (limit->kind == TIME_OF)
        return duration_parse(text, false, ret, err);
    double usd = limit->kind == MONEY_OF ? strtod(text, &end) : 0;
    *ret = limit->kind == MONEY_OF ? (int64_t)llround(fmin(fmax(usd, 0), 9e6) * 1e9) : strtoll(text, &end, 10);
    if (limit->kind != MONEY_OF && errno == ERANGE && *text != '-')
        return err_set(err, RONDO_EINVAL, "expected at most %lld, got '%s'", (long long)INT64_MAX, text);
    if (end == text || *end || *ret < 1)
        return err_set(err, RONDO_EINVAL, "expected a number above 0, got '%s'", text);
    return 0;
}

static int read_one(const char *text, json_t *all, rondo_error *err)
{
    const char *is = strchr(text, '='), *key = is;
    while (key && key > text && *key != ':')
        key--;
    bool has_path = key && *key == ':';
    auto_free char *path = mem_dup(text, has_path ? (size_t)(key - text) : 0);
    key += has_path;
    const struct limit *limit = is ? find(key, (size_t)(is - key)) : NULL;
    int64_t value;
    if (!limit)
        return refuse(text, err);
    if (read_value(limit, is + 1, &value, err) < 0) {
        err->code = RONDO_EINVAL;
        return err_in(err, "--limit %s", text);
    }
    json_t *of_path = json_object_get(all, path);
    if (!of_path)
        json_object_set_new(all, path, of_path = json_object());
    json_object_set_new(of_path, limit->name, json_integer(value));
    return 0;
}

int limit_option_read(const struct texts *given, json_t **ret, rondo_error *err)
{
    json_t *all = given->count ? json_object() : NULL;
    for (uint32_t i = 0; i < given->count; i++)
        if (read_one(given->list[i], all, err) < 0) {
            json_decref(all);
            return err->code;
        }
    *ret = all;
    return 0;
}

/* "budget.cost=0.5"; value: in milliseconds or nano-dollars, or a count. */
static void put_limit(struct buf *out, const struct limit *limit, int64_t value)
{
    buf_printf(out, "%s=", limit->key);
    if (limit->kind == TIME_OF)
        duration_put(out, value);
    else if (limit->kind == MONEY_OF)
        buf_printf(out, "%.9g", (double)value / 1e9);
    else
        buf_printf(out, "%" PRId64, value);
}

bool limit_option_put(struct buf *out, const char *path, const char *key, int64_t value)
{
    const struct limit *limit = find(key, strlen(key));
    auto_buf struct buf word = { 0 };
    if (!limit)
        return false;
    buf_printf(&word, "%s:", path);
    put_limit(&word, limit, value);
    buf_puts(out, " --limit ");
    show_word(out, buf_text(&word));
    return true;
}

void limit_option_put_named(struct buf *out, const char *name, int64_t value)
{
    for (size_t i = 0; i < COUNT(limits); i++)
        if (strcmp(limits[i].name, name) == 0) {
            put_limit(out, &limits[i], value);
            return;
        }
    buf_printf(out, "%s=%" PRId64, name, value);
}
