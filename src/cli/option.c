/* option.c - reading the value of an option into its field: one function a kind. */
#include "cli/option.h"

#include "data/duration.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static int wrong(const struct option *option, const char *wanted, const char *text,
                 rondo_error *err)
{
    return err_set(err, RONDO_EINVAL, "--%s: expected %s, got '%s'", option->name, wanted,
                   text);
}

static int set_flag(const struct option *option, void *field, const char *text,
                    rondo_error *err)
{
    *(bool *)field = true;
    return 0;
}

/* Is text one of the words of "a|b|c"? */
static bool is_choice(const char *choices, const char *text)
{
    size_t len = strlen(text);
    for (const char *at = choices; at; at = strchr(at, '|') ? strchr(at, '|') + 1 : NULL)
        if (strcspn(at, "|") == len && memcmp(at, text, len) == 0)
            return true;
    return false;
}

static int set_text(const struct option *option, void *field, const char *text,
                    rondo_error *err)
{
    if (option->choices && !is_choice(option->choices, text))
        return wrong(option, option->choices, text, err);
    *(const char **)field = text;
    return 0;
}

static int set_count(const struct option *option, void *field, const char *text,
                     rondo_error *err)
{
    char *end;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || *end)
        return wrong(option, "a whole number such as 5", text, err);
    if (errno)
        return wrong(option, "at most 9223372036854775807", text, err);
    *(int64_t *)field = n;
    return 0;
}

/* What would allow nothing is no limit that anybody wants, and never to be taken for none. */
static int set_limit(const struct option *option, void *field, const char *text,
                     rondo_error *err)
{
    int64_t n;
    if (set_count(option, &n, text, err) < 0)
        return err->code;
    if (!n)
        return wrong(option, "1 or more", text, err);
    *(int64_t *)field = n;
    return 0;
}

static int set_number(const struct option *option, void *field, const char *text,
                      rondo_error *err)
{
    char *end;
    double n = strtod(text, &end);
    if (end == text || *end || strpbrk(text, "xXnN \t\n"))
        return wrong(option, "a number such as 0.5", text, err);
    if (isinf(n))
        return wrong(option, "a smaller number", text, err);
    if (n <= 0)
        return wrong(option, "more than 0", text, err);
    *(double *)field = n;
    return 0;
}

static int set_duration(const struct option *option, void *field, const char *text,
                        rondo_error *err)
{
    rondo_error why;
    int rc = duration_parse(text, false, field, &why);
    if (rc == RONDO_ELIMIT)
        return err_set(err, RONDO_EINVAL, "--%s: %s", option->name, why.message);
    return rc < 0 ? wrong(option, "a duration such as 30s, 1h30m or 250ms", text, err) : 0;
}

static int add_text(const struct option *option, void *field, const char *text,
                    rondo_error *err)
{
    struct texts *texts = field;
    mem_grow(&texts->list, &texts->cap, texts->count, sizeof *texts->list);
    texts->list[texts->count++] = text;
    return 0;
}

static bool has_key(const struct texts *pairs, const char *key, size_t len)
{
    for (uint32_t i = 0; i < pairs->count; i++)
        if (strcspn(pairs->list[i], "=") == len && memcmp(pairs->list[i], key, len) == 0)
            return true;
    return false;
}

static int add_pair(const struct option *option, void *field, const char *text,
                    rondo_error *err)
{
    if (text[0] == '=' || !strchr(text, '='))
        return wrong(option, option->value, text, err);
    size_t len = strcspn(text, "=");
    if (has_key(field, text, len))
        return err_set(err, RONDO_EINVAL, "--%s: '%.*s' is given twice", option->name, (int)MIN(len, 200), text);
    return add_text(option, field, text, err);
}

static const struct {
    int (*set)(const struct option *option, void *field, const char *text, rondo_error *err);
    size_t size;
} kinds[OPTION_KINDS] = {
    [OPT_FLAG] = { set_flag, sizeof(bool) },
    [OPT_TEXT] = { set_text, sizeof(const char *) },
    [OPT_COUNT] = { set_count, sizeof(int64_t) },
    [OPT_LIMIT] = { set_limit, sizeof(int64_t) },
    [OPT_NUMBER] = { set_number, sizeof(double) },
    [OPT_DURATION] = { set_duration, sizeof(int64_t) },
    [OPT_TEXTS] = { add_text, sizeof(struct texts) },
    [OPT_PAIRS] = { add_pair, sizeof(struct texts) },
};

int option_set(const struct option *option, void *fields, const char *text, rondo_error *err)
{
    return kinds[option->kind].set(option, (char *)fields + option->offset, text, err);
}

size_t option_field_size(int kind)
{
    return kinds[kind].size;
}

void options_clear(const struct option *options, void *fields)
{
    for (; options && options->name; options++) {
        if (kinds[options->kind].size != sizeof(struct texts))
            continue;
        struct texts *texts = (struct texts *)((char *)fields + options->offset);
        mem_free(texts->list);
        *texts = (struct texts){ 0 };
    }
}

const char *pair_value(const char *pair, size_t *ret_key_len)
{
    *ret_key_len = strcspn(pair, "=");
    return pair[*ret_key_len] ? pair + *ret_key_len + 1 : pair + *ret_key_len;
}
