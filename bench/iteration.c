/* iteration.c - what a pass of a loop costs, in time and in memory.

   One loop over one agent that returns at once, journal in memory; every event is pulled and
   looked at, and the whole history must be readable afterwards.  Timed is everything from
   rondo_run_start() to the end of the events.  Called as

       iteration objects N    values { i, text }        iteration_ns_N
       iteration integers N   values are integers       iteration_int_ns_N
       iteration ndjson N     every event as a line     iteration_ndjson_ns
       iteration bytes N      memory, N/10 to N passes  bytes_per_pass
       iteration plain N      no engine at all          iteration_plain_ns

   iteration_ns is taken after a run of 100 passes.  The _first_ figures are of the first run of a
   process, the _again_ ones of one more run of the same size in the same process, the _cpu_ ones
   are the same run as iteration_ns in processor time. */
#include "work.h"

/* Passes of a whole run in nanoseconds each; checked and closed outside of the timing. */
static struct timing { double wall, cpu; } timed_run(rondo_engine *engine, int64_t n, bool objects)
{
    rondo_node *loop = work_loop(objects ? work_write : work_count, NULL, &n);
    json_t *zero = json_integer(0);

    int64_t cpu = measure_cpu_ns(), since = measure_ns();
    rondo_run *run = work_start(engine, loop, zero);
    struct work_seen seen = work_drain(run);
    struct timing took = { (double)(measure_ns() - since) / (double)n,
                           (double)(measure_cpu_ns() - cpu) / (double)n };

    work_check_loop(run, &seen, n, objects);
    rondo_run_close(run);
    rondo_node_unref(loop);
    json_decref(zero);
    return took;
}

static void print_sized(const char *name, long n, double value)
{
    char full[64], size[24];
    snprintf(full, sizeof full, "%s_%s", name, measure_size(n, size));
    measure_print(full, value);
}

static void measure_iteration(long n, bool objects, bool first)
{
    rondo_engine *engine = work_engine(NULL);
    if (first) {
        print_sized(objects ? "iteration_first_ns" : "iteration_int_first_ns", n,
                    timed_run(engine, n, objects).wall);
    } else {
        timed_run(engine, 100, objects);
        struct timing took = timed_run(engine, n, objects);
        print_sized(objects ? "iteration_ns" : "iteration_int_ns", n, took.wall);
        print_sized(objects ? "iteration_cpu_ns" : "iteration_int_cpu_ns", n, took.cpu);
        print_sized(objects ? "iteration_again_ns" : "iteration_int_again_ns", n,
                    timed_run(engine, n, objects).wall);
    }
    rondo_engine_free(engine);
}

/* Lines go to /dev/null through a buffer of 64 KB, as they would go to a file or a pipe. */
static void measure_ndjson(int64_t n)
{
    static char buffer[64 * 1024];
    rondo_engine *engine = work_engine(NULL);
    rondo_node *loop = work_loop(work_write, NULL, &n);
    json_t *zero = json_integer(0);
    const rondo_event *event;
    struct work_seen seen = { 0 };
    int64_t bytes = 0;
    size_t len;

    timed_run(engine, 100, true);
    FILE *out = fopen("/dev/null", "w");
    REQUIRE(out && setvbuf(out, buffer, _IOFBF, sizeof buffer) == 0, "/dev/null");

    int64_t since = measure_ns();
    rondo_run *run = work_start(engine, loop, zero);
    while ((event = rondo_run_next(run))) {
        const char *line = rondo_event_json(event, &len);
        if (seen.events == 0 || seen.events == n)
            REQUIRE(len > 2 && line[0] == '{' && line[len - 1] == '}', "'%s' is no line", line);
        fwrite_unlocked(line, 1, len, out);
        putc_unlocked('\n', out);
        bytes += (int64_t)len + 1;
        work_look(&seen, event);
    }
    REQUIRE(fflush(out) == 0, "/dev/null");
    double ns = (double)(measure_ns() - since) / (double)n;

    work_check_loop(run, &seen, n, true);
    REQUIRE(bytes > n * 100, "%" PRId64 " bytes for %" PRId64 " passes", bytes, n);
    measure_print("iteration_ndjson_ns", ns);
    measure_print("ndjson_bytes_per_pass", (double)bytes / (double)n);
    fclose(out);
    rondo_run_close(run);
    rondo_node_unref(loop);
    json_decref(zero);
    rondo_engine_free(engine);
}

/* What one more pass adds to a run of which nothing is dropped: the growth between pass N/10 and
   pass N of one run, divided by the passes between.  `bytes_per_pass` is resident memory, what the
   machine pays; _malloc is what the library asked for. */
static void bytes_of(int64_t n, bool objects, const char *resident, const char *malloced)
{
    rondo_engine *engine = work_engine(NULL);
    rondo_node *loop = work_loop(objects ? work_write : work_count, NULL, &n);
    json_t *zero = json_integer(0);
    rondo_run *run = work_start(engine, loop, zero);
    const rondo_event *event;
    struct work_seen seen = { 0 };
    int64_t rss[2] = { 0 }, asked[2] = { 0 };

    while ((event = rondo_run_next(run))) {
        work_look(&seen, event);
        if (rondo_event_type(event) != RONDO_EV_ITERATION_END ||
            (seen.iterations != n / 10 && seen.iterations != n))
            continue;
        rss[seen.iterations == n] = measure_rss_kb() * 1024;
        asked[seen.iterations == n] = measure_malloced();
    }
    work_check_loop(run, &seen, n, objects);
    measure_print(resident, (double)(rss[1] - rss[0]) / (double)(n - n / 10));
    measure_print(malloced, (double)(asked[1] - asked[0]) / (double)(n - n / 10));
    rondo_run_close(run);
    rondo_node_unref(loop);
    json_decref(zero);
    rondo_engine_free(engine);
}

/* The same values made, asked and dropped with no engine: what of a pass is the agent's own. */
static double plain_ns(int64_t n, bool objects)
{
    json_t *last = json_integer(0);
    int64_t passes = 0, since = measure_ns();
    do {
        json_t *next = objects ? work_draft(work_i(last) + 1) : json_integer(work_i(last) + 1);
        json_decref(last);
        last = next;
        passes++;
    } while (work_i(last) < n);
    double ns = (double)(measure_ns() - since) / (double)n;
    REQUIRE(passes == n, "%" PRId64 " passes", passes);
    json_decref(last);
    return ns;
}

static void measure_plain(long n)
{
    measure_print("iteration_plain_ns", plain_ns(n, true));
    measure_print("iteration_int_plain_ns", plain_ns(n, false));
}

int main(int argc, char **argv)
{
    REQUIRE(argc >= 3, "usage: iteration objects|integers|ndjson|bytes|plain N [first]");
    const char *what = argv[1];
    long n = measure_count(argv[2]);
    bool first = argc > 3 && strcmp(argv[3], "first") == 0;

    if (strcmp(what, "objects") == 0)
        measure_iteration(n, true, first);
    else if (strcmp(what, "integers") == 0)
        measure_iteration(n, false, first);
    else if (strcmp(what, "ndjson") == 0)
        measure_ndjson(n);
    else if (strcmp(what, "bytes") == 0) {
        if (argc > 3 && strcmp(argv[3], "integers") == 0)
            bytes_of(n, false, "bytes_per_pass_int", "bytes_per_pass_int_malloc");
        else
            bytes_of(n, true, "bytes_per_pass", "bytes_per_pass_malloc");
    } else if (strcmp(what, "plain") == 0)
        measure_plain(n);
    else
        REQUIRE(false, "there is no '%s'", what);
    return 0;
}
