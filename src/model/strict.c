/* strict.c - looking through a schema for what strict mode does not take. */
#include "model/strict.h"

#include "base/mem.h"

#include <string.h>

#define DEPTH_MAX   10
#define MEMBERS_MAX 1000

enum holds { H_ANYTHING, H_BOUND, H_SCHEMA, H_SCHEMAS, H_MAP, H_FORMAT, H_REF };

/* What may be in a schema, and what is inside. */
static const struct {
    const char *keyword;
    enum holds holds;
} keywords[] = {
    { "type", H_ANYTHING },        { "description", H_ANYTHING },      { "title", H_ANYTHING },
    { "enum", H_ANYTHING },        { "const", H_ANYTHING },            { "pattern", H_BOUND },
    { "minimum", H_BOUND },     { "maximum", H_BOUND },          { "exclusiveMinimum", H_BOUND },
    { "multipleOf", H_BOUND },  { "exclusiveMaximum", H_BOUND }, { "minItems", H_BOUND },
    { "maxItems", H_BOUND },    { "required", H_ANYTHING },         { "additionalProperties", H_ANYTHING },
    { "items", H_SCHEMA },         { "anyOf", H_SCHEMAS },             { "properties", H_MAP },
    { "$defs", H_MAP },            { "definitions", H_MAP },           { "format", H_FORMAT },
    { "$ref", H_REF },             { "$schema", H_ANYTHING },
};

static const char *const formats[] = {
    "date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid",
};

/* While looking. */
struct look {
    int members; // so far
    bool is_plain;
};

static bool is_taken(const json_t *schema, int depth, struct look *look);

static bool is_known_format(const json_t *format)
{
    const char *name = json_string_value(format);
    for (size_t i = 0; name && i < COUNT(formats); i++)
        if (strcmp(name, formats[i]) == 0)
            return true;
    return false;
}

static bool are_taken(const json_t *list, int depth, struct look *look)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item)
        if (!is_taken(item, depth, look))
            return false;
    return json_is_array(list);
}

static bool is_map_taken(const json_t *map, int depth, struct look *look)
{
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)map, key, item)
        if (++look->members > MEMBERS_MAX || !is_taken(item, depth, look))
            return false;
    return json_is_object(map);
}

static bool is_keyword_taken(const char *keyword, const json_t *value, int depth, struct look *look)
{
    const char *ref = json_string_value(value);
    for (size_t i = 0; i < COUNT(keywords); i++) {
        if (strcmp(keyword, keywords[i].keyword) != 0)
            continue;
        switch (keywords[i].holds) {
        case H_ANYTHING: return true;
        case H_BOUND: return !look->is_plain;
        case H_SCHEMA: return is_taken(value, depth + 1, look);
        case H_SCHEMAS: return are_taken(value, depth + 1, look);
        case H_MAP: return is_map_taken(value, depth + 1, look);
        case H_FORMAT: return is_known_format(value);
        case H_REF: return ref && *ref == '#';
        }
    }
    return false;
}

static bool is_required(const json_t *required, const char *key)
{
    size_t i;
    json_t *item;
    json_array_foreach(required, i, item)
        if (json_is_string(item) && strcmp(json_string_value(item), key) == 0)
            return true;
    return false;
}

/* All members required, and no others. */
static bool is_closed(const json_t *schema)
{
    const json_t *properties = json_object_get(schema, "properties"), *required = json_object_get(schema, "required");
    const char *key;
    json_t *item;
    json_object_foreach((json_t *)properties, key, item)
        if (!is_required(required, key))
            return false;
    return json_is_false(json_object_get(schema, "additionalProperties"));
}

/* "object", or a list with it. */
static bool is_of_objects(const json_t *schema)
{
    const json_t *type = json_object_get(schema, "type");
    return (json_is_string(type) && strcmp(json_string_value(type), "object") == 0) || is_required(type, "object") ||
           json_object_get(schema, "properties");
}

static bool is_taken(const json_t *schema, int depth, struct look *look)
{
    const char *key;
    json_t *value;
    if (depth > DEPTH_MAX || !json_is_object(schema))
        return false;
    json_object_foreach((json_t *)schema, key, value)
        if (!is_keyword_taken(key, value, depth, look))
            return false;
    if (is_of_objects(schema))
        return is_closed(schema);
    return json_object_get(schema, "type") || json_object_get(schema, "anyOf") || json_object_get(schema, "$ref") ||
           json_object_get(schema, "enum") || json_object_get(schema, "const");
}

static bool is_root_taken(const json_t *schema, struct look look)
{
    const json_t *type = json_object_get(schema, "type");
    return json_is_string(type) && strcmp(json_string_value(type), "object") == 0 && is_taken(schema, 0, &look);
}

bool strict_takes(const json_t *schema)
{
    return is_root_taken(schema, (struct look){ 0 });
}

bool strict_is_plain(const json_t *schema)
{
    return is_root_taken(schema, (struct look){ .is_plain = true });
}
