/* schema.c - how long checking a value takes.

   The cases are in bench/schema_cases.json, so that the peers (bench/peers/ajv.mjs) measure the
   same ones. */
#include "data/schema.h"
#include "repeat.h"

#define CASES "bench/schema_cases.json"

struct job {
    const struct schema *schema;
    json_t *doc, *value;
};

static bool check_once(const void *user)
{
    const struct job *job = user;
    rondo_error err;
    return schema_check(job->schema, job->value, &err) == 0;
}

static bool compile_once(const void *user)
{
    const struct job *job = user;
    rondo_error err;
    struct schema *schema = schema_compile(job->doc, NULL, &err);
    schema_unref(schema);
    return schema;
}

/* The items are values of their own, as parsing a text would give. */
static json_t *big_value(const json_t *big)
{
    json_t *list = json_array();
    json_int_t count = json_integer_value(json_object_get(big, "count"));
    for (json_int_t i = 0; i < count; i++) {
        json_t *item = json_deep_copy(json_object_get(big, "item"));
        json_object_set_new(item, "id", json_integer(i));
        json_array_append_new(list, item);
    }
    return list;
}

static void measure_case(const json_t *cases, const char *key, const char *name, double unit_ns)
{
    rondo_error err;
    const json_t *one = json_object_get(cases, key);
    if (repeat_name && strcmp(repeat_name, name) != 0)
        return;
    json_t *value = json_incref(json_object_get(one, "value"));
    value = value ? value : big_value(one);
    struct schema *schema = schema_compile(json_object_get(one, "schema"), NULL, &err);
    REQUIRE(schema, "%s: %s", key, err.message);
    repeat(name, unit_ns, check_once, &(struct job){ schema, NULL, value });
    schema_unref(schema);
    json_decref(value);
}

int main(int argc, char **argv)
{
    json_error_t why;
    json_t *cases = json_load_file(CASES, 0, &why);
    REQUIRE(cases, "%s:%d: %s", CASES, why.line, why.text);
    repeat_args(argc, argv);
    measure_case(cases, "judge", "schema_judge_ns", 1);
    measure_case(cases, "result", "schema_result_ns", 1);
    measure_case(cases, "big", "schema_big_ms", 1e6);
    json_t *result = json_object_get(json_object_get(cases, "result"), "schema");
    repeat("schema_compile_us", 1e3, compile_once, &(struct job){ .doc = result });
    json_decref(cases);
    return 0;
}
