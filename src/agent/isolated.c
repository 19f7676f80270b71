/* isolated.c - steps that work in a git worktree of their own (`options.isolation`).

   The task is deferred while git makes the worktree.  Then the task's function is entered again, now with a place to
   work in.  It reads context files there; the command, or the model's tools, work there.  In the end git keeps the
   changes as a branch and the worktree goes.  Only then does the step end, so that later steps find the branch.

   Commands have a use for a worktree, and models that have a tool for files.  Words of a script touch nothing. */
#include "agent/call.h"

#include "base/hash.h"
#include "io/worktree.h"
#include "run/act.h"

#include <ctype.h>
#include <string.h>

#define NAME_SHOWN 180 // of a path in the name of a branch

struct isolated {
    struct worktree *tree; // NULL until it is made,
    struct worktree *opening; // by this one
    rondo_later later;
    const struct flow_step *step; // not to be touched once is_unwanted
    char *branch, *message;
    bool is_unwanted;
    void (*done)(const rondo_error *err, void *user);
    void *user;
};

static void own_free(struct isolated *own)
{
    mem_free(own->branch);
    mem_free(own->message);
    mem_free(own);
}

/* ---- names ------------------------------------------------------------------------------------------- */

/* "rondo/RUN/PATH", as git allows: no blanks, none of ~^:?*[\\, no "..", no ".lock" at the end.  A path
   that is long or was changed is told apart by a hash. */
static char *branch_name(const char *run, const char *path)
{
    struct buf name = { 0 };
    size_t len = strlen(path);
    bool exact = len <= NAME_SHOWN && (len < 5 || strcmp(path + len - 5, ".lock") != 0);
    buf_printf(&name, "rondo/%s/", run);
    for (size_t i = 0; i < MIN(len, NAME_SHOWN); i++) {
        bool fine = isalnum((unsigned char)path[i]) || strchr("_-", path[i]) ||
                    (path[i] == '.' && i && path[i - 1] != '.') || (unsigned char)path[i] >= 0x80;
        if (path[i] != ']')
            buf_putc(&name, fine ? path[i] : '-');
        exact = exact && (fine || strchr("[]~", path[i]));
    }
    if (!exact)
        buf_printf(&name, "-%016llx", (unsigned long long)hash_bytes(0, path, len));
    return buf_take(&name);
}

static char *commit_message(const char *run, const char *path)
{
    struct buf text = { 0 };
    buf_printf(&text, "%s\n\nWhat this step of run %s changed.", path, run);
    return buf_take(&text);
}

/* ---- who ---------------------------------------------------------------------------------------------- */

const char *call_folder(const struct call_env *env, const struct flow_step *step)
{
    return env->workdir ? env->workdir : step->flow->workdir;
}

static bool is_for(const struct call_env *env, const struct flow_step *step)
{
    int kind = step->agent ? step->agent->kind : AGENT_MODEL;
    if (env->player || step->body != BODY_AGENT)
        return false;
    if (kind == AGENT_COMMAND)
        return !env->rehearse || env->commands;
    return kind == AGENT_MODEL && !env->rehearse && model_has_files(step, env);
}

/* A file inside another is in the same worktrees. */
static bool is_in_isolation(struct run *run, const struct act *act)
{
    for (;; act = run_act(run, act->parent)) {
        if (act->node->flow && flow_isolates(act->node->flow))
            return true;
        if (!act->slot)
            return false;
    }
}

bool isolated_is_wanted(rondo_task *task, const struct flow_step *step)
{
    const struct call_env *env = task_env(task);
    if (!is_for(env, step) || (env->rehearse && rehearse_script(task, step)))
        return false;
    return is_in_isolation(task_run(task), task_act(task));
}

char *isolated_branch(rondo_run *owner, struct run *run, const struct act *agent)
{
    auto_buf struct buf path = { 0 };
    if (!is_for(flows_env(owner), agent->node->step) || !is_in_isolation(run, agent))
        return NULL;
    path_put_act(&path, run, agent);
    return branch_name(rondo_run_id(owner), buf_text(&path));
}

/* ---- the beginning ------------------------------------------------------------------------------------ */

