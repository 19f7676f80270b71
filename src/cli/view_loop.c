/* view_loop.c - see view_loop.h. */
#include "cli/view_loop.h"

#include "base/arena.h"
#include "cli/view.h"
#include "run/end_text.h"

#define BAR_MAX    10  // cells of a progress bar
#define BAR_NARROW 5   // and of one of a loop where there is little room
#define NARROW     100 // columns

/* Full only when all is done, and empty when nothing is. */
static void put_bar(struct buf *out, uint64_t n, uint64_t of, uint64_t most)
{
    uint64_t cells = MIN(of, most), full = of <= most ? n : (uint64_t)((double)n / (double)of * (double)most);
    buf_putc(out, '[');
    for (uint64_t i = 0; i < cells; i++)
        buf_putc(out, i < full ? '#' : '.');
    buf_putc(out, ']');
}

/* ---- passes and scores -------------------------------------------------------------------------------- */

static bool is_narrow(const struct line *line)
{
    return line->term->width < NARROW;
}

/* "▁▃▅▆ 8.5 ★p4 +0.5": the last scores, the best one with its pass, and the last gain. */
static void put_scores(struct line *line, const struct row *row)
{
    const struct passes *past = &row->past;
    const struct pass_seen *last = passes_last(past);
    if (!past->has_best)
        return;
    line_gap(line, STYLE_CYAN);
    passes_put_scores(&line->text, past, line->term->is_utf8);
    line_style(line, STYLE_NONE);
    buf_putc(&line->text, ' ');
    view_put_score(&line->text, past->best_score);
    line_add(line, STYLE_NONE, " ");
    line_style(line, STYLE_GREEN);
    buf_printf(&line->text, "%sp%lld", passes_star(line->term->is_utf8), (long long)past->best + 1);
    if (!row_is_open(row) || !last || !last->has_gain)
        return;
    line_add(line, STYLE_NONE, " ");
    line_style(line, last->gain > 0 ? STYLE_GREEN : STYLE_DIM);
    passes_put_gain(&line->text, last->gain);
}

void view_loop_put_passes(struct line *line, const struct row *row)
{
    struct buf *out = &line->text;
    int64_t cap = row->cap;
    bool open = row_is_open(row);
    if (row->pass < 0 && !row->passes)
        return;
    line_gap(line, row_is_short(row) ? STYLE_YELLOW : STYLE_NONE);
    if (!open) {
        view_put_passes(out, row->passes, row->reason);
        if (row_is_short(row))
            buf_printf(out, "; %s did not hold", end_goal(row->node));
    } else {
        buf_printf(out, "pass %lld", (long long)row->pass + 1);
    }
    if (open && cap != RONDO_UNBOUNDED)
        buf_printf(out, "/%lld", (long long)cap);
    if (open && cap != RONDO_UNBOUNDED && !(is_narrow(line) && row->node->has_budget)) {
        buf_putc(out, ' ');
        put_bar(out, (uint64_t)row->pass, (uint64_t)cap, BAR_MAX);
    }
    put_scores(line, row);
    if (open && row->past.failed && !row->past.has_best) { // else the scores have an x for it
        line_gap(line, STYLE_RED);
        buf_printf(out, "%u failed", row->past.failed);
    }
    if (open && row->next_ns > line->view->now_ns && !line->view->idle) {
        line_gap(line, STYLE_YELLOW);
        buf_puts(out, "next in ");
        view_put_time(out, (row->next_ns - line->view->now_ns + 999 * MS) / (1000 * MS) * (1000 * MS));
    }
}

/* ---- budgets of loops --------------------------------------------------------------------------------------- */

struct spent {
    int64_t used, of;
    void (*put)(struct buf *out, int64_t n);
    const char *unit;
};

static void put_ms(struct buf *out, int64_t ms)
{
    view_put_time(out, ms < 1000 ? ms * MS : ms / 1000 * 1000 * MS);
}

