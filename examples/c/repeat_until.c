/* repeat_until.c - a judge decides, with ten seconds between the passes.

   The judge is an agent: its output { "done", "why" } ends the loop when done is true, and what it
   said reaches the next pass as feedback.  Time is virtual: the program does not wait. */
#include "example.h"

static void check_health(rondo_task *task, void *user)
{
    static const char *const found[] = { "down", "starting", "healthy" };
    rondo_feedback before;
    (void)user;
    if (rondo_task_feedback(task, &before) && before.judge)
        printf("           the judge said %s\n", before.judge);
    rondo_task_return_text(task, found[rondo_task_pass(task)]);
}

static void judge_health(rondo_task *task, void *user)
{
    const char *state = json_string_value(rondo_task_input(task));
    int done = strcmp(state, "healthy") == 0;
    (void)user;
    rondo_task_return(task, json_pack("{s:b, s:s}", "done", done, "why", state));
}

int main(void)
{
    static const rondo_agent monitor = { RONDO_AGENT, .name = "monitor", .run = check_health };
    static const rondo_agent judge = { RONDO_AGENT, .name = "judge", .run = judge_health };
    rondo_engine *engine = NULL;
    rondo_run *run = NULL;
    const rondo_event *event;
    rondo_error err;
    int64_t start = -1;
    rondo_node *loop = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "health", .body = rondo_agent_node(&monitor),
        .judge = rondo_agent_node(&judge), .delay_ms = 10000, .max_iterations = 3,
        .on_max = RONDO_FAIL });

    must(rondo_engine_new(&(rondo_config){ RONDO_CONFIG, .virtual_time = true }, &engine, &err),
         &err);
    must(rondo_run_start(engine, loop, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run))) {
        start = start < 0 ? rondo_event_time_ms(event) : start;
        int ms = (int)(rondo_event_time_ms(event) - start);
        if (rondo_event_type(event) == RONDO_EV_ITERATION_END)
            printf("%6d ms  the service is %s\n", ms, rondo_event_text(event));
        else if (rondo_event_type(event) == RONDO_EV_DELAY)
            printf("%6d ms  wait\n", ms);
        else if (rondo_event_type(event) == RONDO_EV_LOOP_END)
            printf("%6d ms  end, reason: %s\n", ms, rondo_reason_text(rondo_event_reason(event)));
    }

    rondo_run_close(run);
    rondo_node_unref(loop);
    rondo_engine_free(engine);
    return 0;
}
