/* cmd_history.c - rondo history RUN [LOOP]: the passes of a loop, and what changed from one to the next; or the
   items of a forEach, which are no versions of each other. */
#include "cli/commands.h"
#include "cli/heard.h"
#include "cli/items.h"
#include "cli/running.h"
#include "cli/show.h"
#include "cli/table.h"
#include "cli/term.h"
#include "cli/view.h"
#include "cli/where.h"
#include "data/lines.h"
#include "engine/shell.h"
#include "flow/diag.h"
#include "run/loop.h"
#include "run/mail.h"
#include "store/store.h"
#include "run/usage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONTEXT   2
#define NAMES_MAX 1000 // steps among which the nearest is looked for
#define NOTE_MAX  2000 // bytes of a note
#define NOT_KEPT  "not kept (maxHistory)"

/* Columns of the tables. */
enum { PASS_NUMBER, PASS_BEST, PASS_SCORE, PASS_GAIN, PASS_WORDS, PASS_TIME, PASS_TOKENS, PASS_COST, PASS_NOTE };
enum { ITEM_NAME, ITEM_TIME, ITEM_TOKENS, ITEM_COST, ITEM_NOTE };

static const struct column pass_columns[] = {
    [PASS_NUMBER] = { "pass", true },      [PASS_BEST] = { "", false },
    [PASS_SCORE] = { "score", true },      [PASS_GAIN] = { "gain", true, 2 },
    [PASS_WORDS] = { "words", true, 3 },   [PASS_TIME] = { "time", true },
    [PASS_TOKENS] = { "tokens", true, 1 }, [PASS_COST] = { "cost", true },
    [PASS_NOTE] = { "note", false },
};

static const struct column item_columns[] = {
    [ITEM_NAME] = { "item", false },       [ITEM_TIME] = { "time", true },
    [ITEM_TOKENS] = { "tokens", true, 1 }, [ITEM_COST] = { "cost", true },
    [ITEM_NOTE] = { "note", false },
};

struct told {
    struct running *r;
    rondo_history *history;
    struct heard heard;
    const char *step; // whose output; NULL: the pass's
    struct passes seen; // what the events say of the passes
    json_t *end; // of the loop, see loop_end_value(); NULL
    struct term term;
    struct table table;
    struct buf out;
};

static void put_mark(void *user, enum line_mark mark, const char *line, size_t len)
{
    struct told *p = user;
    enum term_style style = mark == LINE_OLD ? STYLE_RED : mark == LINE_NEW ? STYLE_GREEN : STYLE_DIM;
    buf_puts(&p->out, term_style(&p->term, style));
    buf_printf(&p->out, "  %c ", mark == LINE_GAP ? '.' : mark);
    show_line(&p->out, line, len);
    buf_puts(&p->out, term_style(&p->term, STYLE_NONE));
    buf_putc(&p->out, '\n');
}

static void put_text(struct told *p, const char *text)
{
    size_t len = strcspn(text, "\n");
    for (; *text; text += len + (text[len] == '\n'), len = strcspn(text, "\n")) {
        buf_puts(&p->out, "    ");
        show_line(&p->out, text, len);
        buf_putc(&p->out, '\n');
    }
}

/* "pass 3" or "[3] in/f7.txt", with how it ended unless it went well. */
static void put_head(struct told *p, const char *name, const char *status)
{
    bool is_fine = strcmp(status, rondo_status_text(RONDO_STATUS_COMPLETED)) == 0;
    buf_printf(&p->out, "%s%s%s%s%s", term_style(&p->term, STYLE_BOLD), name, term_style(&p->term, STYLE_NONE),
               is_fine ? "" : "  ", is_fine ? "" : status);
}

/* What it came to, or that step in it.  A pass that failed has nothing to show but why, and one that `maxHistory` has
   let go of nothing at all; what follows is compared with what was before them. */
static bool has_shown(struct told *p, int64_t pass, rondo_result *ret)
{
    return look_pass_result(p->history, pass, p->step, ret) && ret->status == RONDO_STATUS_COMPLETED;
}

