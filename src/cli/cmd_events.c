/* cmd_events.c - rondo events RUN: what happened in a run, event by event, also while it happens. */
#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/running.h"
#include "cli/tell.h"
#include "engine/shell.h"

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
};

/* "refine" is for "refine" and everything in it. */
static bool is_wanted(const struct listing *l, const rondo_event *ev)
{
    const struct run_args *a = l->r->args;
    size_t len = a->path ? strlen(a->path) : 0;
    const char *path = rondo_event_path(ev);
    if (a->type && strcmp(a->type, rondo_event_name(ev)) != 0)
        return false;
    return !len || (strncmp(path, a->path, len) == 0 && (!path[len] || strchr(".[~", path[len])));
}

static void put_event(struct listing *l, const rondo_event *ev)
{
    size_t len;
    if (is_wanted(l, ev) && l->r->args->json) {
        const char *line = rondo_event_json(ev, &len);
        buf_put(&l->out, line, len);
        buf_putc(&l->out, '\n');
    } else if (is_wanted(l, ev)) {
        tell_event(&l->out, &l->tell, ev);
    }
    rows_event(l->rows, ev);
    l->has_ended = rondo_event_type(ev) == RONDO_EV_WORKFLOW_END;
}

static void flush(struct listing *l)
{
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

static int list(struct running *r)
{
    struct listing l = { .r = r };
    term_init(&l.term, STDOUT_FILENO, r->line->no_color);
    l.rows = rows_new(r->run->node);
    l.tell = (struct tell){ .rows = l.rows, .term = &l.term, .title = r->flow->name,
                            .verbose = r->args->verbose };
    put_all(&l);
    if (r->args->follow)
        interrupt_start(r->engine);
    int code = r->args->follow ? follow(&l) : EXIT_OK;
    rows_free(l.rows);
    buf_free(&l.out);
    return code;
}

static int cmd_events(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, running_look, list };
    struct running r = { .line = line, .args = line->options, .command = "events",
                         .file = line->args.list[0] };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "follow", 'f', OPT_FLAG, AT(follow), .help = "go on with what happens, until the run ends" },
    { "json", 0, OPT_FLAG, AT(json), .help = "as lines of JSON" },
    { "verbose", 'v', OPT_FLAG, AT(verbose), .help = "every event, with what went in and out" },
    { "path", 0, OPT_TEXT, AT(path), "PATH", .help = "only of this step and what is in it" },
    { "type", 0, OPT_TEXT, AT(type), "NAME", .help = "only events of this type, as step_end" },
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
