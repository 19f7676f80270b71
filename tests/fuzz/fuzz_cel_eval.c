/* fuzz_cel_eval.c - any expression ends, within its cost; and checking it first does not change
   what it gives. */
#include "fuzz.h"

#include "cel/cel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *world;
static struct cel_scratch *scratch[2];

static const char world_text[] =
    "{\"i\":7,\"d\":1.5,\"s\":\"h\\u00e9llo\",\"b\":true,\"n\":null,\"l\":[1,2.5,\"x\",[true,null],{\"k\":1}],"
    "\"m\":{\"a\":{\"b\":{\"c\":8}},\"k\":[\"p\",\"q\"],\"s\":\"t\"},\"e\":[],\"o\":{}}";

/* The result as text, "" for an error; *ret_code tells which. */
static char *evaluate(const uint8_t *data, size_t size, int which, int *ret_code)
{
    struct cel_options options = { .is_open = true, .no_check = which == 1, .max_nodes = 1000 };
    struct cel_env env = { .resolve = cel_resolve_json,
                           .user = world,
                           .scratch = scratch[which],
                           .cost_limit = 100000 };
    struct cel_val value;
    rondo_error err = { 0 };
    char *text = NULL;
    auto_cel struct cel_program *program =
        cel_compile((const char *)data, size, &options, &err);
    *ret_code = program ? cel_eval(program, &env, &value, &err) : -100;
    if (*ret_code == 0) {
        json_t *json = cel_val_to_json(value, &err);
        text = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
        json_decref(json);
    } else if (!err.message[0])
        abort();
    return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int code[2];
    if (!world) {
        world = json_loads(world_text, 0, NULL);
        scratch[0] = cel_scratch_new();
        scratch[1] = cel_scratch_new();
    }
    if (size > 2048)
        return 0;
    char *checked = evaluate(data, size, 0, &code[0]);
    if (code[0] != -100) {
        char *unchecked = evaluate(data, size, 1, &code[1]);
        if (code[0] != code[1] || (checked && unchecked && strcmp(checked, unchecked) != 0)) {
            fprintf(stderr, "checked %d %s, unchecked %d %s\n", code[0], checked ? checked : "",
                    code[1], unchecked ? unchecked : "");
            abort();
        }
        free(unchecked);
    }
    free(checked);
    return 0;
}
