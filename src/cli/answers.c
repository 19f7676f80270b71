/* answers.c - what gates are answered with when nobody is asked. */
#include "cli/answers.h"

#include "agent/step_names.h"
#include "cli/given.h"
#include "run/asks.h"

#include <string.h>

static int check_key(const struct step_names *names, const char *key, rondo_error *err)
{
    const char *last = strrchr(key, '.');
    bool is_ask = last && strncmp(last, ASKS_NAME, strlen(ASKS_NAME)) == 0;
    return is_ask ? step_names_check_ask(names, key, err) : step_names_check(names, key, err);
}

json_t *answers_check(const struct answers *answers, const rondo_node *root)
{
    json_t *problems = json_array(), *value;
    struct step_names names;
    const char *key;
    rondo_error err;
    step_names_init(&names, root);
    json_object_foreach(answers->map, key, value)
        if (check_key(&names, key, &err) < 0) {
            err_in(&err, "%.80s", key);
            json_array_append_new(problems, json_string(err.message));
        }
    step_names_clear(&names);
    return problems;
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

static const char *key_of(const struct answers *answers, const char *path, const char *plain, const char *id)
{
    const char *const keys[] = { path, plain, id };
    for (size_t i = 0; i < COUNT(keys); i++)
        if (json_object_get(answers->map, keys[i]))
            return keys[i];
    return NULL;
}

static size_t used(const struct answers *answers, const char *key)
{
    return (size_t)json_integer_value(json_object_get(answers->used, key));
}

json_t *answers_take(struct answers *answers, const char *path, const char *plain, const char *id)
{
    const char *key = key_of(answers, path, plain, id);
    json_t *all = key ? json_object_get(answers->map, key) : NULL;
    if (!json_is_array(all))
        return json_incref(all);
    size_t n = used(answers, key);
    json_object_set_new(answers->used, key, json_integer((json_int_t)n + 1));
    return json_incref(json_array_get(all, n));
}

bool answers_has_more(const struct answers *answers, const char *path, const char *plain, const char *id)
{
    const char *key = key_of(answers, path, plain, id);
    json_t *all = key ? json_object_get(answers->map, key) : NULL;
    return json_is_array(all) && used(answers, key) < json_array_size(all);
}
