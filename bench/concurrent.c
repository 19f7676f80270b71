/* concurrent.c - many things at once: runs after runs, for-each, thousands of loops side by side.

   Agents that "work" wait on the engine's timer, so the ideal is known exactly and what is above
   it is the engine.  WAIT_MS in the environment replaces the 50 ms.  Called as

       concurrent reflection N   N runs of writer and critic, 5 passes   reflection_runs_per_s, …
       concurrent plain N        the same without an engine              reflection_plain_per_s
       concurrent foreach N      N items, 64 at a time, 50 ms each       foreach_N_ratio, …
       concurrent loops N        N runs of 5 passes of 50 ms, at once    loops_N_ratio, …
       concurrent waiting N      N runs that all wait between two passes waiting_N_rss_mb, … */
#include "work.h"

#define LIMIT 64

static int64_t wait_ms = 50;
static char size[24];

static void print_named(const char *what, const char *unit, double value)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s_%s", what, size, unit);
    measure_print(name, value);
}

/* ---- writer and critic, one run after the other ----------------------------------------------- */

static void reflect(rondo_engine *engine, rondo_node *loop, const json_t *zero)
{
    rondo_run *run = work_start(engine, loop, zero);
    struct work_seen seen = work_drain(run);
    REQUIRE(seen.iterations == 5 && seen.last == 5, "%" PRId64 " passes", seen.iterations);
    rondo_run_close(run);
}

/* The same values made, looked at and dropped with no engine: what the agents themselves cost. */
static void measure_plain(long n)
{
    int64_t since = measure_ns();
    for (long k = 0; k < n; k++) {
        json_t *last = json_integer(0);
        int passes = 0;
        do {
            json_t *draft = work_draft(work_i(last) + 1);
            json_decref(last);
            last = work_verdict(draft);
            json_decref(draft);
            passes++;
        } while (!json_is_true(json_object_get(last, "ok")));
        REQUIRE(passes == 5 && work_i(last) == 5, "%d passes", passes);
        json_decref(last);
    }
    measure_print("reflection_plain_per_s", (double)n / ((double)(measure_ns() - since) / 1e9));
}

static void measure_reflection(long n)
{
    rondo_engine *engine = work_engine(NULL);
    rondo_node *loop = work_reflection();
    json_t *zero = json_integer(0);
    for (int i = 0; i < 100; i++)
        reflect(engine, loop, zero);
    int64_t cpu = measure_cpu_ns(), since = measure_ns();
    for (long i = 0; i < n; i++)
        reflect(engine, loop, zero);
    measure_print("reflection_runs_per_s", (double)n / ((double)(measure_ns() - since) / 1e9));
    measure_print("reflection_cpu_us", (double)(measure_cpu_ns() - cpu) / 1e3 / (double)n);
    json_decref(zero);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
}

/* ---- for-each --------------------------------------------------------------------------------- */

static void twice_later(rondo_task *task, void *user)
{
    work_enter();
    rondo_task_return_after(task, wait_ms, json_integer(2 * work_i(rondo_task_input(task))));
}

static void measure_foreach(long n)
{
    rondo_engine *engine = work_engine(NULL);
    rondo_node *each = rondo_each(&(rondo_each_spec){
        RONDO_EACH, .name = "each", .body = work_agent("item", twice_later, NULL),
        .max_concurrency = LIMIT });
    json_t *items = json_array();
    for (long i = 0; i < n; i++)
        json_array_append_new(items, json_integer(i));

    double cpu = measure_cpu_ms();
    int64_t since = measure_ns();
    rondo_run *run = work_start(engine, each, items);
    const rondo_event *event;
    struct work_seen seen = { 0 };
    while ((event = rondo_run_next(run))) {
        work_look(&seen, event);
        if (rondo_event_type(event) == RONDO_EV_STEP_END &&
            rondo_node_kind(rondo_event_node(event)) == RONDO_KIND_AGENT)
            work_probe.now--;
    }
    double wall = (double)(measure_ns() - since) / 1e6;
    cpu = measure_cpu_ms() - cpu;

    rondo_result result;
    REQUIRE(rondo_run_result(run, &result) == 0 && result.status == RONDO_STATUS_COMPLETED,
            "%s", result.error);
    REQUIRE(json_array_size(result.output) == (size_t)n, "%zu results",
            json_array_size(result.output));
    for (long i = 0; i < n; i++)
        REQUIRE(work_i(json_array_get(result.output, (size_t)i)) == 2 * i, "item %ld", i);
    REQUIRE(work_probe.calls == n && work_probe.peak == LIMIT && work_probe.now == 0,
            "%ld calls, %ld at once", work_probe.calls, work_probe.peak);

    double ideal = (double)((n + LIMIT - 1) / LIMIT * wait_ms);
    REQUIRE(wall >= ideal, "%g ms is less than the ideal", wall);
    print_named("foreach", "ratio", wall / ideal);
    print_named("foreach", "cpu_ms", cpu);
    print_named("foreach", "rss_mb", (double)measure_peak_kb() / 1024);
    rondo_run_close(run);
    json_decref(items);
    rondo_node_unref(each);
    rondo_engine_free(engine);
}

