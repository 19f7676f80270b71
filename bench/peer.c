/* peer.c - rondo at the work that other engines are measured with.

   Called as `peer CASE N`, once per measurement, it prints one line of JSON with the fields that
   the other engines' programs print: wall and CPU time of the timed part, resident memory before
   it and at its peak, how many agents were at work at once.  The cases are theirs too:

       start       a loop of N passes, nothing before it: for measuring the start from outside
       loop        a loop of N passes, after one of 100
       stream      the same, every event turned into its line of JSON for somebody else to read
       pair        N runs, one after the other, of a writer and a critic, 5 passes each
       foreach     N items of 50 ms each, 64 at a time
       foreachmix  the same with 25 and 75 ms in turn
       fan         N runs at once, each a loop of 5 passes of 50 ms
       dursqlite   a loop of N passes kept in SQLite, each step before the next one begins, after one of 20;
                   and how many bytes are on disk then

   In all of them state is carried, events are pulled, the history is kept until the end, and the
   results are checked.  LAT_MS and CONC in the environment replace 50 and 64. */
#include "work.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static int64_t lat_ms = 50;
static int limit = 64;
static int64_t events, disk_bytes;

/* ---- the timed part ---------------------------------------------------------------------------- */

static struct { int64_t ns; double cpu_ms; long rss_kb; } at;
static struct { double wall_ms, cpu_ms; } took;

static void timed_begin(void)
{
    at.rss_kb = measure_rss_kb();
    at.cpu_ms = measure_cpu_ms();
    at.ns = measure_ns();
}

static void timed_end(void)
{
    took.wall_ms = (double)(measure_ns() - at.ns) / 1e6;
    took.cpu_ms = measure_cpu_ms() - at.cpu_ms;
}

/* ---- loop, stream, start ----------------------------------------------------------------------- */

/* Returns the run, which keeps its history, to be closed once time has been taken. */
static rondo_run *loop_of(rondo_engine *engine, int64_t n, bool lines)
{
    rondo_node *loop = work_loop(work_write, NULL, &n);
    json_t *zero = json_integer(0);
    rondo_run *run = work_start(engine, loop, zero);
    struct work_seen seen = { 0 };
    const rondo_event *event;
    size_t len;

    while ((event = rondo_run_next(run))) {
        work_look(&seen, event);
        if (lines)
            REQUIRE(rondo_event_json(event, &len)[0] == '{' && len > 2, "no line");
    }
    events = seen.events;
    work_check_loop(run, &seen, n, true);
    rondo_node_unref(loop);
    json_decref(zero);
    return run;
}

static void start(rondo_engine *engine, long n)
{
    timed_begin();
    rondo_run *run = loop_of(engine, n, false);
    timed_end();
    rondo_run_close(run);
}

static void loop(rondo_engine *engine, long n)
{
    rondo_run_close(loop_of(engine, 100, false));
    start(engine, n);
}

static void stream(rondo_engine *engine, long n)
{
    rondo_run_close(loop_of(engine, 100, true));
    timed_begin();
    rondo_run *run = loop_of(engine, n, true);
    timed_end();
    rondo_run_close(run);
}

/* ---- dursqlite ----------------------------------------------------------------------------------- */

/* Removes the folder, and says how many bytes its files had. */
static int64_t take_folder(const char *folder)
{
    int64_t bytes = 0;
    struct dirent *entry;
    DIR *dir = opendir(folder);
    REQUIRE(dir, "%s", strerror(errno));
    while ((entry = readdir(dir))) {
        char path[600];
        struct stat stat;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (lstat(path, &stat) < 0 || !S_ISREG(stat.st_mode))
            continue;
        bytes += stat.st_size;
        unlink(path);
    }
    closedir(dir);
    rmdir(folder);
    return bytes;
}

static void dursqlite(rondo_engine *unused, long n)
{
    const char *tmp = getenv("TMPDIR");
    char folder[200], path[256];
    snprintf(folder, sizeof folder, "%s/peer-XXXXXX", tmp ? tmp : "/tmp"); // where theirs are
    REQUIRE(mkdtemp(folder), "%s", strerror(errno));
    snprintf(path, sizeof path, "%s/runs.db", folder);
    rondo_store *store = work_store(path, RONDO_KILL);
    rondo_engine *engine = work_engine(store);
    rondo_run_close(loop_of(engine, 20, false));
    timed_begin();
    rondo_run *run = loop_of(engine, n, false);
    timed_end();
    rondo_run_close(run);
    disk_bytes = take_folder(folder);
    rondo_engine_free(engine);
    rondo_store_close(store);
}

/* ---- pair -------------------------------------------------------------------------------------- */

static void one_pair(rondo_engine *engine, rondo_node *loop, const json_t *zero)
{
    rondo_run *run = work_start(engine, loop, zero);
    struct work_seen seen = work_drain(run);
    events += seen.events;
    REQUIRE(seen.iterations == 5 && seen.last == 5, "%" PRId64 " passes", seen.iterations);
    rondo_run_close(run);
}

static void pair(rondo_engine *engine, long n)
{
    rondo_node *node = work_reflection();
    json_t *zero = json_integer(0);
    for (int i = 0; i < 100; i++)
        one_pair(engine, node, zero);
    events = 0;
    timed_begin();
    for (long i = 0; i < n; i++)
        one_pair(engine, node, zero);
    timed_end();
    json_decref(zero);
    rondo_node_unref(node);
}

/* ---- for-each ---------------------------------------------------------------------------------- */

