/* rondo.h - the loop engine for agents.

   THE MODEL

   A *node* is a definition: an agent, or a composition of nodes (sequence, parallel, branch,
   forum, graph, loop, each, machine, gate).  Nodes are immutable, reference counted and know
   nothing of what happens at run time; one node may be used in many places and in many runs at
   once.  Any node nests in any other, loops in loops included.

   An *agent* is the leaf that does work.  In this library it is a C function: it gets a *task*,
   reads its input there, and finishes it exactly once, now or later, from any thread.

   A *run* carries a node out.  Everything that happens in it is an *event*; the list of events
   is the run.  Events are written to the journal before anybody sees them, and nothing that
   follows from an event is started before it was handed out: a caller who stops at an event
   stops before anything after it.  Every part of a run has one *path*, as "refine.0.writer" (pass
   0 of loop refine, step writer) or "each[3].verify" (item 3).

   An *engine* drives runs.  Pull its events with rondo_run_next(), which does the work meanwhile:

       rondo_run_start(engine, node, input, NULL, &run, &err);
       while ((event = rondo_run_next(run)))
           print(event);
       rondo_run_close(run);

   or live in a foreign event loop with rondo_engine_fd(), rondo_engine_timeout() and
   rondo_engine_poll().  rondo_call() does it all for "run this node to its end".

   A *loop* runs its body, then asks its stop rules in a fixed order, and ends for exactly one
   reason: break, until, judge, next, detectors, budget, cap.  The first pass always runs, unless
   `while_` says otherwise.  A rule that holds on the last allowed pass wins over the cap.

   CONVENTIONS

   Functions return 0 or a negative code and then fill in a rondo_error, which belongs to the
   caller and may be NULL.  Arguments are borrowed for the call unless the comment says *takes*.
   What is borrowed from a handle is valid until the next call on that handle.  Specs begin with
   their size (RONDO_LOOP and so on), and zero or NULL in a field means its default, so specs can
   grow without breaking programs.  Times are milliseconds unless the name says otherwise.

   NULL: handles, structs, texts and places for results (`ret`) must be there, with these exceptions:
   - What frees, closes or drops a reference takes NULL and does nothing.
   - Some functions return NULL for "there is none": rondo_node_find(), rondo_event_node(), rondo_run_history(),
     rondo_run_next().  So functions that read a node, a history or an event take NULL.  They give 0, "", false
     or NULL, and -1 for a pass; a number that names no child and no pass gives the same.
   - Where a value is given away or is an input, NULL counts as JSON null (but rondo_task_remember()
     refuses it).  The text of no value is NULL.
   - A function that needs a definition, a node or a workflow, reports NULL as an error, RONDO_EINVAL.  The node of
     no workflow is NULL.  A constructor without a spec reports it, too: its node holds the error.  Configs and
     options may be NULL, and so may texts for which a comment gives a meaning.

   An engine, its runs, tasks and contexts belong to the thread that polls the engine.  The
   exceptions, callable from any thread, are rondo_later_*(), rondo_engine_wake(),
   rondo_engine_signal() and rondo_engine_send().  Nodes may be shared by engines of different threads.

   Nothing here prints, exits, reads the environment or keeps global state; only commands of a
   workflow file are given the part of the environment that the file names.  When memory is
   exhausted the process ends (see rondo_on_exhausted()): the journal makes that safe. */
#ifndef RONDO_H
#define RONDO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define RONDO_API __attribute__((visibility("default")))
#define RONDO_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define RONDO_API
#define RONDO_PRINTF(fmt, args)
#endif

#define RONDO_VERSION 0x000100 /* major, minor, patch: a byte each */
RONDO_API const char *rondo_version(void); /* "0.1.0", of the library that is loaded */

/* A JSON value is jansson's json_t: programs that include <jansson.h> pass theirs straight in.
   A value that was handed over must not be changed any more; the engine copies nothing.  At most
   1024 lists and objects may be inside each other: deeper ones are refused with RONDO_ELIMIT, and as
   an output they fail the step. */
struct json_t;
typedef struct json_t rondo_value;

typedef struct rondo_engine rondo_engine;
typedef struct rondo_node rondo_node;
typedef struct rondo_run rondo_run;
typedef struct rondo_event rondo_event;
typedef struct rondo_task rondo_task;       /* one activation of an agent, while its function runs */
typedef struct rondo_context rondo_context; /* what a predicate, next, score or listener sees */
typedef struct rondo_history rondo_history; /* the passes of one loop */
typedef struct rondo_flow rondo_flow;       /* a workflow file */
typedef struct rondo_store rondo_store;     /* runs that outlive their process */

/* ---- errors --------------------------------------------------------------------------------- */

#define RONDO_ERRORS(X)                                                        \
    X(EINVAL, -1, "invalid argument or definition")                            \
    X(EPARSE, -2, "text could not be parsed")                                  \
    X(ESTATE, -3, "not possible in this state, or already finished")           \
    X(ENOTFOUND, -4, "no such thing")                                          \
    X(EFAILED, -5, "an agent or a rule failed")                                \
    X(ECANCELLED, -6, "cancelled")                                             \
    X(ETIME, -7, "timed out")                                                  \
    X(ELIMIT, -8, "a limit was reached")                                       \
    X(EBUDGET, -9, "a budget is used up")                                      \
    X(ESTALLED, -10, "a detector saw no progress")                             \
    X(ESCHEMA, -11, "a value does not fit its schema")                         \
    X(ESTORE, -12, "the journal could not be written or read")                 \
    X(EMISMATCH, -13, "the log belongs to another definition")                 \
    X(EUNKNOWN, -14, "a crash left the outcome of this work unknown")          \
    X(ERETRY, -15, "a temporary failure: trying again may help")               \
    X(EBUSY, -16, "another process drives this run")                           \
    X(EFINAL, -17, "a failure that trying again cannot change")                \
    X(EUNMET, -18, "what a loop was to reach does not hold")                   \
    X(EEXISTS, -19, "there is one of this id already")

enum rondo_code {
    RONDO_OK = 0,
#define RONDO_CODE(name, number, text) RONDO_##name = number,
    RONDO_ERRORS(RONDO_CODE)
#undef RONDO_CODE
};

/* What went wrong: a sentence that names what was expected and what was found, and the path of
   the node or step it is about ("" when there is none). */
typedef struct rondo_error {
    int code;
    int line, column; /* in a text, from 1; 0 when there is none */
    char path[120];
    char message[520];
} rondo_error;

RONDO_API const char *rondo_strerror(int code); /* static text for a code */

/* Called with the size in question when memory is exhausted, before the process ends.  Set it
   before the first engine; it is the only process-wide setting. */
RONDO_API void rondo_on_exhausted(void (*hook)(size_t size));

/* ---- values --------------------------------------------------------------------------------- */

/* A value from JSON text: new, the caller's.  NULL with err filled in (line and column too) if
   the text is not JSON. */
RONDO_API rondo_value *rondo_value_parse(const char *text, rondo_error *err);

/* Compact JSON text of a value, with sorted keys; free it with rondo_text_free().  A plain string
   comes with its quotes.  NULL for NULL. */
RONDO_API char *rondo_value_text(const rondo_value *value);
RONDO_API void rondo_text_free(char *text);
RONDO_API rondo_value *rondo_value_ref(rondo_value *value); /* one more reference; NULL is fine */
RONDO_API void rondo_value_unref(rondo_value *value);

/* ---- the questions a definition may ask ------------------------------------------------------ */

/* Callbacks are asked by the engine between events, never while replaying a log, and an answer
   that was acted upon is never asked again; so they need not be pure.  They get a context to read
   from, and the `user` pointer of their spec. */

/* > 0 yes, 0 no, < 0 the question failed (use rondo_context_fail() to say why). */
typedef int (*rondo_predicate)(rondo_context *context, void *user);

/* A new value, which is given away.  NULL or JSON null: nothing (for `next`: stop).  0, false and
   "" are values like any other. */
typedef rondo_value *(*rondo_producer)(rondo_context *context, void *user);

/* A number, higher is better; NaN: no score for this pass. */
typedef double (*rondo_scorer)(rondo_context *context, void *user);

typedef void (*rondo_listener)(rondo_context *context, void *user);

/* ---- options of every node ------------------------------------------------------------------- */

/* Tries of a node that fails.  attempts includes the first; 0 and 1 mean no retry.  The delay
   before try n is delay * factor^(n-1), at most max_delay, times a random 1 - jitter .. 1 + jitter
   that depends only on the run's seed and the path.  `on` may refuse a retry; it sees the failure
   as rondo_context_error(). */
