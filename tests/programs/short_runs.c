/* short_runs.c - makes short runs in a store that others write to: `short_runs STORE COUNT`.

   SIDES of them are side by side, and each group has an engine and a connection of its own.  Says of every run that did
   not complete why, and then ends with status 1. */
#include "base/mem.h"

#include <jansson.h>
#include <rondo.h>
#include <stdio.h>
#include <stdlib.h>

#define SIDES 10
#define PASSES 3

static bool has_failed;

static void complain(const char *why)
{
    has_failed = true;
    fprintf(stderr, "short_runs: %s\n", why);
}

static void answer(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_string("hello"));
}

static void close_run(rondo_run *run)
{
    rondo_result result;
    rondo_error err;
    if (rondo_run_error(run, &err) < 0 || rondo_run_result(run, &result) < 0)
        complain(err.message);
    else if (result.status != RONDO_STATUS_COMPLETED || result.passes != PASSES)
        complain(result.error && *result.error ? result.error : "a run has another outcome");
    rondo_run_close(run);
}

static void make_runs(rondo_engine *engine, rondo_node *node, long count)
{
    rondo_run *runs[SIDES] = { NULL };
    rondo_error err;
    for (long i = 0; i < count; i++)
        if (rondo_run_start(engine, node, NULL, NULL, &runs[i], &err) < 0)
            complain(err.message);
    while (rondo_engine_next(engine))
        ;
    for (long i = 0; i < count; i++)
        if (runs[i])
            close_run(runs[i]);
}

static void make_group(const char *path, rondo_node *node, long count)
{
    rondo_store *store = NULL;
    rondo_engine *engine = NULL;
    rondo_error err;
    if (rondo_store_open(path, NULL, &store, &err) < 0 ||
        rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .store = store }, &engine, &err) < 0)
        complain(err.message);
    else
        make_runs(engine, node, count);
    rondo_engine_free(engine);
    rondo_store_close(store);
}

int main(int argc, char **argv)
{
    static const rondo_agent agent = { RONDO_AGENT, .name = "answer", .run = answer };
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "short", .max_iterations = PASSES,
                                                      .body = rondo_agent_node(&agent) });
    if (argc != 3)
        return 2;
    for (long left = atol(argv[2]); left > 0; left -= SIDES)
        make_group(argv[1], loop, MIN(left, SIDES));
    rondo_node_unref(loop);
    return has_failed;
}
