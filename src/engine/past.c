/* past.c - see past.h.  The log is read once.  How far a step is follows from the run as it would go on. */
#include "engine/past.h"

#include "engine/shell.h"
#include "run/each.h"
#include "run/graph.h"
#include "run/loop.h"
#include "run/mend.h"

#include <string.h>

/* A start: its event, and its path without attempts. */
struct start {
    uint64_t seq;
    char *path;
};

/* A step of the definition.  Containers without a name share the path of what is around them: the named one counts. */
struct past_step {
    struct start first, last;
    struct start pass;        // of a loop: its last pass
    bool has_started, was_passed_over;
    bool began_again;         // there is a later attempt at the place of the first start
    bool is_known, is_placed; // by the run as it would go on
    uint8_t standing;         // enum drift_standing
    uint8_t kind;             // enum rondo_kind
};

static void start_set(struct start *start, uint64_t seq, const char *path)
{
    mem_free(start->path);
    *start = (struct start){ seq, mem_strdup(path) };
}

void past_clear(struct past *past)
{
    for (uint32_t i = 0; i < past->count; i++) {
        mem_free(past->list[i].first.path);
        mem_free(past->list[i].last.path);
        mem_free(past->list[i].pass.path);
    }
    mem_free(past->list);
    json_decref(past->steps);
    json_decref(past->changed);
    *past = (struct past){ 0 };
}

static struct past_step *step_find(const struct past *past, const char *path)
{
    const json_t *at = json_object_get(past->steps, path);
    return at ? &past->list[json_integer_value(at)] : NULL;
}

static struct past_step *step_at(struct past *past, const char *path)
{
    struct past_step *step = step_find(past, path);
    if (step)
        return step;
    mem_grow(&past->list, &past->cap, past->count, sizeof *past->list);
    json_object_set_new_nocheck(past->steps, path, json_integer(past->count));
    past->list[past->count] = (struct past_step){ 0 };
    return &past->list[past->count++];
}

/* ---- the log --------------------------------------------------------------------------------------------- */

static const struct place *place_at(const struct reader *reader, uint32_t slot)
{
    return &reader->places[slot];
}

static bool is_pass(const struct reader *reader, const struct place *place)
{
    const rondo_node *parent = place_at(reader, place->parent)->node;
    return node_is_loop(parent) && (parent->kind == RONDO_KIND_MACHINE || place->child == ROLE_BODY);
}

static void note_pass(struct past *past, const struct reader *reader, const struct rondo_event *ev,
                      const struct place *place)
{
    auto_buf struct buf loop = { 0 }, full = { 0 }, path = { 0 };
    struct place around;
    if (!is_pass(reader, place) || !reader_find(reader, place->parent, &around))
        return;
    path_put_definition(&loop, reader_find, reader, &around);
    path_put(&full, reader_find, reader, &around);
    path_put_id(&path, buf_text(&full));
    buf_printf(&path, ".%u", place->ordinal);
    start_set(&step_at(past, buf_text(&loop))->pass, ev->seq, buf_text(&path));
}

static void note_start(struct past *past, const struct reader *reader, const struct rondo_event *ev,
                       const struct place *place, struct past_step *step)
{
    auto_buf struct buf full = { 0 }, path = { 0 };
    path_put(&full, reader_find, reader, place);
    path_put_id(&path, buf_text(&full));
    step->has_started = true;
    if (!step->first.seq)
        start_set(&step->first, ev->seq, buf_text(&path));
    else if (strcmp(step->first.path, buf_text(&path)) == 0)
        step->began_again = true;
    start_set(&step->last, ev->seq, buf_text(&path));
}

/* A step that was never begun because another one failed: nothing about it was decided. */
static bool is_swept_along(const struct rondo_event *ev)
{
    return ev->flags & EF_UNSTARTED && !(ev->flags & EF_MINE);
}

static bool tells(const struct rondo_event *ev)
{
    bool is_end = ev->type == RONDO_EV_STEP_FAILED || ev->type == RONDO_EV_STEP_SKIPPED ||
                  ev->type == RONDO_EV_STEP_CANCELLED;
    return ev->type == RONDO_EV_STEP_START || (is_end && ev->flags & EF_UNSTARTED);
}

static bool has_path(const rondo_node *parent, uint32_t child)
{
    const rondo_node *node = parent->children[child].node;
    return *parent->children[child].name || node_is_loop(node) || node->kind == RONDO_KIND_EACH;
}

static void look_at(struct past *past, const struct reader *reader, const struct rondo_event *ev)
{
    auto_buf struct buf path = { 0 };
    struct place place;
    if (!tells(ev) || !reader_place(reader, ev, &place))
        return;
    if (ev->type == RONDO_EV_STEP_START)
        note_pass(past, reader, ev, &place);
    if (!has_path(place_at(reader, place.parent)->node, place.child))
        return;
    path_put_definition(&path, reader_find, reader, &place);
    struct past_step *step = step_at(past, buf_text(&path));
    if (ev->type == RONDO_EV_STEP_START)
        note_start(past, reader, ev, &place, step);
    else if (is_swept_along(ev))
        step->was_passed_over = true;
    else
        step->has_started = true;
}

