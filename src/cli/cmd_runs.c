/* cmd_runs.c - rondo runs: what is in the store, newest first. */
#include "base/buf.h"
#include "cli/commands.h"
#include "cli/show.h"
#include "cli/standing.h"
#include "cli/store_path.h"
#include "cli/term.h"
#include "cli/view.h"
#include "data/value.h"
#include "engine/shell.h"
#include "io/here.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROWS_DEFAULT 20
#define FOLDER_WIDTH 24 // on a terminal

struct runs_options {
    const char *store, *status, *name, *session;
    int64_t since_ms, limit;
    bool here, as_json;
};

struct listing {
    const struct runs_options *options;
    struct term term;
    struct buf out;
    uint32_t count, more; // shown; and left out
    int64_t now_ns;
};

static enum term_style style_of(const struct store_run *run)
{
    switch (run->status) {
    case RONDO_STATUS_COMPLETED: return STYLE_GREEN;
    case RONDO_STATUS_RUNNING: return *run->holder ? STYLE_BLUE : STYLE_YELLOW;
    case RONDO_STATUS_CANCELLED: return STYLE_DIM;
    default: return STYLE_RED;
    }
}

static void put_asks(struct buf *out, const json_t *paths)
{
    const json_t *path;
    size_t i;
    json_array_foreach(paths, i, path) {
        buf_puts(out, i ? ", " : "  asks ");
        show_line(out, json_string_value(path) ? json_string_value(path) : "", json_string_length(path));
    }
}

/* Where it was started.  Of a long path a terminal has the end, as much as there is room for behind the name. */
static void put_folder(const struct listing *l, struct buf *out, const json_t *about, size_t room)
{
    auto_buf struct buf clean = { 0 };
    const char *folder = json_string_value(json_object_get(about, HERE_KEY)), *slash;
    size_t used = width_text(out->data, out->len) + 3, most = MIN(room > used ? room - used : 0, FOLDER_WIDTH);
    if (!folder || l->options->here)
        return;
    show_folder(&clean, folder);
    const char *from = buf_text(&clean);
    while (l->term.is_tty && width_text(from, strlen(from)) > most && (slash = strchr(from + 1, '/')))
        from = slash;
    buf_printf(out, "  %s%s", from == buf_text(&clean) ? "" : l->term.is_utf8 ? "…" : "...", from);
}

/* As 'rondo show' has it: up to now while somebody drives it.  When the process of a run that goes on is gone, only its
   log knows how far it came. */
static void put_length(const struct listing *l, struct buf *out, const struct store_run *run)
{
    bool goes_on = run->status == RONDO_STATUS_RUNNING && *run->holder;
    int64_t idle_ns = json_integer_value(json_object_get(run->about, STORED_IDLE));
    if (run->status == RONDO_STATUS_RUNNING && !*run->holder && !run->waiting)
        buf_puts(out, "-");
    else
        view_put_time(out, (goes_on ? l->now_ns : run->end_ns) - run->start_ns - idle_ns);
}

/* What is behind the columns. */
static void put_rest(const struct listing *l, struct buf *out, const struct store_run *run, size_t room)
{
    const char *error = json_string_value(json_object_get(run->about, "error"));
    show_line(out, run->name, strlen(run->name));
    if (*run->session) {
        buf_puts(out, "  @");
        show_line(out, run->session, strlen(run->session));
    }
    put_folder(l, out, run->about, room);
    if (*run->holder) {
        buf_puts(out, "  (");
        show_line(out, run->holder, strlen(run->holder));
        buf_putc(out, ')');
    }
    if (error && run->status == RONDO_STATUS_FAILED) {
        buf_puts(out, "  ");
        show_line(out, error, show_without_caret(error));
    }
    put_asks(out, json_object_get(run->about, "asks"));
}

/* In columns; the name comes last, as it may be long. */
static void put_row(struct listing *l, const struct store_run *run)
{
    auto_buf struct buf line = { 0 }, rest = { 0 }, time = { 0 }, id = { 0 };
    put_length(l, &time, run);
    show_line(&id, run->id, strlen(run->id));
    buf_printf(&line, "%-17s  ", buf_text(&id));
    view_put_moment(&line, run->start_ns, false);
    buf_printf(&line, "  %8s  ", buf_text(&time));
    buf_printf(&l->out, "%s%s%-9s%s  ", buf_text(&line), term_style(&l->term, style_of(run)), standing_text(run),
               term_style(&l->term, STYLE_NONE));
    size_t used = line.len + 11, width = (size_t)l->term.width;
    size_t room = l->term.is_tty && width > used + 8 ? width - used - 1 : SIZE_MAX;
    put_rest(l, &rest, run, room);
    if (room < SIZE_MAX)
        show_cut(&l->out, rest.data, rest.len, room, !l->term.is_utf8);
    else
        buf_put(&l->out, rest.data, rest.len);
    buf_putc(&l->out, '\n');
}

