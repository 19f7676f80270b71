/* view.c - frames of the live view.

   A frame is a head line and a line for each row.  When there are more rows than lines, those that
   matter are kept, each with the rows it is in (enum rank): questions and failures first, then what
   runs, what ended last, what comes next; the others are counted in a line of their own.

   A line is a list of pieces, each with a style; it is cut where it is written out. */
#include "cli/view.h"

#include "cli/show.h"
#include "cli/where.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MS         1000000ll // nanoseconds
#define PIECES_MAX 40
#define BAR_MAX    10 // cells of a progress bar
#define BAR_NARROW 5  // and of one of a loop where there is little room
#define NARROW     100 // columns
#define NEAR_MAX   3  // rows that ended last or come next, to be shown before all others
#define LIVELY_MAX 8  // rows at work; of more only the seconds are shown, and their signs stand still
#define PASSES_MAX 10 // past passes of a loop, where lines are not counted
#define PASSES_INNER 2 // and of one in an item
#define ERRORS_MAX 5  // failures that the summary tells
#define ENDS_MAX   10 // lines with ends of loops
#define ERROR_LINES 10 // lines for all of them, where lines are counted,
#define ERROR_LEAST 4  // and for each at least

/* ---- amounts ------------------------------------------------------------------------------------- */

void view_put_time(struct buf *out, int64_t ns)
{
    int64_t ms = MAX(ns, 0) / MS, s = ms / 1000;
    if (ms < 1000)
        buf_printf(out, "%lldms", (long long)ms);
    else if (s < 60)
        buf_printf(out, "%lld.%llds", (long long)s, (long long)(ms % 1000 / 100));
    else if (s < 3600)
        buf_printf(out, "%lldm%02llds", (long long)(s / 60), (long long)(s % 60));
    else
        buf_printf(out, "%lldh%02lldm", (long long)(s / 3600), (long long)(s % 3600 / 60));
}

void view_put_moment(struct buf *out, int64_t ns, bool with_zone)
{
    time_t second = (time_t)(ns / 1000000000);
    struct tm tm;
    char text[40];
    localtime_r(&second, &tm);
    strftime(text, sizeof text, with_zone ? "%Y-%m-%d %H:%M:%S %z" : "%Y-%m-%d %H:%M:%S", &tm);
    buf_puts(out, text);
}

void view_put_amount(struct buf *out, int64_t n)
{
    if (n < 1000)
        buf_printf(out, "%lld", (long long)n);
    else if (n < 1000000)
        buf_printf(out, "%.1fk", (double)n / 1e3);
    else
        buf_printf(out, "%.1fM", (double)n / 1e6);
}

void view_put_cost(struct buf *out, int64_t nano)
{
    double usd = (double)nano / 1e9;
    if (!nano)
        buf_puts(out, "$0");
    else
        buf_printf(out, usd < 0.01 ? "$%.4f" : usd < 1 ? "$%.3f" : "$%.2f", usd);
}

static void put_unpriced(struct buf *out, const rondo_usage *usage)
{
    if (usage->cost_nano)
        buf_printf(out, "%lld call%s ", (long long)usage->unpriced, usage->unpriced == 1 ? "" : "s");
    buf_puts(out, "unpriced");
}

void view_put_usage(struct buf *out, const rondo_usage *usage, const char *gap)
{
    int64_t tokens = usage->input_tokens + usage->output_tokens;
    if (tokens) {
        view_put_amount(out, tokens);
        buf_puts(out, " tokens");
    }
    if (usage->cost_nano) {
        buf_puts(out, tokens ? gap : "");
        view_put_cost(out, usage->cost_nano);
    }
    if (usage->unpriced) {
        buf_puts(out, tokens || usage->cost_nano ? gap : "");
        put_unpriced(out, usage);
    }
}

/* ---- lines ----------------------------------------------------------------------------------------- */

struct piece {
    uint8_t style; // enum term_style
    size_t start;
};

/* Lives as long as the frame is made; reused for every line.  What is in text is clean. */
struct line {
    const struct view *view;
    struct buf text;
    struct piece pieces[PIECES_MAX];
    uint32_t count;
    bool is_calm; // much is at work: what would change all the time is not shown
};

/* Begins a piece: what is put into line->text from now on has this style. */
static void line_style(struct line *line, enum term_style style)
{
    if (line->count < PIECES_MAX)
        line->pieces[line->count++] = (struct piece){ (uint8_t)style, line->text.len };
}

static void line_add(struct line *line, enum term_style style, const char *text)
{
    line_style(line, style);
    buf_puts(&line->text, text);
}

/* Two blanks between columns. */
static void line_gap(struct line *line, enum term_style style)
{
    line_add(line, STYLE_NONE, "  ");
    line_style(line, style);
}

static void line_clean(struct line *line, const char *text, size_t len)
{
    show_line(&line->text, text, len);
}

static size_t line_width(const struct line *line)
{
    return width_text(line->text.data, line->text.len);
}

