/* test_schema_limits.c - hostile schemas and values end in an answer or in a clear error. */
#include "base/buf.h"
#include "data/schema.h"
#include "test.h"

#include <string.h>
#include <time.h>

static json_t *parse(const char *text)
{
    json_error_t why;
    json_t *json = json_loads(text, JSON_DECODE_ANY, &why);
    if (!json)
        FAIL("%s in: %.200s", why.text, text);
    return json;
}

static struct schema *compile(const char *text, const struct schema_options *options)
{
    rondo_error err = { 0 };
    json_t *doc = parse(text);
    struct schema *schema = schema_compile(doc, options, &err);
    json_decref(doc);
    if (!schema)
        FAIL("%s", err.message);
    return schema;
}

static rondo_error refuse(const char *text, const struct schema_options *options)
{
    rondo_error err = { 0 };
    json_t *doc = parse(text);
    struct schema *schema = schema_compile(doc, options, &err);
    json_decref(doc);
    if (schema)
        FAIL("compiles: %.200s", text);
    return err;
}

static int judge(const char *schema_text, json_t *value, rondo_error *err)
{
    struct schema *schema = compile(schema_text, NULL);
    int rc = schema_check(schema, value, err);
    schema_unref(schema);
    json_decref(value);
    return rc;
}

static double now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* n times open, then middle, then n times close. */
static char *nest(int n, const char *open, const char *middle, const char *close)
{
    struct buf text = { 0 };
    for (int i = 0; i < n; i++)
        buf_puts(&text, open);
    buf_puts(&text, middle);
    for (int i = 0; i < n; i++)
        buf_puts(&text, close);
    return buf_take(&text);
}

TEST(schema_refuses_to_nest_too_deep)
{
    char *text = nest(600, "{\"not\":", "true", "}");
    rondo_error err = refuse(text, NULL);
    CHECK_INT(err.code, RONDO_ELIMIT);
    CHECK_STR(err.message, "schema: nested deeper than 400 levels");
    mem_free(text);
}

TEST(schema_refuses_too_many_subschemas)
{
    struct schema_options options = { .max_schemas = 10 };
    struct buf text = { 0 };
    buf_puts(&text, "{\"allOf\": [true");
    for (int i = 0; i < 20; i++)
        buf_puts(&text, ", {}");
    buf_puts(&text, "]}");
    rondo_error err = refuse(buf_text(&text), &options);
    CHECK_INT(err.code, RONDO_ELIMIT);
    CHECK_STR(err.message, "schema: more than 10 subschemas");
    buf_free(&text);
}

TEST(schema_refuses_references_that_lead_nowhere_but_back)
{
    struct buf text = { 0 };
    buf_puts(&text, "{\"$defs\": {");
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, "\"d%d\": {\"$ref\": \"#/$defs/d%d\"},", i, (i + 1) % 1000);
    buf_puts(&text, "\"e\": true}}");
    CHECK(strstr(refuse(buf_text(&text), NULL).message, "leads back to itself") != NULL);
    buf_free(&text);
}

TEST(schema_refuses_a_chain_of_references_deeper_than_a_check_may_go)
{
    struct buf text = { 0 };
    buf_puts(&text, "{\"$defs\": {");
    for (int i = 0; i < 50000; i++)
        buf_printf(&text, "\"d%d\": {\"$ref\": \"#/$defs/d%d\"},", i, i + 1);
    buf_puts(&text, "\"d50000\": true}}");
    rondo_error err = refuse(buf_text(&text), NULL);
    CHECK_INT(err.code, RONDO_ELIMIT);
    buf_free(&text);
}

TEST(schema_stops_at_the_depth_of_a_value)
{
    rondo_error err;
    char *deep = nest(1500, "[", "1", "]"), *deeper = nest(2040, "[", "1", "]");
    const char *tree = "{\"items\": {\"$ref\": \"#\"}}";
    CHECK_INT(judge(tree, parse(deep), &err), 0);
    CHECK_INT(judge(tree, parse(deeper), &err), RONDO_ELIMIT);
    CHECK_STR(err.message, "schema: more than 2000 subschemas deep");
    mem_free(deep);
    mem_free(deeper);
}

