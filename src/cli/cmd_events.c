/* cmd_events.c - rondo events RUN: what happened in a run, event by event, also while it happens. */
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/running.h"
#include "cli/tell.h"
#include "engine/shell.h"
#include "flow/diag.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 100000000 // between looks at a run that goes on

struct listing {
    struct running *r;
    struct rows *rows;
    struct term term;
    struct tell tell;
    struct buf out;
    bool has_ended, is_closed; // the run; whoever reads the lines
    bool has_path;             // something was there that the path names
};

/* "refine" is for "refine" and everything in it. */
static bool is_there(const struct listing *l, const rondo_event *ev)
{
    const char *wanted = l->r->args->path, *path = rondo_event_path(ev);
    size_t len = wanted ? strlen(wanted) : 0;
    return !len || (strncmp(path, wanted, len) == 0 && (!path[len] || strchr(".[~", path[len])));
}

/* By the type that is shown. */
static bool is_of_type(const struct listing *l, const rondo_event *ev)
{
    const struct run_args *a = l->r->args;
    return !a->type || strcmp(a->type, a->json ? line_type(ev) : tell_type(ev)) == 0;
}

static void put_event(struct listing *l, const rondo_event *ev)
{
    size_t len;
    bool is_wanted = is_there(l, ev);
    l->has_path = l->has_path || is_wanted;
    is_wanted = is_wanted && is_of_type(l, ev);
    if (is_wanted && l->r->args->json) {
        const char *line = rondo_event_json(ev, &len);
        buf_put(&l->out, line, len);
        buf_putc(&l->out, '\n');
    } else if (is_wanted) {
        tell_event(&l->out, &l->tell, ev);
    }
    rows_event(l->rows, ev);
    l->has_ended = rondo_event_type(ev) == RONDO_EV_WORKFLOW_END;
}

/* Whoever reads the lines may take its time. */
static void flush(struct listing *l)
{
    running_end_snapshot(l->r);
    if (l->out.len && (fwrite(l->out.data, 1, l->out.len, stdout) != l->out.len || fflush(stdout)))
        l->is_closed = true;
    buf_clear(&l->out);
}

static void put_all(struct listing *l)
{
    const rondo_event *ev;
    while (!l->is_closed && (ev = rondo_run_next(l->r->run))) {
        put_event(l, ev);
        if (l->out.len > 65536)
            flush(l);
    }
    flush(l);
}

/* Until it has ended, or Ctrl-C. */
static int follow(struct listing *l)
{
    rondo_error err;
    while (!l->has_ended && !l->is_closed && !interrupt_count()) {
        nanosleep(&(struct timespec){ .tv_nsec = LOOK_NS }, NULL);
        if (store_has_news(l->r->store) && runs_catch_up(l->r->run, &err) < 0)
            return running_fail(l->r, &err);
        put_all(l);
    }
    return EXIT_OK;
}

/* A run that was removed meanwhile has lines that were not read. */
static int check_end(struct listing *l)
{
    rondo_error err;
    bool is_cut = !l->is_closed && l->r->run->seen < l->r->run->core.seq;
    return is_cut && store_check_there(l->r->run->journal, &err) < 0 ? running_fail(l->r, &err) : EXIT_OK;
}

static int list(struct running *r)
{
    struct listing l = { .r = r };
    term_init(&l.term, STDOUT_FILENO, r->line->no_color);
    l.rows = rows_new(r->run->node);
    l.tell = (struct tell){ .rows = l.rows, .term = &l.term, .title = r->name,
                            .verbose = r->args->verbose, .all = r->args->type != NULL };
    put_all(&l);
    int code = check_end(&l);
    if (r->args->follow)
        interrupt_start(r->engine);
    if (r->args->follow && code == EXIT_OK)
        code = follow(&l);
    if (code == EXIT_OK && !l.has_path)
        command_say(r->line->command, "run %s has no event of '%s'", r->shown_id, r->args->path);
    rows_free(l.rows);
    buf_free(&l.out);
    return code;
}

/* A type that there is not would find nothing in any run. */
static int check_type(struct running *r)
{
    const char *type = r->args->type;
    size_t count = 0;
    for (; type && line_types[count]; count++)
        if (strcmp(type, line_types[count]) == 0)
            return EXIT_OK;
    const char *near = type ? diag_nearest(type, line_types, count) : NULL;
    if (near)
        return usage_error(r->line->command, "--type %s: there is no such type; did you mean '%s'?", type, near);
    return type ? usage_error(r->line->command, "--type %s: there is no such type", type) : EXIT_OK;
}

static int cmd_events(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { check_type, running_find, running_look, list };
    struct running r = { .line = line, .args = line->options, .command = "events",
                         .file = line->args.list[0], .only_looks = true, .looks_at_any = true };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "follow", 'f', OPT_FLAG, AT(follow), .help = "go on with what happens, until the run ends" },
    { "json", 0, OPT_FLAG, AT(json), .help = "as lines of JSON" },
    { "verbose", 'v', OPT_FLAG, AT(verbose), .help = "every event, with what went in and out" },
    { "path", 0, OPT_TEXT, AT(path), "PATH", .help = "only of this step and what is in it" },
    { "type", 0, OPT_TEXT, AT(type), "NAME", .help = "only events shown with this type, as step_end" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_events = {
    .name = "events", .args = "RUN", .min_args = 1, .max_args = 1,
    .summary = "what happened in a run",
    .about = "The log of the run, from its first event; a process that drives it meanwhile is not\n"
             "disturbed.",
    .options = options, .size = sizeof(struct run_args), .run = cmd_events,
};
