/* detect.c - same output again and again, no file that changes, A-B-A-B, and no gain of score.

   Outputs are compared by their hash over a walk that does not depend on the order of keys, so a
   polling loop whose result changes never trips. */
#include "run/detect.h"

#include "data/value.h"
#include "run/limits.h"
#include "run/seen.h"

static uint32_t window(const struct node_loop *def)
{
    return 2 * (uint32_t)def->oscillation;
}

void detect_open(struct run *run, struct act *act)
{
    const struct node_loop *def = &limits_of(run, act->node)->loop;
    if (def->oscillation)
        act->loop->hashes = mem_zalloc(window(def) * sizeof *act->loop->hashes);
}

void detect_widen(struct act *act, const struct node_loop *def)
{
    if (!def->oscillation)
        return;
    mem_free(act->loop->hashes);
    act->loop->hashes = mem_zalloc(window(def) * sizeof *act->loop->hashes);
    act->loop->seen = MIN(act->loop->seen, 1);
}

void detect_copy(const struct run *run, struct loop_act *to, const struct act *from)
{
    const struct node_loop *def = &limits_of(run, from->node)->loop;
    if (from->loop->hashes)
        to->hashes = (void *)mem_dup(from->loop->hashes, window(def) * sizeof *to->hashes);
}

static void note_score(struct loop_act *l, const struct pass *pass, double min_gain)
{
    if (pass->scored && pass->score > l->gain_from + min_gain) {
        l->gain_from = pass->score;
        l->no_gain = 0;
    } else {
        l->no_gain++;
    }
}

/* Outputs in a row that are the same.  A watching loop counts passes in a row that change no file.  Its words have to
   stay the same, too, until a pass has changed a file, or always if it watches them as well. */
static uint32_t count_repeats(const struct act *act, uint64_t hash)
{
    const struct loop_act *l = act->loop;
    bool files_suffice = act->node->loop.watcher && !act->node->loop.watches_words && l->ever_changed;
    bool is_same = files_suffice || (l->seen && hash == l->last_hash);
    return is_same ? l->repeats + 1 : 1;
}

void detect_pass(struct run *run, struct act *act, const struct pass *pass)
{
    const struct node_loop *def = &limits_of(run, act->node)->loop;
    struct loop_act *l = act->loop;
    if (def->patience)
        note_score(l, pass, def->min_gain);
    if (!def->stall_repeats && !def->oscillation)
        return;
    if (UNLIKELY(def->watcher) && seen_change(act)) {
        detect_forget(act);
        return;
    }
    uint64_t hash = value_hash(pass->out.value);
    l->repeats = count_repeats(act, hash);
    l->last_hash = hash;
    if (def->oscillation)
        l->hashes[l->seen % window(def)] = hash;
    l->seen++;
}

static bool is_oscillating(const struct loop_act *l, const struct node_loop *def)
{
    uint32_t n = window(def);
    if (!n || l->seen < n || l->hashes[0] == l->hashes[1])
        return false;
    for (uint32_t i = 2; i < n; i++)
        if (l->hashes[i] != l->hashes[i - 2]) // n is even: places keep their parity in the ring
            return false;
    return true;
}

int detect(const struct run *run, const struct act *act)
{
    const struct node_loop *def = &limits_of(run, act->node)->loop;
    const struct loop_act *l = act->loop;
    if (def->stall_repeats && l->repeats >= (uint32_t)def->stall_repeats)
        return RONDO_REASON_STALLED;
    if (is_oscillating(l, def))
        return RONDO_REASON_OSCILLATING;
    if (def->patience && l->no_gain >= (uint32_t)def->patience)
        return RONDO_REASON_PLATEAU;
    return 0;
}

void detect_forget(struct act *act)
{
    act->loop->repeats = act->loop->seen = 0;
}
