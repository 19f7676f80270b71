/* fields.c - the tables: what a workflow file may say.

   Rows are in the order in which the manual tells about them. */
#include "flow/fields.h"

#include "flow/read_own.h"
#include "flow/reply_form.h"
#include "flow/scope.h"

#include <limits.h>
#include <string.h>

#define IN(type, member)          .offset = offsetof(struct type, member)
#define LIST(type, member, count) IN(type, member), .count_at = offsetof(struct type, count)
#define CHECKED                   .offset = NOWHERE
#define RANGE(least, most)        .has_range = true, .min = (least), .max = (most)
#define FROM(least)               RANGE(least, INT_MAX)
#define AMOUNT                    RANGE(1, AMOUNT_MAX)
#define TABLE(noun, name, rows, place) { noun, name, rows, COUNT(rows), place }

/* clang-format off */

/* ---- words ------------------------------------------------------------------------------------- */

static const struct word orders[] = { { "graph", 0, IN_BOTH }, { "sequence", 1, IN_BOTH }, { NULL } };
static const struct word failures[] = { { "cascade", RONDO_CASCADE, IN_BOTH },
    { "skip-dependents", RONDO_SKIP_DEPENDENTS, IN_BOTH }, { "abort", RONDO_ABORT, IN_BOTH }, { NULL } };
static const struct word schedulers[] = { { "dependency-first", 0, IN_BOTH },
    { "round-robin", 1, IN_BOTH }, { "least-busy", 2, IN_BOTH }, { NULL } };
static const struct word shapes[] = { { "chat", 0, IN_BOTH }, { "responses", 1, IN_BOTH }, { "messages", 2, IN_BOTH },
                                      { NULL } };
static const struct word efforts[] = { { "none", 0, IN_BOTH },  { "minimal", 1, IN_BOTH }, { "low", 2, IN_BOTH },
                                       { "medium", 3, IN_BOTH }, { "high", 4, IN_BOTH },   { "xhigh", 5, IN_BOTH },
                                       { "max", 6, IN_BOTH },   { NULL } };
static const struct word quotas[] = { { "fail", 0, IN_BOTH }, { "wait", 1, IN_BOTH }, { NULL } };
static const struct word durabilities[] = { { "kill", 0, IN_BOTH }, { "power", 1, IN_BOTH }, { NULL } };
static const struct word unknowns[] = { { "ask", RONDO_UNKNOWN_ASK, IN_BOTH },
    { "retry", RONDO_UNKNOWN_RETRY, IN_BOTH }, { "skip", RONDO_UNKNOWN_SKIP, IN_BOTH },
    { "fail", RONDO_UNKNOWN_FAILS, IN_BOTH }, { NULL } };
static const struct word effects[] = { { "pure", RONDO_PURE, IN_BOTH },
    { "idempotent", RONDO_IDEMPOTENT, IN_BOTH }, { "once", RONDO_ONCE, IN_BOTH }, { NULL } };
static const struct word run_ons[] = { { "success", RONDO_ON_SUCCESS, IN_BOTH },
    { "failure", RONDO_ON_FAILURE, IN_BOTH }, { "always", RONDO_ON_ALWAYS, IN_BOTH }, { NULL } };
static const struct word exhausted[] = { { "flag", 0, IN_BOTH }, { "accept", 1, IN_BOTH },
    { "fail", 2, IN_BOTH }, { NULL } };
static const struct word modes[] = { { "failFast", RONDO_FAIL_FAST, IN_BOTH },
    { "collect", RONDO_COLLECT, IN_BOTH }, { NULL } };
static const struct word shows[] = { { "all", RONDO_SHOW_ALL, IN_BOTH },
    { "captain", RONDO_SHOW_CAPTAIN, IN_BOTH }, { NULL } };
static const struct word on_maxes[] = { { "returnLast", RONDO_RETURN_LAST, IN_BOTH },
    { "fail", RONDO_FAIL, IN_BOTH }, { "flag", RONDO_FLAG, IN_BOTH }, { NULL } };
static const struct word outputs[] = { { "", RONDO_OUTPUT_LAST, IN_BOTH },
    { "last", RONDO_OUTPUT_LAST, IN_BOTH }, { "finalStep", RONDO_OUTPUT_FINAL_STEP, IN_RONDO },
    { "best", RONDO_OUTPUT_BEST, IN_RONDO }, { "cumulative", RONDO_OUTPUT_CUMULATIVE, IN_BOTH }, { NULL } };
static const struct word memories[] = { { "accumulate", RONDO_ACCUMULATE, IN_BOTH },
    { "fresh", RONDO_FRESH, IN_BOTH }, { "window", RONDO_WINDOW, IN_BOTH }, { NULL } };
static const struct word actions[] = { { "stop", RONDO_ACTION_STOP, IN_BOTH },
    { "fail", RONDO_ACTION_FAIL, IN_BOTH }, { "nudge", RONDO_ACTION_NUDGE, IN_BOTH }, { NULL } };
static const struct word errors[] = { { "fail", RONDO_ERROR_FAILS, IN_BOTH },
    { "continue", RONDO_ERROR_CONTINUES, IN_BOTH }, { NULL } };
static const struct word item_failures[] = { { "stop", RONDO_ERROR_FAILS, IN_BOTH },
    { "continue", RONDO_ERROR_CONTINUES, IN_BOTH }, { NULL } };
static const struct word compats[] = { { "adk", 1, IN_BOTH }, { NULL } };

static const struct word stdins[] = { { "prompt", STDIN_PROMPT, IN_RONDO },
    { "instructions", STDIN_INSTRUCTIONS, IN_RONDO }, { "none", STDIN_NONE, IN_RONDO }, { NULL } };

/* The codes of failures, as replies name them. */
static const struct word codes[] = { { "inval", 0, IN_BOTH }, { "parse", 0, IN_BOTH }, { "state", 0, IN_BOTH },
    { "notfound", 0, IN_BOTH }, { "failed", 0, IN_BOTH }, { "cancelled", 0, IN_BOTH }, { "time", 0, IN_BOTH },
    { "limit", 0, IN_BOTH }, { "budget", 0, IN_BOTH }, { "stalled", 0, IN_BOTH }, { "schema", 0, IN_BOTH },
    { "store", 0, IN_BOTH }, { "mismatch", 0, IN_BOTH }, { "unknown", 0, IN_BOTH }, { "retry", 0, IN_BOTH },
    { "final", 0, IN_BOTH }, { "unmet", 0, IN_BOTH },
    { "exists", 0, IN_BOTH }, { NULL } };

/* ---- the file ------------------------------------------------------------------------------------ */

