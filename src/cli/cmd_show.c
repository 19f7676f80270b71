/* cmd_show.c - rondo show RUN [PATH]: what a run came to, as a tree, or one step of it in full. */
#include "cli/asked.h"
#include "cli/commands.h"
#include "cli/running.h"
#include "cli/show.h"
#include "cli/standing.h"
#include "cli/store_path.h"
#include "cli/view.h"
#include "data/value.h"
#include "engine/shell.h"
#include "io/here.h"
#include "run/usage.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ANSWERS_SHOWN 20 // of people, the last ones
#define ANSWER_WIDTH  60

/* What is read of one step: how the loop at its path ended last, and its attempts. */
struct reading {
    const char *path;
    const char *id; // without attempts
    int64_t idle_ns;
    json_t *end, *tries;
};

static const char *status_after(const rondo_event *ev)
{
    switch (ev->type) {
    case RONDO_EV_STEP_START:
    case RONDO_EV_GATE_ANSWERED: return "running";
    case RONDO_EV_GATE_WAITING: return "waiting";
    case RONDO_EV_STEP_END: return rondo_status_text(RONDO_STATUS_COMPLETED);
    case RONDO_EV_STEP_FAILED: return rondo_status_text(RONDO_STATUS_FAILED);
    case RONDO_EV_STEP_SKIPPED: return rondo_status_text(RONDO_STATUS_SKIPPED);
    case RONDO_EV_STEP_CANCELLED: return rondo_status_text(RONDO_STATUS_CANCELLED);
    default: return NULL;
    }
}

static json_t *find_try(const json_t *tries, const char *path)
{
    for (size_t i = json_array_size(tries); i-- > 0;)
        if (strcmp(json_string_value(json_object_get(json_array_get(tries, i), "path")), path) == 0)
            return json_array_get(tries, i);
    return NULL;
}

static bool is_at_work(const json_t *one)
{
    const char *status = json_string_value(json_object_get(one, "status"));
    return status && (strcmp(status, "running") == 0 || strcmp(status, "waiting") == 0);
}

/* A crash or a change of the workflow has cut an attempt off when the next one starts; nobody knows how long it
   took. */
static void end_last(const json_t *tries)
{
    json_t *last = json_array_get(tries, json_array_size(tries) - 1);
    if (!is_at_work(last))
        return;
    json_object_set_new(last, "status", json_string("cut off"));
    json_object_del(last, "durationMs");
}

/* Times do not count the time in which nobody drove the run. */
static void note_try(struct reading *reading, const rondo_event *ev)
{
    const char *status = status_after(ev), *path = status ? rondo_event_path(ev) : "";
    auto_buf struct buf id = { 0 };
    int64_t at_ms = (ev->time_ns - reading->idle_ns) / 1000000;
    path_put_id(&id, path);
    if (!status || strcmp(buf_text(&id), reading->id) != 0)
        return;
    json_t *one = find_try(reading->tries, path), *message = json_object_get(ev->value, "message");
    if (!one || ev->type == RONDO_EV_STEP_START) {
        end_last(reading->tries);
        one = json_pack("{s:s, s:I}", "path", path, "atMs", (json_int_t)at_ms);
        json_array_append_new(reading->tries, one);
    }
    json_object_set_new(one, "status", json_string(status));
    json_object_set_new(one, "durationMs", json_integer(at_ms - json_integer_value(json_object_get(one, "atMs"))));
    if (ev->type == RONDO_EV_STEP_FAILED && message)
        json_object_set(one, "error", message);
}

static void read_step(struct running *r, const char *path, json_t **ret_end, json_t **ret_tries)
{
    const rondo_event *ev;
    auto_buf struct buf id = { 0 };
    path_put_id(&id, path);
    struct reading reading = { .path = path, .id = buf_text(&id), .tries = json_array() };
    while ((ev = rondo_run_next(r->run))) {
        bool is_taken_up = ev->type == RONDO_EV_RESUMED || ev->type == RONDO_EV_REOPENED || ev->type == RONDO_EV_FORKED;
        reading.idle_ns += is_taken_up ? ev->num : 0;
        note_try(&reading, ev);
        if (ev->type != RONDO_EV_LOOP_END || !path_is_of(rondo_event_path(ev), path))
            continue;
        json_decref(reading.end);
        reading.end = loop_end_value(ev);
    }
    for (size_t i = 0; i < json_array_size(reading.tries); i++)
        json_object_del(json_array_get(reading.tries, i), "atMs");
    *ret_end = reading.end;
    *ret_tries = reading.tries;
}