/* A dynamic reference may go round in circles that nobody sees before it runs. */
TEST(schema_stops_at_dynamic_circles)
{
    rondo_error err;
    CHECK_INT(judge("{\"$dynamicAnchor\": \"a\", \"$dynamicRef\": \"#a\"}", parse("1"), &err),
              RONDO_ELIMIT);
}

/* Every level asks the next one twice, so that the last is asked 2^40 times. */
static char *doubling(const char *keyword, const char *last)
{
    struct buf text = { 0 };
    buf_puts(&text, "{\"$ref\": \"#/$defs/d0\", \"$defs\": {");
    for (int i = 0; i < 40; i++)
        buf_printf(
            &text,
            "\"d%d\": {\"%s\": [{\"$ref\": \"#/$defs/d%d\"}, {\"$ref\": \"#/$defs/d%d\"}]},", i,
            keyword, i + 1, i + 1);
    buf_printf(&text, "\"d40\": %s}}", last);
    return buf_take(&text);
}

TEST(schema_gives_up_on_exponential_nests)
{
    static const char *const nests[][2] = {
        { "allOf", "{\"minimum\": 0}" },
        { "anyOf", "{\"maximum\": 0}" },
        { "oneOf", "{\"minimum\": 0}" },
    };
    for (size_t i = 0; i < COUNT(nests); i++) {
        rondo_error err;
        char *text = doubling(nests[i][0], nests[i][1]);
        double start = now_s();
        int rc = judge(text, json_integer(1), &err);
        if (i == 2)
            CHECK(rc == RONDO_ESCHEMA || rc == RONDO_ELIMIT);
        else
            CHECK_INT(rc, RONDO_ELIMIT);
        CHECK(now_s() - start < 20);
        mem_free(text);
    }
}

TEST(schema_counts_its_steps_in_the_message)
{
    rondo_error err;
    struct schema_options options = { .max_steps = 50 };
    struct schema *schema = compile("{\"items\": {\"minimum\": 0}}", &options);
    json_t *value = json_array();
    for (int i = 0; i < 100; i++)
        json_array_append_new(value, json_integer(i));
    CHECK_INT(schema_check(schema, value, &err), RONDO_ELIMIT);
    CHECK_STR(err.message, "schema: checking takes more than 50 steps");
    json_decref(value);
    schema_unref(schema);
}

TEST(schema_finds_equal_items_among_a_hundred_thousand)
{
    rondo_error err;
    json_t *value = json_array();
    for (int i = 0; i < 100000; i++)
        json_array_append_new(value, json_pack("{s:i, s:[i]}", "id", i, "list", i % 7));
    double start = now_s();
    struct schema *schema = compile("{\"uniqueItems\": true}", NULL);
    CHECK_INT(schema_check(schema, value, &err), 0);
    json_array_append_new(value, json_pack("{s:[f], s:f}", "list", 1.0, "id", 8.0));
    CHECK_INT(schema_check(schema, value, &err), RONDO_ESCHEMA);
    CHECK_STR(err.message, "items 8 and 100000 are equal");
    CHECK(now_s() - start < 10);
    json_decref(value);
    schema_unref(schema);
}

TEST(schema_looks_up_one_of_many_constants)
{
    rondo_error err;
    struct buf text = { 0 };
    json_t *value = json_array();
    buf_puts(&text, "{\"items\": {\"enum\": [");
    for (int i = 0; i < 50000; i++) {
        buf_printf(&text, "\"v%d\",", i);
        json_array_append_new(value, json_sprintf("v%d", i));
    }
    buf_puts(&text, "null]}}");
    double start = now_s();
    CHECK_INT(judge(buf_text(&text), value, &err), 0);
    CHECK(now_s() - start < 10);
    buf_free(&text);
}

static const char *const catastrophes[] = { "^(a+)+$",     "^(a|aa)+$", "(x+x+)+y",
                                            "^(.*a){20}$", "(a*)*b",    "^([a-zA-Z]+)*$" };