static void line_pad(struct line *line, size_t width)
{
    for (size_t w = line_width(line); w < width; w++)
        buf_putc(&line->text, ' ');
}

static const char *dots(const struct line *line)
{
    return line->view->term->is_utf8 ? "\u2026" : "~";
}

static void line_cut(struct line *line, size_t width)
{
    struct buf *text = &line->text;
    if (line_width(line) <= width)
        return;
    text->len = show_fit(text->data, text->len, width - 1);
    buf_puts(text, dots(line));
}

static void put_piece(struct line *line, uint32_t i, size_t fits, struct buf *out)
{
    const struct term *term = line->view->term;
    const struct piece *p = &line->pieces[i];
    size_t end = i + 1 < line->count ? line->pieces[i + 1].start : line->text.len;
    end = MIN(end, fits);
    if (p->start >= end)
        return;
    buf_puts(out, p->style ? term_style(term, p->style) : "");
    buf_put(out, line->text.data + p->start, end - p->start);
    buf_puts(out, p->style ? term_style(term, STYLE_NONE) : "");
}

/* Writes the line out, cut to the width, and empties it. */
static void line_end(struct line *line, struct buf *out)
{
    const struct term *term = line->view->term;
    while (line->text.len && line->text.data[line->text.len - 1] == ' ')
        line->text.len--;
    size_t fits = show_fit(line->text.data, line->text.len, (size_t)term->width);
    bool is_cut = fits < line->text.len;
    if (is_cut)
        fits = show_fit(line->text.data, line->text.len, (size_t)term->width - 1);
    for (uint32_t i = 0; i < line->count; i++)
        put_piece(line, i, fits, out);
    if (is_cut)
        buf_puts(out, dots(line));
    buf_putc(out, '\n');
    buf_clear(&line->text);
    line->count = 0;
}

/* ---- looks -------------------------------------------------------------------------------------------- */

#define LOOK_SHORT (ROW_CANCELLED + 1) // done, but not what it was for

static const struct look {
    const char *sign, *plain;
    uint8_t style; // enum term_style
    const char *word;
} looks[] = {
    [ROW_PENDING] = { "\u00b7", ".", STYLE_DIM, "to come" },
    [ROW_RUNNING] = { "\u25b8", ">", STYLE_CYAN, "running" },
    [ROW_ASKING] = { "?", "?", STYLE_YELLOW, "asking" },
    [ROW_RETRYING] = { "\u21bb", "r", STYLE_YELLOW, "retrying" },
    [ROW_DONE] = { "\u2713", "+", STYLE_GREEN, "done" },
    [ROW_FAILED] = { "\u2717", "x", STYLE_RED, "failed" },
    [ROW_SKIPPED] = { "-", "-", STYLE_DIM, "skipped" },
    [ROW_CANCELLED] = { "\u2298", "#", STYLE_YELLOW, "cancelled" },
    [LOOK_SHORT] = { "\u26a0", "!", STYLE_YELLOW, "done" },
};

const char *view_sign(const struct term *term, int state)
{
    return term->is_utf8 ? looks[state].sign : looks[state].plain;
}

enum term_style view_style(int state)
{
    return looks[state].style;
}

/* What runs turns. */
static void put_sign(struct line *line, int state)
{
    static const char *const turning[] = { "\u280b", "\u2819", "\u2839", "\u2838", "\u283c",
                                           "\u2834", "\u2826", "\u2827", "\u2807", "\u280f" };
    static const char *const plain[] = { "|", "/", "-", "\\" };
    const struct view *view = line->view;
    const char *sign = view_sign(view->term, state);
    if (state == ROW_RUNNING && !view->idle && !line->is_calm)
        sign = view->term->is_utf8 ? turning[view->tick % COUNT(turning)] : plain[view->tick % COUNT(plain)];
    line_add(line, view_style(state), sign);
    line_add(line, STYLE_NONE, " ");
}

/* Full only when all is done, and empty when nothing is. */
static void put_bar(struct buf *out, uint64_t n, uint64_t of, uint64_t most)
{
    uint64_t cells = MIN(of, most), full = of <= most ? n : (uint64_t)((double)n / (double)of * (double)most);
    buf_putc(out, '[');
    for (uint64_t i = 0; i < cells; i++)
        buf_putc(out, i < full ? '#' : '.');
    buf_putc(out, ']');
}

static void put_usage(struct line *line, const rondo_usage *usage)
{
    if (!usage->input_tokens && !usage->output_tokens && !usage->cost_nano && !usage->unpriced)
        return;
    line_gap(line, STYLE_NONE);
    view_put_usage(&line->text, usage, "  ");
}

void view_put_passes(struct buf *out, int64_t passes, int reason)
{
    buf_printf(out, "%lld pass%s", (long long)passes, passes == 1 ? "" : "es");
    if (reason)
        buf_printf(out, ", %s", rondo_reason_text(reason));
}

