/* fuzz_flow.c - any bytes are read as a workflow without harm, and refused with a place.  What is not
   refused can be built: its node is one that a run would take. */
#include "fuzz.h"

#include "data/utf8.h"
#include "flow/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void require(bool holds, const char *what, const char *more)
{
    if (holds)
        return;
    fprintf(stderr, "fuzz_flow: %s: %s\n", what, more);
    abort();
}

/* Files beside the workflow are the workflow itself, or what a path says. */
static int read_beside(void *user, const char *folder, const char *path, size_t max, struct buf *out,
                       char **ret_folder, rondo_error *err)
{
    const struct source *source = user;
    if (strlen(path) % 3 == 0)
        return err_set(err, RONDO_ENOTFOUND, "%.100s: not there", path);
    if (strlen(path) % 3 == 1)
        buf_put(out, source->text, source->len);
    else
        buf_puts(out, path);
    *ret_folder = mem_strdup(folder);
    return 0;
}

static int hook_bool(rondo_context *context, void *user)
{
    return 0;
}

static rondo_value *hook_value(rondo_context *context, void *user)
{
    return NULL;
}

static double hook_score(rondo_context *context, void *user)
{
    return 0;
}

static void hook_run(rondo_task *task, void *user)
{
}

static const struct flow_hooks hooks = {
    .when = hook_bool, .retry = hook_bool, .case_ = hook_bool, .edge = hook_bool,
    .while_ = hook_bool, .until = hook_bool,
    .input = hook_value, .next = hook_value, .items = hook_value, .output = hook_value,
    .ask = hook_value, .score = hook_score, .run = hook_run,
};

static void check_diag(const struct source *source, const struct diag *diag)
{
    auto_buf struct buf out = { 0 };
    bool is_whole = !diag->line && !diag->column; // about the file as such
    require(diag->code && *diag->code, "a problem without a code", diag->message);
    require(*diag->message && utf8_is_valid(diag->message, strlen(diag->message)), "a bad message",
            diag->message);
    require(diag->source != source || is_whole || (diag->line && diag->column),
            "a problem without a place", diag->message);
    diag_put(&out, diag, true);
    json_decref(diag_json(diag));
}

static void check_flow(struct flow *flow)
{
    rondo_error err = { 0 };
    json_decref(flow_order_json(flow));
    rondo_node *node = flow_build(flow, &hooks);
    require(rondo_node_check(node, &err) == 0, "a flow that passed cannot be built", err.message);
    rondo_node_unref(node);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct diags diags = { 0 };
    if (size > 16384)
        return 0;
    struct source *source = source_new("fuzz.yaml", (const char *)data, size);
    struct flow_files files = { read_beside, source };
    struct flow_load how = { .files = &files, .folder = "/", .is_json = size && data[0] == '{',
                             .is_lenient = size % 2 };
    struct flow *flow = flow_load(source, &how, &diags);
    require(!flow == !!diags.errors, "errors", flow ? "in a good flow" : "missing");
    for (uint32_t i = 0; i < diags.count; i++)
        check_diag(source, &diags.list[i]);
    if (flow && !how.is_lenient) // else a file that is not there is only a warning
        check_flow(flow);
    flow_unref(flow);
    diags_clear(&diags);
    source_unref(source);
    return 0;
}
