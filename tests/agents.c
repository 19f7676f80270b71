/* agents.c - the bots, and how a trial is run. */
#include "agents.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_add(struct text *text, const char *fmt, ...)
{
    va_list args;
    va_start(args, fmt);
    int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (text->len + (size_t)n + 1 > text->cap) {
        text->cap = (text->len + (size_t)n + 1) * 2;
        text->data = realloc(text->data, text->cap);
        CHECK(text->data != NULL);
    }
    va_start(args, fmt);
    vsnprintf(text->data + text->len, (size_t)n + 1, fmt, args);
    va_end(args);
    text->len += (size_t)n;
}

const char *json_text(const rondo_value *value)
{
    static char *buffers[8];
    static int at;
    at = (at + 1) % 8;
    free(buffers[at]);
    buffers[at] = value ? rondo_value_text(value) : NULL;
    return value ? buffers[at] : "none";
}

rondo_value *json_of(const char *text)
{
    rondo_error err = { 0 };
    rondo_value *value = rondo_value_parse(text, &err);
    if (!value)
        FAIL("'%s' is not JSON: %s", text, err.message);
    return value;
}

/* ---- bots --------------------------------------------------------------------------------- */

static void note(char *list, size_t size, const char *text)
{
    size_t len = strlen(list);
    if (len + strlen(text) + 2 < size)
        snprintf(list + len, size - len, "%s%s", len ? " " : "", text);
}

static rondo_value *bot_output(struct bot *bot, rondo_value *input)
{
    char text[1024];
    switch (bot->does) {
    case ECHO: return json_incref(input);
    case ADD: return json_integer(json_integer_value(input) + bot->n);
    case TIMES: return json_integer(json_integer_value(input) * bot->n);
    case GIVE: return json_of(bot->text);
    case NOTHING: return json_string("");
    case APPEND:
        snprintf(text, sizeof text, "%s%s", json_is_string(input) ? json_string_value(input) : "",
                 bot->text);
        return json_string(text);
    case REFUSE: break;
    }
    return NULL;
}

static void bot_signal(struct bot *bot, rondo_task *task)
{
    switch (bot->signal) {
    case NO_SIGNAL: break;
    case BREAK: CHECK_INT(rondo_task_break(task, bot->target), 0); break;
    case CONTINUE: CHECK_INT(rondo_task_continue(task), 0); break;
    case ESCALATE: CHECK_INT(rondo_task_escalate(task), 0); break;
    }
}

void bot_run(rondo_task *task, void *user)
{
    struct bot *bot = user;
    int call = bot->calls++;
    note(bot->seen, sizeof bot->seen, json_text(rondo_task_input(task)));
    note(bot->paths, sizeof bot->paths, rondo_task_path(task));
    if (bot->also)
        bot->also(task, bot);
    if (call < bot->fails) {
        rondo_task_fail(task, RONDO_EFAILED, "try %d failed", call + 1);
        return;
    }
    if (call == bot->signal_at)
        bot_signal(bot, task);
    if (bot->does == REFUSE)
        rondo_task_fail(task, RONDO_EFAILED, "%s", bot->text);
    else if (bot->delay_ms)
        rondo_task_return_after(task, bot->delay_ms, bot_output(bot, rondo_task_input(task)));
    else
        rondo_task_return(task, bot_output(bot, rondo_task_input(task)));
}

rondo_node *bot_node(struct bot *bot)
{
    return rondo_agent_node(&(rondo_agent){
        RONDO_AGENT, .name = bot->name, .run = bot_run, .user = bot, .effects = bot->effects,
        .memory = bot->memory, .output_key = bot->output_key, .options = bot->options });
}

/* ---- trials ------------------------------------------------------------------------------- */

void trial_engine(struct trial *t)
{
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = !t->real_time,
                            .check_values = true };
    if (!t->engine)
        CHECK_INT(rondo_engine_new(&config, &t->engine, &t->err), 0);
}

void trial_end(struct trial *t)
{
    rondo_run_close(t->run);
    rondo_engine_free(t->engine);
    rondo_node_unref(t->node);
    rondo_text_free(t->output);
    free(t->log.data);
    free(t->json.data);
    free(t->picked.data);
}

void trial_start(struct trial *t, rondo_node *node, const char *input)
{
    rondo_value *value = input ? json_of(input) : NULL;
    trial_engine(t);
    t->options.size = RONDO_RUN;
    t->node = node;
    t->rc = rondo_run_start(t->engine, node, value, &t->options, &t->run, &t->err);
    json_decref(value);
}

