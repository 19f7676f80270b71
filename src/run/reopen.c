/* reopen.c - see reopen.h for the idea.

   Which children a container wants back is asked twice, of the same function: when the container ends (for
   children that are containers themselves) and when the run is open again (for the leaves). */
#include "run/reopen.h"

#include "run/anew.h"
#include "run/budget.h"
#include "run/coordinator.h"
#include "run/each.h"
#include "run/graph.h"
#include "run/kinds.h"
#include "run/limits.h"
#include "run/loop.h"
#include "run/reserve.h"
#include "run/review.h"
#include "run/stop.h"

#include <stdlib.h>

/* ---- which children ----------------------------------------------------------------------------------- */

static bool has_completed_kid(const struct act *act)
{
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (act->kids[i].res.status == RONDO_STATUS_COMPLETED)
            return true;
    return false;
}

/* Members that failed are forgotten once the captain was asked: there were enough others. */
static bool forum_wants(const struct act *act, uint32_t child, bool is_needed)
{
    const struct kid *captain = &act->kids[act->node->forum.members];
    return child == act->node->forum.members || (is_needed && captain->state == KID_NEW);
}

/* A loop goes on in the pass that went wrong, or with the rule that did. */
static bool loop_wants(const struct act *act, uint32_t child, int status, const struct ending *e)
{
    bool is_open = e->pass_open || e->pass_end;
    if (&act->kids[child] == loop_body(act))
        return is_open && !act->loop->broke && !act->loop->continued;
    if (loop_is_machine(act))
        return false;
    if (child == ROLE_SCORE)
        return is_open && status == RONDO_STATUS_CANCELLED;
    return !is_open && act->loop->rule == loop_rule_of(child);
}

/* A child that failed or was cancelled.  A failure that its container can live with stays one, unless the
   container failed itself. */
static bool wants(const struct act *act, uint32_t child, int status, const struct ending *e)
{
    bool is_needed = status == RONDO_STATUS_CANCELLED || e->failed;
    switch (act->node->kind) {
    case RONDO_KIND_PARALLEL:
        if (act->node->mode == RONDO_FIRST)
            return !has_completed_kid(act);
        return act->node->mode == RONDO_FAIL_FAST || is_needed;
    case RONDO_KIND_FORUM: return forum_wants(act, child, is_needed);
    case RONDO_KIND_EACH: return act->node->mode == RONDO_ERROR_FAILS || is_needed;
    case RONDO_KIND_GRAPH: return status == RONDO_STATUS_CANCELLED || !graph_is_handled(act, child);
    case RONDO_KIND_LOOP:
    case RONDO_KIND_MACHINE: return loop_wants(act, child, status, e);
    default: return true;
    }
}

/* ---- reading the log ------------------------------------------------------------------------------------- */

static struct ending *ending_at(struct reopen *reopen, uint32_t slot)
{
    if (slot >= reopen->count) {
        uint32_t count = MAX(slot + 1, reopen->count * 2);
        struct ending *endings = mem_zalloc(count * sizeof *endings);
        for (uint32_t i = 0; i < reopen->count; i++)
            endings[i] = reopen->endings[i];
        mem_free(reopen->endings);
        reopen->endings = endings;
        reopen->count = count;
    }
    return &reopen->endings[slot];
}

void reopen_clear(struct reopen *reopen)
{
    for (uint32_t i = 0; i < reopen->count; i++)
        mem_free(reopen->endings[i].undone);
    mem_free(reopen->endings);
    for (uint32_t i = 0; i < reopen->loop_count; i++) {
        mem_free(reopen->loops[i].path);
        mem_free(reopen->loops[i].unstarted.undone);
    }
    mem_free(reopen->loops);
    mem_free(reopen->was_open);
    *reopen = (struct reopen){ 0 };
}

static void note(struct ending *e, uint64_t seq)
{
    mem_grow(&e->undone, &e->cap, e->count, sizeof *e->undone);
    e->undone[e->count++] = seq;
}

