/* end_text.c - see end_text.h.  A row for each reason has the rule's key and what is said about it. */
#include "run/end_text.h"

#include "data/duration.h"
#include "data/money.h"
#include "data/utf8.h"
#include "data/value.h"
#include "run/budget.h"
#include "run/loop.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#define TEXT_MAX 80           // bytes of an expression that are shown
#define RULE_MAX 16           // and of the name of a rule

/* ---- amounts --------------------------------------------------------------------------------------------- */

static void put_count(struct buf *out, int64_t n, const char *one)
{
    const char *many = one[strlen(one) - 1] == 's' ? "es" : "s";
    buf_printf(out, "%" PRId64 " %s%s", n, one, n == 1 ? "" : many);
}

/* ---- budgets ---------------------------------------------------------------------------------------------- */

static int64_t tokens_of(const rondo_usage *usage)
{
    return usage->input_tokens + usage->output_tokens;
}

static int64_t cost_of(const rondo_usage *usage)
{
    return usage->cost_nano;
}

static int64_t calls_of(const rondo_usage *usage)
{
    return usage->calls;
}

static const struct limit {
    uint8_t reason;
    int64_t (*of)(const rondo_usage *); // NULL: nobody counts it, and all of it is used
    const char *unit;                   // NULL: see put_amount()
} limits[] = {
    { RONDO_REASON_TOKENS, tokens_of, "tokens" },
    { RONDO_REASON_COST, cost_of, NULL },
    { RONDO_REASON_CALLS, calls_of, "calls" },
    { RONDO_REASON_TIME, NULL, NULL },
};

static void put_amount(struct buf *out, const struct limit *limit, int64_t n)
{
    if (limit->unit)
        buf_printf(out, "%" PRId64, n);
    else if (limit->of)
        money_put(out, n, MONEY_SAID);
    else
        duration_put(out, n);
}

static const struct limit *limit_of(const struct loop_end *end)
{
    for (size_t i = 0; end->budget && i < COUNT(limits); i++)
        if (limits[i].reason == end->reason && budget_limit(end->budget, end->reason))
            return &limits[i];
    return NULL;
}

static void put_budget(struct buf *out, const struct loop_end *end)
{
    const struct limit *limit = limit_of(end);
    if (!limit) {
        buf_printf(out, "the %s was used up", rondo_reason_text(end->reason));
        return;
    }
    int64_t all = budget_limit(end->budget, end->reason), more = limit->of && end->asked ? limit->of(end->asked) : 0;
    int64_t spent = !limit->of ? all : end->spent ? limit->of(end->spent) : 0;
    put_amount(out, limit, spent);
    buf_puts(out, " of ");
    put_amount(out, limit, all);
    buf_printf(out, "%s%s spent", limit->unit ? " " : "", limit->unit ? limit->unit : "");
    if (more && more > all - spent) {
        buf_printf(out, ", the next call may %s ", limit->unit ? "take" : "cost");
        put_amount(out, limit, more);
    }
}

static json_t *time_text(int64_t ms)
{
    auto_buf struct buf text = { 0 };
    duration_put(&text, ms);
    return json_string(buf_text(&text));
}

static json_t *budget_bound(const struct loop_end *end)
{
    int64_t all = limit_of(end) ? budget_limit(end->budget, end->reason) : 0;
    if (!all)
        return NULL;
    if (end->reason == RONDO_REASON_COST)
        return json_real((double)all / MONEY_NANO);
    return end->reason == RONDO_REASON_TIME ? time_text(all) : json_integer(all);
}

/* ---- the rules ---------------------------------------------------------------------------------------------- */

static void put_behind(struct buf *out, const char *what, const struct loop_end *end)
{
    buf_printf(out, "%s pass %u", what, end->passes);
}

static void put_until(struct buf *out, const struct loop_end *end)
{
    put_behind(out, "it held after", end);
}

static void put_judge(struct buf *out, const struct loop_end *end)
{
    put_behind(out, "it said done after", end);
}

static void put_next(struct buf *out, const struct loop_end *end)
{
    bool is_machine = end->node->kind == RONDO_KIND_MACHINE;
    put_behind(out, is_machine ? "the end was reached after" : "there was no next input after", end);
}

static void put_while(struct buf *out, const struct loop_end *end)
{
    buf_printf(out, "it did not hold before pass %u", end->passes + 1);
}

static void put_break(struct buf *out, const struct loop_end *end)
{
    put_behind(out, "a step ended the loop in", end);
}

