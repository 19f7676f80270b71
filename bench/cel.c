/* cel.c - how long expressions take: nanoseconds for one evaluation of a compiled program.

   Variables come through a resolver, as in the engine: when a program is compiled, a name or a
   path such as steps.review.result is bound to a slot, and the resolver answers with the JSON
   that lies there.  cel_parse_ns is for text to tree, cel_compile_ns for text to program. */
#include "cel/cel.h"
#include "cel/parser.h"

#include <stdint.h>
#include <string.h>
#include <time.h>

int bench_cel(void (*report)(const char *name, double value, void *user), void *user);

#define BATCHES 9
#define BATCH_NS 15000000.0

static const struct {
    const char *name, *text;
} cases[] = {
    { "cel_const_ns", "1 + 2 * 3 == 7" },
    { "cel_compare_ns", "x > 5 && y < 10" },
    { "cel_path_ns", "steps.review.result.score >= 8" },
    { "cel_starts_ns", "name.startsWith('a') || role == 'dev'" },
    { "cel_in_ns", "'admin' in user.roles" },
    { "cel_has_ns", "has(r.done) && r.done == true" },
    { "cel_matches_ns", "id.matches('^[a-z]+-[0-9]+$')" },
    { "cel_ternary_ns", "iteration < 3 ? 'retry' : 'stop: ' + string(iteration)" },
    { "cel_exists10_ns", "items.exists(i, i.status == 'failed')" },
    { "cel_filter_map10_ns", "items.filter(i, i.score > 50).map(i, i.name).size() > 2" },
    { "cel_all100_ns", "items100.all(i, i.score >= 0)" },
    { "cel_maplit_ns", "{'a': x, 'b': [x, y, 1]}.b[2] + size('h\xc3\xa9llo')" },
    { "cel_time_ns",
      "timestamp('2024-01-01T00:00:00Z') + duration('1h') < timestamp('2024-01-02T00:00:00Z')" },
};

static const char world_text[] =
    "{\"x\":7,\"y\":3,\"name\":\"bob\",\"role\":\"dev\",\"id\":\"step-42\",\"iteration\":4,"
    "\"user\":{\"name\":\"bob\",\"role\":\"dev\",\"roles\":[\"dev\",\"ops\",\"admin\"]},"
    "\"r\":{\"done\":true,\"note\":\"ok\"},"
    "\"steps.draft.content\":\"...\",\"steps.review.content\":\"fine\","
    "\"steps.review.result\":{\"score\":9,\"notes\":[]}}";

/* Values by slot; a token is the slot plus one, and the number of names above that. */
struct world {
    json_t *root;
    json_t *values[32];
    const char *names[32]; // "x" or "steps.review.result"
    size_t count;
};

static json_t *make_items(int count)
{
    json_t *items = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(items, json_pack("{s:s, s:s, s:i, s:i}", "status",
                                               i == count - 1 ? "failed" : "ok", "name", "item",
                                               "score", i * 10 % 100, "index", i));
    return items;
}

static void world_init(struct world *w)
{
    const char *key;
    json_t *value;
    w->root = json_loads(world_text, 0, NULL);
    json_object_set_new(w->root, "items", make_items(10));
    json_object_set_new(w->root, "items100", make_items(100));
    json_object_foreach(w->root, key, value)
    {
        w->names[w->count] = key;
        w->values[w->count++] = value;
    }
}

/* How many names of the path a slot's name has; 0 when it is another. */
static int names_used(const char *slot, const struct cel_name *path, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (strncmp(slot, path[i].text, path[i].len) != 0)
            return 0;
        slot += path[i].len;
        if (*slot == '\0')
            return (int)i + 1;
        if (*slot++ != '.')
            return 0;
    }
    return 0;
}

static int bind(void *user, const struct cel_name *path, size_t count, const char **ret_type,
                uintptr_t *ret_token, rondo_error *err)
{
    const struct world *w = user;
    for (size_t i = 0; i < w->count; i++) {
        int used = names_used(w->names[i], path, count);
        if (!used)
            continue;
        *ret_token = i + 1 + ((uintptr_t)used << 8);
        return used;
    }
    return 0;
}

static size_t resolve(void *user, const struct cel_ref *ref, struct cel_val *ret)
{
    const struct world *w = user;
    *ret = cel_val_from_json(w->values[(ref->token & 255) - 1]);
    return ref->token >> 8;
}

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double median(double *values, int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && values[j] < values[j - 1]; j--) {
            double swapped = values[j];
            values[j] = values[j - 1];
            values[j - 1] = swapped;
        }
    return values[count / 2];
}

/* What is measured: once, or what a negative code says went wrong. */
struct job {
    const struct cel_program *program;
    const struct cel_env *env;
    const char *text;
    const struct cel_options *options;
};

/* The barriers keep the compiler, which sees the library as a whole, from doing the work once for
   all rounds, or not at all. */
static __attribute__((noinline)) int eval_once(const struct job *job)
{
    struct cel_val value;
    rondo_error err;
    __asm__ volatile("" ::: "memory");
    int rc = cel_eval(job->program, job->env, &value, &err);
    __asm__ volatile("" : : "r"(&value) : "memory");
    return rc;
}

static int compile_once(const struct job *job)
{
    rondo_error err;
    auto_cel struct cel_program *program =
        cel_compile(job->text, strlen(job->text), job->options, &err);
    return program ? 0 : -1;
}

static int parse_once(const struct job *job)
{
    rondo_error err;
    char room[8192];
    auto_arena struct arena arena = { 0 };
    arena_lend(&arena, room, sizeof room);
    return parser_run(job->text, strlen(job->text), job->options, &arena, &err) ? 0 : -1;
}

static double measure(int (*once)(const struct job *job), const struct job *job)
{
    double batches[BATCHES];
    long rounds = 64;
    for (int i = 0; i < BATCHES; i++) {
        double start = now_ns(), spent;
        for (long n = 0; n < rounds; n++)
            if (once(job) < 0)
                return -1;
        spent = now_ns() - start;
        batches[i] = spent / (double)rounds;
        if (i == 0 && spent < BATCH_NS) {
            rounds = (long)((double)rounds * BATCH_NS / spent) + 1;
            i = -1;
            if (spent > BATCH_NS / 2)
                i = 0;
        }
    }
    return median(batches, BATCHES);
}

int bench_cel(void (*report)(const char *name, double value, void *user), void *user)
{
    struct world world = { .count = 0 };
    world_init(&world);
    struct cel_options options = { .bind = bind, .user = &world };
    struct cel_env env = { .resolve = resolve, .user = &world, .scratch = cel_scratch_new() };
    rondo_error err;
    int wrong = 0;
    for (size_t i = 0; i < COUNT(cases); i++) {
        auto_cel struct cel_program *program =
            cel_compile(cases[i].text, strlen(cases[i].text), &options, &err);
        double ns = program ? measure(eval_once, &(struct job){ program, &env }) : -1;
        wrong |= ns < 0;
        report(cases[i].name, ns, user);
    }
    struct job job = { .text = cases[2].text, .options = &options };
    report("cel_parse_ns", measure(parse_once, &job), user);
    report("cel_compile_ns", measure(compile_once, &job), user);
    cel_scratch_free(env.scratch);
    json_decref(world.root);
    return wrong ? -1 : 0;
}

#ifdef BENCH_MAIN
#include <stdio.h>

static void print(const char *name, double value, void *user)
{
    printf("%s %.1f\n", name, value);
}

int main(void)
{
    return bench_cel(print, NULL) < 0;
}
#endif
