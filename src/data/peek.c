/* peek.c - finding out whether values look the way peek.h believes.

   A sample with every kind of value is made and read both ways.  What is compared are answers, so
   a jansson that keeps its values differently is noticed whatever its version number says.  The
   version comes first all the same: with another one not even the sample is looked at. */
#include "data/peek.h"

bool peek_works;

static const char sample[] =
    "[{\"one\":1,\"a\":\"x\",\"longer name\":[],\"z\":{}},{},[],\"\",\"h\\u00e9llo\",-7,2.5,[true,null]]";

static bool same_object(json_t *object)
{
    const struct peek_object *o = PEEK(object, object);
    void *iter = json_object_iter(object);
    struct peek_list *at = o->order.next;
    if (o->size != json_object_size(object))
        return false;
    for (; iter && at == iter; at = at->next, iter = json_object_iter_next(object, iter)) {
        const struct peek_member *member = peek_member(at);
        if (member->value != json_object_iter_value(iter) ||
            member->key_len != json_object_iter_key_len(iter) ||
            member->key != json_object_iter_key(iter))
            return false;
    }
    return !iter && at == &o->order;
}

static bool same_array(const json_t *array)
{
    const struct peek_array *a = PEEK(array, array);
    if (a->size != json_array_size(array))
        return false;
    for (size_t i = 0; i < a->size; i++)
        if (a->items[i] != json_array_get(array, i))
            return false;
    return true;
}

static bool same_value(json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT: return same_object(value);
    case JSON_ARRAY: return same_array(value);
    case JSON_STRING:
        return PEEK(value, string)->text == json_string_value(value) &&
               PEEK(value, string)->len == json_string_length(value);
    case JSON_INTEGER: return PEEK(value, integer)->value == json_integer_value(value);
    case JSON_REAL: return PEEK(value, real)->value == json_real_value(value);
    default: return true;
    }
}

static bool same_sample(void)
{
    json_t *list = json_loads(sample, 0, NULL);
    bool same = list && same_array(list);
    for (size_t i = 0; same && i < json_array_size(list); i++)
        same = same_value(json_array_get(list, i));
    json_decref(list);
    return same;
}

/* Threads that get here together all find out the same. */
void peek_learn(void)
{
    static bool is_known;
    if (LIKELY(__atomic_load_n(&is_known, __ATOMIC_RELAXED)))
        return;
    bool works = strncmp(jansson_version_str(), "2.14", 4) == 0 && same_sample();
    __atomic_store_n(&peek_works, works, __ATOMIC_RELAXED);
    __atomic_store_n(&is_known, true, __ATOMIC_RELAXED);
}
