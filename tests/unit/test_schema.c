/* test_schema.c - JSON Schema: what fits, what does not, and how that is said. */
#include "data/schema.h"
#include "test.h"

#include <pthread.h>
#include <string.h>

static json_t *parse(const char *text)
{
    json_error_t why;
    json_t *json = json_loads(text, JSON_DECODE_ANY | JSON_ALLOW_NUL, &why);
    if (!json)
        FAIL("%s in: %s", why.text, text);
    return json;
}

static struct schema *compile(const char *text, const struct schema_options *options)
{
    rondo_error err = { 0 };
    json_t *doc = parse(text);
    struct schema *schema = schema_compile(doc, options, &err);
    json_decref(doc);
    if (!schema)
        FAIL("%s in: %s", err.message, text);
    return schema;
}

/* The message about a value, "" when it fits. */
static const char *judge_with(const char *schema_text, const struct schema_options *options,
                              const char *value_text)
{
    static rondo_error err;
    struct schema *schema = compile(schema_text, options);
    json_t *value = parse(value_text);
    err.message[0] = '\0';
    int rc = schema_check(schema, value, &err);
    CHECK(rc == 0 || rc == RONDO_ESCHEMA);
    CHECK_INT(rc, rc ? err.code : 0);
    json_decref(value);
    schema_unref(schema);
    return rc ? err.message : "";
}

static const char *judge(const char *schema, const char *value)
{
    return judge_with(schema, NULL, value);
}

/* The message about a schema that does not compile. */
static rondo_error refuse(const char *text, const struct schema_options *options)
{
    rondo_error err = { 0 };
    json_t *doc = parse(text);
    struct schema *schema = schema_compile(doc, options, &err);
    json_decref(doc);
    if (schema)
        FAIL("compiles: %s", text);
    return err;
}

/* ---- sentences -------------------------------------------------------------------------------- */

static const struct {
    const char *schema, *value, *message;
} sentences[] = {
    { "{\"type\": \"string\"}", "5", "expected string, got 5" },
    { "{\"type\": [\"string\", \"null\"]}", "[1, 2]", "expected string or null, got [1, 2]" },
    { "{\"type\": \"integer\"}", "2.5", "expected integer, got 2.5" },
    { "{\"type\": \"integer\"}", "2.0", "" },
    { "false", "1", "expected nothing here, got 1" },
    { "true", "1", "" },
    { "{\"const\": {\"a\": 1}}", "{\"a\": 1.0}", "" },
    { "{\"const\": 5}", "\"5\"", "expected 5, got \"5\"" },
    { "{\"enum\": [\"a\", 2]}", "3", "expected one of \"a\", 2, got 3" },
    { "{\"minimum\": 5}", "4", "expected at least 5, got 4" },
    { "{\"maximum\": 5}", "5.5", "expected at most 5, got 5.5" },
    { "{\"exclusiveMinimum\": 5}", "5", "expected more than 5, got 5" },
    { "{\"exclusiveMaximum\": 5.5}", "6", "expected less than 5.5, got 6" },
    { "{\"multipleOf\": 0.01}", "0.015", "expected a multiple of 0.01, got 0.015" },
    { "{\"multipleOf\": 0.01}", "19.99", "" },
    { "{\"minLength\": 3}", "\"ab\"", "expected at least 3 characters, got 2" },
    { "{\"maxLength\": 1}", "\"\xc3\xa4\xc3\xb6\"", "expected at most 1 character, got 2" },
    { "{\"maxLength\": 2}", "\"\xc3\xa4\xc3\xb6\"", "" },
    { "{\"pattern\": \"^a+$\"}", "\"ab\"", "expected text that matches /^a+$/, got \"ab\"" },
    { "{\"required\": [\"a\"]}", "{}", "missing property 'a'" },
    { "{\"additionalProperties\": false}", "{\"a\": 1}", "unexpected property 'a'" },
    { "{\"properties\": {\"a\": true, \"b\": true}, \"additionalProperties\": false}",
      "{\"c\": 1}", "unexpected property 'c', expected only 'a', 'b'" },
    { "{\"minProperties\": 1}", "{}", "expected at least 1 property, got 0" },
    { "{\"maxProperties\": 0}", "{\"a\": 1}", "expected at most 0 properties, got 1" },
    { "{\"propertyNames\": {\"maxLength\": 1}}", "{\"ab\": 1}",
      "property name 'ab': expected at most 1 character, got 2" },
    { "{\"dependentRequired\": {\"a\": [\"b\"]}}", "{\"a\": 1}",
      "property 'a' needs property 'b'" },
    { "{\"minItems\": 2}", "[1]", "expected at least 2 items, got 1" },
    { "{\"prefixItems\": [true], \"items\": false}", "[1, 2]",
      "expected at most 1 item, got 2" },
    { "{\"uniqueItems\": true}", "[1, 2, 1.0]", "items 0 and 2 are equal" },
    { "{\"contains\": {\"type\": \"null\"}}", "[1]",
      "expected at least 1 item that fits 'contains', got 0" },
    { "{\"contains\": true, \"maxContains\": 1}", "[1, 2]",
      "expected at most 1 item that fits 'contains', got more" },
    { "{\"not\": {\"type\": \"null\"}}", "null",
      "expected anything but what 'not' describes, got null" },
    { "{\"unevaluatedProperties\": false}", "{\"a\": 1}", "unexpected property 'a'" },
    { "{\"unevaluatedItems\": false}", "[1]", "unexpected item 0" },
    { "{\"oneOf\": [{\"minimum\": 1}, {\"minimum\": 2}, false]}", "3",
      "expected to fit exactly one of 3 alternatives, but fits number 1 and number 2" },
    { "{\"anyOf\": [{\"type\": \"string\"}, {\"type\": \"null\"}]}", "5",
      "expected string or null, got 5" },
    { "{\"properties\": {\"tags\": {\"items\": {\"properties\": {\"name\": {\"type\": \"string\"}}}}}}",
      "{\"tags\": [{}, {}, {\"name\": 5}]}", "tags[2].name: expected string, got 5" },
    { "{\"additionalProperties\": {\"items\": {\"type\": \"null\"}}}", "{\"a b\": [1]}",
      "[\"a b\"][0]: expected null, got 1" },
    { "{\"type\": \"null\"}",
      "\"0123456789012345678901234567890123456789012345678901234567890123456789\"",
      "expected null, got \"01234567890123456789012345678901234567890123456789012345678..." },
};

