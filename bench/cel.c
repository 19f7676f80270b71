/* cel.c - how long expressions take: nanoseconds for one evaluation of a compiled program.

   The expressions and the data are in bench/cel_cases.json, so that the peers (bench/peers/cel.mjs)
   measure the same ones.  Variables come through a resolver, as in the engine: when a program is
   compiled, a name or a path such as steps.review.output is bound to a slot, and the resolver
   answers with the JSON that lies there.  cel_parse_ns is for text to tree, cel_compile_ns for
   text to program. */
#include "cel/cel.h"
#include "cel/parser.h"
#include "repeat.h"

#define CASES "bench/cel_cases.json"
#define SLOTS 64

/* Values by slot; a token is the slot plus one, and the number of names above that. */
struct world {
    json_t *root;
    json_t *values[SLOTS];
    size_t count;
};

/* The list ten times over, of values of their own, as parsing a text would give. */
static json_t *ten_times(const json_t *items)
{
    json_t *list = json_array();
    for (size_t i = 0; i < 10 * json_array_size(items); i++)
        json_array_append_new(
            list, json_deep_copy(json_array_get(items, i % json_array_size(items))));
    return list;
}

/* What a step gave is one value, other names are values by themselves. */
static int bind(void *user, const struct cel_name *path, size_t count, const char **ret_type,
                uintptr_t *ret_token, rondo_error *err)
{
    struct world *w = user;
    size_t used = strcmp(path[0].text, "steps") == 0 ? 3 : 1;
    json_t *value = w->root;
    for (size_t i = 0; i < used && i < count; i++)
        value = json_object_get(value, path[i].text);
    if (!value || used > count)
        return 0;
    w->values[w->count % SLOTS] = value;
    *ret_token = w->count++ % SLOTS + 1 + (used << 8);
    return (int)used;
}

static size_t resolve(void *user, const struct cel_ref *ref, struct cel_val *ret)
{
    const struct world *w = user;
    *ret = cel_val_from_json(w->values[(ref->token & 255) - 1]);
    return ref->token >> 8;
}

struct job {
    const struct cel_program *program;
    const struct cel_env *env;
    const char *text;
    const struct cel_options *options;
};

/* The barriers keep the compiler, which sees the library as a whole, from doing the work once for
   all rounds, or not at all. */
static __attribute__((noinline)) bool eval_once(const void *user)
{
    const struct job *job = user;
    struct cel_val value;
    rondo_error err;
    __asm__ volatile("" ::: "memory");
    int rc = cel_eval(job->program, job->env, &value, &err);
    __asm__ volatile("" : : "r"(&value) : "memory");
    return rc == 0;
}

static bool compile_once(const void *user)
{
    const struct job *job = user;
    rondo_error err;
    auto_cel struct cel_program *program =
        cel_compile(job->text, strlen(job->text), job->options, &err);
    return program;
}

static bool parse_once(const void *user)
{
    const struct job *job = user;
    rondo_error err;
    char room[8192];
    auto_arena struct arena arena = { 0 };
    arena_lend(&arena, room, sizeof room);
    return parser_run(job->text, strlen(job->text), job->options, &arena, &err);
}

static void check_answer(const struct job *job, const json_t *wanted)
{
    struct cel_val value;
    rondo_error err;
    REQUIRE(cel_eval(job->program, job->env, &value, &err) == 0, "%s: %s", job->text,
            err.message);
    json_t *answer = cel_val_to_json(value, &err);
    REQUIRE(json_equal(answer, wanted ? wanted : json_true()), "%s: a wrong answer", job->text);
    json_decref(answer);
}

static void measure_case(const char *name, const char *text, const json_t *wanted,
                         const struct cel_options *options, const struct cel_env *env)
{
    rondo_error err;
    auto_cel struct cel_program *program = cel_compile(text, strlen(text), options, &err);
    REQUIRE(program, "%s: %s", text, err.message);
    struct job job = { program, env, text };
    check_answer(&job, wanted);
    repeat(name, 1, eval_once, &job);
}

int main(int argc, char **argv)
{
    json_error_t why;
    const char *name;
    json_t *text, *file = json_load_file(CASES, 0, &why);
    REQUIRE(file, "%s:%d: %s", CASES, why.line, why.text);
    repeat_args(argc, argv);
    struct world world = { .root = json_object_get(file, "world") };
    json_object_set_new(world.root, "items100", ten_times(json_object_get(world.root, "items")));
    struct cel_options options = { .bind = bind, .user = &world };
    struct cel_env env = { .resolve = resolve, .user = &world, .scratch = cel_scratch_new() };

    json_object_foreach (json_object_get(file, "cases"), name, text)
        measure_case(name, json_string_value(text),
                     json_object_get(json_object_get(file, "answers"), name), &options, &env);
    struct job job = { .text = json_string_value(json_object_get(file, "parse")),
                       .options = &options };
    repeat("cel_parse_ns", 1, parse_once, &job);
    repeat("cel_compile_ns", 1, compile_once, &job);
    cel_scratch_free(env.scratch);
    json_decref(file);
    return 0;
}
