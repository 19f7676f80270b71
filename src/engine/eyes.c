/* eyes.c - what expressions and agents of workflow files look at a run with. */
#include "agent/call.h"
#include "engine/shell.h"
#include "io/tzfile.h"
#include "run/loop.h"

#include <stdio.h>

/* Passes are read back once: an expression over the history would read them in every pass. */
static json_t *old_pass(void *user, struct act *loop, const struct outcome *ended, int64_t pass)
{
    rondo_run *run = user;
    const struct history *history = loop ? &loop->loop->history : ended->history;
    const rondo_node *node = loop ? loop->node : ended->steps_of;
    int keep = node->loop.max_history;
    char key[24];
    if ((keep && pass < history->count - keep) || pass >= history->seq_count)
        return NULL;
    snprintf(key, sizeof key, "%llu", (unsigned long long)history->seqs[pass]);
    if (!run->old_passes)
        run->old_passes = json_object();
    json_t *known = json_object_get(run->old_passes, key);
    if (!known && (known = look_pass(run, node, history->seqs[pass], true)))
        json_object_set_new(run->old_passes, key, known);
    return json_incref(known);
}

void eyes_of(rondo_run *run, struct act *act, struct see *ret)
{
    rondo_engine *engine = run->engine;
    if (!engine->scratch) {
        engine->scratch = cel_scratch_new();
        engine->zones = tzfile_new(NULL);
    }
    *ret = (struct see){ .run = &run->core, .run_id = run->id, .act = act, .old_pass = old_pass,
                         .user = run, .scratch = engine->scratch, .zone = tzfile_get,
                         .zone_user = engine->zones };
}

struct act *task_act(rondo_task *task)
{
    return run_find_act(&task->work.run->core, task->work.act, task->work.gen);
}

struct run *task_run(rondo_task *task)
{
    return &task->work.run->core;
}

struct loop *task_loop(rondo_task *task)
{
    return task->work.run->engine->loop;
}

const struct call_env *task_env(rondo_task *task)
{
    static const struct call_env plain = { 0 };
    const struct act *act = task_act(task);
    const struct flow *flow = act ? act->node->flow : NULL;
    const struct call_env *env = task->work.run->env;
    return env ? env : flow && flow->env ? flow->env : &plain;
}

void task_see(rondo_task *task, struct see *ret)
{
    eyes_of(task->work.run, task_act(task), ret);
    ret->delta = task->work.delta;
}
