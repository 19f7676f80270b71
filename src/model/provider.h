/* provider.h - who serves models: one row each, and how a name in a file becomes a server to ask.

   "provider/model" and "provider:model" name both; an alias of the file's `models` names a row of it; a
   bare name is guessed from its beginning and from which keys there are.  A provider is an API at a
   place: a base URL, the variable that may give another one, and the variables that may hold a key.

   A key from the environment goes only to the place that the table or the environment names: when a
   file sets `baseUrl` it has to name the key (`apiKey`) too, or none is sent. */
#ifndef RONDO_PROVIDER_H
#define RONDO_PROVIDER_H

#include "flow/flow.h"
#include "model/api.h"
#include "model/price.h"

enum auth { AUTH_NONE, AUTH_BEARER, AUTH_X_API_KEY, AUTH_GOOGLE, AUTH_AZURE };

struct provider {
    const char *name;
    const struct api *api;
    const char *base_url;
    const char *base_variables; // "OPENAI_BASE_URL"; several with blanks between, the first set one counts
    const char *key_variables;
    uint8_t auth;
    bool key_optional; // servers on this machine, usually
    const char *about; // for lists: "OpenAI, Chat Completions"
};

const struct provider *provider_find(const char *name);
const struct provider *provider_at(size_t i); // NULL: there are no more

/* A model that can be asked: everything is known.  Counted, immutable. */
struct target {
    uint32_t refs;
    const struct provider *provider;
    char *alias;    // as the file called it
    char *base_url; // without '/' at its end
    char *model;
    char *key;      // a secret; NULL: none
    char *extra_headers; // lines, as organisation ids; NULL
    double temperature, top_p; // NaN
    int64_t max_tokens;
    char *effort;
    struct price price;
    int64_t rpm, tpm, concurrency; // 0: no limit
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

/* Limiters and caches are shared by what this says: provider, place, key (hashed) and model. */
uint64_t target_hash(const struct target *target);

#endif
