/* cmd_answer.c - rondo answer RUN [PATH VALUE]: what a stored run asks a person, and the answer.

   The first answer counts.  From looking at the gate until the answer is in the store nobody else can write there,
   so of two people who answer at once the second one sees that the first was there. */
#include "cli/asked.h"
#include "cli/commands.h"
#include "cli/given.h"
#include "cli/running.h"
#include "cli/show.h"
#include "data/value.h"
#include "engine/flows.h"
#include "engine/shell.h"
#include "run/asks.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define REVIEW_NAME ".review" // of a gate, behind the path of the step that it is about

struct answer_args {
    struct run_args run;
    const char *by;
};

static int list(struct running *r, const struct gates *gates)
{
    auto_buf struct buf out = { 0 };
    auto_json json_t *all = json_array();
    auto_json json_t *letters = NULL;
    rondo_error err;
    if (store_inbox(r->run->journal, &letters, &err) < 0)
        return running_fail(r, &err);
    for (uint32_t i = 0; i < gates->count; i++) {
        json_array_append_new(all, asked_json(&gates->open[i], letters));
        asked_put(&out, "", r, &gates->open[i], letters);
    }
    if (r->args->json) {
        buf_clear(&out);
        char *text = rondo_value_text(all);
        buf_printf(&out, "%s\n", text);
        rondo_text_free(text);
    }
    if (out.len)
        fwrite(out.data, 1, out.len, stdout);
    if (!gates->count && !r->args->quiet)
        command_say(r->line->command, "run %s asks nothing", r->shown_id);
    return EXIT_OK;
}

/* What the log says about a gate that is not open. */
struct answered {
    json_t *value; // { value, by }; NULL: it was not answered
    int64_t at_ns;
    bool was_open;
};

/* Of the path of a gate that stands below its step: how much of it is the step's; 0: it is a step itself. */
static size_t step_len(const char *path)
{
    const char *last = strrchr(path, '.');
    size_t review = strlen(REVIEW_NAME), ask = strlen(ASKS_NAME);
    bool is_review = last && strncmp(last, REVIEW_NAME, review) == 0 && (!last[review] || last[review] == '~');
    bool is_ask = last && strncmp(last, ASKS_NAME, ask) == 0;
    return is_review || is_ask ? (size_t)(last - path) : 0;
}

/* By its path, or by its name alone, which attempts do not change. */
static bool is_step(const char *path, size_t len, const char *text)
{
    size_t name = len, want = strlen(text);
    while (name && path[name - 1] != '.')
        name--;
    size_t end = name + strcspn(path + name, "~.");
    return (want == len && memcmp(path, text, len) == 0) ||
           (want == end - name && memcmp(path + name, text, want) == 0);
}

/* A gate has its path and its name; one that stands below a step also that step's. */
static bool is_meant(const char *path, const char *id, const char *text)
{
    size_t len = step_len(path);
    return strcmp(id, text) == 0 || strcmp(path, text) == 0 || (len && is_step(path, len, text));
}

/* By its path, or by another of its names when no other gate has that. */
static const struct gate_open *find(const struct gates *gates, const char *path, uint32_t *ret_count)
{
    const struct gate_open *found = NULL;
    *ret_count = 0;
    for (uint32_t i = 0; i < gates->count; i++) {
        if (strcmp(gates->open[i].path, path) == 0)
            return &gates->open[i];
        if (!is_meant(gates->open[i].path, gates->open[i].id, path))
            continue;
        found = &gates->open[i];
        ++*ret_count;
    }
    return *ret_count == 1 ? found : NULL;
}

static int say_answered(struct running *r, const char *path, const json_t *what, int64_t at_ns)
{
    const char *by = json_string_value(json_object_get(what, "by"));
    auto_buf struct buf text = { 0 }, at = { 0 }, who = { 0 };
    value_put_json(&text, json_object_get(what, "value"));
    show_line(&who, by ? by : "somebody", strlen(by ? by : "somebody"));
    if (at_ns) {
        buf_puts(&at, " at ");
        line_put_time(&at, at_ns - at_ns % 1000000000);
    }
    return command_fail(r->line->command, "gate '%s' was answered already by %s%s: %s", path, buf_text(&who),
                        buf_text(&at), buf_text(&text));
}

static int refuse(struct running *r, const struct gates *gates, const struct answered *past, uint32_t count)
{
    const char *path = r->line->args.list[1];
    if (count)
        command_fail(r->line->command, "'%s' means several open gates: give the path of one", path);
    else if (past->value)
        say_answered(r, path, past->value, past->at_ns);
    else if (r->status != RONDO_STATUS_RUNNING)
        command_fail(r->line->command, "run %s has ended: it is %s", r->shown_id, rondo_status_text(r->status));
    else if (past->was_open)
        command_fail(r->line->command, "gate '%s' is closed: nobody answered it in time", path);
    else
        command_fail(r->line->command, "run %s has no open gate '%s'", r->shown_id, path);
    for (uint32_t i = 0; i < gates->count; i++)
        if (!count || is_meant(gates->open[i].path, gates->open[i].id, path))
            fprintf(stderr, "  open: %s\n", gates->open[i].path);
    return EXIT_USAGE;
}

static const char *who(const struct answer_args *args)
{
    const struct passwd *me = getpwuid(getuid()); // where nobody is logged in: containers, timers
    const char *names[] = { args->by, getlogin(), getenv("LOGNAME"), getenv("USER"), me ? me->pw_name : NULL };
    for (size_t i = 0; i < COUNT(names); i++)
        if (names[i] && *names[i])
            return names[i];
    return "rondo answer";
}

