/* limits.c - see limits.h.  A row for each limit says where a node has it, and what is used of it. */
#include "run/limits.h"

#include "data/duration.h"
#include "run/act.h"
#include "run/budget.h"
#include "run/detect.h"
#include "run/loop.h"

#include <inttypes.h>
#include <string.h>

#define NANO 1000000000ll // of a dollar

static int64_t passes(struct run *run, const struct act *act)
{
    return act->loop->history.count;
}

static int64_t failures(struct run *run, const struct act *act)
{
    return act->loop->failures;
}

static int64_t no_gain(struct run *run, const struct act *act)
{
    return act->loop->no_gain;
}

static int64_t repeats(struct run *run, const struct act *act)
{
    return act->loop->repeats;
}

static int64_t elapsed_ms(struct run *run, const struct act *act)
{
    return (run_driven_ns(run) - act_kid(run, act)->first_ns) / MS;
}

static int64_t budget_ms(struct run *run, const struct act *act)
{
    return budget_used(run, act, RONDO_LIMIT_TIME_MS);
}

static int64_t tokens(struct run *run, const struct act *act)
{
    return budget_used(run, act, RONDO_LIMIT_TOKENS);
}

static int64_t cost(struct run *run, const struct act *act)
{
    return budget_used(run, act, RONDO_LIMIT_COST_NANO);
}

static int64_t calls(struct run *run, const struct act *act)
{
    return budget_used(run, act, RONDO_LIMIT_CALLS);
}

static const struct limit {
    const char *key, *name; // in options; in files
    size_t at;    // in the node
    bool is_loop; // only loops have it, as an int; the others are int64_t
    int64_t (*used)(struct run *run, const struct act *act);
} rows[] = {
#define AT(member) offsetof(rondo_node, member)
    { "maxIterations", "maxIterations", AT(loop.cap), false, passes },
    { "maxFailures", "maxFailures", AT(loop.max_failures), true, failures },
    { "patience", "patience", AT(loop.patience), true, no_gain },
    { "stallRepeats", "stall.repeats", AT(loop.stall_repeats), true, repeats },
    { "timeoutMs", "timeout", AT(opts.timeout_ms), false, elapsed_ms },
    { "budgetMs", "budget.time", AT(opts.budget.time_ms), false, budget_ms },
    { "budgetTokens", "budget.tokens", AT(opts.budget.tokens), false, tokens },
    { "budgetNano", "budget.cost", AT(opts.budget.cost_nano), false, cost },
    { "budgetCalls", "budget.calls", AT(opts.budget.calls), false, calls },
#undef AT
};
#define OF_LOOPS 4 // the first ones

static const struct limit *row_of(const char *key, bool of_run)
{
    for (size_t i = of_run ? OF_LOOPS : 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].key, key) == 0)
            return &rows[i];
    return NULL;
}

/* As a file has it. */
static void put_value(struct buf *out, const struct limit *row, int64_t value)
{
    if (row->used == cost)
        buf_printf(out, "%.9g", (double)value / NANO);
    else if (row->used == elapsed_ms || row->used == budget_ms)
        duration_put(out, value);
    else
        buf_printf(out, "%" PRId64, value);
}

static int64_t value_of(const rondo_node *node, const struct limit *row)
{
    const char *at = (const char *)node + row->at;
    bool has_it = row >= rows + OF_LOOPS || node_is_loop(node);
    return !has_it ? 0 : row->is_loop ? *(const int *)at : *(const int64_t *)at;
}

static void set(rondo_node *node, const struct limit *row, int64_t value)
{
    char *at = (char *)node + row->at;
    if (row->is_loop)
        *(int *)at = (int)value;
    else
        *(int64_t *)at = value;
    if (row->at == offsetof(rondo_node, loop.stall_repeats) && node->loop.oscillation)
        node->loop.oscillation = (int)MIN(value, OSCILLATION_MAX);
}

/* ---- finding ------------------------------------------------------------------------------------------- */

