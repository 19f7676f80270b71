/* work.h - the agents and loops that the benchmarks run.

   They are written as a user would write them, with the public header only.  The agents of the
   iteration benchmark do next to no work: they read what they are given, count one further and
   return a new value, so that a figure is the engine's cost, plus that of making the value. */
#ifndef WORK_H
#define WORK_H

#include "measure.h"

#include <jansson.h>
#include <rondo.h>

/* ---- values ---------------------------------------------------------------------------------- */

static inline int64_t work_i(const json_t *value)
{
    return json_is_integer(value) ? json_integer_value(value)
                                  : json_integer_value(json_object_get(value, "i"));
}

/* "draft 17".  Written by hand because printf would be a quarter of what is measured. */
static inline size_t work_text(int64_t i, char ret[32])
{
    char digits[24];
    size_t n = 0, len = 6;
    memcpy(ret, "draft ", len);
    do
        digits[n++] = (char)('0' + i % 10);
    while ((i /= 10) > 0);
    while (n > 0)
        ret[len++] = digits[--n];
    ret[len] = 0;
    return len;
}

/* { "i": i, "text": "draft i" } */
static inline json_t *work_draft(int64_t i)
{
    char text[32];
    size_t len = work_text(i, text);
    json_t *draft = json_object();
    json_object_set_new_nocheck(draft, "i", json_integer(i));
    json_object_set_new_nocheck(draft, "text", json_stringn_nocheck(text, len));
    return draft;
}

static inline bool work_is_draft(const json_t *value, int64_t i)
{
    char text[32];
    const char *found = json_string_value(json_object_get(value, "text"));
    snprintf(text, sizeof text, "draft %" PRId64, i);
    return work_i(value) == i && found && strcmp(found, text) == 0;
}

/* A draft with a verdict, { "i", "text", "ok" }: good from the fifth on. */
static inline json_t *work_verdict(json_t *draft)
{
    json_t *verdict = json_copy(draft);
    json_object_set_new_nocheck(verdict, "ok", json_boolean(work_i(draft) >= 5));
    return verdict;
}

/* ---- agents ---------------------------------------------------------------------------------- */

static inline void work_count(rondo_task *task, void *user)
{
    rondo_task_return(task, json_integer(work_i(rondo_task_input(task)) + 1));
}

static inline void work_write(rondo_task *task, void *user)
{
    rondo_task_return(task, work_draft(work_i(rondo_task_input(task)) + 1));
}

static inline void work_criticise(rondo_task *task, void *user)
{
    rondo_task_return(task, work_verdict(rondo_task_input(task)));
}

/* How many agents wait at once.  An agent enters when its function runs; it leaves when the
   event of its end is pulled, and nothing that follows from an event starts before that. */
static struct work_probe { long now, peak, calls; } work_probe;

static inline void work_enter(void)
{
    work_probe.calls++;
    if (++work_probe.now > work_probe.peak)
        work_probe.peak = work_probe.now;
}

/* A draft after a while; `user` points at the milliseconds. */
static inline void work_write_slowly(rondo_task *task, void *user)
{
    work_enter();
    rondo_task_return_after(task, *(const int64_t *)user,
                            work_draft(work_i(rondo_task_input(task)) + 1));
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static inline int work_reached(rondo_context *context, void *user)
{
    return work_i(rondo_context_last(context)) >= *(const int64_t *)user;
}

static inline int work_accepted(rondo_context *context, void *user)
{
    return json_is_true(json_object_get(rondo_context_last(context), "ok"));
}

static inline rondo_node *work_agent(const char *name, rondo_function run, void *user)
{
    return rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = name, .run = run, .user = user });
}

/* A loop that runs its one agent until it has counted to *until; the cap is one further, so that
   a rule that is not asked would show. */
static inline rondo_node *work_loop(rondo_function run, void *user, int64_t *until)
{
    return rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "loop", .body = work_agent("body", run, user),
        .until = work_reached, .user = until, .max_iterations = (int)*until + 1 });
}