static void note_all(struct ending *all, const struct ending *e)
{
    for (uint32_t i = 0; i < e->count; i++)
        note(all, e->undone[i]);
}

static void begin(struct ending *e)
{
    *e = (struct ending){ .undone = e->undone, .cap = e->cap };
}

/* Its children are still there to be looked at. */
static void see_end(struct reopen *reopen, struct run *run, const struct rondo_event *ev)
{
    struct act *act = run_act(run, ev->act);
    struct ending *e = ending_at(reopen, ev->act);
    if (node_is_leaf(act->node) && !coordinator_is_place(act))
        return;
    e->failed = ev->type == RONDO_EV_STEP_FAILED;
    note(e, ev->seq);
    if (e->pass_end)
        note(e, e->pass_end);
    for (uint32_t slot = act->held; slot; slot = run_act(run, slot)->next_sibling) {
        struct ending *inner = ending_at(reopen, slot);
        int status = inner->failed ? RONDO_STATUS_FAILED : RONDO_STATUS_CANCELLED;
        inner->is_final = !wants(act, run_act(run, slot)->child, status, ending_at(reopen, ev->act));
    }
}

void reopen_watch(struct reopen *reopen, const rondo_node *loop)
{
    reopen->loops = mem_realloc(reopen->loops, (reopen->loop_count + 1) * sizeof *reopen->loops);
    reopen->loops[reopen->loop_count++] = (struct reopen_loop){ .node = loop };
}

/* What starts may take the place of a loop that has ended. */
static void watch_start(struct reopen *reopen, const rondo_node *node)
{
    for (uint32_t i = 0; i < reopen->loop_count; i++) {
        struct reopen_loop *loop = &reopen->loops[i];
        loop->is_past = loop->end != 0 && loop->node != node;
        if (loop->node == node)
            loop->end = 0;
    }
}

/* A step beside it, or beside what is around it, that did not start: that is decided once more. */
static void watch_unstarted(struct reopen *reopen, const struct rondo_event *ev)
{
    for (uint32_t i = 0; i < reopen->loop_count; i++) {
        struct reopen_loop *loop = &reopen->loops[i];
        uint32_t slot = loop->slot;
        if (!loop->end || loop->is_past)
            continue;
        while (slot && slot != ev->parent)
            slot = ending_at(reopen, slot)->parent;
        if (slot == ev->parent)
            note(&loop->unstarted, ev->seq);
    }
}

static void watch_end(struct reopen *reopen, struct run *run, const struct act *act, const struct rondo_event *ev)
{
    const struct act *outer = NULL;
    for (uint32_t slot = act->parent; slot; slot = run_act(run, slot)->parent)
        if (node_is_loop(run_act(run, slot)->node) || run_act(run, slot)->node->kind == RONDO_KIND_EACH)
            outer = run_act(run, slot);
    for (uint32_t i = 0; i < reopen->loop_count; i++) {
        struct reopen_loop *loop = &reopen->loops[i];
        struct buf path = { 0 };
        if (loop->node != act->node)
            continue;
        path_put_act(&path, run, act);
        mem_free(loop->path);
        begin(&loop->unstarted);
        *loop = (struct reopen_loop){ .node = act->node, .path = buf_take(&path), .slot = act->slot,
                                      .passes = ev->ordinal, .outer = outer ? outer->slot : 0,
                                      .outer_gen = outer ? outer->gen : 0, .reason = ev->code, .end = ev->seq,
                                      .unstarted = loop->unstarted };
    }
}

/* One that failed in a run that goes on is tried again when that has ended. */
static bool can_raise(const struct reopen *reopen, const struct reopen_loop *loop)
{
    static const unsigned by_limits = 1u << RONDO_REASON_MAX_ITERATIONS | 1u << RONDO_REASON_PLATEAU |
                                      1u << RONDO_REASON_STALLED | 1u << RONDO_REASON_OSCILLATING |
                                      1u << RONDO_REASON_TOKENS | 1u << RONDO_REASON_COST |
                                      1u << RONDO_REASON_CALLS | 1u << RONDO_REASON_TIME | 1u << RONDO_REASON_FAILED;
    if (loop->reason == RONDO_REASON_FAILED && reopen->goes_on && loop->node->loop.on_error != RONDO_ERROR_CONTINUES)
        return false;
    return by_limits >> loop->reason & 1;
}

