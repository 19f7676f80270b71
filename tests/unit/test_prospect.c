/* test_prospect.c - what schemas say about values that are not there yet. */
#include "base/buf.h"
#include "prospects.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct schema *compile(const char *text)
{
    json_error_t why;
    rondo_error err = { 0 };
    json_t *doc = json_loads(text, JSON_DECODE_ANY, &why);
    if (!doc)
        FAIL("%s in: %s", why.text, text);
    struct schema *schema = schema_compile(doc, NULL, &err);
    json_decref(doc);
    if (!schema)
        FAIL("%s in: %s", err.message, text);
    return schema;
}

static const struct {
    unsigned types;
    const char *name;
} names[] = {
    { PROSPECT_OBJECT, "object" }, { PROSPECT_ARRAY, "array" },         { PROSPECT_STRING, "string" },
    { PROSPECT_NUMBER, "number" }, { PROSPECT_INTEGER, "integer" },     { PROSPECT_BOOLEAN, "boolean" },
    { PROSPECT_NULL, "null" },     { 1u << JSON_TRUE, "true" },         { 1u << JSON_FALSE, "false" },
    { 1u << JSON_REAL, "fraction" },
};

/* "any" for what is described and may be everything, "?" for what nobody describes, "-" for what cannot be. */
static const char *types_text(const struct prospect *p)
{
    static char text[200];
    unsigned types = prospect_types(p);
    text[0] = '\0';
    if (p == &prospect_unknown || types == PROSPECT_ALL || !types)
        return p == &prospect_unknown ? "?" : types ? "any" : "-";
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if ((types & names[i].types) != names[i].types)
            continue;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s", *text ? " " : "", names[i].name);
        types &= ~names[i].types;
    }
    return text;
}

/* Where a path such as "a.b.[].c" leads. */
static const struct prospect *follow(struct arena *arena, const struct prospect *p, const char *path)
{
    char copy[100], *rest, *name;
    snprintf(copy, sizeof copy, "%s", path);
    for (name = strtok_r(copy, ".", &rest); name; name = strtok_r(NULL, ".", &rest))
        p = strcmp(name, "[]") == 0 ? prospect_item(arena, p) : prospect_member(arena, p, name);
    return p;
}

