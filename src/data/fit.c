/* fit.c - the types of two schemas side by side. */
#include "data/fit.h"

#include <string.h>

static bool names_meet(const char *a, const char *b)
{
    bool numbers = strcmp(a, "number") == 0 || strcmp(b, "number") == 0;
    bool integers = strcmp(a, "integer") == 0 || strcmp(b, "integer") == 0;
    return strcmp(a, b) == 0 || (numbers && integers);
}

static bool types_meet(const json_t *a, const json_t *b)
{
    size_t i;
    json_t *type;
    if (json_is_array(a)) {
        json_array_foreach(a, i, type)
            if (types_meet(type, b))
                return true;
        return false;
    }
    if (json_is_array(b))
        return types_meet(b, a);
    return !json_is_string(a) || !json_is_string(b) ||
           names_meet(json_string_value(a), json_string_value(b));
}

bool fit_can_meet(const json_t *a, const json_t *b)
{
    const json_t *left = json_object_get(a, "type"), *right = json_object_get(b, "type");
    return !left || !right || types_meet(left, right);
}
