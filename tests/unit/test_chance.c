/* test_chance.c - workflows nobody would write, and what must hold for all of them.

   A seed makes a tree of containers and agents whose behaviour depends only on the seed and their
   path: delays, failures, signals, outputs.  Whatever comes out:

   - the run ends, with one workflow_end as its last event;
   - no path starts twice, what started ends once, and nothing inside ends after it;
   - every loop says once why it ended;
   - a reader who comes late reads the same lines;
   - from any event it recovers to an end, and to the same one if nothing in it is a race;
   - it can be cancelled at any event;
   - it can be stopped between passes from any event on, again and again, and comes to the same end. */
#include "agents.h"

#include <stdlib.h>
#include <string.h>

/* ---- chance --------------------------------------------------------------------------------------- */

static uint64_t mix(uint64_t x)
{
    x ^= x >> 31;
    x *= 0x7fb5d329728ea185ull;
    x ^= x >> 27;
    x *= 0x81dadef4bc2dd44dull;
    return x ^ x >> 33;
}

static uint64_t hash_text(uint64_t seed, const char *text)
{
    for (; *text; text++)
        seed = mix(seed ^ (unsigned char)*text) + 1;
    return seed;
}

static uint64_t state;

static unsigned dice(unsigned sides)
{
    state += 0x9e3779b97f4a7c15ull;
    return (unsigned)(mix(state) % sides);
}

static uint64_t seed_of_tree;
static bool wild; // failures, signals, races and limits too
static int made;

/* ---- agents and rules -------------------------------------------------------------------------------- */

static void signal_by_chance(rondo_task *task, uint64_t h)
{
    if (rondo_task_pass(task) < 0)
        return;
    switch (h >> 20 & 15) {
    case 0: rondo_task_break(task, NULL); break;
    case 1: rondo_task_continue(task); break;
    case 2: rondo_task_escalate(task); break;
    default: break;
    }
}

static void leave_by_chance(rondo_task *task, uint64_t h)
{
    if (h >> 28 & 1)
        rondo_task_set(task, h >> 29 & 1 ? "x" : "temp:y", json_integer((json_int_t)(h >> 40 & 7)));
    if (h >> 30 & 1)
        rondo_task_remember(task, "m", json_integer((json_int_t)(h >> 43 & 7)));
    if (h >> 31 & 1)
        rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = "hm" });
    if (h >> 32 & 1)
        rondo_task_note(task, json_string("note"));
    if (h >> 33 & 1)
        rondo_task_spend(task, &(rondo_usage){ 1, 2, 3, 1 });
}

static void act(rondo_task *task, void *user)
{
    uint64_t h = hash_text(seed_of_tree, rondo_task_path(task));
    uint64_t in = hash_text(h, json_text(rondo_task_input(task)));
    rondo_value *out = json_integer((json_int_t)(in % 10));
    leave_by_chance(task, h);
    if (in >> 50 & 1) {
        json_decref(out);
        out = json_pack("{s:i, s:[i]}", "n", (int)(in >> 8 & 15), "list", (int)(in >> 12 & 7));
    }
    if (wild)
        signal_by_chance(task, h);
    if (wild && (h >> 24 & 7) == 0) {
        json_decref(out);
        rondo_task_fail(task, RONDO_ERETRY, "failed at %s", rondo_task_path(task));
    } else if (h & 3) {
        rondo_task_return_after(task, (int64_t)(h >> 4 & 7), out);
    } else {
        rondo_task_return(task, out);
    }
}

static int by_chance(rondo_context *context, void *user)
{
    return hash_text((uintptr_t)user, json_text(rondo_context_input(context))) % 2 == 0;
}

static int until_by_chance(rondo_context *context, void *user)
{
    return hash_text((uintptr_t)user, json_text(rondo_context_last(context))) % 4 == 0;
}

static rondo_value *next_by_chance(rondo_context *context, void *user)
{
    uint64_t h = hash_text((uintptr_t)user, json_text(rondo_context_last(context)));
    return h % 5 == 0 ? NULL : json_integer((json_int_t)(h >> 8 & 15));
}

static double score_by_chance(rondo_context *context, void *user)
{
    return (double)(hash_text((uintptr_t)user, json_text(rondo_context_last(context))) % 100);
}

static rondo_value *some_items(rondo_context *context, void *user)
{
    rondo_value *list = json_array();
    for (uintptr_t i = 0; i < (uintptr_t)user % 5; i++)
        json_array_append_new(list, json_integer((json_int_t)i));
    return list;
}

/* ---- trees ------------------------------------------------------------------------------------------------ */