static bool is_narrow(const struct line *line)
{
    return line->view->term->width < NARROW;
}

static void put_number(struct buf *out, double n)
{
    buf_printf(out, "%.4g", n);
}

/* "▁▃▅▆ 8.5 ★p4 +0.5": the last scores, the best one with its pass, and the last gain. */
static void put_scores(struct line *line, const struct row *row)
{
    const struct passes *past = &row->past;
    const struct pass_seen *last = passes_last(past);
    if (!past->has_best)
        return;
    line_gap(line, STYLE_CYAN);
    passes_put_scores(&line->text, past, line->view->term->is_utf8);
    line_style(line, STYLE_NONE);
    buf_putc(&line->text, ' ');
    put_number(&line->text, past->best_score);
    line_add(line, STYLE_NONE, " ");
    line_style(line, STYLE_GREEN);
    buf_printf(&line->text, "%sp%lld", passes_star(line->view->term->is_utf8), (long long)past->best + 1);
    if (!row_is_open(row) || !last || !last->has_gain)
        return;
    line_add(line, STYLE_NONE, " ");
    line_style(line, last->gain > 0 ? STYLE_GREEN : STYLE_DIM);
    passes_put_gain(&line->text, last->gain);
}

static void put_passes(struct line *line, const struct row *row)
{
    struct buf *out = &line->text;
    int64_t cap = row->cap;
    bool open = row_is_open(row);
    if (row->pass < 0 && !row->passes)
        return;
    line_gap(line, row_is_short(row) ? STYLE_YELLOW : STYLE_NONE);
    if (!open) {
        view_put_passes(out, row->passes, row->reason);
        buf_puts(out, row_is_short(row) ? "; until did not hold" : "");
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

/* What the bar says need not be said again: it is taken from usage. */
static void put_budget(struct line *line, const struct row *row, rondo_usage *usage)
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

static void put_items(struct line *line, const struct row *row)
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
        line_gap(line, shown[i] == ROW_RUNNING ? STYLE_NONE : looks[shown[i]].style);
        buf_printf(out, "%llu %s", (unsigned long long)counts[shown[i]], looks[shown[i]].word);
    }
}

/* Who speaks in a row: the step, or the one that a loop repeats under its own name. */
static const struct row *speaker(const struct row *row)
{
    const struct row *body = row_is_loop(row) && row->kid_count ? row->kids[ROLE_BODY] : NULL;
    return body && !row_is_seen(body) && node_is_leaf(body->node) ? body : row;
}

/* The last thing it said; of what failed only where the failure began. */
static void put_tail(struct line *line, const struct row *row, int state)
{
    bool failed = state == ROW_FAILED;
    const struct row *by = row_is_origin(row) ? row : speaker(row);
    bool says = failed ? row_is_origin(by) : by->state != ROW_FAILED && (node_is_leaf(by->node) || row->is_item);
    if (state == ROW_SKIPPED || state == ROW_CANCELLED || state == ROW_RETRYING) {
        line_gap(line, STYLE_DIM);
        buf_puts(&line->text, looks[state].word);
    }
    if (!says || !by->tail.len)
        return;
    line_gap(line, failed ? STYLE_RED : STYLE_DIM);
    line_clean(line, by->tail.data, by->tail.len);
}

/* ---- rows that are shown ------------------------------------------------------------------------------------ */

#define NOBODY UINT32_MAX

struct shown {
    const struct row *row;
    uint32_t up; // index of the row it is in; NOBODY
    uint16_t depth;
    const struct pass_seen *pass; // it is this pass of the row, which has ended; NULL
    uint8_t rank;  // enum rank
    uint8_t state; // enum row_state
    bool is_inner; // an item, or in one
    bool on;
};

struct frame {
    const struct view *view;
    struct shown *list;
    uint32_t count, cap;
    uint32_t on;
    uint64_t recent; // rows that ended at this event or later are the last ones
    uint32_t coming; // pending rows that were ranked as the next ones
    uint64_t rowless[ROW_CANCELLED + 1]; // items that have no row any more, or not yet
    uint64_t passes_gone; // that have ended and are not told
    bool has_gone;   // one of them had a row, or there are such passes
};

static void count_items(struct frame *f, const struct row *each)
{
    for (size_t i = 0; i < COUNT(f->rowless); i++) {
        f->rowless[i] += each->forgotten[i];
        f->has_gone = f->has_gone || each->forgotten[i];
    }
    if (row_is_open(each) && each->items > each->begun)
        f->rowless[ROW_PENDING] += each->items - each->begun;
}

static int state_shown(const struct row *row)
{
    int state = row_state(row);
    return state == ROW_RUNNING && speaker(row)->state == ROW_ASKING ? ROW_ASKING : state;
}

static void add_shown(struct frame *f, struct shown shown)
{
    mem_grow(&f->list, &f->cap, f->count, sizeof *f->list);
    f->list[f->count++] = shown;
}

