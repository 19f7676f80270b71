/* durable.c - what a step costs when it outlives its process, and how soon a run is back.

   A step is a pass of a loop over one C function: started, ended, journaled, its events pulled.  What was
   written is looked at by another connection afterwards.  Called as

       durable one kill|power N     one run of N passes, a commit each            journal_LEVEL_us, …_cpu_us
       durable many kill|power N    64 runs of N passes side by side              journal_LEVEL_per_s
       durable sync N               fdatasync after 4 KB, for comparison          fdatasync_us
       durable recover N            a run of N steps that is not done, resumed    recover_N_ms, …_cpu_ms, …_mb
       durable bytes N              the file after a run of N steps               bytes_per_step */
#include "work.h"

#include <fcntl.h>
#include <sys/stat.h>

#define RUNS 64

static char folder[200], path[256], size[24];

static void clean_up(void)
{
    char name[300];
    for (int i = 0; i < 3; i++) {
        snprintf(name, sizeof name, "%s%s", path, (const char *[]){ "", "-wal", "-shm" }[i]);
        unlink(name);
    }
    rmdir(folder);
}

static void make_folder(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/rondo-bench-XXXXXX", tmp ? tmp : "/var/tmp");
    REQUIRE(mkdtemp(folder), "%s", strerror(errno));
    snprintf(path, sizeof path, "%s/runs.db", folder);
    atexit(clean_up);
}

static rondo_store *open_store(const char *level)
{
    return work_store(path, strcmp(level, "power") == 0 ? RONDO_POWER : RONDO_KILL);
}

static rondo_run *start(rondo_engine *engine, rondo_node *node, const char *id)
{
    rondo_run *run = NULL;
    rondo_error err;
    json_t *zero = json_integer(0);
    rondo_run_options options = { RONDO_RUN, .id = id };
    REQUIRE(rondo_run_start(engine, node, zero, &options, &run, &err) == 0, "%s", err.message);
    json_decref(zero);
    return run;
}

/* Another connection finds the whole run. */
static void check_stored(rondo_node *node, const char *id, int64_t passes)
{
    rondo_store *store = open_store("kill");
    rondo_engine *engine = work_engine(store);
    rondo_run *run;
    rondo_error err;
    rondo_result result;
    REQUIRE(rondo_run_look(engine, node, id, &run, &err) == 0, "%s", err.message);
    REQUIRE(rondo_run_result(run, &result) == 0 && result.passes == passes, "%" PRId64 " passes",
            result.passes);
    rondo_run_close(run);
    rondo_engine_free(engine);
    rondo_store_close(store);
}

static void measure_one(const char *level, long n)
{
    int64_t until = n;
    char name[64];
    rondo_store *store = open_store(level);
    rondo_engine *engine = work_engine(store);
    rondo_node *loop = work_loop(work_count, NULL, &until);
    rondo_run *run = start(engine, loop, "one");
    int64_t cpu = measure_cpu_ns(), since = measure_ns();
    struct work_seen seen = work_drain(run);
    double us = (double)(measure_ns() - since) / 1e3 / (double)n;
    double cpu_us = (double)(measure_cpu_ns() - cpu) / 1e3 / (double)n;
    REQUIRE(seen.iterations == n && seen.last == n, "%" PRId64 " passes", seen.iterations);
    rondo_run_close(run);
    rondo_engine_free(engine);
    rondo_store_close(store);
    check_stored(loop, "one", n);
    rondo_node_unref(loop);
    snprintf(name, sizeof name, "journal_%s_us", level);
    measure_print(name, us);
    snprintf(name, sizeof name, "journal_%s_cpu_us", level);
    measure_print(name, cpu_us);
}

static void measure_many(const char *level, long n)
{
    int64_t until = n, since, passes = 0, events = 0;
    char name[64];
    rondo_store *store = open_store(level);
    rondo_engine *engine = work_engine(store);
    rondo_node *loop = work_loop(work_count, NULL, &until);
    rondo_run *runs[RUNS];
    const rondo_event *event;
    for (int i = 0; i < RUNS; i++) {
        snprintf(name, sizeof name, "run%d", i);
        runs[i] = start(engine, loop, name);
    }
    since = measure_ns();
    while ((event = rondo_engine_next(engine))) {
        passes += rondo_event_type(event) == RONDO_EV_ITERATION_END;
        events++;
    }
    double s = (double)(measure_ns() - since) / 1e9;
    REQUIRE(passes == n * RUNS && events > 3 * passes, "%" PRId64 " passes", passes);
    for (int i = 0; i < RUNS; i++)
        rondo_run_close(runs[i]);
    rondo_engine_free(engine);
    rondo_store_close(store);
    for (int i = 0; i < RUNS; i += 9) {
        snprintf(name, sizeof name, "run%d", i);
        check_stored(loop, name, n);
    }
    rondo_node_unref(loop);
    snprintf(name, sizeof name, "journal_%s_per_s", level);
    measure_print(name, (double)passes / s);
}

