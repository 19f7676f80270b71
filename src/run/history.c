/* history.c - a ring of passes that grows to its limit, and the index behind it. */
#include "run/history.h"

#include "run/run.h"

void history_init(struct history *history, uint32_t keep)
{
    *history = (struct history){ .keep = keep, .best_pass = -1 };
}

void history_copy(struct history *to, const struct history *from)
{
    *to = *from;
    to->ring = (void *)mem_dup(from->ring, from->cap * sizeof *from->ring);
    for (uint32_t i = 0; i < from->kept; i++) {
        struct pass *pass = history_get(to, from->count - 1 - i);
        pass->out = result_share(&pass->out);
    }
    to->seqs = (void *)mem_dup(from->seqs, from->seq_count * sizeof *from->seqs);
    to->seq_cap = from->seq_count;
    to->best.out = result_share(&from->best.out);
    to->good.out = result_share(&from->good.out);
}

void history_clear(struct run *run, struct history *history)
{
    for (uint32_t i = 0; i < history->kept; i++)
        result_clear(run, &history_get(history, history->count - 1 - i)->out);
    result_clear(run, &history->best.out);
    result_clear(run, &history->good.out);
    mem_free(history->ring);
    mem_free(history->seqs);
    history_init(history, history->keep);
}

void history_shrink(struct run *run, struct history *history)
{
    struct pass best = history->best;
    int64_t best_pass = history->best_pass;
    history->best = (struct pass){ 0 };
    history_clear(run, history);
    history->best = best;
    history->best_pass = best_pass;
}

void history_begin(struct history *history, uint64_t seq)
{
    mem_grow(&history->seqs, &history->seq_cap, history->seq_count, sizeof *history->seqs);
    history->seqs[history->seq_count++] = seq;
}

/* A larger ring puts every pass at another place. */
static void grow(struct history *history)
{
    uint32_t cap = MIN(MAX(history->cap * 2, 1u), history->keep);
    struct pass *ring = mem_alloc(cap * sizeof *ring);
    for (uint32_t i = 0; i < history->kept; i++) {
        uint32_t pass = history->count - 1 - i;
        ring[pass % cap] = history->ring[pass % history->cap];
    }
    mem_free(history->ring);
    history->ring = ring;
    history->cap = cap;
    history->last = history->kept ? (history->count - 1) % cap : cap - 1;
}

/* Ties keep the earlier pass. */
static void keep_best(struct run *run, struct history *history, const struct pass *pass)
{
    if (history->best_pass >= 0 && pass->score <= history->best.score)
        return;
    result_clear(run, &history->best.out);
    history->best = *pass;
    history->best.out = result_share(&pass->out);
    history->best_pass = (int64_t)history->count - 1;
}

/* The last good pass is put aside before it leaves the ring or is hidden by others. */
static void keep_good(struct run *run, struct history *history, struct pass *pass)
{
    result_clear(run, &history->good.out);
    history->good = *pass;
    history->good.out = result_share(&pass->out);
}

struct pass *history_place(struct run *run, struct history *history)
{
    if (history->kept == history->cap && history->cap < history->keep)
        grow(history);
    uint32_t next = history->last + 1 < history->cap ? history->last + 1 : 0;
    struct pass *place = &history->ring[next];
    if (history->kept == history->cap) {
        if (UNLIKELY(history->cap == 1) && pass_is_shown(place))
            keep_good(run, history, place);
        result_clear(run, &place->out);
    } else {
        history->kept++;
    }
    history->last = next;
    history->count++;
    return place;
}

void history_note(struct run *run, struct history *history, struct pass *pass)
{
    struct pass *before = history_get(history, (int64_t)history->count - 2);
    if (UNLIKELY(pass->scored))
        keep_best(run, history, pass);
    if (UNLIKELY(!pass_is_shown(pass)) && before && pass_is_shown(before))
        keep_good(run, history, before);
}
