/* stored.c - runs in a store: their rows, and what other processes want of them.

   The log is the run's truth and is written by the turn.  Beside it the store has a row about each run,
   for lists, which is brought up to date when something in it changes: at a gate and at the end. */
#include "engine/exit.h"
#include "engine/shell.h"

#include "base/spec.h"
#include "flow/shape.h"
#include "io/here.h"
#include "io/within.h"
#include "run/act.h"
#include "run/inherit.h"
#include "run/usage.h"
#include "store/store.h"

#include <string.h>

#define LOOK_NS  100000000ll   // how often the store is asked for news
#define RENEW_NS 10000000000ll // how often leases are renewed
#define LATE_MS  1000          // for a store that is locked, when it is time to stop

/* ---- the row ------------------------------------------------------------------------------------------------ */

int stored_begin(rondo_run *run, const rondo_run_options *options, const struct run_origin *origin,
                 rondo_error *err)
{
    rondo_engine *engine = run->engine;
    struct run_origin none = { .definition = shape_of(run->node) };
    none.definition_len = strlen(none.definition);
    origin = origin ? origin : &none;
    int64_t now = shell_now_ns(engine);
    auto_json json_t *about = origin->about ? json_deep_copy(origin->about) : json_object();
    within_note(about);
    here_note(about);
    struct store_run row = { .id = run->id, .name = origin->name ? origin->name : run->node->name,
                             .session = options->session ? options->session : "",
                             .status = RONDO_STATUS_RUNNING, .start_ns = now, .end_ns = now,
                             .hash = run->node->hash, .about = about };
    store_set_now(engine->store, now);
    struct journal *journal = NULL;
    if (store_add(engine->store, &row, origin->definition, origin->definition_len, &journal, err) < 0)
        return err->code;
    run->journal->ops->close(run->journal);
    run->journal = journal;
    run->about = TAKE(about);
    run->stored = true;
    run->heard = store_written(engine->store); // nobody knows it yet
    return 0;
}

static void put_end(rondo_run *run)
{
    rondo_result res;
    look_whole(run, &res);
    json_object_set_new(run->about, "usage", usage_value(&res.usage));
    if (!usage_is_none(&res.lost))
        json_object_set_new(run->about, "lost", usage_value(&res.lost));
    if (json_object_get(run->about, "forkedFrom"))
        json_object_set_new(run->about, "inherited", usage_value(&run->core.inherited));
    json_object_set_new(run->about, "exitCode", json_integer(exit_code(run)));
    if (res.error && *res.error)
        json_object_set_new(run->about, "error", json_string(res.error));
    else
        json_object_del(run->about, "error");
}

void stored_recall_exit(rondo_run *run)
{
    const struct store_run *row = run->core.status ? store_about(run->journal) : NULL;
    const json_t *code = row ? json_object_get(row->about, "exitCode") : NULL;
    if (json_is_integer(code))
        exit_set(run, (int)json_integer_value(code));
}

/* How long nobody drove it, since it began or was forked. */
static void put_idle(rondo_run *run)
{
    struct run *core = &run->core;
    const struct act *whole = run_act(core, 0);
    int64_t idle = inherit_length_ns(core, whole->start_ns, core->now_ns) - act_elapsed_ns(core, whole);
    if (idle > 0)
        json_object_set_new(run->about, STORED_IDLE, json_integer(idle));
}

static int sum_up(rondo_run *run, rondo_error *err)
{
    struct run *core = &run->core;
    if (store_check_file(run->engine->store, err) < 0)
        return err->code;
    put_idle(run);
    if (core->status) {
        put_end(run);
    } else { // it goes on, whatever it had come to
        json_object_del(run->about, "exitCode");
        json_object_del(run->about, "error");
    }
    if (!core->status && core->gates)
        json_object_set_new(run->about, "asks", later_open_gates(run));
    else
        json_object_del(run->about, "asks");
    struct store_run row = { .status = core->status ? core->status : RONDO_STATUS_RUNNING,
                             .waiting = !core->status && core->gates, .end_ns = core->now_ns,
                             .last_seq = core->seq, .about = run->about };
    run->summed_gates = core->gate_moves;
    return store_sum_up(run->journal, &row, err);
}

int stored_turn(rondo_run *run, rondo_error *err)
{
    store_set_now(run->engine->store, shell_now_ns(run->engine)); // leases go by the clock, not by the run
    for (uint32_t i = 0; i < run->inbox_done_count; i++)
        if (store_inbox_done(run->journal, run->inbox_done[i], err) < 0)
            return err->code;
    run->inbox_done_count = 0;
    if (run->core.status || run->core.gate_moves != run->summed_gates)
        return sum_up(run, err);
    return 0;
}

void stored_clear(rondo_run *run)
{
    json_decref(run->about);
    mem_free(run->inbox_done);
    run->about = NULL;
    run->inbox_done = NULL;
    run->inbox_done_count = run->inbox_done_cap = 0;
    run->stored = false;
}

/* ---- what other processes want ---------------------------------------------------------------------------------- */