/* ---- many runs side by side ------------------------------------------------------------------- */

static rondo_run **start_all(rondo_engine *engine, rondo_node *loop, long n)
{
    rondo_run **runs = malloc((size_t)n * sizeof *runs);
    json_t *zero = json_integer(0);
    REQUIRE(runs, "memory");
    for (long i = 0; i < n; i++)
        runs[i] = work_start(engine, loop, zero);
    json_decref(zero);
    return runs;
}

static void close_all(rondo_run **runs, long n)
{
    for (long i = 0; i < n; i++)
        rondo_run_close(runs[i]);
    free(runs);
}

static void measure_loops(long n)
{
    int64_t until = 5;
    rondo_engine *engine = work_engine(NULL);
    rondo_node *loop = work_loop(work_write_slowly, &wait_ms, &until);
    struct work_seen seen = { 0 };
    const rondo_event *event;

    long rss = measure_rss_kb();
    double cpu = measure_cpu_ms();
    int64_t since = measure_ns();
    rondo_run **runs = start_all(engine, loop, n);
    while ((event = rondo_engine_next(engine)))
        work_look(&seen, event);
    double wall = (double)(measure_ns() - since) / 1e6;
    cpu = measure_cpu_ms() - cpu;
    long peak = measure_peak_kb();

    REQUIRE(seen.iterations == 5 * n && work_probe.calls == 5 * n, "%" PRId64 " passes",
            seen.iterations);
    for (long i = 0; i < n; i++) {
        rondo_result result;
        REQUIRE(rondo_run_result(runs[i], &result) == 0 && result.passes == 5 &&
                    work_is_draft(result.output, 5), "run %ld", i);
        REQUIRE(work_is_draft(rondo_history_output(rondo_run_history(runs[i], "loop"), 1, NULL), 2),
                "history of run %ld", i);
    }
    REQUIRE(wall >= (double)(5 * wait_ms), "%g ms is less than the ideal", wall);
    print_named("loops", "ratio", wall / (double)(5 * wait_ms));
    print_named("loops", "kb_per_loop", (double)(peak - rss) / (double)n);
    print_named("loops", "cpu_ms", cpu);
    close_all(runs, n);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
}

/* All runs have made one pass and wait a quarter of an hour for the next. */
static void measure_waiting(long n)
{
    int64_t until = 2;
    rondo_engine *engine = work_engine(NULL);
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "loop", .body = work_agent("body", work_write, NULL),
        .until = work_reached, .user = &until, .delay_ms = 15 * 60 * 1000 });
    const rondo_event *event;
    long waiting = 0, passes = 0;

    long rss = measure_rss_kb();
    int64_t since = measure_ns();
    rondo_run **runs = start_all(engine, loop, n);
    while (waiting < n && (event = rondo_engine_next(engine))) {
        waiting += rondo_event_type(event) == RONDO_EV_DELAY;
        passes += rondo_event_type(event) == RONDO_EV_ITERATION_END;
    }
    int going = rondo_engine_poll(engine, 0);
    double wall = (double)(measure_ns() - since) / 1e6;
    REQUIRE(waiting == n && passes == n && going == n, "%ld wait after %ld passes, %d are going",
            waiting, passes, going);
    REQUIRE(rondo_run_status(runs[n / 2]) == RONDO_STATUS_RUNNING, "status");
    print_named("waiting", "rss_mb", (double)measure_rss_kb() / 1024);
    print_named("waiting", "kb_per_loop", (double)(measure_rss_kb() - rss) / (double)n);
    print_named("waiting", "ms", wall);
    since = measure_ns();
    close_all(runs, n);
    print_named("waiting", "close_ms", (double)(measure_ns() - since) / 1e6);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
}

static const struct { const char *name; void (*run)(long n); } cases[] = {
    { "reflection", measure_reflection },
    { "plain", measure_plain },
    { "foreach", measure_foreach },
    { "loops", measure_loops },
    { "waiting", measure_waiting },
};

int main(int argc, char **argv)
{
    REQUIRE(argc == 3, "usage: concurrent reflection|plain|foreach|loops|waiting N");
    long n = measure_count(argv[2]);
    if (getenv("WAIT_MS"))
        wait_ms = measure_count(getenv("WAIT_MS"));
    measure_size(n, size);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        if (strcmp(argv[1], cases[i].name) == 0) {
            cases[i].run(n);
            return 0;
        }
    REQUIRE(false, "there is no '%s'", argv[1]);
}
