/* flow.h - a workflow file, read and checked: what nodes, prompts and pictures are made from.

   A flow is a definition: immutable once loaded, everything in it lives in its arena, and it is
   shared by counting, because nodes built from it point into it.  An included file is a flow of its
   own, owned by the one that includes it.

   Everything that runs is a *step*.  Where a file only names an agent (a member of a forum, a branch
   of a parallel, a judge), the loader makes a step for it, so that what follows knows one noun.  A
   step has one body; a loop is put around it.

   Expressions are compiled when the file is loaded.  What they may name is decided by the scope they
   stand in (flow/scope.h); a compiled name carries a struct flow_ref, which run/see.c follows. */
#ifndef RONDO_FLOW_H
#define RONDO_FLOW_H

#include "cel/cel.h"
#include "data/doc.h"
#include "data/schema.h"
#include "flow/diag.h"
#include "flow/node.h"

#define FLOW_BYTES_V1     (1024 * 1024)
#define FLOW_STEPS_V1     100
#define FLOW_TEXT_V1      2000 // bytes
#define FLOW_ITEMS_V1     100 // at a time
#define FLOW_INCLUDES_MAX 5   // files in files in files
#define FLOW_CHAIN_MAX    20  // @file that names another @file
#define FLOW_NAME_MAX     190 // bytes: as nodes have it, with room for a number

struct flow;
struct flow_step;
struct flow_scope;

enum flow_dialect { FLOW_V1, FLOW_RONDO };

/* ---- texts and expressions ----------------------------------------------------------------------- */

/* program is NULL when the file gave none. */
struct flow_expr {
    struct cel_program *program;
    const struct doc_val *at; // the text it was compiled from
    struct flow *flow;        // the file that is in
    const char *what;         // the key: "until", "condition"
};

/* A piece is literal text, or an expression whose value goes in. */
struct flow_piece {
    const char *text; // NULL: expr
    size_t len;
    struct flow_expr *expr;
};

struct flow_text {
    const char *text; // as written, @file followed; NULL when the file gave none
    size_t len;
    struct flow_piece *pieces; // at least one when there are holes; else NULL: text is all of it
    uint32_t piece_count;
    const struct doc_val *at;
};

/* A name with an expression or a text: `with`, `set`, `env`. */
struct flow_named {
    const char *name;
    struct flow_expr expr;
};

/* ---- names that expressions use ------------------------------------------------------------------- */

enum flow_ref_root {
    REF_INPUTS,    // inputs.k          name
    REF_STATE,     // state.k           name
    REF_INPUT,     // input
    REF_RUN_ID, REF_RUN_NAME,
    REF_BUDGET,    // budget.tokens.used   number: limit * 2 + (1: left)
    REF_STEP,      // steps.x.FIELD     scope, index, field; without scope the nearest step `name`
    REF_INNER,     // steps.x.steps.y.FIELD  scope, index, way (y, or y.steps.z joined by '/'), field
    REF_STEPS,     // `steps` itself, as a map: scope
    REF_ITERATION, REF_ITEM, REF_INDEX,
    REF_CONTENT, REF_RESULT, REF_STATUS, REF_BEST, REF_SCORE, // of the pass in question
    REF_FEEDBACK,  // feedback.FIELD
    REF_HISTORY,
    REF_ERROR,     // retry.on: why the step failed
    REF_CONTRIBUTIONS, // forum: what was said before
};

/* Fields of steps.x and feedback. */
enum flow_field {
    FIELD_ALL, // the whole thing, as a map
    FIELD_CONTENT, FIELD_RESULT, FIELD_STATUS, FIELD_ERROR, FIELD_USAGE, FIELD_REASON, FIELD_PASSES,
    FIELD_BEST, FIELD_SCORE, FIELD_HISTORY, FIELD_CAPPED, FIELD_ESCALATED, FIELD_BY, FIELD_STEPS,
    FIELD_INNER_STEPS, // result.innerSteps of an included file
    FIELD_TEXT, FIELD_PREVIOUS, FIELD_JUDGE, FIELD_ATTEMPT,
};

/* What a name in a compiled expression means: cel_ref.token points to one, in the flow's arena. */
struct flow_ref {
    uint8_t root;  // enum flow_ref_root
    uint8_t field; // enum flow_field
    bool as_int;   // an integer by its schema: 3.0 is 3
    bool is_v1;    // in a v1 file: what means nothing there is empty, not absent
    bool is_whole; // budget.tokens: both of its numbers, as a map
    bool is_reviewed; // a step with a review
    bool is_certain;  // the expression cannot do without it
    uint32_t index;  // of the step in its scope
    uint32_t number;
    uint32_t used;   // names of the path that it stands for,
    uint32_t inside; // of which these are selected from its value
    const struct flow_scope *scope; // which container's steps; for loop names: the loop's scope
    const char *name;
    const char *way;
};