static const struct field root_rows[] = {
    { "rondo", F_OWN, IN_RONDO, CHECKED, .read = own_version, .stage = STAGE_VERSION,
      .schema = "{const: 1}", .about = "Says that the file is in the rondo dialect, version 1." },
    { "name", F_CLEAN, IN_BOTH, .needed = IN_BOTH, IN(flow, name), .not_empty = true,
      .stage = STAGE_NAME, .code = "missing_name", .missing = "missing_name",
      .about = "The name of the workflow." },
    { "description", F_HOLES, IN_BOTH, IN(flow, description), .where = AT_HEAD, .stage = STAGE_CAPS,
      .v1_bytes = FLOW_TEXT_V1, .about = "What the workflow is for." },
    { "version", F_OWN, IN_BOTH, CHECKED, .read = own_version, .stage = STAGE_VERSION,
      .schema = "{type: integer, const: 1}", .about = "Version of the format; 1." },
    { "agents", F_OWN, IN_BOTH, CHECKED, .read = own_agents, .stage = STAGE_AGENT_NAME,
      .schema = "{type: object, propertyNames: {'$name': true}, "
                "additionalProperties: {'$ref': agent, '$null': true}}",
      .about = "Who does the work, by name." },
    { "includes", F_TEXT_MAP, IN_BOTH, CHECKED, .about = "Names for other workflow files." },
    { "steps", F_STEPS, IN_BOTH, .needed = IN_BOTH, IN(flow, scope), .kind = SCOPE_FILE,
      .stage = STAGE_STEPS, .code = "empty_steps", .missing = "missing_steps",
      .about = "What is done." },
    { "options", F_OBJECT, IN_BOTH, .offset = 0, .of = &options_fields, .about = "How it is done." },
    { "order", F_CHOICE, IN_RONDO, IN(flow, is_sequence), .words = orders,
      .about = "graph: by dependsOn; sequence: one after the other, each gets the output before." },
    { "inputs", F_OWN, IN_RONDO, CHECKED, .read = own_inputs,
      .schema = "{type: object, propertyNames: {pattern: '^[a-zA-Z_][a-zA-Z0-9_-]*$'}, "
                "additionalProperties: {type: [object, boolean, 'null']}}",
      .about = "What a run is given: name and JSON Schema, which may have a default." },
    { "models", F_MAP, IN_RONDO, IN(flow, models), .of = &model_fields, .about = "Models by alias." },
    { "mcpServers", F_MAP, IN_RONDO, IN(flow, mcp_servers), .of = &server_fields,
      .about = "Servers that give agents more tools." },
    { "coordinator", F_KEPT, IN_RONDO, IN(flow, coordinator), .of = &coordinator_fields,
      .about = "An agent that watches the run." },
    { "output", F_EXPR, IN_RONDO, IN(flow, output), .where = AT_FILE, .not_empty = true,
      .about = "What the run returns." },
    { "budget", F_OBJECT, IN_RONDO, IN(flow, budget), .of = &budget_fields,
      .about = "What the run may use." },
};
const struct fields root_fields = TABLE("a workflow", "workflow", root_rows, 0);

static const struct field options_rows[] = {
    { "maxConcurrency", F_INT, IN_V1, IN(flow, max_concurrency), FROM(0), .stage = STAGE_OPTIONS,
      .code = "negative_value", .about = "Agents at work at a time; 0: the default, 5." },
    { "maxConcurrency", F_INT, IN_RONDO, IN(flow, max_concurrency), FROM(1),
      .about = "Agents at work at a time; 5 by default." },
    { "onStepFailure", F_ENUM, IN_BOTH, IN(flow, on_failure), .words = failures, .stage = STAGE_ENUM,
      .about = "What becomes of the others when a step fails." },
    { "timeout", F_DURATION, IN_BOTH, IN(flow, timeout_ms), .about = "For the whole run." },
    { "stepTimeout", F_DURATION, IN_BOTH, IN(flow, step_timeout_ms),
      .about = "For every step that has no timeout of its own." },
    { "isolation", F_TEXT, IN_BOTH, IN(flow, isolation),
      .about = "worktree-per-step: every call of a command, and of a model with tools for files, works in a git "
               "worktree of its own; or none." },
    { "scheduler", F_WORD, IN_BOTH, IN(flow, scheduler), .words = schedulers, .stage = STAGE_ENUM,
      .about = "Which of the steps that are ready comes first." },
    { "maxRetries", F_INT, IN_BOTH, IN(flow, max_retries), FROM(0), .stage = STAGE_REFERENCE,
      .about = "Retries of a request to a model, in steps that have none of their own." },
    { "agent", F_AGENT, IN_RONDO, IN(flow, agent), .about = "For steps that name none." },
    { "model", F_TEXT, IN_RONDO, IN(flow, model), .not_empty = true, .about = "For agents that name none." },
    { "memory", F_OWN, IN_RONDO, IN(flow, memory), .read = own_memory,
      .schema = "{anyOf: [{type: [string, number], minLength: 1}, {const: false}]}",
      .about = "Memory scope of agents that name none." },
    { "store", F_TEXT, IN_RONDO, IN(flow, store), .not_empty = true,
      .about = "Where runs are kept, seen from the file's folder." },
    { "durability", F_WORD, IN_RONDO, IN(flow, durability), .words = durabilities,
      .about = "What a finished step survives: kill, or also a power cut." },
    { "onUnknown", F_ENUM, IN_RONDO, IN(flow, on_unknown), .words = unknowns,
      .about = "What to do with work whose outcome a crash left unknown." },
    { "cleanup", F_DURATION, IN_RONDO, IN(flow, cleanup_ms),
      .about = "Time for `runOn: always` steps after the run was stopped." },
    { "sharedMemory", F_BOOL, IN_RONDO, IN(flow, shared_memory), .about = "Tools to share notes." },
    { "cache", F_BOOL, IN_RONDO, IN(flow, cache), .about = "Answers to the same question are kept." },
};
const struct fields options_fields = TABLE("options", "options", options_rows, 0);

static const struct field budget_rows[] = {
    { "tokens", F_LONG, IN_RONDO, .offset = offsetof(rondo_budget, tokens), AMOUNT, .about = "Tokens." },
    { "cost", F_MONEY, IN_RONDO, .offset = offsetof(rondo_budget, cost_nano), RANGE(0, AMOUNT_MAX / 1e9),
      .about = "US dollars." },
    { "time", F_DURATION, IN_RONDO, .offset = offsetof(rondo_budget, time_ms), .about = "Time." },
    { "calls", F_LONG, IN_RONDO, .offset = offsetof(rondo_budget, calls), AMOUNT,
      .about = "Calls of models." },
};
const struct fields budget_fields = TABLE("a budget", "budget", budget_rows, 0);