static bool is_open(struct run *run, uint32_t slot)
{
    return run_act(run, slot)->state != ACT_FREE;
}

/* The nearest loop around it waits for its next pass, and then begins this one anew. */
static bool is_between(struct reopen *reopen, struct run *run, const struct reopen_loop *loop)
{
    uint32_t slot = ending_at(reopen, loop->slot)->parent;
    while (slot && !ending_at(reopen, slot)->is_loop)
        slot = ending_at(reopen, slot)->parent;
    const struct ending *e = ending_at(reopen, slot);
    return slot && (e->is_between || (reopen->goes_on && is_open(run, slot) && !e->pass_open));
}

static bool is_closing(struct reopen *reopen, struct run *run, const struct reopen_loop *loop)
{
    uint32_t slot = ending_at(reopen, loop->slot)->parent;
    while (slot && !is_open(run, slot))
        slot = ending_at(reopen, slot)->parent;
    for (; slot; slot = run_act(run, slot)->parent)
        if (run_act(run, slot)->close)
            return true;
    return run_act(run, 0)->close;
}

/* It went wrong, and is taken up again with the run. */
static bool comes_back(struct reopen *reopen, struct run *run, uint32_t slot)
{
    while (slot && run_act(run, slot)->is_held && !ending_at(reopen, slot)->is_final)
        slot = run_act(run, slot)->parent;
    return !slot && !reopen->goes_on;
}

/* What is around it has not ended, or is taken up again with the run. */
static bool may_begin_anew(struct reopen *reopen, struct run *run, const struct reopen_loop *loop)
{
    uint32_t slot = loop->outer;
    if (!slot || run_act(run, slot)->gen != loop->outer_gen)
        return false;
    return reopen->goes_on ? is_open(run, slot) && !run_act(run, slot)->close : comes_back(reopen, run, slot);
}

/* The loop itself is, at one of the places that it has in the run.  What its detector said there counts no longer. */
static bool is_back(struct reopen *reopen, struct run *run, const rondo_node *loop, struct ending *all)
{
    bool is = false;
    for (uint32_t slot = 1; slot < run->act_count; slot++) {
        if (run_act(run, slot)->node != loop || !comes_back(reopen, run, slot))
            continue;
        is = true;
        if (all && ending_at(reopen, slot)->detector)
            note(all, ending_at(reopen, slot)->detector);
    }
    return is;
}

enum reopen_raise reopen_raise(struct reopen *reopen, struct run *run, const struct reopen_loop *loop)
{
    bool begins_anew = loop->end && may_begin_anew(reopen, run, loop);
    if (!loop->end || is_back(reopen, run, loop->node, NULL))
        return RAISE_WORKS;
    if (!can_raise(reopen, loop))
        return begins_anew ? RAISE_WORKS : RAISE_NOTHING;
    if (loop->is_past)
        return begins_anew ? RAISE_WORKS : RAISE_PAST;
    if (is_between(reopen, run, loop))
        return RAISE_WORKS;
    return reopen->goes_on && is_closing(reopen, run, loop) ? RAISE_CLOSING : RAISE_OPENS;
}

static void see_pass(struct ending *e, const struct act *act, const struct rondo_event *ev)
{
    e->detector = 0;
    e->is_between = false;
    e->last_pass_end = ev->type == RONDO_EV_ITERATION_END ? ev->seq : 0;
    bool went_wrong = act->close || ev->code != RONDO_STATUS_COMPLETED;
    e->pass_open = ev->type == RONDO_EV_ITERATION_START;
    e->pass_end = !e->pass_open && went_wrong ? ev->seq : 0;
}

