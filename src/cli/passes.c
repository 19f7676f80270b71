/* passes.c - what the passes of a loop came to, and pictures of their scores. */
#include "cli/passes.h"

#include "base/arena.h"
#include "cli/threshold.h"
#include "data/width.h"

#include <math.h>
#include <string.h>

#define PLOT_LINES 7
#define PLOT_STEP  4 // columns between two passes, where there is room

void passes_clear(struct passes *passes)
{
    for (uint32_t i = 0; i < passes->count; i++)
        mem_free(passes->list[i].text);
    mem_free(passes->list);
    *passes = (struct passes){ 0 };
}

static void drop_oldest(struct passes *passes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        mem_free(passes->list[i].text);
    passes->count -= count;
    memmove(passes->list, passes->list + count, passes->count * sizeof *passes->list);
}

/* A pass may be done again after a crash, and then it is the last one once more. */
static void drop_from(struct passes *passes, int64_t number)
{
    while (passes->count && passes->list[passes->count - 1].number >= number)
        mem_free(passes->list[--passes->count].text);
}

void passes_add(struct passes *passes, struct pass_seen *pass, bool keeps_all)
{
    drop_from(passes, pass->number);
    pass->has_gain = pass->is_scored && passes->has_best;
    pass->gain = pass->has_gain ? pass->score - passes->best_score : 0;
    if (pass->is_scored && (!passes->has_best || pass->score > passes->best_score)) {
        passes->has_best = true;
        passes->best = pass->number;
        passes->best_score = pass->score;
    }
    passes->failed += pass->status != RONDO_STATUS_COMPLETED;
    if (!keeps_all && passes->count >= 2 * PASSES_KEPT)
        drop_oldest(passes, PASSES_KEPT);
    mem_grow(&passes->list, &passes->cap, passes->count, sizeof *passes->list);
    passes->list[passes->count++] = *pass;
}

struct pass_seen *passes_find(const struct passes *passes, int64_t number)
{
    for (uint32_t i = passes->count; i-- > 0;)
        if (passes->list[i].number == number)
            return &passes->list[i];
    return NULL;
}

const struct pass_seen *passes_last(const struct passes *passes)
{
    return passes->count ? &passes->list[passes->count - 1] : NULL;
}

/* ---- the line of scores -------------------------------------------------------------------------------- */

const char *passes_star(bool is_utf8)
{
    return is_utf8 ? "\u2605" : "*";
}

void passes_put_gain(struct buf *out, double gain)
{
    buf_printf(out, "%+.4g", gain);
}

/* The least and the largest score from the pass at `from` on; false when there is none. */
static bool find_range(const struct passes *passes, uint32_t from, double *ret_least, double *ret_most)
{
    bool has = false;
    for (uint32_t i = from; i < passes->count; i++) {
        const struct pass_seen *pass = &passes->list[i];
        if (!pass->is_scored || !isfinite(pass->score))
            continue;
        *ret_least = has ? MIN(*ret_least, pass->score) : pass->score;
        *ret_most = has ? MAX(*ret_most, pass->score) : pass->score;
        has = true;
    }
    return has;
}

/* Where a score lies between two others, from 0 to steps - 1. */
static int level_of(double score, double least, double most, int steps)
{
    double part = most > least ? (score / 2 - least / 2) / (most / 2 - least / 2) : 1; // halves do not overflow
    return isfinite(part) ? (int)lround(MAX(MIN(part, 1), 0) * (steps - 1)) : 0;
}

void passes_put_scores(struct buf *out, const struct passes *passes, bool is_utf8)
{
    static const char *const bars[] = { "\u2581", "\u2582", "\u2583", "\u2584",
                                        "\u2585", "\u2586", "\u2587", "\u2588" };
    static const char *const plain[] = { "_", ".", ":", "-", "=", "+", "*", "#" };
    uint32_t from = passes->count - MIN(passes->count, PASS_SCORES_MAX);
    double least, most;
    if (!find_range(passes, from, &least, &most))
        return;
    for (uint32_t i = from; i < passes->count; i++) {
        const struct pass_seen *pass = &passes->list[i];
        int level = level_of(pass->score, least, most, (int)COUNT(bars));
        buf_puts(out, !pass->is_scored ? "x" : is_utf8 ? bars[level] : plain[level]);
    }
}

/* ---- the plot ---------------------------------------------------------------------------------------------- */

/* One character a cell; in columns beyond the last one nothing is put. */
struct plot {
    const struct passes *passes;
    bool is_utf8;
    double least, most;
    double threshold;
    int wanted; // the line of the threshold, from below; -1: there is none
    uint32_t columns; // points beside each other
    uint32_t step;    // cells from one to the next
    const char *cells[PLOT_LINES][200];
};

