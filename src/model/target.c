/* target.c - from a name to a server that can be asked.

   A name is looked for among the file's aliases, then taken apart into provider and model, then guessed.
   Where the server is and which key it gets belong together: whoever says the first has to say the
   second, or a file could have keys of the environment sent to anybody. */
#include "model/target.h"

#include "base/hash.h"
#include "data/duration.h"
#include "data/utf8.h"
#include "flow/diag.h"
#include "flow/known.h"
#include "io/reference.h"
#include "model/place.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct target *target_ref(struct target *target)
{
    target->refs++;
    return target;
}

void target_unref(struct target *target)
{
    if (!target || --target->refs)
        return;
    target_unref(target->fallback);
    mem_free(target->alias);
    mem_free(target->base_url);
    mem_free(target->model);
    mem_free(target->query);
    mem_free(target->key);
    mem_free(target->no_key);
    mem_free(target->extra_headers);
    mem_free(target->effort);
    mem_free(target);
}

static void target_unref_at(struct target **at)
{
    target_unref(*at);
}
#define auto_target __attribute__((cleanup(target_unref_at)))

static struct target *target_new(const struct provider *provider, const char *alias, const char *model)
{
    struct target *target = mem_zalloc(sizeof *target);
    target->refs = 1;
    target->provider = provider;
    target->api = provider->api;
    target->auth = provider->auth;
    target->alias = mem_strdup(alias);
    target->model = mem_strdup(model);
    target->temperature = target->top_p = NAN;
    return target;
}

/* What is being looked for. */
struct search {
    const struct flow *flow;
    const struct model_world *world;
    const json_t *row; // of the file's `models`; NULL
};

static const char *get_variable(const struct search *search, const char *name)
{
    const struct model_world *world = search->world;
    const char *value = world && world->get_variable ? world->get_variable(world->user, name) : NULL;
    return value && *value ? value : NULL;
}

/* The first of the variables (separated by blanks) that is set; its name goes to ret_name. */
static const char *get_first(const struct search *search, const char *names, char ret_name[64])
{
    for (const char *at = names; *at; at += strspn(at, " ")) {
        size_t len = strcspn(at, " ");
        snprintf(ret_name, 64, "%.*s", (int)len, at);
        const char *value = get_variable(search, ret_name);
        if (value)
            return value;
        at += len;
    }
    return NULL;
}

/* ---- where it is ------------------------------------------------------------------------------------------ */

/* Paths of an API begin behind its base URL, which people write with and without the version. */
static const char *endings(const struct api *api)
{
    return api == &api_anthropic ? "/v1" : api == &api_gemini ? "/v1beta /v1" : api == &api_ollama ? "/api /v1" : "";
}

/* In older versions of its API, Azure has a place for every model. */
static void place_azure(struct target *target, const struct search *search, struct buf *url)
{
    const char *version = get_variable(search, "OPENAI_API_VERSION");
    auto_buf struct buf query = { 0 };
    while (url->len > 20 && memcmp(url->data + url->len - 20, "/openai/v1/openai/v1", 20) == 0)
        url->len -= 10;
    if (!version)
        return;
    place_cut(url, "/v1");
    buf_puts(url, "/deployments/");
    place_put_name(url, target->model);
    buf_puts(&query, "api-version=");
    place_put_name(&query, version);
    target->query = buf_take(&query);
}

static int fill_place(struct target *target, const struct search *search, struct buf *url, rondo_error *err)
{
    const struct provider *provider = target->provider;
    const struct model_world *world = search->world;
    char name[64];
    const char *given = get_first(search, provider->base_variables, name);
    if (given && provider->api == &api_ollama)
        place_put_ollama(url, given);
    else if (given)
        buf_puts(url, given);
    else if (place_fill(provider->base_url, world ? world->get_variable : NULL, world ? world->user : NULL, url,
                        err) < 0)
        return err_in(err, "where is %s?", provider->name);
    if (provider->auth == AUTH_AZURE)
        place_azure(target, search, url);
    if (place_check(url, err) < 0)
        return given ? err_in(err, "the variable %s", name) : err_in(err, "provider %s", provider->name);
    return 0;
}

/* *ret_is_own: the file says where, and it is not where the provider is anyway. */
static int find_place(struct target *target, const struct search *search, bool *ret_is_own, rondo_error *err)
{
    auto_buf struct buf url = { 0 };
    const char *given = api_text(search->row, "baseUrl");
    buf_puts(&url, given);
    if (*given ? place_check(&url, err) < 0 : fill_place(target, search, &url, err) < 0)
        return *given ? err_in(err, "baseUrl") : err->code;
    place_cut(&url, endings(target->api));
    *ret_is_own = *given && strcmp(buf_text(&url), target->provider->base_url) != 0;
    target->base_url = buf_take(&url);
    return 0;
}