static void put_pass(struct told *p, int64_t pass, const char *before)
{
    double score;
    rondo_result res;
    bool is_kept = look_pass_result(p->history, pass, p->step, &res);
    char name[32];
    snprintf(name, sizeof name, "pass %lld", (long long)pass + 1);
    put_head(p, name, is_kept ? rondo_status_text(res.status) : NOT_KEPT);
    if (rondo_history_score(p->history, pass, &score))
        buf_printf(&p->out, "  score %g%s", score, rondo_history_best(p->history) == pass ? " (best)" : "");
    buf_putc(&p->out, '\n');
    heard_put_pass(&p->out, &p->heard, pass);
    if (!is_kept || res.status != RONDO_STATUS_COMPLETED) {
        put_text(p, is_kept ? res.error : "");
        return;
    }
    const char *text = rondo_history_text(p->history, pass, p->step);
    if (!before || !p->r->args->diff)
        put_text(p, text);
    else if (strcmp(before, text) == 0)
        buf_puts(&p->out, "    as before\n");
    else
        lines_diff(before, strlen(before), text, strlen(text), CONTEXT, put_mark, p);
}

static void put_line(struct told *p, json_t *row)
{
    char *text = rondo_value_text(row);
    buf_printf(&p->out, "%s\n", text);
    rondo_text_free(text);
}

static void put_json(struct told *p, int64_t pass)
{
    double score;
    rondo_result res;
    const struct pass_seen *seen = passes_find(&p->seen, pass);
    auto_json json_t *row = json_pack("{s:I}", "pass", (json_int_t)pass), *heard = heard_in(&p->heard, pass);
    if (seen) {
        json_object_set_new(row, "durationMs", json_integer(seen->ns / 1000000));
        json_object_set_new(row, "usage", usage_value(&seen->usage));
        json_object_set_new(row, "gain", seen->has_gain ? json_real(seen->gain) : NULL);
    }
    if (json_array_size(heard))
        json_object_set(row, "heard", heard);
    if (!look_pass_result(p->history, pass, p->step, &res)) {
        json_object_set_new(row, "kept", json_false());
        put_line(p, row);
        return;
    }
    rondo_value *output = rondo_history_output(p->history, pass, p->step);
    json_object_set_new(row, "output", output ? json_incref(output) : json_null());
    json_object_set_new(row, "status", json_string(rondo_status_text(res.status)));
    if (*res.error)
        json_object_set_new(row, "error", json_string(res.error));
    json_object_set_new(row, "content", json_string(rondo_history_text(p->history, pass, p->step)));
    if (rondo_history_score(p->history, pass, &score))
        json_object_set_new(row, "score", json_real(score));
    json_object_set_new(row, "best", json_boolean(rondo_history_best(p->history) == pass));
    put_line(p, row);
}

/* ---- tables ------------------------------------------------------------------------------------------- */

struct words {
    uint64_t gone, come;
};

static void count_word(void *user, enum line_mark mark, const char *line, size_t len)
{
    struct words *words = user;
    (void)line;
    words->gone += mark == LINE_OLD && len;
    words->come += mark == LINE_NEW && len;
}

/* Each word on a line of its own. */
static void put_words(struct buf *out, const char *text)
{
    for (size_t len; *text; text += len) {
        text += strspn(text, " \t\r\n\v\f");
        len = strcspn(text, " \t\r\n\v\f");
        buf_put(out, text, len);
        buf_puts(out, len ? "\n" : "");
    }
}

/* "+12 -3"; of the first pass all its words. */
static void set_words(struct told *p, const char *before, const char *text)
{
    struct words words = { 0 };
    auto_buf struct buf old = { 0 }, now = { 0 }, cell = { 0 };
    put_words(&old, before ? before : "");
    put_words(&now, text);
    lines_diff(buf_text(&old), old.len, buf_text(&now), now.len, 0, count_word, &words);
    if (words.come)
        buf_printf(&cell, "+%llu", (unsigned long long)words.come);
    if (words.gone)
        buf_printf(&cell, "%s-%llu", words.come ? " " : "", (unsigned long long)words.gone);
    table_set(&p->table, PASS_WORDS, STYLE_NONE, cell.len ? buf_text(&cell) : "0");
}

