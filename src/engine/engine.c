/* engine.c - the turn.

   1  callbacks only say what happened: events in a run's inbox;
   2  the inbox is applied, and plans are made and applied until nothing follows, with the
      questions that come up asked in between;
   3  all events of the turn are appended to the journal as one record;
   4  only then are they handed out, and then the commands that follow are carried out.

   So no effect precedes its cause in the journal, and what a reader saw is already there.  A reader
   who pulls gets a turn's events before its commands are carried out; a run whose reader is far
   behind starts nothing new; a run without a reader never waits.

   A durable journal is committed once for all runs that had a turn meanwhile (turns.c): 4 waits for it.

   When the append fails nothing of the turn was shown or started: the run is dropped from memory,
   its reader gets the error, and it can be recovered from what the journal has. */
#include "engine/shell.h"
#include "engine/watch.h"

#include "base/hash.h"
#include "base/spec.h"
#include "cel/cel.h"
#include "data/peek.h"
#include "io/http.h"
#include "io/process.h"
#include "io/tzfile.h"
#include "store/store.h"

#include <string.h>

int64_t shell_now_ns(rondo_engine *engine)
{
    return engine->virtual_time ? engine->virtual_ns : loop_now_ns(engine->loop);
}

int64_t shell_run_ns(const rondo_run *run)
{
    return MAX(shell_now_ns(run->engine) + run->ahead_ns, run->core.now_ns);
}

bool shell_is_late(const rondo_run *run)
{
    return shell_run_ns(run) >= run_timeout_at(&run->core);
}

/* ---- 1 what happened --------------------------------------------------------------------------------- */

static void make_ready(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    if (run->ready)
        return;
    run->ready = true;
    run->next_ready = NULL;
    if (engine->ready_last)
        engine->ready_last->next_ready = run;
    else
        engine->ready_first = run;
    engine->ready_last = run;
}

static rondo_run *take_ready(rondo_engine *engine)
{
    rondo_run *run = engine->ready_first;
    if (!run)
        return NULL;
    engine->ready_first = run->next_ready;
    if (!engine->ready_first)
        engine->ready_last = NULL;
    run->ready = false;
    return run;
}

static void forget_ready(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    rondo_run *before = NULL, *at = run->ready ? engine->ready_first : NULL;
    for (; at && at != run; at = at->next_ready)
        before = at;
    if (!at)
        return;
    if (before)
        before->next_ready = run->next_ready;
    else
        engine->ready_first = run->next_ready;
    if (engine->ready_last == run)
        engine->ready_last = before;
    run->ready = false;
}

struct rondo_event *shell_next_event(rondo_run *run)
{
    if (run->ended)
        return NULL;
    mem_grow(&run->inbox, &run->inbox_cap, run->inbox_count, sizeof *run->inbox);
    make_ready(run);
    return &run->inbox[run->inbox_count++];
}

void shell_happened(rondo_run *run, const struct rondo_event *ev)
{
    if (UNLIKELY(run->watches) && watch_keeps(run, ev))
        return;
    struct rondo_event *place = shell_next_event(run);
    if (!place) {
        json_decref(ev->value);
        return;
    }
    *place = *ev;
    if (run_hides(run))
        place->value = shell_clean(run, ev->type, ev->flags, ev->value);
}

/* Objects that we have made have keys that we need. */
static bool is_ours(int type, uint16_t flags)
{
    if (type == RONDO_EV_STATE || type == RONDO_EV_NOTE)
        return false;
    return type != RONDO_EV_STEP_END || flags & EF_FULL;
}

json_t *shell_clean(const rondo_run *run, int type, uint16_t flags, json_t *value)
{
    return secrets_clean(run->secrets, value, is_ours(type, flags));
}

void shell_wound_down(rondo_run *run, uint32_t slot, uint32_t gen)
{
    struct act *act = run_find_act(&run->core, slot, gen);
    if (!act || run->ended || (UNLIKELY(run->watches) && watch_delays(run, slot, gen)))
        return;
    act->lingers = false;
    if (act->dirty) // it was closed in this turn, and is looked at because of that: the log says where
        return;
    act->wound_down = true;
    run_touch(&run->core, act);
    run->urgent = true;
    make_ready(run);
}

