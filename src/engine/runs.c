/* runs.c - starting runs, ending them, and bringing them back from their logs. */
#include "engine/flows.h"
#include "engine/saved.h"
#include "engine/shell.h"

#include "base/hash.h"
#include "base/spec.h"
#include "data/value.h"
#include "flow/shape.h"
#include "io/within.h"
#include "run/mend.h"
#include "run/ruleset.h"
#include "run/stop.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>

static int copy_options(rondo_run_options *ours, const rondo_run_options *given, rondo_error *err)
{
    rondo_more_options more;
    if (SPEC_COPY(*ours, given, "the options", RONDO_RUN, err) < 0)
        return err->code;
    const struct {
        const char *field;
        int64_t value, max;
    } rows[] = {
        { "max_concurrency", ours->max_concurrency, INT32_MAX },
        { "timeout_ms", ours->timeout_ms, TIME_MAX_MS },
        { "cleanup_ms", ours->cleanup_ms, TIME_MAX_MS },
        { "budget.time_ms", ours->budget.time_ms, TIME_MAX_MS },
        { "budget.tokens", ours->budget.tokens, AMOUNT_MAX },
        { "budget.cost_nano", ours->budget.cost_nano, AMOUNT_MAX },
        { "budget.calls", ours->budget.calls, AMOUNT_MAX },
        { "on_unknown", ours->on_unknown, RONDO_UNKNOWN_ASK },
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].value < 0)
            return err_set(err, RONDO_EINVAL, "%s must be at least 0, got %lld", rows[i].field,
                           (long long)rows[i].value);
        if (rows[i].value > rows[i].max)
            return err_set(err, RONDO_EINVAL, "%s must be at most %lld, got %lld", rows[i].field,
                           (long long)rows[i].max, (long long)rows[i].value);
    }
    if (ours->state && !json_is_object(ours->state))
        return err_set(err, RONDO_EINVAL, "state must be an object");
    return SPEC_COPY(more, ours->more, "`more`", RONDO_MORE_OPTIONS, err);
}

rondo_more_options runs_more(const rondo_run_options *options)
{
    rondo_more_options more = { 0 };
    if (options->more)
        memcpy(&more, options->more, MIN(options->more->size, sizeof more));
    return more;
}

static char *make_id(rondo_engine *engine)
{
    char id[17] = "r";
    uint64_t n = hash_add(engine->seed, engine->made);
    for (int i = 1; i <= 16; i++, n >>= 4)
        id[i] = "0123456789abcdef"[n & 15];
    return mem_dup(id, sizeof id);
}

/* An engine that begins as another one did may have runs of that one. */
static char *make_free_id(rondo_engine *engine)
{
    char *id = make_id(engine);
    while (UNLIKELY(later_find_run(engine, id))) {
        mem_free(id);
        engine->made++;
        id = make_id(engine);
    }
    return id;
}

/* Whoever signals to a run by its id means one. */
static int check_is_free(rondo_engine *engine, const char *id, rondo_error *err)
{
    if (!id || !later_find_run(engine, id))
        return 0;
    return err_set(err, RONDO_EEXISTS, "there is a run '%.200s' in this engine already", id);
}

/* journal is taken; NULL: one in memory. */
static rondo_run *new_run(rondo_engine *engine, rondo_node *node, const rondo_run_options *options,
                          struct journal *journal)
{
    rondo_run *run = engine->spare;
    if (run) {
        engine->spare = run->next;
        engine->spare_count--;
    } else {
        run = mem_zalloc(sizeof *run);
    }
    run_init(&run->core, node);
    run->engine = engine;
    run->node = rondo_node_ref(node);
    if (journal && run->journal)
        run->journal->ops->close(run->journal);
    if (journal || !run->journal)
        run->journal = journal ? journal : journal_in_memory();
    engine->made++;
    run->id = options->id ? mem_strdup(options->id) : make_free_id(engine);
    run->has_cursor = !options->no_cursor;
    reader_reach(&run->reader, run, 0);
    later_link(run);
    engine->going++;
    return run;
}

char *runs_make_id(rondo_engine *engine)
{
    engine->made++;
    return make_id(engine);
}

