/* nested_loops.c - loops in loops: five weeks of five days each.

   The inner loop could go on for 100 days; an agent breaks it at the end of the week.  A break
   ends the nearest loop only, so the outer one goes on: 25 days in all. */
#include "example.h"

static void live(rondo_task *task, void *user)
{
    char day[20];
    (void)user;
    snprintf(day, sizeof day, "day %d", (int)rondo_task_pass(task) + 1);
    if (rondo_task_pass(task) == 4)
        rondo_task_break(task, NULL); // or by name: "week"
    rondo_task_return_text(task, day);
}

static void sum_up(rondo_task *task, void *user)
{
    (void)user;
    printf("%s ended with %s\n", rondo_task_path(task),
           json_string_value(rondo_task_input(task)));
    rondo_task_return_text(task, "week over");
}

int main(void)
{
    static const rondo_agent person = { RONDO_AGENT, .name = "person", .run = live };
    static const rondo_agent diary = { RONDO_AGENT, .name = "diary", .run = sum_up };
    rondo_engine *engine = new_engine();
    const rondo_event *event;
    rondo_run *run = NULL;
    rondo_error err;
    int days = 0, weeks = 0;
    rondo_node *week = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "week", .body = rondo_agent_node(&person), .max_iterations = 100 });
    rondo_node *month = rondo_loop(&(rondo_loop_spec){
        RONDO_LOOP, .name = "month", .body = RONDO_SEQUENCE(week, rondo_agent_node(&diary)),
        .max_iterations = 5 });

    must(rondo_run_start(engine, month, NULL, NULL, &run, &err), &err);
    while ((event = rondo_run_next(run))) {
        if (rondo_event_type(event) != RONDO_EV_ITERATION_END)
            continue;
        if (strcmp(rondo_event_step(event), "week") == 0)
            days++;
        else
            weeks++;
    }
    printf("%d days in %d weeks\n", days, weeks);

    rondo_run_close(run);
    rondo_node_unref(month);
    rondo_engine_free(engine);
    return 0;
}
