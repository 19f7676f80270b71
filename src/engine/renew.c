/* renew.c - which attempts begin anew when a run is taken up that has moved to another definition, and what they had
   done that must not be done twice.  See run/anew.h.

   A log says what an attempt has done: notes of its calls, and agents that its model has called.  All attempts of a
   step at one place count, those that failed as well. */
#include "engine/shell.h"

#include "agent/talk_note.h"
#include "run/anew.h"

#include <string.h>

#define EFFECTS_MAX 20 // that are named of one step

/* What is being read: effects by the path of the step without attempts, and the path of the event that is looked at. */
struct effects {
    const struct run *core;
    const struct reader *reader;
    json_t *by_path;
};

static bool is_changed(const struct run *core, place_finder find, const void *places, const struct place *place)
{
    auto_buf struct buf path = { 0 };
    path_put_definition(&path, find, places, place);
    return anew_is(core, buf_text(&path));
}

static void put_id(struct buf *out, place_finder find, const void *places, const struct place *place)
{
    auto_buf struct buf path = { 0 };
    path_put(&path, find, places, place);
    path_put_id(out, buf_text(&path));
}

static void add_effect(struct effects *e, const struct place *place, const char *text)
{
    auto_buf struct buf id = { 0 };
    put_id(&id, reader_find, e->reader, place);
    json_t *list = json_object_get(e->by_path, buf_text(&id));
    if (!list)
        json_object_set_new_nocheck(e->by_path, buf_text(&id), list = json_array());
    if (json_array_size(list) < EFFECTS_MAX)
        json_array_append_new(list, json_string(text));
}

/* A call of a tool says of itself that it is of this class. */
static void look_at_note(struct effects *e, const struct place *place, const json_t *note)
{
    auto_buf struct buf text = { 0 };
    if (!json_is_true(json_object_get(note, "once")) || !is_changed(e->core, reader_find, e->reader, place))
        return;
    talk_note_put(&text, note);
    add_effect(e, place, buf_text(&text));
}

/* An agent that a model calls is below it. */
static void look_at_start(struct effects *e, const struct place *place)
{
    auto_buf struct buf path = { 0 };
    struct place caller;
    bool is_once = place->node->kind == RONDO_KIND_AGENT && place->node->agent.effects == RONDO_ONCE;
    if (!is_once || !reader_find(e->reader, place->parent, &caller) || caller.node->kind != RONDO_KIND_AGENT ||
        !is_changed(e->core, reader_find, e->reader, &caller))
        return;
    path_put(&path, reader_find, e->reader, place);
    add_effect(e, &caller, buf_text(&path));
}

static int read_effects(rondo_run *run, struct effects *e, rondo_error *err)
{
    rondo_run *aside = runs_aside(run->engine, run->node, NULL);
    struct journal *own = aside->journal;
    struct reader *reader = &aside->reader;
    struct rondo_event ev;
    struct place place;
    int rc;
    aside->journal = run->journal;
    e->reader = reader;
    reader_rewind(reader, aside);
    while ((rc = reader_next(reader, aside, &ev, true)) > 0) {
        if (ev.type == RONDO_EV_STEP_START)
            reader_note_start(reader, aside, &ev);
        bool is_placed = reader_place(reader, &ev, &place);
        if (is_placed && ev.type == RONDO_EV_STEP_START)
            look_at_start(e, &place);
        else if (is_placed && ev.type == RONDO_EV_NOTE)
            look_at_note(e, &place, ev.value);
        json_decref(ev.value);
    }
    aside->journal = own;
    rondo_run_close(aside);
    return rc < 0 ? err_set(err, RONDO_ESTORE, "the log cannot be read again") : 0;
}

/* New. */
static json_t *effects_of(const struct effects *e, struct run *core, const struct place *place)
{
    auto_buf struct buf id = { 0 };
    put_id(&id, path_find_act, core, place);
    json_t *list = json_object_get(e->by_path, buf_text(&id));
    return list ? json_incref(list) : json_array();
}

int renew_rows(rondo_run *run, json_t **ret, rondo_error *err)
{
    struct run *core = &run->core;
    auto_json json_t *by_path = json_object();
    struct effects e = { .core = core, .by_path = by_path };
    json_t *rows = json_array();
    int rc = core->changed ? read_effects(run, &e, err) : 0;
    for (uint32_t slot = 1; rc == 0 && core->changed && slot < core->act_count; slot++) {
        const struct act *act = run_act(core, slot);
        struct place place;
        if (act->state == ACT_FREE || !act->parent || !node_is_leaf(act->node) || !path_find_act(core, slot, &place) ||
            !is_changed(core, path_find_act, core, &place))
            continue;
        json_array_append_new(rows, json_pack("[I,o]", (json_int_t)slot, effects_of(&e, core, &place)));
    }
    *ret = rows;
    return rc;
}

int renew_kids(rondo_run *run, json_t *kids, rondo_error *err)
{
    struct run *core = &run->core;
    auto_json json_t *by_path = json_object();
    struct effects e = { .core = core, .by_path = by_path };
    json_t *row;
    size_t i;
    if (!core->changed)
        return 0;
    int rc = read_effects(run, &e, err);
    json_array_foreach(kids, i, row) {
        const struct act *act = run_act(core, (uint32_t)json_integer_value(json_array_get(row, 0)));
        uint32_t child = (uint32_t)json_integer_value(json_array_get(row, 1));
        struct place place = { .node = act->node->children[child].node, .parent = act->slot, .child = child,
                               .ordinal = (uint32_t)json_integer_value(json_array_get(row, 2)) };
        if (rc == 0 && node_is_leaf(place.node) && is_changed(core, path_find_act, core, &place))
            json_array_append_new(row, effects_of(&e, core, &place));
    }
    return rc;
}
