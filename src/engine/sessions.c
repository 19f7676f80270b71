/* sessions.c - runs that share state and memory: what a run takes from its session, and what it leaves.

   A run reads its session once: what was there becomes part of its first event, so that the log alone
   tells what the run saw.  What it changes goes to the session together with the record that says so, in
   the same batch: a crash loses both or neither.  Between runs of one session that are under way at
   the same time the last writer of a key wins, and each removes only memory that it wrote itself. */
#include "engine/shell.h"

#include "data/value.h"
#include "store/store.h"

/* ---- at the start ---------------------------------------------------------------------------------------- */

int sessions_check(const rondo_engine *engine, const rondo_run_options *options, rondo_error *err)
{
    if (!options->session)
        return 0;
    if (!engine->store || options->in_memory)
        return err_set(err, RONDO_EINVAL, "a run that is not kept in a store cannot have a session");
    return session_check_name(options->session, err);
}

void sessions_put(json_t *start, const json_t *state, const json_t *memory)
{
    auto_json json_t *all = json_object();
    json_object_update(all, (json_t *)state);
    json_object_update_missing(all, json_object_get(start, "state"));
    if (json_object_size(all))
        json_object_set(start, "state", all);
    if (json_object_size(memory))
        json_object_set(start, "memory", (json_t *)memory);
}

int sessions_begin(rondo_engine *engine, const char *session, json_t *start, rondo_error *err)
{
    auto_json json_t *state = NULL, *memory = NULL;
    if (store_session_state(engine->store, session, &state, err) < 0 ||
        store_session_memory(engine->store, session, &memory, err) < 0)
        return err_in(err, "session '%s'", session);
    json_object_set_new(start, "session", json_string(session));
    sessions_put(start, state, memory);
    return 0;
}

/* ---- with every turn ------------------------------------------------------------------------------------- */

static int write_memory(rondo_run *run, const struct rondo_event *ev, rondo_error *err)
{
    struct session_entry entry = { .run = run->id, .seq = ev->seq, .time_ns = ev->time_ns,
                                   .scope = json_string_value(json_object_get(ev->value, "scope")),
                                   .value = json_object_get(ev->value, "entry") };
    if (!entry.scope || !entry.value)
        return 0;
    return store_session_remember(run->engine->store, run->core.session, &entry, err);
}

static int write_one(rondo_run *run, const struct rondo_event *ev, rondo_error *err)
{
    if (ev->type == RONDO_EV_MEMORY)
        return write_memory(run, ev, err);
    if (ev->type == RONDO_EV_STATE && !(ev->flags & EF_INNER))
        return store_session_set(run->engine->store, run->core.session, ev->value, err);
    return 0;
}

/* After the entries, for one of the same turn may be among them. */
static int write_gone(rondo_run *run, rondo_error *err)
{
    const struct memory *memory = &run->core.memory;
    int rc = 0;
    for (uint32_t i = 0; i < memory->gone_count && rc == 0; i++)
        rc = store_session_drop(run->engine->store, run->core.session, run->id, memory->gone[i], err);
    return rc;
}

int sessions_write(rondo_run *run, const struct rondo_event *events, uint32_t count, rondo_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; i < count && rc == 0; i++)
        rc = write_one(run, &events[i], err);
    if (rc == 0)
        rc = write_gone(run, err);
    return rc < 0 ? err_in(err, "session '%s'", run->core.session) : 0;
}

/* ---- looking into sessions ------------------------------------------------------------------------------- */

/* What a run began with is a part of what its session remembers: this asks for all of it. */
rondo_value *rondo_task_recall(rondo_task *task, const char *scope, const char *query, size_t limit)
{
    const rondo_run *run = task->work.run;
    auto_json json_t *found = NULL;
    json_t *list = json_array(), *hit;
    rondo_error ignored;
    size_t i;
    if (run->stored && run->core.session)
        store_session_search(run->engine->store, run->core.session, scope, query,
                             (uint32_t)MIN(limit, UINT32_MAX), &found, &ignored);
    json_array_foreach(found, i, hit)
        json_array_append(list, json_object_get(hit, "entry"));
    json_decref(task->list);
    task->list = list;
    return list;
}

int rondo_sessions(rondo_store *store, rondo_value **ret, rondo_error *err)
{
    rondo_error scratch;
    return store_sessions((struct store *)store, ret, err ? err : &scratch);
}

int rondo_session_export(rondo_store *store, const char *session, rondo_value **ret, rondo_error *err)
{
    rondo_error scratch;
    return store_session_export((struct store *)store, session, ret, err ? err : &scratch);
}

int rondo_session_search(rondo_store *store, const char *session, const char *scope, const char *query,
                         size_t limit, rondo_value **ret, rondo_error *err)
{
    rondo_error scratch;
    return store_session_search((struct store *)store, session, scope, query,
                                (uint32_t)MIN(limit, UINT32_MAX), ret, err ? err : &scratch);
}

int rondo_session_forget(rondo_store *store, const char *session, const char *scope, rondo_error *err)
{
    rondo_error scratch;
    return store_session_forget((struct store *)store, session, scope, err ? err : &scratch);
}