TEST(schema_says_what_was_expected_and_what_was_found)
{
    for (size_t i = 0; i < sizeof sentences / sizeof *sentences; i++)
        CHECK_STR(judge(sentences[i].schema, sentences[i].value), sentences[i].message);
}

TEST(schema_asserts_formats_where_the_meta_schema_says_so)
{
    json_t *meta =
        parse("{\"$id\": \"https://example.com/strict\","
              " \"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"$vocabulary\":"
              " {\"https://json-schema.org/draft/2020-12/vocab/format-assertion\": true}}");
    struct schema_source source = { NULL, meta };
    struct schema_options options = { .sources = &source, .source_count = 1 };
    const char *text = "{\"$schema\": \"https://example.com/strict\", \"format\": \"ipv4\"}";
    CHECK_STR(judge_with(text, &options, "\"1.2.3.4\""), "");
    CHECK_STR(judge_with(text, &options, "\"x\""), "expected an IPv4 address, got \"x\"");
    json_decref(meta);
}

TEST(schema_lets_the_nearest_alternative_speak)
{
    CHECK_STR(
        judge("{\"properties\": {\"a\": {\"anyOf\": [{\"minimum\": 5}, {\"maximum\": 1}]}}}",
              "{\"a\": 3}"),
        "a: fits none of 2 alternatives; the nearest, number 1, says: expected at least 5, got 3");
    const char *shapes =
        "{\"oneOf\": ["
        " {\"properties\": {\"kind\": {\"const\": \"circle\"}, \"r\": {\"type\": \"number\"}},"
        "  \"required\": [\"kind\", \"r\"]},"
        " {\"properties\": {\"kind\": {\"const\": \"box\"}, \"size\": {\"items\": {\"type\": \"number\"}}},"
        "  \"required\": [\"kind\", \"size\"]}]}";
    CHECK_STR(judge(shapes, "{\"kind\": \"box\", \"size\": [1, \"2\"]}"),
              "fits none of 2 alternatives; the nearest, number 2, says: "
              "size[1]: expected number, got \"2\"");
    CHECK_STR(judge(shapes, "{\"kind\": \"circle\"}"),
              "fits none of 2 alternatives; the nearest, number 1, says: missing property 'r'");
}

struct collected {
    int count;
    char text[4000];
};

static void collect(const struct schema_problem *problem, void *user)
{
    struct collected *all = user;
    size_t len = strlen(all->text);
    all->count++;
    snprintf(all->text + len, sizeof all->text - len, "%s | %s | %s\n", problem->value_at,
             problem->schema_at, problem->message);
}

TEST(schema_reports_all_problems_with_pointers_into_value_and_schema)
{
    rondo_error err;
    struct collected all = { 0 };
    struct schema *schema = compile(
        "{\"properties\": {\"a/b\": {\"$ref\": \"#/$defs/n\"}, \"c\": {\"items\": {\"$ref\": \"#/$defs/n\"}}},"
        " \"required\": [\"d\"], \"$defs\": {\"n\": {\"type\": \"integer\", \"minimum\": 3}}}",
        NULL);
    json_t *value = parse("{\"a/b\": 1, \"c\": [3, \"x\"]}");
    CHECK_INT(schema_check_all(schema, value, collect, &all, &err), RONDO_ESCHEMA);
    CHECK_INT(all.count, 3);
    CHECK_STR(all.text, "/a~1b | /$defs/n/minimum | [\"a/b\"]: expected at least 3, got 1\n"
                        "/c/1 | /$defs/n/type | c[1]: expected integer, got \"x\"\n"
                        " | /required | missing property 'd'\n");
    CHECK_STR(err.path, "/a~1b");
    CHECK_STR(err.message, "[\"a/b\"]: expected at least 3, got 1");
    json_decref(value);
    schema_unref(schema);
}

