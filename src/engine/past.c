/* past.c - see past.h.  The log is read once; what is remembered of a step is how it last was. */
#include "engine/past.h"

#include "engine/shell.h"
#include "run/act.h"

#include <string.h>

/* What is remembered, with IS_LOOP for what runs its steps again and again. */
enum { OPEN = 1, DONE, BROKEN, PASSED_OVER, IS_LOOP = 8 };

void past_clear(struct past *past)
{
    json_decref(past->steps);
    past->steps = NULL;
}

/* Containers without a name share the path of what is around them: the named one counts. */
static void set(struct past *past, const char *path, const rondo_node *node, int state)
{
    bool loops = node_is_loop(node) || node->kind == RONDO_KIND_EACH;
    int was = (int)json_integer_value(json_object_get(past->steps, path));
    if (state == PASSED_OVER && was)
        state = BROKEN; // it has been through it before
    json_object_set_new(past->steps, path, json_integer(state | (loops ? IS_LOOP : was & IS_LOOP)));
}

/* A step that was never begun because another one failed: nothing about it was decided. */
static bool is_swept_along(const struct rondo_event *ev)
{
    return ev->type != RONDO_EV_STEP_START && (ev->flags & EF_UNSTARTED) && !(ev->flags & EF_MINE);
}

static int state_after(const struct rondo_event *ev)
{
    switch (ev->type) {
    case RONDO_EV_STEP_START: return OPEN;
    case RONDO_EV_STEP_END: return DONE;
    case RONDO_EV_STEP_FAILED:
    case RONDO_EV_STEP_SKIPPED:
    case RONDO_EV_STEP_CANCELLED: return BROKEN;
    default: return 0;
    }
}

static void look_at(struct past *past, const struct reader *reader, const struct rondo_event *ev)
{
    auto_buf struct buf path = { 0 };
    struct place place;
    int state = state_after(ev);
    if (!state || !reader_place(reader, ev, &place))
        return;
    path_put_definition(&path, reader_find, reader, &place);
    bool has_name = *reader->places[place.parent].node->children[place.child].name;
    if (has_name || node_is_loop(place.node) || place.node->kind == RONDO_KIND_EACH)
        set(past, buf_text(&path), place.node, is_swept_along(ev) ? PASSED_OVER : state);
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

int past_read(rondo_engine *engine, rondo_node *node, struct journal *journal, struct past *ret,
              rondo_error *err)
{
    if (runs_check_log(engine, node, journal, err) < 0)
        return err->code;
    auto_past struct past past = { .steps = json_object() };
    rondo_run *run = runs_aside(engine, node, NULL);
    struct journal *own = run->journal;
    run->journal = journal; // what its reader reads
    int rc = read_log(run, &past, err);
    run->journal = own;
    rondo_run_close(run);
    if (rc == 0)
        ret->steps = TAKE(past.steps);
    return rc;
}

static int state_of(const struct past *past, const char *path)
{
    return (int)json_integer_value(json_object_get(past->steps, path));
}

bool past_started(const char *path, void *past)
{
    int state = state_of(past, path) & ~IS_LOOP;
    return state && state != PASSED_OVER;
}

bool past_mentioned(const char *path, void *past)
{
    return state_of(past, path);
}

/* What went wrong may be taken up again, and a loop that is open has another pass. */
static bool may_start_again(const struct past *past, const char *path)
{
    int state = state_of(past, path);
    return (state & ~IS_LOOP) == BROKEN || (state & IS_LOOP && (state & ~IS_LOOP) != DONE);
}

bool past_ended(const char *path, void *user)
{
    const struct past *past = user;
    auto_free char *around = mem_strdup(path);
    if ((state_of(past, path) & ~IS_LOOP) != DONE || may_start_again(past, ""))
        return false;
    for (char *dot; (dot = strrchr(around, '.'));) {
        *dot = '\0';
        if (may_start_again(past, around))
            return false;
    }
    return true;
}