static bool was_taken(const rondo_run *run, int64_t num)
{
    for (uint32_t i = 0; i < run->inbox_done_count; i++)
        if (run->inbox_done[i] == num)
            return true;
    return false;
}

static const char *text_in(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void do_cancel(rondo_run *run, const json_t *what)
{
    const char *why = text_in(what, "why");
    rondo_run_cancel(run, why ? why : "cancelled by another process");
}

static void do_stop(rondo_run *run, const json_t *what)
{
    const char *why = text_in(what, "why");
    rondo_run_stop(run, why ? why : "stopped by another process");
}

static void do_answer(rondo_run *run, const json_t *what)
{
    const char *path = text_in(what, "path");
    json_t *value = json_object_get(what, "value");
    if (path && value)
        rondo_engine_signal(run->engine, run->id, path, json_incref(value), text_in(what, "by"));
}

static void do_message(rondo_run *run, const json_t *what)
{
    rondo_engine_send(run->engine, run->id, text_in(what, "from"), text_in(what, "to"), text_in(what, "text"),
                      text_in(what, "type"));
}

static const struct {
    const char *kind;
    void (*take)(rondo_run *run, const json_t *what);
} wishes[] = { { "cancel", do_cancel }, { "answer", do_answer }, { "message", do_message }, { "stop", do_stop } };

/* It is taken out of the store in the turn that journals what comes of it. */
static void take(rondo_run *run, const json_t *letter)
{
    int64_t num = json_integer_value(json_object_get(letter, "num"));
    const json_t *what = json_object_get(letter, "what");
    const char *kind = text_in(what, "kind");
    if (was_taken(run, num))
        return;
    mem_grow(&run->inbox_done, &run->inbox_done_cap, run->inbox_done_count, sizeof *run->inbox_done);
    run->inbox_done[run->inbox_done_count++] = num;
    for (size_t i = 0; kind && i < COUNT(wishes); i++)
        if (strcmp(wishes[i].kind, kind) == 0)
            wishes[i].take(run, what);
    task_take_posts(run->engine); // at once: no turn may come between
}

int stored_read_inbox(rondo_run *run, rondo_error *err)
{
    auto_json json_t *letters = NULL;
    size_t i;
    json_t *letter;
    if (run->ended)
        return 0;
    int rc = store_inbox(run->journal, &letters, err);
    json_array_foreach(letters, i, letter)
        take(run, letter);
    return rc;
}

int stored_hear(rondo_run *run, rondo_error *err)
{
    struct store *store = run->engine->store;
    if (!run->stored)
        return 0;
    if (store_hold(store, err) < 0)
        return err->code;
    if (run->heard == store_written(store))
        return 0;
    run->heard = store_written(store);
    return stored_read_inbox(run, err);
}

int64_t stored_next_look(const rondo_engine *engine)
{
    return engine->store && engine->going && !engine->virtual_time ? engine->looked_ns + LOOK_NS : INT64_MAX;
}

void stored_look(rondo_engine *engine, bool at_once)
{
    int64_t now = engine->store ? shell_now_ns(engine) : 0;
    if (!engine->store || (!at_once && now - engine->looked_ns < LOOK_NS))
        return;
    engine->looked_ns = now;
    if (now - engine->renewed_ns >= RENEW_NS) {
        rondo_error err;
        store_set_now(engine->store, now);
        store_renew(engine->store, &err); // who has lost a lease is told when he writes
        engine->renewed_ns = now;
    }
    if (!store_has_news(engine->store))
        return;
    rondo_error ignored; // what is not read now is read before it is too late
    for (rondo_run *run = engine->runs; run; run = run->next)
        if (run->stored)
            stored_read_inbox(run, &ignored);
}

/* ---- when another process has locked it ------------------------------------------------------------------------ */

/* While the engine begins or resumes its first run, it has none that could be late. */
static bool is_late(const rondo_engine *engine)
{
    if (engine->stops && engine->stops())
        return true;
    for (const rondo_run *run = engine->runs; run; run = run->next)
        if (!run->ended && !shell_is_late(run))
            return false;
    return engine->going > 0;
}

bool stored_may_wait(int64_t waited_ms, void *engine)
{
    return waited_ms < LATE_MS || !is_late(engine);
}

/* ---- for programs that embed us ----------------------------------------------------------------------------- */

int rondo_store_open(const char *path, const rondo_store_options *given, rondo_store **ret,
                     rondo_error *err)
{
    rondo_error scratch;
    rondo_store_options o;
    err = err ? err : &scratch;
    if (SPEC_COPY(o, given, "the options", RONDO_STORE, err) < 0)
        return err->code;
    unsigned flags = (o.read_only ? STORE_READ_ONLY : 0) |
                     (o.must_exist || o.read_only ? 0 : STORE_CREATE) |
                     (o.durability == RONDO_POWER ? STORE_POWER : 0);
    struct store *store = NULL;
    if (store_open(path, flags, &store, err) < 0)
        return err->code;
    *ret = (rondo_store *)store;
    return 0;
}

void rondo_store_close(rondo_store *store)
{
    store_close((struct store *)store);
}

const char *rondo_store_notice(const rondo_store *store)
{
    return store_notice((const struct store *)store);
}
