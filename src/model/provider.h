/* provider.h - who serves models: one row each.

   A provider is an API at a place: a base URL, the variable that may give another one, and the variables that
   may hold a key. */
#ifndef RONDO_PROVIDER_H
#define RONDO_PROVIDER_H

#include "model/api.h"

enum auth { AUTH_NONE, AUTH_BEARER, AUTH_X_API_KEY, AUTH_GOOGLE, AUTH_AZURE };

struct provider {
    const char *name, *also; // and another name; NULL
    const struct api *api;
    const char *base_url; // {VARIABLE} in it is filled in
    const char *base_variables; // "OPENAI_BASE_URL"; several with blanks between, the first set one counts
    const char *key_variables;
    uint8_t auth;
    bool key_optional; // servers on this machine, usually
    uint32_t manners;  // enum manner
    const char *about; // for lists: "OpenAI, Chat Completions"
};

const struct provider *provider_find(const char *name);
const struct provider *provider_at(size_t i); // NULL: there are no more

#endif