static char *fresh_name(char *buffer)
{
    snprintf(buffer, 16, "n%d", made++);
    return buffer;
}

static rondo_options some_options(void)
{
    rondo_options o = { .timeout_ms = 0 };
    if (dice(4) == 0)
        o.retry = (rondo_retry){ .attempts = 2 + (int)dice(2), .delay_ms = dice(4), .jitter = 0.5 };
    if (dice(10) == 0) {
        o.when = by_chance;
        o.user = (void *)(uintptr_t)dice(1000);
    }
    if (wild && dice(12) == 0)
        o.timeout_ms = 5 + dice(30);
    if (wild && dice(12) == 0)
        o.budget = (rondo_budget){ .time_ms = dice(2) * 20, .calls = dice(2) * 3 };
    return o;
}

static rondo_node *tree(int depth);

static rondo_node *make_agent(void)
{
    char name[16];
    return rondo_agent_node(&(rondo_agent){
        RONDO_AGENT, .name = fresh_name(name), .run = act, .options = some_options(),
        .effects = (int)dice(3) == 1 ? RONDO_PURE : RONDO_IDEMPOTENT,
        .memory = dice(4) == 0 ? "m" : NULL, .output_key = dice(4) == 0 ? "out" : NULL });
}

static void make_children(rondo_node **children, int depth)
{
    unsigned n = 1 + dice(3), i = 0;
    for (; i < n; i++)
        children[i] = tree(depth - 1);
    children[i] = NULL;
}

static rondo_node *make_loop(int depth)
{
    char name[16];
    rondo_loop_spec spec = { RONDO_LOOP, .name = fresh_name(name), .body = tree(depth - 1),
                             .max_iterations = 1 + (int)dice(3), .user = (void *)(uintptr_t)dice(1000),
                             .options = some_options() };
    if (dice(3) == 0)
        spec.until = until_by_chance;
    if (dice(3) == 0)
        spec.next = next_by_chance;
    if (dice(3) == 0)
        spec.delay_ms = 1 + dice(3);
    if (dice(3) == 0)
        spec.score = score_by_chance;
    else if (dice(6) == 0)
        spec.score_node = make_agent();
    if (dice(6) == 0)
        spec.judge = make_agent();
    spec.output_mode = (int)dice(4);
    if (spec.output_mode == RONDO_OUTPUT_BEST && !spec.score && !spec.score_node)
        spec.output_mode = RONDO_OUTPUT_LAST;
    spec.memory_mode = (int)dice(3);
    spec.memory_window = spec.memory_mode == RONDO_WINDOW ? 1 + (int)dice(2) : 0;
    spec.on_max = wild ? (int)dice(3) : (int)dice(2) * 2;
    spec.on_error = (int)dice(2);
    spec.max_failures = (int)dice(3);
    spec.stall_repeats = dice(4) == 0 ? 2 : 0;
    spec.stall_action = wild ? (int)dice(3) : (int)dice(2) * 2;
    spec.compat_adk = dice(8) == 0;
    return rondo_loop(&spec);
}

static rondo_node *make_branch(int depth)
{
    char name[16];
    return rondo_branch(&(rondo_branch_spec){
        RONDO_BRANCH, .name = fresh_name(name), .case_count = 1, .otherwise = tree(depth - 1),
        .options = some_options(),
        .cases = &(rondo_case){ "yes", by_chance, (void *)(uintptr_t)dice(1000), tree(depth - 1) } });
}

static rondo_node *make_graph(int depth)
{
    char name[16];
    static const char *const names[] = { "g0", "g1", "g2", "g3" };
    const char *deps[4][3] = { { NULL } };
    rondo_step steps[4] = { { 0 } };
    unsigned n = 1 + dice(4);
    for (unsigned i = 0; i < n; i++) {
        steps[i] = (rondo_step){ names[i], tree(depth - 1), deps[i] };
        if (i && dice(2))
            deps[i][0] = names[dice(i)];
        if (wild && i == n - 1 && dice(2) == 0) {
            rondo_node_unref(steps[i].node);
            char inner[16];
            steps[i].node = rondo_agent_node(&(rondo_agent){
                RONDO_AGENT, .name = fresh_name(inner), .run = act,
                .options = { .run_on = dice(2) ? RONDO_ON_ALWAYS : RONDO_ON_FAILURE } });
        }
    }
    return rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .name = fresh_name(name), .steps = steps,
                                            .step_count = n, .on_failure = (int)dice(3),
                                            .max_concurrency = (int)dice(3), .options = some_options() });
}

