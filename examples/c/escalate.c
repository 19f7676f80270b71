/* escalate.c - an agent that ends the loop around it, and lets the one above know. */
#include "example.h"

/* Tries to repair the machine; after the second try it is time to call somebody. */
static void repair(rondo_task *task, void *user)
{
    int pass = (int)rondo_task_pass(task) + 1;
    char text[40];
    (void)user;
    snprintf(text, sizeof text, "tried fix %d", pass);
    if (pass == 3)
        rondo_task_escalate(task); // acts when the result is applied, which still counts
    rondo_task_return_text(task, text);
}

/* In the sequence after the loop: sees what the loop came to. */
static void supervise(rondo_task *task, void *user)
{
    (void)user;
    printf("supervisor gets: %s\n", json_string_value(rondo_task_input(task)));
    rondo_task_return_text(task, "sent an engineer");
}

int main(void)
{
    static const rondo_agent mechanic = { RONDO_AGENT, .name = "mechanic", .run = repair };
    static const rondo_agent boss = { RONDO_AGENT, .name = "supervisor", .run = supervise };
    rondo_engine *engine = new_engine();
    const rondo_event *event;
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *flow = RONDO_SEQUENCE(
        rondo_loop(&(rondo_loop_spec){ RONDO_LOOP, .name = "repair", .max_iterations = 10,
                                       .body = rondo_agent_node(&mechanic) }),
        rondo_agent_node(&boss));

    must(rondo_run_start(engine, flow, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run)))
        if (rondo_event_type(event) == RONDO_EV_STEP_END && rondo_event_node(event) &&
            rondo_node_kind(rondo_event_node(event)) == RONDO_KIND_AGENT)
            printf("%s: %s%s\n", rondo_event_path(event), rondo_event_text(event),
                   rondo_event_escalates(event) ? " (escalates)" : "");

    must(rondo_run_find(run, "repair", &result), &err);
    printf("the loop: reason %s, %d passes, escalated: %s\n", rondo_reason_text(result.reason),
           (int)result.passes, result.escalated ? "yes" : "no");

    rondo_run_close(run);
    rondo_node_unref(flow);
    rondo_engine_free(engine);
    return 0;
}