/* ---- 2 apply and plan ---------------------------------------------------------------------------------- */

static struct rondo_event *next_slot(rondo_engine *engine)
{
    mem_grow(&engine->turn.events, &engine->turn.cap, engine->turn.count, sizeof *engine->turn.events);
    return &engine->turn.events[engine->turn.count];
}

/* What a driver begins with is never too late. */
#define BEGINNINGS (1ull << RONDO_EV_WORKFLOW_START | 1ull << RONDO_EV_RESUMED | 1ull << RONDO_EV_REOPENED | \
                    1ull << RONDO_EV_LIMITS)

/* What the core no longer accepts (late results, old timers) is dropped without a trace; but work that was to be ended
   and has ended by itself in the same turn need not be waited for. */
static void drop_late(rondo_run *run, const struct rondo_event *ev)
{
    struct act *act = run_find_act(&run->core, ev->act, ev->ordinal);
    if (act && act->lingers && (ev->type == RONDO_EV_STEP_END || ev->type == RONDO_EV_STEP_FAILED)) {
        shell_wound_down(run, ev->act, ev->ordinal);
        if (act->wound_down) // replay has it before the turn
            run_touch_first(&run->core, act);
    }
    json_decref(ev->value);
}

static void apply_one(rondo_run *run, const struct rondo_event *happened)
{
    rondo_engine *engine = run->engine;
    struct rondo_event *ev = next_slot(engine);
    if (!(BEGINNINGS >> happened->type & 1) && !run_accepts(&run->core, happened)) {
        drop_late(run, happened);
        return;
    }
    *ev = *happened;
    ev->flags |= EF_TOLD;
    ev->time_ns = run->core.now_ns;
    ev->run = &run->core;
    if (ev->type == RONDO_EV_TIMER)
        ev->ordinal = ev->back; // the generation was only for run_accepts()
    engine->turn.count++;
    if (ev->type == RONDO_EV_OUTPUT)
        run_drop(&run->core, ev->value);
    else
        run_decide(&run->core, ev);
}

/* An agent may end while others work for it: one that goes on after a crash, and cannot.  It ends behind them. */
static struct act *waits_for_errands(rondo_run *run, const struct rondo_event *ev)
{
    bool ends = ev->type == RONDO_EV_STEP_END || ev->type == RONDO_EV_STEP_FAILED;
    struct act *act = ends ? run_find_act(&run->core, ev->act, ev->ordinal) : NULL;
    return act && act->open ? act : NULL;
}

static void apply_inbox(rondo_run *run)
{
    for (uint32_t i = 0; i < run->inbox_count; i++) {
        if (LIKELY(!waits_for_errands(run, &run->inbox[i]))) {
            apply_one(run, &run->inbox[i]); // copies it first: the inbox may grow meanwhile
            continue;
        }
        mem_grow(&run->put_off, &run->put_off_cap, run->put_off_count, sizeof *run->put_off);
        run->put_off[run->put_off_count++] = run->inbox[i];
    }
    run->inbox_count = 0;
}

static bool close_errands(rondo_run *run, const struct act *act)
{
    bool closes = false;
    for (uint32_t slot = act->first_child; slot; slot = run_act(&run->core, slot)->next_sibling) {
        if (run_act(&run->core, slot)->close)
            continue;
        apply_one(run, &(struct rondo_event){ .type = RONDO_EV_CANCEL, .act = slot, .code = CLOSE_CANCEL });
        closes = true;
    }
    return closes;
}

