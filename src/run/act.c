/* act.c - activations: slots, states, closing. */
#include "run/act.h"

#include "run/errand.h"
#include "run/mend.h"

#include <assert.h>
#include <string.h>

/* Every move an activation may make. */
static const uint8_t moves[ACT_STATES][ACT_CAUSES] = {
    // clang-format off
    [ACT_FREE]    = { [ON_START]  = ACT_RUNNING },
    [ACT_RUNNING] = { [ON_WAIT]   = ACT_WAITING, [ON_CLOSE] = ACT_CLOSING, [ON_END] = ACT_ENDED },
    [ACT_WAITING] = { [ON_RESUME] = ACT_RUNNING, [ON_CLOSE] = ACT_CLOSING, [ON_END] = ACT_ENDED },
    [ACT_CLOSING] = { [ON_CLOSE]  = ACT_CLOSING, [ON_END]   = ACT_ENDED },
    // clang-format on
};

void act_move(struct act *act, enum act_cause cause)
{
    uint8_t to = moves[act->state][cause];
    assert(to != ACT_FREE && "an activation made a move that is not in the table");
    act->state = to;
}

uint32_t act_next_slot(const struct run *run)
{
    return run->free_slot ? run->free_slot : run->act_count;
}

/* Free slots are linked through next_sibling; the log names the slot, so it must be taken out
   wherever it is (a newer planner may choose otherwise). */
static struct act *take_slot(struct run *run, uint32_t slot)
{
    uint32_t *link = &run->free_slot;
    while (*link && *link != slot)
        link = &run->acts[*link]->next_sibling;
    if (*link) {
        struct act *act = run->acts[slot];
        *link = act->next_sibling;
        return act;
    }
    assert(slot == run->act_count);
    if (slot == run->act_made) {
        mem_grow(&run->acts, &run->act_cap, run->act_made, sizeof *run->acts);
        run->acts[run->act_made++] = mem_zalloc(sizeof **run->acts);
    }
    return run->acts[run->act_count++];
}

struct act *act_open(struct run *run, uint32_t slot, const rondo_node *node)
{
    struct act *act = take_slot(run, slot);
    uint32_t gen = act->gen;
    bool dirty = act->dirty, starved = act->starved; // the lists know slots, not activations
    mem_wipe(act, sizeof *act);
    act->dirty = dirty;
    act->starved = starved;
    act->slot = slot;
    act->gen = gen + 1;
    act->node = node;
    act->kind = kind_of(node);
    act->start_ns = run->now_ns;
    act->start_seq = run->seq;
    act->idle_ns = run->idle_ns;
    act->call_ns = run_driven_ns(run);
    act_move(act, ON_START);
    return act;
}

static void clear(struct run *run, struct act *act)
{
    if (UNLIKELY(act->kept))
        mend_forget(run, act);
    if (act->kind->free)
        act->kind->free(run, act);
    if (act->kids)
        kids_free(run, TAKE(act->kids), act->kid_count);
    act->kid_count = 0;
    if (act->owns_input)
        run_drop(run, act->input);
    if (UNLIKELY(act->ledger || act->notes || act->failure || act->own_state || act->before || act->answer ||
                 act->letters || act->asks || act->seen || act->did)) {
        mem_free(TAKE(act->ledger));
        run_drop(run, TAKE(act->notes));
        mem_free(TAKE(act->failure));
        run_drop(run, TAKE(act->own_state));
        run_drop(run, TAKE(act->before));
        run_drop(run, TAKE(act->answer));
        run_drop(run, TAKE(act->letters));
        run_drop(run, TAKE(act->asks));
        run_drop(run, TAKE(act->seen));
        run_drop(run, TAKE(act->did));
    }
    act->state = ACT_FREE;
}

static void give_back(struct run *run, struct act *act)
{
    if (UNLIKELY(act->held))
        act_release(run, act);
    act->is_held = false;
    act->next_sibling = run->free_slot;
    run->free_slot = act->slot;
}

void act_reach(struct run *run, uint32_t slot)
{
    while (run->act_count <= slot) {
        struct act *act;
        if (run->act_count == run->act_made) {
            mem_grow(&run->acts, &run->act_cap, run->act_made, sizeof *run->acts);
            run->acts[run->act_made++] = mem_zalloc(sizeof *act);
        }
        act = run->acts[run->act_count];
        act->slot = run->act_count++;
        give_back(run, act);
    }
}

void act_free(struct run *run, struct act *act)
{
    clear(run, act);
    give_back(run, act);
}

void act_hold(struct run *run, struct act *parent, struct act *act)
{
    clear(run, act);
    act->is_held = true;
    act->next_sibling = parent->held;
    parent->held = act->slot;
}

void act_release(struct run *run, struct act *act)
{
    while (act->held) {
        struct act *inner = run_act(run, act->held);
        act->held = inner->next_sibling;
        give_back(run, inner);
    }
}