static rondo_node *make_machine(int depth)
{
    char name[16];
    void *user = (void *)(uintptr_t)dice(1000);
    return rondo_machine(&(rondo_machine_spec){
        RONDO_MACHINE, .name = fresh_name(name), .start = "x", .state_count = 2, .edge_count = 4, .max_steps = 4,
        .states = (rondo_state[]){ { "x", tree(depth - 1) }, { "y", tree(depth - 1) } },
        .edges = (rondo_edge[]){ { "x", "y", until_by_chance, user }, { "x", RONDO_END, until_by_chance, user },
                                 { "x", "x" }, { "y", "x" } },
        .options = some_options() });
}

static rondo_node *tree(int depth)
{
    rondo_node *children[5] = { 0 };
    char name[16];
    switch (depth <= 0 ? 0 : 1 + dice(10)) {
    case 2:
    case 3: return make_loop(depth);
    case 4:
        make_children(children, depth);
        return rondo_sequence(&(rondo_sequence_spec){ RONDO_SEQUENCE_SPEC, dice(2) ? fresh_name(name) : NULL,
                                                      children, some_options() });
    case 5:
        make_children(children, depth);
        return rondo_parallel(&(rondo_parallel_spec){ RONDO_PARALLEL_SPEC, .name = fresh_name(name),
                                                      .children = children, .mode = wild ? (int)dice(3) : RONDO_COLLECT,
                                                      .max_concurrency = (int)dice(3), .options = some_options() });
    case 6: return make_branch(depth);
    case 7: {
        make_children(children, depth);
        int quorum = wild ? (int)dice(2) : 0;
        return rondo_forum(&(rondo_forum_spec){ RONDO_FORUM, .name = fresh_name(name), .members = children,
                                                .captain = tree(depth - 1), .rounds = 1 + (int)dice(2),
                                                .quorum = quorum, .show = (int)dice(3), .options = some_options() });
    }
    case 8: return make_graph(depth);
    case 9:
        return rondo_each(&(rondo_each_spec){ RONDO_EACH, .name = fresh_name(name), .body = tree(depth - 1),
                                              .items = some_items, .user = (void *)(uintptr_t)dice(1000),
                                              .max_concurrency = (int)dice(3), .on_item_failure = (int)dice(2),
                                              .output_mode = (int)dice(2) * RONDO_OUTPUT_CUMULATIVE,
                                              .options = some_options() });
    case 10: return make_machine(depth);
    case 1:
        if (dice(4) == 0)
            return rondo_gate(&(rondo_gate_spec){ RONDO_GATE, .name = fresh_name(name), .timeout_ms = 3,
                                                  .on_timeout = "\"later\"" });
        return make_agent();
    default: return make_agent();
    }
}

static rondo_node *tree_of(uint64_t seed)
{
    seed_of_tree = mix(seed + 77);
    state = seed;
    made = 0;
    rondo_node *node = tree(4);
    rondo_error err;
    if (rondo_node_check(node, &err) < 0)
        FAIL("seed %llu is no tree: %s: %s", (unsigned long long)seed, err.path, err.message);
    return node;
}

/* ---- what must hold --------------------------------------------------------------------------------------- */

struct watch {
    uint64_t seed;
    rondo_value *open, *ever; // paths
    rondo_value *loops;       // paths of loops that have said why they ended
    int terminals;
    int cancel_at, save_at;
    char *log;
    size_t len;
};

#define HANGS_MS 1000000 // of virtual time

#define BROKEN(...)                                                                            \
    do {                                                                                       \
        printf(__VA_ARGS__);                                                                   \
        FAIL("seed %llu, event %d\n%.20000s", (unsigned long long)w->seed, t->events,          \
             t->log.data + (t->log.len > 20000 ? t->log.len - 20000 : 0));                     \
    } while (0)

static void check_nothing_inside(struct trial *t, struct watch *w, const char *path)
{
    const char *key;
    rondo_value *value;
    size_t len = strlen(path);
    json_object_foreach(w->open, key, value)
        if (strncmp(key, path, len) == 0 && (!len || key[len] == '.' || key[len] == '['))
            BROKEN("%s ended while %s is open\n", path, key);
}

static bool is_loop(const rondo_event *ev)
{
    int kind = rondo_node_kind(rondo_event_node(ev));
    return kind == RONDO_KIND_LOOP || kind == RONDO_KIND_MACHINE;
}

static void watch_start(struct trial *t, struct watch *w, const rondo_event *ev, const char *path)
{
    if (json_object_get(w->open, path))
        BROKEN("%s starts twice\n", path);
    if (json_object_get(w->ever, path) && *path)
        BROKEN("%s starts again\n", path);
    json_object_set_new(w->open, path, json_true());
    json_object_set_new(w->ever, path, json_true());
}