static void set_time(struct told *p, uint32_t column, int64_t ns)
{
    auto_buf struct buf cell = { 0 };
    view_put_time(&cell, ns);
    table_set(&p->table, column, STYLE_NONE, buf_text(&cell));
}

/* The cost stands behind the tokens. */
static void set_usage(struct told *p, uint32_t tokens, const rondo_usage *usage)
{
    auto_buf struct buf cell = { 0 };
    int64_t count = usage->input_tokens + usage->output_tokens;
    if (count) {
        view_put_amount(&cell, count);
        table_set(&p->table, tokens, STYLE_NONE, buf_text(&cell));
    }
    buf_clear(&cell);
    if (usage->cost_nano)
        view_put_cost(&cell, usage->cost_nano);
    else if (usage->unpriced)
        buf_puts(&cell, "unpriced");
    table_set(&p->table, tokens + 1, STYLE_NONE, buf_text(&cell));
}

/* The first line with something in it. */
static void set_note(struct told *p, uint32_t column, bool is_fine, const char *status, const char *text)
{
    auto_buf struct buf cell = { 0 };
    text += strspn(text, " \t\r\n");
    if (!is_fine)
        buf_printf(&cell, "%s%s", status, *text ? ": " : "");
    show_line(&cell, text, MIN(strcspn(text, "\r\n"), NOTE_MAX));
    table_set(&p->table, column, is_fine ? STYLE_NONE : STYLE_RED, buf_text(&cell));
}

static void set_score(struct told *p, int64_t pass)
{
    char cell[64];
    double score;
    const struct pass_seen *seen = passes_find(&p->seen, pass);
    if (!rondo_history_score(p->history, pass, &score))
        return;
    snprintf(cell, sizeof cell, "%.6g", score);
    table_set(&p->table, PASS_SCORE, STYLE_NONE, cell);
    if (rondo_history_best(p->history) == pass)
        table_set(&p->table, PASS_BEST, STYLE_GREEN, passes_star(p->term.is_utf8));
    if (!seen || !seen->has_gain)
        return;
    auto_buf struct buf gain = { 0 };
    passes_put_gain(&gain, seen->gain);
    table_set(&p->table, PASS_GAIN, seen->gain > 0 ? STYLE_GREEN : STYLE_DIM, buf_text(&gain));
}

/* Returns the text that the next pass is compared with: `before`, which it takes, or the new one. */
static char *add_pass(struct told *p, int64_t pass, char *before)
{
    rondo_result res;
    const struct pass_seen *seen = passes_find(&p->seen, pass);
    bool is_kept = look_pass_result(p->history, pass, p->step, &res);
    char number[24];
    snprintf(number, sizeof number, "%lld", (long long)pass + 1);
    table_add(&p->table);
    table_set(&p->table, PASS_NUMBER, STYLE_BOLD, number);
    if (seen) {
        set_time(p, PASS_TIME, seen->ns);
        set_usage(p, PASS_TOKENS, &seen->usage);
    }
    if (!is_kept) {
        table_set(&p->table, PASS_NOTE, STYLE_DIM, NOT_KEPT);
        return before;
    }
    bool is_fine = res.status == RONDO_STATUS_COMPLETED;
    if (!is_fine)
        set_note(p, PASS_NOTE, false, rondo_status_text(res.status), res.error);
    set_score(p, pass);
    if (!is_fine)
        return before;
    const char *text = rondo_history_text(p->history, pass, p->step);
    set_note(p, PASS_NOTE, true, "", text);
    set_words(p, before, text);
    mem_free(before);
    return mem_strdup(text);
}

static void print(struct told *p)
{
    if (p->out.len)
        fwrite(p->out.data, 1, p->out.len, stdout);
    buf_clear(&p->out);
}

static void put_table(struct told *p)
{
    table_put(&p->out, &p->table, &p->term, p->term.is_tty ? (size_t)p->term.width : 0);
}

static size_t width_of(const struct told *p)
{
    return p->term.is_tty ? (size_t)p->term.width : SIZE_MAX;
}

static void put_why(struct told *p, const char *why)
{
    auto_buf struct buf clean = { 0 };
    show_line(&clean, why, strlen(why));
    buf_putc(&p->out, '\n');
    show_wrapped(&p->out, clean.data, clean.len, "", width_of(p));
}

