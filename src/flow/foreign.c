/* foreign.c - see foreign.h.

   The names come from workflow files of GitHub Actions, Argo, Airflow, Dagu, Archon, Conductor, Mastra, docker agent
   and CrewAI, from the loops of ADK, AgentEnsemble and Agents.KT, and from Python, JavaScript, Jinja and the shell.

   A row has the words that mean the same.  Of several rows with a word the first counts whose key the table has.  So a
   row for one table comes before those for any, and a command is `run` where that is a key, else an agent. */
#include "flow/foreign.h"

#include "flow/fields.h"

#include <ctype.h>
#include <string.h>

#define LOOP_OF_A_CHECK "run it as a step of the loop, and end the loop by what it came to: " \
                        "until: steps.ID.status == 'completed' with onError: continue"
#define KINDS_OF_STEPS  "a step is what it has: agent, run, include, steps, parallel, branch, forum, gate, set, " \
                        "machine or loop"
#define KINDS_OF_AGENTS "an agent that repeats others is a step with `loop`; one after the other is `steps` with " \
                        "`order: sequence`, all at once is `parallel`"
#define A_NEW_CALL      "each pass is a new call; `feedback: false` shows it nothing of the passes before"
#define A_COMMAND       "a command is an agent: agents: { NAME: { run: ... } }"
#define A_PROMISE       "until: content.contains('DONE') asks whether a pass said so"
#define AFTER_FAILURES  "what runs after a failure all the same has `runOn: always`"
#define AN_EXIT_STATUS  "a command that ends with 0 has completed: status == 'completed'; a loop goes on after " \
                        "another status with onError: continue"
#define AN_ORDER        "steps go by `dependsOn`, or one after the other with `order: sequence`"

/* clang-format off */