TEST(schema_gives_up_on_catastrophic_patterns)
{
    char text[300];
    memset(text, 'a', sizeof text);
    memcpy(text + 150, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", 40);
    text[298] = '!';
    text[299] = '\0';
    for (size_t i = 0; i < COUNT(catastrophes); i++) {
        rondo_error err;
        struct buf schema = { 0 };
        buf_printf(&schema, "{\"pattern\": \"%s\"}", catastrophes[i]);
        double start = now_s();
        int rc = judge(buf_text(&schema), json_string(text), &err);
        CHECK(rc == RONDO_ELIMIT || rc == RONDO_ESCHEMA);
        if (rc == RONDO_ELIMIT)
            CHECK_STR(err.message, "schema: a pattern takes too long on this text");
        CHECK(now_s() - start < 5);
        buf_free(&schema);
    }
}

static void count(const struct schema_problem *problem, void *user)
{
    ++*(int *)user;
}

TEST(schema_takes_the_steps_of_many_checks_from_one_sum)
{
    rondo_error err;
    int problems = 0, limits = 0;
    int64_t steps = 1000000, before = steps;
    struct schema *schema = compile("{\"pattern\": \"^(a+)+$\"}", NULL);
    json_t *fits = json_string("aaaa"), *never = json_string("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!");
    CHECK_INT(schema_check_within(schema, fits, &steps, count, &problems, &err), 0);
    CHECK(steps < before && steps > before - 100);
    for (; steps; limits++) {
        CHECK_INT(schema_check_within(schema, never, &steps, count, &problems, &err), RONDO_ELIMIT);
        CHECK(steps < before);
        before = steps;
    }
    CHECK_INT(limits, 5); // the last one is cut short
    CHECK_INT(schema_check_within(schema, fits, &steps, count, &problems, &err), RONDO_ELIMIT);
    CHECK_INT(problems, 0);
    json_decref(fits);
    json_decref(never);
    schema_unref(schema);
}

TEST(schema_matches_long_texts_with_plain_patterns)
{
    rondo_error err;
    char *text = mem_alloc(1000001);
    memset(text, 'a', 1000000);
    memcpy(text + 1000000, "", 1);
    CHECK_INT(judge("{\"pattern\": \"^[a-z]+$\"}", json_string(text), &err), 0);
    CHECK_INT(judge("{\"pattern\": \"a{3}$\"}", json_string(text), &err), 0);
    CHECK_INT(judge("{\"pattern\": \"b\"}", json_string(text), &err), RONDO_ESCHEMA);
    CHECK_INT(judge("{\"format\": \"uri\", \"maxLength\": 1000000}", json_string(text), &err),
              0);
    mem_free(text);
}

TEST(schema_compiles_many_patterns_in_little_time)
{
    struct buf text = { 0 };
    buf_puts(&text, "{\"patternProperties\": {");
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "\"^a{1,%d}[b-d]+x%d$\": true,", i % 20 + 1, i);
    buf_puts(&text, "\"b\": true}}");
    double start = now_s();
    schema_unref(compile(buf_text(&text), NULL));
    CHECK(now_s() - start < 10);
    buf_free(&text);
}

TEST(schema_refuses_patterns_that_explode_when_compiled)
{
    CHECK_INT(refuse("{\"pattern\": \"((a{900}){900}){900}\"}", NULL).code, RONDO_EINVAL);
    char *text = nest(500, "(", "a", ")");
    struct buf schema = { 0 };
    buf_printf(&schema, "{\"pattern\": \"%s\"}", text);
    CHECK_INT(refuse(buf_text(&schema), NULL).code, RONDO_EINVAL);
    buf_free(&schema);
    mem_free(text);
}

TEST(schema_explains_wide_problems_within_its_steps)
{
    rondo_error err;
    char *text = doubling("anyOf", "{\"properties\": {\"a\": {\"type\": \"string\"}}}");
    struct schema_options options = { .max_steps = 100000 };
    struct schema *schema = compile(text, &options);
    json_t *value = parse("{\"a\": 1}");
    int rc = schema_check(schema, value, &err);
    CHECK(rc == RONDO_ELIMIT);
    json_decref(value);
    schema_unref(schema);
    mem_free(text);
}

