/* cmd_run.c - rondo run FILE and rondo rehearse FILE.

   Both read the file, look whether everything that it needs is there, and only then start: nothing
   that can be known before is found out on the way. */
#include "agent/player.h"
#include "agent/recorder.h"
#include "cli/commands.h"
#include "cli/flow_name.h"
#include "cli/given.h"
#include "cli/problems.h"
#include "cli/running.h"
#include "cli/show.h"
#include "engine/flows.h"

#include <stdio.h>

/* ---- before the run ------------------------------------------------------------------------------- */

static int read_flow(struct running *r)
{
    auto_buf struct buf path = { 0 };
    struct diags diags = { 0 };
    if (flow_name_find(r->file, &path, &diags))
        r->flow = flows_open(buf_text(&path), false, r->args->coordinator, &diags);
    if (r->flow)
        r->file = arena_dup(&r->flow->arena, path.data, path.len);
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

static int open_replay(struct running *r)
{
    const char *file = r->args->replay;
    rondo_error err;
    if (!file || player_open(file, r->flow, &r->env.player, &err) == 0)
        return EXIT_OK;
    return command_fail(r->line->command, "--replay %s", err.message);
}

/* Last of all: what was recorded before is gone then. */
static int open_record(struct running *r)
{
    rondo_error err;
    if (!r->args->record || recorder_open(r->args->record, &r->env.recorder, &err) == 0)
        return EXIT_OK;
    return command_fail(r->line->command, "--record %s", err.message);
}

static int check_agents(struct running *r)
{
    auto_buf struct buf next = { 0 }, clean = { 0 };
    int code = running_check_agents(r);
    if (code == EXIT_OK || r->rehearses)
        return code;
    buf_puts(&next, "rondo rehearse ");
    show_word(&next, r->file);
    show_line(&clean, next.data, next.len);
    fprintf(stderr, "  to see it without, with made-up answers: %s\n", buf_text(&clean));
    return code;
}

/* ---- the run ------------------------------------------------------------------------------------------ */

static int open_store(struct running *r)
{
    return running_open_store(r, false);
}

static int run_file(const struct cmdline *line, bool rehearses)
{
    static int (*const stages[])(struct running *r) = {
        running_check_args, read_flow, read_inputs, running_prepare_env, open_replay, check_agents,
        running_read_answers, open_store, running_check_gates, running_draw_plan, running_open_engine, open_record,
        running_start, running_carry_out,
    };
    struct running r = { .line = line, .args = line->options, .command = line->command->name,
                         .file = line->args.list[0], .rehearses = rehearses };
    return running_go(&r, stages, COUNT(stages));
}

static int cmd_run(const struct cmdline *line)
{
    return run_file(line, false);
}

/* Answers that fit no rule of the workflow are no mistake in it. */
static int cmd_rehearse(const struct cmdline *line)
{
    const struct run_args *args = line->options;
    int code = run_file(line, true);
    if (code == EXIT_FAILED && !args->quiet)
        fprintf(stderr, "the answers were made up: %s--script FILE gives those of steps\n",
                args->commands ? "" : "--commands lets commands run, ");
    return code;
}

/* ---- the tables ------------------------------------------------------------------------------------------ */

#define AT(field) OPTION_AT(struct run_args, field)

#define OPTIONS_OF_BOTH                                                                                 \
    { "json", 0, OPT_FLAG, AT(json), .help = "every event as a line of JSON on stdout" },               \
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but errors on stderr, ask nobody" },      \
    { "verbose", 'v', OPT_FLAG, AT(verbose),                                                            \
      .help = "say everything, what goes in and out too; with --quiet: of failures" },                  \
    { "plan", 0, OPT_FLAG, AT(plan), .help = "draw the workflow first" },                               \
    { "input", 'i', OPT_PAIRS, AT(input), "NAME=VALUE", .help = "an input; @FILE is a file's content" }, \
    { "inputs", 0, OPT_TEXT, AT(inputs), "FILE", .help = "all inputs, in YAML or JSON" },               \
    { "context", 0, OPT_TEXT, AT(context), "TEXT", .help = "text that every agent is shown" },          \
    { "workdir", 0, OPT_TEXT, AT(workdir), "DIR", .help = "where commands run" },                       \
    { "coordinator", 0, OPT_TEXT, AT(coordinator), "MODEL",                                             \
      .help = "it coordinates, whatever the file says" },                                               \
    { "timeout", 0, OPT_DURATION, AT(timeout_ms), "TIME", .help = "the run fails after this time" },    \
    { "max-cost", 0, OPT_NUMBER, AT(max_cost), "USD", .help = "stop when this is spent" },              \
    { "max-tokens", 0, OPT_LIMIT, AT(max_tokens), "N", .help = "stop when these are used" },            \
    { "max-concurrency", 0, OPT_LIMIT, AT(max_concurrency), "N",                                        \
      .help = "agents at a time, where the file does not say (5)" },                                    \
    { "prompts", 0, OPT_TEXT, AT(prompts), "DIR", .help = "write every prompt to a file there" }

static const struct option run_options[] = {
    OPTIONS_OF_BOTH,
    MEANS_OPTIONS(struct run_args),
    { "max-turns", 0, OPT_LIMIT, AT(max_turns), "N", .help = "answers of a model in one step" },
    { "max-retries", 0, OPT_COUNT, AT(max_retries), "N",
      .help = "tries more when a provider is not reached, where the file says nothing" },
    { "answers", 0, OPT_TEXT, AT(answers), "FILE", .help = "what gates are answered with" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept; :memory: is nowhere" },
    { "session", 0, OPT_TEXT, AT(session), "NAME", .help = "share state and memory with its other runs" },
    { "record", 0, OPT_TEXT, AT(record), "FILE", .help = "write down what agents and gates answer" },
    { "replay", 0, OPT_TEXT, AT(replay), "FILE", .help = "answer from such a recording, call no agent" },
    { "notify", 0, OPT_TEXT, AT(notify), "COMMAND", .help = "run this when a gate opens and when the run has ended" },
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
    .about = "FILE is a workflow in YAML or JSON; - is standard input.  A name will do: 'refine' is\n"
             "refine.yaml, refine.yml or refine.json, here or in the project's .rondo folder.\n"
             "\n"
             "The final answer goes to stdout, everything else to stderr: a live view if that is a\n"
             "terminal, else a line an event, and a summary at the end.\n"
             "\n"
             "Ctrl-C stops the run: what it started ends, steps with runOn: always still run.\n"
             "A second Ctrl-C leaves at once.\n"
             "\n"
             "Gates ask at the terminal.  Where there is none, and with --quiet, a run that\n"
             "needs an answer is left with status 5: rondo answer gives it, rondo resume goes on.\n"
             "\n"
             "--record and --replay make tests of workflows: a replay calls no agent, waits for\n"
             "nothing, and fails when an agent is asked something else than what was recorded.\n"
             "Both together record the replay anew.  A replay is kept if --store or --session\n"
             "says so, and gates that --answers knows are answered by it.\n"
             "\n"
             "Exit status: 0 completed; 1 failed or partial; 2 invalid file; 3 usage or\n"
             "configuration; 4 the run's budget is used up; 5 waiting for a person, or stopped between\n"
             "passes; 6 a detector ended it; 7 another process drives it; 8 what a loop with mustHold\n"
             "was to reach does not hold; 75 failed, but trying again may help; 124 the run's timeout;\n"
             "129, 130 and 143 stopped by a signal; 141 nobody reads stdout any more.",
    .options = run_options, .size = sizeof(struct run_args), .defaults = &defaults, .run = cmd_run,
};

const struct cmd command_rehearse = {
    .name = "rehearse", .args = "FILE", .min_args = 1, .max_args = 1,
    .summary = "run a workflow with made-up answers",
    .about = "Models, commands, tools and gates are replaced by answers that fit their schemas,\n"
             "and delays are skipped: the whole flow is seen, nothing is touched and nothing\n"
             "spent.  A loop that made-up answers lead to its cap is noted and does not fail\n"
             "the rehearsal.\n"
             "\n"
             "The other options of 'rondo run' are read and have no effect, so that a command line\n"
             "can be rehearsed by changing one word of it.",
    .options = rehearse_options, .ignored = run_options, .size = sizeof(struct run_args),
    .defaults = &defaults, .run = cmd_rehearse,
};
