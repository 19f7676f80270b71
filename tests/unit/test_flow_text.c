/* test_flow_text.c - workflow files with what is said about them, from the files in tests/flow.

   A case begins with "=== its name" and holds a workflow, then "---", then all diagnostics in their
   order, or "valid".  "+++ path" before the "---" begins a file beside the workflow.  A name that ends in
   "(json)" says that the workflow is JSON; "(lenient)" that it is only checked, "(alone)" that nothing can
   be read.  Lines before the first case are remarks.

   What is valid can also be built: a file that passes does not fail later.  ZF-P01: v1.txt and files.txt have all codes
   of v1. */
#include "test.h"

#include "base/buf.h"
#include "flow/bundle.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILES_MAX 40

struct file {
    char path[100];
    struct buf text;
};

struct text_case {
    char name[200];
    struct file files[FILES_MAX]; // the first is the workflow
    int count;
    struct buf expected;
};

/* ---- files in memory --------------------------------------------------------------------------------- */

static int read_file(void *user, const char *folder, const char *path, size_t max, struct buf *out,
                     char **ret_folder, rondo_error *err)
{
    struct text_case *c = user;
    struct buf full = { 0 };
    if (path[0] == '/' || strncmp(path, "../", 3) == 0)
        return err_set(err, RONDO_EINVAL, "%s: leads out of the folder", path);
    buf_printf(&full, "%s/%s", folder, path);
    for (int i = 1; i < c->count; i++) {
        if (strcmp(buf_text(&full) + 2, c->files[i].path) != 0)
            continue;
        buf_put(out, c->files[i].text.data, c->files[i].text.len);
        *strrchr(full.data, '/') = '\0';
        *ret_folder = buf_take(&full);
        return out->len > max ? err_set(err, RONDO_ELIMIT, "%s: too large", path) : 0;
    }
    buf_free(&full);
    return err_set(err, RONDO_ENOTFOUND, "%s: No such file", path);
}

/* ---- one case ------------------------------------------------------------------------------------------ */

static void put_diag(struct buf *out, const struct diag *diag)
{
    if (diag->source && strcmp(diag->source->name, "flow.yaml") != 0)
        buf_printf(out, "%s:", diag->source->name);
    buf_printf(out, "%u:%u %s[%s]: %s\n", (unsigned)diag->line, (unsigned)diag->column,
               diag->is_warning ? "warning" : "error", diag->code, diag->message);
    if (diag->hint)
        buf_printf(out, "  = %s\n", diag->hint);
}

/* ---- building what is valid ---------------------------------------------------------------------------- */

static void no_run(rondo_task *task, void *user)
{
}

static int no_answer(rondo_context *context, void *user)
{
    return 0;
}

static rondo_value *no_value(rondo_context *context, void *user)
{
    return NULL;
}

static double no_score(rondo_context *context, void *user)
{
    return 0;
}

static const struct flow_hooks hooks = {
    .when = no_answer, .retry = no_answer, .case_ = no_answer, .edge = no_answer, .while_ = no_answer,
    .until = no_answer, .input = no_value, .next = no_value, .items = no_value, .output = no_value,
    .ask = no_value, .score = no_score, .run = no_run,
};

static void check_built(struct flow *flow, struct buf *got)
{
    rondo_error err;
    rondo_node *node = flow_build(flow, &hooks);
    if (rondo_node_check(node, &err) < 0)
        buf_printf(got, "cannot be built: %s\n", err.message);
    rondo_node_unref(node);
}

