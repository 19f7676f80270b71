/* price.c - see price.h.

   A table is two JSON objects of rows: the user's, and the one that is built in (prices.json, which the
   Makefile turns into an object).  That one is long, and reading all of it takes as long as starting a
   program: so a row of it is looked for in the text, where each has a line of its own.  Doubles occur only
   where a text is read: everything after price_rate() is whole nano-dollars, and products are 128 bits wide. */
#define _GNU_SOURCE // memmem
#include "model/price.h"

#include "data/value.h"

#include <math.h>
#include <string.h>

#define MILLION   1000000
#define NANO      1e9
#define USD_MAX   1e6 // per million tokens; beyond it is a mistake
#define NAME_LEN  200

extern const char prices_json[];
extern const size_t prices_json_len;

struct price_table {
    json_t *own, *built_in; // the rows; own may be NULL, built_in is there when a list was asked for
};

int64_t price_rate(double usd)
{
    return (int64_t)llround(usd * NANO);
}

/* ---- reading rows ----------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    size_t at;
    bool needed;
} fields[] = {
    { "input", offsetof(struct price_rates, input), true },
    { "output", offsetof(struct price_rates, output), true },
    { "cacheRead", offsetof(struct price_rates, cache_read), false },
    { "cacheWrite", offsetof(struct price_rates, cache_write), false },
};

static int read_rates(const json_t *row, struct price_rates *ret, rondo_error *err)
{
    for (size_t i = 0; i < COUNT(fields); i++) {
        const json_t *value = json_object_get(row, fields[i].name);
        double usd = value ? json_number_value(value) : 0;
        if ((value || fields[i].needed) && (!json_is_number(value) || !(usd >= 0 && usd <= USD_MAX)))
            return err_set(err, RONDO_EINVAL, "'%s' is to be US dollars per million tokens", fields[i].name);
        *(int64_t *)((char *)ret + fields[i].at) = value ? price_rate(usd) : ret->input;
    }
    return 0;
}

static int read_row(const json_t *row, struct price *ret, rondo_error *err)
{
    struct price_rates rates, above_rates = { 0 };
    const json_t *more = json_object_get(row, "long"), *above = json_object_get(more, "above");
    if (read_rates(row, &rates, err) < 0)
        return err->code;
    if (more && (!json_is_integer(above) || json_integer_value(above) <= 0))
        return err_set(err, RONDO_EINVAL, "'long' needs 'above', a number of tokens");
    if (more && read_rates(more, &above_rates, err) < 0)
        return err_in(err, "long");
    *ret = (struct price){ true, rates.input, rates.output, rates.cache_read, rates.cache_write,
                           json_integer_value(above), above_rates };
    return 0;
}

static int check_rows(const json_t *rows, rondo_error *err)
{
    const char *name;
    json_t *row;
    struct price ignored;
    if (!json_is_object(rows))
        return err_set(err, RONDO_EINVAL, "a table of prices is an object with 'models', a map of names to prices");
    json_object_foreach((json_t *)rows, name, row) {
        if (!strchr(name, '/'))
            return err_set(err, RONDO_EINVAL, "expected a name such as 'openai/gpt-5', got '%.80s'", name);
        if (read_row(row, &ignored, err) < 0)
            return err_in(err, "price of '%.80s'", name);
    }
    return 0;
}

static int read_table(const char *text, size_t len, json_t **ret, rondo_error *err)
{
    json_error_t at;
    auto_json json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);
    if (!root)
        return err_set(err, RONDO_EPARSE, "line %d: %s", at.line, at.text);
    json_t *rows = json_object_get(root, "models");
    if (check_rows(rows, err) < 0)
        return err->code;
    *ret = json_incref(rows);
    return 0;
}

int price_table_open(const char *text, size_t len, struct price_table **ret, rondo_error *err)
{
    struct price_table *table = mem_zalloc(sizeof *table);
    if (text && read_table(text, len, &table->own, err) < 0) {
        price_table_close(table);
        return err->code;
    }
    *ret = table;
    return 0;
}

void price_table_close(struct price_table *table)
{
    if (!table)
        return;
    json_decref(table->own);
    json_decref(table->built_in);
    mem_free(table);
}

/* ---- finding one ------------------------------------------------------------------------------------------ */

/* Providers that sell the models of another at its prices. */
static const struct {
    const char *name, *as;
} same[] = {
    { "openai-responses", "openai" },
    { "azure", "openai" },
    { "google", "gemini" },
};

