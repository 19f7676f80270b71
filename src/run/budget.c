/* budget.c - usage adds up along the path to the root; limits are looked at where they are set. */
#include "run/budget.h"

#include "run/act.h"
#include "run/limits.h"
#include "run/usage.h"

static const struct {
    int limit, reason;
} reasons[] = {
    { RONDO_LIMIT_TOKENS, RONDO_REASON_TOKENS },
    { RONDO_LIMIT_COST_NANO, RONDO_REASON_COST },
    { RONDO_LIMIT_CALLS, RONDO_REASON_CALLS },
    { RONDO_LIMIT_TIME_MS, RONDO_REASON_TIME },
};

/* ---- ledgers ------------------------------------------------------------------------------------------- */

static const rondo_usage nothing;

const rondo_usage *ledger_spent(const struct ledger *ledger)
{
    return ledger ? &ledger->spent : &nothing;
}

const rondo_usage *ledger_lost(const struct ledger *ledger)
{
    return ledger ? &ledger->lost : &nothing;
}

struct ledger *ledger_carry(const struct ledger *ledger)
{
    if (!ledger)
        return NULL;
    struct ledger *next = mem_zalloc(sizeof *next); // refused calls are its own business
    next->spent = ledger->spent;
    next->lost = ledger->lost;
    next->waived = ledger->waived;
    next->time_ns = ledger->time_ns;
    next->until_ns = ledger->until_ns;
    return next;
}

static struct ledger *ledger_at(struct act *act)
{
    if (!act->ledger)
        act->ledger = mem_zalloc(sizeof *act->ledger);
    return act->ledger;
}

void budget_spend(struct run *run, struct act *act, const rondo_usage *usage)
{
    for (;; act = run_act(run, act->parent)) {
        usage_add(&ledger_at(act)->spent, usage);
        if (budget_is_set(run, act))
            run_touch(run, act);
        if (!act->slot)
            return;
    }
}

void budget_hold(struct run *run, struct act *act, const rondo_usage *most)
{
    for (;; act = run_act(run, act->parent)) {
        usage_add(&ledger_at(act)->held, most);
        act->ledger->open++;
        if (!act->slot)
            return;
    }
}

void budget_release(struct run *run, struct act *act, const rondo_usage *most, bool lost)
{
    for (;; act = run_act(run, act->parent)) {
        usage_take(&act->ledger->held, most);
        act->ledger->open--;
        if (lost)
            usage_add(&act->ledger->lost, most);
        if (budget_is_set(run, act))
            run_touch(run, act);
        if (!act->slot)
            return;
    }
}

/* ---- limits --------------------------------------------------------------------------------------------- */

const rondo_budget *budget_of(const struct run *run, const struct act *act)
{
    return act->slot ? &limits_of(run, act->node)->opts.budget : &run->budget; // slot 0 stands for the run
}

bool budget_is_set(const struct run *run, const struct act *act)
{
    const rondo_budget *b = &run->budget;
    return act->slot ? act->node->has_budget : b->time_ms || b->tokens || b->cost_nano || b->calls;
}

static int64_t amount(const rondo_usage *u, int limit)
{
    switch (limit) {
    case RONDO_LIMIT_TOKENS: return u->input_tokens + u->output_tokens;
    case RONDO_LIMIT_COST_NANO: return u->cost_nano;
    case RONDO_LIMIT_CALLS: return u->calls;
    default: return 0;
    }
}

static int64_t time_of(const struct ledger *ledger, int64_t elapsed_ns)
{
    return ledger ? ledger->time_ns + elapsed_ns : elapsed_ns;
}

/* How much of a limit is used, by what the ledger says and by a time since then. */
static int64_t used_of(const struct ledger *ledger, int64_t elapsed_ns, int limit)
{
    if (limit == RONDO_LIMIT_TIME_MS)
        return time_of(ledger, elapsed_ns) / MS;
    return ledger ? amount(&ledger->spent, limit) + amount(&ledger->lost, limit) - amount(&ledger->waived, limit) : 0;
}

int64_t budget_used(const struct run *run, const struct act *act, int limit)
{
    return used_of(act->ledger, act_elapsed_ns(run, act), limit);
}

static int64_t held(const struct act *act, int limit)
{
    return act->ledger ? amount(&act->ledger->held, limit) : 0;
}

static int64_t limit_of(const rondo_budget *b, int limit)
{
    switch (limit) {
    case RONDO_LIMIT_TIME_MS: return b->time_ms;
    case RONDO_LIMIT_TOKENS: return b->tokens;
    case RONDO_LIMIT_COST_NANO: return b->cost_nano;
    case RONDO_LIMIT_CALLS: return b->calls;
    default: return 0;
    }
}