static void measure_sync(long n)
{
    char page[4096] = { 1 };
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    REQUIRE(fd >= 0, "%s", strerror(errno));
    int64_t since = measure_ns();
    for (long i = 0; i < n; i++) {
        REQUIRE(pwrite(fd, page, sizeof page, i * (long)sizeof page) == sizeof page, "%s", strerror(errno));
        fdatasync(fd);
    }
    measure_print("fdatasync_us", (double)(measure_ns() - since) / 1e3 / (double)n);
    close(fd);
}

/* Fills the store with a run that stops one pass short of its end. */
static void fill(rondo_node *loop, long n)
{
    rondo_store *store = open_store("kill");
    rondo_engine *engine = work_engine(store);
    rondo_run *run = start(engine, loop, "long");
    long passes = 0;
    while (passes < n)
        passes += rondo_event_type(rondo_run_next(run)) == RONDO_EV_ITERATION_END;
    rondo_run_close(run);
    rondo_engine_free(engine);
    rondo_store_close(store);
}

static void print_sized(const char *what, const char *unit, double value)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s_%s", what, size, unit);
    measure_print(name, value);
}

static void measure_recover(long n)
{
    int64_t until = n + 1;
    rondo_node *loop = work_loop(work_write, NULL, &until);
    fill(loop, n);
    malloc_trim(0);
    long before = measure_rss_kb();
    int64_t cpu = measure_cpu_ns(), since = measure_ns();
    rondo_store *store = open_store("kill");
    rondo_engine *engine = work_engine(store);
    rondo_run *run;
    rondo_error err;
    REQUIRE(rondo_run_resume(engine, loop, "long", NULL, &run, &err) == 0, "%s", err.message);
    const rondo_event *event = rondo_run_next(run);
    double ms = (double)(measure_ns() - since) / 1e6, cpu_ms = (double)(measure_cpu_ns() - cpu) / 1e6;
    REQUIRE(event && rondo_event_type(event) == RONDO_EV_RESUMED, "no run_resumed");
    print_sized("recover", "ms", ms);
    print_sized("recover", "cpu_ms", cpu_ms);
    print_sized("recover", "mb", (double)(measure_rss_kb() - before) / 1024);
    struct work_seen seen = work_drain(run);
    REQUIRE(seen.last == n + 1, "%" PRId64 " at the end", seen.last);
    rondo_run_close(run);
    rondo_engine_free(engine);
    rondo_store_close(store);
    rondo_node_unref(loop);
}

/* All of its files, when everything is folded in. */
static void measure_bytes(long n)
{
    int64_t until = n + 1;
    struct stat db, wal = { 0 };
    char name[300];
    rondo_node *loop = work_loop(work_write, NULL, &until);
    fill(loop, n);
    snprintf(name, sizeof name, "%s-wal", path);
    REQUIRE(stat(path, &db) == 0, "%s", strerror(errno));
    stat(name, &wal);
    measure_print("bytes_per_step", (double)(db.st_size + wal.st_size) / (double)n);
    rondo_node_unref(loop);
}

int main(int argc, char **argv)
{
    REQUIRE(argc >= 3, "usage: durable one|many LEVEL N | sync|recover|bytes N");
    long n = measure_count(argv[argc - 1]);
    measure_size(n, size);
    make_folder();
    if (strcmp(argv[1], "one") == 0)
        measure_one(argv[2], n);
    else if (strcmp(argv[1], "many") == 0)
        measure_many(argv[2], n);
    else if (strcmp(argv[1], "sync") == 0)
        measure_sync(n);
    else if (strcmp(argv[1], "recover") == 0)
        measure_recover(n);
    else if (strcmp(argv[1], "bytes") == 0)
        measure_bytes(n);
    else
        REQUIRE(false, "unknown measurement '%s'", argv[1]);
    return 0;
}
