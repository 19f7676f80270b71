/* seen.c - see seen.h. */
#include "run/seen.h"

#include "run/act.h"
#include "run/loop.h"

struct act *seen_loop_around(struct run *run, const struct act *act)
{
    while (act->slot) {
        struct act *around = run_act(run, act->parent);
        bool is_body = node_is_loop(around->node) && (loop_is_machine(around) || act->child == ROLE_BODY);
        if (is_body && around->node->loop.watcher)
            return around;
        act = around;
    }
    return NULL;
}

bool seen_change(const struct act *loop)
{
    return loop->loop->changed || loop->loop->looks;
}

bool seen_is_settled(const struct act *loop)
{
    return loop->loop->changed;
}

/* How it was before: as long as nobody has said how it is now, there may be a change. */
static void note_before(struct run *run, struct act *act, json_t *value)
{
    run_drop(run, act->seen);
    act->seen = value;
    for (struct act *loop = act; (loop = seen_loop_around(run, loop));)
        loop->loop->looks++;
}

static void note_after(struct run *run, struct act *act, json_t *value)
{
    const json_t *changed = json_object_get(value, "changed");
    size_t i = 0;
    for (struct act *loop = act; (loop = seen_loop_around(run, loop)); i++) {
        const json_t *one = json_array_get(changed, i);
        struct loop_act *l = loop->loop;
        if (!json_is_boolean(one))
            continue;
        l->looks -= l->looks > 0;
        l->changed |= json_is_true(one);
        l->ever_changed |= json_is_true(one);
    }
    run_drop(run, TAKE(act->seen));
    run_drop(run, value);
}

void seen_apply(struct run *run, struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    if (act->seen)
        note_after(run, act, ev->value);
    else
        note_before(run, act, ev->value);
}

bool seen_admits(struct run *run, const struct rondo_event *ev)
{
    const struct act *act = ev->act < run->act_count ? run->acts[ev->act] : NULL;
    if (!act || act->state == ACT_FREE || act->node->kind != RONDO_KIND_AGENT)
        return false;
    return ev->flags & EF_VALUE && json_is_array(json_object_get(ev->value, act->seen ? "changed" : "marks"));
}
