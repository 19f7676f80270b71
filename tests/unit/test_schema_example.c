/* test_schema_example.c - values made from a schema. */
#include "data/schema.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

static struct schema *compile(const char *text)
{
    json_error_t why;
    rondo_error err = { 0 };
    struct schema_options options = { .assert_formats = true };
    json_t *doc = json_loads(text, JSON_DECODE_ANY, &why);
    if (!doc)
        FAIL("%s in: %s", why.text, text);
    struct schema *schema = schema_compile(doc, &options, &err);
    json_decref(doc);
    if (!schema)
        FAIL("%s in: %s", err.message, text);
    return schema;
}

/* The example as text, "nothing" when there is none. */
static const char *example(const char *text, uint64_t seed)
{
    static char shown[2000];
    rondo_error err;
    struct schema *schema = compile(text);
    json_t *value = schema_example(schema, seed);
    snprintf(shown, sizeof shown, "nothing");
    if (value) {
        if (schema_check(schema, value, &err) < 0)
            FAIL("%s in: %s", err.message, text);
        char *dump =
            json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(15));
        snprintf(shown, sizeof shown, "%s", dump);
        free(dump);
    }
    json_decref(value);
    schema_unref(schema);
    return shown;
}

static const struct {
    const char *schema, *value;   // NULL: anything that fits
} examples[] = {
    { "true", "null" },
    { "false", "nothing" },
    { "{\"const\": [1]}", "[1]" },
    { "{\"enum\": [\"a\", 5], \"type\": \"integer\"}", "5" },
    { "{\"type\": \"string\"}", "\"\"" },
    { "{\"type\": \"string\", \"minLength\": 3}", "\"aaa\"" },
    { "{\"type\": \"integer\", \"minimum\": 7, \"multipleOf\": 5}", "10" },
    { "{\"type\": \"integer\", \"maximum\": -3}", "-3" },
    { "{\"type\": \"number\", \"exclusiveMinimum\": 0, \"exclusiveMaximum\": 1}", NULL },
    { "{\"type\": \"object\", \"properties\": {\"done\": {\"type\": \"boolean\"}, \"reason\":"
      " {\"type\": \"string\"}, \"extra\": {}}, \"required\": [\"done\", \"reason\"]}",
      "{\"done\":false,\"reason\":\"\"}" },
    { "{\"items\": {\"type\": \"integer\"}, \"minItems\": 3, \"uniqueItems\": true}",
      "[0,1,2]" },
    { "{\"prefixItems\": [{\"type\": \"string\"}, {\"type\": \"number\"}], "
      "\"type\": \"array\"}", "[\"\",0]" },
    { "{\"prefixItems\": [{\"type\": \"string\"}, {\"type\": \"number\"}], "
      "\"items\": false, \"type\": \"array\"}", "[\"\",0]" },
    { "{\"prefixItems\": [{\"type\": \"string\"}, {\"type\": \"number\"}], "
      "\"maxItems\": 1, \"type\": \"array\"}", "[\"\"]" },
    { "{\"prefixItems\": [{\"type\": \"string\"}, false], \"type\": \"array\"}", NULL },
    { "{\"$schema\": \"http://json-schema.org/draft-07/schema#\", \"type\": \"array\", "
      "\"items\": [{\"type\": \"string\"}]}",
      "[\"\"]" },
    { "{\"prefixItems\": [{\"type\": \"string\"}], \"contains\": {\"type\": \"number\"}}",
      NULL },
    { "{\"oneOf\": [{\"minimum\": 0}, {\"type\": \"integer\"}], \"type\": \"integer\"}", NULL },
    { "{\"anyOf\": [false, {\"type\": \"null\"}]}", "null" },
    { "{\"not\": {\"type\": [\"null\", \"boolean\"]}}", NULL },
    { "{\"type\": \"string\", \"pattern\": \"^[A-Z]{2}-\\\\d{3,}(x|y)?$\"}", "\"AA-000\"" },
    { "{\"type\": \"string\", \"pattern\": \"^[a-z]+$\", \"minLength\": 4}", "\"aaaa\"" },
    { "{\"type\": \"string\", \"pattern\": \"^(?=.*\\\\d)(?=.*[a-z])[A-Za-z0-9]{8,}$\"}", NULL },
    { "{\"type\": \"string\", \"pattern\": \"^(?=a)abc$\"}", "\"abc\"" },
    { "{\"type\": \"string\", \"format\": \"date\"}", "\"2026-01-31\"" },
    { "{\"minProperties\": 2, \"propertyNames\": {\"pattern\": \"^x\"}}", NULL },
    { "{\"if\": {\"required\": [\"a\"]}, \"then\": {\"required\": [\"b\"]}, \"minProperties\": 1}",
      NULL },
    { "{\"type\": \"object\", \"required\": [\"a\"], \"dependentRequired\": {\"a\": [\"b\"]},"
      " \"dependentSchemas\": {\"b\": {\"required\": [\"c\"]}}}",
      "{\"a\":null,\"b\":null,\"c\":null}" },
    { "{\"$ref\": \"#/$defs/t\", \"$defs\": {\"t\": {\"type\": \"object\", \"required\": [\"v\"], \"properties\":"
      " {\"v\": {\"type\": \"integer\"}, \"next\": {\"$ref\": \"#/$defs/t\"}}}}}",
      "{\"v\":0}" },
    { "{\"$ref\": \"#/$defs/t\", \"$defs\": {\"t\": {\"type\": \"object\", \"required\": [\"next\"], \"properties\":"
      " {\"next\": {\"$ref\": \"#/$defs/t\"}}}}}",
      "nothing" },
    { "{\"allOf\": [{\"required\": [\"a\"]}, {\"properties\": {\"a\": {\"minimum\": 3}}}], \"properties\":"
      " {\"a\": {\"type\": \"integer\"}}, \"unevaluatedProperties\": false}",
      "{\"a\":3}" },
};