/* ---- schemas that are none -------------------------------------------------------------------- */

static const struct {
    const char *schema, *message, *path;
} wrongs[] = {
    { "5", "schema: expected a schema (an object, true or false), got 5", "" },
    { "{\"type\": \"text\"}", "schema: type: expected the name of a type, got \"text\"",
      "/type" },
    { "{\"type\": [\"string\", 5]}", "schema: type: expected the name of a type, got 5",
      "/type/1" },
    { "{\"properties\": {\"a\": {\"minLength\": -1}}}",
      "schema /properties/a: minLength: expected a whole number from 0 on, got -1",
      "/properties/a/minLength" },
    { "{\"allOf\": []}", "schema: allOf: expected a non-empty array of schemas, got []",
      "/allOf" },
    { "{\"allOf\": [true, 7]}",
      "schema /allOf/1: expected a schema (an object, true or false), got 7", "/allOf/1" },
    { "{\"required\": \"a\"}",
      "schema: required: expected an array of property names, got \"a\"", "/required" },
    { "{\"dependentRequired\": {\"a/b\": [\"c\", 1]}}",
      "schema: dependentRequired: expected a property name, got 1",
      "/dependentRequired/a~1b/1" },
    { "{\"multipleOf\": 0}", "schema: multipleOf: expected a number above 0, got 0",
      "/multipleOf" },
    { "{\"$ref\": \"#/$defs/x\"}", "schema: $ref: nothing is at '/$defs/x' in ''", "/$ref" },
    { "{\"$ref\": \"#x\"}", "schema: $ref: no anchor 'x' in ''", "/$ref" },
    { "{\"$ref\": \"https://example.com/x\"}",
      "schema: $ref: no schema is known as 'https://example.com/x'", "/$ref" },
    { "{\"$schema\": \"https://example.com/meta\"}",
      "schema: $schema: expected draft 2020-12 or draft-07, got 'https://example.com/meta'",
      "/$schema" },
    { "{\"$ref\": \"#\"}", "schema: leads back to itself without going into the value", "" },
    { "{\"$defs\": {\"a\": {\"anyOf\": [true, {\"$ref\": \"#/$defs/a\"}]}}}", NULL, NULL },
    { "{\"$defs\": {\"a\": {\"not\": {\"$ref\": \"#/$defs/b\"}},"
      " \"b\": {\"if\": true, \"then\": {\"$ref\": \"#/$defs/a\"}}}}",
      NULL, NULL },
};

TEST(schema_refuses_what_is_no_schema_and_says_where)
{
    for (size_t i = 0; i < sizeof wrongs / sizeof *wrongs; i++) {
        rondo_error err = refuse(wrongs[i].schema, NULL);
        CHECK_INT(err.code, RONDO_EINVAL);
        if (wrongs[i].message)
            CHECK_STR(err.message, wrongs[i].message);
        else
            CHECK(strstr(err.message, "leads back to itself") != NULL);
        if (wrongs[i].path)
            CHECK_STR(err.path, wrongs[i].path);
    }
}

TEST(schema_names_the_pattern_it_could_not_read)
{
    rondo_error err = refuse("{\"pattern\": \"a(\"}", NULL);
    CHECK(strstr(err.message, "schema: pattern: expected a regular expression, got 'a('") !=
          NULL);
}

/* All that is wrong with a schema: "pointer | message", lines in the order in which they were found. */
static const char *refuse_all(const char *text)
{
    static struct collected all;
    all = (struct collected){ 0 };
    struct schema_options options = { .report = collect, .user = &all };
    rondo_error err = refuse(text, &options), first = refuse(text, NULL);
    CHECK_STR(err.message, first.message);
    CHECK_STR(err.path, first.path);
    CHECK_INT(err.code, first.code);
    CHECK(strstr(all.text, err.message) != NULL);
    return all.text;
}

TEST(schema_tells_everything_that_is_wrong_with_it)
{
    CHECK_STR(refuse_all("{\"type\": [\"object\", \"thing\", 5], \"minimum\": \"1\","
                         " \"required\": [\"a\", 1, null], \"minItems\": -1,"
                         " \"properties\": {\"a\": {\"pattern\": 5}, \"b\": null, \"c\": null,"
                         "  \"d\": {\"items\": {\"enum\": 1, \"const\": 1}}},"
                         " \"anyOf\": [], \"oneOf\": [true, 3, {\"uniqueItems\": 1}],"
                         " \"not\": {\"$anchor\": 5, \"minLength\": 0.5}}"),
              "/type/1 |  | schema: type: expected the name of a type, got \"thing\"\n"
              "/type/2 |  | schema: type: expected the name of a type, got 5\n"
              "/minimum |  | schema: minimum: expected a number, got \"1\"\n"
              "/properties/a/pattern |  | schema /properties/a: pattern: expected a regular "
              "expression, got 5\n"
              "/properties/b |  | schema /properties/b: expected a schema (an object, true or "
              "false), got null\n"
              "/properties/c |  | schema /properties/c: expected a schema (an object, true or "
              "false), got null\n"
              "/properties/d/items/enum |  | schema /properties/d/items: enum: expected an array "
              "of values, got 1\n"
              "/required/1 |  | schema: required: expected a property name, got 1\n"
              "/required/2 |  | schema: required: expected a property name, got null\n"
              "/minItems |  | schema: minItems: expected a whole number from 0 on, got -1\n"
              "/anyOf |  | schema: anyOf: expected a non-empty array of schemas, got []\n"
              "/oneOf/1 |  | schema /oneOf/1: expected a schema (an object, true or false), "
              "got 3\n"
              "/oneOf/2/uniqueItems |  | schema /oneOf/2: uniqueItems: expected true or false, "
              "got 1\n"
              "/not/$anchor |  | schema /not: $anchor: expected a string\n"
              "/not/minLength |  | schema /not: minLength: expected a whole number from 0 on, "
              "got 0.5\n");
}

