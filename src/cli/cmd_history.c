/* cmd_history.c - rondo history RUN LOOP: the passes of a loop, and what changed from one to the next; or the
   items of a forEach, which are no versions of each other. */
#include "cli/commands.h"
#include "cli/heard.h"
#include "cli/items.h"
#include "cli/running.h"
#include "cli/show.h"
#include "cli/term.h"
#include "data/lines.h"
#include "engine/shell.h"
#include "flow/diag.h"
#include "run/loop.h"
#include "run/mail.h"
#include "store/store.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CONTEXT   2
#define NAMES_MAX 1000 // steps among which the nearest is looked for

struct passes {
    struct running *r;
    rondo_history *history;
    struct heard heard;
    const char *step; // whose output; NULL: the pass's
    struct term term;
    struct buf out;
};

static void put_mark(void *user, enum line_mark mark, const char *line, size_t len)
{
    struct passes *p = user;
    enum term_style style = mark == LINE_OLD ? STYLE_RED : mark == LINE_NEW ? STYLE_GREEN : STYLE_DIM;
    buf_puts(&p->out, term_style(&p->term, style));
    buf_printf(&p->out, "  %c ", mark == LINE_GAP ? '.' : mark);
    show_line(&p->out, line, len);
    buf_puts(&p->out, term_style(&p->term, STYLE_NONE));
    buf_putc(&p->out, '\n');
}

static void put_text(struct passes *p, const char *text)
{
    size_t len = strcspn(text, "\n");
    for (; *text; text += len + (text[len] == '\n'), len = strcspn(text, "\n")) {
        buf_puts(&p->out, "    ");
        show_line(&p->out, text, len);
        buf_putc(&p->out, '\n');
    }
}

/* "pass 3" or "item 3", with how it ended unless it went well. */
static void put_head(struct passes *p, const char *what, int64_t number, const char *status)
{
    bool is_fine = strcmp(status, rondo_status_text(RONDO_STATUS_COMPLETED)) == 0;
    buf_printf(&p->out, "%s%s %lld%s%s%s", term_style(&p->term, STYLE_BOLD), what, (long long)number + 1,
               term_style(&p->term, STYLE_NONE), is_fine ? "" : "  ", is_fine ? "" : status);
}

/* What it came to, or that step in it.  A pass that failed has nothing to show but why, and one that `maxHistory` has
   let go of nothing at all; what follows is compared with what was before them. */
static bool has_shown(struct passes *p, int64_t pass, rondo_result *ret)
{
    return look_pass_result(p->history, pass, p->step, ret) && ret->status == RONDO_STATUS_COMPLETED;
}

static void put_pass(struct passes *p, int64_t pass, const char *before)
{
    double score;
    rondo_result res;
    bool is_kept = look_pass_result(p->history, pass, p->step, &res);
    put_head(p, "pass", pass, is_kept ? rondo_status_text(res.status) : "not kept (maxHistory)");
    if (rondo_history_score(p->history, pass, &score))
        buf_printf(&p->out, "  score %g%s", score, rondo_history_best(p->history) == pass ? " (best)" : "");
    buf_putc(&p->out, '\n');
    heard_put_pass(&p->out, &p->heard, pass);
    if (!is_kept || res.status != RONDO_STATUS_COMPLETED) {
        put_text(p, is_kept ? res.error : "");
        return;
    }
    const char *text = rondo_history_text(p->history, pass, p->step);
    if (!before || p->r->args->full)
        put_text(p, text);
    else if (strcmp(before, text) == 0)
        buf_puts(&p->out, "    as before\n");
    else
        lines_diff(before, strlen(before), text, strlen(text), CONTEXT, put_mark, p);
}

static void put_line(struct passes *p, json_t *row)
{
    char *text = rondo_value_text(row);
    buf_printf(&p->out, "%s\n", text);
    rondo_text_free(text);
}

