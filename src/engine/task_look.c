/* task_look.c - what an agent at work may look at: its input, its place, and what is around it.

   Nothing here changes the run.  A task whose activation is gone (it was cancelled, or its run has ended) sees
   nothing. */
#include "engine/shell.h"

#include "run/act.h"
#include "run/budget.h"
#include "run/each.h"
#include "run/loop.h"
#include "run/pass_text.h"

rondo_value *rondo_task_input(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    return act ? act->input : NULL;
}

const char *rondo_task_path(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    buf_clear(&task->path);
    if (act)
        path_put_act(&task->path, &task->work.run->core, act);
    return buf_text(&task->path);
}

const rondo_node *rondo_task_node(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    return act ? act->node : NULL;
}

const char *rondo_task_skill(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    uint32_t skill = act ? act_skill(act) : SKILL_OPEN;
    return skill != SKILL_OPEN ? act->node->agent.skills[skill].name : "";
}

static struct act *loop_of(rondo_task *task, int kind_each)
{
    struct act *act = work_act(&task->work);
    while (act && act->slot) {
        act = run_act(&task->work.run->core, act->parent);
        if (kind_each ? act->node->kind == RONDO_KIND_EACH : node_is_loop(act->node))
            return act;
    }
    return NULL;
}

/* A rule's node belongs to the pass that has just ended. */
static int64_t pass_of(const struct act *loop)
{
    const struct loop_act *l = loop->loop;
    return l->phase == LOOP_RULES ? (int64_t)l->history.count - 1 : l->history.count;
}

int64_t rondo_task_pass(rondo_task *task)
{
    struct act *loop = loop_of(task, false);
    return loop ? pass_of(loop) : -1;
}

/* The activation just below `top` that the task is in. */
static struct act *below(rondo_task *task, const struct act *top)
{
    struct act *act = work_act(&task->work);
    while (act->parent != top->slot)
        act = run_act(&task->work.run->core, act->parent);
    return act;
}

int64_t rondo_task_index(rondo_task *task)
{
    struct act *each = loop_of(task, true);
    return each ? (int64_t)below(task, each)->ordinal : -1;
}

rondo_value *rondo_task_item(rondo_task *task)
{
    struct act *each = loop_of(task, true);
    return each ? json_array_get(each->each->items, below(task, each)->ordinal) : NULL;
}

int rondo_task_attempt(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    return act ? act->attempt : 0;
}

/* The output of the same step in the pass before. */
static json_t *own_previous(rondo_task *task, struct act *loop)
{
    struct act *act = work_act(&task->work);
    struct pass *last = history_last(&loop->loop->history);
    if (loop->node->kind == RONDO_KIND_MACHINE) // same state, last visit
        return loop->loop->previous;
    if (!last)
        return NULL;
    const struct result *res = loop_own_result(&task->work.run->core, loop, act, &last->out);
    return res ? res->value : NULL;
}

static bool is_heard(const struct act *loop)
{
    const struct loop_act *l = loop->loop;
    if (l->phase != LOOP_BODY || loop->node->loop.feedback == RONDO_FEEDBACK_OFF || !l->history.count)
        return false;
    return !loop_is_machine(loop) || (!loop->node->children[l->target].no_feedback && l->visits);
}

static void hear_loop(rondo_task *task, struct act *loop, rondo_feedback *ret)
{
    struct loop_act *l = loop->loop;
    loop_put_advice(&task->text, &task->work.run->core, loop);
    ret->previous = own_previous(task, loop);
    ret->last = history_last(&l->history)->out.value;
    ret->judge = l->judge;
    ret->attempt = loop_is_machine(loop) ? (int)l->visits : (int)l->history.count;
}

static void hear_tries(rondo_task *task, const struct act *act, rondo_feedback *ret)
{
    struct tries tries = act_tries(&task->work.run->core, act);
    tries_put(&task->text, &tries);
    if (act->before || (!ret->previous && tries.sent))
        ret->previous = act->before ? act->before : tries.sent->value;
    if (act->attempt || !ret->attempt)
        ret->attempt = act->attempt ? act->attempt : tries.attempt;
}

bool rondo_task_feedback(rondo_task *task, rondo_feedback *ret)
{
    struct act *act = work_act(&task->work), *loop = loop_of(task, false);
    *ret = (rondo_feedback){ 0 };
    buf_clear(&task->text);
    if (loop && is_heard(loop))
        hear_loop(task, loop, ret);
    else if (loop && loop->loop->phase == LOOP_BODY)
        loop_put_nudge(&task->text, loop);
    if (act)
        hear_tries(task, act, ret);
    ret->text = buf_text(&task->text);
    return *ret->text || ret->attempt;
}

rondo_value *rondo_task_output(rondo_task *task, const char *step)
{
    struct act *act = work_act(&task->work);
    const struct result *res = act ? run_visible(&task->work.run->core, act, step) : NULL;
    return res && res->status == RONDO_STATUS_COMPLETED ? res->value : NULL;
}

rondo_value *rondo_task_state(rondo_task *task, const char *key)
{
    json_t *fresh = json_object_get(task->work.delta, key);
    return fresh ? (json_is_null(fresh) ? NULL : fresh)
                 : json_object_get(*run_state_at(&task->work.run->core, work_act(&task->work)), key);
}

static rondo_value *memory_list(const struct run *run, const char *scope)
{
    const struct memory_scope *found = scope ? memory_find(&run->memory, scope) : NULL;
    json_t *list = json_array();
    for (uint32_t i = 0; found && i < found->count; i++)
        json_array_append(list, found->entries[i].value);
    return list;
}

rondo_value *rondo_task_memory(rondo_task *task, const char *scope)
{
    struct act *act = work_act(&task->work);
    json_decref(task->list);
    task->list = memory_list(&task->work.run->core, scope || !act ? scope : act->node->agent.memory);
    return task->list;
}

rondo_value *rondo_run_memory(rondo_run *run, const char *scope)
{
    if (!memory_find(&run->core.memory, scope))
        return NULL;
    json_decref(run->old_value);
    run->old_value = memory_list(&run->core, scope);
    return run->old_value;
}

rondo_history *rondo_task_history(rondo_task *task)
{
    struct act *loop = loop_of(task, false);
    return loop ? look_history(task->work.run, loop) : NULL;
}

int64_t rondo_task_left(rondo_task *task, int limit)
{
    struct act *act = work_act(&task->work);
    return act ? budget_left(&task->work.run->core, act, limit) : 0;
}

rondo_value *rondo_task_notes(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    json_decref(task->list);
    task->list = act && act->notes ? json_incref(act->notes) : json_array();
    return task->list;
}

rondo_value *rondo_task_inbox(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    json_decref(task->list);
    task->list = act && act->letters ? json_copy(act->letters) : json_array();
    return task->list;
}

bool rondo_task_cancelled(rondo_task *task)
{
    struct act *act = work_act(&task->work);
    return !act || act->close || task->work.run->ended;
}

const char *rondo_task_key(rondo_task *task)
{
    task_put_key(task->work.run, rondo_task_path(task), task->key);
    return task->key;
}
