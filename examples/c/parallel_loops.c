/* parallel_loops.c - two loops side by side, both after the same task.

   Loops are steps of a graph like any other.  The code takes 30 ms a pass, the docs 20 ms; what
   happens first is shown first (in virtual time, so that nobody has to wait). */
#include "example.h"

static void make_plan(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return_text(task, "plan");
}

/* Both workers: `user` points to how long a pass takes.  The plan is read by its step's name. */
static void work(rondo_task *task, void *user)
{
    char text[60];
    snprintf(text, sizeof text, "%s, %s %d", json_string_value(rondo_task_output(task, "planner")),
             rondo_node_name(rondo_task_node(task)), (int)rondo_task_pass(task) + 1);
    rondo_task_return_after(task, *(int *)user, json_string(text));
}

static rondo_node *loop_over(const char *name, const char *worker, int *ms, int passes)
{
    return rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = name, .max_iterations = passes,
        .body = rondo_agent_node(&(rondo_agent){ RONDO_AGENT, .name = worker, .run = work,
                                                 .user = ms }) });
}

int main(void)
{
    static const rondo_agent planner = { RONDO_AGENT, .name = "planner", .run = make_plan };
    static int code_ms = 30, docs_ms = 20;
    rondo_engine *engine = NULL;
    rondo_run *run = NULL;
    rondo_error err;
    const rondo_event *event;
    int64_t start = -1;
    rondo_step steps[] = {
        { .node = rondo_agent_node(&planner) },
        { .node = loop_over("coding", "code", &code_ms, 2), .depends_on = RONDO_AFTER("planner") },
        { .node = loop_over("writing", "docs", &docs_ms, 4), .depends_on = RONDO_AFTER("planner") },
    };
    rondo_node *graph = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "project", .steps = steps, .step_count = 3 });

    must(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &engine, &err),
         &err);
    must(rondo_run_start(engine, graph, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run))) {
        start = start < 0 ? rondo_event_time_ms(event) : start;
        if (rondo_event_type(event) == RONDO_EV_ITERATION_END)
            printf("%2d ms  %-15s pass %d: %s\n", (int)(rondo_event_time_ms(event) - start),
                   rondo_event_path(event), (int)rondo_event_pass(event) + 1,
                   rondo_event_text(event));
        else if (rondo_event_type(event) == RONDO_EV_LOOP_END)
            printf("%2d ms  %-15s ended\n", (int)(rondo_event_time_ms(event) - start),
                   rondo_event_path(event));
    }

    rondo_run_close(run);
    rondo_node_unref(graph);
    rondo_engine_free(engine);
    return 0;
}
