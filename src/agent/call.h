/* call.h - one call of an agent of a workflow file.

   The engine calls agent_run() as the function of every leaf that a file defines; what kind of agent
   it is decides who carries it out.  Each of them answers through the task's public functions. */
#ifndef RONDO_CALL_H
#define RONDO_CALL_H

#include "flow/flow.h"
#include "flow/reply_form.h"
#include "io/loop_uv.h"
#include "model/target.h"
#include "run/see.h"

struct isolated;
struct permit;
struct tool;
struct secrets;
struct step_names;
struct result;

/* How agents of a run are carried out: what the command line or the embedding program said.  Lives
   as long as the run; everything in it is borrowed. */
struct call_env {
    bool rehearse;          // models, commands, tools and gates are replaced by built-in answers
    bool commands;          // though rehearsing, commands do run
    json_t *script;         // rehearse --script: path or step id -> reply or list of replies; NULL
    const char *prompts;    // a folder that every prompt is written to; NULL
    const char *context;    // text for [Flow Context]; NULL
    const char *workdir;    // where commands run; NULL: the workflow's folder
    const char *model;      // --model; NULL
    const char *coordinator; // the model that coordinates; NULL: as it was when the run was started
    int64_t max_turns;      // of a model in one step; 0: as the file says
    int64_t max_retries;    // of a request to a model, where the file says nothing; -1: the default
    const struct flow_function *functions; // for `function:` agents
    size_t function_count;
    struct recorder *recorder; // what agents say is written down; NULL
    struct player *player;     // agents are not called, a recording answers for them; NULL
    struct model_world world;  // keys, base URLs, prices
    struct permit *permit;     // which tools models may call; NULL: only those that nobody has to permit
    bool require_prices;       // a model without a price is refused
    bool network;              // commands that models choose may reach out
    bool local;                // what models fetch may be on this machine or the networks around it
    bool has_agents;           // models may start agents of their own (`rondo agent`)
    int max_depth;             // of such agents; 0: the default, 3
    const char *effort;        // --thinking; NULL
    const char *cache_path;    // of models' answers; NULL: there is no cache
    const char *pins_path;     // of approved definitions of servers' tools; NULL
    bool approve_tools;        // those that have changed are approved now
    void (*on_prompt)(void *user, const char *path, size_t system, size_t text); // bytes; NULL
    void *user; // for the callbacks
};

struct flow_function {
    const char *name;
    rondo_function run;
    void *user;
};

/* ---- given by the engine (engine/flows.c) ------------------------------------------------------------ */

struct act *task_act(rondo_task *task);
struct run *task_run(rondo_task *task);
rondo_run *task_owner(rondo_task *task);               // the run under its public name
struct loop *task_loop(rondo_task *task);              // the event loop
const struct call_env *task_env(rondo_task *task);     // never NULL

/* What must not be seen of this run: it is taken out of everything that is told to it from now on.  Whoever uses a
   key adds it.  Never NULL; lives as long as the run. */
struct secrets *task_secrets(rondo_task *task);
void task_see(rondo_task *task, struct see *ret);      // ready to look from this task; see_clear() it

/* Finishes the task later, on the engine's timer: then() is called on its thread with a token that
   finishes it, the value (borrowed) and user.  Takes value. */
int task_after(rondo_task *task, int64_t delay_ns, json_t *value,
               void (*then)(rondo_later later, json_t *value, void *user), void *user);

/* The same for a task that was deferred, on the engine's thread.  Whoever worked for it is through: nobody
   is told any more when it is cancelled (task_on_cancel()). */
void later_after(rondo_later later, int64_t delay_ns, json_t *value,
                 void (*then)(rondo_later later, json_t *value, void *user), void *user);

/* When the run began, and the time now, on its own clock. */
int64_t task_began_ns(rondo_task *task);
int64_t task_now_ns(rondo_task *task);

/* How agents of a run are carried out; NULL: it is no run of a file. */
const struct call_env *flows_env(const rondo_run *run);