static void watch_end(struct trial *t, struct watch *w, const rondo_event *ev, const char *path)
{
    if (!json_object_get(w->open, path))
        return; // it never started; that it does not end twice is seen by `ever`
    json_object_del(w->open, path);
    check_nothing_inside(t, w, path);
    if (is_loop(ev) && !json_object_get(w->loops, path))
        BROKEN("%s ended without saying why\n", path);
}

static void show(struct trial *t, const rondo_event *ev)
{
    const rondo_node *node = rondo_event_node(ev);
    if (getenv("SHOW"))
        fprintf(stderr, "%d %s %s (%s)\n", t->events, rondo_event_name(ev), rondo_event_path(ev),
                node ? rondo_kind_text(rondo_node_kind(node)) : "");
}

static void watch_event(struct trial *t, const rondo_event *ev)
{
    struct watch *w = t->data;
    char path[1024];
    snprintf(path, sizeof path, "%s", rondo_event_path(ev));
    if (t->events > 200000)
        FAIL("seed %llu does not end", (unsigned long long)w->seed);
    if (w->terminals)
        BROKEN("an event after the end\n");
    switch (rondo_event_type(ev)) {
    case RONDO_EV_STEP_START: watch_start(t, w, ev, path); break;
    case RONDO_EV_STEP_END:
    case RONDO_EV_STEP_FAILED:
    case RONDO_EV_STEP_SKIPPED:
    case RONDO_EV_STEP_CANCELLED: watch_end(t, w, ev, path); break;
    case RONDO_EV_LOOP_END:
        if (json_object_get(w->loops, path))
            BROKEN("%s says twice why it ended\n", path);
        json_object_set_new(w->loops, path, json_true());
        break;
    case RONDO_EV_WORKFLOW_END:
        w->terminals++;
        if (json_object_size(w->open))
            BROKEN("the run ended with %s\n", json_text(w->open));
        break;
    default: break;
    }
    show(t, ev);
    if (t->events == w->save_at)
        w->log = rondo_run_save(t->run, &w->len);
    if (t->events == w->cancel_at)
        rondo_run_cancel(t->run, "by chance");
}

static void watch_run(struct trial *t, struct watch *w, uint64_t seed)
{
    w->seed = seed;
    w->open = json_object();
    w->ever = json_object();
    w->loops = json_object();
    t->on_event = watch_event;
    t->data = w;
    t->options.id = "r";
    t->options.max_concurrency = (int)(seed % 4);
    t->options.timeout_ms = HANGS_MS;
    trial_run(t, tree_of(seed), "1");
    CHECK_INT(w->terminals, 1);
    if (t->took_ms >= HANGS_MS)
        BROKEN("it hangs\n");
    json_decref(w->open);
    json_decref(w->ever);
    json_decref(w->loops);
}

/* Goes on from the saved log in another engine. */
static void check_recovery(struct watch *w, const char *want, int status)
{
    TRIAL t = { .on_event = show };
    if (getenv("SHOW"))
        fprintf(stderr, "recovered from event %d\n", w->save_at);
    trial_recover(&t, tree_of(w->seed), w->log, w->len);
    rondo_text_free(w->log);
    if (t.took_ms >= HANGS_MS)
        FAIL("seed %llu, saved at event %d: it hangs\n%s", (unsigned long long)w->seed, w->save_at, t.log.data);
    const char *is = t.output ? t.output : "none";
    if (!wild && (strcmp(is, want) != 0 || t.result.status != status))
        FAIL("seed %llu, saved at event %d: %s %s, expected %s %s\n%s", (unsigned long long)w->seed, w->save_at,
             rondo_status_text(t.result.status), is, rondo_status_text(status), want, t.log.data);
}

static int times_stopped; // in all

struct stops {
    int at;   // the event after which it is asked to stop
    int left; // times
};

static void stop_at(struct trial *t, const rondo_event *ev)
{
    const struct stops *stops = t->data;
    show(t, ev);
    if (stops->left && t->events == stops->at)
        rondo_run_stop(t->run, "by chance");
}

