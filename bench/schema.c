/* schema.c - how long checking a value takes.

   The cases are in bench/schema_cases.json, so that the peers (bench/peers/ajv.mjs) measure the
   same ones.  Each figure is the best of several rounds. */
#include "data/schema.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define CASES "bench/schema_cases.json"
#define ROUNDS 7

int bench_schema(void (*report)(const char *name, double value, void *user), void *user);

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double best_check_ns(const struct schema *schema, json_t *value, int times)
{
    rondo_error err;
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (int i = 0; i < times; i++)
            if (schema_check(schema, value, &err) < 0)
                return -1;
        double each = (now_ns() - start) / times;
        best = each < best ? each : best;
    }
    return best;
}

static double best_compile_us(json_t *doc, int times)
{
    rondo_error err;
    double best = 1e18;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now_ns();
        for (int i = 0; i < times; i++)
            schema_unref(schema_compile(doc, NULL, &err));
        double each = (now_ns() - start) / times / 1000;
        best = each < best ? each : best;
    }
    return best;
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

static double check_case(const json_t *cases, const char *name, int times)
{
    rondo_error err;
    const json_t *one = json_object_get(cases, name);
    json_t *value = json_incref(json_object_get(one, "value"));
    value = value ? value : big_value(one);
    struct schema *schema = schema_compile(json_object_get(one, "schema"), NULL, &err);
    double ns = schema ? best_check_ns(schema, value, times) : -1;
    schema_unref(schema);
    json_decref(value);
    return ns;
}

int bench_schema(void (*report)(const char *name, double value, void *user), void *user)
{
    json_error_t why;
    json_t *cases = json_load_file(CASES, 0, &why);
    if (!cases)
        return RONDO_ENOTFOUND;
    json_t *result = json_object_get(json_object_get(cases, "result"), "schema");
    report("schema_judge_ns", check_case(cases, "judge", 200000), user);
    report("schema_result_ns", check_case(cases, "result", 50000), user);
    report("schema_big_ms", check_case(cases, "big", 5) / 1e6, user);
    report("schema_compile_us", best_compile_us(result, 1000), user);
    json_decref(cases);
    return 0;
}

#ifdef BENCH_MAIN
static void print(const char *name, double value, void *user)
{
    printf("%s %.3f\n", name, value);
}

int main(void)
{
    return bench_schema(print, NULL) < 0;
}
#endif
