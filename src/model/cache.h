/* cache.h - answers of models, kept by what was asked.

   A file of its own (SQLite), shared by all processes that use it.  What was asked is the place, the model and
   the request without what changes nothing about the answer, with sorted keys; only its SHA-256 is kept.  The
   file is bounded: what was used longest ago goes first.  A cache is never worth a failure: whatever is wrong
   with it, it knows nothing and keeps nothing. */
#ifndef RONDO_CACHE_H
#define RONDO_CACHE_H

#include "base/sha256.h"
#include "model/answer.h"

#define CACHE_BYTES  (256ll * 1024 * 1024) // of all entries together
#define CACHE_ANSWER (4 * 1024 * 1024)     // what is longer is not kept

struct cache;

struct cache_key {
    uint8_t bytes[SHA256_BYTES];
};

/* Made when it is not there; 0600.  RONDO_ESTORE: it cannot be, or is another program's file. */
int cache_open(const char *path, struct cache **ret, rondo_error *err);
void cache_close(struct cache *cache); // NULL is fine
const char *cache_path(const struct cache *cache);

void cache_set_bytes(struct cache *cache, int64_t bytes); // another bound, for tests

/* What is asked: at which URL, with which JSON. */
struct cache_key cache_key(const char *url, const char *body, size_t len);

/* Fills the answer in, which is initialised; its tokens are 0, as nothing was spent.  false: not there. */
bool cache_find(struct cache *cache, const struct cache_key *key, int64_t now_ms, struct answer *ret);
void cache_keep(struct cache *cache, const struct cache_key *key, int64_t now_ms, const struct answer *answer);

#endif