int64_t budget_limit(const rondo_budget *budget, int reason)
{
    for (size_t i = 0; i < COUNT(reasons); i++)
        if (reasons[i].reason == reason)
            return limit_of(budget, reasons[i].limit);
    return 0;
}

static int spent_reason(const rondo_budget *budget, const struct ledger *ledger, int64_t elapsed_ns)
{
    if (ledger && ledger->refused)
        return ledger->refused;
    for (size_t i = 0; i < COUNT(reasons); i++) {
        int64_t limit = limit_of(budget, reasons[i].limit);
        if (limit && used_of(ledger, elapsed_ns, reasons[i].limit) >= limit)
            return reasons[i].reason;
    }
    return 0;
}

int budget_reason(const struct run *run, const struct act *act)
{
    if (LIKELY(!budget_is_set(run, act)))
        return 0;
    return spent_reason(budget_of(run, act), act->ledger, act_elapsed_ns(run, act));
}

int64_t budget_end_ns(const struct run *run, const struct act *act)
{
    return run->now_ns + budget_of(run, act)->time_ms * MS - time_of(act->ledger, act_elapsed_ns(run, act));
}

/* A log may say that time jumps to and fro. */
static void add_time(struct ledger *ledger, int64_t ns)
{
    ledger->time_ns = MAX(0, MIN(ledger->time_ns + ns, (int64_t)TIME_MAX_NS));
}

void budget_go_on(const struct run *run, struct act *act, const struct kid *kid)
{
    if (!act->ledger || !act->node->opts.budget.time_ms)
        return;
    if (act->attempt > kid->base)
        add_time(act->ledger, run_driven_ns(run) - act->ledger->until_ns);
    else if (kid->reopened)
        act->ledger->time_ns = 0;
}

void budget_end_try(const struct run *run, struct act *act)
{
    if (LIKELY(!act->node->opts.budget.time_ms))
        return;
    add_time(ledger_at(act), act_elapsed_ns(run, act));
    act->ledger->until_ns = run_driven_ns(run);
}

bool budget_allows_again(struct run *run, struct act *parent, const rondo_node *node, const struct kid *kid,
                         int64_t wait_ns)
{
    const struct ledger *ledger = kid->res.more ? kid->res.more->ledger : NULL;
    if (node->has_budget && spent_reason(&limits_of(run, node)->opts.budget, ledger, wait_ns))
        return false;
    for (;; parent = run_act(run, parent->parent)) {
        if (budget_reason(run, parent))
            return false;
        if (!parent->slot)
            return true;
    }
}

struct act *budget_spent_loop(struct run *run, struct act *act)
{
    if (LIKELY(!run_act(run, 0)->ledger)) // time has its timer
        return NULL;
    for (; act->slot; act = run_act(run, act->parent))
        if (node_is_loop(act->node) && !act->close && budget_reason(run, act))
            return act;
    return NULL;
}

int budget_lacks(const struct run *run, const struct act *act, const rondo_usage *most)
{
    for (size_t i = 0; i < COUNT(reasons); i++) {
        int what = reasons[i].limit;
        int64_t limit = limit_of(budget_of(run, act), what), more = amount(most, what);
        if (limit && more && budget_used(run, act, what) + held(act, what) + more > limit)
            return reasons[i].reason;
    }
    return 0;
}

void budget_refuse(struct run *run, struct act *act, struct act *owner, int reason)
{
    ledger_at(owner)->refused = (uint8_t)reason;
    ledger_at(act)->is_short = owner != act;
    run_touch(run, owner);
}

void budget_forgive(struct act *act)
{
    if (act->ledger)
        act->ledger->refused = 0;
}

void budget_renew(struct run *run, struct act *act)
{
    budget_forgive(act);
    if (!act->slot || !budget_reason(run, act))
        return;
    struct ledger *ledger = ledger_at(act);
    ledger->time_ns = -act_elapsed_ns(run, act); // it begins now
    ledger->waived = ledger->spent;
    usage_add(&ledger->waived, &ledger->lost);
}

int64_t budget_left(struct run *run, const struct act *act, int limit)
{
    int64_t left = INT64_MAX;
    for (;; act = run_act(run, act->parent)) {
        int64_t max = limit_of(budget_of(run, act), limit);
        if (max)
            left = MIN(left, MAX(max - budget_used(run, act, limit) - held(act, limit), 0));
        if (!act->slot)
            return left;
    }
}
