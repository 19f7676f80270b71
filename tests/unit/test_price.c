/* test_price.c - what tokens cost, to the billionth of a dollar. */

#include "base/hash.h"
#include "model/price.h"
#include "test.h"

#include <string.h>

static const char own_rows[] =
    "{ \"models\": {"
    "  \"openai/gpt-5\": { \"input\": 1.25, \"output\": 10, \"cacheRead\": 0.125 },"
    "  \"openai/gpt-5-mini\": { \"input\": 0.25, \"output\": 2, \"cacheRead\": 0.025 },"
    "  \"acme/m\": { \"input\": 3, \"output\": 15, \"cacheRead\": 0.3, \"cacheWrite\": 3.75,"
    "              \"long\": { \"above\": 200000, \"input\": 6, \"output\": 22.5, \"cacheRead\": 0.6,"
    "                        \"cacheWrite\": 7.5 } },"
    "  \"home/*\": { \"input\": 0, \"output\": 0 } } }";

static struct price_table *table_of(const char *text)
{
    struct price_table *table = NULL;
    rondo_error err = { 0 };
    if (price_table_open(text, text ? strlen(text) : 0, &table, &err) < 0)
        FAIL("%s", err.message);
    return table;
}

static struct price found(const char *provider, const char *model)
{
    struct price_table *table = table_of(own_rows);
    struct price price = price_find(table, provider, model);
    price_table_close(table);
    return price;
}

static struct token_count tokens(int64_t input, int64_t output, int64_t read, int64_t written)
{
    return (struct token_count){ .input = input, .output = output, .cache_read = read, .cache_write = written,
                                 .reasoning = -1 };
}