rondo_run *runs_aside(rondo_engine *engine, rondo_node *node, const char *id)
{
    rondo_run_options options = { .size = RONDO_RUN, .id = id, .no_cursor = true };
    rondo_run *run = new_run(engine, node, &options, NULL);
    engine->made--;
    return run;
}

static void set_number(json_t *object, const char *key, int64_t n)
{
    if (n)
        json_object_set_new(object, key, json_integer(n));
}

static json_t *start_value(rondo_engine *engine, const rondo_value *input,
                           const rondo_run_options *options)
{
    json_t *value = json_object();
    if (input)
        json_object_set(value, "input", (json_t *)input);
    if (options->state)
        json_object_set_new(value, "state", json_deep_copy(options->state));
    set_number(value, "maxConcurrency",
               options->max_concurrency ? options->max_concurrency : engine->max_concurrency);
    set_number(value, "timeoutMs", options->timeout_ms);
    set_number(value, "cleanupMs", options->cleanup_ms);
    set_number(value, "onUnknown", options->on_unknown);
    set_number(value, "budgetMs", options->budget.time_ms);
    set_number(value, "budgetTokens", options->budget.tokens);
    set_number(value, "budgetNano", options->budget.cost_nano);
    set_number(value, "budgetCalls", options->budget.calls);
    within_note(value);
    ruleset_note(value);
    return value;
}

static int check_depth(const json_t *input, const rondo_run_options *options, rondo_error *err)
{
    if (!value_is_deep(input) && !value_is_deep(options->state))
        return 0;
    return err_set(err, RONDO_ELIMIT, "the %s is nested more than %d levels deep",
                   value_is_deep(input) ? "input" : "state", VALUE_DEPTH_MAX);
}

int runs_begin(rondo_engine *engine, rondo_node *node, const rondo_value *input,
               const rondo_run_options *given, const struct run_origin *origin, rondo_run **ret,
               rondo_error *err)
{
    rondo_run_options options;
    if (rondo_node_check(node, err) < 0 || copy_options(&options, given, err) < 0 ||
        (options.id && store_check_id(options.id, err) < 0) || check_is_free(engine, options.id, err) < 0 ||
        check_depth(input, &options, err) < 0 ||
        sessions_check(engine, &options, err) < 0) {
        secrets_free(origin ? origin->secrets : NULL);
        return err->code;
    }
    rondo_run *run = new_run(engine, node, &options, NULL);
    run->secrets = origin ? origin->secrets : NULL;
    json_t *start = start_value(engine, input, &options);
    if ((engine->store && !options.in_memory && stored_begin(run, &options, origin, err) < 0) ||
        (options.session && sessions_begin(engine, options.session, start, err) < 0)) {
        json_decref(start);
        rondo_run_close(run);
        return err->code;
    }
    if (origin && origin->past && !options.session)
        sessions_put(start, json_object_get(origin->past, "state"), json_object_get(origin->past, "memory"));
    uint64_t seed = options.seed ? options.seed : hash_add(engine->seed ^ 0x5eed, engine->made);
    shell_happened(run, &(struct rondo_event){ .type = RONDO_EV_WORKFLOW_START, .num = (int64_t)seed,
                                               .flags = EF_VALUE, .value = start });
    later_listen(run, true);
    *ret = run;
    return 0;
}

int rondo_run_start(rondo_engine *engine, rondo_node *node, const rondo_value *input,
                    const rondo_run_options *options, rondo_run **ret, rondo_error *err)
{
    rondo_error scratch;
    return runs_begin(engine, node, input, options, NULL, ret, err ? err : &scratch);
}

int rondo_run_wait(rondo_run *run, rondo_error *err)
{
    rondo_error scratch;
    rondo_result result;
    err = err ? err : &scratch;
    memset(err, 0, sizeof *err);
    while (rondo_run_next(run))
        ;
    if (run->dropped || !run->ended) {
        if (rondo_run_error(run, err))
            return err->code;
        return err_set(err, RONDO_ESTATE, "the run %s",
                       run_has_stopped(&run->core) ? "has stopped between passes"
                       : run_is_left(&run->core)   ? "waits for an answer"
                                                   : "has not ended");
    }
    rondo_run_result(run, &result);
    if (result.status == RONDO_STATUS_COMPLETED || result.status == RONDO_STATUS_SKIPPED)
        return 0;
    if (result.status == RONDO_STATUS_CANCELLED)
        return err_set(err, RONDO_ECANCELLED, "cancelled: %s", result.error);
    return err_set(err, result.code ? result.code : RONDO_EFAILED, "%s", result.error);
}