/* The same comes of what a run would keep. */
static void check_bundled(struct flow *flow, const struct diags *diags)
{
    struct buf kept = { 0 }, again = { 0 }, said = { 0 }, said_again = { 0 };
    struct diags others = { 0 };
    bundle_put(&kept, flow);
    struct flow *other = bundle_load(kept.data, kept.len, &others);
    for (uint32_t i = 0; i < diags->count; i++)
        put_diag(&said, &diags->list[i]);
    for (uint32_t i = 0; i < others.count; i++)
        put_diag(&said_again, &others.list[i]);
    CHECK_STR(buf_text(&said_again), buf_text(&said));
    CHECK(other);
    bundle_put(&again, other);
    CHECK_STR(buf_text(&again), buf_text(&kept));
    flow_unref(other);
    diags_clear(&others);
    buf_free(&kept);
    buf_free(&again);
    buf_free(&said);
    buf_free(&said_again);
}

static void run_case(struct text_case *c, struct buf *got)
{
    struct flow_files files = { read_file, c };
    struct flow_load how = { .files = strstr(c->name, "(alone)") ? NULL : &files, .folder = ".",
                             .is_json = strstr(c->name, "(json)"), .is_lenient = strstr(c->name, "(lenient)") };
    struct diags diags = { 0 };
    struct source *source = source_new("flow.yaml", buf_text(&c->files[0].text), c->files[0].text.len);
    struct flow *flow = flow_load(source, &how, &diags);
    for (uint32_t i = 0; i < diags.count; i++)
        put_diag(got, &diags.list[i]);
    if (flow)
        buf_puts(got, "valid\n");
    if (flow && !diags.warnings)
        check_built(flow, got);
    if (flow)
        check_bundled(flow, &diags);
    CHECK(!flow == !!diags.errors);
    flow_unref(flow);
    diags_clear(&diags);
    source_unref(source);
}

/* ---- reading cases ---------------------------------------------------------------------------------------- */

static int failures;

static void case_end(const char *path, struct text_case *c)
{
    struct buf got = { 0 };
    if (c->count) {
        run_case(c, &got);
        if (got.len != c->expected.len || memcmp(got.data, c->expected.data, got.len) != 0) {
            printf("%s: %s\ngot:\n%sexpected:\n%s", path, c->name, buf_text(&got), buf_text(&c->expected));
            failures++;
        }
    }
    for (int i = 0; i < c->count; i++)
        buf_free(&c->files[i].text);
    buf_free(&c->expected);
    buf_free(&got);
    *c = (struct text_case){ 0 };
}

static void case_line(struct text_case *c, bool *is_expected, const char *line)
{
    if (strncmp(line, "---", 3) == 0 && line[3] == '\n')
        *is_expected = true;
    else if (strncmp(line, "+++ ", 4) == 0 && c->count < FILES_MAX)
        snprintf(c->files[c->count++].path, sizeof c->files->path, "%.*s", (int)strcspn(line + 4, "\n"), line + 4);
    else if (*is_expected && line[0] != '\n')
        buf_puts(&c->expected, line);
    else if (!*is_expected && c->count)
        buf_puts(&c->files[c->count - 1].text, line);
}

static int run_file(const char *path)
{
    static struct text_case c;
    char line[4096];
    bool is_expected = false;
    int count = 0;
    FILE *file = fopen(path, "r");
    CHECK(file);
    while (fgets(line, sizeof line, file)) {
        if (strncmp(line, "=== ", 4) != 0) {
            case_line(&c, &is_expected, line);
            continue;
        }
        case_end(path, &c);
        snprintf(c.name, sizeof c.name, "%.*s", (int)strcspn(line + 4, "\n"), line + 4);
        c.count = 1;
        is_expected = false;
        count++;
    }
    case_end(path, &c);
    fclose(file);
    return count;
}

static int is_text(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".txt") == 0;
}

TEST(workflow_files_are_told_what_is_wrong_with_them)
{
    struct dirent **entries;
    int total = 0, count = scandir("tests/flow", &entries, is_text, alphasort);
    CHECK(count > 0);
    for (int i = 0; i < count; i++) {
        char path[512];
        snprintf(path, sizeof path, "tests/flow/%s", entries[i]->d_name);
        total += run_file(path);
        free(entries[i]);
    }
    free(entries);
    CHECK(total > 100);
    CHECK_INT(failures, 0);
}