static int check_answer(rondo_run *run, const struct gate_open *gate, json_t *value, rondo_error *err)
{
    if (gates_is_unclear(gate, value))
        return err_set(err, RONDO_EINVAL, "expected %s", GATES_REVIEW);
    return later_check_answer(run, gate->path, value, err);
}

static int send(struct running *r, const struct gate_open *gate, const char *text)
{
    rondo_error err;
    auto_json json_t *letters = NULL, *value = gates_typed(gate, text, strlen(text));
    if (store_inbox(r->run->journal, &letters, &err) < 0)
        return running_fail(r, &err);
    const json_t *first = asked_answer(letters, gate->path);
    if (first)
        return say_answered(r, gate->path, first, 0);
    if (!value)
        return command_fail(r->line->command, "the answer is not UTF-8");
    if (check_answer(r->run, gate, value, &err) < 0 && flows_hide(r->flow, value, &err) < 0)
        return command_fail(r->line->command, "gate '%s': %s", gate->path,
                            given_is_huge(text, strlen(text)) ? GIVEN_HUGE : err.message);
    auto_json json_t *what = json_pack("{s:s, s:s, s:o, s:s}", "kind", "answer", "path", gate->path, "value",
                                       flows_clean(r->flow, TAKE(value)), "by", who(r->line->options));
    if (!what)
        return command_fail(r->line->command, "the name is not UTF-8");
    if (store_send(r->store, r->id, what, &err) < 0)
        return running_fail(r, &err);
    if (!r->args->quiet && *r->holder)
        command_say(r->line->command, "%s takes it", r->holder);
    else if (!r->args->quiet)
        running_tell_kept(r);
    return EXIT_OK;
}

static void look_back(struct answered *past, const rondo_event *ev, const char *path)
{
    int type = rondo_event_type(ev);
    if ((type != RONDO_EV_GATE_WAITING && type != RONDO_EV_GATE_ANSWERED) ||
        !is_meant(rondo_event_path(ev), rondo_event_step(ev), path))
        return;
    json_decref(TAKE(past->value));
    past->was_open = true;
    if (type == RONDO_EV_GATE_ANSWERED)
        past->value = json_incref(ev->value);
    past->at_ns = ev->time_ns;
}

static int answer(struct running *r)
{
    const struct texts *args = &r->line->args;
    struct gates gates = { 0 };
    struct answered past = { 0 };
    const rondo_event *ev;
    uint32_t count = 0;
    int code;
    while ((ev = rondo_run_next(r->run))) {
        gates_past(&gates, ev);
        if (args->count == 3)
            look_back(&past, ev, args->list[1]);
    }
    const struct gate_open *gate = args->count == 3 ? find(&gates, args->list[1], &count) : NULL;
    if (args->count == 1)
        code = list(r, &gates);
    else
        code = gate ? send(r, gate, args->list[2]) : refuse(r, &gates, &past, count);
    store_rollback(r->store); // what was not sent
    json_decref(past.value);
    gates_clear(&gates);
    return code;
}

static int check_within(struct running *r)
{
    return r->line->args.count == 3 ? running_check_within(r) : EXIT_OK;
}

/* Nobody else answers from now on. */
static int hold(struct running *r)
{
    rondo_error err;
    return r->line->args.count == 3 && store_hold(r->store, &err) < 0 ? running_fail(r, &err) : EXIT_OK;
}

static int check(struct running *r)
{
    if (r->line->args.count == 2)
        return usage_error(r->line->command, "an answer needs the path of a gate and a value");
    return EXIT_OK;
}

static int cmd_answer(const struct cmdline *line)
{
    static int (*const stages[])(struct running *r) = { check, running_find, check_within, hold, running_look, answer };
    const struct answer_args *args = line->options;
    struct running r = { .line = line, .args = &args->run, .command = "answer",
                         .file = line->args.list[0], .only_looks = line->args.count == 1 };
    return running_go(&r, stages, COUNT(stages));
}

#define AT(field) OPTION_AT(struct answer_args, field)

static const struct option options[] = {
    { "by", 0, OPT_TEXT, AT(by), "NAME", .help = "who answers; else who is logged in" },
    { "json", 0, OPT_FLAG, AT(run.json), .help = "the list of open questions as JSON" },
    { "quiet", 'q', OPT_FLAG, AT(run.quiet), .help = "say nothing but errors on stderr" },
    { "store", 0, OPT_TEXT, AT(run.store), "PATH", .help = "where the run is kept" },
    { NULL }
};

const struct cmd command_answer = {
    .name = "answer", .args = "RUN [PATH VALUE]", .min_args = 1, .max_args = 3,
    .summary = "answer a gate of a run",
    .about = "With RUN alone: what it asks.  PATH is the gate's, as shown there.  The path or name of its\n"
             "step will do where only one gate is meant.  VALUE is text or JSON, as the gate's schema\n"
             "wants it.  A wrong answer is refused, and of several the first counts.  A tool that an\n"
             "agent wants to call is answered with y, n or a (always).  If a process drives the run, it\n"
             "takes the answer at once; else 'rondo resume' does.  A command that a run has started\n"
             "cannot answer its gates.",
    .options = options, .size = sizeof(struct answer_args), .run = cmd_answer,
};