/* Nobody needs what is done for them.  False when there is nothing more to plan. */
static bool take_up_ends(rondo_run *run)
{
    uint32_t count = run->put_off_count;
    bool goes_on = false;
    run->put_off_count = 0;
    for (uint32_t i = 0; i < count; i++) {
        struct rondo_event ev = run->put_off[i];
        const struct act *act = waits_for_errands(run, &ev);
        goes_on |= !act || close_errands(run, act);
        if (act)
            run->put_off[run->put_off_count++] = ev;
        else
            apply_one(run, &ev);
    }
    return goes_on;
}

/* A gate that is open is answered before it can close: who has answered could see that it was open. */
static int hear_answers(rondo_run *run, rondo_error *err)
{
    uint32_t count = run->inbox_count, cap = run->inbox_cap;
    if (LIKELY(!run->core.gates) || !run->stored)
        return 0;
    if (count && BEGINNINGS >> run->inbox[0].type & 1)
        return stored_hear(run, err);
    auto_free struct rondo_event *before = TAKE(run->inbox);
    run->inbox_count = run->inbox_cap = 0;
    int rc = stored_hear(run, err);
    if (!run->inbox_count) {
        run->inbox = TAKE(before);
        run->inbox_cap = cap;
        run->inbox_count = count;
        return rc;
    }
    for (uint32_t i = 0; i < count; i++)
        *shell_next_event(run) = before[i];
    return rc;
}

/* A run ends when nobody can write to it any more, and all that was written is heard. */
static int plan(rondo_run *run, rondo_error *err)
{
    rondo_engine *engine = run->engine;
    for (;;) {
        struct rondo_event *ev = next_slot(engine);
        enum plan what = run_plan(&run->core, ev);
        if (what == PLAN_IDLE)
            return 0;
        if (what == PLAN_ASK) {
            ask(run);
            run_tell(&run->core);
            continue;
        }
        if (UNLIKELY(ev->type == RONDO_EV_WORKFLOW_END)) {
            if (stored_hear(run, err) < 0)
                return err->code;
            if (!later_shut(run))
                return 0;
        }
        engine->turn.count++;
        run_decide(&run->core, ev);
    }
}

/* ---- 3 the journal --------------------------------------------------------------------------------------- */

static int append(rondo_run *run, uint64_t before, rondo_error *err)
{
    rondo_engine *engine = run->engine;
    buf_clear(&engine->record);
    codec_put_record(&engine->record, engine->turn.events, engine->turn.count,
                     (uint32_t)(run->core.seq - before), run->core.now_ns);
    int rc = run->journal->ops->append(run->journal, engine->record.data, engine->record.len,
                                       before + 1, (uint32_t)(run->core.seq - before), err);
    if (rc < 0 || LIKELY(!run->stored))
        return rc;
    if (run->core.session && sessions_write(run, engine->turn.events, engine->turn.count, err) < 0)
        return err->code;
    return stored_turn(run, err);
}

/* rc, err: what went wrong before. */
static void keep(rondo_run *run, uint64_t before, int rc, rondo_error *err)
{
    rondo_engine *engine = run->engine;
    if (rc == 0 && run->core.seq == before) {
        if (run->stored && !engine->staged_first)
            store_commit(engine->store, err); // of nothing: others may write again
        shell_is_kept(run);
        return;
    }
    run->kept_seq = before;
    rc = rc < 0 ? rc : append(run, before, err);
    if (run->stored) {
        turns_stage(run);
        if (rc < 0)
            turns_fail(engine, err); // the whole batch is gone
    } else if (LIKELY(rc == 0)) {
        shell_is_kept(run);
    } else {
        turns_drop(run, err);
    }
}

/* ---- 4 hand out, carry out ------------------------------------------------------------------------------- */

static void arm(rondo_run *run, const struct run_command *command)
{
    const uint64_t what[3] = { command->act | (uint64_t)command->gen << 32,
                               command->child | (uint64_t)command->ordinal << 32, command->timer };
    run->timers++;
    heap_push(&run->engine->timers, command->due_ns - run->ahead_ns, run, what);
}