/* Only a score that is the threshold stands on its line. */
static int line_of(const struct plot *plot, double score)
{
    int line = level_of(score, plot->least, plot->most, PLOT_LINES);
    if (line != plot->wanted || !(score < plot->threshold || score > plot->threshold))
        return line;
    int side = score < plot->threshold ? line - 1 : line + 1;
    return side >= 0 && side < PLOT_LINES ? side : line;
}

/* Of several passes in one column the best one is seen. */
static void put_points(struct plot *plot)
{
    const struct passes *passes = plot->passes;
    double best[COUNT(plot->cells[0])];
    bool has[COUNT(plot->cells[0])] = { false };
    for (uint32_t i = 0; i < passes->count; i++) {
        const struct pass_seen *pass = &passes->list[i];
        uint32_t column = (uint32_t)((uint64_t)i * plot->columns / passes->count);
        uint32_t cell = column * plot->step + plot->step / 2;
        if (!pass->is_scored || !isfinite(pass->score) || (has[column] && best[column] >= pass->score))
            continue;
        if (has[column])
            plot->cells[line_of(plot, best[column])][cell] = " ";
        int level = line_of(plot, pass->score);
        bool is_best = passes->has_best && passes->best == pass->number;
        plot->cells[level][cell] = is_best ? passes_star(plot->is_utf8) : plot->is_utf8 ? "\u2022" : "o";
        best[column] = pass->score;
        has[column] = true;
    }
}

static void put_line(struct buf *out, const struct plot *plot, int level, const char *label, const char *note)
{
    uint32_t cells = plot->columns * plot->step, skip = 0;
    buf_printf(out, "%8s %s", label, plot->is_utf8 ? "\u2502" : "|");
    for (uint32_t i = 0; i < cells; i++) {
        const char *cell = plot->cells[level][i];
        if (skip)
            skip--;
        else
            buf_puts(out, cell);
        skip += width_text(cell, strlen(cell)) > 1; // a star may take two columns
    }
    while (out->len && out->data[out->len - 1] == ' ')
        out->len--;
    buf_printf(out, "%s%s\n", *note ? "  " : "", note);
}

/* Below the points: the numbers of the first and of the last pass. */
static void put_axis(struct buf *out, const struct plot *plot)
{
    const struct passes *passes = plot->passes;
    uint32_t cells = plot->columns * plot->step;
    char first[24], last[24];
    snprintf(first, sizeof first, "%lld", (long long)passes->list[0].number + 1);
    snprintf(last, sizeof last, "%lld", (long long)passes_last(passes)->number + 1);
    buf_printf(out, "%8s %s", "", plot->is_utf8 ? "\u2514" : "+");
    for (uint32_t i = 0; i < cells; i++)
        buf_puts(out, plot->is_utf8 ? "\u2500" : "-");
    int from = (int)(plot->step / 2), to = (int)(cells - plot->step + plot->step / 2);
    int gap = to - from - (int)strlen(first) - (int)strlen(last) + 1;
    buf_printf(out, "\n%8s  %*s%s%*s%s  pass\n", "", from, "", first, MAX(gap, 1), "", last);
}

static void put_label(char *label, size_t size, double score)
{
    snprintf(label, size, "%.4g", score);
}

void passes_put_plot(struct buf *out, const struct passes *passes, const rondo_node *loop, const struct term *term)
{
    struct plot plot = { .passes = passes, .is_utf8 = term->is_utf8 };
    bool has_threshold = threshold_find(loop, &plot.threshold);
    uint32_t room = (uint32_t)MIN(MAX(term->width - 24, 8), (int)COUNT(plot.cells[0]));
    if (passes->count < 2 || !find_range(passes, 0, &plot.least, &plot.most))
        return;
    if (has_threshold) {
        plot.least = MIN(plot.least, plot.threshold);
        plot.most = MAX(plot.most, plot.threshold);
    }
    if (!(plot.least < plot.most)) // the table says it all
        return;
    plot.step = MAX(MIN(room / passes->count, PLOT_STEP), 1);
    plot.columns = MIN(passes->count, room / plot.step);
    plot.wanted = has_threshold ? level_of(plot.threshold, plot.least, plot.most, PLOT_LINES) : -1;
    for (int level = 0; level < PLOT_LINES; level++)
        for (uint32_t i = 0; i < COUNT(plot.cells[0]); i++)
            plot.cells[level][i] = level != plot.wanted ? " " : plot.is_utf8 ? "\u2504" : "-";
    put_points(&plot);
    for (int level = PLOT_LINES - 1; level >= 0; level--) {
        char label[32] = "", note[64] = "";
        if (level == plot.wanted)
            put_label(label, sizeof label, plot.threshold);
        else if (level == 0 || level == PLOT_LINES - 1)
            put_label(label, sizeof label, level ? plot.most : plot.least);
        if (level == plot.wanted)
            snprintf(note, sizeof note, "until");
        put_line(out, &plot, level, label, note);
    }
    put_axis(out, &plot);
}