static bool closes(const struct rondo_event *ev)
{
    return ev->type == RONDO_EV_CANCEL || ev->code == TIMER_TIMEOUT || ev->code == TIMER_CALL ||
           ev->code == TIMER_BUDGET || ev->code == TIMER_CLEANUP;
}

void reopen_see(struct reopen *reopen, struct run *run, const struct rondo_event *ev)
{
    switch (ev->type) {
    case RONDO_EV_STEP_START:
        begin(ending_at(reopen, ev->act));
        ending_at(reopen, ev->act)->parent = ev->parent;
        ending_at(reopen, ev->act)->is_loop = node_is_loop(run_act(run, ev->parent)->node->children[ev->child].node);
        watch_start(reopen, run_act(run, ev->parent)->node->children[ev->child].node);
        if (!ev->parent && !ev->child)
            reopen->root = ev->act;
        break;
    case RONDO_EV_STEP_END:
    case RONDO_EV_STEP_FAILED:
    case RONDO_EV_STEP_SKIPPED:
    case RONDO_EV_STEP_CANCELLED:
        if (ev->flags & EF_UNSTARTED)
            watch_unstarted(reopen, ev);
        else
            see_end(reopen, run, ev);
        break;
    case RONDO_EV_DETECTOR: ending_at(reopen, ev->act)->detector = ev->seq; break;
    case RONDO_EV_ITERATION_START:
    case RONDO_EV_ITERATION_END: see_pass(ending_at(reopen, ev->act), run_act(run, ev->act), ev); break;
    case RONDO_EV_DELAY:
    case RONDO_EV_LOOP_PAUSED:
    case RONDO_EV_MEMORY_TRIM:
        ending_at(reopen, ev->act)->pass_end = 0;
        ending_at(reopen, ev->act)->is_between = true;
        break;
    case RONDO_EV_CANCEL:
    case RONDO_EV_TIMER:
        if (closes(ev))
            note(ending_at(reopen, ev->act), ev->seq);
        break;
    case RONDO_EV_LOOP_END:
        note(ending_at(reopen, ev->act), ev->seq);
        watch_end(reopen, run, run_act(run, ev->act), ev);
        break;
    case RONDO_EV_WORKFLOW_END: note(ending_at(reopen, 0), ev->seq); break;
    default: break;
    }
}

/* An activation, and those held in it that are wanted back. */
static void collect(struct reopen *reopen, struct run *run, const struct act *act, struct ending *all)
{
    note_all(all, ending_at(reopen, act->slot));
    for (uint32_t slot = act->held; slot; slot = run_act(run, slot)->next_sibling)
        if (!ending_at(reopen, slot)->is_final)
            collect(reopen, run, run_act(run, slot), all);
}

static int by_number(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return left < right ? -1 : left > right;
}

/* The ends of a loop and of everything around it that has ended; of a pass around it, too. */
static void collect_around(struct reopen *reopen, struct run *run, const struct reopen_loop *loop, struct ending *all)
{
    note_all(all, &loop->unstarted);
    for (uint32_t slot = loop->slot; slot && !(reopen->goes_on && is_open(run, slot));
         slot = ending_at(reopen, slot)->parent) {
        const struct ending *e = ending_at(reopen, slot);
        note_all(all, e);
        if (e->detector)
            note(all, e->detector);
        if (slot != loop->slot && e->last_pass_end)
            note(all, e->last_pass_end);
    }
}

/* A root that failed or was cancelled is held by the holder. */
static bool has_completed(struct run *run, uint32_t root)
{
    return root && !run_act(run, root)->is_held && run_result(run)->status == RONDO_STATUS_COMPLETED;
}

static void note_open(struct reopen *reopen, struct run *run)
{
    mem_free(reopen->was_open);
    reopen->was_count = run->act_count;
    reopen->was_open = mem_zalloc(run->act_count * sizeof *reopen->was_open);
    for (uint32_t slot = 0; slot < run->act_count; slot++)
        reopen->was_open[slot] = is_open(run, slot);
}

