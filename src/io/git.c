/* git.c - see git.h. */
#define _GNU_SOURCE // memrchr
#include "io/git.h"

#include "base/mem.h"
#include "io/file.h"
#include "io/gitfiles.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX     64
#define PATHS_MAX     128
#define FILE_SIZE_MAX (1ull << 50) // packs are large

/* ---- its environment ------------------------------------------------------------------------------------ */

/* What git may know of our environment: not which repository somebody else meant. */
static const char *const passed[] = { "PATH", "HOME", "USER", "XDG_CONFIG_HOME",
                                      "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM" };

static void put_env(struct buf *pairs, const char **env)
{
    size_t at[COUNT(passed) + 1], count = 0;
    for (size_t i = 0; i < COUNT(passed); i++) {
        const char *value = getenv(passed[i]);
        if (!value)
            continue;
        at[count++] = pairs->len;
        buf_printf(pairs, "%s=%s", passed[i], value);
        buf_putc(pairs, '\0');
    }
    at[count++] = pairs->len;
    buf_puts(pairs, "LC_ALL=C");
    buf_text(pairs);
    for (size_t i = 0; i < count; i++)
        env[i] = pairs->data + at[i];
    env[count] = NULL;
}

void git_put_trouble(struct process *process, struct buf *out)
{
    size_t len;
    const char *errors = process_errors(process, &len);
    while (len && isspace((unsigned char)errors[len - 1]))
        len--;
    const char *line = len ? memrchr(errors, '\n', len) : NULL;
    line = line ? line + 1 : errors;
    len -= (size_t)(line - errors);
    if (len > 7 && memcmp(line, "fatal: ", 7) == 0)
        line += 7, len -= 7;
    buf_put(out, line, len);
    if (!len)
        buf_printf(out, "git ended with status %d", process_status(process));
}

/* ---- confining it ------------------------------------------------------------------------------------ */

struct paths {
    char *list[PATHS_MAX];
    size_t count;
};

static void add_path(const char *path, void *user)
{
    struct paths *paths = user;
    if (path && *path && paths->count < PATHS_MAX)
        paths->list[paths->count++] = mem_strdup(path);
}

static void paths_clear(struct paths *paths)
{
    while (paths->count)
        mem_free(paths->list[--paths->count]);
}

static void add_reads(struct paths *reads, const struct git_call *call)
{
    const struct repository *repository = call->repository;
    rondo_error err;
    auto_free char *folder = repository->entry ? file_folder_of(repository->entry, &err) : NULL;
    add_path(repository->common, reads);
    add_path(repository->entry, reads);
    for (size_t i = 0; i < call->read_count; i++)
        add_path(call->reads[i], reads);
    gitfiles_each(repository->common, folder, add_path, reads);
}

static int confine(const struct git_call *call, struct sandbox **ret, rondo_error *err)
{
    struct paths reads = { 0 };
    if (!sandbox_can_be(err))
        return err_in(err, "git cannot be confined on this machine, so it is not run");
    add_reads(&reads, call);
    int rc = sandbox_open(&(struct sandbox_spec){ .write = call->writes, .write_count = call->write_count,
                                                  .read = (const char *const *)reads.list, .read_count = reads.count,
                                                  .strict = true, .plain = true, .path = getenv("PATH"),
                                                  .limits.file_size = FILE_SIZE_MAX },
                          ret, err);
    paths_clear(&reads);
    return rc;
}

/* ---- starting it ----------------------------------------------------------------------------------------- */

static const char *const settings[] = { "git", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c",
                                        "gc.auto=0", "-c", "maintenance.auto=false", "-c", "commit.gpgSign=false",
                                        "-c", "submodule.recurse=false" };

int git_start(struct loop *loop, const struct git_call *call, struct process **ret, rondo_error *err)
{
    const char *words[COUNT(settings) + WORDS_MAX + 1], *env[COUNT(passed) + 2];
    auto_buf struct buf pairs = { 0 };
    struct sandbox *sandbox = NULL;
    size_t count = COUNT(settings);
    memcpy(words, settings, sizeof settings);
    for (const char *const *word = call->words; *word && count < COUNT(words) - 1; word++)
        words[count++] = *word;
    words[count] = NULL;
    if (confine(call, &sandbox, err) < 0)
        return err->code;
    put_env(&pairs, env);
    int rc = process_start(loop,
                           &(struct process_spec){ .argv = words, .env = env, .cwd = call->cwd,
                                                   .max_output = call->max_output, .grace_ms = -1,
                                                   .timeout_ms = call->timeout_ms, .farewell_ms = call->farewell_ms,
                                                   .sandbox = sandbox, .on_end = call->on_end, .user = call->user },
                           ret, err);
    sandbox_close(sandbox);
    return rc;
}
