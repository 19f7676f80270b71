/* reflection.c - a writer drafts, a critic reviews, until the critic approves.

   The two run as a sequence, so the critic gets the draft, and the next pass begins with what the
   critic said.  The program pulls the run's events and tells the story as it happens. */
#include "example.h"

/* Pass 1 gets the topic.  Later ones get the critique, and find their own draft in the feedback. */
static void write_draft(rondo_task *task, void *user)
{
    const char *input = json_string_value(rondo_task_input(task));
    rondo_feedback before;
    char draft[200];
    (void)user;
    if (!rondo_task_feedback(task, &before))
        snprintf(draft, sizeof draft, "%s let agents try again.", input);
    else
        snprintf(draft, sizeof draft, "%s %s", json_string_value(before.previous),
                 strstr(input, "why") ? "Each round begins with what the last one learned."
                                      : "They stop when the work is good.");
    rondo_task_return_text(task, draft);
}

static void review(rondo_task *task, void *user)
{
    const char *draft = json_string_value(rondo_task_input(task));
    (void)user;
    if (!strstr(draft, "learned"))
        rondo_task_return_text(task, "Too thin. Say why trying again helps.");
    else if (!strstr(draft, "stop"))
        rondo_task_return_text(task, "Better. But when does it end?");
    else
        rondo_task_return_text(task, "APPROVED. Clear and complete.");
}

static int approved(rondo_context *context, void *user)
{
    (void)user;
    return strstr(rondo_context_text(context), "APPROVED") != NULL;
}

static void tell(const rondo_event *event)
{
    const char *step = rondo_event_step(event);
    int type = rondo_event_type(event);
    if (type == RONDO_EV_ITERATION_START)
        printf("\npass %d\n", (int)rondo_event_pass(event) + 1);
    else if (type == RONDO_EV_STEP_END && (!strcmp(step, "writer") || !strcmp(step, "critic")))
        printf("  %-7s %s\n", step, rondo_event_text(event));
    else if (type == RONDO_EV_LOOP_END)
        printf("\nended after %d passes, reason: %s\n", (int)rondo_event_pass(event),
               rondo_reason_text(rondo_event_reason(event)));
}

int main(void)
{
    static const rondo_agent writer = { RONDO_AGENT, .name = "writer", .run = write_draft };
    static const rondo_agent critic = { RONDO_AGENT, .name = "critic", .run = review };
    rondo_engine *engine = new_engine();
    rondo_value *topic = json_string("Loops");
    const rondo_event *event;
    rondo_run *run = NULL;
    rondo_result result;
    rondo_error err;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "reflection", .until = approved, .max_iterations = 5,
        .body = RONDO_SEQUENCE(rondo_agent_node(&writer), rondo_agent_node(&critic)) });

    must(rondo_run_start(engine, loop, topic, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run)))
        tell(event);
    must(rondo_run_find(run, "reflection.writer", &result), &err); // the last pass's draft
    printf("\n%s\n", result.content);

    rondo_run_close(run);
    json_decref(topic);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