static int read_log(rondo_run *run, struct past *past, rondo_error *err)
{
    struct reader *reader = &run->reader;
    struct rondo_event ev;
    int rc;
    reader_rewind(reader, run);
    while ((rc = reader_next(reader, run, &ev, false)) > 0) {
        if (ev.type == RONDO_EV_STEP_START)
            reader_note_start(reader, run, &ev);
        look_at(past, reader, &ev);
    }
    return rc == 0 ? 0 : err_set(err, RONDO_ESTORE, "event %llu is damaged", (unsigned long long)reader->seq + 1);
}

/* ---- as it would go on --------------------------------------------------------------------------------------- */

/* Activations that are open, and copies with which others will begin. */
struct walk {
    struct past *past;
    struct run *core;
    bool has_ended; // the run had, and was taken up again
    const struct act **acts;
    uint32_t count, cap;
    struct buf path;
};

static void add_act(struct walk *w, const struct act *act)
{
    mem_grow(&w->acts, &w->cap, w->count, sizeof *w->acts);
    w->acts[w->count++] = act;
}

static void add_copy(struct walk *w, const struct act *act, const struct kid *kid, uint32_t child, uint32_t ordinal)
{
    const struct act *copy = kid->mends ? mend_find(act, child, ordinal) : NULL;
    if (copy)
        add_act(w, copy);
}

/* The list grows while it is gone through. */
static void add_copies(struct walk *w)
{
    for (uint32_t a = 0; a < w->count; a++) {
        const struct act *act = w->acts[a];
        for (uint32_t i = 0; i < act->kid_count; i++)
            add_copy(w, act, &act->kids[i], i, mend_ordinal(act));
        for (uint32_t i = 0; act->node->kind == RONDO_KIND_EACH && i < act->each->open_count; i++)
            add_copy(w, act, &act->each->open[i].kid, 0, act->each->open[i].ordinal);
    }
}

/* A failure that nobody has dealt with is tried again when the run is taken up. */
static bool is_left(const struct walk *w, const struct act *act, uint32_t child)
{
    int status = act->kids[child].res.status;
    if (w->has_ended || (status != RONDO_STATUS_FAILED && status != RONDO_STATUS_CANCELLED))
        return false;
    return act->node->kind != RONDO_KIND_GRAPH || !graph_is_handled(act, child);
}

static int standing_of_kid(const struct kid *kid)
{
    switch ((enum kid_state)kid->state) {
    case KID_NEW: return kid->mends ? DRIFT_OPEN : DRIFT_BEGINS;
    case KID_BACKOFF: return DRIFT_BEGINS;
    case KID_OPEN: return DRIFT_OPEN;
    case KID_ENDED: break;
    }
    return DRIFT_ENDED;
}

static int standing_of_items(const struct act *act)
{
    const struct each_act *each = act->each;
    int standing = !each->items || each->next < each->count ? DRIFT_BEGINS : DRIFT_ENDED;
    for (uint32_t i = 0; i < each->open_count; i++)
        standing = MAX(standing, standing_of_kid(&each->open[i].kid));
    return standing;
}

static int standing_in(const struct walk *w, const struct act *act, uint32_t child)
{
    bool goes_round = node_is_loop(act->node) && act->loop->phase != LOOP_ENDED;
    if (act->node->kind == RONDO_KIND_EACH)
        return standing_of_items(act);
    if (goes_round || !act->kids || act->node->kind == RONDO_KIND_FORUM)
        return DRIFT_BEGINS;
    int standing = standing_of_kid(&act->kids[child]);
    return standing == DRIFT_ENDED && is_left(w, act, child) ? DRIFT_OPEN : standing;
}

static void look_at_child(struct walk *w, const rondo_node *node, uint32_t child, int around, int *ret,
                          bool *ret_placed)
{
    *ret = around == DRIFT_BEGINS ? DRIFT_BEGINS : DRIFT_ENDED;
    *ret_placed = false;
    for (uint32_t i = 0; i < w->count; i++) {
        const struct act *act = w->acts[i];
        if (act->node != node)
            continue;
        *ret = MAX(*ret, standing_in(w, act, child));
        *ret_placed |= act->kids && child < act->kid_count && act->kids[child].state != KID_NEW;
    }
}

static void walk_children(struct walk *w, const rondo_node *node, int around)
{
    size_t len = w->path.len;
    uint32_t count = node->kind == KIND_HOLDER ? 1 : node->count;
    for (uint32_t i = 0; i < count; i++) {
        const rondo_node *child = node->children[i].node;
        int standing;
        bool is_placed;
        if (!child)
            continue;
        buf_printf(&w->path, "%s%s", w->path.len && *node->children[i].name ? "." : "", node->children[i].name);
        look_at_child(w, node, i, around, &standing, &is_placed);
        struct past_step *step = step_at(w->past, buf_text(&w->path));
        if (!step->is_known) {
            step->standing = (uint8_t)standing;
            step->kind = (uint8_t)child->kind;
            step->is_placed = is_placed;
        }
        step->is_known = true;
        walk_children(w, child, standing);
        w->path.len = len;
    }
}