TEST(schema_bounds_the_uris_that_nested_ids_make)
{
    struct buf text = { 0 };
    char segment[4001];
    memset(segment, 'a', 4000);
    segment[4000] = '\0';
    for (int i = 0; i < 300; i++)
        buf_printf(&text, "{\"$id\": \"%s/\", \"not\": ", segment);
    buf_puts(&text, "true");
    for (int i = 0; i < 300; i++)
        buf_putc(&text, '}');
    rondo_error err = refuse(buf_text(&text), NULL);
    CHECK_INT(err.code, RONDO_ELIMIT);
    CHECK_STR(err.message, "schema: its identifiers are too long");
    buf_free(&text);
}

/* Each level hashes all that is below it. */
TEST(schema_bounds_the_work_for_unique_items_in_unique_items)
{
    rondo_error err;
    json_t *value = json_array();
    for (int level = 0; level < 900; level++) {
        json_t *outer = json_array();
        for (int i = 0; i < 400; i++)
            json_array_append_new(outer, json_integer(i));
        json_array_append_new(outer, value);
        value = outer;
    }
    double start = now_s();
    CHECK_INT(judge("{\"uniqueItems\": true, \"items\": {\"$ref\": \"#\"}}", value, &err),
              RONDO_ELIMIT);
    CHECK(now_s() - start < 20);
}

/* Those of the schema's own resource are not searched: a reference to them always means the same. */
TEST(schema_bounds_the_search_for_dynamic_anchors)
{
    rondo_error err;
    struct buf text = { 0 };
    json_t *value = json_array();
    buf_puts(&text, "{\"$id\": \"http://a/\", \"$ref\": \"b\", \"$defs\": {\"b\": {\"$id\": \"b\",");
    buf_puts(&text, "\"items\": {\"$dynamicRef\": \"#d7\"}, \"$defs\": {");
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, "\"d%d\": {\"$dynamicAnchor\": \"d%d\"},", i, i);
    buf_puts(&text, "\"e\": true}}}}");
    for (int i = 0; i < 20000; i++)
        json_array_append_new(value, json_integer(i));
    double start = now_s();
    CHECK_INT(judge(buf_text(&text), value, &err), RONDO_ELIMIT);
    CHECK(now_s() - start < 20);
    buf_free(&text);
}

TEST(schema_tells_a_thousand_problems_and_no_more)
{
    rondo_error err;
    int problems = 0;
    struct schema *schema = compile("{\"items\": {\"type\": \"null\"}}", NULL);
    json_t *value = json_array();
    for (int i = 0; i < 5000; i++)
        json_array_append_new(value, json_integer(i));
    CHECK_INT(schema_check_all(schema, value, count, &problems, &err), RONDO_ESCHEMA);
    CHECK_INT(problems, 1000);
    CHECK_STR(err.message, "[0]: expected null, got 0");
    json_decref(value);
    schema_unref(schema);
}

TEST(schema_tells_a_hundred_problems_of_its_own_and_no_more)
{
    int problems = 0;
    struct schema_options options = { .report = count, .user = &problems };
    struct buf text = { 0 };
    buf_puts(&text, "{\"allOf\": [true");
    for (int i = 0; i < 5000; i++)
        buf_printf(&text, ", %d", i);
    buf_puts(&text, "]}");
    rondo_error err = refuse(buf_text(&text), &options);
    CHECK_INT(problems, 100);
    CHECK_STR(err.message, "schema /allOf/1: expected a schema (an object, true or false), got 0");
    buf_free(&text);
}

TEST(schema_tells_of_a_limit_last)
{
    int problems = 0;
    struct schema_options options = { .max_schemas = 3, .report = count, .user = &problems };
    rondo_error err = refuse("{\"allOf\": [1, 2, {}, {}, {}, 3]}", &options);
    CHECK_INT(problems, 3);
    CHECK_INT(err.code, RONDO_EINVAL);
}