static void put_json(struct passes *p, int64_t pass)
{
    double score;
    rondo_result res;
    auto_json json_t *row = json_pack("{s:I}", "pass", (json_int_t)pass), *heard = heard_in(&p->heard, pass);
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

static void put_passes(struct passes *p)
{
    char *before = NULL;
    rondo_error err; // what cannot be read is not shown
    rondo_result res;
    int64_t count = rondo_history_count(p->history);
    for (int64_t i = 0; i < count; i++) {
        if (p->r->args->json) {
            put_json(p, i);
        } else {
            put_pass(p, i, before);
            if (has_shown(p, i, &res)) {
                mem_free(before);
                before = mem_strdup(rondo_history_text(p->history, i, p->step));
            }
        }
        fwrite(p->out.data, 1, p->out.len, stdout);
        buf_clear(&p->out);
    }
    mem_free(before);
    if (p->r->args->json)
        return;
    auto_json json_t *waits = mail_waiting(&p->r->run->core, p->heard.loop), *kept = NULL;
    if (store_inbox(p->r->run->journal, &kept, &err) == 0)
        heard_add_kept(&p->heard, kept, waits);
    heard_put_rest(&p->out, &p->heard, count, waits);
    if (p->out.len)
        fwrite(p->out.data, 1, p->out.len, stdout);
}

static void put_item(struct passes *p, const json_t *item)
{
    const char *content = json_string_value(json_object_get(item, "content"));
    const char *error = json_string_value(json_object_get(item, "error"));
    put_head(p, "item", json_integer_value(json_object_get(item, "item")),
             json_string_value(json_object_get(item, "status")));
    buf_putc(&p->out, '\n');
    put_text(p, error ? error : content ? content : "");
}

static void put_items(struct passes *p, const struct items *items)
{
    size_t i;
    json_t *item;
    json_array_foreach(items->list, i, item) {
        if (p->r->args->json)
            put_line(p, item);
        else
            put_item(p, item);
    }
    if (p->out.len)
        fwrite(p->out.data, 1, p->out.len, stdout);
}

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

static int check_step(const struct passes *p, const rondo_node *node)
{
    struct search s = { .step = p->step };
    const char *loop = p->r->line->args.list[1];
    if (!p->step || each_name(node, is_found, &s))
        return EXIT_OK;
    const char *near = diag_nearest(p->step, s.names, s.count);
    if (near)
        return command_fail(p->r->line->command, "loop '%s' has no step '%s'; did you mean '%s'?", loop, p->step,
                            near);
    return command_fail(p->r->line->command, "loop '%s' has no step '%s'", loop, p->step);
}

static int list(struct running *r)
{
    const char *loop = r->line->args.list[1];
    struct passes p = { .r = r, .step = r->args->step, .heard = { .loop = loop } };
    struct items items = { .loop = loop, .step = p.step };
    const rondo_event *ev;
    while ((ev = rondo_run_next(r->run))) {
        items_event(&items, ev);
        heard_event(&p.heard, ev);
    }
    p.history = items.node ? NULL : rondo_run_history(r->run, loop);
    if (!p.history && !items.node)
        return command_fail(r->line->command, "run %s has no loop '%s' that has begun", r->id, loop);
    term_init(&p.term, STDOUT_FILENO, r->line->no_color);
    int code = check_step(&p, items.node ? items.node : look_loop(p.history));
    if (code == EXIT_OK && items.node)
        put_items(&p, &items);
    else if (code == EXIT_OK)
        put_passes(&p);
    items_clear(&items);
    heard_clear(&p.heard);
    buf_free(&p.out);
    return code;
}

static int cmd_history(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, running_look, list };
    struct running r = { .line = line, .args = line->options, .command = "history",
                         .file = line->args.list[0], .only_looks = true };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "step", 0, OPT_TEXT, AT(step), "NAME", .help = "of this step of the body, not of the whole pass" },
    { "full", 0, OPT_FLAG, AT(full), .help = "every pass in full, not what changed" },
    { "json", 0, OPT_FLAG, AT(json), .help = "a line of JSON for each pass or item" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_history = {
    .name = "history", .args = "RUN LOOP", .min_args = 2, .max_args = 2,
    .summary = "a loop of a run, pass by pass",
    .about = "LOOP is its path, as 'refine' or 'outer.2.inner'.  The first pass is shown in full, of\n"
             "each later one what changed, with its score and which is the best; of one that failed,\n"
             "why.  Messages to the loop stand at the pass that has heard them.  Of a forEach every\n"
             "item is shown in full.",
    .options = options, .size = sizeof(struct run_args), .run = cmd_history,
};
