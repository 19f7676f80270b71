/* memory_modes.c - what a loop's body remembers of earlier passes: all, nothing, the last two.

   The agent has a memory scope: it reads what is there, and its own output is added. */
#include "example.h"

static void recall(rondo_task *task, void *user)
{
    char *seen = rondo_value_text(rondo_task_memory(task, NULL)); // NULL: the agent's own scope
    char text[20];
    (void)user;
    printf("  pass %d remembers %s\n", (int)rondo_task_pass(task) + 1, seen);
    rondo_text_free(seen);
    snprintf(text, sizeof text, "note %d", (int)rondo_task_pass(task) + 1);
    rondo_task_return_text(task, text);
}

static void try_out(rondo_engine *engine, const char *what, int mode, int window)
{
    static const rondo_agent keeper = { RONDO_AGENT, .name = "keeper", .run = recall,
                                        .memory = "notes" };
    rondo_run *run = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "remember", .body = rondo_agent_node(&keeper), .max_iterations = 4,
        .memory_mode = mode, .memory_window = window });

    printf("%s\n", what);
    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    must(rondo_run_wait(run, &err), &err);
    show("  afterwards", rondo_run_memory(run, "notes"));
    rondo_run_close(run);
    rondo_node_unref(loop);
}

int main(void)
{
    rondo_engine *engine = new_engine();
    try_out(engine, "accumulate", RONDO_ACCUMULATE, 0);
    try_out(engine, "fresh", RONDO_FRESH, 0);
    try_out(engine, "window of 2", RONDO_WINDOW, 2);
    rondo_engine_free(engine);
    return 0;
}