void rondo_run_cancel(rondo_run *run, const char *why)
{
    struct rondo_event ev = { .type = RONDO_EV_CANCEL, .code = CLOSE_CANCEL };
    json_t *text = json_string(why ? why : "cancelled");
    if (run->ended) {
        json_decref(text);
        return;
    }
    ev.flags = EF_VALUE;
    ev.value = text ? text : json_string("cancelled");
    run->urgent = true;
    shell_happened(run, &ev);
}

void rondo_run_stop(rondo_run *run, const char *why)
{
    json_t *text = json_string(why ? why : "stopped");
    if (run->ended)
        json_decref(text);
    else
        shell_happened(run, &(struct rondo_event){ .type = RONDO_EV_STOP_ASKED, .flags = EF_VALUE,
                                                   .value = text ? text : json_string("stopped") });
}

bool rondo_run_has_stopped(const rondo_run *run)
{
    return !run->ended && !run->inbox_count && run_has_stopped((struct run *)&run->core);
}

static void free_run(rondo_run *run)
{
    run_free(&run->core);
    if (run->journal)
        run->journal->ops->close(run->journal);
    reader_clear(&run->reader);
    buf_free(&run->path);
    buf_free(&run->text);
    buf_free(&run->line);
    mem_free(run->inbox);
    mem_free(run->put_off);
    mem_free(run);
}

/* A closed run keeps its memory for the next one: starting many short runs is then cheap. */
static void set_aside(rondo_engine *engine, rondo_run *run)
{
    rondo_run kept = { .core = run->core, .journal = run->journal, .inbox = run->inbox,
                       .inbox_cap = run->inbox_cap, .path = run->path, .text = run->text,
                       .line = run->line, .next = engine->spare };
    kept.reader = (struct reader){ .places = run->reader.places, .place_cap = run->reader.place_cap,
                                   .loops = run->reader.loops, .loop_cap = run->reader.loop_cap };
    mem_free(run->put_off);
    mem_free(run->reader.usage);
    mem_free(run->reader.asked);
    buf_free(&run->reader.record);
    if (run->journal)
        run->journal->ops->clear(run->journal);
    *run = kept;
    engine->spare = run;
    engine->spare_count++;
}

void rondo_run_close(rondo_run *run)
{
    if (!run)
        return;
    rondo_engine *engine = run->engine;
    shell_free_run(run);
    look_free(run);
    run_clear(&run->core);
    json_decref(run->old_value);
    json_decref(run->items);
    json_decref(run->old_passes);
    secrets_free(run->secrets);
    mem_free(run->error);
    mem_free(run->undone);
    mem_free(run->id);
    rondo_node_unref(run->node);
    if (run->stored) { // what it has not kept is lost, and somebody else may go on with it
        run->journal->ops->close(run->journal);
        run->journal = NULL;
        stored_clear(run);
    }
    if (!run->timers) {
        runs_recycle(run);
        return;
    }
    run->zombie = true;
    run->next = engine->zombies;
    engine->zombies = run;
    engine->zombie_timers += run->timers;
    if (engine->zombie_timers > 64 && engine->zombie_timers > engine->timers.count / 2)
        shell_bury(engine);
}

void runs_recycle(rondo_run *run)
{
    if (run->engine->spare_count < SPARE_MAX)
        set_aside(run->engine, run);
    else
        free_run(run);
}

void runs_free_spare(rondo_engine *engine)
{
    while (engine->spare) {
        rondo_run *run = engine->spare;
        engine->spare = run->next;
        free_run(run);
    }
}

const char *rondo_run_id(const rondo_run *run)
{
    return run->id;
}

rondo_engine *rondo_run_engine(rondo_run *run)
{
    return run->engine;
}