static const rondo_node *find_changed(const struct run *run, const rondo_node *node, uint64_t seq)
{
    for (uint32_t i = run->limited_count; i--;)
        if (run->limited[i].node == node && run->limited[i].seq <= seq)
            return &run->limited[i].changed;
    return node;
}

const rondo_node *limits_find_changed(const struct run *run, const rondo_node *node)
{
    return find_changed(run, node, UINT64_MAX);
}

/* A change counts more than what the definition said; of definitions the oldest one that was still there. */
static const struct past_limit *find_past(const struct run *run, const rondo_node *node, uint32_t row, uint64_t seq)
{
    const struct past_limit *found = NULL;
    for (uint32_t i = 0; i < run->past_limit_count; i++) {
        const struct past_limit *past = &run->past_limits[i];
        if (past->node == node && past->row == row && past->from <= seq && seq <= past->upto &&
            (!found || past->from > found->from))
            found = past;
    }
    return found;
}

const rondo_node *limits_at(const struct run *run, const rondo_node *node, uint64_t seq, rondo_node *room)
{
    const rondo_node *found = find_changed(run, node, seq);
    for (uint32_t row = 0; row < COUNT(rows) && run->past_limit_count; row++) {
        const struct past_limit *past = find_past(run, node, row, seq);
        if (past && found != room)
            *room = *found;
        if (past)
            set(room, &rows[row], past->value);
        found = past ? room : found;
    }
    return found;
}

/* Names are joined by dots; a body without one stands for what is in it. */
static const rondo_node *find_below(const rondo_node *node, const char *path)
{
    const rondo_node *found = NULL;
    for (uint32_t i = 0; i < node->count && !found; i++) {
        const struct node_child *child = &node->children[i];
        size_t len = child->name ? strlen(child->name) : 0;
        if (!child->node || strncmp(path, child->name ? child->name : "", len) != 0)
            continue;
        if (len && !path[len])
            return child->node;
        if (!len || path[len] == '.')
            found = find_below(child->node, path + len + (len > 0));
    }
    return found;
}

const rondo_node *limits_node_in(const rondo_node *holder, const char *path)
{
    auto_buf struct buf plain = { 0 };
    path_put_plain(&plain, path);
    return find_below(holder, buf_text(&plain));
}

const rondo_node *limits_node(const struct run *run, const char *path)
{
    return limits_node_in(run->holder, path);
}

int64_t limits_value(const rondo_node *node, const char *key)
{
    const struct limit *row = row_of(key, false);
    return row ? value_of(node, row) : 0;
}

/* The path of the first node below that has this limit. */
static bool find_limited(const rondo_node *node, const struct limit *row, struct buf *path)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const struct node_child *child = &node->children[i];
        size_t len = path->len;
        if (!child->node)
            continue;
        if (child->name && *child->name)
            buf_printf(path, "%s%s", len ? "." : "", child->name);
        if (value_of(child->node, row) > 0 || find_limited(child->node, row, path))
            return true;
        path->len = len;
    }
    return false;
}

/* ---- what was ---------------------------------------------------------------------------------------------- */

static void add_past(struct run *run, struct past_limit past)
{
    mem_grow(&run->past_limits, &run->past_limit_cap, run->past_limit_count, sizeof *run->past_limits);
    run->past_limits[run->past_limit_count++] = past;
}

static void add_was(json_t *list, const rondo_node *below, const rondo_node *now, struct buf *path, uint64_t upto)
{
    for (uint32_t i = 0; i < below->count; i++) {
        const struct node_child *child = &below->children[i];
        size_t len = path->len;
        if (!child->node)
            continue;
        if (child->name && *child->name)
            buf_printf(path, "%s%s", len ? "." : "", child->name);
        const rondo_node *node = path->len > len ? find_below(now, buf_text(path)) : NULL;
        auto_json json_t *limits = json_object();
        for (size_t row = 0; node && row < COUNT(rows); row++)
            if (value_of(child->node, &rows[row]) != value_of(node, &rows[row]))
                json_object_set_new(limits, rows[row].key, json_integer(value_of(child->node, &rows[row])));
        if (json_object_size(limits))
            json_array_append_new(list, json_pack("{s:s, s:I, s:O}", "path", buf_text(path), "upto",
                                                  (json_int_t)upto, "limits", limits));
        add_was(list, child->node, now, path, upto);
        path->len = len;
    }
}

