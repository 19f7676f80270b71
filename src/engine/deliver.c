/* deliver.c - handing events out.

   A reader is a cursor into the run's log, not a queue.  As long as it keeps up, it gets the events
   of the present turn where they are; once the turn is gone, they are read back from the journal.
   Either way the reader notes the place of everything it reads about, so that any event's path can
   be written without the activation still being there. */
#include "engine/shell.h"

#include "run/usage.h"

#include <string.h>

/* ---- readers ------------------------------------------------------------------------------------------- */

void reader_clear(struct reader *reader)
{
    mem_free(reader->places);
    mem_free(reader->loops);
    mem_free(reader->usage);
    mem_free(reader->asked);
    buf_free(&reader->record);
    *reader = (struct reader){ 0 };
}

/* Places not read about have no node; the holder's is known from the start. */
void reader_reach(struct reader *reader, rondo_run *run, uint32_t slot)
{
    while (slot >= reader->place_count) {
        mem_grow(&reader->places, &reader->place_cap, reader->place_count, sizeof *reader->places);
        reader->places[reader->place_count] =
            (struct place){ .node = reader->place_count ? NULL : run->core.holder };
        reader->place_count++;
    }
}

/* A loop's first pass begins anew what is remembered in its slot. */
static void note_pass(struct reader *reader, const struct rondo_event *ev)
{
    while (ev->act >= reader->loop_count) {
        mem_grow(&reader->loops, &reader->loop_cap, reader->loop_count, sizeof *reader->loops);
        reader->loops[reader->loop_count++] = (struct loop_seen){ .best = -1 };
    }
    struct loop_seen *loop = &reader->loops[ev->act];
    if (ev->type == RONDO_EV_ITERATION_START) {
        if (!ev->ordinal)
            *loop = (struct loop_seen){ .best = -1 };
        loop->pass_seq = ev->seq;
        loop->pass_ns = ev->time_ns;
        loop->pass = ev->ordinal;
        return;
    }
    if (loop->ended == ev->ordinal + 1) // the run was taken up again, and this pass with it
        loop->failures = loop->failures_before;
    loop->ended = ev->ordinal + 1;
    loop->failures_before = loop->failures;
    loop->failures = ev->code == RONDO_STATUS_COMPLETED ? 0 : loop->failures + 1;
    if (!(ev->flags & EF_SCORED))
        return;
    if (loop->best < 0 || ev->score > loop->gain_from + reader->places[ev->act].node->loop.min_gain)
        loop->gain_from = ev->score;
    if (loop->best < 0 || ev->score > loop->score) {
        loop->best = ev->ordinal;
        loop->score = ev->score;
    }
}

static void note_call(struct reader *reader, const struct rondo_event *ev)
{
    struct call_asked *call = reader->asked, *end = call + reader->asked_count;
    if (ev->type == RONDO_EV_RESERVE) {
        mem_grow(&reader->asked, &reader->asked_cap, reader->asked_count, sizeof *reader->asked);
        reader->asked[reader->asked_count++] = (struct call_asked){ ev->act, ev->num, usage_from(ev->value) };
        return;
    }
    while (call < end && (call->act != ev->act || call->number != ev->num))
        call++;
    if (call == end)
        return;
    if (ev->type == RONDO_EV_REFUSED)
        reader->refused = (struct call_asked){ ev->ordinal, 0, call->most };
    *call = end[-1];
    reader->asked_count--;
}

/* What an agent spent counts for everything around it. */
static void note_usage(struct reader *reader, const struct rondo_event *ev)
{
    rondo_usage usage = usage_from(ev->value);
    while (reader->usage_count < reader->place_count) {
        mem_grow(&reader->usage, &reader->usage_cap, reader->usage_count, sizeof *reader->usage);
        reader->usage[reader->usage_count++] = (rondo_usage){ 0 };
    }
    for (uint32_t slot = ev->act; slot < reader->usage_count; slot = reader->places[slot].parent) {
        usage_add(&reader->usage[slot], &usage);
        if (!slot)
            return;
    }
}

/* A fork has spent nothing yet. */
static void note_fork(struct reader *reader)
{
    for (uint32_t i = 0; i < reader->usage_count; i++)
        reader->usage[i] = (rondo_usage){ 0 };
}