static const struct {
    const char *schema, *path, *types;
} rows[] = {
    { "true", "", "any" },
    { "false", "", "-" },
    { "{\"type\":\"integer\"}", "", "integer" },
    { "{\"type\":[\"integer\",\"number\",\"null\"]}", "", "number null" },
    { "{\"type\":\"string\"}", "a", "-" },
    { "{}", "a", "?" },
    { "{\"properties\":{\"a\":{}}}", "a", "any" },
    { "{\"properties\":{\"a\":{}}}", "b", "?" },
    { "{\"properties\":{\"a\":false}}", "a", "-" },
    { "{\"properties\":{\"a\":{}},\"additionalProperties\":false}", "b", "-" },
    { "{\"properties\":{\"a\":{}},\"additionalProperties\":{\"type\":\"null\"}}", "b", "null" },
    { "{\"required\":[\"b\"],\"additionalProperties\":false}", "b", "-" },
    { "{\"patternProperties\":{\"^x\":{\"type\":\"string\"}},\"additionalProperties\":false}", "xy", "?" },
    { "{\"patternProperties\":{\"^x\":{\"type\":\"string\"}},\"additionalProperties\":false}", "y", "?" },
    { "{\"properties\":{\"x\":{\"type\":[\"string\",\"null\"]}},\"patternProperties\":{\"x\":{\"type\":[\"null\","
      "\"number\"]}}}", "x", "string null" },
    { "{\"propertyNames\":{\"maxLength\":2}}", "abc", "?" },
    { "{\"propertyNames\":{\"maxLength\":2}}", "ab", "?" },
    { "{\"const\":{\"a\":[1,\"x\"]}}", "a.[]", "?" },
        { "{\"const\":2.0}", "", "integer" },
    { "{\"enum\":[{\"a\":1.5},{\"a\":true},7]}", "a", "?" },
    { "{\"enum\":[]}", "", "-" },
    { "{\"allOf\":[{\"type\":[\"string\",\"null\"]},{\"type\":[\"string\",\"array\"]}]}", "", "string" },
    { "{\"allOf\":[{\"properties\":{\"a\":{\"type\":[\"string\",\"null\"]}}},{\"properties\":{\"a\":{\"type\":["
      "\"string\",\"array\"]}}}]}", "a", "string null" },
    { "{\"allOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}}},{\"properties\":{\"a\":{\"type\":\"null\"}}}]}", "a",
      "string" },
    { "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"null\"}},"
      "\"additionalProperties\":false}]}", "a", "null" },
    { "{\"oneOf\":[{\"properties\":{\"a\":{}},\"additionalProperties\":false},{\"required\":[\"b\"]}]}", "c", "?" },
    { "{\"not\":{\"type\":\"object\"}}", "a", "?" },
    { "{\"if\":{\"properties\":{\"k\":{\"const\":1}}},\"then\":{\"properties\":{\"a\":{\"type\":\"string\"}}},"
      "\"else\":{\"properties\":{\"a\":{\"type\":\"null\"}}}}", "a", "?" },
    { "{\"if\":true,\"then\":{\"type\":\"object\"},\"else\":{\"type\":\"array\"}}", "", "any" },
    { "{\"then\":{\"type\":\"object\"}}", "", "any" },
    { "{\"dependentSchemas\":{\"a\":{\"properties\":{\"a\":{\"type\":\"string\"}}}}}", "a", "?" },
    { "{\"properties\":{\"a\":{}},\"unevaluatedProperties\":false}", "a", "any" },
    { "{\"properties\":{\"a\":{}},\"unevaluatedProperties\":false}", "b", "-" },
    { "{\"anyOf\":[{\"properties\":{\"a\":{\"type\":\"string\"}}},{}],\"unevaluatedProperties\":{\"type\":\"null\"}}",
      "a", "?" },
    { "{\"anyOf\":[{\"unevaluatedProperties\":true},{\"properties\":{\"b\":true}}],"
      "\"unevaluatedProperties\":false}", "c", "?" },
    { "{\"$ref\":\"#/$defs/a\",\"unevaluatedProperties\":false,\"$defs\":{\"a\":{\"allOf\":[{\"properties\":{\"x\":{"
      "\"type\":\"boolean\"}}}]}}}", "x", "boolean" },
    { "{\"$ref\":\"#/$defs/a\",\"unevaluatedProperties\":false,\"$defs\":{\"a\":{\"allOf\":[{\"properties\":{\"x\":{"
      "\"type\":\"boolean\"}}}]}}}", "y", "-" },
    { "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"kid\":{\"$ref\":\"#\"}}}", "kid.kid.kid",
      "object" },
    { "{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\"kid\":{\"$ref\":\"#\"}}}", "kid.kid.kind",
      "-" },
    { "{\"$dynamicAnchor\":\"n\",\"additionalProperties\":false,\"properties\":{\"kid\":{\"$dynamicRef\":\"#n\"}}}",
      "kid.kind", "-" },
    { "{\"$id\":\"http://a/\",\"$ref\":\"b\",\"$defs\":{\"b\":{\"$id\":\"b\",\"properties\":{\"x\":{\"$dynamicRef\":"
      "\"#n\"}},\"$defs\":{\"n\":{\"$dynamicAnchor\":\"n\",\"type\":\"null\"}}}}}", "x", "any" }, // the way decides
    { "{\"properties\":{\"a\":{\"$dynamicRef\":\"#n\"}},\"$defs\":{\"x\":{\"$dynamicAnchor\":\"n\",\"type\":"
      "\"string\"},\"y\":{\"$dynamicAnchor\":\"n\",\"type\":\"null\"}}}", "a", "string" }, // the first stays
    { "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$recursiveAnchor\":true,\"type\":\"object\","
      "\"properties\":{\"a\":{\"$recursiveAnchor\":true,\"type\":\"string\"},\"b\":{\"$recursiveRef\":\"#\"}}}", "b.b",
      "object" },
    { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"$ref\":\"#/definitions/a\",\"type\":\"null\","
      "\"definitions\":{\"a\":{\"type\":\"string\"}}}", "", "string" },
    { "{\"items\":{\"type\":\"string\"}}", "[]", "string" },
    { "{\"prefixItems\":[{\"type\":\"string\"},{\"type\":\"null\"}],\"items\":{\"type\":\"integer\"}}", "[]",
      "string integer null" },
    { "{\"prefixItems\":[{\"type\":\"string\"}]}", "[]", "?" },
    { "{\"prefixItems\":[{\"type\":\"string\"}],\"items\":false}", "[]", "string" },
    { "{\"prefixItems\":[{\"type\":\"string\"}],\"unevaluatedItems\":false}", "[]", "?" },
    { "{\"contains\":{\"type\":\"string\"},\"unevaluatedItems\":{\"type\":\"null\"}}", "[]", "?" },
    { "{\"contains\":{\"type\":\"string\"}}", "[]", "?" },
};

TEST(schemas_say_what_can_be_where)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        auto_arena struct arena arena = { 0 };
        auto_schema struct schema *schema = compile(rows[i].schema);
        const char *types = types_text(follow(&arena, prospect_of_schema(&arena, schema), rows[i].path));
        if (strcmp(types, rows[i].types) != 0)
            FAIL("'%s' of %s: got %s, expected %s", rows[i].path, rows[i].schema, types, rows[i].types);
    }
}

TEST(examples_are_what_their_schemas_promise)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (uint64_t seed = 0; seed < 20; seed++) {
            auto_arena struct arena arena = { 0 };
            auto_schema struct schema *schema = compile(rows[i].schema);
            json_t *example = schema_example(schema, seed);
            if (example && !takes_in(&arena, prospect_of_schema(&arena, schema), example))
                FAIL("%s, seed %u", rows[i].schema, (unsigned)seed);
            json_decref(example);
        }
}