rondo_value *rondo_run_state(rondo_run *run)
{
    if (!run->core.state)
        run->core.state = json_object();
    return run->core.state;
}

int rondo_run_error(const rondo_run *run, rondo_error *ret)
{
    if (ret && run->error)
        *ret = *run->error;
    return run->error ? run->error->code : 0;
}

int rondo_call(rondo_engine *engine, rondo_node *node, const rondo_value *input, rondo_value **ret,
               rondo_error *err)
{
    rondo_error scratch;
    rondo_run *run;
    rondo_result result;
    err = err ? err : &scratch;
    if (engine->busy)
        return err_set(err, RONDO_ESTATE, "rondo_call() inside an agent or a rule: use a node instead");
    rondo_run_options options = { .size = RONDO_RUN, .no_cursor = true };
    if (rondo_run_start(engine, node, input, &options, &run, err) < 0)
        return err->code;
    int rc = rondo_run_wait(run, err);
    if (rc == 0 && rondo_run_result(run, &result) == 0)
        *ret = result.output ? json_incref(result.output) : json_null();
    rondo_run_close(run);
    return rc;
}

/* ---- saving and recovering ----------------------------------------------------------------------------- */

char *rondo_run_save(rondo_run *run, size_t *ret_len)
{
    struct buf out = { 0 };
    rondo_error err;
    uint64_t last = run->has_cursor ? run->seen : run->core.seq;
    saved_put(&out, run->journal, run->node, run->id, last, &err);
    *ret_len = out.len;
    return buf_take(&out);
}

/* The run is rebuilt from its journal, which lends only one record at a time: the rest of this one is kept. */
static int undo(rondo_run *run, const struct rondo_event *ev, struct codec *codec, struct buf *copy,
                rondo_error *err)
{
    size_t left = (size_t)(codec->end - codec->at);
    buf_clear(copy);
    buf_put(copy, codec->at, left);
    codec->at = buf_text(copy);
    codec->end = codec->at + left;
    return resume_undo(run, ev, err);
}

/* Nobody is handed this event any more, and the reader is to know its place for those that follow.  All others it
   notes when it comes to them: a slot may belong to somebody else by then. */
static void pass_over(rondo_run *run, const struct rondo_event *ev)
{
    reader_note(&run->reader, run, ev);
    run->seen = ev->seq;
}

static int replay_record(rondo_run *run, const char *record, size_t len, bool passes_over, rondo_error *err)
{
    struct codec codec;
    struct rondo_event ev;
    auto_buf struct buf copy = { 0 };
    uint64_t first = run->core.seq + 1;
    int rc;
    if (!codec_open(&codec, record, len, first))
        return err_set(err, RONDO_ESTORE, "the record of event %llu is damaged",
                       (unsigned long long)first);
    while ((rc = codec_next(&codec, &ev, true)) > 0) {
        if (UNLIKELY(ev.type == RONDO_EV_REOPENED) && undo(run, &ev, &codec, &copy, err) < 0) {
            json_decref(ev.value);
            return err->code;
        }
        if (!run_can_apply(&run->core, &ev)) {
            json_decref(ev.value);
            return err_set(err, RONDO_ESTORE, "event %llu (%s) does not fit what came before it",
                           (unsigned long long)ev.seq, event_type_text(ev.type));
        }
        run_apply(&run->core, &ev);
        if (passes_over)
            pass_over(run, &ev);
    }
    run_settle(&run->core);
    if (rc < 0)
        return err_set(err, RONDO_ESTORE, "event %llu is damaged",
                       (unsigned long long)(run->core.seq + 1));
    return 0;
}

/* From the run's own journal, which may be a store's: there seq is all that a place needs. */
static int replay_journal(rondo_run *run, bool passes_over, rondo_error *err)
{
    struct journal_pos pos = { .seq = run->core.seq + 1 };
    const char *record;
    size_t len;
    int rc;
    while ((rc = run->journal->ops->read(run->journal, &pos, &record, &len, err)) > 0)
        if (replay_record(run, record, len, passes_over, err) < 0)
            return err->code;
    return rc;
}