void reader_note(struct reader *reader, rondo_run *run, const struct rondo_event *ev)
{
    if (ev->type == RONDO_EV_STEP_START)
        reader_note_start(reader, run, ev);
    else if (ev->type == RONDO_EV_BUDGET || ev->type == RONDO_EV_SETTLED)
        note_usage(reader, ev);
    else if (ev->type == RONDO_EV_FORKED)
        note_fork(reader);
    else if (ev->type == RONDO_EV_RESERVE || ev->type == RONDO_EV_GRANTED || ev->type == RONDO_EV_REFUSED)
        note_call(reader, ev);
    else if (READER_NOTES >> ev->type & 1)
        note_pass(reader, ev);
}

const struct loop_seen *reader_loop(const struct reader *reader, uint32_t slot)
{
    return slot < reader->loop_count ? &reader->loops[slot] : NULL;
}

const rondo_usage *reader_usage(const struct reader *reader, uint32_t slot)
{
    const rondo_usage *u = slot < reader->usage_count ? &reader->usage[slot] : NULL;
    return u && !usage_is_none(u) ? u : NULL;
}

/* A log comes from outside: a child that the node does not have is none. */
static const rondo_node *child_of(const rondo_node *parent, uint32_t child)
{
    return parent && child < parent->count ? parent->children[child].node : NULL;
}

void reader_note_start(struct reader *reader, rondo_run *run, const struct rondo_event *ev)
{
    if (UNLIKELY(MAX(ev->act, ev->parent) >= reader->place_count))
        reader_reach(reader, run, MAX(ev->act, ev->parent));
    reader->places[ev->act] = (struct place){ child_of(reader->places[ev->parent].node, ev->child),
                                              ev->parent, ev->child, ev->ordinal, ev->attempt,
                                              ev->time_ns };
    if (UNLIKELY(ev->act < reader->usage_count))
        reader->usage[ev->act] = (rondo_usage){ 0 };
}

bool reader_find(const void *at, uint32_t slot, struct place *ret)
{
    const struct reader *reader = at;
    *ret = reader->places[slot];
    return slot != 0;
}

/* About a child of an activation that is not under way itself, and of which the event does not say the attempt: what
   was looked at, or waits for its next try. */
static bool child_place(const struct reader *reader, const struct rondo_event *ev, struct place *ret)
{
    bool is_review = ev->type == RONDO_EV_REVIEW;
    uint32_t child = is_review ? ev->ordinal : ev->child;
    const rondo_node *node = ev->act < reader->place_count ? child_of(reader->places[ev->act].node, child) : NULL;
    *ret = (struct place){ node, ev->act, child, is_review ? 0 : ev->ordinal };
    return node != NULL;
}

bool reader_place(const struct reader *reader, const struct rondo_event *ev, struct place *ret)
{
    bool placed = ev->flags & EF_UNSTARTED || ev->type == RONDO_EV_RETRY;
    if (UNLIKELY(ev->type == RONDO_EV_REVIEW || (ev->type == RONDO_EV_TIMER && ev->code == TIMER_BACKOFF)))
        return child_place(reader, ev, ret);
    if (placed && ev->parent < reader->place_count) {
        const rondo_node *node = child_of(reader->places[ev->parent].node, ev->child);
        *ret = (struct place){ node, ev->parent, ev->child, ev->ordinal, ev->attempt };
        return node != NULL;
    }
    if (placed || !(event_fields(ev->type) & HAS_ACT) || !ev->act || ev->act >= reader->place_count)
        return false;
    *ret = reader->places[ev->act];
    return ret->node != NULL;
}

void reader_rewind(struct reader *reader, rondo_run *run)
{
    reader->pos = (struct journal_pos){ .seq = 1 };
    reader->codec = (struct codec){ 0 };
    reader->seq = 0;
    reader->open = true;
    reader_reach(reader, run, 0);
}