static const struct field coordinator_rows[] = {
    { "agent", F_AGENT, IN_RONDO, .needed = IN_RONDO, CHECKED, .about = "Who coordinates." },
    { "tools", F_TEXTS, IN_RONDO, CHECKED, .about = "What it may use." },
};
const struct fields coordinator_fields = TABLE("a coordinator", "coordinator", coordinator_rows, 0);

/* ---- models and servers ---------------------------------------------------------------------------- */

static const struct field model_rows[] = {
    { "provider", F_TEXT, IN_RONDO, .needed = IN_RONDO, CHECKED, .not_empty = true, .about = "Who serves it." },
    { "model", F_TEXT, IN_RONDO, .needed = IN_RONDO, CHECKED, .not_empty = true,
      .about = "Its name there." },
    { "baseUrl", F_TEXT, IN_RONDO, CHECKED, .not_empty = true, .about = "Where it is." },
    { "api", F_WORD, IN_RONDO, CHECKED, .words = shapes,
      .about = "What the server speaks there, if not what the provider usually does: Chat Completions, Responses or "
               "Anthropic's Messages." },
    { "apiKey", F_OWN, IN_RONDO, CHECKED, .read = own_secret,
      .schema = "{type: string, pattern: '^(env|file):.'}",
      .about = "env:NAME or file:PATH; never the key itself." },
    { "temperature", F_NUMBER, IN_RONDO, CHECKED, RANGE(0, 2), .about = "Sampling." },
    { "topP", F_NUMBER, IN_RONDO, CHECKED, RANGE(0, 1), .about = "Sampling." },
    { "maxTokens", F_LONG, IN_RONDO, CHECKED, AMOUNT, .about = "Longest answer." },
    { "effort", F_WORD, IN_RONDO, CHECKED, .words = efforts, .about = "How hard to think." },
    { "price", F_OBJECT, IN_RONDO, CHECKED, .of = &price_fields, .about = "US dollars per million tokens." },
    { "limits", F_OBJECT, IN_RONDO, CHECKED, .of = &limits_fields, .about = "What the provider allows." },
    { "timeouts", F_OBJECT, IN_RONDO, CHECKED, .of = &timeouts_fields, .about = "How long to wait." },
    { "onQuota", F_WORD, IN_RONDO, CHECKED, .words = quotas,
      .about = "A quota that is used up for more than 5 minutes: fail (another model, or the step), or wait, however "
               "long; also after a restart." },
    { "fallback", F_TEXTS, IN_RONDO, CHECKED, .about = "Aliases to try when this one fails." },
};
const struct fields model_fields = TABLE("a model", "model", model_rows, 0);

static const struct field price_rows[] = {
    { "input", F_NUMBER, IN_RONDO, CHECKED, RANGE(0, 1e6), .about = "Of tokens read." },
    { "output", F_NUMBER, IN_RONDO, CHECKED, RANGE(0, 1e6), .about = "Of tokens written." },
    { "cacheRead", F_NUMBER, IN_RONDO, CHECKED, RANGE(0, 1e6), .about = "Of tokens read from a cache." },
    { "cacheWrite", F_NUMBER, IN_RONDO, CHECKED, RANGE(0, 1e6), .about = "Of tokens put into a cache." },
};
const struct fields price_fields = TABLE("a price", "price", price_rows, 0);

static const struct field limits_rows[] = {
    { "rpm", F_LONG, IN_RONDO, CHECKED, AMOUNT, .about = "Requests a minute." },
    { "tpm", F_LONG, IN_RONDO, CHECKED, AMOUNT, .about = "Tokens a minute." },
    { "concurrency", F_INT, IN_RONDO, CHECKED, FROM(1), .about = "Requests at a time." },
};
const struct fields limits_fields = TABLE("limits", "limits", limits_rows, 0);

static const struct field timeouts_rows[] = {
    { "connect", F_DURATION, IN_RONDO, CHECKED, .about = "Until there is a connection." },
    { "firstByte", F_DURATION, IN_RONDO, CHECKED, .about = "Until the answer begins." },
    { "idle", F_DURATION, IN_RONDO, CHECKED, .about = "Between two parts of it." },
    { "total", F_DURATION, IN_RONDO, CHECKED, .about = "For all of it." },
};
const struct fields timeouts_fields = TABLE("timeouts", "timeouts", timeouts_rows, 0);

static const struct field server_rows[] = {
    { "type", F_TEXT, IN_RONDO, CHECKED, .about = "stdio or http; not needed." },
    { "command", F_TEXT, IN_RONDO, CHECKED, .not_empty = true, .about = "The program to start." },
    { "args", F_TEXTS, IN_RONDO, CHECKED, .about = "Its arguments." },
    { "env", F_TEXT_MAP, IN_RONDO, CHECKED, .about = "Its environment; env:NAME and file:PATH work." },
    { "cwd", F_TEXT, IN_RONDO, CHECKED, .not_empty = true, .about = "Where it runs." },
    { "url", F_TEXT, IN_RONDO, CHECKED, .not_empty = true, .about = "Or where it already runs." },
    { "headers", F_TEXT_MAP, IN_RONDO, CHECKED, .about = "What to send along." },
};
const struct fields server_fields = TABLE("a server", "server", server_rows, 0);

/* ---- agents ----------------------------------------------------------------------------------------- */

#define RUN_SCHEMA                                                                                                   \
    "{anyOf: [{'$text': true, minLength: 1}, {type: array, minItems: 1, "                                            \
    "prefixItems: [{'$text': true, minLength: 1}], items: {'$text': true}}]}"
#define ENV_SCHEMA                                                                                                   \
    "{anyOf: [{const: inherit}, {type: array, items: {'$text': true, pattern: '^[^=]+$'}}, "                         \
    "{type: object, propertyNames: {pattern: '^[^=]+$'}, "                                                           \
    "additionalProperties: {type: [string, number, boolean, 'null']}}]}"

