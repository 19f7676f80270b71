/* test_random.c - random compositions: whatever is built, a run keeps its promises.

   Trees of all node kinds are made from a seed.  Their agents return, fail, signal and wait as a
   hash of their path and input says, so a run is the same every time.  Checked for each: events
   are numbered without gaps, every step that starts ends exactly once, every loop gives exactly
   one reason, the run ends; cancelling it anywhere ends it; and recovering from any prefix of its
   log ends in the same result. */
#include "test.h"

#include "base/hash.h"

#include <jansson.h>
#include <rondo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TREES      150
#define EVENTS_MAX 4000

static uint64_t rng;

static uint32_t dice(uint32_t sides)
{
    rng = hash_add(rng, 1);
    return (uint32_t)(rng % sides);
}

static bool may_wait; // agents that take (virtual) time
static bool may_race; // results that depend on who is first

static uint64_t chance_of(rondo_task *task)
{
    const char *path = rondo_task_path(task);
    char *input = rondo_value_text(rondo_task_input(task));
    uint64_t hash = hash_bytes(hash_bytes(11, path, strlen(path)), input ? input : "", input ? strlen(input) : 0);
    rondo_text_free(input);
    return hash;
}

static void agent(rondo_task *task, void *user)
{
    uint64_t chance = chance_of(task);
    uint64_t kind = chance % 32, n = chance >> 8;
    (void)user;
    if (kind == 0)
        rondo_task_fail(task, RONDO_EFAILED, "as the dice said");
    else if (kind == 1 && rondo_task_pass(task) >= 0)
        rondo_task_break(task, NULL);
    else if (kind == 2 && rondo_task_pass(task) >= 0)
        rondo_task_continue(task);
    else if (kind == 3 && rondo_task_pass(task) >= 0)
        rondo_task_escalate(task);
    else if (kind == 4)
        rondo_task_set(task, "last", json_integer((json_int_t)(n % 100)));
    if (may_wait && n % 3 == 0)
        rondo_task_return_after(task, (int64_t)(n % 50), json_integer((json_int_t)(n % 10)));
    else if (n % 5 == 0)
        rondo_task_return_text(task, n % 2 ? "" : "text");
    else
        rondo_task_return(task, json_integer((json_int_t)(n % 10)));
}

static int says_yes(rondo_context *context, void *user)
{
    char *last = rondo_value_text(rondo_context_last(context));
    uint64_t hash = hash_bytes((uint64_t)(uintptr_t)user, last ? last : "", last ? strlen(last) : 0);
    rondo_text_free(last);
    return hash % 4 == 0;
}

static rondo_value *next_input(rondo_context *context, void *user)
{
    rondo_value *last = rondo_context_last(context);
    (void)user;
    return json_is_integer(last) && json_integer_value(last) > 6 ? NULL : json_integer(rondo_context_pass(context));
}

static double score_of(rondo_context *context, void *user)
{
    (void)user;
    return (double)json_integer_value(rondo_context_last(context));
}

static rondo_value *three_items(rondo_context *context, void *user)
{
    (void)context;
    (void)user;
    return json_pack("[i, s, i]", 1, "two", 3);
}

static rondo_node *make(int depth);

static char *name(const char *kind)
{
    static char text[32];
    static unsigned count;
    snprintf(text, sizeof text, "%s%u", kind, ++count % 100000);
    return text;
}

static rondo_options some_options(void)
{
    rondo_options o = { { 0 } };
    if (dice(6) == 0)
        o.retry = (rondo_retry){ .attempts = 2, .delay_ms = dice(2) * 10 };
    if (dice(12) == 0)
        o.when = says_yes;
    return o;
}

static rondo_node *make_agent(void)
{
    rondo_agent spec = { RONDO_AGENT, .name = name("a"), .run = agent };
    spec.options = some_options();
    spec.effects = dice(8) == 0 ? RONDO_PURE : RONDO_IDEMPOTENT;
    return rondo_agent_node(&spec);
}

static rondo_node *make_loop(int depth)
{
    rondo_loop_spec spec = { RONDO_LOOP, .max_iterations = 1 + (int)dice(4) };
    spec.body = make(depth - 1);
    spec.name = name("loop");
    spec.options = some_options();
    if (dice(3) == 0)
        spec.until = says_yes;
    if (dice(4) == 0)
        spec.next = next_input;
    if (dice(4) == 0)
        spec.score = score_of;
    if (spec.score && dice(2))
        spec.output_mode = RONDO_OUTPUT_BEST;
    else if (dice(4) == 0)
        spec.output_mode = RONDO_OUTPUT_CUMULATIVE;
    if (dice(4) == 0)
        spec.stall_repeats = 2;
    if (dice(4) == 0)
        spec.on_error = RONDO_ERROR_CONTINUES;
    if (dice(4) == 0)
        spec.on_max = (int)dice(3);
    if (dice(5) == 0)
        spec.delay_ms = 5;
    if (dice(5) == 0)
        spec.judge = make_agent();
    if (dice(6) == 0 && !spec.score)
        spec.score_node = make_agent();
    spec.name = name("loop"); // the body took the buffer
    return rondo_loop(&spec);
}