static int next_of_all(struct reader *reader, rondo_run *run, struct rondo_event *ev, bool values)
{
    const char *record;
    size_t len;
    while (!reader->codec.left) {
        uint64_t first = reader->pos.seq;
        if (run->journal->ops->read(run->journal, &reader->pos, &record, &len, NULL) <= 0)
            return 0;
        if (run->stored) { // values are looked up in the same journal while this one is read
            buf_clear(&reader->record);
            buf_put(&reader->record, record, len);
            record = reader->record.data;
        }
        if (!codec_open(&reader->codec, record, len, first))
            return -1;
    }
    int rc = codec_next(&reader->codec, ev, values);
    if (rc > 0) {
        ev->run = &run->core;
        reader->seq = ev->seq;
    }
    return rc;
}

/* Goes to the record that holds event seq; the places it knows stay as they are. */
bool reader_seek(struct reader *reader, rondo_run *run, uint64_t seq)
{
    struct rondo_event skipped;
    reader->codec = (struct codec){ 0 };
    reader->open = run->journal->ops->seek(run->journal, seq, &reader->pos);
    reader->seq = reader->open ? reader->pos.seq - 1 : 0;
    while (reader->open && reader->seq + 1 < seq)
        if (next_of_all(reader, run, &skipped, false) <= 0)
            return false;
    return reader->open;
}

int reader_next(struct reader *reader, rondo_run *run, struct rondo_event *ev, bool values)
{
    int rc;
    while ((rc = next_of_all(reader, run, ev, values)) > 0) {
        if (LIKELY(!run->undone_count) || reader->reads_all || !resume_is_undone(run, ev->seq))
            return rc;
        json_decref(values ? ev->value : NULL);
    }
    return rc;
}

/* ---- values of old events ---------------------------------------------------------------------------------- */

static bool event_at(rondo_run *run, uint64_t seq, struct rondo_event *ret)
{
    struct reader reader = { .reads_all = true };
    bool found = reader_seek(&reader, run, seq) && reader_next(&reader, run, ret, true) > 0;
    reader_clear(&reader);
    return found;
}

json_t *deliver_content_at(rondo_run *run, uint64_t seq)
{
    struct rondo_event ev;
    if (!event_at(run, seq, &ev))
        return NULL;
    json_t *content = ev.flags & EF_FULL ? json_incref(json_object_get(ev.value, "content")) : NULL;
    json_decref(ev.value);
    return content;
}

static void pad(json_t *list, size_t count)
{
    while (json_array_size(list) < count)
        json_array_append_new(list, json_null());
}

/* The outputs of the children of an activation, in their order: what a parallel, an each or a
   cumulative loop came to, read back from the journal. */
static json_t *compose(rondo_run *run, const struct rondo_event *end)
{
    struct reader reader = { 0 };
    struct rondo_event ev;
    json_t *list = json_array();
    bool inside = false, loop = false;
    reader_rewind(&reader, run);
    while (reader_next(&reader, run, &ev, true) > 0) {
        if (ev.seq >= end->seq) {
            json_decref(ev.value);
            break;
        }
        reader_note(&reader, run, &ev);
        if (ev.type == RONDO_EV_STEP_START && ev.act == end->act) {
            const rondo_node *node = reader.places[ev.act].node;
            json_array_clear(list);
            inside = true;
            loop = node_is_loop(node);
            if (node->kind == RONDO_KIND_PARALLEL)
                pad(list, node->count);
        }
        if (inside && ev.type == RONDO_EV_ITEMS && ev.act == end->act)
            pad(list, json_array_size(ev.value));
        struct place place;
        bool ends = ev.type >= RONDO_EV_STEP_END && ev.type <= RONDO_EV_STEP_CANCELLED && !loop;
        if (inside && ((loop && ev.type == RONDO_EV_ITERATION_END && ev.act == end->act) ||
                       (ends && reader_place(&reader, &ev, &place) && place.parent == end->act))) {
            bool each = !loop && reader.places[end->act].node->kind == RONDO_KIND_EACH;
            size_t at = loop || each ? ev.ordinal : place.child;
            at = each ? place.ordinal : at;
            pad(list, at + 1);
            bool counts = ev.type == RONDO_EV_STEP_END || ev.flags & EF_KEPT || loop;
            json_t *value = counts ? deliver_value_at(run, ev.seq, &ev) : NULL;
            if (value)
                json_array_set_new(list, at, value);
        }
        json_decref(ev.value);
    }
    reader_clear(&reader);
    return list;
}

