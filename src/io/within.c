/* within.c - see within.h. */
#include "io/within.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_MAX 16384 // bytes of the variable
#define ID_MAX   256
#define RUN_VARIABLE "RONDO_RUN"

bool within_has(const json_t *list, const char *id)
{
    size_t i;
    json_t *each;
    json_array_foreach(list, i, each)
        if (json_is_string(each) && strcmp(json_string_value(each), id) == 0)
            return true;
    return false;
}

static void add(json_t *list, const char *id)
{
    size_t len = id ? strnlen(id, ID_MAX + 1) : 0;
    if (len && len <= ID_MAX && json_array_size(list) < WITHIN_MAX && !within_has(list, id))
        json_array_append_new(list, json_string(id)); // what is not UTF-8 is no string, and not appended
}

static void add_all(json_t *list, const json_t *ids)
{
    size_t i;
    json_t *id;
    json_array_foreach(ids, i, id)
        add(list, json_string_value(id));
}

json_t *within_read(void)
{
    json_t *list = json_array();
    const char *text = getenv(WITHIN_VARIABLE);
    auto_json json_t *ids = text && strnlen(text, TEXT_MAX) < TEXT_MAX ? json_loads(text, 0, NULL) : NULL;
    add_all(list, ids);
    if (!json_is_array(ids))
        add(list, getenv(RUN_VARIABLE));
    return list;
}

json_t *within_of(const char *id, const json_t *noted)
{
    json_t *list = json_array();
    auto_json json_t *here = within_read();
    add(list, id);
    add_all(list, noted);
    add_all(list, here);
    return list;
}

void within_note(json_t *object)
{
    if (!getenv(WITHIN_VARIABLE) && !getenv(RUN_VARIABLE)) // most runs, and quick
        return;
    auto_json json_t *list = within_read();
    if (json_array_size(list))
        json_object_set(object, "within", list);
}