static void carry_out(rondo_run *run)
{
    struct run *core = &run->core;
    run->engine->busy = true;
    for (uint32_t i = 0; i < core->command_count; i++) {
        struct run_command command = core->commands[i];
        switch ((enum command_type)command.type) {
        case CMD_INVOKE: task_invoke(run, command.act, command.gen); break;
        case CMD_REVOKE: task_revoke(run->engine, command.token); break;
        case CMD_TIMER: arm(run, &command); break;
        case CMD_ANSWER: task_answer(run, &command); break;
        }
    }
    core->command_count = 0;
    run->engine->busy = false;
}

void shell_let_go(rondo_engine *engine)
{
    if (!engine->turn_run)
        return;
    run_settle(&engine->turn_run->core);
    engine->turn_run = NULL;
    engine->turn.count = engine->turn.at = 0;
}

void shell_stop(rondo_run *run)
{
    if (run->ended)
        return;
    run->ended = true;
    later_listen(run, false);
    if (--run->engine->going == 0 && run->engine->store)
        store_let_go(run->engine->store);
    for (uint32_t i = 0; i < run->inbox_count; i++)
        json_decref(run->inbox[i].value);
    for (uint32_t i = 0; i < run->put_off_count; i++)
        json_decref(run->put_off[i].value);
    run->inbox_count = run->put_off_count = 0;
    run->core.command_count = 0;
}

void shell_drop(rondo_run *run)
{
    run->dropped = true;
    if (run->engine->turn_run == run)
        shell_let_go(run->engine);
    turns_forget(run);
    watch_forget(run);
    mailbox_forget(&run->engine->mail, run);
    shell_stop(run);
}

/* With the end of the run all work that was cancelled is told so at once. */
static void revoke_all(rondo_run *run)
{
    for (uint32_t i = 0; i < run->core.command_count; i++)
        if (run->core.commands[i].type == CMD_REVOKE)
            task_revoke(run->engine, run->core.commands[i].token);
}

void shell_is_kept(rondo_run *run)
{
    run->kept_seq = run->core.seq;
    if (!run->core.status)
        return;
    revoke_all(run);
    shell_stop(run);
}

static void take_turn(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    uint64_t before = run->core.seq;
    rondo_error err;
    turns_forget(run);
    turns_make_room(engine);
    engine->turn_run = run;
    int rc = hear_answers(run, &err);
    run->core.now_ns = shell_run_ns(run);
    engine->busy = true;
    while (rc == 0) {
        apply_inbox(run);
        rc = plan(run, &err);
        if (!run->inbox_count && !take_up_ends(run))
            break;
    }
    if (UNLIKELY(!run->hears) && !run->core.status)
        later_listen(run, true); // what it heard last keeps it going
    engine->busy = false;
    engine->turns++;
    keep(run, before, rc, &err);
}

/* May the commands of the last turn be carried out now? */
static bool may_go_on(const rondo_run *run)
{
    if (!run->has_cursor)
        return true;
    return !deliver_is_behind(run, run->pulled ? 0 : BEHIND_MAX);
}

bool shell_advance(rondo_run *run)
{
    bool did = false;
    if (UNLIKELY(run->staged))
        return false;
    if (UNLIKELY(run->urgent && !run->ended)) { // work that has not begun is then withdrawn
        run->urgent = false;
        take_turn(run);
        return true;
    }
    if (run->core.command_count && may_go_on(run)) {
        if (run->engine->turn_run == run)
            shell_let_go(run->engine);
        turns_forget(run);
        carry_out(run);
        did = true;
    }
    if (run->inbox_count && !run->core.command_count) {
        take_turn(run);
        did = true;
    }
    return did;
}

/* ---- waiting ------------------------------------------------------------------------------------------------ */

static void fire(rondo_engine *engine, const struct heap_entry *entry)
{
    rondo_run *run = entry->owner;
    uint64_t act = entry->what[0], place = entry->what[1];
    if (entry->what[2] == 0) { // a task that only waited
        task_time_is_up(engine, act);
        return;
    }
    run->timers--;
    if (run->zombie) {
        engine->zombie_timers--;
        return;
    }
    shell_happened(run, &(struct rondo_event){ .type = RONDO_EV_TIMER, .act = (uint32_t)act,
                                               .ordinal = (uint32_t)(act >> 32),
                                               .child = (uint32_t)place,
                                               .back = (uint32_t)(place >> 32),
                                               .code = (uint8_t)entry->what[2] });
}