/* The run cannot go on in a way that makes sense: everything ends, nothing is cleaned up, and the
   program's exit status says that it failed. */
void flows_stop(rondo_run *run, const char *why);

/* For a task that was deferred: call(user) on the engine's thread, once, when its result is no longer
   wanted; at once when it already is not.  Not after it has finished.  What it says afterwards to its
   token is refused, but it has to finish all the same: until then its step has not ended either. */
void task_on_cancel(rondo_task *task, void (*call)(void *user), void *user);

/* For a task that was deferred: call(task, user) at once, with the task as its function had it, so that
   everything can be looked at again; it finishes through its token.  on_cancel is forgotten.  False, and
   no call, when its result is no longer wanted.  Only on the engine's thread, and not in a function. */
bool task_again(rondo_later later, void (*call)(rondo_task *task, void *user), void *user);

/* rondo_task_fail() and rondo_later_fail() of an agent that had something to say before: what judges say counts, though
   they failed.  said: NULL for nothing. */
int task_fail_saying(rondo_task *task, int code, const char *message, const char *said);
int later_fail_saying(rondo_later later, int code, const char *message, const char *said);

/* For work that was cancelled, on the engine's thread.  The limit of time, in ms, that has ended its step; the step
   then waits for the work, and the run is there.  0: something else has cancelled it. */
int64_t later_overdue_ms(rondo_later later);

/* Such a step fails with this message, which tells more than that its time is over. */
int later_fail_overdue(rondo_later later, const char *message, const char *said);

/* For a task that was deferred, from any thread: notes (taken; see rondo_later_note()), and then(user) on the
   engine's thread once the note is in the journal for good and was handed out: what the note says comes next
   may begin.  Notes keep their order, so of several in a row only the last needs a then; NULL: nobody waits.
   Not called when the work was cancelled meanwhile: that is what task_on_cancel() tells.  0 or RONDO_ESTATE. */
int later_note(rondo_later later, json_t *note, void (*then)(void *user), void *user);

/* Before each call of a model, and rondo_later_settle() after it: rondo_later_reserve(), but then() is not
   called when the work was cancelled meanwhile, as with later_note(). */
int later_reserve(rondo_later later, const rondo_usage *most, void (*then)(int reason, void *user), void *user);

/* Calls another agent of the file, one of the children of this task's node, by the name it has there, with this
   input (taken): it becomes a step of the run, below this one.  The key says which call it is: one that was made
   before a crash is not made again.  done(result, user) on the engine's thread when it has ended and that is in the
   journal for good; not when the work was cancelled meanwhile, as with later_note(): then the step that was called
   is cancelled, too.  0, RONDO_ELIMIT (so many were made that no more are allowed) or RONDO_ESTATE.  Only on the
   engine's thread. */
int later_call(rondo_later later, const char *agent, const char *key, json_t *input,
               void (*done)(const struct result *result, void *user), void *user);

/* rondo_later_send() on the engine's thread, and what will become of it as things are: MAIL_QUEUED, or why it will
   be dropped (enum mail_reason; ret_why may say more).  Nothing that is said to the token right after it can be in
   the journal without it. */
int later_send(rondo_later later, const char *to, const char *text, const char *kind, struct buf *ret_why);

/* Asks people: a gate below the step opens, with what the question holds (taken: ask, schema, tool, ...; run/asks.h),
   and then(answer, user) comes on the engine's thread when { value, by } is in the journal for good; not when the
   work was cancelled meanwhile.  call names the question in its step: one that was asked before, by a process that
   is gone, is not asked again, and if it has its answer, then() comes at once.  Only on the engine's thread. */
void later_ask(rondo_later later, const char *call, json_t *question,
               void (*then)(const json_t *answer, void *user), void *user);

/* If that was asked, and nobody has answered it yet: this is the answer.  Takes value. */
void later_answer(rondo_later later, const char *call, json_t *value, const char *by);

