/* budget.c - usage adds up along the path to the root; limits are looked at where they are set. */
#include "run/budget.h"

#include "run/act.h"

#define MS 1000000ll // nanoseconds

const rondo_budget *budget_of(const struct run *run, const struct act *act)
{
    return act->slot ? &act->node->opts.budget : &run->budget; // slot 0 stands for the run
}

bool budget_is_set(const struct run *run, const struct act *act)
{
    const rondo_budget *b = &run->budget;
    return act->slot ? act->node->has_budget : b->time_ms || b->tokens || b->cost_nano || b->calls;
}

static void add(struct act *act, const rondo_usage *usage)
{
    if (!act->usage)
        act->usage = mem_zalloc(sizeof *act->usage);
    act->usage->input_tokens += usage->input_tokens;
    act->usage->output_tokens += usage->output_tokens;
    act->usage->cost_nano += usage->cost_nano;
    act->usage->calls += usage->calls;
}

void budget_spend(struct run *run, struct act *act, const rondo_usage *usage)
{
    for (;; act = run_act(run, act->parent)) {
        add(act, usage);
        if (budget_is_set(run, act))
            run_touch(run, act);
        if (!act->slot)
            return;
    }
}

int64_t budget_used(const struct run *run, const struct act *act, int limit)
{
    const rondo_usage *u = act->usage;
    switch (limit) {
    case RONDO_LIMIT_TIME_MS: return act_elapsed_ns(run, act) / MS;
    case RONDO_LIMIT_TOKENS: return u ? u->input_tokens + u->output_tokens : 0;
    case RONDO_LIMIT_COST_NANO: return u ? u->cost_nano : 0;
    case RONDO_LIMIT_CALLS: return u ? u->calls : 0;
    default: return 0;
    }
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

int budget_reason(const struct run *run, const struct act *act)
{
    static const struct {
        int limit, reason;
    } rows[] = {
        { RONDO_LIMIT_TOKENS, RONDO_REASON_TOKENS },
        { RONDO_LIMIT_COST_NANO, RONDO_REASON_COST },
        { RONDO_LIMIT_CALLS, RONDO_REASON_CALLS },
        { RONDO_LIMIT_TIME_MS, RONDO_REASON_TIME },
    };
    if (LIKELY(!budget_is_set(run, act)))
        return 0;
    for (size_t i = 0; i < COUNT(rows); i++) {
        int64_t limit = limit_of(budget_of(run, act), rows[i].limit);
        if (limit && budget_used(run, act, rows[i].limit) >= limit)
            return rows[i].reason;
    }
    return 0;
}

int64_t budget_left(struct run *run, const struct act *act, int limit)
{
    int64_t left = INT64_MAX;
    for (;; act = run_act(run, act->parent)) {
        int64_t max = limit_of(budget_of(run, act), limit);
        if (max)
            left = MIN(left, MAX(max - budget_used(run, act, limit), 0));
        if (!act->slot)
            return left;
    }
}
