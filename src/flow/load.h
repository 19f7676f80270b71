/* load.h - what the passes of loading a workflow file share.

   A file is loaded in passes, because later ones need all of what earlier ones make:

       read    the document into structs, key by key, by the tables of fields.h   (read.c, read_agent.c, read_step.c)
       link    scopes to each other, names of agents to agents                    (link.c)
       rules   what no single key can know                                        (rules*.c)
       files   @file, include, workflow: other files                              (files.c)
       compile schemas, expressions and texts with holes                          (compile.c)
       fit     values of the file to schemas of the file                          (fitting.c)

   Each pass reports everything that it finds.  A pass copes with what an earlier one refused, so
   that one mistake does not hide another; it does not report anything twice. */
#ifndef RONDO_LOAD_H
#define RONDO_LOAD_H

#include "flow/fields.h"
#include "flow/flow.h"

/* In which order Zenflow looks at things; the first error that it would report comes first. */
enum load_stage {
    STAGE_DECODE,
    STAGE_TEXT,
    STAGE_AGENT_NAME,
    STAGE_NAME,
    STAGE_STEPS,
    STAGE_VERSION,
    STAGE_AGENT,
    STAGE_ID,
    STAGE_EMPTY,
    STAGE_INCLUDE,
    STAGE_LOOP_CONCURRENCY,
    STAGE_LOOP_STEPS,
    STAGE_FOREACH,
    STAGE_ITERATIONS,
    STAGE_INNER_LOOP, // from here on: the steps of a loop
    STAGE_INNER_ID,
    STAGE_INNER_DUPLICATE,
    STAGE_INNER_AGENT,
    STAGE_INNER_INCLUDE,
    STAGE_INNER_DEPENDENCY,
    STAGE_INNER_CYCLE,
    STAGE_OUTPUT_MODE,
    STAGE_JUDGE,
    STAGE_OPTIONS,
    STAGE_REFERENCE,
    STAGE_DEPENDENCY,
    STAGE_ENUM,
    STAGE_CYCLE,
    STAGE_CAPS,
    STAGE_RONDO, // what Zenflow does not look at
};

/* An expression or text that is compiled when all scopes are known. */
struct pending {
    const struct field *field;
    const char *what;
    struct flow_step *step; // whose; NULL: the file's,
    struct flow_agent *agent; // or an agent's
    const struct doc_val *at;
    struct flow_expr *expr; // or
    struct flow_text *text;
    struct scope_file *file; // which the text is read from; NULL
};

/* An agent that is named somewhere. */
struct naming {
    const struct doc_val *at;
    struct flow_agent **ret;
    const char *code;
    uint8_t stage;
};

struct pending_schema {
    const struct doc_val *at;
    struct flow_schema *to;
};

/* A key whose value is not known: it was refused, or given to a key that is not known and probably meant this one. */
struct slip {
    const struct doc_val *map;
    const char *meant;
};

/* Of a workflow with all its files, so that aliases and includes cannot multiply without end. */
struct load_totals {
    uint32_t files, steps;
    int64_t check_steps; // left, to look at values that have to fit a schema
    struct bundle *bundle; // everything that was read
};

/* Files that are open: each includes the next. */
struct loading {
    struct loading *outer;
    struct flow *flow;
    struct diags *diags;
    const struct flow_load *how;
    const char *file_name; // in flow->folder; NULL
    uint32_t depth;        // files around this one
    uint32_t nesting;      // steps around this file
    struct load_totals *totals;
    bool is_v1;
    bool only_decodes;      // what is read is not kept: just its types and keys are looked at
    struct flow_step *step; // which is being read, NULL at the top
    struct flow_agent *agent; // the same
    struct flow_case *case_;
    struct shelf *shelf; // files that were opened; see files.c
    uint32_t commands;   // that were looked for
    struct scope_file *texts; // that were read
    struct pending *pendings;
    uint32_t pending_count, pending_cap;
    struct flow_agent **by_name; // the agents, sorted
    struct naming *namings;
    uint32_t naming_count, naming_cap;
    struct pending_schema *schemas;
    uint32_t schema_count, schema_cap;
    uint32_t schema_agent; // whose schema is the next, if it has one
    struct slip *slips;    // as many as are told
    uint32_t slip_count, slip_cap;
    const struct doc_val *map; // whose key is being read,
    const char *key;           // and which; NULL: one that is not known
};

