/* test_prospect_random.c - whatever fits a schema is possible: with schemas and values by chance, always the same. */
#include "data/value.h"
#include "prospects.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static uint64_t chance = 1;

static uint32_t below(uint32_t n)
{
    chance = chance * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(chance >> 33) % n;
}

static const char *const names[] = { "a", "b", "ab" };
static const char *const types[] = { "object", "array", "string", "number", "integer", "boolean", "null", "object" };
static const char *const patterns[] = { "^a", "b$", "", "^.$" };
static const char *const refs[] = { "#", "#n", "#/$defs/x", "#/$defs/y", "r", "r#n" };
#define ANY(list) list[below(sizeof list / sizeof *list)]

static json_t *value_by_chance(int depth)
{
    switch (below(depth ? 9 : 6)) {
    case 0: return json_null();
    case 1: return json_boolean(below(2));
    case 2: return json_integer(below(3));
    case 3: return json_real(below(4) / 2.0);
    case 4:
    case 5: return json_string(ANY(names));
    case 6: return json_pack("[o,o]", value_by_chance(depth - 1), value_by_chance(depth - 1));
    case 7: return json_pack("{s:o}", ANY(names), value_by_chance(depth - 1));
    default: return json_pack("{s:o,s:o}", "a", value_by_chance(depth - 1), "b", value_by_chance(depth - 1));
    }
}

static json_t *schema_by_chance(int depth);

static json_t *list_by_chance(json_t *(*make)(int), int depth)
{
    json_t *list = json_array();
    for (uint32_t left = 1 + below(3); left; left--)
        json_array_append_new(list, make(depth));
    return list;
}

/* What a keyword takes: a schema, schemas by name or pattern, a list of them, a value or values, a number, a word. */
enum takes { SCHEMA, NAMED, MATCHED, LIST, VALUE, VALUES, LENGTH, TYPE, REF, DYNAMIC };
static const struct {
    const char *name;
    enum takes takes;
} keywords[] = {
    { "properties", NAMED }, { "properties", NAMED }, { "patternProperties", MATCHED },
    { "additionalProperties", SCHEMA }, { "unevaluatedProperties", SCHEMA }, { "unevaluatedItems", SCHEMA },
    { "propertyNames", SCHEMA }, { "dependentSchemas", NAMED }, { "prefixItems", LIST }, { "items", SCHEMA },
    { "contains", SCHEMA }, { "allOf", LIST }, { "anyOf", LIST }, { "oneOf", LIST }, { "not", SCHEMA },
    { "if", SCHEMA }, { "then", SCHEMA }, { "else", SCHEMA }, { "const", VALUE }, { "enum", VALUES },
    { "maxLength", LENGTH }, { "type", TYPE }, { "type", TYPE }, { "$ref", REF },
    { "$dynamicRef", DYNAMIC }, { "$dynamicRef", DYNAMIC },
};

static json_t *argument(enum takes takes, int depth)
{
    switch (takes) {
    case SCHEMA: return schema_by_chance(depth);
    case NAMED: return json_pack("{s:o,s:o}", "a", schema_by_chance(depth), ANY(names), schema_by_chance(depth));
    case MATCHED: return json_pack("{s:o}", ANY(patterns), schema_by_chance(depth));
    case LIST: return list_by_chance(schema_by_chance, depth);
    case VALUE: return value_by_chance(2);
    case VALUES: return list_by_chance(value_by_chance, 2);
    case LENGTH: return json_integer(below(3));
    case TYPE: return json_string(ANY(types));
    case REF: return json_string(ANY(refs));
    case DYNAMIC: return json_string(below(2) ? "#n" : "r#n");
    }
    return NULL;
}

static json_t *schema_by_chance(int depth)
{
    if (depth == 0 || below(8) == 0)
        return json_boolean(below(3));
    json_t *schema = json_object();
    for (uint32_t left = 1 + below(3); left; left--) {
        size_t i = below(sizeof keywords / sizeof *keywords);
        json_object_set_new(schema, keywords[i].name, argument(keywords[i].takes, depth - 1));
    }
    return schema;
}

/* A resource with anchors of its own, sometimes the same twice. */
static json_t *resource_by_chance(const char *id)
{
    json_t *schema = schema_by_chance(4), *anchor = json_pack("{s:s}", "$dynamicAnchor", below(4) ? "n" : "m");
    if (!json_is_object(schema)) {
        json_decref(schema);
        schema = json_object();
    }
    json_t *other = json_pack("{s:s,s:i}", below(2) ? "$anchor" : "$dynamicAnchor", "n", "maxLength", below(3));
    json_object_set_new(anchor, "anyOf", list_by_chance(schema_by_chance, 2));
    json_object_set_new(schema, "$id", json_string(id));
    json_object_set_new(schema, "$defs", json_pack("{s:o,s:o,s:o,s:o}", "x", schema_by_chance(3), "y",
                                                   schema_by_chance(3), "n", anchor, "z", other));
    return schema;
}

static void try_value(const struct schema *schema, const json_t *doc, json_t *value, int *fitting)
{
    rondo_error err;
    auto_arena struct arena arena = { 0 };
    if (!value || schema_check(schema, value, &err) < 0)
        return;
    ++*fitting;
    if (!takes_in(&arena, prospect_of_schema(&arena, schema), value))
        FAIL("%s fits %s", json_dumps(value, JSON_ENCODE_ANY), json_dumps(doc, 0));
}

TEST(whatever_fits_is_possible)
{
    int fitting = 0;
    for (int n = 0; n < 6000; n++) {
        rondo_error err;
        auto_json json_t *doc = resource_by_chance("http://e/root");
        json_object_set_new(json_object_get(doc, "$defs"), "r", resource_by_chance("r"));
        auto_schema struct schema *schema = schema_compile(doc, NULL, &err);
        for (unsigned i = 0; schema && i < 30; i++) {
            auto_json json_t *value = i < 20 ? value_by_chance(3) : schema_example(schema, i);
            try_value(schema, doc, value, &fitting);
        }
    }
    CHECK(fitting > 10000);
}
