/* cmd_resume.c - rondo resume RUN: goes on with a stored run, after a crash, a stop, a gate or a failure. */
#include "cli/commands.h"
#include "cli/limit_option.h"
#include "cli/migration.h"
#include "cli/running.h"
#include "engine/flows.h"
#include "engine/shell.h"

#include <stdio.h>
#include <string.h>

static const char *remembered(const struct running *r, const char *key, const char *given)
{
    return given ? given : json_string_value(json_object_get(r->about, key));
}

/* As the run was started, but for what this command line says. */
static int recall_env(struct running *r)
{
    const struct run_args *a = r->args;
    if (a->coordinator && !r->flow->coordinating)
        return command_fail(r->line->command, "--coordinator %s: run %s was started without a coordinator",
                            a->coordinator, r->shown_id);
    json_t *turns = json_object_get(r->about, "maxTurns"), *retries = json_object_get(r->about, "maxRetries");
    int code = running_prepare_env(r);
    r->env.workdir = remembered(r, "workdir", a->workdir);
    r->env.context = remembered(r, "context", a->context);
    r->env.model = remembered(r, "model", a->means.model);
    if (!a->max_turns && turns)
        r->env.max_turns = json_integer_value(turns);
    if (a->max_retries < 0 && retries)
        r->env.max_retries = json_integer_value(retries);
    r->env.max_depth = (int)json_integer_value(json_object_get(r->about, "maxDepth")); // of `rondo agent`
    r->env.has_agents = r->env.max_depth > 0;
    return code;
}

/* A run that has completed is only shown: whoever resumes until it is done gets its answer.  One that ended
   because its budget was used up goes on when it is given more. */
static bool is_only_shown(const struct running *r)
{
    const struct run_args *a = r->args;
    return r->status == RONDO_STATUS_COMPLETED && !a->timeout_ms && !a->max_cost && !a->max_tokens && !a->failed &&
           !a->limit.count;
}

static bool has_ended(const struct running *r)
{
    return r->status != RONDO_STATUS_RUNNING;
}

static int check_within(struct running *r)
{
    return r->args->answers ? running_check_within(r) : EXIT_OK;
}

static int look(struct running *r, rondo_error *err)
{
    return flows_look(r->engine, r->flow, &r->env, r->id, &r->run, err);
}

/* --failed: a run that has not ended goes on as it is, one in which nothing failed is shown. */
static int mend(struct running *r, const rondo_run_options *options, rondo_error *err)
{
    if (!has_ended(r) && !r->args->quiet)
        fprintf(stderr, "rondo resume: the run had not ended, and goes on; --failed is for a run that has\n");
    int rc = flows_resume(r->engine, r->flow, &r->env, r->id, options, &r->run, err);
    if (rc != RONDO_ENOTFOUND)
        return rc;
    if (!r->args->quiet)
        command_say(r->line->command, "%s", err->message);
    return look(r, err);
}

static int go_on(struct running *r)
{
    rondo_error err;
    rondo_run_options options = running_options(r);
    options.from_start = true;
    options.reopen = true;
    auto_json json_t *limits = NULL;
    if (limit_option_read(&r->args->limit, &limits, &err) < 0)
        return running_fail_said(r, &err);
    options.more = &(rondo_more_options){ RONDO_MORE_OPTIONS, .failed_items = r->args->failed, .limits = limits };
    int rc = is_only_shown(r)   ? look(r, &err)
             : r->args->failed ? mend(r, &options, &err)
                                : flows_resume(r->engine, r->flow, &r->env, r->id, &options, &r->run, &err);
    if (rc < 0)
        return running_fail(r, &err);
    r->past = r->run->kept_seq;
    r->had_ended = has_ended(r) && !r->args->failed; // that says so itself
    return EXIT_OK;
}