static bool is_alive(const struct heap_entry *entry)
{
    const rondo_run *run = entry->owner;
    return !run || !run->zombie;
}

void shell_bury(rondo_engine *engine)
{
    if (engine->zombie_timers)
        heap_filter(&engine->timers, is_alive);
    engine->zombie_timers = 0;
    while (engine->zombies) {
        rondo_run *run = engine->zombies;
        engine->zombies = run->next;
        runs_recycle(run);
    }
}

static void fire_timers(rondo_engine *engine)
{
    const struct heap_entry *first = heap_first(&engine->timers);
    if (!first)
        return;
    int64_t now = shell_now_ns(engine);
    for (; first && first->due <= now; first = heap_first(&engine->timers)) {
        struct heap_entry entry = *first;
        heap_pop(&engine->timers);
        fire(engine, &entry);
    }
}

static uint32_t external_work(rondo_engine *engine)
{
    pthread_mutex_lock(&engine->mail.lock);
    uint32_t count = engine->mail.external;
    pthread_mutex_unlock(&engine->mail.lock);
    return count;
}

/* Virtual time stands still while another thread is at work, for a moment: one that never finishes
   must not stop the clock for good. */
static void wait_virtual(rondo_engine *engine, int64_t due_ns)
{
    const struct heap_entry *first = heap_first(&engine->timers);
    uint32_t external = external_work(engine);
    if (external || !first)
        loop_wait(engine->loop, first ? loop_now_ns(engine->loop) + 20 * MS
                                      : MIN(due_ns, loop_now_ns(engine->loop) + 1000 * MS));
    task_take_posts(engine);
    if (first && !engine->ready_first && external_work(engine) >= external)
        engine->virtual_ns = MAX(engine->virtual_ns, first->due);
}

/* Children, servers and threads that read files know nothing of virtual time: while one is at work, time goes as it
   does for them. */
static bool is_time_real(const rondo_engine *engine)
{
    return process_count(engine->loop) || http_count(engine->loop) || engine->looks;
}

static void wait_for_children(rondo_engine *engine, int64_t due_ns)
{
    const struct heap_entry *first = heap_first(&engine->timers);
    int64_t before = loop_now_ns(engine->loop);
    if (first)
        due_ns = MIN(due_ns, before + MAX(first->due - engine->virtual_ns, 1));
    loop_wait(engine->loop, due_ns);
    engine->virtual_ns += loop_now_ns(engine->loop) - before;
}

static void wait_for_something(rondo_engine *engine, int64_t due_ns)
{
    const struct heap_entry *first = heap_first(&engine->timers);
    if (due_ns == 0)
        loop_wait(engine->loop, 0);
    else if (engine->virtual_time && is_time_real(engine))
        wait_for_children(engine, due_ns);
    else if (engine->virtual_time)
        wait_virtual(engine, due_ns);
    else
        loop_wait(engine->loop, first ? MIN(due_ns, first->due) : due_ns);
}

/* When something outside was waited for, others are heard before it: who sends a message and then lets a step end
   finds it taken. */
void shell_service(rondo_engine *engine, int64_t due_ns)
{
    bool waits = !engine->ready_first;
    engine->turns = 0;
    wait_for_something(engine, waits ? MIN(due_ns, stored_next_look(engine)) : 0);
    stored_look(engine, waits);
    task_take_posts(engine);
    fire_timers(engine);
}

/* A run that waits for its reader is not ready: pulling it makes it go on. */
static void keep_ready(rondo_run *run)
{
    bool has_work = run->core.command_count ? may_go_on(run) : run->inbox_count != 0;
    if (!run->ended && !run->staged && (run->urgent || has_work))
        make_ready(run);
}

