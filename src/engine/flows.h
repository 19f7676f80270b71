/* flows.h - running workflow files: where definitions, expressions and agents meet the engine. */
#ifndef RONDO_FLOWS_H
#define RONDO_FLOWS_H

#include "agent/call.h"
#include "engine/flow_files.h"
#include "flow/drift.h"

/* The inputs of a run: what was given, with defaults filled in, each checked by its schema.  All
   problems go to diags (about no text).  New; NULL when there are errors. */
json_t *flows_inputs(const struct flow *flow, json_t *given, struct diags *diags);

/* Starts a run.  inputs is borrowed and comes from flows_inputs(); env and options too, and env must
   stay until the run is closed.  What the file says (timeout, budget, concurrency, 5 by default) holds
   where options are silent.  about (NULL; borrowed): what a store is to remember of how it was started. */
int flows_start(rondo_engine *engine, struct flow *flow, const struct call_env *env, json_t *inputs,
                const rondo_run_options *options, json_t *about, rondo_run **ret, rondo_error *err);

/* What runs of this file are made of: a new reference. */
rondo_node *flows_node(struct flow *flow);

/* What somebody says to a run of this file, without its secrets as far as they are known here.  Takes value. */
json_t *flows_clean(const struct flow *flow, json_t *value);

/* The same for an error that says what is wrong with it.  Returns the code. */
int flows_hide(const struct flow *flow, const json_t *about, rondo_error *err);

/* Goes on with a run of this file that is in the engine's store. */
int flows_resume(rondo_engine *engine, struct flow *flow, const struct call_env *env, const char *id,
                 const rondo_run_options *options, rondo_run **ret, rondo_error *err);

/* Whether a run was started with this version of a file, of which the store keeps that text (not a shape).
   RONDO_EMISMATCH names the first step that differs, and the key. */
int flows_check_version(const struct flow *flow, const char *id, const char *text, size_t len, rondo_error *err);
struct cut_changes;
struct journal;
struct replay_report;

/* cut_in_store(), replay_check() with a run of this file.  to, move: the fork goes on with that version of it; when it
   may not, *ret_id stays as it is, and there is no fork.  NULL, NULL: with its parent's. */
struct flows_move;
int flows_fork(rondo_engine *engine, struct flow *flow, const char *parent, const char *path,
               const struct cut_changes *changes, struct flow *to, struct flows_move *move, char **ret_id,
               rondo_error *err);
int flows_replay(rondo_engine *engine, struct flow *flow, const char *id, struct journal *journal,
                 struct replay_report *ret, rondo_error *err);

int flows_look(rondo_engine *engine, struct flow *flow, const struct call_env *env, const char *id,
               rondo_run **ret, rondo_error *err);

/* What differs between the workflow that a run has and another version of it, and whether the run may move there.
   All zero at first; clear it. */
struct flows_move {
    struct drift drift; // marked by drift_allows()
    bool is_allowed;    // false: nothing was changed
    struct buf at;      // then: a fork there may move to that version; empty: none may
};

void flows_move_clear(struct flows_move *move);

/* Moves a stored run, which nobody drives, from one version to the other: its log is rewritten, its definition
   replaced, both in one commit.  failed_items: the run is then resumed with --failed. */
int flows_migrate(rondo_engine *engine, struct flow *old, struct flow *flow, const char *id, bool failed_items,
                  struct flows_move *ret, rondo_error *err);

#endif
