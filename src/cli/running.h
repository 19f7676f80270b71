/* running.h - what the commands that drive a run share: run, rehearse, resume.

   Each is a list of stages; the first that does not give EXIT_OK ends it.  Nothing that can be known
   before a run is found out on the way. */
#ifndef RONDO_RUNNING_H
#define RONDO_RUNNING_H

#include "agent/call.h"
#include "cli/answers.h"
#include "cli/command.h"
#include "cli/means.h"
#include "store/store.h"

/* Options of all of them; each command's table fills in those that it has. */
struct run_args {
    bool json, quiet, verbose, plan, commands, migrate;
    struct means_args means;
    const char *inputs, *context, *workdir, *store, *prompts, *answers, *script, *notify, *session;
    bool follow, full, diff;              // of events, history
    const char *path, *type, *step, *at;  // of events, history, fork
    int64_t pass;                         // of history, fork: from 1; 0: not given
    struct texts set;
    const char *system, *tools, *mcp, *schema; // of agent
    struct texts attach;
    bool project_notes;
    int64_t max_depth;
    const char *record, *replay, *workflow;
    const char *save; // of goal
    bool yes, allow_commands, rehearse;
    bool failed; // of resume
    double max_cost;
    const char *coordinator;
    int64_t max_tokens, timeout_ms, max_concurrency, max_retries, max_turns;
    struct texts input, limit;
};

/* What a command has while it works; everything is let go of in the end. */
struct running {
    const struct cmdline *line;
    const struct run_args *args;
    const char *command, *file; // file: the first argument
    bool rehearses;
    bool looks_at_any; // also at runs of programs that made their definitions in C: then there is a node and no flow
    bool only_looks; // nothing is written: the store may be somebody else's, or on a disk that cannot be written
    struct flow *flow;
    rondo_node *node; // of a run that has no flow
    char *name;       // running_find(): of the workflow
    json_t *inputs;
    json_t *about; // what a store remembers of how the run was started; NULL
    char *id;      // running_find(): the run's, in full
    char *shown_id; // the same for messages: one of an older version may have anything in it
    char *holder;  // and who drives it, "" for nobody
    int status;
    struct call_env env;
    struct means means;
    struct answers answers;
    struct store *store; // NULL: the run is in memory only
    bool has_snapshot;   // everything is read as it was when the command began
    rondo_engine *engine;
    rondo_run *run;
    rondo_usage spent; // for the run, before it: counts as its own
    bool waits; // for a person, and nobody drives it
    bool had_ended; // the run had ended, and this command is to go on with it
    uint64_t past; // events that the run had before this command went on with it
};

/* Carries the stages out in their order and cleans up; gives an enum exit_code. */
int running_go(struct running *r, int (*const *stages)(struct running *r), size_t count);

/* Stages. */
int running_check_args(struct running *r);
int running_prepare_env(struct running *r);
int running_check_agents(struct running *r);
int running_read_answers(struct running *r); // --answers
int running_draw_plan(struct running *r);
int running_check_gates(struct running *r); // somebody can answer them, or they can wait
int running_open_engine(struct running *r);
int running_start(struct running *r); // of r->flow with r->inputs
int running_carry_out(struct running *r);

/* What the command line says about the run itself. */
rondo_run_options running_options(const struct running *r);

/* Can somebody answer a gate: is there a terminal, or are there answers? */
bool running_has_answers(const struct running *r);

/* Stage: the stored run that the first argument names, with its definition; the store is open then.  A command that
   only looks has a snapshot of the store until its end, or until it ends it: while it waits for something. */
int running_find(struct running *r);
void running_end_snapshot(struct running *r);

/* Does this process work within the run that was found?  Then it does not answer its gates; the second one is a stage
   that refuses it. */
bool running_is_within(const struct running *r);
int running_check_within(struct running *r);

/* Stage, after running_find(): the run as far as it has come, to look at. */
int running_look(struct running *r);

/* Opens the store that the options, or the file, name; none for :memory:. */
int running_open_store(struct running *r, bool must_exist);

/* A command about run `id` of the open store to type next, as a shell takes it and a terminal may show it. */
void running_put_next(const struct running *r, const char *command, const char *id, const char *rest, struct buf *out);
void running_tell_kept(const struct running *r); // what was sent to a run that nobody drives

/* An error of the library before the run began: says it and gives the code for the shell. */
int running_fail(struct running *r, const rondo_error *err);
int running_fail_said(struct running *r, const rondo_error *err); // of something that the command line says

#endif