/* The steps of one container, and what is around it.  At run time the activation whose node has
   this scope holds the results. */
enum flow_scope_kind { SCOPE_FILE, SCOPE_GROUP, SCOPE_LOOP, SCOPE_EACH, SCOPE_PARALLEL, SCOPE_BRANCH,
                       SCOPE_FORUM, SCOPE_MACHINE, SCOPE_TEAM };

struct flow_scope {
    uint8_t kind;                // enum flow_scope_kind
    bool lacks_steps;            // while it is loaded: some could not be read, or not their ids, which was told,
    bool hides_order;            // nor whether they are a sequence
    struct flow_scope *up;       // NULL at the top of a file: files do not see each other's steps
    struct flow *flow;
    struct flow_step *owner;     // the step whose body this is; NULL at the top of a file
    struct flow_step **steps;
    uint32_t count;
    uint32_t *order;             // topological: indexes into steps; NULL: they do not depend on each other
    uint32_t *slots, mask;       // where the first step of each id is, by hash; see scope_step()
    uint32_t *marks, mark, looks; // while it is loaded: who was looked at; see sight.c
};

/* ---- agents ------------------------------------------------------------------------------------------ */

enum flow_agent_kind { AGENT_MODEL, AGENT_COMMAND, AGENT_SCRIPT, AGENT_WORKFLOW, AGENT_FUNCTION };

/* What a command reads on its standard input: its prompt, the step's text as it is, or nothing. */
enum flow_stdin { STDIN_PROMPT, STDIN_INSTRUCTIONS, STDIN_NONE };

enum flow_env_kind { ENV_PASS, ENV_TEXT, ENV_FROM_ENV, ENV_FROM_FILE };

struct flow_env {
    const char *name;
    uint8_t kind;          // enum flow_env_kind
    struct flow_text text; // ENV_TEXT
    const char *from;      // ENV_FROM_*: the variable or file; its value is a secret
};

/* A schema of the file: its text, borrowed from the document, and what was compiled of it, which the flow owns.  NULL:
   there is none, or it is wrong. */
struct flow_schema {
    json_t *doc;
    struct schema *rules;
};

struct flow_skill {
    const char *name;
    struct flow_text description, prompt;
    struct flow_schema input_schema, result_schema;
};

/* A skill that is a folder with a SKILL.md (read_guides.c). */
struct flow_guide {
    const struct doc_val *at;
    const char *path;   // of the folder, as written
    const char *folder; // where that is; NULL: only its text is known
    const char *name, *description, *body;
};

struct flow_agent {
    const char *name;
    const struct doc_val *at, *name_at;
    struct flow *flow;
    uint8_t kind; // enum flow_agent_kind
    struct flow_text description;
    struct flow_text prompt; // its system text; without one that is the description, but not of a command
    struct flow_schema result_schema, input_schema;
    bool judges;   // of a loop it is the untilAgent
    struct flow_step **users; // the steps that it works for
    uint32_t user_count;
    bool is_mute;  // it gives texts and never a result
    bool is_loose; // result_schema is no JSON Schema: it is shown, and no answer is checked (v1)
    const char *output_key;
    const char *memory; // scope; NULL: the default, "": none
    int64_t timeout_ms;
    int effects; // enum rondo_effects
    bool cache;
    rondo_budget budget;
    int64_t max_output; // bytes
    struct flow_skill *skills;
    uint32_t skill_count;
    struct flow_guide *guides;
    uint32_t guide_count;
    bool project_notes; // it is shown the AGENTS.md of where it works
    /* model */
    const char *model; // NULL: the default
    const char **tools, **disallowed_tools;
    uint32_t tool_count, disallowed_count;
    bool has_tools; // an empty list is not the same as none
    const char **workers; // agents that it gives work to
    uint32_t worker_count;
    int max_turns;
    double temperature, top_p; // NaN: not given
    int64_t max_tokens;
    const char *effort;
    /* command: argv, or text for the shell */
    struct flow_text *argv;
    uint32_t argc;
    const char *shell;
    int input; // enum flow_stdin
    struct flow_text cwd;
    struct flow_env *env;
    uint32_t env_count;
    bool inherits; // env: inherit
    int64_t grace_ms; // -1: not given
    int64_t idle_ms;  // how long it may print nothing; 0: as long as it likes
    bool has_sandbox, sandbox_network;
    const char **sandbox_write;
    uint32_t sandbox_write_count;
    bool comes_first; // of a step that nothing comes before
    bool is_certain;  // of a step that no condition stands before
    /* the others */
    json_t *script;         // a list of replies, borrowed
    struct flow *workflow;  // the file it names
    const char *function;
};