#define FLOW_FILES_MAX 500 // of one workflow, all includes together
#define FLOW_STEPS_MAX 200000
#define FLOW_NESTING_MAX 40 // steps in steps, included files too

/* An error at a place in the file that is being loaded. */
#define load_error(l, stage_, at, code, ...) \
    load_at_stage(l, diag_at((l)->diags, (l)->flow->source, at, code, __VA_ARGS__), stage_)
struct diag *load_at_stage(const struct loading *l, struct diag *diag, uint8_t stage);

/* The rule is younger than some runs: in a file that a run was started with it only warns. */
void load_spare(const struct loading *l, struct diag *diag);

/* Adds "did you mean `x`?" if one of the keys or words is near, and 'x' if it is a name. */
void load_suggest(struct loading *l, struct diag *diag, const char *text, const char *const *names,
                  size_t count);
void load_suggest_name(struct loading *l, struct diag *diag, const char *text, const char *const *names,
                       size_t count);
void load_suggest_agent(struct loading *l, struct diag *diag, const char *text);
void load_suggest_step(struct loading *l, struct diag *diag, const char *text,
                       const struct flow_scope *scope);
const char *load_nearest_step(const struct loading *l, const char *text, const struct flow_scope *scope); // or NULL

/* The value of a key that is there and not null; NULL. */
struct doc_val *load_get(const struct doc_val *map, const char *key);

/* Whether a key is there and not null, or was probably meant by one that is not known: then all that has to be said
   about it was said. */
bool load_has(const struct loading *l, const struct doc_val *map, const char *key);

/* Whether a key says what was read, or is not there at all.  If not, that was told, and nothing that depends on it
   can be said. */
bool load_knows(const struct loading *l, const struct doc_val *map, const char *key);
void load_slip(struct loading *l, const struct doc_val *map, const char *meant); // so it is not
void load_refuse(struct loading *l); // nor is the key that is being read

/* The value, if it is the map that it should be; NULL. */
struct doc_val *load_get_map(const struct doc_val *map, const char *key);

/* ---- read.c ------------------------------------------------------------------------------------ */

/* What a value looks like, for messages: "12", "the text 'x'", "a list". */
const char *read_shown(struct loading *l, const struct doc_val *val);

/* The text of a scalar where a text is wanted; NULL after an error. */
bool read_is_text(const struct loading *l, const struct doc_val *val);
const char *read_text(struct loading *l, const struct doc_val *val, const char *what);
bool read_clean(struct loading *l, const struct doc_val *val, const char *what, const char **ret,
                size_t *ret_len);

/* Whether a text reads as it is written: code that only looks harmless is refused.  It stays as it is. */
bool read_is_upright(struct loading *l, const struct doc_val *val, const char *what);

/* What changes the direction of writing makes a file look like another one, wherever it is: in comments, too.  v1
   minds it in some texts only. */
void read_directions(struct loading *l, struct source *source);

/* Warns of what looks like a hole in a text that has none. */
void read_no_holes(struct loading *l, const struct doc_val *val);
void read_object(struct loading *l, const struct fields *table, const struct doc_val *at, void *into);
void read_field(struct loading *l, const struct field *field, const struct doc_val *val, void *into);
bool read_expect(struct loading *l, const struct doc_val *val, enum doc_kind kind, const char *what);

/* A map among others that have names: if it is none, that says nothing about the names.  meant is what it may have
   said all the same. */
bool read_expect_entry(struct loading *l, const struct doc_val *val, const char *name, const char *meant);
void read_expr(struct loading *l, const struct field *field, const char *what,
               const struct doc_val *val, struct flow_expr *ret);