static void put_pass_table(struct told *p)
{
    int64_t count = rondo_history_count(p->history);
    const char *why = json_string_value(json_object_get(p->end, "why"));
    char *before = NULL;
    p->table = (struct table){ .columns = pass_columns, .column_count = COUNT(pass_columns) };
    for (int64_t i = 0; i < count; i++)
        before = add_pass(p, i, before);
    mem_free(before);
    put_table(p);
    if (p->seen.has_best) {
        size_t start = p->out.len;
        buf_putc(&p->out, '\n');
        passes_put_plot(&p->out, &p->seen, look_loop(p->history), &p->term);
        p->out.len = p->out.len == start + 1 ? start : p->out.len;
    }
    if (why)
        put_why(p, why);
    print(p);
}

/* ---- texts -------------------------------------------------------------------------------------------- */

static bool is_wanted(const struct told *p, int64_t number)
{
    return !p->r->args->pass || p->r->args->pass == number + 1;
}

/* What a pass has heard, with its number. */
static void put_heard(struct told *p, int64_t pass)
{
    heard_put_pass(&p->out, &p->heard, pass);
    print(p);
}

/* Messages that no pass has heard, and those that wait. */
static void put_unheard(struct told *p, int64_t count)
{
    rondo_error err; // what cannot be read is not shown
    if (p->r->args->json)
        return;
    auto_json json_t *waits = mail_waiting(&p->r->run->core, p->heard.loop), *kept = NULL;
    if (store_inbox(p->r->run->journal, &kept, &err) == 0)
        heard_add_kept(&p->heard, kept, waits);
    heard_put_rest(&p->out, &p->heard, count, waits);
    print(p);
}

static void put_passes(struct told *p)
{
    const struct run_args *args = p->r->args;
    char *before = NULL;
    rondo_result res;
    int64_t count = rondo_history_count(p->history);
    if (!args->json && !args->full && !args->diff && !args->pass) {
        put_pass_table(p);
        for (int64_t i = 0; i < count; i++)
            put_heard(p, i);
        put_unheard(p, count);
        return;
    }
    for (int64_t i = 0; i < count; i++) {
        if (args->json && is_wanted(p, i))
            put_json(p, i);
        else if (is_wanted(p, i))
            put_pass(p, i, before);
        if (args->diff && has_shown(p, i, &res)) {
            mem_free(before);
            before = mem_strdup(rondo_history_text(p->history, i, p->step));
        }
        print(p);
    }
    mem_free(before);
    put_unheard(p, count);
}

static const char *text_of(const json_t *item, const char *key)
{
    const char *text = json_string_value(json_object_get(item, key));
    return text ? text : "";
}

static void put_item(struct told *p, const json_t *item)
{
    auto_buf struct buf name = { 0 };
    const char *error = text_of(item, "error");
    where_put_item(&name, json_integer_value(json_object_get(item, "item")), json_object_get(item, "value"));
    put_head(p, buf_text(&name), text_of(item, "status"));
    buf_putc(&p->out, '\n');
    put_text(p, *error ? error : text_of(item, "content"));
}

static void add_item(struct told *p, const json_t *item)
{
    auto_buf struct buf name = { 0 };
    const char *error = text_of(item, "error"), *status = text_of(item, "status");
    const json_t *ms = json_object_get(item, "durationMs");
    rondo_usage usage = usage_from(json_object_get(item, "usage"));
    bool is_fine = strcmp(status, rondo_status_text(RONDO_STATUS_COMPLETED)) == 0;
    where_put_item(&name, json_integer_value(json_object_get(item, "item")), json_object_get(item, "value"));
    table_add(&p->table);
    table_set(&p->table, ITEM_NAME, STYLE_BOLD, buf_text(&name));
    if (ms)
        set_time(p, ITEM_TIME, json_integer_value(ms) * 1000000);
    set_usage(p, ITEM_TOKENS, &usage);
    set_note(p, ITEM_NOTE, is_fine, status, *error ? error : text_of(item, "content"));
}