/* ---- steps ---------------------------------------------------------------------------------------------- */

enum flow_body { BODY_AGENT, BODY_INCLUDE, BODY_STEPS, BODY_PARALLEL, BODY_BRANCH, BODY_FORUM, BODY_GATE,
                 BODY_SET, BODY_MACHINE };

/* What a step is there for. */
enum flow_part { AS_STEP, AS_JUDGE, AS_SCORER, AS_MEMBER, AS_CAPTAIN, AS_REVIEWER, AS_TOOL };

struct flow_loop {
    const struct doc_val *at;
    bool is_each;
    /* each */
    json_t *items;          // a literal list, borrowed; NULL: items_expr
    struct flow_expr items_expr;
    int max_concurrency;
    int on_item_failure;    // enum rondo_on_error
    /* repeat */
    int max_iterations;     // 0: not given; RONDO_UNBOUNDED
    struct flow_expr while_, until, next, score;
    struct flow_step *judge, *scorer; // AS_JUDGE, AS_SCORER
    int64_t delay_ms;
    int on_max;             // enum rondo_on_max, the defaults of files applied
    int output_mode;        // enum rondo_output_mode
    const char *output;
    int patience;
    double min_gain;
    int stall_repeats, stall_action;
    const char **stall_files; // patterns of files that are compared instead of outputs
    uint32_t stall_file_count;
    bool stall_words; // both are
    int memory_mode, memory_window;
    bool no_feedback;
    struct flow_text feedback;
    int on_error, max_failures, max_history;
    int64_t timeout_ms;
    rondo_budget budget;
    int on_failure;         // of the body's graph: enum rondo_failure_policy
    bool is_sequence;
    bool compat_adk;
    bool must_hold;
    struct flow_scope *scope; // of `steps`; one without steps when the step's own body is repeated
};

struct flow_case { // of a branch
    const char *name;
    struct flow_expr when; // no program: else
    struct flow_step *step;
};

struct flow_edge {
    const char *from, *to; // to: "end" stops
    struct flow_expr when;
};

struct flow_review {
    struct flow_step *reviewer; // AS_REVIEWER: an agent or a gate
    int max_retries, max_predecessor_retries;
    int on_exhausted; // EXHAUSTED_*, see flow/node.h
};

struct flow_step {
    const char *id;
    const struct doc_val *at, *id_at;
    struct flow *flow;
    struct flow_scope *scope; // the one it stands in
    uint32_t index;           // and its place there
    uint8_t body;             // enum flow_body
    uint8_t part;             // enum flow_part
    bool is_made;             // the file only named an agent here
    bool needs_break;         // nothing but its body can end its loop, or the machine that it is
    bool is_mute;             // its work never has a result: nobody whose answers are texts gives one
    bool hides_waits;         // nor for whom it waits,
    struct flow_text instructions;
    const char **depends_on;
    uint32_t depends_count;
    const uint32_t *deps;     // the same as indexes into the scope
    struct flow_expr condition;
    const char **context_files;
    uint32_t context_count;
    const char *model;
    int64_t timeout_ms;       // options.stepTimeout applied to leaves; with a loop: of
                              // each pass, and what the file says here is in loop->timeout_ms
    int max_retries;          // transport; -1: not given
    rondo_retry retry;        // without `on`
    struct flow_expr retry_on;
    int64_t retry_timeout_ms; // of one try; 0: none
    int64_t idle_ms;          // of the command of `run`; 0: none
    rondo_budget budget;
    int run_on;               // enum rondo_run_on
    struct flow_named *with;
    uint32_t with_count;
    bool has_timeout;         // the file says one here, be it 0
    bool has_with;
    bool takes_previous;      // in a sequence: its input is the output of the step before
    struct flow_schema input_schema; // none: the agent's
    struct flow_review *review; // NULL
    struct flow_loop *loop;     // NULL
    /* bodies */
    struct flow_agent *agent;   // BODY_AGENT; NULL: the default model agent
    struct flow_agent *command; // what `run` of the step and the keys that go with it say: then the agent; NULL
    struct flow_scope *team;    // BODY_AGENT: agents that its model may call (team.c); NULL
    bool only_answers;          // AS_TOOL: one answer, without tools
    struct flow *include;       // BODY_INCLUDE, or BODY_AGENT with a workflow agent; NULL: not loaded
    const char *include_path;
    struct flow_scope *inner;   // STEPS, PARALLEL, BRANCH (one step a case), FORUM (members, then the
                                // captain), MACHINE (states)
    bool is_sequence;           // STEPS
    int on_failure;             // STEPS: enum rondo_failure_policy
    int mode, max_concurrency;  // PARALLEL: enum rondo_parallel_mode
    struct flow_case *cases;
    uint32_t case_count;
    int rounds, quorum, show;   // FORUM
    bool early_return;
    struct flow_edge *edges;    // MACHINE
    uint32_t edge_count;
    const char *start;
    int max_steps;
    struct flow_text ask;       // GATE
    struct flow_schema gate_schema;
    json_t *gate_answer;        // borrowed; NULL
    int64_t gate_timeout_ms;
    bool gate_exits; // onTimeout: exit
    struct flow_named *set;     // SET
    uint32_t set_count;
};

