/* answers.c - what gates are answered with when nobody is asked. */
#include "cli/answers.h"

#include "agent/step_names.h"
#include "cli/given.h"
#include "run/asks.h"

#include <string.h>

/* ---- names ----------------------------------------------------------------------------------------------- */

/* Does the map have it?  Its own copy of the key. */
static const char *find_key(json_t *map, const char *name, size_t len)
{
    auto_buf struct buf key = { 0 };
    buf_put(&key, name, len);
    void *found = len ? json_object_iter_at(map, buf_text(&key)) : NULL;
    return found ? json_object_iter_key(found) : NULL;
}

/* Where the last part of a path begins. */
static size_t last_at(const char *name, size_t len)
{
    while (len && name[len - 1] != '.')
        len--;
    return len;
}

/* Of a review's name, how much is that of the step that it is about: "draft" of "draft.review~1". */
static size_t step_len(const char *name)
{
    size_t at = last_at(name, strlen(name));
    return at ? at - 1 : 0;
}

/* In a parallel a step and its reviewer stand in a graph that has the step's name: "all.draft" of "all.draft.draft";
   0 where they do not. */
static size_t graph_len(const char *name, size_t len)
{
    size_t inner = last_at(name, len), outer = inner ? last_at(name, inner - 1) : 0;
    size_t n = strcspn(name + inner, "~.");
    bool is_same = inner && strcspn(name + outer, "~.") == n && memcmp(name + outer, name + inner, n) == 0;
    return is_same ? inner - 1 : 0;
}

static const char *key_of_step(json_t *map, const char *review)
{
    size_t len = step_len(review);
    const char *key = find_key(map, review, len);
    return key ? key : find_key(map, review, graph_len(review, len));
}

/* The first of all names of a gate that is in the map. */
static const char *key_of(json_t *map, const struct gate_names *gate)
{
    const char *const names[] = { gate->path, gate->plain, gate->id }, *key = NULL;
    for (size_t i = 0; i < COUNT(names) && !key; i++)
        key = find_key(map, names[i], strlen(names[i]));
    for (size_t i = 0; i < COUNT(names) && !key && gate->is_review; i++)
        key = key_of_step(map, names[i]);
    return key;
}

/* ---- checking --------------------------------------------------------------------------------------------- */

/* Gates ask, and agents when nobody knows what came of them. */
static bool can_ask(const struct flow_step *step)
{
    bool is_reviewed = step->review && step->review->reviewer->body == BODY_GATE;
    bool has_steps = step->loop && step->loop->scope && step->loop->scope->count; // which ask in its place
    return is_reviewed || (!has_steps && (step->body == BODY_GATE || step->body == BODY_AGENT));
}

/* "draft.review" of "refine.draft.review". */
static const char *review_id(const char *path)
{
    return path + last_at(path, step_len(path));
}

/* What is found here is also found when the gate asks. */
static bool is_name_of(const struct step_place *place, json_t *keys)
{
    bool is_review = place->step->part == AS_REVIEWER && place->step->body == BODY_GATE;
    const char *id = is_review ? review_id(place->path) : place->step->id;
    struct gate_names names = { place->path, place->path, id, is_review };
    return can_ask(place->step) && key_of(keys, &names);
}

/* The path of a reviewer that is called by what it is alone; NULL. */
static const char *find_review(const struct step_names *names, const char *key)
{
    for (uint32_t i = 0; i < names->count; i++)
        if (names->places[i].step->part == AS_REVIEWER && strcmp(names->places[i].step->id, key) == 0)
            return names->places[i].path;
    return NULL;
}

static int check_name(const struct step_names *names, const char *key, rondo_error *err)
{
    auto_json json_t *keys = json_pack("{s:n}", key);
    const rondo_node *once = step_names_find(names, key);
    const char *review = find_review(names, key);
    bool is_found = once && can_ask(once->step);
    for (uint32_t i = 0; i < names->count && !is_found; i++)
        is_found = is_name_of(&names->places[i], keys);
    if (is_found)
        return 0;
    if (review)
        return err_set(err, RONDO_EINVAL, "there is no step '%s'; did you mean '%s'?", key, review);
    if (step_names_check(names, key, err) < 0)
        return err->code;
    return err_set(err, RONDO_EINVAL, "the step asks nothing");
}

static int check_key(const struct step_names *names, const char *key, rondo_error *err)
{
    const char *last = strrchr(key, '.');
    bool is_ask = last && strncmp(last, ASKS_NAME, strlen(ASKS_NAME)) == 0;
    return is_ask ? step_names_check_ask(names, key, err) : check_name(names, key, err);
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

/* ---- answers ---------------------------------------------------------------------------------------------- */

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

static size_t used(const struct answers *answers, const char *key)
{
    return (size_t)json_integer_value(json_object_get(answers->used, key));
}

json_t *answers_take(struct answers *answers, const struct gate_names *gate)
{
    const char *key = key_of(answers->map, gate);
    json_t *all = key ? json_object_get(answers->map, key) : NULL;
    if (!json_is_array(all))
        return json_incref(all);
    size_t n = used(answers, key);
    json_object_set_new(answers->used, key, json_integer((json_int_t)n + 1));
    return json_incref(json_array_get(all, n));
}

bool answers_has_more(const struct answers *answers, const struct gate_names *gate)
{
    const char *key = key_of(answers->map, gate);
    json_t *all = key ? json_object_get(answers->map, key) : NULL;
    return json_is_array(all) && used(answers, key) < json_array_size(all);
}
