/* save_recover.c - a run that outlives its engine.

   A run is its log.  Saved in the middle and recovered elsewhere, with the same definition, it
   goes on where it was: what was finished stays finished and is not done again. */
#include "example.h"

/* `user` is the name of the office that does the work: the same agent in two places. */
static void stamp(rondo_task *task, void *user)
{
    printf("%s stamps page %d\n", (const char *)user, (int)rondo_task_pass(task) + 1);
    rondo_task_return(task, json_integer(rondo_task_pass(task) + 1));
}

static rondo_node *define(const char *office)
{
    const rondo_agent clerk = { RONDO_AGENT, .name = "clerk", .run = stamp,
                                .user = (void *)office };
    return rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "pages",
                                          .body = rondo_agent_node(&clerk), .max_iterations = 4 });
}

/* Runs the first two passes and returns the log; then this engine is gone. */
static char *begin(size_t *len)
{
    rondo_engine *engine = new_engine();
    rondo_node *loop = define("Rome");
    const rondo_event *event;
    rondo_run *run = NULL;
    rondo_error err;
    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run)))
        if (rondo_event_type(event) == RONDO_EV_ITERATION_END && rondo_event_pass(event) == 1)
            break;
    char *log = rondo_run_save(run, len);
    rondo_engine_free(engine); // closes the run, too
    rondo_node_unref(loop);
    return log;
}

int main(void)
{
    size_t len = 0;
    char *log = begin(&len);
    rondo_engine *engine = new_engine();
    rondo_node *loop = define("Oslo");
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;

    must(rondo_run_recover(engine, loop, log, len, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    printf("%s: %d passes\n", rondo_status_text(result.status), (int)result.passes);
    rondo_history *history = rondo_run_history(run, "pages");
    show("page 1, stamped in Rome", rondo_history_output(history, 0, "clerk"));

    rondo_text_free(log);
    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