void read_holes(struct loading *l, const struct field *field, const char *what,
                const struct doc_val *val, struct flow_text *ret);
void read_agent_name(struct loading *l, const struct doc_val *val, struct flow_agent **ret,
                     const char *code, uint8_t stage);

/* ---- read_step.c -------------------------------------------------------------------------------- */

struct flow_step *read_new_step(struct loading *l, const struct doc_val *at);

/* A step that the file only names an agent for. */
struct flow_step *read_made_step(struct loading *l, const struct doc_val *name, enum flow_part part,
                                 const char *id, const char *code, uint8_t stage);

/* ---- the passes ---------------------------------------------------------------------------------- */

void load_read(struct loading *l);
void load_link(struct loading *l);
void load_rules(struct loading *l);
void load_teams(struct loading *l);                              // team.c
void rules_graph(struct loading *l, struct flow_scope *scope);   // rules_graph.c: ids, order
void rules_models(struct loading *l);                            // rules_model.c
void rules_place(struct loading *l, const struct doc_val *row, const char *key); // an address of the web, if any
void rules_agents(struct loading *l);                            // rules_agent.c
void rules_step_model(struct loading *l, const struct flow_step *step); // whether its agent has any use for `model`
void rules_step(struct loading *l, struct flow_step *step);      // rules_step.c
bool rules_has_limit(const rondo_budget *b);
bool rules_is_limited(const struct flow_step *step);             // is a budget or a timeout around what it repeats?
bool rules_can_break(const struct flow_scope *scope);            // may a step in it end the loop around it?
void rules_machine(struct loading *l, struct flow_step *step); // rules_machine.c
void rules_judge(struct loading *l, const struct flow_loop *loop); // rules_judge.c
void rules_judges(struct loading *l); // the rest of it, once schemas have been compiled
void rules_reviewer(struct loading *l, const struct flow_step *reviewer);
void rules_loop(struct loading *l, struct flow_step *step);      // rules_loop.c
void rules_budgets(struct loading *l);                           // rules.c: whether anything counts towards them
void load_files(struct loading *l);

/* A file beside the workflow, or in a folder beside it; noted in the bundle. */
int load_read_file(struct loading *l, const char *path, size_t max, struct buf *out, char **ret_folder,
                   rondo_error *err);
void load_guides(struct loading *l); // read_guides.c
void load_compile(struct loading *l);
void load_fit(struct loading *l);
bool load_skill_decides(const struct flow_agent *agent); // which schema a result has to fit?
void load_fit_script(struct loading *l, const struct flow_agent *agent);

/* What is known of an input: of what stands beside a step, of what is in it, and of a file. */
struct scope_given load_given_beside(const struct flow_step *step);
struct scope_given load_given_inside(const struct flow_step *step);
struct scope_given load_given_file(const struct flow *flow);

/* The value that a JSON Pointer means, or the last one on the way there; its key of that name, unless key is
   NULL. */
const struct doc_val *load_follow(const struct doc_val *val, const char *pointer, const char *key);

/* A file in a file, as far as it could be read.  Takes folder. */
struct flow *load_inner(struct loading *l, struct source *source, char *folder, const char *file_name,
                        bool *ret_is_good);

/* ---- names of steps and agents -------------------------------------------------------------------- */

/* Whether `agents` could be read: if not, nothing can be said about who is not there. */
bool load_knows_agents(const struct loading *l);

/* NULL when there is none. */
struct flow_agent *load_find_agent(const struct loading *l, const char *name);

/* The scope that the body of a step stands in: a loop is around it. */
struct flow_scope *load_body_scope(const struct flow_step *step);

/* Whether the steps of a scope wait for each other. */
bool load_is_graph(const struct flow_scope *scope);

/* Calls visit for every step of the file itself, also those that were made; outer before inner. */
void load_each_step(struct loading *l, void (*visit)(struct loading *l, struct flow_step *step));

/* The stage of a problem of a step: Zenflow looks at the steps of a loop when it looks at the loop. */
uint8_t load_stage_in(const struct flow_scope *scope, uint8_t stage);
#endif
