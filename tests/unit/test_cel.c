/* test_cel.c - what a program of ours promises its callers. */
#include "test.h"

#include "base/buf.h"
#include "cel/cel.h"
#include "cel/frame.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cel_program *compiled(const char *text, const struct cel_options *options)
{
    rondo_error err;
    struct cel_program *program = cel_compile(text, strlen(text), options, &err);
    if (!program)
        FAIL("%s: %s", text, err.message);
    return program;
}

/* ---- resolving --------------------------------------------------------------------------- */

struct asked {
    int count;
    char paths[8][64];
};

/* Knows "a.b.c" as a whole and "x"; "gone", and of "late" its first name, are known and have no value. */
static size_t know_paths(void *user, const struct cel_ref *ref, struct cel_val *ret)
{
    struct asked *asked = user;
    char *path = asked->paths[asked->count++ % 8];
    int len = 0;
    for (uint32_t i = 0; i < ref->count; i++)
        len += snprintf(path + len, 64 - (size_t)len, "%s%s", i ? "." : "", ref->names[i].text);
    if (strncmp(path, "a.b.c", 5) == 0)
        return *ret = cel_of_int(42), 3;
    if (path[0] == 'x')
        return *ret = cel_of_int(7), 1;
    if (strncmp(path, "gone", 4) == 0)
        return *ret = (struct cel_val){ CEL_ABSENT }, ref->count;
    if (strncmp(path, "late", 4) == 0)
        return *ret = (struct cel_val){ CEL_ABSENT }, 1;
    return 0;
}

static int evaluate(const char *text, struct cel_val *ret, struct asked *asked,
                    rondo_error *err)
{
    static struct cel_scratch *scratch;
    if (!scratch)
        scratch = cel_scratch_new();
    auto_cel struct cel_program *program =
        compiled(text, &(struct cel_options){ .is_open = true });
    struct cel_env env = { .resolve = know_paths, .user = asked, .scratch = scratch };
    return cel_eval(program, &env, ret, err);
}

TEST(cel_asks_the_resolver_for_whole_paths)
{
    struct asked asked = { 0 };
    struct cel_val v;
    rondo_error err;
    CHECK(evaluate("a.b.c == 42 && x == 7", &v, &asked, &err) == 0);
    CHECK(v.kind == CEL_BOOL && v.truth);
    CHECK_INT(asked.count, 2);
    CHECK_STR(asked.paths[0], "a.b.c");
}

static int know_everything(void *user, const struct cel_name *path, size_t count,
                           const char **ret_type, uintptr_t *ret_token, rondo_error *err)
{
    return (int)count;
}

TEST(cel_takes_an_index_for_a_field_when_names_are_bound)
{
    auto_cel struct cel_program *program = compiled(
        "a['b-c'].d > 1 && has(a['b-c'].e)", &(struct cel_options){ .bind = know_everything });
    CHECK_INT(cel_program_ref_count(program), 2);
    CHECK_INT(cel_program_ref_at(program, 0)->count, 3);
    CHECK_STR(cel_program_ref_at(program, 0)->names[1].text, "b-c");
    CHECK_STR(cel_program_ref_at(program, 1)->names[2].text, "e");
}

TEST(cel_tells_absent_from_wrong)
{
    struct asked asked = { 0 };
    struct cel_val v;
    rondo_error err;
    CHECK(evaluate("gone.for.good > 3", &v, &asked, &err) == RONDO_ENOTFOUND);
    CHECK(evaluate("{'a': 1}.b", &v, &asked, &err) == RONDO_ENOTFOUND);
    CHECK(evaluate("nobody", &v, &asked, &err) == RONDO_ENOTFOUND);
    CHECK(evaluate("x + 'y'", &v, &asked, &err) == RONDO_EFAILED);
    CHECK_INT(err.column, 3);
    CHECK(evaluate("has(gone.now)", &v, &asked, &err) == 0 && !v.truth);
    CHECK(evaluate("has(late.or.never)", &v, &asked, &err) == 0 && !v.truth);
    CHECK(evaluate("late.or.never", &v, &asked, &err) == RONDO_ENOTFOUND);
    CHECK(evaluate("has(a.b.c)", &v, &asked, &err) == 0 && v.truth);
}

