/* eyes.c - what expressions and agents of workflow files look at a run with. */
#include "agent/call.h"
#include "engine/shell.h"
#include "io/tzfile.h"
#include "run/loop.h"
#include "run/pass_text.h"

#include <stdio.h>

/* Is it one of those that are to be seen? */
static bool is_kept(const struct history *history, const rondo_node *node, int64_t pass)
{
    int keep = node->loop.max_history;
    return !(keep && pass < history->count - keep) && pass < history->seq_count;
}

static json_t *pass_text(const struct pass *pass, int64_t number)
{
    auto_buf struct buf text = { 0 };
    pass_put(&text, pass, number + 1);
    return json_stringn(text.data, text.len);
}

/* Passes are read back once: an expression over the history would read them in every pass.  form: what is kept of
   them, and what its keys begin with. */
static json_t *read_back(rondo_run *run, const rondo_node *node, uint64_t start, int64_t number, char form)
{
    struct pass pass;
    char key[24];
    snprintf(key, sizeof key, "%c%llu", form, (unsigned long long)start);
    if (!run->old_passes)
        run->old_passes = json_object();
    json_t *known = json_object_get(run->old_passes, key);
    if (!known && look_pass(run, node, start, true, &pass)) {
        known = form == 't' ? pass_text(&pass, number) : see_pass_json(&pass, number);
        json_object_set_new(run->old_passes, key, known);
        result_clear(&run->core, &pass.out);
    }
    return json_incref(known);
}

static json_t *old_pass(void *user, struct act *loop, const struct outcome *ended, int64_t pass)
{
    const struct history *history = loop ? &loop->loop->history : ended->history;
    const rondo_node *node = loop ? loop->node : ended->steps_of;
    return is_kept(history, node, pass) ? read_back(user, node, history->seqs[pass], pass, 'p') : NULL;
}

static json_t *old_text(void *user, struct act *loop, int64_t pass)
{
    const struct history *history = &loop->loop->history;
    return is_kept(history, loop->node, pass) ? read_back(user, loop->node, history->seqs[pass], pass, 't') : NULL;
}

void eyes_of(rondo_run *run, struct act *act, struct see *ret)
{
    rondo_engine *engine = run->engine;
    if (!engine->scratch) {
        engine->scratch = cel_scratch_new();
        engine->zones = tzfile_new(NULL);
    }
    *ret = (struct see){ .run = &run->core, .run_id = run->id, .act = act, .old_pass = old_pass,
                         .old_text = old_text, .user = run, .scratch = engine->scratch, .zone = tzfile_get,
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

rondo_run *task_owner(rondo_task *task)
{
    return task->work.run;
}

int64_t task_began_ns(rondo_task *task)
{
    return run_act(&task->work.run->core, 0)->start_ns;
}

int64_t task_now_ns(rondo_task *task)
{
    return shell_run_ns(task->work.run);
}

struct loop *task_loop(rondo_task *task)
{
    return task->work.run->engine->loop;
}

struct secrets *task_secrets(rondo_task *task)
{
    rondo_run *run = task->work.run;
    if (!run->secrets)
        run->secrets = mem_zalloc(sizeof *run->secrets);
    return run->secrets;
}

const struct call_env *task_env(rondo_task *task)
{
    static const struct call_env plain = { 0 };
    const struct act *act = task_act(task);
    const struct flow *flow = act ? act->node->flow : NULL;
    const struct call_env *env = task->work.run->env;
    return env ? env : flow && flow->env ? flow->env : &plain;
}

/* Does this event set the state that the activation sees, and only waits for its turn? */
static bool is_pending(rondo_run *run, const struct rondo_event *ev, const struct act *act)
{
    const struct act *by = ev->type == RONDO_EV_STATE ? run_find_act(&run->core, ev->act, ev->ordinal) : NULL;
    return by && run_state_at(&run->core, by) == run_state_at(&run->core, act);
}

/* Steps that start together see what the ones before them set, so that `n: state.n + 1` counts all. */
void task_see(rondo_task *task, struct see *ret)
{
    rondo_run *run = task->work.run;
    json_t *delta = NULL;
    eyes_of(run, task_act(task), ret);
    for (uint32_t i = 0; i < run->inbox_count; i++) {
        if (!is_pending(run, &run->inbox[i], ret->act))
            continue;
        delta = delta ? delta : see_keep(ret, json_object());
        json_object_update(delta, run->inbox[i].value);
    }
    if (delta)
        json_object_update(delta, task->work.delta);
    ret->delta = delta ? delta : task->work.delta;
}
