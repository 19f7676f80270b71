/* cel_suite.c - the public conformance tests of CEL, against ours.

       cel_suite DIR...

   Runs every JSON file in the folders, prints a line for each test that fails, and ends with
   "N passed, M failed".  Tests that need protobuf messages are skipped and counted.  A test that
   expects an error passes only by a real one: not by a parse error, and outside the file `basic`
   not by an unknown function. */
#include "cel/base64.h"
#include "cel/cel.h"
#include "cel/cel_type.h"
#include "cel/cel_val.h"
#include "cel/civil.h"
#include "io/tzfile.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct suite {
    struct tzfile *zones;
    struct cel_scratch *scratch;
    struct arena arena;   // of the test under way
    int passed, failed, skipped;
};

#define FIELDS_MAX 64

struct bound {
    const char *name;
    struct cel_val value;
};

struct bindings {
    struct bound list[FIELDS_MAX];
    size_t count;
};

/* ---- values of the files ----------------------------------------------------------------- */

static struct cel_val read_value(struct suite *s, json_t *json);

static struct cel_val read_list(struct suite *s, json_t *items)
{
    size_t count = json_array_size(items);
    struct cel_list *list =
        arena_alloc(&s->arena, sizeof *list + count * sizeof(struct cel_val));
    list->count = (uint32_t)count;
    for (size_t i = 0; i < count; i++)
        list->items[i] = read_value(s, json_array_get(items, i));
    return cel_of_list(list);
}

static struct cel_val read_map(struct suite *s, json_t *entries)
{
    static const struct cel_env env = { 0 };
    struct cel_frame f = { .arena = &s->arena, .env = &env, .cost = 1000000 };
    struct cel_map *map = cel_map_new(&f, (uint32_t)json_array_size(entries));
    struct cel_val fault;
    for (size_t i = 0; i < json_array_size(entries); i++) {
        json_t *entry = json_array_get(entries, i);
        if (!cel_map_add(&f, map, read_value(s, json_array_get(entry, 0)),
                         read_value(s, json_array_get(entry, 1)), &fault))
            abort();
    }
    return cel_of_map(map);
}

static struct cel_val read_bytes(struct suite *s, json_t *json)
{
    size_t len = json_string_length(json);
    char *out = arena_alloc(&s->arena, len + 1);
    if (!base64_read(out, json_string_value(json), len, &len))
        abort();
    return (struct cel_val){ CEL_BYTES, .len = (uint32_t)len, .text = out };
}

static struct cel_val read_timestamp(json_t *json)
{
    struct cel_val v = { CEL_TIMESTAMP };
    if (!civil_read(json_string_value(json), json_string_length(json), &v.i, &v.len))
        abort();
    return v;
}

static struct cel_val read_duration(json_t *json)
{
    struct cel_val v = { CEL_DURATION };
    if (!civil_read_duration(json_string_value(json), json_string_length(json), &v.i))
        abort();
    return v;
}

static struct cel_val read_type(struct suite *s, json_t *json)
{
    const struct cel_type *type =
        cel_type_find(json_string_value(json), json_string_length(json));
    return type ? cel_of_type(type) : (struct cel_val){ CEL_NULL };
}

static struct cel_val read_value(struct suite *s, json_t *json)
{
    void *iter = json_object_iter(json);
    const char *kind = json_object_iter_key(iter);
    json_t *v = json_object_iter_value(iter);
    const char *text = json_string_value(v);
    if (strcmp(kind, "int") == 0)
        return cel_of_int(strtoll(text, NULL, 10));
    if (strcmp(kind, "uint") == 0)
        return cel_of_uint(strtoull(text, NULL, 10));
    if (strcmp(kind, "double") == 0)
        return cel_of_double(strtod(text, NULL));
    if (strcmp(kind, "bytes") == 0)
        return read_bytes(s, v);
    if (strcmp(kind, "list") == 0)
        return read_list(s, v);
    if (strcmp(kind, "map") == 0)
        return read_map(s, v);
    if (strcmp(kind, "type") == 0)
        return read_type(s, v);
    if (strcmp(kind, "timestamp") == 0)
        return read_timestamp(v);
    if (strcmp(kind, "duration") == 0)
        return read_duration(v);
    return cel_val_from_json(v);   // string, bool, null
}

/* ---- comparing: types count, and NaN is NaN ---------------------------------------------- */

static bool is_same(struct cel_val a, struct cel_val b);

static bool is_same_list(struct cel_val a, struct cel_val b)
{
    if (cel_size(a) != cel_size(b))
        return false;
    for (uint32_t i = 0; i < cel_size(a); i++)
        if (!is_same(cel_item(a, i), cel_item(b, i)))
            return false;
    return true;
}