typedef struct rondo_retry {
    int attempts;
    int64_t delay_ms;
    double factor;        /* 0 means 2 */
    int64_t max_delay_ms; /* 0 means 60,000, or delay_ms if that is more */
    double jitter;        /* 0 .. 1 */
    rondo_predicate on;
} rondo_retry;

/* Limits that end a node (it completes with what it has; a timeout makes it fail).  0 means no
   limit.  What tasks report with rondo_task_spend() counts, children and retries included: nothing starts in
   a node whose budget is used up, and it is not tried again.  What failed by itself stays a failure. */
typedef struct rondo_budget {
    int64_t time_ms;
    int64_t tokens;
    int64_t cost_nano; /* billionths of a US dollar */
    int64_t calls;     /* calls of a model */
} rondo_budget;

/* In a graph, without dependencies: once all steps have ended that neither have run_on nor come after such a step. */
enum rondo_run_on {
    RONDO_ON_SUCCESS = 0, /* the usual case */
    RONDO_ON_FAILURE,     /* when a step it depends on failed or was cut off by a failure */
    RONDO_ON_ALWAYS       /* when all of them have ended, however; also after a cancel */
};

typedef struct rondo_options {
    rondo_retry retry;
    int64_t timeout_ms; /* for all tries together; reaching it fails the node */
    rondo_budget budget;
    rondo_predicate when; /* asked before the node starts; no: it is skipped */
    int run_on;           /* enum rondo_run_on; in a graph only */
    const char *input_schema, *output_schema; /* JSON Schema as text: draft 2020-12, or as it says */
    void *user; /* for when and retry.on */
} rondo_options;

/* ---- agents ----------------------------------------------------------------------------------- */

/* The work of an agent.  It must finish the task exactly once: with rondo_task_return() or
   rondo_task_fail() before it returns, or later through rondo_task_defer().  A function that
   returns without any of them has failed.  It runs on the engine's thread: do not block there for
   long, defer instead. */
typedef void (*rondo_function)(rondo_task *task, void *user);

/* One of several things an agent can do.  Which one runs: what the agent's select names, else the
   only one, else the only one whose input_schema accepts the input; none or two is a failure that
   names them. */
typedef struct rondo_skill {
    const char *name, *description;
    const char *input_schema, *output_schema;
    rondo_function run;
    void *user;
} rondo_skill;

/* What happens to work that was under way when its process died. */
enum rondo_effects {
    RONDO_IDEMPOTENT = 0, /* run again with the same key (rondo_task_key) */
    RONDO_PURE,           /* run again */
    RONDO_ONCE            /* never repeated on its own, and awaited when its pass is closed */
};

typedef struct rondo_agent {
    size_t size;      /* RONDO_AGENT */
    const char *name; /* required: letters, digits, - and _ */
    const char *description;
    rondo_function run; /* or skills */
    void *user;
    const rondo_skill *skills;
    size_t skill_count;
    const char *(*select)(const rondo_value *input, void *user); /* the name of a skill */
    int effects;            /* enum rondo_effects */
    const char *memory;     /* scope that its content is added to, and that it reads first */
    const char *output_key; /* state key that also gets its content or else output, unless empty */
    rondo_options options;
} rondo_agent;
#define RONDO_AGENT sizeof(rondo_agent)

/* ---- nodes ------------------------------------------------------------------------------------ */

/* Constructors copy their spec (texts too) and *take* the child nodes in it: one reference each.
   They never return NULL.  A spec that makes no sense gives a node that holds the error, and so
   does everything built on it: rondo_node_check() tells, and rondo_run_start() refuses it. */

RONDO_API rondo_node *rondo_node_ref(rondo_node *node); /* to use a node in one more place */
RONDO_API void rondo_node_unref(rondo_node *node);      /* NULL is fine */
RONDO_API int rondo_node_check(const rondo_node *node, rondo_error *err);

RONDO_API rondo_node *rondo_agent_node(const rondo_agent *agent);

/* Children one after the other; each output is the next one's input. */
typedef struct rondo_sequence_spec {
    size_t size; /* RONDO_SEQUENCE_SPEC */
    const char *name;
    rondo_node *const *children; /* NULL at the end */
    rondo_options options;
} rondo_sequence_spec;
#define RONDO_SEQUENCE_SPEC sizeof(rondo_sequence_spec)
RONDO_API rondo_node *rondo_sequence(const rondo_sequence_spec *spec);
#define RONDO_NODES(...) ((rondo_node *const[]){ __VA_ARGS__, NULL })
#define RONDO_SEQUENCE(...)                                                  \
    rondo_sequence(&(rondo_sequence_spec){ .size = RONDO_SEQUENCE_SPEC,      \
                                           .children = RONDO_NODES(__VA_ARGS__) })

enum rondo_parallel_mode {
    RONDO_FAIL_FAST = 0, /* the first failure cancels the others and fails the node */
    RONDO_COLLECT,       /* all run to their end; fails only if all failed */
    RONDO_FIRST          /* the first success wins and cancels the others; fails if all did */
};

/* The same input to all children.  The output is the list of their outputs in declaration order,
   null for one that failed (RONDO_FIRST: the winner's output). */
typedef struct rondo_parallel_spec {
    size_t size; /* RONDO_PARALLEL_SPEC */
    const char *name;
    rondo_node *const *children; /* NULL at the end */
    int mode;                    /* enum rondo_parallel_mode */
    int max_concurrency;         /* children at a time; 0: all */
    rondo_options options;
} rondo_parallel_spec;
#define RONDO_PARALLEL_SPEC sizeof(rondo_parallel_spec)
RONDO_API rondo_node *rondo_parallel(const rondo_parallel_spec *spec);
#define RONDO_PARALLEL(...)                                                  \
    rondo_parallel(&(rondo_parallel_spec){ .size = RONDO_PARALLEL_SPEC,      \
                                           .children = RONDO_NODES(__VA_ARGS__) })

/* The first case whose predicate says yes runs, with the branch's input; else `otherwise`.  No
   match without one is a failure. */
typedef struct rondo_case {
    const char *name; /* default: the node's name */
    rondo_predicate when;
    void *user;
    rondo_node *node;
} rondo_case;

typedef struct rondo_branch_spec {
    size_t size; /* RONDO_BRANCH */
    const char *name;
    const rondo_case *cases;
    size_t case_count;
    rondo_node *otherwise;
    rondo_options options;
} rondo_branch_spec;
#define RONDO_BRANCH sizeof(rondo_branch_spec)
RONDO_API rondo_node *rondo_branch(const rondo_branch_spec *spec);

/* Members speak concurrently, in rounds; then the captain decides and its output is the forum's.
   In round 1 members get the forum's input.  Later rounds and the captain get
   { "input": ..., "contributions": [ { "name", "round", "output" } ... ] } in declaration order (with
   "content" beside an output that came with a text);
   with RONDO_SHOW_CAPTAIN members always get the plain input, with RONDO_SHOW_NOBODY the captain
   too.  (In workflow files the input is the forum's throughout; expressions have `contributions`.)
   A member's failure fails the forum unless at least `quorum` members answered.  With early_return a
   member that breaks to the forum's name (rondo_task_break()) ends it at once, and its output is the forum's. */
enum rondo_show { RONDO_SHOW_ALL = 0, RONDO_SHOW_CAPTAIN, RONDO_SHOW_NOBODY };

typedef struct rondo_forum_spec {
    size_t size; /* RONDO_FORUM */
    const char *name;
    rondo_node *const *members; /* NULL at the end */
    rondo_node *captain;
    int rounds; /* 0 means 1 */
    int quorum; /* 0: all members */
    int show;   /* enum rondo_show */
    rondo_options options;
    bool early_return; /* members may end it */
} rondo_forum_spec;
#define RONDO_FORUM sizeof(rondo_forum_spec)
RONDO_API rondo_node *rondo_forum(const rondo_forum_spec *spec);

/* Steps that start when all steps they depend on have ended.  A step's input is the graph's,
   unless `input` produces another; what it depends on is read by name (rondo_task_output()).
   The graph's output is that of the last declared step that completed, has a non-empty output and
   that no other step depends on. */
enum rondo_failure_policy {
    RONDO_CASCADE = 0,     /* dependents of a failed step are cancelled, others go on */
    RONDO_SKIP_DEPENDENTS, /* they are skipped instead */
    RONDO_ABORT            /* everything is cancelled */
};

typedef struct rondo_step {
    const char *name; /* default: the node's name */
    rondo_node *node;
    const char *const *depends_on; /* names, NULL at the end; order does not matter */
    rondo_producer input;
    void *user; /* for input */
} rondo_step;
#define RONDO_AFTER(...) ((const char *const[]){ __VA_ARGS__, NULL })

