/* cmd_goal.c - rondo goal TEXT: a model plans a workflow, a person approves it, and it is run like any other. */
#include "cli/commands.h"
#include "cli/confirm.h"
#include "cli/drive.h"
#include "cli/given.h"
#include "cli/planner.h"
#include "data/value.h"
#include "engine/flows.h"
#include "io/file.h"
#include "run/usage.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- the plan ------------------------------------------------------------------------------------------ */

/* A plan is paid for: whether it can be kept is found out before. */
static int check_save(struct running *r)
{
    const char *path = r->args->save;
    const char *name = path ? strrchr(path, '/') : NULL;
    auto_buf struct buf folder = { 0 };
    buf_put(&folder, name ? path : "./", name ? (size_t)(name + 1 - path) : 2);
    if (path && access(path, F_OK) == 0)
        return command_fail(r->line->command, "--save %s: there is such a file already", path);
    if (path && access(buf_text(&folder), W_OK | X_OK) < 0)
        return command_fail(r->line->command, "--save %s: %s", path, strerror(errno));
    if (r->args->rehearse && r->args->session)
        return usage_error(r->line->command, "--rehearse and --session contradict each other");
    return EXIT_OK;
}

static int make_plan(struct running *r)
{
    auto_buf struct buf goal = { 0 };
    struct planner planner = { .r = r };
    rondo_error err;
    if (given_words(&r->line->args, &goal, &err) < 0)
        return command_fail(r->line->command, "%s", err.message);
    if (strspn(buf_text(&goal), " \t\r\n") == goal.len)
        return usage_error(r->line->command, "what is the goal?");
    int code = planner_run(&planner, goal.data, goal.len);
    r->flow = TAKE(planner.flow);
    r->spent = planner.usage;
    usage_add(&r->spent, &planner.lost);
    planner_clear(&planner);
    r->rehearses = r->env.rehearse = r->args->rehearse;
    return code;
}

static void put_plan(const struct running *r, struct buf *out)
{
    char *text = json_dumps(doc_json(r->flow->doc, r->flow->doc->root), JSON_INDENT(2));
    json_free_t release;
    json_get_alloc_funcs(NULL, &release);
    buf_printf(out, "%s\n", text ? text : "{}");
    if (text)
        release(text);
}

/* Also one that is not approved: somebody may want to change it. */
static int save_plan(struct running *r)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    if (!r->args->save)
        return EXIT_OK;
    put_plan(r, &text);
    bool is_absolute = r->args->save[0] == '/';
    if (file_write(is_absolute ? "/" : ".", r->args->save + is_absolute, text.data, text.len, &err) < 0)
        return command_fail(r->line->command, "--save: %s", err.message);
    r->file = r->args->save;
    return EXIT_OK;
}

/* ---- approving ----------------------------------------------------------------------------------------- */

/* Without a person to ask it is for whoever reads this to go on. */
static int leave(struct running *r)
{
    auto_buf struct buf text = { 0 };
    if (!r->args->save) {
        put_plan(r, &text);
        fputs(buf_text(&text), stdout);
    }
    fprintf(stderr, "rondo %s: nobody has approved the plan, and it was not run; ", r->command);
    if (r->args->save)
        fprintf(stderr, "rondo run %s does that\n", r->args->save);
    else
        fprintf(stderr, "keep it in a file and say rondo run FILE, or say --yes\n");
    return EXIT_WAITING;
}

static int approve(struct running *r)
{
    if (r->args->yes)
        return EXIT_OK;
    int answer = drive_has_person() ? confirm("Run this plan?") : CONFIRM_NOBODY;
    if (answer == CONFIRM_NOBODY)
        return leave(r);
    if (answer == CONFIRM_YES)
        return EXIT_OK;
    fprintf(stderr, "rondo %s: the plan was not approved, and not run\n", r->command);
    return EXIT_FAILED;
}

/* ---- the run ------------------------------------------------------------------------------------------- */

static int make_inputs(struct running *r)
{
    struct diags diags = { 0 };
    auto_json json_t *none = json_object();
    r->inputs = flows_inputs(r->flow, none, &diags); // they all have defaults: plan_rules.c
    diags_clear(&diags);
    return r->inputs ? EXIT_OK : EXIT_INVALID;
}