/* Calculated by hand. */
TEST(costs_are_exact)
{
    struct price gpt = found("openai", "gpt-5"), acme = found("acme", "m");
    static const struct {
        bool acme;
        int64_t input, output, read, written, nano;
    } rows[] = {
        { false, 0, 0, 0, 0, 0 },
        { false, 1, 0, 0, 0, 1250 },                             // 1.25 USD / 1e6
        { false, 0, 1, 0, 0, 10000 },
        { false, 1000000, 0, 0, 0, 1250000000 },                 // 1.25 USD
        { false, 12345, 678, 0, 0, 15431250 + 6780000 },
        { false, 12345, 678, 12000, 0, 345 * 1250 + 12000 * 125 + 6780000 },
        { false, 1, 0, 1, 0, 125 },
        { false, 100, 100, -1, -1, 125000 + 1000000 },           // what was not said is nothing
        { false, -1, -1, -1, -1, 0 },
        { false, 10, 0, 25, 0, 25 * 125 },                       // more from the cache than there was: as told
        { true, 1000, 100, 200, 300, 500 * 3000 + 200 * 300 + 300 * 3750 + 100 * 15000 },
        { true, 200000, 10, 0, 0, 200000ll * 3000 + 10 * 15000 },
        { true, 200001, 10, 0, 0, 200001ll * 6000 + 10 * 22500 }, // all of it
        { true, 200001, 10, 1, 200000, 600 + 200000ll * 7500 + 10 * 22500 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct token_count t = tokens(rows[i].input, rows[i].output, rows[i].read, rows[i].written);
        CHECK_INT(price_of(rows[i].acme ? &acme : &gpt, &t), rows[i].nano);
    }
}

TEST(fractions_of_a_nano_dollar_are_rounded_up)
{
    struct price p = { .is_known = true, .input = price_rate(0.0375), .output = price_rate(0.000001) };
    CHECK_INT(p.input, 37500000);
    CHECK_INT(p.output, 1000);
    struct token_count one = tokens(1, 0, 0, 0), both = tokens(1, 1, 0, 0), out = tokens(0, 1, 0, 0);
    CHECK_INT(price_of(&p, &one), 38);  // 37.5
    CHECK_INT(price_of(&p, &both), 38); // 37.501
    CHECK_INT(price_of(&p, &out), 1);   // 0.001
}

/* M1: what a ledger adds up is what the tokens cost, however the calls were: a sum of exact costs is exact
   when the price of each token is whole, and never below. */
TEST(a_ledger_of_many_calls_is_exact)
{
    struct price p = found("openai", "gpt-5"), fine = { .is_known = true, .input = 37500001, .output = 150000003 };
    int64_t sum = 0, input = 0, output = 0, read = 0, fine_sum = 0;
    __int128 fine_exact = 0;
    uint64_t seed = 1;
    for (int i = 0; i < 100000; i++) {
        seed = hash_mix(seed + 1);
        struct token_count t = tokens((int64_t)(seed % 100000), (int64_t)(seed >> 40) % 8000, 0, 0);
        t.cache_read = t.input / 3;
        sum += price_of(&p, &t);
        input += t.input - t.cache_read, output += t.output, read += t.cache_read;
        struct token_count plain = tokens(t.input, t.output, 0, 0);
        fine_sum += price_of(&fine, &plain);
        fine_exact += (__int128)plain.input * fine.input + (__int128)plain.output * fine.output;
    }
    CHECK_INT(sum, input * 1250 + output * 10000 + read * 125);
    CHECK((__int128)fine_sum * 1000000 >= fine_exact);
    CHECK((__int128)fine_sum * 1000000 < fine_exact + (__int128)100000 * 1000000);
}

TEST(no_number_of_tokens_overflows)
{
    struct price p = { .is_known = true, .input = price_rate(1e6), .output = price_rate(1e6) };
    struct token_count t = tokens(INT64_MAX, INT64_MAX, 0, 0);
    CHECK_INT(price_of(&p, &t), INT64_MAX);
}

TEST(names_are_found_with_their_versions)
{
    static const struct {
        const char *provider, *model;
        int64_t input; // -1: unknown
    } rows[] = {
        { "openai", "gpt-5", 1250000000 },
        { "openai", "gpt-5-2025-08-07", 1250000000 },
        { "openai", "gpt-5-0613", 1250000000 },
        { "openai", "gpt-5-latest", 1250000000 },
        { "openai", "gpt-5@20250929", 1250000000 },
        { "openai", "gpt-5-mini-2025-08-07", 250000000 },
        { "azure", "gpt-5", 1250000000 },
        { "openai-responses", "gpt-5-mini", 250000000 },
        { "openai", "gpt-5-huge", -1 }, // another model
        { "openai", "gpt-5-32k", -1 },
        { "openai", "gpt-5-1", -1 },
        { "openai", "gpt-5:free", -1 },
        { "openai", "gpt-5-", -1 },
        { "openai", "gpt", -1 },
        { "openai", "", -1 },
        { "acme", "gpt-5", -1 },
        { "home", "whatever:7b", 0 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct price p = found(rows[i].provider, rows[i].model);
        CHECK_INT(p.is_known ? p.input : -1, rows[i].input);
    }
    char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK(!found("openai", longest).is_known);
}

TEST(caches_cost_what_input_does_where_nothing_else_is_said)
{
    struct price p = found("openai", "gpt-5");
    CHECK_INT(p.cache_read, 125000000);
    CHECK_INT(p.cache_write, 1250000000);
}

TEST(a_users_rows_come_before_those_that_are_built_in)
{
    struct price_table *built_in = table_of(NULL);
    struct price_table *own = table_of("{\"models\": "
                                       "{\"anthropic/claude-sonnet-4-6\": {\"input\": 1, \"output\": 2}}}");
    struct price before = price_find(built_in, "anthropic", "claude-sonnet-4-6");
    struct price after = price_find(own, "anthropic", "claude-sonnet-4-6-20260217");
    CHECK_INT(before.input, 3000000000);
    CHECK_INT(before.output, 15000000000);
    CHECK_INT(before.cache_read, 300000000);
    CHECK_INT(after.input, 1000000000);
    CHECK(price_find(own, "anthropic", "claude-haiku-4-5").is_known); // the others are still there
    CHECK(price_find(NULL, "google", "gemini-2.5-pro").is_known);
    CHECK_INT(price_find(NULL, "google", "gemini-2.5-pro").above, 200000);
    CHECK_INT(price_find(NULL, "ollama", "qwen3:8b").input, 0);
    CHECK(price_find(NULL, "ollama", "qwen3:8b").is_known);
    CHECK(!price_find(NULL, "openai", "no-such-model").is_known);
    price_table_close(built_in);
    price_table_close(own);
}

TEST(all_rows_can_be_listed)
{
    struct price_table *table = table_of(own_rows);
    const char *name;
    struct price price;
    size_t count = 0, own = 0;
    for (; price_at(table, count, &name, &price); count++) {
        CHECK(price.is_known && strchr(name, '/'));
        own += count < 4 && strstr(own_rows, name) != NULL;
    }
    CHECK_INT((intmax_t)own, 4);
    CHECK(count > 300);
    price_table_close(table);
}

/* Rows are looked for by their lines: each has to have one. */
TEST(every_row_that_is_listed_is_found)
{
    struct price_table *table = table_of("{\"models\": {}}");
    const char *name;
    struct price listed;
    for (size_t i = 0; price_at(table, i, &name, &listed); i++) {
        char provider[100];
        size_t len = strcspn(name, "/");
        snprintf(provider, sizeof provider, "%.*s", (int)len, name);
        struct price found = price_find(NULL, provider, name + len + 1);
        CHECK(found.is_known && found.input == listed.input && found.output == listed.output);
        CHECK(found.above == listed.above && found.above_rates.input == listed.above_rates.input);
    }
    price_table_close(table);
}

TEST(wrong_tables_are_refused_with_a_reason)
{
    static const struct {
        const char *text, *message;
        int code;
    } rows[] = {
        { "{", "line 1: ", RONDO_EPARSE },
        { "[]", "a table of prices is an object with 'models', a map of names to prices", RONDO_EINVAL },
        { "{\"models\": {\"gpt-5\": {\"input\": 1, \"output\": 1}}}",
          "expected a name such as 'openai/gpt-5', got 'gpt-5'",
          RONDO_EINVAL },
        { "{\"models\": {\"a/b\": {\"input\": 1}}}", "price of 'a/b': 'output' is to be US dollars per million tokens",
          RONDO_EINVAL },
        { "{\"models\": {\"a/b\": {\"input\": -1, \"output\": 1}}}",
          "price of 'a/b': 'input' is to be US dollars per million tokens", RONDO_EINVAL },
        { "{\"models\": {\"a/b\": {\"input\": 1, \"output\": \"2\"}}}",
          "price of 'a/b': 'output' is to be US dollars per million tokens", RONDO_EINVAL },
        { "{\"models\": {\"a/b\": {\"input\": 1, \"output\": 1e9}}}",
          "price of 'a/b': 'output' is to be US dollars per million tokens", RONDO_EINVAL },
        { "{\"models\": {\"a/b\": {\"input\": 1, \"output\": 1, \"long\": {\"input\": 1, \"output\": 1}}}}",
          "price of 'a/b': 'long' needs 'above', a number of tokens", RONDO_EINVAL },
        { "{\"models\": {\"a/b\": {\"input\": 1, \"output\": 1, \"long\": {\"above\": 5, \"input\": 1}}}}",
          "price of 'a/b': long: 'output' is to be US dollars per million tokens", RONDO_EINVAL },
        { "{\"models\": {\"a/b\": 7}}",
          "price of 'a/b': 'input' is to be US dollars per million tokens", RONDO_EINVAL },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct price_table *table = NULL;
        rondo_error err = { 0 };
        CHECK_INT(price_table_open(rows[i].text, strlen(rows[i].text), &table, &err), rows[i].code);
        CHECK_NULL(table);
        CHECK(strncmp(err.message, rows[i].message, strlen(rows[i].message)) == 0);
    }
}
