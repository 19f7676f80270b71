/* target.h - how a name in a file becomes a server to ask.

   "provider/model" and "provider:model" name both; an alias of the file's `models` names a row of it; a
   bare name is guessed from its beginning and from which keys there are.

   A key from the environment goes only to the place that the table or the environment names: when a
   file sets `baseUrl` it has to name the key (`apiKey`) too, or none is sent. */
#ifndef RONDO_TARGET_H
#define RONDO_TARGET_H

#include "flow/flow.h"
#include "model/price.h"
#include "model/provider.h"

/* A model that can be asked: everything is known.  Counted, immutable. */
struct target {
    uint32_t refs;
    const struct provider *provider;
    const struct api *api; // the provider's, unless the file says another
    char *alias;    // as the file called it
    char *base_url; // without '/' at its end
    char *model;
    char *query;    // that every URL has: "api-version=..."; NULL
    char *key;      // a secret; NULL: none
    uint8_t auth;   // enum auth: how the key is sent
    char *no_key;   // why there is none although there could be, for when the server wants one; NULL
    char *extra_headers; // lines, as organisation ids; NULL
    double temperature, top_p; // NaN
    int64_t max_tokens;
    char *effort;
    struct price price;
    int64_t rpm, tpm, concurrency; // 0: no limit
    bool waits; // for a quota, however long that takes
    int64_t connect_ms, first_ms, idle_ms, total_ms;
    struct target *fallback; // owned; the next to try; NULL
};

/* What the embedding program says: the library reads no environment of its own accord. */
struct model_world {
    const char *(*get_variable)(void *user, const char *name); // NULL: there is no environment
    void *user;
    const struct price_table *prices; // NULL: built in
};

/* The target that a name means in a flow (NULL: no aliases).  0; RONDO_EINVAL: the name means nothing; RONDO_ENOTFOUND:
   there is no key, and which variable would hold it. */
int target_find(const struct flow *flow, const char *name, const struct model_world *world,
                struct target **ret, rondo_error *err);
struct target *target_ref(struct target *target);
void target_unref(struct target *target); // NULL is fine

/* Where a request goes, and the lines "Name: value\n" that it has: content type, what is accepted, the key, and
   all that target and API add.  Both append; the second one's text is a secret. */
void target_put_url(const struct target *target, const struct wire *wire, struct buf *out);
void target_put_headers(const struct target *target, const struct wire *wire, bool stream, struct buf *out);

/* Limiters and caches are shared by what this says: provider, place, key (hashed) and model. */
uint64_t target_hash(const struct target *target);

#endif