static const char *seller(const char *provider)
{
    for (size_t i = 0; i < COUNT(same); i++)
        if (strcmp(same[i].name, provider) == 0)
            return same[i].as;
    return provider;
}

/* "-2025-08-07", "-0613", "@20250929", "-latest": nothing that could be another, dearer model. */
static bool is_version(const char *text)
{
    if (*text != '-' && *text != '@')
        return false;
    if (strcmp(text + 1, "latest") == 0)
        return true;
    size_t digits = strspn(text + 1, "0123456789");
    return digits >= 4 && strspn(text + 1, "0123456789-") == strlen(text + 1);
}

static bool get_own(const struct price_table *table, const char *name, struct price *ret)
{
    rondo_error ignored;
    const json_t *row = table ? json_object_get(table->own, name) : NULL;
    return row && read_row(row, ret, &ignored) == 0;
}

static bool get_built_in(const struct price_table *table, const char *name, struct price *ret)
{
    char start[NAME_LEN + 8];
    rondo_error ignored;
    size_t len = (size_t)snprintf(start, sizeof start, "\n\"%s\": ", name);
    const char *at = memmem(prices_json, prices_json_len, start, len);
    if (!at)
        return false;
    auto_json json_t *row = json_loadb(at + len, (size_t)(prices_json + prices_json_len - at) - len,
                                       JSON_DISABLE_EOF_CHECK, NULL);
    return row && read_row(row, ret, &ignored) == 0;
}

/* The name, then what is left of it without a version, longest first. */
static bool find_in(bool (*get)(const struct price_table *table, const char *name, struct price *ret),
                    const struct price_table *table, const char *provider, const char *model, struct price *ret)
{
    char name[NAME_LEN];
    size_t head = strlen(provider) + 1, len = head + strlen(model);
    if (len + 2 > sizeof name)
        return false;
    memcpy(name, provider, head - 1);
    name[head - 1] = '/';
    memcpy(name + head, model, len - head + 1);
    if (get(table, name, ret))
        return true;
    for (size_t at = len; at-- > head + 1;) {
        if (!is_version(model + (at - head)))
            continue;
        name[at] = '\0';
        if (get(table, name, ret))
            return true;
    }
    memcpy(name + head, "*", 2);
    return get(table, name, ret);
}

struct price price_find(const struct price_table *table, const char *provider, const char *model)
{
    struct price price = { 0 };
    const char *as = seller(provider);
    if (!find_in(get_own, table, provider, model, &price) && !find_in(get_own, table, as, model, &price))
        find_in(get_built_in, table, as, model, &price);
    return price;
}

bool price_at(struct price_table *table, size_t i, const char **ret_name, struct price *ret)
{
    rondo_error ignored;
    size_t own = json_object_size(table->own);
    if (!table->built_in && read_table(prices_json, prices_json_len, &table->built_in, &ignored) < 0)
        return false;
    json_t *rows = i < own ? table->own : table->built_in;
    void *at = json_object_iter(rows);
    for (i -= i < own ? 0 : own; at && i > 0; i--)
        at = json_object_iter_next(rows, at);
    if (!at)
        return false;
    *ret_name = json_object_iter_key(at);
    return read_row(json_object_iter_value(at), ret, &ignored) == 0;
}

/* ---- what it comes to ------------------------------------------------------------------------------------- */

static int64_t known(int64_t tokens)
{
    return MAX(tokens, 0); // -1: the server did not say
}

bool price_is_same(const struct price *a, const struct price *b)
{
    size_t from = offsetof(struct price, input); // numbers of one size from there
    return a->is_known == b->is_known && memcmp(&a->input, &b->input, sizeof *a - from) == 0;
}

int64_t price_of(const struct price *price, const struct token_count *tokens)
{
    struct price_rates rates = { price->input, price->output, price->cache_read, price->cache_write };
    if (price->above > 0 && tokens->input > price->above)
        rates = price->above_rates;
    int64_t read = known(tokens->cache_read), written = known(tokens->cache_write);
    int64_t plain = MAX(known(tokens->input) - read - written, 0);
    __int128 sum = (__int128)plain * rates.input + (__int128)read * rates.cache_read +
                   (__int128)written * rates.cache_write + (__int128)known(tokens->output) * rates.output;
    __int128 nano = (sum + MILLION - 1) / MILLION;
    return nano > INT64_MAX ? INT64_MAX : (int64_t)nano;
}
