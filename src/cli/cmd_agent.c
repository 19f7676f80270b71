/* cmd_agent.c - rondo agent PROMPT: one model with tools, in the folder where we are.

   It is a workflow of one step that nobody had to write, so it is kept, shown, resumed and kept within its
   budget like every other run. */
#include "cli/commands.h"
#include "cli/given.h"
#include "cli/mcp_file.h"
#include "data/value.h"
#include "engine/flow_files.h"
#include "engine/flows.h"
#include "io/file.h"
#include "tool/tool.h"

#include <stdio.h>
#include <string.h>

#define TURNS 50

static const char system_text[] =
    "You are an agent that works in a folder of the user's with the tools that you are given. Look before you "
    "change something, keep to what you were asked to do, and say at the end briefly what you found or did.";

/* ---- the workflow ------------------------------------------------------------------------------------ */

static json_t *words_of(const char *list)
{
    json_t *words = json_array();
    for (; list && *list; list += strspn(list, ", ")) {
        size_t len = strcspn(list, ", ");
        if (len)
            json_array_append_new(words, json_stringn(list, len));
        list += len;
    }
    return words;
}

static json_t *all_tools(const json_t *servers)
{
    json_t *names = json_array(), *server;
    const char *name;
    for (const struct tool_row *row = tool_builtins; row->name; row++)
        json_array_append_new(names, json_string(row->name));
    json_object_foreach((json_t *)servers, name, server)
        json_array_append_new(names, json_string(name));
    return names;
}

static int read_schema(struct running *r, json_t *agent)
{
    rondo_error err;
    if (!r->args->schema)
        return EXIT_OK;
    json_t *schema = given_file(r->args->schema, &err);
    if (!schema)
        return command_fail(r->line->command, "%s", err.message);
    json_object_set_new(agent, "resultSchema", schema);
    return EXIT_OK;
}

static int read_prompt(struct running *r, json_t **ret)
{
    auto_buf struct buf text = { 0 };
    rondo_error err;
    if (given_words(&r->line->args, &text, &err) < 0)
        return command_fail(r->line->command, "%s", err.message);
    if (!text.len)
        return usage_error(r->line->command, "what is the agent to do?");
    *ret = given_literal(text.data, text.len);
    const char *system = r->args->system;
    if (system && given_check("--system", system, strlen(system), &err) < 0)
        return command_fail(r->line->command, "%s", err.message);
    return EXIT_OK;
}

static json_t *agent_of(struct running *r, const json_t *servers)
{
    const struct run_args *a = r->args;
    const char *system = a->system ? a->system : system_text;
    json_t *agent = json_pack("{ss so so si}", "description", "An agent with tools.", "prompt",
                              given_literal(system, strlen(system)), "tools",
                              a->tools ? words_of(a->tools) : all_tools(servers), "maxTurns", TURNS);
    if (a->project_notes)
        json_object_set_new(agent, "projectNotes", json_true());
    return agent;
}

static json_t *files_of(const struct texts *files)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < files->count; i++)
        json_array_append_new(list, json_string(files->list[i]));
    return list;
}

/* Nobody has seen the file, so what is wrong is told without places in it; servers are in the end of it, and theirs. */
static int complain(struct running *r, struct diags *diags, const char *text)
{
    const char *servers = strstr(text, "\"mcpServers\":"), *path = r->args->mcp ? r->args->mcp : MCP_FILE;
    diags_sort(diags);
    for (uint32_t i = 0; i < diags->count; i++) {
        const struct diag *diag = &diags->list[i];
        bool is_theirs = servers && diag->column > (size_t)(servers - text);
        if (!diag->is_warning)
            command_fail(r->line->command, "%s%s%s", is_theirs ? path : "", is_theirs ? ": " : "", diag->message);
    }
    return EXIT_USAGE;
}

static int load(struct running *r, const json_t *doc)
{
    int code = EXIT_OK;
    auto_buf struct buf text = { 0 };
    struct diags diags = { 0 };
    rondo_error err;
    auto_free char *folder = file_resolve(r->args->workdir ? r->args->workdir : ".", &err);
    value_put_json(&text, doc);
    struct source *source = source_new("agent", text.data, text.len);
    r->flow = flow_load(source, &(struct flow_load){ .files = &flows_disk, .folder = folder, .is_json = true }, &diags);
    source_unref(source);
    if (!r->flow)
        code = complain(r, &diags, buf_text(&text));
    diags_clear(&diags);
    return code;
}

static int make_flow(struct running *r)
{
    auto_json json_t *prompt = NULL, *servers = NULL;
    int code = mcp_file_read(r, &servers);
    if (code != EXIT_OK || (code = read_prompt(r, &prompt)) != EXIT_OK)
        return code;
    auto_json json_t *agent = agent_of(r, servers);
    if ((code = read_schema(r, agent)) != EXIT_OK)
        return code;
    auto_json json_t *doc = json_pack("{si ss s{sO} s[{ss ss sO so}]}", "rondo", 1, "name", "agent", "agents", "agent",
                                      agent, "steps", "id", "agent", "agent", "agent", "instructions", prompt,
                                      "contextFiles", files_of(&r->args->attach));
    if (servers)
        json_object_set(doc, "mcpServers", servers);
    return load(r, doc);
}