struct call_env;

/* ---- files ------------------------------------------------------------------------------------------------- */

struct flow_input {
    const char *name;
    struct flow_schema schema;
    json_t *default_;     // borrowed; NULL: required
};

struct flow {
    uint32_t refs;
    struct arena arena;
    struct doc *doc;
    struct source *source;
    char *folder;         // of the file, absolute, links resolved; NULL when it came from memory
    const char *workdir;  // where its agents work: the folder, or the one around it when that is a project's `.rondo`
    uint8_t dialect;      // enum flow_dialect
    struct flow *outer;   // the file that includes this one, borrowed
    const char *name;
    struct flow_text description;
    struct flow_input *inputs;  // as the document has them
    uint32_t input_count;
    bool knows_inputs;          // while it is loaded: their names could be read
    struct flow_agent **agents;
    uint32_t agent_count;
    struct flow_scope *scope; // its steps
    struct flow_keys *keys;   // that it writes to its state; flow/keys.h
    bool is_sequence;
    struct flow_expr output;
    rondo_budget budget;
    const char *model;          // options.model
    struct flow_agent *agent;   // options.agent: for steps without one
    const char *memory;         // options.memory
    int on_failure;
    int max_concurrency;        // 0: not given
    int max_retries;            // -1: not given
    int64_t timeout_ms, step_timeout_ms, cleanup_ms;
    const char *isolation, *scheduler, *store, *durability;
    int on_unknown;             // enum rondo_on_unknown
    bool shared_memory, cache;
    struct flow_step *coordinating; // made for the coordinator's agent; NULL
    json_t *models, *mcp_servers, *coordinator; // as in the file, checked; borrowed; NULL
    const struct call_env *env; // what the program that embeds it said, in the arena; NULL
    void *kept;                 // of upper layers, let go of with the flow by drop; NULL
    void (*drop)(void *kept);
    struct flow **files;        // included ones and those of workflow agents, owned
    uint32_t file_count, file_cap;
    struct cel_program **programs; // everything that was compiled, owned
    uint32_t program_count, program_cap;
    uint32_t expr_count; // that were to be compiled
    uint32_t searches;     // for steps that texts of agents name
    struct schema **schemas;
    uint32_t schema_count, schema_cap;
    struct bundle *bundle;      // of the outermost: what was read; flow/bundle.h
};

/* Do its steps work in worktrees of their own? */
bool flow_isolates(const struct flow *flow);

const struct flow_input *flow_input(const struct flow *flow, const char *name); // NULL: there is none
const struct flow_input *flow_input_of(const struct flow *flow, const char *name, size_t len); // the same
bool flow_step_gives(const struct flow_step *step, const char *name); // by `with`
void flow_add_defaults(const struct flow *flow, json_t *inputs); // what a file is not given it has by itself
bool flow_step_is_file(const struct flow_step *step); // does it run a file, as an include or as an agent?

/* A forEach around a body that is the step's own: then `with` is made for every item, as the input of its body. */
bool flow_step_repeats_items(const struct flow_step *step);

/* The step whose `with` it is given: itself, or the one that lists its agent. */
const struct flow_step *flow_giver(const struct flow_step *step);
bool flow_scope_has_late(const struct flow_scope *scope);                      // steps that failures may start

/* Does nothing in the workflow come before the step, that could have made a file for it?  False when that is not
   known. */
/* How long one call of the step's command may take; 0: as long as it likes. */
int64_t flow_step_command_ms(const struct flow_step *step);