json_t *reopen_undone(struct reopen *reopen, struct run *run)
{
    struct ending all = { 0 };
    json_t *list = json_array();
    if (reopen->goes_on)
        note_open(reopen, run);
    else
        collect(reopen, run, run_act(run, 0), &all); // workflow_end at least
    for (uint32_t i = 0; i < reopen->loop_count; i++)
        if (!is_back(reopen, run, reopen->loops[i].node, &all) &&
            reopen_raise(reopen, run, &reopen->loops[i]) == RAISE_OPENS)
            collect_around(reopen, run, &reopen->loops[i], &all);
    if (reopen->wish && has_completed(run, reopen->root))
        collect(reopen, run, run_act(run, reopen->root), &all);
    qsort(all.undone, all.count, sizeof *all.undone, by_number);
    for (uint32_t i = 0; i < all.count; i++)
        if (!i || all.undone[i] != all.undone[i - 1])
            json_array_append_new(list, json_integer((json_int_t)all.undone[i]));
    mem_free(all.undone);
    return list;
}

/* ---- what is put back ------------------------------------------------------------------------------------ */

/* The lists that are being made for run_reopened. */
struct lists {
    struct run *run;
    json_t *slots, *kids, *again, *stale;
    json_t *mended; // rows of the present container, see mend.h; NULL: everything is tried again that went wrong
};

/* Beside items, only what was cut off together with them is done again. */
static bool is_left(const struct lists *lists, uint32_t child, uint32_t ordinal, int status)
{
    return lists->mended && (status == RONDO_STATUS_FAILED || mend_has(lists->mended, child, ordinal));
}

/* A step that never began keeps its number.  An item does not: its number says that it has a place. */
static uint16_t next_attempt(const struct act *act, const struct result *res, uint16_t attempt)
{
    bool is_kept = res->flags & RES_UNBEGUN && act->node->kind != RONDO_KIND_EACH;
    return is_kept || attempt == UINT16_MAX ? attempt : (uint16_t)(attempt + 1);
}

static void put_back(struct lists *lists, const struct act *act, uint32_t child, uint32_t ordinal,
                     const struct result *res, uint16_t attempt)
{
    uint16_t next = next_attempt(act, res, attempt);
    auto_buf struct buf path = { 0 };
    json_array_append_new(lists->kids, json_pack("[I,I,I,I]", (json_int_t)act->slot, (json_int_t)child,
                                                 (json_int_t)ordinal, (json_int_t)next));
    if (next == attempt && res->status != RONDO_STATUS_FAILED)
        return;
    struct place place = { act->node->children[child].node, act->slot, child, ordinal, next };
    path_put(&path, path_find_act, lists->run, &place);
    json_array_append_new(lists->again, json_string(buf_text(&path)));
}

/* What a budget cut short is as good as cancelled. */
static int status_of(const struct result *res)
{
    return res->flags & RES_SHORT && res->status == RONDO_STATUS_COMPLETED ? RONDO_STATUS_CANCELLED : res->status;
}

static bool went_wrong(const struct result *res)
{
    int status = status_of(res);
    return status == RONDO_STATUS_FAILED || status == RONDO_STATUS_CANCELLED;
}

static void list_items(struct lists *lists, const struct act *act, const struct ending *e)
{
    const struct each_act *each = act->each;
    for (uint32_t i = 0; each->items && i < each->count; i++)
        if (went_wrong(&each->results[i]) && wants(act, 0, status_of(&each->results[i]), e) &&
            !is_left(lists, 0, i, status_of(&each->results[i])))
            put_back(lists, act, 0, i, &each->results[i], each->results[i].attempt);
}

