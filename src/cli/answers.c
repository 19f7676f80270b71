/* answers.c - what gates are answered with when nobody is asked. */
#include "cli/answers.h"

#include "agent/step_names.h"
#include "cli/given.h"
#include "run/asks.h"

#include <string.h>

/* Below an agent there may be others, which have no names in the file: the step that they work for has. */
static int check_key(const struct step_names *names, const char *key, rondo_error *err)
{
    auto_buf struct buf step = { 0 };
    const char *last = strrchr(key, '.');
    bool is_ask = last && strncmp(last, ASKS_NAME, strlen(ASKS_NAME)) == 0;
    buf_put(&step, key, is_ask ? strcspn(key, ".[~^") : strlen(key));
    return step_names_check(names, buf_text(&step), err);
}

int answers_check(const struct answers *answers, const struct flow *flow, rondo_error *err)
{
    struct step_names names;
    json_t *value;
    const char *key;
    int rc = 0;
    step_names_init(&names, flow);
    json_object_foreach(answers->map, key, value)
        if (rc == 0 && check_key(&names, key, err) < 0)
            rc = err_in(err, "%.80s", key);
    step_names_clear(&names);
    return rc;
}

int answers_open(struct answers *answers, const char *path, rondo_error *err)
{
    answers->map = given_file(path, err);
    if (!answers->map)
        return err->code;
    if (!json_is_object(answers->map))
        return err_set(err, RONDO_EINVAL, "%s: expected a map from gates to answers", path);
    answers->used = json_object();
    return 0;
}

void answers_clear(struct answers *answers)
{
    json_decref(answers->map);
    json_decref(answers->used);
    *answers = (struct answers){ 0 };
}

static const char *key_of(const struct answers *answers, const char *path, const char *id)
{
    if (json_object_get(answers->map, path))
        return path;
    return json_object_get(answers->map, id) ? id : NULL;
}

static size_t used(const struct answers *answers, const char *key)
{
    return (size_t)json_integer_value(json_object_get(answers->used, key));
}

json_t *answers_take(struct answers *answers, const char *path, const char *id)
{
    const char *key = key_of(answers, path, id);
    json_t *all = key ? json_object_get(answers->map, key) : NULL;
    if (!json_is_array(all))
        return json_incref(all);
    size_t n = used(answers, key);
    json_object_set_new(answers->used, key, json_integer((json_int_t)n + 1));
    return json_incref(json_array_get(all, n));
}

bool answers_has_more(const struct answers *answers, const char *path, const char *id)
{
    const char *key = key_of(answers, path, id);
    json_t *all = key ? json_object_get(answers->map, key) : NULL;
    return json_is_array(all) && used(answers, key) < json_array_size(all);
}