/* For a task that was deferred and asks people: is_parked(user) says, at any time until it has finished, whether it
   does nothing but wait for them.  Then a program may leave the run as it is. */
void task_on_park(rondo_task *task, bool (*is_parked)(void *user), void *user);

/* Messages that this task has not read yet and may go on for.  Only on the engine's thread. */
uint32_t later_unread(rondo_later later);

/* It has read all of them, and ends. */
void later_idle(rondo_later later);

/* It has nothing to do for so long, and gives its place (maxConcurrency) to others meanwhile: an event `delay`.  When
   the time is over it goes on, and nothing else begins until there is a place again.  Only on the engine's thread;
   whoever says so waits by itself, and says it again after a restart. */
void later_pause(rondo_later later, int64_t delay_ms);

/* What is left of a limit (enum rondo_limit) in the tightest budget around, without what is reserved: whether
   the next call will fit.  INT64_MAX: no limit.  Only on the engine's thread; what was settled counts once its
   event was applied. */
int64_t later_left(rondo_later later, int limit);

/* What the state has under the key, as far as events were applied; NULL: nothing.  Only on the engine's thread. */
json_t *later_state(rondo_later later, const char *key);

/* ---- agents ---------------------------------------------------------------------------------------------- */

/* The function of every leaf; step is its struct flow_step. */
void agent_run(rondo_task *task, void *step);

/* Why a step cannot be carried out here, and what to do about it; the same may stop others. */
struct obstacle {
    const struct flow_step *step; // the first; NULL: it is nobody's in particular
    uint32_t others;              // steps behind it
    rondo_error why;
};

#define OBSTACLES_MAX 20

struct obstacles {
    struct obstacle list[OBSTACLES_MAX];
    uint32_t count;
    bool is_cut; // there are more
};

/* Can all agents of the flow be carried out here?  If not, *ret has every obstacle once. */
bool agent_can_run(const struct flow *flow, const struct call_env *env, struct obstacles *ret);
void obstacle_put(const struct obstacle *obstacle, struct buf *out); // a sentence

/* Puts whose error it is in front of it. */
int agent_blame(const struct flow_step *step, rondo_error *err);

/* Takes the run's secrets out of a prompt.  A context file may have one of them in it. */
void agent_clean(rondo_task *task, struct buf *text);

/* Adds what the files of the flow refer to, as far as it is there, and keys of models that are in the environment. */
void agent_find_secrets(const struct flow *flow, struct secrets *secrets);

/* Are the folders still there that commands of the flow run in and context files are read from?  A flow
   that was stored may outlive them.  0, or RONDO_ENOTFOUND naming the folder and who needs it. */
int agent_has_folders(const struct flow *flow, const struct call_env *env, rondo_error *err);

/* One each; all finish the task, now or later. */
void command_run(rondo_task *task, const struct flow_step *step, const char *prompt, size_t len,
                 struct isolated *own); // NULL, or where it works: taken, and the task was deferred
void model_run(rondo_task *task, const struct flow_step *step, const struct buf *system,
               const struct buf *text, struct isolated *own); // own as above
void script_run(rondo_task *task, const struct flow_step *step);
void rehearse_run(rondo_task *task, const struct flow_step *step);
void set_run(rondo_task *task, const struct flow_step *step);

/* Does a file around this step ask for worktrees, and has its agent any use for one? */
bool isolated_is_wanted(rondo_task *task, const struct flow_step *step);

/* Makes the worktree, then calls agent_run_in(). */
void isolated_run(rondo_task *task, const struct flow_step *step);
void agent_run_in(rondo_task *task, const struct flow_step *step, struct isolated *own); // takes own

/* The skill is chosen now, of a task that was deferred for that. */
void agent_run_chosen(rondo_task *task, const struct flow_step *step, struct isolated *own); // takes own

const char *isolated_folder(const struct isolated *own); // where in the worktree the step works
const char *isolated_git(const struct isolated *own);    // io/worktree.h
const char *isolated_common(const struct isolated *own);

