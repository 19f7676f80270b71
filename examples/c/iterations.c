/* iterations.c - sub-agents in turn, three times over: a loop with nothing but a cap. */
#include "example.h"

/* Says whose turn it is: the path names the loop, the pass and the step. */
static void take_turn(rondo_task *task, void *user)
{
    (void)user;
    printf("%s\n", rondo_task_path(task));
    rondo_task_return_text(task, "done");
}

int main(void)
{
    static const rondo_agent thinker = { RONDO_AGENT, .name = "thinker", .run = take_turn };
    static const rondo_agent doer = { RONDO_AGENT, .name = "doer", .run = take_turn };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "work", .max_iterations = 3,
        .body = RONDO_SEQUENCE(rondo_agent_node(&thinker), rondo_agent_node(&doer)) });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    printf("%s after %d passes: %s\n", rondo_status_text(result.status), (int)result.passes,
           rondo_reason_text(result.reason));

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