TEST(schema_tells_of_every_reference_once_and_not_of_what_it_leads_to)
{
    CHECK_STR(refuse_all("{\"properties\": {\"a\": {\"$ref\": \"#/$defs/bad\"},"
                         "  \"b\": {\"$ref\": \"#/$defs/none\"}, \"c\": {\"$ref\": \"#none\"},"
                         "  \"d\": {\"$ref\": \"urn:none\"}, \"e\": {\"$ref\": \"#/$defs/five\"},"
                         "  \"f\": {\"$ref\": \"#/$defs/none\"}, \"g\": {\"$ref\": \"#/$defs/bad/not\"},"
                         "  \"h\": {\"$ref\": \"#/$defs/null\"}, \"i\": {\"$ref\": \"#/unknown\"},"
                         "  \"j\": {\"$ref\": \"#/unknown\"}},"
                         " \"unknown\": {\"type\": 1},"
                         " \"$defs\": {\"bad\": {\"type\": \"bad\", \"not\": {\"enum\": 1}},"
                         "  \"five\": 5, \"null\": null}}"),
              "/$defs/bad/type |  | schema /$defs/bad: type: expected the name of a type, got "
              "\"bad\"\n"
              "/$defs/bad/not/enum |  | schema /$defs/bad/not: enum: expected an array of values, "
              "got 1\n"
              "/$defs/five |  | schema /$defs/five: expected a schema (an object, true or false), "
              "got 5\n"
              "/$defs/null |  | schema /$defs/null: expected a schema (an object, true or false), "
              "got null\n"
              "/properties/b/$ref |  | schema /properties/b: $ref: nothing is at '/$defs/none' in "
              "''\n"
              "/properties/c/$ref |  | schema /properties/c: $ref: no anchor 'none' in ''\n"
              "/properties/d/$ref |  | schema /properties/d: $ref: no schema is known as "
              "'urn:none'\n"
              "/properties/f/$ref |  | schema /properties/f: $ref: nothing is at '/$defs/none' in "
              "''\n"
              "/unknown/type |  | schema /unknown: type: expected the name of a type, got 1\n");
    CHECK_STR(refuse_all("{\"$defs\": {\"a\": {\"$ref\": \"#/$defs/a\"}, \"b\": {\"not\":"
                         " {\"$ref\": \"#/$defs/b\"}}, \"c\": {\"allOf\": 5, \"$ref\": 5}}}"),
              "/$defs/c/$ref |  | schema /$defs/c: $ref: expected a URI reference, got 5\n"
              "/$defs/c/allOf |  | schema /$defs/c: allOf: expected a non-empty array of schemas, "
              "got 5\n"
              "/$defs/a |  | schema /$defs/a: leads back to itself without going into the "
              "value\n"
              "/$defs/b |  | schema /$defs/b: leads back to itself without going into the "
              "value\n");
}

TEST(schema_of_an_unknown_dialect_is_told_that_and_nothing_else)
{
    CHECK_STR(refuse_all("{\"$schema\": \"urn:x\", \"type\": 5, \"$ref\": \"#none\"}"),
              "/$schema |  | schema: $schema: expected draft 2020-12 or draft-07, got 'urn:x'\n");
    CHECK_STR(refuse_all("{\"$schema\": 5, \"type\": 5}"),
              "/$schema |  | schema: $schema: expected a string\n");
    CHECK_STR(refuse_all("{\"$id\": 5, \"type\": 5}"),
              "/$id |  | schema: $id: expected a string\n"
              "/type |  | schema: type: expected the name of a type, got 5\n");
}

static void note_key(const struct schema_problem *problem, void *user)
{
    snprintf(user, 200, "%s | %s", problem->value_at, problem->key ? problem->key : "(none)");
}