static bool is_same_map(struct cel_val a, struct cel_val b)
{
    struct cel_walk walk = { 0 };
    if (cel_size(a) != cel_size(b))
        return false;
    while (cel_map_walk(a, &walk)) {
        struct cel_walk other = { 0 };
        bool found = false;
        while (!found && cel_map_walk(b, &other))
            found = is_same(walk.key, other.key) && is_same(walk.value, other.value);
        if (!found)
            return false;
    }
    return true;
}

static bool is_same(struct cel_val a, struct cel_val b)
{
    static const struct cel_env env = { 0 };
    struct cel_frame f = { .env = &env, .cost = 1000000 };
    if (a.kind != b.kind)
        return false;
    if (a.kind == CEL_LIST)
        return is_same_list(a, b);
    if (a.kind == CEL_MAP)
        return is_same_map(a, b);
    if (a.kind == CEL_DOUBLE)
        return (isnan(a.d) && isnan(b.d)) || (a.d == b.d && signbit(a.d) == signbit(b.d));
    return cel_equal(&f, a, b);
}

/* ---- one test ---------------------------------------------------------------------------- */

/* The longest bound name that the path begins with. */
static size_t resolve(void *user, const struct cel_ref *ref, struct cel_val *ret)
{
    const struct bindings *b = user;
    size_t best = 0;
    for (size_t i = 0; i < b->count; i++) {
        const char *at = b->list[i].name;
        size_t used = 0;
        while (used < ref->count &&
               strncmp(at, ref->names[used].text, ref->names[used].len) == 0 &&
               (at[ref->names[used].len] == '.' || at[ref->names[used].len] == '\0')) {
            at += ref->names[used++].len;
            if (*at == '\0')
                break;
            at++;
        }
        if (*at == '\0' && used > best) {
            best = used;
            *ret = b->list[i].value;
        }
    }
    return best;
}

static const char *const *read_params(struct suite *s, json_t *params)
{
    const char **list = arena_alloc(&s->arena, json_array_size(params) * sizeof *list);
    for (size_t i = 0; i < json_array_size(params); i++)
        list[i] = json_string_value(json_array_get(params, i));
    return list;
}

static struct cel_val no_body(struct cel_frame *f, const struct cel_val *args)
{
    return fault_new(f, RONDO_EFAILED, "declared only");
}

static size_t read_functions(struct suite *s, json_t *decl, struct cel_function *list,
                             size_t count)
{
    json_t *overloads = json_object_get(decl, "function");
    for (size_t i = 0; i < json_array_size(overloads) && count < FIELDS_MAX; i++) {
        json_t *o = json_array_get(overloads, i), *params = json_object_get(o, "params");
        list[count++] = (struct cel_function){
            .name = json_string_value(json_object_get(decl, "name")),
            .is_member = json_is_true(json_object_get(o, "member")),
            .params = read_params(s, params),
            .param_count = json_array_size(params),
            .result = json_string_value(json_object_get(o, "result")),
            .call = no_body,
        };
    }
    return count;
}

/* NULL when the test passes, else what went wrong. */
static const char *judge_value(struct suite *s, json_t *wanted, struct cel_val value, char *why,
                               size_t size)
{
    if (is_same(read_value(s, wanted), value))
        return NULL;
    rondo_error err;
    json_t *json = cel_val_to_json(value, &err);
    char *text = json ? json_dumps(json, JSON_ENCODE_ANY) : NULL;
    snprintf(why, size, "got %s (%s)", text ? text : "?", cel_type_of(value.kind)->name);
    free(text);
    json_decref(json);
    return why;
}

static const char *judge_type(json_t *wanted, const struct cel_program *program, char *why,
                              size_t size)
{
    char *type = cel_type_text(cel_program_type(program));
    bool ok = strcmp(type, json_string_value(wanted)) == 0;
    snprintf(why, size, "type %s", type);
    mem_free(type);
    return ok ? NULL : why;
}

static const char *judge_error(json_t *test, const rondo_error *err, bool is_expected,
                               char *why, size_t size)
{
    bool is_basic = strncmp(json_string_value(json_object_get(test, "id")), "basic/", 6) == 0;
    bool is_real =
        err->code != RONDO_EPARSE && (is_basic || !strstr(err->message, "unknown function"));
    snprintf(why, size, "error %d:%d %s", err->line, err->column, err->message);
    return is_expected && is_real ? NULL : why;
}

