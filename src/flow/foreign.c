/* foreign.c - see foreign.h.

   The names come from workflow files of GitHub Actions, Argo, Airflow, Dagu, Archon, Conductor, Mastra, docker agent
   and CrewAI, from the loops of ADK, AgentEnsemble and Agents.KT, and from Python, JavaScript, Jinja and the shell.

   Of several rows for a word the first counts whose key the table has.  So a row for one table comes before those for
   any, and a command is `run` where that is a key, else an agent. */
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
    { FOREIGN_KEY, "workflow", "on", NULL, "nothing starts a run by itself: that is what `rondo run FILE` does" },
    { FOREIGN_KEY, "workflow", "triggers", NULL, "nothing starts a run by itself: that is what `rondo run FILE` does" },
    { FOREIGN_KEY, "workflow", "env", NULL, "variables are those of an agent: agents: { NAME: { env: ... } }" },
    { FOREIGN_KEY, "workflow", "limits", "budget", NULL },
    { FOREIGN_KEY, "workflow", "mcp", "mcpServers", NULL },
    { FOREIGN_KEY, "workflow", "outputs", "output", NULL },
    { FOREIGN_KEY, "workflow", "result", "output", NULL },
    { FOREIGN_KEY, "workflow", "crew", "agents", NULL },
    /* ---- loops */
    { FOREIGN_KEY, "loop", "untilBash", "until", LOOP_OF_A_CHECK },
    { FOREIGN_KEY, "loop", "untilCommand", "until", LOOP_OF_A_CHECK },
    { FOREIGN_KEY, "loop", "check", "until", LOOP_OF_A_CHECK },
    { FOREIGN_KEY, "loop", "completionPromise", "until", A_PROMISE },
    { FOREIGN_KEY, "loop", "promise", "until", A_PROMISE },
    { FOREIGN_KEY, "loop", "freshContext", "feedback", A_NEW_CALL },
    { FOREIGN_KEY, "loop", "fresh", "feedback", A_NEW_CALL },
    { FOREIGN_KEY, "loop", "type", NULL, "`forEach` goes through a list; `until`, `while` and `maxIterations` repeat" },
    { FOREIGN_KEY, "loop", "iterations", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "times", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "count", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "limit", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "max", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "maxIter", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "maxIters", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "maxPasses", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "maxLoops", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "maxRounds", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "maxRuns", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "maxTurns", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "maxAttempts", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "loopCount", "maxIterations", NULL },
    { FOREIGN_KEY, "loop", "stopWhen", "until", NULL },
    { FOREIGN_KEY, "loop", "stopIf", "until", NULL },
    { FOREIGN_KEY, "loop", "stopCondition", "until", NULL },
    { FOREIGN_KEY, "loop", "exitWhen", "until", NULL },
    { FOREIGN_KEY, "loop", "exitCondition", "until", NULL },
    { FOREIGN_KEY, "loop", "exitIf", "until", NULL },
    { FOREIGN_KEY, "loop", "breakIf", "until", NULL },
    { FOREIGN_KEY, "loop", "breakOn", "until", NULL },
    { FOREIGN_KEY, "loop", "breakWhen", "until", NULL },
    { FOREIGN_KEY, "loop", "breakCondition", "until", NULL },
    { FOREIGN_KEY, "loop", "doneWhen", "until", NULL },
    { FOREIGN_KEY, "loop", "doUntil", "until", NULL },
    { FOREIGN_KEY, "loop", "repeatUntil", "until", NULL },
    { FOREIGN_KEY, "loop", "predicate", "until", NULL },
    { FOREIGN_KEY, "loop", "condition", "while", NULL },
    { FOREIGN_KEY, "loop", "doWhile", "while", NULL },
    { FOREIGN_KEY, "loop", "continueIf", "while", NULL },
    { FOREIGN_KEY, "loop", "continueWhile", "while", NULL },
    { FOREIGN_KEY, "loop", "items", "forEach", NULL },
    { FOREIGN_KEY, "loop", "over", "forEach", NULL },
    { FOREIGN_KEY, "loop", "in", "forEach", NULL },
    { FOREIGN_KEY, "loop", "withItems", "forEach", NULL },
    { FOREIGN_KEY, "loop", "source", "forEach", NULL },
    { FOREIGN_KEY, "loop", "maxParallel", "maxConcurrency", NULL },
    { FOREIGN_KEY, "loop", "maxWorkers", "maxConcurrency", NULL },
    { FOREIGN_KEY, "loop", "concurrency", "maxConcurrency", NULL },
    { FOREIGN_KEY, "loop", "parallelism", "maxConcurrency", NULL },
    { FOREIGN_KEY, "loop", "judge", "untilAgent", NULL },
    { FOREIGN_KEY, "loop", "evaluator", "untilAgent", NULL },
    { FOREIGN_KEY, "loop", "validator", "untilAgent", NULL },
    { FOREIGN_KEY, "loop", "injectFeedback", "feedback", NULL },
    { FOREIGN_KEY, "loop", "memory", "memoryMode", "did you mean `memoryMode`? `memory` is a key of agents" },
    { FOREIGN_KEY, "loop", "memoryWindowSize", "memoryWindow", NULL },
    { FOREIGN_KEY, "loop", "maxIterationsAction", "onMaxIterations", NULL },
    { FOREIGN_KEY, "loop", "loopDetection", "stall", NULL },
    { FOREIGN_KEY, "loop", "interval", "delay", NULL },
    { FOREIGN_KEY, "loop", "wait", "delay", NULL },
    { FOREIGN_KEY, "loop", "sleep", "delay", NULL },
    { FOREIGN_KEY, "loop", "continueOnError", "onError", NULL },
    { FOREIGN_KEY, "loop", "do", "steps", NULL },
    { FOREIGN_KEY, "loop", "body", "steps", NULL },
    /* ---- further tries */
    { FOREIGN_KEY, "retry", "limit", "attempts", NULL },
    { FOREIGN_KEY, "retry", "count", "attempts", NULL },
    { FOREIGN_KEY, "retry", "max", "attempts", NULL },
    { FOREIGN_KEY, "retry", "tries", "attempts", NULL },
    { FOREIGN_KEY, "retry", "maxAttempts", "attempts", NULL },
    { FOREIGN_KEY, "retry", "maxRetries", "attempts", NULL },
    { FOREIGN_KEY, "retry", "backoff", "factor", NULL },
    { FOREIGN_KEY, "retry", "backoffRate", "factor", NULL },
    { FOREIGN_KEY, "retry", "multiplier", "factor", NULL },
    { FOREIGN_KEY, "retry", "interval", "delay", NULL },
    { FOREIGN_KEY, "retry", "initialDelay", "delay", NULL },
    { FOREIGN_KEY, "retry", "initialInterval", "delay", NULL },
    { FOREIGN_KEY, "retry", "maxInterval", "maxDelay", NULL },
    { FOREIGN_KEY, "retry", "when", "on", NULL },
    { FOREIGN_KEY, "retry", "if", "on", NULL },
    { FOREIGN_KEY, "retry", "retryOn", "on", NULL },
    /* ---- budgets */
    { FOREIGN_KEY, "budget", "usd", "cost", NULL },
    { FOREIGN_KEY, "budget", "dollars", "cost", NULL },
    { FOREIGN_KEY, "budget", "money", "cost", NULL },
    { FOREIGN_KEY, "budget", "maxCost", "cost", NULL },
    { FOREIGN_KEY, "budget", "maxUsd", "cost", NULL },
    { FOREIGN_KEY, "budget", "maxTokens", "tokens", NULL },
    { FOREIGN_KEY, "budget", "duration", "time", NULL },
    { FOREIGN_KEY, "budget", "timeout", "time", NULL },
    { FOREIGN_KEY, "budget", "maxTime", "time", NULL },
    { FOREIGN_KEY, "budget", "requests", "calls", NULL },
    { FOREIGN_KEY, "budget", "maxCalls", "calls", NULL },
    /* ---- bodies of steps */
    { FOREIGN_KEY, "gate", "question", "ask", NULL },
    { FOREIGN_KEY, "gate", "message", "ask", NULL },
    { FOREIGN_KEY, "gate", "prompt", "ask", NULL },
    { FOREIGN_KEY, "gate", "options", "schema", "the answers to choose from: schema: { enum: [approve, reject] }" },
    { FOREIGN_KEY, "gate", "choices", "schema", "the answers to choose from: schema: { enum: [approve, reject] }" },
    { FOREIGN_KEY, "forum", "agents", "members", NULL },
    { FOREIGN_KEY, "forum", "participants", "members", NULL },
    { FOREIGN_KEY, "forum", "moderator", "captain", NULL },
    { FOREIGN_KEY, "forum", "manager", "captain", NULL },
    { FOREIGN_KEY, "forum", "maxRounds", "rounds", NULL },
    { FOREIGN_KEY, "parallel", "branches", "steps", NULL },
    { FOREIGN_KEY, "parallel", "failureMode", "mode", NULL },
    { FOREIGN_KEY, "machine", "initial", "start", NULL },
    { FOREIGN_KEY, "machine", "entry", "start", NULL },
    { FOREIGN_KEY, "machine", "entryPoint", "start", NULL },
    { FOREIGN_KEY, "machine", "nodes", "states", NULL },
    { FOREIGN_KEY, "machine", "transitions", "edges", NULL },
    { FOREIGN_KEY, "machine", "maxIterations", "maxSteps", NULL },
    { FOREIGN_KEY, "edge", "source", "from", NULL },
    { FOREIGN_KEY, "edge", "target", "to", NULL },
    { FOREIGN_KEY, "edge", "if", "when", NULL },
    { FOREIGN_KEY, "edge", "condition", "when", NULL },
    { FOREIGN_KEY, "case", "if", "when", NULL },
    { FOREIGN_KEY, "else", "default", "else", NULL },
    { FOREIGN_KEY, "review", "reviewer", "agent", NULL },
    { FOREIGN_KEY, "stall", "threshold", "repeats", NULL },
    { FOREIGN_KEY, "stall", "window", "repeats", NULL },
    { FOREIGN_KEY, "stall", "count", "repeats", NULL },
    { FOREIGN_KEY, "stall", "paths", "files", NULL },
    { FOREIGN_KEY, "stall", "watch", "files", NULL },
    /* ---- agents */
    { FOREIGN_KEY, "agent", "agentClass", NULL, KINDS_OF_AGENTS },
    { FOREIGN_KEY, "agent", "type", NULL, "an agent is what it has: model, run, script, workflow or function" },
    { FOREIGN_KEY, "agent", "kind", NULL, "an agent is what it has: model, run, script, workflow or function" },
    { FOREIGN_KEY, "agent", "provider", "model", "it stands before the model: model: anthropic/claude-sonnet-4-6" },
    { FOREIGN_KEY, "agent", "subAgents", "workers", NULL },
    { FOREIGN_KEY, "agent", "handoffs", "workers", NULL },
    { FOREIGN_KEY, "agent", "agents", "workers", NULL },
    { FOREIGN_KEY, "agent", "delegates", "workers", NULL },
    { FOREIGN_KEY, "agent", "role", "prompt", NULL },
    { FOREIGN_KEY, "agent", "goal", "prompt", NULL },
    { FOREIGN_KEY, "agent", "backstory", "prompt", NULL },
    { FOREIGN_KEY, "agent", "persona", "prompt", NULL },
    { FOREIGN_KEY, NULL, "system", "prompt", NULL },
    { FOREIGN_KEY, "agent", "systemPrompt", "prompt", NULL },
    { FOREIGN_KEY, "agent", "systemMessage", "prompt", NULL },
    { FOREIGN_KEY, "agent", "instruction", "prompt", NULL },
    { FOREIGN_KEY, NULL, "instructions", "prompt", NULL },
    { FOREIGN_KEY, "agent", "maxIterations", "maxTurns", NULL },
    { FOREIGN_KEY, "agent", "maxIter", "maxTurns", NULL },
    { FOREIGN_KEY, "agent", "maxSteps", "maxTurns", NULL },
    { FOREIGN_KEY, "agent", "thinking", "effort", NULL },
    { FOREIGN_KEY, "agent", "reasoningEffort", "effort", NULL },
    { FOREIGN_KEY, "agent", "outputSchema", "resultSchema", NULL },
    { FOREIGN_KEY, "agent", "outputFormat", "resultSchema", NULL },
    { FOREIGN_KEY, "agent", "outputType", "resultSchema", NULL },
    { FOREIGN_KEY, "agent", "responseFormat", "resultSchema", NULL },
    { FOREIGN_KEY, "agent", "schema", "resultSchema", NULL },
    { FOREIGN_KEY, "agent", "output", "resultSchema", NULL },
    { FOREIGN_KEY, "agent", "allowedTools", "tools", NULL },
    { FOREIGN_KEY, "agent", "toolsets", "tools", NULL },
    { FOREIGN_KEY, "agent", "deniedTools", "disallowedTools", NULL },
    { FOREIGN_KEY, "agent", "excludedTools", "disallowedTools", NULL },
    { FOREIGN_KEY, "agent", "llm", "model", NULL },
    { FOREIGN_KEY, "agent", "environment", "env", NULL },
    { FOREIGN_KEY, "agent", "envs", "env", NULL },
    { FOREIGN_KEY, NULL, "workdir", "cwd", NULL },
    { FOREIGN_KEY, NULL, "workingDir", "cwd", NULL },
    { FOREIGN_KEY, NULL, "workingDirectory", "cwd", NULL },
    { FOREIGN_KEY, NULL, "dir", "cwd", NULL },
    { FOREIGN_KEY, "agent", "input", "inputSchema", NULL },
    /* ---- steps, and what stands in several places */
    { FOREIGN_KEY, "step", "type", NULL, KINDS_OF_STEPS },
    { FOREIGN_KEY, "step", "kind", NULL, KINDS_OF_STEPS },
    { FOREIGN_KEY, "step", "triggerRule", "runOn", NULL },
    { FOREIGN_KEY, "step", "onFailure", "runOn", "a step that runs after a failure has `runOn: failure`" },
    { FOREIGN_KEY, "step", "onError", "runOn", "a step that runs after a failure has `runOn: failure`" },
    { FOREIGN_KEY, "step", "continueOnError", "runOn", AFTER_FAILURES },
    { FOREIGN_KEY, "step", "continueOn", "runOn", AFTER_FAILURES },
    { FOREIGN_KEY, "step", "retryStrategy", "retry", NULL },
    { FOREIGN_KEY, "step", "retryPolicy", "retry", NULL },
    { FOREIGN_KEY, "step", "skipIf", "condition", "the step is skipped unless this holds: condition: '!(...)'" },
    { FOREIGN_KEY, "step", "unless", "condition", "the step is skipped unless this holds: condition: '!(...)'" },
    { FOREIGN_KEY, "step", "next", "dependsOn", AN_ORDER },
    { FOREIGN_KEY, "step", "goto", "machine", "steps that lead back are a `loop` or `machine`" },
    { FOREIGN_KEY, "step", "routes", "machine", "`branch` chooses; steps that lead back are a `loop` or `machine`" },
    { FOREIGN_KEY, "step", "name", "id", NULL },
    { FOREIGN_KEY, NULL, "if", "condition", NULL },
    { FOREIGN_KEY, NULL, "when", "condition", NULL },
    { FOREIGN_KEY, NULL, "runIf", "condition", NULL },
    { FOREIGN_KEY, NULL, "onlyIf", "condition", NULL },
    { FOREIGN_KEY, NULL, "preconditions", "condition", NULL },
    { FOREIGN_KEY, NULL, "needs", "dependsOn", NULL },
    { FOREIGN_KEY, NULL, "after", "dependsOn", NULL },
    { FOREIGN_KEY, NULL, "depends", "dependsOn", NULL },
    { FOREIGN_KEY, NULL, "dependencies", "dependsOn", NULL },
    { FOREIGN_KEY, NULL, "requires", "dependsOn", NULL },
    { FOREIGN_KEY, NULL, "waitFor", "dependsOn", NULL },
    { FOREIGN_KEY, NULL, "task", "instructions", NULL },
    { FOREIGN_KEY, NULL, "prompt", "instructions", NULL },
    { FOREIGN_KEY, NULL, "instruction", "instructions", NULL },
    { FOREIGN_KEY, NULL, "message", "instructions", NULL },
    { FOREIGN_KEY, NULL, "command", "run", NULL },
    { FOREIGN_KEY, NULL, "cmd", "run", NULL },
    { FOREIGN_KEY, NULL, "shell", "run", NULL },
    { FOREIGN_KEY, NULL, "bash", "run", NULL },
    { FOREIGN_KEY, NULL, "sh", "run", NULL },
    { FOREIGN_KEY, NULL, "exec", "run", NULL },
    { FOREIGN_KEY, "step", "script", "run", NULL },
    { FOREIGN_KEY, NULL, "command", "agent", A_COMMAND },
    { FOREIGN_KEY, NULL, "cmd", "agent", A_COMMAND },
    { FOREIGN_KEY, NULL, "shell", "agent", A_COMMAND },
    { FOREIGN_KEY, NULL, "bash", "agent", A_COMMAND },
    { FOREIGN_KEY, NULL, "repeat", "loop", NULL },
    { FOREIGN_KEY, NULL, "foreach", "loop", "loop: { forEach: ... }" },
    { FOREIGN_KEY, NULL, "map", "loop", "loop: { forEach: ... }" },
    { FOREIGN_KEY, NULL, "withItems", "loop", "loop: { forEach: ... }" },
    { FOREIGN_KEY, NULL, "maxIterations", "loop", "loop: { maxIterations: ... }" },
    { FOREIGN_KEY, NULL, "untilBash", "loop", "in `loop`: " LOOP_OF_A_CHECK },
    { FOREIGN_KEY, NULL, "tasks", "steps", NULL },
    { FOREIGN_KEY, NULL, "jobs", "steps", NULL },
    { FOREIGN_KEY, NULL, "nodes", "steps", NULL },
    { FOREIGN_KEY, NULL, "stages", "steps", NULL },
    { FOREIGN_KEY, NULL, "phases", "steps", NULL },
    { FOREIGN_KEY, NULL, "subAgents", "steps", NULL },
    { FOREIGN_KEY, NULL, "children", "steps", NULL },
    { FOREIGN_KEY, NULL, "sequence", "steps", NULL },
    { FOREIGN_KEY, NULL, "switch", "branch", NULL },
    { FOREIGN_KEY, NULL, "choose", "branch", NULL },
    { FOREIGN_KEY, NULL, "cases", "branch", NULL },
    { FOREIGN_KEY, NULL, "conditional", "branch", NULL },
    { FOREIGN_KEY, NULL, "approval", "gate", NULL },
    { FOREIGN_KEY, NULL, "humanGate", "gate", NULL },
    { FOREIGN_KEY, NULL, "human", "gate", NULL },
    { FOREIGN_KEY, NULL, "humanInput", "gate", NULL },
    { FOREIGN_KEY, NULL, "interactive", "gate", NULL },
    { FOREIGN_KEY, NULL, "subWorkflow", "include", NULL },
    { FOREIGN_KEY, NULL, "workflow", "include", NULL },
    { FOREIGN_KEY, NULL, "uses", "include", NULL },
    { FOREIGN_KEY, NULL, "timeoutSeconds", "timeout", NULL },
    { FOREIGN_KEY, NULL, "timeoutMinutes", "timeout", NULL },
    { FOREIGN_KEY, NULL, "timeoutMs", "timeout", NULL },
    { FOREIGN_KEY, NULL, "maxTime", "timeout", NULL },
    { FOREIGN_KEY, NULL, "params", "inputs", NULL },
    { FOREIGN_KEY, NULL, "parameters", "inputs", NULL },
    { FOREIGN_KEY, NULL, "variables", "inputs", NULL },
    { FOREIGN_KEY, NULL, "vars", "inputs", NULL },
    { FOREIGN_KEY, NULL, "arguments", "inputs", NULL },
    { FOREIGN_KEY, NULL, "input", "inputs", NULL },
    { FOREIGN_KEY, NULL, "inputs", "with", NULL },
    { FOREIGN_KEY, NULL, "input", "with", NULL },
    { FOREIGN_KEY, NULL, "args", "with", NULL },
    { FOREIGN_KEY, NULL, "params", "with", NULL },
    { FOREIGN_KEY, NULL, "maxCost", "budget", "budget: { cost: ... }" },
    { FOREIGN_KEY, NULL, "maxBudgetUsd", "budget", "budget: { cost: ... }" },
    { FOREIGN_KEY, NULL, "costLimit", "budget", "budget: { cost: ... }" },
    { FOREIGN_KEY, NULL, "tokenBudget", "budget", "budget: { tokens: ... }" },
    { FOREIGN_KEY, NULL, "tokenLimit", "budget", "budget: { tokens: ... }" },

    /* ---- words that keys can have */
    { FOREIGN_VALUE, "onMaxIterations", "throw", "fail", NULL },
    { FOREIGN_VALUE, "onMaxIterations", "error", "fail", NULL },
    { FOREIGN_VALUE, "onMaxIterations", "returnWithFlag", "flag", NULL },
    { FOREIGN_VALUE, "onMaxIterations", "continue", "returnLast", NULL },
    { FOREIGN_VALUE, "onMaxIterations", "stop", "returnLast", NULL },
    { FOREIGN_VALUE, "outputMode", "lastIteration", "last", NULL },
    { FOREIGN_VALUE, "outputMode", "finalTaskOnly", "finalStep", NULL },
    { FOREIGN_VALUE, "outputMode", "allIterations", "cumulative", NULL },
    { FOREIGN_VALUE, "outputMode", "all", "cumulative", NULL },
    { FOREIGN_VALUE, "memoryMode", "freshPerIteration", "fresh", NULL },
    { FOREIGN_VALUE, "action", "terminate", "stop", NULL },
    { FOREIGN_VALUE, "action", "break", "stop", NULL },
    { FOREIGN_VALUE, "action", "warn", "nudge", NULL },
    { FOREIGN_VALUE, "action", "error", "fail", NULL },
    { FOREIGN_VALUE, "mode", "allOrNothing", "failFast", NULL },
    { FOREIGN_VALUE, "mode", "continueOnError", "collect", NULL },
    { FOREIGN_VALUE, "mode", "all", "collect", NULL },
    { FOREIGN_VALUE, "mode", "allSettled", "collect", NULL },
    { FOREIGN_VALUE, "onStepFailure", "fail", "abort", NULL },
    { FOREIGN_VALUE, "onStepFailure", "stop", "abort", NULL },
    { FOREIGN_VALUE, "onStepFailure", "continue", "skip-dependents", NULL },
    { FOREIGN_VALUE, "onError", "ignore", "continue", NULL },
    { FOREIGN_VALUE, "onError", "skip", "continue", NULL },
    { FOREIGN_VALUE, "onError", "stop", "fail", NULL },
    { FOREIGN_VALUE, "onError", "abort", "fail", NULL },
    { FOREIGN_VALUE, "onItemFailure", "skip", "continue", NULL },
    { FOREIGN_VALUE, "onItemFailure", "ignore", "continue", NULL },
    { FOREIGN_VALUE, "onItemFailure", "fail", "stop", NULL },
    { FOREIGN_VALUE, "runOn", "allSuccess", "success", NULL },
    { FOREIGN_VALUE, "runOn", "allDone", "always", NULL },
    { FOREIGN_VALUE, "runOn", "oneFailed", "failure", NULL },
    { FOREIGN_VALUE, "runOn", "failed", "failure", NULL },
    { FOREIGN_VALUE, "runOn", "error", "failure", NULL },
    { FOREIGN_VALUE, "order", "sequential", "sequence", NULL },
    { FOREIGN_VALUE, "order", "serial", "sequence", NULL },
    { FOREIGN_VALUE, "order", "dag", "graph", NULL },
    { FOREIGN_VALUE, "order", "parallel", "graph", NULL },

    /* ---- what becomes of a step */
    { FOREIGN_STATUS, NULL, "success", "completed", NULL },
    { FOREIGN_STATUS, NULL, "succeeded", "completed", NULL },
    { FOREIGN_STATUS, NULL, "successful", "completed", NULL },
    { FOREIGN_STATUS, NULL, "passed", "completed", NULL },
    { FOREIGN_STATUS, NULL, "pass", "completed", NULL },
    { FOREIGN_STATUS, NULL, "ok", "completed", NULL },
    { FOREIGN_STATUS, NULL, "done", "completed", NULL },
    { FOREIGN_STATUS, NULL, "complete", "completed", NULL },
    { FOREIGN_STATUS, NULL, "finished", "completed", NULL },
    { FOREIGN_STATUS, NULL, "fail", "failed", NULL },
    { FOREIGN_STATUS, NULL, "failure", "failed", NULL },
    { FOREIGN_STATUS, NULL, "error", "failed", NULL },
    { FOREIGN_STATUS, NULL, "errored", "failed", NULL },
    { FOREIGN_STATUS, NULL, "timeout", "failed", NULL },
    { FOREIGN_STATUS, NULL, "timedOut", "failed", NULL },
    { FOREIGN_STATUS, NULL, "skip", "skipped", NULL },
    { FOREIGN_STATUS, NULL, "aborted", "cancelled", NULL },
    { FOREIGN_STATUS, NULL, "stopped", "cancelled", NULL },

    /* ---- expressions */
    { FOREIGN_NAME, NULL, "iterations", "iteration", NULL },
    { FOREIGN_NAME, NULL, "pass", "iteration", NULL },
    { FOREIGN_NAME, NULL, "attempt", "iteration", NULL },
    { FOREIGN_NAME, NULL, "output", "content", NULL },
    { FOREIGN_NAME, NULL, "nodes", "steps", NULL },
    { FOREIGN_NAME, NULL, "tasks", "steps", NULL },
    { FOREIGN_NAME, NULL, "jobs", "steps", NULL },
    { FOREIGN_NAME, NULL, "outputs", "steps", NULL },
    { FOREIGN_NAME, NULL, "params", "inputs", NULL },
    { FOREIGN_NAME, NULL, "parameters", "inputs", NULL },
    { FOREIGN_NAME, NULL, "args", "inputs", NULL },
    { FOREIGN_NAME, NULL, "vars", "inputs", NULL },
    { FOREIGN_NAME, NULL, "variables", "inputs", NULL },
    { FOREIGN_NAME, NULL, "context", "state", NULL },
    { FOREIGN_NAME, NULL, "ctx", "state", NULL },
    { FOREIGN_FIELD, NULL, "output", "content", NULL },
    { FOREIGN_FIELD, NULL, "outputs", "result", NULL },
    { FOREIGN_FIELD, NULL, "text", "content", NULL },
    { FOREIGN_FIELD, NULL, "stdout", "content", NULL },
    { FOREIGN_FIELD, NULL, "stderr", "error", NULL },
    { FOREIGN_FIELD, NULL, "data", "result", NULL },
    { FOREIGN_FIELD, NULL, "json", "result", NULL },
    { FOREIGN_FIELD, NULL, "outcome", "status", NULL },
    { FOREIGN_FIELD, NULL, "conclusion", "status", NULL },
    { FOREIGN_FIELD, NULL, "state", "status", NULL },
    { FOREIGN_FIELD, NULL, "success", "status", "status == 'completed'" },
    { FOREIGN_FIELD, NULL, "exitCode", "status", AN_EXIT_STATUS },
    { FOREIGN_FIELD, NULL, "exitStatus", "status", AN_EXIT_STATUS },
    { FOREIGN_FIELD, NULL, "returnCode", "status", AN_EXIT_STATUS },
    { FOREIGN_FUNCTION, NULL, "len", "size", NULL },
    { FOREIGN_FUNCTION, NULL, "length", "size", NULL },
    { FOREIGN_FUNCTION, NULL, "count", "size", NULL },
    { FOREIGN_FUNCTION, NULL, "includes", "contains", NULL },
    { FOREIGN_FUNCTION, NULL, "lower", "lowerAscii", NULL },
    { FOREIGN_FUNCTION, NULL, "toLowerCase", "lowerAscii", NULL },
    { FOREIGN_FUNCTION, NULL, "upper", "upperAscii", NULL },
    { FOREIGN_FUNCTION, NULL, "toUpperCase", "upperAscii", NULL },
    { FOREIGN_FUNCTION, NULL, "strip", "trim", NULL },
    { FOREIGN_FUNCTION, NULL, "str", "string", NULL },
    { FOREIGN_FUNCTION, NULL, "float", "double", NULL },
    { FOREIGN_FUNCTION, NULL, "fromJson", "json", NULL },
    { FOREIGN_WORD, NULL, "and", "&&", NULL },
    { FOREIGN_WORD, NULL, "or", "||", NULL },
    { FOREIGN_WORD, NULL, "not", "!", NULL },
    { FOREIGN_WORD, NULL, "is", "==", NULL },
    { FOREIGN_WORD, NULL, "eq", "==", NULL },
    { FOREIGN_WORD, NULL, "equals", "==", NULL },
    { FOREIGN_WORD, NULL, "ne", "!=", NULL },
    { FOREIGN_WORD, NULL, "none", "null", NULL },
    { FOREIGN_WORD, NULL, "nil", "null", NULL },
    { FOREIGN_WORD, NULL, "undefined", "null", NULL },
    { FOREIGN_WORD, NULL, "yes", "true", NULL },
    { FOREIGN_WORD, NULL, "true", "true", NULL },
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

static bool is_same(const char *ours, const char *word, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (word[i] == '_' || word[i] == '-')
            continue;
        if (tolower((unsigned char)*ours) != tolower((unsigned char)word[i]))
            return false;
        ours++;
    }
    return !*ours;
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
        if (is_key_of(&rows[i], table) && is_same(rows[i].word, key, len) && is_advice(&rows[i], table, dialect))
            return &rows[i];
    return NULL;
}

const struct foreign *foreign_word(enum foreign_sort sort, const char *of, const char *word, size_t len)
{
    for (size_t i = 0; i < COUNT(rows); i++)
        if (is_of(&rows[i], sort, of) && is_same(rows[i].word, word, len))
            return &rows[i];
    return NULL;
}