static void put_loop_json(json_t *step, const rondo_result *res, json_t *end)
{
    json_object_update(step, end);
    json_object_set_new(step, "reason", json_string(rondo_reason_text(res->reason)));
    json_object_set_new(step, "passes", json_integer(res->passes));
    if (res->best < 0)
        return;
    json_object_set_new(step, "best", json_integer(res->best));
    json_object_set_new(step, "score", json_real(res->score));
}

static json_t *result_json(const char *path, const rondo_result *res, json_t *end)
{
    json_t *step = json_pack("{s:s, s:s, s:I}", "path", path, "status", rondo_status_text(res->status),
                             "durationMs", (json_int_t)res->duration_ms);
    json_object_set_new(step, "content", json_string(res->content));
    if (res->output)
        json_object_set(step, "output", res->output);
    if (*res->error)
        json_object_set_new(step, "error", json_string(res->error));
    if (res->reason)
        put_loop_json(step, res, end);
    json_object_set_new(step, "usage", usage_value(&res->usage));
    if (!usage_is_none(&res->lost))
        json_object_set_new(step, "lost", usage_value(&res->lost));
    return step;
}

static void print_json(json_t *value)
{
    char *text = rondo_value_text(value);
    puts(text);
    rondo_text_free(text);
    json_decref(value);
}

/* ---- one step --------------------------------------------------------------------------------------------- */

static void put_usage(struct buf *out, const char *before, const rondo_usage *usage)
{
    auto_buf struct buf text = { 0 };
    view_put_usage(&text, usage, "  ");
    if (text.len)
        buf_printf(out, "%s%s", before, buf_text(&text));
}

/* What of the tokens was read from a cache, written to one, or thought. */
static void put_parts(struct buf *out, const rondo_usage *usage)
{
    const struct {
        const char *name;
        int64_t tokens;
    } parts[] = { { "read from cache", usage->cache_read_tokens },
                  { "written to cache", usage->cache_write_tokens },
                  { "reasoning", usage->reasoning_tokens } };
    const char *before = "  (";
    for (size_t i = 0; i < COUNT(parts); i++) {
        if (!parts[i].tokens)
            continue;
        buf_puts(out, before);
        view_put_amount(out, parts[i].tokens);
        buf_printf(out, " %s", parts[i].name);
        before = ", ";
    }
    if (*before == ',')
        buf_putc(out, ')');
}

static void put_facts(struct buf *out, const rondo_result *res, const json_t *end)
{
    buf_puts(out, rondo_status_text(res->status));
    buf_puts(out, "  ");
    view_put_time(out, res->duration_ms * 1000000);
    if (res->reason) {
        buf_puts(out, "  ");
        view_put_passes(out, res->passes, res->reason);
    }
    if (res->reason && res->best >= 0)
        buf_printf(out, ", best: pass %lld with %g", (long long)res->best + 1, res->score);
    put_usage(out, "  ", &res->usage);
    if (!usage_is_none(&res->lost))
        put_usage(out, "  lost ", &res->lost);
    put_parts(out, &res->usage);
    buf_putc(out, '\n');
    const char *why = json_string_value(json_object_get(end, "why"));
    if (why) {
        show_line(out, why, strlen(why));
        buf_putc(out, '\n');
    }
}

static void put_result(struct buf *out, const rondo_result *res, const json_t *end)
{
    put_facts(out, res, end);
    show_lines(out, res->error, strlen(res->error));
    buf_puts(out, *res->error ? "\n" : "");
    show_lines(out, res->content, strlen(res->content));
    buf_puts(out, *res->content ? "\n" : "");
}

