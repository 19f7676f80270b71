/* cmd_run.c - rondo run FILE and rondo rehearse FILE.

   Both read the file, look whether everything that it needs is there, and only then start: nothing
   that can be known before is found out on the way. */
#include "agent/call.h"
#include "cli/commands.h"
#include "cli/drive.h"
#include "cli/given.h"
#include "cli/interrupt.h"
#include "cli/notify.h"
#include "cli/picture.h"
#include "cli/problems.h"
#include "cli/show.h"
#include "cli/term.h"
#include "engine/flows.h"
#include "engine/shell.h"
#include "io/orphan.h"
#include "io/process.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Also of rehearse, which has its own list of options. */
struct run_args {
    bool json, quiet, verbose, plan, commands;
    const char *model, *inputs, *context, *workdir, *store, *prompts, *answers, *script, *notify;
    double max_cost;
    int64_t max_tokens, timeout_ms, max_concurrency, max_retries, max_turns;
    struct texts input;
};

/* What a command has while it works; everything is let go of in the end. */
struct running {
    const struct cmdline *line;
    const struct run_args *args;
    const char *command, *file;
    bool rehearses;
    struct flow *flow;
    json_t *inputs;
    struct call_env env;
    rondo_engine *engine;
    rondo_run *run;
};

/* ---- before the run ------------------------------------------------------------------------------- */

static int read_flow(struct running *r)
{
    struct diags diags = { 0 };
    r->flow = flows_open(r->file, false, &diags);
    if (diags.count)
        problems_show(r->line, &diags, !r->args->quiet);
    diags_clear(&diags);
    return r->flow ? EXIT_OK : EXIT_INVALID;
}

static int read_inputs(struct running *r)
{
    struct diags diags = { 0 };
    rondo_error err;
    json_t *given = given_inputs(r->flow, r->args->inputs, &r->args->input, &err);
    if (!given)
        return command_fail(r->line->command, "%s", err.message);
    r->inputs = flows_inputs(r->flow, given, &diags);
    json_decref(given);
    for (uint32_t i = 0; i < diags.count; i++) {
        const struct diag *d = &diags.list[i];
        command_fail(r->line->command, "%s%s%s%s", d->message, d->hint ? " (" : "", d->hint ? d->hint : "",
                     d->hint ? ")" : "");
    }
    if (!r->inputs)
        fprintf(stderr, "  inputs are given as --input NAME=VALUE, --input NAME=@FILE or --inputs FILE\n");
    diags_clear(&diags);
    return r->inputs ? EXIT_OK : EXIT_USAGE;
}

static void find_gate(struct flow_step *step, void *user)
{
    const struct flow_step **first = user;
    if (step->body == BODY_GATE && !*first)
        *first = step;
}

/* Nobody could answer: better not to begin. */
static int check_gates(struct running *r)
{
    const struct flow_step *gate = NULL;
    if (r->rehearses || r->args->answers || (drive_has_person() && !r->args->quiet))
        return EXIT_OK;
    flow_each_step(r->flow, find_gate, &gate);
    if (!gate)
        return EXIT_OK;
    command_fail(r->line->command, "gate '%s' asks a person, and there is no terminal to ask on", gate->id);
    fprintf(stderr, "  run it in a terminal, or give its answer with --answers FILE, as { %s: ANSWER }\n",
            gate->id);
    return EXIT_USAGE;
}

static bool is_folder(const char *path)
{
    struct stat file;
    return stat(path, &file) == 0 && S_ISDIR(file.st_mode);
}

static int check_args(const struct running *r)
{
    const struct run_args *a = r->args;
    const struct cmd *command = r->line->command;
    if (a->quiet && a->verbose)
        return usage_error(command, "--quiet and --verbose contradict each other");
    if (a->store && strcmp(a->store, ":memory:") != 0)
        return command_fail(command, "--store %s: runs cannot be stored yet, only :memory: is there",
                            a->store);
    if (a->workdir && !is_folder(a->workdir))
        return command_fail(command, "--workdir %s: there is no such folder", a->workdir);
    if (a->max_cost < 0)
        return usage_error(command, "--max-cost: expected an amount in US dollars, got %g", a->max_cost);
    if (a->inputs && strcmp(a->inputs, "-") == 0 && strcmp(r->file, "-") == 0)
        return usage_error(command, "the workflow and its inputs cannot both come from standard input");
    return EXIT_OK;
}

