/* chosen.c - see chosen.h. */
#include "cli/chosen.h"

#include "base/arena.h"

#include <stdlib.h>
#include <string.h>

#define NEAR_MAX     3  // rows that ended last or come next, to be shown before all others
#define PASSES_MAX   10 // past passes of a loop, where lines are not counted
#define PASSES_INNER 2  // and of one in an item

/* What matters most comes first. */
enum rank {
    RANK_ASKING,
    RANK_FAILED,
    RANK_RUNNING, // an agent
    RANK_AROUND,  // what runs around it
    RANK_AROUND_FAILED,
    RANK_RECENT,
    RANK_NEXT,
    RANK_PASS, // a past one
    RANK_ENDED,
    RANK_ENDED_INNER,
    RANK_LATER,
    RANK_SKIPPED,
};

static void count_items(struct chosen *c, const struct row *each)
{
    for (size_t i = 0; i < COUNT(c->rowless); i++) {
        c->rowless[i] += each->forgotten[i];
        c->has_gone = c->has_gone || each->forgotten[i];
    }
    if (row_is_open(each) && each->items > each->begun)
        c->rowless[ROW_PENDING] += each->items - each->begun;
}

static int state_shown(const struct row *row)
{
    int state = row_state(row);
    return state == ROW_RUNNING && row_speaker(row)->state == ROW_ASKING ? ROW_ASKING : state;
}

static void add_shown(struct chosen *c, struct shown shown)
{
    mem_grow(&c->list, &c->cap, c->count, sizeof *c->list);
    c->list[c->count++] = shown;
}

static void add_pass(struct chosen *c, const struct row *loop, const struct pass_seen *pass, uint32_t up,
                     unsigned depth)
{
    static const uint8_t states[] = { [RONDO_STATUS_COMPLETED] = ROW_DONE, [RONDO_STATUS_FAILED] = ROW_FAILED,
                                      [RONDO_STATUS_CANCELLED] = ROW_CANCELLED };
    int state = pass->status < COUNT(states) && states[pass->status] ? states[pass->status] : ROW_SKIPPED;
    add_shown(c, (struct shown){ .row = loop, .up = up, .depth = (uint16_t)depth, .pass = pass,
                                 .state = (uint8_t)state, .is_inner = up != NOBODY && c->list[up].is_inner });
}

/* The pass that stands below a loop that has ended.  It is the one whose answer the loop gives.  Else it is the last
   one, if that failed and the loop has not reached what it waits for.  NULL: the rows say all. */
static const struct pass_seen *telling_pass(const struct row *loop)
{
    const struct pass_seen *best = passes_find(&loop->past, row_best_pass(loop)), *last = passes_last(&loop->past);
    bool has_missed = row_is_short(loop) || (loop->state == ROW_FAILED && row_is_origin(loop));
    if (best || !last || row_speaker(loop) == loop)
        return best;
    return has_missed && last->status == RONDO_STATUS_FAILED ? last : NULL;
}

/* Of a loop at work the last passes that have ended. */
static void collect_passes(struct chosen *c, const struct row *loop, uint32_t up, unsigned depth)
{
    const struct passes *past = &loop->past;
    const struct pass_seen *one = row_is_open(loop) ? NULL : telling_pass(loop);
    uint32_t most = c->list[up].is_inner ? PASSES_INNER : c->height ? (uint32_t)c->height : PASSES_MAX;
    uint32_t from = past->count - MIN(past->count, most);
    if (one)
        add_pass(c, loop, one, up, depth);
    if (!row_is_open(loop) || !past->count)
        return;
    for (uint32_t i = from; i < past->count; i++)
        add_pass(c, loop, &past->list[i], up, depth);
    uint64_t gone = (uint64_t)(passes_last(past)->number + 1) - (past->count - from);
    c->passes_gone += c->list[up].is_inner ? 0 : gone;
    c->has_gone = c->has_gone || c->passes_gone;
}

static void collect(struct chosen *c, const struct row *row, uint32_t up, unsigned depth)
{
    if (row_is_seen(row)) {
        add_shown(c, (struct shown){ .row = row, .up = up, .depth = (uint16_t)depth, .state = (uint8_t)state_shown(row),
                                     .is_inner = row->is_item || (up != NOBODY && c->list[up].is_inner) });
        up = c->count - 1;
        depth++;
        if (row_is_loop(row))
            collect_passes(c, row, up, depth);
    }
    if (row->node->kind == RONDO_KIND_EACH)
        count_items(c, row);
    for (uint32_t i = 0; i < row->kid_count; i++)
        if (row->kids[i])
            collect(c, row->kids[i], up, depth);
}