/* Why one failed stands below it. */
static void put_tries(struct buf *out, const json_t *tries)
{
    buf_printf(out, "%zu attempt%s:\n", json_array_size(tries), json_array_size(tries) == 1 ? "" : "s");
    for (size_t i = 0; i < json_array_size(tries); i++) {
        const json_t *one = json_array_get(tries, i);
        const char *path = json_string_value(json_object_get(one, "path"));
        const char *error = json_string_value(json_object_get(one, "error"));
        buf_puts(out, "  ");
        show_line(out, path, strlen(path));
        const json_t *took = json_object_get(one, "durationMs");
        buf_printf(out, "  %s%s", json_string_value(json_object_get(one, "status")), took ? "  " : "");
        if (took)
            view_put_time(out, json_integer_value(took) * 1000000);
        buf_putc(out, '\n');
        for (size_t len; error && *error; error += len + (error[len] == '\n')) {
            len = strcspn(error, "\n");
            buf_puts(out, "    ");
            show_line(out, error, len);
            buf_putc(out, '\n');
        }
    }
}

/* The step was tried before and is at it again: what it came to is not what there was before. */
static bool is_at_it(const json_t *tries, const char *path)
{
    const json_t *last = json_array_get(tries, json_array_size(tries) - 1);
    return !strchr(path, '~') && is_at_work(last);
}

static int show_step(struct running *r, const char *path)
{
    rondo_result res;
    auto_buf struct buf out = { 0 };
    auto_json json_t *end = NULL, *tries = NULL;
    read_step(r, path, &end, &tries);
    bool has_ended = !is_at_it(tries, path) && look_find_last(r->run, path, &res) == 0;
    if (!has_ended && !json_array_size(tries))
        return command_fail(r->line->command, "run %s has no step '%s' that has begun", r->shown_id, path);
    if (r->args->json) {
        json_t *step = has_ended ? result_json(path, &res, res.reason ? end : NULL) : json_pack("{s:s}", "path", path);
        json_object_set(step, "attempts", tries);
        print_json(step);
        return EXIT_OK;
    }
    if (has_ended)
        put_result(&out, &res, res.reason ? end : NULL);
    if (!has_ended || json_array_size(tries) > 1)
        put_tries(&out, tries);
    fwrite(out.data, 1, out.len, stdout);
    return EXIT_OK;
}

/* ---- the whole run ---------------------------------------------------------------------------------------- */

static void put_kids(json_t *list, const struct row *row);

static json_t *row_json(const struct row *row)
{
    auto_buf struct buf path = { 0 };
    json_t *kids = json_array(), *step = json_object();
    row_put_path(&path, row);
    json_object_set_new(step, "path", json_string(buf_text(&path)));
    json_object_set_new(step, "status", json_string(row_state_text(row_state(row))));
    if (row->start_ns && row->end_ns > row->start_ns) // else it never began
        json_object_set_new(step, "durationMs", json_integer((row->end_ns - row->start_ns) / 1000000));
    if (row_is_loop(row) && row->passes)
        json_object_set_new(step, "passes", json_integer(row->passes));
    if (row_is_loop(row) && row->reason)
        json_object_set_new(step, "reason", json_string(rondo_reason_text(row->reason)));
    if (row_is_loop(row) && row->end)
        json_object_update(step, row->end);
    if (row->error)
        json_object_set_new(step, "error", json_string(row->error));
    json_object_set_new(step, "usage", usage_value(&row->usage));
    put_kids(kids, row);
    if (json_array_size(kids))
        json_object_set_new(step, "steps", kids);
    else
        json_decref(kids);
    return step;
}

/* Containers without a name stand for what is in them. */
static void put_kids(json_t *list, const struct row *row)
{
    for (uint32_t i = 0; i < row->kid_count; i++) {
        if (row->kids[i] && row_is_seen(row->kids[i]))
            json_array_append_new(list, row_json(row->kids[i]));
        else if (row->kids[i])
            put_kids(list, row->kids[i]);
    }
}

