/* test_overspend.c - no budget is ever overspent, whatever happens.

   A seed makes a tree of containers with budgets at any level and agents that reserve before they call.  Calls
   cost what they may at most or less; some agents fail, some never settle.  The process dies a few times, or
   somebody cancels the run.  After every event:

   - in every budget, what was spent, is held and was lost is within the limit (M2);
   - what a ledger holds is what the calls under way in it have reserved, and nothing else.

   At the end the run has spent to the last billionth what its calls have cost (M1): what was settled in all
   its lives, once (M3); and the same events follow from its log. */
#include "../callers.h"

#include "engine/shell.h"
#include "run/budget.h"
#include "run/reserve.h"
#include "run/usage.h"

#include <stdlib.h>
#include <string.h>

#define CALLERS_MAX 24

/* ---- chance ------------------------------------------------------------------------------------------ */

static uint64_t state;

static unsigned dice(unsigned sides)
{
    state += 0x9e3779b97f4a7c15ull;
    uint64_t x = (state ^ state >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return (unsigned)((x ^ x >> 31) % sides);
}

static rondo_usage some_usage(void)
{
    return (rondo_usage){ .input_tokens = 1 + dice(40), .output_tokens = dice(40), .cost_nano = dice(5000),
                          .calls = 1, .cache_read_tokens = dice(10), .unpriced = dice(20) == 0 };
}

/* Sometimes as much as it may be, sometimes nothing: the call was not made. */
static rondo_usage less_than(const rondo_usage *most)
{
    if (dice(4) == 0)
        return *most;
    if (dice(8) == 0)
        return (rondo_usage){ 0 };
    return (rondo_usage){ .input_tokens = dice((unsigned)most->input_tokens + 1),
                          .output_tokens = dice((unsigned)most->output_tokens + 1),
                          .cost_nano = dice((unsigned)most->cost_nano + 1), .calls = 1,
                          .unpriced = most->unpriced };
}

/* ---- trees ------------------------------------------------------------------------------------------- */

static struct caller callers[CALLERS_MAX];
static char names[CALLERS_MAX * 8][16];
static struct bot idle = { "idle", ECHO };
static int made, named;
static bool is_wild; // agents fail

static void on_some_grant(struct caller *c)
{
    c->real = less_than(&c->most);
    if (is_wild && dice(12) == 0)
        rondo_later_fail(c->later, RONDO_EFAILED, "by chance");
    else if (!c->forgets)
        c->most = some_usage();
}

static rondo_options some_options(void)
{
    rondo_options options = { 0 };
    if (dice(3) == 0)
        options.budget.tokens = 20 + dice(400);
    if (dice(5) == 0)
        options.budget.cost_nano = 1000 + dice(30000);
    if (dice(5) == 0)
        options.budget.calls = 1 + dice(12);
    if (dice(4) == 0)
        options.retry = (rondo_retry){ .attempts = 2 };
    return options;
}

static const char *new_name(char letter)
{
    CHECK(named < CALLERS_MAX * 8);
    snprintf(names[named], sizeof *names, "%c%d", letter, named);
    return names[named++];
}

static rondo_node *some_caller(void)
{
    struct caller *c = &callers[made++];
    *c = (struct caller){ .name = new_name('c'), .count = 1 + (int)dice(4), .ms = dice(9), .most = some_usage(),
                          .on_grant = on_some_grant, .options = some_options() };
    c->forgets = c->count == 1 && dice(6) == 0;
    return caller_node(c);
}

static rondo_node *some_node(int depth);

static rondo_node *some_container(int depth)
{
    rondo_node *children[6] = { 0 };
    unsigned count = 1 + dice(4);
    for (unsigned i = 0; i < count; i++)
        children[i] = some_node(depth - 1);
    if (dice(3))
        return rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = new_name('p'), .children = children,
                                                      .mode = RONDO_COLLECT, .options = some_options() });
    return rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, .name = new_name('s'), .children = children,
                                                  .options = some_options() });
}

static rondo_node *some_node(int depth)
{
    if (made == CALLERS_MAX)
        return LOOP(new_name('i'), bot_node(&idle), .max_iterations = 1);
    if (depth == 0 || dice(4) == 0)
        return some_caller();
    if (dice(4))
        return some_container(depth);
    return LOOP(new_name('l'), some_container(depth), .max_iterations = 3, .options = some_options());
}

/* ---- what must hold ------------------------------------------------------------------------------------ */

static uint64_t seed;
static rondo_usage settled; // in all lives of the run

static void check_limit(const struct act *act, int64_t max, int64_t n, const char *what)
{
    if (max && n > max)
        FAIL("seed %llu: %s of slot %u: %lld of %lld", (unsigned long long)seed, what, act->slot, (long long)n,
             (long long)max);
}

static int64_t tokens_in(const rondo_usage *u)
{
    return u->input_tokens + u->output_tokens;
}