static int cmd_resume(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = {
        running_check_args, running_find, check_within, recall_env, running_open_engine, migration_go,
        running_check_agents, running_read_answers, running_draw_plan, go_on, running_carry_out,
    };
    struct running r = { .line = line, .args = line->options, .command = "resume",
                         .file = line->args.list[0] };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "json", 0, OPT_FLAG, AT(json), .help = "every new event as a line of JSON on stdout" },
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but errors on stderr, ask nobody" },
    { "verbose", 'v', OPT_FLAG, AT(verbose),
      .help = "say everything, what goes in and out too; with --quiet: of failures" },
    { "plan", 0, OPT_FLAG, AT(plan), .help = "draw the workflow first" },
    { "failed", 0, OPT_FLAG, AT(failed), .help = "run failed items of a forEach again, and nothing else" },
    { "migrate", 0, OPT_FLAG, AT(migrate), .help = "move to the workflow as its file is now" },
    { "workflow", 0, OPT_TEXT, AT(workflow), "FILE", .help = "that file, when it is not where it was" },
    { "answers", 0, OPT_TEXT, AT(answers), "FILE", .help = "what gates are answered with" },
    MEANS_OPTIONS(struct run_args),
    { "workdir", 0, OPT_TEXT, AT(workdir), "DIR", .help = "where commands run" },
    { "coordinator", 0, OPT_TEXT, AT(coordinator), "MODEL", .help = "another model that coordinates" },
    { "timeout", 0, OPT_DURATION, AT(timeout_ms), "TIME", .help = "the run fails after this time" },
    { "max-cost", 0, OPT_NUMBER, AT(max_cost), "USD", .help = "stop when this is spent" },
    { "max-tokens", 0, OPT_LIMIT, AT(max_tokens), "N", .help = "stop when these are used" },
    { "max-concurrency", 0, OPT_LIMIT, AT(max_concurrency), "N",
      .help = "agents at a time, where the file does not say (5)" },
    { "limit", 0, OPT_TEXTS, AT(limit), "PATH:KEY=VALUE", .help = "another limit of a loop or step from now on" },
    { "prompts", 0, OPT_TEXT, AT(prompts), "DIR", .help = "write every prompt to a file there" },
    { "notify", 0, OPT_TEXT, AT(notify), "COMMAND", .help = "run this when a gate opens and when the run has ended" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

static const struct run_args defaults = { .max_retries = -1 };

const struct cmd command_resume = {
    .name = "resume", .args = "RUN", .min_args = 1, .max_args = 1,
    .summary = "go on with a run",
    .about = "After a crash, a stop or a gate: what was finished stays, what was under way starts\n"
             "again.  Also of a run that failed or was cancelled: its completed work stays, what\n"
             "failed is tried again, and a loop goes on in the pass that failed.  A run that\n"
             "used up its time or budget needs a larger one: what was spent stays spent.\n"
             "\n"
             "With --failed only items of a forEach that failed run again, each from its start,\n"
             "also in a run that completed.  Steps that depend on that forEach and had ended\n"
             "begin anew.  Without such items the run is shown as it is, and rondo says so.\n"
             "\n"
             "The workflow is the one that the run was started with, whatever became of its\n"
             "file since.  With --migrate the run moves to the file as it is now: what differs\n"
             "is shown.  Steps that have not begun may be added, changed and removed.  A step that\n"
             "failed, was cut off or is in a loop that goes on may change, and begins anew with\n"
             "what the file says; what completed stays.  Any other change is refused, and rondo\n"
             "names the 'rondo fork --workflow' that does it.\n"
             "\n"
             "--limit refine:maxIterations=30 lets a loop go on that has reached its cap; likewise\n"
             "maxFailures, patience, stall.repeats, timeout, budget.tokens, budget.cost, budget.calls\n"
             "and budget.time.  Without a path (':budget.cost=5') it is the limit of the run.\n"
             "\n"
             "Exit status as of 'rondo run'; 7 when another process drives this run.",
    .options = options, .size = sizeof(struct run_args), .defaults = &defaults, .run = cmd_resume,
};
