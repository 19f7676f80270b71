/* run_name.c - see run_name.h. */
#include "cli/run_name.h"

#include "cli/show.h"
#include "flow/diag.h"
#include "io/here.h"

#include <string.h>

// clang-format off
const char run_name_help[] =
    "RUN is the id of a run, or as much of it as no other id begins with.  'last' is the newest\n"
    "run that was started in this folder.  A command that only reads takes the newest run of\n"
    "all when this folder has none, and says so.";
// clang-format on

bool run_name_is_first(const struct cmd *command)
{
    return strncmp(command->args + (*command->args == '['), "RUN", 3) == 0;
}

bool run_name_is_value(const struct option *option)
{
    return option->value && strcmp(option->value, "RUN") == 0;
}

bool run_name_is_taken(const struct cmd *command)
{
    bool is_taken = run_name_is_first(command);
    for (const struct option *o = command->options; !is_taken && o && o->name; o++)
        is_taken = run_name_is_value(o);
    return is_taken;
}

/* 1, 0 without, or an error.  ret_is_whole: the word is all of its id. */
static int run_name_find(struct store *store, const char *word, bool *ret_is_whole, rondo_error *err)
{
    struct journal *journal;
    *ret_is_whole = false;
    if (store_look(store, word, &journal, err) < 0)
        return err->code == RONDO_ENOTFOUND ? 0 : err->code;
    *ret_is_whole = strcmp(store_about(journal)->id, word) == 0;
    journal->ops->close(journal);
    return 1;
}

/* The newest run, and where it was started. */
struct newest {
    struct buf *id;
    struct buf folder;
};

static void note_newest(const struct store_run *run, void *user)
{
    struct newest *newest = user;
    const char *folder = json_string_value(json_object_get(run->about, HERE_KEY));
    buf_puts(newest->id, run->id);
    if (folder)
        show_folder(&newest->folder, folder);
}

static void say_other(const struct cmd *command, const char *here, struct newest *newest)
{
    bool has_folder = newest->folder.len;
    command_say(command, "%s; the newest of all is %s%s%s",
                here ? "no run was started in this folder" : "this folder is gone", buf_text(newest->id),
                has_folder ? ", started in " : "", has_folder ? buf_text(&newest->folder) : "");
}

static int find_last(struct store *store, const struct cmd *command, bool reads, bool is_quiet, struct buf *out,
                     rondo_error *err)
{
    auto_free char *here = here_text();
    struct newest newest = { .id = out };
    struct store_filter filter = { .folder = here, .limit = 1 };
    int rc = here ? store_runs(store, &filter, note_newest, &newest, err) : 0;
    if (rc == 0 && !out->len && reads) {
        filter.folder = NULL;
        rc = store_runs(store, &filter, note_newest, &newest, err);
        if (rc == 0 && out->len && !is_quiet)
            say_other(command, here, &newest);
    }
    buf_free(&newest.folder);
    if (rc < 0 || out->len)
        return rc;
    if (reads)
        return err_set(err, RONDO_ENOTFOUND, "there are no runs in '%.250s'", store_path(store));
    return err_set(err, RONDO_ENOTFOUND, "%s: there is no '" RUN_NAME_LAST "' here; 'rondo runs' lists all",
                   here ? "no run was started in this folder" : "this folder is gone");
}

int run_name_read(struct store *store, const struct cmd *command, const char *word, bool reads, bool is_quiet,
                  struct buf *out, rondo_error *err)
{
    bool is_last = strcmp(word, RUN_NAME_LAST) == 0, is_whole = false;
    int rc = is_last || diag_is_slip(word, RUN_NAME_LAST) ? run_name_find(store, word, &is_whole, err) : 1;
    if (is_last && !is_whole && (rc >= 0 || err->code == RONDO_EINVAL))
        return find_last(store, command, reads, is_quiet, out, err);
    if (rc == 0)
        return err_set(err, RONDO_ENOTFOUND, "there is no run '%.200s'; did you mean '" RUN_NAME_LAST "'?", word);
    buf_puts(out, word);
    return 0;
}