static inline rondo_node *work_reflection(void)
{
    return rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "loop",
        .body = RONDO_SEQUENCE(work_agent("writer", work_write, NULL),
                               work_agent("critic", work_criticise, NULL)),
        .until = work_accepted, .max_iterations = 10 });
}

/* ---- running --------------------------------------------------------------------------------- */

/* durability: enum rondo_durability. */
static inline rondo_store *work_store(const char *path, int durability)
{
    rondo_store *store;
    rondo_error err;
    REQUIRE(rondo_store_open(path, &(rondo_store_options){ RONDO_STORE, .durability = durability }, &store, &err) == 0,
            "%s", err.message);
    return store;
}

/* store: NULL for none. */
static inline rondo_engine *work_engine(rondo_store *store)
{
    rondo_engine *engine = NULL;
    rondo_error err;
    REQUIRE(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .store = store }, &engine, &err) == 0, "%s", err.message);
    return engine;
}

static inline rondo_run *work_start(rondo_engine *engine, rondo_node *node, const json_t *input)
{
    rondo_run *run = NULL;
    rondo_error err;
    REQUIRE(rondo_run_start(engine, node, input, NULL, &run, &err) == 0, "%s: %s", err.path,
            err.message);
    return run;
}

/* What a consumer saw: it looks at the type and the value of every event. */
struct work_seen {
    int64_t events, values, iterations, steps;
    int64_t sum;  /* of the counters in the outputs of steps */
    int64_t last; /* the counter in the output of the run */
};

static inline void work_look(struct work_seen *seen, const rondo_event *event)
{
    const json_t *value = rondo_event_value(event);
    seen->events++;
    seen->values += value != NULL;
    switch (rondo_event_type(event)) {
    case RONDO_EV_ITERATION_END:
        seen->iterations++;
        break;
    case RONDO_EV_STEP_END:
        seen->steps++;
        seen->sum += work_i(value);
        break;
    case RONDO_EV_WORKFLOW_END:
        seen->last = work_i(value);
        break;
    }
}

/* Pulls everything; the run must complete. */
static inline struct work_seen work_drain(rondo_run *run)
{
    struct work_seen seen = { 0 };
    const rondo_event *event;
    rondo_error err;
    while ((event = rondo_run_next(run)))
        work_look(&seen, event);
    REQUIRE(rondo_run_error(run, &err) == 0, "%s", err.message);
    REQUIRE(rondo_run_status(run) == RONDO_STATUS_COMPLETED, "the run ended as %s",
            rondo_status_text(rondo_run_status(run)));
    return seen;
}

/* A drained loop of n passes: every event was seen, and passes old and new can be read. */
static inline void work_check_loop(rondo_run *run, const struct work_seen *seen, int64_t n,
                                   bool objects)
{
    const int64_t passes[] = { 0, n / 3, n / 2, n - 1 };
    rondo_history *history = rondo_run_history(run, "loop");
    rondo_result result;

    REQUIRE(rondo_run_result(run, &result) == 0 && result.passes == n, "%" PRId64 " passes",
            result.passes);
    REQUIRE(result.reason == RONDO_REASON_UNTIL, "ended by %s", rondo_reason_text(result.reason));
    REQUIRE(seen->iterations == n && seen->sum >= n * (n + 1) / 2,
            "saw %" PRId64 " passes, sum %" PRId64, seen->iterations, seen->sum);
    REQUIRE(history && rondo_history_count(history) == n, "history");
    for (size_t i = 0; i < sizeof passes / sizeof passes[0]; i++) {
        const json_t *output = rondo_history_output(history, passes[i], NULL);
        REQUIRE(objects ? work_is_draft(output, passes[i] + 1) : work_i(output) == passes[i] + 1,
                "pass %" PRId64 " of the history", passes[i]);
    }
}

#endif