/* Steps that were kept from starting are judged again; one that did not want to is left. */
static bool was_kept(const struct act *act, uint32_t i)
{
    const struct result *res = &act->kids[i].res;
    bool has_run_on = act->node->children[i].node->opts.run_on != RONDO_ON_SUCCESS;
    return res->status == RONDO_STATUS_SKIPPED && (res->flags & RES_CUT || (res->flags & RES_UNBEGUN && has_run_on));
}

static bool graph_wants(const struct act *act, uint32_t i, const struct ending *e)
{
    const struct kid *kid = &act->kids[i];
    if (kid->state != KID_ENDED)
        return false;
    if (kid->res.flags & RES_UNREVIEWED)
        return false; // its reviewer is asked again
    return was_kept(act, i) || (went_wrong(&kid->res) && wants(act, i, status_of(&kid->res), e));
}

/* Who looks at a step that is done again has to look again, and who did not say what to think of it, too. */
static bool reviewer_wants(const struct act *act, uint32_t i, const struct ending *e)
{
    const struct node_review *review = act->node->children[i].review;
    if (!review || act->kids[i].state != KID_ENDED)
        return false;
    const struct result *of = &act->kids[review->of].res;
    return graph_wants(act, review->of, e) || (of->flags & RES_UNREVIEWED && wants(act, review->of, of->status, e));
}

static void list_steps(struct lists *lists, const struct act *act, const struct ending *e)
{
    for (uint32_t i = 0; i < act->kid_count; i++)
        if ((graph_wants(act, i, e) || reviewer_wants(act, i, e)) &&
            !is_left(lists, i, 0, status_of(&act->kids[i].res)))
            put_back(lists, act, i, 0, &act->kids[i].res, act->kids[i].attempt);
}

/* The ordinal of a child as its start will have it. */
static uint32_t ordinal_of(const struct act *act, uint32_t child)
{
    if (act->node->kind == RONDO_KIND_FORUM)
        return child < act->node->forum.members ? act->tries : 0;
    if (!node_is_loop(act->node))
        return 0;
    bool is_of_pass = loop_is_machine(act) || child == ROLE_BODY || child == ROLE_SCORE;
    return act->loop->history.count - !is_of_pass;
}

static void list_kids(struct lists *lists, const struct act *act, const struct ending *e)
{
    for (uint32_t i = 0; i < act->kid_count; i++) {
        const struct kid *kid = &act->kids[i];
        if (kid->state == KID_ENDED && went_wrong(&kid->res) && wants(act, i, status_of(&kid->res), e) &&
            !is_left(lists, i, ordinal_of(act, i), status_of(&kid->res)))
            put_back(lists, act, i, ordinal_of(act, i), &kid->res, kid->attempt);
    }
}

static void list_children(struct lists *lists, const struct act *act, const struct ending *e)
{
    if (act->node->kind == RONDO_KIND_EACH)
        list_items(lists, act, e);
    else if (act->node->kind == RONDO_KIND_GRAPH)
        list_steps(lists, act, e);
    else
        list_kids(lists, act, e);
}

/* Something that failed, and is not done again, has ended its container, and will do so once more. */
static bool has_other_failure(const struct act *act, const json_t *mended)
{
    for (uint32_t i = 0; i < act->kid_count; i++)
        if (result_has_failed(&act->kids[i].res) && !mend_has(mended, i, mend_ordinal(act)))
            return true;
    return false;
}

/* Items that are done again, and what goes with them. */
static void list_mended(struct lists *lists, struct act *act, const struct reopen *reopen, const struct ending *e,
                        json_t *all)
{
    lists->mended = mend_rows(lists->run, act, reopen->wish, lists->again, lists->stale);
    if (!has_other_failure(act, lists->mended))
        list_children(lists, act, e);
    if (json_array_size(lists->mended))
        json_array_append_new(all, json_pack("[I,O]", (json_int_t)act->slot, lists->mended));
    json_decref(TAKE(lists->mended));
}

bool reopen_leave(struct reopen *reopen, const json_t *slots)
{
    size_t i;
    json_t *slot;
    bool has_left = false;
    json_array_foreach(slots, i, slot) {
        struct ending *e = ending_at(reopen, (uint32_t)json_integer_value(slot));
        has_left |= !e->is_final;
        e->is_final = true;
    }
    return has_left;
}