static void put_json(struct listing *l, const struct store_run *run)
{
    auto_json json_t *row = run->about ? json_deep_copy(run->about) : json_object();
    json_object_set_new(row, "id", json_string(run->id));
    json_object_set_new(row, "name", json_string(run->name));
    json_object_set_new(row, "status", json_string(standing_text(run)));
    json_object_set_new(row, "startMs", json_integer(run->start_ns / 1000000));
    json_object_set_new(row, "endMs", json_integer(run->end_ns / 1000000));
    if (*run->session)
        json_object_set_new(row, "session", json_string(run->session));
    if (*run->holder)
        json_object_set_new(row, "holder", json_string(run->holder));
    if (run->parent)
        json_object_set_new(row, "forkSeq", json_integer((json_int_t)run->fork_seq));
    char *text = rondo_value_text(row);
    buf_printf(&l->out, "%s\n", text);
    rondo_text_free(text);
}

static void visit(const struct store_run *run, void *user)
{
    struct listing *l = user;
    const char *wanted = l->options->status;
    int64_t most = l->options->limit < 0 ? ROWS_DEFAULT : l->options->limit;
    if (wanted && strcmp(wanted, standing_text(run)) != 0)
        return;
    if (most && l->count >= most) {
        l->more++;
        return;
    }
    l->count++;
    if (l->options->as_json)
        put_json(l, run);
    else
        put_row(l, run);
    fwrite(l->out.data, 1, l->out.len, stdout);
    buf_clear(&l->out);
}

static bool is_status(const char *text)
{
    static const char *const words[] = { "running", "stopped", "waiting", "completed", "partial", "failed",
                                         "cancelled" };
    for (size_t i = 0; i < COUNT(words); i++)
        if (strcmp(words[i], text) == 0)
            return true;
    return false;
}

static bool is_picky(const struct runs_options *o)
{
    return o->status || o->name || o->session || o->here || o->since_ms >= 0;
}

static int cmd_runs(const struct cmdline *line)
{
    const struct runs_options *o = line->options;
    struct listing l = { .options = o };
    struct timespec now;
    struct store *store;
    rondo_error err;
    clock_gettime(CLOCK_REALTIME, &now);
    l.now_ns = now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
    auto_free char *here = o->here ? here_text() : NULL;
    struct store_filter filter = {
        .name = o->name, .session = o->session, .folder = here,
        .since_ns = o->since_ms < 0 ? 0 : MAX(l.now_ns - MIN(o->since_ms, l.now_ns / MS) * MS, 1),
        .limit = o->status ? 0 : (uint32_t)MIN(MAX(o->limit, 0), UINT32_MAX), // without -n all are counted
    };
    if (o->status && !is_status(o->status))
        return usage_error(line->command, "--status %s: there is no such status, see 'rondo help runs'",
                           o->status);
    if (o->here && !here)
        return command_fail(line->command, "--here: this folder is gone");
    if (store_path_open(o->store, STORE_READ_ONLY, &store, &err) < 0)
        return command_fail(line->command, "%s", err.message);
    term_init(&l.term, STDOUT_FILENO, line->no_color);
    int rc = store_runs(store, &filter, visit, &l, &err);
    if (rc == 0 && !l.count && !o->as_json)
        fprintf(stderr, "rondo runs: there are none%s\n", is_picky(o) ? " like that" : "");
    if (rc == 0 && l.more && o->limit < 0) {
        fflush(stdout);
        fprintf(stderr, "rondo runs: %u more: -n 0\n", l.more);
    }
    store_close(store);
    buf_free(&l.out);
    return rc < 0 ? command_fail(line->command, "%s", err.message) : EXIT_OK;
}

#define AT(field) OPTION_AT(struct runs_options, field)

static const struct option options[] = {
    { "status", 0, OPT_TEXT, AT(status), "STATUS", .help = "only those, see above" },
    { "name", 0, OPT_TEXT, AT(name), "WORKFLOW", .help = "only runs of this workflow" },
    { "session", 0, OPT_TEXT, AT(session), "NAME", .help = "only runs of this session" },
    { "here", 0, OPT_FLAG, AT(here), .help = "only runs that were started in this folder" },
    { "since", 0, OPT_DURATION, AT(since_ms), "TIME", .help = "only those that started within this time" },
    { "limit", 'n', OPT_COUNT, AT(limit), "N", .help = "at most so many (20); 0 is all" },
    { "json", 0, OPT_FLAG, AT(as_json), .help = "a line of JSON for each" },
    STORE_OPTION(struct runs_options),
    { NULL }
};

static const struct runs_options defaults = { .limit = -1, .since_ms = -1 };

const struct cmd command_runs = {
    .name = "runs", .args = "", .min_args = 0, .max_args = 0,
    .summary = "list runs, newest first",
    .about = "Status: running (a process drives it), waiting (for a person), stopped (its process is\n"
             "gone: 'rondo resume' goes on), completed, partial, failed, cancelled.\n"
             "\n"
             "The time is from the start, or from the fork, to the end.  It is up to now for a run that\n"
             "a process drives, and - for one that was stopped.  Time in which no process drove the\n"
             "run does not count.  Behind the name of the workflow is the folder in which the run was\n"
             "started, where the run has noted it.",
    .options = options, .size = sizeof(struct runs_options), .defaults = &defaults, .run = cmd_runs,
};