static int check_agents(struct running *r)
{
    rondo_error err;
    if (agent_can_run(r->flow, &r->env, &err) == 0)
        return EXIT_OK;
    return command_fail(r->line->command, "%s", err.message);
}

/* The plan goes to stderr: stdout is for the answer. */
static int draw_plan(struct running *r)
{
    auto_arena struct arena arena = { 0 };
    auto_buf struct buf text = { 0 };
    struct term term;
    if (!r->args->plan || r->args->quiet)
        return EXIT_OK;
    term_init(&term, STDERR_FILENO, r->line->no_color);
    const struct picture *picture = picture_of(&arena, r->flow, true);
    if (!picture_boxes(&text, picture, &term)) {
        buf_clear(&text);
        picture_tree(&text, picture, &term);
    }
    fwrite(text.data, 1, text.len, stderr);
    return EXIT_OK;
}

/* ---- the run ------------------------------------------------------------------------------------------ */

static int prepare_env(struct running *r)
{
    const struct run_args *a = r->args;
    rondo_error err;
    r->env = (struct call_env){ .rehearse = r->rehearses, .commands = a->commands, .prompts = a->prompts,
                                .context = a->context, .workdir = a->workdir, .model = a->model,
                                .max_retries = a->max_retries, .max_turns = a->max_turns };
    if (a->prompts && mkdir(a->prompts, 0777) < 0 && !is_folder(a->prompts))
        return command_fail(r->line->command, "--prompts %s: cannot make this folder", a->prompts);
    if (!a->script)
        return EXIT_OK;
    r->env.script = given_file(a->script, &err);
    if (!r->env.script)
        return command_fail(r->line->command, "%s", err.message);
    if (!json_is_object(r->env.script))
        return command_fail(r->line->command, "--script %s: expected a map from steps to replies", a->script);
    if (rehearse_check(r->flow, r->env.script, &err) < 0)
        return command_fail(r->line->command, "--script %s: %s", a->script, err.message);
    return EXIT_OK;
}

static int start(struct running *r)
{
    const struct run_args *a = r->args;
    rondo_error err;
    rondo_config config = { RONDO_CONFIG, .virtual_time = r->rehearses };
    rondo_run_options options = {
        RONDO_RUN, .timeout_ms = a->timeout_ms,
        .max_concurrency = r->flow->max_concurrency ? 0 : (int)MIN(a->max_concurrency, INT32_MAX),
        .budget = { .tokens = a->max_tokens, .cost_nano = (int64_t)llround(MIN(a->max_cost, 9e6) * 1e9) },
    };
    int rc = rondo_engine_new(&config, &r->engine, &err);
    if (rc == 0)
        rc = flows_start(r->engine, r->flow, &r->env, r->inputs, &options, &r->run, &err);
    if (rc == 0)
        return EXIT_OK;
    command_fail(r->line->command, "%s", err.message);
    return rc == RONDO_EINVAL ? EXIT_INVALID : EXIT_FAILED;
}

static int carry_out(struct running *r)
{
    const struct run_args *a = r->args;
    struct drive_options options = {
        .command = r->command, .title = r->flow->name, .answers = a->answers, .plan = r->flow->doc->json,
        .env = &r->env, .json = a->json, .quiet = a->quiet, .verbose = a->verbose,
        .no_color = r->line->no_color, .rehearses = r->rehearses,
    };
    int code = drive(r->run, &options);
    process_kill_all(r->engine->loop); // before anybody is told that it is over
    if (a->notify)
        notify_run(a->notify, r->run, r->flow->name, code);
    return code;
}

/* In this order; the first that does not give EXIT_OK ends it. */
static int (*const stages[])(struct running *r) = {
    read_flow, read_inputs, prepare_env, check_agents, check_gates, draw_plan, start, carry_out,
};

static int run_file(const struct cmdline *line, bool rehearses)
{
    struct running r = { .line = line, .args = line->options, .command = line->command->name,
                         .file = line->args.list[0], .rehearses = rehearses };
    int code = check_args(&r);
    orphan_adopt();
    for (size_t i = 0; i < COUNT(stages) && code == EXIT_OK; i++)
        code = stages[i](&r);
    rondo_run_close(r.run);
    rondo_engine_free(r.engine);
    interrupt_stop();
    json_decref(r.env.script);
    json_decref(r.inputs);
    flow_unref(r.flow);
    return code;
}

static int cmd_run(const struct cmdline *line)
{
    return run_file(line, false);
}

static int cmd_rehearse(const struct cmdline *line)
{
    return run_file(line, true);
}

/* ---- the tables ------------------------------------------------------------------------------------------ */