static void on_gone(const rondo_error *err, void *user)
{
    rondo_later *later = user;
    rondo_later_fail(*later, RONDO_ECANCELLED, "cancelled"); // the token is given back
    mem_free(later);
}

static void leave(struct isolated *own)
{
    rondo_later *later = mem_alloc(sizeof *later);
    *later = own->later;
    isolated_end(own, on_gone, later);
}

static void enter(rondo_task *task, void *user)
{
    struct isolated *own = user;
    agent_run_in(task, own->step, own);
}

static void on_open(struct worktree *tree, const rondo_error *err, void *user)
{
    struct isolated *own = user;
    if (err) {
        rondo_later_fail(own->later, err->code, "%s", err->message);
        own_free(own);
        return;
    }
    own->tree = tree;
    if (own->is_unwanted || !task_again(own->later, enter, own))
        leave(own);
}

static void on_cancel(void *user)
{
    struct isolated *own = user;
    own->is_unwanted = true;
    worktree_stop(own->opening);
}

/* A talk that was cut off goes on with what it had changed. */
static bool goes_on(rondo_task *task)
{
    return json_array_size(task_act(task)->notes) > 0;
}

void isolated_run(rondo_task *task, const struct flow_step *step)
{
    struct isolated *own = mem_zalloc(sizeof *own);
    const char *folder = call_folder(task_env(task), step), *path = rondo_task_path(task);
    struct see see;
    rondo_error err;
    task_see(task, &see);
    own->branch = branch_name(see.run_id, path);
    own->message = commit_message(see.run_id, path);
    see_clear(&see);
    own->step = step;
    const char *branch = goes_on(task) ? own->branch : NULL;
    if (worktree_open(task_loop(task), folder ? folder : ".", branch, on_open, own, &own->opening, &err) < 0) {
        rondo_task_fail(task, err.code, "%s", err.message);
        own_free(own);
        return;
    }
    own->later = rondo_task_defer(task);
    task_on_cancel(task, on_cancel, own);
}

const char *isolated_folder(const struct isolated *own)
{
    return worktree_folder(own->tree);
}

const char *isolated_git(const struct isolated *own)
{
    return worktree_git(own->tree);
}

const char *isolated_common(const struct isolated *own)
{
    return worktree_common(own->tree);
}

/* ---- the end ------------------------------------------------------------------------------------------- */

static void tell_branch(const struct isolated *own, const char *branch)
{
    auto_buf struct buf text = { 0 };
    auto_json json_t *data = json_pack("{s:s, s:s}", "reason", "worktree", "branch", branch);
    buf_printf(&text, "its changes are on the branch %s", branch);
    rondo_later_emit(own->later, &(rondo_emit){ RONDO_EMIT, .content = buf_text(&text), .data = data });
}

static void on_closed(struct worktree *tree, const rondo_error *err, void *user)
{
    struct isolated *own = user;
    if (worktree_branch(tree))
        tell_branch(own, worktree_branch(tree));
    own->done(err, own->user);
    own_free(own);
}

void isolated_end(struct isolated *own, void (*done)(const rondo_error *err, void *user), void *user)
{
    own->done = done;
    own->user = user;
    worktree_close(own->tree, own->branch, own->message, on_closed, own);
}

void isolated_hurry(struct isolated *own)
{
    worktree_stop(own->tree);
}

/* ---- before the run ------------------------------------------------------------------------------------- */

struct search {
    const struct call_env *env;
    bool is_wanted; // by a file around the steps that are looked at
    rondo_error *err;
    int rc;
};

static void look_at(struct flow_step *step, void *user)
{
    struct search *search = user;
    const char *folder = call_folder(search->env, step);
    if (search->rc == 0 && is_for(search->env, step) && (search->is_wanted || flow_isolates(step->flow)))
        search->rc = worktree_check(folder ? folder : ".", search->err) < 0 ? search->err->code : 1;
}

int isolated_can_run(const struct flow *flow, const struct call_env *env, rondo_error *err)
{
    struct search search = { env, flow_isolates(flow), err, 0 };
    flow_each_step(flow, look_at, &search);
    return MIN(search.rc, 0);
}