static void note_line(struct trial *t, const rondo_event *ev)
{
    const char *path = rondo_event_path(ev);
    double score;
    text_add(&t->log, "%s%s%s", rondo_event_name(ev), *path ? " " : "", path);
    switch (rondo_event_type(ev)) {
    case RONDO_EV_ITERATION_START:
    case RONDO_EV_ITERATION_END:
        text_add(&t->log, " pass %lld", (long long)rondo_event_pass(ev));
        if (rondo_event_score(ev, &score))
            text_add(&t->log, " score %g", score);
        break;
    case RONDO_EV_LOOP_END:
        text_add(&t->log, " %s %lld", rondo_reason_text(rondo_event_reason(ev)),
                 (long long)rondo_event_pass(ev));
        break;
    case RONDO_EV_WORKFLOW_END: text_add(&t->log, " %s", rondo_status_text(rondo_event_status(ev))); break;
    case RONDO_EV_STEP_END: text_add(&t->log, " = %s", json_text(rondo_event_value(ev))); break;
    case RONDO_EV_STEP_FAILED: text_add(&t->log, ": %s", rondo_event_text(ev)); break;
    case RONDO_EV_MESSAGE:
    case RONDO_EV_OUTPUT:
        text_add(&t->log, " %s: %s%s", rondo_event_author(ev), rondo_event_text(ev),
                 rondo_event_escalates(ev) ? " (escalates)" : "");
        break;
    case RONDO_EV_STATE:
    case RONDO_EV_NOTE: text_add(&t->log, " %s", json_text(rondo_event_value(ev))); break;
    default: break;
    }
    text_add(&t->log, "\n");
}

void trial_note(struct trial *t, const rondo_event *ev)
{
    if (!t->events++)
        t->began_ms = rondo_event_time_ms(ev);
    t->took_ms = rondo_event_time_ms(ev) - t->began_ms;
    note_line(t, ev);
    text_add(&t->json, "%s\n", rondo_event_json(ev, NULL));
    if (t->on_event)
        t->on_event(t, ev);
}

bool trial_next(struct trial *t)
{
    const rondo_event *ev = rondo_run_next(t->run);
    if (ev)
        trial_note(t, ev);
    return ev != NULL;
}

void trial_finish(struct trial *t)
{
    while (trial_next(t))
        ;
    t->rc = rondo_run_wait(t->run, &t->err);
    rondo_text_free(t->output);
    t->output = NULL;
    if (rondo_run_result(t->run, &t->result) == 0 && t->result.output)
        t->output = rondo_value_text(t->result.output);
}

void trial_run(struct trial *t, rondo_node *node, const char *input)
{
    trial_start(t, node, input);
    if (t->rc < 0)
        FAIL("the run did not start: %s", t->err.message);
    trial_finish(t);
}

void trial_recover(struct trial *t, rondo_node *node, const char *log, size_t len)
{
    trial_engine(t);
    t->options.size = RONDO_RUN;
    t->node = node;
    t->rc = rondo_run_recover(t->engine, node, log, len, &t->options, &t->run, &t->err);
    if (t->rc < 0)
        FAIL("the run was not recovered: %s", t->err.message);
    trial_finish(t);
}

static bool begins_with_a_word(const char *line, const char *words)
{
    size_t len;
    for (; *words; words += len + (words[len] == ' ')) {
        len = strcspn(words, " ");
        if (strncmp(line, words, len) == 0 && strchr(" :\n", line[len]))
            return true;
    }
    return false;
}

const char *only(struct trial *t, const char *words)
{
    t->picked.len = 0;
    text_add(&t->picked, "%s", "");
    for (const char *at = t->log.data; at && *at; at = strchr(at, '\n') + 1)
        if (begins_with_a_word(at, words))
            text_add(&t->picked, "%s%.*s", t->picked.len ? "; " : "", (int)strcspn(at, "\n"), at);
    return t->picked.data;
}

int count(struct trial *t, const char *word)
{
    int n = 0;
    for (const char *at = t->log.data; at && *at; at = strchr(at, '\n') + 1)
        n += begins_with_a_word(at, word);
    return n;
}

const char *found(struct trial *t, const char *path)
{
    static char text[2048];
    rondo_result res;
    if (rondo_run_find(t->run, path, &res) < 0)
        return "none";
    if (res.status == RONDO_STATUS_COMPLETED)
        snprintf(text, sizeof text, "completed %s", json_text(res.output));
    else if (res.status == RONDO_STATUS_FAILED)
        snprintf(text, sizeof text, "failed: %s", res.error);
    else
        snprintf(text, sizeof text, "%s", rondo_status_text(res.status));
    return text;
}

/* ---- rules -------------------------------------------------------------------------------- */

int last_is_over(rondo_context *context, void *number)
{
    return json_integer_value(rondo_context_last(context)) > *(int64_t *)number;
}

int last_is_at_least(rondo_context *context, void *number)
{
    return json_integer_value(rondo_context_last(context)) >= *(int64_t *)number;
}

int input_is(rondo_context *context, void *json)
{
    return strcmp(json_text(rondo_context_input(context)), json) == 0;
}

int never(rondo_context *context, void *user)
{
    return 0;
}

int always(rondo_context *context, void *user)
{
    return 1;
}

rondo_value *last_until(rondo_context *context, void *number)
{
    rondo_value *last = rondo_context_last(context);
    return json_integer_value(last) >= *(int64_t *)number ? NULL : json_incref(last);
}

double last_as_score(rondo_context *context, void *user)
{
    rondo_value *last = rondo_context_last(context);
    return json_is_number(last) ? json_number_value(last) : NAN;
}

const char *refusal(rondo_node *node)
{
    static char text[1024];
    rondo_error err = { 0 };
    CHECK(node != NULL);
    if (rondo_node_check(node, &err) == 0)
        FAIL("the node was accepted");
    CHECK_INT(err.code, RONDO_EINVAL);
    CHECK_INT(rondo_node_kind(node), RONDO_KIND_INVALID);
    snprintf(text, sizeof text, "%s: %s", err.path, err.message);
    rondo_node_unref(node);
    return text;
}