typedef struct rondo_graph_spec {
    size_t size; /* RONDO_GRAPH */
    const char *name;
    const rondo_step *steps;
    size_t step_count;
    int on_failure; /* enum rondo_failure_policy */
    int max_concurrency;
    rondo_options options;
} rondo_graph_spec;
#define RONDO_GRAPH sizeof(rondo_graph_spec)
RONDO_API rondo_node *rondo_graph(const rondo_graph_spec *spec);

/* Options that came later.  Specs point to it from their last field. */
typedef struct rondo_more_options {
    size_t size;    /* RONDO_MORE_OPTIONS */
    /* Loops: to end by the cap, patience, a stall or the loop's budget is a failure, RONDO_EUNMET. */
    bool must_hold;
    /* Loops with RONDO_ERROR_CONTINUES: `until` is asked after failed passes, too. */
    bool until_after_failure;
    /* The same: how long the loop waits after a failed pass.  Each further one in a row doubles it, up to a minute.  A
       delay_ms takes its place. */
    int64_t failure_delay_ms;
    /* Runs that are taken up with `reopen`: only items of a rondo_each that failed, and what depends on them. */
    bool failed_items;
    /* Resume, recover: limits that are others from now on, by the path of a loop or step in the definition ("" is the
       run): { "refine": { "maxIterations": 10 } }.  There are maxIterations, maxFailures, patience, stallRepeats,
       timeoutMs, budgetMs, budgetTokens, budgetNano and budgetCalls; the run has the last five.  An object, borrowed;
       NULL: none.  A loop that has ended by its limit is opened again, also in a run that has not ended; run_reopened
       then has `goesOn`.  RONDO_EINVAL: there is no such limit.  RONDO_ESTATE: it is used up already, or others have
       begun since the loop ended. */
    const rondo_value *limits;
} rondo_more_options;
#define RONDO_MORE_OPTIONS sizeof(rondo_more_options)

/* Why a loop ended: exactly one of these. */
#define RONDO_REASONS(X)                                                                    \
    X(NONE, "") X(UNTIL, "until") X(JUDGE, "judge") X(NEXT, "next") X(WHILE, "while")       \
    X(BREAK, "break") X(ITEMS, "items") X(PLATEAU, "plateau") X(TOKENS, "tokens")           \
    X(COST, "cost") X(CALLS, "calls") X(TIME, "time") X(STALLED, "stalled")                 \
    X(OSCILLATING, "oscillating") X(MAX_ITERATIONS, "max_iterations") X(FAILED, "failed")   \
    X(CANCELLED, "cancelled")

enum rondo_reason {
#define RONDO_REASON(name, text) RONDO_REASON_##name,
    RONDO_REASONS(RONDO_REASON)
#undef RONDO_REASON
};
RONDO_API const char *rondo_reason_text(int reason);

/* The same in AgentEnsemble's two words: "predicate" or "maxIterations"; NULL for the others. */
RONDO_API const char *rondo_reason_ensemble(int reason);

enum rondo_on_max { RONDO_RETURN_LAST = 0, RONDO_FAIL, RONDO_FLAG };
enum rondo_output_mode {
    RONDO_OUTPUT_LAST = 0,   /* the last pass: its output, and every body step's */
    RONDO_OUTPUT_FINAL_STEP, /* the last pass: only the output */
    RONDO_OUTPUT_BEST,       /* the pass with the highest score; no scored pass: the last */
    RONDO_OUTPUT_CUMULATIVE  /* content: all passes, see below; output: a list, one per pass */
};
enum rondo_memory_mode { RONDO_ACCUMULATE = 0, RONDO_FRESH, RONDO_WINDOW };
enum rondo_feedback_mode { RONDO_FEEDBACK_ON = 0, RONDO_FEEDBACK_OFF };
enum rondo_action { RONDO_ACTION_STOP = 0, RONDO_ACTION_FAIL, RONDO_ACTION_NUDGE };
enum rondo_on_error { RONDO_ERROR_FAILS = 0, RONDO_ERROR_CONTINUES };

#define RONDO_UNBOUNDED (-1) /* for max_iterations: no cap */

/* A loop.  Per pass: while_, budget, delay, memory mode; the body; score, listener; then the stop
   rules, first hit wins: break, until, judge, next, detectors, budget, cap.  The next input is
   what `next` gave, else the output of the pass.

   max_iterations: 0 means 5, or 1000 when the loop has a `next` (and then reaching the cap fails,
   naming it); RONDO_UNBOUNDED needs another way to end.  on_max tells what reaching the cap means:
   complete, fail, or complete with the flag `capped`.

   A rule may be a callback or a node.  until_node's output stops the loop when it is true or an
   object whose `done` is true; next_node's output is the next input (null stops); score_node's
   output is a number or an object with a number `score`.  judge is like until_node, but a judge
   that fails counts as "not done", and its text reaches the next pass as feedback.

   Cumulative content: per body step, the texts of all passes joined by "\n\n--- iteration N ---
   \n\n" from N = 2 on; the steps one after another, separated by an empty line.

   Detectors are off unless set: stall_repeats (same output N times in a row), oscillation
   (A-B-A-B, that many turns), patience (passes without a gain of score above min_gain). */
typedef struct rondo_loop_spec {
    size_t size;      /* RONDO_LOOP */
    const char *name; /* required */
    rondo_node *body; /* required */
    rondo_predicate while_, until;
    rondo_producer next;
    rondo_scorer score;
    rondo_listener listener; /* after each pass, before any stop rule */
    rondo_node *until_node, *judge, *next_node, *score_node;
    int max_iterations;
    int on_max;         /* enum rondo_on_max */
    int output_mode;    /* enum rondo_output_mode */
    const char *output; /* the body step whose output is the loop's; default: the last declared
                           that completed with a non-empty output */
    int memory_mode;    /* enum rondo_memory_mode: what the body wrote in earlier passes */
    int memory_window;  /* entries kept, with RONDO_WINDOW only */
    int feedback;       /* enum rondo_feedback_mode */
    int64_t delay_ms;   /* between passes */
    int patience;
    double min_gain;
    int stall_repeats;
    int oscillation;
    int stall_action;   /* enum rondo_action, for all detectors but patience */
    int on_error;       /* enum rondo_on_error: what a failed pass means */
    int max_failures;   /* failed passes in a row that fail the loop; 0 means 3 */
    int max_history;    /* keep the last N passes readable; 0: all */
    bool compat_adk;    /* escalate ends every loop around the agent, running siblings finish */
    void *user;         /* for all callbacks of the loop */
    rondo_options options;
    const rondo_more_options *more;
} rondo_loop_spec;
#define RONDO_LOOP sizeof(rondo_loop_spec)
RONDO_API rondo_node *rondo_loop(const rondo_loop_spec *spec);

/* The body once per item, concurrently, results in item order.  The items are the input if that
   is a list, or what `items` produces; asked once.  The output is the list of the items' outputs,
   null for one that failed. */
typedef struct rondo_each_spec {
    size_t size;      /* RONDO_EACH */
    const char *name; /* required */
    rondo_node *body;
    rondo_producer items;
    void *user;
    int max_concurrency; /* items at a time; 0: all */
    int on_item_failure; /* enum rondo_on_error: RONDO_ERROR_CONTINUES completes if one item did */
    int output_mode;     /* content: RONDO_OUTPUT_LAST the highest completed item's,
                            RONDO_OUTPUT_CUMULATIVE all, under "## Item N" */
    const char *output;  /* the body step whose output is the item's; default: the body's */
    rondo_options options;
} rondo_each_spec;
#define RONDO_EACH sizeof(rondo_each_spec)
RONDO_API rondo_node *rondo_each(const rondo_each_spec *spec);

/* States and edges: a state's node runs, then the first edge from it whose predicate is absent or
   says yes is followed; to RONDO_END the machine ends.  No edge is a failure that lists the
   candidates.  Each state gets the output of the one before.  It is built from a loop over a
   branch; `max_steps` (0 means 50) is its cap. */
#define RONDO_END "__END__"

typedef struct rondo_state {
    const char *name;
    rondo_node *node;
    bool no_feedback;
} rondo_state;

typedef struct rondo_edge {
    const char *from, *to;
    rondo_predicate when;
    void *user;
} rondo_edge;