static void walk_run(struct past *past, rondo_run *run, bool has_ended)
{
    struct walk w = { .past = past, .core = &run->core, .has_ended = has_ended };
    for (uint32_t i = 0; i < run->core.act_count; i++)
        if (run->core.acts[i]->state != ACT_FREE)
            add_act(&w, run->core.acts[i]);
    add_copies(&w);
    walk_children(&w, run->core.holder, DRIFT_OPEN);
    mem_free(w.acts);
    buf_free(&w.path);
}

/* A run aside that reads this journal: all of it was applied.  To be closed with close_aside(). */
static rondo_run *open_aside(rondo_engine *engine, rondo_node *node, struct journal *journal, int *ret,
                             rondo_error *err)
{
    rondo_run *run = runs_aside(engine, node, NULL);
    struct journal *own = run->journal;
    run->journal = journal;
    *ret = runs_pass_over(run, err);
    own->ops->close(own);
    return run;
}

static void close_aside(rondo_run *run)
{
    run->journal = journal_in_memory(); // the other one is not ours
    rondo_run_close(run);
}

/* As it would be when somebody resumes it. */
static int take_up(rondo_engine *engine, rondo_node *node, struct journal *journal, const struct mend_wish *wish,
                   struct past *past, rondo_error *err)
{
    int rc;
    rondo_run *run = open_aside(engine, node, journal, &rc, err);
    bool has_ended = run->core.status != 0;
    if (rc == 0 && has_ended)
        rc = resume_open(run, wish, err);
    if (rc == 0)
        walk_run(past, run, has_ended);
    close_aside(run);
    return rc;
}

int past_read(rondo_engine *engine, rondo_node *node, struct journal *journal, bool failed_items, struct past *ret,
              rondo_error *err)
{
    int rc;
    if (runs_check_log(engine, node, journal, err) < 0)
        return err->code;
    auto_past struct past past = { .steps = json_object() };
    rondo_run *run = open_aside(engine, node, journal, &rc, err);
    past.changed = json_incref(run->core.changed);
    if (rc == 0)
        rc = read_log(run, &past, err);
    close_aside(run);
    bool is_looked_at = rc == 0 && failed_items &&
                        take_up(engine, node, journal, &(struct mend_wish){ NULL }, &past, err) == 0;
    if (rc == 0 && !is_looked_at) // no item has failed
        rc = take_up(engine, node, journal, NULL, &past, err);
    if (rc < 0)
        return rc;
    *ret = past;
    past = (struct past){ 0 };
    return 0;
}

/* ---- questions ----------------------------------------------------------------------------------------------- */

bool past_started(const char *path, void *past)
{
    const struct past_step *step = step_find(past, path);
    return step && step->has_started;
}

bool past_mentioned(const char *path, void *past)
{
    const struct past_step *step = step_find(past, path);
    return step && (step->has_started || step->was_passed_over);
}

int past_standing(const char *path, void *past)
{
    const struct past_step *step = step_find(past, path);
    return step && step->is_known ? step->standing : DRIFT_BEGINS;
}

bool past_is_placed(const char *path, void *past)
{
    const struct past_step *step = step_find(past, path);
    return step && step->is_placed;
}

struct drift_past past_for_drift(struct past *past)
{
    return (struct drift_past){ .started = past_started, .mentioned = past_mentioned, .standing = past_standing,
                                .is_placed = past_is_placed, .user = past };
}

/* ---- forks --------------------------------------------------------------------------------------------------- */

/* An item that is done again in a fork is done again alone: what is to change for all of them begins at the each. */
static const struct past_step *each_around(const struct past *past, const char *path)
{
    for (size_t len = strcspn(path, ".");; len += 1 + strcspn(path + len + 1, ".")) {
        auto_free char *outer = mem_dup(path, len);
        const struct past_step *step = step_find(past, outer);
        if ((step && step->kind == RONDO_KIND_EACH) || !path[len])
            return step && step->kind == RONDO_KIND_EACH ? step : NULL;
    }
}

/* A step that is new counts where its container begins. */
static const struct past_step *step_of(const struct past *past, const struct drift_change *change)
{
    const char *dot = change->kind == DRIFT_ADDED ? strrchr(change->path, '.') : NULL;
    auto_free char *path = mem_dup(change->path, dot ? (size_t)(dot - change->path) : strlen(change->path));
    const struct past_step *each = each_around(past, path);
    return each ? each : step_find(past, path);
}

bool past_put_fork(const struct past *past, const struct drift_change *change, struct buf *out, uint64_t *ret_seq)
{
    const struct past_step *step = *change->path ? step_of(past, change) : NULL;
    bool is_from_first = change->kind == DRIFT_REMOVED || change->kind == DRIFT_MOVED || change->is_replaced;
    if (!step || !step->first.seq)
        return false;
    const struct start *start = is_from_first ? &step->first : step->pass.seq ? &step->pass : &step->last;
    *ret_seq = start->seq;
    buf_printf(out, "%s%s", start->path, is_from_first && step->began_again ? "~0" : "");
    return true;
}
