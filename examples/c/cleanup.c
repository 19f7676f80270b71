/* cleanup.c - a step that runs in the end, however things went: after a failure, after a cancel. */
#include "example.h"

static void rent(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return_text(task, "a hall");
}

static void play(rondo_task *task, void *user)
{
    (void)user;
    if (json_is_true(rondo_task_input(task)))
        rondo_task_fail(task, RONDO_EFAILED, "a string broke");
    else
        rondo_task_return_after(task, 20, json_string("applause"));
}

static void give_back(rondo_task *task, void *user)
{
    (void)user;
    printf("  gives back %s\n", json_string_value(rondo_task_output(task, "rent")));
    rondo_task_return_text(task, "");
}

static void try_out(rondo_node *graph, const char *what, rondo_value *breaks, int cancels)
{
    rondo_engine *engine = new_engine();
    const rondo_event *event;
    rondo_run *run = NULL;
    rondo_error err;
    printf("%s\n", what);
    must(rondo_run_start(engine, graph, breaks, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run))) {
        if (cancels && rondo_event_type(event) == RONDO_EV_STEP_START &&
            strcmp(rondo_event_step(event), "play") == 0)
            rondo_run_cancel(run, "the lights went out");
        if (rondo_event_type(event) == RONDO_EV_WORKFLOW_END)
            printf("  %s\n", rondo_status_text(rondo_event_status(event)));
    }
    rondo_run_close(run);
    rondo_engine_free(engine);
}

int main(void)
{
    static const rondo_agent agents[] = {
        { RONDO_AGENT, .name = "rent", .run = rent }, { RONDO_AGENT, .name = "play", .run = play },
        { RONDO_AGENT, .name = "give_back", .run = give_back, .options.run_on = RONDO_ON_ALWAYS } };
    rondo_step steps[] = {
        { .node = rondo_agent_node(&agents[0]) },
        { .node = rondo_agent_node(&agents[1]), .depends_on = RONDO_AFTER("rent") },
        { .node = rondo_agent_node(&agents[2]), .depends_on = RONDO_AFTER("play") } };
    rondo_node *graph = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "concert", .steps = steps, .step_count = 3 });

    try_out(graph, "a concert that fails", json_true(), 0);
    try_out(graph, "a concert that is cancelled", json_false(), 1);
    rondo_node_unref(graph);
    return 0;
}