json_t *reopen_value(const struct reopen *reopen, struct run *run, json_t *undone, json_t *stale)
{
    static const struct ending nothing;
    struct lists lists = { run, json_array(), json_array(), json_array(), stale, NULL };
    auto_json json_t *mended = json_array();
    for (uint32_t slot = 0; slot < run->act_count; slot++) {
        struct act *act = run_act(run, slot);
        const struct ending *e = slot < reopen->count ? &reopen->endings[slot] : &nothing;
        if (act->state == ACT_FREE || (slot < reopen->was_count && reopen->was_open[slot]))
            continue;
        json_array_append_new(lists.slots, json_integer(slot));
        if (act->close) // by an action inside: it only has to end
            continue;
        if (reopen->wish)
            list_mended(&lists, act, reopen, e, mended);
        else
            list_children(&lists, act, e);
    }
    json_t *value = json_pack("{s:o, s:o, s:o, s:o}", "again", lists.again, "undone", undone, "slots", lists.slots,
                              "kids", lists.kids);
    if (reopen->goes_on)
        json_object_set_new(value, "goesOn", json_true());
    if (reopen->wish) {
        json_object_set_new(value, "keeps", json_integer(run->mends));
        json_object_set(value, "mended", mended);
    }
    return value;
}

/* ---- applying ---------------------------------------------------------------------------------------------- */

/* One row of `kids`; false when it is none. */
struct row {
    struct act *act;
    uint32_t child, ordinal;
    uint16_t attempt;
    const json_t *anew; // its effects, see anew.h; NULL: it goes on where it was
};

static bool get_number(const json_t *list, size_t i, int64_t max, int64_t *ret)
{
    const json_t *number = json_array_get(list, i);
    *ret = json_integer_value(number);
    return json_is_integer(number) && *ret >= 0 && *ret <= max;
}

static bool get_row(struct run *run, const json_t *list, struct row *ret)
{
    int64_t slot, child, ordinal, attempt;
    const json_t *anew = json_array_get(list, 4);
    if (json_array_size(list) < 4 || (anew && !json_is_array(anew)) ||
        !get_number(list, 0, (int64_t)run->act_count - 1, &slot) ||
        !get_number(list, 1, UINT32_MAX, &child) || !get_number(list, 2, UINT32_MAX, &ordinal) ||
        !get_number(list, 3, UINT16_MAX, &attempt))
        return false;
    *ret = (struct row){ run_act(run, (uint32_t)slot), (uint32_t)child, (uint32_t)ordinal, (uint16_t)attempt,
                         anew };
    return true;
}

static bool admits_item(const struct row *row)
{
    const struct each_act *each = row->act->each;
    return !row->child && each->items && row->ordinal < each->count && went_wrong(&each->results[row->ordinal]) &&
           row->attempt > each->results[row->ordinal].attempt;
}

static bool admits_row(struct run *run, const json_t *list)
{
    struct row row;
    if (!get_row(run, list, &row) || row.act->state == ACT_FREE || row.act->close)
        return false;
    if (row.act->node->kind == RONDO_KIND_EACH)
        return admits_item(&row);
    if (!row.act->kids || row.child >= row.act->kid_count || !row.act->node->children[row.child].node)
        return false;
    const struct kid *kid = &row.act->kids[row.child];
    return kid->state == KID_ENDED && row.attempt >= kid->attempt;
}

bool reopen_admits(struct run *run, const struct rondo_event *ev)
{
    size_t i;
    json_t *row;
    if (ev->num < 0 || (uint64_t)(run->idle_ns + ev->num) > TIME_MAX_NS || !json_is_object(ev->value))
        return false;
    json_array_foreach(json_object_get(ev->value, "kids"), i, row)
        if (!admits_row(run, row))
            return false;
    return mend_admits(run, json_object_get(ev->value, "mended"));
}