TEST(cel_lists_the_paths_a_program_needs)
{
    auto_cel struct cel_program *program =
        compiled("a.b.c > 1 && [1].all(i, i < x.y)", &(struct cel_options){ .is_open = true });
    CHECK_INT(cel_program_ref_count(program), 2);
    CHECK_INT(cel_program_ref_at(program, 0)->count, 3);
    CHECK_STR(cel_program_ref_at(program, 1)->names[1].text, "y");
    CHECK(cel_program_ref_at(program, 2) == NULL);
}

/* ---- binding ----------------------------------------------------------------------------- */

static int know_steps(void *user, const struct cel_name *path, size_t count,
                      const char **ret_type, uintptr_t *ret_token, rondo_error *err)
{
    if (strcmp(path[0].text, "steps") != 0)
        return 0;
    if (count < 2 || strcmp(path[1].text, "review") != 0)
        return err_set(err, RONDO_EINVAL, "there is no step '%s'",
                       count < 2 ? "" : path[1].text);
    *ret_type = "map(string, int)";
    *ret_token = 99;
    return 2;
}

TEST(cel_lets_the_caller_bind_names_and_object_to_them)
{
    struct cel_options options = { .bind = know_steps };
    rondo_error err;
    auto_cel struct cel_program *program = compiled("steps.review.score + 1", &options);
    CHECK_INT(cel_program_ref_at(program, 0)->token, 99);
    char *type = cel_type_text(cel_program_type(program));
    CHECK_STR(type, "int");
    mem_free(type);

    CHECK(cel_compile("1 + steps.reviw.score", 21, &options, &err) == NULL);
    CHECK_INT(err.code, RONDO_EINVAL);
    CHECK_STR(err.message, "there is no step 'reviw'");
    CHECK_INT(err.column, 5);
    CHECK(cel_compile("steps.review.score + 'x'", 24, &options, &err) == NULL);
}

/* a.* are lists of { name, size, parts }, a list again, and `other`, of which nothing is known; n.* are numbers. */
static int know_list(void *user, const struct cel_name *path, size_t count, const char **ret_type, uintptr_t *ret_token,
                     rondo_error *err)
{
    *ret_type = strcmp(path[0].text, "a") == 0 ? "list(dyn)" : strcmp(path[0].text, "n") == 0 ? "number" : NULL;
    *ret_token = 7;
    return MIN((int)count, 2);
}

static int know_item(void *user, uintptr_t token, const struct cel_name *names, size_t count, size_t from,
                     const char **ret_type, rondo_error *err)
{
    static const char *const fields[][2] = { { "name", "string" }, { "size", "number" }, { "parts", "list(dyn)" } };
    const char *last = names[count - 1].text;
    CHECK(token == 7 && from == 2 && !names[2].text);
    if (!last) {
        *ret_type = "map(string, dyn)";
        return 1;
    }
    for (size_t i = 0; i < COUNT(fields); i++)
        if (strcmp(last, fields[i][0]) == 0) {
            *ret_type = fields[i][1];
            return 1;
        }
    return strcmp(last, "other") == 0 ? 0 : err_set(err, RONDO_EINVAL, "no '%s'", last);
}

TEST(cel_asks_the_caller_what_items_have_wherever_they_go)
{
    static const struct { const char *text, *message; int column; } rows[] = {
        { "a.list[0].nam", "no 'nam'", 11 },
        { "a.list[0]['nam']", "no 'nam'", 11 },
        { "a.list.map(e, e.nam)", "no 'nam'", 17 },
        { "a.list.filter(e, e.size > 1).exists(e, e.nam == '')", "no 'nam'", 42 },
        { "a.list.transformList(i, e, e.parts.map(e, e.nam))", "no 'nam'", 45 },
        { "a.list.map(e, e.parts[0].nam)", "no 'nam'", 26 },
        { "cel.bind(e, a.list[0], e.nam)", "no 'nam'", 26 },
        { "a.list.first().value().nam", "no 'nam'", 24 },
        { "{'k': a.list}.k[0].nam", "no 'nam'", 20 },
        { "has(a.list[0].nam)", "no 'nam'", 15 },
        { "a.list[0].name.x", "a value of type string has no field 'x'", 16 },
        { "a.list.map(e, e.size.map(x, x))", "expected a list or a map to go through, got number", 17 },
        { "n.x + 'a' == ''", "no matching overload for '+' applied to (number, string)", 5 },
        { "-a.list[0].name", "no matching overload for '-' applied to (string)", 1 },
    };
    struct cel_options options = { .bind = know_list, .item = know_item };
    for (size_t i = 0; i < COUNT(rows); i++) {
        rondo_error err = { 0 };
        CHECK(cel_compile(rows[i].text, strlen(rows[i].text), &options, &err) == NULL);
        err.message[strlen(rows[i].message)] = '\0';
        CHECK_STR(err.message, rows[i].message);
        CHECK_INT(err.column, rows[i].column);
    }
}