/* From here on the run goes on by itself: its first event says that it was resumed. */
static void go_on(rondo_run *run, json_t *anew)
{
    int64_t idle = shell_run_ns(run) - run->core.now_ns;
    if (run->core.status) {
        shell_stop(run);
        return;
    }
    json_t *value = json_pack("{s:o}", "steps", resume_list(run, anew));
    if (json_array_size(anew))
        json_object_set(value, "anew", anew);
    ruleset_note(value);
    shell_happened(run, &(struct rondo_event){ .type = RONDO_EV_RESUMED, .num = idle, .flags = EF_VALUE,
                                               .value = value });
}

/* A run whose log was applied; closed when that failed. */
static int recovered(rondo_run *run, int rc, const rondo_run_options *options, bool goes_on, rondo_run **ret,
                     rondo_error *err)
{
    bool reopens = goes_on && options->reopen && run->core.status;
    rondo_more_options more = runs_more(options);
    if (rc == 0 && !run->core.act_count)
        rc = err_set(err, RONDO_ESTORE, "the log has no events");
    run->ahead_ns = MAX(run->core.now_ns - shell_now_ns(run->engine), 0);
    if (rc == 0 && reopens)
        rc = resume_reopen(run, options, more.failed_items ? &(struct mend_wish){ NULL } : NULL, err);
    if (rc == 0 && goes_on && !reopens && !run->core.status && more.limits)
        rc = resume_raise(run, more.limits, err);
    if (rc == 0 && goes_on && more.limits)
        rc = run->core.status ? err_set(err, RONDO_ESTATE, "the run has ended: its limits change when it is reopened")
                              : resume_check_limits(run, more.limits, err);
    auto_json json_t *anew = NULL;
    if (rc == 0 && goes_on && !run->core.status && !reopens)
        rc = renew_rows(run, &anew, err);
    if (rc < 0) {
        rondo_run_close(run);
        return rc;
    }
    run->kept_seq = run->core.seq;
    run->summed_gates = goes_on ? ~run->core.gate_moves : run->core.gate_moves; // its row does not know that it does
    if (!goes_on)
        shell_stop(run);
    else if (!reopens)
        go_on(run, anew);
    if (goes_on && more.limits)
        resume_change_limits(run, more.limits);
    if (!run->ended)
        later_listen(run, true);
    *ret = run;
    return 0;
}

int rondo_run_recover(rondo_engine *engine, rondo_node *node, const void *log, size_t len,
                      const rondo_run_options *given, rondo_run **ret, rondo_error *err)
{
    rondo_error scratch;
    rondo_run_options options;
    auto_saved struct saved saved = { 0 };
    err = err ? err : &scratch;
    if (rondo_node_check(node, err) < 0 || copy_options(&options, given, err) < 0 ||
        saved_read(log, len, &saved, err) < 0 || saved_check(&saved, node, err) < 0)
        return err->code;
    bool is_new = options.id && strcmp(options.id, saved.id) != 0; // the log's own may be one of an older version
    if (is_new && store_check_id(options.id, err) < 0)
        return err->code;
    options.id = is_new ? options.id : saved.id;
    if (check_is_free(engine, options.id, err) < 0)
        return err->code;
    rondo_run *run = new_run(engine, node, &options, TAKE(saved.journal));
    return recovered(run, replay_journal(run, !options.from_start, err), &options, true, ret, err);
}

/* A definition that was made in C is also told where it differs, and which function it lacks; that of a file, what in
   it is another. */
int runs_check_definition(struct journal *journal, rondo_node *node, rondo_error *err)
{
    size_t len;
    const char *text = store_definition(journal, &len);
    if (store_check_there(journal, err) < 0)
        return err->code;
    const struct store_run *row = store_about(journal);
    if (text && shape_check(text, len, node, err) < 0)
        return err_in(err, "run %s belongs to another definition", row->id);
    if (text && node->flow && !shape_is(text, len) &&
        flows_check_version(node->flow, row->id, text, len, err) < 0)
        return err->code;
    if (row->hash == node->hash)
        return 0;
    return err_set(err, RONDO_EMISMATCH,
                   "run %s belongs to another definition than %s '%s': kinds, names or limits differ", row->id,
                   rondo_kind_text(node->kind), node->name);
}

