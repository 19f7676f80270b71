/* names.c - the words behind the numbers of the public header, and values as text. */
#include "base/error.h"
#include "base/mem.h"
#include "data/value.h"

#include <stdio.h>
#include <string.h>

const char *rondo_version(void)
{
    return "0.1.0";
}

void rondo_on_exhausted(void (*hook)(size_t size))
{
    mem_on_exhausted(hook);
}

const char *rondo_reason_text(int reason)
{
    static const char *const texts[] = {
#define TEXT(name, text) text,
        RONDO_REASONS(TEXT)
#undef TEXT
    };
    return reason >= 0 && (size_t)reason < COUNT(texts) ? texts[reason] : "";
}

const char *rondo_reason_ensemble(int reason)
{
    if (reason == RONDO_REASON_UNTIL || reason == RONDO_REASON_JUDGE)
        return "predicate";
    return reason == RONDO_REASON_MAX_ITERATIONS ? "maxIterations" : NULL;
}

const char *rondo_status_text(int status)
{
    static const char *const texts[] = { "running",   "completed", "failed", "skipped",
                                         "cancelled", "partial",   "waiting" };
    return status >= 0 && (size_t)status < COUNT(texts) ? texts[status] : "";
}

rondo_value *rondo_value_parse(const char *text, rondo_error *err)
{
    json_error_t error;
    rondo_error scratch;
    json_t *value = json_loads(text, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
    if (value)
        return value;
    err = err ? err : &scratch;
    err_set(err, RONDO_EPARSE, "not JSON: %s", error.text);
    err->line = error.line;
    err->column = error.column;
    return NULL;
}

char *rondo_value_text(const rondo_value *value)
{
    return value ? json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
}

void rondo_text_free(char *text)
{
    mem_free(text);
}

rondo_value *rondo_value_ref(rondo_value *value)
{
    return json_incref(value);
}

void rondo_value_unref(rondo_value *value)
{
    json_decref(value);
}
