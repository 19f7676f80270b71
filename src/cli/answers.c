/* answers.c - what gates are answered with when nobody is asked. */
#include "cli/answers.h"

#include "cli/given.h"

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