/* What was spent before the fork is not the fork's own. */
static void put_origin(struct running *r, const struct rows *rows, struct buf *out)
{
    const char *from = json_string_value(json_object_get(r->about, "forkedFrom"));
    if (!from)
        return;
    buf_puts(out, "forked from ");
    show_line(out, from, strlen(from));
    put_usage(out, ", which had spent ", &rows->inherited);
    buf_putc(out, '\n');
}

static void put_next(struct buf *out, const char *before, const struct running *r, const char *command,
                     const char *rest)
{
    buf_puts(out, before);
    running_put_next(r, command, r->id, rest, out);
    buf_putc(out, '\n');
}

/* What the tree does not say. */
static void put_head(struct running *r, const struct rows *rows, struct buf *out)
{
    const struct store_run *row = store_about(r->run->journal);
    const char *file = json_string_value(json_object_get(r->about, "file"));
    const char *folder = json_string_value(json_object_get(r->about, HERE_KEY));
    buf_puts(out, "started ");
    view_put_moment(out, row->start_ns, true);
    if (file) {
        buf_puts(out, " from ");
        show_line(out, file, strlen(file));
    }
    if (folder) {
        buf_puts(out, " in ");
        show_folder(out, folder);
    }
    buf_putc(out, '\n');
    put_origin(r, rows, out);
    if (*row->session) {
        buf_puts(out, "session ");
        show_line(out, row->session, strlen(row->session));
        buf_putc(out, '\n');
    }
    if (*row->holder)
        buf_printf(out, "driven by %s\n", row->holder);
    else if (r->status == RONDO_STATUS_RUNNING && r->node)
        buf_puts(out, "nobody drives it; only the program that has started it can go on\n");
    else if (r->status == RONDO_STATUS_RUNNING)
        put_next(out, "nobody drives it: ", r, "resume", "");
}

/* ---- what people were asked --------------------------------------------------------------------------------- */

static void add_answer(json_t *answers, const rondo_event *ev)
{
    json_t *by = json_object_get(ev->value, "by");
    if (rondo_event_type(ev) == RONDO_EV_GATE_ANSWERED)
        json_array_append_new(answers, json_pack("{s:s, s:O, s:O*, s:I}", "path", rondo_event_path(ev), "value",
                                                 json_object_get(ev->value, "value"), "by", by, "atMs",
                                                 (json_int_t)rondo_event_time_ms(ev)));
}

static void put_answer(struct buf *out, const json_t *answer)
{
    auto_buf struct buf text = { 0 }, clean = { 0 };
    const char *path = json_string_value(json_object_get(answer, "path"));
    const char *by = json_string_value(json_object_get(answer, "by"));
    value_put_content(&text, json_object_get(answer, "value"));
    buf_puts(out, "answered ");
    show_line(out, path, strlen(path));
    buf_puts(out, ": ");
    show_line(&clean, buf_text(&text), text.len);
    show_cut(out, buf_text(&clean), clean.len, ANSWER_WIDTH, false);
    buf_puts(out, "  by ");
    show_line(out, by ? by : "somebody", strlen(by ? by : "somebody"));
    buf_puts(out, ", ");
    view_put_moment(out, json_integer_value(json_object_get(answer, "atMs")) * 1000000, true);
    buf_putc(out, '\n');
}

/* Is there a question that nobody has answered yet? */
static bool is_asking(const struct gates *gates, const json_t *letters)
{
    for (uint32_t i = 0; i < gates->count; i++)
        if (!asked_answer(letters, gates->open[i].path))
            return true;
    return false;
}

/* The last answers, and what is open. */
static void put_people(struct buf *out, struct running *r, const struct gates *gates, const json_t *answers,
                       const json_t *letters)
{
    size_t count = json_array_size(answers);
    for (size_t i = count > ANSWERS_SHOWN ? count - ANSWERS_SHOWN : 0; i < count; i++)
        put_answer(out, json_array_get(answers, i));
    for (uint32_t i = 0; i < gates->count; i++)
        asked_put(out, "asks ", r, &gates->open[i], letters);
    if (is_asking(gates, letters) && r->flow)
        put_next(out, "answer with: ", r, "answer", " PATH VALUE");
}