TEST(cel_holds_nothing_that_is_known_against_values_beside_others)
{
    static const char *const texts[] = {
        "a.list.map(e, has(e.nam))", "a.list.map(e, e.?nam)", "a.list[?0].nam", "a.list[0].other.nam",
        "a.list.map(e, dyn(e).nam)", "(a.list + a.more).map(e, e.nam)", "[a.list[0], {'nam': 1}].map(e, e.nam)",
        "[a.list, [{'nam': 1}]].map(l, l.map(e, e.nam))", "(true ? a.list[0] : a.more[0]).nam",
        "a.list.map(e, [{'nam': 1}].map(e, e.nam))", "n.x == 'a' || 'a' == n.x || n.x in ['a'] || n.x == null",
        "true ? n.x : 'a'", "[n.x] == ['a']", "[n.x] + ['a']", "{'k': n.x} == {'k': 'a'}",
        "optional.of(n.x).orValue('a')",
        "[n.x + 1, n.x + 1.5, n.x % 2, -n.x, n.x * n.x, math.abs(n.x)]", "{n.x: 1}", "[1, 2][n.x]",
        "a.list.map(e, true ? e.name + e.name : 1)", "a.list.map(e, true ? e.parts + e.parts : 1)",
        "a.list.map(e, e.parts.transformList(i, p, true ? i : 'a'))", "a.list[0].map(k, k.any)",
        "cel.bind(v, [], [v + a.list, v + ['a']])",
    };
    struct cel_options options = { .bind = know_list, .item = know_item };
    for (size_t i = 0; i < COUNT(texts); i++) {
        auto_cel struct cel_program *program = compiled(texts[i], &options);
        CHECK(program);
    }
}

/* How many paths have to be there. */
struct certainty {
    bool is_certain;
    int count;
};

static int count_certain(void *user, const struct cel_name *path, size_t count, const char **ret_type,
                         uintptr_t *ret_token, rondo_error *err)
{
    struct certainty *c = user;
    c->count += c->is_certain;
    return (int)count;
}

TEST(cel_says_which_names_an_evaluation_cannot_do_without)
{
    static const struct { const char *text; int certain; } rows[] = {
        { "a.b + size(c) + [d][0] + {'k': e}.k", 4 }, { "has(a.b)", 0 },          { "has(a.b[0].c)", 1 },
        { "a && b", 0 },                              { "a || b.c", 0 },          { "a ? b : c", 1 },
        { "a.all(x, x == b)", 1 },                    { "[1].map(x, a > 1, b)", 0 }, { "a.?b.orValue(c)", 1 },
        { "a.?b.or(c)", 1 },                          { "a.?b.optMap(x, x + c)", 1 }, { "cel.bind(x, a, x + b)", 1 },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct certainty c = { 0 };
        struct cel_options options = { .bind = count_certain, .is_certain = &c.is_certain, .user = &c };
        auto_cel struct cel_program *program = compiled(rows[i].text, &options);
        CHECK(program);
        CHECK_INT(c.count, rows[i].certain);
    }
}

