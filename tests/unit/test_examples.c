/* test_examples.c - every example: cancelled at, and recovered from, each of its events.

   Each run that an example starts is first carried out here, on engines of its own: once
   undisturbed, for comparison, and then once for every event of it, where it is either cancelled
   or saved and recovered in another engine; or from a torn log; or driven in another way.  Agents
   are called through one function that knows what must not happen: work that begins after a
   cancel, or that is done again.

   Engines stay until the example's main has ended, so an example may have threads that answer
   late, as long as it waits for them before it frees its own engine. */
#include "steer.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENGINES_MAX 64
#define AGENTS_MAX 64
#define EVENTS_MAX 20000 // of one run; more is a run that does not end

/* What is special about some examples. */
static const struct special {
    const char *example;
    size_t endless;     // without an end of its own: looked at for so many events
    bool concurrent;    // after a crash work begins again, and may be overtaken
    bool spends;        // what work had cost before the crash is gone: it may come to less
    const char *gate, *answer; // a gate it has, and what that is answered with
    const char *cleanup;       // a step that still runs after a cancel
} specials[] = {
    { .example = "budget", .spends = true },
    { .example = "caller_stops", .endless = 40 },
    { .example = "cleanup", .cleanup = "concert.give_back" },
    { .example = "for_each", .concurrent = true },
    { .example = "forum", .concurrent = true },
    { .example = "parallel_loops", .concurrent = true },
    { .example = "reserve", .spends = true },
    { .example = "gate", .gate = "approval", .answer = "{\"approved\":true}" },
};

static struct {
    const char *name;
    const struct special *special;
    enum steer how;
    struct { rondo_engine *engine; rondo_config config; } engines[ENGINES_MAX];
    rondo_engine *own[ENGINES_MAX];
    rondo_agent agents[AGENTS_MAX];
    size_t engine_count, own_count, agent_count, runs, tries;
    size_t at;         // the event where it happens
    bool quiet;        // no agent may begin
    json_t *finished;  // paths of steps that ended before the crash
} it;

/* ---- a run, told as text ------------------------------------------------------------------------ */

/* A life of a run, or what followed from several of them. */
struct life {
    rondo_run *run;
    json_t *story;    // its events
    json_t *finished; // paths of the steps that have ended
    json_t *scopes;   // of memory, that were written to
    char *gate;       // path of the gate that waits, or NULL
    int last_type, last_status;
    size_t events;
};

/* What a run came to, as one line of JSON. */
static char *outcome(const struct life *life)
{
    rondo_result r;
    const char *scope;
    json_t *unused;
    if (rondo_run_result(life->run, &r) < 0)
        return strdup("not ended");
    json_t *all = json_pack("{s:s, s:O?, s:s, s:i, s:s, s:s, s:I, s:I, s:f, s:b, s:b, s:O}",
        "status", rondo_status_text(r.status), "output", r.output, "content", r.content,
        "code", r.code, "error", r.error, "reason", rondo_reason_text(r.reason),
        "passes", (json_int_t)r.passes, "best", (json_int_t)r.best, "score", r.score,
        "capped", r.capped, "escalated", r.escalated, "state", rondo_run_state(life->run));
    CHECK(all);
    json_object_foreach(life->scopes, scope, unused)
        json_object_set(all, scope, rondo_run_memory(life->run, scope));
    char *text = rondo_value_text(all), *line = strdup(text);
    rondo_text_free(text);
    json_decref(all);
    return line;
}

/* Adds an event that belongs to the run's story, however often it was interrupted. */
static void tell(struct life *life, const rondo_event *event)
{
    int type = rondo_event_type(event);
    const char *path = rondo_event_path(event);
    if (type == RONDO_EV_STEP_END)
        json_object_set_new(life->finished, path, json_true());
    if (type == RONDO_EV_MEMORY)
        json_object_set_new(life->scopes,
                            json_string_value(json_object_get(rondo_event_value(event), "scope")),
                            json_true());
    if (type == RONDO_EV_OUTPUT || type == RONDO_EV_RESUMED)
        return;
    bool said = type == RONDO_EV_MESSAGE || type == RONDO_EV_STATE || type == RONDO_EV_MEMORY;
    json_array_append_new(life->story, json_pack("{s:s, s:s, s:i, s:s, s:s, s:s, s:b}",
        "event", rondo_event_name(event), "path", path, "pass", (int)rondo_event_pass(event),
        "text", rondo_event_text(event), "status", rondo_status_text(rondo_event_status(event)),
        "reason", rondo_reason_text(rondo_event_reason(event)), "said", said));
}