void act_release_kid(struct run *run, struct act *parent, uint32_t child, uint32_t ordinal)
{
    for (uint32_t *link = &parent->held; *link; link = &run_act(run, *link)->next_sibling) {
        struct act *act = run_act(run, *link);
        if (act->child != child || act->ordinal != ordinal)
            continue;
        *link = act->next_sibling;
        give_back(run, act);
        return;
    }
}

int64_t act_elapsed_ns(const struct run *run, const struct act *act)
{
    return run->now_ns - act->start_ns - (run->idle_ns - act->idle_ns);
}

bool act_is_overdue(const struct run *run, const struct act *act)
{
    return act->close == CLOSE_TIMEOUT && act->revoked && act->lingers && !act_is_hurried(run, act);
}

bool act_is_awaited(const struct run *run, const struct act *act)
{
    if (act->node->kind != RONDO_KIND_AGENT || act->close == CLOSE_TIMEOUT || act_is_hurried(run, act))
        return false;
    if ((!act->begun && !act->in_flight) || act->wait_ns || act->is_idle)
        return false;
    return act->adk || act->node->agent.effects == RONDO_ONCE;
}

/* Work that somebody said to try again may have died once more. */
static bool is_settled(const json_t *answer)
{
    const char *word = json_string_value(json_object_get(answer, "value"));
    return answer && !(word && strcmp(word, "retry") == 0);
}

bool act_is_unknown(const struct run *run, const struct act *act)
{
    if (act->node->kind != RONDO_KIND_AGENT || act->state != ACT_RUNNING)
        return false;
    return act->in_doubt ||
           (act->node->agent.effects == RONDO_ONCE && act->in_flight && run->on_unknown == RONDO_UNKNOWN_ASK &&
            !is_settled(act->answer));
}

/* A timeout fails only the node it belongs to; what runs inside it is cancelled.  A loop keeps what its open pass has
   come to: there containers end with what they have, as when its time is a budget. */
static enum close inner_cause(const struct act *act, enum close why)
{
    if (why != CLOSE_TIMEOUT)
        return why;
    return node_is_loop(act->node) ? CLOSE_BUDGET : CLOSE_SIBLING;
}

/* A step that is there to clean up is let finish, until somebody insists. */
static bool is_cleanup(const struct act *parent, const struct act *act)
{
    return parent->node->kind == RONDO_KIND_GRAPH && act->node->opts.run_on == RONDO_ON_ALWAYS;
}

void act_close(struct run *run, struct act *act, enum close why, uint8_t reason, bool gently)
{
    act->adk = act->close ? act->adk && gently : gently; // who was refused is not awaited any more
    if (why > act->close) {
        act->close = (uint8_t)why;
        act->reason = reason;
        act_move(act, ON_CLOSE);
    }
    run_touch(run, act);
    for (uint32_t slot = act->first_child; slot; slot = run_act(run, slot)->next_sibling) {
        struct act *inner = run_act(run, slot);
        inner->hurried |= act->hurried;
        if (act_is_hurried(run, inner) || !is_cleanup(act, inner))
            act_close(run, inner, inner_cause(act, why), reason, gently);
    }
}

struct tries act_tries(struct run *run, const struct act *act)
{
    struct tries ret = { 0 };
    for (; act->slot && !(ret.failure && ret.sent); act = run_act(run, act->parent)) {
        const struct sent_back *sent = act->attempt ? act_kid(run, act)->sent : NULL;
        if (!ret.failure)
            ret.failure = act->failure;
        if (!ret.sent && sent && sent->feedback)
            ret.sent = sent;
        if (!ret.attempt && (ret.failure || ret.sent))
            ret.attempt = act->attempt;
    }
    return ret;
}

bool act_counts(const struct act *parent, uint32_t child)
{
    const rondo_node *node = parent->node;
    return parent->slot && (!node->flow || !parent->parent) && node_child_is_step(&node->children[child]);
}

bool act_takes_place(const struct act *act)
{
    return act->node->kind == RONDO_KIND_AGENT && !act->is_idle && !act->wait_ns && !act->pause_ns && !act->asking &&
           !errand_is_out(act);
}

void act_recount(struct run *run, const struct act *act, bool took)
{
    run->busy = run->busy + act_takes_place(act) - took;
}

void act_unpause(struct run *run, struct act *act)
{
    bool was = act_takes_place(act);
    act->pause_ns = 0;
    act_recount(run, act, was);
}

uint32_t act_skill(const struct act *act)
{
    const struct node_agent *agent = &act->node->agent;
    json_t *note;
    size_t at;
    if (act->skill != SKILL_OPEN)
        return act->skill < agent->skill_count ? act->skill : SKILL_OPEN;
    json_array_foreach(act->notes, at, note) {
        const char *name = json_string_value(json_object_get(note, "skill"));
        for (uint32_t i = 0; name && i < agent->skill_count; i++)
            if (strcmp(agent->skills[i].name, name) == 0)
                return i;
    }
    return SKILL_OPEN;
}