TEST(cel_mixes_numbers_and_compares_with_null_only_where_names_are_bound)
{
    static const char *const texts[] = { "1 * 0.5", "2u - 0.5", "1 == 1.0", "'a' != null", "null == [1]" };
    struct cel_options bound = { .bind = know_everything };
    rondo_error err;
    for (size_t i = 0; i < COUNT(texts); i++) {
        auto_cel struct cel_program *program = compiled(texts[i], &bound);
        CHECK(program);
        CHECK(cel_compile(texts[i], strlen(texts[i]), NULL, &err) == NULL);
    }
    CHECK(cel_compile("1 % 0.5", 7, &bound, &err) == NULL);
    CHECK(cel_compile("1 + 1u", 6, &bound, &err) == NULL);
}

static struct cel_val twice(struct cel_frame *f, const struct cel_val *args)
{
    return cel_of_int(2 * args[0].i);
}

TEST(cel_knows_what_a_result_can_be)
{
    auto_cel struct cel_program *number = compiled("1 + 2", NULL);
    auto_cel struct cel_program *anything =
        compiled("x.y", &(struct cel_options){ .is_open = true });
    CHECK(!cel_program_can_be(number, CEL_BOOL));
    CHECK(cel_program_can_be(number, CEL_INT));
    CHECK(cel_program_can_be(anything, CEL_BOOL));
}

TEST(cel_calls_functions_of_the_caller)
{
    static const char *const params[] = { "int" };
    struct cel_function function = { "my.twice", false, params, 1, "int", twice };
    struct cel_options options = { .functions = &function,
                                   .function_count = 1,
                                   .container = "my" };
    struct cel_env env = { .scratch = cel_scratch_new() };
    struct cel_val v;
    rondo_error err;
    auto_cel struct cel_program *program = compiled("twice(20) + my.twice(1)", &options);
    CHECK(cel_eval(program, &env, &v, &err) == 0);
    CHECK_INT(v.i, 42);
    CHECK(cel_compile("twice('x')", 10, &options, &err) == NULL);
    CHECK_STR(err.message,
              "no matching overload for 'my.twice' applied to (string); possible: (int)");
    cel_scratch_free(env.scratch);
}

/* ---- limits ------------------------------------------------------------------------------ */

TEST(cel_stops_at_its_cost)
{
    struct cel_env env = { .scratch = cel_scratch_new(), .cost_limit = 5000 };
    struct cel_val v;
    rondo_error err;
    int64_t cost;
    auto_cel struct cel_program *long_one = compiled(
        "lists.range(1000).all(i, lists.range(1000).all(j, i + j >= 0)) || true", NULL);
    CHECK(cel_eval(long_one, &env, &v, &err) == RONDO_ELIMIT);
    auto_cel struct cel_program *short_one = compiled("[1, 2, 3].map(i, i * 2).size()", NULL);
    CHECK(cel_eval_cost(short_one, &env, &v, &cost, &err) == 0);
    CHECK(cost > 3 && cost < 100);
    cel_scratch_free(env.scratch);
}

TEST(cel_stops_when_cancelled)
{
    bool cancelled = true;
    struct cel_env env = { .scratch = cel_scratch_new(), .cancelled = &cancelled };
    struct cel_val v;
    rondo_error err;
    auto_cel struct cel_program *program = compiled("lists.range(1000).all(i, i >= 0)", NULL);
    CHECK(cel_eval(program, &env, &v, &err) == RONDO_ECANCELLED);
    cancelled = false;
    CHECK(cel_eval(program, &env, &v, &err) == 0);
    cel_scratch_free(env.scratch);
}

TEST(cel_memory_is_paid_for)
{
    auto_buf struct buf text = { 0 };
    struct cel_env env = { .scratch = cel_scratch_new() };
    struct cel_val v;
    rondo_error err;
    buf_puts(&text, "cel.bind(v0, string(x), ");
    for (int i = 0; i < 60; i++)
        buf_printf(&text, "cel.bind(v%d, v%d + v%d, ", i + 1, i, i);
    buf_puts(&text, "v60.size()");
    for (int i = 0; i <= 60; i++)
        buf_putc(&text, ')');
    struct asked asked = { 0 };
    env.resolve = know_paths;
    env.user = &asked;
    auto_cel struct cel_program *program =
        compiled(buf_text(&text), &(struct cel_options){ .is_open = true });
    CHECK(cel_eval(program, &env, &v, &err) == RONDO_ELIMIT);
    cel_scratch_free(env.scratch);
}

