/* stall.c - an agent that gives the same answer over and over is noticed.

   The detector may stop the loop, fail it, or nudge the agent first: one hint in the feedback, and
   only when that does not help, the end. */
#include "example.h"

/* Stubborn; with `user` set it listens to a hint. */
static void search(rondo_task *task, void *user)
{
    rondo_feedback before;
    int hinted = rondo_task_feedback(task, &before) && strstr(before.text, "different");
    const char *answer = hinted && user ? "look in the garden" : "look in the kitchen";
    printf("  pass %d: %s\n", (int)rondo_task_pass(task) + 1, answer);
    rondo_task_return_text(task, answer);
}

static int found(rondo_context *context, void *user)
{
    (void)user;
    return strstr(rondo_context_text(context), "garden") != NULL;
}

static void try_out(rondo_engine *engine, const char *what, int action, void *listens)
{
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    const rondo_agent searcher = { RONDO_AGENT, .name = "searcher", .run = search,
                                   .user = listens };
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "search", .body = rondo_agent_node(&searcher), .until = found,
        .max_iterations = 20, .stall_repeats = 3, .stall_action = action });

    printf("%s\n", what);
    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    rondo_run_wait(run, NULL);
    rondo_run_result(run, &result);
    printf("  %s: %s after %d passes\n", rondo_status_text(result.status),
           rondo_reason_text(result.reason), (int)result.passes);
    rondo_run_close(run);
    rondo_node_unref(loop);
}

int main(void)
{
    rondo_engine *engine = new_engine();
    try_out(engine, "stop", RONDO_ACTION_STOP, NULL);
    try_out(engine, "fail", RONDO_ACTION_FAIL, NULL);
    try_out(engine, "nudge, to somebody who listens", RONDO_ACTION_NUDGE, engine);
    try_out(engine, "nudge, to somebody who does not", RONDO_ACTION_NUDGE, NULL);
    rondo_engine_free(engine);
    return 0;
}