void limits_add_was(json_t *list, const rondo_node *old, const rondo_node *now, uint64_t upto)
{
    auto_buf struct buf path = { 0 };
    add_was(list, old, now, &path, upto);
}

void limits_read_was(struct run *run, const json_t *list)
{
    size_t i;
    const json_t *one;
    json_array_foreach(list, i, one) {
        const char *path = json_string_value(json_object_get(one, "path")), *key;
        const rondo_node *node = path && *path ? limits_node(run, path) : NULL;
        json_t *value;
        json_object_foreach(json_object_get(one, "limits"), key, value) {
            const struct limit *row = node ? row_of(key, false) : NULL;
            if (row && json_is_integer(value) && (row >= rows + OF_LOOPS || node_is_loop(node)))
                add_past(run, (struct past_limit){ node, (uint32_t)(row - rows), 0,
                                                   (uint64_t)json_integer_value(json_object_get(one, "upto")),
                                                   json_integer_value(value) });
        }
    }
}

void limits_cut_was(struct run *run, uint64_t seq)
{
    for (uint32_t i = 0; i < run->past_limit_count; i++)
        run->past_limits[i].upto = MIN(run->past_limits[i].upto, seq);
}

const rondo_budget *limits_budget_at(const struct run *run, uint64_t seq)
{
    for (uint32_t i = 0; i < run->past_budget_count; i++)
        if (seq <= run->past_budgets[i].upto)
            return &run->past_budgets[i].budget;
    return &run->budget;
}

void limits_keep_budget(struct run *run, const rondo_budget *before)
{
    if (run->seq <= 1 || memcmp(before, &run->budget, sizeof *before) == 0)
        return;
    mem_grow(&run->past_budgets, &run->past_budget_cap, run->past_budget_count, sizeof *run->past_budgets);
    run->past_budgets[run->past_budget_count++] = (struct past_budget){ run->seq, *before };
}

/* ---- checking --------------------------------------------------------------------------------------------- */

static bool is_number(const json_t *value, const struct limit *row)
{
    int64_t n = json_integer_value(value);
    int64_t most = INT64_MAX / 1024 / (row->used == cost ? 1 : MS);
    if (row->is_loop || row == rows)
        most = INT32_MAX;
    return json_is_integer(value) && n >= 1 && n <= most;
}

static int refuse_key(const struct run *run, const char *key, bool of_run, rondo_error *err)
{
    const struct limit *row = row_of(key, false);
    auto_buf struct buf path = { 0 };
    if (!row || !of_run || !find_limited(run->holder, row, &path))
        return err_set(err, RONDO_EINVAL, "there is no limit '%.60s' that could be changed%s", row ? row->name : key,
                       of_run ? " for the whole run" : "");
    return err_set(err, RONDO_EINVAL, "%s is a limit of a loop: name it, as in %s:%s", row->name, buf_text(&path),
                   row->name);
}

int limits_check(const struct run *run, const rondo_node *node, const json_t *limits, rondo_error *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)limits, key, value) {
        const struct limit *row = row_of(key, !node);
        if (!row)
            return refuse_key(run, key, !node, err);
        if (!is_number(value, row))
            return err_set(err, RONDO_EINVAL, "%s: expected a number of at least 1 that is not too large", row->name);
        if (node && value_of(limits_of(run, node), row) <= 0)
            return err_set(err, RONDO_EINVAL, "%s '%s' has no %s", rondo_kind_text(node->kind), node->name, row->name);
    }
    return 0;
}