static void add_pass(struct frame *f, const struct row *loop, const struct pass_seen *pass, uint32_t up, unsigned depth)
{
    static const uint8_t states[] = { [RONDO_STATUS_COMPLETED] = ROW_DONE, [RONDO_STATUS_FAILED] = ROW_FAILED,
                                      [RONDO_STATUS_CANCELLED] = ROW_CANCELLED };
    int state = pass->status < COUNT(states) && states[pass->status] ? states[pass->status] : ROW_SKIPPED;
    add_shown(f, (struct shown){ .row = loop, .up = up, .depth = (uint16_t)depth, .pass = pass,
                                 .state = (uint8_t)state, .is_inner = up != NOBODY && f->list[up].is_inner });
}

/* The pass that a loop which has ended is told by: the one whose answer it gives, or the failed one with which a step
   that repeats itself missed what it was for.  NULL: its row, or those in it, say all. */
static const struct pass_seen *telling_pass(const struct row *loop)
{
    const struct pass_seen *best = passes_find(&loop->past, row_best_pass(loop)), *last = passes_last(&loop->past);
    bool has_missed = row_is_short(loop) || (loop->state == ROW_FAILED && row_is_origin(loop));
    if (best || !last || speaker(loop) == loop)
        return best;
    return has_missed && last->status == RONDO_STATUS_FAILED ? last : NULL;
}

/* Of a loop at work the last passes that have ended. */
static void collect_passes(struct frame *f, const struct row *loop, uint32_t up, unsigned depth)
{
    const struct passes *past = &loop->past;
    const struct pass_seen *one = row_is_open(loop) ? NULL : telling_pass(loop);
    uint32_t most = f->list[up].is_inner ? PASSES_INNER : f->view->height ? (uint32_t)f->view->height : PASSES_MAX;
    uint32_t from = past->count - MIN(past->count, most);
    if (one)
        add_pass(f, loop, one, up, depth);
    if (!row_is_open(loop) || !past->count)
        return;
    for (uint32_t i = from; i < past->count; i++)
        add_pass(f, loop, &past->list[i], up, depth);
    uint64_t gone = (uint64_t)(passes_last(past)->number + 1) - (past->count - from);
    f->passes_gone += f->list[up].is_inner ? 0 : gone;
    f->has_gone = f->has_gone || f->passes_gone;
}

static void collect(struct frame *f, const struct row *row, uint32_t up, unsigned depth)
{
    if (row_is_seen(row)) {
        add_shown(f, (struct shown){ .row = row, .up = up, .depth = (uint16_t)depth, .state = (uint8_t)state_shown(row),
                                     .is_inner = row->is_item || (up != NOBODY && f->list[up].is_inner) });
        up = f->count - 1;
        depth++;
        if (row_is_loop(row))
            collect_passes(f, row, up, depth);
    }
    if (row->node->kind == RONDO_KIND_EACH)
        count_items(f, row);
    for (uint32_t i = 0; i < row->kid_count; i++)
        if (row->kids[i])
            collect(f, row->kids[i], up, depth);
}

/* It has ended, and had run. */
static bool has_run(const struct shown *s)
{
    return !s->pass && s->state >= ROW_DONE && s->state != ROW_SKIPPED && s->row->seq;
}

/* The event at which the last few rows begin to have ended. */
static uint64_t find_recent(const struct frame *f)
{
    uint64_t last[NEAR_MAX] = { 0 };
    for (uint32_t i = 0; i < f->count; i++) {
        uint64_t seq = has_run(&f->list[i]) ? f->list[i].row->seq : 0;
        for (uint32_t k = 0; k < NEAR_MAX && seq; k++) {
            if (seq <= last[k])
                continue;
            uint64_t other = last[k];
            last[k] = seq;
            seq = other;
        }
    }
    return MAX(last[NEAR_MAX - 1], 1);
}

/* What matters most comes first. */
enum rank {
    RANK_ASKING,
    RANK_FAILED,
    RANK_RUNNING, // an agent
    RANK_AROUND,  // what runs around it
    RANK_AROUND_FAILED,
    RANK_RECENT,
    RANK_NEXT,
    RANK_PASS, // a past one
    RANK_ENDED,
    RANK_ENDED_INNER,
    RANK_LATER,
    RANK_SKIPPED,
};

static enum rank rank(struct frame *f, const struct shown *s)
{
    if (s->pass)
        return RANK_PASS;
    switch ((enum row_state)s->state) {
    case ROW_ASKING: return RANK_ASKING;
    case ROW_FAILED: return row_is_origin(s->row) ? RANK_FAILED : RANK_AROUND_FAILED;
    case ROW_RUNNING:
    case ROW_RETRYING: return node_is_leaf(speaker(s->row)->node) ? RANK_RUNNING : RANK_AROUND;
    case ROW_PENDING: return f->coming++ < NEAR_MAX ? RANK_NEXT : RANK_LATER;
    case ROW_SKIPPED: return RANK_SKIPPED;
    default: return s->row->seq >= f->recent ? RANK_RECENT : s->is_inner ? RANK_ENDED_INNER : RANK_ENDED;
    }
}