static void put_items(struct told *p, const struct items *items)
{
    const struct run_args *args = p->r->args;
    bool is_table = !args->json && !args->full && !args->diff && !args->pass;
    size_t i;
    json_t *item;
    p->table = (struct table){ .columns = item_columns, .column_count = COUNT(item_columns) };
    json_array_foreach(items->list, i, item) {
        if (is_table)
            add_item(p, item);
        else if (args->json && is_wanted(p, (int64_t)i))
            put_line(p, item);
        else if (is_wanted(p, (int64_t)i))
            put_item(p, item);
    }
    put_table(p);
    print(p);
}

/* ---- what there is -------------------------------------------------------------------------------------- */

/* Calls visit with the names of the steps of a pass, until it says so: containers without one stand for what is in
   them. */
static bool each_name(const rondo_node *node, bool (*visit)(void *user, const char *name), void *user)
{
    for (uint32_t i = 0; i < node->count; i++) {
        const struct node_child *child = &node->children[i];
        bool is_rule = node->kind == RONDO_KIND_LOOP && i != ROLE_BODY;
        if (!child->node || is_rule)
            continue;
        if (*child->name ? visit(user, child->name) : each_name(child->node, visit, user))
            return true;
    }
    return false;
}

struct search {
    const char *step;
    const char *names[NAMES_MAX];
    uint32_t count;
};

static bool is_found(void *user, const char *name)
{
    struct search *s = user;
    if (s->count < NAMES_MAX)
        s->names[s->count++] = name;
    return strcmp(name, s->step) == 0;
}

static int check_step(const struct told *p, const rondo_node *node)
{
    struct search s = { .step = p->step };
    const char *loop = p->heard.loop;
    if (!p->step || each_name(node, is_found, &s))
        return EXIT_OK;
    const char *near = diag_nearest(p->step, s.names, s.count);
    if (near)
        return command_fail(p->r->line->command, "loop '%s' has no step '%s'; did you mean '%s'?", loop, p->step,
                            near);
    return command_fail(p->r->line->command, "loop '%s' has no step '%s'", loop, p->step);
}

/* A row is used again for the same loop in the next pass of one around it: what it has is copied as it comes. */
static void note_passes(struct told *p, const rondo_event *ev, const struct row *row)
{
    int type = rondo_event_type(ev);
    const struct pass_seen *last = row && row_is_loop(row) ? passes_last(&row->past) : NULL;
    if (type == RONDO_EV_STEP_START)
        passes_clear(&p->seen);
    if (type == RONDO_EV_LOOP_END) {
        json_decref(p->end);
        p->end = loop_end_value(ev);
    }
    if (!last || (type != RONDO_EV_ITERATION_END && type != RONDO_EV_ITERATION_START && type != RONDO_EV_LOOP_END))
        return;
    struct pass_seen *known = passes_find(&p->seen, last->number);
    if (known && type != RONDO_EV_ITERATION_END) {
        known->usage = last->usage; // with what its judge has cost
        return;
    }
    struct pass_seen copy = *last;
    copy.text = mem_strdup(last->text);
    passes_add(&p->seen, &copy, true);
}

static void read_events(struct told *p, struct items *items)
{
    struct rows *rows = rows_new(p->r->run->node);
    const rondo_event *ev;
    rows->keeps_all = true;
    while ((ev = rondo_run_next(p->r->run))) {
        bool begins = rondo_event_type(ev) == RONDO_EV_STEP_START; // in a slot that was somebody else's
        const struct row *before = begins ? NULL : rows_find(rows, ev); // a step that ends gives up its slot
        rows_event(rows, ev);
        const struct row *row = before ? before : rows_find(rows, ev);
        items_event(items, ev, row);
        heard_event(&p->heard, ev);
        if (path_is_of(rondo_event_path(ev), items->loop))
            note_passes(p, ev, row);
    }
    rows_free(rows);
}

/* Appends the paths of the loops that stand in no other one; returns how many. */
static uint32_t put_loops(struct buf *out, const rondo_node *node, const char *before)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < node->count; i++) {
        const struct node_child *child = &node->children[i];
        auto_buf struct buf path = { 0 };
        if (!child->node)
            continue;
        buf_printf(&path, "%s%s%s", before, *before && *child->name ? "." : "", child->name);
        if (!path.len || !(node_is_loop(child->node) || child->node->kind == RONDO_KIND_EACH)) {
            count += put_loops(out, child->node, buf_text(&path));
            continue;
        }
        buf_printf(out, "%s%s", out->len ? ", " : "", buf_text(&path));
        count++;
    }
    return count;
}