static const struct field agent_rows[] = {
    { "description", F_HOLES, IN_BOTH, .needed = IN_V1, IN(flow_agent, description), .where = AT_AGENT,
      .stage = STAGE_AGENT,
      .missing = "agent_missing_description", .about = "What the agent does." },
    { "prompt", F_HOLES, IN_BOTH, IN(flow_agent, prompt), .where = AT_AGENT,
      .about = "Its system text, which a command is given before all else; @file is read." },
    { "resultSchema", F_SCHEMA, IN_BOTH, IN(flow_agent, result_schema), .stage = STAGE_AGENT,
      .kind = 1, .about = "JSON Schema of its result." },
    { "inputSchema", F_SCHEMA, IN_RONDO, IN(flow_agent, input_schema), .about = "JSON Schema of its input." },
    { "outputKey", F_TEXT, IN_RONDO, IN(flow_agent, output_key), .not_empty = true,
      .about = "Its content is also stored in state, under this key." },
    { "memory", F_OWN, IN_RONDO, IN(flow_agent, memory), .read = own_memory,
      .schema = "{anyOf: [{type: [string, number], minLength: 1}, {const: false}]}",
      .about = "The memory scope it reads and adds to, or false." },
    { "timeout", F_DURATION, IN_RONDO, IN(flow_agent, timeout_ms),
      .about = "For each call; the step's own is for all tries." },
    { "effects", F_ENUM, IN_RONDO, IN(flow_agent, effects), .words = effects,
      .about = "Whether its work may be done again after a crash." },
    { "cache", F_BOOL, IN_RONDO, IN(flow_agent, cache), .about = "Answers to the same question are kept." },
    { "budget", F_OBJECT, IN_RONDO, IN(flow_agent, budget), .of = &budget_fields,
      .about = "What one call may use." },
    { "maxOutput", F_LONG, IN_RONDO, IN(flow_agent, max_output), RANGE(1, 1 << 30),
      .about = "Bytes of its content; what is longer is cut." },
    { "skills", F_OWN, IN_RONDO, CHECKED, .read = own_skills,
      .schema = "{anyOf: [{type: object, additionalProperties: {'$ref': skill}}, "
                "{type: array, items: {'$text': true}}]}",
      .about = "Several things it can do, by name; or (models) folders with a SKILL.md." },
    { "projectNotes", F_BOOL, IN_RONDO, IN(flow_agent, project_notes),
      .about = "Models: show the AGENTS.md of the folder that it works in." },
    /* model */
    { "model", F_TEXT, IN_BOTH, IN(flow_agent, model), .about = "provider/name, or an alias." },
    { "tools", F_TEXTS, IN_BOTH, LIST(flow_agent, tools, tool_count),
      .about = "The tools it may use; exit_loop and continue_loop among them." },
    { "workers", F_TEXTS, IN_RONDO, LIST(flow_agent, workers, worker_count),
      .about = "Agents that it gives work to, with the tools delegate and ask." },
    { "disallowedTools", F_TEXTS, IN_BOTH, LIST(flow_agent, disallowed_tools, disallowed_count),
      .about = "Tools it may not use." },
    { "maxTurns", F_INT, IN_BOTH, IN(flow_agent, max_turns), FROM(0), .stage = STAGE_AGENT,
      .about = "Calls of the model in one call of the agent; 0: the default." },
    { "temperature", F_NUMBER, IN_BOTH, IN(flow_agent, temperature), RANGE(0, 2), .stage = STAGE_AGENT,
      .about = "Sampling." },
    { "topP", F_NUMBER, IN_BOTH, IN(flow_agent, top_p), RANGE(0, 1), .stage = STAGE_AGENT,
      .about = "Sampling." },
    { "maxTokens", F_LONG, IN_RONDO, IN(flow_agent, max_tokens), AMOUNT, .about = "Longest answer." },
    { "effort", F_WORD, IN_RONDO, IN(flow_agent, effort), .words = efforts, .about = "How hard to think." },
    /* command */
    { "run", F_OWN, IN_RONDO, CHECKED, .read = own_run, .where = AT_AGENT,
      .schema = RUN_SCHEMA,
      .about = "A command: words, or text for the shell." },
    { "stdin", F_ENUM, IN_RONDO, IN(flow_agent, input), .words = stdins,
      .about = "What the command reads: prompt; instructions, the step's text alone; or none." },
    { "cwd", F_HOLES, IN_RONDO, IN(flow_agent, cwd), .where = AT_AGENT, .not_empty = true,
      .about = "Where the command runs." },
    { "env", F_OWN, IN_RONDO, CHECKED, .read = own_env, .where = AT_AGENT,
      .schema = ENV_SCHEMA,
      .about = "Variables for the command: names to pass on, or name and text; or inherit, nearly all." },
    { "grace", F_DURATION, IN_RONDO, IN(flow_agent, grace_ms), .about = "Between SIGTERM and SIGKILL." },
    { "idleTimeout", F_DURATION, IN_RONDO, IN(flow_agent, idle_ms),
      .about = "How long the command may print nothing." },
    { "sandbox", F_OWN, IN_RONDO, CHECKED, .read = own_sandbox, .of = &sandbox_fields,
      .schema = "{'$ref': sandbox}", .about = "What the command may touch." },
    /* the others */
    { "script", F_LIST, IN_RONDO, IN(flow_agent, script), .of = &reply_fields, .or_text = true,
      .not_empty = true, .check = reply_check,
      .about = "Canned replies: the n-th call gives the n-th, the last repeats." },
    { "workflow", F_TEXT, IN_RONDO, CHECKED, .not_empty = true,
      .about = "A workflow file that is run as the agent." },
    { "function", F_TEXT, IN_RONDO, IN(flow_agent, function), .not_empty = true,
      .about = "A function of the program that embeds rondo." },
};
const struct fields agent_fields = TABLE("an agent", "agent", agent_rows, 0);

static const struct field sandbox_rows[] = {
    { "write", F_TEXTS, IN_RONDO, LIST(flow_agent, sandbox_write, sandbox_write_count),
      .about = "Folders it may write to." },
    { "network", F_BOOL, IN_RONDO, IN(flow_agent, sandbox_network),
      .about = "Whether it may use the network." },
};
const struct fields sandbox_fields = TABLE("a sandbox", "sandbox", sandbox_rows, 0);

static const struct field skill_rows[] = {
    { "description", F_HOLES, IN_RONDO, IN(flow_skill, description), .where = AT_AGENT,
      .about = "What it is good for." },
    { "prompt", F_HOLES, IN_RONDO, IN(flow_skill, prompt), .where = AT_AGENT, .about = "Its system text." },
    { "inputSchema", F_SCHEMA, IN_RONDO, IN(flow_skill, input_schema), .about = "JSON Schema of its input." },
    { "resultSchema", F_SCHEMA, IN_RONDO, IN(flow_skill, result_schema), .kind = 1,
      .about = "JSON Schema of its result." },
};
const struct fields skill_fields = TABLE("a skill", "skill", skill_rows, 0);