/* ---- its key ---------------------------------------------------------------------------------------------- */

/* What goes into a header has to be one word. */
static int take_key(struct target *target, const char *key, const char *from, rondo_error *err)
{
    size_t skip = strspn(key, " \t\r\n"), len = strlen(key + skip);
    while (len && strchr(" \t\r\n", key[skip + len - 1]))
        len--;
    for (size_t i = 0; i < len; i++)
        if (key[skip + i] <= ' ' || key[skip + i] == 0x7f)
            return err_set(err, RONDO_EINVAL, "the key in %s has characters that no key has (its value is not shown)",
                           from);
    if (len)
        target->key = mem_dup(key + skip, len);
    return 0;
}

static int read_named_key(struct target *target, const struct search *search, const char *reference, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    const char *folder = search->flow ? search->flow->workdir : NULL;
    if (strncmp(reference, "env:", 4) == 0) {
        const char *value = get_variable(search, reference + 4);
        if (!value)
            return err_set(err, RONDO_ENOTFOUND, "apiKey: the variable %.100s is not set", reference + 4);
        return take_key(target, value, reference + 4, err);
    }
    if (strncmp(reference, "file:", 5) != 0)
        return err_set(err, RONDO_EINVAL, "apiKey has to be env:NAME or file:PATH");
    if (reference_file(reference + 5, folder, &text, err) < 0)
        return err_in(err, "apiKey");
    if (!buf_text(&text)[strspn(buf_text(&text), " \t\r\n")])
        return err_set(err, RONDO_ENOTFOUND, "apiKey: there is nothing in '%.200s'", reference + 5);
    return take_key(target, buf_text(&text), reference, err);
}

/* The provider's own variables.  Nothing there is a reason to stop only where it is certain to be needed. */
static int read_usual_key(struct target *target, const struct search *search, rondo_error *err)
{
    const struct provider *provider = target->provider;
    char name[64];
    const char *value = get_first(search, provider->key_variables, name);
    if (value && strcmp(name, "ANTHROPIC_AUTH_TOKEN") == 0)
        target->auth = AUTH_BEARER;
    if (value)
        return take_key(target, value, name, err);
    snprintf(name, sizeof name, "%.*s", (int)strcspn(provider->key_variables, " "), provider->key_variables);
    if (!provider->key_optional && !place_is_near(target->base_url))
        return err_set(err, RONDO_ENOTFOUND, "there is no key for %s: set the variable %s", provider->name, name);
    return 0;
}

/* A key that may not go there, and how it may. */
static void tell_no_key(struct target *target)
{
    auto_buf struct buf why = { 0 };
    const char *names = target->provider->key_variables;
    buf_printf(&why, "no key is sent to a baseUrl that the file sets, unless the file names the key too "
               "(apiKey: env:%.*s)", (int)strcspn(names, " "), names);
    target->no_key = buf_take(&why);
}

static int find_key(struct target *target, const struct search *search, bool is_own_place, rondo_error *err)
{
    const char *reference = api_text(search->row, "apiKey"), *host;
    int rc = 0;
    if (*reference)
        rc = read_named_key(target, search, reference, err);
    else if (is_own_place)
        tell_no_key(target);
    else
        rc = read_usual_key(target, search, err);
    if (rc < 0 || !target->key || place_is_secret(target->base_url) || place_is_near(target->base_url))
        return rc;
    size_t len = place_host(target->base_url, &host);
    return err_set(err, RONDO_EINVAL, "the key would go to '%.*s' over http, where anybody on the way can read it; "
                   "use https, or no key", (int)MIN(len, 200), host);
}

/* Whom OpenAI is to charge; only along with the key of the environment. */
static void find_headers(struct target *target, const struct search *search, bool is_own_place)
{
    static const struct {
        const char *variable, *header;
    } rows[] = { { "OPENAI_ORG_ID", "OpenAI-Organization" }, { "OPENAI_PROJECT_ID", "OpenAI-Project" } };
    auto_buf struct buf out = { 0 };
    bool is_openai = strncmp(target->provider->name, "openai", 6) == 0;
    for (size_t i = 0; i < COUNT(rows) && is_openai && target->key && !is_own_place; i++) {
        const char *value = get_variable(search, rows[i].variable);
        if (value && !value[strcspn(value, "\r\n")])
            buf_printf(&out, "%s: %.200s\n", rows[i].header, value);
    }
    if (out.len)
        target->extra_headers = buf_take(&out);
}

