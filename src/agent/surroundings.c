/* surroundings.c - see surroundings.h. */
#include "agent/surroundings.h"

#include "model/provider.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is passed on ------------------------------------------------------------------------------- */

static const char *const passed[] = { "PATH", "HOME", "USER", "LANG", "LC_*", "TZ", "TMPDIR" };

/* What a run of rondo tells its commands is about that run.  These are settings, which somebody has chosen. */
static const char *const settings[] = { "RONDO_STORE", "RONDO_MODEL" };

static bool fits(const char *pair, const char *pattern)
{
    size_t len = strcspn(pattern, "*");
    return strncmp(pair, pattern, len) == 0 && (pattern[len] || pair[len] == '=');
}

static bool fits_any(const char *pair, const char *const *patterns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (fits(pair, patterns[i]))
            return true;
    return false;
}

bool surroundings_pass(const struct flow_agent *agent, const char *pair)
{
    if (!strchr(pair, '='))
        return false;
    if (!agent->inherits)
        return fits_any(pair, passed, COUNT(passed));
    return !fits(pair, "RONDO_*") || fits_any(pair, settings, COUNT(settings));
}

/* ---- secrets ----------------------------------------------------------------------------------------- */

/* "*_KEY": what follows the star is the end of the name; "*PASSWORD*": it is anywhere in it. */
static bool is_named(const char *name, size_t len, const char *pattern)
{
    size_t n = strcspn(pattern + 1, "*");
    bool is_anywhere = pattern[1 + n];
    for (size_t at = is_anywhere ? 0 : len - MIN(n, len); at + n <= len; at++)
        if (memcmp(name + at, pattern + 1, n) == 0)
            return true;
    return false;
}

static bool is_secret(const char *pair)
{
    static const char *const patterns[] = { "*_KEY", "*_TOKEN", "*_SECRET", "*PASSWORD*" };
    size_t len = strcspn(pair, "=");
    for (size_t i = 0; i < COUNT(patterns); i++)
        if (is_named(pair, len, patterns[i]))
            return true;
    return false;
}

void surroundings_add_secrets(const struct flow_agent *agent, struct secrets *secrets)
{
    for (char **at = environ; agent->inherits && at && *at; at++) {
        const char *value = *at + strcspn(*at, "=") + 1;
        if (surroundings_pass(agent, *at) && is_secret(*at) && strlen(value) >= SECRET_FIRM)
            secrets_add(secrets, value, strlen(value));
    }
}

/* ---- keys that were not passed ----------------------------------------------------------------------- */

#define HINTED_MAX 10

/* It may have another name there. */
static bool has_value(const char *const *env, const char *value)
{
    for (; *env; env++)
        if (strcmp(*env + strcspn(*env, "=") + 1, value) == 0)
            return true;
    return false;
}

/* Providers may share a key. */
static bool is_of_another(size_t place)
{
    for (size_t i = 0; i < place; i++)
        if (strcmp(provider_at(i)->key_variables, provider_at(place)->key_variables) == 0)
            return true;
    return false;
}

/* The keys of one provider, which are named with blanks between them.  Returns how many were put. */
static uint32_t put_missing(struct buf *out, size_t place, const char *const *env)
{
    uint32_t count = 0;
    for (const char *at = provider_at(place)->key_variables; *at; at += strspn(at, " ")) {
        auto_buf struct buf name = { 0 };
        size_t len = strcspn(at, " ");
        buf_put(&name, at, len);
        at += len;
        const char *value = getenv(buf_text(&name));
        if (!value || !*value || has_value(env, value) || is_of_another(place))
            continue;
        buf_printf(out, "%s%s", out->len ? ", " : "", buf_text(&name));
        count++;
    }
    return count;
}

void surroundings_put_hint(struct buf *out, const char *const *env)
{
    auto_buf struct buf names = { 0 };
    uint32_t count = 0;
    for (size_t i = 0; provider_at(i) && count < HINTED_MAX; i++)
        count += put_missing(&names, i, env);
    if (count)
        buf_printf(out, "%s %s set but not passed; add env: [%s]", buf_text(&names), count > 1 ? "are" : "is",
                   buf_text(&names));
}
