/* caller_stops.c - a loop without end, until the caller has seen enough.

   Nothing that follows from an event is started before the event was handed out: whoever stops at
   an event stops before anything after it. */
#include "example.h"

static void tick(rondo_task *task, void *user)
{
    (void)user;
    rondo_task_return(task, json_integer(rondo_task_pass(task) + 1));
}

/* The way out that an unbounded loop has to have; here it is never taken. */
static int never(rondo_context *context, void *user)
{
    (void)context, (void)user;
    return 0;
}

int main(void)
{
    static const rondo_agent clock = { RONDO_AGENT, .name = "clock", .run = tick };
    rondo_engine *engine = new_engine();
    const rondo_event *event;
    rondo_run *run = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "forever", .body = rondo_agent_node(&clock), .until = never,
        .max_iterations = RONDO_UNBOUNDED });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run))) {
        int type = rondo_event_type(event);
        if (type == RONDO_EV_ITERATION_END) {
            printf("tick %s\n", rondo_event_text(event));
            if (rondo_event_pass(event) == 3)
                rondo_run_cancel(run, "seen enough"); // go on pulling: it ends in good order
        } else if (type == RONDO_EV_CANCEL) {
            printf("%s: %s\n", rondo_event_name(event), rondo_event_text(event));
        } else if (type == RONDO_EV_LOOP_END) {
            printf("loop_end: %s\n", rondo_reason_text(rondo_event_reason(event)));
        } else if (type == RONDO_EV_WORKFLOW_END) {
            printf("workflow_end: %s\n", rondo_status_text(rondo_event_status(event)));
        }
    }

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