/* Runs whose turns are durable now go on. */
static void commit(rondo_engine *engine)
{
    rondo_run *run = engine->staged_first, *next;
    turns_commit(engine);
    for (; run; run = next) {
        next = run->next_staged;
        keep_ready(run);
    }
}

/* One turn for every run that is ready now, and one commit.  True when one of them did something. */
static bool advance_all(rondo_engine *engine)
{
    rondo_run *last = engine->ready_last, *run;
    bool did = false;
    while ((run = take_ready(engine))) {
        did = shell_advance(run) || did;
        keep_ready(run);
        if (run == last)
            break;
    }
    if (engine->staged_first)
        commit(engine);
    return did;
}

/* ---- the public side ------------------------------------------------------------------------------------------ */

int rondo_engine_new(const rondo_config *config, rondo_engine **ret, rondo_error *err)
{
    rondo_error scratch;
    rondo_config c;
    err = err ? err : &scratch;
    if (SPEC_COPY(c, config, "the config", RONDO_CONFIG, err) < 0)
        return err->code;
    if (c.max_concurrency < 0)
        return err_set(err, RONDO_EINVAL, "max_concurrency must be at least 0, got %d",
                       c.max_concurrency);
    rondo_engine *engine = mem_zalloc(sizeof *engine);
    peek_learn();
    if (loop_open(&engine->loop, err) < 0) {
        mem_free(engine);
        return err->code;
    }
    engine->seed = c.seed ? c.seed : loop_random();
    engine->virtual_time = c.virtual_time;
    engine->check_values = c.check_values;
    engine->max_concurrency = c.max_concurrency;
    engine->store = (struct store *)c.store;
    if (engine->store)
        store_on_busy(engine->store, stored_may_wait, engine);
    engine->virtual_ns = 1000000000ll * 1000000000ll; // a day in September 2001
    mailbox_init(&engine->mail);
    *ret = engine;
    return 0;
}

void rondo_engine_free(rondo_engine *engine)
{
    if (!engine)
        return;
    while (engine->runs)
        rondo_run_close(engine->runs);
    shell_bury(engine);
    runs_free_spare(engine);
    if (engine->store)
        store_on_busy(engine->store, NULL, NULL);
    process_kill_all(engine->loop); // their ends are still told to tokens that nobody has
    http_end_all(engine->loop);
    mailbox_clear(&engine->mail);
    mem_free(engine->by_id);
    heap_free(&engine->timers);
    loop_close(engine->loop);
    task_forget_values(engine);
    buf_free(&engine->task.path);
    buf_free(&engine->task.text);
    buf_free(&engine->record);
    buf_free(&engine->stamp);
    cel_scratch_free(engine->scratch);
    tzfile_free(engine->zones);
    turns_free(engine);
    mem_free(engine);
}

int rondo_engine_fd(rondo_engine *engine)
{
    return loop_fd(engine->loop);
}

int rondo_engine_timeout(rondo_engine *engine)
{
    const struct heap_entry *first = heap_first(&engine->timers);
    if (engine->ready_first || (first && engine->virtual_time))
        return 0;
    int64_t due = MIN(first ? first->due : INT64_MAX, stored_next_look(engine));
    if (due == INT64_MAX)
        return -1;
    loop_arm(engine->loop, due);
    int64_t rest = (due - shell_now_ns(engine) + MS - 1) / MS;
    return (int)MIN(MAX(rest, 0), INT32_MAX);
}

void rondo_engine_wake(rondo_engine *engine)
{
    loop_wake(engine->loop);
}

int rondo_engine_poll(rondo_engine *engine, int timeout_ms)
{
    if (engine->busy)
        return RONDO_ESTATE; // from inside a question or a function
    int64_t end = timeout_ms < 0 ? INT64_MAX : loop_now_ns(engine->loop) + timeout_ms * (int64_t)MS;
    shell_service(engine, 0);
    if (!advance_all(engine) && timeout_ms && engine->going)
        shell_service(engine, end);
    for (int i = 0; advance_all(engine) && i < 1000; i++)
        if (engine->turns >= TURNS_MAX)
            shell_service(engine, 0);
    return (int)engine->going;
}