static const struct field reply_rows[] = {
    { "content", F_TEXT, IN_RONDO, CHECKED, .about = "The text." },
    { "result", F_JSON, IN_RONDO, CHECKED, .about = "The structured result." },
    { "actions", F_OBJECT, IN_RONDO, CHECKED, .of = &actions_fields,
      .about = "What it does to the loop around it, and to state." },
    { "toolCalls", F_LIST, IN_RONDO, CHECKED, .of = &call_fields,
      .about = "Tools that it claims to have used." },
    { "events", F_LIST, IN_RONDO, CHECKED, .of = &event_fields, .or_text = true,
      .about = "What it says before it ends." },
    { "messages", F_LIST, IN_RONDO, CHECKED, .of = &message_fields,
      .about = "What it sends to other steps before it ends." },
    { "narrate", F_TEXT, IN_RONDO, CHECKED, .about = "A coordinator's: what it says to whoever watches." },
    { "finalize", F_TEXT, IN_RONDO, CHECKED, .about = "A coordinator's: what the run came to." },
    { "cancel", F_TEXTS, IN_RONDO, CHECKED, .about = "Steps that it asks to end." },
    { "fail", F_OBJECT, IN_RONDO, CHECKED, .of = &fail_fields, .or_text = true,
      .about = "It fails with this text." },
    { "delay", F_DURATION, IN_RONDO, CHECKED, .about = "How long it takes." },
    { "usage", F_OBJECT, IN_RONDO, CHECKED, .of = &usage_fields, .about = "What it claims to have used." },
};
const struct fields reply_fields = TABLE("a reply", "reply", reply_rows, 0);

static const struct field actions_rows[] = {
    { "break", F_OWN, IN_RONDO, CHECKED, .read = own_name_or_flag,
      .schema = "{type: [boolean, string]}",
      .about = "Ends the nearest loop, or the one that is named." },
    { "continue", F_BOOL, IN_RONDO, CHECKED, .about = "Ends the pass." },
    { "escalate", F_BOOL, IN_RONDO, CHECKED, .about = "Ends the loop, with a flag that its parent sees." },
    { "state", F_OWN, IN_RONDO, CHECKED, .read = own_map, .schema = "{type: object}",
      .about = "Changes of the state." },
};
const struct fields actions_fields = TABLE("actions", "actions", actions_rows, 0);

static const struct field call_rows[] = {
    { "name", F_TEXT, IN_RONDO, .needed = IN_RONDO, CHECKED, .not_empty = true, .about = "The tool." },
    { "input", F_JSON, IN_RONDO, CHECKED, .about = "What it was given." },
    { "output", F_JSON, IN_RONDO, CHECKED, .about = "What it gave." },
};
const struct fields call_fields = TABLE("a tool call", "toolCall", call_rows, 0);

static const struct word message_kinds[] = { { "info", 0, IN_BOTH }, { "context_update", 0, IN_BOTH },
                                             { "cancel", 0, IN_BOTH }, { NULL } };

static const struct field message_rows[] = {
    { "to", F_TEXT, IN_RONDO, .needed = IN_RONDO, CHECKED, .not_empty = true,
      .about = "The path or the name of a step, or coordinator." },
    { "text", F_TEXT, IN_RONDO, .needed = IN_RONDO, CHECKED, .not_empty = true, .about = "What is said." },
    { "kind", F_WORD, IN_RONDO, CHECKED, .words = message_kinds, .about = "What it is for: info, unless said." },
};
const struct fields message_fields = TABLE("a message", "message", message_rows, 0);

static const struct field event_rows[] = {
    { "content", F_TEXT, IN_RONDO, CHECKED, .about = "The text." },
    { "author", F_TEXT, IN_RONDO, CHECKED, .about = "Who says it; the agent." },
    { "data", F_JSON, IN_RONDO, CHECKED, .about = "A value beside the text." },
    { "partial", F_BOOL, IN_RONDO, CHECKED, .about = "Shown, but not kept." },
    { "state", F_OWN, IN_RONDO, CHECKED, .read = own_map, .schema = "{type: object}",
      .about = "Changes of the state." },
};
const struct fields event_fields = TABLE("an event", "event", event_rows, 0);

static const struct field fail_rows[] = {
    { "message", F_TEXT, IN_RONDO, CHECKED, .about = "Why." },
    { "code", F_WORD, IN_RONDO, CHECKED, .words = codes, .about = "What kind of failure." },
    { "retry", F_BOOL, IN_RONDO, CHECKED, .about = "Trying again may help; false: it is not tried again." },
    { "said", F_TEXT, IN_RONDO, CHECKED, .about = "What it had said before: of a judge that goes into the feedback." },
};
const struct fields fail_fields = TABLE("a failure", "failure", fail_rows, 0);

static const struct field usage_rows[] = {
    { "prompt", F_LONG, IN_RONDO, CHECKED, RANGE(0, 1e12), .about = "Tokens read." },
    { "completion", F_LONG, IN_RONDO, CHECKED, RANGE(0, 1e12), .about = "Tokens written." },
    { "cost", F_NUMBER, IN_RONDO, CHECKED, RANGE(0, 1e12), .about = "US dollars." },
    { "calls", F_LONG, IN_RONDO, CHECKED, RANGE(0, 1e12), .about = "Calls of the model." },
    { "reasoning", F_LONG, IN_RONDO, CHECKED, RANGE(0, 1e12), .about = "Tokens thought, of those written." },
    { "cacheRead", F_LONG, IN_RONDO, CHECKED, RANGE(0, 1e12), .about = "Tokens from a cache, of those read." },
    { "cacheWrite", F_LONG, IN_RONDO, CHECKED, RANGE(0, 1e12), .about = "Tokens into a cache, of those read." },
    { "unpriced", F_LONG, IN_RONDO, CHECKED, RANGE(0, 1e12), .about = "Calls whose price nobody knows." },
};
const struct fields usage_fields = TABLE("usage", "usage", usage_rows, 0);

/* ---- steps ------------------------------------------------------------------------------------------- */