static const struct foreign rows[] = {
    /* ---- the file */
    { FOREIGN_KEY, "workflow", "workflow", NULL, "what is in it stands at the top of the file: name, agents, steps" },
    { FOREIGN_KEY, "workflow", "edges", NULL, AN_ORDER "; where steps lead back there is `machine` or `loop`" },
    { FOREIGN_KEY, "workflow", "entryPoint", NULL, AN_ORDER },
    { FOREIGN_KEY, "workflow", "on triggers",
                               NULL, "nothing starts a run by itself: that is what `rondo run FILE` does" },
    { FOREIGN_KEY, "workflow", "env", NULL, "variables are those of an agent: agents: { NAME: { env: ... } }" },
    { FOREIGN_KEY, "workflow", "limits", "budget", NULL },
    { FOREIGN_KEY, "workflow", "mcp", "mcpServers", NULL },
    { FOREIGN_KEY, "workflow", "outputs result", "output", NULL },
    { FOREIGN_KEY, "workflow", "crew", "agents", NULL },
    /* ---- loops */
    { FOREIGN_KEY, "loop", "untilBash untilCommand check", "until", LOOP_OF_A_CHECK },
    { FOREIGN_KEY, "loop", "completionPromise promise", "until", A_PROMISE },
    { FOREIGN_KEY, "loop", "freshContext fresh", "feedback", A_NEW_CALL },
    { FOREIGN_KEY, "loop", "type", NULL, "`forEach` goes through a list; `until`, `while` and `maxIterations` repeat" },
    { FOREIGN_KEY, "loop", "iterations times count limit max maxIter maxIters maxPasses maxLoops maxRounds maxRuns "
                           "maxTurns maxAttempts loopCount", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "stopWhen stopIf stopCondition exitWhen exitCondition exitIf breakIf breakOn breakWhen "
                           "breakCondition doneWhen doUntil repeatUntil predicate", "until", NULL },
    { FOREIGN_KEY, "loop", "condition doWhile continueIf continueWhile", "while", NULL },
    { FOREIGN_KEY, "loop", "items over in withItems source", "forEach", NULL },
    { FOREIGN_KEY, "loop", "maxParallel maxWorkers concurrency parallelism", "maxConcurrency", NULL },
    { FOREIGN_KEY, "loop", "judge evaluator validator", "untilAgent", NULL },
    { FOREIGN_KEY, "loop", "injectFeedback", "feedback", NULL },
    { FOREIGN_KEY, "loop", "memory", "memoryMode", "did you mean `memoryMode`? `memory` is a key of agents" },
    { FOREIGN_KEY, "loop", "memoryWindowSize", "memoryWindow", NULL },
    { FOREIGN_KEY, "loop", "maxIterationsAction", "onMaxIterations", NULL },
    { FOREIGN_KEY, "loop", "loopDetection", "stall", NULL },
    { FOREIGN_KEY, "loop", "interval wait sleep", "delay", NULL },
    { FOREIGN_KEY, "loop", "continueOnError", "onError", NULL },
    { FOREIGN_KEY, "loop", "do body", "steps", NULL },
    /* ---- further tries */
    { FOREIGN_KEY, "retry", "limit count max tries maxAttempts maxRetries", "attempts", NULL },
    { FOREIGN_KEY, "retry", "backoff backoffRate multiplier", "factor", NULL },
    { FOREIGN_KEY, "retry", "interval initialDelay initialInterval", "delay", NULL },
    { FOREIGN_KEY, "retry", "maxInterval", "maxDelay", NULL },
    { FOREIGN_KEY, "retry", "when if retryOn", "on", NULL },
    /* ---- budgets */
    { FOREIGN_KEY, "budget", "usd dollars money maxCost maxUsd", "cost", NULL },
    { FOREIGN_KEY, "budget", "maxTokens", "tokens", NULL },
    { FOREIGN_KEY, "budget", "duration timeout maxTime", "time", NULL },
    { FOREIGN_KEY, "budget", "requests maxCalls", "calls", NULL },
    /* ---- bodies of steps */
    { FOREIGN_KEY, "gate", "question message prompt", "ask", NULL },
    { FOREIGN_KEY, "gate", "options choices",
                           "schema", "the answers to choose from: schema: { enum: [approve, reject] }" },
    { FOREIGN_KEY, "forum", "agents participants", "members", NULL },
    { FOREIGN_KEY, "forum", "moderator manager", "captain", NULL },
    { FOREIGN_KEY, "forum", "maxRounds", "rounds", NULL },
    { FOREIGN_KEY, "parallel", "branches", "steps", NULL },
    { FOREIGN_KEY, "parallel", "failureMode", "mode", NULL },
    { FOREIGN_KEY, "machine", "initial entry entryPoint", "start", NULL },
    { FOREIGN_KEY, "machine", "nodes", "states", NULL },
    { FOREIGN_KEY, "machine", "transitions", "edges", NULL },
    { FOREIGN_KEY, "machine", "maxIterations", "maxSteps", NULL },
    { FOREIGN_KEY, "edge", "source", "from", NULL },
    { FOREIGN_KEY, "edge", "target", "to", NULL },
    { FOREIGN_KEY, "edge", "if condition", "when", NULL },
    { FOREIGN_KEY, "case", "if", "when", NULL },
    { FOREIGN_KEY, "else", "default", "else", NULL },
    { FOREIGN_KEY, "review", "reviewer", "agent", NULL },
    { FOREIGN_KEY, "stall", "threshold window count", "repeats", NULL },
    { FOREIGN_KEY, "stall", "paths watch", "files", NULL },
    /* ---- agents */
    { FOREIGN_KEY, "agent", "agentClass", NULL, KINDS_OF_AGENTS },
    { FOREIGN_KEY, "agent", "type kind", NULL, "an agent is what it has: model, run, script, workflow or function" },
    { FOREIGN_KEY, "agent", "provider", "model", "it stands before the model: model: anthropic/claude-sonnet-4-6" },
    { FOREIGN_KEY, "agent", "subAgents handoffs agents delegates", "workers", NULL },
    { FOREIGN_KEY, "agent", "role goal backstory persona", "prompt", NULL },
    { FOREIGN_KEY, NULL, "system", "prompt", NULL },
    { FOREIGN_KEY, "agent", "systemPrompt systemMessage instruction", "prompt", NULL },
    { FOREIGN_KEY, NULL, "instructions", "prompt", NULL },
    { FOREIGN_KEY, "agent", "maxIterations maxIter maxSteps", "maxTurns", NULL },
    { FOREIGN_KEY, "agent", "thinking reasoningEffort", "effort", NULL },
    { FOREIGN_KEY, "agent", "outputSchema outputFormat outputType responseFormat schema output", "resultSchema", NULL },
    { FOREIGN_KEY, "agent", "allowedTools toolsets", "tools", NULL },
    { FOREIGN_KEY, "agent", "deniedTools excludedTools", "disallowedTools", NULL },
    { FOREIGN_KEY, "agent", "llm", "model", NULL },
    { FOREIGN_KEY, "agent", "environment envs", "env", NULL },
    { FOREIGN_KEY, NULL, "workdir workingDir workingDirectory dir", "cwd", NULL },
    { FOREIGN_KEY, "agent", "input", "inputSchema", NULL },
    /* ---- steps, and what stands in several places */
    { FOREIGN_KEY, "step", "type kind", NULL, KINDS_OF_STEPS },
    { FOREIGN_KEY, "step", "triggerRule", "runOn", NULL },
    { FOREIGN_KEY, "step", "onFailure onError", "runOn", "a step that runs after a failure has `runOn: failure`" },
    { FOREIGN_KEY, "step", "continueOnError continueOn", "runOn", AFTER_FAILURES },
    { FOREIGN_KEY, "step", "retryStrategy retryPolicy", "retry", NULL },
    { FOREIGN_KEY, "step", "skipIf unless", "condition", "the step is skipped unless this holds: condition: '!(...)'" },
    { FOREIGN_KEY, "step", "next", "dependsOn", AN_ORDER },
    { FOREIGN_KEY, "step", "goto", "machine", "steps that lead back are a `loop` or `machine`" },
    { FOREIGN_KEY, "step", "routes", "machine", "`branch` chooses; steps that lead back are a `loop` or `machine`" },
    { FOREIGN_KEY, "step", "name", "id", NULL },
    { FOREIGN_KEY, NULL, "if when runIf onlyIf preconditions", "condition", NULL },
    { FOREIGN_KEY, NULL, "needs after depends dependencies requires waitFor", "dependsOn", NULL },
    { FOREIGN_KEY, NULL, "task prompt instruction message", "instructions", NULL },
    { FOREIGN_KEY, NULL, "command cmd shell bash sh exec", "run", NULL },
    { FOREIGN_KEY, "step", "script", "run", NULL },
    { FOREIGN_KEY, NULL, "command cmd shell bash", "agent", A_COMMAND },
    { FOREIGN_KEY, NULL, "repeat", "loop", NULL },
    { FOREIGN_KEY, NULL, "foreach map withItems", "loop", "loop: { forEach: ... }" },
    { FOREIGN_KEY, NULL, "maxIterations", "loop", "loop: { maxIterations: ... }" },
    { FOREIGN_KEY, NULL, "untilBash", "loop", "in `loop`: " LOOP_OF_A_CHECK },
    { FOREIGN_KEY, NULL, "tasks jobs nodes stages phases subAgents children sequence", "steps", NULL },
    { FOREIGN_KEY, NULL, "switch choose cases conditional", "branch", NULL },
    { FOREIGN_KEY, NULL, "approval humanGate human humanInput interactive", "gate", NULL },
    { FOREIGN_KEY, NULL, "subWorkflow workflow uses", "include", NULL },
    { FOREIGN_KEY, NULL, "timeoutSeconds timeoutMinutes timeoutMs maxTime", "timeout", NULL },
    { FOREIGN_KEY, NULL, "params parameters variables vars arguments input", "inputs", NULL },
    { FOREIGN_KEY, NULL, "inputs input args params", "with", NULL },
    { FOREIGN_KEY, NULL, "maxCost maxBudgetUsd costLimit", "budget", "budget: { cost: ... }" },
    { FOREIGN_KEY, NULL, "tokenBudget tokenLimit", "budget", "budget: { tokens: ... }" },

    /* ---- words that keys can have */
    { FOREIGN_VALUE, "onMaxIterations", "throw error", "fail", NULL },
    { FOREIGN_VALUE, "onMaxIterations", "returnWithFlag", "flag", NULL },
    { FOREIGN_VALUE, "onMaxIterations", "continue stop", "returnLast", NULL },
    { FOREIGN_VALUE, "outputMode", "lastIteration", "last", NULL },
    { FOREIGN_VALUE, "outputMode", "finalTaskOnly", "finalStep", NULL },
    { FOREIGN_VALUE, "outputMode", "allIterations all", "cumulative", NULL },
    { FOREIGN_VALUE, "memoryMode", "freshPerIteration", "fresh", NULL },
    { FOREIGN_VALUE, "action", "terminate break", "stop", NULL },
    { FOREIGN_VALUE, "action", "warn", "nudge", NULL },
    { FOREIGN_VALUE, "action", "error", "fail", NULL },
    { FOREIGN_VALUE, "mode", "allOrNothing", "failFast", NULL },
    { FOREIGN_VALUE, "mode", "continueOnError all allSettled", "collect", NULL },
    { FOREIGN_VALUE, "onStepFailure", "fail stop", "abort", NULL },
    { FOREIGN_VALUE, "onStepFailure", "continue", "skip-dependents", NULL },
    { FOREIGN_VALUE, "onError", "ignore skip", "continue", NULL },
    { FOREIGN_VALUE, "onError", "stop abort", "fail", NULL },
    { FOREIGN_VALUE, "onItemFailure", "skip ignore", "continue", NULL },
    { FOREIGN_VALUE, "onItemFailure", "fail", "stop", NULL },
    { FOREIGN_VALUE, "runOn", "allSuccess", "success", NULL },
    { FOREIGN_VALUE, "runOn", "allDone", "always", NULL },
    { FOREIGN_VALUE, "runOn", "oneFailed failed error", "failure", NULL },
    { FOREIGN_VALUE, "order", "sequential serial", "sequence", NULL },
    { FOREIGN_VALUE, "order", "dag parallel", "graph", NULL },

    /* ---- what becomes of a step */
    { FOREIGN_STATUS, NULL, "success succeeded successful passed pass ok done complete finished", "completed", NULL },
    { FOREIGN_STATUS, NULL, "fail failure error errored timeout timedOut", "failed", NULL },
    { FOREIGN_STATUS, NULL, "skip", "skipped", NULL },
    { FOREIGN_STATUS, NULL, "aborted stopped", "cancelled", NULL },

    /* ---- expressions */
    { FOREIGN_NAME, NULL, "iterations pass attempt", "iteration", NULL },
    { FOREIGN_NAME, NULL, "output", "content", NULL },
    { FOREIGN_NAME, NULL, "nodes tasks jobs outputs", "steps", NULL },
    { FOREIGN_NAME, NULL, "params parameters args vars variables", "inputs", NULL },
    { FOREIGN_NAME, NULL, "context ctx", "state", NULL },
    { FOREIGN_FIELD, NULL, "output", "content", NULL },
    { FOREIGN_FIELD, NULL, "outputs", "result", NULL },
    { FOREIGN_FIELD, NULL, "text stdout", "content", NULL },
    { FOREIGN_FIELD, NULL, "stderr", "error", NULL },
    { FOREIGN_FIELD, NULL, "data json", "result", NULL },
    { FOREIGN_FIELD, NULL, "outcome conclusion state", "status", NULL },
    { FOREIGN_FIELD, NULL, "success", "status", "status == 'completed'" },
    { FOREIGN_FIELD, NULL, "exitCode exitStatus returnCode", "status", AN_EXIT_STATUS },
    { FOREIGN_FUNCTION, NULL, "len length count", "size", NULL },
    { FOREIGN_FUNCTION, NULL, "includes", "contains", NULL },
    { FOREIGN_FUNCTION, NULL, "lower toLowerCase", "lowerAscii", NULL },
    { FOREIGN_FUNCTION, NULL, "upper toUpperCase", "upperAscii", NULL },
    { FOREIGN_FUNCTION, NULL, "strip", "trim", NULL },
    { FOREIGN_FUNCTION, NULL, "str", "string", NULL },
    { FOREIGN_FUNCTION, NULL, "float", "double", NULL },
    { FOREIGN_FUNCTION, NULL, "fromJson", "json", NULL },
    { FOREIGN_WORD, NULL, "and", "&&", NULL },
    { FOREIGN_WORD, NULL, "or", "||", NULL },
    { FOREIGN_WORD, NULL, "not", "!", NULL },
    { FOREIGN_WORD, NULL, "is eq equals", "==", NULL },
    { FOREIGN_WORD, NULL, "ne", "!=", NULL },
    { FOREIGN_WORD, NULL, "none nil undefined", "null", NULL },
    { FOREIGN_WORD, NULL, "yes true", "true", NULL },
    { FOREIGN_WORD, NULL, "false", "false", NULL },
    { FOREIGN_WORD, NULL, "loop", NULL, "`iteration` counts the passes of a loop, from 0" },
    { FOREIGN_WORD, NULL, "contains", NULL, "it is a call: content.contains('DONE')" },
    { FOREIGN_WORD, NULL, "matches", NULL, "it is a call: content.matches('^DONE')" },
    { FOREIGN_WORD, NULL, "startsWith", NULL, "it is a call: content.startsWith('DONE')" },
    { FOREIGN_WORD, NULL, "endsWith", NULL, "it is a call: content.endsWith('DONE')" },
};

