/* cap_actions.c - what reaching the cap may mean: return the last pass, fail, or raise a flag. */
#include "example.h"

static void count(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(rondo_task_pass(task) + 1));
}

static int never(rondo_context *context, void *user)
{
    (void)context, (void)user;
    return 0;
}

static void try_out(rondo_engine *engine, const char *what, int on_max)
{
    static const rondo_agent counter = { RONDO_AGENT, .name = "counter", .run = count };
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "three", .body = rondo_agent_node(&counter), .until = never,
        .max_iterations = 3, .on_max = on_max });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    rondo_run_wait(run, NULL);
    rondo_run_result(run, &result);
    printf("%s: %s, reason %s%s\n", what, rondo_status_text(result.status),
           rondo_reason_text(result.reason), result.capped ? ", capped" : "");
    if (result.status == RONDO_STATUS_COMPLETED)
        show("  output", result.output);
    else
        printf("  error: %s\n", result.error);

    rondo_run_close(run);
    rondo_node_unref(loop);
}

int main(void)
{
    rondo_engine *engine = new_engine();
    try_out(engine, "return last", RONDO_RETURN_LAST);
    try_out(engine, "fail", RONDO_FAIL);
    try_out(engine, "flag", RONDO_FLAG);
    rondo_engine_free(engine);
    return 0;
}