static rondo_node *make_each(int depth)
{
    rondo_each_spec spec = { RONDO_EACH, .items = three_items, .max_concurrency = (int)dice(3) };
    spec.body = make(depth - 1);
    spec.on_item_failure = (int)dice(2);
    spec.options = some_options();
    spec.name = name("each");
    return rondo_each(&spec);
}

static rondo_node *make_branch(int depth)
{
    rondo_case cases[2] = { { .when = says_yes, .user = (void *)1 }, { .when = says_yes, .user = (void *)2 } };
    rondo_branch_spec spec = { RONDO_BRANCH, .cases = cases, .case_count = 2 };
    cases[0].node = make(depth - 1);
    cases[1].node = make(depth - 1);
    spec.otherwise = make(depth - 1);
    return rondo_branch(&spec);
}

static rondo_node *make_graph(int depth)
{
    rondo_step steps[4] = { { .name = "s0" }, { .name = "s1", .depends_on = RONDO_AFTER("s0") },
                            { .name = "s2" }, { .name = "s3", .depends_on = RONDO_AFTER("s1", "s2") } };
    rondo_graph_spec spec = { RONDO_GRAPH, .steps = steps, .step_count = 4, .on_failure = (int)dice(3) };
    for (int i = 0; i < 4; i++)
        steps[i].node = make(depth - 1);
    return rondo_graph(&spec);
}

static rondo_node *make_forum(int depth)
{
    rondo_forum_spec spec = { RONDO_FORUM, .rounds = 1 + (int)dice(2), .quorum = 1 };
    rondo_node *members[] = { make_agent(), make(depth - 1), NULL };
    spec.members = members;
    spec.captain = make_agent();
    return rondo_forum(&spec);
}

static rondo_node *make_parallel(int depth)
{
    rondo_node *children[] = { make(depth - 1), make(depth - 1), make_agent(), NULL };
    rondo_parallel_spec spec = { RONDO_PARALLEL_SPEC, .children = children, .mode = (int)dice(3) };
    spec.max_concurrency = (int)dice(3);
    if (!may_race)
        spec.mode = RONDO_COLLECT;
    return rondo_parallel(&spec);
}

static rondo_node *make(int depth)
{
    if (depth <= 0)
        return make_agent();
    switch (dice(9)) {
    case 0: return RONDO_SEQUENCE(make_agent(), make(depth - 1));
    case 1: return RONDO_SEQUENCE(make(depth - 1), make_agent(), make_agent());
    case 2: return make_parallel(depth);
    case 3: return make_branch(depth);
    case 4: return make_graph(depth);
    case 5: return make_forum(depth);
    case 6: return make_each(depth);
    default: return make_loop(depth);
    }
}

/* ---- what must hold -------------------------------------------------------------------------------- */

struct seen {
    json_t *open; // path -> true, for steps that run
    uint64_t seq;
    int events, ends;
};

static void look_at(struct seen *seen, const rondo_event *event)
{
    const char *path = rondo_event_path(event);
    int type = rondo_event_type(event);
    if (rondo_event_seq(event)) {
        CHECK(rondo_event_seq(event) == seen->seq + 1);
        seen->seq++;
    }
    seen->events++;
    if (type == RONDO_EV_STEP_START) {
        CHECK(!json_object_get(seen->open, path));
        json_object_set_new(seen->open, path, json_integer(0));
    }
    if (type == RONDO_EV_LOOP_END) {
        CHECK(json_integer_value(json_object_get(seen->open, path)) == 0);
        CHECK(rondo_event_reason(event) != RONDO_REASON_NONE);
        json_object_set_new(seen->open, path, json_integer(1));
    }
    if (type >= RONDO_EV_STEP_END && type <= RONDO_EV_STEP_CANCELLED) {
        json_t *state = json_object_get(seen->open, path);
        const rondo_node *node = rondo_event_node(event);
        if (state && rondo_node_kind(node) == RONDO_KIND_LOOP)
            CHECK(json_integer_value(state) == 1); // exactly one loop_end before it
        json_object_del(seen->open, path);
    }
    if (type == RONDO_EV_WORKFLOW_END) {
        CHECK(json_object_size(seen->open) == 0);
        seen->ends++;
    }
    (void)rondo_event_json(event, NULL);
}

