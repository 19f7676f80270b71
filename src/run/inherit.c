/* inherit.c - see inherit.h. */
#include "run/inherit.h"

#include "run/act.h"
#include "run/budget.h"
#include "run/limits.h"
#include "run/mend.h"
#include "run/reserve.h"
#include "run/usage.h"

/* Nothing was spent, and no time has passed. */
static void begin_anew(struct run *run, struct act *act)
{
    if (!act->slot)
        usage_add(&run->inherited, ledger_spent(act->ledger));
    mem_free(TAKE(act->ledger));
    if (run->mends)
        mend_forget_costs(act);
    act->idle_ns = run->idle_ns - (run->now_ns - act->start_ns);
}

/* Who took the run's input as it is takes the new one. */
static void set_input(struct run *run, struct act *act, const json_t *old, uint64_t seq)
{
    if (act->input != old || act->owns_input)
        return;
    act->input = run->input;
    act->input_seq = seq;
}

/* The old one stays: somebody may have borrowed a part of it. */
static void replace_input(struct run *run, json_t *input, uint64_t seq)
{
    json_t *old = run->input;
    if (!run->old_inputs)
        run->old_inputs = json_array();
    json_array_append_new(run->old_inputs, old);
    run->input = json_incref(input);
    for (uint32_t i = 0; i < run->act_count; i++)
        if (run->acts[i]->state != ACT_FREE)
            set_input(run, run->acts[i], old, seq);
}

void inherit_apply(struct run *run, struct rondo_event *ev)
{
    json_t *input = json_object_get(ev->value, "input"), *state = json_object_get(ev->value, "state");
    json_decref(run->within);
    run->within = json_incref(json_object_get(ev->value, "within"));
    run->idle_ns += ev->num;
    run->forked_ns = ev->time_ns;
    if (json_object_get(ev->value, "migrated"))
        run->migrated = ev->seq;
    limits_cut_was(run, ev->seq - 1);
    limits_read_was(run, json_object_get(ev->value, "was"));
    reserve_forget(run);
    for (uint32_t i = 0; i < run->act_count; i++)
        if (run->acts[i]->state != ACT_FREE)
            begin_anew(run, run->acts[i]);
    if (input)
        replace_input(run, input, ev->seq);
    if (json_is_object(state))
        run_set_state(run, &run->state, state);
    run_drop(run, ev->value);
}

int64_t inherit_length_ns(const struct run *run, int64_t start_ns, int64_t end_ns)
{
    bool is_own = end_ns >= run->forked_ns;
    return MAX(end_ns - (is_own ? MAX(start_ns, run->forked_ns) : start_ns), 0);
}