/* clang-format on */

const struct foreign *foreign_rows(size_t *ret_count)
{
    *ret_count = COUNT(rows);
    return rows;
}

static bool is_same(const char *theirs, size_t their_len, const char *word, size_t len)
{
    const char *end = theirs + their_len;
    for (size_t i = 0; i < len; i++) {
        if (word[i] == '_' || word[i] == '-')
            continue;
        if (theirs == end || tolower((unsigned char)*theirs) != tolower((unsigned char)word[i]))
            return false;
        theirs++;
    }
    return theirs == end;
}

static bool has_word(const struct foreign *row, const char *word, size_t len)
{
    for (const char *at = row->words; *at; at += strspn(at, " ")) {
        size_t one = strcspn(at, " ");
        if (is_same(at, one, word, len))
            return true;
        at += one;
    }
    return false;
}

static bool is_of(const struct foreign *row, enum foreign_sort sort, const char *of)
{
    return row->sort == sort && (!row->of || (of && strcmp(row->of, of) == 0));
}

/* Cases and bodies have the keys of steps. */
static bool is_key_of(const struct foreign *row, const struct fields *table)
{
    return is_of(row, FOREIGN_KEY, table->name) ||
           (table->list == step_fields.list && is_of(row, FOREIGN_KEY, step_fields.name));
}

/* What v1 lacks is no advice there. */
static bool is_advice(const struct foreign *row, const struct fields *table, uint8_t dialect)
{
    return row->ours ? fields_find(table, row->ours, dialect) != NULL : dialect == IN_RONDO;
}

const struct foreign *foreign_key(const struct fields *table, const char *key, uint8_t dialect)
{
    size_t len = strlen(key);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (is_key_of(&rows[i], table) && has_word(&rows[i], key, len) && is_advice(&rows[i], table, dialect))
            return &rows[i];
    return NULL;
}

const struct foreign *foreign_word(enum foreign_sort sort, const char *of, const char *word, size_t len)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (is_of(&rows[i], sort, of) && has_word(&rows[i], word, len))
            return &rows[i];
    return NULL;
}
