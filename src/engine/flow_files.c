/* flow_files.c - workflows on the disk: the file itself, and what stands beside it. */
#include "engine/flow_files.h"
#include "agent/file_marks.h"
#include "io/file.h"
#include "io/spawn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX (16 * 1024 * 1024)

static int read_beside(void *user, const char *folder, const char *path, size_t max, struct buf *out,
                       char **ret_folder, rondo_error *err)
{
    return file_read_inside(folder, path, max, out, ret_folder, err);
}

static int look_beside(void *user, const char *folder, const char *path, rondo_error *err)
{
    return file_find_inside(folder, path, err);
}

/* Where the folder is not there (yet), nothing is known. */
static int find_command(void *user, const char *folder, const char *command, rondo_error *err)
{
    auto_buf struct buf path = { 0 };
    return file_is_folder(folder) ? spawn_find(command, getenv("PATH"), folder, &path, err) : 0;
}

static int has_path(const char *folder, enum flow_need need, const char *path, rondo_error *err)
{
    auto_buf struct buf full = { 0 };
    buf_printf(&full, "%s%s%s", *path == '/' ? "" : folder, *path == '/' ? "" : "/", path);
    if (need == NEED_FOLDER && !file_is_folder(buf_text(&full)))
        return err_set(err, RONDO_ENOTFOUND, "%.200s: there is no such folder", path);
    if (need == NEED_FILE && file_is_folder(buf_text(&full)))
        return err_set(err, RONDO_EINVAL, "%.200s: this is a folder, not a file", path);
    if (need == NEED_FILE && access(buf_text(&full), R_OK) < 0)
        return err_set(err, RONDO_ENOTFOUND, "%.200s: this file cannot be read: %s", path, strerror(errno));
    return 0;
}

static int has_need(void *user, const char *folder, enum flow_need need, const char *name, rondo_error *err)
{
    if (need == NEED_MATCH)
        return file_is_a_match(folder, name, err);
    if (need != NEED_VARIABLE)
        return has_path(folder, need, name, err);
    return getenv(name) ? 0 : err_set(err, RONDO_ENOTFOUND, "the variable '%.200s' is not set", name);
}

const struct flow_files flows_disk = { .read = read_beside, .look = look_beside };
static const struct flow_files looked_at = { .read = read_beside, .look = look_beside, .find = find_command,
                                           .has = has_need };

static bool ends_with(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);
    return len >= n && strcmp(text + len - n, end) == 0;
}

/* What comes out of a pipe is nowhere: what it names is looked for where we are. */
static int read_text(const char *path, struct buf *text, char **ret_folder, rondo_error *err)
{
    struct stat st;
    bool is_stdin = strcmp(path, "-") == 0, is_pipe = stat(path, &st) == 0 && S_ISFIFO(st.st_mode);
    int rc = is_stdin ? file_read_fd(STDIN_FILENO, "standard input", FILE_MAX, text, err)
                      : file_read(path, FILE_MAX, text, err);
    if (rc < 0)
        return rc;
    *ret_folder = is_stdin || is_pipe ? file_resolve(".", err) : file_folder_of(path, err);
    return *ret_folder ? 0 : err->code;
}

struct flow *flows_open(const char *path, bool is_lenient, const char *coordinator, struct diags *diags)
{
    auto_buf struct buf text = { 0 };
    auto_free char *folder = NULL;
    rondo_error err = { 0 };
    const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
    int rc = read_text(path, &text, &folder, &err);
    struct source *source = source_new(name, buf_text(&text), text.len);
    if (rc < 0) {
        diag_at(diags, source, NULL, "file", "%s", file_reason(err.message, name));
        source_unref(source);
        return NULL;
    }
    const struct flow_files *files = is_lenient ? &looked_at : &flows_disk;
    struct flow *flow = flow_load(source, &(struct flow_load){ .files = files, .folder = folder,
                                                               .is_json = ends_with(path, ".json"),
                                                               .is_lenient = is_lenient,
                                                               .coordinator = coordinator }, diags);
    source_unref(source);
    return flow;
}