#define AT(field) OPTION_AT(struct run_args, field)

#define OPTIONS_OF_BOTH                                                                                 \
    { "json", 0, OPT_FLAG, AT(json), .help = "every event as a line of JSON on stdout" },               \
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but errors on stderr" },                  \
    { "verbose", 'v', OPT_FLAG, AT(verbose), .help = "say everything, what goes in and out too" },      \
    { "plan", 0, OPT_FLAG, AT(plan), .help = "draw the workflow first" },                               \
    { "input", 'i', OPT_PAIRS, AT(input), "NAME=VALUE", .help = "an input; @FILE is a file's content" }, \
    { "inputs", 0, OPT_TEXT, AT(inputs), "FILE", .help = "all inputs, in YAML or JSON" },               \
    { "context", 0, OPT_TEXT, AT(context), "TEXT", .help = "text that every agent is shown" },          \
    { "workdir", 0, OPT_TEXT, AT(workdir), "DIR", .help = "where commands run" },                       \
    { "timeout", 0, OPT_DURATION, AT(timeout_ms), "TIME", .help = "the run fails after this time" },    \
    { "max-cost", 0, OPT_NUMBER, AT(max_cost), "USD", .help = "stop when this is spent" },              \
    { "max-tokens", 0, OPT_COUNT, AT(max_tokens), "N", .help = "stop when these are used" },            \
    { "max-concurrency", 0, OPT_COUNT, AT(max_concurrency), "N",                                        \
      .help = "agents at a time, where the file does not say (5)" },                                    \
    { "prompts", 0, OPT_TEXT, AT(prompts), "DIR", .help = "write every prompt to a file there" }

static const struct option run_options[] = {
    OPTIONS_OF_BOTH,
    { "model", 'm', OPT_TEXT, AT(model), "MODEL", .help = "for all agents, whatever the file says" },
    { "max-turns", 0, OPT_COUNT, AT(max_turns), "N", .help = "answers of a model in one step" },
    { "max-retries", 0, OPT_COUNT, AT(max_retries), "N", .help = "tries more when a provider is not reached" },
    { "answers", 0, OPT_TEXT, AT(answers), "FILE", .help = "what gates are answered with" },
    { "store", 0, OPT_TEXT, AT(store), "PLACE", .help = "where the run is kept; only :memory: yet" },
    { "notify", 0, OPT_TEXT, AT(notify), "COMMAND", .help = "run this when the run has ended" },
    { NULL }
};

static const struct option rehearse_options[] = {
    OPTIONS_OF_BOTH,
    { "commands", 0, OPT_FLAG, AT(commands), .help = "let commands run" },
    { "script", 0, OPT_TEXT, AT(script), "FILE", .help = "replies of steps, in YAML or JSON" },
    { "answers", 0, OPT_TEXT, AT(answers), "FILE", .help = "what gates are answered with" },
    { NULL }
};

static const struct run_args defaults = { .max_retries = -1 };

const struct cmd command_run_file = {
    .name = "run", .args = "FILE", .min_args = 1, .max_args = 1,
    .summary = "run a workflow",
    .about = "FILE is a workflow in YAML or JSON; - is standard input.  The final answer goes to\n"
             "stdout, everything else to stderr: a live view if that is a terminal, else a line\n"
             "an event, and a summary at the end.\n"
             "\n"
             "Ctrl-C stops the run: what it started ends, steps with runOn: always still run.\n"
             "A second Ctrl-C leaves at once.\n"
             "\n"
             "Exit status: 0 completed; 1 failed or partial; 2 invalid file; 3 usage or\n"
             "configuration; 4 the run's budget is used up; 5 waiting for a person; 6 a detector\n"
             "ended it; 75 failed, but trying again may help; 124 the run's timeout; 130 and 143\n"
             "stopped by a signal.",
    .options = run_options, .size = sizeof(struct run_args), .defaults = &defaults, .run = cmd_run,
};

const struct cmd command_rehearse = {
    .name = "rehearse", .args = "FILE", .min_args = 1, .max_args = 1,
    .summary = "run a workflow with made-up answers",
    .about = "Models, commands, tools and gates are replaced by answers that fit their schemas,\n"
             "and delays are skipped: the whole flow is seen, nothing is touched and nothing\n"
             "spent.  A loop that made-up answers lead to its cap is noted and does not fail\n"
             "the rehearsal.",
    .options = rehearse_options, .size = sizeof(struct run_args),
    .defaults = &defaults, .run = cmd_rehearse,
};