/* Of one rank: the oldest first, but of ended rows the latest. */
static int by_rank(const void *a, const void *b)
{
    const struct shown *x = *(struct shown *const *)a, *y = *(struct shown *const *)b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->rank == RANK_PASS)
        return x->pass->seq > y->pass->seq ? -1 : x->pass->seq < y->pass->seq;
    if (x->rank == RANK_RECENT || x->rank == RANK_ENDED || x->rank == RANK_ENDED_INNER)
        return x->row->seq > y->row->seq ? -1 : x->row->seq < y->row->seq;
    return x < y ? -1 : x > y;
}

/* Turns a row on, and those it is in, if there is room for all of them. */
static void turn_on(struct frame *f, struct shown *s, uint32_t room)
{
    uint32_t need = 0;
    for (struct shown *at = s; at && !at->on; at = at->up == NOBODY ? NULL : &f->list[at->up])
        need++;
    if (need > room && !f->on) { // not even the most important one fits with what it is in
        s->on = true;
        f->on = 1;
    }
    if (f->on + need > room)
        return;
    for (struct shown *at = s; at && !at->on; at = at->up == NOBODY ? NULL : &f->list[at->up])
        at->on = true;
    f->on += need;
}

static void choose(struct frame *f, uint32_t room)
{
    struct shown **order = mem_alloc(MAX(f->count, 1) * sizeof *order);
    f->recent = find_recent(f);
    for (uint32_t i = 0; i < f->count; i++) {
        f->list[i].rank = (uint8_t)rank(f, &f->list[i]);
        order[i] = &f->list[i];
    }
    qsort(order, f->count, sizeof *order, by_rank);
    for (uint32_t i = 0; i < f->count && f->on < room; i++)
        turn_on(f, order[i], room);
    mem_free(order);
}

/* ---- the frame ---------------------------------------------------------------------------------------------- */

static void put_name(struct line *line, const struct row *row)
{
    if (row->is_item)
        where_put_item(&line->text, row->ordinal, row_item(row));
    if (!row_item(row)) {
        buf_puts(&line->text, row->is_item && *row->name ? " " : "");
        line_clean(line, row->name, strlen(row->name));
    }
}

static void put_shown(struct line *line, const struct shown *s)
{
    if (s->pass)
        buf_printf(&line->text, "pass %lld", (long long)s->pass->number + 1);
    else
        put_name(line, s->row);
}

static size_t label_width(struct line *line, const struct shown *s)
{
    put_shown(line, s);
    size_t width = line_width(line);
    buf_clear(&line->text);
    return width + s->depth * 2u + 2;
}

static void put_label(struct line *line, const struct shown *s, size_t width)
{
    const struct row *row = s->row;
    line_style(line, STYLE_NONE);
    for (unsigned i = 0; i < s->depth; i++)
        buf_puts(&line->text, "  ");
    put_sign(line, !s->pass && row_is_short(row) ? LOOK_SHORT : s->state);
    line_style(line, s->state == ROW_PENDING || (s->pass && row_is_open(row)) ? STYLE_DIM
                     : row_is_open(row)                                        ? STYLE_BOLD
                                                                               : STYLE_NONE);
    put_shown(line, s);
    if (row->is_item) // its value may be long
        line_cut(line, width);
    line_style(line, STYLE_NONE);
    line_pad(line, width);
}

/* Right-aligned in six columns; ns: negative for none. */
static void put_length(struct line *line, int64_t ns, bool is_rough)
{
    auto_buf struct buf text = { 0 };
    if (ns >= 0 && is_rough && ns < 60000 * MS)
        buf_printf(&text, "%llds", (long long)(ns / (1000 * MS)));
    else if (ns >= 0)
        view_put_time(&text, ns);
    line_gap(line, STYLE_NONE);
    buf_printf(&line->text, "%6s", buf_text(&text));
}

static void put_elapsed(struct line *line, const struct row *row)
{
    const struct view *view = line->view;
    int64_t now_ns = rows_driven_ns(view->rows, line->is_calm && view->calm_ns ? view->calm_ns : view->now_ns);
    put_length(line, row->first_ns ? MAX(row_elapsed_ns(row, now_ns), 0) : -1, line->is_calm && row_is_open(row));
}