/* The limit that comes first, as it seems now. */
static bool find_tightest(const struct line *line, const struct row *row, struct spent *ret)
{
    const rondo_budget *budget = &row->node->opts.budget;
    const rondo_usage *now = &row->usage, *then = &row->start_usage;
    int64_t now_ns = rows_driven_ns(line->view->rows, line->view->now_ns);
    const struct spent all[] = {
        { now->cost_nano - then->cost_nano, budget->cost_nano, view_put_cost, "" },
        { now->input_tokens + now->output_tokens - then->input_tokens - then->output_tokens, budget->tokens,
          view_put_amount, " tokens" },
        { now->calls - then->calls, budget->calls, view_put_amount, " calls" },
        { row_elapsed_ns(row, now_ns) / MS, budget->time_ms, put_ms, "" },
    };
    double most = -1;
    for (size_t i = 0; i < COUNT(all); i++) {
        if (all[i].of <= 0 || (double)all[i].used / (double)all[i].of <= most)
            continue;
        most = (double)all[i].used / (double)all[i].of;
        *ret = all[i];
    }
    return most >= 0;
}

void view_loop_put_budget(struct line *line, const struct row *row, rondo_usage *usage)
{
    struct spent spent = { 0 };
    if (!row_is_open(row) || !find_tightest(line, row, &spent))
        return;
    line_gap(line, spent.used * 10 >= spent.of * 9 ? STYLE_YELLOW : STYLE_NONE);
    put_bar(&line->text, (uint64_t)MIN(MAX(spent.used, 0), spent.of), (uint64_t)MAX(spent.of, BAR_MAX + 1),
            is_narrow(line) ? BAR_NARROW : BAR_MAX);
    buf_putc(&line->text, ' ');
    spent.put(&line->text, spent.used);
    buf_puts(&line->text, " of ");
    spent.put(&line->text, spent.of);
    buf_puts(&line->text, spent.unit);
    if (spent.put == view_put_cost)
        usage->cost_nano = 0;
    if (spent.of == row->node->opts.budget.tokens)
        usage->input_tokens = usage->output_tokens = 0;
}

/* ---- items -------------------------------------------------------------------------------------------------- */

static bool is_asking(const struct row *row)
{
    bool is = row->state == ROW_ASKING;
    for (uint32_t i = 0; i < row->kid_count && !is && row_is_open(row); i++)
        is = row->kids[i] && is_asking(row->kids[i]);
    return is;
}

void view_loop_put_items(struct line *line, const struct row *row)
{
    static const uint8_t shown[] = { ROW_FAILED, ROW_ASKING, ROW_RETRYING, ROW_RUNNING, ROW_PENDING };
    struct buf *out = &line->text;
    uint64_t ended = row->done + row->failed, counts[ROW_CANCELLED + 1] = { [ROW_FAILED] = row->failed };
    bool is_open = row_is_open(row);
    if (row->state == ROW_PENDING || !row->items)
        return;
    line_gap(line, STYLE_NONE);
    if (is_open) {
        buf_printf(out, "items %llu/%llu", (unsigned long long)ended, (unsigned long long)row->items);
        buf_putc(out, ' ');
        put_bar(out, ended, row->items, BAR_MAX);
        counts[ROW_PENDING] = row->items - MIN(row->items, row->begun);
    } else {
        buf_printf(out, "%llu of %llu items", (unsigned long long)row->done,
                   (unsigned long long)row->items);
    }
    for (uint32_t i = 0; i < row->kid_count && is_open; i++)
        if (row_is_open(row->kids[i]))
            counts[is_asking(row->kids[i]) ? ROW_ASKING : row->kids[i]->state]++;
    for (size_t i = 0; i < COUNT(shown); i++) {
        if (!counts[shown[i]])
            continue;
        line_gap(line, shown[i] == ROW_RUNNING ? STYLE_NONE : view_style(shown[i]));
        buf_printf(out, "%llu %s", (unsigned long long)counts[shown[i]], view_word(shown[i]));
    }
}
