/* actions.c - what agents do to the loops around them: break, continue, escalate.

   An action acts when the agent's result is applied: the pass, or the item, that the agent is in begins to close.
   What ends it, and what comes after it, is the loop's matter. */
#include "run/actions.h"

#include "run/act.h"
#include "run/each.h"
#include "run/kinds.h"
#include "run/loop.h"

/* The activation just below `loop` on the way down to act; 0 when that is act itself.  What is on the way gives what it
   has; what else is cut does not. */
static uint32_t note_way(struct run *run, const struct act *loop, const struct act *act)
{
    uint32_t slot = 0;
    while (act->parent != loop->slot) {
        struct act *around = run_act(run, slot = act->parent);
        around->has_acted = true;
        act = around;
    }
    return slot;
}

/* Closes the pass (or item) of `loop` that act is in; act itself has ended. */
static void close_pass(struct run *run, struct act *loop, const struct act *act, enum close why,
                       bool gently)
{
    uint32_t body = note_way(run, loop, act);
    if (body)
        act_close(run, run_act(run, body), why, 0, gently);
}

/* The item that the break came from completes with what it has; the others are cancelled. */
static void close_items(struct run *run, struct act *each, const struct act *act)
{
    uint32_t own = note_way(run, each, act);
    for (uint32_t slot = each->first_child; slot; slot = run_act(run, slot)->next_sibling)
        if (slot != act->slot)
            act_close(run, run_act(run, slot), slot == own ? CLOSE_CONTINUE : CLOSE_BREAK, 0, false);
}

static void break_loop(struct run *run, struct act *loop, const struct act *act, bool escalate,
                       bool gently)
{
    if (loop->node->kind == RONDO_KIND_EACH) {
        loop->each->broke = true;
        loop->each->escalated |= escalate;
        close_items(run, loop, act);
        return;
    }
    if (loop->loop->broke || loop->loop->continued)
        return; // the pass is closing already: nothing changes that but a break further out
    loop->loop->broke = true;
    loop->loop->escalated |= escalate;
    close_pass(run, loop, act, CLOSE_BREAK, gently);
}

/* ADK's escalate has no scope: it ends every loop on the way to the root. */
static bool is_unscoped(const struct act *loop, const struct rondo_event *ev)
{
    return ev->flags & EF_ESCALATE && node_is_loop(loop->node) && loop->node->loop.compat_adk;
}

/* It is a flag of the step that runs the file, also when that repeats it. */
static void note_escalated(struct run *run, struct act *file)
{
    struct act *around = run_act(run, file->parent);
    file->escalated = true;
    if (around->node->step != file->node->step)
        return;
    if (around->node->kind == RONDO_KIND_EACH)
        around->each->escalated = true;
    else if (node_is_loop(around->node))
        around->loop->escalated = true;
}

void actions_apply(struct run *run, struct act *act, struct rondo_event *ev)
{
    struct act *file = ev->flags & (EF_BREAK | EF_CONTINUE) ? NULL : run_file_around(run, act);
    if (file)
        note_escalated(run, file);
    if (ev->flags & EF_BREAK) {
        struct act *loop = run_act(run, ev->parent);
        if (loop->node->kind == RONDO_KIND_FORUM) {
            loop->won = loop->won ? loop->won : act->child + 1;
            return;
        }
        bool unscoped = is_unscoped(loop, ev);
        break_loop(run, loop, act, ev->flags & EF_ESCALATE, unscoped);
        while (unscoped && (loop = run_loop_around(run, loop, false)))
            break_loop(run, loop, act, true, true);
    } else if (ev->flags & EF_CONTINUE) {
        struct act *loop = run_loop_around(run, act, true);
        if (!loop)
            return;
        if (node_is_loop(loop->node) && (loop->loop->broke || loop->loop->continued))
            return;
        if (node_is_loop(loop->node))
            loop->loop->continued = true;
        close_pass(run, loop, act, CLOSE_CONTINUE, false);
    }
}