static int check_budget(struct running *r)
{
    const struct run_args *a = r->args;
    int64_t tokens = r->spent.input_tokens + r->spent.output_tokens;
    bool is_spent = (a->max_tokens && tokens >= a->max_tokens) ||
                    (a->max_cost > 0 && (double)r->spent.cost_nano >= a->max_cost * 1e9);
    if (!is_spent)
        return EXIT_OK;
    fprintf(stderr, "rondo %s: planning has used up the budget\n", r->command);
    return EXIT_BUDGET;
}

static int open_store(struct running *r)
{
    return running_open_store(r, false);
}

static int cmd_goal(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = {
        running_check_args, check_save, running_prepare_env, make_plan, save_plan, running_draw_plan, approve,
        make_inputs, check_budget, running_check_agents, running_read_answers, open_store, running_check_gates,
        running_open_engine, running_start, running_carry_out,
    };
    struct running r = { .line = line, .args = line->options, .command = line->command->name, .file = "goal" };
    return running_go(&r, stages, COUNT(stages));
}

/* ---- the table ----------------------------------------------------------------------------------------- */

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "yes", 'y', OPT_FLAG, AT(yes), .help = "run the plan without asking" },
    { "save", 0, OPT_TEXT, AT(save), "FILE", .help = "keep the plan as a workflow file" },
    { "allow-commands", 0, OPT_FLAG, AT(allow_commands), .help = "the plan may run commands and other files" },
    { "rehearse", 0, OPT_FLAG, AT(rehearse), .help = "rehearse the plan instead of running it" },
    MEANS_OPTIONS(struct run_args),
    { "max-cost", 0, OPT_NUMBER, AT(max_cost), "USD", .help = "stop when this is spent, planning included" },
    { "max-tokens", 0, OPT_LIMIT, AT(max_tokens), "N", .help = "stop when these are used, planning included" },
    { "max-turns", 0, OPT_LIMIT, AT(max_turns), "N", .help = "answers of a model in one step" },
    { "max-retries", 0, OPT_COUNT, AT(max_retries), "N", .help = "tries more when a provider is not reached" },
    { "max-concurrency", 0, OPT_LIMIT, AT(max_concurrency), "N",
      .help = "agents at a time, where the plan does not say (5)" },
    { "timeout", 0, OPT_DURATION, AT(timeout_ms), "TIME", .help = "the run fails after this time" },
    { "context", 0, OPT_TEXT, AT(context), "TEXT", .help = "text that every agent is shown, the planner too" },
    { "workdir", 0, OPT_TEXT, AT(workdir), "DIR", .help = "the folder to work in" },
    { "answers", 0, OPT_TEXT, AT(answers), "FILE", .help = "what gates are answered with" },
    { "json", 0, OPT_FLAG, AT(json), .help = "every event as a line of JSON on stdout" },
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but errors on stderr, ask nobody" },
    { "verbose", 'v', OPT_FLAG, AT(verbose),
      .help = "say everything, what goes in and out too; with --quiet: of failures" },
    { "prompts", 0, OPT_TEXT, AT(prompts), "DIR", .help = "write every prompt to a file there" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept; :memory: is nowhere" },
    { "session", 0, OPT_TEXT, AT(session), "NAME", .help = "share state and memory with its other runs" },
    { "notify", 0, OPT_TEXT, AT(notify), "COMMAND", .help = "run this when the run has ended" },
    { NULL }
};

static const struct run_args defaults = { .max_retries = -1, .plan = true };

const struct cmd command_goal = {
    .name = "goal", .args = "TEXT...", .min_args = 0, .max_args = UINT16_MAX,
    .summary = "a model plans a workflow, which is then run",
    .about = "The model writes a workflow that reaches the goal.  It is checked like any file; what\n"
             "is wrong with it goes back to the model, three times at most.  The plan is drawn on\n"
             "stderr, and run when somebody at the terminal approves it, or with --yes.  Else it\n"
             "goes to stdout (or to the file of --save), and the exit status is 5.  What is piped\n"
             "in is put behind the goal.\n"
             "\n"
             "A plan may not name MCP servers, variables of the environment, files outside of the\n"
             "folder, or places and keys of models, and has no commands or other files unless\n"
             "--allow-commands is given.  Its agents have tools as --allow and its like say.\n"
             "\n"
             "The run is kept like any other: rondo show, rondo resume.  Exit status as of rondo\n"
             "run; 2 when there was no plan that could be used.",
    .options = options, .size = sizeof(struct run_args), .defaults = &defaults, .run = cmd_goal,
};