TEST(schema_says_which_name_is_wrong)
{
    char noted[200];
    rondo_error err;
    struct schema_options options = { .report = note_key, .user = noted };
    refuse("{\"items\": {\"patternProperties\": {\"a(\": true}}}", &options);
    CHECK_STR(noted, "/items/patternProperties | a(");

    struct schema *schema = compile("{\"properties\": {\"a\": {\"additionalProperties\": false},"
                                    " \"b\": {\"propertyNames\": {\"maxLength\": 1}},"
                                    " \"c\": {\"unevaluatedProperties\": false},"
                                    " \"d\": {\"required\": [\"x\"]}}}",
                                    NULL);
    static const char *const rows[][2] = { { "{\"a\": {\"x\": 1}}", "/a | x" },
                                           { "{\"b\": {\"xy\": 1}}", "/b | xy" },
                                           { "{\"c\": {\"x\": 1}}", "/c | x" },
                                           { "{\"d\": {}}", "/d | (none)" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        json_t *value = parse(rows[i][0]);
        CHECK_INT(schema_check_all(schema, value, note_key, noted, &err), RONDO_ESCHEMA);
        CHECK_STR(noted, rows[i][1]);
        json_decref(value);
    }
    schema_unref(schema);
}

/* ---- references ------------------------------------------------------------------------------- */

TEST(schema_finds_documents_of_the_caller_by_uri_and_by_id)
{
    json_t *a = parse("{\"$defs\": {\"n\": {\"$anchor\": \"n\", \"type\": \"number\"}}}");
    json_t *b =
        parse("{\"$id\": \"https://example.com/b\", \"items\": {\"$ref\": \"dir/a#n\"}}");
    struct schema_source sources[] = { { "https://example.com/dir/a", a }, { NULL, b } };
    struct schema_options options = { .sources = sources,
                                      .source_count = 2,
                                      .base_uri = "https://example.com/root" };
    const char *text =
        "{\"properties\": {\"list\": {\"$ref\": \"b\"}, \"one\": {\"$ref\": \"dir/a#/$defs/n\"}}}";
    CHECK_STR(judge_with(text, &options, "{\"list\": [1, 2], \"one\": 3}"), "");
    CHECK_STR(judge_with(text, &options, "{\"list\": [1, \"2\"]}"),
              "list[1]: expected number, got \"2\"");
    CHECK_STR(judge_with(text, &options, "{\"one\": null}"), "one: expected number, got null");
    json_decref(a);
    json_decref(b);
}

TEST(schema_points_into_other_documents_by_their_uri)
{
    rondo_error err;
    struct collected all = { 0 };
    json_t *a = parse("{\"items\": {\"type\": \"null\"}}");
    struct schema_source source = { "https://example.com/a", a };
    struct schema_options options = { .sources = &source, .source_count = 1 };
    struct schema *schema = compile("{\"$ref\": \"https://example.com/a\"}", &options);
    json_t *value = parse("[1]");
    CHECK_INT(schema_check_all(schema, value, collect, &all, &err), RONDO_ESCHEMA);
    CHECK_STR(all.text, "/0 | https://example.com/a#/items/type | [0]: expected null, got 1\n");
    json_decref(value);
    schema_unref(schema);
    json_decref(a);
}

TEST(schema_follows_recursive_references)
{
    const char *tree = "{\"type\": \"object\", \"properties\": {\"kids\": {\"type\": \"array\","
                       " \"items\": {\"$ref\": \"#\"}}}, \"additionalProperties\": false}";
    CHECK_STR(judge(tree, "{\"kids\": [{\"kids\": []}, {}]}"), "");
    CHECK_STR(judge(tree, "{\"kids\": [{\"kids\": [{\"x\": 1}]}]}"),
              "kids[0].kids[0]: unexpected property 'x', expected 'kids'");
}

TEST(schema_lets_the_outermost_dynamic_anchor_decide)
{
    const char *lists =
        "{\"$id\": \"https://example.com/strings\", \"$ref\": \"list\", \"$defs\": {"
        " \"item\": {\"$dynamicAnchor\": \"item\", \"type\": \"string\"},"
        " \"list\": {\"$id\": \"list\", \"items\": {\"$dynamicRef\": \"#item\"},"
        "  \"$defs\": {\"any\": {\"$dynamicAnchor\": \"item\"}}}}}";
    CHECK_STR(judge(lists, "[\"a\"]"), "");
    CHECK_STR(judge(lists, "[\"a\", 1]"), "[1]: expected string, got 1");
}

TEST(schema_checks_schemas_by_the_built_in_meta_schema)
{
    const char *meta = "{\"$ref\": \"https://json-schema.org/draft/2020-12/schema\"}";
    CHECK_STR(judge(meta, "{\"properties\": {\"a\": {\"type\": \"string\"}}}"), "");
    CHECK(*judge(meta, "{\"properties\": {\"a\": {\"minLength\": \"x\"}}}"));
    const char *old = "{\"$ref\": \"http://json-schema.org/draft-07/schema#\"}";
    CHECK_STR(judge(old, "{\"definitions\": {}}"), "");
    CHECK_STR(judge(old, "{\"definitions\": 1}"), "definitions: expected object, got 1");
}

/* ---- drafts, vocabularies, formats ------------------------------------------------------------ */

TEST(schema_reads_a_document_by_its_draft)
{
    const char *old = "{\"$schema\": \"http://json-schema.org/draft-07/schema#\","
                      " \"items\": [{\"type\": \"null\"}], \"additionalItems\": false}";
    CHECK_STR(judge(old, "[null]"), "");
    CHECK_STR(judge(old, "[null, 1]"), "expected at most 1 item, got 2");
    CHECK_INT(refuse("{\"items\": [true]}", NULL).code, RONDO_EINVAL);

    struct schema_options options = { .draft = SCHEMA_DRAFT_07 };
    CHECK_STR(judge_with("{\"items\": [{\"type\": \"null\"}]}", &options, "[1]"),
              "[0]: expected null, got 1");
    CHECK_STR(judge_with("{\"$ref\": \"#/definitions/a\", \"type\": \"null\","
                         " \"definitions\": {\"a\": {\"minimum\": 1}}}",
                         &options, "1"),
              "");
}

TEST(schema_takes_formats_as_notes_unless_asked)
{
    struct schema_options options = { .assert_formats = true };
    const char *date = "{\"format\": \"date\"}";
    CHECK_STR(judge(date, "\"tomorrow\""), "");
    CHECK_STR(judge_with(date, &options, "\"2026-02-28\""), "");
    CHECK_STR(judge_with(date, &options, "\"2026-02-29\""),
              "expected a date such as 2026-01-31, got \"2026-02-29\"");
    CHECK_STR(judge_with("{\"format\": \"no-such-format\"}", &options, "\"x\""), "");
    CHECK(schema_has_format("uri") && !schema_has_format("no-such-format"));
}

TEST(schema_leaves_out_vocabularies_that_the_meta_schema_does_not_list)
{
    json_t *meta =
        parse("{\"$id\": \"https://example.com/meta\","
              " \"$schema\": \"https://json-schema.org/draft/2020-12/schema\", \"$vocabulary\":"
              " {\"https://json-schema.org/draft/2020-12/vocab/core\": true,"
              "  \"https://json-schema.org/draft/2020-12/vocab/applicator\": true,"
              "  \"https://example.com/vocab/other\": false}}");
    struct schema_source source = { NULL, meta };
    struct schema_options options = { .sources = &source, .source_count = 1 };
    const char *text = "{\"$schema\": \"https://example.com/meta\","
                       " \"properties\": {\"a\": {\"type\": \"null\"}, \"b\": false}}";
    CHECK_STR(judge_with(text, &options, "{\"a\": 1}"), "");
    CHECK_STR(judge_with(text, &options, "{\"b\": 1}"), "b: expected nothing here, got 1");
    json_object_set_new(json_object_get(meta, "$vocabulary"), "https://example.com/vocab/other",
                        json_true());
    CHECK_STR(refuse(text, &options).message,
              "schema: $schema: the vocabulary 'https://example.com/vocab/other' is not known");
    json_decref(meta);
}

/* ---- numbers ---------------------------------------------------------------------------------- */

static const struct {
    const char *schema, *value;
    bool fits;
} numbers[] = {
    { "{\"maximum\": 9223372036854775806}", "9223372036854775807", false },
    { "{\"maximum\": 9223372036854775807}", "9223372036854775807", true },
    { "{\"exclusiveMinimum\": 9223372036854775807}", "9223372036854775807", false },
    { "{\"exclusiveMinimum\": 9223372036854775807}", "1e19", true },
    { "{\"minimum\": 1e19}", "9223372036854775807", false },
    { "{\"exclusiveMaximum\": -9223372036854775808}", "-9223372036854775808", false },
    { "{\"maximum\": 9007199254740992}", "9007199254740993", false },
    { "{\"maximum\": 9007199254740993}", "9007199254740992.0", true },
    { "{\"const\": 9007199254740993}", "9007199254740992.0", false },
    { "{\"minimum\": 0.5}", "0", false },
    { "{\"minimum\": 0.5}", "1", true },
    { "{\"multipleOf\": 0.0001}", "0.0075", true },
    { "{\"multipleOf\": 0.0001}", "0.00751", false },
    { "{\"multipleOf\": 0.1}", "1e300", true },
    { "{\"multipleOf\": 0.123456789}", "1e308", false },
    { "{\"multipleOf\": 3}", "-9", true },
    { "{\"multipleOf\": 1.5}", "9", true },
    { "{\"type\": \"integer\"}", "1e300", true },
    { "{\"uniqueItems\": true}", "[1, 1.0]", false },
    { "{\"uniqueItems\": true}",
      "[1, true, \"1\", 0, false, null, [], {}, [0], {\"a\": 0}, 2, 3, 4, 5]", true },
    { "{\"uniqueItems\": true}",
      "[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, {\"a\": 1, \"b\": 2}, {\"b\": 2, \"a\": 1.0}]",
      false },
};

TEST(schema_compares_numbers_exactly)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if ((*judge(numbers[i].schema, numbers[i].value) == '\0') != numbers[i].fits)
            FAIL("%s with %s", numbers[i].schema, numbers[i].value);
}