typedef struct rondo_machine_spec {
    size_t size; /* RONDO_MACHINE */
    const char *name;
    const char *start;
    const rondo_state *states;
    size_t state_count;
    const rondo_edge *edges;
    size_t edge_count;
    int max_steps;
    int on_max;   /* enum rondo_on_max */
    int feedback; /* enum rondo_feedback_mode */
    rondo_options options;
} rondo_machine_spec;
#define RONDO_MACHINE sizeof(rondo_machine_spec)
RONDO_API rondo_node *rondo_machine(const rondo_machine_spec *spec);

/* Waits for rondo_engine_signal().  The answer is its output; one that does not fit the schema is
   refused and the gate stays open.  After timeout_ms: fails, or takes on_timeout as the answer, or
   stays open and ends the waiting: once the run has nothing else to do, rondo_run_next() gives NULL and
   the status is RONDO_STATUS_WAITING.  Pulled after an answer it goes on, as does one that is recovered. */
typedef struct rondo_gate_spec {
    size_t size; /* RONDO_GATE */
    const char *name;
    const char *ask;        /* what is asked; shown in the gate_waiting event */
    const char *schema;     /* JSON Schema of the answer */
    int64_t timeout_ms;     /* goes on while no process runs */
    const char *on_timeout; /* JSON text of the answer to take, NULL: fail */
    rondo_options options;
    bool exit_on_timeout; /* nobody waits any longer, and the gate stays open; not with on_timeout */
} rondo_gate_spec;
#define RONDO_GATE sizeof(rondo_gate_spec)
RONDO_API rondo_node *rondo_gate(const rondo_gate_spec *spec);

/* ---- looking at definitions ------------------------------------------------------------------ */

enum rondo_kind {
    RONDO_KIND_INVALID = 0,
    RONDO_KIND_AGENT,
    RONDO_KIND_SEQUENCE,
    RONDO_KIND_PARALLEL,
    RONDO_KIND_BRANCH,
    RONDO_KIND_FORUM,
    RONDO_KIND_GRAPH,
    RONDO_KIND_LOOP,
    RONDO_KIND_EACH,
    RONDO_KIND_MACHINE,
    RONDO_KIND_GATE
};

enum rondo_limit {
    RONDO_LIMIT_ITERATIONS, /* loops and machines: the cap that holds, RONDO_UNBOUNDED for none */
    RONDO_LIMIT_CONCURRENCY,
    RONDO_LIMIT_ATTEMPTS,
    RONDO_LIMIT_TIMEOUT_MS,
    RONDO_LIMIT_TIME_MS,
    RONDO_LIMIT_TOKENS,
    RONDO_LIMIT_COST_NANO,
    RONDO_LIMIT_CALLS
};

RONDO_API int rondo_node_kind(const rondo_node *node);
RONDO_API const char *rondo_kind_text(int kind);
RONDO_API const char *rondo_node_name(const rondo_node *node);
RONDO_API const char *rondo_node_description(const rondo_node *node); /* as written; "" when there is none */
RONDO_API int64_t rondo_node_limit(const rondo_node *node, int limit); /* 0: none */
RONDO_API size_t rondo_node_count(const rondo_node *node);             /* children */
RONDO_API const rondo_node *rondo_node_child(const rondo_node *node, size_t i);
RONDO_API const char *rondo_node_child_name(const rondo_node *node, size_t i); /* as in paths */

/* The node itself or the first one below it with that name, depth first; NULL when there is none. */
RONDO_API const rondo_node *rondo_node_find(const rondo_node *node, const char *name);

/* ---- inside an agent --------------------------------------------------------------------------- */

/* Finishing.  Exactly one of these takes effect; another one after it returns RONDO_ESTATE and
   changes nothing.  return *takes* the output (NULL counts as JSON null).  A string is the
   content; any other value is the result, and its JSON text the content. */
RONDO_API int rondo_task_return(rondo_task *task, rondo_value *output);
RONDO_API int rondo_task_return_text(rondo_task *task, const char *text);

/* Both at once: a text for people and a value for the program. *Takes* result. */
RONDO_API int rondo_task_return_both(rondo_task *task, const char *content, rondo_value *result);

/* Fails the step.  code is one of the negative codes; RONDO_ERETRY marks a temporary failure,
   and with RONDO_EFINAL the agent is not tried again, whatever its retry says. */
RONDO_API int rondo_task_fail(rondo_task *task, int code, const char *fmt, ...) RONDO_PRINTF(3, 4);

/* Finishes by itself after a while, on the engine's timer: for agents that only wait. *Takes* output. */
RONDO_API int rondo_task_return_after(rondo_task *task, int64_t delay_ms, rondo_value *output);

/* Finishing later, from any thread.  The token works once, stays harmless afterwards, and must not
   be used after its engine was freed.  When the step was cancelled meanwhile the result is refused
   with RONDO_ESTATE. */
typedef struct rondo_later {
    rondo_engine *engine;
    uint64_t token;
} rondo_later;

RONDO_API rondo_later rondo_task_defer(rondo_task *task);
RONDO_API int rondo_later_return(rondo_later later, rondo_value *output); /* takes output */
RONDO_API int rondo_later_return_both(rondo_later later, const char *content,
                                      rondo_value *result); /* takes result */
RONDO_API int rondo_later_fail(rondo_later later, int code, const char *fmt, ...) RONDO_PRINTF(3, 4);
RONDO_API bool rondo_later_cancelled(rondo_later later);

/* Readable (poll, select, epoll) once the step is cancelled; closed with the token.  -1 if the
   token is no longer open. */
RONDO_API int rondo_later_fd(rondo_later later);

/* One event of an agent before it finishes.  A partial one is shown at once and never stored; the
   others are.  State set here takes effect when the event is applied.  The engine hands events out between calls of
   functions: a function that emits twice and returns has done both, and returned, before the first event is seen.
   One that wants to be seen at work defers (rondo_task_defer()) and emits later. */
typedef struct rondo_emit {
    size_t size;        /* RONDO_EMIT */
    const char *author; /* default: the agent's name */
    const char *content;
    rondo_value *data;        /* borrowed */
    rondo_value *state_delta; /* an object, borrowed: final values, never operations */
    bool partial;
    bool escalate; /* as rondo_task_escalate() */
} rondo_emit;
#define RONDO_EMIT sizeof(rondo_emit)
RONDO_API int rondo_task_emit(rondo_task *task, const rondo_emit *event);
RONDO_API int rondo_later_emit(rondo_later later, const rondo_emit *event);

/* Actions: they act when the result is applied.  break ends the nearest loop around the agent, or
   the one named; escalate is a break that the loop's parent can see; continue ends the pass.  In an
   `each`, continue completes the item and break ends them all.  A name that does not enclose the
   agent, or a break or continue outside of any loop, fails the step.  Outside of any loop escalate is
   only a flag on the step's event.  An escalate before a break that names a loop is for that loop. */
RONDO_API int rondo_task_break(rondo_task *task, const char *loop);
RONDO_API int rondo_task_continue(rondo_task *task);
RONDO_API int rondo_task_escalate(rondo_task *task);
RONDO_API int rondo_later_break(rondo_later later, const char *loop);
RONDO_API int rondo_later_continue(rondo_later later);
RONDO_API int rondo_later_escalate(rondo_later later);

/* What the agent is to work on.  Borrowed; valid until the task is finished. */
RONDO_API rondo_value *rondo_task_input(rondo_task *task);
RONDO_API const char *rondo_task_path(rondo_task *task);
RONDO_API const rondo_node *rondo_task_node(rondo_task *task);
RONDO_API const char *rondo_task_skill(rondo_task *task); /* "" without skills */
RONDO_API int64_t rondo_task_pass(rondo_task *task);      /* of the nearest loop, from 0; -1: none */
RONDO_API int64_t rondo_task_index(rondo_task *task);     /* of the nearest each, from 0; -1: none */
RONDO_API rondo_value *rondo_task_item(rondo_task *task); /* of the nearest each; NULL: none */
RONDO_API int rondo_task_attempt(rondo_task *task);       /* 0 for the first try */

/* From the second pass on, and on a retry: what the attempt before came to. */
typedef struct rondo_feedback {
    const char *text;        /* "Loop iteration 2 of 5. ...", a nudge, then the failure text */
    rondo_value *previous;   /* this step's own previous output; NULL if it had none */
    rondo_value *last;       /* the previous pass's output */
    const char *judge;       /* what the judge said; NULL without */
    int attempt;             /* 1 on the second pass */
} rondo_feedback;
RONDO_API bool rondo_task_feedback(rondo_task *task, rondo_feedback *ret);

/* The output of another step, by name: a sibling that has ended, or, going outwards, a step of an
   enclosing container.  NULL when there is none. */
RONDO_API rondo_value *rondo_task_output(rondo_task *task, const char *step);

