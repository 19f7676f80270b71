/* streaming.c - an agent that shows what it is doing before it is done.

   Partial events are shown at once and never stored: text as it is typed.  The others are part of
   the run like any event, and may set state; after a crash they are still there. */
#include "example.h"

static void answer(rondo_task *task, void *user)
{
    static const char *const tokens[] = { "Round ", "and ", "round." };
    rondo_value *delta = json_pack("{s:i}", "tokens", 3);
    (void)user;
    for (int i = 0; i < 3; i++)
        rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .content = tokens[i], .partial = true });
    rondo_task_emit(task, &(rondo_emit){ RONDO_EMIT, .author = "typist",
                                         .content = "3 tokens typed", .state_delta = delta });
    json_decref(delta);
    rondo_task_return_text(task, "Round and round.");
}

int main(void)
{
    static const rondo_agent speaker = { RONDO_AGENT, .name = "speaker", .run = answer };
    rondo_engine *engine = new_engine();
    const rondo_event *event;
    rondo_run *run = NULL;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "talk", .body = rondo_agent_node(&speaker), .max_iterations = 2 });

    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run))) {
        switch (rondo_event_type(event)) {
        case RONDO_EV_ITERATION_START:
            printf("pass %d\n", (int)rondo_event_pass(event) + 1);
            break;
        case RONDO_EV_OUTPUT: // has no sequence number: it is not in the log
            printf("  partial: \"%s\" by %s\n", rondo_event_text(event),
                   rondo_event_author(event));
            break;
        case RONDO_EV_MESSAGE:
            printf("  stored:  \"%s\" by %s\n", rondo_event_text(event), rondo_event_author(event));
            break;
        case RONDO_EV_STEP_END:
            if (strcmp(rondo_event_step(event), "speaker") == 0)
                printf("  output:  \"%s\"\n", rondo_event_text(event));
        }
    }
    show("state", rondo_run_state(run));

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