/* The items of an each are asked for once for each item: those that were last asked for stay. */
static bool find_items(rondo_run *run, uint64_t seq, struct rondo_event *ret)
{
    if (!run->items || run->items_seq != seq)
        return false;
    *ret = (struct rondo_event){ .type = RONDO_EV_ITEMS, .seq = seq, .flags = EF_VALUE,
                                 .value = json_incref(run->items) };
    return true;
}

static void keep_items(rondo_run *run, const struct rondo_event *ev)
{
    if (ev->type != RONDO_EV_ITEMS || !(ev->flags & EF_VALUE))
        return;
    json_decref(run->items);
    run->items = json_incref(ev->value);
    run->items_seq = ev->seq;
}

/* Follows references until the event that holds the value. */
json_t *deliver_value_at(rondo_run *run, uint64_t seq, const struct rondo_event *of)
{
    struct rondo_event ev = *of, by = *of; // by: the event that referred to ev
    json_t *value = json_incref(ev.flags & EF_VALUE ? ev.value : NULL);
    while (!value && seq) {
        if (ev.flags & EF_COMPOSED)
            return compose(run, &ev);
        if (ev.flags & EF_REF)
            seq = ev.ref;
        else if (event_fields(ev.type) & HAS_BACK && ev.back)
            seq = ev.seq - ev.back;
        else
            return NULL;
        by = ev;
        if (!find_items(run, seq, &ev) && !event_at(run, seq, &ev))
            return NULL;
        keep_items(run, &ev);
        value = ev.flags & EF_VALUE ? ev.value : NULL;
    }
    if (!value)
        return NULL;
    json_t *part = value;
    bool is_input = ev.type == RONDO_EV_WORKFLOW_START || ev.type == RONDO_EV_FORKED;
    if (is_input && of->type != ev.type)
        part = json_object_get(value, "input");
    else if (ev.type == RONDO_EV_STEP_FAILED && of->type != ev.type)
        part = json_object_get(value, "output");
    else if (ev.flags & EF_FULL)
        part = json_object_get(value, "result");
    else if (ev.type == RONDO_EV_ITEMS && by.type == RONDO_EV_STEP_START)
        part = json_array_get(value, by.ordinal);
    part = part ? json_incref(part) : json_null();
    json_decref(value);
    return part;
}

/* ---- the cursor ------------------------------------------------------------------------------------------------ */

bool deliver_is_behind(const rondo_run *run, uint64_t most)
{
    const struct turn *turn = run->engine->turn_run == run ? &run->engine->turn : &run->aside;
    if (turn->at < turn->count && !most)
        return true;
    return run->core.seq - run->seen > most;
}

static const rondo_event *next_old(rondo_run *run)
{
    struct reader *reader = &run->reader;
    json_decref(run->old_value);
    run->old_value = NULL;
    reader->reads_all = true;
    if ((!reader->open || reader->seq != run->seen) && !reader_seek(reader, run, run->seen + 1))
        return NULL;
    if (reader_next(reader, run, &run->old, true) <= 0)
        return NULL;
    reader_note(reader, run, &run->old);
    run->seen = run->old.seq;
    if (!(run->old.flags & EF_VALUE))
        run->old.value = deliver_value_at(run, run->old.seq, &run->old);
    run->old_value = run->old.value;
    return &run->old;
}

const rondo_event *deliver_next(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    if (UNLIKELY(run->staged))
        return NULL; // it might still come to nothing
    if (UNLIKELY(run->aside.count))
        turns_bring_back(run);
    if (LIKELY(engine->turn_run == run)) {
        while (engine->turn.at < engine->turn.count) {
            struct rondo_event *ev = &engine->turn.events[engine->turn.at];
            if (ev->seq > run->seen + 1)
                break; // this reader is further behind
            engine->turn.at++;
            if (ev->seq && ev->seq <= run->seen)
                continue;
            reader_note(&run->reader, run, ev);
            if (ev->seq)
                run->seen = ev->seq;
            return ev;
        }
    }
    return run->core.seq > run->seen && !(run->dropped && !run->ended) ? next_old(run) : NULL;
}