/* State of the run.  set *takes* the value; NULL or JSON null removes the key.  It is applied with
   the next event of this task, at the latest with its result.  "temp:" keys end with the run. */
RONDO_API rondo_value *rondo_task_state(rondo_task *task, const char *key);
RONDO_API int rondo_task_set(rondo_task *task, const char *key, rondo_value *value);
RONDO_API int rondo_later_set(rondo_later later, const char *key, rondo_value *value);

/* Memory: entries of a scope as a list of values, oldest first (NULL scope: the agent's own);
   remember adds one with the result. */
RONDO_API rondo_value *rondo_task_memory(rondo_task *task, const char *scope);
RONDO_API int rondo_task_remember(rondo_task *task, const char *scope, rondo_value *entry); /* takes */
RONDO_API int rondo_later_remember(rondo_later later, const char *scope, rondo_value *entry);

/* Memory of the run's session (runs without one have nothing) that has all words of the query, each as the
   beginning of a word, "..." as a phrase: entries as a list of values, best first, at most limit (0:
   10,000).  Of one scope, or of all (NULL).  Older entries than those in rondo_task_memory() are there too. */
RONDO_API rondo_value *rondo_task_recall(rondo_task *task, const char *scope, const char *query,
                                         size_t limit);

RONDO_API rondo_history *rondo_task_history(rondo_task *task); /* of the nearest loop; NULL: none */

/* What the work has cost so far; adds up, and counts against every budget around it.  Tokens that were read
   from or written to a cache are part of the input, those of reasoning part of the output. */
typedef struct rondo_usage {
    int64_t input_tokens, output_tokens, cost_nano, calls;
    int64_t cache_read_tokens, cache_write_tokens, reasoning_tokens;
    int64_t unpriced; /* calls whose price nobody knows: cost_nano is without them */
} rondo_usage;
RONDO_API int rondo_task_spend(rondo_task *task, const rondo_usage *usage);
RONDO_API int rondo_later_spend(rondo_later later, const rondo_usage *usage);

/* Budgets that hold.  What is reported when it was spent may come too late: before a call of a model, reserve
   what it may cost at most (input and output tokens, money, calls: 1).  then(reason, user) is called once on the
   engine's thread: 0 when every budget around has room for it (that is on disk then), or enum rondo_reason, the
   limit that has none: finish with what you have.  A call that does not fit waits while others are under way
   in that budget; when its step is cancelled or ends meanwhile the reason is RONDO_REASON_CANCELLED.  Returns a
   number > 0 for rondo_later_settle(), or an error, and then() is not called.

   Settle ends the reservation with what the call really cost, all 0 when it was not made; also after a cancel.
   A call that nobody settled, because of a crash or because its step ended, counts against the budget in
   full, and is shown as lost. */
RONDO_API int rondo_later_reserve(rondo_later later, const rondo_usage *most,
                                  void (*then)(int reason, void *user), void *user);
RONDO_API int rondo_later_settle(rondo_later later, int number, const rondo_usage *real);

/* What is left of the tightest budget around the task, without what is reserved; INT64_MAX when there is
   none. */
RONDO_API int64_t rondo_task_left(rondo_task *task, int limit); /* enum rondo_limit */

/* Notes survive a crash: a task that runs again after one gets them back, in order. */
RONDO_API int rondo_task_note(rondo_task *task, rondo_value *note); /* takes */
RONDO_API int rondo_later_note(rondo_later later, rondo_value *note);
RONDO_API rondo_value *rondo_task_notes(rondo_task *task);          /* a list, possibly empty */

/* Messages between steps.  One is sent to an address: the path of a step, or its name where that is clear, or
   "coordinator".  Each message ends in one of two events: agent_inbox_drain when it was given to a step, or
   message_dropped with a reason.  kind is "info" (NULL), "context_update", or "cancel", which asks a step to end.
   A message to a loop waits for its next pass: every agent of the loop's
   body that starts in this pass has it from its start.  RONDO_EINVAL: no text, no address or no such kind;
   RONDO_ELIMIT: longer than 1 MiB.  rondo_engine_send() is for whoever is outside the run and can be called from
   any thread.

   What was sent to a step is given to it when it starts, and after that when it asks: then(messages) is called on
   the engine's thread, once, with what has come meanwhile, perhaps nothing; not when the work was cancelled.  When
   a process dies, its work begins again and is given the same messages again.  They are lists of { from, to, text,
   kind }, oldest first. */
RONDO_API int rondo_task_send(rondo_task *task, const char *to, const char *text, const char *kind);
RONDO_API int rondo_later_send(rondo_later later, const char *to, const char *text, const char *kind);
RONDO_API rondo_value *rondo_task_inbox(rondo_task *task); /* all that it was given so far; possibly empty */
RONDO_API int rondo_later_inbox(rondo_later later, void (*then)(rondo_value *messages, void *user), void *user);

RONDO_API bool rondo_task_cancelled(rondo_task *task);

/* The same however often this step is tried, also after a crash: give it to whatever must not act
   twice. */
RONDO_API const char *rondo_task_key(rondo_task *task);

/* ---- inside a question -------------------------------------------------------------------------- */

RONDO_API int64_t rondo_context_pass(rondo_context *context);       /* from 0 */
RONDO_API rondo_value *rondo_context_last(rondo_context *context);  /* the pass's output so far */
RONDO_API const char *rondo_context_text(rondo_context *context);   /* its content, "" if none */
RONDO_API rondo_value *rondo_context_output(rondo_context *context, const char *step); /* this pass */
RONDO_API rondo_value *rondo_context_input(rondo_context *context); /* the node's input */
RONDO_API rondo_value *rondo_context_state(rondo_context *context, const char *key);
RONDO_API rondo_value *rondo_context_best(rondo_context *context); /* best pass so far; NULL: none */
RONDO_API rondo_history *rondo_context_history(rondo_context *context);
RONDO_API const char *rondo_context_error(rondo_context *context);  /* "" when nothing failed */
RONDO_API const char *rondo_context_path(rondo_context *context);
RONDO_API int64_t rondo_context_duration_ms(rondo_context *context); /* of the pass that ended */

/* Makes the question fail with this message; returns code. */
RONDO_API int rondo_context_fail(rondo_context *context, int code, const char *fmt, ...)
    RONDO_PRINTF(3, 4);

/* ---- history -------------------------------------------------------------------------------------- */

/* Passes are counted from 0.  Old passes are read back from the journal when asked for.  A history may be NULL: it
   has no passes.  Values
   and texts (the content: what came beside a value, or else that as text) are borrowed until the
   next call on the same history. */
RONDO_API int64_t rondo_history_count(rondo_history *history);
RONDO_API rondo_value *rondo_history_output(rondo_history *history, int64_t pass, const char *step);
RONDO_API const char *rondo_history_text(rondo_history *history, int64_t pass, const char *step);
RONDO_API bool rondo_history_score(rondo_history *history, int64_t pass, double *ret);
RONDO_API int64_t rondo_history_best(rondo_history *history); /* pass; -1: none was scored */

/* ---- engine ------------------------------------------------------------------------------------------ */

typedef struct rondo_config {
    size_t size;         /* RONDO_CONFIG */
    uint64_t seed;       /* for run ids and jitter; 0: from the system's random source */
    bool virtual_time;   /* time stands still while there is work and jumps to the next timer */
    bool check_values;   /* notice a value that is changed after it was handed over */
    int max_concurrency; /* agents at work at a time in each run; 0: no limit */
    rondo_store *store;  /* runs are kept there, see rondo_store_open(); NULL: in memory */
} rondo_config;
#define RONDO_CONFIG sizeof(rondo_config)

RONDO_API int rondo_engine_new(const rondo_config *config, rondo_engine **ret, rondo_error *err);

/* Closes all its runs first.  Tokens of deferred tasks must not be used any more. */
RONDO_API void rondo_engine_free(rondo_engine *engine);

/* For a foreign event loop: wait until fd is readable or timeout_ms has passed (-1: no limit),
   then poll with 0.  poll works until nothing is ready, waiting at most timeout_ms for something
   (-1: as long as it takes); returns the number of runs that are still going, or an error. */
RONDO_API int rondo_engine_fd(rondo_engine *engine);
RONDO_API int rondo_engine_timeout(rondo_engine *engine);
RONDO_API int rondo_engine_poll(rondo_engine *engine, int timeout_ms);

/* The next event of any run, waiting for it; NULL when no run is going. */
RONDO_API const rondo_event *rondo_engine_next(rondo_engine *engine);
RONDO_API void rondo_engine_wake(rondo_engine *engine); /* from any thread: poll returns soon */