#define STEP_ONLY .place = P_STEP
static const struct field step_rows[] = {
    { "id", F_OWN, IN_BOTH, STEP_ONLY, .needed = IN_BOTH, CHECKED, .read = own_id, .stage = STAGE_ID,
      .missing = "invalid_step_id",
      .schema = "{type: [string, boolean], pattern: '^[a-zA-Z][a-zA-Z0-9_-]*$'}",
      .about = "Its name in the workflow." },
    { "when", F_OWN, IN_RONDO, .place = P_CASE, .needed = IN_RONDO, CHECKED, .read = own_when, .where = AT_BODY,
      .want = WANT_BOOL, .schema = "{'$text': true, minLength: 1}",
      .about = "The case is taken when this holds." },
    { "name", F_OWN, IN_RONDO, .place = P_CASE, CHECKED, .read = own_case_name,
      .schema = "{type: [string, boolean], pattern: '^[a-zA-Z][a-zA-Z0-9_-]*$'}", .about = "Of the case, in paths." },
    { "agent", F_AGENT, IN_BOTH, IN(flow_step, agent), .about = "Who does it." },
    { "run", F_OWN, IN_RONDO, CHECKED, .read = own_step_run, .where = AT_BODY, .schema = RUN_SCHEMA,
      .about = "A command of its own, without an agent: words, or text for the shell." },
    { "cwd", F_OWN, IN_RONDO, CHECKED, .read = own_step_cwd, .where = AT_BODY, .not_empty = true,
      .schema = "{'$text': true, minLength: 1}", .about = "Where that command runs." },
    { "env", F_OWN, IN_RONDO, CHECKED, .read = own_step_env, .where = AT_BODY, .schema = ENV_SCHEMA,
      .about = "Variables for that command: names to pass on, or name and text; or inherit, nearly all." },
    { "idleTimeout", F_DURATION, IN_RONDO, IN(flow_step, idle_ms),
      .about = "How long that command may print nothing." },
    { "instructions", F_HOLES, IN_BOTH, IN(flow_step, instructions), .where = AT_BODY,
      .about = "What to do; @file is read." },
    { "dependsOn", F_TEXTS, IN_BOTH, STEP_ONLY, LIST(flow_step, depends_on, depends_count),
      .about = "Steps that come first." },
    { "contextFiles", F_TEXTS, IN_BOTH, LIST(flow_step, context_files, context_count),
      .about = "Files that the agent is shown." },
    { "model", F_TEXT, IN_BOTH, IN(flow_step, model), .about = "Instead of the agent's." },
    { "timeout", F_DURATION, IN_BOTH, IN(flow_step, timeout_ms),
      .about = "For all tries and passes together." },
    { "retries", F_OWN, IN_BOTH, CHECKED, .read = own_retries, RANGE(0, ATTEMPTS_MAX - 1), .stage = STAGE_REFERENCE,
      .about = "Further tries when it fails." },
    { "maxRetries", F_INT, IN_BOTH, IN(flow_step, max_retries), FROM(0), .stage = STAGE_REFERENCE,
      .about = "Retries of a request to a model." },
    { "condition", F_EXPR, IN_BOTH, STEP_ONLY, IN(flow_step, condition), .where = AT_STEP, .want = WANT_BOOL,
      .not_empty = true, .stage = STAGE_EMPTY, .about = "The step is skipped unless this holds." },
    { "include", F_TEXT, IN_BOTH, IN(flow_step, include_path), .not_empty = true, .stage = STAGE_INCLUDE,
      .about = "Another workflow, by name or path." },
    { "loop", F_OWN, IN_BOTH, IN(flow_step, loop), .read = own_loop, .of = &loop_fields,
      .schema = "{'$ref': loop}",
      .about = "The step is repeated." },
    { "steps", F_STEPS, IN_RONDO, IN(flow_step, inner), .kind = SCOPE_GROUP,
      .about = "Steps of its own: a phase." },
    { "order", F_CHOICE, IN_RONDO, IN(flow_step, is_sequence), .words = orders, .about = "Of its own steps." },
    { "onStepFailure", F_ENUM, IN_RONDO, IN(flow_step, on_failure), .words = failures,
      .about = "Among its own steps." },
    { "parallel", F_OBJECT, IN_RONDO, .offset = 0, .of = &parallel_fields,
      .about = "All at once, with the same input." },
    { "branch", F_OWN, IN_RONDO, CHECKED, .read = own_branch,
      .schema = "{type: array, minItems: 1, items: {anyOf: [{'$ref': case}, {'$ref': else}]}}",
      .about = "The first case that holds." },
    { "forum", F_OBJECT, IN_RONDO, .offset = 0, .of = &forum_fields,
      .about = "Members speak, a captain decides." },
    { "gate", F_OBJECT, IN_RONDO, .offset = 0, .of = &gate_fields, .about = "A person decides." },
    { "set", F_EXPRS, IN_RONDO, LIST(flow_step, set, set_count), .where = AT_BODY, .not_empty = true,
      .about = "Writes state." },
    { "machine", F_OBJECT, IN_RONDO, .offset = 0, .of = &machine_fields, .about = "States and edges." },
    { "with", F_EXPRS, IN_RONDO, LIST(flow_step, with, with_count), .where = AT_WITH, .about = "Its input." },
    { "runOn", F_ENUM, IN_RONDO, STEP_ONLY, IN(flow_step, run_on), .words = run_ons,
      .about = "success, failure or always." },
    { "retry", F_OBJECT, IN_RONDO, .offset = 0, .of = &retry_fields, .about = "Further tries when it fails." },
    { "review", F_OWN, IN_RONDO, IN(flow_step, review), .read = own_review, .of = &review_fields,
      .schema = "{'$ref': review}", .about = "Who approves its output." },
    { "budget", F_OBJECT, IN_RONDO, IN(flow_step, budget), .of = &budget_fields, .about = "What it may use." },
    { "inputSchema", F_SCHEMA, IN_RONDO, IN(flow_step, input_schema), .about = "JSON Schema of its input." },
};
const struct fields step_fields = TABLE("a step", "step", step_rows, P_STEP);
const struct fields body_fields = TABLE("a body", "body", step_rows, P_BODY);
const struct fields case_fields = TABLE("a case", "case", step_rows, P_CASE);

static const struct field else_rows[] = {
    { "else", F_OWN, IN_RONDO, .needed = IN_RONDO, CHECKED, .read = own_else, .schema = "{'$ref': body}",
      .about = "When no case holds." },
};
const struct fields else_fields = TABLE("an else case", "else", else_rows, 0);

static const struct field retry_rows[] = {
    { "attempts", F_INT, IN_RONDO, .needed = IN_RONDO, IN(flow_step, retry.attempts), RANGE(1, ATTEMPTS_MAX),
      .about = "Tries, the first included." },
    { "timeout", F_DURATION, IN_RONDO, IN(flow_step, retry_timeout_ms), .about = "For one try." },
    { "delay", F_DURATION, IN_RONDO, IN(flow_step, retry.delay_ms), .about = "Before the second try." },
    { "factor", F_NUMBER, IN_RONDO, IN(flow_step, retry.factor), RANGE(1, 1000),
      .about = "How the delay grows; 2." },
    { "maxDelay", F_DURATION, IN_RONDO, IN(flow_step, retry.max_delay_ms),
      .about = "How far; 60s, or `delay` if that is more." },
    { "jitter", F_NUMBER, IN_RONDO, IN(flow_step, retry.jitter), RANGE(0, 1),
      .about = "How much chance is in it." },
    { "on", F_EXPR, IN_RONDO, IN(flow_step, retry_on), .where = AT_RETRY, .want = WANT_BOOL, .not_empty = true,
      .about = "Only if this holds; `error` is the failure." },
};
const struct fields retry_fields = TABLE("a retry", "retry", retry_rows, 0);