static void put_items(struct buf *out, const struct loop_end *end)
{
    put_count(out, end->passes, "item");
}

static void put_plateau(struct buf *out, const struct loop_end *end)
{
    buf_puts(out, "no gain");
    if (end->best >= 0)
        buf_printf(out, " over %g", end->gain_from);
    buf_puts(out, " for ");
    put_count(out, end->node->loop.patience, "pass");
}

static void put_stalled(struct buf *out, const struct loop_end *end)
{
    const struct node_loop *loop = &end->node->loop;
    if (!loop->watcher)
        buf_printf(out, "the same output %d times in a row", loop->stall_repeats);
    else
        buf_printf(out, "no file changed%s in %d passes in a row",
                   loop->watches_words ? ", and the output was the same," : "", loop->stall_repeats);
}

static void put_oscillating(struct buf *out, const struct loop_end *end)
{
    buf_printf(out, "two outputs took turns %d times", end->node->loop.oscillation);
}

static void put_cap(struct buf *out, const struct loop_end *end)
{
    put_behind(out, "it was reached after", end);
}

/* The step's own error says why: "until of loop 'x' failed in pass 3: ...". */
static void put_rule_failed(struct buf *out, const struct loop_end *end)
{
    const char *of = end->error ? strstr(end->error, " of ") : NULL;
    size_t len = of && of - end->error < RULE_MAX ? (size_t)(of - end->error) : 0;
    buf_printf(out, "%.*s failed after pass %u", len ? (int)len : 6, len ? end->error : "a rule", end->passes);
}

static void put_failed(struct buf *out, const struct loop_end *end)
{
    if (end->node->kind == RONDO_KIND_EACH)
        buf_puts(out, "an item failed");
    else if (end->failures > 1)
        buf_printf(out, "%u failed passes in a row", end->failures);
    else if (end->failures)
        buf_printf(out, "pass %u failed", end->passes);
    else
        put_rule_failed(out, end);
}

static void put_cancelled(struct buf *out, const struct loop_end *end)
{
    buf_puts(out, "while ");
    if (end->node->kind == RONDO_KIND_EACH)
        buf_puts(out, "items were at work");
    else
        buf_printf(out, "pass %u was at work", end->passes + 1);
}

/* ---- the table ---------------------------------------------------------------------------------------------- */

enum bound { NO_BOUND, BOUND_INT, BOUND_WIDE, BOUND_TEXT, BOUND_BUDGET };

static const struct row {
    const char *rule; // its key in a file; NULL: nobody wrote it
    const char *word; // for people, that the sentence begins with; NULL: the reason's
    void (*put)(struct buf *, const struct loop_end *);
    uint8_t bound; // enum bound: what stands at `at` of struct node_loop
    size_t at;
    bool is_short; // the loop stopped though what it waits for was not true
} rows[] = {
#define AT(type, member) BOUND_##type, offsetof(struct node_loop, member)
    [RONDO_REASON_UNTIL] = { "until", NULL, put_until, AT(TEXT, texts.until) },
    [RONDO_REASON_JUDGE] = { "untilAgent", NULL, put_judge, AT(TEXT, texts.judge) },
    [RONDO_REASON_NEXT] = { "next", NULL, put_next, AT(TEXT, texts.next) },
    [RONDO_REASON_WHILE] = { "while", NULL, put_while, AT(TEXT, texts.while_) },
    [RONDO_REASON_BREAK] = { NULL, NULL, put_break },
    [RONDO_REASON_ITEMS] = { "forEach", NULL, put_items },
    [RONDO_REASON_PLATEAU] = { "patience", NULL, put_plateau, AT(INT, patience), true },
    [RONDO_REASON_TOKENS] = { "budget.tokens", "budget", put_budget, BOUND_BUDGET, 0, true },
    [RONDO_REASON_COST] = { "budget.cost", "budget", put_budget, BOUND_BUDGET, 0, true },
    [RONDO_REASON_CALLS] = { "budget.calls", "budget", put_budget, BOUND_BUDGET, 0, true },
    [RONDO_REASON_TIME] = { "budget.time", "budget", put_budget, BOUND_BUDGET, 0, true },
    [RONDO_REASON_STALLED] = { "stall.repeats", NULL, put_stalled, AT(INT, stall_repeats), true },
    [RONDO_REASON_OSCILLATING] = { "stall.repeats", NULL, put_oscillating, AT(INT, stall_repeats), true },
    [RONDO_REASON_MAX_ITERATIONS] = { "maxIterations", "cap", put_cap, AT(WIDE, cap), true },
    [RONDO_REASON_FAILED] = { "maxFailures", NULL, put_failed, AT(INT, max_failures) },
    [RONDO_REASON_CANCELLED] = { NULL, NULL, put_cancelled },
#undef AT
};

