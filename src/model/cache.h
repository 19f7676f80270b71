/* cache.h - answers of models, kept by what was asked.

   A file of its own (SQLite), shared by all processes that use it.  What was asked is the place, the model and the
   request without what changes nothing about the answer, as one text with sorted keys; it is kept beside
   the answer and compared, so a hash that two requests share does no harm.  The file is bounded: what was
   used longest ago goes first.  A cache is never worth a failure: whatever is wrong with it, it knows
   nothing and keeps nothing. */
#ifndef RONDO_CACHE_H
#define RONDO_CACHE_H

#include "model/answer.h"

#define CACHE_BYTES  (256ll * 1024 * 1024) // of all entries together
#define CACHE_ANSWER (4 * 1024 * 1024)     // what is longer is not kept

struct cache;

/* Made when it is not there; 0600. */
int cache_open(const char *path, struct cache **ret, rondo_error *err);
void cache_close(struct cache *cache); // NULL is fine
const char *cache_path(const struct cache *cache);

/* For tests: another bound. */
void cache_set_bytes(struct cache *cache, int64_t bytes);

/* What was asked, as a text: appended to out.  place: base URL and path; body: the request's JSON. */
void cache_put_question(struct buf *out, const char *place, const char *body, size_t len);

/* Fills the answer in, which is initialised; its tokens are 0, as nothing was spent.  false: not there. */
bool cache_find(struct cache *cache, const char *question, size_t len, int64_t now_ms, struct answer *ret);
void cache_keep(struct cache *cache, const char *question, size_t len, int64_t now_ms, const struct answer *answer);

#endif
