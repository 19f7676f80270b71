/* test_cel_text.c - expressions with what they should give, from the files in tests/cel.

   A case is three lines and an empty one: the expression, the data as JSON, and the value as
   JSON or the error as "error LINE:COLUMN: message".  In the expression \n stands for a line
   break when the file's name begins with "lines".  Lines before a case that begin with # are
   remarks; "#: key number" sets a limit (text, nodes, depth, cost) for the rest of the file, and
   "#: unchecked 1" switches the checker off. */
#include "test.h"

#include "base/buf.h"
#include "cel/cel.h"
#include "io/tzfile.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    struct cel_options options;
    long cost;
};

/* ---- the world of a case ----------------------------------------------------------------- */

static int bind(void *user, const struct cel_name *path, size_t count, const char **ret_type,
                uintptr_t *ret_token, rondo_error *err)
{
    return json_object_get(user, path[0].text) != NULL;
}

/* The longest member of the object at path that the text begins with. */
static size_t longest_id(void *user, const struct cel_name *path, size_t count,
                         const char *text, size_t len)
{
    json_t *at = user;
    size_t best = 0;
    const char *key;
    json_t *value;
    for (size_t i = 0; i < count; i++)
        at = json_object_get(at, path[i].text);
    json_object_foreach(at, key, value) if (strlen(key) > best && strlen(key) <= len &&
                                            memcmp(key, text, strlen(key)) == 0) best =
        strlen(key);
    return best;
}

/* ---- one case ---------------------------------------------------------------------------- */

static char *told(const rondo_error *err)
{
    struct buf buf = { 0 };
    buf_printf(&buf, "error %d:%d: %s", err->line, err->column, err->message);
    return buf_take(&buf);
}

static char *evaluate(const char *text, json_t *data, const struct settings *settings)
{
    struct cel_options options = settings->options;
    struct tzfile *zones = tzfile_new(NULL);
    struct cel_env env = { .resolve = cel_resolve_json,
                           .user = data,
                           .scratch = cel_scratch_new(),
                           .cost_limit = settings->cost,
                           .zone = tzfile_get,
                           .zone_user = zones };
    struct cel_val value;
    rondo_error err;
    char *result;
    options.bind = bind;
    options.hyphen = longest_id;
    options.user = data;
    auto_cel struct cel_program *program = cel_compile(text, strlen(text), &options, &err);
    if (!program || cel_eval(program, &env, &value, &err) < 0)
        result = told(&err);
    else {
        json_t *json = cel_val_to_json(value, &err);
        char *dumped = json ? json_dumps(json, JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
        result = dumped ? mem_strdup(dumped) : told(&err);
        free(dumped);
        json_decref(json);
    }
    cel_scratch_free(env.scratch);
    tzfile_free(zones);
    return result;
}

/* All cases are tried; what went wrong is told at the end. */
static struct buf complaints;

static void check_case(const char *file, int line, const char *text, const char *data_text,
                       const char *wanted, const struct settings *settings)
{
    json_error_t why;
    json_t *data = json_loads(data_text, 0, &why);
    if (!data)
        test_fail(file, line + 1, "the data is no JSON: %s", why.text);
    char *is = evaluate(text, data, settings);
    json_t *wanted_json = json_loads(wanted, JSON_DECODE_ANY, NULL);
    char *want = wanted_json ? json_dumps(wanted_json, JSON_ENCODE_ANY | JSON_SORT_KEYS) : NULL;
    if (strcmp(is, want ? want : wanted) != 0)
        buf_printf(&complaints, "\n%s:%d: %s\n    gives  %s\n    wanted %s", file, line, text,
                   is, want ? want : wanted);
    free(want);
    json_decref(wanted_json);
    json_decref(data);
    mem_free(is);
}

/* ---- files ------------------------------------------------------------------------------- */

static void set(struct settings *s, const char *file, int line, const char *text)
{
    char key[32];
    long n;
    if (sscanf(text, "#: %31s %ld", key, &n) != 2)
        test_fail(file, line, "expected '#: key number'");
    if (strcmp(key, "text") == 0)
        s->options.max_text = (size_t)n;
    else if (strcmp(key, "nodes") == 0)
        s->options.max_nodes = (size_t)n;
    else if (strcmp(key, "depth") == 0)
        s->options.max_depth = (size_t)n;
    else if (strcmp(key, "cost") == 0)
        s->cost = n;
    else if (strcmp(key, "unchecked") == 0)
        s->options.no_check = n;
    else
        test_fail(file, line, "unknown key '%s'", key);
}

static void unfold(char *text)
{
    for (char *at; (at = strstr(text, "\\n"));) {
        *at = '\n';
        memmove(at + 1, at + 2, strlen(at + 2) + 1);
    }
}

static bool next_line(FILE *file, char *out, size_t size, int *line)
{
    if (!fgets(out, (int)size, file))
        return false;
    out[strcspn(out, "\n")] = '\0';
    ++*line;
    return true;
}

static void check_file(const char *path, bool has_lines)
{
    static char text[65536], data[65536], wanted[65536];
    struct settings settings = { .cost = 0 };
    int line = 0;
    FILE *file = fopen(path, "r");
    CHECK(file != NULL);
    while (next_line(file, text, sizeof text, &line)) {
        if (strncmp(text, "#:", 2) == 0)
            set(&settings, path, line, text);
        if (text[0] == '\0' || text[0] == '#')
            continue;
        int start = line;
        if (!next_line(file, data, sizeof data, &line) ||
            !next_line(file, wanted, sizeof wanted, &line))
            test_fail(path, line, "a case has three lines");
        if (has_lines)
            unfold(text);
        check_case(path, start, text, data, wanted, &settings);
    }
    fclose(file);
}

static int is_case(const struct dirent *entry)
{
    return strstr(entry->d_name, ".test") != NULL;
}

TEST(cel_gives_what_the_text_cases_say)
{
    struct dirent **entries;
    int count = scandir("tests/cel", &entries, is_case, alphasort);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "tests/cel/%s", entries[i]->d_name);
        check_file(path, strncmp(entries[i]->d_name, "lines", 5) == 0);
        free(entries[i]);
    }
    free(entries);
    if (complaints.len)
        FAIL("%s", buf_text(&complaints));
}

/* Examples in the manual: a block of lines "expression -> value". */
TEST(cel_examples_of_the_manual_hold)
{
    static char text[4096];
    struct settings settings = { .cost = 0 };
    int line = 0, count = 0;
    bool in_block = false;
    FILE *file = fopen("docs/expressions.md", "r");
    CHECK(file != NULL);
    while (next_line(file, text, sizeof text, &line)) {
        if (strncmp(text, "```", 3) == 0)
            in_block = !in_block && strcmp(text, "```cel") == 0;
        char *arrow = strstr(text, " -> ");
        if (!in_block || !arrow)
            continue;
        *arrow = '\0';
        for (char *end = arrow; end > text && end[-1] == ' ';)
            *--end = '\0';
        const char *wanted = arrow + 4 + strspn(arrow + 4, " ");
        if (strncmp(wanted, "error", 5) != 0)
            check_case("docs/expressions.md", line, text, "{}", wanted, &settings);
        else {
            json_t *data = json_object();
            char *is = evaluate(text, data, &settings);
            if (strncmp(is, "error", 5) != 0)
                test_fail("docs/expressions.md", line, "%s gives %s", text, is);
            mem_free(is);
            json_decref(data);
        }
        count++;
    }
    fclose(file);
    if (complaints.len)
        FAIL("%s", buf_text(&complaints));
    CHECK(count > 50);
}
