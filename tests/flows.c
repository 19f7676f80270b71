/* flows.c - actors and plays. */
#include "flows.h"

#include "flow/shape.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- actors ------------------------------------------------------------------------------------ */

static void copy_json(char *to, size_t size, const rondo_value *value)
{
    char *text = rondo_value_text(value);
    snprintf(to, size, "%s", text ? text : "");
    rondo_text_free(text);
}

static void look_around(struct actor *a, rondo_task *task)
{
    rondo_feedback fed;
    if (a->calls > ACTOR_SEEN)
        return;
    int i = a->calls - 1;
    copy_json(a->seen[i].in, sizeof a->seen[i].in, rondo_task_input(task));
    snprintf(a->seen[i].path, sizeof a->seen[i].path, "%s", rondo_task_path(task));
    a->seen[i].pass = rondo_task_pass(task);
    a->seen[i].index = rondo_task_index(task);
    a->seen[i].try_ = rondo_task_attempt(task);
    a->seen[i].fed = rondo_task_feedback(task, &fed);
    if (!a->seen[i].fed)
        return;
    snprintf(a->seen[i].feedback, sizeof a->seen[i].feedback, "%s", fed.text ? fed.text : "");
    copy_json(a->seen[i].previous, sizeof a->seen[i].previous, fed.previous);
    copy_json(a->seen[i].last, sizeof a->seen[i].last, fed.last);
    snprintf(a->seen[i].judge, sizeof a->seen[i].judge, "%s", fed.judge ? fed.judge : "");
    a->seen[i].attempt = fed.attempt;
}

static const char *line_of(const struct actor *a, int call)
{
    int i = 0;
    while (i < call && a->says[i + 1])
        i++;
    return a->says[i];
}

/* "%d" is the only thing that is replaced. */
static void fill_in(char *to, size_t size, const char *line, int call)
{
    const char *hole = strstr(line, "%d");
    if (hole)
        snprintf(to, size, "%.*s%d%s", (int)(hole - line), line, call, hole + 2);
    else
        snprintf(to, size, "%s", line);
}

static void answer(struct actor *a, rondo_task *task, json_t *output)
{
    CHECK(output != NULL);
    if (a->takes_ms)
        CHECK_INT(rondo_task_return_after(task, a->takes_ms, output), 0);
    else
        CHECK_INT(rondo_task_return(task, output), 0);
}

static json_t *echo(struct actor *a, rondo_task *task, bool numbered)
{
    char text[400];
    if (!numbered)
        return json_incref(rondo_task_input(task));
    snprintf(text, sizeof text, "%s%d", json_string_value(rondo_task_input(task)), a->calls);
    return json_string(text);
}

static void signal_and_answer(struct actor *a, rondo_task *task, char *line)
{
    char *text = line + 1;
    if (*line == '>') {
        rondo_task_continue(task);
    } else if (*text == '^') {
        text++;
        rondo_task_escalate(task);
    } else if (*text == '@') {
        char *colon = strchr(text, ':');
        *colon = '\0';
        rondo_task_break(task, text + 1);
        text = colon + 1;
    } else {
        rondo_task_break(task, NULL);
    }
    answer(a, task, json_string(text));
}

static void perform(rondo_task *task, void *user)
{
    struct actor *a = user;
    char line[400];
    a->calls++;
    look_around(a, task);
    if (a->spends.calls || a->spends.cost_nano || a->spends.input_tokens || a->spends.output_tokens)
        CHECK_INT(rondo_task_spend(task, &a->spends), 0);
    if (a->says) {
        fill_in(line, sizeof line, line_of(a, a->calls - 1), a->calls);
    } else {
        snprintf(line, sizeof line, "%s#%d", a->name, a->calls);
    }
    switch (*line) {
    case '!': rondo_task_fail(task, RONDO_EFAILED, "%s", line + 1); break;
    case '?': rondo_task_fail(task, RONDO_ERETRY, "%s", line + 1); break;
    case '^':
    case '>': signal_and_answer(a, task, line); break;
    case '=': answer(a, task, rondo_value_parse(line + 1, NULL)); break;
    case '<': answer(a, task, echo(a, task, line[1] == '+')); break;
    default: answer(a, task, json_string(line));
    }
}

rondo_node *actor_named(struct actor *a, const char *name)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = perform, .user = a,
                                            .description = a->description, .memory = a->memory,
                                            .output_key = a->output_key,
                                            .effects = a->effects, .options = a->options });
}

rondo_node *actor(struct actor *a)
{
    return actor_named(a, a->name);
}

#define PLAY_MOST 500000 // events; more means that it never ends

