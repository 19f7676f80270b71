/* cmd_fork.c - rondo fork RUN --at PATH: a new run that shares the past of another up to there. */
#include "cli/commands.h"
#include "cli/given.h"
#include "cli/migration.h"
#include "cli/running.h"
#include "cli/where.h"
#include "engine/cut.h"
#include "engine/flows.h"

#include <stdio.h>
#include <string.h>

#define STATE "state."

/* --set state.k=v: the value as JSON if it is some, else as text. */
static int read_state(struct running *r, json_t **ret)
{
    const struct texts *pairs = &r->args->set;
    *ret = NULL;
    for (uint32_t i = 0; i < pairs->count; i++) {
        size_t len;
        const char *value = pair_value(pairs->list[i], &len), *key = pairs->list[i];
        if (len <= strlen(STATE) || strncmp(key, STATE, strlen(STATE)) != 0)
            return usage_error(r->line->command, "--set %s: expected state.NAME=VALUE", key);
        auto_free char *name = mem_dup(key + strlen(STATE), len - strlen(STATE));
        *ret = *ret ? *ret : json_object();
        json_object_set_new(*ret, name, given_value(value, strlen(value), NULL));
    }
    return EXIT_OK;
}

/* Only what is given; it is checked together with what the run already has. */
static int read_inputs(struct running *r, json_t **ret)
{
    rondo_error err;
    *ret = NULL;
    if (!r->args->input.count && !r->args->inputs)
        return EXIT_OK;
    *ret = given_inputs(r->flow, r->args->inputs, &r->args->input, &err);
    return *ret ? EXIT_OK : command_fail(r->line->command, "%s", err.message);
}

static void tell_next(const struct running *r, const char *id)
{
    auto_buf struct buf next = { 0 };
    running_put_next(r, "resume", id, "", &next);
    fprintf(stderr, "rondo fork: go on with: %s\n", buf_text(&next));
}

static int fork_run(struct running *r)
{
    rondo_error err;
    auto_json json_t *state = NULL, *inputs = NULL;
    auto_free char *id = NULL;
    auto_buf struct buf at = { 0 };
    if (r->args->at)
        where_put_pass(&at, r->args->at, r->args->pass);
    else
        return usage_error(r->line->command, "--at PATH says where the new run begins to differ");
    int code = read_state(r, &state);
    if (code == EXIT_OK)
        code = read_inputs(r, &inputs);
    if (code == EXIT_OK)
        code = running_open_engine(r);
    if (code != EXIT_OK)
        return code;
    struct flows_move move = { 0 };
    struct flow *to = r->args->workflow ? migration_open(r, r->args->workflow) : NULL;
    if (r->args->workflow && !to)
        return EXIT_INVALID;
    struct cut_changes changes = { .inputs = inputs, .state = state };
    if (flows_fork(r->engine, r->flow, r->id, buf_text(&at), &changes, to, &move, &id, &err) < 0)
        code = to && err.code == RONDO_EMISMATCH ? migration_fail(r, &err) : running_fail_said(r, &err);
    else if (!id)
        code = migration_refuse(r, &move, r->args->workflow);
    flows_move_clear(&move);
    flow_unref(to);
    if (code != EXIT_OK)
        return code;
    puts(id);
    if (!r->args->quiet)
        tell_next(r, id);
    return EXIT_OK;
}

static int cmd_fork(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, fork_run };
    struct running r = { .line = line, .args = line->options, .command = "fork",
                         .file = line->args.list[0] };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "at", 0, OPT_TEXT, AT(at), "PATH", .help = "what is to be started anew, as 'refine.2' or 'publish'" },
    { "pass", 0, OPT_LIMIT, AT(pass), "N", .help = "this pass of the loop at PATH, counted from 1" },
    { "input", 'i', OPT_PAIRS, AT(input), "NAME=VALUE", .help = "another input; @FILE is a file's content" },
    { "inputs", 0, OPT_TEXT, AT(inputs), "FILE", .help = "other inputs, in YAML or JSON" },
    { "workflow", 0, OPT_TEXT, AT(workflow), "FILE", .help = "go on with this version of the workflow" },
    { "set", 0, OPT_PAIRS, AT(set), "state.NAME=VALUE", .help = "another value in the state" },
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but the new run's id" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_fork = {
    .name = "fork", .args = "RUN", .min_args = 1, .max_args = 1,
    .summary = "branch a new run off another",
    .about = "The new run has everything that happened before PATH was last started, and begins\n"
             "there anew, with other inputs or another state if you like.  '--at refine --pass 3' is\n"
             "'--at refine.2'; 'publish~0' is the first attempt of a step that was tried again.\n"
             "With --workflow FILE it goes on with that version of the workflow, which may change,\n"
             "before PATH, what 'rondo resume --migrate' may change; else there is no fork.\n"
             "A run that has ended can be forked at an item of a forEach, as 'all[3]': then the new\n"
             "run has all of it, and does only that item and the steps that depend on it again.\n"
             "The cost of the past is shown apart and does not count against its budget.  The id of\n"
             "the new run goes to stdout; 'rondo resume' goes on with it.",
    .options = options, .size = sizeof(struct run_args), .run = cmd_fork,
};
