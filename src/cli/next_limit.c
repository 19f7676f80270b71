/* next_limit.c - see next_limit.h. */
#include "cli/next_limit.h"

#include "cli/limit_option.h"
#include "cli/rows.h"
#include "data/duration.h"
#include "engine/shell.h"
#include "run/budget.h"
#include "run/limits.h"

#include <math.h>
#include <string.h>

/* Of items that failed in the same way it is said once. */
static void put_option(struct buf *out, const char *path, const char *key, int64_t used, int64_t most)
{
    auto_buf struct buf option = { 0 };
    bool is_known = limit_option_put(&option, path, key, MIN(MAX(used, 1), most / 2) * 2);
    if (is_known && !strstr(buf_text(out), buf_text(&option)))
        buf_put(out, option.data, option.len);
}

/* ---- of the whole run ------------------------------------------------------------------------------------- */

static const struct {
    uint8_t reason;
    int limit; // enum rondo_limit
    const char *key;
} budgets[] = {
    { RONDO_REASON_TOKENS, RONDO_LIMIT_TOKENS, "budget.tokens" },
    { RONDO_REASON_COST, RONDO_LIMIT_COST_NANO, "budget.cost" },
    { RONDO_REASON_CALLS, RONDO_LIMIT_CALLS, "budget.calls" },
    { RONDO_REASON_TIME, RONDO_LIMIT_TIME_MS, "budget.time" },
};

static void put_run(struct buf *out, struct run *core)
{
    const struct act *holder = run_act(core, 0);
    if (core->end_reason && holder->close != CLOSE_BUDGET) {
        put_option(out, "", "timeout", MAX(core->timeout_ns, act_elapsed_ns(core, holder)) / 1000000, INT64_MAX);
        return;
    }
    for (size_t i = 0; i < COUNT(budgets); i++)
        if (budgets[i].reason == core->end_reason)
            put_option(out, "", budgets[i].key,
                       MAX(budget_limit(&core->budget, core->end_reason), budget_used(core, holder, budgets[i].limit)),
                       INT64_MAX);
}

/* ---- of loops --------------------------------------------------------------------------------------------- */

struct offer {
    const struct run *run;
    struct buf *out;
};

static int64_t number_of(const json_t *bound)
{
    rondo_error ignored;
    int64_t ms = 0;
    if (json_is_string(bound))
        return duration_parse(json_string_value(bound), false, &ms, &ignored) == 0 ? ms : 0;
    return json_is_real(bound) ? llround(json_real_value(bound) * 1e9) : json_integer_value(bound);
}

/* Of a budget: its own.  One around it belongs to somebody else. */
static int64_t spent_by(const struct run *run, const struct row *row, int64_t bound)
{
    const rondo_usage *usage = &row->usage;
    int64_t all = budget_limit(&limits_of(run, row->node)->opts.budget, row->reason);
    if (!all || all != bound)
        return -1;
    return row->reason == RONDO_REASON_TOKENS  ? usage->input_tokens + usage->output_tokens
           : row->reason == RONDO_REASON_COST  ? usage->cost_nano
           : row->reason == RONDO_REASON_CALLS ? usage->calls
                                               : 0;
}

/* A loop that failed after too many failed passes, or that ran out of time, is tried again as it is. */
static void put_loop(void *user, const struct row *row)
{
    const struct offer *offer = user;
    struct buf *out = offer->out;
    const char *rule = json_string_value(json_object_get(row->end, "rule"));
    bool is_budget = rule && strncmp(rule, "budget.", 7) == 0;
    int64_t bound = number_of(json_object_get(row->end, "bound"));
    int64_t spent = is_budget ? spent_by(offer->run, row, bound) : 0;
    auto_buf struct buf path = { 0 }, plain = { 0 };
    if (!rule || !row_is_loop(row) || row->reason == RONDO_REASON_FAILED || strcmp(rule, "timeout") == 0 || spent < 0 ||
        bound <= 0)
        return;
    row_put_path(&path, row);
    path_put_plain(&plain, buf_text(&path));
    if (strcmp(rule, "maxIterations") == 0) // more than that, when the file has less by now
        spent = row->passes;
    put_option(out, buf_text(&plain), rule, MAX(bound, spent), is_budget ? INT64_MAX : INT32_MAX);
}

void next_limit_put(struct buf *out, rondo_run *run, const struct rows *rows)
{
    rows_origins(rows, put_loop, &(struct offer){ &run->core, out });
    put_run(out, &run->core);
}