/* ---- plays ------------------------------------------------------------------------------------- */

static void note(struct play *p, const rondo_event *event)
{
    if (p->count % 256 == 0)
        p->said = realloc(p->said, (p->count + 256) * sizeof *p->said);
    if (!p->count)
        p->start_ms = rondo_event_time_ms(event);
    struct said *s = &p->said[p->count++];
    *s = (struct said){ .type = rondo_event_type(event), .status = rondo_event_status(event),
                        .reason = rondo_event_reason(event), .attempt = rondo_event_attempt(event),
                        .at_ms = rondo_event_time_ms(event) - p->start_ms,
                        .pass = rondo_event_pass(event), .score = NAN, .seq = rondo_event_seq(event) };
    if (rondo_event_node(event))
        s->kind = rondo_node_kind(rondo_event_node(event));
    s->scored = rondo_event_score(event, &s->score);
    snprintf(s->path, sizeof s->path, "%s", rondo_event_path(event));
    s->text = strdup(rondo_event_text(event));
}

/* What a run that is taken up again leaves behind counts no longer. */
static void note_undone(struct play *p, const rondo_event *event)
{
    const json_t *list = json_object_get(rondo_event_value(event), "undone");
    size_t k;
    json_t *seq;
    json_array_foreach(list, k, seq)
        for (size_t i = 0; i < p->count; i++)
            if (p->said[i].seq == (uint64_t)json_integer_value(seq))
                p->said[i].undone = true;
}

static void open_engine(struct play *p, rondo_node *node)
{
    rondo_config config = { RONDO_CONFIG, .seed = p->seed ? p->seed : 1, .virtual_time = true,
                            .check_values = true, .max_concurrency = p->max_concurrency };
    p->node = node;
    p->options.size = RONDO_RUN;
    CHECK_INT(rondo_engine_new(&config, &p->engine, NULL), 0);
}

static void play_out(struct play *p)
{
    const rondo_event *event;
    uint64_t seq = 0;
    while ((event = rondo_run_next(p->run))) {
        if (rondo_event_seq(event))
            CHECK_UINT(rondo_event_seq(event), ++seq);
        note(p, event);
        if (rondo_event_type(event) == RONDO_EV_REOPENED)
            note_undone(p, event);
        if (p->count > PLAY_MOST)
            FAIL("still going after %d events; the last is %s %s", PLAY_MOST,
                 rondo_event_name(event), rondo_event_path(event));
        if (p->on_event)
            p->on_event(p, event);
    }
    if (rondo_run_error(p->run, &p->err) < 0)
        FAIL("the run went wrong: %s", p->err.message);
    p->rc = rondo_run_wait(p->run, &p->err);
    CHECK_INT(rondo_run_result(p->run, &p->res), 0);
    p->res.content = strdup(p->res.content);
    p->res.error = strdup(p->res.error);
    p->output = p->res.output ? rondo_value_text(p->res.output) : strdup("null");
}

void play_flow(struct play *p, rondo_node *node, const char *input)
{
    json_t *value = input ? rondo_value_parse(input, NULL) : NULL;
    CHECK(!input || value);
    open_engine(p, node);
    if (rondo_run_start(p->engine, node, value, &p->options, &p->run, &p->err) < 0)
        FAIL("the run does not start: %s", p->err.message);
    json_decref(value);
    play_out(p);
}

void play_again(struct play *p, rondo_node *node, const char *log, size_t len)
{
    open_engine(p, node);
    p->options.from_start = true;
    if (rondo_run_recover(p->engine, node, log, len, &p->options, &p->run, &p->err) < 0)
        FAIL("the run does not go on: %s", p->err.message);
    play_out(p);
}

/* Whoever looks at a run without the functions of its definition sees the same. */
static void look_without_functions(struct play *p)
{
    rondo_error err = { 0 };
    rondo_result was = { 0 }, is = { 0 };
    rondo_run *run;
    size_t len;
    if (!p->run || !p->node || p->node->flow || p->node->bad || rondo_run_result(p->run, &was) < 0)
        return;
    const char *shape = shape_of(p->node);
    rondo_node *node = shape_node(shape, strlen(shape), &err);
    if (!node && strstr(err.message, "too large"))
        return;
    CHECK_STR(err.message, "");
    node->hash = p->node->hash;
    CHECK_STR(shape_of(node), shape);
    char *log = rondo_run_save(p->run, &len);
    CHECK_INT(rondo_run_recover(p->engine, node, log, len, NULL, &run, &err), 0);
    CHECK_STR(err.message, "");
    CHECK_INT(rondo_run_result(run, &is), 0);
    CHECK_INT(is.status, was.status);
    CHECK_INT(is.passes, was.passes);
    CHECK_INT(is.best, was.best);
    CHECK_STR(is.content, was.content);
    CHECK_STR(is.error, was.error);
    rondo_run_close(run);
    rondo_text_free(log);
    rondo_node_unref(node);
}