static const char *run_program(struct suite *s, json_t *test, const struct cel_program *program,
                               char *why, size_t size)
{
    struct bindings bindings = { .count = 0 };
    json_t *expect = json_object_get(test, "expect"),
           *typed = json_object_get(expect, "typed_result"), *value;
    const char *name;
    json_object_foreach(json_object_get(test, "bindings"), name, value)
        bindings.list[bindings.count++] = (struct bound){ name, read_value(s, value) };
    if (typed) {
        const char *wrong = judge_type(json_object_get(typed, "type"), program, why, size);
        if (wrong || json_is_true(json_object_get(test, "check_only")))
            return wrong;
    }
    struct cel_env env = { .resolve = resolve,
                           .user = &bindings,
                           .scratch = s->scratch,
                           .zone = tzfile_get,
                           .zone_user = s->zones };
    struct cel_val result;
    rondo_error err;
    if (cel_eval(program, &env, &result, &err) < 0)
        return judge_error(test, &err, json_object_get(expect, "error"), why, size);
    json_t *wanted = json_object_get(typed ? typed : expect, "value");
    if (wanted)
        return judge_value(s, wanted, result, why, size);
    return json_object_get(expect, "error") ? "no error" : NULL;
}

static const char *run_test(struct suite *s, json_t *test, char *why, size_t size)
{
    struct cel_decl decls[FIELDS_MAX];
    struct cel_function functions[FIELDS_MAX];
    json_t *env = json_object_get(test, "type_env"), *text = json_object_get(test, "expr");
    struct cel_options options = {
        .decls = decls,
        .functions = functions,
        .container = json_string_value(json_object_get(test, "container")),
        .no_macros = json_is_true(json_object_get(test, "disable_macros")),
        .no_check = json_is_true(json_object_get(test, "disable_check")),
    };
    for (size_t i = 0; i < json_array_size(env) && i < FIELDS_MAX; i++) {
        json_t *decl = json_array_get(env, i);
        if (json_object_get(decl, "function"))
            options.function_count = read_functions(s, decl, functions, options.function_count);
        else
            decls[options.decl_count++] =
                (struct cel_decl){ json_string_value(json_object_get(decl, "name")),
                                   json_string_value(json_object_get(decl, "type")) };
    }
    rondo_error err;
    auto_cel struct cel_program *program =
        cel_compile(json_string_value(text), json_string_length(text), &options, &err);
    if (!program)
        return judge_error(
            test, &err, json_object_get(json_object_get(test, "expect"), "error"), why, size);
    return run_program(s, test, program, why, size);
}

/* ---- files ------------------------------------------------------------------------------- */

static void run_section(struct suite *s, json_t *tests)
{
    size_t i;
    json_t *test;
    char why[1024];
    json_array_foreach(tests, i, test)
    {
        if (json_is_true(json_object_get(test, "needs_proto"))) {
            s->skipped++;
            continue;
        }
        const char *wrong = run_test(s, test, why, sizeof why);
        if (wrong)
            printf("FAIL %s: %s\n", json_string_value(json_object_get(test, "id")), wrong);
        *(wrong ? &s->failed : &s->passed) += 1;
        arena_clear(&s->arena);
    }
}

static bool run_file(struct suite *s, const char *path)
{
    json_error_t why;
    json_t *file = json_load_file(path, JSON_ALLOW_NUL, &why);
    if (!file) {
        fprintf(stderr, "%s:%d: %s\n", path, why.line, why.text);
        return false;
    }
    size_t i;
    json_t *section;
    json_array_foreach(json_object_get(file, "sections"), i, section)
        run_section(s, json_object_get(section, "tests"));
    json_decref(file);
    return true;
}

static int is_json(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return len > 5 && strcmp(entry->d_name + len - 5, ".json") == 0;
}

static bool run_folder(struct suite *s, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_json, alphasort);
    bool ok = count >= 0;
    if (count < 0)
        perror(folder);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        ok &= run_file(s, path);
        free(entries[i]);
    }
    if (count >= 0)
        free(entries);
    return ok;
}

int main(int argc, char **argv)
{
    struct suite s = { .zones = tzfile_new(NULL), .scratch = cel_scratch_new() };
    bool ok = argc > 1;
    if (argc < 2)
        fprintf(stderr, "usage: cel_suite DIR...\n");
    for (int i = 1; i < argc; i++)
        ok &= run_folder(&s, argv[i]);
    printf("%d skipped\n%d passed, %d failed\n", s.skipped, s.passed, s.failed);
    arena_free(&s.arena);
    tzfile_free(s.zones);
    cel_scratch_free(s.scratch);
    return ok && !s.failed ? 0 : 1;
}
