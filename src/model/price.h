/* price.h - what tokens cost, in billionths of a US dollar.

   The table is a data file (prices.json beside this one) that is built in; a file of the user's may
   replace or extend it, and a workflow's `price` beats both.  A model that is in none of them has no
   price: its cost is unknown and never shown as 0. */
#ifndef RONDO_PRICE_H
#define RONDO_PRICE_H

#include "model/answer.h"

/* Nano-dollars per million tokens, so that USD per million is exact to nine decimals.  Some servers
   charge more for long requests: when the whole input is above `above` tokens, all of it and the output
   are at the long rates. */
struct price_rates {
    int64_t input, output, cache_read, cache_write;
};

struct price {
    bool is_known;
    int64_t input, output, cache_read, cache_write;
    int64_t above; // 0: there are no other rates
    struct price_rates above_rates;
};

struct price_table;

/* The built-in rows, and in front of them those of a user's file (text NULL: none), in the same form:

     { "models": { "openai/gpt-5": { "input": 1.25, "output": 10, "cacheRead": 0.125, "cacheWrite": 1.25,
                                     "long": { "above": 272000, "input": 2.5, "output": 15 } } } }

   in USD per million tokens; cacheRead and cacheWrite are the input's price when they are not given;
   a name that ends in a star instead of a model is for all models of a provider.  RONDO_EPARSE, RONDO_EINVAL. */
int price_table_open(const char *text, size_t len, struct price_table **ret, rondo_error *err);
void price_table_close(struct price_table *table); // NULL is fine

/* The row of the name; or that of a name of which this is a dated version ("gpt-5-2025-08-07", "-0613",
   "-latest", "@20250929"); or the provider's row for all.  An unknown one has is_known false.  table NULL:
   what is built in. */
struct price price_find(const struct price_table *table, const char *provider, const char *model);

/* Rounded up, exact beyond that.  Without a price: 0. */
int64_t price_of(const struct price *price, const struct token_count *tokens);

bool price_is_same(const struct price *a, const struct price *b);

/* USD per million, as files write it, as a rate. */
int64_t price_rate(double usd);

/* For lists: the rows of the built-in table and the user's, in their order; false: there are no more. */
bool price_at(struct price_table *table, size_t i, const char **ret_name, struct price *ret);

#endif
