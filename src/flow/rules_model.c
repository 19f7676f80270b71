/* rules_model.c - the file's `models`, and models where they are named. */
#include "data/uri.h"
#include "flow/known.h"
#include "flow/read_own.h"

#include <stdio.h>
#include <string.h>

static void check_provider(struct loading *l, const struct doc_val *at, const char *name)
{
    if (known_is_provider(name, strlen(name)))
        return;
    struct diag *diag = load_error(l, STAGE_RONDO, at, "unknown_reference", "there is no provider '%.80s'", name);
    load_suggest_name(l, diag, name, known_providers, known_provider_count);
}

static void suggest_alias(struct loading *l, struct diag *diag, const char *name)
{
    const struct doc_val *models = load_get_map(l->flow->doc->root, "models");
    const char *names[200];
    size_t count = 0;
    for (uint32_t i = 0; models && i < models->count && count < COUNT(names); i++)
        names[count++] = models->keys[i]->text;
    load_suggest_name(l, diag, name, names, count);
}

/* An alias, provider/name, or a name that tells whose it is. */
static void check_model(struct loading *l, const struct doc_val *at)
{
    const char *name = at ? at->text : NULL;
    char provider[81];
    if (!name || doc_get(load_get_map(l->flow->doc->root, "models"), name))
        return;
    size_t split = known_split(name);
    if (!split && (known_guess(name) || !load_knows(l, l->flow->doc->root, "models")))
        return;
    if (!split) {
        suggest_alias(l, load_error(l, STAGE_RONDO, at, "unknown_reference",
                                    "'%.80s' is neither provider/name nor one of `models`", name), name);
        return;
    }
    snprintf(provider, sizeof provider, "%.*s", (int)MIN(split, sizeof provider - 1), name);
    check_provider(l, at, provider);
    if (!name[split + 1])
        load_error(l, STAGE_RONDO, at, "validation", "'%.80s' names no model", name);
}

static void check_step_model(struct loading *l, struct flow_step *step)
{
    if (!step->is_made)
        check_model(l, load_get(step->at, "model"));
}

/* ---- rows of `models` --------------------------------------------------------------------------------------- */

static void check_fallbacks(struct loading *l, const char *alias, const struct doc_val *list)
{
    const struct doc_val *models = load_get_map(l->flow->doc->root, "models");
    struct known_chain chain;
    rondo_error err;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i]->text && list->items[i]->kind != DOC_NULL && !doc_get(models, list->items[i]->text))
            suggest_alias(l, load_error(l, STAGE_RONDO, list->items[i], "unknown_reference",
                                        "there is no model '%.80s'", list->items[i]->text), list->items[i]->text);
    if (l->flow->models && known_chain(l->flow->models, alias, &chain, &err) < 0)
        load_error(l, STAGE_RONDO, list, "validation", "%s", err.message);
}

void rules_place(struct loading *l, const struct doc_val *row, const char *key)
{
    const struct doc_val *at = load_get(row, key);
    struct uri uri = { 0 };
    if (!at || !at->text || !*at->text)
        return;
    uri_split(&uri, at->text, strlen(at->text));
    if (strncmp(at->text, "http://", 7) != 0 && strncmp(at->text, "https://", 8) != 0)
        load_error(l, STAGE_RONDO, at, "validation", "`%s` has to begin with http:// or https://", key);
    else if (!uri.authority_len || !uri_is_valid(at->text, strlen(at->text), true, false))
        load_error(l, STAGE_RONDO, at, "validation", "`%s` is no address", key);
    else if (memchr(uri.authority, '@', uri.authority_len))
        load_error(l, STAGE_RONDO, at, "validation", "`%s` may have no user or password in it", key);
}

static void check_row(struct loading *l, const char *alias, const struct doc_val *row)
{
    const struct doc_val *provider = load_get(row, "provider"), *fallback = load_get(row, "fallback");
    if (provider && provider->text && *provider->text)
        check_provider(l, provider, provider->text);
    rules_place(l, row, "baseUrl");
    if (fallback && fallback->kind == DOC_LIST)
        check_fallbacks(l, alias, fallback);
}

void rules_models(struct loading *l)
{
    const struct doc_val *root = l->flow->doc->root, *models = load_get_map(root, "models");
    for (uint32_t i = 0; models && i < models->count; i++)
        check_row(l, models->keys[i]->text, models->items[i]);
    check_model(l, load_get(load_get(root, "options"), "model"));
    for (uint32_t i = 0; i < l->flow->agent_count; i++)
        check_model(l, load_get(l->flow->agents[i]->at, "model"));
    load_each_step(l, check_step_model);
}