/* It has ended, and had run. */
static bool has_run(const struct shown *s)
{
    return !s->pass && s->state >= ROW_DONE && s->state != ROW_SKIPPED && s->row->seq;
}

/* The event at which the last few rows begin to have ended. */
static uint64_t find_recent(const struct chosen *c)
{
    uint64_t last[NEAR_MAX] = { 0 };
    for (uint32_t i = 0; i < c->count; i++) {
        uint64_t seq = has_run(&c->list[i]) ? c->list[i].row->seq : 0;
        for (uint32_t k = 0; k < NEAR_MAX && seq; k++) {
            if (seq <= last[k])
                continue;
            uint64_t other = last[k];
            last[k] = seq;
            seq = other;
        }
    }
    return MAX(last[NEAR_MAX - 1], 1);
}

static enum rank rank(struct chosen *c, const struct shown *s)
{
    if (s->pass)
        return RANK_PASS;
    switch ((enum row_state)s->state) {
    case ROW_ASKING: return RANK_ASKING;
    case ROW_FAILED: return row_is_origin(s->row) ? RANK_FAILED : RANK_AROUND_FAILED;
    case ROW_RUNNING:
    case ROW_RETRYING: return node_is_leaf(row_speaker(s->row)->node) ? RANK_RUNNING : RANK_AROUND;
    case ROW_PENDING: return c->coming++ < NEAR_MAX ? RANK_NEXT : RANK_LATER;
    case ROW_SKIPPED: return RANK_SKIPPED;
    default: return s->row->seq >= c->recent ? RANK_RECENT : s->is_inner ? RANK_ENDED_INNER : RANK_ENDED;
    }
}

/* Of one rank: the oldest first, but of ended rows the latest. */
static int by_rank(const void *a, const void *b)
{
    const struct shown *x = *(struct shown *const *)a, *y = *(struct shown *const *)b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->rank == RANK_PASS)
        return x->pass->seq > y->pass->seq ? -1 : x->pass->seq < y->pass->seq;
    if (x->rank == RANK_RECENT || x->rank == RANK_ENDED || x->rank == RANK_ENDED_INNER)
        return x->row->seq > y->row->seq ? -1 : x->row->seq < y->row->seq;
    return x < y ? -1 : x > y;
}

/* Turns a row on, and those it is in, if there is room for all of them. */
static void turn_on(struct chosen *c, struct shown *s, uint32_t room)
{
    uint32_t need = 0;
    for (struct shown *at = s; at && !at->on; at = at->up == NOBODY ? NULL : &c->list[at->up])
        need++;
    if (need > room && !c->on) { // not even the most important one fits with what it is in
        s->on = true;
        c->on = 1;
    }
    if (c->on + need > room)
        return;
    for (struct shown *at = s; at && !at->on; at = at->up == NOBODY ? NULL : &c->list[at->up])
        at->on = true;
    c->on += need;
}

static void choose(struct chosen *c, uint32_t room)
{
    struct shown **order = mem_alloc(MAX(c->count, 1) * sizeof *order);
    c->recent = find_recent(c);
    for (uint32_t i = 0; i < c->count; i++) {
        c->list[i].rank = (uint8_t)rank(c, &c->list[i]);
        order[i] = &c->list[i];
    }
    qsort(order, c->count, sizeof *order, by_rank);
    for (uint32_t i = 0; i < c->count && c->on < room; i++)
        turn_on(c, order[i], room);
    mem_free(order);
}

void chosen_find(struct chosen *c, const struct rows *rows)
{
    uint32_t room = c->height > 2 ? (uint32_t)c->height - 1 : 1;
    collect(c, rows->root, NOBODY, 0);
    if (c->height && c->count + c->has_gone > room) {
        choose(c, room - 1);
        return;
    }
    c->on = c->count;
    for (uint32_t i = 0; i < c->count; i++)
        c->list[i].on = true;
}

void chosen_clear(struct chosen *c)
{
    mem_free(c->list);
    *c = (struct chosen){ 0 };
}

bool chosen_leaves_out(const struct chosen *c)
{
    return c->on < c->count || c->has_gone;
}

/* The steps of an item are not counted beside it, nor its passes: an item that has no row counts once. */
static bool is_counted(const struct shown *s)
{
    return !s->on && (!s->is_inner || (s->row->is_item && !s->pass));
}

uint64_t chosen_count_others(const struct chosen *c, uint64_t *ret_counts)
{
    uint64_t passes = c->passes_gone;
    memcpy(ret_counts, c->rowless, sizeof c->rowless);
    for (uint32_t i = 0; i < c->count; i++) {
        ret_counts[c->list[i].state] += is_counted(&c->list[i]) && !c->list[i].pass;
        passes += is_counted(&c->list[i]) && c->list[i].pass;
    }
    return passes;
}