/* Keeps what was changed, which the token tells, and removes the worktree; then done(), and own is gone.
   err is NULL, or says why changes could not be kept. */
void isolated_end(struct isolated *own, void (*done)(const rondo_error *err, void *user), void *user);

/* Before that, or before done(): the step is cancelled, so that shall not take long. */
void isolated_hurry(struct isolated *own);

/* Can the files of this flow that ask for worktrees have them?  0 or RONDO_EINVAL. */
int isolated_can_run(const struct flow *flow, const struct call_env *env, rondo_error *err);

/* The branch that keeps what this agent changes in a worktree of its own; NULL: it has none.  The caller's. */
char *isolated_branch(rondo_run *owner, struct run *run, const struct act *agent);

/* Where commands of a step run when nobody says otherwise; NULL: nowhere in particular. */
const char *call_folder(const struct call_env *env, const struct flow_step *step);

/* Can the command of this step be run as its agent asks for?  What an earlier step may still make is not looked for.
   0 or RONDO_EINVAL; as above. */
int command_can_run(const struct flow_step *step, const struct call_env *env, rondo_error *err);

/* The model that a step is to ask.  0, RONDO_EINVAL or RONDO_ENOTFOUND; whose it is agent_blame() says. */
/* How often a request of the step is tried once more: as the step says, its file, the command line; -1: the default. */
int model_retries(const struct call_env *env, const struct flow_step *step);

int model_target(const struct call_env *env, const struct flow_step *step, struct target **ret, rondo_error *err);

/* Is there a model for this step, with a key where one is needed, and are there its tools?  0, RONDO_EINVAL or
   RONDO_ENOTFOUND: and what to set; as above. */
int model_can_run(const struct flow_step *step, const struct call_env *env, rondo_error *err);

/* Has the model of this step a tool that works in a folder? */
bool model_has_files(const struct flow_step *step, const struct call_env *env);

/* What --script says for this step; NULL when it says nothing.  Borrowed. */
json_t *rehearse_script(rondo_task *task, const struct flow_step *step);

/* What is wrong with a script for this definition: it names steps that there are none of, or replies make no
   sense.  A list of texts, new. */
json_t *rehearse_check(const rondo_node *root, json_t *script);

/* Where the answers of a step come from; script: NULL for none. */
enum flow_answers rehearse_answers(const struct step_names *names, json_t *script, const struct flow_step *step);

/* The answer to a gate in a rehearsal, for whoever drives it: new.  Its path now, and in the definition. */
json_t *rehearse_answer(const struct call_env *env, const struct flow_step *gate, const char *path, const char *plain);

/* Compares the files that `stall.files` of a loop names (run/seen.h, file_watch.c). */
extern const struct watcher file_watcher;

/* Where an answer goes: to the task while its function runs, else (task is NULL) to its token. */
struct addressee {
    rondo_task *task;
    rondo_later later;
};

/* A reply as scripts, rehearsals and $RONDO_REPLY give it: text, or { content, result, actions,
   toolCalls, events, messages, fail, delay, usage }.  Finishes the work with it.  reply is borrowed.  A reply that
   makes no sense fails the step and says why. */
void reply_finish(const struct addressee *to, const struct flow_step *step, json_t *reply);

/* A reply of a recording (reply_check_recorded()), which finishes the work.  reply is borrowed and was checked. */
void reply_play(const struct addressee *to, const json_t *reply);

/* ---- prompt.c ----------------------------------------------------------------------------------------------- */

/* Who says what a step is to do: itself, or what it was made for. */
const struct flow_step *prompt_speaker(const struct flow_step *step);

/* What the agent is shown, by WORKFLOW.md's layout: the system text ("" for none) and the user's.  The `stdin` of
   a command may leave out all of it, but for the text of the step.
   Context files are looked for in folder, or in the workflow's when that is NULL.  Fails when a hole
   cannot be filled. */
int prompt_put(rondo_task *task, const struct flow_step *step, const char *folder, struct buf *system,
               struct buf *user, rondo_error *err);

#endif