/* What it came to, or why it failed. */
static void put_past(struct line *line, const struct shown *s)
{
    const struct pass_seen *pass = s->pass;
    bool is_fine = s->state == ROW_DONE;
    put_length(line, pass->ns, false);
    if (pass->is_scored) {
        line_gap(line, STYLE_NONE);
        put_number(&line->text, pass->score);
        bool is_best = s->row->past.best == pass->number;
        line_add(line, STYLE_GREEN, is_best ? " " : "");
        buf_puts(&line->text, is_best ? passes_star(line->view->term->is_utf8) : "");
    }
    if (pass->has_gain) {
        line_add(line, STYLE_NONE, " ");
        line_style(line, pass->gain > 0 ? STYLE_GREEN : STYLE_DIM);
        passes_put_gain(&line->text, pass->gain);
    }
    put_usage(line, &pass->usage);
    line_gap(line, is_fine ? STYLE_DIM : STYLE_RED);
    line_clean(line, pass->text, strlen(pass->text));
}

static void put_row(struct line *line, const struct shown *s, size_t width, struct buf *out)
{
    const struct row *row = s->row;
    put_label(line, s, width);
    if (s->pass) {
        put_past(line, s);
    } else if (s->state != ROW_PENDING) {
        put_elapsed(line, row);
        if (row_is_loop(row))
            put_passes(line, row);
        else if (row->node->kind == RONDO_KIND_EACH)
            put_items(line, row);
        if (row->attempt) {
            line_gap(line, STYLE_YELLOW);
            bool is_encore = row_is_encore(row);
            buf_printf(&line->text, is_encore ? "resume %u" : "try %u", row->attempt + !is_encore);
        }
        rondo_usage usage = row->usage;
        if (row_is_loop(row))
            put_budget(line, row, &usage);
        put_usage(line, &usage);
        put_tail(line, row, s->state);
    }
    line_end(line, out);
}

/* The steps of an item are not counted beside it, nor its passes: an item that has no row counts once. */
static bool is_counted(const struct shown *s)
{
    return !s->on && (!s->is_inner || (s->row->is_item && !s->pass));
}

/* Rows that had no place, counted by how they are. */
static void put_others(struct line *line, const struct frame *f, struct buf *out)
{
    uint64_t counts[COUNT(f->rowless)], passes = f->passes_gone;
    memcpy(counts, f->rowless, sizeof counts);
    for (uint32_t i = 0; i < f->count; i++) {
        counts[f->list[i].state] += is_counted(&f->list[i]) && !f->list[i].pass;
        passes += is_counted(&f->list[i]) && f->list[i].pass;
    }
    uint64_t all = passes;
    for (size_t i = 0; i < COUNT(counts); i++)
        all += counts[i];
    if (!all)
        return;
    line_style(line, STYLE_DIM);
    buf_printf(&line->text, "  %s %llu more", f->view->term->is_utf8 ? "\u2026" : "...", (unsigned long long)all);
    const char *before = ": ";
    for (size_t i = 0; i < COUNT(counts); i++) {
        if (!counts[i])
            continue;
        buf_printf(&line->text, "%s%llu %s", before, (unsigned long long)counts[i], looks[i].word);
        before = ", ";
    }
    if (passes)
        buf_printf(&line->text, "%s%llu past pass%s", before, (unsigned long long)passes, passes == 1 ? "" : "es");
    line_end(line, out);
}

/* Steps of the outermost container: how many have ended, and how many there are. */
static void count_steps(const struct rows *rows, uint32_t *ret_ended, uint32_t *ret_all)
{
    const struct row *top = rows->root->kid_count ? rows->root->kids[0] : NULL;
    bool counts = top && (top->node->kind == RONDO_KIND_GRAPH || top->node->kind == RONDO_KIND_SEQUENCE);
    *ret_ended = *ret_all = 0;
    for (uint32_t i = 0; counts && i < top->kid_count; i++) {
        if (!top->kids[i] || !row_is_seen(top->kids[i]) || !node_child_is_step(&top->node->children[i]))
            continue;
        *ret_all += 1;
        *ret_ended += row_state(top->kids[i]) >= ROW_DONE;
    }
}

static bool has_short(const struct row *row)
{
    bool has = row_is_short(row);
    for (uint32_t i = 0; i < row->kid_count && !has; i++)
        has = row->kids[i] && has_short(row->kids[i]);
    return has;
}

static int sign_of(const struct view *view)
{
    const struct rows *rows = view->rows;
    if (view->idle && strcmp(view->idle, rondo_status_text(RONDO_STATUS_WAITING)) == 0)
        return ROW_ASKING;
    switch (rows->end_ns ? rows->status : RONDO_STATUS_RUNNING) {
    case RONDO_STATUS_RUNNING: return ROW_RUNNING;
    case RONDO_STATUS_COMPLETED: return has_short(rows->root) ? LOOK_SHORT : ROW_DONE;
    case RONDO_STATUS_CANCELLED: return ROW_CANCELLED;
    case RONDO_STATUS_WAITING: return ROW_ASKING;
    default: return ROW_FAILED;
    }
}