TEST(cel_hostile_patterns_cost_milliseconds)
{
    struct asked asked = { 0 };
    struct cel_env env = { .resolve = know_paths,
                           .user = &asked,
                           .scratch = cel_scratch_new() };
    struct cel_val v;
    rondo_error err;
    auto_cel struct cel_program *program = compiled(
        "['^(a+)+$'].all(p, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'.matches(p))",
        &(struct cel_options){ .is_open = true });
    CHECK(cel_eval(program, &env, &v, &err) == RONDO_ELIMIT);
    cel_scratch_free(env.scratch);
}

/* ---- the rest ---------------------------------------------------------------------------- */

TEST(cel_draws_a_caret)
{
    rondo_error err = { .line = 2, .column = 3 };
    char *caret = cel_caret("ab\ncdef\ngh", 10, &err);
    CHECK_STR(caret, "cdef\n  ^\n");
    mem_free(caret);
    char wide[301];
    memset(wide, 'x', 300);
    wide[199] = '!';
    err = (rondo_error){ .line = 1, .column = 200 };
    caret = cel_caret(wide, 300, &err);
    CHECK(strlen(caret) < 200);
    CHECK(strchr(caret, '!') - caret == strchr(caret, '^') - strchr(caret, '\n') - 1);
    mem_free(caret);
    err.line = 0;
    caret = cel_caret("ab", 2, &err);
    CHECK_STR(caret, "");
    mem_free(caret);
}

TEST(cel_results_outlive_the_program_as_json)
{
    struct cel_env env = { .scratch = cel_scratch_new() };
    struct cel_val v;
    rondo_error err;
    struct cel_program *program =
        compiled("{'a': [1, 2u, 1.5, b'hi', null], 2: duration('90s')}", NULL);
    CHECK(cel_eval(program, &env, &v, &err) == 0);
    json_t *json = cel_val_to_json(v, &err);
    cel_program_free(program);
    cel_scratch_free(env.scratch);
    char *text = json_dumps(json, JSON_COMPACT);
    CHECK_STR(text, "{\"a\":[1,2,1.5,\"aGk=\",null],\"2\":\"90s\"}");
    free(text);
    json_decref(json);
}

TEST(cel_programs_live_in_an_arena_of_the_caller)
{
    struct arena arena = { 0 };
    struct cel_options options = { .is_open = true, .arena = &arena };
    struct cel_env env = { .scratch = cel_scratch_new() };
    struct cel_program *programs[200];
    struct cel_val v;
    rondo_error err;
    char text[200];
    for (int i = 0; i < 200; i++) {
        snprintf(text, sizeof text, "'n%d'.matches('^n%d$') || (a + b + c + d.e).f > %d", i, i, i);
        programs[i] = compiled(text, &options);
        CHECK(!cel_compile("1 +", 3, &options, &err)); // leaves nothing that has to be freed
    }
    for (int i = 0; i < 200; i++) {
        CHECK(cel_eval(programs[i], &env, &v, &err) == 0 && v.truth);
        CHECK_INT((int)cel_program_ref_count(programs[i]), 4);
        CHECK_STR(cel_program_ref_at(programs[i], 3)->names[1].text, "e");
        cel_program_free(programs[i]);
    }
    arena_free(&arena);
    cel_scratch_free(env.scratch);
}

struct worker {
    struct cel_program *program;
    int wrong;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    struct cel_env env = { .scratch = cel_scratch_new() };
    struct cel_val v;
    rondo_error err;
    for (int i = 0; i < 2000; i++)
        if (cel_eval(w->program, &env, &v, &err) < 0 || !v.truth)
            w->wrong++;
    cel_scratch_free(env.scratch);
    return NULL;
}

TEST(cel_programs_are_shared_by_threads)
{
    struct cel_program *program = compiled(
        "['a-1', 'b-2'].all(s, s.matches('^[a-z]-[0-9]$')) && [3, 1].sort()[0] == 1", NULL);
    struct worker workers[4];
    pthread_t threads[4];
    for (int i = 0; i < 4; i++) {
        workers[i] = (struct worker){ program, 0 };
        pthread_create(&threads[i], NULL, work, &workers[i]);
    }
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        CHECK_INT(workers[i].wrong, 0);
    }
    cel_program_free(program);
}