static void print_run(struct running *r, const struct rows *rows, const struct gates *gates, json_t *answers,
                      const json_t *letters)
{
    json_t *steps = json_array(), *asks = json_array();
    put_kids(steps, rows->root);
    for (uint32_t i = 0; i < gates->count; i++)
        json_array_append_new(asks, asked_json(&gates->open[i], letters));
    print_json(json_pack("{s:s, s:s, s:s, s:o, s:O, s:o, s:O}", "id", r->id, "name", r->name, "status",
                         standing_text(store_about(r->run->journal)), "steps", steps, "about", r->about, "asks", asks,
                         "answers", answers));
}

/* How far time has come for a run that goes on: as 'rondo runs' has it, and when its process is gone, as its log
   has. */
static int64_t seen_ns(struct running *r, const struct rows *rows)
{
    const struct store_run *row = store_about(r->run->journal);
    if (*row->holder)
        return shell_now_ns(r->engine);
    return row->waiting ? row->end_ns : rows->last_ns;
}

static void put_histories(struct running *r, const struct rows *rows, struct buf *out)
{
    auto_buf struct buf store = { 0 };
    store_path_put_option(store_path(r->store), &store);
    rows_put_histories(out, rows, r->id, buf_text(&store), "", "");
}

static int show_run(struct running *r)
{
    struct term term;
    const rondo_event *ev;
    auto_buf struct buf out = { 0 };
    auto_json json_t *answers = json_array(), *letters = NULL;
    struct gates gates = { 0 };
    rondo_error err;
    if (store_inbox(r->run->journal, &letters, &err) < 0)
        return running_fail(r, &err);
    struct rows *rows = rows_new(r->run->node);
    rows->keeps_all = r->args->json;
    rows->shows_best = !r->args->json;
    while ((ev = rondo_run_next(r->run))) {
        rows_event(rows, ev);
        gates_past(&gates, ev);
        add_answer(answers, ev);
    }
    if (r->args->json) {
        print_run(r, rows, &gates, answers, letters);
    } else {
        term_init(&term, STDOUT_FILENO, r->line->no_color);
        put_head(r, rows, &out);
        view_put(&out, &(struct view){ .rows = rows, .title = r->name, .term = &term,
                                       .idle = standing_idle(store_about(r->run->journal)),
                                       .now_ns = seen_ns(r, rows) });
        put_people(&out, r, &gates, answers, letters);
        put_histories(r, rows, &out);
        fwrite(out.data, 1, out.len, stdout);
    }
    rows_free(rows);
    gates_clear(&gates);
    return EXIT_OK;
}

static int show(struct running *r)
{
    const struct texts *args = &r->line->args;
    return args->count == 2 ? show_step(r, args->list[1]) : show_run(r);
}

static int cmd_show(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { running_find, running_look, show };
    struct running r = { .line = line, .args = line->options, .command = "show",
                         .file = line->args.list[0], .only_looks = true, .looks_at_any = true };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct run_args, field)

static const struct option options[] = {
    { "json", 0, OPT_FLAG, AT(json), .help = "as JSON" },
    { "store", 0, OPT_TEXT, AT(store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_show = {
    .name = "show", .args = "RUN [PATH]", .min_args = 1, .max_args = 2,
    .summary = "what came out of a run, or of one step",
    .about = "The run as a tree with statuses, durations, tokens, cost and reasons, what people were\n"
             "asked, and who answered.  With PATH, as events have it ('refine.2.draft'; 'refine.draft'\n"
             "is the pass that counts), everything that this step gave.  If it was tried more than\n"
             "once, or has not ended, its attempts follow, with their errors.  Of a long forEach the\n"
             "tree has the items that ended last and counts the others; --json has all.  What a fork's\n"
             "past has cost stands apart.",
    .options = options, .size = sizeof(struct run_args), .run = cmd_show,
};
