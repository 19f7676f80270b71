/* enter.c - going into what has ended, to see what its expressions saw last. */
#include "run/enter.h"

#include "run/act.h"
#include "run/budget.h"
#include "run/loop.h"

#include <string.h>

/* A loop is as it was after its last pass. */
static void take_loop(struct run *run, struct act *act, struct outcome *more)
{
    history_clear(run, &act->loop->history);
    act->loop->history = *more->history;
    mem_free(TAKE(more->history));
    act->loop->phase = LOOP_ENDED;
    if (!loop_is_machine(act)) {
        act->kids[ROLE_BODY].res = result_share(&more->body);
        act->kids[ROLE_BODY].state = KID_ENDED;
    }
}

static void take_steps(struct run *run, struct act *act, struct outcome *more)
{
    kids_free(run, act->kids, act->kid_count);
    act->kids = TAKE(more->steps);
    act->kid_count = more->step_count;
    more->step_count = 0;
}

/* Items of an each are not kept by their places, the inputs and state of an included file not at all. */
static bool has_insides(const struct act *up, const rondo_node *node, const struct outcome *more)
{
    if (!more || more->steps_of != node || (node->is_file && up->slot))
        return false;
    return node_is_loop(node) ? more->history != NULL : more->steps && node->kind != RONDO_KIND_EACH;
}

static struct act *open_again(struct run *run, struct act *up, uint32_t child, struct outcome *more)
{
    struct act *act = act_open(run, act_next_slot(run), up->node->children[child].node);
    act->parent = up->slot;
    act->child = child;
    act->input = up->input;
    act->start_ns = more->start_ns;
    act->ledger = ledger_carry(more->ledger);
    if (act->kind->open)
        act->kind->open(run, act);
    if (more->steps)
        take_steps(run, act, more);
    if (node_is_loop(act->node))
        take_loop(run, act, more);
    return act;
}

static struct act *enter_child(struct run *run, struct act *up, uint32_t child)
{
    struct kid *kid = child < up->kid_count ? &up->kids[child] : NULL;
    const rondo_node *node = up->node->children[child].node;
    if (!kid || !node || node_is_leaf(node))
        return NULL;
    if (kid->state == KID_OPEN)
        return run_act(run, kid->act);
    return has_insides(up, node, kid->res.more) ? open_again(run, up, child, kid->res.more) : NULL;
}

/* By name; what has no name is gone through. */
static struct act *enter_name(struct run *run, struct act *up, const char *name, size_t len)
{
    for (uint32_t i = 0; i < up->node->count; i++) {
        const char *own = up->node->children[i].node ? up->node->children[i].name : NULL;
        if (own && strlen(own) == len && memcmp(own, name, len) == 0)
            return enter_child(run, up, i);
    }
    for (uint32_t i = 0; i < up->node->count; i++) {
        bool is_nameless = up->node->children[i].node && !*up->node->children[i].name;
        struct act *inner = is_nameless ? enter_child(run, up, i) : NULL;
        struct act *found = inner ? enter_name(run, inner, name, len) : NULL;
        if (found)
            return found;
    }
    return NULL;
}

struct act *enter_root(struct run *run)
{
    return run->act_count ? enter_child(run, run_act(run, 0), 0) : NULL;
}

struct act *enter_path(struct run *run, const char *path)
{
    struct act *act = enter_root(run);
    while (act && *path) {
        size_t len = strcspn(path, ".");
        act = len ? enter_name(run, act, path, len) : NULL;
        path += len + (path[len] == '.');
    }
    return act;
}
