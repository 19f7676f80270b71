/* reserve.c - see reserve.h. */
#include "run/reserve.h"

#include "run/act.h"
#include "run/budget.h"

#include <string.h>

struct reserve *reserve_find(const struct run *run, uint32_t act, int64_t number)
{
    for (uint32_t i = 0; i < run->reserve_count; i++)
        if (run->reserves[i].act == act && run->reserves[i].number == number)
            return &run->reserves[i];
    return NULL;
}

bool reserve_is_held(const struct run *run, uint32_t act, int64_t number)
{
    const struct reserve *reserve = reserve_find(run, act, number);
    return reserve && reserve->held;
}

/* There may be room now, or one more who wants it: all are looked at from the first one on. */
static void look_again(struct run *run)
{
    run->reserve_at = 0;
    run->reserve_round++;
}

static void drop(struct run *run, struct reserve *reserve)
{
    uint32_t at = (uint32_t)(reserve - run->reserves);
    memmove(reserve, reserve + 1, (run->reserve_count - at - 1) * sizeof *reserve);
    run->reserve_count--;
    look_again(run);
}

/* ---- events --------------------------------------------------------------------------------------------- */

void reserve_ask(struct run *run, const struct act *act, int64_t number, const rondo_usage *most)
{
    mem_grow(&run->reserves, &run->reserve_cap, run->reserve_count, sizeof *run->reserves);
    run->reserves[run->reserve_count++] = (struct reserve){ act->slot, number, *most, false };
    look_again(run);
}

void reserve_grant(struct run *run, struct act *act, int64_t number)
{
    struct reserve *reserve = reserve_find(run, act->slot, number);
    if (!reserve || reserve->held)
        return;
    reserve->held = true;
    budget_hold(run, act, &reserve->most);
}

void reserve_refuse(struct run *run, struct act *act, int64_t number, struct act *owner, int reason)
{
    struct reserve *reserve = reserve_find(run, act->slot, number);
    if (!reserve || reserve->held)
        return;
    drop(run, reserve);
    budget_refuse(run, act, owner, reason);
}

void reserve_settle(struct run *run, struct act *act, int64_t number, const rondo_usage *real)
{
    struct reserve *reserve = reserve_find(run, act->slot, number);
    if (reserve && reserve->held) {
        budget_release(run, act, &reserve->most, false);
        drop(run, reserve);
    }
    budget_spend(run, act, real);
}

static void end_one(struct run *run, struct act *act, struct reserve *reserve)
{
    if (reserve->held)
        budget_release(run, act, &reserve->most, true);
    drop(run, reserve);
}

void reserve_end(struct run *run, struct act *act)
{
    for (uint32_t i = run->reserve_count; i-- > 0;)
        if (run->reserves[i].act == act->slot)
            end_one(run, act, &run->reserves[i]);
}

void reserve_lose(struct run *run)
{
    while (run->reserve_count) {
        struct reserve *last = &run->reserves[run->reserve_count - 1];
        end_one(run, run_act(run, last->act), last);
    }
}

void reserve_forget(struct run *run)
{
    run->reserve_count = 0;
}

/* ---- planning -------------------------------------------------------------------------------------------- */

/* Goes outwards from act: the next activation that has a budget, itself included; NULL. */
static struct act *next_budget(struct run *run, struct act *act)
{
    while (!budget_is_set(run, act)) {
        if (!act->slot)
            return NULL;
        act = run_act(run, act->parent);
    }
    return act;
}

static struct act *budget_around(struct run *run, const struct act *act)
{
    return act->slot ? next_budget(run, run_act(run, act->parent)) : NULL;
}

/* The budget in which there is no room for this call and, with nothing held, never will be; NULL. */
static struct act *find_refuser(struct run *run, const struct reserve *reserve, int *ret_reason)
{
    struct act *act = next_budget(run, run_act(run, reserve->act));
    for (; act; act = budget_around(run, act)) {
        bool refuses = act->ledger && act->ledger->refused;
        bool is_open = act->ledger && act->ledger->open;
        int reason = budget_reason(run, act);
        *ret_reason = reason ? reason : budget_lacks(run, act, &reserve->most);
        if (refuses || (*ret_reason && !is_open))
            return act;
    }
    return NULL;
}

/* Has to wait for room: it, or who came before it. */
static bool must_wait(struct run *run, const struct reserve *reserve)
{
    struct act *act = next_budget(run, run_act(run, reserve->act));
    bool waits = false;
    for (; act; act = budget_around(run, act)) {
        if (!act->ledger)
            continue; // nothing is held there
        if (budget_reason(run, act) || budget_lacks(run, act, &reserve->most)) {
            act->ledger->blocked = run->reserve_round;
            waits = true;
        }
        waits |= act->ledger->blocked == run->reserve_round;
    }
    return waits;
}

static enum plan decide_on(struct run *run, const struct reserve *reserve, int type, struct rondo_event *ev)
{
    decide(run_act(run, reserve->act), type, ev);
    ev->num = reserve->number;
    return PLAN_DECIDE;
}

enum plan reserve_plan(struct run *run, struct rondo_event *ev)
{
    int reason;
    for (; run->reserve_at < run->reserve_count; run->reserve_at++) {
        const struct reserve *reserve = &run->reserves[run->reserve_at];
        if (reserve->held)
            continue;
        struct act *refuser = find_refuser(run, reserve, &reason);
        if (refuser) {
            decide_on(run, reserve, RONDO_EV_REFUSED, ev);
            ev->code = (uint8_t)reason;
            ev->ordinal = refuser->slot;
            return PLAN_DECIDE;
        }
        if (!must_wait(run, reserve))
            return decide_on(run, reserve, RONDO_EV_GRANTED, ev);
    }
    return PLAN_IDLE;
}