/* ---- meanings --------------------------------------------------------------------------------- */

// clang-format off
static const struct {
    const char *schema, *value;
    bool fits;
} meanings[] = {
    { "{\"allOf\":[{\"properties\":{\"a\":true}}],\"unevaluatedProperties\":false}",
      "{\"a\":1}", true },
    { "{\"allOf\":[{\"properties\":{\"a\":true}},{\"unevaluatedProperties\":false}]}",
      "{\"a\":1}", false },
    { "{\"anyOf\":[{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]},{\"properties\":{\""
      "b\":true}}],\"unevaluatedProperties\":false}",
      "{\"a\":1,\"b\":2}", true },
    { "{\"anyOf\":[{\"properties\":{\"a\":{\"const\":1}}},{\"properties\":{\"b\":true}}],\"uneva"
      "luatedProperties\":false}",
      "{\"a\":2,\"b\":2}", false },
    { "{\"if\":{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]},\"then\":{\"properties\""
      ":{\"b\":true}},\"else\":{\"properties\":{\"c\":true}},\"unevaluatedProperties\":false}",
      "{\"a\":1,\"b\":2}", true },
    { "{\"if\":{\"properties\":{\"a\":{\"const\":1}},\"required\":[\"a\"]},\"then\":{\"properties\""
      ":{\"b\":true}},\"else\":{\"properties\":{\"c\":true}},\"unevaluatedProperties\":false}",
      "{\"a\":2,\"c\":2}", false },
    { "{\"not\":{\"not\":{\"properties\":{\"a\":true}}},\"unevaluatedProperties\":false}",
      "{\"a\":1}", false },
    { "{\"dependentSchemas\":{\"a\":{\"properties\":{\"b\":true}}},\"properties\":{\"a\":true},"
      "\"unevaluatedProperties\":false}",
      "{\"a\":1,\"b\":2}", true },
    { "{\"dependentSchemas\":{\"a\":{\"properties\":{\"b\":true}}},\"properties\":{\"a\":true},"
      "\"unevaluatedProperties\":false}",
      "{\"b\":2}", false },
    { "{\"allOf\":[{\"unevaluatedProperties\":true}],\"unevaluatedProperties\":false}",
      "{\"a\":1}", true },
    { "{\"patternProperties\":{\"^x\":true},\"unevaluatedProperties\":{\"type\":\"null\"}}",
      "{\"x1\":1,\"y\":null}", true },
    { "{\"patternProperties\":{\"^x\":true},\"unevaluatedProperties\":{\"type\":\"null\"}}",
      "{\"x1\":1,\"y\":1}", false },
    { "{\"prefixItems\":[true],\"contains\":{\"type\":\"string\"},\"unevaluatedItems\":false}",
      "[1,\"a\",\"b\"]", true },
    { "{\"prefixItems\":[true],\"contains\":{\"type\":\"string\"},\"unevaluatedItems\":false}",
      "[1,\"a\",2]", false },
    { "{\"contains\":{\"type\":\"null\"},\"minContains\":0,\"unevaluatedItems\":{\"type\":\"stri"
      "ng\"}}",
      "[\"a\",null]", true },
    { "{\"contains\":{\"type\":\"null\"},\"minContains\":2}", "[null,1]", false },
    { "{\"oneOf\":[{\"prefixItems\":[true,{\"const\":1}]},{\"prefixItems\":[true,{\"const\":2"
      "}]}],\"unevaluatedItems\":false}",
      "[\"x\",2]", true },
    { "{\"oneOf\":[{\"prefixItems\":[true,{\"const\":1}]},{\"prefixItems\":[true,{\"const\":2"
      "}]}],\"unevaluatedItems\":false}",
      "[\"x\",2,3]", false },
    { "{\"$defs\":{\"a\":{\"unevaluatedProperties\":false}},\"properties\":{\"p\":true},\"$ref"
      "\":\"#/$defs/a\"}",
      "{\"p\":1}", false },
    { "{\"then\":false,\"else\":false}", "1", true },
    { "{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":5}}", "7", false },
    { "{\"if\":{\"minimum\":5},\"then\":{\"multipleOf\":5}}", "3", true },
    { "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"required\":[\"d\"]}}}", "{\"a\":1}", false },
    { "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"required\":[\"d\"]}}}", "{\"c\":1,\"d\":1}", true },
    { "{\"properties\":{\"a\":{\"$ref\":\"#/x%25y/z~1w\"}},\"x%y\":{\"z/w\":{\"type\":\"null\"}}}",
      "{\"a\":1}", false },
    { "{\"enum\":[1,2,3,4,5,6,7,8,9,10,\"eleven\",[12],{\"a\":13}]}", "{\"a\":13.0}", true },
    { "{\"enum\":[1,2,3,4,5,6,7,8,9,10,\"eleven\",[12],{\"a\":13}]}", "{\"a\":14}", false },
    { "{\"maxItems\":1e30,\"contentSchema\":{\"type\":\"null\"}}", "[1]", true },
    { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":[],\"additionalI"
      "tems\":false}",
      "[1]", false },
    { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"definitions\":{\"a\":{\"$i"
      "d\":\"#a\",\"type\":\"null\"}},\"$ref\":\"#a\"}",
      "1", false },
    { "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"$recursiveAnchor\""
      ":true,\"properties\":{\"a\":{\"$recursiveRef\":\"#\"}},\"additionalProperties\":false}",
      "{\"a\":{\"b\":1}}", false },
    { "{\"contains\":{\"type\":\"null\"},\"maxContains\":2}", "[null,null,1]", true },
    { "{\"contains\":{\"type\":\"null\"},\"maxContains\":2}", "[null,null,null]", false },
    { "{\"required\":[\"a\",\"b\"]}", "{\"a\":1,\"b\":2}", true },
    { "{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}", "{\"b\":1}", true },
    { "{\"anyOf\":[{\"required\":[\"a\"]},{\"required\":[\"b\"]}]}", "{\"c\":1}", false },
    { "{\"type\":\"array\"}", "2.0", false },
    { "{\"type\":\"null\"}", "2.0", false },
    { "{\"type\":[\"boolean\",\"string\"]}", "2.0", false },
    { "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"items\":{\"type\":\"intege"
      "r\"},\"additionalItems\":false}",
      "[1,2]", true },
    { "{\"$schema\":\"https://json-schema.org/draft/2019-09/schema\",\"contains\":{\"type\""
      ":\"string\"},\"unevaluatedItems\":false}",
      "[\"a\"]", false },
    { "{\"minLength\":2,\"maxLength\":2}", "\"ab\"", true },
    { "{\"minItems\":1,\"maxItems\":2}", "[1,2]", true },
    { "{\"minProperties\":1,\"maxProperties\":1}", "{\"a\":1}", true },
    { "{\"const\":{\"a\":1}}", "{\"b\":1}", false },
    { "{\"const\":{\"a\":1,\"b\":[1,2]}}", "{\"b\":[1,2],\"a\":1}", true },
    { "{\"const\":{\"a\":1,\"b\":[1,2]}}", "{\"b\":[1,3],\"a\":1}", false },
    { "{\"const\":[1,2]}", "[1]", false },
    { "{\"const\":\"a\"}", "\"b\"", false },
    { "{\"const\":\"ab\"}", "\"a\"", false },
    { "{\"const\":false}", "0", false },
    { "{\"const\":null}", "false", false },
    { "{\"uniqueItems\":true}", "[{\"a\":1},{\"b\":1},[1],[1,2]]", true },
};
// clang-format on