static int refuse_used(const struct limit *row, int64_t value, int64_t used, rondo_error *err)
{
    auto_buf struct buf text = { 0 };
    buf_printf(&text, "%s ", row->name);
    put_value(&text, row, value);
    buf_puts(&text, " is used up already: expected more than ");
    put_value(&text, row, used);
    return err_set(err, RONDO_ESTATE, "%s", buf_text(&text));
}

int limits_check_left(struct run *run, const rondo_node *node, const json_t *limits, rondo_error *err)
{
    const char *key;
    json_t *value;
    for (uint32_t slot = node ? 1 : 0; slot < (node ? run->act_count : 1); slot++) {
        const struct act *act = run_act(run, slot);
        if (act->state == ACT_FREE || (node && act->node != node))
            continue;
        json_object_foreach((json_t *)limits, key, value) {
            const struct limit *row = row_of(key, !node);
            bool is_time = !slot && row->used == elapsed_ms;
            int64_t used = is_time ? act_elapsed_ns(run, act) / MS : row->used(run, act);
            if (json_integer_value(value) <= used)
                return refuse_used(row, json_integer_value(value), used, err);
        }
    }
    return 0;
}

/* ---- the event -------------------------------------------------------------------------------------------- */

static const char *path_of(const json_t *value)
{
    return json_string_value(json_object_get(value, "path"));
}

/* Those that no later version of the definition has said otherwise; new. */
static json_t *limits_that_count(const json_t *value)
{
    const json_t *over = json_object_get(value, "over"), *limits = json_object_get(value, "limits");
    json_t *left = json_object(), *limit;
    const char *key;
    json_object_foreach((json_t *)limits, key, limit)
        if (!json_object_get(over, key))
            json_object_set(left, key, limit);
    return left;
}

bool limits_admits(struct run *run, const struct rondo_event *ev)
{
    rondo_error err;
    const char *path = path_of(ev->value);
    auto_json json_t *limits = limits_that_count(ev->value);
    if (!json_is_object(json_object_get(ev->value, "limits")))
        return false;
    const rondo_node *node = path && *path ? limits_node(run, path) : NULL;
    return path && (!*path || node) && limits_check(run, node, limits, &err) == 0;
}

static rondo_node *changed_copy(struct run *run, const rondo_node *node, uint64_t seq)
{
    const rondo_node now = *limits_of(run, node);
    mem_grow(&run->limited, &run->limited_cap, run->limited_count, sizeof *run->limited);
    struct limited *limited = &run->limited[run->limited_count++];
    *limited = (struct limited){ node, now, seq };
    return &limited->changed;
}

void limits_apply(struct run *run, struct rondo_event *ev)
{
    auto_json json_t *limits = limits_that_count(ev->value);
    const char *path = path_of(ev->value), *key;
    const rondo_node *node = *path ? limits_node(run, path) : NULL;
    rondo_node *changed = node ? changed_copy(run, node, ev->seq) : NULL;
    json_t *value;
    run->has_new_limits = true;
    if (!node)
        run_read_limits(run, limits);
    json_object_foreach(limits, key, value)
        if (node)
            set(changed, row_of(key, false), json_integer_value(value));
    json_object_foreach(json_object_get(ev->value, "over"), key, value) {
        const struct limit *row = node && json_is_integer(value) ? row_of(key, false) : NULL;
        if (row && (row >= rows + OF_LOOPS || node_is_loop(node)))
            add_past(run, (struct past_limit){
                              node, (uint32_t)(row - rows), ev->seq, (uint64_t)json_integer_value(value),
                              json_integer_value(json_object_get(json_object_get(ev->value, "limits"), key)) });
    }
    for (uint32_t slot = 0; slot < run->act_count; slot++) {
        struct act *act = run_act(run, slot);
        if (act->state == ACT_FREE || (node ? act->node != node : slot > 0))
            continue;
        budget_forgive(act);
        if (node && json_object_get(limits, "stallRepeats"))
            detect_widen(act, &changed->loop);
        run_touch(run, act);
    }
    run_drop(run, ev->value);
}
