/* cmd_cancel.c - rondo cancel RUN: stops a stored run, whoever drives it. */
#include "cli/commands.h"
#include "cli/running.h"
#include "engine/flows.h"
#include "engine/shell.h"

#include <stdio.h>

/* The driver looks into the run's inbox several times a second. */
static int ask_driver(struct running *r)
{
    rondo_error err;
    auto_json json_t *what = json_pack("{s:s, s:s}", "kind", "cancel", "why", "cancelled by rondo cancel");
    if (store_send(r->store, r->id, what, &err) < 0)
        return running_fail(r, &err);
    if (!r->args->quiet)
        command_say(r->line->command, "asked %s, which drives %s", r->holder, r->id);
    return EXIT_OK;
}

/* Nobody drives it: its cleanup steps still have to run, so this process does. */
static int cancel_here(struct running *r)
{
    rondo_error err;
    rondo_run_options options = { RONDO_RUN, .from_start = true };
    int code = running_open_engine(r);
    if (code != EXIT_OK)
        return code;
    if (flows_resume(r->engine, r->flow, &r->env, r->id, &options, &r->run, &err) < 0)
        return running_fail(r, &err);
    r->past = r->run->kept_seq; // the summary may know of less
    rondo_run_cancel(r->run, "cancelled by rondo cancel");
    code = running_carry_out(r);
    return rondo_run_status(r->run) == RONDO_STATUS_CANCELLED ? EXIT_OK : code;
}

static int cancel(struct running *r)
{
    if (r->status != RONDO_STATUS_RUNNING)
        return command_fail(r->line->command, "run %s has ended: it is %s", r->id, rondo_status_text(r->status));
    return *r->holder ? ask_driver(r) : cancel_here(r);
}

static int cmd_cancel(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, running_prepare_env, cancel };
    struct running r = { .line = line, .args = line->options, .command = "cancel",
                         .file = line->args.list[0] };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "json", 0, OPT_FLAG, AT(json), .help = "every new event as a line of JSON on stdout" },
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but errors on stderr" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_cancel = {
    .name = "cancel", .args = "RUN", .min_args = 1, .max_args = 1,
    .summary = "stop a run",
    .about = "If a process drives the run, that is asked to cancel it and does so at once.  Otherwise\n"
             "it is cancelled here, and its steps with runOn: always are run.  A cancelled run can\n"
             "be taken up again with 'rondo resume'.",
    .options = options, .size = sizeof(struct run_args), .run = cmd_cancel,
};
