/* for_each.c - the same two-step graph for every item of a list, two items at a time.

   Every service is deployed and then verified.  At most two are open at once; the results come in
   item order, whichever was ready first (times are virtual). */
#include "example.h"

/* The first letter says how long it takes: "a..." 10 ms, "b..." 20 ms and so on. */
static void deploy(rondo_task *task, void *user)
{
    const char *name = json_string_value(rondo_task_item(task));
    char text[40];
    (void)user;
    snprintf(text, sizeof text, "%s is up", name);
    rondo_task_return_after(task, 10 * (*name - 'a' + 1), json_string(text));
}

static void verify(rondo_task *task, void *user)
{
    char text[60];
    (void)user;
    snprintf(text, sizeof text, "%d: %s", (int)rondo_task_index(task),
             json_string_value(rondo_task_output(task, "deploy")));
    rondo_task_return_text(task, text);
}

/* Shows the first step that begins and the last that ends, with the number of open items. */
static void tell(const rondo_event *event, int *open)
{
    int type = rondo_event_type(event);
    const char *step = rondo_event_step(event);
    if (type == RONDO_EV_STEP_START && strcmp(step, "deploy") == 0)
        printf("begin %-20s %d open\n", rondo_event_path(event), ++*open);
    else if (type == RONDO_EV_STEP_END && strcmp(step, "verify") == 0)
        printf("end   %-20s %d open\n", rondo_event_path(event), --*open);
}

int main(void)
{
    static const rondo_agent deployer = { RONDO_AGENT, .name = "deploy", .run = deploy };
    static const rondo_agent verifier = { RONDO_AGENT, .name = "verify", .run = verify };
    rondo_engine *engine = NULL;
    rondo_run *run = NULL;
    const rondo_event *event;
    rondo_result result;
    rondo_error err;
    int open = 0;
    rondo_value *services = json_pack("[s, s, s, s]", "dns", "api", "bus", "cdn");
    rondo_step steps[] = { { .node = rondo_agent_node(&deployer) },
                           { .node = rondo_agent_node(&verifier),
                             .depends_on = RONDO_AFTER("deploy") } };
    rondo_node *each = rondo_each(&(rondo_each_spec){
        RONDO_EACH, .name = "services", .max_concurrency = 2,
        .body = rondo_graph(&(rondo_graph_spec){ RONDO_GRAPH, .steps = steps, .step_count = 2 }) });

    must(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &engine, &err),
         &err);
    must(rondo_run_start(engine, each, services, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run)))
        tell(event, &open);
    rondo_run_result(run, &result);
    show("result", result.output);

    rondo_run_close(run);
    json_decref(services);
    rondo_node_unref(each);
    rondo_engine_free(engine);
    return 0;
}