static bool is_each(const struct loop_end *end)
{
    return end->node->kind == RONDO_KIND_EACH;
}

/* A failure that is not one too many has no rule, nor has what only the whole knows. */
static bool has_rule(const struct loop_end *end)
{
    bool is_counted = !is_each(end) && end->failures && end->node->loop.on_error == RONDO_ERROR_CONTINUES;
    return end->reason < COUNT(rows) && rows[end->reason].rule && (end->reason != RONDO_REASON_FAILED || is_counted);
}

/* Time is a budget's, or a timeout's. */
static bool is_timeout(const struct loop_end *end)
{
    return end->reason == RONDO_REASON_TIME && !limit_of(end);
}

const char *end_rule(const struct loop_end *end)
{
    return !has_rule(end) ? "" : is_timeout(end) ? "timeout" : rows[end->reason].rule;
}

json_t *end_bound(const struct loop_end *end)
{
    const struct row *row = &rows[has_rule(end) ? end->reason : 0];
    const char *at = (const char *)&end->node->loop + row->at;
    if (is_timeout(end))
        return end->timeout_ms ? time_text(end->timeout_ms) : NULL;
    switch (row->bound) {
    case BOUND_INT: return json_integer(*(const int *)at);
    case BOUND_WIDE: return json_integer(*(const int64_t *)at);
    case BOUND_TEXT: return *(char *const *)at ? json_string(*(char *const *)at) : NULL;
    case BOUND_BUDGET: return budget_bound(end);
    default: return NULL;
    }
}

/* ---- the sentence --------------------------------------------------------------------------------------------- */

const char *end_goal(const rondo_node *node)
{
    if (!node_is_loop(node) || node->kind == RONDO_KIND_MACHINE)
        return NULL;
    bool has_node = node->count > ROLE_UNTIL && node->children[ROLE_UNTIL].node;
    return node->loop.until || has_node                                        ? "until"
           : node->count > ROLE_JUDGE && node->children[ROLE_JUDGE].node ? "untilAgent"
                                                                               : NULL;
}

bool end_waits(const struct loop_end *end)
{
    return end_goal(end->node) != NULL;
}

bool end_is_short(const struct loop_end *end)
{
    return end->reason < COUNT(rows) && rows[end->reason].is_short && end_goal(end->node);
}

/* A loop that one thing in several passes made what it is names the one whose answer counts. */
static void put_best(struct buf *out, const struct loop_end *end)
{
    if (node_is_loop(end->node) && end->best >= 0 && end->best + 1 != end->passes)
        buf_printf(out, "; best: pass %" PRId64, end->best + 1);
}

static void put_bound(struct buf *out, const struct loop_end *end)
{
    auto_json json_t *bound = rows[end->reason].bound == BOUND_BUDGET && !is_timeout(end) ? NULL : end_bound(end);
    if (!bound)
        return;
    auto_buf struct buf text = { 0 };
    value_put_content(&text, bound);
    size_t line = strcspn(buf_text(&text), "\n"), len = utf8_fit(buf_text(&text), line, TEXT_MAX);
    buf_printf(out, " (%s: %.*s%s)", end_rule(end), (int)len, buf_text(&text), len < text.len ? "..." : "");
}

const char *end_word(int reason)
{
    bool has_row = reason > 0 && (size_t)reason < COUNT(rows) && reason != RONDO_REASON_TIME; // or a timeout's
    return has_row && rows[reason].word ? rows[reason].word : rondo_reason_text(reason);
}

void end_put(struct buf *out, const struct loop_end *end)
{
    const struct row *row = end->reason < COUNT(rows) ? &rows[end->reason] : &rows[0];
    if (!row->put) {
        buf_puts(out, rondo_reason_text(end->reason));
        return;
    }
    buf_printf(out, "%s: ", row->word && !is_timeout(end) ? row->word : rondo_reason_text(end->reason));
    row->put(out, end);
    put_bound(out, end);
    put_best(out, end);
    if (end_is_short(end))
        buf_printf(out, "; %s did not hold", end_goal(end->node));
}