/* Stopped, saved, recovered: it is as if it had not been, and a replay says the same. */
static void check_stops(uint64_t seed, int at, const char *want, int status)
{
    struct stops stops = { at, 3 };
    size_t len = 0;
    char *log = NULL;
    for (bool has_ended = false; !has_ended; stops.left -= stops.left > 0) {
        TRIAL t = { .on_event = stop_at, .data = &stops,
                    .options = { .id = "r", .max_concurrency = (int)(seed % 4), .timeout_ms = HANGS_MS } };
        if (log)
            trial_recover(&t, tree_of(seed), log, len);
        else
            trial_run(&t, tree_of(seed), "1");
        rondo_text_free(log);
        log = rondo_run_save(t.run, &len);
        has_ended = !rondo_run_has_stopped(t.run);
        const char *is = t.output ? t.output : "none";
        if (t.took_ms >= HANGS_MS)
            FAIL("seed %llu, stopped at event %d: it hangs\n%s", (unsigned long long)seed, at, t.log.data);
        if (has_ended && !wild && (strcmp(is, want) != 0 || t.result.status != status))
            FAIL("seed %llu, stopped at event %d: %s %s, expected %s %s\n%s", (unsigned long long)seed, at,
                 rondo_status_text(t.result.status), is, rondo_status_text(status), want, t.log.data);
        if (!has_ended && stops.left == 0)
            FAIL("seed %llu, event %d: it stops though nobody has asked", (unsigned long long)seed, at);
        if (!has_ended && strcmp(t.err.message, "the run has stopped between passes") != 0)
            FAIL("seed %llu, stopped at event %d: %s", (unsigned long long)seed, at, t.err.message);
        times_stopped += !has_ended;
        rondo_error err;
        rondo_node *again = tree_of(seed);
        if (rondo_run_replay(t.engine, again, log, len, &err) < 0)
            FAIL("seed %llu, stopped at event %d: %s", (unsigned long long)seed, at, err.message);
        rondo_node_unref(again);
    }
    rondo_text_free(log);
}

static void check_late_reader(uint64_t seed, const char *lines)
{
    TRIAL t = { .options = { .id = "r", .max_concurrency = (int)(seed % 4), .timeout_ms = HANGS_MS } };
    trial_start(&t, tree_of(seed), "1");
    for (int i = 0; rondo_engine_poll(t.engine, 100) > 0; i++)
        if (i > 100000)
            FAIL("seed %llu does not end when polled", (unsigned long long)seed);
    trial_finish(&t);
    if (strcmp(t.json.data, lines) == 0)
        return;
    size_t at = 0, start = 0;
    for (; lines[at] && t.json.data[at] == lines[at]; at++)
        if (lines[at] == '\n')
            start = at + 1;
    FAIL("seed %llu: a late reader reads\n%.*s\nthe live one read\n%.*s", (unsigned long long)seed,
         (int)strcspn(t.json.data + start, "\n"), t.json.data + start, (int)strcspn(lines + start, "\n"),
         lines + start);
}

static void check_seed(uint64_t seed, bool late)
{
    struct watch w = { 0 };
    int events, status;
    char *want;
    {
        TRIAL t = { 0 };
        watch_run(&t, &w, seed);
        events = t.events;
        status = t.result.status;
        want = strdup(t.output ? t.output : "none");
        if (events < 4000 && late) // further behind, a reader is waited for
            check_late_reader(seed, t.json.data);
    }
    for (int i = 0; i < 3; i++) {
        struct watch again = { .save_at = 1 + (int)(mix(seed * 3 + (uint64_t)i) % (uint64_t)events) };
        {
            TRIAL t = { 0 };
            watch_run(&t, &again, seed);
        }
        check_recovery(&again, want, status);
        struct watch stopped = { .cancel_at = 1 + (int)(mix(seed * 5 + (uint64_t)i) % (uint64_t)events) };
        TRIAL t = { 0 };
        watch_run(&t, &stopped, seed);
        check_stops(seed, 1 + (int)(mix(seed * 7 + (uint64_t)i) % (uint64_t)events), want, status);
    }
    free(want);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SEEDS 60
#else
#define SEEDS 400
#endif

static void check_seeds(uint64_t first, bool late)
{
    const char *only_seed = getenv("SEED"), *how_many = getenv("SEEDS");
    uint64_t count_of_them = how_many ? strtoull(how_many, NULL, 10) : SEEDS;
    if (only_seed) {
        check_seed(strtoull(only_seed, NULL, 10), late);
        return;
    }
    for (uint64_t seed = first; seed < first + count_of_them; seed++)
        check_seed(seed, late);
}

TEST(calm_workflows_recover_to_the_same_end)
{
    check_seeds(1, true);
    CHECK(times_stopped > 10 || getenv("SEED"));
}

TEST(wild_workflows_keep_the_rules)
{
    wild = true;
    check_seeds(1000000, false);
}

TEST(wild_workflows_read_the_same_when_read_late)
{
    wild = true;
    check_seeds(1000000, true);
}