TEST(schema_keywords_mean_what_the_standard_says)
{
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if ((*judge(meanings[i].schema, meanings[i].value) == '\0') != meanings[i].fits)
            FAIL("%s with %s", meanings[i].schema, meanings[i].value);
}

TEST(schema_tracks_members_beyond_a_few_hundred)
{
    struct schema *schema = compile("{\"anyOf\": [{\"patternProperties\": {\"^a\": true}}],"
                                    " \"unevaluatedProperties\": false}",
                                    NULL);
    rondo_error err;
    json_t *value = json_object();
    for (int i = 0; i < 1000; i++) {
        char name[16];
        snprintf(name, sizeof name, "a%d", i);
        json_object_set_new(value, name, json_null());
    }
    CHECK_INT(schema_check(schema, value, &err), 0);
    json_object_set_new(value, "b", json_null());
    CHECK_INT(schema_check(schema, value, &err), RONDO_ESCHEMA);
    CHECK_STR(err.message, "unexpected property 'b'");
    json_decref(value);
    schema_unref(schema);
}

TEST(schema_asserts_content_of_draft_07_when_asked)
{
    struct schema_options options = { .draft = SCHEMA_DRAFT_07, .assert_content = true };
    CHECK_STR(judge_with("{\"contentMediaType\": \"text/plain\"}", &options, "\"{:}\""), "");
    CHECK_STR(judge_with("{\"contentEncoding\": \"quoted-printable\"}", &options, "\"=\""), "");
    const char *text =
        "{\"contentEncoding\": \"base64\", \"contentMediaType\": \"application/json\"}";
    CHECK_STR(judge_with(text, &options, "\"eyJhIjoxfQ==\""), "");
    CHECK_STR(judge_with(text, &options, "\"eyJh\""),
              "expected the text of a JSON document, got \"eyJh\"");
    CHECK_STR(judge_with(text, &options, "\"{}\""), "expected base64, got \"{}\"");
    CHECK_STR(judge(text, "\"{}\""), "");
}

/* ---- shared ----------------------------------------------------------------------------------- */

static void *check_many(void *user)
{
    rondo_error err;
    json_t *good = parse("{\"a\": \"xyz\", \"b\": [1, 2]}"), *bad = parse("{\"a\": \"\"}");
    for (int i = 0; i < 2000; i++) {
        CHECK_INT(schema_check(user, good, &err), 0);
        CHECK_INT(schema_check(user, bad, &err), RONDO_ESCHEMA);
    }
    json_decref(good);
    json_decref(bad);
    schema_unref(user);
    return NULL;
}

TEST(schema_may_be_used_by_many_threads_at_once)
{
    pthread_t threads[4];
    struct schema *schema =
        compile("{\"properties\": {\"a\": {\"pattern\": \"^[a-z]+$\"}, \"b\":"
                " {\"items\": {\"type\": \"integer\"}, \"uniqueItems\": true}}}",
                NULL);
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, check_many, schema_ref(schema));
    schema_unref(schema);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}
