/* must_hold.c - see must_hold.h. */
#include "run/must_hold.h"

#include "run/act.h"
#include "run/end_text.h"

bool must_hold_fails(const struct act *act, int reason)
{
    struct loop_end end = { .node = act->node, .reason = (uint8_t)reason };
    return act->node->loop.must_hold && end_is_short(&end);
}

static struct held_loop *find(const struct run *run, const rondo_node *node)
{
    for (uint32_t i = 0; i < run->held_loop_count; i++)
        if (run->held_loops[i].node == node)
            return &run->held_loops[i];
    return NULL;
}

void must_hold_end(struct run *run, const struct act *act, int reason)
{
    struct held_loop *loop = act->node->loop.must_hold ? find(run, act->node) : NULL;
    if (!act->node->loop.must_hold)
        return;
    if (!loop) {
        mem_grow(&run->held_loops, &run->held_loop_cap, run->held_loop_count, sizeof *run->held_loops);
        loop = &run->held_loops[run->held_loop_count++];
    }
    bool has_failed = reason == RONDO_REASON_FAILED || reason == RONDO_REASON_CANCELLED;
    *loop = (struct held_loop){ act->node, !has_failed && !must_hold_fails(act, reason) };
}

/* How many of them there are in a definition; -1: one of them did not hold. */
static int count(const struct run *run, const rondo_node *node)
{
    int all = node_is_loop(node) && node->loop.must_hold;
    const struct held_loop *loop = all ? find(run, node) : NULL;
    if (all && (!loop || !loop->holds))
        return -1;
    for (uint32_t i = 0; i < node->count; i++) {
        int more = node->children[i].node ? count(run, node->children[i].node) : 0;
        if (more < 0)
            return -1;
        all += more;
    }
    return all;
}

bool must_hold_all(const struct run *run)
{
    return count(run, run->holder->children[0].node) > 0; // the root
}