/* ---- what the file says of it ----------------------------------------------------------------------------- */

static double read_number(const json_t *row, const char *key)
{
    const json_t *value = json_object_get(row, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int64_t read_ms(const json_t *row, const char *key)
{
    const char *text = api_text(row, key);
    rondo_error err;
    int64_t ms = 0;
    return *text && duration_parse(text, false, &ms, &err) == 0 ? ms : 0;
}

static int64_t read_amount(const json_t *row, const char *key)
{
    return MAX(api_count(row, key), 0);
}

static void read_price(struct target *target, const json_t *row)
{
    double input = read_number(row, "input"), output = read_number(row, "output");
    double hit = read_number(row, "cacheRead"), fill = read_number(row, "cacheWrite");
    if (isnan(input) && isnan(output))
        return;
    target->price = (struct price){ .is_known = true };
    target->price.input = isnan(input) ? 0 : price_rate(input);
    target->price.output = isnan(output) ? 0 : price_rate(output);
    target->price.cache_read = isnan(hit) ? target->price.input : price_rate(hit);
    target->price.cache_write = isnan(fill) ? target->price.input : price_rate(fill);
}

static const struct {
    const char *word;
    const struct api *api;
} shapes[] = {
    { "chat", &api_openai_chat }, { "responses", &api_openai_responses }, { "messages", &api_anthropic },
};

static void read_shape(struct target *target, const json_t *row)
{
    const char *word = api_text(row, "api");
    for (size_t i = 0; i < COUNT(shapes); i++)
        if (strcmp(word, shapes[i].word) == 0)
            target->api = shapes[i].api;
}

static void read_row(struct target *target, const json_t *row)
{
    const json_t *limits = json_object_get(row, "limits"), *timeouts = json_object_get(row, "timeouts");
    const char *effort = api_text(row, "effort");
    target->temperature = read_number(row, "temperature");
    target->top_p = read_number(row, "topP");
    target->max_tokens = read_amount(row, "maxTokens");
    target->effort = *effort ? mem_strdup(effort) : NULL;
    target->rpm = read_amount(limits, "rpm");
    const char *quota = json_string_value(json_object_get(row, "onQuota"));
    target->waits = quota && strcmp(quota, "wait") == 0;
    target->tpm = read_amount(limits, "tpm");
    target->concurrency = read_amount(limits, "concurrency");
    target->connect_ms = read_ms(timeouts, "connect");
    target->first_ms = read_ms(timeouts, "firstByte");
    target->idle_ms = read_ms(timeouts, "idle");
    target->total_ms = read_ms(timeouts, "total");
    read_price(target, json_object_get(row, "price"));
}

/* ---- finding ---------------------------------------------------------------------------------------------- */

static int finish(struct target *target, const struct search *search, rondo_error *err)
{
    const struct price_table *prices = search->world ? search->world->prices : NULL;
    const char *payee = target->provider->api == &api_openai_responses ? "openai" : target->provider->name;
    bool is_own_place = false;
    read_shape(target, search->row);
    if (find_place(target, search, &is_own_place, err) < 0 || find_key(target, search, is_own_place, err) < 0)
        return err->code;
    find_headers(target, search, is_own_place);
    target->price = price_find(prices, payee, target->model);
    if (search->row)
        read_row(target, search->row);
    return 0;
}

static const struct provider *find_provider(const char *name, rondo_error *err)
{
    const struct provider *provider = provider_find(name);
    const char *nearest = diag_nearest(name, known_providers, known_provider_count);
    if (!provider && nearest)
        err_set(err, RONDO_EINVAL, "there is no provider '%.80s'; did you mean '%s'?", name, nearest);
    else if (!provider)
        err_set(err, RONDO_EINVAL, "there is no provider '%.80s'; any server that speaks Chat Completions can be "
                "used as provider compat, with a baseUrl", name);
    return provider;
}

/* The only provider there is a key for; NULL when there are several, or none. */
static const struct provider *find_only(const struct search *search)
{
    const struct provider *only = NULL, *provider;
    char name[64];
    for (size_t i = 0; (provider = provider_at(i)); i++) {
        if (provider->api == &api_openai_responses || !get_first(search, provider->key_variables, name))
            continue;
        if (only)
            return NULL;
        only = provider;
    }
    return only;
}

static const struct provider *guess_provider(const struct search *search, const char *name, rondo_error *err)
{
    const char *guess = known_guess(name);
    const struct provider *only = guess ? provider_find(guess)
                                  : get_variable(search, "COMPAT_BASE_URL") ? provider_find("compat")
                                                                            : find_only(search);
    if (!only)
        err_set(err, RONDO_EINVAL, "whose model is '%.80s'? write provider/model, for instance ollama/%.80s", name,
                name);
    return only;
}

static int find_plain(struct search *search, const char *name, struct target **ret, rondo_error *err)
{
    char before[64];
    size_t split = known_split(name);
    const char *model = split ? name + split + 1 : name;
    snprintf(before, sizeof before, "%.*s", (int)MIN(split, sizeof before - 1), name);
    const struct provider *provider = split ? find_provider(before, err) : guess_provider(search, name, err);
    if (!provider)
        return err->code;
    if (!*model)
        return err_set(err, RONDO_EINVAL, "'%.80s' names no model", name);
    auto_target struct target *target = target_new(provider, name, model);
    if (finish(target, search, err) < 0)
        return err_in(err, "model '%.80s'", name);
    *ret = TAKE(target);
    return 0;
}

static int find_alias(struct search *search, const char *name, struct target **ret, rondo_error *err)
{
    search->row = json_object_get(search->flow->models, name);
    const struct provider *provider = find_provider(api_text(search->row, "provider"), err);
    auto_target struct target *target = provider ? target_new(provider, name, api_text(search->row, "model")) : NULL;
    if (!target || finish(target, search, err) < 0)
        return err_in(err, "model '%.80s'", name);
    *ret = TAKE(target);
    return 0;
}

static int find_all(struct search *search, const char *alias, struct target **ret, rondo_error *err)
{
    auto_target struct target *first = NULL;
    struct target **last = &first;
    struct known_chain chain;
    if (known_chain(search->flow->models, alias, &chain, err) < 0)
        return err->code;
    for (size_t i = 0; i < chain.count; i++, last = &(*last)->fallback)
        if (find_alias(search, chain.names[i], last, err) < 0)
            return err->code;
    *ret = TAKE(first);
    return 0;
}

int target_find(const struct flow *flow, const char *name, const struct model_world *world, struct target **ret,
                rondo_error *err)
{
    struct search search = { .flow = flow, .world = world };
    if (!*name)
        return err_set(err, RONDO_EINVAL, "the name of the model is empty: write provider/model");
    if (!utf8_is_valid(name, strlen(name)))
        return err_set(err, RONDO_EINVAL, "the name of the model is not UTF-8");
    if (flow && json_object_get(flow->models, name))
        return find_all(&search, name, ret, err);
    return find_plain(&search, name, ret, err);
}

/* ---- asking it -------------------------------------------------------------------------------------------- */

void target_put_url(const struct target *target, const struct wire *wire, struct buf *out)
{
    buf_puts(out, target->base_url);
    buf_put(out, wire->path.data, wire->path.len);
    if (target->query)
        buf_printf(out, "%c%s", memchr(wire->path.data, '?', wire->path.len) ? '&' : '?', target->query);
}

static const char *const key_headers[] = {
    [AUTH_BEARER] = "Authorization: Bearer ", [AUTH_X_API_KEY] = "x-api-key: ",
    [AUTH_GOOGLE] = "x-goog-api-key: ",       [AUTH_AZURE] = "api-key: ",
};

/* A server that speaks another API than the provider's usually wants its key as that API has it. */
static int auth_of(const struct target *target)
{
    bool is_messages = target->api == &api_anthropic && target->provider->api != &api_anthropic;
    return is_messages && target->auth == AUTH_BEARER ? AUTH_X_API_KEY : target->auth;
}

void target_put_headers(const struct target *target, const struct wire *wire, bool stream, struct buf *out)
{
    buf_puts(out, "Content-Type: application/json\n");
    buf_printf(out, "Accept: %s\n", stream && target->api->accept ? target->api->accept : "application/json");
    if (target->key && target->auth != AUTH_NONE)
        buf_printf(out, "%s%s\n", key_headers[auth_of(target)], target->key);
    if (target->extra_headers)
        buf_puts(out, target->extra_headers);
    buf_put(out, wire->headers.data, wire->headers.len);
}

uint64_t target_hash(const struct target *target)
{
    const char *const parts[] = { target->provider->name, target->base_url, target->model,
                                  target->key ? target->key : "" };
    uint64_t hash = 0;
    for (size_t i = 0; i < COUNT(parts); i++)
        hash = hash_bytes(hash, parts[i], strlen(parts[i]));
    return hash;
}