/* What an agent said that had not finished when the run was interrupted, it will say again. */
static void forget_unfinished(struct life *life)
{
    for (size_t i = json_array_size(life->story); i-- > 0;) {
        json_t *event = json_array_get(life->story, i);
        const char *path = json_string_value(json_object_get(event, "path"));
        if (json_is_true(json_object_get(event, "said")) && !json_object_get(life->finished, path))
            json_array_remove(life->story, i);
    }
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The first n events as text, a line each; what is concurrent has no order. */
static char *story_text(const json_t *story, size_t n, bool concurrent)
{
    char **lines = calloc(n + 1, sizeof *lines), *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    for (size_t i = 0; i < n; i++)
        lines[i] = json_dumps(json_array_get(story, i), JSON_ENCODE_ANY);
    if (concurrent)
        qsort(lines, n, sizeof *lines, by_text);
    for (size_t i = 0; i < n; i++) {
        fprintf(out, "%s\n", lines[i] ? lines[i] : "nothing");
        free(lines[i]);
    }
    free(lines);
    fclose(out);
    return text;
}

/* ---- one life of a run --------------------------------------------------------------------------- */

static struct life life_new(void)
{
    return (struct life){ .story = json_array(), .finished = json_object(),
                          .scopes = json_object() };
}

static void life_clear(struct life *life)
{
    if (life->run)
        rondo_run_close(life->run);
    json_decref(life->story);
    json_decref(life->finished);
    json_decref(life->scopes);
    free(life->gate);
}

static void answer(struct life *life)
{
    rondo_error err;
    if (!life->gate)
        return;
    rondo_value *value = rondo_value_parse(it.special->answer, &err);
    CHECK(value);
    int status = rondo_run_status(life->run);
    bool has_ended = status != RONDO_STATUS_RUNNING && status != RONDO_STATUS_WAITING;
    CHECK_INT(rondo_engine_signal(rondo_run_engine(life->run), rondo_run_id(life->run), life->gate,
                                  value, "test"), has_ended ? RONDO_ESTATE : 0);
}

static void see(struct life *life, const rondo_event *event)
{
    CHECK(++life->events < EVENTS_MAX);
    tell(life, event);
    life->last_type = rondo_event_type(event);
    life->last_status = rondo_event_status(event);
    if (life->last_type != RONDO_EV_GATE_WAITING && life->last_type != RONDO_EV_GATE_ANSWERED)
        return;
    free(life->gate);
    life->gate = NULL;
    if (life->last_type == RONDO_EV_GATE_WAITING)
        life->gate = strdup(rondo_event_path(event));
}

/* Pulls at most n events; false at the end.  A gate is answered before the next pull, so that
   whoever stops at gate_waiting has a run that waits. */
static bool pull(struct life *life, size_t n)
{
    const rondo_event *event;
    while (n-- > 0) {
        if (life->last_type == RONDO_EV_GATE_WAITING)
            answer(life);
        if (!(event = rondo_run_next(life->run)))
            return false;
        see(life, event);
    }
    return true;
}

/* ---- tries ------------------------------------------------------------------------------- */

/* A run to try out, and what it comes to when nothing happens to it. */
struct trial {
    rondo_engine *here, *there;
    rondo_node *node;
    const rondo_value *input;
    rondo_run_options options;
    char *outcome;
    json_t *story, *scopes;
    size_t events;
};

static struct life begin(struct trial *t)
{
    rondo_error err;
    struct life life = life_new();
    if (rondo_run_start(t->here, t->node, t->input, &t->options, &life.run, &err) < 0)
        FAIL("%s: %s", it.name, err.message);
    return life;
}

static void note_undisturbed(struct trial *t)
{
    struct life life = begin(t);
    size_t endless = it.special ? it.special->endless : 0;
    bool ended = !pull(&life, endless ? endless : SIZE_MAX);
    CHECK_INT(ended, !endless);
    t->events = life.events;
    t->outcome = outcome(&life);
    t->story = json_incref(life.story);
    t->scopes = json_incref(life.scopes);
    life_clear(&life);
}

static void forget_finished(void)
{
    json_decref(it.finished);
    it.finished = NULL;
}

/* A loop that ends after the cancel says so. */
static void check_reasons(const struct life *life)
{
    const json_t *event;
    size_t i;
    bool cancelled = false;
    json_array_foreach(life->story, i, event) {
        const char *name = json_string_value(json_object_get(event, "event"));
        if (strcmp(name, "cancel") == 0)
            cancelled = true;
        else if (cancelled && strcmp(name, "loop_end") == 0)
            CHECK_STR(json_string_value(json_object_get(event, "reason")), "cancelled");
    }
}

/* Cancels, and sees to it that the run ends: cancelled, or as it had ended already. */
static void cancel(struct trial *t, struct life *life)
{
    bool over = rondo_run_status(life->run) != RONDO_STATUS_RUNNING &&
                rondo_run_status(life->run) != RONDO_STATUS_WAITING;
    rondo_run_cancel(life->run, "for a test");
    it.quiet = true;
    while (pull(life, 1))
        ;
    it.quiet = false;
    forget_finished();
    char *is = outcome(life);
    CHECK_INT(rondo_run_error(life->run, NULL), 0);
    if (over) {
        CHECK_STR(is, t->outcome);
    } else {
        CHECK_INT(life->last_type, RONDO_EV_WORKFLOW_END);
        CHECK_STR(rondo_status_text(life->last_status), "cancelled");
        CHECK_STR(rondo_status_text(rondo_run_status(life->run)), "cancelled");
        check_reasons(life);
    }
    free(is);
    life_clear(life);
}

static void cancel_at(struct trial *t, size_t n)
{
    struct life life = begin(t);
    pull(&life, n);
    cancel(t, &life);
}

/* Ends this life and begins the next one, from its log. */
static void crash(struct trial *t, struct life *life)
{
    size_t len;
    rondo_error err;
    char *log = rondo_run_save(life->run, &len);
    rondo_run_close(life->run);
    if (rondo_run_recover(t->there, t->node, log, len, &t->options, &life->run, &err) < 0)
        FAIL("%s, after event %zu: %s", it.name, life->events, err.message);
    rondo_text_free(log);
    forget_finished();
    it.finished = json_deep_copy(life->finished);
    forget_unfinished(life);
    life->last_type = 0;
    answer(life);
}

static void compare(const struct trial *t, const struct life *life)
{
    size_t n = json_array_size(t->story), m = json_array_size(life->story);
    bool endless = it.special && it.special->endless, any = it.special && it.special->concurrent;
    if (it.special && it.special->spends && it.how == STEER_RECOVER) {
        CHECK_INT(rondo_run_status(life->run), RONDO_STATUS_COMPLETED);
        return;
    }
    char *is = outcome(life);
    CHECK_STR(is, t->outcome);
    free(is);
    char *want = story_text(t->story, n, any);
    is = story_text(life->story, endless ? n : m, any);
    CHECK_STR(is, want);
    free(is);
    free(want);
}

/* An endless run is as good as recovered when it has gone on for as long as the other one. */
static void finish(struct trial *t, struct life *life)
{
    if (it.special && it.special->endless)
        while (json_array_size(life->story) < json_array_size(t->story))
            CHECK(pull(life, 1));
    else
        while (pull(life, 1))
            ;
    forget_finished();
    compare(t, life);
    life_clear(life);
}

static void recover_at(struct trial *t, size_t n)
{
    struct life life = begin(t);
    pull(&life, n);
    crash(t, &life);
    finish(t, &life);
}

/* One short life after the other, each with time for n events; for more when it came to nothing,
   as an agent that was interrupted begins again. */
static void recover_often(struct trial *t, size_t n)
{
    struct life life = begin(t);
    size_t before = 0, now;
    while ((now = json_array_size(life.story)) < json_array_size(t->story)) {
        n += life.events && now <= before;
        before = now;
        if (!pull(&life, n))
            break;
        crash(t, &life);
    }
    finish(t, &life);
}

/* Recovers, and cancels what was recovered. */
static void cancel_after(struct trial *t, size_t n)
{
    struct life life = begin(t);
    pull(&life, n);
    crash(t, &life);
    cancel(t, &life);
}

/* A log that was cut off or damaged is refused by name, or leads to the same end. */
static void recover_torn(struct trial *t, const char *log, size_t len, size_t at)
{
    struct life life = life_new();
    rondo_error err;
    memset(&err, 0xa5, sizeof err);
    int rc = rondo_run_recover(t->there, t->node, log, len, &t->options, &life.run, &err);
    if (rc < 0) {
        if ((rc != RONDO_ESTORE && rc != RONDO_EMISMATCH) || err.code != rc || !*err.message)
            FAIL("%s, byte %zu: code %d, err.code %d: %.80s", it.name, at, rc, err.code, err.message);
    } else {
        json_object_update(life.scopes, t->scopes);
        if (it.special && it.special->gate) {
            life.gate = strdup(it.special->gate);
            answer(&life);
        }
        while (pull(&life, 1))
            ;
        char *is = outcome(&life);
        if (!it.special || !it.special->spends)
            CHECK_STR(is, t->outcome);
        free(is);
    }
    life_clear(&life);
}

static void tear(struct trial *t)
{
    struct life life = begin(t);
    size_t len;
    char *log = rondo_run_save(life.run, &len);
    recover_torn(t, log, len, 0); // nothing has happened yet
    rondo_text_free(log);
    while (pull(&life, 1))
        ;
    log = rondo_run_save(life.run, &len);
    for (size_t i = 0; i < len; i++) {
        recover_torn(t, log, i, i);
        log[i] ^= 0x10;
        recover_torn(t, log, len, i);
        log[i] ^= 0x10;
    }
    rondo_text_free(log);
    life_clear(&life);
}

/* ---- ways to drive a run -------------------------------------------------------------------------- */

/* Nobody pulls: the engine is polled until no run is going. */
static void drive_by_poll(struct trial *t, bool no_cursor)
{
    struct trial other = *t;
    other.options.no_cursor = no_cursor;
    struct life life = begin(&other);
    const char *gate = it.special ? it.special->gate : NULL;
    json_object_update(life.scopes, t->scopes);
    while (rondo_engine_poll(t->here, gate ? 0 : -1) > 0) {
        if (!gate)
            continue;
        CHECK_NULL(life.gate);
        CHECK_STR(rondo_status_text(rondo_run_status(life.run)), "waiting");
        life.gate = strdup(gate);
        answer(&life);
    }
    if (no_cursor) {
        char *is = outcome(&life);
        CHECK_STR(is, t->outcome);
        free(is);
        life_clear(&life);
    } else {
        finish(t, &life);
    }
}

/* Two at a time, with the events of both in one stream. */
static void drive_two(struct trial *t)
{
    struct life lives[] = { begin(t), begin(t) };
    const rondo_event *event;
    while ((event = rondo_engine_next(t->here))) {
        struct life *life = &lives[rondo_event_run(event) == lives[1].run];
        CHECK_PTR(rondo_event_run(event), life->run);
        see(life, event);
        if (life->last_type == RONDO_EV_GATE_WAITING)
            answer(life);
    }
    finish(t, &lives[0]);
    finish(t, &lives[1]);
}

static void drive(struct trial *t)
{
    drive_by_poll(t, true);
    drive_by_poll(t, false);
    drive_two(t);
}

static const rondo_config *config_of(const rondo_engine *engine)
{
    for (size_t i = it.engine_count; i-- > 0;)
        if (it.engines[i].engine == engine)
            return &it.engines[i].config;
    FAIL("%s: an engine from nowhere", it.name);
}

static rondo_engine *own_engine(const rondo_engine *like)
{
    rondo_config config = *config_of(like);
    rondo_error err;
    config.check_values = true;
    CHECK(it.own_count < ENGINES_MAX);
    CHECK_INT(rondo_engine_new(&config, &it.own[it.own_count], &err), 0);
    return it.own[it.own_count++];
}

static void try_out(rondo_engine *engine, rondo_node *node, const rondo_value *input,
                    const rondo_run_options *options)
{
    struct trial t = { own_engine(engine), own_engine(engine), node, input, { RONDO_RUN } };
    if (options)
        t.options = *options;
    t.options.no_cursor = false;
    note_undisturbed(&t);
    it.runs++;
    it.tries += t.events;
    for (size_t n = 0; n <= t.events; n++) {
        it.at = n;
        if (it.how == STEER_CANCEL)
            cancel_at(&t, n);
        if (it.how == STEER_CANCEL && n > 0)
            cancel_after(&t, n);
        if (it.how == STEER_RECOVER && n > 0)
            recover_at(&t, n);
    }
    if (it.how == STEER_TEAR && !(it.special && it.special->endless))
        tear(&t);
    if (it.how == STEER_DRIVE && !(it.special && it.special->endless))
        drive(&t);
    for (size_t n = 1; it.how == STEER_RECOVER && n < 4; n++)
        recover_often(&t, n);
    free(t.outcome);
    json_decref(t.story);
    json_decref(t.scopes);
}

/* ---- what the examples call instead --------------------------------------------------------------- */

int steer_engine_new(const rondo_config *config, rondo_engine **ret, rondo_error *err)
{
    int rc = rondo_engine_new(config, ret, err);
    CHECK(it.engine_count < ENGINES_MAX);
    it.engines[it.engine_count].engine = *ret;
    it.engines[it.engine_count++].config = config ? *config : (rondo_config){ RONDO_CONFIG };
    return rc;
}

static void watched(rondo_task *task, void *user)
{
    const rondo_agent *agent = user;
    const char *path = rondo_task_path(task);
    bool cleanup = it.special && it.special->cleanup && !strcmp(path, it.special->cleanup);
    if (it.quiet && !cleanup)
        FAIL("%s began after the cancel at event %zu", path, it.at);
    if (json_object_get(it.finished, path))
        FAIL("%s had ended before the crash, and began again", path);
    agent->run(task, agent->user);
}

rondo_node *steer_agent_node(const rondo_agent *agent)
{
    rondo_agent spec = *agent;
    if (!agent->run) // has skills
        return rondo_agent_node(agent);
    CHECK(it.agent_count < AGENTS_MAX);
    it.agents[it.agent_count] = *agent;
    spec.run = watched;
    spec.user = &it.agents[it.agent_count++];
    return rondo_agent_node(&spec);
}

int steer_run_start(rondo_engine *engine, rondo_node *node, const rondo_value *input,
                    const rondo_run_options *options, rondo_run **ret, rondo_error *err)
{
    try_out(engine, node, input, options);
    return rondo_run_start(engine, node, input, options, ret, err);
}

int steer_call(rondo_engine *engine, rondo_node *node, const rondo_value *input,
               rondo_value **ret, rondo_error *err)
{
    try_out(engine, node, input, NULL);
    return rondo_call(engine, node, input, ret, err);
}

void steer_example(const char *name, int (*main_of)(void), enum steer how)
{
    it.name = name;
    it.how = how;
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++)
        if (strcmp(specials[i].example, name) == 0)
            it.special = &specials[i];
    CHECK_INT(main_of(), 0);
    CHECK(it.runs > 0);
    while (it.own_count)
        rondo_engine_free(it.own[--it.own_count]);
    printf("%s: %zu runs, %zu events\n", name, it.runs, it.tries);
}