static void put_head(struct line *line, struct buf *out)
{
    const struct view *view = line->view;
    const struct rows *rows = view->rows;
    uint32_t ended, all;
    count_steps(rows, &ended, &all);
    put_sign(line, sign_of(view));
    line_style(line, STYLE_BOLD);
    line_clean(line, view->title, strlen(view->title));
    if (rows->end_ns || view->idle) {
        line_gap(line, looks[sign_of(view)].style);
        buf_puts(&line->text, rows->end_ns ? rondo_status_text(rows->status) : view->idle);
    }
    line_gap(line, STYLE_NONE);
    view_put_time(&line->text, rows_length_ns(rows, rows->end_ns ? rows->end_ns : view->now_ns));
    if (all > 1) {
        line_gap(line, STYLE_NONE);
        buf_printf(&line->text, "%u/%u steps", ended, all);
    }
    put_usage(line, &rows->root->usage);
    if (rows->id) {
        line_gap(line, STYLE_DIM);
        line_clean(line, rows->id, strlen(rows->id));
    }
    line_end(line, out);
}

/* ---- what the summary adds --------------------------------------------------------------------------------------- */

/* The line behind `at`, if it is only a caret; 0: it is not.  How far it is indented goes to *ret. */
static size_t caret_line(const struct buf *text, size_t at, size_t *ret)
{
    const char *line = text->data + MIN(at, text->len), *end = text->data + text->len;
    size_t blanks = 0;
    while (line + blanks < end && line[blanks] == ' ')
        blanks++;
    *ret = blanks;
    return line + blanks < end && line[blanks] == '^' && (line + blanks + 1 == end || line[blanks + 1] == '\n')
               ? blanks + 1
               : 0;
}

/* Bytes of that many characters. */
static size_t skip_characters(const char *text, size_t len, size_t count)
{
    size_t at = 0;
    for (; count && at < len; count--)
        do
            at++;
        while (at < len && ((unsigned char)text[at] & 0xc0) == 0x80);
    return at;
}

/* An expression that is too long, and the caret under it: what is around the caret. */
static void put_excerpt(struct line *line, enum term_style style, const char *indent, const char *text,
                        size_t len, size_t caret, struct buf *out)
{
    size_t room = (size_t)MAX(line->view->term->width - (int)strlen(indent), 8), start = 0;
    size_t at = skip_characters(text, len, caret);
    while (width_text(text + start, at - start) > room / 2)
        start += skip_characters(text + start, at - start, 1);
    const char *before = start ? "..." : "";
    size_t shown = show_fit(text + start, len - start, room - strlen(before));
    line_add(line, STYLE_NONE, indent);
    line_style(line, style);
    buf_puts(&line->text, before);
    buf_put(&line->text, text + start, shown);
    line_end(line, out);
    line_add(line, STYLE_NONE, indent);
    line_style(line, style);
    buf_printf(&line->text, "%*s^", (int)(strlen(before) + width_text(text + start, at - start)), "");
    line_end(line, out);
}

/* A text of several lines, each wrapped at the width. */
static void put_wrapped(struct line *line, enum term_style style, const char *indent, const char *text,
                        struct buf *out)
{
    size_t room = (size_t)line->view->term->width - strlen(indent);
    auto_buf struct buf clean = { 0 };
    show_lines(&clean, text, strlen(text));
    for (size_t at = 0, end; at < clean.len; at = end + (end < clean.len && strchr(" \n", clean.data[end]))) {
        const char *stop = memchr(clean.data + at, '\n', clean.len - at);
        end = stop ? (size_t)(stop - clean.data) : clean.len;
        size_t caret, under = caret_line(&clean, end + 1, &caret);
        if (under && width_text(clean.data + at, end - at) > room) {
            put_excerpt(line, style, indent, clean.data + at, end - at, caret, out);
            end += 1 + under;
            continue;
        }
        end = at + show_fit_words(clean.data + at, end - at, room);
        line_add(line, STYLE_NONE, indent);
        line_style(line, style);
        buf_put(&line->text, clean.data + at, end - at);
        line_end(line, out);
    }
}

struct errors {
    const struct row *rows[ERRORS_MAX];
    uint32_t count; // all of them
};

static void add_error(void *user, const struct row *row)
{
    struct errors *errors = user;
    if (errors->count < ERRORS_MAX)
        errors->rows[errors->count] = row;
    errors->count++;
}

/* The offset at which a line begins, from 0. */
static size_t line_start(const struct buf *text, size_t line)
{
    size_t at = 0;
    for (; line; line--)
        at = (size_t)((char *)memchr(text->data + at, '\n', text->len - at) - text->data) + 1;
    return at;
}

static size_t count_lines(const struct buf *text, size_t from)
{
    size_t count = 0;
    for (size_t i = from; i < text->len; i++)
        count += text->data[i] == '\n';
    return count;
}