TEST(either_takes_in_both)
{
    auto_arena struct arena arena = { 0 };
    const struct prospect *text = prospect_of_types(&arena, PROSPECT_STRING);
    const struct prospect_member members[] = { { "a", text } };
    const struct prospect *record = prospect_of_record(&arena, members, 1);
    const struct prospect *either = prospect_either(&arena, record, prospect_of_list(&arena, text));
    CHECK_STR(types_text(either), "object array");
    CHECK_STR(types_text(prospect_member(&arena, either, "a")), "string");
    CHECK_STR(types_text(prospect_member(&arena, either, "b")), "-");
    CHECK_STR(types_text(prospect_item(&arena, either)), "string");
    CHECK(prospect_either(&arena, either, &prospect_unknown) == &prospect_unknown);
    CHECK(prospect_either(&arena, &prospect_none, either) == either);
}

static void add_name(const char *name, void *user)
{
    char *text = user;
    strcat(strcat(text, " "), name);
}

TEST(names_are_found_wherever_they_are)
{
    char text[200] = "";
    auto_arena struct arena arena = { 0 };
    auto_schema struct schema *schema =
        compile("{\"properties\":{\"a\":{},\"gone\":false},\"required\":[\"r\"],"
                "\"allOf\":[{\"properties\":{\"b\":{}}}],\"$ref\":\"#/$defs/c\","
                "\"if\":{\"properties\":{\"d\":{}}},\"dependentSchemas\":{\"a\":{\"properties\":{\"e\":{}}}},"
                "\"anyOf\":[{\"const\":{\"f\":1}},{\"enum\":[{\"g\":1}]},{\"type\":\"object\"}],"
                "\"$defs\":{\"c\":{\"properties\":{\"c\":{}}}}}");
    prospect_each_name(prospect_of_schema(&arena, schema), add_name, text);
    CHECK_STR(text, " c a b");
}

static void count_name(const char *name, void *user)
{
    ++*(int *)user;
}

TEST(names_are_found_behind_many_others)
{
    int count = 0;
    auto_buf struct buf text = { 0 };
    auto_arena struct arena arena = { 0 };
    buf_puts(&text, "{\"additionalProperties\":false,\"properties\":{\"a\":{}");
    for (int i = 1; i < 2000; i++)
        buf_printf(&text, ",\"p%d\":{}", i);
    buf_puts(&text, "}}");
    auto_schema struct schema *schema = compile(buf_text(&text));
    prospect_each_name(prospect_of_schema(&arena, schema), count_name, &count);
    CHECK_INT(count, 2000);
}

/* Every level doubles the alternatives. */
TEST(what_would_take_too_long_is_not_known)
{
    auto_buf struct buf text = { 0 };
    auto_arena struct arena arena = { 0 };
    buf_puts(&text, "{\"$defs\":{\"d0\":{\"additionalProperties\":false}");
    for (int i = 1; i <= 40; i++)
        buf_printf(&text, ",\"d%d\":{\"anyOf\":[{\"$ref\":\"#/$defs/d%d\"},{\"$ref\":\"#/$defs/d%d\"}]}", i, i - 1,
                   i - 1);
    buf_puts(&text, "},\"$ref\":\"#/$defs/d40\"}");
    auto_schema struct schema *schema = compile(buf_text(&text));
    const struct prospect *p = prospect_of_schema(&arena, schema);
    CHECK(prospect_member(&arena, p, "a") == &prospect_unknown);
    CHECK(prospect_types(p) == PROSPECT_ALL);
}

/* The head, "item,item,item", the tail. */
static struct schema *compile_list(const char *head, const char *item, int count, const char *tail)
{
    auto_buf struct buf text = { 0 };
    buf_puts(&text, head);
    for (int i = 0; i < count; i++)
        buf_printf(&text, "%s%s", i ? "," : "", item);
    buf_puts(&text, tail);
    return compile(buf_text(&text));
}

/* As a file may that has as many expressions: if one of them takes milliseconds, this takes minutes. */
static void ask_often(const struct schema *schema, const char *path)
{
    for (int i = 0; i < 3000; i++) {
        auto_arena struct arena arena = { 0 };
        prospect_types(follow(&arena, prospect_of_schema(&arena, schema), path));
    }
}

TEST(many_questions_about_large_schemas_are_answered_soon)
{
    auto_buf struct buf refs = { 0 }, row = { 0 };
    auto_schema struct schema *texts = compile_list("{\"enum\":[{\"a\":1},", "\"x\"", 60000, "]}");
    for (int i = 0; i < 400; i++)
        buf_printf(&refs, "%s{\"$ref\":\"#/$defs/e\"}", i ? "," : "{\"anyOf\":[");
    buf_puts(&refs, "],\"$defs\":{\"e\":{\"enum\":[");
    auto_schema struct schema *objects = compile_list(buf_text(&refs), "{\"a\":1}", 60000, "]}}}");
    for (int i = 0; i < 490; i++)
        buf_printf(&row, "%s%d", i ? "," : "[", i);
    buf_puts(&row, "]");
    auto_schema struct schema *lists = compile_list("{\"enum\":[", buf_text(&row), 450, "]}");
    ask_often(texts, "a");
    ask_often(objects, "b");
    ask_often(objects, "");
    ask_often(lists, "[]");
}
