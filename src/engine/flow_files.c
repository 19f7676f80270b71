/* flow_files.c - workflow files from the disk. */
#include "engine/flow_files.h"

#include "io/file.h"

#include <string.h>

#define FILE_MAX (16 * 1024 * 1024)

/* ---- files beside a workflow ------------------------------------------------------------------------- */

static int read_beside(void *user, const char *folder, const char *path, size_t max, struct buf *out,
                       char **ret_folder, rondo_error *err)
{
    char *real = NULL;
    int rc = file_read_in(folder, path, max, out, &real, err);
    char *slash = real ? strrchr(real, '/') : NULL;
    if (slash)
        slash[slash == real] = '\0';
    if (rc == 0)
        *ret_folder = TAKE(real);
    mem_free(real);
    return rc;
}

const struct flow_files flows_disk = { read_beside, NULL };

/* ---- the workflow itself ------------------------------------------------------------------------------- */

static bool is_json_name(const char *path)
{
    size_t len = strlen(path);
    return len > 5 && strcmp(path + len - 5, ".json") == 0;
}

struct flow *flows_open(const char *path, bool is_lenient, struct diags *diags)
{
    auto_buf struct buf text = { 0 };
    auto_free char *folder = NULL;
    rondo_error err;
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    if (file_read(path, FILE_MAX, &text, &err) < 0 || !(folder = file_folder(path, &err))) {
        diag_at(diags, NULL, NULL, "file", "%s: %s", name, err.message);
        return NULL;
    }
    struct source *source = source_new(name, buf_text(&text), text.len);
    struct flow_load how = { .files = &flows_disk, .folder = folder, .is_json = is_json_name(path),
                             .is_lenient = is_lenient };
    struct flow *flow = flow_load(source, &how, diags);
    source_unref(source);
    return flow;
}