static const struct field review_rows[] = {
    { "agent", F_MADE, IN_RONDO, IN(flow_review, reviewer), .kind = AS_REVIEWER, .made = "review",
      .about = "An agent." },
    { "gate", F_OWN, IN_RONDO, CHECKED, .read = own_review_gate, .of = &gate_fields,
      .schema = "{'$ref': gate}",
      .about = "Or a person." },
    { "maxRetries", F_INT, IN_RONDO, IN(flow_review, max_retries), RANGE(0, 1000000),
      .about = "Retries of the step; 2." },
    { "maxPredecessorRetries", F_INT, IN_RONDO, IN(flow_review, max_predecessor_retries), RANGE(0, 1000000),
      .about = "Retries of each step before it; 2." },
    { "onExhausted", F_ENUM, IN_RONDO, IN(flow_review, on_exhausted), .words = exhausted,
      .about = "When there are none left." },
};
const struct fields review_fields = TABLE("a review", "review", review_rows, 0);

static const struct field parallel_rows[] = {
    { "agents", F_OWN, IN_RONDO, CHECKED, .read = own_members, .kind = SCOPE_PARALLEL,
      .schema = "{type: array, minItems: 1, items: {'$text': true}}",
      .about = "Agents." },
    { "steps", F_STEPS, IN_RONDO, IN(flow_step, inner), .kind = SCOPE_PARALLEL, .about = "Or steps." },
    { "mode", F_ENUM, IN_RONDO, IN(flow_step, mode), .words = modes,
      .about = "What a failure means for the others." },
    { "maxConcurrency", F_INT, IN_RONDO, IN(flow_step, max_concurrency), FROM(1),
      .about = "At a time; all by default." },
};
const struct fields parallel_fields = TABLE("a parallel", "parallel", parallel_rows, 0);

static const struct field forum_rows[] = {
    { "members", F_OWN, IN_RONDO, .needed = IN_RONDO, CHECKED, .read = own_members, .kind = SCOPE_FORUM,
      .schema = "{type: array, minItems: 1, items: {'$text': true}}",
      .about = "Who speaks." },
    { "captain", F_OWN, IN_RONDO, .needed = IN_RONDO, CHECKED, .read = own_captain,
      .schema = "{'$text': true}",
      .about = "Who decides." },
    { "rounds", F_INT, IN_RONDO, IN(flow_step, rounds), RANGE(1, 200), .about = "How often; 1." },
    { "quorum", F_INT, IN_RONDO, IN(flow_step, quorum), FROM(1), .about = "Members that have to answer; all." },
    { "show", F_ENUM, IN_RONDO, IN(flow_step, show), .words = shows,
      .about = "Who sees what was said before." },
    { "earlyReturn", F_BOOL, IN_RONDO, IN(flow_step, early_return),
      .about = "Members may end the forum, each with its own answer." },
};
const struct fields forum_fields = TABLE("a forum", "forum", forum_rows, 0);

static const struct field machine_rows[] = {
    { "start", F_TEXT, IN_RONDO, .needed = IN_RONDO, IN(flow_step, start), .about = "The first state." },
    { "states", F_OWN, IN_RONDO, .needed = IN_RONDO, CHECKED, .read = own_states,
      .schema = "{type: object, minProperties: 1, propertyNames: {pattern: '^[a-zA-Z][a-zA-Z0-9_-]*$'}, "
                "additionalProperties: {'$ref': body}}", .about = "What is done in each." },
    { "edges", F_OWN, IN_RONDO, .needed = IN_RONDO, CHECKED, .read = own_edges,
      .schema = "{type: array, minItems: 1, items: {'$ref': edge}}",
      .about = "Where to go from each; the first that holds." },
    { "maxSteps", F_INT, IN_RONDO, IN(flow_step, max_steps), FROM(1), .about = "States entered at most; 50." },
};
const struct fields machine_fields = TABLE("a machine", "machine", machine_rows, 0);

static const struct field edge_rows[] = {
    { "from", F_TEXT, IN_RONDO, .needed = IN_RONDO, IN(flow_edge, from), .about = "A state." },
    { "to", F_TEXT, IN_RONDO, .needed = IN_RONDO, IN(flow_edge, to), .about = "A state, or `end`." },
    { "when", F_EXPR, IN_RONDO, IN(flow_edge, when), .where = AT_INNER, .want = WANT_BOOL, .not_empty = true,
      .about = "Only if this holds." },
};
const struct fields edge_fields = TABLE("an edge", "edge", edge_rows, 0);

static const struct field gate_rows[] = {
    { "ask", F_HOLES, IN_RONDO, .needed = IN_RONDO, IN(flow_step, ask), .where = AT_BODY, .not_empty = true,
      .about = "The question." },
    { "schema", F_SCHEMA, IN_RONDO, IN(flow_step, gate_schema), .about = "JSON Schema of the answer." },
    { "timeout", F_DURATION, IN_RONDO, IN(flow_step, gate_timeout_ms), .about = "How long to wait." },
    { "onTimeout", F_OWN, IN_RONDO, CHECKED, .read = own_on_timeout,
      .schema = "{anyOf: [{enum: [fail, exit]}, {'$ref': answer}]}",
      .about = "fail, exit, or { answer: VALUE }." },
};
const struct fields gate_fields = TABLE("a gate", "gate", gate_rows, 0);

static const struct field answer_rows[] = {
    { "answer", F_JSON, IN_RONDO, .needed = IN_RONDO, IN(flow_step, gate_answer),
      .about = "The answer to take." },
};
const struct fields answer_fields = TABLE("an answer", "answer", answer_rows, 0);

/* ---- loops ------------------------------------------------------------------------------------------- */