/* Answers a gate: value is *taken*.  From any thread; what becomes of it is an event
   (gate_answered, or message when it was refused).  RONDO_ENOTFOUND: the engine has no such run;
   RONDO_ESTATE: it has ended, or is about to.  A gate that is not open is not noticed.

   `by` says who, may be NULL.  A step that asks because nobody knows what came of it (RONDO_UNKNOWN_ASK) is
   answered "retry", "skip", "fail", or with what came out: { "result": ... }, { "content": "..." }, or both.
   An agent at work that asks has a path for each question, "step.permit-1", which is that of gate_waiting; its
   value says what may be answered (schema). */
RONDO_API int rondo_engine_signal(rondo_engine *engine, const char *run_id, const char *path,
                                  rondo_value *value, const char *by);
/* A message to a step of a run, see rondo_task_send(); from says who it is from, "outside" when NULL.
   What it returns 0 for comes to its end in the run's events, before workflow_end; RONDO_ENOTFOUND and
   RONDO_ESTATE as above. */
RONDO_API int rondo_engine_send(rondo_engine *engine, const char *run_id, const char *from, const char *to,
                                const char *text, const char *kind);

/* ---- runs -------------------------------------------------------------------------------------------- */

typedef struct rondo_run_options {
    size_t size;         /* RONDO_RUN */
    const char *id;      /* 1 to 200 letters, digits and - _ . : @; it begins with a letter or digit and is not
                            "last".  NULL: one is made from the engine's seed.  RONDO_EEXISTS: a run of this engine
                            that has not ended, or one in its store, has this id.  Logs and stores of 0.1.0 may
                            have other ids, which stay good for resuming and recovering. */
    uint64_t seed;       /* jitter; default: from the engine's */
    rondo_value *state;  /* initial state, an object, borrowed */
    int max_concurrency; /* default: the engine's */
    rondo_budget budget; /* ends the run, with what it has */
    int64_t timeout_ms;  /* fails the run */
    int64_t cleanup_ms;  /* for `run_on: always` steps after a cancel, an abort or a limit; 0 means 30,000 */
    int on_unknown;      /* enum rondo_on_unknown */
    bool no_cursor;      /* nobody pulls this run's events: it never waits for a reader */
    const char *session; /* state and memory that it shares with other runs of this name; NULL: none */
    bool in_memory;      /* not kept, though the engine has a store */
    bool reopen;         /* resume, recover: go on also when it failed or was cancelled */
    bool from_start;     /* resume, recover: events are handed out again from the first one */
    const rondo_more_options *more;
} rondo_run_options;
#define RONDO_RUN sizeof(rondo_run_options)

/* What recovery does with work of class RONDO_ONCE that was under way. */
enum rondo_on_unknown {
    RONDO_UNKNOWN_FAILS = 0, /* the step fails with RONDO_EUNKNOWN */
    RONDO_UNKNOWN_RETRY,
    RONDO_UNKNOWN_SKIP,
    RONDO_UNKNOWN_ASK /* the step waits like a gate; see rondo_engine_signal() */
};

/* Starts a run; nothing is carried out before the first pull or poll.  input (NULL: JSON null) is
   borrowed.  The run keeps a reference to node. */
RONDO_API int rondo_run_start(rondo_engine *engine, rondo_node *node, const rondo_value *input,
                              const rondo_run_options *options, rondo_run **ret, rondo_error *err);

/* Pulls: works until there is an event of this run and returns it; NULL when the run has ended and
   all its events were seen, when it failed in a way that rondo_run_error() tells, or when a gate says
   that nobody waits any longer (exit_on_timeout).  NULL also when the run has stopped between passes. */
RONDO_API const rondo_event *rondo_run_next(rondo_run *run);

/* Runs to the end, throwing the events away; returns the result's code: 0 if it completed. */
RONDO_API int rondo_run_wait(rondo_run *run, rondo_error *err);

/* Asks the run to stop: every activation ends, `run_on: always` steps still run, then workflow_end
   with status cancelled.  A second call skips those.  After the end it does nothing. */
RONDO_API void rondo_run_cancel(rondo_run *run, const char *why);

/* Asks the run to stop between passes.  Passes at work go on to their end, and so do agents outside of loops.  No
   other step begins, and no further pass of a loop that is in no other loop.  The run does not end: when nothing is
   at work any more, rondo_run_next() gives NULL and rondo_run_has_stopped() is true.  A run that is recovered or
   resumed goes on with the next pass.  After the end, or after a cancel, this does nothing. */
RONDO_API void rondo_run_stop(rondo_run *run, const char *why);
RONDO_API bool rondo_run_has_stopped(const rondo_run *run);

/* Gives the handle back.  A run that is still going is dropped where it stands. */
RONDO_API void rondo_run_close(rondo_run *run);
RONDO_API const char *rondo_run_id(const rondo_run *run);
RONDO_API rondo_engine *rondo_run_engine(rondo_run *run);

enum rondo_status {
    RONDO_STATUS_RUNNING = 0,
    RONDO_STATUS_COMPLETED,
    RONDO_STATUS_FAILED,
    RONDO_STATUS_SKIPPED,
    RONDO_STATUS_CANCELLED,
    RONDO_STATUS_PARTIAL, /* runs only: some steps completed, some did not */
    RONDO_STATUS_WAITING  /* runs only: nothing to do until a gate is answered */
};
RONDO_API const char *rondo_status_text(int status);

/* What a step or a whole run came to.  All pointers are borrowed from the run, until the next call
   of rondo_run_result() or rondo_run_find(). */
typedef struct rondo_result {
    int status;          /* enum rondo_status */
    const char *content; /* "" when there is none */
    rondo_value *output; /* NULL when there is none */
    int code;            /* of the failure; 0 */
    const char *error;   /* "" */
    int reason;          /* loops: enum rondo_reason */
    int64_t passes;      /* loops */
    int64_t best;        /* loops: the best pass, -1: none was scored */
    double score;        /* loops: of the best pass */
    bool capped;         /* loops with RONDO_FLAG that reached their cap */
    bool escalated;      /* loops: ended by rondo_task_escalate() */
    rondo_usage usage;   /* children included */
    int64_t duration_ms;
    rondo_usage inherited; /* runs: what the run that it was forked from had spent */
    rondo_usage lost; /* reserved, and nobody knows what of it was spent: not in usage, but in budgets */
} rondo_result;

RONDO_API int rondo_run_status(const rondo_run *run);
RONDO_API int rondo_run_result(rondo_run *run, rondo_result *ret); /* ESTATE before the end */

/* The same for any step that has ended, by its path ("refine.2.writer").  A path without pass
   numbers finds what is visible from outside: "refine.writer" is the projected pass.  How long a
   plain step took is looked up in the log, which takes the longer the longer that is. */
RONDO_API int rondo_run_find(rondo_run *run, const char *path, rondo_result *ret);
RONDO_API rondo_history *rondo_run_history(rondo_run *run, const char *loop); /* path; NULL: none */
RONDO_API rondo_value *rondo_run_state(rondo_run *run); /* the whole state, an object */
RONDO_API rondo_value *rondo_run_memory(rondo_run *run, const char *scope); /* a list; NULL: none */
RONDO_API int rondo_run_error(const rondo_run *run, rondo_error *ret); /* 0: nothing wrong */

/* Runs a node to its end: *ret is its output (new, the caller's; JSON null if there is none). */
RONDO_API int rondo_call(rondo_engine *engine, rondo_node *node, const rondo_value *input,
                         rondo_value **ret, rondo_error *err);

/* A run's journal as bytes, up to what was handed out so far: free with rondo_text_free().
   recover makes a run from them that goes on: finished work stays, work that was under way starts
   again with the same keys (see enum rondo_effects).  The node must be the same definition: kinds,
   names and limits are compared, and RONDO_EMISMATCH names the first node that differs.

   A run that has ended is given as it is.  With `reopen` one that failed, was cancelled or used up its
   limits goes on instead: what completed stays, what failed or was cancelled gets a new attempt (its path
   then ends in ~1, ~2 ...), a loop goes on in the pass that went wrong, and a step that ran out of time, or
   failed with the last of its own budget, gets that once more.  What was spent stays spent, so a run
   that used up its own budget or timeout needs larger ones, in `options`; without them, and for a run that
   completed, the answer is RONDO_ESTATE.  The event run_reopened lists in `again` what starts again.

   With `failed_items` (in `more`) only items of a rondo_each that failed are done again, from their start, and what
   depends on that each and had ended begins anew.  Such items are found in a run that completed, too; without any the
   answer is RONDO_ENOTFOUND.  An agent of class RONDO_ONCE that had ended and begins anew is asked about first. */