static void same_later(rondo_task *task, void *user)
{
    bool mixed = *(const bool *)user;
    int64_t i = work_i(rondo_task_input(task));
    work_enter();
    rondo_task_return_after(task, !mixed ? lat_ms : i % 2 ? lat_ms / 2 : lat_ms + lat_ms / 2,
                            json_integer(i));
}

static void items(rondo_engine *engine, long n, bool mixed)
{
    rondo_node *each = rondo_each(&(rondo_each_spec){
        RONDO_EACH, .name = "each", .body = work_agent("item", same_later, &mixed),
        .max_concurrency = limit });
    json_t *list = json_array();
    struct work_seen seen = { 0 };
    const rondo_event *event;
    rondo_result result;
    for (long i = 0; i < n; i++)
        json_array_append_new(list, json_integer(i));

    timed_begin();
    rondo_run *run = work_start(engine, each, list);
    while ((event = rondo_run_next(run))) {
        work_look(&seen, event);
        if (rondo_event_type(event) == RONDO_EV_STEP_END &&
            rondo_node_kind(rondo_event_node(event)) == RONDO_KIND_AGENT)
            work_probe.now--;
    }
    timed_end();

    events = seen.events;
    REQUIRE(rondo_run_result(run, &result) == 0 && result.status == RONDO_STATUS_COMPLETED,
            "%s", result.error);
    REQUIRE(json_array_size(result.output) == (size_t)n, "%zu results",
            json_array_size(result.output));
    for (long i = 0; i < n; i++)
        REQUIRE(work_i(json_array_get(result.output, (size_t)i)) == i, "item %ld", i);
    REQUIRE(work_probe.peak <= limit, "%ld at once", work_probe.peak);
    rondo_run_close(run);
    json_decref(list);
    rondo_node_unref(each);
}

static void foreach(rondo_engine *engine, long n)
{
    items(engine, n, false);
}

static void foreachmix(rondo_engine *engine, long n)
{
    items(engine, n, true);
}

/* ---- fan --------------------------------------------------------------------------------------- */

static void fan(rondo_engine *engine, long n)
{
    int64_t until = 5;
    rondo_node *node = work_loop(work_write_slowly, &lat_ms, &until);
    json_t *zero = json_integer(0);
    rondo_run **runs = malloc((size_t)n * sizeof *runs);
    struct work_seen seen = { 0 };
    const rondo_event *event;
    REQUIRE(runs, "memory");

    timed_begin();
    for (long i = 0; i < n; i++)
        runs[i] = work_start(engine, node, zero);
    while ((event = rondo_engine_next(engine))) {
        work_look(&seen, event);
        if (rondo_event_type(event) == RONDO_EV_STEP_END &&
            rondo_node_kind(rondo_event_node(event)) == RONDO_KIND_AGENT)
            work_probe.now--;
    }
    timed_end();

    events = seen.events;
    for (long i = 0; i < n; i++) {
        rondo_result result;
        REQUIRE(rondo_run_result(runs[i], &result) == 0 && work_is_draft(result.output, 5) &&
                    rondo_history_count(rondo_run_history(runs[i], "loop")) == 5, "run %ld", i);
        rondo_run_close(runs[i]);
    }
    free(runs);
    json_decref(zero);
    rondo_node_unref(node);
}

/* ---- the line ---------------------------------------------------------------------------------- */

static const struct { const char *name; void (*run)(rondo_engine *engine, long n); } cases[] = {
    { "start", start },     { "loop", loop },             { "stream", stream }, { "pair", pair },
    { "foreach", foreach }, { "foreachmix", foreachmix }, { "fan", fan },
    { "dursqlite", dursqlite },
};
static const char *case_name = "";
static long case_n;

static void print_error(const char *message)
{
    json_t *line = json_pack("{s:s, s:s, s:I, s:s}", "peer", "rondo", "case", case_name, "n",
                             (json_int_t)case_n, "error", message);
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
}

static void print_line(void)
{
    printf("{\"peer\":\"rondo\",\"case\":\"%s\",\"n\":%ld,\"wall_ms\":%.6f,\"cpu_ms\":%.3f,"
           "\"rss0_kb\":%ld,\"events\":%" PRId64 ",\"maxrss_kb\":%ld",
           case_name, case_n, took.wall_ms, took.cpu_ms, at.rss_kb, events, measure_peak_kb());
    if (work_probe.calls)
        printf(",\"peak_inflight\":%ld,\"calls\":%ld", work_probe.peak, work_probe.calls);
    if (disk_bytes)
        printf(",\"disk_bytes\":%" PRId64, disk_bytes);
    printf("}\n");
}

int main(int argc, char **argv)
{
    measure_on_fail = print_error;
    REQUIRE(argc == 2 || argc == 3, "usage: peer CASE [N]");
    case_name = argv[1];
    case_n = argc > 2 ? measure_count(argv[2]) : 1;
    if (getenv("LAT_MS"))
        lat_ms = measure_count(getenv("LAT_MS"));
    if (getenv("CONC"))
        limit = (int)measure_count(getenv("CONC"));

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(case_name, cases[i].name) != 0)
            continue;
        rondo_engine *engine = work_engine(NULL);
        cases[i].run(engine, case_n);
        print_line();
        rondo_engine_free(engine);
        return 0;
    }
    json_t *line = json_pack("{s:s, s:s, s:I, s:s}", "peer", "rondo", "case", case_name, "n",
                             (json_int_t)case_n, "skip", "not supported by this peer");
    json_dumpf(line, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(line);
    return 0;
}