bool flow_step_comes_first(const struct flow_step *step);
bool flow_step_is_certain(const struct flow_step *step); // does no condition stand before it?

/* An empty flow with one reference; takes a reference to source. */
struct flow *flow_new(struct source *source);

/* What a flow owns; all take. */
void flow_own_program(struct flow *flow, struct cel_program *program);
void flow_own_schema(struct flow *flow, struct schema *schema);
void flow_own_file(struct flow *flow, struct flow *file);

/* ---- loading -------------------------------------------------------------------------------------------------- */

/* How files beside the workflow are read; NULL functions: nothing may be read.  The loader itself
   does no I/O.

   read: the file `path`, relative to `folder`, which it must not leave once links are resolved; at
   most max bytes.  Fills out, and *ret_folder (the caller's) with the folder that the file is in.
   Codes: RONDO_ENOTFOUND, RONDO_EINVAL (leaves the folder), RONDO_ELIMIT, RONDO_EFAILED; messages begin
   with the path.

   look: is there such a file, that is only read when a step is shown it?  0 or a code; NULL: nobody asks.

   find: is there such a command, by its path from `folder` or by a name in PATH?  0 or a code: what is said of it is
   only a warning; NULL: nobody asks.

   has: is there what a command was promised, by its name or by its path from `folder`, or a file that a pattern fits?
   As find. */
enum flow_need { NEED_VARIABLE, NEED_FILE, NEED_FOLDER, NEED_MATCH };

struct flow_files {
    int (*read)(void *user, const char *folder, const char *path, size_t max, struct buf *out,
                char **ret_folder, rondo_error *err);
    void *user;
    int (*look)(void *user, const char *folder, const char *path, rondo_error *err);
    int (*find)(void *user, const char *folder, const char *command, rondo_error *err);
    int (*has)(void *user, const char *folder, enum flow_need need, const char *name, rondo_error *err);
};

struct flow_load {
    const struct flow_files *files; // NULL: nothing beside the text may be read
    const char *folder;             // of the workflow; NULL: there is none
    bool is_json;                   // the text is JSON
    bool is_lenient; // v1: a file that is not there is only a warning (checking, not running)
    const char *coordinator; // a model that coordinates, whatever the file says; NULL
    bool is_kept; // a run was started with it: it was good then
};

/* The flow, with one reference, and what is to be said about it in diags; NULL when there are errors.
   Takes no reference to anything in `how`. */
struct flow *flow_load(struct source *source, const struct flow_load *how, struct diags *diags);
struct flow *flow_ref(struct flow *flow);
void flow_unref(struct flow *flow); // NULL is fine

/* The order in which v1 would start the steps, as ids; see flow_scope.order. */
json_t *flow_order_json(const struct flow *flow);

/* Every step of the flow, or of one step and in it: inner ones and included files too, outer before inner. */
void flow_each_step(const struct flow *flow, void (*visit)(struct flow_step *step, void *user), void *user);
void flow_each_step_in(struct flow_step *step, void (*visit)(struct flow_step *step, void *user), void *user);

/* ---- building --------------------------------------------------------------------------------------------------- */

/* What nodes call; the upper layers give the functions (see engine/flows.c).  `user` of every
   callback is what it is about: flow_step for when, retry, input, run and ask; flow_loop for the rules
   and items of a loop; flow_case and flow_edge for theirs; flow for output.

   Which nodes have a scope: a graph that was made of steps (a file, a group, the body of a loop), and
   also the loop, each, parallel, branch, forum or machine itself. */
/* Where the answers of a step come from in a rehearsal: nobody asks it, or the file itself says them; they are made up;
   somebody gave them. */
enum flow_answers { ANSWERS_OWN, ANSWERS_MADE_UP, ANSWERS_GIVEN };

struct flow_hooks {
    rondo_predicate when, retry, case_, edge, while_, until;
    rondo_producer input, pass, item, next, items, output, ask;
    rondo_scorer score;
    rondo_function run; // every leaf that is not a gate
    const struct watcher *watcher; // of loops with stall_files
    int passes_max;     // of loops without a cap, which then end as if that was wanted; 0: none
    /* What a rehearsal makes up leads loops to their caps: that does not fail them, unless answers of a step in them
       were given.  NULL: it is no rehearsal. */
    enum flow_answers (*answers)(const struct flow_step *step, const void *user);
    const void *user; // of answers
};

/* The node that runs the flow: a new reference.  It holds a reference to the flow. */
rondo_node *flow_build(struct flow *flow, const struct flow_hooks *hooks);

#endif
