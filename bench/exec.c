/* exec.c - what a command agent costs beyond starting its program.

   `exec COUNT` runs a program that does nothing, COUNT times bare (posix_spawn and wait) and COUNT
   times as the command agent of a loop in a workflow file, in turns of 20, so that both meet the same
   machine.  The figure is the difference of the medians. */
#define _GNU_SOURCE
#include "measure.h"

#include <jansson.h>
#include <rondo.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURN 20

extern char **environ;

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, long n)
{
    qsort(values, (size_t)n, sizeof *values, by_size);
    return values[n / 2];
}

static double bare(void)
{
    char *const argv[] = { "/bin/true", NULL };
    int status;
    pid_t pid;
    int64_t since = measure_ns();
    REQUIRE(posix_spawn(&pid, argv[0], NULL, NULL, argv, environ) == 0, "posix_spawn");
    REQUIRE(waitpid(pid, &status, 0) == pid && status == 0, "waitpid");
    return (double)(measure_ns() - since) / 1e3;
}

static const char text[] = "rondo: 1\nname: bench\n"
                           "agents: { a: { description: nothing, run: [/bin/true] } }\n"
                           "steps:\n  - id: l\n    loop:\n      maxIterations: 20\n"
                           "      steps: [ { id: s, agent: a, instructions: nothing } ]\n";

/* From the start of a step to its end, for the steps of one run; returns how many. */
static long agents(rondo_engine *engine, rondo_flow *flow, double *us)
{
    rondo_error err;
    rondo_run *run;
    const rondo_event *event;
    int64_t since = 0;
    long n = 0;
    REQUIRE(rondo_flow_start(engine, flow, NULL, NULL, &run, &err) == 0, "%s", err.message);
    while ((event = rondo_run_next(run))) {
        const char *step = rondo_event_step(event);
        if (strcmp(step, "s") != 0)
            continue;
        if (rondo_event_type(event) == RONDO_EV_STEP_START)
            since = measure_ns();
        if (rondo_event_type(event) == RONDO_EV_STEP_END)
            us[n++] = (double)(measure_ns() - since) / 1e3;
    }
    REQUIRE(rondo_run_status(run) == RONDO_STATUS_COMPLETED && n == TURN, "the run failed");
    rondo_run_close(run);
    return n;
}

int main(int argc, char **argv)
{
    REQUIRE(argc == 2, "usage: exec COUNT");
    long n = measure_count(argv[1]), done = 0;
    double *plain = calloc((size_t)n + TURN, sizeof *plain), *ours = calloc((size_t)n + TURN, sizeof *ours);
    rondo_error err;
    rondo_engine *engine;
    rondo_flow *flow;
    REQUIRE(plain && ours, "memory");
    REQUIRE(rondo_engine_new(NULL, &engine, &err) == 0, "%s", err.message);
    REQUIRE(rondo_flow_parse("bench", text, strlen(text), NULL, &flow, &err) == 0, "%s", err.message);
    bare();
    agents(engine, flow, ours);
    while (done < n) {
        for (long i = 0; i < TURN; i++)
            plain[done + i] = bare();
        done += agents(engine, flow, ours + done);
    }
    double base = median(plain, done), agent = median(ours, done);
    measure_print("exec_bare_us", base);
    measure_print("exec_agent_us", agent);
    measure_print("exec_overhead_us", agent - base);
    rondo_flow_free(flow);
    rondo_engine_free(engine);
    return 0;
}