/* ---- the run ----------------------------------------------------------------------------------------- */

static int check_depth(struct running *r)
{
    if (r->args->max_depth > 16)
        return usage_error(r->line->command, "--max-depth: at most 16");
    r->env.has_agents = r->args->max_depth > 0;
    r->env.max_depth = (int)r->args->max_depth;
    return EXIT_OK;
}

static int open_store(struct running *r)
{
    return running_open_store(r, false);
}

static int start(struct running *r)
{
    const struct run_args *a = r->args;
    rondo_error err;
    rondo_run_options options = running_options(r);
    auto_json json_t *no_inputs = json_object();
    r->about = json_object();
    if (a->workdir)
        json_object_set_new(r->about, "workdir", json_string(a->workdir));
    if (a->means.model)
        json_object_set_new(r->about, "model", json_string(a->means.model));
    if (a->max_turns)
        json_object_set_new(r->about, "maxTurns", json_integer(a->max_turns));
    json_object_set_new(r->about, "maxDepth", json_integer(a->max_depth));
    if (flows_start(r->engine, r->flow, &r->env, no_inputs, &options, r->about, &r->run, &err) == 0)
        return EXIT_OK;
    return running_fail(r, &err);
}

static int cmd_agent(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = {
        running_check_args, running_prepare_env, make_flow, check_depth, running_check_agents, open_store,
        running_open_engine, start, running_carry_out,
    };
    struct running r = { .line = line, .args = line->options, .command = line->command->name, .file = "agent" };
    return running_go(&r, stages, COUNT(stages));
}

/* ---- the table --------------------------------------------------------------------------------------- */

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    MEANS_OPTIONS(struct run_args),
    { "system", 0, OPT_TEXT, AT(system), "TEXT", .help = "who the agent is, instead of the usual text" },
    { "tools", 0, OPT_TEXT, AT(tools), "NAMES", .help = "the tools it has; all, unless this says otherwise" },
    { "mcp", 0, OPT_TEXT, AT(mcp), "FILE", .help = "servers with more tools, used without a question" },
    { "attach", 'a', OPT_TEXTS, AT(attach), "FILE", .help = "a file that it is shown, pictures too" },
    { "project-notes", 0, OPT_FLAG, AT(project_notes), .help = "show it the AGENTS.md of the folder" },
    { "schema", 0, OPT_TEXT, AT(schema), "FILE", .help = "JSON Schema of the result, in YAML or JSON" },
    { "max-turns", 0, OPT_LIMIT, AT(max_turns), "N", .help = "answers of the model (50)" },
    { "max-depth", 0, OPT_COUNT, AT(max_depth), "N", .help = "agents of its agents; 0: none (3)" },
    { "max-retries", 0, OPT_COUNT, AT(max_retries), "N", .help = "tries more when a provider is not reached" },
    { "max-cost", 0, OPT_NUMBER, AT(max_cost), "USD", .help = "stop when this is spent" },
    { "max-tokens", 0, OPT_LIMIT, AT(max_tokens), "N", .help = "stop when these are used" },
    { "timeout", 0, OPT_DURATION, AT(timeout_ms), "TIME", .help = "it fails after this time" },
    { "workdir", 0, OPT_TEXT, AT(workdir), "DIR", .help = "the folder to work in" },
    { "json", 0, OPT_FLAG, AT(json), .help = "every event as a line of JSON on stdout" },
    { "quiet", 'q', OPT_FLAG, AT(quiet), .help = "say nothing but errors on stderr, ask nobody" },
    { "verbose", 'v', OPT_FLAG, AT(verbose),
      .help = "say everything, what goes in and out too; with --quiet: of failures" },
    { "prompts", 0, OPT_TEXT, AT(prompts), "DIR", .help = "write the prompt to a file there" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept; :memory: is nowhere" },
    { "session", 0, OPT_TEXT, AT(session), "NAME", .help = "share state and memory with its other runs" },
    { NULL }
};

static const struct run_args defaults = { .max_retries = -1, .max_depth = 3 };

const struct cmd command_agent = {
    .name = "agent", .args = "PROMPT...", .min_args = 0, .max_args = UINT16_MAX,
    .summary = "one model with tools, in this folder",
    .about = "The model works with the tools read, write, edit, glob, grep, bash and fetch, with\n"
             "those of MCP servers, and with agents of its own, until it is done.  Its answer goes\n"
             "to stdout.  What is piped in is put behind the prompt.\n"
             "\n"
             "Servers are those of --mcp FILE.  Without it, each server in " MCP_FILE " is used after\n"
             "a question on a terminal, which is asked once; without a terminal, with --quiet and\n"
             "with --sandbox " MCP_FILE " is not used.\n"
             "\n"
             "Which tools it may call is asked on a terminal (y, n, a for always) unless --allow,\n"
             "--deny, --strict, --sandbox or --yolo say so; without a terminal the run stops with\n"
             "status 5, for rondo answer and rondo resume.  Files are those of the folder, commands\n"
             "run confined.",
    .options = options, .size = sizeof(struct run_args), .defaults = &defaults, .run = cmd_agent,
};