static void own(rondo_run *run)
{
    const struct store_run *row = store_about(run->journal);
    run->stored = true;
    run->about = row->about ? json_deep_copy(row->about) : json_object();
}

static int has_store(const rondo_engine *engine, rondo_error *err)
{
    return engine->store ? 0 : err_set(err, RONDO_EINVAL, "the engine has no store: there is no such run");
}

/* A run from its journal in the store, which is taken. */
static int read_back(rondo_engine *engine, rondo_node *node, const rondo_run_options *options,
                     struct journal *journal, bool goes_on, rondo_run **ret, rondo_error *err)
{
    if (runs_check_definition(journal, node, err) < 0) {
        journal->ops->close(journal);
        return err->code;
    }
    rondo_run_options named = *options;
    named.id = store_about(journal)->id;
    rondo_run *run = new_run(engine, node, &named, journal);
    own(run);
    return recovered(run, replay_journal(run, !options->from_start, err), options, goes_on, ret, err);
}

int rondo_run_look(rondo_engine *engine, rondo_node *node, const char *id, rondo_run **ret,
                   rondo_error *err)
{
    rondo_error scratch;
    rondo_run_options options = { .size = RONDO_RUN, .from_start = true };
    struct journal *journal = NULL;
    err = err ? err : &scratch;
    if (has_store(engine, err) < 0 || rondo_node_check(node, err) < 0 || store_snapshot(engine->store, err) < 0)
        return err->code;
    int rc = store_look(engine->store, id, &journal, err);
    if (rc == 0)
        rc = read_back(engine, node, &options, journal, false, ret, err);
    if (rc == 0)
        stored_recall_exit(*ret);
    store_snapshot_end(engine->store);
    return rc;
}

static int catch_up(rondo_run *run, bool passes_over, rondo_error *err)
{
    int rc = replay_journal(run, passes_over, err);
    run->kept_seq = run->core.seq;
    return rc;
}

int runs_catch_up(rondo_run *run, rondo_error *err)
{
    int rc = catch_up(run, false, err);
    stored_recall_exit(run);
    return rc;
}

int runs_pass_over(rondo_run *run, rondo_error *err)
{
    return catch_up(run, true, err);
}

int runs_check_log(rondo_engine *engine, rondo_node *node, struct journal *journal, rondo_error *err)
{
    if (rondo_node_check(node, err) < 0)
        return err->code;
    rondo_run *run = runs_aside(engine, node, NULL);
    struct journal *own = run->journal;
    run->journal = journal;
    int rc = runs_pass_over(run, err);
    run->journal = own;
    rondo_run_close(run);
    return rc;
}

static int resume(rondo_engine *engine, rondo_node *node, const char *id, const rondo_run_options *given,
                  struct secrets **secrets, rondo_run **ret, rondo_error *err)
{
    rondo_run_options options;
    struct journal *journal = NULL;
    if (has_store(engine, err) < 0 || rondo_node_check(node, err) < 0 ||
        copy_options(&options, given, err) < 0)
        return err->code;
    store_set_now(engine->store, shell_now_ns(engine));
    if (store_take(engine->store, id, &journal, err) < 0)
        return err->code;
    if (read_back(engine, node, &options, journal, true, ret, err) < 0)
        return err->code;
    (*ret)->secrets = TAKE(*secrets); // before anybody is heard
    if (stored_read_inbox(*ret, err) == 0)
        return 0;
    rondo_run_close(*ret);
    return err->code;
}

int runs_resume(rondo_engine *engine, rondo_node *node, const char *id, const rondo_run_options *options,
                struct secrets *secrets, rondo_run **ret, rondo_error *err)
{
    int rc = resume(engine, node, id, options, &secrets, ret, err);
    secrets_free(secrets);
    return rc;
}

int rondo_run_resume(rondo_engine *engine, rondo_node *node, const char *id,
                     const rondo_run_options *options, rondo_run **ret, rondo_error *err)
{
    rondo_error scratch;
    return runs_resume(engine, node, id, options, NULL, ret, err ? err : &scratch);
}