/* Readers that fell behind while another run was pulled; or that wait for nothing but that. */
static const rondo_event *next_of_others(rondo_engine *engine)
{
    for (rondo_run *run = engine->runs; run; run = run->next) {
        const rondo_event *ev = run->has_cursor ? deliver_next(run) : NULL;
        if (ev)
            return ev;
        keep_ready(run);
    }
    return NULL;
}

/* What was committed together is handed out run by run. */
static const rondo_event *next_fresh(rondo_engine *engine)
{
    for (rondo_run *run; (run = turns_next_fresh(engine)); keep_ready(run)) {
        const rondo_event *ev = run->has_cursor ? deliver_next(run) : NULL;
        if (ev)
            return ev;
    }
    return NULL;
}

/* Is there nobody that anybody waits for? */
static bool are_left(const rondo_engine *engine)
{
    for (rondo_run *run = engine->runs; run; run = run->next)
        if (!run->ended && !run_is_left(&run->core))
            return false;
    return true;
}

const rondo_event *rondo_engine_next(rondo_engine *engine)
{
    bool waited = false;
    for (;;) {
        rondo_run *run = engine->turn_run;
        const rondo_event *ev = run && run->has_cursor ? deliver_next(run) : NULL;
        if (ev)
            return ev;
        if (run)
            keep_ready(run);
        if ((ev = next_fresh(engine)))
            return ev;
        if (engine->busy)
            return NULL;
        if (engine->turns < TURNS_MAX && (run = take_ready(engine))) {
            run->pulled = true;
            shell_advance(run);
            keep_ready(run);
            continue;
        }
        if (engine->staged_first) {
            commit(engine);
            continue;
        }
        if (!engine->ready_first && (ev = next_of_others(engine)))
            return ev;
        if (!engine->going || (are_left(engine) && waited))
            return NULL;
        shell_service(engine, are_left(engine) ? 0 : INT64_MAX);
        waited = true;
    }
}

/* Works until there is an event of this run, or it is over, or it is due_ns and there was nothing to
   do any more. */
static __attribute__((noinline)) const rondo_event *work_for(rondo_run *run, int64_t due_ns)
{
    rondo_engine *engine = run->engine;
    const rondo_event *ev;
    bool waited = false;
    run->pulled = true;
    for (;;) {
        if ((ev = deliver_fresh(run)) || (deliver_is_behind(run, 0) && (ev = deliver_next(run))))
            return ev;
        if (run->ended || engine->busy)
            return NULL;
        if (UNLIKELY(engine->turns >= TURNS_MAX)) {
            shell_service(engine, 0);
            advance_all(engine);
        } else if (!shell_advance(run) && !advance_all(engine)) {
            if (waited && (due_ns != INT64_MAX || run_is_left(&run->core)))
                return NULL;
            shell_service(engine, run_is_left(&run->core) ? 0 : due_ns);
            waited = true;
        } else if (run->staged) {
            advance_all(engine); // what others have to keep goes with it
        }
    }
}

const rondo_event *rondo_run_next(rondo_run *run)
{
    const rondo_event *ev = deliver_fresh(run);
    return LIKELY(ev) ? ev : work_for(run, INT64_MAX);
}

const rondo_event *shell_next(rondo_run *run, int64_t due_ns)
{
    const rondo_event *ev = deliver_fresh(run);
    return LIKELY(ev) ? ev : work_for(run, due_ns);
}

/* ---- runs come and go -------------------------------------------------------------------------------------------- */

void shell_free_run(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    if (run->staged)
        turns_commit(engine);
    if (engine->turn_run == run)
        shell_let_go(engine);
    turns_forget(run);
    turns_unlink(run);
    forget_ready(run);
    watch_forget(run);
    mailbox_forget(&engine->mail, run);
    shell_stop(run);
    later_unlink(run);
}
