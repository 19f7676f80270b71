/* task_after_loop.c - a task that depends on a loop, and starts when that has ended. */
#include "example.h"

static void improve(rondo_task *task, void *user)
{
    char text[60];
    (void)user;
    snprintf(text, sizeof text, "draft %d", (int)rondo_task_pass(task) + 1);
    rondo_task_return_text(task, text);
}

static int is_third(rondo_context *context, void *user)
{
    (void)user;
    return strcmp(rondo_context_text(context), "draft 3") == 0;
}

/* What a step depends on is read by name; a loop shows its last pass. */
static void publish(rondo_task *task, void *user)
{
    char text[80];
    (void)user;
    snprintf(text, sizeof text, "published: %s",
             json_string_value(rondo_task_output(task, "refine")));
    rondo_task_return_text(task, text);
}

int main(void)
{
    static const rondo_agent writer = { RONDO_AGENT, .name = "writer", .run = improve };
    static const rondo_agent publisher = { RONDO_AGENT, .name = "publisher", .run = publish };
    rondo_engine *engine = new_engine();
    rondo_value *result = NULL;
    rondo_error err;
    rondo_step steps[] = {
        { .name = "refine", .node = rondo_loop(&(rondo_loop_spec){
              RONDO_LOOP, .name = "refine", .body = rondo_agent_node(&writer),
              .until = is_third, .max_iterations = 5 }) },
        { .node = rondo_agent_node(&publisher), .depends_on = RONDO_AFTER("refine") },
    };
    rondo_node *graph = rondo_graph(&(rondo_graph_spec){
        RONDO_GRAPH, .name = "press", .steps = steps, .step_count = 2 });

    must(rondo_call(engine, graph, NULL, &result, &err), &err);
    show("result", result);

    json_decref(result);
    rondo_node_unref(graph);
    rondo_engine_free(engine);
    return 0;
}