static const struct field loop_rows[] = {
    { "forEach", F_OWN, IN_BOTH, CHECKED, .read = own_for_each, .where = AT_STEP, .want = WANT_LIST,
      .stage = STAGE_FOREACH,
      .schema = "{anyOf: [{type: string, minLength: 1}, {type: array, minItems: 1}]}",
      .about = "A list, or CEL that gives one: the body once per item." },
    { "maxConcurrency", F_INT, IN_V1, IN(flow_loop, max_concurrency), FROM(0), .stage = STAGE_LOOP_CONCURRENCY,
      .about = "Items at a time; 0: all." },
    { "maxConcurrency", F_INT, IN_RONDO, IN(flow_loop, max_concurrency), FROM(1),
      .about = "Items at a time; all by default." },
    { "onItemFailure", F_ENUM, IN_RONDO, IN(flow_loop, on_item_failure), .words = item_failures,
      .about = "When an item fails." },
    { "maxIterations", F_INT, IN_BOTH, IN(flow_loop, max_iterations), FROM(1), .stage = STAGE_ITERATIONS,
      .code = "negative_value", .about = "The most passes." },
    { "unbounded", F_OWN, IN_RONDO, CHECKED, .read = own_unbounded, .schema = "{type: boolean}",
      .about = "No cap." },
    { "onMaxIterations", F_ENUM, IN_RONDO, IN(flow_loop, on_max), .words = on_maxes,
      .about = "What reaching the cap means." },
    { "mustHold", F_BOOL, IN_RONDO, IN(flow_loop, must_hold),
      .about = "To end before `until` or `untilAgent` held is a failure." },
    { "while", F_EXPR, IN_RONDO, IN(flow_loop, while_), .where = AT_RULE, .want = WANT_BOOL, .not_empty = true,
      .about = "Tested before each pass." },
    { "until", F_EXPR, IN_BOTH, IN(flow_loop, until), .where = AT_RULE, .want = WANT_BOOL, .not_empty = true,
      .stage = STAGE_EMPTY, .about = "Tested after each pass; the loop ends when it holds." },
    { "untilAgent", F_MADE, IN_BOTH, IN(flow_loop, judge), .kind = AS_JUDGE, .made = "judge",
      .stage = STAGE_JUDGE,
      .code = "untilagent_bad_ref", .about = "An agent that says when it is done." },
    { "next", F_EXPR, IN_RONDO, IN(flow_loop, next), .where = AT_RULE, .not_empty = true,
      .about = "The next input; null ends the loop." },
    { "score", F_EXPR, IN_RONDO, IN(flow_loop, score), .where = AT_RULE, .want = WANT_NUMBER, .not_empty = true,
      .about = "How good the pass was; higher is better." },
    { "scoreAgent", F_MADE, IN_RONDO, IN(flow_loop, scorer), .kind = AS_SCORER, .made = "score",
      .about = "An agent that says so." },
    { "patience", F_INT, IN_RONDO, IN(flow_loop, patience), FROM(1),
      .about = "Passes without a gain that end the loop." },
    { "minGain", F_NUMBER, IN_RONDO, IN(flow_loop, min_gain), RANGE(0, 1e300),
      .about = "What counts as a gain." },
    { "stall", F_OBJECT, IN_RONDO, .offset = 0, .of = &stall_fields,
      .about = "When passes repeat themselves." },
    { "delay", F_DURATION, IN_BOTH, IN(flow_loop, delay_ms), .about = "Between passes." },
    { "outputMode", F_ENUM, IN_BOTH, IN(flow_loop, output_mode), .words = outputs, .stage = STAGE_OUTPUT_MODE,
      .code = "loop_validation", .about = "Which passes make the output." },
    { "output", F_TEXT, IN_RONDO, IN(flow_loop, output), .about = "The step whose content is the loop's." },
    { "memoryMode", F_ENUM, IN_RONDO, IN(flow_loop, memory_mode), .words = memories,
      .about = "What is remembered between passes." },
    { "memoryWindow", F_INT, IN_RONDO, IN(flow_loop, memory_window), FROM(1),
      .about = "Entries kept, with memoryMode window." },
    { "feedback", F_OWN, IN_RONDO, CHECKED, .read = own_feedback, .where = AT_RULE,
      .schema = "{'$text': true}", .about = "What the next pass is told." },
    { "onError", F_ENUM, IN_RONDO, IN(flow_loop, on_error), .words = errors, .about = "When a pass fails." },
    { "maxFailures", F_INT, IN_RONDO, IN(flow_loop, max_failures), FROM(1),
      .about = "Failed passes in a row; 3." },
    { "maxHistory", F_INT, IN_RONDO, IN(flow_loop, max_history), FROM(1), .about = "Passes that are kept." },
    { "timeout", F_DURATION, IN_RONDO, IN(flow_loop, timeout_ms), .about = "For all passes together." },
    { "budget", F_OBJECT, IN_RONDO, IN(flow_loop, budget), .of = &budget_fields,
      .about = "For all passes together." },
    { "onStepFailure", F_ENUM, IN_RONDO, IN(flow_loop, on_failure), .words = failures,
      .about = "Among the steps of a pass." },
    { "compat", F_CHOICE, IN_RONDO, IN(flow_loop, compat_adk), .words = compats,
      .about = "adk: escalate ends every loop around." },
    { "order", F_CHOICE, IN_RONDO, IN(flow_loop, is_sequence), .words = orders, .about = "Of its steps." },
    { "steps", F_STEPS, IN_BOTH, IN(flow_loop, scope), .kind = SCOPE_LOOP, .stage = STAGE_LOOP_STEPS,
      .code = "loop_validation", .about = "The steps of a pass; without them the step itself is repeated." },
};
const struct fields loop_fields = TABLE("a loop", "loop", loop_rows, 0);

static const struct field stall_rows[] = {
    { "repeats", F_INT, IN_RONDO, IN(flow_loop, stall_repeats), RANGE(2, 1000000),
      .about = "The same output that often, or so many passes without a change of `files`; 3." },
    { "files", F_TEXTS, IN_RONDO, LIST(flow_loop, stall_files, stall_file_count),
      .about = "Patterns for the files that are compared instead of the output." },
    { "words", F_BOOL, IN_RONDO, IN(flow_loop, stall_words),
      .about = "With `files`: the output has to be the same as well." },
    { "action", F_ENUM, IN_RONDO, IN(flow_loop, stall_action), .words = actions,
      .about = "stop, fail or nudge." },
};
const struct fields stall_fields = TABLE("a stall detector", "stall", stall_rows, 0);

/* clang-format on */

const struct field *fields_find(const struct fields *table, const char *key, uint8_t dialects)
{
    for (uint32_t i = 0; i < table->count; i++)
        if (field_is_in(table, &table->list[i], dialects) && strcmp(table->list[i].key, key) == 0)
            return &table->list[i];
    return NULL;
}
