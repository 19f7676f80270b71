/* cmd_cancel.c - rondo cancel RUN: stops a stored run, whoever drives it; --after-pass: between passes. */
#include "cli/commands.h"
#include "cli/running.h"
#include "cli/show.h"
#include "engine/flows.h"
#include "engine/shell.h"
#include "run/loop.h"
#include "run/stop.h"

#include <stdio.h>

struct cancel_args {
    struct run_args run; // first
    bool after_pass;
};

/* The driver looks into the run's inbox several times a second. */
static int ask_driver(struct running *r, const char *kind, const char *why)
{
    rondo_error err;
    auto_json json_t *what = json_pack("{s:s, s:s}", "kind", kind, "why", why);
    if (store_send(r->store, r->id, what, &err) < 0)
        return running_fail(r, &err);
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
        return command_fail(r->line->command, "run %s has ended: it is %s", r->shown_id, rondo_status_text(r->status));
    if (!*r->holder)
        return cancel_here(r);
    int code = ask_driver(r, "cancel", "cancelled by rondo cancel");
    if (code == EXIT_OK && !r->args->quiet)
        command_say(r->line->command, "asked %s, which drives %s", r->holder, r->shown_id);
    return code;
}

/* Which passes will be the last, for now. */
static void tell_passes(struct running *r, struct act *first)
{
    auto_buf struct buf text = { 0 }, clean = { 0 }, next = { 0 };
    struct run *core = &r->run->core;
    for (struct act *act = first; act; act = stop_loop(core, act->slot + 1)) {
        bool is_open = act->loop->phase > LOOP_DELAY;
        uint32_t ended = act->loop->history.count, pass = ended + (is_open && act->loop->phase != LOOP_RULES);
        buf_printf(&text, "%s%s pass %u of ", act == first ? "" : ", ", pass ? "after" : "before", MAX(pass, 1));
        path_put_act(&text, core, act);
    }
    show_line(&clean, buf_text(&text), text.len);
    running_put_next(r, "resume", r->id, "", &next);
    command_say(r->line->command, "asked %s, which drives %s: it stops %s; then go on with: %s", r->holder, r->shown_id,
                buf_text(&clean), buf_text(&next));
}

/* Only loops have passes, and only who drives the run can let one come to its end. */
static int stop_after_pass(struct running *r)
{
    if (r->status != RONDO_STATUS_RUNNING)
        return command_fail(r->line->command, "run %s has ended: it is %s", r->shown_id, rondo_status_text(r->status));
    auto_buf struct buf next = { 0 };
    running_put_next(r, *r->holder ? "cancel" : r->waits ? "answer" : "resume", r->id, "", &next);
    if (!*r->holder)
        return command_fail(r->line->command, "no process drives run %s: %s: %s", r->shown_id,
                            r->waits ? "it waits for a person; see for what with" : "it has stopped; go on with",
                            buf_text(&next));
    int code = running_look(r);
    if (code != EXIT_OK)
        return code;
    struct act *first = stop_loop(&r->run->core, 1);
    if (!first)
        return command_fail(r->line->command, "no loop is at work in run %s; stop it at once with: %s", r->shown_id,
                            buf_text(&next));
    code = ask_driver(r, "stop", "stopped by rondo cancel --after-pass");
    if (code == EXIT_OK && !r->args->quiet)
        tell_passes(r, first);
    return code;
}

static int stop(struct running *r)
{
    return ((const struct cancel_args *)r->args)->after_pass ? stop_after_pass(r) : cancel(r);
}

static int cmd_cancel(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, running_prepare_env, stop };
    struct running r = { .line = line, .args = line->options, .command = "cancel",
                         .file = line->args.list[0] };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct cancel_args, field)

static const struct option options[] = {
    { "after-pass", 0, OPT_FLAG, AT(after_pass),
      .help = "stop when the passes at work are over" },
    { "json", 0, OPT_FLAG, AT(run.json), .help = "every new event as a line of JSON on stdout" },
    { "quiet", 'q', OPT_FLAG, AT(run.quiet), .help = "say nothing but errors on stderr" },
    { "store", 0, OPT_TEXT, AT(run.store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_cancel = {
    .name = "cancel", .args = "RUN", .min_args = 1, .max_args = 1,
    .summary = "stop a run",
    .about = "If a process drives the run, that is asked to cancel it and does so at once.  Otherwise\n"
             "it is cancelled here, and its steps with runOn: always are run.  A cancelled run can\n"
             "be taken up again with 'rondo resume'.\n"
             "\n"
             "With --after-pass the run stops between passes: those at work come to their end, and\n"
             "nothing new begins.  The run has not ended then, and its process leaves with status 5.\n"
             "'rondo resume' goes on with the next pass.  A run in which no loop is at work, or that no\n"
             "process drives, is left as it is, with status 3.",
    .options = options, .size = sizeof(struct cancel_args), .run = cmd_cancel,
};