RONDO_API char *rondo_run_save(rondo_run *run, size_t *ret_len);
RONDO_API int rondo_run_recover(rondo_engine *engine, rondo_node *node, const void *log, size_t len,
                                const rondo_run_options *options, rondo_run **ret, rondo_error *err);

/* Decides everything in a saved run once more, from what it was told at the time: no agent runs, only
   questions are asked.  0 when the same events follow, byte for byte; RONDO_EMISMATCH names the first
   one that does not, and the question before it if that was answered otherwise. */
RONDO_API int rondo_run_replay(rondo_engine *engine, rondo_node *node, const void *log, size_t len,
                               rondo_error *err);

/* A run that shares the past of a saved one up to where the step at `path` was last started ("review",
   "refine.2.draft"; a pass, "refine.2", or an item, "each[3]", will do too), and from there on is a run of
   its own: *ret is its log, to be recovered; free with rondo_text_free().  What the old run had spent is
   shown apart, and budgets begin anew.  At an item of a run that has ended everything is shared, and only that item is
   done again, with what depends on it and had ended.  RONDO_ENOTFOUND: nothing has started there; the message names
   what comes near. */
typedef struct rondo_fork {
    size_t size;        /* RONDO_FORK */
    const char *id;     /* as in rondo_run_options; default: made from the engine's seed */
    rondo_value *input; /* of the run, instead of the one it had; borrowed, NULL: the same */
    rondo_value *state; /* an object, borrowed: final values, null removes; NULL: the same */
} rondo_fork;
#define RONDO_FORK sizeof(rondo_fork)
RONDO_API int rondo_run_fork(rondo_engine *engine, rondo_node *node, const void *log, size_t len,
                             const char *path, const rondo_fork *fork, char **ret, size_t *ret_len,
                             rondo_error *err);

/* ---- stores ------------------------------------------------------------------------------------------- */

/* A store is one file that keeps runs: a run of an engine with a store is on disk before anybody sees
   its events, and survives its process.  One process drives a run at a time.

       rondo_store_open("runs.db", NULL, &store, &err);
       rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .store = store }, &engine, &err);
       rondo_run_resume(engine, node, id, NULL, &run, &err); // after a crash, a stop, a gate

   A store belongs to one thread, and outlives the engines that use it.  While another process has it locked, calls
   of an engine that has to write wait until the timeouts of all its runs are over.  They wait for ever when a run has
   no timeout. */
enum rondo_durability {
    RONDO_KILL = 0, /* what was shown survives kill -9 */
    RONDO_POWER,    /* and a power cut */
};

typedef struct rondo_store_options {
    size_t size;     /* RONDO_STORE */
    int durability;  /* enum rondo_durability */
    bool must_exist; /* else it is made */
    bool read_only;
} rondo_store_options;
#define RONDO_STORE sizeof(rondo_store_options)

RONDO_API int rondo_store_open(const char *path, const rondo_store_options *options, rondo_store **ret,
                               rondo_error *err);
RONDO_API void rondo_store_close(rondo_store *store); /* NULL is fine */

/* What people should know of how it was found: that the end of what was last written could not be read (after
   a power cut with RONDO_KILL, or because of damage) and was cut off.  NULL: it was in order. */
RONDO_API const char *rondo_store_notice(const rondo_store *store);

/* Goes on with a run that is in the engine's store: finished work stays, work that was under way starts
   again with the same keys.  The definition is given again and compared: RONDO_EMISMATCH names the first
   node that differs in kind, name or limits, or lacks a function that the run would ask.  Of a workflow that a file
   says (rondo_flow_node()), prompts, instructions and everything else are compared too, as rondo_flow_resume() does, if
   the run was started with rondo_flow_start() or by the program.  RONDO_EBUSY: another process drives it; the message
   says which. */
RONDO_API int rondo_run_resume(rondo_engine *engine, rondo_node *node, const char *id,
                               const rondo_run_options *options, rondo_run **ret, rondo_error *err);

/* The same only to look at it, as far as it has come: nothing is carried out, and nobody is kept from
   driving it.  Its events are handed out from the first one; then histories, results and state can be
   asked for. */
RONDO_API int rondo_run_look(rondo_engine *engine, rondo_node *node, const char *id, rondo_run **ret,
                             rondo_error *err);

/* Sessions: what runs with the same `session` share.  A list of all, [{name, keys, entries, runs, changed}];
   one as { name, state, memory: { scope: [{ time, run, entry }] } }; memory that has all words of a query
   (see rondo_task_recall(); session, scope: NULL: any), [{ session, scope, time, run, entry }].  Values are
   new; times are in milliseconds since 1970.  Forgetting one, or one scope of its memory, is committed
   at once.  RONDO_ENOTFOUND: it holds nothing. */
RONDO_API int rondo_sessions(rondo_store *store, rondo_value **ret, rondo_error *err);
RONDO_API int rondo_session_export(rondo_store *store, const char *session, rondo_value **ret,
                                   rondo_error *err);
RONDO_API int rondo_session_search(rondo_store *store, const char *session, const char *scope,
                                   const char *query, size_t limit, rondo_value **ret, rondo_error *err);
RONDO_API int rondo_session_forget(rondo_store *store, const char *session, const char *scope,
                                   rondo_error *err);

/* ---- workflow files ---------------------------------------------------------------------------------- */

/* A workflow that was written down, in YAML or JSON.  It is read and checked once (expressions,
   schemas, references, files beside it) and can then be run any number of times:

       rondo_flow_load("article.yaml", NULL, &flow, &err);
       rondo_flow_start(engine, flow, inputs, NULL, &run, &err);
       rondo_run_wait(run, &err);

   Agents of the kind `function: name` are functions of this program. */

/* One thing that is wrong with a file, or (is_warning) odd.  Texts are borrowed for the call. */
typedef struct rondo_problem {
    const char *file;  /* "" when it is about none, as missing inputs are */
    int line, column;  /* from 1; 0 when there is none */
    const char *code;  /* a word for programs: "unknown_key" */
    const char *message;
    const char *hint;  /* "did you mean 'until'?"; "" */
    bool is_warning;
    const char *text;  /* all of it for people, with the line and a caret; several lines */
} rondo_problem;

typedef struct rondo_flow_function {
    const char *name;
    rondo_function run; /* its task's input is the step's `with`, or what its container hands on */
    void *user;
} rondo_flow_function;

typedef struct rondo_flow_options {
    size_t size; /* RONDO_FLOW */
    const rondo_flow_function *functions; /* for `function:` agents, copied */
    size_t function_count;
    void (*report)(const rondo_problem *problem, void *user); /* told of everything, in order */
    void *user;         /* for report and variable */
    const char *folder; /* rondo_flow_parse(): where files beside the text are; NULL: none may be read */
    bool rehearse;      /* models, commands and scripts give made-up answers that fit their schemas */

    /* Models and their tools.  variable gives what the environment usually holds: keys ("OPENAI_API_KEY"), base
       URLs, "RONDO_MODEL"; NULL for what is not set.  Without it there are only the keys that the file itself
       refers to.  allow_tools lists what models may call, as --allow does: "read,grep,bash(git *)"; NULL:
       nothing that reaches outside of the conversation.  It is copied, and must be well-formed. */
    const char *(*variable)(const char *name, void *user);
    const char *allow_tools;
} rondo_flow_options;
#define RONDO_FLOW sizeof(rondo_flow_options)

/* Reads a file ("-": standard input), or a text that is called `name` in messages.  A file with errors
   is RONDO_EINVAL: err has the first one with its place, report is told of all.  options may be NULL. */
RONDO_API int rondo_flow_load(const char *path, const rondo_flow_options *options, rondo_flow **ret,
                              rondo_error *err);
RONDO_API int rondo_flow_parse(const char *name, const char *text, size_t len,
                               const rondo_flow_options *options, rondo_flow **ret, rondo_error *err);

/* A workflow with every file that was read for it, as one text, so that a run can be taken up again with
   the definition it had: free with rondo_text_free().  unbundle makes the same workflow of it and reads no
   file; what runs later (commands, context files) still looks into the original folder, and starting says
   so when that is gone.  The functions of the options are matched by name: a missing one is RONDO_EINVAL.
   A text that is damaged or from a newer version is RONDO_EINVAL too. */
RONDO_API char *rondo_flow_bundle(const rondo_flow *flow, size_t *ret_len);
RONDO_API int rondo_flow_unbundle(const char *text, size_t len, const rondo_flow_options *options,
                                  rondo_flow **ret, rondo_error *err);