/* The first line, which says what it is about, and the last ones.  False when others were left out. */
static bool put_ends(struct line *line, const struct buf *text, size_t most, struct buf *out)
{
    size_t count = count_lines(text, 0);
    if (count <= most) {
        buf_put(out, text->data, text->len);
        return true;
    }
    size_t rest = line_start(text, count - (most - 2));
    buf_put(out, text->data, line_start(text, 1));
    line_style(line, STYLE_DIM);
    buf_printf(&line->text, "  %s %zu more lines", line->view->term->is_utf8 ? "\u2026" : "...", count - (most - 1));
    line_end(line, out);
    buf_put(out, text->data + rest, text->len - rest);
    return false;
}

/* What rows had only one line for. */
static bool put_error(struct line *line, const struct row *row, size_t most, struct buf *out)
{
    auto_buf struct buf text = { 0 };
    line_style(line, STYLE_RED);
    where_put(&line->text, row);
    if (!line->text.len)
        line_clean(line, line->view->title, strlen(line->view->title));
    buf_puts(&line->text, " failed:");
    line_end(line, out);
    put_wrapped(line, STYLE_NONE, "  ", row->error, &text);
    return put_ends(line, &text, most, out);
}

static bool put_errors(struct line *line, struct buf *out)
{
    struct errors errors = { 0 };
    rows_origins(line->view->rows, add_error, &errors);
    uint32_t told = MIN(errors.count, ERRORS_MAX);
    size_t most = line->view->height ? MAX(ERROR_LINES / MAX(told, 1), ERROR_LEAST) : SIZE_MAX;
    bool is_all = true;
    for (uint32_t i = 0; i < told; i++)
        is_all = put_error(line, errors.rows[i], most, out) && is_all;
    if (errors.count > told) {
        line_style(line, STYLE_NONE);
        buf_printf(&line->text, "and %u more failures", errors.count - told);
        line_end(line, out);
    }
    return is_all;
}

/* Why a loop ended; of loops inside of others or of items there may be many.  One that only counts to its cap
   needs no words.  room: lines that are left. */
static void put_loop_ends(struct line *line, const struct row *row, size_t *room, struct buf *out)
{
    const char *why = json_string_value(json_object_get(row->end, "why"));
    auto_buf struct buf text = { 0 }, lines = { 0 };
    bool is_plain = row->reason == RONDO_REASON_MAX_ITERATIONS && !json_object_get(row->end, "held");
    if (row_is_loop(row) && why && row->state == ROW_DONE && !is_plain) {
        where_put(&text, row);
        buf_printf(&text, ": %s", why);
        put_wrapped(line, row_is_short(row) ? STYLE_YELLOW : STYLE_NONE, "", buf_text(&text), &lines);
        size_t count = count_lines(&lines, 0);
        buf_put(out, lines.data, count <= *room ? lines.len : 0);
        *room -= MIN(count, *room);
    }
    for (uint32_t i = 0; i < row->kid_count && !row_is_loop(row) && !row_has_items(row); i++)
        if (row->kids[i])
            put_loop_ends(line, row->kids[i], room, out);
}

/* While it runs notes have one line, which was left for them.  start: where the frame begins. */
static bool put_rest(struct line *line, size_t start, struct buf *out)
{
    const struct view *view = line->view;
    if (view->rows->end_ns) {
        bool is_all = put_errors(line, out);
        size_t used = count_lines(out, start) + 1, most = (size_t)view->height;
        size_t room = most ? most - MIN(used, most) : ENDS_MAX;
        put_loop_ends(line, view->rows->root, &room, out);
        put_wrapped(line, STYLE_YELLOW, "", view->notes ? view->notes : "", out);
        return is_all;
    }
    if (view->notes) {
        line_add(line, STYLE_YELLOW, view->notes);
        line_end(line, out);
    }
    return true;
}

/* Is so much at work that not all of it should move? */
static bool is_busy(const struct frame *f)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < f->count; i++)
        count += f->list[i].on && f->list[i].state == ROW_RUNNING;
    return count > LIVELY_MAX;
}

bool view_put(struct buf *out, struct view *view)
{
    struct frame f = { .view = view };
    struct line line = { .view = view };
    size_t start = out->len;
    collect(&f, view->rows->root, NOBODY, 0);
    uint32_t room = view->height > 2 ? (uint32_t)view->height - 1 : 1;
    bool all = !view->height || f.count + f.has_gone <= room;
    if (all)
        f.on = f.count;
    else
        choose(&f, room - 1);
    size_t width = 0;
    for (uint32_t i = 0; i < f.count; i++) {
        f.list[i].on = f.list[i].on || all;
        if (f.list[i].on)
            width = MAX(width, label_width(&line, &f.list[i]));
    }
    width = MIN(width, MAX((size_t)view->term->width * 2 / 5, 16));
    put_head(&line, out);
    line.is_calm = view->is_calm = is_busy(&f);
    for (uint32_t i = 0; i < f.count; i++)
        if (f.list[i].on)
            put_row(&line, &f.list[i], width, out);
    if (f.on < f.count || f.has_gone)
        put_others(&line, &f, out);
    bool is_all = put_rest(&line, start, out);
    buf_free(&line.text);
    mem_free(f.list);
    return is_all;
}