static char *outcome(rondo_run *run)
{
    rondo_result r;
    static char text[4096];
    CHECK(rondo_run_result(run, &r) == 0);
    char *output = r.output ? rondo_value_text(r.output) : NULL;
    snprintf(text, sizeof text, "%s|%.3000s|%s|%lld|%s", rondo_status_text(r.status),
             output ? output : "-", rondo_reason_text(r.reason), (long long)r.passes, r.error);
    rondo_text_free(output);
    return text;
}

static rondo_engine *new_engine(void)
{
    rondo_engine *engine;
    rondo_config config = { RONDO_CONFIG, .seed = 1, .virtual_time = true, .check_values = true };
    config.max_concurrency = 0;
    CHECK(rondo_engine_new(&config, &engine, NULL) == 0);
    return engine;
}

/* Runs to the end; cancels before event `cancel_at` (0: never); saves after event `save_at`. */
static int drive(rondo_node *node, int cancel_at, int save_at, char **ret_log, size_t *ret_len,
                 char *ret_outcome, size_t size)
{
    rondo_engine *engine = new_engine();
    rondo_run *run;
    rondo_error err;
    struct seen seen = { .open = json_object() };
    const rondo_event *event;
    CHECK_INT(rondo_run_start(engine, node, NULL, NULL, &run, &err), 0);
    while ((event = rondo_run_next(run)) && seen.events < EVENTS_MAX) {
        look_at(&seen, event);
        if (seen.events == save_at)
            *ret_log = rondo_run_save(run, ret_len);
        if (seen.events == cancel_at)
            rondo_run_cancel(run, "test");
    }
    CHECK_INT(seen.ends, 1);
    snprintf(ret_outcome, size, "%s", outcome(run));
    json_decref(seen.open);
    rondo_run_close(run);
    rondo_engine_free(engine);
    return seen.events;
}

static void recover(rondo_node *node, char *log, size_t len, char *ret_outcome, size_t size)
{
    rondo_engine *engine = new_engine();
    rondo_run *run;
    rondo_error err = { 0 };
    int rc = rondo_run_recover(engine, node, log, len, NULL, &run, &err);
    if (rc < 0)
        fprintf(stderr, "recover: %s\n", err.message);
    CHECK_INT(rc, 0);
    while (rondo_run_next(run))
        ;
    snprintf(ret_outcome, size, "%s", outcome(run));
    rondo_run_close(run);
    rondo_engine_free(engine);
}

TEST(random_runs_keep_their_promises)
{
    char text[4096];
    for (uint64_t seed = 1; seed <= 4 * TREES; seed++) {
        rng = seed;
        may_wait = seed % 2;
        may_race = true;
        rondo_node *node = make(4);
        CHECK_INT(rondo_node_check(node, NULL), 0);
        drive(node, 0, 0, NULL, NULL, text, sizeof text);
        rondo_node_unref(node);
    }
}

TEST(random_runs_end_wherever_they_are_cancelled)
{
    char text[4096], want[4096];
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        rng = seed;
        may_wait = seed % 2;
        may_race = true;
        rondo_node *node = make(3);
        int events = drive(node, 0, 0, NULL, NULL, want, sizeof want);
        for (int at = 1; at < events; at += 1 + events / 40) {
            drive(node, at, 0, NULL, NULL, text, sizeof text);
            bool late = strcmp(text, want) == 0; // the turn that ended it was already made
            if (strncmp(text, "cancelled|", 10) != 0 && !late)
                fprintf(stderr, "seed %llu, cancelled at %d of %d: %s\n", (unsigned long long)seed, at,
                        events, text);
            CHECK(strncmp(text, "cancelled|", 10) == 0 || late);
        }
        rondo_node_unref(node);
    }
}

TEST(random_runs_recover_from_any_prefix_to_the_same_end)
{
    char want[4096], got[4096], again[4096];
    for (uint64_t seed = 1; seed <= TREES; seed++) {
        rng = seed;
        may_wait = may_race = false;
        rondo_node *node = make(3);
        int events = drive(node, 0, 0, NULL, NULL, want, sizeof want);
        for (int at = 1; at <= events; at += 1 + events / 60) {
            char *log = NULL;
            size_t len = 0;
            drive(node, 0, at, &log, &len, again, sizeof again);
            recover(node, log, len, got, sizeof got);
            if (strcmp(got, want) != 0)
                fprintf(stderr, "seed %llu, saved at %d of %d\nwant %s\ngot  %s\n",
                        (unsigned long long)seed, at, events, want, got);
            CHECK_STR(got, want);
            rondo_text_free(log);
        }
        rondo_node_unref(node);
    }
}