/* The workflow as a node: a new reference, to be used like any other node, also inside of others.  Its
   input is then the object of its inputs, and it is the caller's task to give all of them. */
RONDO_API rondo_node *rondo_flow_node(rondo_flow *flow);

/* Starts a run.  inputs is an object (NULL: none), borrowed; defaults are filled in, and unknown, missing
   or unfit ones refused.  What the file says about timeout, budget and concurrency (5 unless it says
   otherwise) holds where options are silent. */
RONDO_API int rondo_flow_start(rondo_engine *engine, rondo_flow *flow, const rondo_value *inputs,
                               const rondo_run_options *options, rondo_run **ret, rondo_error *err);

/* The workflow that a run in the engine's store was started with, whatever became of its files since. */
RONDO_API int rondo_flow_stored(rondo_engine *engine, const char *id, const rondo_flow_options *options,
                                rondo_flow **ret, rondo_error *err);

/* Goes on with a run of this workflow that is in the engine's store, as rondo_run_resume(), or looks at it.
   A workflow that has changed since the run was started is RONDO_EMISMATCH, which names the first step and
   key: rondo_flow_stored() gives the one it was. */
RONDO_API int rondo_flow_resume(rondo_engine *engine, rondo_flow *flow, const char *id,
                                const rondo_run_options *options, rondo_run **ret, rondo_error *err);

RONDO_API int rondo_flow_look(rondo_engine *engine, rondo_flow *flow, const char *id, rondo_run **ret,
                              rondo_error *err);

/* Nodes and runs that were made from it stay good. */
RONDO_API void rondo_flow_free(rondo_flow *flow); /* NULL is fine */

/* ---- events ------------------------------------------------------------------------------------------ */

/* name, number, text.  Numbers are never reused; skip what you do not know. */
#define RONDO_EVENTS(X)                                                                         \
    X(WORKFLOW_START, 1, "workflow_start")                                                      \
    X(WORKFLOW_END, 2, "workflow_end")       /* status, output; the last event */               \
    X(STEP_START, 3, "step_start")           /* input */                                        \
    X(STEP_END, 4, "step_end")               /* completed: output */                            \
    X(STEP_FAILED, 5, "error")               /* value: the error text */                        \
    X(STEP_SKIPPED, 6, "step_skipped")                                                          \
    X(STEP_CANCELLED, 7, "step_cancelled")                                                      \
    X(ITERATION_START, 8, "iteration_start") /* path of the loop, pass, input */                \
    X(ITERATION_END, 9, "iteration_end")     /* pass, output, score */                          \
    X(LOOP_END, 10, "loop_end")              /* reason, pass: how many ran */                   \
    X(RETRY, 11, "retry")                    /* path of the step that will be tried again */    \
    X(MESSAGE, 12, "message")                /* an agent's own event: author, content, data */  \
    X(STATE, 13, "state")                    /* value: the delta */                             \
    X(MEMORY, 14, "memory")                  /* value: the entry */                             \
    X(MEMORY_TRIM, 15, "memory_trim")                                                           \
    X(GATE_WAITING, 16, "gate_waiting")                                                         \
    X(GATE_ANSWERED, 17, "gate_answered")                                                       \
    X(DETECTOR, 18, "detector")              /* reason */                                       \
    X(BUDGET, 19, "budget")                  /* what a task spent, see also SETTLED */          \
    X(CANCEL, 20, "cancel")                  /* value: why; reason: of a budget */              \
    X(DELAY, 21, "delay")                    /* a loop or an agent waits a while */             \
    X(TIMER, 22, "timer")                    /* a delay or limit (reason) has run out */        \
    X(ITEMS, 23, "items")                    /* value: the items of an each */                  \
    X(NOTE, 24, "note")                                                                         \
    X(RESUMED, 25, "run_resumed")                                                               \
    X(CHOICE, 26, "decision")                /* which case of a branch; a forum's next round */  \
    X(RULE_FAILED, 27, "rule_failed")        /* a judge, score, retry.on or output failed; value: why */  \
    X(REVIEW, 28, "review")                  /* what a reviewer decided; value: its feedback */  \
    X(FORKED, 29, "run_forked")              /* from here on it is a run of its own */          \
    X(REOPENED, 30, "run_reopened")          /* taken up again; `goesOn`: only loops are */      \
    X(RESERVE, 31, "budget_asked")           /* value: what a call may cost at most */          \
    X(GRANTED, 32, "budget_granted")         /* there is room for it: it may be made */         \
    X(REFUSED, 33, "budget_refused")         /* reason: which limit has no room for it */       \
    X(SETTLED, 34, "budget")                 /* what a call that was granted really cost */     \
    X(MESSAGE_SENT, 35, "message_sent")      /* value: { from, to, text, kind } */              \
    X(MESSAGE_DROPPED, 36, "message_dropped") /* value: { from, to, kind, why } */              \
    X(INBOX_DRAIN, 37, "agent_inbox_drain")  /* a step, or a pass of a loop, was given a message; value: as sent */ \
    X(AGENT_WAKE, 38, "agent_wake")          /* a step goes on because of messages */           \
    X(AGENT_IDLE, 39, "agent_idle")          /* and has read all of them */                     \
    X(WAKE_WARNING, 40, "max_wake_cycles_warning")                                              \
    X(COORDINATOR_INBOX, 41, "coordinator_inbox_message") /* what the coordinator is told */   \
    X(RESUME_QUEUED, 42, "resume_queued")    /* a step that has ended is to speak again, and is at it already */ \
    X(LIMITS, 43, "limits_changed")          /* value: { path, limits } */                      \
    X(STOP_ASKED, 44, "stop_asked")          /* value: why; the run is to stop between passes */ \
    X(LOOP_PAUSED, 45, "loop_paused")        /* pass: how many ran; the next one waits for run_resumed */ \
    X(FILES_SEEN, 46, "files_seen")          /* what `stall.files` names, before an agent and after it */ \
    X(OUTPUT, 63, "output")                  /* partial output; has no seq */

enum rondo_event_type {
#define RONDO_EVENT(name, number, text) RONDO_EV_##name = number,
    RONDO_EVENTS(RONDO_EVENT)
#undef RONDO_EVENT
};

/* An event is valid until the next call on its run or engine.  NULL is no event: its type is 0. */
RONDO_API int rondo_event_type(const rondo_event *event);
/* "step_end": the `type` in rondo_event_json().  Notes of a talk with a model are "agent_turn" and "tool_call".  What a
   coordinator says is "coordinator_narration" or "coordinator_synthesis".  A step that a message takes up again has
   "resume_started", "resume_completed" and "resume_failed".  A step that is cancelled before it begins is
   "step_skipped".  In files the start and the end of a container without a name are "decision". */
RONDO_API const char *rondo_event_name(const rondo_event *event);
RONDO_API uint64_t rondo_event_seq(const rondo_event *event);       /* from 1, no gaps; 0: partial */
RONDO_API int64_t rondo_event_time_ms(const rondo_event *event);    /* since 1970 */
RONDO_API rondo_run *rondo_event_run(const rondo_event *event);
RONDO_API const char *rondo_event_path(const rondo_event *event);   /* "" for the whole run */
RONDO_API const char *rondo_event_step(const rondo_event *event);   /* its own name */
RONDO_API const rondo_node *rondo_event_node(const rondo_event *event); /* NULL for the run */
RONDO_API int64_t rondo_event_pass(const rondo_event *event);       /* iterations, messages to a loop; else -1 */
RONDO_API int rondo_event_attempt(const rondo_event *event);
RONDO_API int rondo_event_status(const rondo_event *event);         /* enum rondo_status */
RONDO_API int rondo_event_reason(const rondo_event *event);         /* enum rondo_reason */
RONDO_API const char *rondo_event_why(const rondo_event *event); /* loop_end: why, in a sentence; "" for others */
RONDO_API rondo_value *rondo_event_value(const rondo_event *event); /* NULL when there is none */
RONDO_API const char *rondo_event_text(const rondo_event *event);   /* of its value; "" */
RONDO_API const char *rondo_event_author(const rondo_event *event); /* the agent that emitted it */
RONDO_API const char *rondo_event_skill(const rondo_event *event);  /* step_start: the skill chosen; "" */
RONDO_API bool rondo_event_score(const rondo_event *event, double *ret);
RONDO_API bool rondo_event_escalates(const rondo_event *event); /* its agent did; of a loop_end: one inside */

/* The event as one line of JSON in Zenflow's envelope, without the newline. */
RONDO_API const char *rondo_event_json(const rondo_event *event, size_t *ret_len);

#ifdef __cplusplus
}
#endif

#endif
