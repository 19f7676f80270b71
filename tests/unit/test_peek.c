/* test_peek.c - JSON read in place and JSON asked for are the same. */
#include "cel/cel.h"
#include "data/peek.h"
#include "data/schema.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *parse(const char *text)
{
    json_error_t why;
    json_t *json = json_loads(text, JSON_DECODE_ANY, &why);
    if (!json)
        FAIL("%s in: %s", why.text, text);
    return json;
}

static bool is_version_known(void)
{
    return strncmp(jansson_version_str(), "2.14", 4) == 0;
}

TEST(values_of_the_jansson_that_is_known_are_read_in_place)
{
    CHECK(!peek_works);
    peek_learn();
    CHECK(peek_works == is_version_known());
}

/* Keys of every length around the sizes that are compared at once, in small and large objects. */
TEST(every_key_is_found_and_no_other)
{
    char key[41], other[41];
    peek_learn();
    for (int count = 1; count <= 40; count++) {
        json_t *object = json_object();
        for (int len = 0; len < count; len++) {
            memset(key, 'k', sizeof key);
            json_object_setn_new(object, key, (size_t)len, json_integer(len));
        }
        for (int len = 0; len <= 40; len++) {
            json_t *found = peek_get(object, key, (size_t)len);
            CHECK_PTR(found, json_object_getn(object, key, (size_t)len));
            CHECK((found != NULL) == (len < count));
            for (int at = 0; at < len; at++) {
                memcpy(other, key, sizeof other);
                other[at] = 'x';
                CHECK_NULL(peek_get(object, other, (size_t)len));
            }
        }
        json_decref(object);
    }
}

TEST(members_that_were_removed_are_not_seen)
{
    json_t *object = parse("{\"a\":1,\"b\":2,\"c\":3}");
    peek_learn();
    json_object_del(object, "b");
    CHECK_NULL(peek_get(object, "b", 1));
    CHECK_UINT(peek_size(object), 2);
    CHECK_INT(peek_integer(peek_get(object, "c", 1)), 3);
    json_object_clear(object);
    CHECK_NULL(peek_get(object, "a", 1));
    CHECK_UINT(peek_size(object), 0);
    json_decref(object);
}

/* ---- both ways ------------------------------------------------------------------------------- */

static const char world[] =
    "{\"n\":7,\"r\":2.5,\"name\":\"bob\",\"none\":null,\"yes\":true,\"empty\":{},"
    "\"mixed\":[1,2.5,\"x\",\"admin\",null,[],{}],"
    "\"user\":{\"name\":\"bob\",\"roles\":[\"dev\",\"ops\",\"admin\"]},"
    "\"many\":{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":10}}";

static const char *const expressions[] = {
    "n + 1",
    "r * 2.0",
    "name + '!'",
    "none",
    "yes",
    "empty",
    "mixed",
    "user.name",
    "user.roles[1]",
    "'admin' in user.roles",
    "'admi' in user.roles",
    "'admin' in mixed",
    "2.5 in mixed",
    "'a' in many",
    "many.j",
    "many.k",
    "user.nothing",
    "has(user.name)",
    "has(user.nam)",
    "has(many.j)",
    "size(mixed)",
    "size(many)",
    "size(user)",
    "user['name']",
    "many.map(k, many[k])",
    "mixed.exists(x, x == 'x')",
    "user.roles.filter(r, r != 'ops')",
    "user == {'name': 'bob', 'roles': ['dev', 'ops', 'admin']}",
};

/* The value as JSON, or the message; the caller's. */
static char *answer(const struct cel_program *program, json_t *variables)
{
    rondo_error err;
    struct cel_val value;
    struct cel_env env = { cel_resolve_json, variables, cel_scratch_new() };
    char *text;
    if (cel_eval(program, &env, &value, &err) == 0) {
        json_t *json = cel_val_to_json(value, &err);
        text = json_dumps(json, JSON_ENCODE_ANY | JSON_SORT_KEYS);
        json_decref(json);
    } else
        text = strdup(err.message);
    cel_scratch_free(env.scratch);
    return text;
}

TEST(expressions_have_the_same_value_both_ways)
{
    json_t *variables = parse(world);
    rondo_error err;
    for (size_t i = 0; i < COUNT(expressions); i++) {
        struct cel_program *program =
            cel_compile(expressions[i], strlen(expressions[i]),
                        &(struct cel_options){ .is_open = true }, &err);
        if (!program)
            FAIL("%s: %s", expressions[i], err.message);
        char *in_place = answer(program, variables);
        peek_works = false;
        char *asked = answer(program, variables);
        peek_works = is_version_known();
        CHECK_STR(in_place, asked);
        free(in_place);
        free(asked);
        cel_program_free(program);
    }
    json_decref(variables);
}

static const char schema_text[] =
    "{\"type\":\"object\",\"required\":[\"id\",\"tags\"],\"additionalProperties\":false,\"properties\":{"
    "\"id\":{\"type\":\"integer\",\"minimum\":1},\"name\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":20},"
    "\"ratio\":{\"type\":\"number\",\"maximum\":1},\"kind\":{\"enum\":[\"one\",\"two\",3]},\"same\":{\"const\":\"it\"},"
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":3,\"uniqueItems\":true},"
    "\"inner\":{\"properties\":{\"deep\":{\"type\":\"null\"}},\"additionalProperties\":{\"type\":\"boolean\"}}}}";

static const char *const values[] = {
    "{\"id\":1,\"tags\":[]}",
    "{\"tags\":[\"a\",\"b\"],\"id\":2,\"name\":\"h\\u00e9\",\"ratio\":0.5,\"kind\":\"two\"}",
    "{\"id\":0,\"tags\":[]}",
    "{\"id\":1}",
    "{\"tags\":[]}",
    "{\"id\":1,\"tags\":[1]}",
    "{\"id\":1,\"tags\":[\"a\",\"a\"]}",
    "{\"id\":1,\"tags\":[\"a\",\"b\",\"c\",\"d\"]}",
    "{\"id\":1,\"tags\":[],\"other\":1}",
    "{\"id\":1.0,\"tags\":[]}",
    "{\"id\":1.5,\"tags\":[]}",
    "{\"id\":1,\"tags\":[],\"name\":\"x\"}",
    "{\"id\":1,\"tags\":[],\"ratio\":1.5}",
    "{\"id\":1,\"tags\":[],\"kind\":3}",
    "{\"id\":1,\"tags\":[],\"kind\":\"three\"}",
    "{\"id\":1,\"tags\":[],\"same\":\"is\"}",
    "{\"id\":1,\"tags\":[],\"inner\":{\"deep\":null,\"x\":true}}",
    "{\"id\":1,\"tags\":[],\"inner\":{\"x\":1}}",
    "{}",
    "[]",
    "7",
};

TEST(values_fit_or_not_for_the_same_reason_both_ways)
{
    rondo_error err;
    json_t *doc = parse(schema_text);
    struct schema *schema = schema_compile(doc, NULL, &err);
    CHECK(schema);
    for (size_t i = 0; i < COUNT(values); i++) {
        rondo_error in_place = { 0 }, asked = { 0 };
        json_t *value = parse(values[i]);
        int rc = schema_check(schema, value, &in_place);
        peek_works = false;
        CHECK_INT(schema_check(schema, value, &asked), rc);
        peek_works = is_version_known();
        CHECK_STR(in_place.message, asked.message);
        json_decref(value);
    }
    schema_unref(schema);
    json_decref(doc);
}
