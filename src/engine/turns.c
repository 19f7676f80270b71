/* turns.c - turns that wait to become durable.

   A run whose journal is in a store appends its turn and is staged: nothing of the turn is shown or done
   before the store has committed.  Runs that have something to do at the same time join that commit, so
   that a hundred of them cost one.  While a turn waits, the next run's takes the engine's place for
   events; the one that waits is put aside in its run and comes back to be handed out.  */
#include "engine/shell.h"

#include "store/store.h"

/* ---- putting aside ---------------------------------------------------------------------------------------- */

static struct turn spare_turn(rondo_engine *engine)
{
    return engine->spare_turn_count ? engine->spare_turns[--engine->spare_turn_count]
                                    : (struct turn){ 0 };
}

static void keep_memory(rondo_engine *engine, struct turn *turn)
{
    if (turn->events) {
        mem_grow(&engine->spare_turns, &engine->spare_turn_cap, engine->spare_turn_count,
                 sizeof *engine->spare_turns);
        engine->spare_turns[engine->spare_turn_count++] = (struct turn){ turn->events, .cap = turn->cap };
    }
    *turn = (struct turn){ 0 };
}

void turns_make_room(rondo_engine *engine)
{
    rondo_run *run = engine->turn_run;
    if (!run || LIKELY(!run->staged)) {
        shell_let_go(engine);
        return;
    }
    run->aside = engine->turn;
    engine->turn = spare_turn(engine);
    engine->turn_run = NULL;
}

void turns_bring_back(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    shell_let_go(engine);
    keep_memory(engine, &engine->turn);
    engine->turn = run->aside;
    engine->turn_run = run;
    run->aside = (struct turn){ 0 };
}

void turns_forget(rondo_run *run)
{
    if (LIKELY(!run->aside.events))
        return;
    keep_memory(run->engine, &run->aside);
    run_settle(&run->core);
}

void turns_free(rondo_engine *engine)
{
    for (uint32_t i = 0; i < engine->spare_turn_count; i++)
        mem_free(engine->spare_turns[i].events);
    mem_free(engine->spare_turns);
    mem_free(engine->turn.events);
}

/* ---- the commit --------------------------------------------------------------------------------------------- */

void turns_stage(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    run->staged = true;
    run->next_staged = NULL;
    if (engine->staged_last)
        engine->staged_last->next_staged = run;
    else
        engine->staged_first = run;
    engine->staged_last = run;
    engine->staged_count++;
}

/* The list stays linked, for whoever wants to go through it once more. */
static rondo_run *unstage_all(rondo_engine *engine)
{
    rondo_run *first = engine->staged_first;
    for (rondo_run *run = first; run; run = run->next_staged)
        run->staged = false;
    engine->staged_first = engine->staged_last = NULL;
    engine->staged_count = 0;
    return first;
}

/* A run that nobody reads has no use for its events any more. */
static void make_fresh(rondo_run *run)
{
    rondo_engine *engine = run->engine;
    if (!run->aside.count)
        return;
    if (!run->has_cursor) {
        turns_forget(run);
        return;
    }
    if (run->fresh)
        return;
    run->fresh = true;
    run->next_fresh = NULL;
    if (engine->fresh_last)
        engine->fresh_last->next_fresh = run;
    else
        engine->fresh_first = run;
    engine->fresh_last = run;
}

void turns_commit(rondo_engine *engine)
{
    rondo_error err;
    if (engine->store && store_commit(engine->store, &err) < 0) {
        turns_fail(engine, &err);
        return;
    }
    for (rondo_run *run = unstage_all(engine); run; run = run->next_staged) {
        shell_is_kept(run);
        make_fresh(run);
    }
}

/* State that is ahead of the journal is worth nothing; what the journal has can still be read. */
void turns_drop(rondo_run *run, const rondo_error *err)
{
    run->error = mem_alloc(sizeof *run->error);
    *run->error = *err;
    shell_drop(run);
    run->core.seq = run->kept_seq;
}

void turns_fail(rondo_engine *engine, const rondo_error *err)
{
    if (engine->store)
        store_rollback(engine->store);
    for (rondo_run *run = unstage_all(engine); run; run = run->next_staged)
        turns_drop(run, err);
}

void turns_unlink(rondo_run *gone)
{
    rondo_engine *engine = gone->engine;
    rondo_run *before = NULL, *at = gone->fresh ? engine->fresh_first : NULL;
    for (; at && at != gone; at = at->next_fresh)
        before = at;
    if (!at)
        return;
    if (before)
        before->next_fresh = gone->next_fresh;
    else
        engine->fresh_first = gone->next_fresh;
    if (engine->fresh_last == gone)
        engine->fresh_last = before;
}

rondo_run *turns_next_fresh(rondo_engine *engine)
{
    rondo_run *run = engine->fresh_first;
    if (!run)
        return NULL;
    engine->fresh_first = run->next_fresh;
    if (!engine->fresh_first)
        engine->fresh_last = NULL;
    run->fresh = false;
    return run;
}
