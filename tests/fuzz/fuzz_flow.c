/* fuzz_flow.c - any bytes are read as a workflow without harm, and refused with a place. */
#include "fuzz.h"

#include "flow/flow.h"

#include <stdlib.h>
#include <string.h>

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

static void check_diag(const struct source *source, const struct diag *diag)
{
    struct buf out = { 0 };
    bool is_whole = !diag->line && !diag->column; // about the file as such
    if (!diag->message[0] || (diag->source == source && !is_whole && (!diag->line || !diag->column)))
        abort();
    diag_put(&out, diag, true);
    json_decref(diag_json(diag));
    buf_free(&out);
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
    if (!flow != !!diags.errors)
        abort();
    for (uint32_t i = 0; i < diags.count; i++)
        check_diag(source, &diags.list[i]);
    flow_unref(flow);
    diags_clear(&diags);
    source_unref(source);
    return 0;
}