/* What it has noted belongs to the work that it had. */
static void begin_anew(struct run *run, struct kid *kid, const struct row *row)
{
    if (!row->anew)
        return;
    kid->asked &= (uint8_t)~ASKED_WHEN; // its condition may be another
    if (kid->res.more)
        run_drop(run, TAKE(kid->res.more->notes));
    if (json_array_size(row->anew))
        result_more(&kid->res)->did = json_incref((json_t *)row->anew);
}

/* What the attempt before came to stays until the next one starts, which is told of it. */
static void put_kid_back(struct run *run, struct act *act, const struct row *row)
{
    if (act->node->kind == RONDO_KIND_EACH) {
        begin_anew(run, each_put_back(act, row->ordinal, row->attempt), row);
        return;
    }
    struct kid *kid = &act->kids[row->child];
    bool is_next = row->attempt > kid->attempt;
    kid->attempt = row->attempt;
    kid->asked = is_next || kid->attempt > kid->base ? ASKED_WHEN : 0; // as before any other try
    kid->state = KID_NEW;
    kid->res.status = kid->res.flags = 0;
    if (is_next) {
        kid->base = kid->attempt;
        kid->reopened = true;
    }
    begin_anew(run, kid, row);
    if (act->node->kind == RONDO_KIND_GRAPH && act->node->children[row->child].review)
        review_reopen(run, act, row->child);
}

/* What ran out of time gets it once more; what it has spent stays spent. */
static void renew_time(struct run *run, struct act *act)
{
    int64_t timeout_ns = limits_of(run, act->node)->opts.timeout_ms * MS, call_ns = act->node->call_ms * MS;
    int64_t limit_ns = act->slot ? timeout_ns : 0;
    struct kid *kid = limit_ns ? act_kid(run, act) : NULL;
    if (kid && run_driven_ns(run) - kid->first_ns >= limit_ns)
        kid->first_ns = run_driven_ns(run);
    if (call_ns && run_driven_ns(run) - act->call_ns >= call_ns)
        act->call_ns = run_driven_ns(run);
}

static bool has_failed(const struct row *row)
{
    bool is_item = row->act->node->kind == RONDO_KIND_EACH;
    const struct result *res = is_item ? &row->act->each->results[row->ordinal] : &row->act->kids[row->child].res;
    return res->status == RONDO_STATUS_FAILED;
}

/* Everything around a step that failed has room for it again, but for the run, which is given more by whoever
   takes it up. */
static void renew_budgets(struct run *run, struct act *act)
{
    for (; act->slot; act = run_act(run, act->parent))
        budget_renew(run, act);
}

void reopen_put_back(struct run *run, struct act *act, uint32_t child, uint32_t ordinal, uint16_t attempt,
                     const json_t *anew)
{
    put_kid_back(run, act, &(struct row){ act, child, ordinal, attempt, anew });
    if (act->kind->recount)
        act->kind->recount(act);
}

void reopen_apply(struct run *run, struct rondo_event *ev)
{
    size_t i;
    json_t *list;
    struct row row;
    run->idle_ns += ev->num;
    run_read_limits(run, json_object_get(ev->value, "limits"));
    stop_over(run);
    reserve_lose(run);
    json_array_foreach(json_object_get(ev->value, "kids"), i, list) {
        if (!admits_row(run, list) || !get_row(run, list, &row)) // a child twice
            continue;
        if (has_failed(&row))
            renew_budgets(run, row.act);
        put_kid_back(run, row.act, &row);
    }
    mend_apply(run, json_object_get(ev->value, "mended"));
    anew_done(run, ev);
    for (uint32_t slot = 0; slot < run->act_count; slot++) {
        struct act *act = run_act(run, slot);
        if (act->state == ACT_FREE)
            continue;
        renew_time(run, act);
        budget_forgive(act);
        if (act->kind->recount)
            act->kind->recount(act);
    }
    run_drop(run, ev->value);
}