/* *loop is the one that was named, or the only one there is; loops has the names of all. */
static int find_loop(const struct running *r, struct buf *loops, const char **ret)
{
    uint32_t count = put_loops(loops, r->run->core.holder, "");
    *ret = r->line->args.count > 1 ? r->line->args.list[1] : buf_text(loops);
    if (r->line->args.count > 1 || count == 1)
        return EXIT_OK;
    if (!count)
        return command_fail(r->line->command, "run %s has no loop", r->id);
    return command_fail(r->line->command, "which loop of run %s? It has %s", r->id, buf_text(loops));
}

static int check_pass(const struct told *p, const struct items *items)
{
    int64_t pass = p->r->args->pass;
    int64_t count = items->node ? (int64_t)json_array_size(items->list) : rondo_history_count(p->history);
    if (pass <= count)
        return EXIT_OK;
    return command_fail(p->r->line->command, "--pass %lld: '%s' has %lld %s%s", (long long)pass, items->loop,
                        (long long)count, items->node ? "item" : "pass", count == 1 ? "" : items->node ? "s" : "es");
}

static int list(struct running *r)
{
    auto_buf struct buf loops = { 0 };
    const char *loop;
    if (find_loop(r, &loops, &loop) != EXIT_OK)
        return EXIT_USAGE;
    struct told p = { .r = r, .step = r->args->step, .heard = { .loop = loop } };
    struct items items = { .loop = loop, .step = p.step };
    read_events(&p, &items);
    p.history = items.node ? NULL : rondo_run_history(r->run, loop);
    term_init(&p.term, STDOUT_FILENO, r->line->no_color);
    int code = EXIT_OK;
    if (!p.history && !items.node)
        code = command_fail(r->line->command, "run %s has no loop '%s' that has begun%s%s", r->shown_id, loop,
                            loops.len ? "; its loops: " : "", buf_text(&loops));
    else
        code = check_step(&p, items.node ? items.node : look_loop(p.history));
    if (code == EXIT_OK)
        code = check_pass(&p, &items);
    if (code == EXIT_OK && items.node)
        put_items(&p, &items);
    else if (code == EXIT_OK)
        put_passes(&p);
    items_clear(&items);
    heard_clear(&p.heard);
    passes_clear(&p.seen);
    table_clear(&p.table);
    json_decref(p.end);
    buf_free(&p.out);
    return code;
}

static int cmd_history(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, running_look, list };
    struct running r = { .line = line, .args = line->options, .command = "history",
                         .file = line->args.list[0], .only_looks = true, .looks_at_any = true };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "step", 0, OPT_TEXT, AT(step), "NAME", .help = "of this step of the body, not of the whole pass" },
    { "full", 0, OPT_FLAG, AT(full), .help = "the text of every pass or item, no table" },
    { "diff", 0, OPT_FLAG, AT(diff), .help = "the text of the first pass, and what changed in each later one" },
    { "pass", 0, OPT_LIMIT, AT(pass), "N", .help = "the text of this pass or item, counted from 1" },
    { "json", 0, OPT_FLAG, AT(json), .help = "a line of JSON for each pass or item" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_history = {
    .name = "history", .args = "RUN [LOOP]", .min_args = 1, .max_args = 2,
    .summary = "a loop of a run, pass by pass",
    .about = "LOOP is its path, as 'refine' or 'outer.2.inner'; a workflow with one loop needs none.\n"
             "A table has a line for each pass, and a star at the best one.  The line has the score,\n"
             "the gain over the best pass before, and the words that were added and taken away.  It\n"
             "also has time, tokens and cost, and the first line of the answer or the error.  Below\n"
             "the table is a plot of the scores, with a line at the score that 'until' waits for.\n"
             "Of a forEach the table has a line for each item.  Times are without the time in which\n"
             "no process drove the run.  Messages to the loop stand below, with the pass that has\n"
             "heard them.",
    .options = options, .size = sizeof(struct run_args), .run = cmd_history,
};