void play_end(struct play *p)
{
    look_without_functions(p);
    rondo_run_close(p->run);
    rondo_engine_free(p->engine);
    rondo_node_unref(p->node);
    for (size_t i = 0; i < p->count; i++)
        free(p->said[i].text);
    free(p->said);
    free((char *)p->res.content);
    free((char *)p->res.error);
    free(p->output);
    free(p->told);
}

static const char *type_name(int type)
{
    switch (type) {
#define NAME(name, number, text) case number: return text;
        RONDO_EVENTS(NAME)
#undef NAME
    default: return "?";
    }
}

static bool is_listed(const char *list, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = list; (at = strstr(at, name)); at += len)
        if ((at == list || at[-1] == ' ') && (at[len] == ' ' || !at[len]))
            return true;
    return false;
}

const char *play_told(struct play *p, const char *types)
{
    bool times = *types == '@';
    size_t len = 0, size = 1;
    for (size_t i = 0; i < p->count; i++)
        size += strlen(p->said[i].path) + 96;
    free(p->told);
    p->told = malloc(size);
    *p->told = '\0';
    types += times;
    for (size_t i = 0; i < p->count; i++) {
        const struct said *s = &p->said[i];
        if (!is_listed(types, type_name(s->type)))
            continue;
        len += (size_t)snprintf(p->told + len, size - len, "%s", len ? "; " : "");
        if (times)
            len += (size_t)snprintf(p->told + len, size - len, "%lld ", (long long)s->at_ms);
        len += (size_t)snprintf(p->told + len, size - len, "%s%s%s", type_name(s->type),
                                *s->path ? " " : "", s->path);
        if (s->type == RONDO_EV_ITERATION_START || s->type == RONDO_EV_ITERATION_END)
            len += (size_t)snprintf(p->told + len, size - len, " %lld", (long long)s->pass);
        if (s->type == RONDO_EV_LOOP_END)
            len += (size_t)snprintf(p->told + len, size - len, " %s %lld",
                                    rondo_reason_text(s->reason), (long long)s->pass);
        if (s->type == RONDO_EV_DETECTOR)
            len += (size_t)snprintf(p->told + len, size - len, " %s", rondo_reason_text(s->reason));
    }
    return p->told;
}

int play_count(const struct play *p, int type, const char *path)
{
    int n = 0;
    for (size_t i = 0; i < p->count; i++)
        n += p->said[i].type == type && (!path || strcmp(p->said[i].path, path) == 0);
    return n;
}

const struct said *play_find(const struct play *p, int type, const char *path)
{
    for (size_t i = 0; i < p->count; i++)
        if (p->said[i].type == type && strcmp(p->said[i].path, path) == 0)
            return &p->said[i];
    FAIL("there is no event %s %s", type_name(type), path);
}

int64_t play_ms(const struct play *p)
{
    return p->count ? p->said[p->count - 1].at_ms : 0;
}

rondo_result play_step(struct play *p, const char *path)
{
    rondo_result res;
    if (rondo_run_find(p->run, path, &res) < 0)
        FAIL("there is no step %s", path);
    return res;
}

const char *play_step_text(struct play *p, const char *path)
{
    return play_step(p, path).content;
}

const char *refused(rondo_node *node)
{
    static rondo_error err;
    memset(&err, 0, sizeof err);
    CHECK_INT(rondo_node_check(node, &err), RONDO_EINVAL);
    rondo_node_unref(node);
    return err.message;
}

/* ---- callbacks --------------------------------------------------------------------------------- */

int flow_always(rondo_context *context, void *user)
{
    return 1;
}

int flow_never(rondo_context *context, void *user)
{
    return 0;
}

int flow_error(rondo_context *context, void *user)
{
    return rondo_context_fail(context, RONDO_EFAILED, "the rule broke");
}

int flow_at_pass(rondo_context *context, void *user)
{
    return rondo_context_pass(context) + 1 >= *(int *)user;
}

int flow_text_is(rondo_context *context, void *user)
{
    return strcmp(rondo_context_text(context), user) == 0;
}

double flow_score_output(rondo_context *context, void *user)
{
    const json_t *last = rondo_context_last(context);
    return json_is_number(last) ? json_number_value(last) : NAN;
}
