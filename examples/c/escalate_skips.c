/* escalate_skips.c - when an agent escalates, the agents after it in the pass are not run. */
#include "example.h"

/* Each says that it is at work; the guard raises the alarm in the second pass. */
static void patrol(rondo_task *task, void *user)
{
    const char *name = rondo_node_name(rondo_task_node(task));
    (void)user;
    printf("pass %d: %s\n", (int)rondo_task_pass(task) + 1, name);
    if (strcmp(name, "guard") == 0 && rondo_task_pass(task) == 1)
        rondo_task_escalate(task);
    rondo_task_return_text(task, name);
}

int main(void)
{
    static const rondo_agent scout = { RONDO_AGENT, .name = "scout", .run = patrol };
    static const rondo_agent guard = { RONDO_AGENT, .name = "guard", .run = patrol };
    static const rondo_agent cook = { RONDO_AGENT, .name = "cook", .run = patrol };
    rondo_engine *engine = new_engine();
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "camp", .max_iterations = 5,
        .body = RONDO_SEQUENCE(rondo_agent_node(&scout), rondo_agent_node(&guard),
                               rondo_agent_node(&cook)) });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    rondo_run_result(run, &result);
    printf("reason: %s, escalated: %s\n", rondo_reason_text(result.reason),
           result.escalated ? "yes" : "no");
    printf("cook in pass 1: %s, in pass 2: %s\n",
           rondo_run_find(run, "camp.0.cook", &result) == 0 ? "ran" : "did not run",
           rondo_run_find(run, "camp.1.cook", &result) == 0 ? "ran" : "did not run");

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