TEST(schema_example_is_the_smallest_that_fits)
{
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        const char *made = example(examples[i].schema, 0);
        if (examples[i].value)
            CHECK_STR(made, examples[i].value);
        else if (strcmp(made, "nothing") == 0)
            FAIL("no example for %s", examples[i].schema);
    }
}

TEST(schema_example_depends_on_the_seed_and_on_nothing_else)
{
    const char *schema = "{\"enum\": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]}";
    bool differs = false;
    for (uint64_t seed = 1; seed < 20; seed++) {
        char first[2000];
        snprintf(first, sizeof first, "%s", example(schema, seed));
        CHECK_STR(example(schema, seed), first);
        differs |= strcmp(first, example(schema, 0)) != 0;
    }
    CHECK(differs);
}

/* Rehearsals have a seed for every step: none of them may be unlucky. */
static void check_seeds(const char *schema, const char *never)
{
    for (uint64_t seed = 0; seed < 100; seed++) {
        const char *made = example(schema, seed);
        if (strcmp(made, "nothing") == 0 || (never && strstr(made, never)))
            FAIL("%s for %s", made, schema);
    }
}

TEST(schema_example_fills_the_places_of_a_tuple)
{
    const char *const more[] = { "", ", \"items\": false", ", \"items\": {}, \"maxItems\": 5" };
    char schema[200];
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        snprintf(schema, sizeof schema, "{\"type\": \"array\", \"prefixItems\": [{\"type\": \"string\"}, "
                 "{\"type\": \"number\"}]%s}", more[i]);
        check_seeds(schema, "[]");
    }
}

TEST(schema_example_says_something_rather_than_null)
{
    CHECK_STR(example("{\"type\": [\"integer\", \"null\"]}", 0), "0");
    check_seeds("{\"type\": [\"integer\", \"null\"]}", "null");
    check_seeds("{\"type\": \"object\", \"required\": [\"a\"], \"properties\": {\"a\": {\"type\":"
                " [\"string\", \"null\"]}}}", "null");
    check_seeds("{\"anyOf\": [{\"type\": \"null\"}, {\"type\": \"string\", \"minLength\": 2}]}", "null");
    check_seeds("{\"enum\": [null, \"a\"]}", "null");
    check_seeds("{\"enum\": [null]}", NULL);
    check_seeds("{\"type\": [\"string\", \"null\"], \"maxLength\": 3, \"pattern\": \"^(?!.*)\"}", NULL);
}

TEST(schema_example_finds_texts_that_differ)
{
    static const char *const patterns[] = { "^[a-z]{4}$", "^[ab]{4}$", "^x+$", "^(red|green|blue|white)$", "^a[^a-x]?$",
                                            "^\\\\d{2}-(\\\\w|-){2}$", "^(([0-9]|x){2}|y)$", "^id-[A-F0-9]+$" };
    char schema[300];
    CHECK_STR(example("{\"type\": \"array\", \"minItems\": 3, \"uniqueItems\": true, \"items\": {\"type\": \"string\","
                      " \"pattern\": \"^[a-z]{4}$\"}}", 0),
              "[\"aaaa\",\"baaa\",\"caaa\"]");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        snprintf(schema, sizeof schema, "{\"type\": \"array\", \"minItems\": 3, \"uniqueItems\": true, \"items\":"
                 " {\"type\": \"string\", \"pattern\": \"%s\"}}", patterns[i]);
        check_seeds(schema, NULL);
        snprintf(schema, sizeof schema, "{\"type\": \"object\", \"minProperties\": 3, \"propertyNames\": {\"pattern\":"
                 " \"%s\"}}", patterns[i]);
        check_seeds(schema, NULL);
    }
    check_seeds("{\"type\": \"object\", \"propertyNames\": {\"pattern\": \"^[a-z]$\"}, \"minProperties\": 26}", NULL);
    check_seeds("{\"type\": \"array\", \"minItems\": 16, \"uniqueItems\": true, \"items\": {\"pattern\": \"^[ab]{4}$\","
                " \"type\": \"string\"}}", NULL);
}