static void check_budget(struct run *run, const struct act *act)
{
    const rondo_budget *budget = budget_of(run, act);
    const struct ledger *l = act->ledger;
    check_limit(act, budget->tokens, tokens_in(&l->spent) + tokens_in(&l->held) + tokens_in(&l->lost), "tokens");
    check_limit(act, budget->cost_nano, l->spent.cost_nano + l->held.cost_nano + l->lost.cost_nano, "cost");
    check_limit(act, budget->calls, l->spent.calls + l->held.calls + l->lost.calls, "calls");
}

static bool is_in(struct run *run, uint32_t slot, const struct act *around)
{
    while (slot != around->slot && slot)
        slot = run_act(run, slot)->parent;
    return slot == around->slot;
}

static void check_held(struct run *run, const struct act *act)
{
    rondo_usage held = { 0 };
    uint32_t open = 0;
    for (uint32_t i = 0; i < run->reserve_count; i++) {
        if (!run->reserves[i].held || !is_in(run, run->reserves[i].act, act))
            continue;
        usage_add(&held, &run->reserves[i].most);
        open++;
    }
    if (open != act->ledger->open || memcmp(&held, &act->ledger->held, sizeof held) != 0)
        FAIL("seed %llu: slot %u holds something else", (unsigned long long)seed, act->slot);
}

static void check_all(rondo_run *run)
{
    struct run *core = &run->core;
    for (uint32_t i = 0; i < core->act_count; i++) {
        struct act *act = core->acts[i];
        if (act->state == ACT_FREE || !act->ledger)
            continue;
        check_budget(core, act);
        check_held(core, act);
    }
}

static void note_settled(struct trial *t, const rondo_event *ev)
{
    if (rondo_event_type(ev) == RONDO_EV_SETTLED) {
        rondo_usage usage = usage_from(rondo_event_value(ev));
        usage_add(&settled, &usage);
    }
    check_all(t->run);
}

/* ---- one run --------------------------------------------------------------------------------------------- */

static uint64_t events, crashes, grants, refusals;

static void count_events(struct trial *t)
{
    events += (uint64_t)t->events;
    grants += (uint64_t)count(t, "budget_granted");
    refusals += (uint64_t)count(t, "budget_refused");
}

/* Drives the run for some events or to its end; what it was saved as then is the caller's. */
static bool live(struct trial *t, bool dies, char **ret_log, size_t *ret_len)
{
    int most = dies ? 1 + (int)dice(60) : -1;
    bool more = true;
    while (t->events != most && (more = trial_next(t)))
        if (is_wild && dice(400) == 0)
            rondo_run_cancel(t->run, "by chance");
    *ret_log = rondo_run_save(t->run, ret_len);
    count_events(t);
    return more;
}

static void check_end(struct trial *t, const char *log, size_t len)
{
    rondo_usage spent = *ledger_spent(run_act(&t->run->core, 0)->ledger);
    if (memcmp(&spent, &settled, sizeof spent) != 0)
        FAIL("seed %llu: the run says it has spent %lld nano-dollars, its calls have cost %lld",
             (unsigned long long)seed, (long long)spent.cost_nano, (long long)settled.cost_nano);
    if (seed % 8 == 0 && rondo_run_replay(t->engine, t->node, log, len, &t->err) < 0)
        FAIL("seed %llu: %s", (unsigned long long)seed, t->err.message);
}

static void try_seed(uint64_t number)
{
    char *log = NULL;
    size_t len;
    seed = number;
    state = number * 7919;
    made = named = 0;
    settled = (rondo_usage){ 0 };
    is_wild = dice(2);
    rondo_node *node = some_container(3);
    rondo_options limits = some_options();
    unsigned lives = 1 + (dice(3) ? 0 : dice(4));
    for (unsigned life = 1; life <= lives; life++) {
        TRIAL t = { .on_event = note_settled, .options = { RONDO_RUN, .budget = limits.budget } };
        if (life == 1) {
            trial_start(&t, rondo_node_ref(node), "0");
            CHECK_STR(t.rc < 0 ? t.err.message : "", "");
        } else {
            trial_engine(&t);
            t.node = rondo_node_ref(node);
            CHECK_INT(rondo_run_recover(t.engine, node, log, len, NULL, &t.run, &t.err), 0);
            crashes++;
        }
        rondo_text_free(log);
        bool more = live(&t, life < lives, &log, &len);
        if (!more || life == lives) {
            check_end(&t, log, len);
            break;
        }
    }
    rondo_text_free(log);
    rondo_node_unref(node);
}

TEST(no_budget_is_overspent_whatever_happens)
{
    const char *only = getenv("SEED"), *how_many = getenv("SEEDS");
    uint64_t first = only ? strtoull(only, NULL, 10) : 1;
    uint64_t runs = only ? 1 : how_many ? strtoull(how_many, NULL, 10) : getenv("RONDO_TORTURE") ? 100000 : 400;
    for (uint64_t i = first; i < first + runs; i++)
        try_seed(i);
    if (getenv("RONDO_TORTURE"))
        printf("%llu runs, %llu crashes, %llu events, %llu calls granted, %llu refused, 0 overspent\n",
               (unsigned long long)runs, (unsigned long long)crashes, (unsigned long long)events,
               (unsigned long long)grants, (unsigned long long)refusals);
    CHECK(only || (crashes && refusals > runs / 10 && grants > runs));
}
