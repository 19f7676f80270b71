/* view.c - frames of the live view.

   A frame is a head line, a line for each row that was chosen (chosen.h), and one that counts the others.  Behind the
   last frame, the summary, stands what it has to say beside the rows: failures, and the ends of loops. */
#include "cli/view.h"

#include "cli/chosen.h"
#include "cli/show.h"
#include "cli/styled_line.h"
#include "cli/view_loop.h"
#include "cli/where.h"
#include "data/money.h"
#include "run/end_text.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LIVELY_MAX 8  // rows at work; of more only the seconds are shown, and their signs stand still
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
    money_put(out, nano, MONEY_SHOWN);
}

void view_put_score(struct buf *out, double score)
{
    buf_printf(out, "%.4g", score);
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

const char *view_word(int state)
{
    return looks[state].word;
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
        buf_printf(out, ", %s", end_word(reason));
}

/* The last thing it said; of what failed only where the failure began. */
static void put_tail(struct line *line, const struct row *row, int state)
{
    bool failed = state == ROW_FAILED;
    const struct row *by = row_is_origin(row) ? row : row_speaker(row);
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
        view_put_score(&line->text, pass->score);
        bool is_best = s->row->past.best == pass->number;
        line_add(line, STYLE_GREEN, is_best ? " " : "");
        buf_puts(&line->text, is_best ? passes_star(line->term->is_utf8) : "");
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
            view_loop_put_passes(line, row);
        else if (row->node->kind == RONDO_KIND_EACH)
            view_loop_put_items(line, row);
        if (row->attempt) {
            line_gap(line, STYLE_YELLOW);
            bool is_encore = row_is_encore(row);
            buf_printf(&line->text, is_encore ? "resume %u" : "try %u", row->attempt + !is_encore);
        }
        rondo_usage usage = row->usage;
        if (row_is_loop(row))
            view_loop_put_budget(line, row, &usage);
        put_usage(line, &usage);
        put_tail(line, row, s->state);
    }
    line_end(line, out);
}

/* Rows that had no place, counted by how they are. */
static void put_others(struct line *line, const struct chosen *chosen, struct buf *out)
{
    uint64_t counts[ROW_CANCELLED + 1], passes = chosen_count_others(chosen, counts), all = passes;
    for (size_t i = 0; i < COUNT(counts); i++)
        all += counts[i];
    if (!all)
        return;
    line_style(line, STYLE_DIM);
    buf_printf(&line->text, "  %s %llu more", line->term->is_utf8 ? "\u2026" : "...", (unsigned long long)all);
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
    size_t room = (size_t)MAX(line->term->width - (int)strlen(indent), 8), start = 0;
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
    size_t room = (size_t)line->term->width - strlen(indent);
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
    buf_printf(&line->text, "  %s %zu more lines", line->term->is_utf8 ? "\u2026" : "...", count - (most - 1));
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
    uint32_t all = rows_origins(line->view->rows, add_error, &errors);
    uint32_t told = MIN(errors.count, ERRORS_MAX);
    size_t most = line->view->height ? MAX(ERROR_LINES / MAX(told, 1), ERROR_LEAST) : SIZE_MAX;
    bool is_all = true;
    for (uint32_t i = 0; i < told; i++)
        is_all = put_error(line, errors.rows[i], most, out) && is_all;
    if (all > told) {
        line_style(line, STYLE_NONE);
        buf_printf(&line->text, "and %u more failure%s", all - told, all - told == 1 ? "" : "s");
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
    bool has_failed = row->state == ROW_FAILED && row_is_loop(row) && json_object_get(row->end, "rule") &&
                      (row->reason == RONDO_REASON_FAILED || row->node->loop.must_hold); // other errors say it
    if (row_is_loop(row) && why && (row->state == ROW_DONE || has_failed) && (has_failed || !is_plain)) {
        where_put(&text, row);
        buf_printf(&text, ": %s", why);
        put_wrapped(line, has_failed ? STYLE_RED : row_is_short(row) ? STYLE_YELLOW : STYLE_NONE, "", buf_text(&text),
                    &lines);
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
static bool is_busy(const struct chosen *chosen)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < chosen->count; i++)
        count += chosen->list[i].on && chosen->list[i].state == ROW_RUNNING;
    return count > LIVELY_MAX;
}

/* Of the longest label that is shown, if that is not too long. */
static size_t column_width(struct line *line, const struct chosen *chosen)
{
    size_t width = 0;
    for (uint32_t i = 0; i < chosen->count; i++)
        width = MAX(width, chosen->list[i].on ? label_width(line, &chosen->list[i]) : 0);
    return MIN(width, MAX((size_t)line->term->width * 2 / 5, 16));
}

bool view_put(struct buf *out, struct view *view)
{
    struct chosen chosen = { .height = view->height };
    struct line line = { .view = view, .term = view->term };
    size_t start = out->len;
    chosen_find(&chosen, view->rows);
    size_t width = column_width(&line, &chosen);
    put_head(&line, out);
    line.is_calm = view->is_calm = is_busy(&chosen);
    for (uint32_t i = 0; i < chosen.count; i++)
        if (chosen.list[i].on)
            put_row(&line, &chosen.list[i], width, out);
    if (chosen_leaves_out(&chosen))
        put_others(&line, &chosen, out);
    bool is_all = put_rest(&line, start, out);
    buf_free(&line.text);
    chosen_clear(&chosen);
    return is_all;
}
