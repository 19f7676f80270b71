/* price.h - what tokens cost, in billionths of a US dollar.

   The table is a data file (prices.json beside this one) that is built in; a file of the user's may
   replace or extend it, and a workflow's `price` beats both.  A model that is in none of them has no
   price: its cost is unknown and never shown as 0. */
#ifndef RONDO_PRICE_H
#define RONDO_PRICE_H

#include "model/answer.h"

/* Nano-dollars per million tokens, so that USD per million with three decimals is exact. */
struct price {
    bool is_known;
    int64_t input, output, cache_read, cache_write;
};

struct price_table;

/* The built-in rows, and in front of them those of a user's file (text NULL: none). */
int price_table_open(const char *text, size_t len, struct price_table **ret, rondo_error *err);
void price_table_close(struct price_table *table); // NULL is fine

/* A row for the name, or the longest row that is its beginning up to a '-', '@' or ':' (dated versions).
   An unknown one has is_known false. */
struct price price_find(const struct price_table *table, const char *provider, const char *model);

/* Rounded up, exact beyond that.  Without a price: 0. */
int64_t price_of(const struct price *price, const struct token_count *tokens);

#endif
